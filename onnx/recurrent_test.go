package onnx

import (
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// The model and the numbers of ONNX's node test test_lstm_defaults: a session finds the operator, passes absent inputs and
// lists of strings on, and gives the outputs that are asked for.
func TestLSTM(t *testing.T) {
	run := func(attrs ...Attribute) tensor.Any {
		s := session(t, func(b *Builder) {
			x := b.Input("x", dtype.Float32, 1, 3, 2)
			w, r := b.Weight("w", tensor.Full[float32](0.1, 1, 12, 2).Any()), b.Weight("r", tensor.Full[float32](0.1, 1, 12, 3).Any())
			h := b.Input("h", dtype.Float32, 1, 3, 3)
			out := b.Nodes("LSTM", 3, []string{x, w, r, "", "", h}, append(attrs, IntAttr("hidden_size", 3))...)
			b.Output(out[1], dtype.Float32, 1, 3, 3)
			b.g.Nodes[0].Outputs[0] = ""
		})
		out := mustRun(t, s, vals{"x": tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 1, 3, 2).Any(), "h": tensor.New[float32](1, 3, 3).Any()})
		for _, v := range out {
			return v
		}
		return tensor.Any{}
	}
	strs := func(v ...string) Attribute {
		return Attribute{Name: "activations", Type: AttrStrings, Value: v}
	}
	want := tensor.FromSlice([]float32{0.095241204, 0.095241204, 0.095241204, 0.25606447, 0.25606447, 0.25606447, 0.40323776, 0.40323776, 0.40323776}, 1, 3, 3).Any()
	tensortest.AllClose(t, run(), want, 1e-6, 0)
	tensortest.AllClose(t, run(strs("sigmoid", "TANH", "Tanh")), want, 1e-6, 0)
	if a := run(strs("Sigmoid", "Tanh", "Relu")); tensor.Sprint(a, nil) == tensor.Sprint(want, nil) {
		t.Error("the activations are ignored")
	}
}
