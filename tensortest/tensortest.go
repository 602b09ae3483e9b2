// Package tensortest compares tensors in tests: Equal bit for bit, AllClose within
// a tolerance, ULP within a number of representable values. Digest compares with a
// line of text.
//
// Functions that take two tensors require the same element type and shape. Layouts,
// storages and views make no difference. A comparison that fails calls t.Errorf once,
// with the number of differences, the first ones and the largest. No tensor, a
// tensor.Spec and a closed tensor fail, too. The functions report whether the tensors
// passed. Compare returns the same figures to programs.
package tensortest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Equal fails t unless got and want have the same element type, shape and
// elements, bit for bit: -0 differs from 0, and two NaNs are equal if all their bits
// are equal.
func Equal(t testing.TB, got, want tensor.Any) bool {
	t.Helper()
	c := comparison{name: "Equal", limit: "in their bits", far: func(g, w element) (float64, bool) {
		return g.difference(w), g.bits != w.bits
	}}
	return c.run(t, got, want)
}

// AllClose fails t unless got and want have the same element type and shape, and
// every element is close: |got - want| ≤ atol + rtol·|want|, computed in float64, for
// integers with the exact difference. NaN is close to every NaN, an infinity only to
// itself. Complex numbers are measured by the absolute value of the difference. Bools
// must be equal. Tolerances must be finite and not negative.
func AllClose(t testing.TB, got, want tensor.Any, rtol, atol float64) bool {
	t.Helper()
	if !(rtol >= 0 && atol >= 0) || math.IsInf(rtol+atol, 0) {
		t.Errorf("tensortest.AllClose: rtol %v and atol %v; tolerances are finite and at least 0", rtol, atol)
		return false
	}
	c := comparison{name: "AllClose", limit: fmt.Sprintf("by more than %v + %v·|want|", atol, rtol), far: func(g, w element) (float64, bool) {
		d := g.difference(w)
		if d == 0 || g.boolean || math.IsInf(d, 0) {
			return d, d != 0
		}
		return d, !(d <= atol+float64(rtol*w.magnitude()))
	}}
	return c.run(t, got, want)
}

// ULP fails t unless got and want have the same type of floats or complex numbers
// and the same shape, and each pair of elements is at most limit units in the last
// place apart: steps from one representable number to the next. -0 and 0 are zero
// steps apart. Infinity is one step beyond the largest finite number. NaN is equal to
// every NaN and infinitely far from any number. For complex numbers, the part with the
// larger distance counts.
func ULP(t testing.TB, got, want tensor.Any, limit uint64) bool {
	t.Helper()
	if !got.IsZero() && !got.DType().IsFloat() && !got.DType().IsComplex() {
		t.Errorf("tensortest.ULP: %s has no units in the last place; use Equal or AllClose", tensor.Describe(got))
		return false
	}
	c := comparison{name: "ULP", limit: fmt.Sprintf("by more than %d ulp", limit), unit: " ulp", far: func(g, w element) (float64, bool) {
		n, ok := g.steps(w)
		if !ok {
			return math.Inf(1), true
		}
		return float64(n), n > limit
	}}
	return c.run(t, got, want)
}

// shown is the number of differences that a failure lists.
const shown = 5

// A comparison measures the distance of two elements, and decides whether it is too large.
type comparison struct {
	name, limit, unit string
	far               func(got, want element) (distance float64, tooFar bool)
}

func (c *comparison) run(t testing.TB, got, want tensor.Any) bool {
	t.Helper()
	g, problem := open("got", got)
	w, other := open("want", want)
	if problem == "" {
		problem = other
	}
	if problem == "" && tensor.Describe(got) != tensor.Describe(want) {
		problem = fmt.Sprintf("got %s, want %s", tensor.Describe(got), tensor.Describe(want))
	}
	if problem != "" {
		t.Errorf("tensortest.%s: %s", c.name, problem)
		return false
	}
	var first []string
	var largest string
	count, most := 0, -1.0
	for idx := range coordinates(got.Shape()) {
		a, b := g.at(idx), w.at(idx)
		d, tooFar := c.far(a, b)
		if !tooFar {
			continue
		}
		if count++; count > shown && d <= most {
			continue
		}
		line := fmt.Sprintf("%v: got %s, want %s, off by %v%s", idx, text(g.any(idx), a, b), text(w.any(idx), b, a), d, c.unit)
		if count <= shown {
			first = append(first, line)
		}
		if d > most {
			most, largest = d, line
		}
	}
	if count == 0 {
		return true
	}
	s := fmt.Sprintf("tensortest.%s: %d of %d elements of %s differ %s\n\t%s", c.name, count, got.Len(), tensor.Describe(got), c.limit, strings.Join(first, "\n\t"))
	if count > shown {
		s += fmt.Sprintf("\n\t… %d more; the largest difference is at\n\t%s", count-shown, largest)
	} else if count > 1 {
		s += "\n\tthe largest difference is at " + largest[:strings.Index(largest, ":")]
	}
	t.Errorf("%s", s)
	return false
}

// coordinates enumerates the coordinates of a shape in row-major order, the last axis
// fastest. It reuses one slice.
func coordinates(shape []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		idx := make([]int, len(shape))
		for _, e := range shape {
			if e == 0 {
				return
			}
		}
		for yield(idx) {
			k := len(idx) - 1
			for ; k >= 0; k-- {
				if idx[k]++; idx[k] < shape[k] {
					break
				}
				idx[k] = 0
			}
			if k < 0 {
				return
			}
		}
	}
}
