package tensor

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// goSyntax writes an expression that makes a row-major tensor of the same elements.
// Beyond 1000 of them all but the first are a comment.
func (e *printer) goSyntax() string {
	const most, edge = 1000, 3
	defer runtime.KeepAlive(e.a.st)
	list := fmt.Sprintf("%T", e.all.elems())
	shape := e.a.lay.Shape()
	if len(shape) == 0 {
		return fmt.Sprintf("tensor.Scalar[%s](%s)", list[len("[]"):], goValue(e.all.at(e.a.origin())))
	}
	var b strings.Builder
	n, i := walk.Ref(&e.a.lay).Size(), 0
	fmt.Fprintf(&b, "tensor.FromSlice(%s{", list)
	for idx := range positions(shape) {
		if n > most && i == edge {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(goValue(e.all.at(offsetAt("tensor.Format", &e.a.where, idx))))
		i++
	}
	if n > most {
		fmt.Fprintf(&b, " /* … %d more … */", n-edge)
	}
	b.WriteString("}")
	for _, e := range shape {
		fmt.Fprintf(&b, ", %d", e)
	}
	return b.String() + ")"
}

func goValue(v any) string {
	switch v := v.(type) {
	case float32:
		return goFloat("float32", float64(v), fmt.Sprint(v))
	case float64:
		return goFloat("", v, fmt.Sprint(v))
	case complex64:
		return "complex(" + goFloat("float32", float64(real(v)), fmt.Sprint(real(v))) + ", " + goFloat("float32", float64(imag(v)), fmt.Sprint(imag(v))) + ")"
	case complex128:
		return "complex(" + goFloat("", real(v), fmt.Sprint(real(v))) + ", " + goFloat("", imag(v), fmt.Sprint(imag(v))) + ")"
	case interface{ Bits() uint16 }:
		return fmt.Sprintf("num.FromBits[%T](%#04x)", v, v.Bits())
	case interface{ Bits() uint8 }:
		return fmt.Sprintf("num.FromBits[%T](%#02x)", v, v.Bits())
	case fixed.FP8x23:
		return fmt.Sprintf("fixed.FP8x23FromBits(%d)", v.Bits())
	case fixed.FP16x16:
		return fmt.Sprintf("fixed.FP16x16FromBits(%d)", v.Bits())
	case fixed.FP32x32:
		return fmt.Sprintf("fixed.FP32x32FromBits(%d)", v.Bits())
	case fixed.FP64x64:
		return fmt.Sprintf("fixed.FP64x64FromBits(fixed.Int128{Hi: %d, Lo: %d})", v.Bits().Hi, v.Bits().Lo)
	}
	return fmt.Sprint(v)
}

// goFloat writes the values without a literal: NaN, infinities and -0.
func goFloat(convert string, v float64, literal string) string {
	s := ""
	switch {
	case math.IsNaN(v):
		s = "math.NaN()"
	case math.IsInf(v, 0):
		s = fmt.Sprintf("math.Inf(%d)", int(math.Copysign(1, v)))
	case v == 0 && math.Signbit(v):
		s = "math.Copysign(0, -1)"
	default:
		return literal
	}
	if convert != "" {
		return convert + "(" + s + ")"
	}
	return s
}
