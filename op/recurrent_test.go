package op_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
	"pgregory.net/rapid"
)

// layer is a call of LSTM, GRU or RNN.
type layer[T num.Floating] struct {
	name    string
	x, w, r tensor.Tensor[T]
	o       op.RecurrentOptions[T]
}

func (l *layer[T]) run(opts ...op.Option) [3]tensor.Tensor[T] {
	var y, yh, yc tensor.Tensor[T]
	switch l.name {
	case "LSTM":
		y, yh, yc = op.LSTM(l.x, l.w, l.r, l.o, opts...)
	case "GRU":
		y, yh = op.GRU(l.x, l.w, l.r, l.o, opts...)
	default:
		y, yh = op.RNN(l.x, l.w, l.r, l.o, opts...)
	}
	return [3]tensor.Tensor[T]{y, yh, yc}
}

// gatesOf is how many gates an operator has, actsOf its activations.
func gatesOf(name string) int { return map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[name] }

func actsOf(name string) []string {
	return map[string][]string{"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"}, "RNN": {"Tanh"}}[name]
}

// contracted is a row times a row in the order of MatMul.
func contracted[T num.Float](k int, a, b func(i int) T) T {
	var sum T
	for k0 := 0; k0 < k; k0 += 256 {
		var block T
		for i := k0; i < min(k, k0+256); i++ {
			switch p := any(&block).(type) {
			case *float32:
				*p = float.FMA32(float32(a(i)), float32(b(i)), *p)
			case *float64:
				*p = math.FMA(float64(a(i)), float64(b(i)), *p)
			}
		}
		if k0 == 0 {
			sum = block
		} else {
			sum += block
		}
	}
	return sum
}

// activated is an activation of one number, by the functions of package num where there are such.
func activated[T num.Float](name string, x, alpha, beta, clip T) T {
	if clip > 0 && x > clip {
		x = clip
	}
	if clip > 0 && x < -clip {
		x = -clip
	}
	pick := func(f32 func(float32) float32, f64 func(float64) float64) T {
		if dtype.Of[T]() == dtype.Float32 {
			return T(f32(float32(x)))
		}
		return T(f64(float64(x)))
	}
	switch name {
	case "Affine":
		return T(alpha*x) + beta
	case "ScaledTanh":
		x = beta * x
		return alpha * pick(float.Tanh32, float.Tanh64)
	case "Sigmoid":
		return pick(float.Sigmoid32, float.Sigmoid64)
	case "Tanh":
		return pick(float.Tanh32, float.Tanh64)
	case "Softplus":
		return pick(float.Softplus32, float.Softplus64)
	}
	one := tensor.FromSlice([]T{x}, 1)
	switch name {
	case "Relu":
		return op.Relu(one).At(0)
	case "Softsign":
		return op.Softsign(one).At(0)
	case "Elu":
		return op.Elu(one, float64(alpha)).At(0)
	case "HardSigmoid":
		return op.HardSigmoid(one, float64(alpha), float64(beta)).At(0)
	case "LeakyRelu":
		return op.LeakyRelu(one, float64(alpha)).At(0)
	case "ThresholdedRelu":
		return op.ThresholdedRelu(one, float64(alpha)).At(0)
	}
	panic(name)
}

// numbersOf is how many numbers an activation takes, and their defaults.
func numbersOf(name string) (n int, def [2]float32) {
	switch name {
	case "Affine":
		return 2, [2]float32{1, 0}
	case "ScaledTanh":
		return 2, [2]float32{}
	case "HardSigmoid":
		return 2, [2]float32{0.2, 0.5}
	case "Elu", "ThresholdedRelu":
		return 1, [2]float32{1}
	case "LeakyRelu":
		return 1, [2]float32{0.01}
	}
	return 0, def
}

