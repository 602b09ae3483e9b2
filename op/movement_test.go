package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

func i64(v ...int64) tensor.Tensor[int64] { return tensor.FromSlice(v, len(v)) }

// count returns 0, 1, 2, … in a shape.
func count(shape ...int) tensor.Tensor[int32] {
	t := tensor.New[int32](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = int32(i)
	}
	return t
}

func testConcat[T num.Elem](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a, b, c := random[T](r, 2, 3, 4), random[T](r, 2, 5, 4), random[T](r, 2, 0, 4)
	want := tensor.New[T](2, 11, 4)
	for at := range want.All() {
		i, j, k := at[0], at[1], at[2]
		switch {
		case j < 3:
			want.Set(a.At(i, j, k), i, j, k)
		case j < 8:
			want.Set(b.At(i, j-3, k), i, j, k)
		default:
			want.Set(a.At(i, j-8, k), i, j, k)
		}
	}
	vb := variants(b)
	for i, v := range variants(a) {
		same(t, v.name, Concat([]tensor.Tensor[T]{v.t, vb[i].t, c, a}, 1), want)
	}
	for _, v := range variants(tensor.New[T](2, 11, 4)) {
		same(t, "into "+v.name, Concat([]tensor.Tensor[T]{a, b, c, a}, -2, Into(v.t)), want)
	}
	out := runs(t, "Concat", &Call{Inputs: []tensor.Any{a.Any(), b.Any(), a.Any()}, Attrs: given{"axis": int64(-2)}})
	same(t, "run-time form", asOf[T](out[0]), want)
}

func TestConcat(t *testing.T) {
	t.Run("bool", testConcat[bool])
	t.Run("int8", testConcat[int8])
	t.Run("uint16", testConcat[uint16])
	t.Run("float16", testConcat[num.F16])
	t.Run("float32", testConcat[float32])
	t.Run("float64", testConcat[float64])
	t.Run("complex128", testConcat[complex128])
	odd := tensor.FromSlice([]float32{math.Float32frombits(0xff800001)})
	same(t, "bits of a NaN", Concat([]tensor.Tensor[float32]{odd, odd}, 0), tensor.FromSlice([]float32{odd.At(0), odd.At(0)}))
	// Parts of the target as operands, the other way round.
	a := count(6)
	Concat([]tensor.Tensor[int32]{a.S("4:"), a.S(":4")}, 0, Into(a))
	same(t, "rotated in place", a, tensor.FromSlice([]int32{4, 5, 0, 1, 2, 3}))

	x := count(2, 3)
	list := func(ts ...tensor.Tensor[int32]) []tensor.Tensor[int32] { return ts }
	fails(t, func() { Concat(list(), 0) }, "op.Concat", "no tensors")
	fails(t, func() { Concat(list(x, count(2, 4)), 0) }, "op.Concat", "tensors 0 and 1", "axis 1")
	fails(t, func() { Concat(list(x, count(3)), 0) }, "op.Concat", "rank 2", "1")
	fails(t, func() { Concat(list(x), 2) }, "op.Concat", "axis 2")
	fails(t, func() { Concat(list(count()), 0) }, "op.Concat", "rank 0")
	fails(t, func() { Concat(list(x, x), 0, Into(x)) }, "op.Concat", "(4,3)")
	if !slices.Equal(x.Elems(), count(6).Elems()) {
		t.Error("a refused call has written")
	}
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x.Any(), {}}})
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x.Any(), tensor.New[int64](2, 3).Any()}})
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x.Any(), count(3, 3).Any()}})
}

