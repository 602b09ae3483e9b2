package tensortest_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

func ExampleCompare() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	b := tensor.FromSlice([]float32{1, 2.5, 3.0000002, 3}, 2, 2)
	r, err := tensortest.Compare(a.Any(), b.Any(), tensortest.Tolerance{ULP: 1}, 10)
	fmt.Println(r.Differ, r.MaxAbs, r.MaxRel, err)
	for _, d := range r.Largest {
		fmt.Println(d.Index, d.A, d.B, d.Abs)
	}
	// Output:
	// 2 1 0.3333333333333333 <nil>
	// [1 1] 4 3 1
	// [0 1] 2 2.5 0.5
}

func TestCompareSpecialValues(t *testing.T) {
	nan, inf := num.NaN64(), math.Inf(1)
	for _, c := range []struct {
		a, b   tensor.Any
		tol    tensortest.Tolerance
		differ int
		abs    float64
	}{
		{tensor.Scalar(nan).Any(), tensor.Scalar(math.Float64frombits(0xfff0000000000001)).Any(), tensortest.Tolerance{}, 0, 0},
		{tensor.Scalar(nan).Any(), tensor.Scalar(0.0).Any(), tensortest.Tolerance{Atol: 1e300, ULP: math.MaxUint64 - 1}, 1, inf},
		{tensor.Scalar(0.0).Any(), tensor.Scalar(math.Copysign(0, -1)).Any(), tensortest.Tolerance{}, 0, 0},
		{tensor.Scalar(inf).Any(), tensor.Scalar(inf).Any(), tensortest.Tolerance{}, 0, 0},
		{tensor.Scalar(inf).Any(), tensor.Scalar(-inf).Any(), tensortest.Tolerance{Rtol: 1}, 1, inf},
		{tensor.Scalar(math.MaxFloat64).Any(), tensor.Scalar(inf).Any(), tensortest.Tolerance{ULP: 1}, 0, inf},
		{tensor.Scalar(true).Any(), tensor.Scalar(false).Any(), tensortest.Tolerance{Atol: 5, ULP: 5}, 1, 1},
		{tensor.Scalar[uint64](math.MaxUint64).Any(), tensor.Scalar[uint64](math.MaxUint64 - 1).Any(), tensortest.Tolerance{}, 1, 1},
		{tensor.Scalar[int8](127).Any(), tensor.Scalar[int8](-128).Any(), tensortest.Tolerance{Atol: 255}, 0, 255},
		{tensor.Scalar[complex64](3i).Any(), tensor.Scalar[complex64](4).Any(), tensortest.Tolerance{Atol: 5}, 0, 5},
		{tensor.Scalar(90.0).Any(), tensor.Scalar(100.0).Any(), tensortest.Tolerance{Rtol: 0.1}, 0, 10},
		{tensor.Scalar(100.0).Any(), tensor.Scalar(90.0).Any(), tensortest.Tolerance{Rtol: 0.1}, 1, 10},
		{tensor.Scalar(fixed.FP16x16FromBits(-1 << 16)).Any(), tensor.Scalar(fixed.FP16x16FromBits(1 << 16)).Any(), tensortest.Tolerance{}, 1, 2},
		{tensor.Scalar(fixed.FP64x64FromBits(fixed.Int128{Hi: -1})).Any(), tensor.Scalar(fixed.FP64x64FromBits(fixed.Int128{Hi: 1})).Any(), tensortest.Tolerance{}, 1, 2},
		{tensor.Scalar[int16](-1).Any(), tensor.Scalar[int16](1).Any(), tensortest.Tolerance{}, 1, 2},
		{tensor.New[int8](0, 3).Any(), tensor.New[int8](0, 3).Any(), tensortest.Tolerance{}, 0, 0},
	} {
		r, err := tensortest.Compare(c.a, c.b, c.tol, 1)
		if err != nil || r.Differ != c.differ || r.MaxAbs != c.abs || len(r.Largest) != c.differ || r.Len != c.a.Len() {
			t.Errorf("%v and %v, %+v: %+v, %v", c.a, c.b, c.tol, r, err)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	spec, err := tensor.NewSpec(dtype.Int8, 2)
	if err != nil {
		t.Fatal(err)
	}
	a := tensor.New[int8](2)
	for _, c := range [][2]tensor.Any{{a.Any(), tensor.New[int8](3).Any()}, {a.Any(), tensor.New[uint8](2).Any()}, {a.Any(), tensor.Any{}}, {tensor.Any{}, a.Any()}, {a.Any(), spec.Any()}} {
		if r, err := tensortest.Compare(c[0], c[1], tensortest.Tolerance{}, 1); err == nil {
			t.Errorf("%v and %v: %+v", c[0], c[1], r)
		}
	}
}

// TestCompareFindsTheLargest compares with a list of all differences, over layouts
// that have their bytes in order and ones that don't.
func TestCompareFindsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "columns")
		values := rapid.SliceOfN(rapid.Int32Range(-4, 4), rows*columns, rows*columns)
		a := tensor.FromSlice(values.Draw(t, "a"), rows, columns)
		b := tensor.FromSlice(values.Draw(t, "b"), rows, columns)
		if rapid.Bool().Draw(t, "by columns") {
			c := tensor.New[int32](columns, rows).Transpose()
			c.CopyFrom(a)
			a = c
		}
		top, atol := rapid.IntRange(0, 9).Draw(t, "top"), rapid.IntRange(0, 3).Draw(t, "atol")
		r, err := tensortest.Compare(a.Any(), b.Any(), tensortest.Tolerance{Atol: float64(atol)}, top)
		if err != nil {
			t.Fatal(err)
		}
		type found struct {
			i, j int
			abs  float64
		}
		var all []found
		most := 0.0
		for i := range rows {
			for j := range columns {
				d := math.Abs(float64(a.At(i, j)) - float64(b.At(i, j)))
				most = max(most, d)
				if d > float64(atol) {
					all = append(all, found{i, j, d})
				}
			}
		}
		slices.SortStableFunc(all, func(p, q found) int { return int(q.abs - p.abs) })
		if r.Differ != len(all) || r.MaxAbs != most || r.MaxULP != uint64(most) || len(r.Largest) != min(top, len(all)) {
			t.Fatalf("%+v; there are %d, the largest %v", r, len(all), most)
		}
		for k, d := range r.Largest {
			if w := all[k]; d.Index[0] != w.i || d.Index[1] != w.j || d.Abs != w.abs || d.A != a.At(w.i, w.j) || d.B != b.At(w.i, w.j) {
				t.Fatalf("difference %d is %+v, want %+v", k, d, w)
			}
		}
	})
}
