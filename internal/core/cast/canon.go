package cast

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
)

// An operator that computes a NaN stores the canonical one of its type, num.Canon32 and its
// like: positive, quiet, without a payload. Processors differ in the sign and the payload of
// the NaNs that they compute. So each row ends with a look for NaNs, unless its kernel stores
// only canonical ones. A conversion from float32 to a narrow float has canonical NaNs by
// itself. An operator that only moves elements, or changes their sign bits, keeps their bits.

// CanonOf returns the function that makes the NaNs of a computed row canonical. It is nil for
// types whose rows need none.
func CanonOf(d dtype.DType) exec.Row0 {
	switch d {
	case dtype.Float32:
		return exec.Forget[exec.Row0](conv.Canon32)
	case dtype.Float64:
		return exec.Forget[exec.Row0](conv.Canon64)
	}
	return nil
}

// CanonFor is CanonOf for rows of T.
func CanonFor[T num.Elem]() func(row []T) {
	return exec.Recall[func(row []T)](CanonOf(dtype.Of[T]()))
}

// CanonicalRow makes the NaNs of a row canonical.
func CanonicalRow[T num.Float](row []T) {
	switch row := any(row).(type) {
	case []float32:
		conv.Canon32(row)
	case []float64:
		conv.Canon64(row)
	}
}

// Canonical returns v, or the canonical NaN for a NaN.
func Canonical[F num.Float](v F) F {
	if v != v {
		return NanOf[F]()
	}
	return v
}

// NanOf returns the canonical NaN of float32 or float64.
func NanOf[T any]() (nan T) {
	switch p := any(&nan).(type) {
	case *float32:
		*p = num.NaN32()
	case *float64:
		*p = num.NaN64()
	}
	return nan
}