func testGather[T num.Elem](t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	a := random[T](r, 3, 4, 5)
	for _, idx := range []tensor.Tensor[int64]{tensor.Scalar(int64(-1)), i64(), i64(2, 0, -1, 2), tensor.FromSlice([]int64{0, 1, 2, -3, -2, -1}, 2, 3)} {
		for axis := range 3 {
			shape := append(append(a.Shape()[:axis:axis], idx.Shape()...), a.Shape()[axis+1:]...)
			want := tensor.New[T](shape...)
			for at := range want.All() {
				i := idx.At(at[axis : axis+idx.Rank()]...)
				if i < 0 {
					i += int64(a.Dim(axis))
				}
				src := append(append(at[:axis:axis], int(i)), at[axis+idx.Rank():]...)
				want.Set(a.At(src...), at...)
			}
			what := fmt.Sprintf("%v of axis %d ", idx.Shape(), axis)
			for _, v := range variants(a) {
				for _, w := range variants(idx) {
					same(t, what+v.name+" by "+w.name, Gather(v.t, w.t, axis-3), want)
				}
			}
			for _, v := range variants(tensor.New[T](shape...)) {
				same(t, what+"into "+v.name, Gather(a, idx, axis, Into(v.t)), want)
			}
			narrow := tensor.New[int32](idx.Shape()...)
			for at, v := range idx.All() {
				narrow.Set(int32(v), at...)
			}
			for _, in := range []tensor.Any{idx.Any(), narrow.Any()} {
				out := runs(t, "Gather", &Call{Inputs: []tensor.Any{a.Any(), in}, Attrs: given{"axis": int64(axis)}})
				same(t, what+"run-time form", asOf[T](out[0]), want)
			}
		}
	}
}

func TestGather(t *testing.T) {
	t.Run("bool", testGather[bool])
	t.Run("int64", testGather[int64])
	t.Run("bfloat16", testGather[num.BF16])
	t.Run("float32", testGather[float32])
	t.Run("complex64", testGather[complex64])
	t.Run("fp64x64", testGather[fixed.FP64x64])
	a := i64(5, 6, 7, 8)
	before := a.Clone()
	fails(t, func() { Gather(a, tensor.FromSlice([]int64{0, 1, 4, 0}, 2, 2), 0) }, "op.Gather", "index 4 at (1,0)", "extent 4")
	fails(t, func() { Gather(a, i64(0, 1, 2, -5), 0, Into(a)) }, "op.Gather", "index -5 at (3)")
	same(t, "a refused call", a, before)
	fails(t, func() { Gather(a, i64(0), 1) }, "op.Gather", "axis 1")
	fails(t, func() { Gather(tensor.New[int8](0), i64(0), 0) }, "op.Gather", "extent 0")
	same(t, "none of nothing", Gather(tensor.New[int8](0, 2), i64(), 0), tensor.New[int8](0, 2))
	same(t, "reversed in place", Gather(a, i64(3, 2, 1, 0), 0, Into(a)), i64(8, 7, 6, 5))
	b := i64(1, 0, 3, 2)
	same(t, "over its indices", Gather(a, b, 0, Into(b)), i64(7, 8, 5, 6))
	runs(t, "Gather", &Call{Inputs: []tensor.Any{a.Any(), tensor.New[float32](1).Any()}})
	if runs(t, "Gather", &Call{Inputs: []tensor.Any{a.Any(), i64(1).Any()}, Attrs: given{"axis": int64(2)}}) != nil {
		t.Error("axis 2 of rank 1 is accepted")
	}
}

// moves is one call of an operator that only looks at shapes, and its result;
// want is nil where it must fail.
type movement struct {
	name  string
	opset int
	in    []tensor.Any
	attrs given
	want  tensor.Any
}

