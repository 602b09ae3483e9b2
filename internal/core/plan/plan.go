package plan

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Op is an operator in its run-time form: its description, and how it plans a call.
type Op struct {
	says  About
	takes func(d dtype.DType) bool              // whether the deciding operand may hold d
	fast  func(d dtype.DType, l cpu.Level) bool // whether package simd has rows for it; nil is no
	plan  func(c *Use, p *Draft)
	fixed dtype.DType // the format of InFixed
	table Table       // nil for a program's own
}

// A Table is an operator as its file declares it.
type Table interface {
	say() *About
	Supports(d dtype.DType) bool
	Has(d dtype.DType, l cpu.Level) bool
	Effort() FLOPs // if it doesn't say another one
	Plan(c *Use, p *Draft)
	Scratch(p *Draft, out []tensor.Any) float64
}

// OpOf returns the operator of a table.
func OpOf(t Table) *Op {
	o := &Op{says: *t.say(), takes: t.Supports, fast: t.Has, plan: t.Plan, table: t}
	if f := &o.says.FLOPs; f.Each == 0 && f.Read == 0 && !f.Free && f.Rule == nil {
		*f = t.Effort()
	}
	if t, ok := t.(interface{ Follows() bool }); ok {
		o.says.Follows = t.Follows()
	}
	return o
}

// An Info describes an operator of a program.
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
		panic(Fail("New", tensor.ErrValue, "an operator needs a name, infer and run"))
	}
	o := &Op{says: About{Name: info.Name, Domain: info.Domain, Versions: info.Versions, Attrs: info.Attributes, Unsteady: true}, takes: info.Supports}
	o.plan = func(c *Use, p *Draft) {
		p.Late = func() (out []tensor.Any) { out, p.Err = infer(&c.Call); return out }
		p.Run = func() { p.To, p.Err = run(&c.Call) }
	}
	return o
}

// As returns the operator under the name that another operator set has for it.
// It panics with a *tensor.Error when o is nil.
func (o *Op) As(domain, name string, versions ...int) *Op {
	e := *Some("Op.As", o)
	e.says.Domain, e.says.Name, e.says.Versions = domain, name, versions
	return &e
}

// Some returns an operator that isn't nil.
func Some(name string, o *Op) *Op {
	if o == nil {
		panic(Fail(name, ErrUnsupported, "the operator is nil; Lookup reports whether it found one"))
	}
	return o
}

// VariantOf returns o with another plan, and for further types if takes isn't nil. fixed is the format of InFixed, if any.
func VariantOf(o *Op, fixed dtype.DType, takes func(d dtype.DType) bool, plan func(c *Use, p *Draft)) *Op {
	e := *o
	e.plan = plan
	if takes != nil {
		e.takes = takes
	}
	if fixed != dtype.Invalid {
		e.fixed = fixed
	}
	return &e
}

// Keeping returns o for uses that have packed weights.
func Keeping(o *Op, weights any) *Op {
	return VariantOf(o, dtype.Invalid, nil, func(c *Use, p *Draft) {
		c.Kept = weights
		o.plan(c, p)
	})
}

// AboutOf returns the facts about an operator.
func AboutOf(o *Op) *About { return &o.says }

// FixedOf returns the format that InFixed gave an operator, dtype.Invalid without one.
func FixedOf(o *Op) dtype.DType { return o.fixed }

// Planned plans a call of an operator into p.
func Planned(o *Op, c *Use, p *Draft) { o.plan(c, p) }

// FastFor reports whether package simd has rows of an operator.
func FastFor(o *Op, d dtype.DType, l cpu.Level) bool { return o.fast != nil && o.fast(d, l) }

// Name returns the name as ONNX spells it.
func (o *Op) Name() string { return o.says.Name }

// Versions returns the opsets that (re)defined the operator and whose meaning this is.
func (o *Op) Versions() []int { return o.says.Versions }

// Attributes returns the names of the attributes that the operator understands.
func (o *Op) Attributes() []string { return o.says.Attrs }

// Domain returns the operator set that defines it: empty for ONNX's own, and without one.
func (o *Op) Domain() string { return o.says.Domain }

// Unsteady reports whether results may differ from call to call with the same operands.
func (o *Op) Unsteady() bool { return o.says.Unsteady }

// Supports reports whether the deciding operand may hold d.
func (o *Op) Supports(d dtype.DType) bool { return o.takes == nil || o.takes(d) }

// Plan works a call out, whose inputs may be tensor.Specs. The error is that of Run, or wraps ErrUnknown when a value is
// missing that decides more than elements.
func (o *Op) Plan(c *Call) (*Plan, error) {
	p := new(Plan)
	if err := begun(o, c, &p.draft); err != nil {
		return nil, err
	}
	return p, nil
}

