package exec

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// The crew is the goroutines that help calls with their work. The system takes tens of microseconds to wake a thread, as long as many an operator
// runs. So a helper that has done its part looks for the next call before it ends: at most patience, and in all no longer than it has
// worked. An idle process has no helpers. A helper never parks, so it belongs to no bubble of testing/synctest.

// patience is how long one goroutine looks for another before it gives up or parks.
const patience = 200 * time.Microsecond

// crew has the calls that want helpers.
var crew struct {
	sync.Mutex
	open    []*shared    // calls with places for helpers
	wanting atomic.Int32 // len(open), to be read without the lock
	looking atomic.Int32 // helpers that look for a call
}

// shared is the work of a call in which helpers take part.
type shared struct {
	work   func(helps bool)
	places int          // that no helper has taken
	inside atomic.Int32 // helpers that work
	last   sync.Mutex   // held by a caller that has parked; the last helper unlocks it
	parked bool
}

// share runs work here and in up to helpers other goroutines. It returns when all of them have ended.
func share(helpers int, work func(helps bool)) {
	s := &shared{work: work, places: helpers}
	crew.Lock()
	crew.open = append(crew.open, s)
	crew.wanting.Store(int32(len(crew.open)))
	missing := helpers - int(crew.looking.Load())
	crew.Unlock()
	for range missing {
		go help()
	}
	defer s.wait()
	work(false)
}

// wait closes the places of s and waits for its helpers.
func (s *shared) wait() {
	crew.Lock()
	if s.places > 0 {
		s.places = 0
		closed(s)
	}
	crew.Unlock()
	if spin(patience, func() bool { return s.inside.Load() == 0 }) {
		return
	}
	crew.Lock()
	if s.parked = s.inside.Load() > 0; s.parked {
		s.last.Lock()
	}
	crew.Unlock()
	s.last.Lock()
}

// help takes part in calls for as long as it finds one.
func help() {
	credit := time.Duration(0) // work less looking
	for s := join(); s != nil; {
		start := time.Now()
		s.run()
		done := time.Now()
		credit += done.Sub(start)
		s = look(credit)
		credit -= time.Since(done)
	}
}

// run does a helper's part. The work may end the goroutine.
func (s *shared) run() {
	defer func() {
		crew.Lock()
		if s.inside.Add(-1) == 0 && s.parked {
			s.last.Unlock()
		}
		crew.Unlock()
	}()
	s.work(true)
}

// join takes a place in the call that has waited longest, if there is one.
func join() *shared {
	crew.Lock()
	defer crew.Unlock()
	return place()
}

// look is join after a while, if no call wants a helper now.
func look(limit time.Duration) *shared {
	crew.Lock()
	crew.looking.Add(1)
	crew.Unlock()
	spin(min(limit, patience), func() bool { return crew.wanting.Load() > 0 })
	crew.Lock()
	defer crew.Unlock()
	crew.looking.Add(-1)
	return place()
}

// place is join with the lock held.
func place() *shared {
	if len(crew.open) == 0 {
		return nil
	}
	s := crew.open[0]
	s.inside.Add(1)
	if s.places--; s.places == 0 {
		closed(s)
	}
	return s
}

// closed takes a call from the list. The lock is held.
func closed(s *shared) {
	crew.open = slices.DeleteFunc(crew.open, func(o *shared) bool { return o == s })
	crew.wanting.Store(int32(len(crew.open)))
}

// spin waits for a condition, for a limited time. It reports whether the condition came true.
func spin(limit time.Duration, done func() bool) bool {
	start := time.Now()
	for i := 1; !done(); i++ {
		if cpu.Pause(); i%16 == 0 && time.Since(start) > limit {
			return false
		}
	}
	return true
}
