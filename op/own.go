package op

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Info describes an operator of a program.
type Info struct {
	Name, Domain string                   // a node of a model names both
	Versions     []int                    // the opsets that (re)defined it and whose meaning this is
	Attributes   []string                 // that it understands; a node with another is refused
	Supports     func(d dtype.DType) bool // whether input 0 may hold d; nil is every type
	// FLOPs returns how many floating-point operations a call with such results does, a product and a sum being two. It
	// gets descriptions, tensor.Specs, where values aren't known. Less than 0, and nil, is a number that nobody knows.
	FLOPs func(c *Call, out []tensor.Any) int64
	// Scratch returns how many bytes a call with such results asks the function Scratch for, in all. It gets descriptions
	// where values aren't known. nil is none.
	Scratch func(c *Call, out []tensor.Any) int64
}

// New returns an operator of a program. infer returns the types and shapes of the outputs as tensor.Specs, from inputs that
// may be Specs, too; its error wraps ErrUnknown when a value that it needs is missing. run computes the outputs, and may
// return inputs or views of them.
//
// A call is an error that names the operator if a function panics, if run returns other types or shapes than infer said,
// and if it asks for more memory than Info.Scratch said. New panics with a *tensor.Error without a name or a function.
func New(info Info, infer, run func(c *Call) ([]tensor.Any, error)) *Op {
	if info.Name == "" || infer == nil || run == nil {
		panic(plan.Fail("New", tensor.ErrValue, "an operator needs a name, infer and run"))
	}
	o := &own{info, infer, run}
	says := plan.About{Name: info.Name, Domain: info.Domain, Versions: info.Versions, Attrs: info.Attributes, Unsteady: true}
	return (*Op)(plan.Own(says, info.Supports, o.plan))
}

// own is an operator of a program.
type own struct {
	Info
	infer, run func(c *Call) ([]tensor.Any, error)
}

func (o *own) plan(use *plan.Use, p *plan.Draft) {
	if o.Supports != nil && len(use.Inputs) > 0 && !use.Inputs[0].IsZero() {
		d := use.Inputs[0].DType()
		plan.Must(o.Name, o.Supports(d), d)
	}
	c := (*Call)(&use.Call)
	p.Late = func() (out []tensor.Any) {
		out, p.Err = o.guard("infer", func() ([]tensor.Any, error) { return o.infer(c) })
		if p.Err == nil {
			p.Err = o.price(c, p, out)
		}
		return out
	}
	p.Run = func() {
		said, err := p.Out, error(nil)
		if said == nil {
			if said, err = o.guard("infer", func() ([]tensor.Any, error) { return o.infer(c) }); err != nil && !errors.Is(err, ErrUnknown) {
				p.Err = err
				return
			}
		}
		p.To, p.Err = o.compute(c, said)
	}
}

// price notes what a call with such results takes.
func (o *own) price(c *Call, p *plan.Draft, out []tensor.Any) error {
	_, err := o.guard("FLOPs or Scratch", func() ([]tensor.Any, error) {
		if o.FLOPs != nil {
			p.Costs(o.FLOPs(c, out))
		}
		if o.Scratch != nil {
			p.Takes(float64(max(0, o.Scratch(c, out))), 0)
		}
		return nil, nil
	})
	return err
}

// compute runs a call, whose results are as said unless that is nil.
func (o *own) compute(c *Call, said []tensor.Any) ([]tensor.Any, error) {
	r, d := room{name: o.Name}, *c
	if d.Context == nil {
		d.Context = context.Background()
	}
	d.Context = context.WithValue(d.Context, roomKey{}, &r)
	defer r.scratch.Close()
	out, err := o.guard("run", func() ([]tensor.Any, error) {
		if o.Scratch != nil {
			r.left.Store(max(0, o.Scratch(c, said)))
		}
		return o.run(&d)
	})
	if err != nil || said == nil {
		return out, err
	}
	if len(out) != len(said) {
		return nil, plan.Fail(o.Name, tensor.ErrShape, "its run returns %d results, its infer says %d", len(out), len(said))
	}
	for i, a := range out {
		if is, want := typeAndShape(a), typeAndShape(said[i]); is != want {
			return nil, plan.Fail(o.Name, tensor.ErrShape, "result %d of its run is %s, its infer says %s", i, is, want)
		}
	}
	return out, nil
}

// typeAndShape writes the type and the shape of a result.
func typeAndShape(a tensor.Any) string {
	if a.IsZero() {
		return "absent"
	}
	return a.DType().String() + plan.ShapeText(a.Shape())
}

// guard calls a function of the program, and makes its panic an error.
func (o *own) guard(name string, f func() ([]tensor.Any, error)) (out []tensor.Any, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, plan.Fail(o.Name, tensor.ErrValue, "its %s panics: %v", name, r)
		}
	}()
	if e := tensor.Try(func() { out, err = f() }); e != nil {
		return nil, plan.Fail(o.Name, e, "its %s panics: %v", name, e)
	}
	return out, err
}

// room is the memory of a run of a program's operator.
type room struct {
	name    string
	left    atomic.Int64 // bytes that it may ask for
	scratch mem.Scratch
}

type roomKey struct{}

// Scratch returns n zeroed bytes for the time of a run of a program's operator, whose Call has ctx as its Context; 64 bytes
// align them. The run's end closes them. They count for Info.Scratch, and more bytes than it said are an error that names the
// operator and wraps tensor.ErrMemory. It is safe for several goroutines. Another context is an error.
func Scratch(ctx context.Context, n int) (*mem.Buffer, error) {
	r, ok := contextOf("Scratch", ctx).Value(roomKey{}).(*room)
	if !ok {
		return nil, plan.Fail("Scratch", tensor.ErrValue, "the context is none of a program's operator that runs")
	}
	if n > 0 {
		if left := r.left.Add(int64(-n)); left < 0 {
			return nil, plan.Fail(r.name, tensor.ErrMemory, "its run asks for %d bytes more than its Info.Scratch says", -left)
		}
	}
	return r.scratch.Alloc(n)
}