// begun plans a call into p.
func begun(o *Op, c *Call, p *Draft) error {
	if c == nil {
		return Fail(o.says.Name, tensor.ErrValue, "there is no call: it is nil")
	}
	p.use.Call = *c
	return p.begin(o, &p.use)
}

// begin plans a call.
func (p *Draft) begin(o *Op, c *Use) error {
	p.op, p.Call = o, c
	for i := range c.Inputs {
		if c.Inputs[i].Closed() {
			return closed(o.says.Name, i)
		}
	}
	c.complete()
	if err := tensor.Try(func() { o.plan(c, p) }); err != nil {
		return err
	}
	return p.Err
}

// Inferred returns the specs of the results of a call.
func Inferred(o *Op, c *Use) ([]tensor.Any, error) {
	p := new(Draft)
	if err := p.begin(o, c); err != nil {
		return nil, err
	}
	return p.results()
}

// Ran runs a call once and returns its results.
func Ran(o *Op, c *Use) ([]tensor.Any, error) {
	p := &Draft{Brief: true}
	if err := p.begin(o, c); err != nil {
		return nil, err
	}
	return p.result()
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
	p := new(Draft)
	p.Brief = true
	if err := begun(o, c, p); err != nil {
		return nil, err
	}
	return p.result()
}

// A Plan is a call that is worked out: its results, the memory that it takes, and the function that computes them. One
// goroutine at a time may use it.
type Plan struct{ draft Draft }

// A Draft is a Plan as an operator fills it in.
type Draft struct {
	op      *Op
	Call    *Use
	use     Use
	Brief   bool                // nobody asks for results before the run
	Out     []tensor.Any        // Specs, and tensors that are known without a run
	Late    func() []tensor.Any // says the results where out doesn't
	Steady  bool                // run may be called again, and reads the elements that operands have then
	Views   bool                // the results are views of the first input, or copies where it has no such view
	Lay     Lay                 // of Views: the layouts of the results; nil for that of the input
	Joins   bool                // the only result has the inputs one after the other along axis Along, and leaves one that is there where it is
	Along   int
	ByLines bool   // a line of the result, along the last axis, follows from that line of the only input
	Last    bool   // it writes a target that lies channels last as it lies, and gives its Tail the elements in that order;
	ByInput bool   // in less time only where its first input lies so, too
	Stays   string // why it doesn't, if it may say so
	// After returns the Tail that takes elements of input k to the result, which are of its type and shape: in row-major order, or channels last. It
	// is nil if there is none.
	After   func(k int, last bool) Tail
	Keeps   int64        // bytes that the form of WithWeights keeps from the first run on,
	Planes  int64        // and of an operator with Last and ByInput where neither the first input nor the result lies channels last
	besides float64      // bytes that the call takes besides the bytes of its table
	apart   apart        // see Followed
	moved   Mover        // of an operator that moves elements
	several bool         // there is no only result, or it goes nowhere that a caller says
	To      []tensor.Any // the results of Run
	opts    []Option     // of the body: the first has the target and the context
	few     [1]Option
	more    more
	body    func(r *tensor.Any, opts []Option) // computes the only result
	Run     func()                             // instead; without both out has the results themselves
	Err     error
}

// Results returns the types and shapes of the results, and those themselves that follow from shapes and known elements.
// Where only a run can tell it runs, if all inputs have elements; else the error wraps ErrUnknown.
func (p *Plan) Results() ([]tensor.Any, error) { return p.draft.results() }

func (p *Draft) results() ([]tensor.Any, error) {
	if p.Out != nil {
		return p.Out, nil
	}
	if p.Late == nil {
		return p.result()
	}
	if err := tensor.Try(func() { p.Out = p.Late() }); err != nil {
		return nil, err
	}
	return p.Out, p.Err
}

// Steady reports whether Run may be called again and again, and reads the elements that operands have then.
func (p *Plan) Steady() bool { return p.draft.Steady }

// Views reports whether the results are views of the first input, or copies where its layout has no such view. A copy has
// the elements of the input in row-major order.
func (p *Plan) Views() bool { return p.draft.Views }

// Joins reports whether the only result has the inputs one after the other along an axis. An input that is that part of the target of
// Into isn't copied.
func (p *Plan) Joins() (axis int, ok bool) { return p.draft.Along, p.draft.Joins }

