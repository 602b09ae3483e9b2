package op

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// KeepDims leaves the reduced axes in the result, with extent 1.
func KeepDims() Option { return Option{flags: keepDims} }

// axes is which axes of an operand a reduction runs over.
type axes struct {
	kept, gone layout.Layout // the axes that stay and those that go, each in the operand's order
	shape      []int         // of the result
}

// reduced sorts out the axes of a reduction; nil means all.
func reduced(name string, lay *layout.Layout, list []int, keepDims bool) axes {
	rank := lay.Rank()
	gone := make([]bool, rank)
	for _, a := range list {
		i := axisOf(name, a, rank)
		if gone[i] {
			panic(fail(name, tensor.ErrAxis, "axis %d is named twice in %v", a, slices.Clone(list)))
		}
		gone[i] = true
	}
	var x axes
	idx, xdi := make([]tensor.Index, rank), make([]tensor.Index, rank)
	for i := range rank {
		if list == nil || gone[i] {
			idx[i], xdi[i] = tensor.I(0), tensor.Colon
			if lay.Dim(i) == 0 { // an empty axis has no first element to stand at
				idx[i] = tensor.R(0, 0)
			}
			if keepDims {
				x.shape = append(x.shape, 1)
			}
			continue
		}
		idx[i], xdi[i] = tensor.Colon, tensor.I(0)
		if lay.Dim(i) == 0 {
			xdi[i] = tensor.R(0, 0)
		}
		x.shape = append(x.shape, lay.Dim(i))
	}
	x.kept, _, _ = lay.Slice(idx...) // whole axes and first elements always slice
	x.gone, _, _ = lay.Slice(xdi...)
	return x
}

// sequence enumerates the elements that go into one output, in the row-major
// order of the reduced axes in the operand's order, whatever the memory.
type sequence struct {
	ext, str []int // the loops, fastest first; at least one
	n        int
}

func sequenceOf(lay *layout.Layout) sequence {
	s := sequence{n: lay.Size()}
	if s.n > 0 {
		s.ext, s.str = lay.Runs()
	}
	if len(s.ext) == 0 {
		s.ext, s.str = []int{s.n}, []int{1}
	}
	return s
}

// offset returns where element i is, counted from the first.
func (s *sequence) offset(i int) int {
	off := 0
	for k, e := range s.ext {
		off += i % e * s.str[k]
		i /= e
	}
	return off
}

// gather copies elements [from, from+len(dst)) of the sequence that starts at base.
func gather[T num.Elem](s *sequence, dst, data []T, base, from int) {
	e, step := s.ext[0], s.str[0]
	for len(dst) > 0 {
		in := from % e
		n := min(e-in, len(dst))
		conv.Pack(dst[:n], data, conv.Block{Off: base + s.offset(from), Rows: 1, Cols: n, Col: step})
		dst, from = dst[n:], from+n
	}
}

const (
	foldLen   = 4096 // elements a folder sees at once: a block of the sum rule
	foldGroup = 16   // outputs reduced side by side where their elements are neighbours
	foldPiece = 256  // elements of each that are gathered at a time
)

// folder takes in a sequence piece by piece and gives its result. A piece is
// always a multiple of 32 long, but for the last of a block of 4096.
type folder[T, R num.Elem] interface {
	start()
	take(x []T)
	result() R
}

