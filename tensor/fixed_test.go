package tensor_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// drawWord draws a word of a format, near its ends more often than chance has it.
func drawWord[T num.Fixed](t *rapid.T, label string) T {
	var x T
	w := fixed.Int128{Hi: rapid.Int64().Draw(t, label), Lo: rapid.Uint64().Draw(t, label+" low")}
	switch rapid.IntRange(0, 5).Draw(t, label+" kind") {
	case 0:
		w = fixed.Int128{Hi: math.MinInt64}
	case 1:
		w = fixed.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	case 2:
		w = fixed.Int128{Hi: w.Hi >> 63, Lo: uint64(w.Hi>>63) ^ w.Lo>>50}
	}
	x, err := fixed.FromBits[T](w, fixed.Saturate)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// nearest returns the integer nearest to x, the even one of two.
func nearest(x *big.Rat) *big.Int {
	q, r := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if c := r.Lsh(r, 1).Cmp(x.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func bigWord[T num.Fixed](x T) *big.Int { return fixed.Bits(x).Big() }

func testFixedLine[T num.Fixed](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawWord[T](t, "a"), drawWord[T](t, "b")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		x := tensor.Linspace(a, b, n)
		if x.Len() != n {
			t.Fatalf("%d numbers, want %d", x.Len(), n)
		}
		d := new(big.Int).Sub(bigWord(b), bigWord(a))
		for i := range n {
			want := new(big.Rat).SetInt(bigWord(a))
			if i > 0 {
				step := new(big.Rat).SetFrac(new(big.Int).Mul(d, big.NewInt(int64(i))), big.NewInt(int64(n-1)))
				want.Add(want, step)
			}
			if got := bigWord(x.At(i)); got.Cmp(nearest(want)) != 0 {
				t.Fatalf("element %d of %d from %v to %v is %v units, want %v", i, n, a, b, got, want)
			}
		}
	})
}

func TestFixedLinspace(t *testing.T) {
	t.Run("FP8x23", testFixedLine[fixed.FP8x23])
	t.Run("FP16x16", testFixedLine[fixed.FP16x16])
	t.Run("FP32x32", testFixedLine[fixed.FP32x32])
	t.Run("FP64x64", testFixedLine[fixed.FP64x64])
}

func testFixedArange[T num.Fixed](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawWord[T](t, "a"), drawWord[T](t, "b")
		d := new(big.Int).Sub(bigWord(b), bigWord(a))
		// A step that leads there in about k.
		by := new(big.Int).Quo(d, big.NewInt(rapid.Int64Range(1, 50).Draw(t, "k")))
		by.Add(by, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "more")))
		w, fits := fixed.Int128FromBig(by)
		step, err := fixed.FromBits[T](w)
		if !fits || err != nil || new(big.Int).Abs(d).Cmp(new(big.Int).Mul(new(big.Int).Abs(by), big.NewInt(1000))) > 0 {
			t.Skip("the step is none of the format, or too small")
		}
		var x tensor.Tensor[T]
		if err := tensor.Try(func() { x = tensor.Arange(a, b, step) }); (err != nil) != (by.Sign() == 0) {
			t.Fatalf("from %v to %v by %v: %v", a, b, step, err)
		} else if err != nil {
			return
		}
		n, at := 0, bigWord(a)
		for ; at.Cmp(bigWord(b))*by.Sign() < 0; at.Add(at, by) {
			if n >= x.Len() || bigWord(x.At(n)).Cmp(at) != 0 {
				t.Fatalf("from %v to %v by %v: %v, but element %d is %v units", a, b, step, x, n, at)
			}
			n++
		}
		if n != x.Len() {
			t.Fatalf("from %v to %v by %v: %d numbers, want %d", a, b, step, x.Len(), n)
		}
	})
}

func TestFixedArange(t *testing.T) {
	t.Run("FP8x23", testFixedArange[fixed.FP8x23])
	t.Run("FP16x16", testFixedArange[fixed.FP16x16])
	t.Run("FP32x32", testFixedArange[fixed.FP32x32])
	t.Run("FP64x64", testFixedArange[fixed.FP64x64])
	zero := fixed.FP16x16FromBits(0)
	if err := tensor.Try(func() { tensor.Arange(zero, fixed.FP16x16FromBits(9), zero) }); !errors.Is(err, tensor.ErrValue) {
		t.Error(err)
	}
}

func testFixedUniform[T num.Fixed](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, seed := drawWord[T](t, "a"), drawWord[T](t, "b"), rapid.Uint64().Draw(t, "seed")
		n := new(big.Int).Sub(bigWord(b), bigWord(a))
		var x tensor.Tensor[T]
		if err := tensor.Try(func() { x = tensor.RandomUniform(seed, a, b, 9) }); (err != nil) != (n.Sign() <= 0) {
			t.Fatalf("between %v and %v: %v", a, b, err)
		} else if err != nil {
			return
		}
		for i, v := range x.All() {
			w := float.Philox4x32([4]uint32{uint32(i[0])}, [2]uint32{uint32(seed), uint32(seed >> 32)})
			want := new(big.Int)
			for k := range w {
				want.Lsh(want, 32).Or(want, big.NewInt(int64(w[3-k])))
			}
			want.Rsh(want.Mul(want, n), 128).Add(want, bigWord(a))
			if bigWord(v).Cmp(want) != 0 {
				t.Fatalf("element %v of [%v, %v) is %v, want %v units", i, a, b, v, want)
			}
		}
	})
}

func TestFixedRandomUniform(t *testing.T) {
	t.Run("FP8x23", testFixedUniform[fixed.FP8x23])
	t.Run("FP16x16", testFixedUniform[fixed.FP16x16])
	t.Run("FP32x32", testFixedUniform[fixed.FP32x32])
	t.Run("FP64x64", testFixedUniform[fixed.FP64x64])
}

// A normal number is the one of float64, rounded; the first that is beyond the format is named.
func TestFixedRandomNormal(t *testing.T) {
	mean, sigma := fixed.FP16x16FromBits(3<<16), fixed.FP16x16FromBits(5<<15)
	want := tensor.RandomNormal(4, mean.Float64(), sigma.Float64(), 7, 3)
	for i, v := range tensor.RandomNormal(4, mean, sigma, 7, 3).All() {
		if w, err := fixed.FromFloat64[fixed.FP16x16](want.At(i...)); err != nil || v != w {
			t.Errorf("element %v is %v, want %v, %v", i, v, w, err)
		}
	}
	err := tensor.Try(func() { tensor.RandomNormal(4, fixed.FP8x23FromBits(0), fixed.FP8x23FromBits(200<<23), 100) })
	if !errors.Is(err, fixed.ErrOverflow) {
		t.Error(err)
	}
}
