package op

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The mean of integers is the exact one toward zero, sums of magnitudes and squares
// are the exact ones' low bits.
func TestIntegerReductions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkIntegers(t, rapid.SliceOf(rapid.Int64()).Draw(t, "int64"), func(v int64) *big.Int { return big.NewInt(v) }, func(b *big.Int) int64 { return int64(low(b)) })
		checkIntegers(t, rapid.SliceOf(rapid.Int8()).Draw(t, "int8"), func(v int8) *big.Int { return big.NewInt(int64(v)) }, func(b *big.Int) int8 { return int8(low(b)) })
		checkIntegers(t, rapid.SliceOf(rapid.Uint64()).Draw(t, "uint64"), func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }, low)
	})
}

// low returns the low 64 bits of a number in two's complement.
func low(b *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), 64)
	return new(big.Int).Mod(b, m).Uint64()
}

func checkIntegers[T num.Integer](t *rapid.T, v []T, wide func(T) *big.Int, narrow func(*big.Int) T) {
	sum, abs, squares := new(big.Int), new(big.Int), new(big.Int)
	for _, x := range v {
		b := wide(x)
		sum.Add(sum, b)
		abs.Add(abs, new(big.Int).Abs(b))
		squares.Add(squares, new(big.Int).Mul(b, b))
	}
	mean := new(big.Int)
	if len(v) > 0 {
		mean.Quo(sum, big.NewInt(int64(len(v))))
	}
	a := tensor.FromSlice(v, len(v))
	for name, c := range map[string]struct {
		got  tensor.Tensor[T]
		want *big.Int
	}{"ReduceMean": {ReduceMean(a, nil), mean}, "ReduceL1": {ReduceL1(a, nil), abs}, "ReduceSumSquare": {ReduceSumSquare(a, nil), squares}, "ReduceSum": {ReduceSum(a, nil), sum}} {
		if got := c.got.Item(); got != narrow(c.want) {
			t.Fatalf("%s of %v is %v, want %v", name, v, got, c.want)
		}
	}
}

// The sum of float32 in float64 has the bits of the sum after a conversion, in every layout.
func TestSumAsFloat64(t *testing.T) {
	odd := []float32{float32(math.Copysign(0, -1)), 0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32}
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 5, 33, 70}), 3, 3).Draw(t, "shape")
		if rapid.Bool().Draw(t, "long") {
			shape[rapid.IntRange(0, 2).Draw(t, "long axis")] = rapid.IntRange(4000, 9000).Draw(t, "extent")
			shape[1] = min(shape[1], 3)
		}
		x := make([]float32, shape[0]*shape[1]*shape[2])
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range x {
			if x[i] = float32(r.NormFloat64()); r.IntN(2000) == 0 {
				x[i] = odd[r.IntN(len(odd))]
			}
		}
		a := tensor.FromSlice(x, shape...).Permute(rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")...)
		axes := rapid.SampledFrom([][]int{nil, {}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}}).Draw(t, "axes")
		got, want := SumAs[float64](a, axes), ReduceSum(Cast[float64](a), axes)
		for at, g := range got.All() {
			if w := want.At(at...); math.Float64bits(g) != math.Float64bits(w) {
				t.Fatalf("over %v element %v is %v, want %v", axes, at, g, w)
			}
		}
	})
}
