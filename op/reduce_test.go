package op

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// definedSum is the sum rule word by word: blocks of 4096, element i of a block in
// lane i mod 32 from −0, lanes folded by halves, blocks pairwise; +0 for nothing.
// add takes x into a lane.
func definedSum(x []float64, add func(lane, x float64) float64) float64 {
	var blocks []float64
	for ; len(x) > 0; x = x[min(4096, len(x)):] {
		var lane [32]float64
		for i := range lane {
			lane[i] = math.Copysign(0, -1)
		}
		for i, v := range x[:min(4096, len(x))] {
			lane[i%32] = add(lane[i%32], v)
		}
		for _, h := range []int{16, 8, 4, 2, 1} {
			for j := range h {
				lane[j] += lane[j+h]
			}
		}
		blocks = append(blocks, lane[0])
	}
	if len(blocks) == 0 {
		return 0
	}
	for len(blocks) > 1 {
		var up []float64
		for i := 0; i+1 < len(blocks); i += 2 {
			up = append(up, blocks[i]+blocks[i+1])
		}
		if len(blocks)%2 == 1 {
			up = append(up, blocks[len(blocks)-1])
		}
		blocks = up
	}
	return blocks[0]
}

func plus(lane, x float64) float64   { return lane + x }
func square(lane, x float64) float64 { return float.FMA64(x, x, lane) }

// reductions is every float reduction and its definition on a sequence.
type definition[T num.Floating] struct {
	name string
	op   func(a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T]
	def  func(x []float64) float64
}

func reductions[T num.Floating]() []definition[T] {
	return []definition[T]{
		{"ReduceSum", ReduceSum[T], func(x []float64) float64 { return definedSum(x, plus) }},
		{"ReduceMean", ReduceMean[T], func(x []float64) float64 { return definedSum(x, plus) / float64(len(x)) }},
		{"ReduceSumSquare", ReduceSumSquare[T], func(x []float64) float64 { return definedSum(x, square) }},
		{"ReduceL1", ReduceL1[T], func(x []float64) float64 {
			return definedSum(x, func(lane, x float64) float64 { return lane + math.Abs(x) })
		}},
		{"ReduceL2", ReduceL2[T], func(x []float64) float64 { return math.Sqrt(definedSum(x, square)) }},
		{"ReduceLogSum", ReduceLogSum[T], func(x []float64) float64 { return float.Log64(definedSum(x, plus)) }},
		{"ReduceProd", ReduceProd[T], func(x []float64) float64 {
			p := 1.0
			for _, v := range x {
				p *= v
			}
			return p
		}},
		{"ReduceMax", ReduceMax[T], func(x []float64) float64 { return definedMax(x, 1) }},
		{"ReduceMin", ReduceMin[T], func(x []float64) float64 { return definedMax(x, -1) }},
	}
}

// definedMax returns the largest of sign·x: NaN if any is NaN, −0 < +0.
func definedMax(x []float64, sign float64) float64 {
	best := math.Inf(int(-sign))
	for _, v := range x {
		if v != v {
			return num.NaN64()
		}
		if v*sign > best*sign || v == best && math.Signbit(best*sign) {
			best = v
		}
	}
	return best
}

// definedReduce enumerates the outputs and their sequences.
func definedReduce[T, R num.Elem](a tensor.Tensor[T], axes []int, keep bool, def func(x []T) R) tensor.Tensor[R] {
	gone := make([]bool, a.Rank())
	for _, x := range axes {
		gone[(x+a.Rank())%a.Rank()] = true
	}
	var kept, shape, red []int // extents
	for i := range a.Rank() {
		switch {
		case axes == nil, gone[i]:
			gone[i] = true
			red = append(red, a.Dim(i))
			if keep {
				shape = append(shape, 1)
			}
		default:
			kept = append(kept, a.Dim(i))
			shape = append(shape, a.Dim(i))
		}
	}
	out := tensor.New[R](shape...)
	res := out.Elems()
	for o := range res {
		k := plan.Unravel(o, kept)
		n := 1
		for _, e := range red {
			n *= e
		}
		x := make([]T, n)
		for i := range x {
			g := plan.Unravel(i, red)
			at := make([]int, a.Rank())
			ki, gi := 0, 0
			for d := range at {
				if gone[d] {
					at[d] = g[gi]
					gi++
				} else {
					at[d] = k[ki]
					ki++
				}
			}
			x[i] = a.At(at...)
		}
		res[o] = def(x)
	}
	return out
}

