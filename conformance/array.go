package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// array is a tensor as the NumPy goldens write it: floats as shortest decimals of
// their width, complex numbers as pairs, NaN, Inf, -Inf and -0 as strings.
type array struct {
	DType string
	Shape []int
	Data  []json.RawMessage
}

// tensor returns the array. Types without a counterpart are unsupported.
func (a *array) tensor() (tensor.Any, error) {
	d, err := dtype.Parse(a.DType)
	if err != nil {
		return tensor.Any{}, unsupported{err.Error()}
	}
	t, err := tensor.Make(d, a.Shape...)
	if err != nil {
		return tensor.Any{}, err
	}
	if n := t.Len(); n != len(a.Data) {
		return tensor.Any{}, fmt.Errorf("%d elements for %s", len(a.Data), tensor.Describe(t))
	}
	switch d {
	case dtype.Bool:
		err = fill(t, a.Data, strconv.ParseBool)
	case dtype.Int8:
		err = fill(t, a.Data, signed[int8](8))
	case dtype.Int16:
		err = fill(t, a.Data, signed[int16](16))
	case dtype.Int32:
		err = fill(t, a.Data, signed[int32](32))
	case dtype.Int64:
		err = fill(t, a.Data, signed[int64](64))
	case dtype.Uint8:
		err = fill(t, a.Data, unsigned[uint8](8))
	case dtype.Uint16:
		err = fill(t, a.Data, unsigned[uint16](16))
	case dtype.Uint32:
		err = fill(t, a.Data, unsigned[uint32](32))
	case dtype.Uint64:
		err = fill(t, a.Data, unsigned[uint64](64))
	case dtype.Float16:
		err = fill(t, a.Data, func(s string) (num.F16, error) {
			v, err := strconv.ParseFloat(s, 64)
			return num.FromFloat64[num.F16](v), err
		})
	case dtype.Float32:
		err = fill(t, a.Data, func(s string) (float32, error) {
			v, err := strconv.ParseFloat(s, 32)
			return float32(v), err
		})
	case dtype.Float64:
		err = fill(t, a.Data, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case dtype.Complex64:
		err = pairs[complex64](t, a.Data, 32)
	case dtype.Complex128:
		err = pairs[complex128](t, a.Data, 64)
	case dtype.FP8x23:
		err = fill(t, a.Data, func(s string) (fixed.FP8x23, error) { return fixed.Parse[fixed.FP8x23](s) })
	case dtype.FP16x16:
		err = fill(t, a.Data, func(s string) (fixed.FP16x16, error) { return fixed.Parse[fixed.FP16x16](s) })
	case dtype.FP32x32:
		err = fill(t, a.Data, func(s string) (fixed.FP32x32, error) { return fixed.Parse[fixed.FP32x32](s) })
	case dtype.FP64x64:
		err = fill(t, a.Data, func(s string) (fixed.FP64x64, error) { return fixed.Parse[fixed.FP64x64](s) })
	default:
		return tensor.Any{}, unsupported{"no data of type " + a.DType}
	}
	return t, err
}

// fill parses the numbers of data into t.
func fill[T num.Elem](t tensor.Any, data []json.RawMessage, parse func(string) (T, error)) error {
	for i, e := 0, reach.Run[T](&t, t.LayoutRef()); i < len(e); i++ {
		var err error
		if e[i], err = parse(number(data[i])); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// number returns the text of a number, which may be a string.
func number(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func signed[T num.Int](bits int) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := strconv.ParseInt(s, 10, bits)
		return T(v), err
	}
}

func unsigned[T num.Uint](bits int) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := strconv.ParseUint(s, 10, bits)
		return T(v), err
	}
}

func pairs[T num.Complex](t tensor.Any, data []json.RawMessage, bits int) error {
	for i, e := 0, reach.Run[T](&t, t.LayoutRef()); i < len(e); i++ {
		var parts []json.RawMessage
		if err := json.Unmarshal(data[i], &parts); err != nil || len(parts) != 2 {
			return fmt.Errorf("element %d: %s is no pair", i, data[i])
		}
		re, errRe := strconv.ParseFloat(number(parts[0]), bits)
		im, errIm := strconv.ParseFloat(number(parts[1]), bits)
		if err := errors.Join(errRe, errIm); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		e[i] = T(complex(re, im))
	}
	return nil
}
