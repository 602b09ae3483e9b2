package op

import (
	"context"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Normalizations make the elements of a line, one sequence, comparable. A line is read
// into float64; sums are in the fixed order of this package; every further step is
// rounded in float64, and the result once to its type.

// A normalization standardizes lines that follow each other: it subtracts the mean of a line and multiplies by a factor. Then it multiplies and adds
// the numbers of scale and bias at the place of each element, if there are such.
type normalization struct {
	name    string
	n       int     // of elements in a line
	epsilon float64 // added to the mean of the squares
	rms     bool    // no mean is subtracted
	also    func(k int, mean, factor float64)
	every   int              // as many neighbours have the same scale and bias, counted from 0 on; 0: each element has its own
	place   func(at int) int // of the scale and the bias of element at, with every
	alike   bool             // all lines have the same scale and bias
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

// isRun reports whether the elements of a line follow each other.
func isRun(line [][2]int) bool {
	step := 1
	for i := len(line) - 1; i >= 0; i-- {
		if line[i][1] != step {
			return false
		}
		step *= line[i][0]
	}
	return true
}

func (z *normalization) fill(ctx context.Context, dst, x, scale, bias move.Words) {
	if dst.Len() == 0 {
		return
	}
	src, to := move.NumericOf(x), move.NumericOf(dst)
	var shared affines
	if z.alike {
		shared = z.affinesOf(scale, bias)
		shared.read(0)
	}
	exec.Split(z.name, ctx, dst.Len()/z.n, 4*z.n, func(from, till int) {
		by := shared
		if !z.alike {
			by = z.affinesOf(scale, bias)
		}
		var line []float64
		together := min(max(1, lineBlock/z.n), linesTogether)
		if src.D != to.D || to.Size < 4 {
			line, together = plan.RoomFor[float64](z.name, z.n), 1
		}
		for k := from; k < till; k += together {
			at, next := k*z.n, min(k+together, till)*z.n
			switch {
			case line != nil:
				src.Floats(line, at)
				normalizeLines(z, line, line, k, by, false)
				to.SetFloats(at, line)
			case to.D == dtype.Float32:
				normalizeLines(z, move.ElemsOf[float32](dst.Of)[at:next], move.ElemsOf[float32](x.Of)[at:next], k, by, dst.Stream)
			default:
				normalizeLines(z, move.ElemsOf[float64](dst.Of)[at:next], move.ElemsOf[float64](x.Of)[at:next], k, by, dst.Stream)
			}
		}
	})
}

// Short lines are taken together, up to so many and to a number of elements: their sums don't wait for each other.
const (
	linesTogether = 16
	lineBlock     = 4096
)

// affines are what a line is multiplied by and what is added to it: numbers of runs of neighbours, or rows.
type affines struct {
	of   [2]move.Numeric
	rows [2][]float64
}

// neutral are the scale and the bias that change nothing.
var neutral = [2]float64{1, math.Copysign(0, -1)}

func (z *normalization) affinesOf(scale, bias move.Words) (by affines) {
	for i, w := range []move.Words{scale, bias} {
		by.of[i].Words = w
		if !w.Absent() {
			by.of[i] = move.NumericOf(w)
		}
		if z.every > 0 {
			continue
		}
		by.rows[i] = plan.RoomFor[float64](z.name, z.n)
		for k := range by.rows[i] {
			by.rows[i][k] = neutral[i]
		}
	}
	return by
}

// read sets the rows to the numbers from an element on.
func (by *affines) read(at int) {
	for i := range by.of {
		if w := &by.of[i]; !w.Absent() && by.rows[i] != nil {
			w.Floats(by.rows[i], at)
		}
	}
}

// at returns the scale or the bias that an element has.
func (by *affines) at(i, place int) float64 {
	if by.of[i].Absent() {
		return neutral[i]
	}
	return by.of[i].Float(place)
}

// normalizeLines normalizes lines from k on. dst may be x.
func normalizeLines[T num.Float](z *normalization, dst, x []T, k int, by affines, stream bool) {
	var means, factors [linesTogether]float64
	lines, n := len(x)/z.n, float64(z.n)
	switch {
	case z.rms:
	case lines == 1: // SumEach would prefetch the next line, though this one is read twice more
		means[0] = reduce.SumRow(x)
	default:
		reduce.SumEach(means[:lines], x, z.n, z.n)
	}
	for i := range lines {
		means[i] /= n
		factors[i] = reduce.SumSquares(x[i*z.n:(i+1)*z.n], means[i])
	}
	for i := range lines {
		line, to, at, mean, factor := x[i*z.n:(i+1)*z.n], dst[i*z.n:(i+1)*z.n], (k+i)*z.n, means[i], 1/math.Sqrt(factors[i]/n+z.epsilon)
		if z.also != nil {
			z.also(k+i, mean, factor)
		}
		if z.every == 0 {
			if !z.alike {
				by.read(at)
			}
			normalizeRow(to, line, mean, factor, by.rows[0], by.rows[1], stream)
			continue
		}
		for j := 0; j < z.n; j += z.every {
			place := z.place(at + j)
			normalizeRun(to[j:j+z.every], line[j:j+z.every], mean, factor, by.at(0, place), by.at(1, place), stream)
		}
	}
}

// normalizeRow sets dst to (x − mean)·factor·scale + bias, each step in float64, rounded once.
func normalizeRow[T num.Float](dst, x []T, mean, factor float64, scale, bias []float64, stream bool) {
	switch d := any(dst).(type) {
	case []float32:
		if simd.TryNormalizeRow32(d, conv.As[float32](x), mean, factor, scale, bias, stream) {
			return
		}
	case []float64:
		if simd.TryNormalizeRow64(d, conv.As[float64](x), mean, factor, scale, bias, stream) {
			return
		}
	}
	for i, v := range x {
		dst[i] = T(float64((float64(v)-mean)*factor*scale[i]) + bias[i])
	}
	cast.CanonicalRow(dst)
}

// normalizeRun is normalizeRow with one scale and one bias.
func normalizeRun[T num.Float](dst, x []T, mean, factor, scale, bias float64, stream bool) {
	switch d := any(dst).(type) {
	case []float32:
		if simd.TryNormalize32(d, conv.As[float32](x), mean, factor, scale, bias, stream) {
			return
		}
	case []float64:
		if simd.TryNormalize64(d, conv.As[float64](x), mean, factor, scale, bias, stream) {
			return
		}
	}
	for i, v := range x {
		dst[i] = T(float64((float64(v)-mean)*factor*scale) + bias)
	}
	cast.CanonicalRow(dst)
}

// lineByLine computes lines of float64 in place, and rounds them once. A line is one of the loops over a contiguous operand.
func lineByLine(name string, ctx context.Context, dst, x move.Words, lines, line [][2]int, f func(line []float64)) {
	if dst.Len() == 0 {
		return
	}
	src, to, n := move.NumericOf(x), move.NumericOf(dst), countOf(line)
	run := isRun(line)
	exec.Split(name, ctx, countOf(lines), 4*n, func(from, till int) {
		row := plan.RoomFor[float64](name, n)
		for k := from; k < till; k++ {
			base := placeIn(lines, k)
			if run {
				src.Floats(row, base)
				f(row)
				to.SetFloats(base, row)
				continue
			}
			for i := range row {
				row[i] = src.Float(base + placeIn(line, i))
			}
			f(row)
			for i, v := range row {
				to.SetFloat(base+placeIn(line, i), v)
			}
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

// checkFloats panics unless the operands of a normalization that are there hold one
// type of floats.
func checkFloats(name string, ins ...tensor.Any) {
	plan.OneType(name, ins...)
	plan.Must(name, plan.Floats.Has(ins[0].DType()) || ins[0].DType().IsFixed(), ins[0].DType())
}
