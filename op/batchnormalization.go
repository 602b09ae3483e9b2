package op

import (
	"math"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BatchNormalization returns (x − mean) · scale/√(variance + epsilon) + bias for
// x [N, C, …] and one number per channel of each of the others: the way a trained
// network uses it. Per channel the factor is computed in float64, and so is each
// element, unfused; the result is rounded once. Fixed point is computed
// exactly and rounded once; a negative variance is an error, and so is one of 0 with
// epsilon 0, but where x is the mean. ONNX BatchNormalization with
// training_mode 0.
func BatchNormalization[T num.Float | num.Narrow | num.Fixed](x, scale, bias, mean, variance tensor.Tensor[T], epsilon float64, opts ...Option) tensor.Tensor[T] {
	checkNorm("BatchNormalization", x.Any(), scale.Any(), bias.Any(), mean.Any(), variance.Any())
	if dtype.Of[T]().IsFixed() {
		return asFixed(x,
			func(x tensor.Tensor[num.FP8x23]) tensor.Tensor[num.FP8x23] {
				return batchFixed(x, as1[num.FP8x23](scale), as1[num.FP8x23](bias), as1[num.FP8x23](mean), as1[num.FP8x23](variance), epsilon, opts)
			},
			func(x tensor.Tensor[num.FP16x16]) tensor.Tensor[num.FP16x16] {
				return batchFixed(x, as1[num.FP16x16](scale), as1[num.FP16x16](bias), as1[num.FP16x16](mean), as1[num.FP16x16](variance), epsilon, opts)
			},
			func(x tensor.Tensor[num.FP32x32]) tensor.Tensor[num.FP32x32] {
				return batchFixed(x, as1[num.FP32x32](scale), as1[num.FP32x32](bias), as1[num.FP32x32](mean), as1[num.FP32x32](variance), epsilon, opts)
			},
			func(x tensor.Tensor[num.FP64x64]) tensor.Tensor[num.FP64x64] {
				return batchFixed(x, as1[num.FP64x64](scale), as1[num.FP64x64](bias), as1[num.FP64x64](mean), as1[num.FP64x64](variance), epsilon, opts)
			})
	}
	s := read(opts)
	dst := target[T]("BatchNormalization", &s, x.Shape())
	if dst.Len() == 0 {
		return dst
	}
	x = x.Contiguous()
	out := resultOf(dst, x)
	for _, p := range []tensor.Tensor[T]{scale, bias, mean, variance} {
		if out.Any().Overlaps(p.Any()) { // a channel's numbers are read once per image
			out = tensor.Empty[T](dst.Shape()...)
		}
	}
	src, res := tensor.Run[T](exec.Ref(&x), exec.Ref(&x).LayoutRef()), tensor.Run[T](exec.Ref(&out), exec.Ref(&out).LayoutRef())
	channels, per := x.Dim(1), x.Len()/(x.Dim(0)*x.Dim(1))
	at := valueOf[T]()
	exec.Split("BatchNormalization", s.ctx(), x.Dim(0)*channels, per*2, func(from, to int) {
		for i := from; i < to; i++ {
			c := i % channels
			factor := at(scale.At(c)) / math.Sqrt(at(variance.At(c))+epsilon)
			mu, b := at(mean.At(c)), at(bias.At(c))
			affine(res[i*per:(i+1)*per], src[i*per:(i+1)*per], mu, factor, b)
		}
	})
	runtime.KeepAlive(x)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
}

// affine sets dst to (src − mean) · factor + bias, each step in float64, rounded once.
func affine[T num.Elem](dst, src []T, mean, factor, bias float64) {
	switch d := any(dst).(type) {
	case []float32:
		if simd.TryAffine32(d, any(src).([]float32), mean, factor, bias) {
			return
		}
	case []float64:
		if simd.TryAffine64(d, any(src).([]float64), mean, factor, bias) {
			return
		}
	}
	at, round := valueOf[T](), rounding[T]()
	for i, v := range src {
		dst[i] = round(float64((at(v)-mean)*factor) + bias)
	}
	canonicalRow(dst)
}

// checkNorm panics unless each of params has one number per channel of x.
func checkNorm(name string, x tensor.Any, params ...tensor.Any) {
	if x.Rank() < 2 {
		panic(fail(name, tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	for i, p := range params {
		if p.Rank() != 1 || p.Dim(0) != x.Dim(1) {
			panic(fail(name, tensor.ErrShape, "input %d is %s; want one number for each of %d channels", i+1, tensor.Describe(p), x.Dim(1)))
		}
	}
}

// valueOf returns the exact conversion of T to float64.
func valueOf[T num.Elem]() func(v T) float64 {
	var p any
	switch any((*T)(nil)).(type) {
	case *float32:
		p = func(v float32) float64 { return float64(v) }
	case *float64:
		p = func(v float64) float64 { return v }
	case *num.F16:
		p = num.F16.Float64
	case *num.BF16:
		p = num.BF16.Float64
	case *num.F8E4M3:
		p = num.F8E4M3.Float64
	case *num.F8E5M2:
		p = num.F8E5M2.Float64
	}
	f, _ := p.(func(v T) float64)
	return f
}

var batchNormalization = opN{about: about{name: "BatchNormalization", onnx: []int{6, 7, 9, 14, 15},
	attrs: []string{"epsilon", "is_test", "momentum", "spatial", "training_mode"}}, least: 5,
	infer: func(c *Call) []tensor.Any {
		inferenceOnly("BatchNormalization", c)
		oneType("BatchNormalization", c.Inputs...)
		checkNorm("BatchNormalization", c.in(0), c.Inputs[1:5]...)
		return one(spec("BatchNormalization", c.in(0).DType(), c.in(0).Shape()...))
	},
	typed: perType{dtype.Float8E4M3: runBatchNormalization[num.F8E4M3], dtype.Float8E5M2: runBatchNormalization[num.F8E5M2],
		dtype.Float16: runBatchNormalization[num.F16], dtype.BFloat16: runBatchNormalization[num.BF16],
		dtype.Float32: runBatchNormalization[float32], dtype.Float64: runBatchNormalization[float64],
		dtype.FP8x23: runBatchNormalization[num.FP8x23], dtype.FP16x16: runBatchNormalization[num.FP16x16], dtype.FP32x32: runBatchNormalization[num.FP32x32], dtype.FP64x64: runBatchNormalization[num.FP64x64]}}

func runBatchNormalization[T num.Float | num.Narrow | num.Fixed](c *Call) []tensor.Any {
	const name = "BatchNormalization"
	inferenceOnly(name, c)
	return one(BatchNormalization(as[T](name, c, 0), as[T](name, c, 1), as[T](name, c, 2), as[T](name, c, 3), as[T](name, c, 4),
		float64(c.Attrs.Float("epsilon", 1e-5)), options(c)...).Any())
}

// inferenceOnly panics when a node asks for the behaviour of training.
func inferenceOnly(name string, c *Call) {
	if c.Attrs.Int("training_mode", 0) != 0 || c.Outputs > 1 || c.Opset == 6 && c.Attrs.Int("is_test", 0) == 0 {
		panic(fail(name, ErrUnsupported, "training is not supported; export the model for inference"))
	}
	if c.Attrs.Int("spatial", 1) == 0 {
		panic(fail(name, ErrUnsupported, "spatial 0, a mean for each element of an image, is not supported"))
	}
}
