package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

// names are the names of element types in version 3, from the specification and its
// registry of extensions.
var names = [dtype.Count]string{
	dtype.Bool: "bool",
	dtype.Int8: "int8", dtype.Int16: "int16", dtype.Int32: "int32", dtype.Int64: "int64",
	dtype.Uint8: "uint8", dtype.Uint16: "uint16", dtype.Uint32: "uint32", dtype.Uint64: "uint64",
	dtype.Float16: "float16", dtype.Float32: "float32", dtype.Float64: "float64",
	dtype.Complex64: "complex64", dtype.Complex128: "complex128",
	dtype.BFloat16: "bfloat16", dtype.Float8E4M3: "float8_e4m3fn", dtype.Float8E5M2: "float8_e5m2",
	dtype.Float8E4M3FNUZ: "float8_e4m3fnuz", dtype.Float8E5M2FNUZ: "float8_e5m2fnuz", dtype.Float8E8M0: "float8_e8m0fnu",
}

func typeNamed(name string) (dtype.DType, error) {
	for d, n := range names {
		if n == name && n != "" {
			return dtype.DType(d), nil
		}
	}
	return dtype.Invalid, fail(format.ErrType, "data_type %.100q is no element type known here", name)
}

// typeCoded reads NumPy's <f8 and its like.
func typeCoded(code string) (d dtype.DType, big bool, err error) {
	if len(code) > 2 && strings.IndexByte("<>|", code[0]) >= 0 {
		for d, c := range conv.NumPy {
			if c == code[1:] && c != "" {
				return dtype.DType(d), code[0] == '>' && dtype.DType(d).Size() > 1, nil
			}
		}
	}
	return 0, false, fail(format.ErrType, "dtype %.100q is no element type known here; numbers, bool, times, strings and structs are", code)
}

func codeOf(d dtype.DType) (string, error) {
	switch c := conv.NumPy[d]; {
	case c == "":
		return "", fail(format.ErrType, "version 2 has no element type %v", d)
	case d.Size() == 1:
		return "|" + c, nil
	default:
		return "<" + c, nil
	}
}

// parseFill reads a fill value as the bytes of an element, in the machine's byte order. Version 2 has also null,
// integers written like 1.0, and complex numbers without an imaginary part. Its bool may be 0 or 1.
func parseFill(raw json.RawMessage, d dtype.DType, version int) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	bad := func() ([]byte, error) {
		return nil, fail(ErrFormat, "fill_value %.100s is no %v", raw, d)
	}
	b := make([]byte, d.Size())
	if version == 2 && (len(raw) == 0 || string(raw) == "null") {
		return b, nil
	}
	if len(raw) == 0 {
		return bad()
	}
	if string(raw) == "null" {
		return nil, fail(ErrFormat, "fill_value null, which version 3 doesn't have; put the element that is meant, of %v", d)
	}
	if d.IsComplex() {
		part := dtype.Float64
		if d == dtype.Complex64 {
			part = dtype.Float32
		}
		var parts []json.RawMessage
		if raw[0] == '[' {
			if parts = items(raw); len(parts) != 2 {
				return bad()
			}
		} else if version == 3 {
			return bad()
		} else {
			parts = []json.RawMessage{raw, json.RawMessage("0")}
		}
		for i, p := range parts {
			v, err := parseFill(p, part, version)
			if err != nil || string(p) == "null" {
				return bad()
			}
			copy(b[i*part.Size():], v)
		}
		return b, nil
	}
	var text string
	quoted := raw[0] == '"'
	if quoted {
		if json.Unmarshal(raw, &text) != nil {
			return bad()
		}
	} else {
		text = string(raw)
	}
	switch {
	case d == dtype.Bool:
		switch {
		case text == "true" && (version == 2 || !quoted), text == "1" && version == 2:
			b[0] = 1
		case text == "false" && (version == 2 || !quoted), (text == "0" || text == "0.0") && version == 2:
		default:
			return bad()
		}
		return b, nil
	case d.IsInteger():
		if version == 2 {
			text = strings.TrimSuffix(text, ".0") // which some writers append
		}
		if d.IsSigned() {
			v, err := strconv.ParseInt(text, 10, d.Size()*8)
			if err != nil || quoted {
				return bad()
			}
			putWord(b, uint64(v))
			return b, nil
		}
		v, err := strconv.ParseUint(text, 10, d.Size()*8)
		if err != nil || quoted {
			return bad()
		}
		putWord(b, v)
		return b, nil
	}
	if hex, ok := strings.CutPrefix(text, "0x"); ok && quoted {
		v, err := strconv.ParseUint(hex, 16, d.Size()*8)
		if err != nil || len(hex) != 2*d.Size() {
			return bad()
		}
		putWord(b, v)
		return b, nil
	}
	var v float64
	switch {
	case text == "NaN": // in quotes, as Zarr writes it, or bare, as Python's json does
		v = math.NaN()
	case text == "Infinity":
		v = math.Inf(1)
	case text == "-Infinity":
		v = math.Inf(-1)
	case quoted:
		return bad()
	default:
		bits := 64
		if d == dtype.Float32 {
			bits = 32
		}
		var err error
		if v, err = strconv.ParseFloat(text, bits); err != nil {
			return bad()
		}
	}
	switch d {
	case dtype.Float64:
		if v != v {
			putWord(b, 0x7ff8000000000000)
		} else {
			putWord(b, math.Float64bits(v))
		}
	case dtype.Float32:
		if v != v {
			putWord(b, 0x7fc00000)
		} else {
			putWord(b, uint64(math.Float32bits(float32(v))))
		}
	default:
		w := d.Format().Round(v)
		if back := d.Format().Value(w); !quoted && !math.IsInf(v, 0) && v == v && (math.IsInf(back, 0) || back != back) {
			return bad()
		}
		putWord(b, uint64(w))
	}
	return b, nil
}

