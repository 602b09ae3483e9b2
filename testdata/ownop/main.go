// Command ownop declares an operator, MovingMean, and runs it in a graph between operators of package op.
package main

import (
	"context"
	"fmt"
	"log"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// movingMean is the mean of each run of `size` elements along the only axis.
var movingMean = op.New(op.Info{
	Domain: "org.example", Name: "MovingMean", Versions: []int{1},
	Attributes: []string{"size"},
	Supports:   func(d dtype.DType) bool { return d == dtype.Float32 },
	FLOPs:      func(c *op.Call, out []tensor.Any) int64 { return 2*int64(c.Inputs[0].Len()) + int64(out[0].Len()) },
	Scratch:    func(c *op.Call, out []tensor.Any) int64 { return 8 * int64(c.Inputs[0].Len()+1) }, // sums from the left
}, infer, run)

func infer(c *op.Call) ([]tensor.Any, error) {
	x, size := c.Inputs[0], int(c.Attrs.Int("size", 2))
	if x.Rank() != 1 || size < 1 || size > x.Dim(0) {
		return nil, fmt.Errorf("size %d of %s; want 1 to the elements of a vector", size, tensor.Describe(x))
	}
	y, err := tensor.NewSpec(dtype.Float32, x.Dim(0)-size+1)
	return []tensor.Any{y.Any()}, err
}

func run(c *op.Call) ([]tensor.Any, error) {
	x, _ := tensor.As[float32](c.Inputs[0])
	size, n := int(c.Attrs.Int("size", 2)), x.Len()
	room, err := op.Scratch(c.Context, 8*(n+1))
	if err != nil {
		return nil, err
	}
	sums := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(room.Bytes()))), n+1)
	for i := range n {
		sums[i+1] = sums[i] + float64(x.At(i))
	}
	y := tensor.New[float32](n - size + 1)
	for i := range y.Len() {
		y.Set(float32((sums[i+size]-sums[i])/float64(size)), i)
	}
	return []tensor.Any{y.Any()}, nil
}

func main() {
	b := onnx.NewBuilder("smooth")
	b.Import("org.example", 1)
	x := b.Input("x", dtype.Float32, "n")
	y := b.Node("org.example.MovingMean", []string{b.Node("Abs", []string{x})}, onnx.IntAttr("size", 3))
	b.Output(b.Rename(b.Node("Neg", []string{y}), "y"), dtype.Float32, nil)
	m, err := b.Model(13)
	if err != nil {
		log.Fatal(err)
	}
	m.Operators = []*op.Op{movingMean}
	s, err := onnx.NewSession(m)
	if err != nil {
		log.Fatal(err)
	}
	in := map[string]tensor.Any{"x": tensor.FromSlice([]float32{1, -2, 3, -4, 5}, 5).Any()}
	cost, err := m.Cost(in)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range cost.Nodes {
		fmt.Println(n.Node.Op, n.Types[0], n.FLOPs, "operations")
	}
	p, err := s.Plan(in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Live, "bytes at most")
	out, err := s.Run(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["y"])
}
