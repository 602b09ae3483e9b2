package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GridSampleOptions says how GridSample reads between and beside elements. The zero value of
// a field is ONNX's default; the names are ONNX's.
type GridSampleOptions struct {
	Mode         string // linear, nearest or cubic
	Padding      string // zeros, border or reflection
	AlignCorners bool   // −1 and 1 are the centres of the first and the last element, not their outer edges
}

// GridSample returns a read at the points of grid. a has the shape (n, c, axes...),
// grid (n, out..., r) with r the number of those axes, and the result (n, c, out...).
// A point has a number for each axis, the last axis first, from −1 at the beginning
// to 1 at the end. It is computed in float64, from the first axis's neighbours
// inwards, in increasing position and without fused steps, and rounded once; integers
// to the nearest, even on a tie, and saturating. A neighbour outside is 0, the border or
// its reflection; also of a point that lies outside, cubic takes the four around it. A
// neighbour of weight 0 isn't looked at. A point with a NaN gives NaN, of integers 0. It panics when the shapes don't
// fit, and for modes it doesn't know. ONNX GridSample; PyTorch grid_sample.
func GridSample[T num.Native | num.Narrow, G num.Floating](a tensor.Tensor[T], grid tensor.Tensor[G], o GridSampleOptions, opts ...Option) (r tensor.Tensor[T]) {
	sampled(a.Any(), grid.Any(), o).Into(exec.Ref(&r), opts)
	return r
}

func sampled(a, grid tensor.Any, how GridSampleOptions) *move.Transfer {
	const name = "GridSample"
	plan.Present(name, &a, &grid)
	how.Mode, how.Padding = orElse(how.Mode, "linear"), orElse(how.Padding, "zeros")
	plan.OneOf(name, "mode", how.Mode, "linear", "nearest", "cubic")
	plan.OneOf(name, "padding mode", how.Padding, "zeros", "border", "reflection")
	rank := a.Rank() - 2
	if rank < 1 || grid.Rank() != a.Rank() || grid.Dim(0) != a.Dim(0) || grid.Dim(-1) != rank {
		panic(plan.Fail(name, tensor.ErrShape, "%s at the points %s; want (n, c, axes...) and (n, out..., number of axes)", tensor.Describe(a), tensor.Describe(grid)))
	}
	if !plan.Floats.Has(grid.DType()) {
		panic(plan.Fail(name, tensor.ErrDType, "the points hold %v, want floats", grid.DType()))
	}
	shape := a.Shape()
	out := append([]int{shape[0], shape[1]}, grid.Shape()[1:grid.Rank()-1]...)
	m := &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a, grid}}
	blocksOf(&m.Price, m.In)
	m.Fill = func(ctx context.Context, dst move.Words, in []move.Words) {
		g := sampler{grid: move.NumericOf(in[1]), how: how, axes: shape[2:], steps: move.Steps(shape[2:]), nearest: how.Mode == "nearest", linear: how.Mode == "linear"}
		to, channels, points := move.NumericOf(dst), shape[1], plan.Elements(out[2:])
		switch of := in[0].Of; a.DType() {
		case dtype.Float32:
			sampleFrom(ctx, to, move.ElemsOf[float32](of), channels, points, g)
		case dtype.Float64:
			sampleFrom(ctx, to, move.ElemsOf[float64](of), channels, points, g)
		case dtype.Int8:
			sampleFrom(ctx, to, move.ElemsOf[int8](of), channels, points, g)
		case dtype.Uint8:
			sampleFrom(ctx, to, move.ElemsOf[uint8](of), channels, points, g)
		case dtype.Int16:
			sampleFrom(ctx, to, move.ElemsOf[int16](of), channels, points, g)
		case dtype.Uint16:
			sampleFrom(ctx, to, move.ElemsOf[uint16](of), channels, points, g)
		case dtype.Int32:
			sampleFrom(ctx, to, move.ElemsOf[int32](of), channels, points, g)
		case dtype.Uint32:
			sampleFrom(ctx, to, move.ElemsOf[uint32](of), channels, points, g)
		case dtype.Int64:
			sampleFrom(ctx, to, move.ElemsOf[int64](of), channels, points, g)
		case dtype.Uint64:
			sampleFrom(ctx, to, move.ElemsOf[uint64](of), channels, points, g)
		default:
			wide := inSingle(name, of)
			defer wide.Close()
			sampleFrom(ctx, to, move.ElemsOf[float32](&wide), channels, points, g)
		}
	}
	return m
}

// sampledBlock is how many points find their neighbours before their elements are read, channel after channel.
const sampledBlock = 64

// sampleFrom reads the channels of items, a plane of elements each, at the points of each item's grid.
func sampleFrom[T num.Native](ctx context.Context, to move.Numeric, a []T, channels, points int, g sampler) {
	rank, area := len(g.axes), plan.Elements(g.axes)
	exec.Split("GridSample", ctx, g.grid.Len()/rank, 20*channels<<rank, func(from, till int) {
		near, at := make([]nearby, sampledBlock*rank), make([]float64, sampledBlock*rank)
		var v [sampledBlock]float64
		for from < till {
			item, first := from/points, from%points
			n := min(sampledBlock, till-from, points-first)
			g.grid.Floats(at[:n*rank], from*rank)
			for i := range n {
				g.aim(near[i*rank:(i+1)*rank], at[i*rank:])
			}
			for plane := item * channels; plane < (item+1)*channels; plane++ {
				src := a[plane*area : (plane+1)*area]
				for i := range v[:n] {
					v[i] = readAt(src, near[i*rank:(i+1)*rank])
				}
				to.SetReals(plane*points+first, v[:n])
			}
			from += n
		}
	})
}