// putWord stores the low bytes of v in the machine's order.
func putWord(b []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	copy(b, w[:len(b)])
	if conv.BigEndian {
		conv.Reverse(b, len(b))
	}
}

func word(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	if conv.BigEndian {
		conv.Reverse(w[:len(b)], len(b))
	}
	return binary.LittleEndian.Uint64(w[:])
}

// fillText writes a fill value as JSON, exactly.
func fillText(b []byte, d dtype.DType) json.RawMessage {
	w := word(b[:min(len(b), 8)])
	text := func(v float64, bits int, nan uint64) string {
		switch {
		case v != v && w == nan:
			return `"NaN"`
		case v != v:
			return `"0x` + hexOf(w, d.Size()) + `"`
		case math.IsInf(v, 1):
			return `"Infinity"`
		case math.IsInf(v, -1):
			return `"-Infinity"`
		}
		s := strconv.FormatFloat(v, 'g', -1, bits)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	}
	switch {
	case d == dtype.Bool:
		return json.RawMessage(strconv.FormatBool(b[0] != 0))
	case d.IsComplex():
		part, n := dtype.Float64, 8
		if d == dtype.Complex64 {
			part, n = dtype.Float32, 4
		}
		return json.RawMessage("[" + string(fillText(b[:n], part)) + "," + string(fillText(b[n:], part)) + "]")
	case d.IsInteger() && d.IsSigned():
		shift := 64 - 8*d.Size()
		return json.RawMessage(strconv.FormatInt(int64(w<<shift)>>shift, 10))
	case d.IsInteger():
		return json.RawMessage(strconv.FormatUint(w, 10))
	case d == dtype.Float64:
		return json.RawMessage(text(math.Float64frombits(w), 64, 0x7ff8000000000000))
	case d == dtype.Float32:
		return json.RawMessage(text(float64(math.Float32frombits(uint32(w))), 32, 0x7fc00000))
	case w == 0 && d != dtype.Float8E8M0: // in which code 0 is 2^-127
		return json.RawMessage("0.0")
	}
	return json.RawMessage(`"0x` + hexOf(w, d.Size()) + `"`)
}

func hexOf(w uint64, size int) string {
	s := strconv.FormatUint(w, 16)
	return strings.Repeat("0", 2*size-len(s)) + s
}

// tensorOver makes a tensor over bytes in the machine's order.
func tensorOver(b []byte, d dtype.DType, lay layout.Layout) (tensor.Any, error) {
	return tensor.FromBytes(d, mem.Borrow(b, nil), 0, lay)
}

// scalar makes a tensor of rank 0.
func scalar(b []byte, d dtype.DType) (tensor.Any, error) {
	lay, err := layout.RowMajor()
	if err != nil {
		return tensor.Any{}, err
	}
	return tensorOver(b, d, lay)
}

// fillBytes returns the bytes of the fill value.
func (m *Metadata) fillBytes() []byte {
	if b, ok := tensor.Bytes(m.Fill); ok && len(b) == m.DType.Size() {
		return b
	}
	return make([]byte, m.DType.Size())
}
