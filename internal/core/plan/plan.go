package plan

import (
	"context"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// An Op is an operator in its run-time form: its description, and how it plans a call.
type Op struct {
	says   About
	takes  func(d dtype.DType) bool // whether the deciding operand may hold d
	plan   func(c *Use, p *Draft)
	fixed  dtype.DType // the format of InFixed
	table  Table       // nil for a program's own
	listed string      // the name in the list of kernels
}

// A Table is an operator as its file declares it.
type Table interface {
	say() *About
	Supports(d dtype.DType) bool
	Effort() FLOPs // if it doesn't say another one
	Plan(c *Use, p *Draft)
	Scratch(p *Draft, out []tensor.Any) float64
}

// OpOf returns the operator of a table.
func OpOf(t Table) *Op {
	o := &Op{says: *t.say(), takes: t.Supports, plan: t.Plan, table: t, listed: t.say().Domain + ":" + t.say().Name}
	if f := &o.says.FLOPs; *f == (FLOPs{}) {
		*f = t.Effort()
	}
	if t, ok := t.(interface{ Follows() bool }); ok {
		o.says.Follows = t.Follows()
	}
	return o
}

// Some returns an operator that isn't nil.
func Some(name string, o *Op) *Op {
	if o == nil {
		panic(Fail(name, ErrUnsupported, "the operator is nil; Lookup reports whether it found one"))
	}
	return o
}

// Own returns an operator of a program, with its own infer and run.
func Own(says About, supports func(d dtype.DType) bool, planned func(c *Use, p *Draft)) *Op {
	return &Op{says: says, takes: supports, plan: planned}
}

// Named returns the operator under the name that another operator set has for it.
func Named(o *Op, domain, name string, versions []int) *Op {
	e := *o
	e.says.Domain, e.says.Name, e.says.Versions = domain, name, versions
	return &e
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

// Supports reports whether the deciding operand may hold d.
func Supports(o *Op, d dtype.DType) bool { return o.takes == nil || o.takes(d) }

// Begin plans a call into p.
func Begin(o *Op, c *Call, p *Draft) error {
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
	return p.Results()
}

// PriceOf returns the price of a call, as far as its plan says it.
func PriceOf(o *Op, c *Use) (Price, error) {
	p := new(Draft)
	err := p.begin(o, c)
	return p.Price, err
}

// Ran runs a call once and returns its results.
func Ran(o *Op, c *Use) ([]tensor.Any, error) {
	p := &Draft{Brief: true}
	if err := p.begin(o, c); err != nil {
		return nil, err
	}
	return p.Ran()
}

// A Plan is a call that is worked out, whose Draft callers don't see: op.Plan.
type Plan struct{ draft Draft }

// DraftOf returns the Draft of a plan.
func DraftOf(p *Plan) *Draft { return &p.draft }

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
	Price                // that the operator says
	apart   apart        // see Followed
	several bool         // there is no only result, or it goes nowhere that a caller says
	To      []tensor.Any // the results of Run
	opts    []Option     // of the body: the first has the target and the context
	few     [1]Option
	more    exec.More
	body    func(r *tensor.Any, opts []Option) // computes the only result
	Run     func()                             // instead; without both out has the results themselves
	Err     error
}

// Results returns the types and shapes of the results, as op.Plan.Results.
func (p *Draft) Results() ([]tensor.Any, error) {
	if p.Out != nil {
		return p.Out, nil
	}
	if p.Late == nil {
		return p.Ran()
	}
	var out []tensor.Any
	err := tensor.Try(func() { out = p.Late() })
	if err == nil {
		err, p.Err = p.Err, nil
	}
	if err != nil {
		return nil, err // it is asked again
	}
	p.Out = out
	return out, nil
}

// KeepsNow is Keeps for the first input and the target as they lie.
func (p *Draft) KeepsNow() int64 {
	return p.KeepsAs(p.Last && (LiesLast(&p.Call.Inputs[0]) || len(p.opts) > 0 && p.opts[0].Into != nil && LiesLast(p.opts[0].Into)))
}

// Into names where a run writes its only result.
func (p *Draft) Into(a tensor.Any) {
	if len(p.opts) > 0 && !p.several {
		p.opts[0].Into = &a
	}
}

// Under sets the context of the runs from now on.
func (p *Draft) Under(ctx context.Context) {
	p.Call.Context, p.more.Ctx = ctx, ctx
	if len(p.opts) > 0 {
		p.opts[0].More = &p.more
	}
}

// Ran computes the results.
func (p *Draft) Ran() ([]tensor.Any, error) {
	if err := tensor.Try(p.compute); err != nil {
		return nil, err
	}
	return p.To, p.Err
}

// Do is Ran that panics with a *tensor.Error where Ran returns one.
func (p *Draft) Do() []tensor.Any {
	if p.compute(); p.Err != nil {
		panic(Fail(p.op.says.Name, p.Err, "%v", p.Err))
	}
	return p.To
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
	p.opts = append(p.few[:0], WithFlags(flags|c.Flags))
	if c.Context != nil {
		p.more.Ctx, p.opts[0].More = c.Context, &p.more
	}
	p.Steady, p.To, p.body = true, make([]tensor.Any, 1), f
}

// Through plans the call of another operator, whose results then replaces.
func (p *Draft) Through(o *Op, c *Use, then func(out []tensor.Any) []tensor.Any) {
	q := &Draft{Brief: p.Brief}
	if p.Err = q.begin(o, c); p.Err != nil {
		return
	}
	if p.Price = q.Price; q.Late != nil || q.Out != nil {
		p.Late = func() (out []tensor.Any) {
			if out, p.Err = q.Results(); p.Err == nil {
				out, p.Price = then(slices.Clone(out)), q.Price
			}
			return out
		}
	}
	p.Run = func() {
		q.Under(p.Call.Context)
		if p.To, p.Err = q.Ran(); p.Err == nil {
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

	Unsteady  bool // results may differ from call to call with the same operands
	Rectifies bool // it heeds Rectify
	Rectifier bool // it is the operator that Rectify adds
	Leads     bool // it heeds Use.Tail
	Follows   bool // it may be a Tail, as each element of its result follows from one of an input; the plan says whether types and shapes allow it
	Trims     bool // its first result is the same when no others are asked for
	Converts  bool // its attribute "to" says the type of the result
	Divides   bool // it fails on an integer second operand of 0
	Shapes    bool // graphs compute shapes with it, in time by the number of elements of its operands and results
	Shared    bool // com.microsoft has it, too, with the same meaning: docs/ContribOperators.md of github.com/microsoft/onnxruntime
	Like      int  // 1 + the input whose type alone is looked at
	PerAxis   uint // a bit for each input with an element, or two, for each axis of a tensor
	Moves     Moves
	FLOPs     FLOPs
	Convolves bool
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
}

// Supports reports whether the deciding input may hold d.
func (o *Operator) Supports(d dtype.DType) bool {
	return int(d) < dtype.Count && (o.Takes == 0 || o.Takes.Has(d))
}

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
		m := o.Move(c)
		m.Planned(p, c, o.Move)
		p.Price = *m.Priced()
		return
	}
	o.Planned(c, p)
}

// A Mover is a move of elements, which a call is.
type Mover interface {
	// planned fills in the plan of a call; move makes the mover of another one.
	Planned(p *Draft, c *Use, move func(c *Use) Mover)
	// priced returns its price.
	Priced() *Price
}
