package op_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestFast(t *testing.T) {
	x := tensor.New[float32](3, 1001)
	for i := range x.Any().Indices() {
		x.Set(float32(i[0]*1001+i[1])/97-15, i...)
	}
	for name, f := range map[string]func(tensor.Tensor[float32], ...op.Option) tensor.Tensor[float32]{"Exp": op.Exp[float32], "Log": op.Log[float32],
		"Tanh": op.Tanh[float32], "Sigmoid": op.Sigmoid[float32]} {
		right, rough := f(x), f(x, op.Fast())
		for i := range x.Any().Indices() {
			a, b := right.At(i...), rough.At(i...)
			if d := int32(math.Float32bits(a)) - int32(math.Float32bits(b)); (a != a) != (b != b) || a == a && max(d, -d) > 2 {
				t.Fatalf("%s(%v) is %v, fast %v", name, x.At(i...), a, b)
			}
		}
		// of columns, in a chain, and into a tensor: the same function
		turned := f(x.Permute(1, 0), op.Fast())
		dst := tensor.New[float32](3, 1001)
		chained := op.Fuse(f(op.Lazy(x), op.Fast()))
		f(x, op.Fast(), op.Into(dst))
		for i := range x.Any().Indices() {
			b := math.Float32bits(rough.At(i...))
			if math.Float32bits(turned.At(i[1], i[0])) != b || math.Float32bits(chained.At(i...)) != b || math.Float32bits(dst.At(i...)) != b {
				t.Fatalf("%s(%v, Fast) has %v, %v, %v and %v", name, x.At(i...), rough.At(i...), turned.At(i[1], i[0]), chained.At(i...), dst.At(i...))
			}
		}
	}
	y := op.Cast[float64](x)
	if !op.All(op.Equal(op.Tanh(y, op.Fast()), op.Tanh(y)), nil).Item() {
		t.Error("Fast changes float64")
	}
}

func ExampleFast() {
	x := tensor.FromSlice([]float32{0, 1}, 2)
	y := op.Exp(x, op.Fast())
	fmt.Printf("%.4f %.4f\n", y.At(0), y.At(1))
	// Output: 1.0000 2.7183
}
