package onnx

import (
	"fmt"
	"slices"
	"strings"
)

// Operators that ONNX Runtime's optimizer makes of others, and writes into the models that it saves: they are those others,
// one after the other, each rounded for itself. Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime, and
// for the cases that it leaves open onnxruntime/contrib_ops/cpu/fused_activation.cc and fused_gemm.cc there.

// An activation is an operator of one operand that FusedConv or FusedGemm applies to its result.
type activation struct {
	op     string
	params []string // of the operator, in the order of activation_params
	inputs bool     // they are inputs of it, not attributes
}

var (
	convActivations = []activation{{op: "Relu"}, {op: "Tanh"}, {op: "Sigmoid"}, {op: "LeakyRelu", params: []string{"alpha"}}, {op: "Clip", params: []string{"min", "max"}, inputs: true},
		{op: "HardSigmoid", params: []string{"alpha", "beta"}}, {op: "HardSwish"}}
	gemmActivations = []activation{{op: "Celu", params: []string{"alpha"}}, {op: "Elu", params: []string{"alpha"}}, {op: "HardSigmoid", params: []string{"alpha", "beta"}}, {op: "LeakyRelu", params: []string{"alpha"}},
		{op: "Relu"}, {op: "Selu", params: []string{"alpha", "gamma"}}, {op: "Sigmoid"}, {op: "Softplus"}, {op: "Softsign"}, {op: "Tanh"}, {op: "ThresholdedRelu", params: []string{"alpha"}}}
)

// windowed are the attributes of Conv.
var windowed = []string{"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}

// activationOf returns the activation that a node names, nil if it names none of the list.
func activationOf(n *Node, list []activation) *activation {
	if a := n.Attr("activation"); a != nil {
		for i := range list {
			if list[i].op == a.Value {
				return &list[i]
			}
		}
	}
	return nil
}

// wrongActivation says why a node can't have the activation that it names, "" if it can. Its parameters may be in a list.
func wrongActivation(n *Node, list []activation, listed bool) string {
	a, f := n.Attr("activation"), activationOf(n, list)
	switch {
	case a == nil:
		return ""
	case f == nil:
		var names []string
		for i := range list {
			names = append(names, list[i].op)
		}
		return fmt.Sprintf(`attribute "activation" is %.60q; the activations are %s`, fmt.Sprint(a.Value), strings.Join(names, ", "))
	case listed && f.params != nil && len(paramsOf(n)) != len(f.params):
		return fmt.Sprintf(`attribute "activation_params" has %d floats; %s takes %d`, len(paramsOf(n)), f.op, len(f.params))
	}
	return ""
}

func paramsOf(n *Node) (list []float32) {
	if a := n.Attr("activation_params"); a != nil {
		list, _ = a.Value.([]float32)
	}
	return list
}

// fusedConv is activation(Conv(X, W, B) + Z). Z has the shape of the result. activation_params are alpha of LeakyRelu, min and
// max of Clip, alpha and beta of HardSigmoid; the others ignore it.
func fusedConv(n *Node) *Function {
	b := newSketch(n, "X", "W", "B", "Z")
	b.Attributes, b.Outputs = slices.Concat(windowed, []string{"activation", "activation_params"}), []string{"Y"}
	y := b.node("conv", "Conv", b.Inputs[:3], givenAll(windowed)...)
	if len(n.Inputs) > 3 && n.Inputs[3] != "" {
		y = b.part("sum", "AddSame", []string{y, "Z"})
	}
	f, params := activationOf(n, convActivations), paramsOf(n)
	if f == nil {
		b.node("Y", "Identity", []string{y})
		return &b.Function
	}
	in := []string{y}
	var attrs []Attribute
	for i, name := range f.params {
		if f.inputs {
			in = append(in, b.node(name, "CastLike", []string{b.node(name+"Float", "Constant", nil, FloatAttr("value_float", params[i])), y}))
		} else {
			attrs = append(attrs, FloatAttr(name, params[i]))
		}
	}
	b.node("Y", f.op, in, attrs...)
	return &b.Function
}

// fusedGemm is activation(Gemm(A, B, C)). The attributes of the activation have activation_ before their names, and else the
// defaults that ONNX gives them.
func fusedGemm(n *Node) *Function {
	of := []string{"alpha", "beta", "transA", "transB"}
	b := newSketch(n, "A", "B", "C")
	b.Attributes, b.Outputs = slices.Concat(of, []string{"activation", "activation_alpha", "activation_beta", "activation_gamma"}), []string{"Y"}
	y := b.node("gemm", "Gemm", b.Inputs, givenAll(of)...)
	f := activationOf(n, gemmActivations)
	if f == nil {
		b.node("Y", "Identity", []string{y})
		return &b.Function
	}
	var attrs []Attribute
	for _, name := range f.params {
		attrs = append(attrs, given(name, "activation_"+name))
	}
	b.node("Y", f.op, []string{y}, attrs...)
	return &b.Function
}

// nhwcMaxPool is MaxPool of a picture whose channels are the last axis.
func nhwcMaxPool(n *Node) *Function {
	b := newSketch(n, "x")
	b.Attributes, b.Outputs = []string{"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}, []string{"y"}
	first := b.part("first", "ChannelsFirst", b.Inputs)
	b.part("y", "ChannelsLast", []string{b.node("pool", "MaxPool", []string{first}, givenAll(b.Attributes)...)})
	return &b.Function
}

// wrongLayout says why a node can't have its channels_last.
func wrongLayout(n *Node) string {
	if a := n.Attr("channels_last"); a != nil {
		if _, ok := a.Value.(int64); !ok {
			return fmt.Sprintf(`attribute "channels_last": it holds %v, the operator asks for int`, a.kind())
		}
	}
	return ""
}

// nhwcQLinearConv is QLinearConv with channels_last, which says that the channels of x and y are the last axis; the axes of w
// stay.
func nhwcQLinearConv(n *Node) *Function {
	b := newSketch(n, "x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "B")
	b.Attributes, b.Outputs = slices.Concat(windowed, []string{"channels_last"}), []string{"y"}
	if n.Attr("channels_last").Value == int64(0) {
		b.node("y", "QLinearConv", b.Inputs, givenAll(windowed)...)
		return &b.Function
	}
	in := slices.Clone(b.Inputs)
	in[0] = b.part("first", "ChannelsFirst", []string{"x"})
	b.part("y", "ChannelsLast", []string{b.node("conv", "QLinearConv", in, givenAll(windowed)...)})
	return &b.Function
}
