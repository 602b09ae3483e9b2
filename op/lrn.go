package op

import (
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LRN returns x / (bias + alpha/size · s)^beta for x [N, C, …], where s is the sum
// of squares at the same place in the channels c−⌊(size−1)/2⌋ to c+⌈(size−1)/2⌉
// that exist: added in float64 in the fixed order of this package, the power and
// the quotient in float64, rounded once. ONNX LRN.
func LRN[T num.Float | num.Narrow](x tensor.Tensor[T], size int, alpha, beta, bias float64, opts ...Option) (r tensor.Tensor[T]) {
	responseNormalized(exec.Ref(&r), exec.Ref(&x), size, alpha, beta, bias, opts)
	return r
}

// responseNormalized is LRN for a run-time element type.
func responseNormalized(r, x *tensor.Any, size int, alpha, beta, bias float64, opts []Option) {
	present("LRN", x)
	checkLRN(*x, size)
	s := read(opts)
	aimShape(r, "LRN", &s, x.DType(), x.Shape())
	if r.Len() == 0 {
		return
	}
	out := beside(r, !r.IsContiguous(), x)
	all := wordsOf(*x)
	src, res := numericOf(all), numericOf(wordsOf(*out))
	channels := x.Dim(1)
	per := x.Len() / (x.Dim(0) * channels)
	exec.Split("LRN", s.ctx(), x.Dim(0)*channels, per*(size+40), func(from, to int) {
		near := make([]float64, 0, min(size, channels))
		for i := from; i < to; i++ {
			c := i % channels
			lo, hi := max(0, c-(size-1)/2), min(channels, c+size/2+1)
			for k := range per {
				near = near[:0]
				for d := lo - c; d < hi-c; d++ {
					near = append(near, src.float((i+d)*per+k))
				}
				base := float64(alpha/float64(size)*squaresOf(near)) + bias
				res.setFloat(i*per+k, src.float(i*per+k)/num.Pow64(base, beta))
			}
		}
	})
	drop(all.of, x)
	put(r, out)
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

var lrn = opN{about: about{name: "LRN", flops: flops{rule: lrnFLOPs}, onnx: []int{1, 13}, attrs: []string{"alpha", "beta", "bias", "size"}}, least: 1, takes: floats,
	planned: func(c *Call, p *Plan) {
		a, size := c.with("LRN", 0), attrInt(c, "size", 0)
		checkLRN(*a, size)
		p.stretched(a.DType(), c, 1)
		f := func(name string, def float32) float64 { return float64(c.Attrs.Float(name, def)) }
		alpha, beta, bias := f("alpha", 1e-4), f("beta", 0.75), f("bias", 1)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { responseNormalized(r, a, size, alpha, beta, bias, opts) })
	}}

func lrnFLOPs(c *Call, out []tensor.Any) int64 {
	return productOfAll(sumOfAll(c.Attrs.Int("size", -1), 4), lengthOf(nth(out, 0)))
}
