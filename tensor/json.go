package tensor

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/jsontext"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// MarshalJSON writes the elements as nested lists in row-major order: [[1,2],[3,4]],
// for rank 0 the element alone. Numbers have the digits that read back to the same
// bits. A value that JSON has no number for is a string: "NaN" (whatever its bits), "Infinity",
// "-Infinity", and complex numbers as "(1-2i)". Extents behind one that is 0 don't
// show. It fails when the tensor is closed, or extents before one that is 0 ask for
// more than 2^20 lists.
func (t Tensor[T]) MarshalJSON() (b []byte, err error) { return t.a.MarshalJSON() }

// MarshalJSON writes the text of Tensor.MarshalJSON. It fails also when a has no
// elements.
func (a Any) MarshalJSON() (b []byte, err error) {
	err = Try(func() { b = appendAll(b, a) })
	return b, err
}

func appendAll(b []byte, a Any) []byte {
	const op = "tensor.MarshalJSON"
	a.pointer(op)
	checkLists(op, &a.lay)
	contiguous(&a)
	all, i := a.st.boxed(), a.origin()-1
	b = appendNest(b, a.lay.Shape(), func() any { i++; return all.at(i) })
	runtime.KeepAlive(a.st)
	return b
}

func appendNest(b []byte, shape []int, next func() any) []byte {
	if len(shape) == 0 {
		return appendJSON(b, next())
	}
	b = append(b, '[')
	for i := range shape[0] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNest(b, shape[1:], next)
	}
	return append(b, ']')
}

func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int8:
		return strconv.AppendInt(b, int64(v), 10)
	case int16:
		return strconv.AppendInt(b, int64(v), 10)
	case int32:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint8:
		return strconv.AppendUint(b, uint64(v), 10)
	case uint16:
		return strconv.AppendUint(b, uint64(v), 10)
	case uint32:
		return strconv.AppendUint(b, uint64(v), 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case float64:
		return appendFloat(b, v, 64)
	case complex64:
		return append(append(append(b, '"'), strconv.FormatComplex(complex128(v), 'g', -1, 64)...), '"')
	case complex128:
		return append(append(append(b, '"'), strconv.FormatComplex(v, 'g', -1, 128)...), '"')
	case float32:
		return appendFloat(b, float64(v), 32)
	case fixed.FP8x23, fixed.FP16x16, fixed.FP32x32, fixed.FP64x64:
		return append(b, v.(fmt.Stringer).String()...)
	case interface{ Int64() int64 }: // integers of less than 8 bits
		return strconv.AppendInt(b, v.Int64(), 10)
	case interface{ Float32() float32 }: // the narrow floats
		return appendFloat(b, float64(v.Float32()), 32)
	}
	return b
}

func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(b, `"NaN"`...)
	case v-v != 0 && v > 0:
		return append(b, `"Infinity"`...)
	case v-v != 0:
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// maxNest bounds how deep the lists of UnmarshalJSON nest.
const maxNest = 1000

// UnmarshalJSON reads the text of MarshalJSON and makes t a new tensor of it; null
// leaves t as it is. Numbers are rounded to T once (narrow floats from float64). It
// fails, and leaves t as it was, when the text is no such nest of lists, a list is
// longer or shorter than others at its level, or an element doesn't fit T; the error
// has the element's indices.
func (t *Tensor[T]) UnmarshalJSON(text []byte) error {
	var elems []T
	shape, err := parseNest("tensor.UnmarshalJSON", text, dtype.Of[T](), func(token string) bool {
		var v T
		ok := parseElement(token, &v)
		elems = append(elems, v)
		return ok
	})
	if shape == nil {
		return err
	}
	return parsed(&t.a, shape, newStorage(elems))
}

// parsed makes a a tensor of its own of the elements of st.
func parsed(a *Any, shape []int, st *storage) error {
	return Try(func() {
		u := create("tensor.UnmarshalJSON", st.dtype, shape, true)
		copy(u.st.bytes(), st.bytes())
		*a = u
	})
}

// parseNest reads nested lists and returns their shape; nil, without an error, for
// null. It gives each element to add, which reports whether it is one of type d.
func parseNest(op string, text []byte, d dtype.DType, add func(token string) bool) (shape []int, err error) {
	p := nestParser{text: text, shape: []int{}, leaf: -1, dtype: d, add: add}
	p.space()
	if string(bytes.TrimSpace(text)) == "null" {
		return nil, nil
	}
	what := p.value()
	if p.space(); what == "" && p.at < len(text) {
		what = "something follows the value"
	}
	if what != "" {
		where := ""
		if len(p.path) > 0 {
			where = "entry " + indexPath(p.path) + ": "
		}
		return nil, &Error{op, sprintf("%s%s, at byte %d", where, what, p.at), ErrSyntax}
	}
	return p.shape, nil
}

// nestParser reads nested lists. Its methods return the mistake, or "".
type nestParser struct {
	text  []byte
	at    int
	path  []int // of the entry being read
	shape []int // as far as it is known: -1 until the first list of the level ends
	leaf  int   // the level of the elements, -1 until the first one
	dtype dtype.DType
	add   func(token string) bool
}

