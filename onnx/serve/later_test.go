package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// A service's request whose first run went through waits for its other runs, though the server takes no waiting requests.
func TestLaterRuns(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond} {
		model := echo(t, dtype.Float32)
		var s *Server
		twice := func(ctx context.Context, _ []byte, run Run, _ func(int64) error) ([]byte, error) {
			in := map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, 2}, 1, 2).Any()}
			if _, err := run(ctx, model.Name, in); err != nil {
				return nil, err
			}
			for range cap(s.slots) { // others run now
				s.slots <- struct{}{}
			}
			fresh := do(s, http.MethodPost, "/once", "")
			if fresh.Code != http.StatusServiceUnavailable {
				t.Errorf("a fresh request that would wait: %d %s", fresh.Code, fresh.Body)
			}
			var over atomic.Bool
			defer over.Store(true)
			go func() {
				for s.queue.Load() == 0 && !over.Load() {
					time.Sleep(time.Millisecond)
				}
				for range cap(s.slots) {
					<-s.slots
				}
			}()
			_, err := run(ctx, model.Name, in)
			return []byte("{}"), err
		}
		once := func(ctx context.Context, _ []byte, run Run, _ func(int64) error) ([]byte, error) {
			_, err := run(ctx, model.Name, map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, 2}, 1, 2).Any()})
			return []byte("{}"), err
		}
		s = server(t, Options{MaxRuns: 1, MaxQueue: -1, BatchDelay: delay, Services: []Service{{Path: "/twice", Answer: twice}, {Path: "/once", Answer: once}}}, model)
		if w := do(s, http.MethodPost, "/twice", ""); w.Code != http.StatusOK {
			t.Errorf("delay %v: %d %s", delay, w.Code, w.Body)
		}
		settle(t, s)
	}
}
