package op

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A twin is a tensor computed by operators one after the other, and the lazy one of
// the same chain.
type twin[T num.Elem] struct{ now, later tensor.Tensor[T] }

// leafTwin draws an operand that broadcasts to shape, in some layout.
func leafTwin(t *rapid.T, shape []int) twin[float32] {
	var s []int
	for i, e := range shape[rapid.IntRange(0, len(shape)).Draw(t, "absent"):] {
		if rapid.IntRange(0, 3).Draw(t, fmt.Sprint("one", i)) == 0 {
			e = 1
		}
		s = append(s, e)
	}
	kind := rapid.SampledFrom([]string{"dense", "reversed", "turned", "gaps"}).Draw(t, "layout")
	var a tensor.Tensor[float32]
	switch {
	case kind == "turned" && len(s) > 1:
		back := append([]int{}, s...)
		back[0], back[len(s)-1] = back[len(s)-1], back[0]
		a = tensor.SwapAxes(tensor.New[float32](back...), 0, len(s)-1)
	case kind == "gaps" && len(s) > 0:
		a = tensor.New[float32](append(s, 2)...).Slice(append(make([]tensor.Index, 0), allBut(len(s))...)...)
	default:
		a = tensor.New[float32](s...)
		if kind == "reversed" {
			a = a.Flip()
		}
	}
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), math.Float32frombits(0xffc12345), 1e-44}
	seed := rapid.Uint32().Draw(t, "seed")
	for at := range a.All() {
		seed = seed*1664525 + 1013904223
		v := float32(int32(seed)) / (1 << 28)
		if seed>>8%16 == 0 {
			v = special[seed>>16%uint32(len(special))]
		}
		a.Set(v, at...)
	}
	later := a
	if rapid.Bool().Draw(t, "lazy") {
		later = Lazy(a)
	}
	return twin[float32]{a, later}
}

// allBut indexes everything of rank axes and 1 of the one after them.
func allBut(rank int) (idx []tensor.Index) {
	for range rank {
		idx = append(idx, tensor.Colon)
	}
	return append(idx, tensor.I(1))
}

func chainTwin(t *rapid.T, shape []int, depth int, made *[]twin[float32]) (y twin[float32]) {
	if len(*made) > 0 && rapid.IntRange(0, 5).Draw(t, "again") == 0 {
		return rapid.SampledFrom(*made).Draw(t, "which")
	}
	if depth == 0 {
		return leafTwin(t, shape)
	}
	a := chainTwin(t, shape, depth-1, made)
	two := func(f func(a, b tensor.Tensor[float32], opts ...Option) tensor.Tensor[float32]) twin[float32] {
		b := chainTwin(t, shape, depth-1, made)
		return twin[float32]{f(a.now, b.now), f(a.later, b.later)}
	}
	switch rapid.SampledFrom([]string{"Add", "Mul", "Max", "Pow", "Tanh", "Relu", "Fast", "Clip", "Where", "Cast", "IsNaN", "Narrow", "Div of integers", "NextAfter"}).Draw(t, "op") {
	case "Add":
		y = two(Add[float32])
	case "Mul":
		y = two(Mul[float32])
	case "Max":
		y = two(func(a, b tensor.Tensor[float32], opts ...Option) tensor.Tensor[float32] { return Max(a, b, opts...) })
	case "Pow":
		y = two(func(a, b tensor.Tensor[float32], opts ...Option) tensor.Tensor[float32] { return Pow(a, b, opts...) })
	case "NextAfter":
		y = two(NextAfter[float32])
	case "Tanh":
		y = twin[float32]{Tanh(a.now), Tanh(a.later)}
	case "Relu":
		y = twin[float32]{Relu(a.now), Relu(a.later)}
	case "Fast":
		y = twin[float32]{Sigmoid(a.now, Fast()), Sigmoid(a.later, Fast())}
	case "Clip":
		y = twin[float32]{Clip(a.now, -1, 1), Clip(a.later, -1, 1)}
	case "Where":
		b := chainTwin(t, shape, depth-1, made)
		y = twin[float32]{Where(Greater(a.now, b.now), a.now, Neg(b.now)), Where(Greater(a.later, b.later), a.later, Neg(b.later))}
	case "Cast":
		y = twin[float32]{Cast[float32](Exp(Cast[float64](a.now))), Cast[float32](Exp(Cast[float64](a.later)))}
	case "IsNaN":
		y = twin[float32]{Cast[float32](IsNaN(a.now)), Cast[float32](IsNaN(a.later))}
	case "Narrow":
		y = twin[float32]{Cast[float32](Sigmoid(Cast[num.F16](a.now))), Cast[float32](Sigmoid(Cast[num.F16](a.later)))}
	case "Div of integers":
		i := func(a tensor.Tensor[float32]) tensor.Tensor[float32] {
			x := Cast[int32](Clip(a, -100, 100))
			return Cast[float32](Div(x, Add(Abs(x), tensor.Scalar[int32](1))))
		}
		y = twin[float32]{i(a.now), i(a.later)}
	}
	*made = append(*made, y)
	return y
}

