package op

import (
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Complex numbers are computed as pairs of real ones, C of parts F, each step rounded
// and each part's NaN canonical. Go's own products and quotients of them may be
// fused, and so differ between processors.

func addParts[C num.Complex, F num.Float](dst, a, b []C) {
	addRow(conv.Parts[F](dst), conv.Parts[F](a), conv.Parts[F](b))
}

func subParts[C num.Complex, F num.Float](dst, a, b []C) {
	subRow(conv.Parts[F](dst), conv.Parts[F](a), conv.Parts[F](b))
}

func mulParts[C num.Complex, F num.Float](dst, a, b []C) {
	x, y, z := conv.Parts[F](a), conv.Parts[F](b), conv.Parts[F](dst)
	for i := 0; i+1 < len(z); i += 2 {
		re := F(x[i]*y[i]) - F(x[i+1]*y[i+1])
		im := F(x[i]*y[i+1]) + F(x[i+1]*y[i])
		z[i], z[i+1] = cast.Canonical(re), cast.Canonical(im)
	}
}

// divParts is R. L. Smith's division (Algorithm 116, Communications of the ACM, 1962),
// as in NumPy: by the larger part of the divisor first, so that squares don't overflow.
// By 0 both parts are divided by 0.
func divParts[C num.Complex, F num.Float](dst, a, b []C) {
	x, y, z := conv.Parts[F](a), conv.Parts[F](b), conv.Parts[F](dst)
	for i := 0; i+1 < len(z); i += 2 {
		re, im, c, d := x[i], x[i+1], y[i], y[i+1]
		switch {
		case c == 0 && d == 0:
			re, im = re/magnitude(c), im/magnitude(c)
		case magnitude(c) >= magnitude(d):
			ratio := d / c
			scale := 1 / (c + F(d*ratio))
			re, im = (re+F(im*ratio))*scale, (im-F(re*ratio))*scale
		default:
			ratio := c / d
			scale := 1 / (F(c*ratio) + d)
			re, im = (F(re*ratio)+im)*scale, (F(im*ratio)-re)*scale
		}
		z[i], z[i+1] = cast.Canonical(re), cast.Canonical(im)
	}
}

func magnitude[F num.Float](v F) F {
	if v < 0 {
		return -v
	}
	return v + 0 // of −0 it is +0
}

func negRowC64(dst, a []complex64) { negRow32(conv.Parts[float32](dst), conv.Parts[float32](a)) }

func negRowC128(dst, a []complex128) { negRow64(conv.Parts[float64](dst), conv.Parts[float64](a)) }

// complexProduct is matrixProduct of complex numbers, by four products of their parts.
func complexProduct(r, a, b *tensor.Any, opts []Option) {
	in := plan.WithoutInto(opts)
	x, y := [2]tensor.Any{a.Real(), a.Imag()}, [2]tensor.Any{b.Real(), b.Imag()}
	var z [2]tensor.Any
	for i, last := range []*pointwise.Operator{&sub, &add} {
		var p tensor.Any
		matrixProduct(&z[i], &x[0], &y[i], in)
		matrixProduct(&p, &x[1], &y[1-i], in)
		last.Call(&z[i], []Option{plan.WriteTo(&z[i])}, &z[i], &p)
	}
	s := plan.Read("MatMul", opts)
	plan.AimShape(r, "MatMul", &s, a.DType(), z[0].Shape())
	r.Real().CopyFrom(z[0])
	r.Imag().CopyFrom(z[1])
}