func (p *nestParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\n' || p.text[p.at] == '\t' || p.text[p.at] == '\r') {
		p.at++
	}
}

func (p *nestParser) value() string {
	p.space()
	if p.at == len(p.text) {
		return "the text ends"
	}
	level := len(p.path)
	if p.text[p.at] != '[' {
		if level < len(p.shape) {
			return "an element, others at its level are lists"
		}
		p.leaf = level
		return p.element()
	}
	switch {
	case p.leaf >= 0 && level >= p.leaf:
		return "a list, others at its level are elements"
	case level == maxNest:
		return sprintf("more than %d lists in each other", maxNest)
	case level == len(p.shape):
		p.shape = append(p.shape, -1)
	}
	p.at++
	n := 0
	for p.space(); ; n++ {
		if p.space(); p.at < len(p.text) && p.text[p.at] == ']' && n == 0 {
			break
		}
		p.path = append(p.path, n)
		if what := p.value(); what != "" {
			return what
		}
		p.path = p.path[:level]
		if p.space(); p.at == len(p.text) {
			return "the list doesn't end"
		}
		if p.text[p.at] == ']' {
			n++
			break
		}
		if p.text[p.at] != ',' {
			return "a comma or a bracket is missing"
		}
		p.at++
	}
	p.at++
	if p.shape[level] < 0 {
		p.shape[level] = n
	}
	if p.shape[level] != n {
		return sprintf("a list of %d, others at its level have %d", n, p.shape[level])
	}
	return ""
}

// element reads a number, a string or a truth value.
func (p *nestParser) element() string {
	from := p.at
	quoted := p.text[from] == '"'
	end := bytes.IndexAny(p.text[from:], ",] \n\t\r")
	if quoted {
		if end = bytes.IndexByte(p.text[from+1:], '"'); end < 0 {
			return "the string doesn't end"
		}
		end += 2
	} else if end < 0 {
		end = len(p.text) - from
	}
	if end == 0 {
		return "an element is missing"
	}
	token := string(p.text[from : from+end])
	if !p.add(token) {
		if len(token) > 40 {
			token = token[:40] + "…"
		}
		return sprintf("%s is no %v", token, p.dtype)
	}
	p.at += end
	return ""
}

// parseElement reads an element as MarshalJSON writes it to where v points.
func parseElement(token string, v any) (ok bool) {
	float := func(bits int) (f float64) {
		switch token {
		case `"NaN"`:
			f, ok = num.NaN64(), true
		case `"Infinity"`:
			f, ok = math.Inf(1), true
		case `"-Infinity"`:
			f, ok = math.Inf(-1), true
		default:
			var err error
			f, err = strconv.ParseFloat(token, bits)
			ok = err == nil && isNumber(token)
		}
		return f
	}
	complex := func(bits int) complex128 {
		if isNumber(token) {
			c, err := strconv.ParseComplex(token, bits)
			ok = err == nil
			return c
		}
		if len(token) < 3 || token[0] != '"' {
			return 0
		}
		c, err := strconv.ParseComplex(token[1:len(token)-1], bits)
		ok = err == nil
		return c
	}
	switch p := v.(type) {
	case *bool:
		*p, ok = token == "true", token == "true" || token == "false"
	case *float32:
		f := float(32)
		if *p = float32(f); f != f {
			*p = num.NaN32()
		}
	case *float64:
		*p = float(64)
	case *complex64:
		*p = complex64(complex(64))
	case *complex128:
		*p = complex(128)
	case *fixed.FP8x23:
		ok = parseFixed(token, p)
	case *fixed.FP16x16:
		ok = parseFixed(token, p)
	case *fixed.FP32x32:
		ok = parseFixed(token, p)
	case *fixed.FP64x64:
		ok = parseFixed(token, p)
	default:
		switch d := dtype.At(p); {
		case d.Format() != 0:
			f := float(64)
			bits := d.Format().Round(f)
			rounded := d.Format().Value(bits)
			ok = ok && (rounded-rounded == 0) == (f-f == 0) && (rounded != rounded) == (f != f) // no number became an infinity, or NaN where there is none
			if least, most := d.Format().Ends(); d.Bits() < 8 && (f > d.Format().Value(most) || f < d.Format().Value(least)) {
				ok = false
			}
			setBits(p, uint64(bits))
		case d.IsSigned():
			i, err := strconv.ParseInt(token, 10, d.Bits())
			ok = err == nil && isNumber(token)
			setBits(p, uint64(i))
		default:
			i, err := strconv.ParseUint(token, 10, d.Bits())
			ok = err == nil && isNumber(token)
			setBits(p, i)
		}
	}
	return ok
}

func parseFixed[T num.Fixed](token string, p *T) bool {
	var err error
	*p, err = fixed.Parse[T](token)
	return err == nil && isNumber(token)
}

// isNumber reports whether token is a number by JSON's grammar.
func isNumber(token string) bool { return token != "" && jsontext.Number(token) == len(token) }
