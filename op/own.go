package op

import (
	"context"
	"errors"
	"math"
	"sync"

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
	// FLOPs returns how many floating-point operations a call does whose results are out, a product and a sum being two.
	// Inputs and results may be descriptions, tensor.Specs. Less than 0, and nil, is a number that nobody knows.
	FLOPs func(c *Call, out []tensor.Any) int64
	// Scratch returns how many bytes a call whose results are out asks the function Scratch for, in all. Inputs and results
	// may be descriptions. nil is none. A call whose results infer doesn't know before the run has no bound.
	Scratch func(c *Call, out []tensor.Any) int64
}

// New returns an operator of a program.
//
// infer returns the types and shapes of the outputs as tensor.Specs. Its inputs may be Specs, too. Its error wraps
// ErrUnknown when a value that it needs is missing. run computes the outputs. It may return inputs or views of them.
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
		if out, p.Err = o.inferred(c); p.Err == nil {
			p.Price, p.Err = o.price(c, out)
		}
		return out
	}
	p.Run = func() {
		said := p.Out
		if said == nil {
			if said, p.Err = o.inferred(c); p.Err != nil && !errors.Is(p.Err, ErrUnknown) {
				return
			}
		}
		p.To, p.Err = o.compute(c, said)
	}
}

// inferred returns the results as infer says them.
func (o *own) inferred(c *Call) ([]tensor.Any, error) {
	return o.guard("infer", func() ([]tensor.Any, error) { return o.infer(c) })
}

// price returns the price of a call whose results are out.
func (o *own) price(c *Call, out []tensor.Any) (p plan.Price, err error) {
	_, err = o.guard("FLOPs", func() ([]tensor.Any, error) {
		if o.FLOPs != nil {
			p.Costs(o.FLOPs(c, out))
		}
		return nil, nil
	})
	if err == nil {
		var n int64
		n, err = o.bytes(c, out)
		p.Takes(float64(n), 0)
	}
	return p, err
}

// bytes returns how many bytes a call whose results are out may ask for.
func (o *own) bytes(c *Call, out []tensor.Any) (n int64, err error) {
	_, err = o.guard("Scratch", func() ([]tensor.Any, error) {
		if o.Scratch != nil {
			n = max(0, o.Scratch(c, out))
		}
		return nil, nil
	})
	return n, err
}

// compute runs a call, whose results are as said unless that is nil.
func (o *own) compute(c *Call, said []tensor.Any) (out []tensor.Any, err error) {
	r, d := room{name: o.Name, left: math.MaxInt64}, *c
	if said != nil {
		if r.left, err = o.bytes(c, said); err != nil {
			return nil, err
		}
	}
	if d.Context == nil {
		d.Context = context.Background()
	}
	d.Context = context.WithValue(d.Context, roomKey{}, &r)
	defer r.end()
	if out, err = o.guard("run", func() ([]tensor.Any, error) { return o.run(&d) }); err != nil || said == nil {
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

// guard calls a function of the program, and makes its panic an error. There is no list beside an error.
func (o *own) guard(name string, f func() ([]tensor.Any, error)) (out []tensor.Any, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, plan.Fail(o.Name, tensor.ErrValue, "its %s panics: %v", name, r)
		}
	}()
	if e := tensor.Try(func() { out, err = f() }); e != nil {
		err = plan.Fail(o.Name, e, "its %s panics: %v", name, e)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// room is the memory of a run of a program's operator.
type room struct {
	name  string
	mu    sync.Mutex
	left  int64 // bytes that it may ask for
	given []*mem.Buffer
	ended bool
}

// end takes the memory back.
func (r *room) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.given {
		_ = b.Close() // of memory of its own there is no error
	}
	r.given, r.ended = nil, true
}

type roomKey struct{}

// Scratch returns n zeroed bytes for the time of a run of a program's operator, whose Call has ctx as its Context; 64 bytes
// align them. The run's end closes them. They count for Info.Scratch. More bytes than it said are an error that names the
// operator and wraps tensor.ErrMemory. After the run's end it is an error that wraps tensor.ErrClosed. It is safe for
// several goroutines. Another context is an error.
func Scratch(ctx context.Context, n int) (*mem.Buffer, error) {
	r, ok := contextOf("Scratch", ctx).Value(roomKey{}).(*room)
	if !ok {
		return nil, plan.Fail("Scratch", tensor.ErrValue, "the context is none of a program's operator that runs")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return nil, plan.Fail(r.name, tensor.ErrClosed, "its run has ended, and asks for %d bytes; wait for goroutines before it returns", n)
	case int64(n) > r.left:
		return nil, plan.Fail(r.name, tensor.ErrMemory, "its run asks for %d bytes, and has %d of its Info.Scratch left", n, r.left)
	}
	b, err := mem.Alloc(n)
	if err == nil {
		r.left -= int64(n)
		r.given = append(r.given, b)
	}
	return b, err
}
