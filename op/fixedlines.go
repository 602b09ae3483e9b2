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

// Reductions and other functions of whole lines of fixed point: a line is gathered, unless
// it is a run in memory, and handed over. Sums are exact and rounded once, so that the
// order of a line doesn't matter.

// fixedLine has a function of a line for each format.
type fixedLine struct {
	FP8x23  func(x []num.FP8x23, mode []num.FixedMode) (num.FP8x23, error)
	FP16x16 func(x []num.FP16x16, mode []num.FixedMode) (num.FP16x16, error)
	FP32x32 func(x []num.FP32x32, mode []num.FixedMode) (num.FP32x32, error)
	FP64x64 func(x []num.FP64x64, mode []num.FixedMode) (num.FP64x64, error)
}

func fixedLineOf[T num.Elem](l *fixedLine) func(x []T, mode []num.FixedMode) (T, error) {
	var p any
	switch any((*T)(nil)).(type) {
	case *num.FP8x23:
		p = l.FP8x23
	case *num.FP16x16:
		p = l.FP16x16
	case *num.FP32x32:
		p = l.FP32x32
	case *num.FP64x64:
		p = l.FP64x64
	}
	return p.(func(x []T, mode []num.FixedMode) (T, error))
}

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

// reduceFixed reduces each line of a to one element.
func reduceFixed[T num.Elem](name string, a tensor.Tensor[T], list []int, opts []Option, lines *fixedLine) tensor.Tensor[T] {
	return reduceLines(name, a, list, opts, fixedLineOf[T](lines))
}

func reduceLines[T, R num.Elem](name string, a tensor.Tensor[T], list []int, opts []Option, fn func(x []T, mode []num.FixedMode) (R, error)) tensor.Tensor[R] {
	s := read(opts)
	s.keepDims = s.keepDims || s.orion && keepsVectors(name) && a.Rank() == 1
	var x axes
	t := tryOut[R](name, &s, reduced(&x, nil, name, exec.Ref(&a).LayoutRef(), list, s.keepDims))
	if t.out.Len() == 0 {
		return t.dst
	}
	data, base := a.Data()
	to, at := t.out.Mutable()
	var od sequence
	od.of(exec.Ref(&t.out).LayoutRef())
	modes := stateOf(&s, dtype.Of[T]()).modes
	exec.Split(name, s.ctx(), od.n, max(1, 4*x.gone.n), func(from, till int) {
		var line []T
		for o := from; o < till; o++ {
			first, n := base+x.kept.offset(o), x.gone.n
			if n > 0 && x.gone.run() {
				line = data[first : first+n]
			} else {
				if cap(line) < n || o == from {
					line = roomFor[T](name, n)
				}
				gather(&x.gone, line[:n], data, first, 0)
			}
			v, err := fn(line[:n], modes)
			t.bad.note(o, err)
			to[at+od.offset(o)] = v
		}
	})
	runtime.KeepAlive(a)
	return t.done()
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
