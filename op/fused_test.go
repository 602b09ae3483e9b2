package op_test

import (
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// The operators of the domain com.microsoft equal the operators that they are fused from, step by step.
func TestFusedOperators(t *testing.T) {
	at := func(seed uint64, shape ...int) tensor.Tensor[float32] {
		return tensor.RandomNormal[float32](seed, 0, 1, shape...)
	}
	x, skip, row, bias, more := at(1, 2, 3, 8), at(2, 2, 3, 8), at(3, 8), at(4, 8), at(5, 8)
	a, b := at(6, 5, 2, 4), at(7, 3, 2, 5)
	sum := op.Add(op.Add(x, skip), more)
	for _, c := range []struct {
		name  string
		in    []tensor.Tensor[float32]
		attrs op.AttrMap
		want  []tensor.Tensor[float32]
	}{
		{"FastGelu", []tensor.Tensor[float32]{x}, nil, []tensor.Tensor[float32]{op.GeluTanh(x)}},
		{"FastGelu", []tensor.Tensor[float32]{x, row}, nil, []tensor.Tensor[float32]{op.GeluTanh(op.Add(x, row))}},
		{"BiasGelu", []tensor.Tensor[float32]{x, row}, nil, []tensor.Tensor[float32]{op.Gelu(op.Add(x, row))}},
		{"QuickGelu", []tensor.Tensor[float32]{x}, nil, []tensor.Tensor[float32]{op.Mul(x, op.Sigmoid(op.Mul(x, tensor.Scalar[float32](1.702))))}},
		{"FusedMatMul", []tensor.Tensor[float32]{x, row}, op.AttrMap{"alpha": float32(0.3)}, []tensor.Tensor[float32]{op.Mul(op.MatMul(x, row), tensor.Scalar[float32](0.3))}},
		{"FusedMatMul", []tensor.Tensor[float32]{a, b}, op.AttrMap{"transA": int64(1), "transB": int64(1), "transBatchA": int64(1), "transBatchB": int64(1)},
			[]tensor.Tensor[float32]{op.MatMul(a.Permute(1, 2, 0), b.Permute(1, 2, 0))}},
		{"SkipLayerNormalization", []tensor.Tensor[float32]{x, skip, row, bias, more}, op.AttrMap{"epsilon": float32(0.5)},
			[]tensor.Tensor[float32]{op.LayerNormalization(sum, row, bias, -1, 0.5)}},
		{"SkipSimplifiedLayerNormalization", []tensor.Tensor[float32]{x, skip, row, more}, op.AttrMap{"epsilon": float32(0.5)},
			[]tensor.Tensor[float32]{op.RMSNormalization(sum, row, -1, 0.5)}},
	} {
		o, ok := op.Lookup(c.name)
		if !ok || o.Domain() != "com.microsoft" {
			t.Fatalf("%s: %v", c.name, ok)
		}
		call := op.Call{Opset: 1}
		for _, in := range c.in {
			call.Inputs = append(call.Inputs, in.Any())
		}
		if c.attrs != nil {
			call.Attrs = c.attrs
		}
		got, err := o.Run(&call)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		specs, err := o.Infer(&call)
		if err != nil || len(specs) != len(got) || tensor.Describe(specs[0]) != tensor.Describe(got[0]) {
			t.Errorf("%s: inferred %v, %v", c.name, specs, err)
		}
		for i, w := range c.want {
			tensortest.Equal(t, got[i], w.Any())
		}
	}
	o, _ := op.Lookup("SkipLayerNormalization")
	got, err := o.Run(&op.Call{Opset: 1, Outputs: 4, Inputs: []tensor.Any{x.Any(), skip.Any(), row.Any(), {}, more.Any()}})
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	tensortest.Equal(t, got[3], sum.Any())
	if _, err := o.Run(&op.Call{Opset: 1, Inputs: []tensor.Any{x.Any(), at(1, 5).Any(), row.Any()}}); err == nil {
		t.Error("a skip of another shape is no error")
	}
}
