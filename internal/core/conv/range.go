package conv

import (
	"math"

	"github.com/ashlar-go/ashlar/num"
)

// RangeCount returns ⌈(stop-start)/step⌉, at least 0. It is false where step is 0, a number isn't
// finite, or the count doesn't fit an int.
func RangeCount[T num.Native](start, stop, step T) (int, bool) {
	if step == 0 || start-start != 0 || stop-stop != 0 || step-step != 0 { // x-x of NaN and infinity is NaN
		return 0, false
	}
	if half := T(1) / 2; half == 0 { // integers: count without leaving the type's range
		if step > 0 && start >= stop || step < 0 && start <= stop {
			return 0, true
		}
		var d, s uint64
		if step > 0 {
			d, s = uint64(stop)-uint64(start), uint64(step)
		} else {
			d, s = uint64(start)-uint64(stop), -uint64(step)
		}
		n := (d-1)/s + 1
		return int(n), n <= uint64(math.MaxInt)
	}
	q := (float64(stop) - float64(start)) / float64(step)
	if !(q > 0) {
		return 0, true
	}
	if q >= 1<<53 || q > float64(math.MaxInt)/2 {
		return 0, false
	}
	n := int(q)
	if float64(n) < q {
		n++
	}
	return n, true
}

// Range sets element i of data to start + i·step.
func Range[T num.Native](data []T, start, step T) {
	for i := range data {
		data[i] = start + T(T(i)*step) // the conversion keeps the product apart: no fused step
	}
}
