package op

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Op is an operator in its run-time form: what it says of itself, and how it plans a call.
type Op struct {
	about
	takes func(d dtype.DType) bool              // whether the deciding operand may hold d
	fast  func(d dtype.DType, l cpu.Level) bool // whether package simd has rows for it; nil is no
	plan  func(c *Call, p *Plan)
	fixed dtype.DType // the format of InFixed
	table table       // nil for a program's own
}

// A table is an operator as its file declares it.
type table interface {
	say() *about
	Supports(d dtype.DType) bool
	has(d dtype.DType, l cpu.Level) bool
	effort() flops // if it doesn't say another one
	plan(c *Call, p *Plan)
}

func opOf(t table) *Op {
	o := &Op{about: *t.say(), takes: t.Supports, fast: t.has, plan: t.plan, table: t}
	if f := &o.flops; f.each == 0 && f.read == 0 && !f.free && f.rule == nil {
		*f = t.effort()
	}
	return o
}

// An Info is what an operator of a program says of itself.
type Info struct {
	Name, Domain string
	Versions     []int    // the opsets that (re)defined it and whose meaning this is
	Attributes   []string // the attributes it understands
	Supports     func(d dtype.DType) bool
}

// New returns an operator of a program. infer returns the types and shapes of the outputs as tensor.Specs, from inputs that
// may be Specs, too; its error wraps ErrUnknown when a value that it needs is missing. run computes the outputs, and may
// return inputs or views of them. A nil function of Supports is all types.
// It panics with a *tensor.Error without a name or a function.
func New(info Info, infer, run func(c *Call) ([]tensor.Any, error)) *Op {
	if info.Name == "" || infer == nil || run == nil {
		panic(fail("New", tensor.ErrValue, "an operator needs a name, infer and run"))
	}
	o := &Op{about: about{name: info.Name, domain: info.Domain, onnx: info.Versions, attrs: info.Attributes, unsteady: true}, takes: info.Supports}
	o.plan = func(c *Call, p *Plan) {
		p.late = func() (out []tensor.Any) { out, p.err = infer(c); return out }
		p.run = func() { p.to, p.err = run(c) }
	}
	return o
}

// As returns the operator under the name that another operator set has for it.
// It panics with a *tensor.Error when o is nil.
func (o *Op) As(domain, name string, versions ...int) *Op {
	e := *some("Op.As", o)
	e.domain, e.name, e.onnx = domain, name, versions
	return &e
}

// Name returns the name as ONNX spells it.
func (o *Op) Name() string { return o.name }

// Versions returns the opsets that (re)defined the operator and whose meaning this is.
func (o *Op) Versions() []int { return o.onnx }

// Attributes returns the names of the attributes that the operator understands.
func (o *Op) Attributes() []string { return o.attrs }

// Domain returns the operator set that defines it: empty for ONNX's own, and without one.
func (o *Op) Domain() string { return o.domain }

// Unsteady reports whether results may differ from call to call with the same operands.
func (o *Op) Unsteady() bool { return o.unsteady }

// Supports reports whether the deciding operand may hold d.
func (o *Op) Supports(d dtype.DType) bool { return o.takes == nil || o.takes(d) }

// Plan works a call out, whose inputs may be tensor.Specs. The error is that of Run, or wraps ErrUnknown when a value is
// missing that decides more than elements.
func (o *Op) Plan(c *Call) (*Plan, error) {
	p := new(Plan)
	if err := o.begin(c, p); err != nil {
		return nil, err
	}
	return p, nil
}

func (o *Op) begin(c *Call, p *Plan) error {
	if err := tensor.Try(func() {
		c.complete(o.name)
		p.op, p.call = o, c
		o.plan(c, p)
	}); err != nil {
		return err
	}
	return p.err
}

// Infer returns the outputs' types and shapes from inputs that may be tensor.Specs. An output whose value follows from
// shapes alone is returned as a tensor. The error wraps ErrUnknown when a value it needs is missing.
func (o *Op) Infer(c *Call) ([]tensor.Any, error) {
	p, err := o.Plan(c)
	if err != nil {
		return nil, err
	}
	return p.Results()
}

// Run computes the outputs. They may share elements with the inputs.
func (o *Op) Run(c *Call) ([]tensor.Any, error) {
	p := &Plan{brief: true}
	if err := o.begin(c, p); err != nil {
		return nil, err
	}
	return p.Run()
}

// A Plan is a call that is worked out: its results, the memory that it takes, and the function that computes them. One
// goroutine at a time may use it.
type Plan struct {
	op      *Op
	call    *Call
	brief   bool                // nobody asks for results before the run
	out     []tensor.Any        // Specs, and tensors that are known without a run
	late    func() []tensor.Any // says the results where out doesn't
	steady  bool                // run may be called again, and reads the elements that operands have then
	views   bool                // the results are views of the first input, or copies where it has no such view
	moved   any                 // a *transfer, unless nil
	several bool                // there is no only result, or it goes nowhere that a caller says
	to      []tensor.Any        // what run gave
	opts    []Option            // of the body: the first has the target and the context
	few     [1]Option
	more    more
	body    func(r *tensor.Any, opts []Option) // computes the only result
	run     func()                             // instead; without both out has the results themselves
	err     error
}

