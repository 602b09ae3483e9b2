package op

import (
	"strconv"

	"github.com/ashlar-go/ashlar/tensor"
)

// Unsqueeze is ONNX's: axes of extent 1 are inserted where axes names positions of
// the result, by an attribute before opset 13, by an input from there on. A view.
// Typed programs call Tensor.Unsqueeze.
var unsqueeze = opN{about: about{name: "Unsqueeze", flops: flops{free: true}, onnx: []int{1, 11, 13, 21, 23, 24, 25}, attrs: []string{"axes"}}, least: 1, most: 2,
	planned: func(c *Call, p *Plan) {
		added := unsqueezed(c)
		shape, idx, from := make([]int, len(added)), make([]tensor.Index, len(added)), 0
		for i := range shape {
			if shape[i], idx[i] = 1, tensor.NewAxis; !added[i] {
				shape[i], idx[i] = c.in(0).Dim(from), tensor.Colon
				from++
			}
		}
		p.gives(c.in(0).DType(), shape...)
		p.view(func() tensor.Any { return viewed(tensor.Slice(c.in(0), idx...)) })
	}}

// unsqueezed returns which axes of the result are new.
func unsqueezed(c *Call) []bool {
	axes, ok := axesArg("Unsqueeze", c, 13)
	if !ok {
		panic(fail("Unsqueeze", tensor.ErrAxis, "no axes; name the positions of the new ones"))
	}
	added := make([]bool, c.in(0).Rank()+len(axes))
	for _, x := range axes {
		i := axisOf("Unsqueeze", x, len(added))
		if added[i] {
			panic(fail("Unsqueeze", tensor.ErrAxis, "axis %d is named twice in %s", x, listText(axes)))
		}
		added[i] = true
	}
	return added
}

// listText writes (2,-1), and of a long list where it begins and how long it is.
func listText(v []int) string {
	const most = 16
	text := "("
	for i, x := range v[:min(len(v), most)] {
		if i > 0 {
			text += ","
		}
		text += strconv.Itoa(x)
	}
	if len(v) > most {
		text += ",… of " + strconv.Itoa(len(v))
	}
	return text + ")"
}