// A nearby has the neighbours of a point along one axis: n of them, the elements before each, and their weights. n is negative for a point that has
// a NaN.
type nearby struct {
	n      int
	at     [4]int
	weight [4]float64
}

// readAt returns the sum over the neighbours on the first axis and those after it.
func readAt[T num.Native](src []T, near []nearby) float64 {
	x := &near[0]
	switch {
	case x.n < 0:
		return math.NaN()
	case len(near) == 2 && x.n == 2 && near[1].n == 2: // the sums below, written out
		y := &near[1]
		upper, lower := src[x.at[0]:], src[x.at[1]:]
		l, r := y.at[0], y.at[1]
		first := 0 + float64(y.weight[0]*float64(upper[l])) + float64(y.weight[1]*float64(upper[r]))
		second := 0 + float64(y.weight[0]*float64(lower[l])) + float64(y.weight[1]*float64(lower[r]))
		return 0 + float64(x.weight[0]*first) + float64(x.weight[1]*second)
	}
	if len(near) == 2 && x.n == 1 && near[1].n == 1 {
		return 0 + float64(x.weight[0]*(0+float64(near[1].weight[0]*float64(src[x.at[0]+near[1].at[0]]))))
	}
	acc := 0.0
	for k, at := range x.at[:x.n] {
		v := 0.0
		switch len(near) {
		case 1:
			v = float64(src[at])
		case 2:
			y, row := &near[1], src[at:]
			for j, i := range y.at[:y.n] {
				v += float64(y.weight[j] * float64(row[i]))
			}
		default:
			v = readAt(src[at:], near[1:])
		}
		acc += float64(x.weight[k] * v)
	}
	return acc
}

type sampler struct {
	grid  move.Numeric
	how   GridSampleOptions
	axes  []int
	steps []int // between the elements of each axis

	nearest, linear bool
}

// aim finds the neighbours of a point, whose numbers begin with that of the last axis.
func (s *sampler) aim(near []nearby, point []float64) {
	for i, n := range s.axes {
		v, t := point[len(s.axes)-1-i], &near[i]
		if v != v {
			near[0].n = -1
			return
		}
		low, high := -0.5, float64(n)-0.5
		at := (float64((v+1)*float64(n)) - 1) / 2
		if s.how.AlignCorners {
			low, high = 0, float64(n-1)
			at = float64((v+1)/2) * float64(n-1)
		}
		switch {
		case s.nearest:
			if at = math.RoundToEven(at); at >= 0 && at < float64(n) {
				t.n, t.at[0], t.weight[0] = 1, int(at)*s.steps[i], 1
				continue
			}
		case s.linear: // between two elements
			if base := math.Floor(at); base >= 0 && base < float64(n-1) && at != base {
				t.n, t.at[0], t.weight[0] = 2, int(base)*s.steps[i], 1-(at-base)
				t.at[1], t.weight[1] = t.at[0]+s.steps[i], at-base
				continue
			}
		}
		if at < low || at > high {
			switch {
			case s.how.Padding == "border" && s.how.Mode == "cubic": // from there on all neighbours are the border
				at = max(-1, min(at, float64(n)))
			case s.how.Padding == "border":
				at = max(0, min(at, float64(n-1)))
			case s.how.Padding == "reflection":
				at = reflected(at, low, high)
			}
		}
		base := math.Floor(at)
		rest := at - base
		w, count, from := [4]float64{1}, 1, 0
		switch {
		case s.nearest:
			base = math.RoundToEven(at)
		case s.linear:
			w[0], w[1], count = 1-rest, rest, 2
		default:
			for k := range w {
				w[k] = cubicKernel(math.Abs(float64(k-1)-rest), -0.75)
			}
			count, from = 4, -1
		}
		t.n = 0
		first := bounded(base, n) + from
		for k, v := range w[:count] {
			x := first + k
			switch {
			case v == 0 || n == 0:
				continue
			case x >= 0 && x < n:
			case s.how.Padding == "zeros":
				continue
			case s.how.Padding == "border":
				x = max(0, min(x, n-1))
			default:
				x = max(0, min(bounded(reflected(float64(x), low, high), n), n-1))
			}
			t.at[t.n], t.weight[t.n] = x*s.steps[i], v
			t.n++
		}
	}
}

// reflected mirrors v at the ends of [low, high] until it lies inside.
func reflected(v, low, high float64) float64 {
	size := high - low
	if size <= 0 || math.IsInf(v, 0) {
		return low
	}
	d := math.Mod(math.Abs(v-low), 2*size)
	return low + min(d, 2*size-d)
}

var gridSample = plan.Operator{About: plan.About{Name: "GridSample", Versions: []int{16, 20, 22}, Attrs: []string{"align_corners", "mode", "padding_mode"}}, Least: 2, Takes: plan.Reals,
	Move: func(c *plan.Use) plan.Mover {
		mode := c.Attrs.Str("mode", "linear")
		if c.Opset < 20 {
			mode = c.Attrs.Str("mode", "bilinear")
			plan.OneOf("GridSample", "mode", mode, "bilinear", "nearest", "bicubic")
			mode = map[string]string{"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}[mode]
		}
		return sampled(c.In(0), c.In(1), GridSampleOptions{mode, c.Attrs.Str("padding_mode", "zeros"), c.Attrs.Int("align_corners", 0) != 0})
	}}
