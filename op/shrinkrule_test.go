package op_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Shrink of integers is the comparison and the sum of the numbers themselves, toward zero, at the edges of the type too.
func TestShrinkOfIntegers(t *testing.T) {
	shrinks[int8](t, math.MinInt8, math.MaxInt8)
	shrinks[uint8](t, 0, math.MaxUint8)
	shrinks[int16](t, math.MinInt16, math.MaxInt16)
	shrinks[uint16](t, 0, math.MaxUint16)
	shrinks[int32](t, math.MinInt32, math.MaxInt32)
	shrinks[uint32](t, 0, math.MaxUint32)
	shrinks[int64](t, math.MinInt64, math.MaxInt64)
	shrinks[uint64](t, 0, math.MaxUint64)
}

func shrinks[T num.Integer](t *testing.T, least, most T) {
	values := []T{least, least + 1, 0, 1, 2, 5, most/2 + 1, most - 1, most}
	for _, lambd := range []float64{0.5, 0, 1, 1.5, -2, -2.5, 1e30, -1e30, math.Inf(1), math.NaN(), float64(most / 2), float64(least)} {
		for _, bias := range []float64{0, 1, -1, 1.5, -1.5, 100, -1e30, math.Inf(1), 0x1p62, -0x1p63, 0x1p63, -0x1.8p63, 0x1p64, -0x1p65} {
			for i, got := range op.Shrink(tensor.FromSlice(values), lambd, bias).Elems() {
				exact := func(x T) *big.Float {
					if x < 0 {
						return new(big.Float).SetPrec(200).SetInt64(int64(x))
					}
					return new(big.Float).SetPrec(200).SetUint64(uint64(x))
				}
				v := exact(values[i])
				sum := bias
				switch {
				case lambd != lambd || v.Cmp(big.NewFloat(-lambd)) >= 0 && v.Cmp(big.NewFloat(lambd)) <= 0:
					if got != 0 {
						t.Errorf("Shrink(%d, %v, %v) = %d, want 0", values[i], lambd, bias, got)
					}
					continue
				case v.Cmp(big.NewFloat(-lambd)) >= 0:
					sum = -bias
				}
				if math.Trunc(bias) == bias && !math.IsInf(bias, 0) {
					v.Add(v, big.NewFloat(sum))
				} else {
					f, _ := v.Float64()
					v = new(big.Float).SetPrec(200).SetFloat64(f + sum)
				}
				whole := exact(most)
				if !v.IsInf() && v.Cmp(whole) < 0 {
					n, _ := v.Int(nil)
					whole.SetInt(n)
				} else if v.IsInf() && v.Signbit() {
					whole = exact(least)
				}
				if whole.Cmp(exact(least)) < 0 {
					whole = exact(least)
				}
				if exact(got).Cmp(whole) != 0 {
					t.Errorf("Shrink(%d, %v, %v) = %d, want %v", values[i], lambd, bias, got, whole.Text('f', 0))
				}
			}
		}
	}
}
