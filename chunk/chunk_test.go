package chunk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

var background = context.Background()

// zarrOf writes a tensor to a new array of a store in memory.
func zarrOf(t rapid.TB, x tensor.Any, chunks ...int) *zarr.Array {
	t.Helper()
	a, err := zarr.Create(background, zarr.Memory(), "x", zarr.Metadata{DType: x.DType(), Shape: x.Shape(), Chunks: chunks}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Write(background, make([]int, x.Rank()), x); err != nil {
		t.Fatal(err)
	}
	return a
}

// computed runs a plan for one array.
func computed(t rapid.TB, a Array, o Options, r RunOptions) tensor.Any {
	t.Helper()
	store := zarr.Memory()
	p, err := NewPlan(&o, Target{Array: a, Store: store, Path: "r"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := p.Run(background, &r); err != nil {
		t.Fatalf("%v", err)
	}
	z, err := zarr.Open(background, store, "r", nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := z.Read(background)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := store.List(background, "ashlar-")
	if err != nil || len(keys) > 0 {
		t.Fatalf("left in the store: %v, %v", keys, err)
	}
	return out
}

// equal fails unless two tensors have the same type, shape and bytes.
func equal(t rapid.TB, what string, got, want tensor.Any) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: %v, want %v", what, tensor.Describe(got), tensor.Describe(want))
	}
	bits := func(a tensor.Any) []byte {
		c, err := tensor.Contiguous(a)
		if err != nil {
			t.Fatal(err)
		}
		b, ok := tensor.Bytes(c)
		if !ok {
			t.Fatal("no bytes")
		}
		return b
	}
	if !slices.Equal(bits(got), bits(want)) {
		t.Fatalf("%s: differs\n%v\nwant\n%v", what, got, want)
	}
}

var types = []dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16, dtype.Int32, dtype.Int64, dtype.Uint8}

// drawTensor draws a tensor of small whole numbers, so that sums are exact in any order.
func drawTensor(t *rapid.T, d dtype.DType, shape []int) tensor.Any {
	n := 1
	for _, e := range shape {
		n *= e
	}
	seed := rapid.Int64().Draw(t, "seed")
	x := make([]int64, n)
	for i := range x {
		seed = seed*6364136223846793005 + 1442695040888963407
		x[i] = (seed>>33)%11 - 5
		if d == dtype.Uint8 {
			x[i] = max(x[i], -x[i])
		}
	}
	a, err := run(named("CastLike"), nil, tensor.FromSlice(x, shape...).Any(), tensor.EmptyOf(d))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func drawShape(t *rapid.T, rank, most int) (shape, chunks []int) {
	for range rank {
		n := rapid.IntRange(1, most).Draw(t, "extent")
		shape = append(shape, n)
		chunks = append(chunks, rapid.IntRange(1, n).Draw(t, "chunk"))
	}
	return shape, chunks
}

// Chains of elementwise operators, broadcast, sliced, transposed, joined and cut again, have package op's bits.
func TestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(types).Draw(t, "type")
		shape, chunks := drawShape(t, rapid.IntRange(1, 3).Draw(t, "rank"), 9)
		want := drawTensor(t, d, shape)
		a := From("x", zarrOf(t, want, chunks...))
		apply := func(name string, in ...tensor.Any) tensor.Any {
			r, err := run(named(name), nil, in...)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			var err error
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0:
				a, want = Map("Add", nil, a, a), apply("Add", want, want)
			case 1:
				row := drawTensor(t, d, want.Shape()[want.Rank()-1:])
				a, want = Map("Max", nil, a, Value(row)), apply("Max", want, row)
			case 2:
				idx := make([]tensor.Index, want.Rank())
				for i := range idx {
					n := want.Dim(i)
					from := rapid.IntRange(0, n-1).Draw(t, "from")
					idx[i] = layout.Range(from, rapid.IntRange(from+1, n).Draw(t, "to"), rapid.IntRange(1, 3).Draw(t, "step"))
					if rapid.Bool().Draw(t, "backwards") {
						idx[i] = layout.Range(layout.None, layout.None, -rapid.IntRange(1, 2).Draw(t, "step"))
					}
				}
				if len(idx) > 1 && rapid.Bool().Draw(t, "point") {
					idx[0] = layout.Point(rapid.IntRange(0, want.Dim(0)-1).Draw(t, "at"))
				}
				a = Slice(a, idx...)
				want, err = tensor.Slice(want, idx...)
			case 3:
				a = Transpose(a)
				axes := make([]int, want.Rank())
				for i := range axes {
					axes[i] = len(axes) - 1 - i
				}
				want, err = tensor.Permute(want, axes...)
			case 4:
				axis := rapid.IntRange(0, want.Rank()-1).Draw(t, "axis")
				x, y := a, want
				a = Concat(axis, x, Map("Sub", nil, x, x), x)
				r, e := named("Concat").Run(&op.Call{Inputs: []tensor.Any{y, apply("Sub", y, y), y}, Attrs: op.AttrMap{"axis": int64(axis)}, Opset: opset})
				want, err = r[0], e
			case 5:
				a = Stack(-1, a, a)
				c := want
				wide, e := tensor.Reshape(c, append(c.Shape(), 1)...)
				if e != nil {
					t.Fatal(e)
				}
				r, e := named("Concat").Run(&op.Call{Inputs: []tensor.Any{wide, wide}, Attrs: op.AttrMap{"axis": int64(-1)}, Opset: opset})
				want, err = r[0], e
			case 6:
				_, chunks := drawShape(t, want.Rank(), 9)
				a = Rechunk(a, chunks...)
			case 7:
				a = MapBlocks(func(_ context.Context, at Block, in []tensor.Any) (tensor.Any, error) {
					return run(named("Mul"), nil, in[0], in[0])
				}, Blocks{Name: "square"}, a)
				want = apply("Mul", want, want)
			}
			if err != nil {
				t.Fatal(err)
			}
			if want.Len() > 5000 {
				break
			}
		}
		equal(t, "result", computed(t, a, Options{}, RunOptions{Workers: rapid.IntRange(1, 3).Draw(t, "workers")}), want)
	})
}

