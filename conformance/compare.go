package main

import (
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
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
func values(a tensor.Any) (out []any, err error) {
	err = tensor.Try(func() {
		for v := range a.Values() {
			switch v := v.(type) {
			case float32:
				out = append(out, float64(v))
			case complex64:
				out = append(out, float64(real(v)), float64(imag(v)))
			case complex128:
				out = append(out, real(v), imag(v))
			default:
				if f, ok := v.(interface{ Float64() float64 }); ok && a.DType().Format() != 0 {
					out = append(out, f.Float64())
				} else {
					out = append(out, v)
				}
			}
		}
	})
	return out, err
}

// typed returns a as a tensor of T, which it holds.
func typed[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(fmt.Sprintf("%s holds no %v", tensor.Describe(a), dtype.Of[T]()))
	}
	return t
}
