package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Functions of whole lines of fixed point: a line is gathered and handed over.

// A misfit is the first result that there isn't, of those that threads have found.
type misfit struct {
	mu  sync.Mutex
	at  int
	err error
}

func (m *misfit) note(at int, err error) {
	if err == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil || at < m.at {
		m.at, m.err = at, err
	}
}

// check panics if there is one among results of a shape.
func (m *misfit) check(name string, shape []int) {
	if m.err != nil {
		panic(unfit(name, unravel(m.at, shape), m.err))
	}
}

// A trial is a result that may fail: it is computed in out, which is dst itself unless that
// is an Into target, of which nothing is written before all is right.
type trial[T num.Elem] struct {
	name     string
	shape    []int
	dst, out tensor.Tensor[T]
	bad      misfit
}

func tryOut[T num.Elem](name string, s *settings, shape []int) *trial[T] {
	t := &trial[T]{name: name, shape: shape, dst: target[T](name, s, shape)}
	if t.out = t.dst; s.into != nil {
		t.out = tensor.Empty[T](shape...)
	}
	return t
}

// done returns the result, or panics with the first that there isn't.
func (t *trial[T]) done() tensor.Tensor[T] {
	t.bad.check(t.name, t.shape)
	if !t.out.Any().SameData(t.dst.Any()) {
		t.dst.CopyFrom(t.out)
	}
	return t.dst
}
