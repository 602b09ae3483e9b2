package op

import (
	"context"
	"math"

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
func GridSample[T num.Native | num.Narrow, G num.Floating](a tensor.Tensor[T], grid tensor.Tensor[G], how GridSampleOptions, opts ...Option) (r tensor.Tensor[T]) {
	sampled(a.Any(), grid.Any(), how).Into(exec.Ref(&r), opts)
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
	return &move.Transfer{Name: name, D: a.DType(), Shape: out, In: []tensor.Any{a, grid}, Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		points := plan.Elements(out[2:])
		g := sampler{src: move.NumericOf(in[0]), grid: move.NumericOf(in[1]), how: how, axes: shape[2:], area: plan.Elements(shape[2:])}
		to := move.NumericOf(dst)
		exec.Split(name, ctx, shape[0]*points, 20*shape[1]<<rank, func(from, till int) {
			s := g
			s.near = make([]taps, rank)
			for p := from; p < till; p++ {
				nan := s.aim(p * rank)
				for ch := range shape[1] {
					plane := p/points*shape[1] + ch
					v := math.NaN()
					if !nan {
						v = s.read(plane*s.area, 0)
					}
					to.SetReal(plane*points+p%points, v)
				}
			}
		})
	}}
}

type sampler struct {
	src, grid move.Numeric
	how       GridSampleOptions
	axes      []int
	area      int
	near      []taps // per axis: the neighbours of the point
}

// aim finds the neighbours of the point that begins at an element of the grid.
func (s *sampler) aim(first int) (nan bool) {
	for i, n := range s.axes {
		v := s.grid.Float(first + len(s.axes) - 1 - i)
		if v != v {
			return true
		}
		low, high := -0.5, float64(n)-0.5
		at := (float64((v+1)*float64(n)) - 1) / 2
		if s.how.AlignCorners {
			low, high = 0, float64(n-1)
			at = float64((v+1)/2) * float64(n-1)
		}
		if s.how.Mode == "nearest" {
			at = math.RoundToEven(at)
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
		var w []float64
		from := -1
		switch s.how.Mode {
		case "nearest":
			w, from, base = []float64{1}, 0, math.RoundToEven(at)
		case "linear":
			w, from = []float64{1 - rest, rest}, 0
		default:
			w = make([]float64, 4)
			for k := range w {
				w[k] = cubicKernel(math.Abs(float64(k-1)-rest), -0.75)
			}
		}
		t := &s.near[i]
		t.at, t.weight = t.at[:0], t.weight[:0]
		for k, v := range w {
			x := bounded(base, n) + from + k
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
			t.at, t.weight = append(t.at, x), append(t.weight, v)
		}
	}
	return false
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

// read returns the sum over the neighbours on axis and those after it.
func (s *sampler) read(base, axis int) float64 {
	if axis == len(s.axes) {
		return s.src.Real(base)
	}
	acc := 0.0
	step := plan.Elements(s.axes[axis+1:])
	for k, x := range s.near[axis].at {
		acc += float64(s.near[axis].weight[k] * s.read(base+x*step, axis+1))
	}
	return acc
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
