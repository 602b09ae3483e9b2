package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
)

// orionFixed makes a tensor of fixed point from words.
func orionFixed(name string, shape []int, data []json.RawMessage) (tensor.Any, error) {
	d, err := dtype.Parse(name)
	if err != nil {
		return tensor.Any{}, err
	}
	t, err := tensor.Make(d, shape...)
	if err != nil {
		return tensor.Any{}, err
	}
	if n := t.Len(); n != len(data) {
		return tensor.Any{}, fmt.Errorf("%d elements for %s", len(data), tensor.Describe(t))
	}
	switch d {
	case dtype.FP8x23:
		err = fill(t, data, orionWord[fixed.FP8x23])
	case dtype.FP16x16:
		err = fill(t, data, orionWord[fixed.FP16x16])
	case dtype.FP32x32:
		err = fill(t, data, orionWord[fixed.FP32x32])
	case dtype.FP64x64:
		err = fill(t, data, orionWord[fixed.FP64x64])
	}
	return t, err
}

// orionWord reads a word. Orion's NaN and infinities are words that ours aren't.
func orionWord[T num.Fixed](s string) (x T, err error) {
	b, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return x, unsupported{s + " is no number of fixed point"}
	}
	w, ok := fixed.Int128FromBig(b)
	if !ok {
		return x, unsupported{s + " has more than 128 bits"}
	}
	return fixed.FromBits[T](w)
}

// words returns the words of a tensor of fixed point, in row-major order, and how many bits are after the point.
func words(a tensor.Any) (w []*big.Int, frac uint) {
	frac = map[dtype.DType]uint{dtype.FP8x23: 23, dtype.FP16x16: 16, dtype.FP32x32: 32, dtype.FP64x64: 64}[a.DType()]
	if frac == 0 {
		return nil, 0
	}
	for v := range a.Values() {
		switch v := v.(type) {
		case fixed.FP8x23:
			w = append(w, fixed.Bits(v).Big())
		case fixed.FP16x16:
			w = append(w, fixed.Bits(v).Big())
		case fixed.FP32x32:
			w = append(w, fixed.Bits(v).Big())
		case fixed.FP64x64:
			w = append(w, fixed.Bits(v).Big())
		}
	}
	return w, frac
}

