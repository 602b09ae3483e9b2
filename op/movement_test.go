package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
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
		same(t, v.name, Concat(1, []tensor.Tensor[T]{v.t, vb[i].t, c, a}), want)
	}
	for _, v := range variants(tensor.New[T](2, 11, 4)) {
		same(t, "into "+v.name, Concat(-2, []tensor.Tensor[T]{a, b, c, a}, Into(v.t)), want)
	}
	out := runs(t, "Concat", &Call{Inputs: []tensor.Any{a, b, a}, Attrs: given{"axis": int64(-2)}})
	same(t, "run-time form", out[0].(tensor.Tensor[T]), want)
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
	same(t, "bits of a NaN", Concat(0, []tensor.Tensor[float32]{odd, odd}), tensor.FromSlice([]float32{odd.At(0), odd.At(0)}))
	// Parts of the target as operands, the other way round.
	a := count(6)
	Concat(0, []tensor.Tensor[int32]{a.S("4:"), a.S(":4")}, Into(a))
	same(t, "rotated in place", a, tensor.FromSlice([]int32{4, 5, 0, 1, 2, 3}))

	x := count(2, 3)
	list := func(ts ...tensor.Tensor[int32]) []tensor.Tensor[int32] { return ts }
	fails(t, func() { Concat(0, list()) }, "op.Concat", "no tensors")
	fails(t, func() { Concat(0, list(x, count(2, 4))) }, "op.Concat", "tensors 0 and 1", "axis 1")
	fails(t, func() { Concat(0, list(x, count(3))) }, "op.Concat", "rank 2", "1")
	fails(t, func() { Concat(2, list(x)) }, "op.Concat", "axis 2")
	fails(t, func() { Concat(0, list(count())) }, "op.Concat", "rank 0")
	fails(t, func() { Concat(0, list(x, x), Into(x)) }, "op.Concat", "(4,3)")
	if !slices.Equal(x.Elems(), count(6).Elems()) {
		t.Error("a refused call has written")
	}
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x, nil}})
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x, tensor.New[int64](2, 3)}})
	runs(t, "Concat", &Call{Inputs: []tensor.Any{x, count(3, 3)}})
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
			for _, in := range []tensor.Any{idx, narrow} {
				out := runs(t, "Gather", &Call{Inputs: []tensor.Any{a, in}, Attrs: given{"axis": int64(axis)}})
				same(t, what+"run-time form", out[0].(tensor.Tensor[T]), want)
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
	runs(t, "Gather", &Call{Inputs: []tensor.Any{a, tensor.New[float32](1)}})
	if runs(t, "Gather", &Call{Inputs: []tensor.Any{a, i64(1)}, Attrs: given{"axis": int64(2)}}) != nil {
		t.Error("axis 2 of rank 1 is accepted")
	}
}