// inFloat64 runs a definition on float64 and rounds once, NaN canonical.
func inFloat64[T num.Elem](def func(x []float64) float64) func(x []T) T {
	at := valueOf[T]()
	return func(x []T) T {
		w := make([]float64, len(x))
		for i, v := range x {
			w[i] = at(v)
		}
		v := def(w)
		if v != v {
			v = num.NaN64()
		}
		r := of[T](v)
		if v != v { // the canonical NaN of T, and not the result of the conversion
			one := []T{r}
			canonicalAll(one)
			r = one[0]
		}
		return r
	}
}

var axesSets = [][]int{nil, {}, {0}, {1}, {2}, {3}, {-1, 0}, {1, 3}, {2, 1}, {0, 1, 2}, {3, 1, 0}, {1, 2, 3}, {0, 1, 2, 3}}

// Every reduction over every set of axes, in all kinds of memory.
func testReduce[T num.Floating](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := random[T](r, 3, 4, 2, 5)
	vs := variants(a)
	for _, red := range reductions[T]() {
		for _, axes := range axesSets {
			want := definedReduce(a, axes, false, inFloat64[T](red.def))
			for _, v := range vs {
				same(t, fmt.Sprintf("%s %v %s", red.name, axes, v.name), red.op(v.t, axes), want)
			}
			same(t, fmt.Sprintf("%s %v kept", red.name, axes), red.op(a, axes, KeepDims()), definedReduce(a, axes, true, inFloat64[T](red.def)))
		}
	}
}

func TestReduceAxes(t *testing.T) {
	t.Run("float32", testReduce[float32])
	t.Run("float64", testReduce[float64])
	t.Run("float16", testReduce[num.F16])
	t.Run("bfloat16", testReduce[num.BF16])
	t.Run("float8e4m3", testReduce[num.F8E4M3])
	t.Run("float8e5m2", testReduce[num.F8E5M2])
}

func testReduceInts[T num.Integer](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a := random[T](r, 3, 4, 2, 5)
	for name, c := range map[string]struct {
		op  func(a tensor.Tensor[T], axes []int, opts ...Option) tensor.Tensor[T]
		def func(x []T) T
	}{
		"ReduceSum": {ReduceSum[T], func(x []T) (s T) {
			for _, v := range x {
				s += v
			}
			return s
		}},
		"ReduceProd": {ReduceProd[T], func(x []T) T {
			s := T(1)
			for _, v := range x {
				s *= v
			}
			return s
		}},
		"ReduceMax": {ReduceMax[T], func(x []T) T {
			s := x[0]
			for _, v := range x {
				s = max(s, v)
			}
			return s
		}},
		"ReduceMin": {ReduceMin[T], func(x []T) T {
			s := x[0]
			for _, v := range x {
				s = min(s, v)
			}
			return s
		}},
	} {
		for _, axes := range axesSets {
			want := definedReduce(a, axes, false, c.def)
			for _, v := range variants(a) {
				same(t, fmt.Sprintf("%s %v %s", name, axes, v.name), c.op(v.t, axes), want)
			}
		}
	}
}

func TestReduceIntegers(t *testing.T) {
	t.Run("int8", testReduceInts[int8])
	t.Run("uint8", testReduceInts[uint8])
	t.Run("int16", testReduceInts[int16])
	t.Run("uint16", testReduceInts[uint16])
	t.Run("int32", testReduceInts[int32])
	t.Run("uint32", testReduceInts[uint32])
	t.Run("int64", testReduceInts[int64])
	t.Run("uint64", testReduceInts[uint64])
}