// near compares fixed point as the case asks for: exactly, within so many units, or, where nobody knows the exact
// result, within Orion's own relative tolerance, which is absolute beside 0.
func (c *orionCase) near(got, want tensor.Any) error {
	if d := got.DType(); d != want.DType() && (d.IsInteger() || d.IsFloat()) { // scales and zero points of quantisation
		got = cast(got, want.DType())
	}
	if g, w := tensor.Describe(got), tensor.Describe(want); g != w {
		return fmt.Errorf("got %s, want %s", g, w)
	}
	g, _ := words(got)
	w, frac := words(want)
	worst, at, differ := 0.0, -1, 0
	for i := range w {
		off, _ := new(big.Float).SetInt(new(big.Int).Abs(new(big.Int).Sub(g[i], w[i]))).Float64()
		size, _ := new(big.Float).SetInt(new(big.Int).Abs(w[i])).Float64()
		limit := 0.0
		switch {
		case c.Compare == "tolerance" && c.Units != nil:
			limit = *c.Units
		case c.Compare == "tolerance" && size == 0:
			limit = c.Relative * math.Ldexp(1, int(frac))
		case c.Compare == "tolerance":
			limit = 1 + float64(c.Relative*size) // the data is cut off to a unit
		}
		if off > limit {
			if differ++; off > worst {
				worst, at = off, i
			}
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d elements differ, at most by %g units, at %d: got %v, want %v", differ, len(w), worst, at, g[at], w[at])
	}
	return nil
}

// format returns the fixed-point format of the first result, dtype.Invalid if it has another type.
func (o *orionCall) format() dtype.DType {
	if len(o.c.Outputs) == 0 || o.c.Outputs[0] == nil {
		return dtype.Invalid
	}
	if d, err := dtype.Parse(orionTypes[o.c.Outputs[0].DType]); err == nil && d.IsFixed() {
		return d
	}
	return dtype.Invalid
}

// number returns an argument as a scalar tensor of type d, of which it is a word or, of integers, the number; nil when it isn't given.
func (o *orionCall) number(name string, d dtype.DType) (tensor.Any, error) {
	var v json.Number
	if !o.arg(name, &v) {
		return tensor.Any{}, nil
	}
	data := []json.RawMessage{json.RawMessage(v)}
	if d.IsFixed() {
		return orionFixed(d.String(), nil, data)
	}
	return (&array{DType: d.String(), Data: data}).tensor()
}

// real returns an argument as a number; of fixed point it is a word.
func (o *orionCall) real(name string) (float64, bool) {
	var v float64
	if !o.arg(name, &v) {
		return 0, false
	}
	return v / o.one(name), true
}

// one returns how many units 1 is in the type of an argument.
func (o *orionCall) one(name string) float64 {
	var typ string
	o.arg(name+"_dtype", &typ)
	switch typ {
	case "FP8x23":
		return 1 << 23
	case "FP16x16":
		return 1 << 16
	case "FP32x32":
		return 1 << 32
	case "FP64x64":
		return 1 << 64
	}
	return 1
}

// reals adds the named arguments that are given to a, as floats.
func (o *orionCall) reals(a attrs, names ...string) attrs {
	for _, name := range names {
		if v, ok := o.real(name); ok {
			a[name] = float32(v)
		}
	}
	return a
}

// texts adds the named arguments that are given to a, as strings: auto_pad in capitals.
func (o *orionCall) texts(a attrs, names ...string) attrs {
	for _, name := range names {
		var s string
		if o.arg(name, &s) {
			if name == "auto_pad" {
				s = strings.ToUpper(s)
			}
			a[name] = s
		}
	}
	return a
}

// operands returns the operands with nil for the operands that an argument says aren't given: {"B": null}.
func (o *orionCall) operands(names ...string) []tensor.Any {
	in := make([]tensor.Any, 0, len(names))
	at := 0
	for _, name := range names {
		if _, no := o.c.Args[name]; no || at >= len(o.in) {
			in = append(in, tensor.Any{})
			continue
		}
		in = append(in, o.in[at])
		at++
	}
	return in
}

// orionReal is an operator with attributes that are real numbers.
func orionReal(name string, opset int, names ...string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		return inOrion(name, opset, o.in, o.reals(attrs{}, names...))
	}
}

// orionWindow has the size as a number of the results' type.
func orionWindow(name string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		n, _ := o.real("size")
		w, ok := all.Lookup(name)
		if !ok || o.format() == dtype.Invalid {
			return nil, unsupported{"no operator " + name}
		}
		a := o.attrs("periodic")
		return op.InFixed(w, o.format()).Run(&op.Call{Inputs: []tensor.Any{tensor.Scalar(int64(n)).Any()}, Attrs: a, Opset: 17})
	}
}

// orionQLinear has scales and zero points of fixed point, each a vector of one, where ONNX has scalars: float32 and int8.
func orionQLinear(name string, opset int, scales []int, zeros []int, names ...string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		in := slices.Clone(o.in)
		for i, d := range []dtype.DType{dtype.Float32, dtype.Int8} {
			for _, k := range [][]int{scales, zeros}[i] {
				t, err := tensor.Reshape(in[k])
				if err != nil {
					return nil, err
				}
				in[k] = cast(t, d)
			}
		}
		switch name {
		case "QLinearConv": // y_scale and y_zero_point come before the bias, which no case has
		case "QLinearLeakyRelu": // the result has the operand's
			in = append(in, in[1], in[2])
		}
		return inOrion(name, opset, in, o.reals(o.attrs(names...), "alpha"))
	}
}

