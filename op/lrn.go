package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/reduce"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// LRN returns x / (bias + alpha/size · s)^beta for x [N, C, …]. s is the sum of
// squares at the same place in the channels around c that exist:
//
//	c − ⌊(size−1)/2⌋ to c + ⌈(size−1)/2⌉
//
// The squares are added in float64 in the fixed order of this package. The power and
// the quotient are computed in float64 and rounded once. ONNX LRN.
func LRN[T num.Floating](x tensor.Tensor[T], size int, alpha, beta, bias float64, opts ...Option) (r tensor.Tensor[T]) {
	responseNormalized(exec.Ref(&r), exec.Ref(&x), size, alpha, beta, bias, opts)
	return r
}

// responseNormalized is LRN for a run-time element type.
func responseNormalized(r, x *tensor.Any, size int, alpha, beta, bias float64, opts []Option) {
	plan.Present("LRN", x)
	checkLRN(*x, size)
	s := plan.Read("LRN", opts)
	plan.AimShape(r, "LRN", &s, x.DType(), x.Shape())
	if r.Len() == 0 {
		return
	}
	out := plan.Beside(r, !r.IsContiguous(), x)
	if d := x.DType(); size <= reduce.SumLanes && (d == dtype.Float32 || d == dtype.Float64) {
		c := x.Contiguous()
		n := responses{size: size, channels: x.Dim(1), per: x.Len() / (x.Dim(0) * x.Dim(1)), factor: alpha / float64(size), beta: beta, bias: bias}
		if d == dtype.Float32 {
			responseRows(&n, s.Ctx(), move.ElemsOf[float32](out), move.ElemsOf[float32](&c))
		} else {
			responseRows(&n, s.Ctx(), move.ElemsOf[float64](out), move.ElemsOf[float64](&c))
		}
		plan.Drop(&c, x)
		plan.Put(r, out)
		return
	}
	all := move.WordsOf(*x)
	src, res := move.NumericOf(all), move.NumericOf(move.WordsOf(*out))
	channels := x.Dim(1)
	per := x.Len() / (x.Dim(0) * channels)
	exec.Split("LRN", s.Ctx(), x.Dim(0)*channels, per*(size+40), func(from, to int) {
		near := make([]float64, 0, min(size, channels))
		for i := from; i < to; i++ {
			c := i % channels
			lo, hi := max(0, c-(size-1)/2), min(channels, c+size/2+1)
			for k := range per {
				near = near[:0]
				for d := lo - c; d < hi-c; d++ {
					near = append(near, src.Float((i+d)*per+k))
				}
				base := float64(alpha/float64(size)*squaresOf(near)) + bias
				res.SetFloat(i*per+k, src.Float(i*per+k)/float.Pow64(base, beta))
			}
		}
	})
	plan.Drop(all.Of, x)
	plan.Put(r, out)
}

// responses is the geometry of an LRN, and its numbers.
type responses struct {
	size, channels, per int
	factor, beta, bias  float64
}

// responseRows computes an LRN with few channels to a sum: the squares of some neighbouring places are added together.
func responseRows[T num.Float](n *responses, ctx context.Context, res, src []T) {
	const strip = 512 // places at a time
	exec.Split("LRN", ctx, len(src)/n.per, n.per*(n.size+5), func(from, to int) {
		most := min(strip, n.per)
		panel := contract.PanelsOf((n.size+2)*most*8 + 256)
		defer contract.PanelPool.Put(panel)
		rest := panel.Bytes()
		room := conv.Carve[float64](&rest, (n.size+2)*most)
		betas := room[(n.size+1)*most:]
		for i := range betas {
			betas[i] = n.beta
		}
		for i := from; i < to; i++ {
			c := i % n.channels
			lo, hi := max(0, c-(n.size-1)/2), min(n.channels, c+n.size/2+1)
			for at := 0; at < n.per; at += most {
				w := min(most, n.per-at)
				lane := func(k int) []float64 { return room[k*most:][:w] }
				for k := range hi - lo {
					widenTo(lane(k), src[(i-c+lo+k)*n.per+at:][:w])
					multiply(lane(k), lane(k))
				}
				for h, left := reduce.SumLanes/2, hi-lo; h > 0; h /= 2 { // as reduce.SumRow
					for k := h; k < left; k++ {
						reduce.AddRows(lane(k-h), lane(k-h), lane(k))
					}
					left = min(left, h)
				}
				x, sums, to := lane(n.size), lane(0), res[i*n.per+at:][:w]
				widenTo(x, src[i*n.per+at:][:w])
				if !simd.TryAffine64(sums, sums, 0, n.factor, n.bias) {
					for k, v := range sums {
						sums[k] = float64(n.factor*v) + n.bias
					}
				}
				if pow := simd.Pow.Best(); pow != nil {
					pow.F64(sums, sums, betas[:w])
				} else {
					for k, v := range sums {
						sums[k] = float.Pow64(v, n.beta)
					}
				}
				for k, v := range sums {
					to[k] = T(x[k] / v)
				}
				cast.CanonicalRow(to)
			}
		}
		runtime.KeepAlive(panel)
	})
}

// squaresOf returns the sum of squares of a row in the fixed order. It uses the
// row up.
func squaresOf(x []float64) float64 {
	if len(x) > reduce.SumLanes {
		var s reduce.Summer
		s.Begin()
		reduce.AddSquares(&s, x, 0)
		return s.Total()
	}
	for i, v := range x { // a lane of its own: fma(v, v, −0) is v·v
		x[i] = float64(v * v)
	}
	return reduce.SumRow(x)
}

func checkLRN(x tensor.Any, size int) {
	if x.Rank() < 2 {
		panic(plan.Fail("LRN", tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	if size < 1 || size > 1<<20 {
		panic(plan.Fail("LRN", tensor.ErrValue, "size %d; it must be 1 to 2²⁰ channels", size))
	}
}

var lrn = plan.Operator{About: plan.About{Name: "LRN", Versions: []int{1, 13}, Attrs: []string{"alpha", "beta", "bias", "size"}}, Least: 1, Takes: plan.Floats,
	Planned: func(c *plan.Use, p *plan.Draft) {
		a, size := c.With("LRN", 0), plan.AttrInt(c, "size", 0)
		checkLRN(*a, size)
		p.Stretched(a.DType(), c, 1)
		p.Costs(plan.ProductOfAll(plan.SumOfAll(int64(size), 4), int64(a.Len())))
		f := func(name string, def float32) float64 { return float64(c.Attrs.Float(name, def)) }
		alpha, beta, bias := f("alpha", 1e-4), f("beta", 0.75), f("bias", 1)
		p.By(c, 0, func(r *tensor.Any, opts []Option) { responseNormalized(r, a, size, alpha, beta, bias, opts) })
	}}