func TestFuse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		shape := rapid.SampledFrom([][]int{{}, {1}, {7}, {9000}, {3, 5}, {70, 66}, {2, 3000}, {3, 1, 4, 5}, {0, 3}, {2, 5000, 1}, {13, 700}, {1, 128, 128}, {1, 16384}, {1, 1, 100}}).Draw(r, "shape")
		var made []twin[float32]
		y := chainTwin(r, shape, rapid.IntRange(0, 4).Draw(r, "depth"), &made)
		got := Fuse(y.later)
		same(t, "new", got, y.now)
		for _, into := range []tensor.Tensor[float32]{tensor.Full[float32](9, y.now.Shape()...), tensor.Full[float32](9, y.now.Shape()...).Flip(),
			tensor.Full[float32](9, append(y.now.Shape(), 3)...).Slice(allBut(y.now.Rank())...)} {
			same(t, "Into", Fuse(y.later, Into(into)), y.now)
			run := Prepare(y.later, Into(into))
			for range 2 {
				into.Fill(9)
				run()
				same(t, "prepared", into, y.now)
			}
		}
		if t.Failed() {
			r.Fatalf("shape %v", shape)
		}
	})
}

func TestFuseInPlace(t *testing.T) {
	x := tensor.Arange[float32](0, 20000, 1)
	row := x.S(":100")
	want := Add(Mul(x, x).Reshape(200, 100), Exp(Neg(row)))
	m := x.Reshape(200, 100)
	Fuse(Add(Mul(Lazy(m), m), Exp(Neg(Lazy(row)))), Into(m)) // row is the target's first
	same(t, "in place", m, want)

	x = tensor.Arange[float32](0, 20000, 1)
	want = Add(x.Flip(), x)
	same(t, "backwards", Fuse(Add(Lazy(x.Flip()), x), Into(x)), want)
}

// A block as large as it may be, with axes of one element before it.
func TestFuseOneBlock(t *testing.T) {
	for _, shape := range [][]int{{1, 128, 128}, {1, 16384}, {1, 1, 128, 128}, {1, 4, 64, 64}, {1, 128, 1, 128}, {16384}, {1, 64, 300}} {
		x := tensor.RandomNormal[float32](1, 0, 1, append(shape, 2)...).Slice(allBut(len(shape))...) // too strided to be a run
		row := tensor.RandomNormal[float32](2, 0, 1, shape[len(shape)-1])
		want, dst := Neg(Exp(Sub(x, row))), tensor.New[float32](shape...)
		y := Neg(Exp(Sub(Lazy(x), row)))
		same(t, fmt.Sprint("fused ", shape), Fuse(y), want)
		Prepare(y, Into(dst))()
		same(t, fmt.Sprint("prepared ", shape), dst, want)
	}
}

