package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Reductions of a matrix over its first axis, a row at a time, and of its transpose, copied, over the last one, where
// each sequence is a run, give the same bits.
func TestByRows(t *testing.T) {
	for _, shape := range [][2]int{{1, 16}, {2, 16}, {31, 17}, {32, 20}, {33, 100}, {127, 33}, {128, 128}, {129, 1025}, {4095, 18}, {4096, 17}, {4097, 19},
		{4096*3 + 70, 16}, {50, 2100}, {3, 15}, {30, 12}, {0, 20}} {
		byRowsOf[float32](t, shape[0], shape[1])
		byRowsOf[float64](t, shape[0], shape[1])
	}
}

func byRowsOf[T num.Float](t *testing.T, rows, cols int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	a := tensor.New[T](rows, cols)
	for i := range a.Elems() {
		a.Elems()[i] = T(r.NormFloat64() * math.Exp(8*r.NormFloat64()))
	}
	if rows > 1 {
		for i, v := range []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1))} {
			a.Set(v, r.IntN(rows), i)
			a.Set(v, rows-1, 5+i)
		}
		for i := range rows {
			a.Set(T(math.Copysign(0, float64(i%2)-0.5)), i, 10) // zeros of both signs
			a.Set(T(math.Copysign(0, -1)), i, 11)
		}
	}
	b := a.Transpose().Contiguous()
	if rows > 0 {
		for _, last := range []bool{false, true} {
			for name, f := range map[string]func(a tensor.Tensor[T], axis int, o ArgOptions, opts ...Option) tensor.Tensor[int64]{"argmax": ArgMax[T], "argmin": ArgMin[T]} {
				got, want := f(a, 0, ArgOptions{LastIndex: last}), f(b, 1, ArgOptions{LastIndex: last})
				for i := range cols {
					if x, y := got.At(i), position1(b.Slice(tensor.I(i)).Elems(), last, name == "argmin"); x != y || want.At(i) != y {
						t.Fatalf("%s of %d×%d, output %d: %d by rows, %d of runs, want %d", name, rows, cols, i, x, want.At(i), y)
					}
				}
			}
		}
	}
	part := tensor.New[T](cols, rows+3).Slice(tensor.Colon, tensor.R(1, rows+1)) // lines that are apart
	part.CopyFrom(b)
	for name, f := range map[string]func(a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T]{
		"sum": func(a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
			return ReduceSum(a, []int{axis}, opts...)
		},
		"mean": func(a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
			return ReduceMean(a, []int{axis}, opts...)
		},
		"max": func(a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
			return ReduceMax(a, []int{axis}, opts...)
		},
		"min": func(a tensor.Tensor[T], axis int, opts ...Option) tensor.Tensor[T] {
			return ReduceMin(a, []int{axis}, opts...)
		},
	} {
		want := f(b, 1)
		into := tensor.New[T](2, cols).Transpose() // a column of it, of stride 1, and a row of its transpose
		column := into.Slice(tensor.Colon, tensor.I(1))
		spread := tensor.New[T](cols, 3).Slice(tensor.Colon, tensor.I(1))
		for how, got := range map[string]tensor.Tensor[T]{"": f(a, 0), " of a part": f(part, 1), " of a part backwards": f(part.S("::-1"), 1).S("::-1"), " into a run": f(a, 0, Into(column)), " into every third": f(a, 0, Into(spread)),
			" of the middle": f(a.Reshape(1, rows, cols), 1).Reshape(cols)} {
			for i := range cols {
				x, y := got.At(i), want.At(i)
				if math.Float64bits(float64(x)) != math.Float64bits(float64(y)) {
					t.Fatalf("%s%s of %d×%d, output %d: %v by rows, %v of runs", name, how, rows, cols, i, x, y)
				}
			}
		}
	}
}

// position1 is the definition of ArgMax and ArgMin.
func position1[T num.Float](x []T, last, smallest bool) (at int64) {
	better := move.GreaterFloat[T]
	if smallest {
		better = move.LessFloat[T]
	}
	for i, v := range x {
		if best := x[at]; better(v, best) || last && v == v && !better(best, v) {
			at = int64(i)
		}
	}
	return at
}

// A target alone, as it makes calls cheap, changes nothing: the same bits and the same refusals as with other options.
func TestDirectly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		shape := make([]int, 1+r.IntN(3))
		for i := range shape {
			shape[i] = r.IntN(6)
			if r.IntN(4) == 0 {
				shape[i] = r.IntN(40)
			}
		}
		axis := r.IntN(len(shape))
		directlyOf(t, random[float32](r, shape...), axis)
		directlyOf(t, random[float64](r, shape...), axis)
		directlyOf(t, random[int32](r, shape...), axis)
		directlyOf(t, random[num.F16](r, shape...), axis)
	}
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	ReduceSum(a, []int{1}, Into(a.Slice(tensor.I(1)))) // the second row is read, and written to
	if got := a.Slice(tensor.I(1)).String(); got != "[ 6. 15. 24.]" {
		t.Errorf("into an operand: %s", got)
	}
	b := tensor.New[float32](3, 3)
	fails(t, func() { ReduceSum(a, []int{2}, Into(b.Slice(tensor.I(0)))) }, "axis 2")
	fails(t, func() { ReduceSum(a, []int{-3 - 1}, Into(b.Slice(tensor.I(0)))) }, "axis -4")
	fails(t, func() { ReduceSum(a, []int{0}, Into(b)) }, "shape")
	fails(t, func() { ReduceSum(a, nil, Into(b)) }, "shape")
	fails(t, func() { ReduceSum(a, []int{1}, Into(b.Slice(tensor.I(0)).ReadOnly())) }, "read-only")
	fails(t, func() { ReduceSum(tensor.Tensor[float32]{}, nil, Into(tensor.New[float32]())) }, "zero value")
}

func directlyOf[T num.Native | num.Narrow](t *testing.T, a tensor.Tensor[T], axis int) {
	t.Helper()
	type reduce = func(a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T]
	for name, f := range map[string]reduce{"sum": ReduceSum[T], "mean": ReduceMean[T], "max": ReduceMax[T], "min": ReduceMin[T], "product": ReduceProd[T]} {
		lists := [][]int{nil, {axis}, {axis - a.Rank()}, {}}
		if axis > 0 {
			lists = append(lists, []int{axis - 1, axis}, []int{axis, axis - 1}, []int{axis - 1 - a.Rank(), axis - a.Rank()}, []int{axis, -a.Rank()})
		}
		for _, list := range lists {
			want := f(a, list)
			got := tensor.New[T](want.Shape()...)
			same(t, fmt.Sprintf("%s of %v over %v", name, a.Shape(), list), f(a, list, Into(got)), want)
			same(t, fmt.Sprintf("%s of %v over %v, target", name, a.Shape(), list), got, want)
		}
	}
	if a.Len() > 0 {
		want := ArgMax(a, axis, ArgOptions{})
		same(t, fmt.Sprintf("argmax of %v over %d", a.Shape(), axis), ArgMax(a, axis, ArgOptions{}, Into(tensor.New[int64](want.Shape()...))), want)
	}
}