// Keeps returns how many bytes of packed weights the operator keeps from the first run of such a plan on. An operator that gains by a
// first input that lies channels last keeps them where that input or the target of Into lies so.
func (p *Plan) Keeps() int64 {
	d := &p.draft
	return KeepsAs(p, d.Last && (LiesLast(&d.Call.Inputs[0]) || len(d.opts) > 0 && d.opts[0].into != nil && LiesLast(d.opts[0].into)))
}

// Into names where a run writes its only result if it can: a tensor of its type and shape, row-major, apart from all inputs
// unless it Joins them.
// Run returns that tensor then, or another.
func (p *Plan) Into(a tensor.Any) {
	if d := &p.draft; len(d.opts) > 0 && !d.several {
		d.opts[0].into = &a
	}
}

// Under sets the context of the runs from now on, in place of the call's.
func (p *Plan) Under(ctx context.Context) {
	p.draft.under(ctx)
}

func (p *Draft) under(ctx context.Context) {
	p.Call.Context, p.more.ctx = ctx, ctx
	if len(p.opts) > 0 {
		p.opts[0].more = &p.more
	}
}

// Run computes the results. They may share elements with the inputs. The list is the Plan's: the next run writes it.
func (p *Plan) Run() ([]tensor.Any, error) { return p.draft.result() }

func (p *Draft) result() ([]tensor.Any, error) {
	if err := tensor.Try(p.compute); err != nil {
		return nil, err
	}
	return p.To, p.Err
}

// Do is Run that panics with a *tensor.Error where Run returns one.
func (p *Plan) Do() []tensor.Any {
	d := &p.draft
	if d.compute(); d.Err != nil {
		panic(Fail(d.op.says.Name, d.Err, "%v", d.Err))
	}
	return d.To
}

func (p *Draft) compute() {
	if p.body == nil && p.Run == nil {
		p.To = p.Out
		return
	}
	for i := range p.Call.Inputs {
		if p.Call.Inputs[i].IsSpec() && i != p.op.says.Like-1 {
			panic(Unknown(p.op.says.Name, i))
		}
	}
	if p.body != nil {
		p.body(&p.To[0], p.opts)
		return
	}
	p.Run()
}

// Name is that of the operator.
func (p *Draft) Name() string { return p.op.says.Name }

// Gives says the only result, unless nobody asks.
func (p *Draft) Gives(d dtype.DType, shape ...int) {
	if !p.Brief {
		p.Out = One(Spec(p.op.says.Name, d, shape...))
	}
}

// By says how the only result is computed: f writes to r, under options with flags beside the call's.
func (p *Draft) By(c *Use, flags Flags, f func(r *tensor.Any, opts []Option)) {
	p.opts = append(p.few[:0], Option{flags: flags | c.Flags})
	if c.Context != nil {
		p.more.ctx, p.opts[0].more = c.Context, &p.more
	}
	p.Steady, p.To, p.body = true, make([]tensor.Any, 1), f
}

// Through plans the call of another operator, whose results then replaces.
func (p *Draft) Through(o *Op, c *Use, then func(out []tensor.Any) []tensor.Any) {
	q := &Draft{Brief: p.Brief}
	if p.Err = q.begin(o, c); p.Err != nil {
		return
	}
	if q.Late != nil || q.Out != nil {
		p.Late = func() (out []tensor.Any) {
			if out, p.Err = q.results(); p.Err == nil {
				out = then(slices.Clone(out))
			}
			return out
		}
	}
	p.Run = func() {
		if p.To, p.Err = q.result(); p.Err == nil {
			p.To = then(slices.Clone(p.To))
		}
	}
}

// List says how several results are computed: f writes n of them.
func (p *Draft) List(c *Use, n int, f func(to []tensor.Any, opts []Option)) {
	p.By(c, 0, nil)
	p.several = true
	p.Run = func() {
		p.To = make([]tensor.Any, n)
		f(p.To, p.opts)
	}
}

// View says that the only result is a view of the first input, which f makes.
func (p *Draft) View(f func() tensor.Any) {
	p.Views, p.Run = true, func() { p.To = One(f()) }
}

// A Call is one use of an operator in its run-time form.
type Call struct {
	Inputs  []tensor.Any // in ONNX's order; the zero Any where an optional input is absent
	Attrs   Attrs
	Opset   int // the opset whose meaning applies
	Outputs int // how many outputs are asked for; 0 means 1
	Context context.Context
	Fixed   []bool // for a Plan that runs again: the inputs whose elements stay as they are; nil is all
}

// A Use is a Call as an operator sees it.
type Use struct {
	Call
	Flags Flags // orion, rectify: see InOrion and Rectified
	Kept  any   // the packed weights of WithWeights
	Tail  Tail  // the operator that follows, if this one Leads

	strided []bool // inputs that aren't contiguous, of those that are Specs
}