// A prepared chain computes with the elements of its operands at each call: also where a part of it is computed before
// the pass, or an operand is copied because the target overlaps it.
func TestPrepare(t *testing.T) {
	type T = tensor.Tensor[float32]
	x, row := tensor.New[float32](300, 200), tensor.New[float32](200)
	square := tensor.New[float32](200, 200)
	i := tensor.New[int32](300, 200)
	dst, nested := tensor.New[float32](300, 200), tensor.FromLayout(make([]float32, 60000), layout.MustParse("(300,(2,100)):(200,(100,1))"))
	as := func(t T) T { return t }
	for _, c := range []struct {
		name string
		into T
		f    func(lazy func(T) T) T
	}{
		{"one pass", dst, func(lazy func(T) T) T { return Tanh(Add(Mul(lazy(x), x), row)) }},
		{"a row before", dst, func(lazy func(T) T) T { return Add(Exp(lazy(row)), x) }},
		{"a division of integers before", dst, func(lazy func(T) T) T {
			n := Cast[int32](Mul(lazy(x), tensor.Scalar[float32](50)))
			return Add(Cast[float32](Div(n, Add(Abs(n), tensor.Scalar[int32](1)))), x)
		}},
		{"transposed", square, func(lazy func(T) T) T { return Neg(Add(lazy(square.Transpose()), row)) }},
		{"in place", x, func(lazy func(T) T) T { return Mul(lazy(x), row) }},
		{"one of the target's rows", x, func(lazy func(T) T) T { return Sub(lazy(x), x.Slice(tensor.I(7))) }},
		{"nested", nested, func(lazy func(T) T) T { return Sub(lazy(x), row) }},
		{"nothing to compute", dst, func(lazy func(T) T) T { return lazy(x) }},
		{"not lazy", dst, func(lazy func(T) T) T { return x }},
	} {
		run := Prepare(c.f(Lazy[float32]), Into(c.into))
		for seed := range 3 {
			for _, a := range []T{x, row, square} {
				a.CopyFrom(tensor.RandomNormal[float32](uint64(seed), 0, 1, a.Shape()...))
			}
			want := c.f(as).Clone()
			run()
			same(t, fmt.Sprint(c.name, ", call ", seed), c.into.Contiguous(), want.Contiguous())
		}
	}

	n := tensor.Full[int32](5, 300, 200)
	run := Prepare(Neg(Div(Lazy(n), i)), Into(i))
	i.Fill(2)
	run()
	same(t, "quotients", i, tensor.Full[int32](-2, 300, 200))
	i.Set(0, 3, 4)
	if err := tensor.Try(run); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a quotient by 0: %v", err)
	}
	if got := i.At(0, 0); got != -2 {
		t.Errorf("a call that fails stored %d", got)
	}
	i.Fill(-1)
	run()
	same(t, "afterwards", i, tensor.Full[int32](5, 300, 200))
}

// A part common to two operands is computed once, and a part that a chain doesn't need never.
func TestFuseOnce(t *testing.T) {
	x := Lazy(tensor.Arange[float32](0, 10000, 1))
	y := Exp(x)
	for range 60 { // 2^60 calls otherwise
		y = Mul(Add(y, y), tensor.Scalar[float32](0.5))
	}
	same(t, "shared", Fuse(y), Exp(tensor.Arange[float32](0, 10000, 1)))
}