func TestMoves(t *testing.T) {
	a := count(2, 3, 4)
	nested := variants(a)
	b := count(1, 3, 1, 2)
	list := i64
	for _, c := range []movement{
		// Reshape.
		{"Reshape", 13, []tensor.Any{a.Any(), list(4, 6).Any()}, nil, count(4, 6).Any()},
		{"Reshape", 5, []tensor.Any{a.Any(), list(0, -1).Any()}, nil, count(2, 12).Any()},
		{"Reshape", 13, []tensor.Any{a.Any(), list(-1).Any()}, nil, count(24).Any()},
		{"Reshape", 13, []tensor.Any{a.Any(), list(0, 0, 4, 1).Any()}, nil, count(2, 3, 4, 1).Any()},
		{"Reshape", 14, []tensor.Any{count(0, 3).Any(), list(3, 0).Any()}, given{"allowzero": int64(1)}, count(3, 0).Any()},
		{"Reshape", 14, []tensor.Any{count(0, 3).Any(), list(0, 3).Any()}, nil, count(0, 3).Any()},
		{"Reshape", 14, []tensor.Any{count(0, 3).Any(), list(-1, 0).Any()}, given{"allowzero": int64(1)}, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{count(1).Any(), list().Any()}, nil, tensor.Scalar(int32(0)).Any()},
		{"Reshape", 13, []tensor.Any{a.Any(), list(5, -1).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{a.Any(), list(-1, -1).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{a.Any(), list(-2, 12).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{a.Any(), list(2, 3, 4, 0).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{a.Any(), list(25).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{count(3).Any(), list(5, 0x6666666666666667).Any()}, nil, tensor.Any{}}, // 3 modulo 2⁶⁴
		{"Reshape", 13, []tensor.Any{count(3).Any(), list(5, 0x6666666666666667, -1).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{count(0).Any(), list(1<<32, 1<<32).Any()}, nil, tensor.Any{}},
		{"Reshape", 13, []tensor.Any{a.Any(), tensor.New[float32](1).Any()}, nil, tensor.Any{}},
		// Flatten.
		{"Flatten", 13, []tensor.Any{a.Any()}, nil, count(2, 12).Any()},
		{"Flatten", 13, []tensor.Any{a.Any()}, given{"axis": int64(0)}, count(1, 24).Any()},
		{"Flatten", 13, []tensor.Any{a.Any()}, given{"axis": int64(3)}, count(24, 1).Any()},
		{"Flatten", 13, []tensor.Any{a.Any()}, given{"axis": int64(-1)}, count(6, 4).Any()},
		{"Flatten", 13, []tensor.Any{a.Any()}, given{"axis": int64(4)}, tensor.Any{}},
		{"Flatten", 13, []tensor.Any{tensor.Scalar(int32(0)).Any()}, given{"axis": int64(0)}, count(1, 1).Any()},
		{"Flatten", 13, []tensor.Any{count(2, 0, 3).Any()}, nil, count(2, 0).Any()},
		// Transpose.
		{"Transpose", 13, []tensor.Any{a.Any()}, nil, a.Permute(2, 1, 0).Any()},
		{"Transpose", 13, []tensor.Any{a.Any()}, given{"perm": []int64{1, 2, 0}}, a.Permute(1, 2, 0).Any()},
		{"Transpose", 13, []tensor.Any{a.Any()}, given{"perm": []int64{1, 1, 0}}, tensor.Any{}},
		{"Transpose", 13, []tensor.Any{a.Any()}, given{"perm": []int64{1, 0}}, tensor.Any{}},
		{"Transpose", 13, []tensor.Any{a.Any()}, given{"perm": []int64{1, 2, 3}}, tensor.Any{}},
		// Squeeze and Unsqueeze: an attribute before opset 13.
		{"Squeeze", 11, []tensor.Any{b.Any()}, nil, count(3, 2).Any()},
		{"Squeeze", 11, []tensor.Any{b.Any()}, given{"axes": []int64{0}}, count(3, 1, 2).Any()},
		{"Squeeze", 11, []tensor.Any{b.Any(), list(2).Any()}, given{"axes": []int64{0}}, tensor.Any{}},
		{"Squeeze", 13, []tensor.Any{b.Any(), list(-2).Any()}, given{"axes": []int64{0}}, count(1, 3, 2).Any()},
		{"Squeeze", 13, []tensor.Any{b.Any(), list(0, 2).Any()}, nil, count(3, 2).Any()},
		{"Squeeze", 13, []tensor.Any{b.Any(), {}}, nil, count(3, 2).Any()},
		{"Squeeze", 13, []tensor.Any{b.Any(), list(1).Any()}, nil, tensor.Any{}},
		{"Squeeze", 13, []tensor.Any{b.Any(), list(4).Any()}, nil, tensor.Any{}},
		{"Squeeze", 13, []tensor.Any{count(1, 1).Any()}, nil, tensor.Scalar(int32(0)).Any()},
		{"Unsqueeze", 11, []tensor.Any{a.Any()}, given{"axes": []int64{0, 4}}, count(1, 2, 3, 4, 1).Any()},
		{"Unsqueeze", 13, []tensor.Any{a.Any(), list(-1, 1).Any()}, nil, count(2, 1, 3, 4, 1).Any()},
		{"Unsqueeze", 13, []tensor.Any{a.Any(), list(2, 1).Any()}, nil, count(2, 1, 1, 3, 4).Any()},
		{"Unsqueeze", 13, []tensor.Any{tensor.Scalar(int32(0)).Any(), list(0).Any()}, nil, count(1).Any()},
		{"Unsqueeze", 13, []tensor.Any{a.Any(), list(1, 1).Any()}, nil, tensor.Any{}},
		{"Unsqueeze", 13, []tensor.Any{a.Any(), list(1, -4).Any()}, nil, tensor.Any{}},
		{"Unsqueeze", 13, []tensor.Any{a.Any(), list(4).Any()}, nil, tensor.Any{}},
		{"Unsqueeze", 13, []tensor.Any{a.Any()}, nil, tensor.Any{}},
		{"Unsqueeze", 11, []tensor.Any{a.Any(), list(0).Any()}, nil, tensor.Any{}},
		// Slice: attributes before opset 10.
		{"Slice", 9, []tensor.Any{a.Any()}, given{"starts": []int64{1, 0}, "ends": []int64{2, math.MaxInt64}}, a.S("1:2").Any()},
		{"Slice", 9, []tensor.Any{a.Any()}, given{"starts": []int64{-3}, "ends": []int64{-1}, "axes": []int64{-1}}, a.S("...,-3:-1").Any()},
		{"Slice", 10, []tensor.Any{a.Any(), list(0).Any(), list(3).Any(), list(2).Any()}, nil, a.S("...,:3").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(1, 0).Any(), list(3, 4).Any(), list(1, 2).Any(), list(1, 2).Any()}, nil, a.S(":,1:3,0:4:2").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(-1).Any(), list(math.MinInt64).Any(), list(2).Any(), list(-1).Any()}, nil, a.S("...,::-1").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(math.MaxInt64).Any(), list(math.MinInt64).Any(), list(2).Any(), list(-3).Any()}, nil, a.S("...,::-3").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(math.MinInt64).Any(), list(math.MaxInt64).Any(), list(2).Any(), list(math.MaxInt64).Any()}, nil, a.S("...,:1").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(math.MaxInt64).Any(), list(math.MinInt64).Any(), list(2).Any(), list(math.MinInt64).Any()}, nil, a.S("...,3:").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(3).Any(), list(1).Any(), list(2).Any()}, nil, count(2, 3, 0).Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list(-100).Any(), list(100).Any(), list(0).Any(), {}}, nil, a.Any()},
		{"Slice", 13, []tensor.Any{a.Any(), tensor.FromSlice([]int32{1}).Any(), tensor.FromSlice([]int32{2}).Any()}, nil, a.S("1:").Any()},
		{"Slice", 13, []tensor.Any{a.Any(), list().Any(), list().Any(), list().Any(), list().Any()}, nil, a.Any()},
		{"Slice", 13, []tensor.Any{nested[len(nested)-1].t.Any(), list(1).Any(), list(4).Any(), list(2).Any()}, nil, a.S("...,1:").Any()}, // no view of a nested axis
		{"Slice", 13, []tensor.Any{a.Any(), list(0).Any(), list(1).Any(), list(3).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), list(0, 0).Any(), list(1, 1).Any(), list(0, -3).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), list(0).Any(), list(1).Any(), list(0).Any(), list(0).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), list(0, 1).Any(), list(1).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), list(0, 0, 0, 0).Any(), list(1, 1, 1, 1).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), list(0).Any()}, nil, tensor.Any{}},
		{"Slice", 13, []tensor.Any{a.Any(), tensor.New[float32](1).Any(), list(1).Any()}, nil, tensor.Any{}},
		// Expand.
		{"Expand", 13, []tensor.Any{count(3, 1).Any(), list(2, 1, 4).Any()}, nil, count(3, 1).BroadcastTo(2, 3, 4).Any()},
		{"Expand", 13, []tensor.Any{count(3, 1).Any(), list(1).Any()}, nil, count(3, 1).Any()},
		{"Expand", 13, []tensor.Any{count(1).Any(), list(0).Any()}, nil, count(0).Any()},
		{"Expand", 13, []tensor.Any{count(3, 1).Any(), list(2, 1).Any()}, nil, tensor.Any{}},
		{"Expand", 13, []tensor.Any{count(3, 1).Any(), list(3, -1).Any()}, nil, tensor.Any{}},
		// Shape and Size.
		{"Shape", 13, []tensor.Any{a.Any()}, nil, list(2, 3, 4).Any()},
		{"Shape", 15, []tensor.Any{a.Any()}, given{"start": int64(1)}, list(3, 4).Any()},
		{"Shape", 15, []tensor.Any{a.Any()}, given{"start": int64(-2), "end": int64(-1)}, list(3).Any()},
		{"Shape", 15, []tensor.Any{a.Any()}, given{"start": int64(-9), "end": int64(9)}, list(2, 3, 4).Any()},
		{"Shape", 15, []tensor.Any{a.Any()}, given{"start": int64(2), "end": int64(1)}, list().Any()},
		{"Shape", 15, []tensor.Any{tensor.Scalar(1.5).Any()}, nil, list().Any()},
		{"Size", 13, []tensor.Any{a.Any()}, nil, tensor.Scalar(int64(24)).Any()},
		{"Size", 13, []tensor.Any{count(0, 5).Any()}, nil, tensor.Scalar(int64(0)).Any()},
		{"Size", 13, []tensor.Any{{}}, nil, tensor.Any{}},
		// Constant and ConstantOfShape.
		{"Constant", 13, nil, given{"value": a.Any()}, a.Any()},
		{"Constant", 13, nil, given{"value_int": int64(3)}, tensor.Scalar(int64(3)).Any()},
		{"Constant", 13, nil, given{"value_ints": []int64{3, 4}}, list(3, 4).Any()},
		{"Constant", 13, nil, given{"value_float": float32(0.5)}, tensor.Scalar(float32(0.5)).Any()},
		{"Constant", 13, nil, given{"value_floats": []float32{}}, tensor.New[float32](0).Any()},
		{"Constant", 13, nil, nil, tensor.Any{}},
		{"ConstantOfShape", 9, []tensor.Any{list(2, 3).Any()}, nil, tensor.New[float32](2, 3).Any()},
		{"ConstantOfShape", 9, []tensor.Any{list().Any()}, given{"value": tensor.FromSlice([]bool{true}).Any()}, tensor.Scalar(true).Any()},
		{"ConstantOfShape", 9, []tensor.Any{list(3).Any()}, given{"value": list(7).Any()}, list(7, 7, 7).Any()},
		{"ConstantOfShape", 9, []tensor.Any{list(0, 2).Any()}, given{"value": list(7).Any()}, tensor.New[int64](0, 2).Any()},
		{"ConstantOfShape", 9, []tensor.Any{list(-1).Any()}, nil, tensor.Any{}},
		{"ConstantOfShape", 9, []tensor.Any{list(1).Any()}, given{"value": list(7, 8).Any()}, tensor.Any{}},
	} {
		out := runs(t, c.name, &Call{Inputs: c.in, Attrs: c.attrs, Opset: c.opset})
		what := fmt.Sprintf("%s, opset %d, of %s %v", c.name, c.opset, described(c.in[min(1, len(c.in)):]), c.attrs)
		switch {
		case out == nil && c.want.IsZero():
		case out == nil:
			t.Errorf("%s fails", what)
		case c.want.IsZero():
			t.Errorf("%s gives %v, want an error", what, described(out))
		default:
			sameAny(t, what, out[0], c.want)
		}
	}
}

