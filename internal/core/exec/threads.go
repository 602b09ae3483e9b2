package exec

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// SplitCost is the work, in additions, from which threads are worth waking:
// about 50 µs.
const SplitCost = 100_000

// Least is the work from which a call is worth splitting: SplitCost, or less where a helper looks for work and needn't be woken.
func Least() int {
	if crew.looking.Load() > 0 {
		return SplitCost / 4
	}
	return SplitCost
}

// threads is the key under which a context holds how many threads a call may use.
type threads struct{}

// WithThreads returns a context whose calls use at most n threads, n > 0.
func WithThreads(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, threads{}, n)
}

// Workers is how many threads a call with ctx, which may be nil, uses at most.
func Workers(ctx context.Context) int {
	n := runtime.GOMAXPROCS(0)
	if ctx != nil {
		if limit, ok := ctx.Value(threads{}).(int); ok {
			n = min(n, limit)
		}
	}
	return n
}

// Alone reports whether calls with ctx have one thread, and ctx never ends: then there is nothing to split and to look for.
func Alone(ctx context.Context) bool { return ctx != nil && ctx.Done() == nil && Workers(ctx) == 1 }

// Goes reports whether ctx, which may be nil, hasn't ended.
func Goes(ctx context.Context) bool { return ctx == nil || ctx.Err() == nil }

// Look panics with an error that wraps ctx.Err() if ctx, which may be nil, has ended. A long loop of the operator looks so between two parts of its
// work. It doesn't break off instead: then every caller would have to look again, or take unfinished elements for the result.
func Look(name string, ctx context.Context) {
	if ctx == nil {
		return
	}
	if err := ctx.Err(); err != nil {
		panic(&tensor.Error{Op: "op." + name, Text: "stopped: " + err.Error(), Err: err})
	}
}

// ranges are the numbers of ranges that are left: the high half of the word is the first, the low half the end.
type ranges struct{ left atomic.Uint64 }

// take takes the first of them, or the last.
func (r *ranges) take(last bool) (int, bool) {
	for {
		v := r.left.Load()
		first, end := uint32(v>>32), uint32(v)
		if first >= end {
			return 0, false
		}
		i := first
		if first++; last {
			end--
			first, i = i, end
		}
		if r.left.CompareAndSwap(v, uint64(first)<<32|uint64(end)) {
			return int(i), true
		}
	}
}

// Split calls f on ranges that cover [0, n), on as many threads as the work is
// worth; cost is the cost of one step, in additions. The results of f must not depend
// on the ranges. A panic in f reaches the caller, and so does a runtime.Goexit, which
// ends its goroutine. Where ctx may end, Split looks before each range. Code after Split sees the non-temporal stores of f. With n = 0 f
// isn't called.
func Split(name string, ctx context.Context, n, cost int, f func(from, to int)) {
	if n <= 0 {
		return
	}
	workers := Workers(ctx)
	if cost <= 0 {
		cost = 1
	}
	least := Least()
	step := max(1, least/2/cost) // of a range
	workers = min(workers, (n+step-1)/step)
	if n < least/cost {
		workers = 1
	}
	if ctx == nil { // of long work larger ranges, so long as each thread has sixteen: the processor prefetches the next elements
		step = max(step, min(64*step, n/(16*workers)))
	}
	switch {
	case workers > 1:
		parallel(name, ctx, n, step, workers, f)
	case ctx == nil || ctx.Done() == nil:
		f(0, n)
	default:
		for from := 0; from < n; from += step {
			Look(name, ctx)
			f(from, min(from+step, n))
		}
	}
	simd.Fence()
}

// parallel is Split for more than one thread, without its last words. The caller takes ranges from the first on, the helpers from
// the last. So a core finds in its cache the part of an operand that it computed in the call before.
func parallel(name string, ctx context.Context, n, step, workers int, f func(from, to int)) {
	step = max(step, n/math.MaxInt32)
	var ends ranges
	ends.left.Store(uint64((n + step - 1) / step))
	var fault atomic.Pointer[any]
	loop := func(helps bool) {
		defer simd.Fence()
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // so that tensor.Try of the caller hears of it
		ended := false
		defer func() {
			r := recover()
			if r == nil && !ended {
				r = goexit{}
			}
			if r != nil {
				fault.CompareAndSwap(nil, &r)
			}
		}()
		for fault.Load() == nil {
			i, ok := ends.take(helps)
			if !ok {
				break
			}
			Look(name, ctx)
			f(i*step, min(i*step+step, n))
		}
		ended = true
	}
	share(workers-1, loop)
	if r := fault.Load(); r != nil {
		if _, ok := (*r).(goexit); ok {
			runtime.Goexit()
		}
		panic(*r)
	}
}

// goexit stands among the faults for runtime.Goexit, which no recover sees.
type goexit struct{}
