package op_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleMatMulPacked() {
	w, err := pack.Pack(tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
	if err != nil {
		log.Fatal(err)
	}
	x := tensor.FromSlice([]float32{1, 10, 100}, 1, 3)
	fmt.Println(op.MatMulPacked(x, w))
	// Output: [[531. 642.]]
}

// The bits are as in MatMul with the matrix unpacked, over the edges of blocks, and
// of NaNs and infinities too.
func TestMatMulPacked(t *testing.T) {
	for _, c := range []struct {
		a []int
		n int
	}{{[]int{3, 5}, 4}, {[]int{1, 256}, 33}, {[]int{2, 3, 257}, 7}, {[]int{700}, 20}, {[]int{5, 1000}, 40}, {[]int{2, 0}, 3}, {[]int{0, 300}, 3}, {[]int{4, 300}, 0}, {[]int{2, 40}, 40}, {[]int{2, 300}, 300}} {
		k := c.a[len(c.a)-1]
		a, b := tensor.RandomNormal[float32](1, 0, 1, c.a...), tensor.RandomNormal[float32](2, 0, 1, k, c.n)
		if a.Len() > 900 {
			e := a.Elems()
			e[300], e[700], e[901] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
		}
		int4, err := pack.Calibrate(b, pack.Integers{Bits: 4, Shape: b.Shape(), Axis: 1, Block: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []pack.Format{pack.BFP8, pack.BFP4, int4} {
			o := pack.Options{Tile: pack.TileOf(32, 32), Format: f}
			if f == int4 {
				o.Tile = pack.Tile{} // of several scales
			}
			p, err := pack.Pack(b.Any(), &o)
			if err != nil {
				t.Fatal(err)
			}
			u, err := p.Unpack()
			if err != nil {
				t.Fatal(err)
			}
			got, want := op.MatMulPacked(a, p), op.MatMul(a, asOf[float32](u))
			if !slices.Equal(got.Shape(), want.Shape()) {
				t.Fatalf("%v: shape %v, want %v", c.a, got.Shape(), want.Shape())
			}
			shape := want.Shape()
			slices.Reverse(shape)
			to := tensor.New[float32](shape...).Transpose() // not row-major
			op.MatMulPacked(a, p, op.Into(to))
			for _, got := range []tensor.Tensor[float32]{got, to.Contiguous()} {
				for i, v := range got.Elems() {
					if w := want.Elems()[i]; math.Float32bits(v) != math.Float32bits(w) {
						t.Fatalf("%v by %d, %s: element %d is %v, want %v", c.a, c.n, f.Name(), i, v, w)
					}
				}
			}
			if c.n == k {
				if op.MatMulPacked(a, p, op.Into(a)); !op.All(op.Equal(a, got), nil).Item() {
					t.Fatalf("%v by %d, %s: other elements in a", c.a, c.n, f.Name())
				}
				break // a is another one now
			}
		}
	}
}

// The matrix is never unpacked as a whole.
func TestMatMulPackedMemory(t *testing.T) {
	const k, n = 4096, 2048
	p, err := pack.Pack(tensor.RandomUniform[float32](1, -1, 1, k, n).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
	if err != nil {
		t.Fatal(err)
	}
	a := tensor.RandomUniform[float32](2, -1, 1, 8, k)
	mem.SetBound(mem.SetBound(1 << 40)) // the peak begins anew
	before := mem.Stats().Live
	op.MatMulPacked(a, p)
	if more := mem.Stats().Peak - before; more > 8<<20 {
		t.Errorf("it took %d bytes; the matrix has %d unpacked, 256 rows of it %d", more, 4*k*n, 4*256*n)
	}
}

func TestMatMulPackedErrors(t *testing.T) {
	p, err := pack.Pack(tensor.New[float32](3, 2).Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
	if err != nil {
		t.Fatal(err)
	}
	err = tensor.Try(func() { op.MatMulPacked(tensor.New[float32](2, 4), p) })
	if !errors.Is(err, tensor.ErrShape) || err.Error() != "op.MatMulPacked: float32[2,4] and float32[3,2] don't multiply: want […,k] and [k,n]" {
		t.Error(err)
	}
	abs, _ := op.Lookup("Abs")
	if _, err := abs.Run(&op.Call{Inputs: []tensor.Any{p.Any()}}); !errors.Is(err, tensor.ErrDType) || err.Error() != "op.Abs: input 0 is a pack.Tensor of float32, whose elements can't be read; unpack it" {
		t.Error(err)
	}
	p.Close()
	if err := tensor.Try(func() { op.MatMulPacked(tensor.New[float32](2, 3), p) }); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}
