package ashlar_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestDifferencesPyTorch has the values of PyTorch 1.13.0a0 (Debian 12, amd64, CPU), run with the expression in the comment.
func TestDifferencesPyTorch(t *testing.T) {
	d := &differences{t: t}
	row := func(v ...float32) tensor.Tensor[float32] { return tensor.FromSlice(v, 1, 1, len(v)) }

	d.show("The element type is part of the Go type: operands of different types don't compile, and at run time they are refused; PyTorch promotes.", func() seen {
		// torch.tensor([1]) + torch.tensor([1.5])
		add, _ := op.Lookup("Add")
		_, err := add.Run(&op.Call{Inputs: []tensor.Any{vec[int64](1).Any(), vec[float32](1.5).Any()}})
		return seen{err, "op.Add: operands hold int64 and float32; convert one with op.Cast", "tensor([2.5000])", "op.Cast says what a conversion costs"}
	})
	d.show("A mistake panics with a `*tensor.Error`, and `tensor.Try` returns it. Files return errors.", func() seen {
		// torch.zeros(2) + torch.zeros(3) raises RuntimeError
		return seen{refused(func() { op.Add(vec[float32](1, 2), vec[float32](1, 2, 3)) }), "op.Add: shapes (2) and (3) don't broadcast: axis 0 is 2 and 3",
			"RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0", "expressions need no check after each call"}
	})
	d.show("Results have the same bits on every machine, with any number of threads; a computed NaN has one pattern.", func() seen {
		// (torch.tensor([inf]) - torch.tensor([inf])).view(torch.int32) is -4194304, ffc00000
		return seen{bits(op.Sub(vec(inf), vec(inf))), "7fc00000", "ffc00000", "the same file has the same digest everywhere"}
	})
	d.show("A random number follows from the seed of its call and its place: there is no generator that calls change, and the sequence isn't PyTorch's.", func() seen {
		// torch.manual_seed(7); torch.randn(2)
		return seen{tensor.RandomNormal[float32](7, 0, 1, 2), "[-0.20566592 -1.241379  ]", "[-0.1468  0.7861]", "a call gives the same whatever ran before it"}
	})

	d.show("A slice may have a negative step, and is a view.", func() seen {
		// torch.arange(3.)[::-1] raises ValueError: step must be greater than zero
		return seen{tensor.Arange[float32](0, 3, 1).S("::-1"), "[2. 1. 0.]", "ValueError: step must be greater than zero", "layouts have negative strides"}
	})
	d.show("Views of repeated elements (`BroadcastTo`, `Diagonal`, `SlidingWindow`) are read-only; PyTorch writes through `expand` and `diagonal`.", func() seen {
		// a = torch.zeros(1); a.expand(3).fill_(2); a
		return seen{refused(func() { vec[float32](0).BroadcastTo(3).Fill(2) }),
			"tensor.Fill: the tensor is a read-only view, as BroadcastTo, Diagonal, SlidingWindow and ReadOnly make; write to a Clone", "tensor([2.])", "one write that changes several elements is nearly always a mistake"}
	})
	d.show("A copy between views that overlap is right; PyTorch refuses it.", func() seen {
		// a = torch.arange(5); a[1:].copy_(a[:-1])
		a := tensor.Arange[int32](0, 5, 1)
		a.S("1:").CopyFrom(a.S(":-1"))
		return seen{a, "[0 0 1 2 3]", "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location.",
			"the copy takes the order, or the room, that overlap needs"}
	})
	d.show("`Gather`, `GatherElements` and `GatherND` count a negative index from the end; `torch.gather` refuses it.", func() seen {
		// torch.gather(torch.tensor([1., 2.]), 0, torch.tensor([-1]))
		return seen{op.GatherElements(vec[float32](1, 2), vec[int64](-1), 0), "[2.]", "RuntimeError: index -1 is out of bounds for dimension 0 with size 2", "ONNX's indices count from the end"}
	})
	d.show("`NonZero` has a row for each axis, `torch.nonzero` one for each element.", func() seen {
		// torch.nonzero(torch.tensor([0, 1, 1]))
		return seen{op.NonZero(vec[int32](0, 1, 1)), "[[1 2]]", "[[1]\n [2]]", "ONNX's and NumPy's form"}
	})

	d.show("Sums of float32 and narrower floats are added in float64 and rounded once; PyTorch adds in float32.", func() seen {
		// torch.tensor([16777216., 1, 1, 1]).sum()
		return seen{op.ReduceSum(vec[float32](16777216, 1, 1, 1), nil), "16777220.0", "16777216.0", "16777219 is the sum; it is rounded once"}
	})
	d.show("A mean of large float32 or float16 doesn't overflow if it has the type.", func() seen {
		// torch.full((5,), 60000., dtype=torch.float16).mean()
		return seen{op.ReduceMean(tensor.Full(num.FromFloat64[num.F16](60000), 5), nil), "60000.0", "inf", "sums of narrow floats are wider"}
	})
	d.show("Neither does `ReduceL2`, PyTorch's `norm`.", func() seen {
		// torch.tensor([3e20, 4e20]).norm()
		return seen{op.ReduceL2(vec[float32](3e20, 4e20), nil), "5e+20", "inf", "squares and their sum are float64"}
	})
	d.show("`Var` and `Std` take `ddof`, and with 0 divide by the count; PyTorch's divide by one less. The mean is a float64.", func() seen {
		// torch.tensor([1e8, 1e8 + 8]).var()
		return seen{op.Var(vec[float32](1e8, 1e8+8), nil, 1), "32.0", "64.0", "the mean, 1e8 + 4, is no float32"}
	})
	d.show("`Median` of an even count is the mean of the middle two; PyTorch's is the smaller one.", func() seen {
		// torch.tensor([1., 2, 3, 4]).median()
		return seen{op.Median(vec[float32](1, 2, 3, 4), nil), "2.5", "2.0", "NumPy's rule, and that of statistics"}
	})
	d.show("Functions are correctly rounded; PyTorch's `gelu` and `sigmoid` err by some units in the last place.", func() seen {
		// F.gelu(torch.tensor([0.1, 0.7, 1.3])).view(torch.int32)
		return seen{bits(op.Gelu(vec[float32](0.1, 0.7, 1.3))), "3d5d1d0d 3f07d711 3f964ada", "3d5d1d0f 3f07d712 3f964ada", "only a rule without a margin can hold on every machine"}
	})
	d.show("`LayerNormalization` takes mean and variance in float64.", func() seen {
		// F.layer_norm(torch.tensor([1e4, 1e4 + 1, 1e4 + 2]), (3,))
		one := vec[float32](1, 1, 1)
		y := op.LayerNormalization(vec[float32](1e4, 1e4+1, 1e4+2), one, tensor.New[float32](3), -1, 1e-5)
		return seen{y, "[-1.2247357  0.         1.2247357]", "[-1.2249e+00 -1.4269e-04  1.2246e+00]", "the middle element is the mean, so it becomes 0"}
	})

	d.show("Integers keep their type in sums and products, and wrap; PyTorch widens them to 64 bits.", func() seen {
		// torch.tensor([100, 100, 100], dtype=torch.int8).sum()
		return seen{op.ReduceSum(vec[int8](100, 100, 100), nil), "44", "300", "one type in and one out, as in ONNX; op.Cast before the sum widens"}
	})
	d.show("`ReduceMean` of integers is an integer, cut toward zero; PyTorch refuses integers.", func() seen {
		// torch.tensor([-1, -2]).mean()
		return seen{op.ReduceMean(vec[int32](-1, -2), nil), "-1", "RuntimeError: mean(): could not infer output dtype.", "ONNX's ReduceMean has integers"}
	})
	d.show("`Div` of integers is a quotient, cut toward zero; PyTorch's `/` gives floats.", func() seen {
		// torch.tensor([7, -7]) / torch.tensor([2, 2])
		return seen{op.Div(vec[int32](7, -7), vec[int32](2, 2)), "[ 3 -3]", "[ 3.5 -3.5]", "ONNX and Go divide integers into integers"}
	})
	d.show("A float outside an integer's range becomes the nearest integer, and NaN becomes 0; PyTorch's values are those of the processor.", func() seen {
		// torch.tensor([nan, inf, 3e9]).to(torch.int32)
		return seen{op.Cast[int32](vec(nan, inf, 3e9)), "[         0 2147483647 2147483647]", "[-2147483648 -2147483648 -2147483648]", "arm64 and amd64 disagree; the nearest is the least harm"}
	})
	d.show("A shift by the width of an integer or more gives 0.", func() seen {
		// torch.tensor([1], dtype=torch.int32) << 40
		return seen{op.BitShift(vec[int32](1), vec[int32](40), op.ShiftLeft), "[0]", "[256]", "the processor takes the count modulo 32, and vectors don't"}
	})
	d.show("`MatMulInteger` multiplies int8 into int32; PyTorch's `@` stays in int8, and wraps.", func() seen {
		// torch.tensor([[100] * 4], dtype=torch.int8) @ torch.tensor([[100]] * 4, dtype=torch.int8)
		a, zero := tensor.Full[int8](100, 1, 4), tensor.Scalar[int8](0)
		return seen{op.MatMulInteger(a, tensor.Full[int8](100, 4, 1), zero, zero), "[[40000]]", "[[64]]", "sums of 8 bits hold next to nothing"}
	})

	d.show("`ReduceMax` of nothing is −∞ or the least integer, and `ReduceMin` of nothing the opposite; PyTorch refuses both.", func() seen {
		// torch.zeros(0).amax()
		return seen{op.ReduceMax(vec[float32](), nil), "-inf", "RuntimeError: amax(): Expected reduction dim to be specified for input.numel() == 0.", "ONNX's text from opset 20 on"}
	})
	d.show("The larger of −0 and +0 is +0, in `Max` and `Relu`; PyTorch takes one by its place.", func() seen {
		// torch.maximum(torch.tensor([-0.0]), torch.tensor([0.0])), F.relu(torch.tensor([-0.0]))
		return seen{fmt.Sprint(op.Max(vec(neg), vec[float32](0)), op.Relu(vec(neg))), "[0.] [0.]", "[-0.] [-0.]", "the result doesn't depend on the order of the operands"}
	})
	d.show("`Sign` of NaN is NaN.", func() seen {
		// torch.tensor([nan]).sign()
		return seen{op.Sign(vec(nan)), "[nan]", "[0.]", "no function hides a NaN that it is given"}
	})
	d.show("`Softsign` of ±∞ is the limit, 1 and −1.", func() seen {
		// F.softsign(torch.tensor([inf, -inf]))
		return seen{op.Softsign(vec(inf, -inf)), "[ 1. -1.]", "[nan nan]", "x / (1 + abs(x)) is NaN there, the function isn't"}
	})
	d.show("`TopK` takes the first of equal elements.", func() seen {
		// torch.tensor([1., 2, 2, 2]).topk(2).indices
		_, at := op.TopK(vec[float32](1, 2, 2, 2), 2, -1, op.TopKOptions{})
		return seen{at, "[1 2]", "[2 3]", "ONNX's text: the lower index comes first"}
	})
	d.show("`Unique` counts all NaNs as one.", func() seen {
		// torch.unique(torch.tensor([nan, nan, 1]))
		y, _, _, _ := op.Unique(vec(nan, nan, 1), 0, op.UniqueOptions{})
		return seen{y, "[ 1. nan]", "[ 1. nan nan]", "as NumPy since 1.21"}
	})
	d.show("A model's `Resize` has its scales as float32, and the extent follows from the exact value; PyTorch's `interpolate` has a float64. Give the sizes to get theirs.", func() seen {
		// F.interpolate(torch.arange(10.).view(1, 1, 10), scale_factor=0.7, mode='nearest').shape
		y := op.Resize(row(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), op.ResizeOptions{Scales: []float64{1, 1, float64(float32(0.7))}})
		return seen{y.Shape(), "[1 1 6]", "[1 1 7]", "0.7 in float32 is 0.69999999; ONNX's reference gives the same"}
	})
	d.show("`Resize` with `align_corners` and a scale takes the step from the fractional extent, PyTorch from the whole one; give the sizes to get theirs.", func() seen {
		// F.interpolate(torch.arange(4.).view(1, 1, 4), scale_factor=1.3, mode='linear', align_corners=True)
		y := op.Resize(row(0, 1, 2, 3), op.ResizeOptions{Scales: []float64{1, 1, 1.3}, Mode: "linear", Coordinates: "align_corners"})
		return seen{y, "[[[0.         0.71428573 1.4285715  2.142857   2.857143  ]]]", "[[[0.   0.75 1.5  2.25 3.  ]]]", "ONNX's node tests have it so"}
	})
	d.page("docs/from-pytorch.md")
}
