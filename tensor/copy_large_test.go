package tensor_test

import (
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Copies of runs that go through their source in order, as copies of short runs and of results with non-temporal stores do, put every
// element where it belongs and leave the elements beside it: into axes that run backwards, from stretched ones, aligned to lines of the cache and not.
func TestCopyOrder(t *testing.T) {
	for _, c := range []struct {
		name             string
		outer, rows, run int // a result of rows × outer runs
	}{
		{"short", 50, 60, 30}, {"long", 30, 20, 200}, {"past", 64, 512, 160}, {"past, long", 16, 700, 400}, {"past, too short", 100, 700, 70},
	} {
		n := c.outer * c.rows * c.run
		back := tensor.R(-1, -c.rows-1, -1)
		for _, shift := range []int{0, 3} {
			whole := tensor.Full(int32(-1), n+shift+40)
			into := whole.Slice(tensor.R(shift, shift+n)).View(c.rows, c.outer, c.run)
			from := tensor.Arange[int32](0, int32(n), 1).View(c.outer, c.rows, c.run)
			check := func(what string, want func(r, o, k int) int) {
				t.Helper()
				data, at := whole.Data()
				data = data[at:]
				for i, v := range data {
					w, k := -1, i-shift
					if k >= 0 && k < n {
						w = want(k/c.run/c.outer, k/c.run%c.outer, k%c.run)
					}
					if int(v) != w {
						t.Fatalf("%s, %d elements on, %s: element %d is %d, want %d", c.name, shift, what, i, v, w)
					}
				}
			}
			into.CopyFrom(from.Permute(1, 0, 2))
			check("swapped", func(r, o, k int) int { return (o*c.rows+r)*c.run + k })
			into.Slice(back).CopyFrom(from.Permute(1, 0, 2))
			check("into rows backwards", func(r, o, k int) int { return (o*c.rows+c.rows-1-r)*c.run + k })
			into.CopyFrom(from.Slice(tensor.Colon, back).Permute(1, 0, 2))
			check("of rows backwards", func(r, o, k int) int { return (o*c.rows+c.rows-1-r)*c.run + k })
			into.CopyFrom(from.Slice(tensor.R(0, 1)).Permute(1, 0, 2))
			check("stretched", func(r, _, k int) int { return r*c.run + k })
		}
	}
}
