package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Info describes an operator of a program.
type Info struct {
	Name, Domain string // a node of a model names both
	// Versions are the opsets of Domain that (re)defined it and whose meaning this is. A node means the last of them that
	// isn't above the opset that its model imports. nil is 1.
	Versions []int
	// Attributes are the names that it understands: a node with another is refused. A call outside a graph isn't asked.
	Attributes []string
	Supports   func(d dtype.DType) bool // whether input 0 may hold d; nil is every type
	// FLOPs returns how many floating-point operations a call does whose results are out, a product and a sum being two.
	// Inputs and results may be descriptions, tensor.Specs. Less than 0, and nil, is a number that nobody knows. Where a
	// model leaves a size open it isn't called.
	FLOPs func(c *Call, out []tensor.Any) int64
	// Scratch returns how many bytes a call whose results are out asks the function Scratch for, in all: neither the results
	// nor what aligns the bytes. Inputs and results may be descriptions. nil, and less than 0, is none. A call whose results
	// infer doesn't know before the run has no bound.
	Scratch func(c *Call, out []tensor.Any) int64
}

// New returns an operator of a program. Its Run and Plan work by themselves, and a model's nodes may name it:
//
//	square := op.New(op.Info{Name: "Square", Domain: "com.example"}, infer, run)
//	b := onnx.NewBuilder("graph")
//	b.Import("com.example", 1)
//	y := b.Node("com.example.Square", []string{b.Input("x", dtype.Float32, "n")})
//	b.Output(y, dtype.Float32, "n")
//	m, err := b.Model(21)
//	m.Operators = []*op.Op{square} // of a model that is read, too, before Check and NewSession
//
// infer returns the types and shapes of all outputs as tensor.Specs. Its inputs may be Specs, too. Its error wraps
// ErrUnknown when a value that it needs is missing. run computes all outputs, whatever Call.Outputs is. It may return
// inputs or views of them. Both test the number of inputs: optional ones at the end may be missing from the list. Inputs
// may have any layout. No function gets nil Attrs, and run no nil Context. Several goroutines may call them at once.
//
// A model calls infer often, and it must have no effects. Where sizes are open, Check and NewSession give it Specs with 1
// for each of them, and take the element types of the results alone. So its refusals come with Session.Plan and Run.
//
// Errors of the functions get the operator's name before them. A call is an error with that name, too, if a function
// panics, if run returns other types or shapes than infer said, and if it asks for more memory than Info.Scratch said. A
// panic's error says the line, and wraps the value where that is an error. New panics with a *tensor.Error without a name
// or a function.
func New(info Info, infer, run func(c *Call) ([]tensor.Any, error)) *Op {
	if info.Name == "" || infer == nil || run == nil {
		panic(plan.Fail("New", tensor.ErrValue, "an operator needs a name, infer and run"))
	}
	o := &own{info, infer, run, info.Name}
	if info.Domain != "" {
		o.called = info.Domain + "." + info.Name
	}
	if len(o.Versions) == 0 {
		o.Versions = []int{1}
	}
	says := plan.About{Name: info.Name, Domain: info.Domain, Versions: o.Versions, Attrs: info.Attributes, Unsteady: true}
	return (*Op)(plan.Own(says, info.Supports, o.plan))
}

// own is an operator of a program.
type own struct {
	Info
	infer, run func(c *Call) ([]tensor.Any, error)
	called     string // the name with the domain, for errors
}

func (o *own) plan(use *plan.Use, p *plan.Draft) {
	if o.Supports != nil && len(use.Inputs) > 0 && !use.Inputs[0].IsZero() {
		d := use.Inputs[0].DType()
		if !o.Supports(d) {
			p.Err = o.fail(tensor.ErrDType, "is not defined for %v; convert the operand with op.Cast", d)
			return
		}
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
	r, d := room{own: o, left: math.MaxInt64}, *c
	if said != nil {
		if r.left, err = o.bytes(c, said); err != nil {
			return nil, err
		}
	}
	d.Context = context.WithValue(cmp.Or(d.Context, context.Background()), roomKey{}, &r)
	defer r.end()
	if out, err = o.guard("run", func() ([]tensor.Any, error) { return o.run(&d) }); err != nil || said == nil {
		return out, err
	}
	if len(out) != len(said) {
		return nil, o.fail(tensor.ErrShape, "its run returns %d results, its infer says %d", len(out), len(said))
	}
	for i, a := range out {
		if is, want := typeAndShape(a), typeAndShape(said[i]); is != want {
			return nil, o.fail(tensor.ErrShape, "result %d of its run is %s, its infer says %s", i, is, want)
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

// guard calls a function of the program. Its error gets the operator's name, and its panic becomes an error. There is no
// list beside an error.
func (o *own) guard(name string, f func() ([]tensor.Any, error)) (out []tensor.Any, err error) {
	at := "" // the line that panics
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				e = tensor.ErrValue
			}
			out, err = nil, o.fail(e, "its %s panics%s: %v", name, at, r)
		}
	}()
	e := tensor.Try(func() {
		ended := false
		defer func() {
			if !ended {
				at = panicking()
			}
		}()
		out, err = f()
		ended = true
	})
	switch {
	case e != nil:
		return nil, o.fail(e, "its %s panics%s: %v", name, at, e)
	case err == nil:
		return out, nil
	}
	if t := (*tensor.Error)(nil); errors.As(err, &t) && t.Op == o.called {
		return nil, err // it has the name
	}
	return nil, fmt.Errorf("%s: %w", o.called, err)
}

func (o *own) fail(err error, format string, args ...any) error {
	return &tensor.Error{Op: o.called, Text: fmt.Sprintf(format, args...), Err: err}
}

// panicking returns, for a deferred function, the line of the program at which it panics.
func panicking() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		own := strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "github.com/ashlar-go/ashlar/") && !strings.HasSuffix(f.File, "_test.go")
		if !own && f.File != "" {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// room is the memory of a run of a program's operator.
type room struct {
	own   *own
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
// several goroutines. A context that isn't the Call's or made from it is an error. As a tensor of numbers the bytes are
//
//	a, err := tensor.FromBytes(dtype.Float64, buf, 0, spec.Layout()) // spec: a tensor.NewSpec of that type
//	sums, ok := tensor.As[float64](a)
func Scratch(ctx context.Context, n int) (*mem.Buffer, error) {
	r, ok := contextOf("Scratch", ctx).Value(roomKey{}).(*room)
	if !ok {
		return nil, plan.Fail("Scratch", tensor.ErrValue, "the context is none of a program's operator that runs")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return nil, r.own.fail(tensor.ErrClosed, "its run has ended, and asks for %d bytes; wait for goroutines before it returns", n)
	case int64(n) > r.left:
		return nil, r.own.fail(tensor.ErrMemory, "its run asks for %d bytes, and has %d of its Info.Scratch left", n, r.left)
	}
	b, err := mem.Alloc(n)
	if err == nil {
		r.left -= int64(n)
		r.given = append(r.given, b)
	}
	return b, err
}