// Lengths around the lanes and the blocks, reduced along a run, across rows (one
// output and many side by side), split over two axes, and in other memory.
func TestSumOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 31, 32, 33, 63, 255, 256, 257, 4095, 4096, 4097, 2 * 4096, 3*4096 + 5, 7*4096 + 33} {
		a := random[float32](r, n, 3)
		if n < 5000 {
			a = random[float32](r, n, 19)
		}
		for _, red := range []int{0, 2, 4} { // sum, sum of squares, L2
			red := reductions[float32]()[red]
			def := inFloat64[float32](red.def)
			want := definedReduce(a, []int{0}, false, def)
			for _, v := range variants(a) {
				same(t, fmt.Sprintf("%s of %d %s", red.name, n, v.name), red.op(v.t, []int{0}), want)
			}
			column := a.S(":,1")
			for _, v := range variants(column) {
				same(t, fmt.Sprintf("%s of one run of %d %s", red.name, n, v.name), red.op(v.t, nil), tensor.Scalar(want.At(1)))
			}
			if n%4 == 0 { // over two axes, the operand's order whatever the memory
				two := column.Contiguous().Reshape(4, n/4)
				for _, v := range variants(two) {
					same(t, fmt.Sprintf("%s of 4 times %d %s", red.name, n/4, v.name), red.op(v.t, nil), tensor.Scalar(want.At(1)))
				}
			}
		}
	}
}

func TestSumRow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 140 {
		x := random[float64](r, n).Elems()
		if got, want := reduce.SumRow(x), definedSum(x, plus); rawBits(got) != rawBits(want) {
			t.Errorf("sumRow of %d: %v, want %v", n, got, want)
		}
		if got, want := squaresOf(append([]float64{}, x...)), definedSum(x, square); rawBits(got) != rawBits(want) {
			t.Errorf("squaresOf %d: %v, want %v", n, got, want)
		}
	}
}

// Zeros, infinities, NaNs and nothing at all.
func TestReduceSpecial(t *testing.T) {
	nz, inf, nan := math.Copysign(0, -1), math.Inf(1), math.NaN()
	odd := math.Float64frombits(0x7ff8000000001234) // a NaN with a payload
	for _, x := range [][]float64{{nz}, {nz, nz}, {nz, 0}, {0, nz}, {inf}, {inf, -inf}, {nan}, {odd, 1}, {1, odd}, {-inf, odd, inf}, {nz, nz, nz, 1, -1}, {}} {
		for _, red := range reductions[float64]() {
			if len(x) == 0 {
				continue // below
			}
			want := red.def(x)
			if want != want {
				want = num.NaN64()
			}
			if got := red.op(tensor.FromSlice(x), nil).Item(); rawBits(got) != rawBits(want) {
				t.Errorf("%s %v = %v (%x), want %v (%x)", red.name, x, got, rawBits(got), want, rawBits(want))
			}
		}
	}
	for name, want := range map[string]float64{"ReduceSum": 0, "ReduceMean": nan, "ReduceSumSquare": 0, "ReduceL1": 0, "ReduceL2": 0,
		"ReduceLogSum": -inf, "ReduceProd": 1, "ReduceMax": -inf, "ReduceMin": inf} {
		if want != want {
			want = num.NaN64()
		}
		for _, red := range reductions[float64]() {
			if red.name != name {
				continue
			}
			got := red.op(tensor.New[float64](2, 0, 3), []int{1})
			same(t, name+" of an empty axis", got, tensor.Full(want, 2, 3))
			same(t, name+" of an empty axis, kept", red.op(tensor.New[float64](2, 0, 3), []int{-2}, KeepDims()), tensor.Full(want, 2, 1, 3))
			same(t, name+" of nothing", red.op(tensor.New[float64](0), nil), tensor.Scalar(want))
			same(t, name+" beside an empty axis", red.op(tensor.New[float64](2, 0, 3), []int{0}), tensor.New[float64](0, 3))
		}
	}
	if got := ReduceMax(tensor.New[int8](0), nil).Item(); got != -128 {
		t.Errorf("ReduceMax of no int8: %d", got)
	}
	if got := ReduceMin(tensor.New[uint16](0), nil).Item(); got != 65535 {
		t.Errorf("ReduceMin of no uint16: %d", got)
	}
	if got := ReduceMax(tensor.New[num.F8E4M3](0), nil).Item(); got.Float32() != -448 {
		t.Errorf("ReduceMax of no float8_e4m3: %v", got)
	}
	b := tensor.FromSlice([]bool{true, false, false, false}, 2, 2)
	same(t, "ReduceMax bool", ReduceMax(b, []int{1}), tensor.FromSlice([]bool{true, false}))
	same(t, "ReduceMin bool", ReduceMin(b, []int{1}), tensor.FromSlice([]bool{false, false}))
	same(t, "ReduceMin of no bool", ReduceMin(tensor.New[bool](0), nil), tensor.Scalar(true))
}