func sameAny(t *testing.T, what string, got, want tensor.Any) {
	t.Helper()
	if got.DType() != want.DType() {
		t.Errorf("%s: %v, want %v", what, got.DType(), want.DType())
		return
	}
	switch want.DType() {
	case dtype.Bool:
		same(t, what, asOf[bool](got), asOf[bool](want))
	case dtype.Int32:
		same(t, what, asOf[int32](got), asOf[int32](want))
	case dtype.Int64:
		same(t, what, asOf[int64](got), asOf[int64](want))
	case dtype.Float32:
		same(t, what, asOf[float32](got), asOf[float32](want))
	case dtype.FP16x16:
		same(t, what, asOf[fixed.FP16x16](got), asOf[fixed.FP16x16](want))
	default:
		t.Fatalf("%s: no comparison for %v", what, want.DType())
	}
}

// Views are views: nothing is copied where the strides allow it.
func TestMovesShare(t *testing.T) {
	a := count(2, 3, 4)
	for name, c := range map[string]*Call{
		"Reshape":   {Inputs: []tensor.Any{a.Any(), i64(4, 6).Any()}},
		"Flatten":   {Inputs: []tensor.Any{a.Any()}},
		"Transpose": {Inputs: []tensor.Any{a.Any()}},
		"Unsqueeze": {Inputs: []tensor.Any{a.Any(), i64(0).Any()}},
		"Squeeze":   {Inputs: []tensor.Any{a.Any(), i64().Any()}},
		"Slice":     {Inputs: []tensor.Any{a.Any(), i64(0).Any(), i64(9).Any(), i64(2).Any(), i64(2).Any()}},
		"Expand":    {Inputs: []tensor.Any{a.Any(), i64(5, 1, 1, 1).Any()}},
	} {
		if out := runs(t, name, c); out == nil || !out[0].SameData(a.Any()) {
			t.Errorf("%s copies", name)
		}
	}
	same(t, "Flatten", Flatten(a.Permute(2, 0, 1), 1), a.Permute(2, 0, 1).Contiguous().Reshape(4, 6))
	fails(t, func() { Flatten(a, 4) }, "op.Flatten", "axis 4")
}

