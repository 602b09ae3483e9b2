package op

import "github.com/ashlar-go/ashlar/tensor"

// Upsample is ONNX's: Resize with coordinates x/scale, rounded down for the mode
// nearest. The scales are an attribute before opset 9, an input in opset 9, and
// opset 10 gave the operator up for Resize. Typed programs call Resize.
var upsample = opN{about: about{name: "Upsample", flops: flops{rule: resizeFLOPs}, onnx: []int{7, 9}, attrs: []string{"mode", "scales"}}, least: 1, most: 2,
	move: func(c *Call) *transfer {
		var scales []float64
		if c.Opset < 9 {
			takes("Upsample", c, 1)
			v, _ := c.Attrs.Floats("scales")
			for _, s := range v {
				scales = append(scales, float64(s))
			}
		} else {
			needs("Upsample", c, 2)
			scales = floatsOf("Upsample", c, 1)
		}
		return resized("Upsample", c.in(0), oldResampling("Upsample", c.Attrs.Str("mode", "nearest"), scales))
	}}

// resizeFLOPs knows that the nearest element is a copy.
func resizeFLOPs(c *Call, _ []tensor.Any) int64 {
	if c.Attrs.Str("mode", "nearest") == "nearest" {
		return 0
	}
	return -1
}
