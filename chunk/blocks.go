package chunk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Block is the argument of the function of MapBlocks besides the chunks.
type Block struct {
	Index []int // of the chunk, along each axis
	From  []int // where the result's part begins
	Shape []int // that the result's part must have
}

// Blocks describes the result of MapBlocks.
type Blocks struct {
	Name    string      // of the function, with all that decides its results: it is a part of the plan's identity
	DType   dtype.DType // of the result; dtype.Invalid: of the first operand
	Shape   []int       // of the result; nil: of the first operand
	Chunks  []int       // of the result; nil: of the first operand
	Scratch int64       // the most bytes that the function takes besides its operands and its result
}

// MapBlocks returns the array whose chunks are the results of a function of Go on chunks of others. The operands
// have as many chunks along each axis as the result, or one, which all chunks of the result get. The function must
// depend on its arguments alone, and may be called several times at once, for one chunk also more than once;
// it must not change the operands, nor close them. It may return one. Its panic, and its runtime.Goexit, are errors of the task.
func MapBlocks(f func(ctx context.Context, at Block, in []tensor.Any) (tensor.Any, error), how Blocks, in ...Array) Array {
	ns, err := given("MapBlocks", in...)
	switch {
	case err != nil:
		return Array{err: err}
	case f == nil || how.Name == "" || len(ns) == 0:
		return Array{err: fail("MapBlocks", tensor.ErrValue, "it needs a function, its name, and an array")}
	}
	k := &blocks{how, f}
	d, shape, chunks := how.DType, how.Shape, how.Chunks
	if d == dtype.Invalid {
		d = ns[0].dtype
	}
	if shape == nil {
		shape = ns[0].shape
	}
	if chunks == nil {
		chunks = ns[0].chunks
	}
	if len(chunks) != len(shape) || slices.ContainsFunc(chunks, func(c int) bool { return c < 1 }) || slices.ContainsFunc(shape, func(e int) bool { return e < 0 }) {
		return Array{err: fail("MapBlocks", tensor.ErrShape, "a result of shape %v in chunks of %v", shape, chunks)}
	}
	n := newNode(k, d, slices.Clone(shape), chunks, ns...)
	for i, m := range ns {
		bad := len(m.shape) != len(shape)
		for a := range m.shape {
			bad = bad || ceil(m.shape[a], m.chunks[a]) != 1 && ceil(m.shape[a], m.chunks[a]) != ceil(n.shape[a], n.chunks[a])
		}
		if bad {
			return Array{err: fail("MapBlocks", tensor.ErrShape, "operand %d has shape %v in chunks of %v, the result %v of %v: along each axis it must have as many chunks, or one; Rechunk it", i, m.shape, m.chunks, n.shape, n.chunks)}
		}
	}
	return Array{n: n}
}

// blocks is the results of a function on chunks.
type blocks struct {
	how Blocks
	f   func(ctx context.Context, at Block, in []tensor.Any) (tensor.Any, error)
}

func (k *blocks) text() string { return fmt.Sprintf("MapBlocks %q", k.how.Name) }

func (k *blocks) barrier() bool { return true }

// each calls f for the chunks that a part meets: with the index, the box of the chunk, and the boxes of the operands.
func (k *blocks) each(n *node, b box, f func(index []int, whole box, in []box) error) error {
	s := &stage{node: n}
	return s.chunks(b, func(index []int) error {
		whole := chunkBox(n, index)
		in := make([]box, len(n.in))
		for i, m := range n.in {
			at := slices.Clone(index)
			for a := range at {
				if m.shape[a] <= m.chunks[a] {
					at[a] = 0
				}
			}
			in[i] = chunkBox(m, at)
		}
		return f(index, whole, in)
	})
}

func chunkBox(n *node, index []int) box {
	b := newBox(len(index))
	for a, i := range index {
		b.from[a] = i * n.chunks[a]
		b.to[a] = min(b.from[a]+n.chunks[a], n.shape[a])
	}
	return b
}

