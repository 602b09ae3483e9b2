package op

import (
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Histogram counts the elements of a in bins of equal width from low to high, and
// returns the counts and the bins' edges, one more than there are bins, as
// tensor.Linspace has them. Bin i holds edge i and all up to but without edge i+1;
// the last one holds high, too. Elements outside and NaNs aren't counted. Integers
// compare as float64, and edges are float64 for float32 too, where NumPy rounds them. It panics unless there is a bin and low < high with a finite
// difference, which ±1e308 don't have. An Into target takes the counts. numpy.histogram.
func Histogram[T num.Native | num.Narrow](a tensor.Tensor[T], bins int, low, high float64, opts ...Option) (counts tensor.Tensor[int64], edges tensor.Tensor[float64]) {
	counted(exec.Ref(&counts), exec.Ref(&edges), exec.Ref(&a), bins, low, high, opts)
	return counts, edges
}

func counted(counts, edges, a *tensor.Any, bins int, low, high float64, opts []Option) {
	plan.Present("Histogram", a)
	s := plan.Read("Histogram", opts)
	if bins < 1 || !(low < high) || math.IsInf(high-low, 0) {
		panic(plan.Fail("Histogram", tensor.ErrValue, "%d bins from %v to %v; it takes at least 1 bin, and low < high with a finite difference", bins, low, high))
	}
	e, n := reduce.Edges(bins, low, high), make([]int64, bins)
	*edges = tensor.FromSlice(e, bins+1).Any()
	w := move.NumericOf(move.WordsOf(*a))
	var buffer [1024]float64
	for from := 0; from < w.Len(); from += len(buffer) {
		exec.Look("Histogram", s.Ctx())
		part := buffer[:min(len(buffer), w.Len()-from)]
		switch {
		case w.D == dtype.Float64:
			part = move.ElemsOf[float64](w.Of)[from : from+len(part)]
		case w.D.IsFloat():
			w.Floats(part, from)
		default:
			for i := range part {
				part[i] = w.Real(from + i)
			}
		}
		reduce.Count(n, e, part)
	}
	runtime.KeepAlive(w.Of)
	plan.Deliver(counts, "Histogram", &s, tensor.FromSlice(n, bins).Any())
}
