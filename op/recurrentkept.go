package op

import (
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// keep is WithWeights of a cell's operator.
func (k *cell) keep(o *plan.Op, c *plan.Call) (form *plan.Op, bytes int64) {
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
type directed[T num.Float] struct{ input, state, last contract.Packed[T] }

// directedOf returns the weights of a direction, not yet packed, for so many rows of the input and sequences.
func directedOf[T num.Float](k *cell, input, units, rows, batch int) directed[T] {
	wide, split := k.gates*units, 0
	if k.gates == 3 { // the last gate of GRU is a product of its own
		split = units
	}
	return directed[T]{contract.PackedOf[T](wide, input, rows), contract.PackedOf[T](wide-split, units, batch), contract.PackedOf[T](split, units, batch)}
}

// keptFor returns the packed weights of a direction of a call, nil if none are kept for its operands.
func keptFor[T num.Float](q *recurrence, direction int) *directed[T] {
	k := q.kept
	if k == nil || !sameRun(move.ElemsOf[T](&k.w), move.ElemsOf[T](q.in[1])) || !sameRun(move.ElemsOf[T](&k.r), move.ElemsOf[T](q.in[2])) {
		return nil
	}
	k.once.Do(func() {
		list, of := make([]directed[T], q.directions), directedOf[T](q.cell, q.input, q.units, q.steps*q.batch, q.batch)
		rest := make([]byte, (k.w.Len()+k.r.Len())*dtype.Of[T]().Size()+len(list)*3*64)
		for i := range list {
			p := &list[i]
			*p = of
			w, r := rowsOf[T](q, i)
			for _, x := range []struct {
				to   *contract.Packed[T]
				rows []T
			}{{&p.input, w}, {&p.state, r}, {&p.last, r[p.state.N*q.units:]}} {
				x.to.Pack(conv.Carve[T](&rest, x.to.Room()), x.rows, 1, x.to.K)
			}
		}
		k.packed = list
	})
	return &k.packed.([]directed[T])[direction]
}

// rowsOf returns the weights of a direction as they are given.
func rowsOf[T num.Float](q *recurrence, direction int) (w, r []T) {
	wide := q.cell.gates * q.units
	return move.ElemsOf[T](q.in[1])[direction*wide*q.input:][:wide*q.input], move.ElemsOf[T](q.in[2])[direction*wide*q.units:][:wide*q.units]
}

// sameRun reports whether two slices are the same.
func sameRun[T any](a, b []T) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
