package csv

import (
	"bufio"
	"cmp"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Write writes t as text: a row per line, which ends in a newline, and
// Options.Comma between cells. Rank 2 is rows and columns, rank 1 one column. names
// are the columns' names and become the first row; nil leaves it out. Names are
// quoted if they must be; numbers never need it. Carriage returns in names are left
// out, since readers of text change them.
//
// Write fails for other ranks, and for two shapes that text can't show: rows without
// columns, and columns without rows and names. It fails if the number of names isn't
// the number of columns, for a tensor without elements of its own, and with w's
// error. The text of a table of no rows and no columns is empty.
func Write(w io.Writer, t tensor.Any, names []string, opts *Options) error {
	if w == nil || t.IsZero() {
		return fail(0, 0, ErrOption, "the writer or the tensor is nil")
	}
	comma, err := cmp.Or(opts, new(Options)).comma()
	if err != nil {
		return err
	}
	rank := t.Rank()
	if rank != 1 && rank != 2 {
		return fail(0, 0, ErrShape, "%s has rank %d; a table has 2, or 1 for one column: slice or reshape it", tensor.Describe(t), rank)
	}
	columns := 1
	if rank == 2 {
		columns = t.Dim(1)
	}
	switch {
	case columns == 0 && t.Dim(0) > 0:
		return fail(0, 0, ErrShape, "%s is rows without columns, which text can't show", tensor.Describe(t))
	case columns > 0 && t.Dim(0) == 0 && names == nil:
		return fail(0, 0, ErrShape, "%s has no rows, and text shows its columns by a row of names alone, which isn't given", tensor.Describe(t))
	case names != nil && len(names) != columns:
		return fail(0, 0, ErrShape, "%d names for the %d columns of %s", len(names), columns, tensor.Describe(t))
	}
	put := writerOf(t)
	if put == nil {
		return fail(0, 0, format.ErrType, "%s has no text; convert it to another type", tensor.Describe(t))
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if len(names) > 0 {
		head := stdcsv.NewWriter(out)
		head.Comma = comma
		kept := make([]string, len(names))
		for i, n := range names {
			kept[i] = strings.ReplaceAll(n, "\r", "")
		}
		if strings.HasPrefix(kept[0], mark) { // otherwise Read would skip the mark of the name
			out.WriteString(mark)
		}
		if len(kept) == 1 && kept[0] == "" { // encoding/csv would write an empty line
			out.WriteString("\"\"\n")
		} else if err := head.Write(kept); err != nil {
			return fail(0, 0, err, "writing: %v", err)
		}
		head.Flush()
	}
	if e := tensor.Try(func() { err = put(out, columns, comma) }); e != nil {
		err = e // the tensor is closed, or the zero value
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fail(0, 0, err, "writing %s: %v", tensor.Describe(t), err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears, or replaces an earlier one, when it is
// whole; after an error the earlier file is unchanged.
func WriteFile(path string, t tensor.Any, names []string, opts *Options) error {
	return formats.PutFile(path, func(w io.Writer) error { return Write(w, t, names, opts) })
}

// A body writes the rows of a table.
type body func(out *bufio.Writer, columns int, comma rune) error

// writerOf returns the function that writes the elements of t, nil if they have no text.
func writerOf(t tensor.Any) body {
	if t.IsSpec() || t.Foreign() != nil || t.DType() == dtype.Invalid {
		return nil
	}
	switch t.DType() {
	case dtype.Bool:
		return writer(t, strconv.AppendBool)
	case dtype.Int8:
		return writer(t, appendInt[int8])
	case dtype.Int16:
		return writer(t, appendInt[int16])
	case dtype.Int32:
		return writer(t, appendInt[int32])
	case dtype.Int64:
		return writer(t, appendInt[int64])
	case dtype.Uint8:
		return writer(t, appendUint[uint8])
	case dtype.Uint16:
		return writer(t, appendUint[uint16])
	case dtype.Uint32:
		return writer(t, appendUint[uint32])
	case dtype.Uint64:
		return writer(t, appendUint[uint64])
	case dtype.Float16:
		return writer(t, appendNarrow[num.F16])
	case dtype.BFloat16:
		return writer(t, appendNarrow[num.BF16])
	case dtype.Float32:
		return writer(t, func(b []byte, v float32) []byte { return appendFloat(b, float64(v), 32) })
	case dtype.Float64:
		return writer(t, func(b []byte, v float64) []byte { return appendFloat(b, v, 64) })
	case dtype.Complex64:
		return writer(t, func(b []byte, v complex64) []byte { return appendComplex(b, complex128(v), 32) })
	case dtype.Complex128:
		return writer(t, func(b []byte, v complex128) []byte { return appendComplex(b, v, 64) })
	case dtype.FP8x23:
		return writer(t, appendFixed[fixed.FP8x23])
	case dtype.FP16x16:
		return writer(t, appendFixed[fixed.FP16x16])
	case dtype.FP32x32:
		return writer(t, appendFixed[fixed.FP32x32])
	case dtype.FP64x64:
		return writer(t, appendFixed[fixed.FP64x64])
	}
	return rows(t.Values(), func(b []byte, v any) []byte {
		if x, ok := v.(float); ok {
			return appendNarrow(b, x)
		}
		return append(b, v.(fmt.Stringer).String()...)
	})
}

func appendFixed[T num.Fixed](b []byte, v T) []byte { return append(b, fixed.Format(v, -1)...) }

func writer[T num.Elem](t tensor.Any, put func(b []byte, v T) []byte) body {
	return rows(tensor.ValuesOf[T](t), put)
}

func rows[T any](all iter.Seq[T], put func(b []byte, v T) []byte) body {
	return func(out *bufio.Writer, columns int, comma rune) error {
		column := 0
		for v := range all {
			b := put(out.AvailableBuffer(), v)
			if column++; column < columns {
				b = append(b, string(comma)...)
			} else {
				b, column = append(b, '\n'), 0
			}
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
		return nil
	}
}

func appendInt[T num.Int](b []byte, v T) []byte   { return strconv.AppendInt(b, int64(v), 10) }
func appendUint[T num.Uint](b []byte, v T) []byte { return strconv.AppendUint(b, uint64(v), 10) }

// float is the floats of 16 bits and less.
type float interface {
	Float64() float64
	String() string
}

func appendNarrow[T float](b []byte, v T) []byte {
	if x := v.Float64(); x != x || math.IsInf(x, 0) {
		return appendFloat(b, x, 64)
	}
	return append(b, v.String()...)
}

func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// appendComplex writes 1.5+2j.
func appendComplex(b []byte, v complex128, bits int) []byte {
	b = appendFloat(b, real(v), bits)
	if im := imag(v); im != im || !math.Signbit(im) {
		b = append(b, '+')
	}
	return append(appendFloat(b, imag(v), bits), 'j')
}
