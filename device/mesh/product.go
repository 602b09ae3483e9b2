package mesh

import (
	"math"

	"github.com/ashlar-go/ashlar/device/grid"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

const block = 256 // of op.MatMul's order along k

// MatMul returns the product of two matrices on a mesh, [m,k]·[k,n] = [m,n]. Each device multiplies its parts
// by op.MatMul, and no byte moves. The axes of the mesh have the matrices in these pairs of placements, and the product so:
//
//	R, R        R
//	S(0), R     S(0)
//	R, S(1)     S(1)
//	S(1), S(0)  P(sum), on one axis: k is cut
//
// A cut k has a part for each block of 256 that begins on a device. Of two blocks it is P(sum,2).
//
// The sum over them has the bits of op.MatMul on one device if every cut of k is a multiple of 256, because op.MatMul adds such
// blocks in this order. With other cuts it is the sum of the devices' blocks in their order, and differs in
// the last bits. A k that no axis cuts is one device's product.
//
// MatMul fails for other placements and ranks. It fails for other types than integers, float32 and
// float64 if k is cut: narrow floats are exact in float32, which op.Cast rounds after the sum.
func MatMul(a, b Tensor) (Tensor, error) {
	const name = "mesh.MatMul"
	if a.devs == nil || a.devs != b.devs {
		return Tensor{}, fail(name, tensor.ErrClosed, "the matrices are on different devices, or nowhere")
	}
	if len(a.shape) != 2 || len(b.shape) != 2 || a.shape[1] != b.shape[0] || a.dtype != b.dtype {
		return Tensor{}, fail(name, tensor.ErrShape, "%v by %v: want matrices of one type that share k", a, b)
	}
	r := Tensor{a.devs, a.dtype, []int{a.shape[0], b.shape[1]}, make([]grid.OnAxis, len(a.on)), nil}
	deep := -1
	for i := range a.on {
		switch x, y := a.on[i], b.on[i]; {
		case x == grid.OnAxis{} && (y == grid.OnAxis{} || y == grid.OnAxis{Kind: grid.Sharded, Axis: 1}):
			r.on[i] = y
		case x == grid.OnAxis{Kind: grid.Sharded} && y == grid.OnAxis{}:
			r.on[i] = x
		case x == grid.OnAxis{Kind: grid.Sharded, Axis: 1} && y == grid.OnAxis{Kind: grid.Sharded} && deep < 0:
			deep = i
		default:
			return Tensor{}, fail(name, tensor.ErrAxis, "axis %s has %v and %v; want R and R, S(0) and R, R and S(1), or, on one axis, S(1) and S(0)", a.devs.mesh.Axes[i].Name, x, y)
		}
	}
	if wide := a.dtype == dtype.Float32 || a.dtype == dtype.Float64; deep >= 0 && !wide && !a.dtype.IsInteger() {
		return Tensor{}, fail(name, tensor.ErrDType, "%v has no parts that add up to one device's product; cast to float32, and round after the sum", a.dtype)
	}
	parts := 1
	if deep >= 0 {
		_, extent, err := a.devs.mesh.Box(a.shape, a.on, 0) // the largest part
		if err != nil {
			return Tensor{}, tensor.Wrap(name, err)
		}
		parts = max(1, (extent[1]+block-1)/block)
		r.on[deep] = grid.OnAxis{Kind: grid.PartialSum}
		if parts > 1 {
			r.on[deep].Parts = parts
		}
	}
	return r.fill(name, func(i int, _, extent []int) (tensor.Any, error) {
		x, err := a.Part(i)
		if err != nil {
			return x, err
		}
		y, err := b.Part(i)
		if err != nil {
			return y, err
		}
		if deep < 0 {
			return product(x, y)
		}
		return blocks(x, y, parts, extent, r.devs.mesh.Coord(i)[deep] == 0)
	})
}

// blocks returns the products of the blocks of k, and after them addends that change nothing. The first device has a first product
// even of an empty k: zeros.
func blocks(x, y tensor.Any, parts int, extent []int, first bool) (tensor.Any, error) {
	out, err := tensor.Make(x.DType(), append([]int{parts}, extent...)...)
	if err != nil {
		return out, err
	}
	k := x.Dim(1)
	for p := range parts {
		to := out.Slice(tensor.I(p))
		if p*block >= k && !(first && p == 0) {
			neutral(to)
			continue
		}
		cut := tensor.R(p*block, min(k, (p+1)*block))
		r, err := product(x.Slice(tensor.Colon, cut), y.Slice(cut))
		if err == nil {
			err = tensor.Copy(to, r)
		}
		if err != nil {
			return out, err
		}
	}
	if parts == 1 {
		return out.Slice(tensor.I(0)), nil
	}
	return out, nil
}

// neutral fills a tensor with the number that no sum sees: -0, and 0 of integers.
func neutral(x tensor.Any) {
	if f, ok := tensor.As[float32](x); ok {
		f.Fill(float32(math.Copysign(0, -1)))
	} else if f, ok := tensor.As[float64](x); ok {
		f.Fill(math.Copysign(0, -1))
	}
}

func product(x, y tensor.Any) (tensor.Any, error) {
	matmul, ok := op.Lookup("MatMul")
	if !ok {
		return tensor.Any{}, fail("mesh.MatMul", tensor.ErrDType, "there is no operator MatMul")
	}
	out, err := matmul.Run(&op.Call{Inputs: []tensor.Any{x, y}, Attrs: op.AttrMap(nil)})
	if err != nil {
		return tensor.Any{}, err
	}
	return out[0], nil
}
