package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Dropout is what dropout does outside of training: it returns a itself, or with
// Into a copy, and a mask of a's shape that is true throughout: nothing was
// dropped. ONNX Dropout. Training, whose result is random, is an error unless
// the ratio is 0.
func Dropout[T num.Float | num.Narrow](a tensor.Tensor[T], opts ...Option) (tensor.Tensor[T], tensor.Tensor[bool]) {
	return Identity(a, opts...), tensor.Full(true, a.Shape()...)
}

var dropout = opN{about: about{name: "Dropout", onnx: []int{7, 10, 12, 13, 22}, attrs: []string{"ratio", "seed"}}, least: 1, most: 3, takes: floats,
	run: runDropout,
	infer: func(c *Call) []tensor.Any {
		shape := c.in(0).Shape()
		mask := dtype.Bool
		if c.Opset < 10 {
			mask = c.in(0).DType()
		}
		return []tensor.Any{spec("Dropout", c.in(0).DType(), shape...), spec("Dropout", mask, shape...)}[:max(1, min(c.Outputs, 2))]
	}}

// runDropout returns the mask only if asked for. Before opset 10 it had the type
// of the data, from opset 12 on the ratio and whether to train are inputs.
func runDropout(c *Call) []tensor.Any {
	a := *c.with("Dropout", 0)
	if train := c.in(2); c.Opset >= 12 && !train.IsZero() {
		t, ok := tensor.As[bool](train)
		if !ok {
			panic(notHeld("Dropout", &train, 2, dtype.Bool))
		}
		if r := c.in(1); t.Item() && (r.IsZero() || !isZero(r)) {
			panic(fail("Dropout", ErrUnsupported, "training_mode is true and the ratio isn't 0: what training drops is random; export the model for inference"))
		}
	}
	if c.Outputs < 2 {
		return one(a)
	}
	mask := tensor.Full(true, a.Shape()...).Any()
	if c.Opset < 10 {
		mask = inType(mask, a.DType())
	}
	return []tensor.Any{a, mask}
}

// isZero reports whether a, of a float type, is a single 0.
func isZero(a tensor.Any) bool {
	return a.Len() == 1 && tensor.Float64s(a)(make([]int, a.Rank())...) == 0
}
