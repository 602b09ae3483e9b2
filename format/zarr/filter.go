package zarr

import (
	"errors"
	"math"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/conv"
)

// A storage is the type of elements and their byte order.
type storage struct {
	d   dtype.DType
	big bool
}

// unpackBits makes bytes 0 and 1 of bits, the highest of a byte first. The first byte is the number of bits that the last one has too many.
// Source: numcodecs.readthedocs.io, PackBits.
func unpackBits(dst, b []byte, most int) ([]byte, error) {
	if len(b) == 0 || b[0] > 7 || len(b) == 1 && b[0] > 0 {
		return nil, errors.New("the first byte isn't the number of bits that the last byte has too many")
	}
	n := times(8, len(b)-1) - int(b[0])
	if n > most {
		return nil, fail(format.ErrLimit, "packbits: %d bits; the chunk has %d elements", n, most)
	}
	out := sized(dst, n)
	for i := range out {
		out[i] = b[1+i/8] >> (7 - i%8) & 1
	}
	return out, nil
}

// typeOf reads the type that a key of the configuration names. Version 3 has also names like float64, and codes without a
// byte order; its filters take and store elements in the machine's byte order.
func (c Codec) typeOf(key string, otherwise storage, v3 bool) (t storage, err error) {
	code, err := c.text(key)
	switch {
	case err != nil || code == "":
		return otherwise, err
	case !v3:
		t.d, t.big, err = typeCoded(code)
		return t, err
	}
	t.big = otherwise.big
	if t.d, err = typeNamed(code); err == nil {
		return t, nil
	}
	if strings.IndexByte("<>|=", code[0]) < 0 {
		code = "<" + code
	}
	d, other, err := typeCoded(strings.Replace(code, "=", "<", 1))
	if err == nil && other {
		err = fail(ErrCodec, "%s: %s %.20q; the elements of version 3 have the machine's byte order here", c.Name, key, code)
	}
	t.d = d
	return t, err
}

