package op

import (
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Histogram counts the elements of a in bins of equal width from low to high, and
// returns the counts and the bins' edges, one more than there are bins, as
// tensor.Linspace has them. Bin i holds edge i and all up to but without edge i+1;
// the last one holds high, too. Elements outside and NaNs aren't counted. Integers
// compare as float64. It panics unless there is a bin and low < high with a finite
// difference, which ±1e308 don't have. numpy.histogram.
func Histogram[T num.Native | num.Narrow](a tensor.Tensor[T], bins int, low, high float64) (counts tensor.Tensor[int64], edges tensor.Tensor[float64]) {
	counted(exec.Ref(&counts), exec.Ref(&edges), exec.Ref(&a), bins, low, high)
	return counts, edges
}

func counted(counts, edges, a *tensor.Any, bins int, low, high float64) {
	plan.Present("Histogram", a)
	if bins < 1 || !(low < high) || math.IsInf(high-low, 0) {
		panic(plan.Fail("Histogram", tensor.ErrValue, "%d bins from %v to %v; it takes at least 1 bin, and low < high with a finite difference", bins, low, high))
	}
	*edges, *counts = tensor.Linspace(low, high, bins+1).Any(), tensor.New[int64](bins).Any()
	e, n := move.ElemsOf[float64](edges), move.ElemsOf[int64](counts)
	w := move.NumericOf(move.WordsOf(*a))
	var buffer [1024]float64
	for from := 0; from < w.Len(); from += len(buffer) {
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
		countIn(n, e, part)
	}
	runtime.KeepAlive(w.Of)
}

// countIn counts elements in the bins between edges. The bin of an element is computed, and
// corrected by the edges, which decide.
func countIn(n []int64, e, v []float64) {
	bins := len(n)
	low, high := e[0], e[bins]
	per := float64(bins) / (high - low)
	for _, x := range v {
		if !(x >= low && x <= high) {
			continue
		}
		at := int((x - low) * per)
		if uint(at) >= uint(bins) {
			at = max(0, min(at, bins-1))
		}
		for at > 0 && x < e[at] {
			at--
		}
		for at < bins-1 && x >= e[at+1] {
			at++
		}
		n[at]++
	}
}