// moves is one call of an operator that only looks at shapes, and its result;
// want is nil where it must fail.
type move struct {
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
	for _, c := range []move{
		// Reshape.
		{"Reshape", 13, []tensor.Any{a, list(4, 6)}, nil, count(4, 6)},
		{"Reshape", 5, []tensor.Any{a, list(0, -1)}, nil, count(2, 12)},
		{"Reshape", 13, []tensor.Any{a, list(-1)}, nil, count(24)},
		{"Reshape", 13, []tensor.Any{a, list(0, 0, 4, 1)}, nil, count(2, 3, 4, 1)},
		{"Reshape", 14, []tensor.Any{count(0, 3), list(3, 0)}, given{"allowzero": int64(1)}, count(3, 0)},
		{"Reshape", 14, []tensor.Any{count(0, 3), list(0, 3)}, nil, count(0, 3)},
		{"Reshape", 14, []tensor.Any{count(0, 3), list(-1, 0)}, given{"allowzero": int64(1)}, nil},
		{"Reshape", 13, []tensor.Any{count(1), list()}, nil, tensor.Scalar(int32(0))},
		{"Reshape", 13, []tensor.Any{a, list(5, -1)}, nil, nil},
		{"Reshape", 13, []tensor.Any{a, list(-1, -1)}, nil, nil},
		{"Reshape", 13, []tensor.Any{a, list(-2, 12)}, nil, nil},
		{"Reshape", 13, []tensor.Any{a, list(2, 3, 4, 0)}, nil, nil},
		{"Reshape", 13, []tensor.Any{a, list(25)}, nil, nil},
		{"Reshape", 13, []tensor.Any{count(3), list(5, 0x6666666666666667)}, nil, nil}, // 3 modulo 2⁶⁴
		{"Reshape", 13, []tensor.Any{count(3), list(5, 0x6666666666666667, -1)}, nil, nil},
		{"Reshape", 13, []tensor.Any{count(0), list(1<<32, 1<<32)}, nil, nil},
		{"Reshape", 13, []tensor.Any{a, tensor.New[float32](1)}, nil, nil},
		// Flatten.
		{"Flatten", 13, []tensor.Any{a}, nil, count(2, 12)},
		{"Flatten", 13, []tensor.Any{a}, given{"axis": int64(0)}, count(1, 24)},
		{"Flatten", 13, []tensor.Any{a}, given{"axis": int64(3)}, count(24, 1)},
		{"Flatten", 13, []tensor.Any{a}, given{"axis": int64(-1)}, count(6, 4)},
		{"Flatten", 13, []tensor.Any{a}, given{"axis": int64(4)}, nil},
		{"Flatten", 13, []tensor.Any{tensor.Scalar(int32(0))}, given{"axis": int64(0)}, count(1, 1)},
		{"Flatten", 13, []tensor.Any{count(2, 0, 3)}, nil, count(2, 0)},
		// Transpose.
		{"Transpose", 13, []tensor.Any{a}, nil, a.Permute(2, 1, 0)},
		{"Transpose", 13, []tensor.Any{a}, given{"perm": []int64{1, 2, 0}}, a.Permute(1, 2, 0)},
		{"Transpose", 13, []tensor.Any{a}, given{"perm": []int64{1, 1, 0}}, nil},
		{"Transpose", 13, []tensor.Any{a}, given{"perm": []int64{1, 0}}, nil},
		{"Transpose", 13, []tensor.Any{a}, given{"perm": []int64{1, 2, 3}}, nil},
		// Squeeze and Unsqueeze: an attribute before opset 13.
		{"Squeeze", 11, []tensor.Any{b}, nil, count(3, 2)},
		{"Squeeze", 11, []tensor.Any{b}, given{"axes": []int64{0}}, count(3, 1, 2)},
		{"Squeeze", 11, []tensor.Any{b, list(2)}, given{"axes": []int64{0}}, count(3, 1, 2)},
		{"Squeeze", 13, []tensor.Any{b, list(-2)}, given{"axes": []int64{0}}, count(1, 3, 2)},
		{"Squeeze", 13, []tensor.Any{b, list(0, 2)}, nil, count(3, 2)},
		{"Squeeze", 13, []tensor.Any{b, nil}, nil, count(3, 2)},
		{"Squeeze", 13, []tensor.Any{b, list(1)}, nil, nil},
		{"Squeeze", 13, []tensor.Any{b, list(4)}, nil, nil},
		{"Squeeze", 13, []tensor.Any{count(1, 1)}, nil, tensor.Scalar(int32(0))},
		{"Unsqueeze", 11, []tensor.Any{a}, given{"axes": []int64{0, 4}}, count(1, 2, 3, 4, 1)},
		{"Unsqueeze", 13, []tensor.Any{a, list(-1, 1)}, nil, count(2, 1, 3, 4, 1)},
		{"Unsqueeze", 13, []tensor.Any{a, list(2, 1)}, nil, count(2, 1, 1, 3, 4)},
		{"Unsqueeze", 13, []tensor.Any{tensor.Scalar(int32(0)), list(0)}, nil, count(1)},
		{"Unsqueeze", 13, []tensor.Any{a, list(1, 1)}, nil, nil},
		{"Unsqueeze", 13, []tensor.Any{a, list(1, -4)}, nil, nil},
		{"Unsqueeze", 13, []tensor.Any{a, list(4)}, nil, nil},
		{"Unsqueeze", 13, []tensor.Any{a}, nil, nil},
		{"Unsqueeze", 11, []tensor.Any{a, list(0)}, nil, nil},
		// Slice: attributes before opset 10.
		{"Slice", 9, []tensor.Any{a}, given{"starts": []int64{1, 0}, "ends": []int64{2, math.MaxInt64}}, a.S("1:2")},
		{"Slice", 9, []tensor.Any{a}, given{"starts": []int64{-3}, "ends": []int64{-1}, "axes": []int64{-1}}, a.S("...,-3:-1")},
		{"Slice", 10, []tensor.Any{a, list(0), list(3), list(2)}, nil, a.S("...,:3")},
		{"Slice", 13, []tensor.Any{a, list(1, 0), list(3, 4), list(1, 2), list(1, 2)}, nil, a.S(":,1:3,0:4:2")},
		{"Slice", 13, []tensor.Any{a, list(-1), list(math.MinInt64), list(2), list(-1)}, nil, a.S("...,::-1")},
		{"Slice", 13, []tensor.Any{a, list(math.MaxInt64), list(math.MinInt64), list(2), list(-3)}, nil, a.S("...,::-3")},
		{"Slice", 13, []tensor.Any{a, list(math.MinInt64), list(math.MaxInt64), list(2), list(math.MaxInt64)}, nil, a.S("...,:1")},
		{"Slice", 13, []tensor.Any{a, list(math.MaxInt64), list(math.MinInt64), list(2), list(math.MinInt64)}, nil, a.S("...,3:")},
		{"Slice", 13, []tensor.Any{a, list(3), list(1), list(2)}, nil, count(2, 3, 0)},
		{"Slice", 13, []tensor.Any{a, list(-100), list(100), list(0), nil}, nil, a},
		{"Slice", 13, []tensor.Any{a, tensor.FromSlice([]int32{1}), tensor.FromSlice([]int32{2})}, nil, a.S("1:")},
		{"Slice", 13, []tensor.Any{a, list(), list(), list(), list()}, nil, a},
		{"Slice", 13, []tensor.Any{nested[len(nested)-1].t, list(1), list(4), list(2)}, nil, a.S("...,1:")}, // no view of a nested axis
		{"Slice", 13, []tensor.Any{a, list(0), list(1), list(3)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, list(0, 0), list(1, 1), list(0, -3)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, list(0), list(1), list(0), list(0)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, list(0, 1), list(1)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, list(0, 0, 0, 0), list(1, 1, 1, 1)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, list(0)}, nil, nil},
		{"Slice", 13, []tensor.Any{a, tensor.New[float32](1), list(1)}, nil, nil},
		// Expand.
		{"Expand", 13, []tensor.Any{count(3, 1), list(2, 1, 4)}, nil, count(3, 1).BroadcastTo(2, 3, 4)},
		{"Expand", 13, []tensor.Any{count(3, 1), list(1)}, nil, count(3, 1)},
		{"Expand", 13, []tensor.Any{count(1), list(0)}, nil, count(0)},
		{"Expand", 13, []tensor.Any{count(3, 1), list(2, 1)}, nil, nil},
		{"Expand", 13, []tensor.Any{count(3, 1), list(3, -1)}, nil, nil},
		// Shape and Size.
		{"Shape", 13, []tensor.Any{a}, nil, list(2, 3, 4)},
		{"Shape", 15, []tensor.Any{a}, given{"start": int64(1)}, list(3, 4)},
		{"Shape", 15, []tensor.Any{a}, given{"start": int64(-2), "end": int64(-1)}, list(3)},
		{"Shape", 15, []tensor.Any{a}, given{"start": int64(-9), "end": int64(9)}, list(2, 3, 4)},
		{"Shape", 15, []tensor.Any{a}, given{"start": int64(2), "end": int64(1)}, list()},
		{"Shape", 15, []tensor.Any{tensor.Scalar(1.5)}, nil, list()},
		{"Size", 13, []tensor.Any{a}, nil, tensor.Scalar(int64(24))},
		{"Size", 13, []tensor.Any{count(0, 5)}, nil, tensor.Scalar(int64(0))},
		{"Size", 13, []tensor.Any{nil}, nil, nil},
		// Constant and ConstantOfShape.
		{"Constant", 13, nil, given{"value": tensor.Any(a)}, a},
		{"Constant", 13, nil, given{"value_int": int64(3)}, tensor.Scalar(int64(3))},
		{"Constant", 13, nil, given{"value_ints": []int64{3, 4}}, list(3, 4)},
		{"Constant", 13, nil, given{"value_float": float32(0.5)}, tensor.Scalar(float32(0.5))},
		{"Constant", 13, nil, given{"value_floats": []float32{}}, tensor.New[float32](0)},
		{"Constant", 13, nil, nil, nil},
		{"ConstantOfShape", 9, []tensor.Any{list(2, 3)}, nil, tensor.New[float32](2, 3)},
		{"ConstantOfShape", 9, []tensor.Any{list()}, given{"value": tensor.Any(tensor.FromSlice([]bool{true}))}, tensor.Scalar(true)},
		{"ConstantOfShape", 9, []tensor.Any{list(3)}, given{"value": tensor.Any(list(7))}, list(7, 7, 7)},
		{"ConstantOfShape", 9, []tensor.Any{list(0, 2)}, given{"value": tensor.Any(list(7))}, tensor.New[int64](0, 2)},
		{"ConstantOfShape", 9, []tensor.Any{list(-1)}, nil, nil},
		{"ConstantOfShape", 9, []tensor.Any{list(1)}, given{"value": tensor.Any(list(7, 8))}, nil},
	} {
		out := runs(t, c.name, &Call{Inputs: c.in, Attrs: c.attrs, Opset: c.opset})
		what := fmt.Sprintf("%s, opset %d, of %s %v", c.name, c.opset, described(c.in[min(1, len(c.in)):]), c.attrs)
		switch {
		case out == nil && c.want == nil:
		case out == nil:
			t.Errorf("%s fails", what)
		case c.want == nil:
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
	switch w := want.(type) {
	case tensor.Tensor[bool]:
		same(t, what, got.(tensor.Tensor[bool]), w)
	case tensor.Tensor[int32]:
		same(t, what, got.(tensor.Tensor[int32]), w)
	case tensor.Tensor[int64]:
		same(t, what, got.(tensor.Tensor[int64]), w)
	case tensor.Tensor[float32]:
		same(t, what, got.(tensor.Tensor[float32]), w)
	default:
		t.Fatalf("%s: no comparison for %T", what, want)
	}
}

// Views are views: nothing is copied where the strides allow it.
func TestMovesShare(t *testing.T) {
	a := count(2, 3, 4)
	for name, c := range map[string]*Call{
		"Reshape":   {Inputs: []tensor.Any{a, i64(4, 6)}},
		"Flatten":   {Inputs: []tensor.Any{a}},
		"Transpose": {Inputs: []tensor.Any{a}},
		"Unsqueeze": {Inputs: []tensor.Any{a, i64(0)}},
		"Squeeze":   {Inputs: []tensor.Any{a, i64()}},
		"Slice":     {Inputs: []tensor.Any{a, i64(0), i64(9), i64(2), i64(2)}},
		"Expand":    {Inputs: []tensor.Any{a, i64(5, 1, 1, 1)}},
	} {
		if out := runs(t, name, c); out == nil || !tensor.SameData(out[0], a) {
			t.Errorf("%s copies", name)
		}
	}
	same(t, "Flatten", Flatten(a.Permute(2, 0, 1), 1), a.Permute(2, 0, 1).Contiguous().Reshape(4, 6))
	fails(t, func() { Flatten(a, 4) }, "op.Flatten", "axis 4")
}

// Every operator on every type it says it supports: Run works, and Infer says
// what it gives.
func TestInferAgrees(t *testing.T) {
	kernel := given{"equation": "...,...->...", "kernel_shape": []int64{2, 2}, "size": int64(3), "value_int": int64(1), "to": int64(1), "direction": "LEFT", "blocksize": int64(1), "num_groups": int64(1)}
	shapes := [][]int{{2, 3, 5, 4}, {1, 3, 2, 2}, {0, 3, 2, 2}}
	for _, o := range All() {
		t.Run(o.Name(), func(t *testing.T) {
			ran := 0
			for _, d := range dtype.All() {
				if n, ok := o.(*opN); !o.Supports(d) || ok && (n.untyped != nil || n.move != nil) && !slices.Contains([]dtype.DType{dtype.Bool, dtype.Int64, dtype.Float32}, d) && (o.Supports(dtype.Int64) || o.Supports(dtype.Float32)) {
					continue // the latter treat types alike
				}
				for _, shape := range shapes {
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
					f := tensor.Any(tensor.Scalar[float32](1))
					one := unitScalar(d)
					columns, _ := tensor.Make(d, 2, 4, 1)
					calls := [][]tensor.Any{{x}, {x, x}, {x, x, x}, {x, square}, {last, x}, {x, last}, {m, tensor.Any(transposed(m))}, {x, i64(0)}, {x, i64(1), i64(2)}, {x, i64(1, 2, 0)}, {x, weights}, {x, weights, offset}, {x, per}, {x, per, per}, {one}, {x, tensor.New[int64](shape[0], shape[2], shape[3])},
						{x, rois, i64(0, 0)}, {boxes, scores}, {m, f, one, tensor.Any(transposed(m)), f, one, f, one}, {x, f, one, x, f, one, f, one}, {f, one, x, f, one}, {x, f, one, f, one}, {x, f, one, weights, f, one, f, one}, {i64(2, 3)},
						{x, per, per, per, per}, {tensor.New[bool](shape...), x, x},
						{x, i64(1, 2, 1, 1)}, {x, i64(0, 1, 0, 0, 1, 0, 0, 2)}, {m}, {m, i64(1)}, {m, i64(0, 1, 0, 1, 2, 0)}, {m, tensor.New[bool](3)},
						{x, tensor.New[int64](shape...)}, {m, tensor.New[int64](3, 2)}, {tensor.New[int64](2), i64(3), last}, {last, tensor.FromSlice([]int64{2, 1, 4, 1}, 4)}, {one, one, one}, {x, tensor.Full[float32](1, 4)}, {tensor.Any(columns), i64(2, 2), i64(2, 2)}, {x, tensor.New[float32](shape[0], 1, 1, 2)}, {x, tensor.New[int64](shape...), x}, {m, tensor.New[int64](3, 2), per},
						{}, {nil}, {x, nil}, {x, x, nil}, {x, x, x, nil}, {x, per, per, per, per, nil}}
					for _, in := range calls {
						for _, opset := range []int{7, 10, 13, 18, 26} {
							if v := o.Versions(); len(v) > 0 && v[0] > opset {
								continue
							}
							for outs := 1; outs <= 1+opset/18; outs++ {
								if runs(t, o.Name(), &Call{Inputs: in, Attrs: kernel, Opset: opset, Outputs: outs}) != nil {
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

func unitScalar(d dtype.DType) tensor.Any {
	return castAny("Cast", &Call{Attrs: NoAttrs{}}, tensor.Scalar(int8(1)), d)
}

func transposed(a tensor.Any) tensor.Any {
	b, err := tensor.Permute(a, 1, 0)
	if err != nil {
		panic(err)
	}
	return b
}
