package op

import (
	"strconv"

	"github.com/ashlar-go/ashlar/tensor"
)

// Unsqueeze is ONNX's: axes of extent 1 are inserted where axes names positions of
// the result, by an attribute before opset 13, by an input from there on. A view.
// Typed programs call Tensor.Unsqueeze.
var unsqueeze = opN{about: about{name: "Unsqueeze", flops: flops{free: true}, onnx: []int{1, 11, 13, 21, 23, 24, 25}, attrs: []string{"axes"}}, least: 1, most: 2,
	infer: func(c *Call) []tensor.Any {
		added := unsqueezed(c)
		shape := make([]int, len(added))
		from := 0
		for i := range shape {
			shape[i] = 1
			if !added[i] {
				shape[i] = c.in(0).Dim(from)
				from++
			}
		}
		return one(spec("Unsqueeze", c.in(0).DType(), shape...))
	},
	run: func(c *Call) []tensor.Any {
		added := unsqueezed(c)
		idx := make([]tensor.Index, len(added))
		for i := range idx {
			idx[i] = tensor.Colon
			if added[i] {
				idx[i] = tensor.NewAxis
			}
		}
		return one(viewed(tensor.Slice(c.in(0), idx...)))
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
