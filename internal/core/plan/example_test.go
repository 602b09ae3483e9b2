package plan_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// An operator that says the type and shape of its result can be planned from Specs.
func Example() {
	o := plan.OpOf(&plan.Operator{About: plan.About{Name: "Same"}, Least: 1, Planned: func(c *plan.Use, p *plan.Draft) {
		p.Gives(c.In(0).DType(), c.In(0).Shape()...)
	}})
	spec, _ := tensor.NewSpec(dtype.Float32, 2, 3)
	out, err := o.Infer(&plan.Call{Inputs: []tensor.Any{spec.Any()}})
	fmt.Println(out[0].DType(), out[0].Shape(), err)
	// Output: float32 [2 3] <nil>
}
