package op_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// The window of a model that runs in fixed point is fixed point, and so is a tensor that it casts to float32.
func ExampleInFixed() {
	hann, _ := op.Lookup("HannWindow")
	out, err := op.InFixed(hann, dtype.FP16x16).Run(&op.Call{Inputs: []tensor.Any{tensor.Scalar[int64](4).Any()}, Attrs: op.AttrMap(nil), Opset: 17})
	fmt.Println(tensor.Describe(out[0]), out[0], err)
	cast, _ := op.Lookup("Cast")
	out, err = op.InFixed(cast, dtype.FP16x16).Run(&op.Call{Inputs: []tensor.Any{tensor.Scalar[int64](4).Any()}, Attrs: op.AttrMap{"to": int64(1)}, Opset: 13})
	fmt.Println(out[0].DType(), out[0], err)
	// Output:
	// fp16x16[4] [0.  0.5 1.  0.5] <nil>
	// fp16x16 4 <nil>
}

// An operator without rows for a format gives the result of the numbers in float64, rounded once.
func TestInFixedWider(t *testing.T) {
	const name = "GridSample"
	o, _ := op.Lookup(name)
	x := tensor.RandomUniform(1, fixed.FP16x16FromBits(-1<<20), fixed.FP16x16FromBits(1<<20), 1, 2, 4, 5)
	grid := tensor.RandomUniform(2, fixed.FP16x16FromBits(-70000), fixed.FP16x16FromBits(70000), 1, 3, 3, 2)
	f := op.InFixed(o, dtype.FP16x16)
	if !f.Supports(dtype.FP16x16) || o.Supports(dtype.FP16x16) {
		t.Fatalf("%s takes fixed point itself, or not even so; choose another operator", name)
	}
	call := &op.Call{Inputs: []tensor.Any{x.Any(), grid.Any()}, Attrs: op.AttrMap(nil), Opset: 20}
	got, err := f.Run(call)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := o.Run(&op.Call{Inputs: []tensor.Any{op.Cast[float64](x).Any(), op.Cast[float64](grid).Any()}, Attrs: op.AttrMap(nil), Opset: 20})
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Equal(t, got[0], op.Cast[fixed.FP16x16](asOf[float64](wide[0])).Any())
	spec, err := f.Infer(call)
	if err != nil || tensor.Describe(spec[0]) != tensor.Describe(got[0]) {
		t.Errorf("inferred %v, %v", spec, err)
	}
	tensortest.Equal(t, call.Inputs[0], x.Any()) // the operands are as they were

	// float64 doesn't hold the wide formats.
	w := op.Cast[fixed.FP32x32](x)
	_, err = op.InFixed(o, dtype.FP32x32).Run(&op.Call{Inputs: []tensor.Any{w.Any(), op.Cast[fixed.FP32x32](grid).Any()}, Attrs: op.AttrMap(nil), Opset: 20})
	if !errors.Is(err, tensor.ErrDType) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "fp32x32") {
		t.Error(err)
	}
}

// A result of float64 that the format has no room for is an error.
func TestInFixedOverflow(t *testing.T) {
	o, _ := op.Lookup("ConstantOfShape")
	v := tensor.FromSlice([]float32{40000}, 1)
	_, err := op.InFixed(o, dtype.FP16x16).Run(&op.Call{Inputs: []tensor.Any{tensor.FromSlice([]int64{2}, 1).Any()}, Attrs: op.AttrMap{"value": v}, Opset: 9})
	if !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "op.ConstantOfShape: ") {
		t.Error(err)
	}
	if v.At(0) != 40000 {
		t.Error("the attribute changed")
	}
}
