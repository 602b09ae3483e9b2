package op

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

type given = AttrMap

// runs runs an operator and checks that Infer, asked with and without the
// inputs' elements, agrees with the result: the same types and shapes, the same
// error or none, but for errors about values. Inputs whose values decide a shape keep them.
func runs(t *testing.T, name string, c *Call) []tensor.Any {
	t.Helper()
	o, ok := Lookup(name)
	if !ok {
		t.Fatalf("no operator %s", name)
	}
	return runsOp(t, o, c)
}

// runsOp is runs for one of several operators of a name.
func runsOp(t *testing.T, o *Op, c *Call) []tensor.Any {
	t.Helper()
	name := o.Name()
	if c.Attrs == nil || c.Attrs.(given) == nil {
		c.Attrs = given{}
	}
	if v := o.Versions(); c.Opset == 0 && len(v) > 0 {
		c.Opset = v[len(v)-1]
	}
	known := *c
	specs := *c
	specs.Inputs = append([]tensor.Any{}, c.Inputs...)
	for i, a := range specs.Inputs {
		if a.IsZero() {
			continue
		}
		s, err := tensor.NewSpec(a.DType(), a.Shape()...)
		if err != nil {
			t.Fatal(err)
		}
		specs.Inputs[i] = s.Any()
	}
	if _, err := o.Run(&specs); err == nil && len(c.Inputs) > 0 && !handsOn[name] {
		t.Errorf("%s: Run of specs gives no error", name)
	}
	out, err := o.Run(c)
	for what, call := range map[string]*Call{"of the inputs": &known, "of specs": &specs} {
		inferred, ierr := o.Infer(call)
		if what == "of specs" && errors.Is(ierr, ErrUnknown) {
			continue
		}
		if ierr == nil && (errors.Is(err, tensor.ErrValue) || errors.Is(err, tensor.ErrIndex) || errors.Is(err, fixed.ErrDomain)) {
			continue
		}
		if ierr == nil && errors.Is(err, tensor.ErrDType) && slices.Contains([]string{"Dropout", "Mod", "Pow", "Where"}, name) {
			continue // which types go together Run alone knows
		}
		if (err == nil) != (ierr == nil) {
			t.Errorf("%s: Run gives error %v, Infer %s %v", name, err, what, ierr)
			continue
		}
		if err == nil && fmt.Sprint(described(inferred)) != fmt.Sprint(described(out)) {
			t.Errorf("%s: Run gives %v, Infer %s %v", name, described(out), what, described(inferred))
		}
	}
	if err != nil {
		return nil
	}
	return out
}

// handsOn is the operators that look at no elements, or return an only input.
var handsOn = map[string]bool{"RandomNormal": true, "RandomUniform": true, "Shape": true, "Size": true, "Constant": true, "Identity": true, "Max": true, "Min": true, "Sum": true}

// asOf returns a as a tensor of its own type.
func asOf[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " is of another type")
	}
	return t
}

func described(as []tensor.Any) []string {
	var out []string
	for _, a := range as {
		if a.IsZero() {
			out = append(out, "none")
			continue
		}
		out = append(out, fmt.Sprint(a.DType(), a.Shape()))
	}
	return out
}

// A number of operations is unknown or 0, never wrong, while nothing is known.
func TestFLOPsOfNothing(t *testing.T) {
	for _, o := range Operators() {
		if got := plan.AboutOf(o.of()).FLOPs.Of(make([]tensor.Any, 2), nil); got != -1 && got != 0 {
			t.Errorf("%s counts %d of nothing", o.Name(), got)
		}
	}
}

// An operand whose type alone counts may be a Spec.
func TestLikeSpec(t *testing.T) {
	a, like := tensor.FromSlice([]float32{1, 2}, 2).Any(), plan.Spec("CastLike", dtype.Int64, 2)
	out, err := as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{a, like}, Opset: 15})
	if err != nil || out[0].DType() != dtype.Int64 {
		t.Errorf("CastLike: %v, %v", out, err)
	}
	if _, err := as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{plan.Spec("CastLike", dtype.Float32, 2), like}, Opset: 15}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a Spec cast: %v", err)
	}
}

// withWeights is plan.WithWeights for operators and calls as programs see them.
func withWeights(o *Op, c *Call) (form *Op, bytes int64) {
	in, bytes := plan.WithWeights(o.of(), (*plan.Call)(c))
	return as(in), bytes
}

// withRelu is plan.Rectified.
func withRelu(o *Op) (*Op, bool) {
	in, ok := plan.Rectified(o.of())
	return as(in), ok
}