// Results returns the types and shapes of the results, and those themselves that follow from shapes and known elements.
// Where only a run can tell it runs, if all inputs have elements; else the error wraps ErrUnknown.
func (p *Plan) Results() ([]tensor.Any, error) {
	if p.out != nil {
		return p.out, nil
	}
	if p.late == nil {
		return p.Run()
	}
	if err := tensor.Try(func() { p.out = p.late() }); err != nil {
		return nil, err
	}
	return p.out, p.err
}

// Steady reports whether Run may be called again and again, and reads the elements that operands have then.
func (p *Plan) Steady() bool { return p.steady }

// Views reports whether the results are views of the first input, or copies where its layout has no such view.
func (p *Plan) Views() bool { return p.views }

// Into names where a run writes its only result if it can: a tensor of its type and shape, row-major, apart from all inputs.
// Run returns that tensor then, or another.
func (p *Plan) Into(a tensor.Any) {
	if len(p.opts) > 0 && !p.several {
		p.opts[0].into = &a
	}
}

// Under sets the context of the runs from now on, in place of the call's.
func (p *Plan) Under(ctx context.Context) {
	p.call.Context, p.more.ctx = ctx, ctx
	if len(p.opts) > 0 {
		p.opts[0].more = &p.more
	}
}

// Run computes the results. They may share elements with the inputs. The list is the Plan's: the next run writes it.
func (p *Plan) Run() ([]tensor.Any, error) {
	if err := tensor.Try(p.compute); err != nil {
		return nil, err
	}
	return p.to, p.err
}

// Do is Run that panics with a *tensor.Error where Run returns one.
func (p *Plan) Do() []tensor.Any {
	if p.compute(); p.err != nil {
		panic(fail(p.op.name, p.err, "%v", p.err))
	}
	return p.to
}

func (p *Plan) compute() {
	if p.body == nil && p.run == nil {
		p.to = p.out
		return
	}
	for i := range p.call.Inputs {
		if p.call.Inputs[i].IsSpec() && i != p.op.like-1 {
			panic(unknown(p.op.name, i))
		}
	}
	if p.body != nil {
		p.body(&p.to[0], p.opts)
		return
	}
	p.run()
}

// gives says the only result, unless nobody asks.
func (p *Plan) gives(d dtype.DType, shape ...int) {
	if !p.brief {
		p.out = one(spec(p.op.name, d, shape...))
	}
}

// by says how the only result is computed: f writes to r, under options with flags beside the call's.
func (p *Plan) by(c *Call, flags flags, f func(r *tensor.Any, opts []Option)) {
	p.opts = append(p.few[:0], Option{flags: flags | c.flags})
	if c.Context != nil {
		p.more.ctx, p.opts[0].more = c.Context, &p.more
	}
	p.steady, p.to, p.body = true, make([]tensor.Any, 1), f
}

// through plans the call of another operator, whose results then replaces.
func (p *Plan) through(o *Op, c *Call, then func(out []tensor.Any) []tensor.Any) {
	q := &Plan{brief: p.brief}
	if p.err = o.begin(c, q); p.err != nil {
		return
	}
	if q.late != nil || q.out != nil {
		p.late = func() (out []tensor.Any) {
			if out, p.err = q.Results(); p.err == nil {
				out = then(slices.Clone(out))
			}
			return out
		}
	}
	p.run = func() {
		if p.to, p.err = q.Run(); p.err == nil {
			p.to = then(slices.Clone(p.to))
		}
	}
}

// list says how several results are computed: f writes n of them.
func (p *Plan) list(c *Call, n int, f func(to []tensor.Any, opts []Option)) {
	p.by(c, 0, nil)
	p.several = true
	p.run = func() {
		p.to = make([]tensor.Any, n)
		f(p.to, p.opts)
	}
}

// view says that the only result is a view of the first input, which f makes.
func (p *Plan) view(f func() tensor.Any) {
	p.views, p.run = true, func() { p.to = one(f()) }
}

// known returns whether the elements of input i may be looked at before the run.
func (c *Call) known(i int) bool {
	return c.Fixed == nil || i < len(c.Fixed) && c.Fixed[i]
}

// A Call is one use of an operator in its run-time form.
type Call struct {
	Inputs  []tensor.Any // in ONNX's order; the zero Any where an optional input is absent
	Attrs   Attrs
	Opset   int // the opset whose meaning applies
	Outputs int // how many outputs are asked for; 0 means 1
	Context context.Context
	Fixed   []bool // for a Plan that runs again: the inputs whose elements stay as they are; nil is all

	flags flags // orion, rectify: see InOrion and Rectified
	kept  *keptWeights
}

// orion reports whether the call is one of InOrion.
func (c *Call) orion() bool { return c.flags&orion != 0 }
