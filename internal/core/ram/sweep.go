package ram

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Copied counts the bytes that views copy, where they can't share them.
var Copied atomic.Int64

const cleanupWait = 50 * time.Millisecond

// Sweep runs the collector and waits, at most 50 ms, for the cleanups that it queues: unreachable memory has been given
// back then. Large buffers call it when their room is full.
func Sweep() {
	runtime.GC() // returns when the sweep is done: every cleanup that can run is queued
	queue := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(queue)
	queued := queue[0].Value.Uint64()
	for end := time.Now().Add(cleanupWait); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		metrics.Read(queue)
		if queue[1].Value.Uint64() >= queued {
			break
		}
	}
}