// defined is the loop that defines LSTM, GRU and RNN.
func defined[T num.Float](l *layer[T]) [3]tensor.Tensor[T] {
	o, gates, units := &l.o, gatesOf(l.name), l.r.Dim(2)
	x, h0, c0 := l.x, o.InitialH, o.InitialC
	if o.BatchFirst {
		x = x.Permute(1, 0, 2)
		if !h0.IsZero() {
			h0 = h0.Permute(1, 0, 2)
		}
		if !c0.IsZero() {
			c0 = c0.Permute(1, 0, 2)
		}
	}
	steps, batch, dirs := x.Dim(0), x.Dim(1), l.w.Dim(0)
	names := o.Activations
	if names == nil {
		names = slices.Repeat(actsOf(l.name), dirs)
	}
	alpha, beta := o.Alpha, o.Beta
	functions := make([]func(x T) T, len(names))
	for i, name := range names {
		n, numbers := numbersOf(name)
		if n > 0 && len(alpha) > 0 {
			numbers[0], alpha = alpha[0], alpha[1:]
		}
		if n > 1 && len(beta) > 0 {
			numbers[1], beta = beta[0], beta[1:]
		}
		functions[i] = func(x T) T { return activated(name, x, T(numbers[0]), T(numbers[1]), T(o.Clip)) }
	}
	y := tensor.New[T](steps, dirs, batch, units)
	yh, yc := tensor.New[T](dirs, batch, units), tensor.New[T](dirs, batch, units)
	for d := range dirs {
		f := functions[d*len(actsOf(l.name)):]
		bias := func(i int) T {
			if o.Bias.IsZero() {
				return 0
			}
			return o.Bias.At(d, i)
		}
		for b := range batch {
			length := steps
			if !o.Lengths.IsZero() {
				length = int(o.Lengths.At(b))
			}
			h, c := make([]T, units), make([]T, units)
			for j := range units {
				if !h0.IsZero() {
					h[j] = h0.At(d, b, j)
				}
				if !c0.IsZero() {
					c[j] = c0.At(d, b, j)
				}
			}
			for s := range length {
				t := s
				if o.Direction == "reverse" || d == 1 {
					t = length - 1 - s
				}
				in := func(gate, j int, both bool) T { // the part of the input in a gate
					row := gate*units + j
					v := contracted(x.Dim(2), func(i int) T { return x.At(t, b, i) }, func(i int) T { return l.w.At(d, row, i) })
					if o.Bias.IsZero() {
						return v
					}
					if !both {
						return v + bias(row)
					}
					return v + T(bias(row)+bias(gates*units+row))
				}
				state := func(h []T, gate, j int) T {
					return contracted(units, func(i int) T { return h[i] }, func(i int) T { return l.r.At(d, gate*units+j, i) })
				}
				peep := func(v T, which, j int, c T) T {
					if o.Peepholes.IsZero() {
						return v
					}
					return v + T(o.Peepholes.At(d, which*units+j)*c)
				}
				next, reset := make([]T, units), make([]T, units)
				for j := range units {
					switch l.name {
					case "RNN":
						next[j] = f[0](in(0, j, true) + state(h, 0, j))
					case "LSTM":
						i := f[0](peep(in(0, j, true)+state(h, 0, j), 0, j, c[j]))
						forget := 1 - i
						if !o.InputForget {
							forget = f[0](peep(in(2, j, true)+state(h, 2, j), 2, j, c[j]))
						}
						c[j] = T(forget*c[j]) + T(i*f[1](in(3, j, true)+state(h, 3, j)))
						next[j] = f[0](peep(in(1, j, true)+state(h, 1, j), 1, j, c[j])) * f[2](c[j])
					case "GRU":
						reset[j] = f[0](in(1, j, true) + state(h, 1, j))
					}
				}
				for j := range units {
					if l.name != "GRU" {
						break
					}
					z := f[0](in(0, j, true) + state(h, 0, j))
					var n T
					if o.LinearBeforeReset {
						v := state(h, 2, j)
						if !o.Bias.IsZero() {
							v += bias(5*units + j)
						}
						n = f[1](in(2, j, false) + T(reset[j]*v))
					} else {
						times := make([]T, units)
						for i := range times {
							times[i] = reset[i] * h[i]
						}
						n = f[1](in(2, j, true) + state(times, 2, j))
					}
					next[j] = T(T(1-z)*n) + T(z*h[j])
				}
				copy(h, next)
				for j, v := range h {
					y.Set(v, t, d, b, j)
				}
			}
			for j := range units {
				yh.Set(h[j], d, b, j)
				yc.Set(c[j], d, b, j)
			}
		}
	}
	if o.BatchFirst {
		y, yh, yc = y.Permute(2, 0, 1, 3), yh.Permute(1, 0, 2), yc.Permute(1, 0, 2)
	}
	out := [3]tensor.Tensor[T]{y, yh, yc}
	for i := range out { // makes NaNs canonical
		if c := tensor.Empty[T](out[i].Shape()...); c.Len() > 0 {
			out[i] = op.Add(out[i], tensor.Scalar(T(math.Copysign(0, -1))), op.Into(c))
		}
	}
	if l.name != "LSTM" {
		out[2] = tensor.Tensor[T]{}
	}
	return out
}

