package zarr

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// parallel runs tasks until next returns nil, at most workers at once, and returns the first
// error. next isn't called concurrently. The methods of a Store may panic, or end their goroutine: beside the caller
// that is an error, too. No task is at work when parallel ends, however it does.
func parallel(ctx context.Context, workers int, next func() func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex
	var wg sync.WaitGroup
	defer func() {
		cancel(nil)
		wg.Wait()
	}()
	run := func(task func(context.Context) error) {
		for ; task != nil && ctx.Err() == nil; task = locked(&mu, next) {
			if err := task(ctx); err != nil {
				cancel(err)
			}
		}
	}
	first := next()
	for range workers - 1 {
		task := locked(&mu, next)
		if task == nil {
			break
		}
		wg.Go(func() {
			err := errors.New("a method of the store ended its goroutine, as runtime.Goexit and the FailNow of a test do; it must return")
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("a method of the store panicked: %v", r)
				}
				if err != nil {
					cancel(err)
				}
			}()
			run(task)
			err = nil
		})
	}
	run(first)
	wg.Wait()
	return context.Cause(ctx)
}

func locked[T any](mu *sync.Mutex, f func() T) T {
	mu.Lock()
	defer mu.Unlock()
	return f()
}
