package op

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// ArgSort returns the positions on axis of the elements of a in ascending order,
// line by line: TakeAlongAxis with them sorts. It is stable: equal elements, the
// two zeros among them, keep their order. NaNs are last. numpy.argsort with
// kind="stable".
func ArgSort[T bool | num.Native | num.Narrow](a tensor.Tensor[T], axis int, opts ...Option) (r tensor.Tensor[int64]) {
	sortedAt(a.Any(), axis).into(exec.Ref(&r), opts)
	return r
}

func sortedAt(a tensor.Any, axis int) *transfer {
	present("ArgSort", &a)
	axis = axisOf("ArgSort", axis, a.Rank())
	return &transfer{name: "ArgSort", d: dtype.Int64, shape: a.Shape(), in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		before, n, after := around(a.Shape(), axis)
		ordered("ArgSort", ctx, in[0], before, n, after, false, func(first int, line []keyed) {
			for i, e := range line {
				binary.NativeEndian.PutUint64(dst.mem[8*(first+i*after):], uint64(e.at))
			}
		})
	}}
}

// keyed is an element of a line: its place in the order, and its position.
type keyed struct {
	key uint64
	at  int
}

// ordered calls f with each line of n elements, after apart, in ascending order, or
// in descending order; of equals the one with the lower position comes first. first
// is the element that the line begins with.
func ordered(name string, ctx context.Context, w words, before, n, after int, descending bool, f func(first int, line []keyed)) {
	if n == 0 {
		return
	}
	var turn uint64
	if descending {
		turn = ^uint64(0)
	}
	v := numericOf(w)
	exec.Split(name, ctx, before*after, 4*n*bits.Len(uint(n)), func(from, to int) {
		line := make([]keyed, fits(name, n, 16))
		for l := from; l < to; l++ {
			first := l/after*n*after + l%after
			for i := range line {
				line[i] = keyed{v.key(first+i*after) ^ turn, i}
			}
			slices.SortFunc(line, func(a, b keyed) int {
				if a.key != b.key {
					return cmp.Compare(a.key, b.key)
				}
				return a.at - b.at
			})
			f(first, line)
		}
	})
}