// ArgMax and ArgMin against their definition, with ties, NaNs and both zeros.
func TestArg(t *testing.T) {
	values := []float64{1, 1, 0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1)}
	r := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		a := tensor.New[float32](4, 3, 6)
		e := a.Elems()
		nans := 6 + r.IntN(2)*100 // with NaNs or without
		for i := range e {
			e[i] = float32(values[r.IntN(len(values))])
			if e[i] != e[i] && r.IntN(nans) > 6 {
				e[i] = 1
			}
		}
		for axis := range 3 {
			for _, last := range []bool{false, true} {
				def := func(sign float64) func(x []float32) int64 {
					return func(x []float32) int64 {
						best := 0
						for i, v := range x {
							w := x[best]
							switch {
							case w != w:
							case v != v:
								best = i
							default:
								a, b := float64(v)*sign, float64(w)*sign
								less := a > b || a == 0 && b == 0 && !math.Signbit(a) && math.Signbit(b)
								if less || last && a == b && math.Signbit(a) == math.Signbit(b) {
									best = i
								}
							}
						}
						return int64(best)
					}
				}
				for _, v := range variants(a) {
					what := fmt.Sprintf("axis %d last %t %s", axis, last, v.name)
					same(t, "ArgMax "+what, ArgMax(v.t, axis, ArgOptions{LastIndex: last}), definedReduce(a, []int{axis}, false, def(1)))
					same(t, "ArgMin "+what, ArgMin(v.t, axis, ArgOptions{LastIndex: last}), definedReduce(a, []int{axis}, false, def(-1)))
				}
			}
		}
	}
	x := tensor.FromSlice([]num.BF16{num.FromFloat64[num.BF16](2), num.FromBits[num.BF16](0x7fc1), num.FromBits[num.BF16](0xffc0), num.FromFloat64[num.BF16](3)})
	if got := ArgMax(x, 0, ArgOptions{LastIndex: true}).Item(); got != 1 {
		t.Errorf("ArgMax with NaNs at 1 and 2: %d", got)
	}
	same(t, "last of float64", ArgMax(tensor.FromSlice([]float64{2, 2, 1}), 0, ArgOptions{LastIndex: true}), tensor.Scalar(int64(1)))
	same(t, "last of int8", ArgMin(tensor.FromSlice([]int8{2, -2, 1, -2}), 0, ArgOptions{LastIndex: true}), tensor.Scalar(int64(3)))
	same(t, "kept", ArgMin(tensor.FromSlice([]int8{3, 1, 2, 1}, 2, 2), -1, ArgOptions{}, KeepDims()), tensor.FromSlice([]int64{1, 1}, 2, 1))
	same(t, "no outputs", ArgMax(tensor.New[int8](0, 0), 1, ArgOptions{}), tensor.New[int64](0))
	fails(t, func() { ArgMax(tensor.New[int8](2, 0), 1, ArgOptions{}) }, "op.ArgMax", "axis 1", "(2,0)", "empty")
	fails(t, func() { ArgMin(tensor.New[int8](2), 1, ArgOptions{}) }, "op.ArgMin", "axis 1")
}

