package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Range is ONNX's: start, start+delta, … before limit, as many as (limit-start)/delta
// rounded up; element i is start + i·delta, for the narrow floats in float32, or in
// float64 if stash_type says so, and then rounded once. A delta of 0 is an error, as is
// a number that isn't finite. Typed programs call tensor.Arange.
var rangeOp = plan.Operator{About: plan.About{Name: "Range", Shapes: true, FLOPs: plan.FLOPs{Free: true}, Versions: []int{11, 27}, Attrs: []string{"stash_type"}, Why: "ONNX counts in 16 bits and more alone"}, Least: 3, Takes: plan.Integers | plan.Fixeds | 1<<dtype.Float16 | 1<<dtype.BFloat16 | 1<<dtype.Float32 | 1<<dtype.Float64,
	Planned: func(c *plan.Use, p *plan.Draft) {
		if !p.Brief {
			_, n := ranged(c, false)
			p.Gives(c.In(0).DType(), n)
		}
		p.Run = func() {
			r, _ := ranged(c, true)
			p.To = plan.One(r)
		}
	}}

// ranged returns the range that a node asks for, and its length. Without fill it makes none
// but of fixed point.
func ranged(c *plan.Use, fill bool) (r tensor.Any, n int) {
	const name = "Range"
	plan.OneType(name, c.Inputs[:3]...)
	d := c.In(0).DType()
	var v [3]exec.Word
	for i := range v {
		a := c.Values(name, i)
		if a.Len() != 1 {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want one number", i, tensor.Describe(*a)))
		}
		v[i] = wideWord(d, exec.Item(a))
	}
	to, ok, precise := d, false, false
	if d.IsNarrow() {
		to = dtype.Float32
		stash := pointwise.TypeOf(name, c.Attrs.Int("stash_type", 1))
		if precise = stash == dtype.Float64; !precise && stash != to {
			panic(plan.Fail(name, tensor.ErrValue, "stash_type is %v; want float32 or float64", stash))
		}
	}
	if n, ok = ranges[to](&r, to, &v, fill && !precise); !ok {
		panic(plan.Fail(name, tensor.ErrValue, "no range from %v to %v by %v; the step must not be 0, all three must be finite, and the count must fit an int",
			onlyOf(c.In(0)), onlyOf(c.In(1)), onlyOf(c.In(2))))
	}
	switch {
	case !fill || to == d:
	case precise:
		r = tensor.EmptyOf(d, n)
		from, by := float64(exec.Number[float32](&v[0])), float64(exec.Number[float32](&v[2]))
		for i, w := 0, move.NumericOf(move.WordsOf(r)); i < n; i++ {
			w.SetFloat(i, from+float64(float64(i)*by))
		}
	default:
		wide := r
		pointwise.Convert(&r, name, d, &wide, nil)
	}
	return r, n
}

// onlyOf returns the element of a tensor of one.
func onlyOf(a tensor.Any) any { return a.At(make([]int, a.Rank())...) }

// ranges makes a range of each type that is computed in, of a start, a limit and a delta. Fixed
// point of up to 64 bits is counted by its words.
var ranges = [dtype.Count]func(r *tensor.Any, d dtype.DType, v *[3]exec.Word, fill bool) (n int, ok bool){
	dtype.Int8: rangeOf[int8], dtype.Int16: rangeOf[int16], dtype.Int32: rangeOf[int32], dtype.Int64: rangeOf[int64],
	dtype.Uint8: rangeOf[uint8], dtype.Uint16: rangeOf[uint16], dtype.Uint32: rangeOf[uint32], dtype.Uint64: rangeOf[uint64],
	dtype.Float32: rangeOf[float32], dtype.Float64: rangeOf[float64],
	dtype.FP8x23: rangeOf[int32], dtype.FP16x16: rangeOf[int32], dtype.FP32x32: rangeOf[int64], dtype.FP64x64: rangeOfWide}

func rangeOf[T num.Native](r *tensor.Any, d dtype.DType, v *[3]exec.Word, fill bool) (n int, ok bool) {
	from, by := exec.Number[T](&v[0]), exec.Number[T](&v[2])
	n, ok = conv.RangeCount(from, exec.Number[T](&v[1]), by)
	if ok && fill {
		*r = tensor.EmptyOf(d, n)
		conv.Range(exec.Of[T](exec.RunIn(r)), from, by)
	}
	return n, ok
}

func rangeOfWide(r *tensor.Any, _ dtype.DType, v *[3]exec.Word, _ bool) (n int, ok bool) {
	*r = tensor.Arange(exec.Number[fixed.FP64x64](&v[0]), exec.Number[fixed.FP64x64](&v[1]), exec.Number[fixed.FP64x64](&v[2])).Any()
	return r.Len(), true
}