// numberFilter makes a filter that computes the array's elements from elements of a stored type. It computes as NumPy does in numcodecs: with
// float32 where the stored elements are float32, else with float64. A result that the type doesn't have is an error.
func numberFilter(id string, c Codec, in storage, v3 bool) (stage, storage, error) {
	s := stage{name: id}
	result, source := "dtype", "astype"
	if id == "astype" {
		result, source = "decode_dtype", "encode_dtype"
	}
	if !v3 && c.Configuration[result] == nil || id == "astype" && c.Configuration[source] == nil {
		return s, in, fail(ErrFormat, "%s without its types: it has %s and %s", id, result, source)
	}
	to, err := c.typeOf(result, in, v3)
	if err != nil {
		return s, in, err
	}
	from, err := c.typeOf(source, to, v3)
	if err != nil {
		return s, in, err
	}
	half := to.d == dtype.Float16 || from.d == dtype.Float16
	numeric := conv.NumPy[to.d] != "" && conv.NumPy[from.d] != "" && !to.d.IsComplex() && !from.d.IsComplex()
	cast := id == "astype" || id == "quantize"
	switch bad := fail(ErrCodec, "%s of %v to %v in an array of %v", id, from.d, to.d, in.d); {
	case to.d.Size() > 1 && to.big != in.big, to.d != in.d, !numeric, half && !cast:
		return s, in, bad
	case id == "astype" && to.d == dtype.Float16 && !from.d.IsFloat(): // whose rounding NumPy doesn't define
		return s, in, bad
	case id == "quantize" && !(to.d.IsFloat() && from.d.IsFloat()):
		return s, in, bad
	case id == "delta" && (from.d != to.d && (from.d.IsFloat() || to.d.IsFloat()) || to.d == dtype.Bool || from.d == dtype.Bool):
		return s, in, fail(ErrCodec, "delta of %v stored as %v", to.d, from.d)
	}
	scale, _ := c.Configuration["scale"].(float64)
	offset, isNumber := c.Configuration["offset"].(float64)
	single := from.d == dtype.Float32
	if id == "fixedscaleoffset" && (scale == 0 || !isNumber || to.d == dtype.Bool || from.d == dtype.Bool || single && (math.IsInf(float64(float32(scale)), 0) || float32(scale) == 0 || math.IsInf(float64(float32(offset)), 0))) {
		return s, in, fail(ErrCodec, "fixedscaleoffset of %v to %v with scale %s and offset %s", from.d, to.d, shown(c.Configuration["scale"]), shown(c.Configuration["offset"]))
	}
	if cast && from == to {
		s.decode = func(_, b []byte, _ int) ([]byte, error) { return b, nil }
		return s, from, nil
	}
	s.grow = func(n int) int { return times(n/to.d.Size(), from.d.Size()) }
	s.decode = func(dst, b []byte, most int) ([]byte, error) {
		fromSize, toSize := from.d.Size(), to.d.Size()
		if len(b)%fromSize != 0 {
			return nil, errors.New("the bytes are no whole elements")
		}
		n := len(b) / fromSize
		if n > most/toSize {
			return nil, fail(format.ErrLimit, "%s: %d elements; the chunk has %d bytes", id, n, most)
		}
		if from.big != conv.BigEndian {
			conv.Reverse(b, fromSize)
		}
		out := sized(dst, n*toSize)
		var sum uint64
		var sum32 float32
		var sum64 float64
		for i := range n {
			w := word(b[i*fromSize : (i+1)*fromSize])
			ok := true
			switch {
			case id == "fixedscaleoffset" && single:
				w, ok = narrow(float64(float32(valueOf(w, from.d))/float32(scale)+float32(offset)), to.d)
			case id == "fixedscaleoffset":
				w, ok = narrow(valueOf(w, from.d)/scale+offset, to.d)
			case cast && !from.d.IsFloat() && to.d == dtype.Float32: // rounded once
				w = uint64(math.Float32bits(single64(w, from.d)))
			case cast && !from.d.IsFloat() && to.d != dtype.Bool && !to.d.IsFloat():
				w = extended(w, from.d)
			case cast && from.d != to.d:
				w, ok = narrow(valueOf(w, from.d), to.d)
			case cast: // another byte order
			case to.d == dtype.Float32:
				sum32 += math.Float32frombits(uint32(w))
				w = uint64(math.Float32bits(sum32))
			case to.d == dtype.Float64:
				sum64 += math.Float64frombits(w)
				w = math.Float64bits(sum64)
			default:
				sum += extended(w, from.d)
				w = sum
			}
			if !ok {
				return nil, fail(ErrFormat, "%s: the element %v of %v doesn't fit %v", id, valueOf(word(b[i*fromSize:(i+1)*fromSize]), from.d), from.d, to.d)
			}
			putWord(out[i*toSize:(i+1)*toSize], w)
		}
		if to.big != conv.BigEndian {
			conv.Reverse(out, toSize)
		}
		return out, nil
	}
	return s, from, nil
}

// extended returns an integer or a bool as 64 bits, with its sign.
func extended(w uint64, d dtype.DType) uint64 {
	if shift := 64 - 8*d.Size(); d.IsSigned() {
		return uint64(int64(w<<shift) >> shift)
	}
	return w
}

func single64(w uint64, d dtype.DType) float32 {
	if w = extended(w, d); d.IsSigned() {
		return float32(int64(w))
	}
	return float32(w)
}

// narrow returns the bits of a float64 in another type, rounded to a float and cut to an integer, and whether the type has it.
func narrow(v float64, d dtype.DType) (uint64, bool) {
	switch {
	case d == dtype.Float64:
		return math.Float64bits(v), true
	case d == dtype.Float32:
		return uint64(math.Float32bits(float32(v))), true
	case d == dtype.Float16:
		return uint64(d.Format().Round(v)), true
	case d == dtype.Bool:
		if v != 0 {
			return 1, true
		}
		return 0, true
	}
	whole, span := math.Trunc(v), math.Ldexp(1, 8*d.Size())
	if d.IsSigned() {
		return uint64(int64(whole)), whole >= -span/2 && whole < span/2
	}
	return uint64(max(whole, 0)), whole >= 0 && whole < span
}

// valueOf returns the number that has the bits w.
func valueOf(w uint64, d dtype.DType) float64 {
	switch {
	case d == dtype.Float16:
		return d.Format().Value(uint16(w))
	case d == dtype.Float32:
		return float64(math.Float32frombits(uint32(w)))
	case d == dtype.Float64:
		return math.Float64frombits(w)
	case d.IsSigned():
		return float64(int64(extended(w, d)))
	}
	return float64(w)
}