func TestReduceMistakes(t *testing.T) {
	a := tensor.New[float32](2, 3)
	fails(t, func() { ReduceSum(a, []int{2}) }, "op.ReduceSum", "axis 2", "rank 2")
	fails(t, func() { ReduceMean(a, []int{-3}) }, "op.ReduceMean", "axis -3")
	fails(t, func() { ReduceMax(a, []int{1, -1}) }, "op.ReduceMax", "axis -1", "twice")
	fails(t, func() { ReduceMax(a, []int{1}, Into(tensor.New[float32](3))) }, "shape (3)", "(2)")
	fails(t, func() { ReduceMax(a, []int{1}, Into(tensor.New[float64](2))) }, "float64", "float32")
	fails(t, func() { GlobalAveragePool(a) }, "op.GlobalAveragePool", "(2,3)")
	fails(t, func() { GlobalMaxPool(tensor.New[float32](1, 1, 1), Into(a)) }, "op.GlobalMaxPool", "Into")
}

// Into: a fresh target, every kind of memory, and one that overlaps the operand.
func TestReduceInto(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	a := random[float32](r, 6, 40)
	want := ReduceSum(a, []int{1})
	for _, v := range variants(tensor.New[float32](6)) {
		same(t, v.name, ReduceSum(a, []int{1}, Into(v.t)), want)
		same(t, v.name+" target", v.t, want)
	}
	b := a.Clone()
	ReduceSum(b, []int{1}, Into(b.S(":,3")))
	same(t, "a column of the operand", b.S(":,3"), want)
	b = a.Clone()
	ReduceSum(b, []int{1}, KeepDims(), Into(b.S("::-1,:1")))
	same(t, "a column of the operand, reversed", b.S("::-1,:1"), want.Reshape(6, 1))
	for _, part := range []string{":, ::2", "::-1, ::-2", "::2, 5:"} { // with gaps, which the copy made for the overlap doesn't have
		b = a.Clone()
		v := b.S(part)
		want := ReduceSum(v, []int{1})
		ReduceSum(v, []int{1}, Into(v.S(":,3")))
		same(t, "a column of "+part, v.S(":,3"), want)
	}
	x := tensor.FromSlice([]int64{5, 1, 7, 2}, 2, 2)
	ArgMax(x, 0, ArgOptions{}, Into(x.S("1")))
	same(t, "ArgMax into its operand", x, tensor.FromSlice([]int64{5, 1, 1, 1}, 2, 2))
}

