package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// Normalizations make the elements of a line, one sequence, comparable. A line is read
// into float64; sums are in the fixed order of this package; every further step is
// rounded in float64, and the result once to its type.

// A normalization is a transfer: f changes line k, which then is scaled and shifted,
// if there are such numbers, by those at the place of each element.
type normalization struct {
	name  string
	lines [][2]int // of the loops over lines, and over a line, the slowest first: extents and steps
	line  [][2]int
	f     func(line []float64, k int)
	place func(at int) int // of the scale and the bias of element at
	every int              // as many neighbours have the same, counted from 0 on; 0: places are apart as elements are, in a line
}

// over returns the loops over the axes of a shape that are in gone, and over the others.
func over(shape []int, gone []bool) (kept, line [][2]int) {
	step := move.Steps(shape)
	for i, e := range shape {
		if gone[i] {
			line = append(line, [2]int{e, step[i]})
		} else {
			kept = append(kept, [2]int{e, step[i]})
		}
	}
	return kept, line
}

// lastAxes are those from axis on.
func lastAxes(rank, axis int) []bool {
	gone := make([]bool, rank)
	for i := axis; i < rank; i++ {
		gone[i] = true
	}
	return gone
}

func countOf(loops [][2]int) int {
	n := 1
	for _, l := range loops {
		n *= l[0]
	}
	return n
}

// placeIn returns where element i of loops is.
func placeIn(loops [][2]int, i int) int {
	at := 0
	for k := len(loops) - 1; k >= 0; k-- {
		at += i % loops[k][0] * loops[k][1]
		i /= loops[k][0]
	}
	return at
}

// run reports whether the elements of a line follow each other.
func (z *normalization) run() bool {
	step := 1
	for i := len(z.line) - 1; i >= 0; i-- {
		if z.line[i][1] != step {
			return false
		}
		step *= z.line[i][0]
	}
	return true
}

func (z *normalization) fill(ctx context.Context, dst, x, scale, bias move.Words) {
	lines, n := countOf(z.lines), countOf(z.line)
	if dst.Len() == 0 {
		return
	}
	src, to, by, plus, run := move.NumericOf(x), move.NumericOf(dst), move.NumericOf(scale), move.NumericOf(bias), z.run()
	exec.Split(z.name, ctx, lines, 4*n, func(from, till int) {
		line, own := plan.RoomFor[float64](z.name, n), plan.RoomFor[float64](z.name, n)
		for k := from; k < till; k++ {
			base := placeIn(z.lines, k)
			if run {
				src.Floats(line, base)
			} else {
				for i := range line {
					line[i] = src.Float(base + placeIn(z.line, i))
				}
			}
			z.f(line, k)
			switch {
			case !run:
				for i, v := range line {
					at := base + placeIn(z.line, i)
					if !scale.Absent() {
						v = float64(v * by.Float(z.place(at)))
					}
					if !bias.Absent() {
						v += plus.Float(z.place(at))
					}
					to.SetFloat(at, v)
				}
				continue
			case z.every == 0:
				if !scale.Absent() {
					by.Floats(own, z.place(base))
					multiply(line, own)
				}
				if !bias.Absent() {
					plus.Floats(own, z.place(base))
					reduce.AddRows(line, line, own)
				}
			default:
				for i := 0; i < n; i += z.every {
					at := z.place(base + i)
					factor, more := 1.0, math.Copysign(0, -1) // which change nothing
					if !scale.Absent() {
						factor = by.Float(at)
					}
					if !bias.Absent() {
						more = plus.Float(at)
					}
					part := line[i : i+z.every]
					affine(part, part, affinity{0, factor, more})
				}
			}
			to.SetFloats(base, line)
		}
	})
}

// multiply multiplies dst by x. It may make NaNs canonical.
func multiply(dst, x []float64) {
	if r := simd.Mul.Best(); r != nil {
		r.F64(dst, dst, x)
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] *= v
	}
}

// sumSquares returns the sum of (x−shift)² in the fixed order.
func sumSquares(x []float64, shift float64) float64 {
	var s reduce.Summer
	s.Begin()
	reduce.AddSquares(&s, x, shift)
	return s.Total()
}

// standardize makes a line (x − μ)/√(σ² + epsilon), and returns μ and that factor.
func standardize(line []float64, epsilon float64) (mean, factor float64) {
	n := float64(len(line))
	mean = reduce.SumRow(line) / n
	factor = 1 / math.Sqrt(sumSquares(line, mean)/n+epsilon)
	affine(line, line, affinity{mean, factor, math.Copysign(0, -1)})
	return mean, factor
}

// checkFloats panics unless the operands of a normalization that are there hold one
// type of floats.
func checkFloats(name string, ins ...tensor.Any) {
	plan.OneType(name, ins...)
	plan.Must(name, plan.Floats.Has(ins[0].DType()) || ins[0].DType().IsFixed(), ins[0].DType())
}