func (k *blocks) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	var out tensor.Any
	err := k.each(n, b, func(index []int, whole box, from []box) error {
		mark := len(e.held)
		in := make([]tensor.Any, len(from))
		for i := range from {
			var err error
			if in[i], err = e.eval(n.in[i], from[i]); err != nil {
				return err
			}
		}
		t, err := k.f(e.ctx, Block{slices.Clone(index), slices.Clone(whole.from), whole.shape()}, in)
		if err != nil {
			return fmt.Errorf("%s at chunk %v: %w", k.how.Name, index, err)
		}
		for i := range in {
			if in[i].Closed() {
				return fmt.Errorf("%s at chunk %v: %w: it closed operand %d, which isn't its own; leave it open", k.how.Name, index, tensor.ErrClosed, i)
			}
		}
		if t.Closed() {
			return fmt.Errorf("%s at chunk %v: %w: it returned a tensor that it had closed", k.how.Name, index, tensor.ErrClosed)
		}
		if t.IsZero() || t.IsSpec() || t.DType() != n.dtype || !slices.Equal(t.Shape(), whole.shape()) {
			got := "nothing"
			if !t.IsZero() {
				got = tensor.Describe(t)
			}
			return fmt.Errorf("%s at chunk %v returned %s, not %s", k.how.Name, index, got, described(n.dtype, whole.shape()))
		}
		if whole.key() == b.key() {
			out = t // it may share elements with an operand, which then stays
			e.release(mark, out)
			return nil
		}
		if out.IsZero() {
			if out, err = tensor.Make(n.dtype, b.shape()...); err != nil {
				return err
			}
			e.held = slices.Insert(e.held, mark, out)
			mark++
		}
		cut, to := newBox(len(b.from)), newBox(len(b.from))
		for a := range b.from {
			lo, hi := max(b.from[a], whole.from[a]), min(b.to[a], whole.to[a])
			cut.from[a], cut.to[a] = lo-whole.from[a], hi-whole.from[a]
			to.from[a], to.to[a] = lo-b.from[a], hi-b.from[a]
		}
		src, err := cut.of(t)
		if err != nil {
			return err
		}
		dst, err := to.of(out)
		if err == nil {
			err = tensor.Copy(dst, src)
		}
		e.release(mark, tensor.Any{})
		return err
	})
	if err == nil && out.IsZero() {
		return tensor.Make(n.dtype, b.shape()...)
	}
	return out, err
}

// described is an element type and a shape as tensor.Describe has them.
func described(d dtype.DType, shape []int) string {
	s, err := tensor.NewSpec(d, shape...)
	if err != nil {
		return err.Error()
	}
	return tensor.Describe(s.Any())
}

func (k *blocks) cost(n *node, b box) cost {
	c := cost{size: bytesOf(n.dtype, b.shape())}
	k.each(n, b, func(_ []int, whole box, from []box) error {
		var held, peak int64
		for i, in := range n.in {
			one := in.kind.cost(in, from[i])
			peak = max(peak, plus(held, one.peak))
			held = plus(held, one.size)
			c.read = plus(c.read, one.read)
		}
		c.peak = max(c.peak, plus(c.size, max(peak, plus(plus(held, bytesOf(n.dtype, whole.shape())), k.how.Scratch))))
		return nil
	})
	return c
}

// Histogram counts the elements in bins of equal width from low to high, as op.Histogram does. The last bin holds high
// itself; values outside, and NaN, aren't counted. The result is a vector of int64.
func Histogram(x Array, bins int, low, high float64) Array {
	ns, err := given("Histogram", x)
	if err != nil {
		return Array{err: err}
	}
	return counted(ns[0], bins, low, high, 0)
}

