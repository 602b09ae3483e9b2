package chunk

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Reducing is how Reduce reduces.
type Reducing struct {
	Axes     []int   // nil: all; a negative one counts from the end. ArgMax and its like take one.
	KeepDims bool    // the reduced axes stay, with extent 1
	DDoF     int     // of Var and Std: the number subtracted from the count
	Last     bool    // of ArgMax and ArgMin: the last of equals, not the first
	Q        float64 // of Quantile: the part of the elements that is below, from 0 to 1
}

// How many chunks, and how many states of those, one task of a reduction joins. These decide the tree.
const (
	chunkFan = 8
	stateFan = 64
)

// Reduce returns a reduction over axes by its name in package op: ReduceSum, ReduceMean, ReduceMax,
// ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp, Var, Std, Ptp,
// ArgMax, ArgMin, Any, All, CountNonZero, and the forms that pass over NaN: NanSum, NanMean, NanMax,
// NanMin, NanArgMax, NanArgMin. Element types, NaN and empty axes are as there: integer sums and products wrap in their own
// type, where the sum and prod of Parse are 64 bits wide. The mean of 64-bit
// integers and reductions of complex numbers are refused, and so is Ptp of truth values. Median and Quantile, of floats of
// 16 bits and more, need the reduced axes within one chunk.
//
// The chunks along the axes are joined in a fixed tree: 8 at a time, and then 64 of their results at a time, in
// row-major order, from the first to the last.
func Reduce(name string, x Array, how Reducing) Array {
	ns, err := given("Reduce", x)
	if err != nil {
		return Array{err: err}
	}
	r, ok := reducers[name]
	if !ok {
		return Array{err: fail("Reduce", op.ErrUnsupported, "there is no reduction %.60q; there are %s", name, strings.Join(reducerNames(), ", "))}
	}
	return r.reduce(name, ns[0], ns[0].dtype, how)
}

// reduce is Reduce of elements that count as ones of type d.
func (r *reducer) reduce(name string, n *node, d dtype.DType, how Reducing) Array {
	result, err := r.result(name, d)
	if err != nil {
		return Array{err: err}
	}
	return fold(name, r, n, how, result, nil)
}

// trial is the number of elements that try reduces to one.
const trial = 64

// try reduces one element, and then some, and merges the state with itself. It notes the memory that this takes. A type that a merge
// or the finish doesn't take is an error of the plan, not of its run.
func (f *folded) try(n *node) error {
	of := func(length int) (int64, error) {
		shape := slices.Repeat([]int{1}, len(n.shape))
		if len(f.axes) > 0 {
			shape[f.axes[0]] = length
		}
		e := &evaluator{ctx: context.Background()}
		var block int64
		t, err := tensor.Make(n.dtype, shape...)
		switch {
		case err != nil:
			return 0, err
		case f.r.block == nil:
			t, err = f.r.whole(f, e, t)
		default:
			t, err = f.reduced(e, t, all(shape))
			block = e.most
			if err == nil {
				t, err = f.r.merge(f, e, t, t, length, length)
			}
			if err == nil {
				t, err = f.r.finish(f, e, t, 2*length)
			}
		}
		if err == nil && t.DType() != f.result {
			err = fmt.Errorf("a result of %v, where %v is meant", t.DType(), f.result)
		}
		return block + e.now, err
	}
	one, err := of(1)
	if err == nil {
		var some int64
		some, err = of(trial)
		f.each = (some - one + trial - 2) / (trial - 1)
		f.keeps = one
	}
	if err != nil {
		err = fail(f.name, op.ErrUnsupported, "elements of %v: %v", n.dtype, err)
	}
	return err
}

