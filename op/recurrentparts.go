package op

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The parts of LSTM, GRU and RNN: activations by name, and the product with the state.

// activation is a function of one number that a node names, with its numbers.
type activation struct {
	function    *activationOf
	alpha, beta float32
}

// activationOf is an activation that ONNX names: an operator, or one of two formulas.
type activationOf struct {
	name string
	has  int        // 1: alpha; 2: alpha and beta
	def  [2]float32 // of a formula
	must bool       // there are no defaults
	by   *pointwise.Operator
}

var activationTable = []activationOf{
	{name: "Affine", has: 2, def: [2]float32{1, 0}},
	{name: "Elu", has: 1, by: &elu},
	{name: "HardSigmoid", has: 2, by: &hardSigmoid},
	{name: "LeakyRelu", has: 1, by: &leakyRelu},
	{name: "Relu", by: &relu},
	{name: "ScaledTanh", has: 2, must: true},
	{name: "Sigmoid", by: &sigmoid},
	{name: "Softplus", by: &softplus},
	{name: "Softsign", by: &softsign},
	{name: "Tanh", by: &tanh},
	{name: "ThresholdedRelu", has: 1, by: &thresholdedRelu},
}

// activationsOf returns the activations of all directions. ONNX names two for RNN by default,
// of which one direction needs the first.
func (k *cell) activationsOf(a *recurrentAttrs, directions int) []activation {
	names, n := a.activations, directions*len(k.activations)
	switch {
	case len(names) == 0:
		names = slices.Repeat(k.activations, directions)
	case len(names) == n || k.gates == 1 && len(names) == 2:
	default:
		panic(plan.Fail(k.name, tensor.ErrValue, "%d activations; want %d, for each of %d directions %s", len(names), n, directions, strings.Join(k.activations, ", ")+" or others"))
	}
	alpha, beta := a.alpha, a.beta
	take := func(list *[]float32, def float32, f *activationOf, what string) float32 {
		if len(*list) == 0 {
			if f.must {
				panic(plan.Fail(k.name, tensor.ErrValue, "%s has no default %s; give one in activation_%s", f.name, what, what))
			}
			return def
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
	acts := make([]activation, n)
	for i := range acts {
		at := slices.IndexFunc(activationTable, func(f activationOf) bool { return strings.EqualFold(f.name, names[i]) })
		if at < 0 {
			panic(plan.Fail(k.name, tensor.ErrValue, "activation %d is %.40q; want %s", i, names[i], activationNames()))
		}
		f := &activationTable[at]
		def := f.def
		if f.by != nil {
			def = f.by.Def
		}
		acts[i].function = f
		if f.has > 0 {
			acts[i].alpha = take(&alpha, def[0], f, "alpha")
		}
		if f.has > 1 {
			acts[i].beta = take(&beta, def[1], f, "beta")
		}
	}
	return acts
}

func activationNames() string {
	var names []string
	for _, f := range activationTable {
		names = append(names, f.name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// activationRow returns the row of an activation, whose operand is limited to −clip … clip
// first, unless clip is 0. dst may be a.
func activationRow[T num.Float](v activation, clip T) func(dst, a []T) {
	row := plainActivation[T](v)
	if clip == 0 {
		return row
	}
	return func(dst, a []T) {
		for i, x := range a[:len(dst)] {
			if x > clip {
				x = clip
			} else if x < -clip {
				x = -clip
			}
			dst[i] = x
		}
		row(dst, dst)
	}
}

func plainActivation[T num.Float](v activation) func(dst, a []T) {
	f, alpha, beta := v.function, T(v.alpha), T(v.beta)
	row := scaledTanhRow[T]
	switch {
	case f.by != nil && !f.by.Rows.Numbers():
		return exec.As[func(dst, a []T)](f.by.Row(dtype.Of[T]()))
	case f.by != nil:
		row = exec.As[func(dst, a []T, p, q T)](f.by.Row(dtype.Of[T]()))
	case f.name == "Affine":
		row = affineRow[T]
	}
	return func(dst, a []T) { row(dst, a, alpha, beta) }
}

// affineRow defines the activation Affine.
func affineRow[T num.Float](dst, a []T, alpha, beta T) {
	for i, x := range a[:len(dst)] {
		dst[i] = T(alpha*x) + beta
	}
}

// scaledTanhRow defines the activation ScaledTanh.
func scaledTanhRow[T num.Float](dst, a []T, alpha, beta T) {
	for i, x := range a[:len(dst)] {
		dst[i] = beta * x
	}
	exec.As[func(dst, a []T)](tanh.Row(dtype.Of[T]()))(dst, dst)
	for i, x := range dst {
		dst[i] = alpha * x
	}
}

// ofDirection returns a context for the products of a step that keeps the bound on threads that ctx has, of which each
// direction takes its part; nil, with which a step allocates nothing, if there is none.
func ofDirection(ctx context.Context, directions int) context.Context {
	n := exec.Workers(ctx)
	if n == runtime.GOMAXPROCS(0) {
		return nil
	}
	return exec.WithThreads(context.Background(), max(1, n/directions))
}

// stateWeights is weights in products with m rows.
type stateWeights[T num.Float] struct {
	contract.Packed[T]
	name string
	ctx  context.Context // see ofDirection
	m    int

	dst, a []T // of the product at hand
	row    int // how long a row of dst is
	some   func(from, to int)
}

func (w *stateWeights[T]) of(name string, ctx context.Context, m int, p contract.Packed[T]) {
	w.name, w.ctx, w.m, w.Packed, w.some = name, ctx, m, p, w.panels
}

// times stores a · wᵀ in the rows of dst, which are so long.
func (w *stateWeights[T]) times(dst []T, row int, a []T) {
	count := w.Panels()
	if w.m == 0 || count == 0 {
		return
	}
	w.dst, w.row, w.a = dst, row, a
	exec.Split(w.name, w.ctx, count, w.m*w.K*w.N/(20*count), w.some)
}

func (w *stateWeights[T]) panels(from, to int) {
	w.Times(w.dst, w.row, w.a, w.K, 1, w.m, from, to)
}