// counted is Histogram, with nans, which is 0 or 1, more elements: the number of NaNs.
func counted(n *node, bins int, low, high float64, nans int) Array {
	switch {
	case bins < 1 || bins > 1<<30 || !(low < high) || math.IsInf(high-low, 0):
		return Array{err: fail("Histogram", tensor.ErrValue, "%d bins from %v to %v; it takes 1 to 2^30 bins of a finite width above 0", bins, low, high)}
	case !named("ReduceMax").Supports(n.dtype) || n.dtype == dtype.Bool:
		return Array{err: fail("Histogram", op.ErrUnsupported, "elements of %v; Cast them first", n.dtype)}
	}
	r := &reducer{wide: func(dtype.DType) dtype.DType { return dtype.Float64 }, state: kindOf(bins+nans, dtype.Int64), merge: with("Add"),
		block: func(f *folded, e *evaluator, t tensor.Any, _ int) (c tensor.Any, err error) {
			err = tensor.Try(func() {
				x, _ := tensor.As[float64](t)
				n, _ := op.Histogram(x, bins, low, high)
				if c = n.Any(); nans > 0 {
					var nan int64
					for v := range x.Values() {
						if v != v {
							nan++
						}
					}
					c = tensor.FromSlice(append(slices.Collect(n.Values()), nan), bins+1).Any()
				}
			})
			return c, err
		},
		finish: func(f *folded, e *evaluator, s tensor.Any, _ int) (tensor.Any, error) { return s, nil }}
	name := fmt.Sprintf("%s %d bins from %v to %v", histogramOf, bins, low, high)
	if nans > 0 {
		name += ", and NaN"
	}
	return fold(name, r, n, Reducing{}, dtype.Int64, []int{bins + nans})
}

const histogramOf = "Histogram of"

// Percentile estimates percentiles by a Histogram from low to high, for percentages from 0 to 100. Within a bin it takes
// elements as evenly spread, so the error is at most the width of a bin. The result is a vector of float64, NaN where the
// histogram is empty. Of the result of Histogram it is NaN if an element is NaN, as NumPy's, and otherwise an
// error of the run if an element lies outside of the range. Of other counts it can't tell, and gives the percentiles of the counted elements.
func Percentile(histogram Array, low, high float64, percentages ...float64) Array {
	ns, err := given("Percentile", histogram)
	if err != nil {
		return Array{err: err}
	}
	h := ns[0]
	if h.dtype != dtype.Int64 || len(h.shape) != 1 || h.chunks[0] < h.shape[0] || !(low < high) || len(percentages) == 0 ||
		slices.ContainsFunc(percentages, func(p float64) bool { return !(p >= 0 && p <= 100) }) {
		return Array{err: fail("Percentile", tensor.ErrValue, "%v of %v from %v to %v; it takes percentages from 0 to 100 of a Histogram", percentages, histogram, low, high)}
	}
	bins, all := h.shape[0], int64(-1) // how many elements there are, if that is known
	if f, ok := h.kind.(*folded); ok && strings.HasPrefix(f.name, histogramOf) {
		all = bytesOf(dtype.Uint8, f.whole)
		for ok {
			h = h.in[0]
			f, ok = h.kind.(*folded)
			ok = ok && f.partial
		}
		histogram = counted(h, bins, low, high, 1)
	}
	f := func(_ context.Context, _ Block, in []tensor.Any) (tensor.Any, error) {
		counts := tensor.ValuesOf[int64](in[0])
		var total, nan int64
		i := 0
		for c := range counts {
			if i++; i > bins {
				nan = c
			} else {
				total += c
			}
		}
		if nan == 0 && all > total {
			return tensor.Any{}, fail("Percentile", tensor.ErrValue, "%d of %d elements lie outside of the range from %v to %v; take one that holds all, from their min to their max", all-total, all, low, high)
		}
		out := make([]float64, len(percentages))
		width := (high - low) / float64(bins)
		for i, p := range percentages {
			if out[i] = math.NaN(); nan > 0 {
				continue
			}
			want, below, bin := p/100*float64(total), 0.0, 0
			for c := range counts {
				if c > 0 && below+float64(c) >= want {
					out[i] = low + float64(width*(float64(bin)+(want-below)/float64(c)))
					break
				}
				below += float64(c)
				bin++
			}
		}
		return tensor.FromSlice(out, len(out)).Any(), nil
	}
	return MapBlocks(f, Blocks{Name: fmt.Sprintf("Percentile %v from %v to %v", percentages, low, high), DType: dtype.Float64, Shape: []int{len(percentages)}, Chunks: []int{len(percentages)}}, histogram)
}