// The run-time form: axes as an attribute and as an input, keepdims,
// noop_with_empty_axes.
func TestReduceVersions(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	list := func(v ...int64) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }
	for _, c := range []struct {
		op    string
		opset int
		in    []tensor.Any
		attrs given
		want  tensor.Tensor[float32]
	}{
		{"ReduceSum", 11, []tensor.Any{a.Any()}, given{"axes": []int64{1}}, tensor.FromSlice([]float32{6, 15}, 2, 1)},
		{"ReduceSum", 11, []tensor.Any{a.Any()}, given{"axes": []int64{}, "keepdims": int64(0)}, tensor.Scalar(float32(21))},
		{"ReduceSum", 13, []tensor.Any{a.Any(), list(-2)}, given{"keepdims": int64(0)}, tensor.FromSlice([]float32{5, 7, 9})},
		{"ReduceSum", 13, []tensor.Any{a.Any(), list()}, given{"keepdims": int64(0)}, tensor.Scalar(float32(21))},
		{"ReduceSum", 13, []tensor.Any{a.Any()}, nil, tensor.FromSlice([]float32{21}, 1, 1)},
		{"ReduceSum", 13, []tensor.Any{a.Any(), {}}, given{"noop_with_empty_axes": int64(1)}, a},
		{"ReduceSum", 13, []tensor.Any{a.Any(), list()}, given{"noop_with_empty_axes": int64(1)}, a},
		{"ReduceMean", 17, []tensor.Any{a.Any()}, given{"axes": []int64{1}, "keepdims": int64(0)}, tensor.FromSlice([]float32{2, 5})},
		{"ReduceMean", 18, []tensor.Any{a.Any(), list(1)}, given{"keepdims": int64(0)}, tensor.FromSlice([]float32{2, 5})},
		{"ReduceL1", 18, []tensor.Any{a.Any(), tensor.FromSlice([]int32{0}).Any()}, given{"keepdims": int64(0)}, tensor.FromSlice([]float32{5, 7, 9})},
		{"ReduceSumSquare", 18, []tensor.Any{a.Any()}, given{"noop_with_empty_axes": int64(1)}, tensor.FromSlice([]float32{1, 4, 9, 16, 25, 36}, 2, 3)},
		{"ReduceMax", 12, []tensor.Any{a.Any()}, given{"axes": []int64{0}, "keepdims": int64(0)}, tensor.FromSlice([]float32{4, 5, 6})},
	} {
		out := runs(t, c.op, &Call{Inputs: c.in, Attrs: c.attrs, Opset: c.opset})
		if out != nil {
			same(t, fmt.Sprintf("%s of opset %d, %v", c.op, c.opset, c.attrs), asOf[float32](out[0]), c.want)
		}
	}
	o, _ := Lookup("ReduceSum")
	spec, _ := tensor.NewSpec(a.DType(), 2, 3)
	axes, _ := tensor.NewSpec(list().DType(), 1)
	if _, err := o.Infer(&Call{Inputs: []tensor.Any{spec.Any(), axes.Any()}, Opset: 13}); !errors.Is(err, ErrUnknown) {
		t.Errorf("axes not known: %v", err)
	}
}

