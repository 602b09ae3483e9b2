package main

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// tolerance is how far a float may be off: atol + rtol·|want|.
type tolerance struct{ rtol, atol float64 }

// exactly also tells -0 from 0; a NaN is any NaN.
var exactly = tolerance{-1, -1}

// compare returns an error unless got has want's type and shape, and its
// elements: exactly, or for floats within the tolerance.
func compare(got, want tensor.Any, tol tolerance) error {
	g, w, err := bothValues(got, want)
	if err != nil {
		return err
	}
	float := want.DType().IsFloat() || want.DType().IsComplex()
	wrong, first := 0, 0
	for i := range w {
		if !near(g[i], w[i], tol, float) {
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d elements differ, the first at %d: got %v, want %v", wrong, len(w), first, g[first], w[first])
	}
	return nil
}

// bothValues returns the elements of two tensors, of one type and shape.
func bothValues(got, want tensor.Any) (g, w []any, err error) {
	if g, w := tensor.Describe(got), tensor.Describe(want); g != w {
		return nil, nil, fmt.Errorf("got %s, want %s", g, w)
	}
	if g, err = values(got); err == nil {
		w, err = values(want)
	}
	return g, w, err
}

func near(got, want any, tol tolerance, float bool) bool {
	if !float {
		return got == want
	}
	g, w := got.(float64), want.(float64)
	switch {
	case w != w:
		return g != g
	case math.IsInf(w, 0) || math.IsInf(g, 0):
		return g == w
	case tol == exactly:
		return math.Float64bits(g) == math.Float64bits(w)
	}
	return math.Abs(g-w) <= tol.atol+float64(tol.rtol*math.Abs(w))
}

// values returns the elements in row-major order: floats as float64, complex
// numbers as two, everything else as it is.
func values(a tensor.Any) ([]any, error) {
	switch t := a.(type) {
	case tensor.Tensor[bool]:
		return list(t, asIs), nil
	case tensor.Tensor[int8]:
		return list(t, asIs), nil
	case tensor.Tensor[int16]:
		return list(t, asIs), nil
	case tensor.Tensor[int32]:
		return list(t, asIs), nil
	case tensor.Tensor[int64]:
		return list(t, asIs), nil
	case tensor.Tensor[uint8]:
		return list(t, asIs), nil
	case tensor.Tensor[uint16]:
		return list(t, asIs), nil
	case tensor.Tensor[uint32]:
		return list(t, asIs), nil
	case tensor.Tensor[uint64]:
		return list(t, asIs), nil
	case tensor.Tensor[float32]:
		return list(t, func(v float32) any { return float64(v) }), nil
	case tensor.Tensor[float64]:
		return list(t, func(v float64) any { return v }), nil
	case tensor.Tensor[num.F16]:
		return list(t, func(v num.F16) any { return v.Float64() }), nil
	case tensor.Tensor[num.BF16]:
		return list(t, func(v num.BF16) any { return v.Float64() }), nil
	case tensor.Tensor[num.F8E4M3]:
		return list(t, func(v num.F8E4M3) any { return v.Float64() }), nil
	case tensor.Tensor[num.F8E5M2]:
		return list(t, func(v num.F8E5M2) any { return v.Float64() }), nil
	case tensor.Tensor[num.FP8x23]:
		return list(t, asIs), nil
	case tensor.Tensor[num.FP16x16]:
		return list(t, asIs), nil
	case tensor.Tensor[num.FP32x32]:
		return list(t, asIs), nil
	case tensor.Tensor[num.FP64x64]:
		return list(t, asIs), nil
	case tensor.Tensor[complex64]:
		var out []any
		for _, v := range t.Contiguous().Elems() {
			out = append(out, float64(real(v)), float64(imag(v)))
		}
		return out, nil
	case tensor.Tensor[complex128]:
		var out []any
		for _, v := range t.Contiguous().Elems() {
			out = append(out, real(v), imag(v))
		}
		return out, nil
	}
	return nil, fmt.Errorf("%T can't be compared", a)
}

func asIs[T any](v T) any { return v }

func list[T num.Elem](t tensor.Tensor[T], f func(T) any) []any {
	out := make([]any, 0, t.Len())
	for _, v := range t.Contiguous().Elems() {
		out = append(out, f(v))
	}
	return out
}