func numbers[T num.Float](r *rand.Rand, scale float64, shape ...int) tensor.Tensor[T] {
	t := tensor.New[T](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = T(scale * (2*r.Float64() - 1))
	}
	return t
}

// layerOf returns a layer of random numbers, without optional operands.
func layerOf[T num.Float](r *rand.Rand, name string, dirs, steps, batch, features, units int) *layer[T] {
	g := gatesOf(name)
	l := &layer[T]{name: name, x: numbers[T](r, 2, steps, batch, features), w: numbers[T](r, 1, dirs, g*units, features), r: numbers[T](r, 1, dirs, g*units, units)}
	if dirs == 2 {
		l.o.Direction = "bidirectional"
	}
	return l
}

// alike reports whether two tensors have one shape and the same bits.
func alike(a, b tensor.Any) bool {
	x, _ := tensor.Bytes(a.Contiguous())
	y, _ := tensor.Bytes(b.Contiguous())
	return tensor.Describe(a) == tensor.Describe(b) && bytes.Equal(x, y)
}

func sameLayer[T num.Floating](t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, got, want [3]tensor.Tensor[T]) {
	t.Helper()
	for i, of := range []string{"Y", "Y_h", "Y_c"} {
		if got[i].IsZero() && want[i].IsZero() {
			continue
		}
		if !alike(got[i].Any(), want[i].Any()) {
			rep, err := tensortest.Compare(got[i].Any(), want[i].Any(), tensortest.Tolerance{}, 3)
			t.Fatalf("%s of %s differs: %+v %v", of, what, rep, err)
		}
	}
}

// drawn returns a random layer with random optional operands and attributes.
func drawn[T num.Float](t *rapid.T) *layer[T] {
	name := rapid.SampledFrom([]string{"LSTM", "GRU", "RNN"}).Draw(t, "operator")
	dirs, steps, batch := rapid.IntRange(1, 2).Draw(t, "directions"), rapid.IntRange(0, 5).Draw(t, "steps"), rapid.IntRange(0, 7).Draw(t, "batch")
	features, units := rapid.IntRange(0, 9).Draw(t, "features"), rapid.IntRange(0, 20).Draw(t, "units")
	r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
	l := layerOf[T](r, name, dirs, steps, batch, features, units)
	maybe := func(what string) bool { return rapid.Bool().Draw(t, what) }
	if dirs == 1 && maybe("reverse") {
		l.o.Direction = "reverse"
	}
	if maybe("bias") {
		l.o.Bias = numbers[T](r, 1, dirs, 2*gatesOf(name)*units)
	}
	if maybe("lengths") {
		l.o.Lengths = tensor.New[int32](batch)
		for i := range batch {
			l.o.Lengths.Set(int32(r.IntN(steps+1)), i)
		}
	}
	state := []int{dirs, batch, units}
	if l.o.BatchFirst = maybe("batch first"); l.o.BatchFirst {
		l.x, state = l.x.Permute(1, 0, 2), []int{batch, dirs, units}
	}
	if maybe("state") {
		l.o.InitialH = numbers[T](r, 1, state...)
	}
	l.o.LinearBeforeReset, l.o.InputForget = maybe("linear before reset"), maybe("input forget")
	if name == "LSTM" && maybe("cell") {
		l.o.InitialC = numbers[T](r, 1, state...)
	}
	if name == "LSTM" && maybe("peepholes") {
		l.o.Peepholes = numbers[T](r, 1, dirs, 3*units)
	}
	if maybe("clip") {
		l.o.Clip = 0.75
	}
	if maybe("activations") {
		for range dirs * len(actsOf(name)) {
			f := rapid.SampledFrom([]string{"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}).Draw(t, "activation")
			l.o.Activations = append(l.o.Activations, f)
		}
		n := 0
		if slices.Contains(l.o.Activations, "ScaledTanh") || maybe("alpha") {
			n = len(l.o.Activations)
		}
		for range n {
			l.o.Alpha, l.o.Beta = append(l.o.Alpha, r.Float32()), append(l.o.Beta, r.Float32()-0.5)
		}
	}
	if units > 0 && batch > 0 && steps > 0 && features > 0 && rapid.IntRange(0, 9).Draw(t, "special") == 0 {
		l.x.Set(T(math.Inf(1)), 0, 0, 0)
		l.w.Set(T(math.NaN()), 0, 0, 0)
	}
	return l
}

func TestRecurrentIsItsLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "float64") {
			l := drawn[float64](t)
			sameLayer(t, l.name, l.run(), defined(l))
		} else {
			l := drawn[float32](t)
			sameLayer(t, l.name, l.run(), defined(l))
		}
	})
}

