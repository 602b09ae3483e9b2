package op

import (
	"math"
	"runtime"
	"sort"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Histogram counts the elements of a in bins of equal width from low to high, and
// returns the counts and the bins' edges, one more than there are bins, as
// tensor.Linspace has them. Bin i holds edge i and all up to but without edge i+1;
// the last one holds high, too. Elements outside and NaNs aren't counted. Integers
// compare as float64. It panics unless there is a bin and low < high, both finite.
// numpy.histogram.
func Histogram[T num.Native | num.Narrow](a tensor.Tensor[T], bins int, low, high float64) (counts tensor.Tensor[int64], edges tensor.Tensor[float64]) {
	counted(exec.Ref(&counts), exec.Ref(&edges), exec.Ref(&a), bins, low, high)
	return counts, edges
}

func counted(counts, edges, a *tensor.Any, bins int, low, high float64) {
	present("Histogram", a)
	if bins < 1 || !(low < high) || math.IsInf(high-low, 0) {
		panic(fail("Histogram", tensor.ErrValue, "%d bins from %v to %v", bins, low, high))
	}
	*edges, *counts = tensor.Linspace(low, high, bins+1).Any(), tensor.New[int64](bins).Any()
	e, n := elemsOf[float64](edges), elemsOf[int64](counts)
	w := numericOf(wordsOf(*a))
	for i := range w.len() {
		if v := w.real(i); v >= low && v <= high {
			at := sort.Search(bins, func(k int) bool { return v < e[k+1] }) // the first bin that ends above v
			n[min(at, bins-1)]++
		}
	}
	runtime.KeepAlive(w.of)
}