// The number of threads changes nothing.
func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	a, b := random[float32](r, 300, 700), random[float32](r, 700, 90)
	x, w := random[float32](r, 2, 8, 30, 31), random[float32](r, 12, 4, 3, 3)
	calls := map[string]func() tensor.Tensor[float32]{
		"ReduceSum 0": func() tensor.Tensor[float32] { return ReduceSum(a, []int{0}) },
		"ReduceSum 1": func() tensor.Tensor[float32] { return ReduceSum(a, []int{1}) },
		"ReduceSum":   func() tensor.Tensor[float32] { return ReduceSum(a, nil) },
		"MatMul":      func() tensor.Tensor[float32] { return MatMul(a, b) },
		"Conv":        func() tensor.Tensor[float32] { return Conv(x, w, tensor.Tensor[float32]{}, Window{}, 2) },
		"Softmax":     func() tensor.Tensor[float32] { return Softmax(a, 0) },
		"AveragePool": func() tensor.Tensor[float32] {
			return AveragePool(x, Window{Kernel: []int{3, 3}}, AveragePoolOptions{})
		},
		"MaxPool": func() tensor.Tensor[float32] { return MaxPool(x, Window{Kernel: []int{3, 3}}) },
		"Concat":  func() tensor.Tensor[float32] { return Concat([]tensor.Tensor[float32]{a, a}, 0) },
		"Gather":  func() tensor.Tensor[float32] { return Gather(a, tensor.FromSlice([]int64{5, -1, 0}), 0) },
	}
	if err := tensor.Try(func() { WithThreads(context.Background(), 0) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("no threads: %v", err)
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for name, f := range calls {
		runtime.GOMAXPROCS(1)
		want := f()
		for _, n := range []int{2, 3, 7} {
			runtime.GOMAXPROCS(n)
			same(t, fmt.Sprintf("%s on %d threads", name, n), f(), want)
		}
	}
}

// A context that is done stops every operator that takes one.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := rand.New(rand.NewPCG(15, 16))
	a := random[float32](r, 4, 4)
	x, v := random[float32](r, 1, 2, 5, 5), random[float32](r, 2)
	for name, f := range map[string]func(o Option){
		"ReduceSum": func(o Option) { ReduceSum(a, nil, o) },
		"ArgMax":    func(o Option) { ArgMax(a, 0, ArgOptions{}, o) },
		"MatMul":    func(o Option) { MatMul(a, a, o) },
		"Gemm":      func(o Option) { Gemm(a, a, a, 1, 1, GemmOptions{}, o) },
		"Conv":      func(o Option) { Conv(x, x, tensor.Tensor[float32]{}, Window{}, 1, o) },
		"MaxPool":   func(o Option) { MaxPool(x, Window{Kernel: []int{2, 2}}, o) },
		"AveragePool": func(o Option) {
			AveragePool(x, Window{Kernel: []int{2, 2}}, AveragePoolOptions{CountIncludePad: true}, o)
		},
		"GlobalMaxPool":      func(o Option) { GlobalMaxPool(x, o) },
		"BatchNormalization": func(o Option) { BatchNormalization(x, v, v, v, v, 0, o) },
		"LRN":                func(o Option) { LRN(x, 3, 1, 1, 1, o) },
		"Softmax":            func(o Option) { Softmax(a, 0, o) },
		"LogSoftmax":         func(o Option) { LogSoftmax(a, 0, o) },
		"Concat":             func(o Option) { Concat([]tensor.Tensor[float32]{a, a}, 0, o) },
		"Gather":             func(o Option) { Gather(a, tensor.New[int64](2), 0, o) },
	} {
		err := tensor.Try(func() { f(Context(ctx)) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want an error that wraps context.Canceled", name, err)
		}
		if err := tensor.Try(func() { f(Context(context.Background())) }); err != nil {
			t.Errorf("%s with a live context: %v", name, err)
		}
	}
}

// A panic on a worker reaches the caller, as itself.
func TestSplitPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, at := range []int{0, 17, 99} {
		func() {
			defer func() {
				if r := recover(); r != "here" {
					t.Errorf("recovered %v, want what f panicked with", r)
				}
			}()
			exec.Split("Test", nil, 100, exec.SplitCost, func(from, to int) {
				if from <= at && at < to {
					panic("here")
				}
			})
		}()
	}
	for _, n := range []int{0, 1, 7, 1000} { // every step once
		for _, cost := range []int{0, 1, 100, exec.SplitCost * 10} {
			hits := make([]int32, n)
			exec.Split("Test", context.Background(), n, cost, func(from, to int) {
				for i := from; i < to; i++ {
					hits[i]++
				}
			})
			for i, h := range hits {
				if h != 1 {
					t.Errorf("%d steps of cost %d: step %d ran %d times", n, cost, i, h)
				}
			}
		}
	}
}

// valueOf returns the exact conversion of T to float64.
func valueOf[T num.Elem]() func(v T) float64 {
	return func(v T) float64 {
		switch v := any(v).(type) {
		case float32:
			return float64(v)
		case float64:
			return v
		case interface{ Float64() float64 }:
			return v.Float64()
		}
		panic("no float")
	}
}

// canonicalAll makes the NaNs of a row of any type canonical.
func canonicalAll[T num.Elem](row []T) {
	d := dtype.Of[T]()
	if canon := cast.CanonOf(d); canon != nil {
		canon(exec.RunOf(row))
	} else if d.IsNarrow() {
		wide := make([]float32, len(row))
		cast.WidenOf(d)(exec.RunOf(wide), exec.RunOf(row))
		cast.NarrowOf(d)(exec.RunOf(row), exec.RunOf(wide))
	}
}
