package exec

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/tensor"
)

// along is a call of a LineRow on the lines of a tensor: lines of narrow floats are
// widened first and rounded once.
type along struct {
	in, to        Sequence // line by line
	src, dst      []byte
	from, into    int // the first elements of src and dst
	n             int // elements of a line
	dtype         dtype.DType
	stream        bool // stores are non-temporal where a row can
	row           LineRow
	widen, narrow Row1
}

// Lines stores in dst the results of row for the lines of a along axis. tail is how many
// axes, from axis on, make up a line. widen and narrow, where they aren't nil, convert from
// and to the type of a; row takes float32 then.
func Lines(j Job, a *tensor.Any, axis, tail int, dst *tensor.Any, row LineRow, widen, narrow Row1) {
	if walk.Ref(dst.LayoutRef()).Size() == 0 {
		return
	}
	l := along{n: 1, dtype: a.DType(), row: row, widen: widen, narrow: narrow}
	for i := axis; i < axis+tail; i++ {
		l.n *= walk.Ref(a.LayoutRef()).Dim(i)
	}
	l.in.lines(a.LayoutRef(), axis, tail)
	l.to.lines(dst.LayoutRef(), axis, tail)
	l.src, l.from = a.Memory()
	l.dst, l.into = dst.Memory()
	l.stream = j.ahead(dst.Len()*dst.DType().Size()) != nil && !conv.Overlap(Reach(a), Reach(dst))
	if n, cost := l.in.N/l.n, l.n*j.Cost; j.Little(n, cost) {
		l.work(0, n)
	} else {
		c := l // here, and nowhere else, it moves to the heap
		Split(j.Name, j.Ctx, n, cost, c.work)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(dst)
}

// work goes through as many lines at a time as fit a packed copy, or all where they lie as a LineRow wants them.
func (l *along) work(from, till int) {
	most := max(1, RunLen/l.n)
	sc := Scratch.Get().(*Scratchpad)
	defer Scratch.Put(sc)
	rest := sc.Bytes[:]
	s := shifts[l.dtype]
	direct := l.widen == nil && l.in.run()
	if direct && l.to.run() {
		at, n := from*l.n, (till-from)*l.n
		x := part(l.dst, l.dtype, l.into+at, n)
		if l.dtype == dtype.Float32 {
			most = max(most, 2) // for long lines of Softmax
		}
		l.row(x, run(carved(&rest, min(most, till-from)*l.n<<s), s), part(l.src, l.dtype, l.from+at, n), l.n, l.stream)
		return
	}
	room := min(most, till-from) * l.n
	var packed []byte
	var w, wide Run
	if !l.to.run() {
		packed = carved(&rest, room<<s)
	}
	if l.widen == nil {
		w = run(carved(&rest, room<<s), s)
	} else {
		wide, w = run(carved(&rest, room<<2), 2), run(carved(&rest, room<<2), 2)
	}
	for i := from; i < till; i += most {
		at, size := i*l.n, min(most, till-i)*l.n
		b := packed
		if packed == nil {
			b = l.dst[(l.into+at)<<s:]
		}
		b = b[:size<<s]
		x := run(b, s)
		a := x
		if direct {
			a = part(l.src, l.dtype, l.from+at, size)
		} else {
			l.in.gather(b, l.src, l.dtype, l.from, at)
		}
		if l.widen == nil {
			l.row(x, w, a, l.n, false)
		} else {
			l.widen(wide[:size], x)
			l.row(wide[:size], w, wide[:size], l.n, false)
			l.narrow(x, wide[:size])
		}
		if packed != nil {
			l.to.scatter(l.dst, b, l.dtype, l.into, at)
		}
	}
}

// carved returns n bytes of a scratch, or others where it has no room.
func carved(scratch *[]byte, n int) []byte {
	if n > len(*scratch)-64 {
		return make([]byte, n)
	}
	return carve(scratch, n)
}