// fold returns the array of a reduction. shape is the shape of the result where that isn't the kept axes'.
func fold(name string, r *reducer, n *node, how Reducing, result dtype.DType, shape []int) Array {
	f := &folded{name: name, r: r, how: how, whole: n.shape, step: n.chunks, result: result, chunks: 1, per: 1, fan: chunkFan}
	var err error
	if f.axes, err = axesOf(name, how.Axes, len(n.shape)); err != nil {
		return Array{err: err}
	}
	if r.place && len(f.axes) != 1 {
		return Array{err: fail(name, tensor.ErrAxis, "%d axes; it takes one", len(f.axes))}
	}
	f.planes, f.acc = r.state(n.dtype)
	if !(how.Q >= 0 && how.Q <= 1) {
		return Array{err: fail(name, tensor.ErrValue, "Q is %v; it is a part, from 0 to 1", how.Q)}
	}
	for _, a := range f.axes {
		if r.place && n.shape[a] == 0 {
			return Array{err: fail(name, tensor.ErrShape, "axis %d of shape %v is empty", a, n.shape)}
		}
		g := max(1, ceil(n.shape[a], n.chunks[a]))
		if g > mostTasks*chunkFan/f.chunks {
			return Array{err: fail(name, ErrTasks, "the axes %v of an array of %v lie in more than %d chunks of %v; Rechunk it into larger ones", f.axes, n.shape, mostTasks*chunkFan, n.chunks)}
		}
		f.chunks *= g
	}
	if r.block == nil && f.chunks > 1 {
		return Array{err: fail(name, op.ErrUnsupported, "the axes %v lie in %d chunks of %v; it needs them in one: Rechunk first, or use Histogram", f.axes, f.chunks, n.chunks)}
	}
	for i := range n.shape {
		if !slices.Contains(f.axes, i) {
			f.kept = append(f.kept, i)
		}
	}
	if shape == nil {
		if err := f.try(n); err != nil {
			return Array{err: err}
		}
	} else { // a trial would count in all bins
		f.each, f.keeps = int64(f.acc.Size()), 6*bytesOf(f.acc, shape)
	}
	from := n
	for f.chunks > f.per*f.fan {
		part := *f
		part.partial = true
		shape := append([]int{f.planes, ceil(f.chunks, f.per*f.fan)}, gathered(n.shape, f.kept)...)
		chunks := append([]int{f.planes, 1}, gathered(n.chunks, f.kept)...)
		from = newNode(&part, f.acc, shape, chunks, from)
		f.per, f.fan = f.per*f.fan, stateFan
	}
	chunks := shape
	switch {
	case shape != nil:
	case how.KeepDims:
		shape, chunks = slices.Clone(n.shape), slices.Clone(n.chunks)
		for _, a := range f.axes {
			shape[a], chunks[a] = 1, 1
		}
	default:
		shape, chunks = gathered(n.shape, f.kept), gathered(n.chunks, f.kept)
	}
	return Array{n: newNode(f, result, shape, chunks, from)}
}

