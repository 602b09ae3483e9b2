package pointwise

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/tensor"
)

// Convert is Cast for run-time element types, under the name of the operator that it is a part of.
func Convert(r *tensor.Any, name string, to dtype.DType, a *tensor.Any, opts []plan.Option) {
	plan.Present(name, a)
	from := a.DType()
	j := exec.Job{Name: name, Cost: 2}
	plan.Heed(&j, opts)
	k := exec.Kernel{Via: cast.NarrowingOf(opts), Operand: from, Result: to, Stream: cast.ConvertStream(to, from)}
	ins := []*tensor.Any{a}
	if t := plan.Ready(opts, to); t != nil && !to.IsFixed() && exec.Dense(&j, t, ins, &k) {
		*r = *t
		return
	}
	generalConvert(r, &j, to, ins, &k, opts)
}

// generalConvert is convert for all other cases. Its frame is large, so it stays out of convert's.
//
//go:noinline
func generalConvert(r *tensor.Any, j *exec.Job, to dtype.DType, ins []*tensor.Any, k *exec.Kernel, opts []plan.Option) {
	s, a := plan.Read(j.Name, opts), ins[0]
	name, from := j.Name, a.DType()
	if IsLazy(a) {
		n := Note{Name: name, Cost: 2, Args: []Arg{ArgOf(name, a)}, Also: plan.Kept(opts), Alone: to.IsFixed(),
			Run: func(r *tensor.Any, in []*tensor.Any, opts []plan.Option) { Convert(r, name, to, in[0], opts) }}
		Noted(r, n, to, opts, a.LayoutRef())
		return
	}
	plan.Must(name, from != dtype.Invalid, from)
	if s.Into == nil {
		*r = reach.EmptyLike(to, *a.LayoutRef())
	} else {
		plan.Aim(r, name, &s, to, a.LayoutRef())
	}
	j.Ctx = s.Ctx()
	if to.IsFixed() {
		state := cast.StateOf(&s, to)
		j.Cost = 5
		k.Via = &cast.Fixing{S: state}
		cast.FailingOf(*j, &s, r, state, func(out *tensor.Any) { exec.Elementwise(j, out, ins, k) }, func(idx []int) error {
			return state.Again(func(s *cast.State) {
				var one exec.Word
				cast.ToFixed(one.Run(), to, exec.At(a, idx), from, s)
			})
		})
		return
	}
	exec.Elementwise(j, r, ins, k)
}

// CastTypes is the meaning of the attribute to: the codes of
// TensorProto.DataType in onnx.proto. The missing ones are 0, undefined, and 8, strings.
var CastTypes = [...]dtype.DType{1: dtype.Float32, 2: dtype.Uint8, 3: dtype.Int8, 4: dtype.Uint16, 5: dtype.Int16, 6: dtype.Int32,
	7: dtype.Int64, 9: dtype.Bool, 10: dtype.Float16, 11: dtype.Float64, 12: dtype.Uint32, 13: dtype.Uint64, 14: dtype.Complex64,
	15: dtype.Complex128, 16: dtype.BFloat16, 17: dtype.Float8E4M3, 18: dtype.Float8E4M3FNUZ, 19: dtype.Float8E5M2,
	20: dtype.Float8E5M2FNUZ, 21: dtype.Uint4, 22: dtype.Int4, 23: dtype.Float4E2M1, 24: dtype.Float8E8M0, 25: dtype.Uint2, 26: dtype.Int2}

// TypeOf returns the element type of an ONNX code.
func TypeOf(name string, code int64) dtype.DType {
	if code < 0 || code >= int64(len(CastTypes)) || CastTypes[code] == dtype.Invalid {
		panic(plan.Fail(name, tensor.ErrDType, "the code of an element type is %d; those that can be had are 1 to 7 and 9 to 26", code))
	}
	return CastTypes[code]
}

// InType returns a, or Cast of it where it has another type; of a Spec a Spec.
func InType(a tensor.Any, to dtype.DType) (r tensor.Any) {
	switch {
	case a.DType() == to:
		return a
	case a.IsSpec():
		return plan.Spec("Cast", to, a.Shape()...)
	}
	Convert(&r, "Cast", to, &a, nil)
	return r
}

// PlanCast plans Cast as ONNX has it: the operand itself if that is its own type, else a tensor with the
// layout that Clone gives.
func PlanCast(p *plan.Draft, name string, c *plan.Use, to dtype.DType) {
	a := c.With(name, 0)
	p.Gives(to, a.Shape()...)
	if to == a.DType() {
		p.View(func() tensor.Any { return *a })
		return
	}
	var flags plan.Flags
	if !to.IsFixed() && c.Attrs.Int("saturate", 1) != 0 {
		flags |= plan.Saturate
	}
	if to == dtype.Float8E8M0 {
		switch mode := c.Attrs.Str("round_mode", "up"); mode {
		case "up":
		case "down":
			flags |= plan.RoundDown
		case "nearest":
			flags |= plan.RoundNear
		default:
			panic(plan.Fail(name, tensor.ErrValue, "round_mode is %.40q; want up, down or nearest", mode))
		}
	}
	p.By(c, flags, func(r *tensor.Any, opts []plan.Option) { Convert(r, name, to, a, opts) })
}
