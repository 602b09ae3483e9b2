package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Normalizations of fixed point are exact and rounded once.

// A fixedScaler gives the elements of a line new values: by the statistics of the line
// itself, or else by a mean and a variance. scale and bias have a number for each element, or
// one, or none.
type fixedScaler interface {
	line(dst, x, scale, bias exec.Run, root bool) error
	given(dst, x, scale, bias, mean, variance exec.Run) error
	stats(mean, factor, x exec.Run) error
}

type scalerOf[T num.Fixed] struct {
	epsilon float64
	modes   []fixed.Mode
}

func fixedScalerOf(d dtype.DType, epsilon float64, modes []fixed.Mode) fixedScaler {
	switch d {
	case dtype.FP8x23:
		return scalerOf[fixed.FP8x23]{epsilon, modes}
	case dtype.FP16x16:
		return scalerOf[fixed.FP16x16]{epsilon, modes}
	case dtype.FP32x32:
		return scalerOf[fixed.FP32x32]{epsilon, modes}
	}
	return scalerOf[fixed.FP64x64]{epsilon, modes}
}

func (s scalerOf[T]) line(dst, x, scale, bias exec.Run, root bool) error {
	var norm fixed.Norm[T]
	var err error
	if line := exec.Of[T](x); root {
		var sum fixed.Sum[T]
		sum.AddProducts(line, line)
		norm, err = sum.RootNorm(len(line), s.epsilon)
	} else {
		var m fixed.Moments[T]
		m.AddRow(line)
		norm, err = m.Norm(s.epsilon)
	}
	if err != nil {
		return err
	}
	return norm.Apply(exec.Of[T](dst), exec.Of[T](x), exec.Of[T](scale), exec.Of[T](bias), s.modes...)
}

func (s scalerOf[T]) given(dst, x, scale, bias, mean, variance exec.Run) error {
	norm, err := fixed.NormOf(exec.Of[T](mean)[0], exec.Of[T](variance)[0], s.epsilon)
	if err != nil {
		return err
	}
	return norm.Apply(exec.Of[T](dst), exec.Of[T](x), exec.Of[T](scale), exec.Of[T](bias), s.modes...)
}

// stats stores the mean and the factor of a line, rounded to the format.
func (s scalerOf[T]) stats(mean, factor, x exec.Run) error {
	var m fixed.Moments[T]
	m.AddRow(exec.Of[T](x))
	v, err := m.Mean()
	exec.Of[T](mean)[0] = v
	norm, e := m.Norm(s.epsilon)
	if e == nil {
		v, e = norm.InvStdDev()
		exec.Of[T](factor)[0] = v
		if err == nil {
			err = e
		}
	}
	return err
}

// normalizeFixed normalizes the lines of x over the axes from axis on, and scales and shifts
// them by tensors that stretch to x's shape, if they are there.
func normalizeFixed(r *tensor.Any, name string, x, scale, bias *tensor.Any, axis int, epsilon float64, root bool, opts []Option) {
	plan.OneType(name, *x, *scale, *bias)
	s, d, shape := plan.Read(name, opts), x.DType(), x.Shape()
	axis = plan.AxisOf(name, axis, len(shape))
	var wide [3]tensor.Any
	for i, a := range [3]*tensor.Any{x, scale, bias} {
		if a.IsZero() {
			continue
		}
		if !move.Stretches(a.LayoutRef(), shape) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d has shape %s, which doesn't stretch to %s", i, a.LayoutRef().ShapeString(), plan.ShapeText(shape)))
		}
		wide[i] = a.BroadcastTo(shape...).Contiguous()
	}
	n := plan.Elements(shape[axis:])
	reduce.Trying(r, name, &s, d, shape, func(out *tensor.Any, bad *exec.Failure) {
		by := fixedScalerOf(d, epsilon, cast.StateOf(&s, d).Modes)
		exec.Split(name, s.Ctx(), out.Len()/n, 100*n, func(from, till int) {
			part := func(a *tensor.Any, l int) exec.Run {
				if a.IsZero() {
					return nil
				}
				return exec.Part(exec.RunIn(a), d, l*n, n)
			}
			for l := from; l < till; l++ {
				err := by.line(part(out, l), part(&wide[0], l), part(&wide[1], l), part(&wide[2], l), root)
				bad.Note(l*n+reduce.FaultAt(err), err)
			}
		})
		for i, a := range [3]*tensor.Any{x, scale, bias} {
			plan.Drop(&wide[i], a)
		}
	})
}

// statsFixed returns the means and the factors of lines, in float32.
func statsFixed(x *tensor.Any, shape []int, epsilon float64) (mean, factor tensor.Any) {
	d := x.DType()
	m, f := tensor.EmptyOf(d, shape...), tensor.EmptyOf(d, shape...)
	var bad exec.Failure
	c, by := x.Contiguous(), fixedScalerOf(d, epsilon, nil)
	for i := range m.Len() {
		n := c.Len() / m.Len()
		bad.Note(i, by.stats(exec.Part(exec.RunIn(&m), d, i, 1), exec.Part(exec.RunIn(&f), d, i, 1), exec.Part(exec.RunIn(&c), d, i*n, n)))
	}
	runtime.KeepAlive(&c)
	cast.Refuse("LayerNormalization", &bad, shape)
	pointwise.Convert(&mean, "Cast", dtype.Float32, &m, nil)
	pointwise.Convert(&factor, "Cast", dtype.Float32, &f, nil)
	return mean, factor
}

// batchFixed is BatchNormalization.
func batchFixed(r *tensor.Any, in [5]*tensor.Any, epsilon float64, opts []Option) {
	const name = "BatchNormalization"
	s, d, shape, channels := plan.Read(name, opts), in[0].DType(), in[0].Shape(), channelsOf(in[0])
	if in[0].Len() == 0 {
		plan.AimShape(r, name, &s, d, shape)
		return
	}
	var own [5]tensor.Any
	for i, a := range in {
		own[i] = a.Contiguous()
	}
	per := plan.Elements(shape[min(2, len(shape)):])
	reduce.Trying(r, name, &s, d, shape, func(out *tensor.Any, bad *exec.Failure) {
		by := fixedScalerOf(d, epsilon, cast.StateOf(&s, d).Modes)
		exec.Split(name, s.Ctx(), shape[0]*channels, 50*per, func(from, till int) {
			for i := from; i < till; i++ {
				at := func(k int) exec.Run { return exec.Part(exec.RunIn(&own[k]), d, i%channels, 1) }
				err := by.given(exec.Part(exec.RunIn(out), d, i*per, per), exec.Part(exec.RunIn(&own[0]), d, i*per, per), at(1), at(2), at(3), at(4))
				bad.Note(i*per+reduce.FaultAt(err), err)
			}
		})
		for i, a := range in {
			plan.Drop(&own[i], a)
		}
	})
}
