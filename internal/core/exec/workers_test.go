package exec_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/exec"
)

// goroutines waits until there are no more goroutines than n.
func goroutines(n int) {
	for runtime.NumGoroutine() > n {
		time.Sleep(time.Millisecond)
	}
}

// All steps are done, once each, by calls of many goroutines, and no helper stays.
func TestCrew(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for k := range 200 {
				n := 1 + (g*31+k)%97
				did := make([]atomic.Int32, n)
				exec.Split("Test", exec.WithThreads(context.Background(), 1+k%4), n, exec.SplitCost, func(from, to int) {
					for i := from; i < to; i++ {
						did[i].Add(1)
					}
				})
				for i := range did {
					if got := did[i].Load(); got != 1 {
						t.Errorf("step %d of %d is done %d times", i, n, got)
					}
				}
			}
		})
	}
	wg.Wait()
	goroutines(before)
}

// A call waits for a helper that takes longer than it looks for one, and sees the stores of the helper.
func TestCrewWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for range 20 {
		var wrote [2]int
		here := make(chan bool, 1)
		exec.Split("Test", nil, 2, exec.SplitCost, func(from, to int) {
			select {
			case here <- true:
				time.Sleep(time.Millisecond) // the other goroutine takes the other step
			default:
				time.Sleep(5 * time.Millisecond)
			}
			wrote[from] = 1
		})
		if wrote != [2]int{1, 1} {
			t.Fatal(wrote)
		}
	}
}

// A panic in a helper reaches the caller, and so does runtime.Goexit; both leave the crew usable.
func TestCrewFails(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	for range 50 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			exec.Split("Test", nil, 64, exec.SplitCost, func(from, to int) {
				if from == 40 {
					panic("forty")
				}
			})
		}()
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		exec.Split("Test", nil, 64, exec.SplitCost, func(from, to int) { runtime.Goexit() })
	}()
	<-done
	for at := range 64 { // of the caller or of a helper
		returned := make(chan bool, 1)
		go func() {
			defer close(returned)
			exec.Split("Test", nil, 64, exec.SplitCost, func(from, to int) {
				if from == at {
					runtime.Goexit()
				}
			})
			returned <- true
		}()
		if <-returned {
			t.Errorf("Split returned, and step %d ended its goroutine", at)
		}
	}
	var n atomic.Int32
	exec.Split("Test", nil, 64, exec.SplitCost, func(from, to int) { n.Add(int32(to - from)) })
	if n.Load() != 64 {
		t.Errorf("%d steps of 64", n.Load())
	}
	goroutines(before)
}

// Calls in a bubble leave no goroutine that would keep it, and helpers may serve calls on both sides.
func TestCrewInABubble(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var stop atomic.Bool
	var wg sync.WaitGroup
	work := func() {
		exec.Split("Test", nil, 16, exec.SplitCost, func(from, to int) {})
	}
	wg.Go(func() {
		for !stop.Load() {
			work()
		}
	})
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			for range 20 {
				work()
			}
		})
	}
	stop.Store(true)
	wg.Wait()
}