// Every operator on every type it says it supports: Run works, and Infer says
// the types and shapes of its results.
func TestInferAgrees(t *testing.T) {
	kernel := given{"equation": "...,...->...", "kernel_shape": []int64{2, 2}, "size": int64(3), "value_int": int64(1), "to": int64(1), "direction": "LEFT", "blocksize": int64(1), "num_groups": int64(1)}
	shapes := [][]int{{2, 3, 5, 4}, {1, 3, 2, 2}, {0, 3, 2, 2}}
	for i, o := range Operators() {
		t.Run(o.Name(), func(t *testing.T) {
			ran := 0
			for _, d := range dtype.All() {
				if _, ok := tables()[i].(*plan.Operator); !o.Supports(d) || ok && !slices.Contains([]dtype.DType{dtype.Bool, dtype.Int64, dtype.Float32}, d) && (o.Supports(dtype.Int64) || o.Supports(dtype.Float32)) {
					continue // the latter treat types alike
				}
				for s, shape := range shapes {
					x, err := tensor.Make(d, shape...)
					if err != nil {
						t.Fatal(err)
					}
					per, _ := tensor.Make(d, 3)
					square, _ := tensor.Make(d, shape[0], 3, shape[3], shape[3])
					m, _ := tensor.Make(d, 3, 4)
					last, _ := tensor.Make(d, shape[3])
					weights, _ := tensor.Make(d, 3, 3, 2, 2)
					offset, _ := tensor.Make(d, shape[0], 8, shape[2]-1, shape[3]-1)
					rois, _ := tensor.Make(d, 2, 4)
					boxes, _ := tensor.Make(d, 1, 3, 4)
					scores, _ := tensor.Make(d, 1, 2, 3)
					f := tensor.Scalar[float32](1).Any()
					one := unitScalar(d)
					columns, _ := tensor.Make(d, 2, 4, 1)
					calls := [][]tensor.Any{{x}, {x, x}, {x, x, x}, {x, square}, {last, x}, {x, last}, {m, transposed(m)}, {x, i64(0).Any()}, {x, i64(1).Any(), i64(2).Any()}, {x, i64(1, 2, 0).Any()}, {x, weights}, {x, weights, offset}, {x, per}, {x, per, per}, {one}, {x, tensor.New[int64](shape[0], shape[2], shape[3]).Any()},
						{x, rois, i64(0, 0).Any()}, {boxes, scores}, {m, f, one, transposed(m), f, one, f, one}, {x, f, one, x, f, one, f, one}, {f, one, x, f, one}, {x, f, one, f, one}, {x, f, one, weights, f, one, f, one}, {i64(2, 3).Any()},
						{x, per, per, per, per}, {tensor.New[bool](shape...).Any(), x, x},
						{x, i64(1, 2, 1, 1).Any()}, {x, i64(0, 1, 0, 0, 1, 0, 0, 2).Any()}, {m}, {m, i64(1).Any()}, {m, i64(0, 1, 0, 1, 2, 0).Any()}, {m, tensor.New[bool](3).Any()},
						{x, tensor.New[int64](shape...).Any()}, {m, tensor.New[int64](3, 2).Any()}, {tensor.New[int64](2).Any(), i64(3).Any(), last}, {last, tensor.FromSlice([]int64{2, 1, 4, 1}, 4).Any()}, {one, one, one}, {x, tensor.Full[float32](1, 4).Any()}, {columns, i64(2, 2).Any(), i64(2, 2).Any()}, {x, tensor.New[float32](shape[0], 1, 1, 2).Any()}, {x, tensor.New[int64](shape...).Any(), x}, {m, tensor.New[int64](3, 2).Any(), per},
						{}, {tensor.Any{}}, {x, tensor.Any{}}, {x, x, tensor.Any{}}, {x, x, x, tensor.Any{}}, {x, per, per, per, per, tensor.Any{}}}
					attrs := kernel
					if gates := map[string]int{"GRU": 3, "LSTM": 4, "RNN": 1}[o.Name()]; gates > 0 {
						steps, _ := tensor.Make(d, 3, 1, 4)
						w, _ := tensor.Make(d, 1, 2*gates, 4)
						r, _ := tensor.Make(d, 1, 2*gates, 2)
						attrs, calls = nil, append(calls, []tensor.Any{steps, w, r})
					}
					if in, a := attentionCalls(o, d); in != nil {
						attrs, calls = a, append(calls, in...)
					}
					theta, _ := tensor.Make(d, 1, 2, 3)
					rows, _ := tensor.Make(d, 3, 16)
					scales, _ := tensor.Make(d, 2, 1)
					number := func(v int64) tensor.Any { return tensor.Scalar(v).Any() }
					calls = append(calls, map[string][]tensor.Any{
						"AffineGrid":            {theta, i64(1, 1, 2, 2).Any()},
						"DynamicQuantizeMatMul": {m, tensor.New[int8](4, 3).Any(), f}, "MatMulIntegerToFloat": {m, transposed(m), f, f}, "MatMulNBits": {rows, tensor.New[uint8](2, 1, 8).Any(), scales},
						"MelWeightMatrix": {number(8), number(16), number(8192), f, tensor.Scalar[float32](4096).Any()}, "QGemm": {m, f, one, transposed(m), f, one},
						"QLinearWhere": {tensor.New[bool](3, 4).Any(), m, f, one, m, f, one, f, one}}[o.Name()])
					if o.Name() == "MaxRoiPool" {
						image, _ := tensor.Make(d, 1, 2, 4, 4)
						rois, _ := tensor.Make(d, 2, 5)
						calls = append(calls, []tensor.Any{image, rois})
					}
					switch o.Name() {
					case "TfIdfVectorizer":
						attrs = tfIdfAttrs
					case "MaxRoiPool":
						attrs = given{"pooled_shape": []int64{2, 2}}
					case "MatMulNBits":
						attrs = given{"K": int64(16), "N": int64(2), "block_size": int64(16)}
					case "RandomNormal", "RandomUniform":
						attrs = given{"shape": []int64{2, 3}}
					}
					for j, in := range calls {
						for k, opset := range []int{7, 10, 13, 18, 27} {
							if v := o.Versions(); len(v) > 0 && v[0] > opset || ran > 0 && !turn(int(d)+s+j+k, 4) {
								continue
							}
							for outs := 1; outs <= 1+opset/18; outs++ {
								if runsOp(t, o, &Call{Inputs: in, Attrs: attrs, Opset: opset, Outputs: outs}) != nil {
									ran++
								}
								if t.Failed() {
									t.Fatalf("%v, opset %d, %d outputs", described(in), opset, outs)
								}
							}
						}
					}
				}
			}
			if ran == 0 {
				t.Error("never ran")
			}
		})
	}
}

