package serve

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
)

// A datatype is an element type under the protocol's name.
type datatype struct {
	name string
	elem onnx.ElemType
	d    dtype.DType // Invalid for strings
}

func (t *datatype) isText() bool { return t.elem == onnx.ElemString }

var datatypes = []datatype{
	{"BOOL", onnx.ElemBool, dtype.Bool},
	{"UINT8", onnx.ElemUint8, dtype.Uint8}, {"UINT16", onnx.ElemUint16, dtype.Uint16},
	{"UINT32", onnx.ElemUint32, dtype.Uint32}, {"UINT64", onnx.ElemUint64, dtype.Uint64},
	{"INT8", onnx.ElemInt8, dtype.Int8}, {"INT16", onnx.ElemInt16, dtype.Int16},
	{"INT32", onnx.ElemInt32, dtype.Int32}, {"INT64", onnx.ElemInt64, dtype.Int64},
	{"FP16", onnx.ElemFloat16, dtype.Float16}, {"BF16", onnx.ElemBFloat16, dtype.BFloat16},
	{"FP32", onnx.ElemFloat32, dtype.Float32}, {"FP64", onnx.ElemFloat64, dtype.Float64},
	{"BYTES", onnx.ElemString, dtype.Invalid},
}

// typeOf returns the datatype for which is holds, nil if there is none.
func typeOf(is func(*datatype) bool) *datatype {
	for i := range datatypes {
		if is(&datatypes[i]) {
			return &datatypes[i]
		}
	}
	return nil
}

// element reads one element of JSON into to, which has its size. If nan is set, null is NaN.
func (s *scanner) element(t *datatype, to []byte, nan bool) error {
	d := t.d
	if d == dtype.Bool {
		v, err := s.boolean()
		if err != nil {
			return err
		}
		if to[0] = 0; v {
			to[0] = 1
		}
		return nil
	}
	c := s.peek()
	at := s.i
	var word []byte
	if d.IsFloat() {
		if v, ok := s.special(); ok {
			putFloat(d, to, v)
			return nil
		}
		if c == 'n' && bytes.HasPrefix(s.b[s.i:], []byte("null")) {
			if !nan {
				return s.fail("null is no number; NaN is, and null is NaN to a server with --null-nan, Options.NullNaN")
			}
			s.i += len("null")
			putFloat(d, to, math.NaN())
			return nil
		}
	}
	if c == '-' || c >= '0' && c <= '9' {
		var err error
		if word, err = s.number(); err != nil {
			return err
		}
	} else {
		return s.fail("want a number for %s, got %s", t.name, s.what())
	}
	bits := 8 * d.Size()
	var err error
	switch {
	case d == dtype.Float32:
		var v float64
		v, err = strconv.ParseFloat(string(word), 32)
		putFloat(d, to, v)
	case d.IsFloat():
		var v float64
		v, err = strconv.ParseFloat(string(word), 64)
		if err == nil && (d == dtype.Float16 && math.Abs(v) >= 65520 || d == dtype.BFloat16 && math.IsInf(num.FromFloat64[num.BF16](v).Float64(), 0)) {
			err = strconv.ErrRange
		}
		putFloat(d, to, v)
	case d == dtype.Int8 || d == dtype.Int16 || d == dtype.Int32 || d == dtype.Int64:
		var v int64
		v, err = strconv.ParseInt(string(word), 10, bits)
		putBits(to, uint64(v))
	default:
		var v uint64
		v, err = strconv.ParseUint(string(word), 10, bits)
		putBits(to, v)
	}
	if err != nil {
		s.i = at
		return s.fail("%.40s is no %s", word, t.name)
	}
	return nil
}

// putFloat stores v rounded to d.
func putFloat(d dtype.DType, to []byte, v float64) {
	switch d {
	case dtype.Float16:
		putBits(to, uint64(num.FromFloat64[num.F16](v).Bits()))
	case dtype.BFloat16:
		putBits(to, uint64(num.FromFloat64[num.BF16](v).Bits()))
	case dtype.Float32:
		putBits(to, uint64(math.Float32bits(float32(v))))
	default:
		putBits(to, math.Float64bits(v))
	}
}

// putBits stores as many bytes of v as to has, as memory has them.
func putBits(to []byte, v uint64) {
	switch len(to) {
	case 1:
		to[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(to, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(to, uint32(v))
	default:
		binary.NativeEndian.PutUint64(to, v)
	}
}

// bitsOf is the reverse of putBits.
func bitsOf(from []byte) uint64 {
	switch len(from) {
	case 1:
		return uint64(from[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(from))
	case 4:
		return uint64(binary.NativeEndian.Uint32(from))
	}
	return binary.NativeEndian.Uint64(from)
}

// appendElement writes one element as JSON.
func appendElement(b []byte, d dtype.DType, from []byte) []byte {
	v := bitsOf(from)
	switch d {
	case dtype.Bool:
		return strconv.AppendBool(b, v != 0)
	case dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64:
		return strconv.AppendUint(b, v, 10)
	case dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64:
		unused := 64 - 8*len(from)
		return strconv.AppendInt(b, int64(v<<unused)>>unused, 10)
	case dtype.Float64:
		return appendFloat(b, math.Float64frombits(v), 64)
	case dtype.Float16:
		return appendFloat(b, num.FromBits[num.F16](uint16(v)).Float64(), 32)
	case dtype.BFloat16:
		return appendFloat(b, num.FromBits[num.BF16](uint16(v)).Float64(), 32)
	}
	return appendFloat(b, float64(math.Float32frombits(uint32(v))), 32)
}

// appendFloat writes the shortest text that parses to v, a float of the given bits.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(b, "NaN"...)
	case v > math.MaxFloat64:
		return append(b, "Infinity"...)
	case v < -math.MaxFloat64:
		return append(b, "-Infinity"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// appendBinary appends elements of size bytes in little-endian order. It also converts that order to the memory's.
func appendBinary(b, data []byte, size int) []byte {
	n := len(b)
	b = append(b, data...)
	if !littleEndian {
		for r := b[n:]; len(r) > 0; r = r[size:] {
			slices.Reverse(r[:size])
		}
	}
	return b
}
