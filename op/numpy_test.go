package op

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// a = b·FloorDiv(a, b) + Mod(a, b), and the remainder has the divisor's sign.
func TestFloorDivAndMod(t *testing.T) {
	var as, bs []int8
	for a := -128; a < 128; a++ {
		for b := -128; b < 128; b++ {
			if b != 0 {
				as, bs = append(as, int8(a)), append(bs, int8(b))
			}
		}
	}
	x, y := tensor.FromSlice(as), tensor.FromSlice(bs)
	q, r := FloorDiv(x, y).Elems(), Mod(x, y).Elems()
	for i, a := range as {
		if bs[i]*q[i]+r[i] != a || r[i] != 0 && (r[i] < 0) != (bs[i] < 0) || float64(r[i]) >= math.Abs(float64(bs[i])) {
			t.Fatalf("%d by %d: quotient %d, remainder %d", a, bs[i], q[i], r[i])
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ a, b, q, r float64 }{
		{1, 0.1, 9, 0.09999999999999995}, {-1, 3, -1, 2}, {7, -2, -4, -1}, {0, -2, math.Copysign(0, -1), math.Copysign(0, -1)}, {3, inf, 0, 3}, {-3, inf, -1, inf},
		{inf, 2, nan, nan}, {1, 0, inf, nan}, {0, 0, nan, nan}, {6, 3, 2, 0},
	} {
		a, b := tensor.Scalar(c.a), tensor.Scalar(c.b)
		q, r := FloorDiv(a, b).Item(), Mod(a, b).Item()
		if !(q == c.q || q != q && c.q != c.q) || word(r) != word(c.r) && !(r != r && c.r != c.r) {
			t.Errorf("%v by %v: quotient %v, remainder %v, want %v and %v", c.a, c.b, q, r, c.q, c.r)
		}
	}
}

func TestShiftsBeyondTheWidth(t *testing.T) {
	a, b := tensor.FromSlice([]int8{1, -1, -128, 64, 1, -1}), tensor.FromSlice([]int8{7, 7, 8, 127, -1, -1})
	if got := BitShift(a, b, ShiftLeft).Elems(); !slices.Equal(got, []int8{-128, -128, 0, 0, 0, 0}) {
		t.Errorf("left: %v", got)
	}
	if got := BitShift(a, b, ShiftRight).Elems(); !slices.Equal(got, []int8{0, -1, -1, 0, 0, -1}) {
		t.Errorf("right: %v", got)
	}
}

// NextAfter of every pair of float16 classes is the neighbour in the order of values.
func TestNextAfter(t *testing.T) {
	words := []uint16{0, 1, 2, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7e00}
	for _, w := range slices.Clone(words) {
		words = append(words, w|0x8000)
	}
	for _, a := range words {
		for _, b := range words {
			x, y := num.FromBits[num.F16](a), num.FromBits[num.F16](b)
			got := NextAfter(tensor.Scalar(x), tensor.Scalar(y)).Item()
			switch {
			case x.IsNaN() || y.IsNaN():
				if got.Bits() != 0x7e00 {
					t.Errorf("%v, %v: %#x", x, y, got.Bits())
				}
			case x.Float64() == y.Float64():
				if got != y {
					t.Errorf("%v to %v: %v", x, y, got)
				}
			case x.Float64() < y.Float64():
				if !(x.Float64() < got.Float64() && got.Float64() <= y.Float64()) {
					t.Errorf("%v to %v: %v", x, y, got)
				}
			default:
				if !(x.Float64() > got.Float64() && got.Float64() >= y.Float64()) {
					t.Errorf("%v to %v: %v", x, y, got)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64().Draw(t, "x"), rapid.Float64().Draw(t, "y")
		if got, want := NextAfter(tensor.Scalar(x), tensor.Scalar(y)).Item(), math.Nextafter(x, y); got != want {
			t.Errorf("NextAfter(%v, %v) = %v, want %v", x, y, got, want)
		}
		u, v := float32(x), float32(y)
		if got, want := NextAfter(tensor.Scalar(u), tensor.Scalar(v)).Item(), math.Nextafter32(u, v); got != want {
			t.Errorf("NextAfter(%v, %v) = %v, want %v", u, v, got, want)
		}
	})
}

func TestVarAndQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 31, 33, 4096, 4097, 10000} {
		v := make([]float64, n)
		for i := range v {
			v[i] = 1e6 + rng.NormFloat64()
		}
		mean, square := 0.0, 0.0
		for _, x := range v {
			mean += x / float64(n)
		}
		for _, x := range v {
			square += (x - mean) * (x - mean)
		}
		a := tensor.FromSlice(v)
		if got := Var(a, nil, 0).Item(); math.Abs(got-square/float64(n)) > 1e-9*(1+got) {
			t.Errorf("Var of %d: %v, want %v", n, got, square/float64(n))
		}
		// Columns are the same sequences, and read twice side by side.
		two := tensor.New[float64](n, 2)
		two.CopyFrom(a.Unsqueeze(1).BroadcastTo(n, 2))
		if got := Var(two, []int{0}, 1).Elems(); word(got[0]) != word(Var(a, nil, 1).Item()) || word(got[1]) != word(got[0]) {
			t.Errorf("Var of columns: %v, want twice %v", got, Var(a, nil, 1).Item())
		}
		s := slices.Sorted(slices.Values(v))
		if got, want := Median(a, nil).Item(), (s[(n-1)/2]+s[n/2])/2; got != want {
			t.Errorf("Median of %d: %v, want %v", n, got, want)
		}
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			i := int(q * float64(n-1))
			if got := Quantile(a, q, nil).Item(); got < s[i] || got > s[min(i+1, n-1)] {
				t.Errorf("Quantile %v of %d: %v isn't between %v and %v", q, n, got, s[i], s[min(i+1, n-1)])
			}
		}
	}
	if got := Var(tensor.FromSlice([]float32{3}), nil, 1).Item(); got == got {
		t.Errorf("the sample variance of one element is %v, want NaN", got)
	}
	if err := tensor.Try(func() { Quantile(tensor.FromSlice([]float32{3}), math.NaN(), nil) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("Quantile NaN: %v", err)
	}
}

func TestNanReductions(t *testing.T) {
	nan := math.NaN()
	a := tensor.FromSlice([]float64{1, nan, -3, nan, nan, nan, nan, 5, 7}, 3, 3)
	check := func(name string, got tensor.Tensor[float64], want ...float64) {
		t.Helper()
		for i, g := range got.Elems() {
			if g != want[i] && !(g != g && want[i] != want[i]) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
	check("NanSum", NanSum(a, []int{1}), -2, 0, 12)
	check("NanMean", NanMean(a, []int{1}), -1, nan, 6)
	check("NanMax", NanMax(a, []int{1}), 1, nan, 7)
	check("NanMin", NanMin(a, []int{1}), -3, nan, 5)
	if got := NanArgMin(a, 1).Elems(); !slices.Equal(got, []int64{2, 0, 1}) {
		t.Errorf("NanArgMin: %v", got)
	}
}

// Einsum against a loop over all indices.
func TestEinsum(t *testing.T) {
	for _, eq := range []string{"ij,jk->ik", "ij,jk", "ij->ji", "ii", "ii->i", "ij->", "i,j->ij", "ij,ij->", "bij,bjk->bik", "...ij,...jk->...ik", "a...,...->a...",
		"ij,jk,kl->il", "ij,kj,ki->jk", "abc,cd,def->abef", "i,i,i->i", " i j , j ->i", "aab,b->ab", "bca,cd->d", ",ij->ij",
		"i...->i", "...->", "...,...->", "...,...,...->", "ii...->", "i...i->...", "...ii->i", "a...,b...->ab", "...a,...a->a...", "a...b,b...->a", "...,i->i"} {
		rapid.Check(t, func(t *rapid.T) { einsumCase(t, eq) })
	}
	a := tensor.New[int32](2, 3)
	for _, eq := range []string{"", "ij,jk->ik", "ij->ik", "i->i", "ij->ii", "i1->i", "ij...->..k", "ii->i", "ij->i->j", "…"} {
		err := tensor.Try(func() { Einsum(eq, []tensor.Tensor[int32]{a}) })
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%q: %v", eq, err)
		}
	}
}

func einsumCase(t *rapid.T, eq string) {
	extent := map[byte]int{}
	ext := func(l byte) int {
		if _, ok := extent[l]; !ok {
			extent[l] = rapid.IntRange(0, 3).Draw(t, string(l))
		}
		return extent[l]
	}
	dots := rapid.IntRange(0, 2).Draw(t, "dots")
	text := []byte{}
	for i := 0; i < len(eq); i++ {
		switch {
		case eq[i] == ' ':
		case eq[i] == '.':
			for d := range dots {
				text = append(text, byte('W'+d))
			}
			i += 2
		default:
			text = append(text, eq[i])
		}
	}
	left, right, explicit := string(text), "", false
	for i := range text {
		if text[i] == '-' {
			left, right, explicit = string(text[:i]), string(text[i+2:]), true
		}
	}
	var names []string
	for part, rest, more := "", left, true; more; names = append(names, part) {
		i := slices.Index([]byte(rest), ',')
		if more = i >= 0; more {
			part, rest = rest[:i], rest[i+1:]
		} else {
			part = rest
		}
	}
	count := map[byte]int{}
	var operands []tensor.Tensor[int64]
	for _, n := range names {
		var shape []int
		for i := range len(n) {
			count[n[i]]++
			e := ext(n[i])
			if (n[i] == 'W' || n[i] == 'X') && count[n[i]] > 1 && rapid.Bool().Draw(t, "broadcast") {
				e = 1
			}
			shape = append(shape, e)
		}
		x := tensor.New[int64](shape...)
		for i := range x.Elems() {
			x.Elems()[i] = int64(rapid.IntRange(-9, 9).Draw(t, "x"))
		}
		operands = append(operands, x)
	}
	if !explicit {
		for l := range 128 {
			if count[byte(l)] == 1 {
				right += string(rune(l))
			}
		}
	}
	var shape []int
	for i := range len(right) {
		shape = append(shape, ext(right[i]))
	}
	want := tensor.New[int64](shape...)
	var letters []byte
	for l := range extent {
		letters = append(letters, l)
	}
	at := map[byte]int{}
	var loop func(k int)
	loop = func(k int) {
		if k < len(letters) {
			for i := range extent[letters[k]] {
				at[letters[k]] = i
				loop(k + 1)
			}
			return
		}
		index := func(n string, shape []int) (idx []int) {
			for i := range len(n) {
				idx = append(idx, min(at[n[i]], shape[i]-1))
			}
			return idx
		}
		p := int64(1)
		for i, n := range names {
			p *= operands[i].At(index(n, operands[i].Shape())...)
		}
		to := index(right, shape)
		want.Set(want.At(to...)+p, to...)
	}
	loop(0)
	got := Einsum(eq, operands)
	if !slices.Equal(got.Shape(), shape) || !slices.Equal(got.Elems(), want.Elems()) {
		t.Fatalf("%s of %v: %v, want %v", eq, operands, got, want)
	}
}
