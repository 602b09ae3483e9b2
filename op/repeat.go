package op

import (
	"context"
	"math"
	"sort"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Repeat returns a with each entry along axis repeated in place: entry i counts[i]
// times, or all counts[0] times when there is one count. It panics when a count is
// negative or there is another number of them. Elements keep their bits.
// numpy.repeat; Tile repeats the whole.
func Repeat[T num.Elem](a tensor.Tensor[T], counts []int, axis int, opts ...Option) (r tensor.Tensor[T]) {
	repeated(a.Any(), counts, axis).into(exec.Ref(&r), opts)
	return r
}

func repeated(a tensor.Any, counts []int, axis int) *transfer {
	present("Repeat", &a)
	shape := a.Shape()
	axis = axisOf("Repeat", axis, len(shape))
	n := shape[axis]
	if len(counts) != n && len(counts) != 1 {
		panic(fail("Repeat", tensor.ErrShape, "%d counts for axis %d of extent %d; want one, or one for each entry", len(counts), axis, n))
	}
	total := 0
	of := func(i int) int { return counts[min(i, len(counts)-1)] }
	for i, c := range counts[:min(n, len(counts))] {
		if c < 0 {
			panic(fail("Repeat", tensor.ErrShape, "entry %d of axis %d is repeated %d times", i, axis, c))
		}
		if c > math.MaxInt-total {
			panic(fail("Repeat", tensor.ErrOverflow, "the counts add up to more than fits an int"))
		}
		total += c
	}
	if len(counts) == 1 {
		total = extent("Repeat", axis, n, total)
	}
	out := append([]int{}, shape...)
	out[axis] = total
	spec("Repeat", a.DType(), out...)
	return &transfer{name: "Repeat", d: a.DType(), shape: out, in: []tensor.Any{a}, fill: func(ctx context.Context, dst words, in []words) {
		if before, n, after := around(shape, axis); len(counts) == 1 && after == 1 {
			exec.Split("Repeat", ctx, before*n, max(1, counts[0]/4), func(from, to int) {
				each := counts[0] * dst.size
				conv.Each(dst.mem[from*each:to*each], in[0].mem[from*dst.size:to*dst.size], dst.size, counts[0])
			})
			return
		}
		var runs []run
		to := 0
		for i := range n {
			if of(i) > 0 {
				runs = append(runs, run{to, i, of(i), 0})
				to += of(i)
			}
		}
		maps := make([]mapping, len(shape))
		maps[axis] = mapping{to, func(place int) run {
			k := sort.Search(len(runs), func(k int) bool { return runs[k].to > place })
			return runs[k-1] // no mapping is asked within a run
		}}
		remap("Repeat", ctx, dst, in[0], shape, maps, nil)
	}}
}
