package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A lineFunc stores in dst what it makes of the lines of a, of n elements each and one after
// the other; w is for its own use and has room for as many of them as fit exec.RunLen elements, for one at least. dst may be a, and
// marked by simd.Past: it is written once, NaNs canonical.
type lineFunc[T num.Float] func(dst, w, a []T, n int)

// along is a call of lineFuncs on the lines of a tensor: those of narrow floats are
// widened first and rounded once.
type along[T num.Elem] struct {
	in, to     sequence // line by line
	src, dst   []T
	from, into int // the first elements of src and dst
	n          int // elements of a line
	past       bool
	f32        lineFunc[float32]
	f64        lineFunc[float64]
}

// alongAxis stores what f32 or f64 makes of the lines of a along axis in dst. tail is how
// many axes, from axis on, make up a line.
func alongAxis[T num.Elem](j exec.Job, a *tensor.Tensor[T], axis, tail int, dst *tensor.Tensor[T], f32 lineFunc[float32], f64 lineFunc[float64]) {
	if exec.Ref(dst).LayoutRef().Size() == 0 {
		return
	}
	l := along[T]{n: 1, f32: f32, f64: f64}
	for i := axis; i < axis+tail; i++ {
		l.n *= exec.Ref(a).LayoutRef().Dim(i)
	}
	l.in.lines(exec.Ref(a).LayoutRef(), axis, tail)
	l.to.lines(exec.Ref(dst).LayoutRef(), axis, tail)
	l.src, l.from = a.Data()
	l.dst, l.into = dst.Mutable()
	l.past = j.Beyond(dst.Len()*dst.DType().Size()) && !conv.Overlap(exec.Reach(exec.Ref(a)), exec.Reach(exec.Ref(dst)))
	if n, cost := l.in.n/l.n, l.n*j.Cost; j.Little(n, cost) {
		l.work(0, n)
	} else {
		c := l // here, and nowhere else, it moves to the heap
		exec.Split(j.Name, j.Ctx, n, cost, c.work)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
}

// lines makes s the elements of a layout with the tail axes from axis on the fastest.
func (s *sequence) lines(lay *layout.Layout, axis, tail int) {
	s.clear()
	for i := axis + tail - 1; i >= axis; i-- {
		s.mode(lay, i)
	}
	for i := lay.Rank() - 1; i >= 0; i-- {
		if i < axis || i >= axis+tail {
			s.mode(lay, i)
		}
	}
}

// work goes through as many lines at a time as a tile holds, or all where they lie as a lineFunc wants them.
func (l *along[T]) work(from, till int) {
	most := max(1, exec.RunLen/l.n)
	sc := exec.Scratch.Get().(*exec.Scratchpad)
	defer exec.Scratch.Put(sc)
	rest := sc.Bytes[:]
	widen, narrow := widenFor[T](), narrowFor[T]()
	direct := widen == nil && l.in.run()
	if direct && l.to.run() {
		at, end := from*l.n, till*l.n
		x := l.dst[l.into+at : l.into+end]
		if l.past {
			x = simd.Past(x)
		}
		if dtype.Of[T]() == dtype.Float32 {
			most = max(most, 2) // for softmaxLong
		}
		l.apply(x, carved[T](&rest, min(most, till-from)*l.n), l.src[l.from+at:l.from+end])
		return
	}
	room := min(most, till-from) * l.n
	var tile, w []T
	if !l.to.run() {
		tile = carved[T](&rest, room)
	}
	var wide, more []float32
	if widen == nil {
		w = carved[T](&rest, room)
	} else {
		wide, more = carved[float32](&rest, room), carved[float32](&rest, room)
	}
	for i := from; i < till; i += most {
		at, size := i*l.n, min(most, till-i)*l.n
		x := tile
		if tile == nil {
			x = l.dst[l.into+at:]
		}
		x = x[:size]
		a := x
		if direct {
			a = l.src[l.from+at : l.from+at+size]
		} else {
			gather(&l.in, x, l.src, l.from, at)
		}
		if widen == nil {
			l.apply(x, w, a)
		} else {
			widen(wide[:size], x)
			l.f32(wide[:size], more, wide[:size], l.n)
			narrow(x, wide[:size])
		}
		if tile != nil {
			scatter(&l.to, l.dst, x, l.into, at)
		}
	}
}

// apply calls the lineFunc of T.
func (l *along[T]) apply(dst, w, a []T) {
	switch dst := any(dst).(type) {
	case []float32:
		l.f32(dst, conv.As[float32](w), conv.As[float32](a), l.n)
	case []float64:
		l.f64(dst, conv.As[float64](w), conv.As[float64](a), l.n)
	}
}

// carved returns n elements of a scratch, or others where it has no room.
func carved[T num.Elem](scratch *[]byte, n int) []T {
	if n*dtype.Of[T]().Size() > len(*scratch)-64 {
		return make([]T, n)
	}
	return conv.Carve[T](scratch, n)
}
