package exec_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/exec"
)

// A context bounds how many ranges are computed at the same time; GOMAXPROCS does in any case.
func TestWithThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, tc := range []struct {
		ctx  context.Context
		want int32
	}{
		{nil, 4},
		{context.Background(), 4},
		{exec.WithThreads(context.Background(), 1), 1},
		{exec.WithThreads(context.Background(), 3), 3},
		{exec.WithThreads(context.Background(), 9), 4},
		{exec.WithThreads(exec.WithThreads(context.Background(), 3), 2), 2},
	} {
		var now, most, begun, done atomic.Int32
		exec.Split("Test", tc.ctx, 64, exec.SplitCost, func(from, to int) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			for begun.Add(1); begun.Load() < tc.want; runtime.Gosched() { // the first ones wait for each other
			}
			now.Add(-1)
			done.Add(int32(to - from))
		})
		if got := exec.Workers(tc.ctx); got != int(tc.want) || most.Load() != tc.want || done.Load() != 64 {
			t.Errorf("%v: %d workers, %d at a time, %d of 64 steps; want %d", tc.ctx, got, most.Load(), done.Load(), tc.want)
		}
	}
}