// Products of more than one block, and layers that threads share, have the bits of the loop, too.
func TestRecurrentLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r := rand.New(rand.NewPCG(1, 2))
	for i, name := range []string{"LSTM", "GRU", "RNN"} {
		for k, batch := range []int{1, 3, 17} {
			if !*op.Long && (i+k)%3 > 0 {
				continue
			}
			l := layerOf[float32](r, name, 2, 2, batch, 300, 261)
			l.o.Bias = numbers[float32](r, 1, 2, 2*gatesOf(name)*261)
			sameLayer(t, name, l.run(), defined(l))
			l.o.LinearBeforeReset = true
			sameLayer(t, name, l.run(), defined(l))
		}
	}
}

// narrowed is a layer of narrow floats, and the same in float32.
func narrowed[T num.Narrow](l *layer[float32]) (*layer[T], *layer[float32]) {
	down := func(t *tensor.Tensor[float32]) (n tensor.Tensor[T]) {
		if !t.IsZero() {
			n = op.Cast[T](*t)
			*t = op.Cast[float32](n)
		}
		return n
	}
	o := l.o
	n := &layer[T]{name: l.name, x: down(&l.x), w: down(&l.w), r: down(&l.r), o: op.RecurrentOptions[T]{Bias: down(&l.o.Bias), Lengths: o.Lengths, InitialH: down(&l.o.InitialH),
		InitialC: down(&l.o.InitialC), Peepholes: down(&l.o.Peepholes), Direction: o.Direction, Activations: o.Activations, Alpha: o.Alpha, Beta: o.Beta, Clip: o.Clip,
		BatchFirst: o.BatchFirst, InputForget: o.InputForget, LinearBeforeReset: o.LinearBeforeReset}}
	return n, l
}

func TestRecurrentOfNarrowFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNarrow[num.F16](t) })
	rapid.Check(t, func(t *rapid.T) { checkNarrow[num.F8E4M3](t) })
}

func checkNarrow[T num.Narrow](t *rapid.T) {
	n, wide := narrowed[T](drawn[float32](t))
	var want [3]tensor.Tensor[T]
	for i, w := range wide.run() {
		if !w.IsZero() {
			want[i] = op.Cast[T](w)
		}
	}
	sameLayer(t, n.name, n.run(), want)
}

// An Into target takes the states of all steps, whatever its layout and whether or not it is an operand.
func TestRecurrentInto(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		l := layerOf[float32](r, name, 1, 4, 3, 5, 5)
		want := l.run()
		dst := tensor.New[float32](5, 3, 1, 4).Permute(3, 2, 1, 0)
		sameLayer(t, name, l.run(op.Into(dst)), want)
		if !alike(dst.Any(), want[0].Any()) {
			t.Errorf("%s: the Into target isn't the result", name)
		}
		sameLayer(t, name+" in place", l.run(op.Into(l.x.Reshape(4, 1, 3, 5))), want)
	}
}

func TestRecurrentContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := layerOf[float32](rand.New(rand.NewPCG(1, 4)), "LSTM", 2, 4, 3, 5, 6)
	sameLayer(t, "LSTM", l.run(op.Context(ctx)), l.run())
	cancel()
	if err := tensor.Try(func() { l.run(op.Context(ctx)) }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

// The allocations don't depend on the number of steps.
func TestRecurrentAllocations(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("under the race detector a sync.Pool drops some of what it is given")
	}
	r := rand.New(rand.NewPCG(1, 5))
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		for _, batch := range []int{1, 3, 16} {
			var counts [2]float64
			for i, steps := range []int{4, 40} {
				l := layerOf[float32](r, name, 1, steps, batch, 12, 24)
				l.o.Clip = 3
				dst := tensor.New[float32](steps, 1, batch, 24)
				l.run(op.Into(dst))
				counts[i] = testing.AllocsPerRun(20, func() { l.run(op.Into(dst)) })
			}
			if counts[1] > counts[0]+1 { // a pool may drop something
				t.Errorf("%s of batch %d: %v allocations for 4 steps, %v for 40", name, batch, counts[0], counts[1])
			}
		}
	}
}

func TestRecurrentErrors(t *testing.T) {
	none := tensor.Tensor[float32]{}
	for _, c := range []struct {
		name   string
		change func(l *layer[float32])
		want   string
	}{
		{"RNN", func(l *layer[float32]) { l.x = none }, "op.RNN: input 0 is the zero value; make one with tensor.New or FromSlice"},
		{"RNN", func(l *layer[float32]) { l.x = tensor.New[float32](2, 3) }, "op.RNN: input 0 is float32[2,3]; want [steps, batch, features]"},
		{"RNN", func(l *layer[float32]) { l.x, l.o.BatchFirst = tensor.New[float32](2, 3), true }, "op.RNN: input 0 is float32[2,3]; want [batch, steps, features]"},
		{"LSTM", func(l *layer[float32]) { l.r = tensor.New[float32](1, 4, 6) }, "op.LSTM: input 2, the weights of the state, is float32[1,4,6]; want [directions, 4·units, units]"},
		{"LSTM", func(l *layer[float32]) { l.w = tensor.New[float32](1, 24, 4) }, "op.LSTM: input 1, the weights of the input, is float32[1,24,4]; want [1,24,5], of steps 4, batch 3, features 5, units 6, directions 1 and gates 4"},
		{"LSTM", func(l *layer[float32]) { l.o.Direction = "bidirectional" }, "op.LSTM: input 1, the weights of the input, is float32[1,24,5]; want [2,24,5], of steps 4, batch 3, features 5, units 6, directions 2 and gates 4"},
		{"GRU", func(l *layer[float32]) { l.o.Bias = tensor.New[float32](1, 18) }, "op.GRU: input 3, the bias, is float32[1,18]; want [1,36], of steps 4, batch 3, features 5, units 6, directions 1 and gates 3"},
		{"GRU", func(l *layer[float32]) { l.o.Lengths = tensor.New[int32](4) }, "op.GRU: input 4, the lengths, is int32[4]; want [3], of steps 4, batch 3, features 5, units 6, directions 1 and gates 3"},
		{"GRU", func(l *layer[float32]) { l.o.Lengths = tensor.FromSlice([]int32{4, 5, 0}, 3) }, "op.GRU: input 4, the lengths, has 5 at index 1; want 0 to 4, the number of steps"},
		{"GRU", func(l *layer[float32]) { l.o.Lengths = tensor.FromSlice([]int32{-1, 5, 0}, 3) }, "op.GRU: input 4, the lengths, has -1 at index 0; want 0 to 4, the number of steps"},
		{"GRU", func(l *layer[float32]) { l.o.InitialC = tensor.New[float32](1, 3, 6) }, "op.GRU: it has no cell: InitialC and Peepholes are of LSTM"},
		{"RNN", func(l *layer[float32]) { l.o.InitialH = tensor.New[float32](3, 1, 6) }, "op.RNN: input 5, the state before the first step, is float32[3,1,6]; want [1,3,6], of steps 4, batch 3, features 5, units 6, directions 1 and gates 1"},
		{"RNN", func(l *layer[float32]) { l.o.Direction = "backward" }, `op.RNN: direction "backward"; want forward, reverse or bidirectional`},
		{"RNN", func(l *layer[float32]) { l.o.Clip = -1 }, "op.RNN: clip is -1; want a positive number, or 0 for none"},
		{"GRU", func(l *layer[float32]) { l.o.Activations = []string{"Sigmoid", "Swish"} }, `op.GRU: activation 1 is "Swish"; want Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, Softplus, Softsign, Tanh or ThresholdedRelu`},
		{"LSTM", func(l *layer[float32]) { l.o.Activations = []string{"Tanh"} }, "op.LSTM: 1 activations; want 3, for each of 1 directions Sigmoid, Tanh, Tanh or others"},
		{"RNN", func(l *layer[float32]) { l.o.Activations = []string{"ScaledTanh"} }, "op.RNN: ScaledTanh has no default alpha; give one in activation_alpha"},
	} {
		l := layerOf[float32](rand.New(rand.NewPCG(1, 6)), c.name, 1, 4, 3, 5, 6)
		c.change(l)
		if err := tensor.Try(func() { l.run() }); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// The run-time form has the attributes of ONNX; names of activations are in any case.
func TestRecurrentRunTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		o, _ := op.Lookup(name)
		l := layerOf[float64](r, name, 2, 4, 3, 5, 6)
		l.o.Activations, l.o.Clip, l.o.InputForget, l.o.LinearBeforeReset = slices.Repeat([]string{"hardsigmoid", "TANH", "softSign"}[:len(actsOf(name))], 2), 2, true, true
		l.o.Alpha, l.o.Beta = []float32{0.25}, []float32{0.75}
		l.o.Lengths, l.o.InitialH = tensor.FromSlice([]int32{4, 0, 2}, 3), numbers[float64](r, 1, 2, 3, 6)
		attrs := op.AttrMap{"activations": l.o.Activations, "activation_alpha": l.o.Alpha, "activation_beta": l.o.Beta, "clip": float32(2), "direction": "bidirectional", "hidden_size": int64(6)}
		in := []tensor.Any{l.x.Any(), l.w.Any(), l.r.Any(), {}, l.o.Lengths.Any(), l.o.InitialH.Any()}
		switch name {
		case "LSTM":
			attrs["input_forget"] = int64(1)
		case "GRU":
			attrs["linear_before_reset"] = int64(1)
		}
		call := &op.Call{Inputs: in, Attrs: attrs, Opset: 14, Outputs: 2}
		out, err := o.Run(call)
		if err != nil {
			t.Fatal(err)
		}
		specs, err := o.Infer(call)
		if err != nil {
			t.Fatal(err)
		}
		var got [3]tensor.Tensor[float64]
		for i, a := range out {
			got[i], _ = tensor.As[float64](a)
			if g, w := tensor.Describe(specs[i]), tensor.Describe(a); g != w {
				t.Errorf("%s: output %d is inferred as %s and is %s", name, i, g, w)
			}
		}
		sameLayer(t, name, got, l.run())
		for _, c := range []struct {
			attr  string
			value any
			want  string
		}{
			{"hidden_size", int64(-6), "hidden_size is -6; input 2 is float64["},
			{"layout", int64(2), "layout is 2; want 0, steps first, or 1, batch first"},
		} {
			bad := op.AttrMap{c.attr: c.value}
			if _, err := o.Run(&op.Call{Inputs: in, Attrs: bad, Opset: 14}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s with %v: got %v, want %q", name, bad, err, c.want)
			}
		}
		in[4] = tensor.New[int64](3).Any()
		if _, err := o.Run(call); err == nil || !strings.Contains(err.Error(), "input 4 holds int64, want int32") {
			t.Errorf("%s with lengths of int64: %v", name, err)
		}
		in[4] = tensor.New[float64](3).Any()
		in[5] = tensor.New[float32](2, 3, 6).Any()
		if _, err := o.Run(call); err == nil {
			t.Errorf("%s with a state of another type: no error", name)
		}
	}
}
