package pointwise

import (
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// tail returns what takes elements of operand k to those of the result; nil for a type that isn't computed in itself, and for
// another operand that has neither one element for each of the result, nor one for each channel, nor one in all.
func (o *Operator) tail(ins []*tensor.Any, k int, numbers [2]exec.Word) plan.Tail {
	x := ins[k]
	d := x.DType()
	if d != dtype.Float32 && d != dtype.Float64 || o.gives(d) != d || len(ins) > 2 || x.Rank() < 2 {
		return nil
	}
	kernel := o.Kernel(d)
	if kernel.P, kernel.Q = numbers[0], numbers[1]; kernel.Row.None() {
		return nil
	}
	if len(ins) == 1 {
		return func(lines exec.Run, _, _, _ int) { kernel.Apply(lines, [3]exec.Run{lines}) }
	}
	other := ins[1-k]
	if other.IsSpec() {
		return func(exec.Run, int, int, int) {}
	}
	apply := func(line, with exec.Run) {
		if k == 0 {
			kernel.Apply(line, [3]exec.Run{line, with})
		} else {
			kernel.Apply(line, [3]exec.Run{with, line})
		}
	}
	if !other.IsContiguous() {
		return nil
	}
	if slices.Equal(x.Shape(), other.Shape()) {
		return func(lines exec.Run, at, _, _ int) { apply(lines, exec.Part(exec.RunIn(other), d, at, len(lines))) }
	}
	image, channel, ok := steps(x, other)
	if !ok {
		return nil
	}
	size := x.Len() / max(1, x.Dim(0)) // of an image
	return func(lines exec.Run, at, c, channels int) {
		room := repeated.Get().(*[512]float64)
		defer repeated.Put(room)
		all, per := exec.RunIn(other), len(lines)/channels
		with := exec.Part(exec.RunOf(room[:]), d, 0, min(per, len(room)))
		for k := range channels {
			v := exec.Part(all, d, at/size*image+(c+k)*channel, 1)
			if d == dtype.Float32 {
				conv.Fill(exec.Of[float32](with), exec.Of[float32](v)[0])
			} else {
				conv.Fill(exec.Of[float64](with), exec.Of[float64](v)[0])
			}
			for i := 0; i < per; i += len(with) {
				n := min(len(with), per-i)
				apply(exec.Part(lines, d, k*per+i, n), exec.Part(with, d, 0, n))
			}
		}
	}
}

// Kernel returns what computes runs of a type that is computed in itself.
func (o *Operator) Kernel(d dtype.DType) (k exec.Kernel) {
	row, fast := o.Rows.Of(d)
	if k.Row = row; !fast && !o.Clean {
		k.Canon = cast.CanonOf(o.gives(d))
	}
	return k
}

// Follows reports whether the operator may be a plan.Tail.
func (o *Operator) Follows() bool {
	return o.Rows.Operands() <= 2 && o.gives(dtype.Float32) == dtype.Float32 && !o.Row(dtype.Float32).None()
}

// repeated holds one element many times.
var repeated = sync.Pool{New: func() any { return new([512]float64) }}

// steps returns how far apart the elements of other, which is contiguous, are for neighbouring images and channels of x. It reports false
// if it has several for a channel.
func steps(x, other *tensor.Any) (image, channel int, ok bool) {
	step := 1
	for i := range other.Rank() {
		axis, n := other.Rank()-1-i, x.Rank()-1-i
		switch e := other.Dim(axis); {
		case e == 1:
		case n == 1:
			channel, step = step, step*e
		case n == 0:
			image = step
		default:
			return 0, 0, false
		}
	}
	return image, channel, true
}
