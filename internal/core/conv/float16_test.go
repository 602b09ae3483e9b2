package conv

import (
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/num"
)

// Around each number of a 16-bit float and each halfway point lie the float64s that rounding twice would get wrong.
func TestDoublesRoundOnce(t *testing.T) {
	testDoubles(t, "float16", num.FromBits[num.F16], num.F16.Bits, num.F16.Float64, num.FromFloat64[num.F16])
	testDoubles(t, "bfloat16", num.FromBits[num.BF16], num.BF16.Bits, num.BF16.Float64, num.FromFloat64[num.BF16])
}

func testDoubles[T num.F16 | num.BF16](t *testing.T, name string, of func(uint16) T, bits func(T) uint16, value func(T) float64, round func(float64) T) {
	near := []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()}
	all := make([]T, 1<<15)
	for h := range all {
		all[h] = of(uint16(h))
		v, up := value(all[h]), value(of(uint16(h+1)))
		for _, w := range []float64{v, v/2 + up/2} {
			near = append(near, w, math.Nextafter(w, 0), math.Nextafter(w, math.Inf(1)), w*(1+0x1p-30), w*(1-0x1p-30))
		}
	}
	for i, n := 0, len(near); i < n; i++ {
		near = append(near, -near[i])
	}
	got := make([]T, len(near))
	NarrowDoubles(got, near)
	for i, v := range near {
		if want := round(v); got[i] != want {
			t.Fatalf("%v as a %s has the bits %#x, want %#x", v, name, bits(got[i]), bits(want))
		}
	}
	wide := make([]float64, len(all))
	WidenDoubles(wide, all)
	for h, v := range wide {
		if want := value(all[h]); math.Float64bits(v) != math.Float64bits(want) && (v == v || want == want) {
			t.Fatalf("%s %#x is %v, want %v", name, h, v, want)
		}
	}
}
