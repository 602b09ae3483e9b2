package meta

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// operand returns a value for an operand: one that lives, made to fit, or a new one.
func (d *drawing) operand(x optest.SampleInput) (string, error) {
	if x.Fixed && !d.one(16) || d.one(4) || x.Value.Len() == 0 && !d.one(4) {
		return d.value(x)
	}
	shape, t := x.Value.Shape(), x.Value.DType()
	name, ok := d.pick(func(v onnx.Value) bool { return v.Tensor().DType() == t && slices.Equal(v.Tensor().Shape(), shape) })
	switch {
	case ok && !d.one(8):
		return name, nil
	case !d.one(3):
		return d.value(x)
	}
	if name, ok = d.pick(func(v onnx.Value) bool { return v.Tensor().DType() == t && v.Tensor().Len() > 0 }); !ok || d.flag(casts) && d.one(8) {
		if name, ok = d.pick(func(v onnx.Value) bool { return v.Tensor().Len() > 0 }); !ok {
			return d.value(x)
		}
	}
	if d.s[name].Tensor().DType() != t {
		cast, err := d.node("Cast", []string{name}, onnx.IntAttr("to", int64(onnx.ElemOf(t))))
		if err != nil {
			return d.value(x)
		}
		name = cast
	}
	if slices.Equal(d.s[name].Tensor().Shape(), shape) {
		return name, nil
	}
	return d.fit(name, shape)
}

// bands sets whole slices of some tensors of floats, along an axis, to one of two numbers: no numbers, or ones that Exp takes
// to 0 or to +∞.
func (d *drawing) bands(a tensor.Any) {
	if a.Rank() == 0 || a.Len() == 0 || !a.DType().IsFloat() || !d.one(3) {
		return
	}
	list := []float64{math.Inf(-1), math.Inf(-1), -800, -800, 800, math.Inf(1), math.NaN(), math.Copysign(0, -1)}
	two := [2]float64{list[d.r.IntN(len(list))], list[d.r.IntN(len(list))]}
	axis := d.r.IntN(a.Rank())
	for i := range a.Dim(axis) {
		if d.one(8) {
			continue
		}
		at := make([]tensor.Index, axis+1)
		for k := range at {
			at[k] = tensor.R(0, a.Dim(k))
		}
		at[axis] = tensor.I(i)
		row, v := a.Slice(at...), two[d.r.IntN(2)]
		if x, ok := tensor.As[float32](row); ok {
			x.Fill(float32(v))
		} else if x, ok := tensor.As[float64](row); ok {
			x.Fill(v)
		} else if x, ok := tensor.As[num.F16](row); ok {
			x.Fill(num.FromFloat64[num.F16](v))
		}
	}
}

// ints makes integers a constant of the graph.
func (d *drawing) ints(list ...int64) (string, error) {
	return d.value(optest.SampleInput{Value: tensor.FromSlice(list, len(list)).Any(), Fixed: true})
}

// fit adds nodes that give a value another shape. Its elements repeat, or some are left out.
func (d *drawing) fit(name string, shape []int) (string, error) {
	a := d.s[name].Tensor()
	want := 1
	dims := make([]int64, len(shape))
	for i, e := range shape {
		want *= e
		dims[i] = int64(e)
	}
	if a.Len() != want || d.one(4) {
		flat, err := d.ints(-1)
		if err != nil {
			return "", err
		}
		if name, err = d.node("Reshape", []string{name, flat}); err != nil {
			return "", err
		}
		switch n := a.Len(); {
		case want <= n && d.flag(views):
			from := d.r.IntN(n - want + 1)
			step := int64(1)
			if want > 1 {
				step += d.r.Int64N(max(1, int64((n-from-1)/(want-1))))
			}
			lo, hi := int64(from), int64(from)+step*int64(want-1)+1
			if d.one(3) { // backward
				lo, hi, step = hi-1, lo-1, -step
				if hi < 0 {
					hi = -int64(n) - 1
				}
			}
			name, err = d.sliced(name, lo, hi, step)
		default:
			at := make([]int64, want)
			for i := range at {
				at[i] = d.r.Int64N(int64(n))
			}
			var list string
			if list, err = d.ints(at...); err == nil {
				name, err = d.node("Gather", []string{name, list})
			}
		}
		if err != nil {
			return "", err
		}
	}
	to, err := d.ints(dims...)
	if err != nil {
		return "", err
	}
	return d.node("Reshape", []string{name, to})
}

func (d *drawing) sliced(name string, lo, hi, step int64) (string, error) {
	in := []string{name}
	for _, v := range []int64{lo, hi, 0, step} {
		list, err := d.ints(v)
		if err != nil {
			return "", err
		}
		in = append(in, list)
	}
	return d.node("Slice", in)
}

// view adds a node whose result is a view, most often of the newest value.
func (d *drawing) view() error {
	name, ok := d.pick(func(v onnx.Value) bool { return v.Tensor().Len() > 0 && len(v.Shape()) > 0 })
	if !ok {
		return errNone
	}
	shape := d.s[name].Shape()
	rank := len(shape)
	in, n := []string{name}, onnx.Node{}
	var list string
	var err error
	switch d.r.IntN(6) {
	case 5:
		n.Op = "Identity"
	case 0, 1:
		perm := make([]int64, rank)
		for i, k := range d.r.Perm(rank) {
			perm[i] = int64(k)
		}
		n = onnx.Node{Op: "Transpose", Attributes: []onnx.Attribute{onnx.IntsAttr("perm", perm...)}}
	case 2:
		n.Op = "Reshape"
		list, err = d.ints(-1)
	case 3:
		n.Op = "Unsqueeze"
		list, err = d.ints(int64(d.r.IntN(rank + 1)))
	default:
		lo := int64(d.r.IntN(shape[0]))
		_, err = d.sliced(name, lo, lo+1+d.r.Int64N(int64(shape[0])-lo), 1)
		return err
	}
	if err != nil {
		return err
	}
	if list != "" {
		in = append(in, list)
	}
	n.Inputs = in
	_, err = d.add(n)
	return err
}
