package op

import (
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/tensor"
)

// Upsample is ONNX's: Resize with coordinates x/scale, rounded down for the mode
// nearest. The scales are an attribute before opset 9, an input in opset 9, and
// opset 10 gave the operator up for Resize. Typed programs call Resize.
var upsample = plan.Operator{About: plan.About{Name: "Upsample", PerAxis: 0b10, Versions: []int{7, 9}, Attrs: []string{"mode", "scales"}}, Least: 1, Most: 2,
	Move: func(c *plan.Use) plan.Mover {
		var scales []float64
		if c.Opset < 9 {
			plan.Takes("Upsample", c, 1)
			v, _ := c.Attrs.Floats("scales")
			for _, s := range v {
				scales = append(scales, float64(s))
			}
		} else {
			plan.Needs("Upsample", c, 2)
			scales = floatsOf("Upsample", c, 1)
		}
		for i, s := range scales {
			if !(s >= 1) {
				panic(plan.Fail("Upsample", tensor.ErrValue, "scale %v of axis %d; want 1 or more, as Upsample doesn't shrink: Resize does", s, i))
			}
		}
		return resized("Upsample", c.In(0), oldResampling("Upsample", c.Attrs.Str("mode", "nearest"), scales))
	}}