// Known returns whether the elements of input i may be looked at before the run.
func (c *Use) Known(i int) bool {
	return c.Fixed == nil || i < len(c.Fixed) && c.Fixed[i]
}

// Orion reports whether the call is one of InOrion.
func (c *Use) Orion() bool { return c.Flags&Orion != 0 }

// About is the description that every operator has.
type About struct {
	Name     string
	Domain   string   // of the operator set, empty for ONNX's own
	Versions []int    // opsets that define it, ascending
	Attrs    []string // ONNX attributes it understands
	Orion    any      // the difference that InOrion makes; may be nil
	Why      string   // why numbers of some type are left out; empty for the reasons that Why finds by itself

	Own       Flags // options that it has and others don't
	Unsteady  bool  // results may differ from call to call with the same operands
	Rectifies bool  // it heeds Rectify
	Rectifier bool  // it is the operator that Rectify adds
	Leads     bool  // it heeds Use.Tail
	Follows   bool  // it may be a Tail, as each element of its result follows from one of an input; the plan says whether types and shapes allow it
	Trims     bool  // its first result is the same when no others are asked for
	Converts  bool  // its attribute "to" says the type of the result
	Divides   bool  // it fails on an integer second operand of 0
	Shapes    bool  // graphs compute shapes with it, in time by the number of elements of its operands and results
	Shared    bool  // com.microsoft has it, too, with the same meaning: docs/ContribOperators.md of github.com/microsoft/onnxruntime
	Like      int   // 1 + the input whose type alone is looked at
	PerAxis   uint  // a bit for each input with an element, or two, for each axis of a tensor
	Moves     Moves
	FLOPs     FLOPs
	TakesUp   takesUp
	Kept      func(o *Op, c *Call) (form *Op, bytes int64) // WithWeights, for the operators that have it
	Weights   int                                          // of Kept: the input that has them
}

// Moves has a bit for each input whose elements an operator moves, or compares for equality, and does nothing else with;
// and one for each output that has such elements.
type Moves struct{ In, Out uint }

// EveryPlace is all inputs, or all outputs.
const EveryPlace = ^uint(0)

func (a *About) say() *About { return a }

// Quick returns the cost of a row that an instruction set computes, from the cost of its plain loop.
func Quick(cost int) int { return max(1, cost/8) }

// Operator is an operator that plans its calls by hand in its file. Just one of planned and move is set.
type Operator struct {
	About
	Least   int   // how many inputs it needs
	Most    int   // how many it takes, if not least; any number if negative
	By      int   // the input whose element type decides
	Takes   Types // the types that this input may hold; 0 is every type
	Planned func(c *Use, p *Draft)
	Move    func(c *Use) Mover // instead, for operators that move elements

	// Room returns the bytes that a call with enough inputs takes besides TakesUp, in all and for each thread. It may panic with an error.
	Room func(c *Use, out []tensor.Any) (all, each float64)

	Fast func(d dtype.DType, l cpu.Level) bool // whether package simd has rows for it; nil is no
}

// Supports reports whether the deciding input may hold d.
func (o *Operator) Supports(d dtype.DType) bool {
	return int(d) < dtype.Count && (o.Takes == 0 || o.Takes.Has(d))
}

// Has reports whether package simd has rows for d at a level.
func (o *Operator) Has(d dtype.DType, l cpu.Level) bool { return o.Fast != nil && o.Fast(d, l) }

// Effort returns no operations: an operator written by hand says them itself.
func (o *Operator) Effort() FLOPs { return FLOPs{} }

// counts panics unless a call has as many inputs as the operator takes.
func (o *Operator) counts(c *Use) {
	Needs(o.Name, c, o.Least)
	if o.Most >= 0 {
		Takes(o.Name, c, max(o.Least, o.Most))
	}
}

// Plan checks the number of inputs and plans the call.
func (o *Operator) Plan(c *Use, p *Draft) {
	o.counts(c)
	if o.Least > 0 {
		d := c.In(o.By).DType()
		Must(o.Name, o.Supports(d), d)
	}
	if o.Move != nil {
		p.moved = o.Move(c)
		p.moved.Planned(p, c, o.Move)
		return
	}
	o.Planned(c, p)
}

// A Mover is a move of elements, which a call is.
type Mover interface {
	// planned fills in the plan of a call; move makes the mover of another one.
	Planned(p *Draft, c *Use, move func(c *Use) Mover)
	// takes returns how many bytes it takes besides, and each thread of it.
	Takes() (all, each float64)
}
