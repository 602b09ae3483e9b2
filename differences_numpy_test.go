package ashlar_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestDifferencesNumPy has the values of NumPy 1.24.2 (Debian 12, amd64), run with the expression in the comment.
func TestDifferencesNumPy(t *testing.T) {
	d := &differences{t: t}

	d.show("The element type is part of the Go type: operands of different types don't compile, and at run time they are refused; NumPy promotes in silence.", func() seen {
		// np.array([1], np.int32) + np.array([1.5], np.float32) is of float64
		add, _ := op.Lookup("Add")
		_, err := add.Run(&op.Call{Inputs: []tensor.Any{vec[int32](1).Any(), vec[float32](1.5).Any()}})
		return seen{err, "op.Add: operands hold int32 and float32; convert one with op.Cast", "[2.5]", "a promotion costs memory and accuracy that nobody asked for; op.Cast says both"}
	})
	d.show("`t.Any()` is `t` with its element type known at run time only, as every array of NumPy; `tensor.As` goes back, or says no.", func() seen {
		a := vec[float32](1).Any()
		_, is := tensor.As[float32](a)
		_, other := tensor.As[float64](a)
		return seen{fmt.Sprint(is, other), "true false", "an ndarray, whose dtype shows when it is asked", "files and graphs name types at run time, programs when they compile"}
	})
	d.show("In place means in place: `op.Into` names the target, and no write ever replaces a storage, as `a.resize` does.", func() seen {
		// a = np.arange(2); b = a; a.resize(4, refcheck=False) gives a another memory
		a, b := vec[float32](1, 2), vec[float32](3, 4)
		c := op.Add(a, b, op.Into(a))
		return seen{fmt.Sprint(a, c.Any().SameData(a.Any())), "[4. 6.] true", "[0 1 0 0], in another place", "whoever shares the memory sees the write"}
	})
	d.show("Views of repeated elements (`BroadcastTo`, `Diagonal`, `SlidingWindow`) are read-only, and `ReadOnly` can't be taken back; NumPy has `setflags(write=True)`.", func() seen {
		// b = np.zeros(2).view(); b.setflags(write=False); b.setflags(write=True); b[0] = 1
		return seen{refused(func() { vec[float32](0, 0).ReadOnly().Set(1, 0) }),
			"tensor.Set: the tensor is a read-only view, as BroadcastTo, Diagonal, SlidingWindow and ReadOnly make; write to a Clone", "[1. 0.]",
			"a receiver that can undo it makes the promise worthless"}
	})
	d.show("Mistakes are panics with a `*tensor.Error`; `tensor.Try` makes errors of them. Functions on files and on `tensor.Any` return errors.", func() seen {
		// np.zeros(2) + np.zeros(3) raises ValueError
		return seen{refused(func() { op.Add(vec[float32](1, 2), vec[float32](1, 2, 3)) }), "op.Add: shapes (2) and (3) don't broadcast: axis 0 is 2 and 3",
			"ValueError: operands could not be broadcast together with shapes (2,) (3,)", "expressions need no check after each call"}
	})
	d.show("`t.At` and `t.Set` take no negative index, as a mistake in an index would be one; `Slice`, `S`, `Take` and `Gather` count from the end.", func() seen {
		// np.array([1, 2, 3])[-1]
		return seen{refused(func() { vec[float32](1, 2, 3).At(-1) }), "tensor.At: index -1 is outside axis 0 of extent 3; it isn't negative, Slice counts from the end", "3.0",
			"At is for loops that compute their indices"}
	})
	d.show("Results don't depend on the machine or on threads: sums have one order, random numbers one sequence, which isn't NumPy's.", func() seen {
		// np.random.default_rng(7).uniform(0, 1, 2)
		return seen{tensor.RandomUniform[float64](7, 0, 1, 2), "[0.75015222 0.08565787]", "[0.62509547 0.8972138 ]", "a counter makes each element by itself, so that threads can share the work"}
	})
	d.show("A computed NaN has one pattern of bits; NumPy's is that of the processor.", func() seen {
		// (np.array([np.inf], np.float32) - np.array([np.inf], np.float32)).view(np.uint32), on amd64
		return seen{bits(op.Sub(vec(inf), vec(inf))), "7fc00000", "ffc00000", "the same file has the same digest everywhere"}
	})

	d.show("Sums of float32 and narrower floats are added in float64 and rounded once; NumPy adds in float32, by pairs.", func() seen {
		// np.array([16777216] + [1]*7, np.float32).sum()
		return seen{op.ReduceSum(vec[float32](16777216, 1, 1, 1, 1, 1, 1, 1), nil), "16777224.0", "16777222.0", "16777223 is the sum; float32 has even numbers there, and the tie is broken once"}
	})
	d.show("`CumSum` of float32 adds in float64, too.", func() seen {
		// np.cumsum(np.array([16777216, 1, 1], np.float32))
		return seen{op.CumSum(vec[float32](16777216, 1, 1), 0, op.CumOptions{}), "[16777216. 16777216. 16777218.]", "[16777216. 16777216. 16777216.]", "each of the sums is rounded once"}
	})
	d.show("A mean of large float32 doesn't overflow if it is a float32.", func() seen {
		// np.full(3, 3e38, np.float32).mean()
		return seen{op.ReduceMean(vec[float32](3e38, 3e38, 3e38), nil), "3e+38", "inf", "the sum is a float64"}
	})
	d.show("Neither does `ReduceL2`, NumPy's `linalg.norm`.", func() seen {
		// np.linalg.norm(np.array([3e20, 4e20], np.float32))
		return seen{op.ReduceL2(vec[float32](3e20, 4e20), nil), "5e+20", "inf", "squares and their sum are float64"}
	})
	d.show("`Var` and `Std` of float32 take the mean in float64.", func() seen {
		// np.var(np.array([1e8, 1e8 + 8], np.float32))
		return seen{op.Var(vec[float32](1e8, 1e8+8), nil, 0), "16.0", "32.0", "the mean, 1e8 + 4, is no float32"}
	})
	d.show("Functions are correctly rounded, so that one value is right: `Exp`, `Log`, `Tanh` and their like; NumPy's float32 functions err by some units in the last place.", func() seen {
		// np.exp(np.array([1, 10], np.float32)).view(np.uint32)
		return seen{bits(op.Exp(vec[float32](1, 10))), "402df854 46ac14ee", "402df855 46ac14ef", "only a rule without a margin can hold on every machine"}
	})

	d.show("Integers keep their type in sums and products, and wrap; NumPy widens them to 64 bits.", func() seen {
		// np.array([100, 100, 100], np.int8).sum()
		return seen{op.ReduceSum(vec[int8](100, 100, 100), nil), "44", "300", "one type in and one out, as in ONNX; op.Cast before the sum widens"}
	})
	d.show("`ReduceMean` of integers is an integer, cut toward zero.", func() seen {
		// np.array([-1, -2], np.int32).mean()
		return seen{op.ReduceMean(vec[int32](-1, -2), nil), "-1", "-1.5", "ONNX's ReduceMean has one type"}
	})
	d.show("`Div` of integers is a quotient, cut toward zero; NumPy's `/` gives float64, and its `//` rounds down.", func() seen {
		// np.array([7, -7], np.int32) // np.array([2, 2], np.int32)
		return seen{op.Div(vec[int32](7, -7), vec[int32](2, 2)), "[ 3 -3]", "[ 3 -4]", "ONNX and Go cut toward zero; op.Mod still has NumPy's sign, that of the divisor"}
	})
	d.show("Integers divided by zero are refused, in `Div` and `Mod`; NumPy warns and gives 0.", func() seen {
		// np.array([7], np.int32) // np.array([0], np.int32)
		return seen{refused(func() { op.Div(vec[int32](7), vec[int32](0)) }), "op.Div: integer division by zero: the divisor at index (0) is 0", "[0]", "a number that is no quotient is a silent fault"}
	})
	d.show("`Pow` of integers takes a negative exponent, and cuts the power toward zero; NumPy refuses it.", func() seen {
		// np.array([2, 1], np.int32) ** np.array([-1, -1], np.int32)
		return seen{op.Pow(vec[int32](2, 1), vec[int32](-1, -1)), "[0 1]", "ValueError: Integers to negative integer powers are not allowed.", "ONNX's Pow has no such limit"}
	})
	d.show("A float outside an integer's range becomes the nearest integer, and NaN becomes 0; NumPy's values are those of the processor.", func() seen {
		// np.array([np.nan, np.inf, 3e9, -3e9], np.float32).astype(np.int32), on amd64
		return seen{op.Cast[int32](vec(nan, inf, 3e9, -3e9)), "[          0  2147483647  2147483647 -2147483648]", "[-2147483648 -2147483648 -2147483648 -2147483648]", "arm64 and amd64 disagree; the nearest is the least harm"}
	})
	d.show("So it is for narrow integers, where NumPy keeps the low bits of a wider one.", func() seen {
		// np.array([-1, 256, 300.7], np.float32).astype(np.uint8), on amd64
		return seen{op.Cast[uint8](vec[float32](-1, 256, 300.7)), "[  0 255 255]", "[255   0  44]", "a picture with a pixel above white is white"}
	})
	d.show("`MatMulInteger` multiplies int8 into int32; NumPy's `@` stays in int8, and wraps.", func() seen {
		// np.full((1, 4), 100, np.int8) @ np.full((4, 1), 100, np.int8)
		a, zero := tensor.Full[int8](100, 1, 4), tensor.Scalar[int8](0)
		return seen{op.MatMulInteger(a, tensor.Full[int8](100, 4, 1), zero, zero), "[[40000]]", "[[64]]", "sums of 8 bits hold next to nothing"}
	})

	d.show("Of two zeros +0 is the larger, in `Max` and `ReduceMax`; NumPy takes one by its place.", func() seen {
		// np.maximum(np.float32([-0.0, 0.0]), np.float32([0.0, -0.0]))
		return seen{op.Max(vec(neg, 0), vec(0, neg)), "[0. 0.]", "[ 0. -0.]", "the result doesn't depend on the order of the operands"}
	})
	d.show("`ReduceMax` of nothing is −∞ or the least integer, and `ReduceMin` of nothing the opposite; NumPy refuses both.", func() seen {
		// np.zeros(0, np.float32).max()
		return seen{op.ReduceMax(vec[float32](), nil), "-inf", "ValueError: zero-size array to reduction operation maximum which has no identity", "ONNX's text from opset 20 on; ArgMax of nothing is refused in both"}
	})
	d.show("`ArgMax` and `ArgMin` take an axis; without one NumPy counts through all elements.", func() seen {
		// np.array([[1, 2], [3, 0]], np.float32).argmax()
		return seen{op.ArgMax(tensor.FromSlice([]float32{1, 2, 3, 0}, 2, 2), 1, op.ArgOptions{}), "[1 0]", "2", "op.ArgMax(t.Reshape(-1), 0, …) counts through all"}
	})
	d.show("The edges of `Histogram` are float64, whatever the elements are.", func() seen {
		// np.histogram(np.array([0.5], np.float32), 3, (0, 1))[1].dtype
		_, edges := op.Histogram(vec[float32](0.5), 3, 0, 1)
		return seen{edges.DType(), "float64", "float32", "the counts follow from the exact edges, not from rounded ones"}
	})
	d.show("float8, bfloat16, integers of few bits and fixed point are element types.", func() seen {
		// np.dtype("bfloat16")
		return seen{tensor.Full(num.FromFloat64[num.BF16](1.01), 1), "[1.01]", "TypeError: data type 'bfloat16' not understood", "models have them; npy files have them under the names of ml_dtypes"}
	})
	d.page("docs/coming-from-numpy.md")
}
