package op_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A plan runs again on the elements that its operands have then.
func ExampleOp_Plan() {
	a := tensor.FromSlice([]float32{1, 2}, 2)
	neg, _ := op.Lookup("Neg")
	p, err := neg.Plan(&op.Call{Inputs: []tensor.Any{a.Any()}})
	if err != nil {
		panic(err)
	}
	out, _ := p.Run()
	fmt.Println(out[0], p.Steady())
	a.Set(5, 0)
	out, _ = p.Run()
	fmt.Println(out[0])
	// Output:
	// [-1. -2.] true
	// [-5. -2.]
}

// A program's own operator for its models.
func ExampleNew() {
	same := func(c *op.Call) ([]tensor.Any, error) { return c.Inputs[:1], nil }
	o := op.New(op.Info{Domain: "org.example", Name: "Keep", Versions: []int{1}}, same, same)
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{tensor.FromSlice([]int64{1, 2}, 2).Any()}})
	fmt.Println(o.Domain(), o.Name(), out[0], err, o.Supports(dtype.Bool))
	// Output: org.example Keep [1 2] <nil> true
}