// fold reduces each sequence of a to one element of dst. It makes a folder per
// output it works on at a time, with fresh.
func fold[T, R num.Elem](j job, a tensor.Tensor[T], x axes, dst tensor.Tensor[R], fresh func() folder[T, R]) {
	data, base := a.Data()
	out, at := dst.Mutable()
	seq := sequenceOf(&x.gone)
	dl := dst.Layout()
	n := dl.Size()
	if seq.n == 0 {
		x.kept = dl // there is nothing to read, and results to write all the same
	}
	outs := outputs{kept: sequenceOf(&x.kept), dst: sequenceOf(&dl)}
	group := 1
	if seq.str[0] != 1 && seq.n > 1 && outs.kept.str[0] == 1 {
		group = min(foldGroup, outs.kept.ext[0])
	}
	per := (n + group - 1) / group
	split(j.name, j.ctx, per, max(1, seq.n)*group*j.cost, func(from, to int) {
		folders := make([]folder[T, R], group)
		for i := range folders {
			folders[i] = fresh()
		}
		tile := make([]T, max(foldLen, foldGroup*foldPiece))
		for o := from * group; o < min(to*group, n); {
			first := base + outs.kept.offset(o)
			g := min(group, n-o)
			if group > 1 { // outputs that are neighbours in memory, up to the end of their run
				g = min(g, outs.kept.ext[0]-o%outs.kept.ext[0], to*group-o)
			}
			for i := range g {
				folders[i].start()
			}
			for more := true; more; more = again(folders[:g]) {
				if g == 1 {
					foldOne(folders[0], &seq, data, first, tile)
				} else {
					foldGroups(folders[:g], &seq, data, first, tile)
				}
			}
			for i := range g {
				out[at+outs.dst.offset(o+i)] = folders[i].result()
			}
			o += g
		}
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
}

type outputs struct{ kept, dst sequence }

// A repeater is a folder that may want to see its sequence again from the start:
// again says so once all of it has been taken.
type repeater interface{ again() bool }

// again asks each of some folders of one kind.
func again[T, R num.Elem](fs []folder[T, R]) (more bool) {
	for _, f := range fs {
		if p, ok := f.(repeater); ok {
			more = p.again() || more
		}
	}
	return more
}

// foldOne feeds one sequence, straight from memory where it is a run.
func foldOne[T, R num.Elem](f folder[T, R], s *sequence, data []T, base int, tile []T) {
	for i := 0; i < s.n; i += foldLen {
		n := min(foldLen, s.n-i)
		if len(s.ext) == 1 && s.str[0] == 1 {
			f.take(data[base+i : base+i+n])
			continue
		}
		gather(s, tile[:n], data, base, i)
		f.take(tile[:n])
	}
}

// foldGroups feeds neighbouring sequences side by side: a strip of foldPiece
// elements of each is transposed at a time, so that cache lines are used up.
func foldGroups[T, R num.Elem](fs []folder[T, R], s *sequence, data []T, base int, tile []T) {
	e, step := s.ext[0], s.str[0]
	for i := 0; i < s.n; i += foldPiece {
		n := min(foldPiece, s.n-i)
		for done := 0; done < n; {
			in := (i + done) % e
			m := min(e-in, n-done)
			conv.Copy2(tile, data, conv.Block{Off: done, Rows: m, Row: 1, Cols: len(fs), Col: foldPiece},
				conv.Block{Off: base + s.offset(i+done), Rows: m, Row: step, Cols: len(fs), Col: 1})
			done += m
		}
		for g, f := range fs {
			f.take(tile[g*foldPiece : g*foldPiece+n])
		}
	}
}

// rounded is a folder over a float type T that is computed from C in float64 and
// rounded once. NaNs come out canonical.
type rounded[T, C num.Elem] struct {
	folder[C, float64]
	widen func([]C, []T) // nil when T is C
	wide  []C
	round func(float64) T
}

func (f *rounded[T, C]) take(x []T) {
	if f.widen == nil {
		f.folder.take(conv.As[C](x))
		return
	}
	if f.wide == nil {
		f.wide = make([]C, foldLen)
	}
	f.widen(f.wide[:len(x)], x)
	f.folder.take(f.wide[:len(x)])
}

func (f *rounded[T, C]) again() bool {
	p, ok := f.folder.(repeater)
	return ok && p.again()
}

func (f *rounded[T, C]) result() T {
	r := [1]T{f.round(f.folder.result())}
	canonicalRow(r[:])
	return r[0]
}

// floatFolder makes the folder over a float type T from those of float32 and
// float64.
func floatFolder[T num.Elem](f32 func() folder[float32, float64], f64 func() folder[float64, float64]) folder[T, T] {
	if dtype.Of[T]() == dtype.Float64 {
		return &rounded[T, float64]{folder: f64(), round: rounding[T]()}
	}
	return &rounded[T, float32]{folder: f32(), round: rounding[T](), widen: widenOf[T]()}
}

// reduceTo reduces a with the folders that fresh makes.
func reduceTo[T, R num.Elem](name string, a tensor.Tensor[T], list []int, opts []Option, fresh func() folder[T, R]) tensor.Tensor[R] {
	return reduceBy(name, a, list, opts, fresh, nil)
}

// reduceBy is reduceTo that lets rows, if it isn't nil and can, do it instead.
func reduceBy[T, R num.Elem](name string, a tensor.Tensor[T], list []int, opts []Option, fresh func() folder[T, R],
	rows func(j job, a *tensor.Tensor[T], x *axes, dst *tensor.Tensor[R]) bool) tensor.Tensor[R] {
	s := read(opts)
	s.keepDims = s.keepDims || s.orion && keepsVectors(name) && a.Rank() == 1
	x := reduced(name, a.LayoutRef(), list, s.keepDims)
	dst := target[R](name, &s, x.shape)
	if conv.Overlap(reach(&a), reach(&dst)) {
		a = a.Clone()
		x = reduced(name, a.LayoutRef(), list, s.keepDims) // the clone is dense, a may not have been
	}
	j := job{name: name, ctx: s.ctx(), cost: 1}
	if rows == nil || !rows(j, &a, &x, &dst) {
		fold(j, a, x, dst, fresh)
	}
	return dst
}

// reduceArgs reads the axes of a reduction: an attribute before the opset that
// made them an input. No axes means all, unless noop_with_empty_axes.
func reduceArgs(name string, c *Call, inputSince int) (axes []int, opts []Option) {
	axes, _ = axesArg(name, c, inputSince)
	if len(axes) == 0 {
		axes = nil
		if c.Opset >= inputSince && c.Attrs.Int("noop_with_empty_axes", 0) != 0 {
			axes = []int{}
		}
	}
	opts = options(c)
	if c.Attrs.Int("keepdims", 1) != 0 {
		opts = append(opts, KeepDims())
	}
	return axes, opts
}

// inferReduce describes the result of a reduction.
func inferReduce(name string, c *Call, inputSince int) []tensor.Any {
	axes, _ := reduceArgs(name, c, inputSince)
	lay := c.in(0).Layout()
	x := reduced(name, &lay, axes, c.Attrs.Int("keepdims", 1) != 0)
	return one(spec(name, c.in(0).DType(), x.shape...))
}
