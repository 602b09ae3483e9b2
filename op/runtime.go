package op

import (
	"context"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/op/option"
	"github.com/ashlar-go/ashlar/tensor"
)

// Option changes how an operator runs. Package option says which operators an option is for.
type Option = option.Option

// An Op is an operator in its run-time form: facts about it, and how it plans a call. Lookup, Operators and New return it.
type Op plan.Op

// of is the form that the rooms of operators know.
func (o *Op) of() *plan.Op { return (*plan.Op)(o) }

// some is of for an operator that isn't nil.
func (o *Op) some(name string) *plan.Op {
	return plan.Some(name, o.of())
}

// Name returns the name as ONNX spells it.
func (o *Op) Name() string { return plan.AboutOf(o.of()).Name }

// Domain returns the operator set that defines it: empty for ONNX's own, and without one.
func (o *Op) Domain() string { return plan.AboutOf(o.of()).Domain }

// Versions returns the opsets that (re)defined the operator and whose meaning this is.
func (o *Op) Versions() []int { return plan.AboutOf(o.of()).Versions }

// Attributes returns the names of the attributes that the operator understands.
func (o *Op) Attributes() []string { return plan.AboutOf(o.of()).Attrs }

// Unsteady reports whether results may differ from call to call with the same operands.
func (o *Op) Unsteady() bool { return plan.AboutOf(o.of()).Unsteady }

// Supports reports whether the deciding operand may hold d.
func (o *Op) Supports(d dtype.DType) bool { return plan.Supports(o.of(), d) }

// As returns the operator under the name that another operator set has for it.
// It panics with a *tensor.Error when o is nil.
func (o *Op) As(domain, name string, versions ...int) *Op {
	return (*Op)(plan.Named(o.some("Op.As"), domain, name, versions))
}

// Plan works a call out, whose inputs may be tensor.Specs. The error is that of Run, or wraps ErrUnknown when a value is
// missing that decides more than elements.
func (o *Op) Plan(c *Call) (*Plan, error) {
	p := new(plan.Plan)
	if err := plan.Begin(o.of(), (*plan.Call)(c), plan.DraftOf(p)); err != nil {
		return nil, err
	}
	return (*Plan)(p), nil
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
	p := plan.Draft{Brief: true}
	if err := plan.Begin(o.of(), (*plan.Call)(c), &p); err != nil {
		return nil, err
	}
	return p.Ran()
}

// A Plan is a call that is worked out: its results, the memory that it takes, and the function that computes them. One
// goroutine at a time may use it.
type Plan plan.Plan

func (p *Plan) draft() *plan.Draft { return plan.DraftOf((*plan.Plan)(p)) }

// Results returns the types and shapes of the results, and those themselves that follow from shapes and known elements.
// Where only a run can tell it runs, if all inputs have elements; else the error wraps ErrUnknown.
func (p *Plan) Results() ([]tensor.Any, error) { return p.draft().Results() }

// Steady reports whether Run may be called again and again, and reads the elements that operands have then.
func (p *Plan) Steady() bool { return p.draft().Steady }

// Views reports whether the results are views of the first input, or copies where its layout has no such view. A copy has
// the elements of the input in row-major order. It is false for operators of New.
func (p *Plan) Views() bool { return p.draft().Views }

// Joins reports whether the only result has the inputs one after the other along an axis. An input that is that part of the target of
// Into isn't copied.
func (p *Plan) Joins() (axis int, ok bool) { return p.draft().Along, p.draft().Joins }

// Scratch returns how many bytes a run takes at most besides operands and results. They are for copies of
// operands that aren't contiguous, wider numbers that narrow ones are computed in, and steps on the way to the result. They are also
// for the blocks of matrix products, for each of the Threads of the call. Operands may be tensor.Specs, which count as
// contiguous. The memory of small slices, some KiB, isn't counted.
func (p *Plan) Scratch() int64 { return p.draft().ScratchBytes() }

// FLOPs returns how many floating-point operations a run does, a product and a sum being two, and -1 where the operator
// doesn't say.
func (p *Plan) FLOPs() int64 { return p.draft().Operations() }

// Keeps returns how many bytes of packed weights the operator keeps from the first run of such a plan on. An operator that gains by a
// first input that lies channels last keeps them where that input or the target of Into lies so.
func (p *Plan) Keeps() int64 { return p.draft().KeepsNow() }

// Into names where a run writes its only result if it can: a tensor of its type and shape, row-major, apart from all inputs
// unless it Joins them.
// Run returns that tensor then, or another.
func (p *Plan) Into(a tensor.Any) { p.draft().Into(a) }

// Under sets the context of the runs from now on, in place of the call's.
func (p *Plan) Under(ctx context.Context) { p.draft().Under(ctx) }

// Run computes the results. They may share elements with the inputs. The list is the Plan's: the next run writes it.
func (p *Plan) Run() ([]tensor.Any, error) { return p.draft().Ran() }

// Do is Run that panics with a *tensor.Error where Run returns one.
func (p *Plan) Do() []tensor.Any { return p.draft().Do() }

// A Call is one use of an operator in its run-time form.
type Call struct {
	Inputs  []tensor.Any    // in ONNX's order; the zero Any where an optional input is absent, or no entry at the end
	Attrs   Attrs           // nil is no attributes
	Opset   int             // the opset whose meaning applies
	Outputs int             // how many outputs are asked for; 0 means 1
	Context context.Context // nil is one without an end
	Fixed   []bool          // for a Plan that runs again: the inputs whose elements stay as they are; nil is all
}

// Attrs is how a graph hands an operator its attributes. LSTM, GRU and RNN read lists of strings by a further method,
// Strs(name string) ([]string, bool). It is an alias of the interface, so that any package may name the type.
type Attrs = interface {
	// Has reports whether there is an attribute.
	Has(name string) bool
	// Int returns an integer, or def when the attribute is absent.
	Int(name string, def int64) int64
	// Ints returns a list of integers, which the operator doesn't change.
	Ints(name string) ([]int64, bool)
	// Float returns a number, or def when the attribute is absent.
	Float(name string, def float32) float32
	// Floats returns a list of numbers, which the operator doesn't change.
	Floats(name string) ([]float32, bool)
	// Str returns a string, or def when the attribute is absent.
	Str(name, def string) string
	// Tensor returns a tensor.
	Tensor(name string) (tensor.Any, bool)
}

var (
	// ErrUnknown says that shapes can't be inferred without a value that isn't known.
	ErrUnknown = plan.ErrUnknown
	// ErrUnsupported says that an operator is defined but not in the way asked for.
	ErrUnsupported = plan.ErrUnsupported
)

// The tables of rows: of one operand, of two, of one and two numbers, and those with a result of bool. An absent row means
// that the operator makes no sense for the element type. Narrow floats use F32, unless the operator only touches sign bits
// and has B16 and B8. A row is plain Go; the rows of package simd stand beside the table.
type (
	rows1    = simd.Rows1
	rows2    = simd.Rows2
	rowsCmp  = simd.RowsCmp
	rowsTest = simd.RowsTest
	rowsP    = simd.RowsP
)
