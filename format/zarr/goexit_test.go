package zarr

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
)

// A stopping store stops in one of its calls: by a panic, or by the end of its goroutine.
type stopping struct {
	Store
	left atomic.Int64 // calls until then
	stop func()
}

func (s *stopping) count() {
	if s.left.Add(-1) == 0 {
		s.stop()
	}
}

func (s *stopping) Get(ctx context.Context, key string, most int64) ([]byte, error) {
	s.count()
	return s.Store.Get(ctx, key, most)
}

func (s *stopping) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	s.count()
	return s.Store.GetRange(ctx, key, off, n)
}

func (s *stopping) Set(ctx context.Context, key string, value []byte) error {
	s.count()
	return s.Store.Set(ctx, key, value)
}

var stops = map[string]func(){"panic": func() { panic("own") }, "ended": runtime.Goexit}

// A store that panics or ends its goroutine in any call makes the read or the write panic, end its goroutine or fail: none ends well
// with elements left out, and no goroutine stays at work.
func TestStoreStops(t *testing.T) {
	x := pattern(dtype.Uint16, []int{9, 7})
	for _, inner := range [][]int{nil, {2, 2}} {
		for how, stop := range stops {
			for _, writes := range []bool{false, true} {
				for call := int64(1); ; call++ {
					s := &stopping{Store: Memory(), stop: stop}
					a, err := Create(t.Context(), s, "", Metadata{DType: dtype.Uint16, Shape: []int{9, 7}, Chunks: []int{4, 4}, Inner: inner}, &Options{Workers: 3})
					if err == nil && !writes {
						err = a.Write(t.Context(), []int{0, 0}, x)
					}
					if err != nil {
						t.Fatal(err)
					}
					s.left.Store(call)
					ended := make(chan error, 1)
					go func() {
						defer close(ended)
						defer func() { recover() }()
						if writes {
							ended <- a.Write(t.Context(), []int{0, 0}, x)
							return
						}
						got, err := a.Read(t.Context())
						if err == nil && got.String() != x.String() {
							t.Errorf("%s in call %d: another array", how, call)
						}
						ended <- err
					}()
					err, returned := <-ended
					if s.left.Load() > 0 {
						break
					}
					if returned && (err == nil || !strings.Contains(err.Error(), how)) {
						t.Errorf("%s in call %d, inner %v, write %v: %v", how, call, inner, writes, err)
					}
				}
			}
		}
	}
}

// A store that stops in the goroutine that renews a lock makes the release fail.
func TestLockStops(t *testing.T) {
	defer func(b time.Duration) { beat = b }(beat)
	beat = time.Millisecond
	for how, stop := range stops {
		stopped := make(chan bool)
		s := &stopping{Store: Memory(), stop: func() { close(stopped); stop() }}
		release, err := Lock(t.Context(), s, "", "test")
		if err != nil {
			t.Fatal(err)
		}
		s.left.Store(1)
		<-stopped
		if err := release(); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", how, err)
		}
	}
}