// attentionCalls has calls of the operators of attention, and their attributes.
func attentionCalls(o *Op, d dtype.DType) (calls [][]tensor.Any, a given) {
	of := func(shape ...int) tensor.Any {
		x, err := tensor.Make(d, shape...)
		if err != nil {
			panic(err)
		}
		return x
	}
	at := func(shape ...int) tensor.Any { return tensor.New[int64](shape...).Any() }
	heads := given{"num_heads": int64(2), "q_num_heads": int64(2), "kv_num_heads": int64(2), "update_rule": "linear"}
	x, y, none := of(2, 3, 8), of(2, 4, 8), tensor.Any{}
	switch o.Domain() + " " + o.Name() {
	case " Attention":
		return [][]tensor.Any{{x, y, y}, {x, y, of(2, 4, 6), of(3, 2)}, {x, y, y, none, of(2, 2, 3, 4), of(2, 2, 3, 4)}, {x, y, y, tensor.New[bool](3, 4).Any(), none, none, at(2)},
			{of(2, 2, 3, 4), of(2, 2, 0, 4), of(2, 2, 0, 5)}, {x, x, y}, {x, y, y, of(2, 5)}}, heads
	case " RotaryEmbedding":
		return [][]tensor.Any{{x, of(2, 3, 2), of(2, 3, 2)}, {x, of(5, 2), of(5, 2), at(2, 3)}, {x, of(5, 2), of(5, 2)}}, heads
	case "com.microsoft RotaryEmbedding":
		return [][]tensor.Any{{x, at(1), of(5, 2), of(5, 2)}, {x, at(2, 3), of(5, 2), of(5, 2)}, {x, at(2), of(5, 2), of(5, 2)}}, heads
	case " LinearAttention":
		return [][]tensor.Any{{x, x, x}, {x, x, of(2, 3, 6), of(2, 2, 4, 3)}, {x, y, x}, {x, x, x, none, x}}, heads
	case " CausalConvWithState":
		return [][]tensor.Any{{x, of(3, 1, 2)}, {x, of(3, 1, 4), of(3), of(2, 3, 3)}, {x, of(3, 2, 4)}}, given{}
	case "com.microsoft Attention":
		return [][]tensor.Any{{x, of(8, 24)}, {x, of(8, 24), of(24), at(2), of(2, 2, 2, 5, 4), of(1, 1, 3, 8)}, {x, of(8, 24), none, at(2, 3)}, {x, of(7, 24)}, {x, of(8, 24), of(23)}}, heads
	case "com.microsoft MultiHeadAttention":
		return [][]tensor.Any{{x, y, y}, {x, of(2, 2, 4, 4), of(2, 2, 4, 5)}, {of(2, 3, 2, 3, 4)}, {x, of(2, 4, 2, 2, 4), none, of(24)}, {x, y, y, none, at(4), of(2, 2, 3, 4)}, {x, x}}, heads
	case "com.microsoft GroupQueryAttention":
		total := tensor.FromSlice([]int64{3}, 1).Any()
		return [][]tensor.Any{{x, x, x, none, none, at(2), total}, {x, none, none, none, none, at(2), total}, {of(2, 3, 24), none, none, none, none, at(2), total}, {x, x, x, none, none, at(2), at(1)}}, heads
	case "com.microsoft EmbedLayerNormalization":
		return [][]tensor.Any{{at(2, 3), at(2, 3), y.Reshape(8, 8), y.Reshape(8, 8), y.Reshape(8, 8), of(8), of(8), at(2, 3)}, {at(2, 3), none, y.Reshape(8, 8), y.Reshape(8, 8), none, of(8), of(8)}, {at(2, 3), at(2, 3), y}}, given{}
	}
	return nil, nil
}

func unitScalar(d dtype.DType) tensor.Any {
	return pointwise.InType(tensor.Scalar(int8(1)).Any(), d)
}

func transposed(a tensor.Any) tensor.Any {
	b, err := tensor.Permute(a, 1, 0)
	if err != nil {
		panic(err)
	}
	return b
}
