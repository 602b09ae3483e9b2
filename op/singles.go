package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// A singles has room for the float32s of a call on narrow floats.
type singles struct {
	exec.Job
	buf  *mem.Buffer
	used int
}

// singlesPool keeps room from one call to the next. The collector empties it.
var singlesPool = sync.Pool{New: func() any { return new(singles) }}

// singlesFor returns room for float32s in the place of some tensors, of which one may be nil. It panics where there is no memory.
func singlesFor(j exec.Job, tensors ...*tensor.Any) *singles {
	n := 0
	for _, a := range tensors {
		if a != nil {
			n += min(4*min(a.Len(), math.MaxInt/8)+64, math.MaxInt-n)
		}
	}
	w := singlesPool.Get().(*singles)
	if j.Cost = 1; w.buf == nil || w.buf.Len() < n {
		b, err := mem.AllocDirty(max(n, 64<<10))
		if err != nil {
			panic(plan.Fail(j.Name, tensor.ErrMemory, "it needs room for %d bytes: %v", n, err))
		}
		if w.buf != nil {
			w.buf.Close()
		}
		w.buf = b
	}
	w.Job, w.used = j, 0
	return w
}

// empty returns a row-major tensor of any float32s.
func (w *singles) empty(shape ...int) tensor.Any {
	lay, err := layout.RowMajor(shape...)
	if err != nil {
		panic(err)
	}
	a, err := tensor.FromBytes(dtype.Float32, w.buf, w.used, lay)
	if err != nil {
		panic(err)
	}
	w.used += (4*a.Len() + 63) &^ 63
	return a
}

// widened returns a float32 copy of a.
func (w *singles) widened(a *tensor.Any) tensor.Any {
	wide := w.empty(a.Shape()...)
	exec.Elementwise(&w.Job, &wide, []*tensor.Any{a}, &exec.Kernel{Row: exec.RowOf(cast.WidenOf(a.DType()))})
	return wide
}

// done writes the result to r, and gives the room back.
func (w *singles) done(r, wide *tensor.Any) {
	exec.Elementwise(&w.Job, r, []*tensor.Any{wide}, &exec.Kernel{Row: exec.RowOf(cast.NarrowOf(r.DType()))})
	w.Job = exec.Job{}
	singlesPool.Put(w)
}