func axesOf(name string, axes []int, rank int) ([]int, error) {
	out := []int{} // to an operator nil is all axes
	if axes == nil {
		for i := range rank {
			out = append(out, i)
		}
	}
	for _, a := range axes {
		i := a
		if a < 0 {
			i += rank
		}
		if i < 0 || i >= rank || slices.Contains(out, i) {
			return nil, fail(name, tensor.ErrAxis, "axes %v of an array of rank %d; each is to be one of its axes, and named once", axes, rank)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out, nil
}

// folded is a step of a reduction. Its state is a tensor with an axis for the parts that the state consists
// of, planes, and the axes that are kept. A step with partial has states as its elements, for groups of
// chunks each; the last one has results.
type folded struct {
	name       string
	r          *reducer
	how        Reducing
	axes, kept []int // of the array that is reduced
	whole      []int // its shape
	step       []int // and chunks
	result     dtype.DType
	planes     int
	acc        dtype.DType // of the state
	chunks     int         // along the axes together
	per, fan   int         // how many of them an element of the operand stands for, and how many of these are joined
	partial    bool
	each       int64 // bytes that a block takes for an element
	keeps      int64 // bytes that a block, a merge and the finish take for an element of the result, together
}

func (f *folded) text() string {
	how := f.how
	how.Axes = f.axes
	return fmt.Sprintf("%s %+v %d %d %v", f.name, how, f.per, f.fan, f.partial)
}

// first reports whether the operand is the array that is reduced, not states.
func (f *folded) first() bool { return f.per == 1 }

// block returns the part of the reduced array that chunk k of the reduced axes and a part of the kept ones hold.
func (f *folded) block(k int, kept box) box {
	b := newBox(len(f.whole))
	for i, a := range f.kept {
		b.from[a], b.to[a] = kept.from[i], kept.to[i]
	}
	for i := len(f.axes) - 1; i >= 0; i-- {
		a := f.axes[i]
		g := max(1, ceil(f.whole[a], f.step[a]))
		b.from[a] = k % g * f.step[a]
		b.to[a] = min(b.from[a]+f.step[a], f.whole[a])
		k /= g
	}
	return b
}

// count returns how many elements the first k chunks of the reduced axes have for one of the result.
func (f *folded) count(k int) int {
	inner := 1 // elements of all axes after a
	total, grid := 0, 1
	for i := len(f.axes) - 1; i >= 0; i-- {
		a := f.axes[i]
		g := max(1, ceil(f.whole[a], f.step[a]))
		d := k / grid % g
		if i == 0 {
			d = k / grid
		}
		// The chunks of later axes that total counts have the width of chunk d on this one.
		width := min(f.step[a], f.whole[a]-min(f.whole[a], d*f.step[a]))
		total = total*width + min(d*f.step[a], f.whole[a])*inner
		inner *= f.whole[a]
		grid *= g
	}
	if len(f.axes) == 0 {
		return k
	}
	return total
}

// fold returns the state of the elements of a group: of chunks, or of states.
func (f *folded) fold(e *evaluator, from *node, group int, kept box) (tensor.Any, int, error) {
	lo, hi := group*f.fan, min((group+1)*f.fan, ceil(f.chunks, f.per))
	mark := len(e.held)
	var state tensor.Any
	n := 0
	for k := lo; k < hi; k++ {
		var s tensor.Any
		var err error
		if f.first() {
			b := f.block(k, kept)
			s, err = e.eval(from, b)
			if err == nil {
				s, err = f.reduced(e, s, b)
			}
		} else {
			b := box{append([]int{0, k}, kept.from...), append([]int{f.planes, k + 1}, kept.to...)}
			s, err = e.eval(from, b)
			if err == nil {
				s, err = tensor.Reshape(s, append([]int{f.planes}, kept.shape()...)...)
			}
		}
		m := f.count(min(f.chunks, (k+1)*f.per)) - f.count(k*f.per)
		if err == nil && k > lo {
			s, err = f.r.merge(f, e, state, s, n, m)
		}
		if err != nil {
			return s, 0, err
		}
		state, n = s, n+m
		e.release(mark, state)
	}
	return state, n, nil
}

func (f *folded) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	if f.partial {
		out, err := tensor.Make(f.acc, b.shape()...)
		if err != nil {
			return out, err
		}
		e.own(out)
		kept := box{b.from[2:], b.to[2:]}
		for g := b.from[1]; g < b.to[1]; g++ {
			mark := len(e.held)
			s, _, err := f.fold(e, n.in[0], g, kept)
			if err == nil {
				s, err = box{b.from[:1], b.to[:1]}.of(s)
			}
			var dst tensor.Any
			if err == nil {
				dst, err = tensor.Slice(out, tensor.R(0, b.to[0]-b.from[0]), tensor.I(g-b.from[1]))
			}
			if err == nil {
				err = tensor.Copy(dst, s)
			}
			if err != nil {
				return out, err
			}
			e.release(mark, tensor.Any{})
		}
		return out, nil
	}
	kept := newBox(len(f.kept))
	for i, a := range f.kept {
		k := i
		if f.how.KeepDims {
			k = a
		}
		kept.from[i], kept.to[i] = b.from[k], b.to[k]
	}
	mark := len(e.held)
	var r tensor.Any
	var err error
	if f.r.block == nil {
		if r, err = e.eval(n.in[0], f.block(0, kept)); err == nil {
			r, err = f.r.whole(f, e, r)
		}
	} else {
		var count int
		if r, count, err = f.fold(e, n.in[0], 0, kept); err == nil {
			r, err = f.r.finish(f, e, r, count)
		}
	}
	if err == nil {
		r, err = tensor.Reshape(r, b.shape()...)
	}
	if err != nil {
		return r, err
	}
	e.release(mark, r)
	return r, nil
}

func (f *folded) cost(n *node, b box) cost {
	kept, groups := newBox(len(f.kept)), 1
	c := cost{size: bytesOf(n.dtype, b.shape())}
	first := 0
	if f.partial {
		kept = box{b.from[2:], b.to[2:]}
		first, groups = b.from[1], b.to[1]-b.from[1]
	} else {
		for i, a := range f.kept {
			k := i
			if f.how.KeepDims {
				k = a
			}
			kept.from[i], kept.to[i] = b.from[k], b.to[k]
		}
	}
	state := times(bytesOf(f.acc, kept.shape()), int64(f.planes))
	var one cost
	for k := first * f.fan; k < min((first+groups)*f.fan, ceil(f.chunks, f.per)); k++ {
		part := f.block(k, kept)
		if !f.first() {
			part = box{append([]int{0, k}, kept.from...), append([]int{f.planes, k + 1}, kept.to...)}
		}
		in := n.in[0].kind.cost(n.in[0], part)
		one.peak, one.read = max(one.peak, plus(in.peak, f.working(n.in[0].dtype, part))), plus(one.read, in.read)
	}
	c.read = one.read
	if f.r.block == nil { // it collects the elements
		wide := f.acc
		if wide.Size() < 4 {
			wide = dtype.Float32
		}
		one.peak = plus(one.peak, times(3, bytesOf(wide, f.block(0, kept).shape())))
	}
	c.peak = plus(plus(one.peak, plus(times(2, state), times(f.keeps, bytesOf(dtype.Uint8, kept.shape())))), c.size)
	return c
}

// working returns the bytes that a part takes as it is reduced to a state: one of its pieces, and the states of first halves.
func (f *folded) working(d dtype.DType, part box) int64 {
	n := bytesOf(dtype.Uint8, part.shape())
	switch {
	case !f.first():
		return 0
	case f.r.wide == nil, f.r.wide(d) == d, n <= pieceLen:
		return times(f.each, n)
	}
	state := times(bytesOf(f.acc, gathered(part.shape(), f.kept)), int64(f.planes))
	return plus(times(f.each, pieceLen), times(int64(bits.Len64(uint64(n/pieceLen))+len(f.whole)), state))
}
