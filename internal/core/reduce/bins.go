package reduce

import (
	"math"
	"sort"

	"github.com/ashlar-go/ashlar/tensor"
)

// Edges returns the edges of bins of equal width from low to high, one more than there are bins: low + i·(high-low)/bins, as
// numpy.linspace has them. The difference may be beyond the largest number, low and high may not.
func Edges(bins int, low, high float64) []float64 {
	scale := 1.0
	if math.IsInf(high-low, 0) {
		scale = 4 // a power of 2: nothing is rounded
	}
	e := tensor.Linspace(low/scale, high/scale, bins+1).Elems()
	for i := range e {
		e[i] *= scale
	}
	return e
}

// Count adds elements to the counts of the bins between edges. Bin i has the elements from edge i up to but without edge i+1, and the
// last one those at its end too. Others, and NaN, aren't counted. So a bin whose edges are one number has none, unless it is the last.
// The bin of an element is computed, and corrected by the edges, which decide, as in numpy.histogram.
func Count(n []int64, edges, v []float64) {
	bins := len(n)
	low, high := edges[0], edges[bins]
	per := float64(bins) / (high - low)
	for _, x := range v {
		if !(x >= low && x <= high) {
			continue
		}
		at := int((x - low) * per)
		if uint(at) >= uint(bins) {
			at = max(0, min(at, bins-1))
		}
		switch {
		case x < edges[at]:
			at--
		case at < bins-1 && x >= edges[at+1]:
			at++
		}
		if x < edges[at] || at < bins-1 && x >= edges[at+1] { // a range of few numbers, or a tiny or a huge one
			at = sort.Search(bins-1, func(i int) bool { return x < edges[i+1] })
		}
		n[at]++
	}
}