// orionReals are the operators that only numbers with a point have.
var orionReals = map[string]orionFunc{
	"acos": orionNamed("Acos", 22), "acosh": orionNamed("Acosh", 22), "asin": orionNamed("Asin", 22), "asinh": orionNamed("Asinh", 22), "atan": orionNamed("Atan", 22),
	"ceil": orionNamed("Ceil", 13), "cos": orionNamed("Cos", 22), "cosh": orionNamed("Cosh", 22), "erf": orionNamed("Erf", 13), "exp": orionNamed("Exp", 13),
	"log": orionNamed("Log", 13), "pow": orionNamed("Pow", 15), "round": orionNamed("Round", 22), "sin": orionNamed("Sin", 22), "sinh": orionNamed("Sinh", 22),
	"sqrt": orionNamed("Sqrt", 13), "tanh": orionNamed("Tanh", 13), "sigmoid": orionNamed("Sigmoid", 13), "softplus": orionNamed("Softplus", 22), "softsign": orionNamed("Softsign", 22),
	"softmax": orionNamed("Softmax", 13, "axis"), "logsoftmax": orionNamed("LogSoftmax", 13, "axis"),
	"leaky_relu": orionReal("LeakyRelu", 16, "alpha"), "hard_sigmoid": orionReal("HardSigmoid", 22, "alpha", "beta"),
	"thresholded_relu": orionReal("ThresholdedRelu", 22, "alpha"), "shrink": orionReal("Shrink", 9, "bias", "lambd"),
	"reduce_l2": orionReduce("ReduceL2", 13, "axis"), "reduce_log_sum": orionReduce("ReduceLogSum", 13, "axis"), "reduce_log_sum_exp": orionReduce("ReduceLogSumExp", 13, "axis"),
	"blackman_window": orionWindow("BlackmanWindow"), "hamming_window": orionWindow("HammingWindow"), "hann_window": orionWindow("HannWindow"),
	"global_average_pool": orionNamed("GlobalAveragePool", 22), "center_crop_pad": orionNamed("CenterCropPad", 18, "axes"),
	"qlinear_add":       orionQLinear("QLinearAdd", 1, []int{1, 4, 6}, []int{2, 5, 7}),
	"qlinear_mul":       orionQLinear("QLinearMul", 1, []int{1, 4, 6}, []int{2, 5, 7}),
	"qlinear_matmul":    orionQLinear("QLinearMatMul", 21, []int{1, 4, 6}, []int{2, 5, 7}),
	"qlinear_conv":      orionQLinear("QLinearConv", 10, []int{1, 4, 6}, []int{2, 5, 7}, "dilations", "group", "kernel_shape", "pads", "strides"),
	"qlinear_leakyrelu": orionQLinear("QLinearLeakyRelu", 1, []int{1}, []int{2}),
	"qlinear_concat": func(o *orionCall) ([]tensor.Any, error) {
		n := (len(o.in) - 2) / 3
		in := o.in[3*n:]
		for i := range n {
			in = append(in, o.in[i], o.in[n+i], o.in[2*n+i])
		}
		p := &orionCall{c: o.c, in: in}
		scales, zeros := []int{0}, []int{1}
		for i := range n {
			scales, zeros = append(scales, 3*i+3), append(zeros, 3*i+4)
		}
		return orionQLinear("QLinearConcat", 1, scales, zeros, "axis")(p)
	},
	"dynamic_quantize_linear": func(o *orionCall) ([]tensor.Any, error) {
		q, ok := op.Lookup("DynamicQuantizeLinear")
		if !ok {
			return nil, unsupported{"no operator DynamicQuantizeLinear"}
		}
		return q.Run(&op.Call{Inputs: []tensor.Any{cast(o.in[0], dtype.Float32)}, Attrs: attrs{}, Opset: 11, Outputs: 3})
	},
	"softmax_zero": func(o *orionCall) ([]tensor.Any, error) { // zeros have no part in it
		least, err := orionFixed(o.in[0].DType().String(), nil, []json.RawMessage{json.RawMessage("-2147483648")})
		if err != nil {
			return nil, err
		}
		x, err := inOrion("Where", 16, []tensor.Any{o.in[0], o.in[0], least}, attrs{})
		if err != nil {
			return nil, err
		}
		return inOrion("Softmax", 13, x, o.attrs("axis"))
	},
	"layer_normalization": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("LayerNormalization", 17, o.in, o.reals(o.attrs("axis"), "epsilon"))
	},
	"gemm": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Gemm", 13, o.operands("A", "B", "C"), o.reals(o.attrs("transA", "transB"), "alpha", "beta"))
	},
	"conv": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Conv", 22, o.operands("X", "W", "B"), o.texts(o.attrs("dilations", "group", "kernel_shape", "pads", "strides"), "auto_pad"))
	},
	"conv_transpose": func(o *orionCall) ([]tensor.Any, error) {
		a := o.attrs("dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides")
		return inOrion("ConvTranspose", 22, o.operands("X", "W", "B"), o.texts(a, "auto_pad"))
	},
	"deform_conv": func(o *orionCall) ([]tensor.Any, error) {
		a := o.attrs("dilations", "group", "kernel_shape", "offset_group", "pads", "strides")
		return inOrion("DeformConv", 22, o.operands("X", "W", "offset", "B", "mask"), a)
	},
	"col2im": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Col2Im", 18, append(o.in, o.list("image_shape"), o.list("block_shape")), o.attrs("dilations", "pads", "strides"))
	},
	"max_pool": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("MaxPool", 22, o.in, o.texts(o.attrs("ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"), "auto_pad"))
	},
	"grid_sample": func(o *orionCall) ([]tensor.Any, error) {
		a := o.texts(attrs{}, "mode", "padding_mode")
		var v int64
		if o.arg("align_corner", &v) {
			a["align_corners"] = v
		}
		return inOrion("GridSample", 20, o.in, a)
	},
	"resize": func(o *orionCall) ([]tensor.Any, error) {
		in := []tensor.Any{o.in[0], tensor.Any{}, tensor.Any{}, o.list("sizes")}
		if len(o.in) > 1 {
			in[1] = cast(o.in[1], dtype.Float32)
		}
		var scales []float32
		if o.arg("scales", &scales) {
			for i := range scales {
				scales[i] /= float32(o.one("scales"))
			}
			in[2] = tensor.FromSlice(scales, len(scales)).Any()
		}
		a := o.reals(o.attrs("antialias", "axes", "exclude_outside"), "cubic_coeff_a", "extrapolation_value")
		return inOrion("Resize", 19, in, o.texts(a, "coordinate_transformation_mode", "keep_aspect_ratio_policy", "mode", "nearest_mode"))
	},
	"onehot": func(o *orionCall) ([]tensor.Any, error) {
		var depth int64
		var values []json.RawMessage
		o.arg("depth", &depth)
		o.arg("values", &values)
		v, err := (&array{DType: "int64", Shape: []int{len(values)}, Data: values}).tensor()
		if err != nil {
			return nil, err
		}
		return inOrion("OneHot", 11, []tensor.Any{cast(o.in[0], dtype.Int64), tensor.Scalar(depth).Any(), cast(v, o.in[0].DType())}, o.attrs("axis"))
	},
}

// fixedLabels is LabelEncoder of fixed point.
func (o *orionCall) fixedLabels() ([]tensor.Any, error) {
	switch x := o.in[0]; x.DType() {
	case dtype.FP8x23:
		return labels(typed[fixed.FP8x23](x), o.in)
	case dtype.FP16x16:
		return labels(typed[fixed.FP16x16](x), o.in)
	}
	return nil, unsupported{"no case has other types"}
}

func labels[T num.Fixed](x tensor.Tensor[T], in []tensor.Any) ([]tensor.Any, error) {
	var t [4][]T
	for i := range t {
		v, ok := tensor.As[T](in[i])
		if !ok {
			return nil, unsupported{"no case has other types"}
		}
		t[i] = slices.Collect(v.Values())
	}
	return []tensor.Any{ml.LabelEncoder(x, t[2], t[3], t[1][0]).Any()}, nil
}