// Of small whole numbers all sums are exact, so reductions have package op's bits, or its numbers where they divide.
func TestReduce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(reducerNames()).Draw(t, "name")
		d := rapid.SampledFrom(types).Draw(t, "type")
		shape, chunks := drawShape(t, rapid.IntRange(1, 3).Draw(t, "rank"), 40)
		how := Reducing{KeepDims: rapid.Bool().Draw(t, "keep")}
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		if reducers[name].place || rapid.Bool().Draw(t, "one") {
			how.Axes = []int{axis}
		}
		if reducers[name].block == nil {
			chunks = shape
		}
		if name == "ReduceProd" {
			shape, chunks = shape[:1], chunks[:1]
			how.Axes = nil
		}
		x := drawTensor(t, d, shape)
		a := Reduce(name, From("x", zarrOf(t, x, chunks...)), how)
		if errors := a.Err(); errors != nil {
			if o := named(name); o != nil && o.Supports(d) && d != dtype.Int64 {
				if reducers[name].block != nil || d == dtype.Float32 {
					t.Fatal(errors)
				}
			}
			return
		}
		got := computed(t, a, Options{}, RunOptions{Workers: 2})
		var want tensor.Any
		switch name {
		case "Any", "All", "CountNonZero":
			e := &evaluator{ctx: background}
			b, err := e.cast(x, dtype.Bool)
			if err != nil {
				t.Fatal(err)
			}
			truth, _ := tensor.As[bool](b)
			var opts []op.Option
			if how.KeepDims {
				opts = append(opts, op.KeepDims())
			}
			switch name {
			case "Any":
				want = op.Any(truth, how.Axes, opts...).Any()
			case "All":
				want = op.All(truth, how.Axes, opts...).Any()
			default:
				want = op.CountNonZero(truth, how.Axes, opts...).Any()
			}
		case "Ptp":
			e := &evaluator{ctx: background}
			axes, _ := axesOf(name, how.Axes, len(shape))
			hi, err := e.reduce("ReduceMax", x, axes)
			if err != nil {
				t.Fatal(err)
			}
			lo, _ := e.reduce("ReduceMin", x, axes)
			want, _ = e.call("Sub", nil, hi, lo)
			if want, err = tensor.Reshape(want, got.Shape()...); err != nil {
				t.Fatal(err)
			}
		default:
			o := named(name)
			attrs := op.AttrMap{"keepdims": int64(0)}
			if how.KeepDims {
				attrs["keepdims"] = int64(1)
			}
			in := []tensor.Any{x}
			if reducers[name].place {
				attrs["axis"] = int64(axis)
			} else if how.Axes != nil {
				in = append(in, tensor.FromSlice([]int64{int64(axis)}, 1).Any())
			}
			if name == "Quantile" {
				how.Q, attrs["q"] = 0.25, float32(0.25)
				got = computed(t, Reduce(name, From("x", zarrOf(t, x, chunks...)), how), Options{}, RunOptions{})
			}
			var err error
			if want, err = run(o, attrs, in...); err != nil {
				t.Fatal(err)
			}
		}
		what := fmt.Sprintf("%s %+v of %v%v in %v", name, how, d, shape, chunks)
		switch name {
		case "Var", "Std", "ReduceLogSumExp", "ReduceLogSum", "ReduceProd":
			near(t, what, got, want)
		default:
			equal(t, what, got, want)
		}
	})
}

