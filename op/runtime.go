package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

// The run-time form of operators. Its types are declared by the package that all rooms of operators share.
type (
	// An Op is an operator in its run-time form: facts about it, and how it plans a call.
	Op = plan.Op
	// An Info is the facts that a program gives of its own operator:
	//
	//	Name, Domain string                    // a node of a model names both
	//	Versions     []int                     // the opsets whose definition this is
	//	Attributes   []string                  // that it understands; a node with another is refused
	//	Supports     func(d dtype.DType) bool  // nil: every type
	Info = plan.Info
	// A Plan is a call that is worked out: its results, the memory that it takes, and the function that computes
	// them. One goroutine at a time may use it.
	Plan = plan.Plan
	// A Call is one use of an operator in its run-time form:
	//
	//	Inputs  []tensor.Any     // in ONNX's order; an absent one is the zero Any
	//	Attrs   Attrs
	//	Opset   int              // the opset whose meaning applies
	//	Outputs int              // how many outputs are asked for; 0 means 1
	//	Context context.Context
	//	Fixed   []bool           // for a Plan that runs again: the inputs whose elements stay as they are; nil is all
	Call = plan.Call
	// Attrs is how a graph hands an operator its attributes. A method returns the default, or false, when the
	// attribute is absent. LSTM, GRU and RNN read lists of strings by a further method, Strs(name string)
	// ([]string, bool).
	//
	//	Has(name string) bool
	//	Int(name string, def int64) int64
	//	Ints(name string) ([]int64, bool)
	//	Float(name string, def float32) float32
	//	Floats(name string) ([]float32, bool)
	//	Str(name, def string) string
	//	Tensor(name string) (tensor.Any, bool)
	Attrs = plan.Attrs
	// AttrMap is attributes by name: int64, float32, string, []int64, []float32, []string and tensors, as a
	// tensor.Any or typed. One of another type counts as absent.
	AttrMap = plan.AttrMap
	// Option changes how an operator runs. Into and Context don't change the result. Fast, Orion, Rectify, RoundScales,
	// Saturate and Wrap change the results of some operators, and other operators take no notice of them. Each other option
	// is for the operators that its comment names. Another operator panics. Options are plain values, so that passing them
	// allocates nothing.
	Option = plan.Option
)

var (
	// ErrUnknown says that shapes can't be inferred without a value that isn't known.
	ErrUnknown = plan.ErrUnknown
	// ErrUnsupported says that an operator is defined but not in the way asked for.
	ErrUnsupported = plan.ErrUnsupported
)

// New returns an operator of a program. infer returns the types and shapes of the outputs as tensor.Specs, from inputs that
// may be Specs, too; its error wraps ErrUnknown when a value that it needs is missing. run computes the outputs, and may
// return inputs or views of them. A nil function of Supports is all types.
// It panics with a *tensor.Error without a name or a function.
func New(info Info, infer, run func(c *Call) ([]tensor.Any, error)) *Op {
	return plan.New(info, infer, run)
}

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
