package meta

import (
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// Patterns are nodes that stand together in real models, which single operators at random don't give. The passes of a
// session look for some of them. A pattern stops at the first node that doesn't run.

// A chain is a value that nodes change one after the other.
type chain struct {
	*drawing
	x   string
	t   dtype.DType
	err error
}

// pattern adds nodes that stand together.
func (d *drawing) pattern() error {
	ranks := [][]int{{1 + d.r.IntN(3), []int{1, 3, 8, 32, 40}[d.r.IntN(5)], 3 + d.r.IntN(12), 3 + d.r.IntN(20)}, {1 + d.r.IntN(3), 1 + d.r.IntN(9), 4 * (1 + d.r.IntN(6))}}
	kind := d.r.IntN(5)
	shape := ranks[kind%2]
	t := []dtype.DType{dtype.Float32, dtype.Float32, dtype.Float32, dtype.Float64, dtype.Float16, dtype.BFloat16}[d.r.IntN(6)]
	name, ok := d.pick(func(v onnx.Value) bool {
		return v.Tensor().DType() == t && len(v.Shape()) == len(shape) && v.Tensor().Len() > 0 && !slices.ContainsFunc(v.Shape(), func(e int) bool { return e > 64 })
	})
	if !ok || d.one(3) {
		x := optest.SampleInput{Special: d.flag(special) && d.one(3)}
		if d.batch > 0 {
			shape[0] = d.batch
		}
		if x.Value = optest.Random(d.r, t, shape, x.Special, false); x.Special {
			d.bands(x.Value)
		}
		name = d.fresh("x")
		if d.depth > 0 {
			var err error
			if name, err = d.value(x); err != nil {
				return err
			}
		} else {
			d.input(name, onnx.TensorValue(x.Value))
			d.fills[name] = x
			d.parted[name] = d.batch > 0
		}
	}
	c := &chain{drawing: d, x: name, t: t}
	for range 2 + d.r.IntN(4) {
		switch {
		case kind == 4 && t == dtype.Float32:
			c.quantized()
		case kind%2 == 0:
			c.layer()
		default:
			c.block()
		}
		if c.err != nil {
			break
		}
	}
	if c.x == name {
		return c.err
	}
	return nil // the nodes before the one that failed stay
}

// then makes the chain's value the result of a node.
func (c *chain) then(op string, in []string, attrs ...onnx.Attribute) string {
	if c.err == nil {
		var out string
		if out, c.err = c.node(op, in, attrs...); c.err == nil {
			c.x = out
		}
	}
	return c.x
}

// weight brings random numbers into the graph that stay from run to run most often.
func (c *chain) weight(shape ...int) string {
	return c.keep(optest.Random(c.r, c.t, shape, c.flag(special) && c.one(16), false))
}

// number brings one number of the chain's type into the graph.
func (c *chain) number(v float64, shape ...int) string {
	to, err := c.frame.op("Cast", []onnx.Value{onnx.TensorValue(tensor.FromSlice([]float64{v}, 1).Reshape(shape...).Any())}, onnx.IntAttr("to", int64(onnx.ElemOf(c.t))))
	if err != nil {
		c.err = err
		return ""
	}
	return c.keep(to.Tensor())
}

func (c *chain) keep(a tensor.Any) (name string) {
	if c.err == nil {
		kept := *c.drawing
		if !c.one(12) {
			kept.has |= constants
			kept.stored = true
		}
		name, c.err = kept.value(optest.SampleInput{Value: a, Fixed: true})
		c.live, c.g = kept.live, kept.g
	}
	return name
}

func (c *chain) shape() []int { return c.s[c.x].Shape() }

// like returns another live value with the extents of the chain's value, but for the one at axis.
func (c *chain) like(axis int) string {
	shape := c.shape()
	name, ok := c.pick(func(v onnx.Value) bool {
		other := slices.Clone(v.Shape())
		if axis >= 0 && len(other) == len(shape) {
			other[axis] = shape[axis]
		}
		return v.Tensor().DType() == c.t && slices.Equal(other, shape)
	})
	if !ok {
		return c.x
	}
	return name
}

// conv adds a convolution of m channels.
func (c *chain) conv(m, k, group int) {
	s := c.shape()
	in := []string{c.x, c.weight(m, s[1]/group, k, k)}
	if c.one(2) {
		in = append(in, c.weight(m))
	}
	attrs := []onnx.Attribute{onnx.IntAttr("group", int64(group))}
	switch pad, step := int64(c.r.IntN(k/2+1)), int64(1+c.r.IntN(5)/4); c.r.IntN(4) {
	case 0:
		attrs = append(attrs, onnx.StringAttr("auto_pad", []string{"SAME_UPPER", "SAME_LOWER", "VALID"}[c.r.IntN(3)]))
	default:
		attrs = append(attrs, onnx.IntsAttr("pads", pad, pad, pad, pad), onnx.IntsAttr("strides", step, step))
	}
	c.then("Conv", in, attrs...)
}

// bound adds an activation, as one node or written out.
func (c *chain) bound() {
	x := c.x
	switch c.r.IntN(12) {
	case 0, 1:
		c.then("Relu", []string{x})
	case 2:
		c.then("Clip", []string{x, c.number(0), c.number(6)})
	case 3:
		in := []string{x, c.then("Sigmoid", []string{x})}
		if c.one(2) {
			slices.Reverse(in)
		}
		c.then("Mul", in)
	case 4: // HardSwish
		c.then("Add", []string{x, c.number(3)})
		c.then("Clip", []string{c.x, c.number(0), c.number(6)})
		c.then("Mul", []string{x, c.x})
		c.then("Div", []string{c.x, c.number(6)})
	case 5:
		c.then("HardSigmoid", []string{x}, onnx.FloatAttr("alpha", 1./6))
		c.then("Mul", []string{x, c.x})
	case 6: // Gelu
		c.then("Div", []string{x, c.number(math.Sqrt2)})
		c.then("Erf", []string{c.x})
		c.then("Add", []string{c.x, c.number(1)})
		c.then("Mul", []string{x, c.x})
		c.then("Mul", []string{c.x, c.number(.5)})
	case 7: // Mish
		c.then("Softplus", []string{x})
		c.then("Tanh", []string{c.x})
		c.then("Mul", []string{x, c.x})
	default:
		c.then([]string{"LeakyRelu", "Sigmoid", "Tanh", "Neg"}[c.r.IntN(4)], []string{x})
	}
}

// layer adds a layer of a network for images.
func (c *chain) layer() {
	s := c.shape()
	if len(s) != 4 {
		c.err = errNone
		return
	}
	switch channels := s[1]; c.r.IntN(13) {
	case 0, 1, 2, 3:
		if c.one(3) { // which a convolution may take over
			c.then("Pad", []string{c.x, c.list(0, 0, c.r.Int64N(3), 1, 0, 0, 1, c.r.Int64N(3))})
		}
		c.conv([]int{1, 8, 16, 24, 33}[c.r.IntN(5)], []int{1, 1, 3, 3, 2}[c.r.IntN(5)], 1)
		if c.one(3) {
			c.scaled(c.shape()[1])
		}
		c.bound()
	case 4, 5:
		c.conv(channels, []int{3, 3, 5, 2}[c.r.IntN(4)], channels)
		c.bound()
	case 6:
		c.scaled(channels)
	case 7:
		c.then([]string{"Add", "Mul", "Sub"}[c.r.IntN(3)], []string{c.x, c.like(-1)})
	case 8: // a dense network
		x := c.like(1)
		c.then("Conv", []string{c.x, c.weight(8, channels, 1, 1)})
		c.bound()
		c.then("Concat", []string{x, c.x}, onnx.IntAttr("axis", 1))
	case 9:
		k := int64(2 + c.r.IntN(2))
		c.then([]string{"MaxPool", "AveragePool"}[c.r.IntN(2)], []string{c.x}, onnx.IntsAttr("kernel_shape", k, k), onnx.IntsAttr("strides", 1+c.r.Int64N(2), 1))
	case 10: // squeeze and excite
		x := c.x
		c.then("GlobalAveragePool", []string{x})
		c.conv(4, 1, 1)
		c.then("Relu", []string{c.x})
		c.conv(channels, 1, 1)
		c.then("Sigmoid", []string{c.x})
		c.then("Mul", []string{x, c.x})
	case 11:
		c.then("Dropout", []string{c.x})
	default: // the head of a network
		c.then("GlobalAveragePool", []string{c.x})
		c.then("Flatten", []string{c.x})
		c.then("Gemm", []string{c.x, c.weight(9, channels), c.weight(9)}, onnx.IntAttr("transB", 1))
		c.bound()
	}
}

// scaled adds a BatchNormalization.
func (c *chain) scaled(channels int) {
	in := []string{c.x}
	for range 4 {
		in = append(in, c.weight(channels))
	}
	c.then("BatchNormalization", in)
}

// list brings integers into the graph.
func (c *chain) list(list ...int64) string { return c.keep(tensor.FromSlice(list, len(list)).Any()) }

// linear multiplies a value of the chain by a matrix, and adds a bias.
func (c *chain) linear(x string, width int) string {
	s := c.s[x].Shape()
	c.then("MatMul", []string{x, c.weight(s[len(s)-1], width)})
	if c.one(2) {
		c.then("Add", []string{c.x, c.weight(width)})
	}
	return c.x
}

// block adds a part of a network for sequences.
func (c *chain) block() {
	s := c.shape()
	if len(s) != 3 {
		c.err = errNone
		return
	}
	x, width := c.x, s[2]
	switch c.r.IntN(7) {
	case 0, 1:
		c.linear(x, 4*(1+c.r.IntN(8)))
		c.bound()
	case 2: // attention
		heads := []int{1, 2, 4}[c.r.IntN(3)]
		each := 4 * (1 + c.r.IntN(4))
		part := func(perm ...int64) string {
			c.linear(x, heads*each)
			c.then("Reshape", []string{c.x, c.list(0, 0, int64(heads), int64(each))})
			return c.then("Transpose", []string{c.x}, onnx.IntsAttr("perm", perm...))
		}
		q, k, v := part(0, 2, 1, 3), part(0, 2, 3, 1), part(0, 2, 1, 3)
		c.then("MatMul", []string{q, k})
		if c.one(2) {
			c.then([]string{"Mul", "Div"}[c.r.IntN(2)], []string{c.x, c.number(math.Sqrt(float64(each)))})
		}
		if c.one(2) {
			c.then("Add", []string{c.x, c.weight(s[1], s[1])})
		}
		c.then("Softmax", []string{c.x}, onnx.IntAttr("axis", -1))
		c.then("MatMul", []string{c.x, v})
		c.then("Transpose", []string{c.x}, onnx.IntsAttr("perm", 0, 2, 1, 3))
		c.then("Reshape", []string{c.x, c.list(0, 0, -1)})
	case 3: // LayerNormalization, written out
		mean := c.then("ReduceMean", c.axes(x), c.axesOf(-1)...)
		less := c.then("Sub", []string{x, mean})
		c.then("Pow", []string{less, c.number(2)})
		c.then("ReduceMean", c.axes(c.x), c.axesOf(-1)...)
		c.then("Add", []string{c.x, c.number(1e-3)})
		c.then("Sqrt", []string{c.x})
		c.then("Div", []string{less, c.x})
		c.then("Mul", []string{c.x, c.weight(width)})
		c.then("Add", []string{c.x, c.weight(width)})
	case 4:
		c.then("LayerNormalization", []string{x, c.weight(width), c.weight(width)})
	case 5:
		c.then("Add", []string{x, c.like(-1)})
	default: // a shape that is computed
		c.then("Shape", []string{x})
		c.then("Gather", []string{c.x, c.list(0, 1)})
		c.then("Concat", []string{c.x, c.list(2, -1)}, onnx.IntAttr("axis", 0))
		c.then("Reshape", []string{x, c.x})
		c.then("Transpose", []string{c.x}, onnx.IntsAttr("perm", 0, 2, 1, 3))
		c.then("Reshape", []string{c.x, c.list(int64(s[0]), -1, int64(width))})
	}
}

// axes is the inputs of a reduction along the last axis, which has the axis as an attribute before opset 18.
func (c *chain) axes(x string) []string {
	if c.m.Opset("") < 18 {
		return []string{x}
	}
	return []string{x, c.list(-1)}
}

func (c *chain) axesOf(axis int64) []onnx.Attribute {
	if c.m.Opset("") < 18 {
		return []onnx.Attribute{onnx.IntsAttr("axes", axis)}
	}
	return nil
}

// quantized adds operators on bytes, or ones between QuantizeLinear and DequantizeLinear.
func (c *chain) quantized() {
	zero := c.keep(tensor.Scalar(uint8(c.r.IntN(256))).Any())
	scale := c.keep(tensor.Scalar(float32(c.r.IntN(9)+1) / 64).Any())
	through := func() {
		c.then("QuantizeLinear", []string{c.x, scale, zero})
		c.then("DequantizeLinear", []string{c.x, scale, zero})
	}
	bytes := func(shape ...int) string {
		return c.keep(optest.Random(c.r, dtype.Int8, shape, true, false))
	}
	s := c.shape()
	if len(s) == 0 {
		c.err = errNone
		return
	}
	through()
	switch x := c.x; c.r.IntN(5) {
	case 0:
		c.then("DequantizeLinear", []string{bytes(s[len(s)-1], 8), scale})
		c.then("MatMul", []string{x, c.x})
	case 1:
		if len(s) == 4 {
			w := c.then("DequantizeLinear", []string{bytes(8, s[1], 1, 1), scale})
			c.then("Conv", []string{x, w})
			c.bound()
		}
	case 2:
		c.then("Add", []string{x, c.like(-1)})
	case 3:
		if c.err == nil {
			var out []string
			if out, c.err = c.add(onnx.Node{Op: "DynamicQuantizeLinear", Inputs: []string{x}, Outputs: []string{c.fresh("v"), c.fresh("v"), c.fresh("v")}}); c.err == nil {
				c.then("MatMulInteger", []string{out[0], bytes(s[len(s)-1], 8), out[2]})
				c.then("Cast", []string{c.x}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
				c.then("Mul", []string{c.x, out[1]})
			}
		}
	}
	through()
}
