package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// A narrowFormat is a float of 16 or 8 bits in which op computes functions.
type narrowFormat struct {
	of          dtype.DType
	bits, least int // as in exact.ULP
	size        int // in bits
	inputs      tensor.Any
	value       func(bits int) float64
	round       func(v float64) int // to the format's bits
}

var narrowFormats = map[string]narrowFormat{
	"float16": narrowOf(dtype.Float16, 11, -24, 16, func(b int) num.F16 { return num.FromBits[num.F16](uint16(b)) },
		num.F16.Float32, func(v float64) int { return int(num.FromFloat64[num.F16](v).Bits()) }),
	"bfloat16": narrowOf(dtype.BFloat16, 8, -133, 16, func(b int) num.BF16 { return num.FromBits[num.BF16](uint16(b)) },
		num.BF16.Float32, func(v float64) int { return int(num.FromFloat64[num.BF16](v).Bits()) }),
	"float8_e4m3fn": narrowOf(dtype.Float8E4M3, 4, -9, 8, func(b int) num.F8E4M3 { return num.FromBits[num.F8E4M3](uint16(b)) },
		num.F8E4M3.Float32, func(v float64) int { return int(num.FromFloat64[num.F8E4M3](v).Bits()) }),
	"float8_e5m2": narrowOf(dtype.Float8E5M2, 3, -16, 8, func(b int) num.F8E5M2 { return num.FromBits[num.F8E5M2](uint16(b)) },
		num.F8E5M2.Float32, func(v float64) int { return int(num.FromFloat64[num.F8E5M2](v).Bits()) }),
}

func narrowOf[T num.Narrow](d dtype.DType, bits, least, size int, from func(b int) T, to func(T) float32, round func(float64) int) narrowFormat {
	all := make([]T, 1<<size)
	for b := range all {
		all[b] = from(b)
	}
	return narrowFormat{d, bits, least, size, tensor.FromSlice(all, len(all)).Any(), func(b int) float64 { return float64(to(all[b])) }, round}
}

// narrow checks the operator of a function on all numbers of a format.
func (f *function32) narrow(n *narrowFormat) (r result32, err error) {
	name := strings.TrimSuffix(strings.TrimSuffix(f.name, "32"), "x")
	r = result32{name: name + "." + n.of.String(), count: 1 << n.size, digest: fnvStart}
	var attrs op.AttrMap
	if name == "gelutanh" {
		name, attrs = "gelu", op.AttrMap{"approximate": "tanh"}
	}
	var o *op.Op
	for _, each := range all.Operators() {
		if strings.EqualFold(each.Name(), name) {
			o = each
		}
	}
	if o == nil {
		return r, fmt.Errorf("no operator %s", name)
	}
	out, err := o.Run(&op.Call{Inputs: []tensor.Any{n.inputs}, Attrs: attrs, Opset: 22})
	if err != nil {
		return r, err
	}
	results := rawBits(out[0])
	for b := range 1 << n.size {
		got, x := results[b], n.value(b)
		want, close := f.wantNarrow(n, float32(x))
		if close {
			r.close++
		}
		if got != want {
			r.wrong++
			if len(r.examples) < 10 {
				r.examples = append(r.examples, fmt.Sprintf("%04x %g: got %04x %g, want %04x %g", b, x, got, n.value(got), want, n.value(want)))
			}
		}
		r.digest = fnv(r.digest, uint64(got))
	}
	r.sample = r.digest
	return r, nil
}

func rawBits(a tensor.Any) []int {
	var out []int
	b, _ := tensor.Bytes(a)
	for ; len(b) > 0; b = b[a.DType().Size():] {
		if a.DType().Size() == 1 {
			out = append(out, int(b[0]))
		} else {
			out = append(out, int(binary.NativeEndian.Uint16(b)))
		}
	}
	runtime.KeepAlive(a)
	return out
}

// wantNarrow returns the bits of the correctly rounded value, and whether it took the exact evaluation.
func (f *function32) wantNarrow(n *narrowFormat, x float32) (bits int, close bool) {
	if x != x {
		return n.round(math.NaN()), false
	}
	if y, ok := f.fixed(x); ok {
		return n.round(float64(y)), false
	}
	y := f.approx(float64(x))
	d := float64(math.Abs(y) * slack)
	if low, high := n.round(y-d), n.round(y+d); low == high {
		return low, false
	}
	v := f.exact(float64(x))
	unit := max(v.MantExp(nil)-n.bits, n.least)
	v.SetMantExp(v, -unit)
	whole, _ := v.Int(nil) // toward zero; at most 11 bits
	units, _ := new(big.Float).SetInt(whole).Float64()
	beyond := exact.New(0).Sub(v, exact.New(units))
	beyond.Sub(beyond.Abs(beyond), exact.New(0.5))
	switch {
	case beyond.Sign() == 0 || beyond.MantExp(nil) < -exact.Prec/2: // halfway, except for the error of the evaluation
		units += float64(float64(v.Sign()) * math.Mod(math.Abs(units), 2))
	case beyond.Sign() > 0:
		units += float64(v.Sign())
	}
	return n.round(math.Copysign(math.Ldexp(units, unit), float64(v.Sign()))), true
}