func TestFuseErrors(t *testing.T) {
	x := tensor.Arange[float32](0, 6, 1).Reshape(2, 3)
	i := tensor.FromSlice([]int32{1, 2, 3})
	out := tensor.Full[int32](7, 3)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		name string
		want error
		f    func()
	}{
		{"an element", tensor.ErrLazy, func() { Neg(Lazy(x)).At(0, 0) }},
		{"another operator", tensor.ErrLazy, func() { ReduceSum(Neg(Lazy(x)), nil) }},
		{"a view", tensor.ErrLazy, func() { Neg(Neg(Lazy(x)).Transpose()) }},
		{"another shape", tensor.ErrLazy, func() { Fuse(Neg(Lazy(x)).Reshape(3, 2)) }},
		{"an axis more", tensor.ErrLazy, func() { Exp(Neg(Lazy(x)).Unsqueeze(0)) }},
		{"the first row", tensor.ErrLazy, func() { Add(Neg(Lazy(x)).S(":1"), x) }},
		{"a view made lazy", tensor.ErrLazy, func() { Fuse(Lazy(Neg(Lazy(x)).S(":1"))) }},
		{"a part", tensor.ErrLazy, func() { Neg(Lazy(x)).S("1"); Fuse(Neg(Lazy(x)).S("1")) }},
		{"Into too early", tensor.ErrLazy, func() { Neg(Lazy(x), Into(x)) }},
		{"no broadcast", tensor.ErrShape, func() { Add(Lazy(x), tensor.New[float32](2)) }},
		{"Into of another shape", tensor.ErrShape, func() { Fuse(Neg(Lazy(x)), Into(tensor.New[float32](3, 2))) }},
		{"zero", tensor.ErrValue, func() { Fuse(Add(Div(Lazy(i), Sub(i, Lazy(i))), i), Into(out)) }},
		{"no target", tensor.ErrValue, func() { Prepare(Neg(Lazy(x))) }},
		{"a target of another shape", tensor.ErrShape, func() { Prepare(Neg(Lazy(x)), Into(tensor.New[float32](3, 2))) }},
		{"prepared and stopped", context.Canceled, func() {
			y := tensor.New[float32](1 << 16)
			Prepare(Exp(Lazy(y)), Into(y), Context(ctx))()
		}},
		{"stopped", context.Canceled, func() { Fuse(Exp(Lazy(tensor.New[float32](1<<16))), Context(ctx)) }},
	} {
		err := tensor.Try(c.f)
		var e *tensor.Error
		if !errors.Is(err, c.want) || !errors.As(err, &e) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	same(t, "untouched", out, tensor.Full[int32](7, 3))
	if got, want := fmt.Sprint(Neg(Lazy(x))), "float32[2,3](lazy)"; got != want {
		t.Errorf("a lazy tensor prints as %q, want %q", got, want)
	}
}

// Every operator takes lazy operands as it takes others, or refuses them by name.
func TestLazyEverywhere(t *testing.T) {
	fused := 0
	for _, o := range Operators() {
		for n := 1; n <= 3; n++ {
			now, later := &Call{Opset: 25}, &Call{Opset: 25}
			for i := range n {
				x := tensor.FromSlice([]float32{0.5, -1, 2, 0, 1, 3}, 2, 3)
				if i == 0 && o.Name() == "Where" {
					c := Greater(x, tensor.Scalar[float32](0))
					now.Inputs, later.Inputs = append(now.Inputs, c.Any()), append(later.Inputs, Lazy(c).Any())
					continue
				}
				now.Inputs, later.Inputs = append(now.Inputs, x.Any()), append(later.Inputs, Lazy(x).Any())
			}
			want, err := o.Run(now)
			if err != nil {
				continue
			}
			got, err := o.Run(later)
			if err != nil {
				if !errors.Is(err, tensor.ErrLazy) {
					t.Errorf("%s of %d lazy operands: %v", o.Name(), n, err)
				}
				continue
			}
			for i := range got {
				switch got[i].DType() {
				case dtype.Float32:
					fused += fuseAs[float32](t, o.Name(), got[i], want[i])
				case dtype.Bool:
					fused += fuseAs[bool](t, o.Name(), got[i], want[i])
				}
			}
		}
	}
	if fused < 85 {
		t.Errorf("%d operators were fused; want all on elements at one place", fused)
	}
	t.Log(fused, "calls fused")
}

// fuseAs compares the result of Fuse for a lazy tensor, and returns 1. It returns 0 if the tensor isn't lazy. A view is refused.
func fuseAs[T num.Elem](t *testing.T, name string, later, want tensor.Any) int {
	t.Helper()
	if !pointwise.IsLazy(&later) {
		return 0
	}
	var got tensor.Tensor[T]
	if err := tensor.Try(func() { got = Fuse(asOf[T](later)) }); err != nil {
		if !errors.Is(err, tensor.ErrLazy) {
			t.Errorf("%s: %v", name, err)
		}
		return 0
	}
	same(t, name, got, asOf[T](want))
	return 1
}
