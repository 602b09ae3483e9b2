package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LRN returns x / (bias + alpha/size · s)^beta for x [N, C, …], where s is the sum
// of squares at the same place in the channels c−⌊(size−1)/2⌋ to c+⌈(size−1)/2⌉
// that exist: added in float64 in the fixed order of this package, the power and
// the quotient in float64, rounded once. ONNX LRN.
func LRN[T num.Float | num.Narrow](x tensor.Tensor[T], size int, alpha, beta, bias float64, opts ...Option) tensor.Tensor[T] {
	checkLRN(x.Any(), size)
	s := read(opts)
	dst := target[T]("LRN", &s, x.Shape())
	if dst.Len() == 0 {
		return dst
	}
	x = x.Contiguous()
	out := resultOf(dst, x)
	src, res := tensor.Run[T](exec.Ref(&x), exec.Ref(&x).LayoutRef()), tensor.Run[T](exec.Ref(&out), exec.Ref(&out).LayoutRef())
	channels := x.Dim(1)
	per := x.Len() / (x.Dim(0) * channels)
	at, round := valueOf[T](), rounding[T]()
	exec.Split("LRN", s.ctx(), x.Dim(0)*channels, per*(size+40), func(from, to int) {
		near := make([]float64, 0, min(size, channels))
		for i := from; i < to; i++ {
			c := i % channels
			lo, hi := max(0, c-(size-1)/2), min(channels, c+size/2+1)
			for k := range per {
				near = near[:0]
				for d := lo - c; d < hi-c; d++ {
					near = append(near, at(src[(i+d)*per+k]))
				}
				base := float64(alpha/float64(size)*squaresOf(near)) + bias
				res[i*per+k] = round(at(src[i*per+k]) / num.Pow64(base, beta))
			}
			canonicalRow(res[i*per : (i+1)*per])
		}
	})
	runtime.KeepAlive(x)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
}

// squaresOf returns the sum of squares of a row in the fixed order. It uses the
// row up.
func squaresOf(x []float64) float64 {
	if len(x) > sumLanes {
		var s summer
		s.start()
		addSquares(&s, x, 0)
		return s.total()
	}
	for i, v := range x { // a lane of its own: fma(v, v, −0) is v·v
		x[i] = float64(v * v)
	}
	return sumRow(x)
}

func checkLRN(x tensor.Any, size int) {
	if x.Rank() < 2 {
		panic(fail("LRN", tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	if size < 1 || size > 1<<20 {
		panic(fail("LRN", tensor.ErrValue, "size %d; it must be 1 to 2²⁰ channels", size))
	}
}

var lrn = opN{about: about{name: "LRN", onnx: []int{1, 13}, attrs: []string{"alpha", "beta", "bias", "size"}}, least: 1,
	infer: func(c *Call) []tensor.Any {
		checkLRN(c.in(0), int(c.Attrs.Int("size", 0)))
		return one(spec("LRN", c.in(0).DType(), c.in(0).Shape()...))
	},
	typed: perType{dtype.Float8E4M3: runLRN[num.F8E4M3], dtype.Float8E5M2: runLRN[num.F8E5M2], dtype.Float16: runLRN[num.F16],
		dtype.BFloat16: runLRN[num.BF16], dtype.Float32: runLRN[float32], dtype.Float64: runLRN[float64]}}

func runLRN[T num.Float | num.Narrow](c *Call) []tensor.Any {
	f := func(name string, def float32) float64 { return float64(c.Attrs.Float(name, def)) }
	return one(LRN(as[T]("LRN", c, 0), int(c.Attrs.Int("size", 0)), f("alpha", 1e-4), f("beta", 0.75), f("bias", 1), options(c)...).Any())
}
