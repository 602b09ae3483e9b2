package argfuzz

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	hugeExtent = 1 << (29 + strconv.IntSize/64*16) // of an axis that nobody walks
	soon       = 9 * time.Minute                   // what grows with such an extent takes years
	little     = 16 << 20                          // bytes that don't grow with such an extent
)

// TestExtents calls every function of the table with tensors of rank 1 to 4 without elements, which have an axis of
// extent 0 and one of a huge extent: all of them, and each in turn. The call returns at once, and takes little memory.
func TestExtents(t *testing.T) {
	failed := map[string]bool{}
	calls, returned := 0, 0
	call := func(e entry, o *operands) (r result) {
		before := allocated()
		watch := time.AfterFunc(soon, func() {
			buf := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "%s walks along the extents of %+v\n%s\n", e.name, *o, buf[:runtime.Stack(buf, true)])
			os.Exit(2)
		})
		defer watch.Stop()
		r = o.call(e)
		if r.skipped {
			return r
		}
		if calls++; r.returned {
			returned++
		}
		if took := allocated() - before; r.failure == "" && took > little {
			r.failure, r.cause = fmt.Sprintf("%+v: it took %d MiB, and ended with %v", *o, took>>20, o.err), e.name
		}
		if r.failure != "" && !failed[r.cause] {
			failed[r.cause] = true
			t.Errorf("%s(%s)\n%s", e.name, r.args, r.failure)
		}
		return r
	}
	for _, e := range table {
		if excluded[e.name] != "" || strings.HasPrefix(e.name, "layout.") {
			continue
		}
		for rank := range 5 {
			for n := range 3 {
				for none := range max(rank, 1) {
					for huge := range max(rank, 1) {
						if none == huge && rank > 1 {
							continue
						}
						o := operands{rank: rank, n: n, at: -1, none: none, huge: huge, empty: true}
						if r := call(e, &o); r.skipped || o.tensors < 2 {
							continue
						}
						for at := range o.tensors { // it alone has no elements
							one := operands{rank: rank, n: n, at: at, other: rank, none: none, huge: huge}
							call(e, &one)
						}
					}
				}
			}
		}
	}
	if t.Logf("%d calls, %d returned", calls, returned); 4*returned < calls {
		t.Error("most calls were refused: what isn't wrong in them doesn't fit")
	}
}

// extents returns the shape of the next tensor; false where it is the zero value.
func (o *operands) extents(depth int) (shape []int, ok bool) {
	i := o.tensors
	rank := o.next(depth)
	if rank == zero {
		return nil, false
	}
	shape = make([]int, rank)
	for k := range shape {
		shape[k] = 2
	}
	if (o.empty || o.none != o.huge && i == o.at) && rank > 0 {
		shape[o.huge%rank] = hugeExtent
		shape[o.none%rank] = 0
	}
	return shape, true
}
