package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// keep is WithWeights of a cell's operator.
func (k *cell) keep(o *Op, c *Call) (form *Op, bytes int64) {
	if len(c.Inputs) < 3 {
		return o, 0
	}
	w, r := c.Inputs[1], c.Inputs[2]
	if w.IsZero() || r.IsZero() || w.IsSpec() || r.IsSpec() || w.DType() != r.DType() || w.Rank() != 3 || r.Rank() != 3 ||
		!w.IsContiguous() || !r.IsContiguous() || w.Dim(0) != r.Dim(0) || w.Dim(1) != r.Dim(1) || r.Dim(1) != k.gates*r.Dim(2) || w.Len() == 0 || r.Len() == 0 {
		return o, 0
	}
	if d := w.DType(); d != dtype.Float32 && d != dtype.Float64 {
		return o, 0
	}
	return plan.Keeping(o, &keptWeights{w: w, r: r}), int64(w.Len()+r.Len()) * int64(w.DType().Size())
}

// keptWeights is the weights of a form.
type keptWeights struct {
	w, r   tensor.Any
	once   sync.Once
	packed any // []directed[T], by direction
}

// directed is the weights of a direction: of the input, and of the state for all gates but the last one of GRU.
type directed[T num.Float] struct{ input, state, last panelled[T] }

// directedOf returns the weights of a direction, not yet packed.
func directedOf[T num.Float](q *recurrence) directed[T] {
	n, wide, split := q.units, q.cell.gates*q.units, q.split()
	return directed[T]{panelledOf[T](wide, q.input), panelledOf[T](wide-split, n), panelledOf[T](split, n)}
}

// split returns how many of the last rows of r are a product of their own.
func (q *recurrence) split() int {
	if q.cell.gates == 3 {
		return q.units
	}
	return 0
}

// keptFor returns the packed weights of a direction of a call, nil if none are kept for its operands.
func keptFor[T num.Float](q *recurrence, direction int) *directed[T] {
	k := q.kept
	if k == nil || !sameRun(move.ElemsOf[T](&k.w), move.ElemsOf[T](q.in[1])) || !sameRun(move.ElemsOf[T](&k.r), move.ElemsOf[T](q.in[2])) {
		return nil
	}
	k.once.Do(func() {
		list, size := make([]directed[T], q.directions), dtype.Of[T]().Size()
		rest := make([]byte, (k.w.Len()+k.r.Len())*size+len(list)*3*64)
		for i := range list {
			p := &list[i]
			*p = directedOf[T](q)
			w, r := p.rows(q, i)
			for _, x := range []struct {
				to   *panelled[T]
				rows []T
			}{{&p.input, w}, {&p.state, r}, {&p.last, r[p.state.n*q.units:]}} {
				x.to.packed = conv.Carve[T](&rest, x.to.n*x.to.k)
				x.to.pack(x.rows)
			}
		}
		k.packed = list
	})
	return &k.packed.([]directed[T])[direction]
}

// rows returns the weights of a direction as they are given.
func (p *directed[T]) rows(q *recurrence, direction int) (w, r []T) {
	wide := q.cell.gates * q.units
	return move.ElemsOf[T](q.in[1])[direction*wide*q.input:][:wide*q.input], move.ElemsOf[T](q.in[2])[direction*wide*q.units:][:wide*q.units]
}

// sameRun reports whether two slices are the same.
func sameRun[T any](a, b []T) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
