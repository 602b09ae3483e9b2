package op

import (
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
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

// fixedMap has a function from lines to lines for each format; dst isn't x.
type fixedMap struct {
	FP8x23  func(dst, x []num.FP8x23, mode []num.FixedMode) error
	FP16x16 func(dst, x []num.FP16x16, mode []num.FixedMode) error
	FP32x32 func(dst, x []num.FP32x32, mode []num.FixedMode) error
	FP64x64 func(dst, x []num.FP64x64, mode []num.FixedMode) error
}

func fixedMapOf[T num.Elem](m *fixedMap) func(dst, x []T, mode []num.FixedMode) error {
	var p any
	switch any((*T)(nil)).(type) {
	case *num.FP8x23:
		p = m.FP8x23
	case *num.FP16x16:
		p = m.FP16x16
	case *num.FP32x32:
		p = m.FP32x32
	case *num.FP64x64:
		p = m.FP64x64
	}
	return p.(func(dst, x []T, mode []num.FixedMode) error)
}

// mapLines gives every line of a, which is axis and the tail − 1 axes after it, new values.
// An error names the element.
func mapLines[T num.Elem](name string, a tensor.Tensor[T], axis, tail int, opts []Option, lines *fixedMap) tensor.Tensor[T] {
	s := read(opts)
	shape := a.Shape()
	t := tryOut[T](name, &s, shape)
	if t.out.Len() == 0 {
		return t.dst
	}
	c := a.Contiguous()
	data, base := c.Data()
	to, at := t.out.Mutable()
	before, n, after := elements(shape[:axis]), elements(shape[axis:axis+tail]), elements(shape[axis+tail:])
	fn, modes := fixedMapOf[T](lines), stateOf(&s, dtype.Of[T]()).modes
	exec.Split(name, s.ctx(), before*after, 30*n, func(from, till int) {
		x, y := roomFor[T](name, n), roomFor[T](name, n)
		for l := from; l < till; l++ {
			off := l/after*n*after + l%after
			conv.Pack(x, data, conv.Block{Off: base + off, Rows: 1, Cols: n, Col: after})
			err := fn(y, x, modes)
			t.bad.note(off+faultAt(err)*after, err)
			conv.Spread(to, y, conv.Block{Off: at + off, Rows: 1, Cols: n, Col: after})
		}
	})
	runtime.KeepAlive(c)
	return t.done()
}

func greaterFixed[T num.Fixed](v, best T) bool { return num.CompareFixed(v, best) > 0 }
func lessFixed[T num.Fixed](v, best T) bool    { return num.CompareFixed(v, best) < 0 }