// near fails unless two tensors have the same type and shape, and elements that differ by some units in the last place.
func near(t rapid.TB, what string, got, want tensor.Any) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: %v, want %v", what, tensor.Describe(got), tensor.Describe(want))
	}
	tolerance := map[dtype.DType]float64{
		dtype.Float8E5M2: 0.25, dtype.Float8E5M2FNUZ: 0.25, dtype.Float8E4M3: 0.125, dtype.Float8E4M3FNUZ: 0.125,
		dtype.BFloat16: 0x1p-7, dtype.Float16: 0x1p-10, dtype.Float32: 2e-7,
	}[got.DType()]
	tolerance = max(tolerance, 1e-13)
	a, b := tensor.Float64s(got), tensor.Float64s(want)
	for i := range got.Indices() {
		x, y := a(i...), b(i...)
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y), 1)) {
			t.Fatalf("%s: %v is %v, want %v", what, i, x, y)
		}
	}
}

// Products of small whole numbers are exact, so they have package op's bits in any order of the sums.
func TestProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]dtype.DType{dtype.Float32, dtype.Float64, dtype.Int32}).Draw(t, "type")
		names := 0
		draw := func(shape ...int) (tensor.Any, Array) {
			names++
			chunks := make([]int, len(shape))
			for i, n := range shape {
				chunks[i] = rapid.IntRange(1, n).Draw(t, "chunk")
			}
			x := drawTensor(t, d, shape)
			return x, From(fmt.Sprint("x", names), zarrOf(t, x, chunks...))
		}
		extent := func() int { return rapid.IntRange(1, 12).Draw(t, "extent") }
		m, k, n := extent(), extent(), extent()
		left, right := []int{m, k}, []int{k, n}
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			left = []int{k}
		case 1:
			right = []int{k}
		case 2:
			left = []int{3, 1, m, k}
			right = []int{2, k, n}
		case 3:
			right = []int{2, 1, k, n}
		}
		x, a := draw(left...)
		y, b := draw(right...)
		want, err := run(named("MatMul"), nil, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "chain") {
			a, b = Map("Sub", nil, Map("Add", nil, a, a), a), Map("Neg", nil, Map("Neg", nil, b))
		}
		equal(t, fmt.Sprint("product of ", left, right), computed(t, MatMul(a, b), Options{}, RunOptions{}), want)

		p, q := extent(), extent()
		x, a = draw(m, p, k, q)
		y, b = draw(q, n, p)
		xt, err := tensor.Permute(x, 0, 2, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		yt, err := tensor.Permute(y, 2, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		xt, _ = tensor.Reshape(xt, m*k, p*q)
		yt, _ = tensor.Reshape(yt, p*q, n)
		if want, err = run(named("MatMul"), nil, xt, yt); err != nil {
			t.Fatal(err)
		}
		want, _ = tensor.Reshape(want, m, k, n)
		equal(t, "TensorDot", computed(t, TensorDot(a, b, []int{1, 3}, []int{-1, 0}), Options{}, RunOptions{}), want)
	})
}

// A rechunk of any shape, under any memory that its chunks fit in, gives the same elements; no task holds more than planned.
func TestRechunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape, chunks := drawShape(t, rapid.IntRange(1, 3).Draw(t, "rank"), 30)
		_, to := drawShape(t, len(shape), 30)
		x := drawTensor(t, dtype.Int32, shape)
		a := Rechunk(From("x", zarrOf(t, x, chunks...)), to...)
		p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Stages() {
			for i := range s.Region {
				if s.Region[i]%s.Chunks[i] != 0 && s.Region[i] < s.Shape[i] {
					t.Fatalf("regions of %v in chunks of %v", s.Region, s.Chunks)
				}
			}
		}
		least := p.Peak()
		for tight := int64(100); tight < least; tight += 1000 {
			q, err := NewPlan(&Options{Memory: tight}, Target{Array: a, Store: zarr.Memory()})
			if err == nil {
				if q.Peak() > tight {
					t.Fatalf("%d bytes, %d are allowed", q.Peak(), tight)
				}
				equal(t, "tight", computed(t, a, Options{Memory: tight}, RunOptions{}), x)
				break
			}
		}
		equal(t, "rechunk", computed(t, a, Options{}, RunOptions{}), x)
	})
}

// One name for two arrays is refused: the plan couldn't tell them apart.
func TestNames(t *testing.T) {
	one, two := tensor.Full[float32](1, 3).Any(), tensor.Full[float32](2, 3).Any()
	a, b := From("x", zarrOf(t, one, 2)), From("x", zarrOf(t, two, 2))
	if _, err := NewPlan(nil, Target{Array: Map("Add", nil, Map("Neg", nil, a), Map("Neg", nil, b)), Store: zarr.Memory()}); err == nil || !strings.Contains(err.Error(), `two arrays are named "x"`) {
		t.Errorf("error %v", err)
	}
}
