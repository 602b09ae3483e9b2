package text

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/internal/core/jsontext"
)

// A value is a part of a JSON text (RFC 8259) that hasn't been read yet. Errors name its place in the file.
type value struct {
	data  []byte // the whole text, checked by check
	start int    // of the value's first byte
	name  string // as model.vocab
}

// errorf returns an error that names the value and its byte.
func (v value) errorf(format string, args ...any) error {
	return fmt.Errorf("tokenizer.json: %s at byte %d: %s", v.name, v.start, fmt.Sprintf(format, args...))
}

const maxDepth = 128 // of values in values, as in the reader of the reference

// parseJSON checks a whole JSON text: its grammar, its depth and its UTF-8. After it, reading a value fails by its kind alone.
func parseJSON(data []byte) (value, error) {
	v := value{data: data, name: "the file"}
	if i := invalidUTF8(data); i >= 0 {
		return v, value{data, i, v.name}.errorf("is not UTF-8")
	}
	v.start = space(data, 0)
	end, err := v.check(v.start, 0)
	if err != nil {
		return v, err
	}
	if end = space(data, end); end < len(data) {
		return v, value{data, end, v.name}.errorf("has %q behind its end", data[end])
	}
	return v, nil
}

// invalidUTF8 returns the place of the first byte that is no part of a character in UTF-8, or -1.
func invalidUTF8[T string | []byte](s T) int {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := decodeRune(s, i)
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func decodeRune[T string | []byte](s T, i int) (rune, int) {
	return utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// check returns the end of the value at i.
func (v value) check(i, depth int) (end int, err error) {
	b := v.data
	fail := func(at int, format string, args ...any) (int, error) {
		return 0, value{b, at, v.name}.errorf(format, args...)
	}
	if i >= len(b) {
		return fail(i, "ends in the middle of a value")
	}
	if depth > maxDepth {
		return fail(i, "has values in values more than %d deep", maxDepth)
	}
	switch c := b[i]; c {
	case '{', '[':
		closing := c + 2
		i = space(b, i+1)
		if i < len(b) && b[i] == closing {
			return i + 1, nil
		}
		for {
			if c == '{' {
				if i >= len(b) || b[i] != '"' {
					return fail(i, "has no key in quotes")
				}
				if i, err = v.checkString(i); err != nil {
					return 0, err
				}
				if i = space(b, i); i >= len(b) || b[i] != ':' {
					return fail(i, "has no colon behind a key")
				}
				i = space(b, i+1)
			}
			if i, err = v.check(i, depth+1); err != nil {
				return 0, err
			}
			i = space(b, i)
			if i < len(b) && b[i] == closing {
				return i + 1, nil
			}
			if i >= len(b) || b[i] != ',' {
				return fail(i, "has neither a comma nor %q behind a value", closing)
			}
			i = space(b, i+1)
		}
	case '"':
		return v.checkString(i)
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if bytes.HasPrefix(b[i:], []byte(word)) {
				return i + len(word), nil
			}
		}
	default:
		if n := jsontext.Number(b[i:min(len(b), i+maxNumber)]); n > 0 {
			return i + n, nil
		}
	}
	return fail(i, "has %q, which begins no value", b[i])
}

const maxNumber = 1 << 10 // bytes of a number

func (v value) checkString(i int) (end int, err error) {
	b, start := v.data, i
	for i++; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			_, n := jsontext.Escape(b[i:])
			if n == 0 {
				return 0, value{b, i, v.name}.errorf("has an escape that is none of JSON's")
			}
			i += n
		case c < ' ':
			return 0, value{b, i, v.name}.errorf("has the control character %#02x in a string", c)
		default:
			i++
		}
	}
	return 0, value{b, start, v.name}.errorf("has a string without an end")
}

// end returns the place behind the value. The text has been checked.
func (v value) end() int {
	b, depth := v.data, 0
	for i := v.start; ; {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',', ':', ' ', '\n', '\t', '\r':
		default:
			for i+1 < len(b) && !bytes.ContainsRune([]byte(",:]} \n\t\r"), rune(b[i+1])) {
				i++
			}
		}
		i++
		if depth == 0 {
			return i
		}
		i = space(b, i)
	}
}

// appendString appends the string at i, without its quotes, and returns the place behind it.
func appendString(dst, b []byte, i int) ([]byte, int) {
	for i++; b[i] != '"'; {
		if b[i] == '\\' {
			r, n := jsontext.Escape(b[i:])
			dst, i = utf8.AppendRune(dst, r), i+n
			continue
		}
		j := i
		for b[j] != '"' && b[j] != '\\' {
			j++
		}
		dst, i = append(dst, b[i:j]...), j
	}
	return dst, i + 1
}

func (v value) is(first string) bool {
	return bytes.IndexByte([]byte(first), v.data[v.start]) >= 0
}

func (v value) isNull() bool { return v.is("n") }

func (v value) str() (string, error) {
	if !v.is(`"`) {
		return "", v.errorf("is no string")
	}
	s, _ := appendString(nil, v.data, v.start)
	return string(s), nil
}

func (v value) bool() (bool, error) {
	if !v.is("tf") {
		return false, v.errorf("is neither true nor false")
	}
	return v.is("t"), nil
}

// char returns a string of one character.
func (v value) char() (rune, error) {
	s, err := v.str()
	if err != nil {
		return 0, err
	}
	if utf8.RuneCountInString(s) != 1 {
		return 0, v.errorf("is %q, not one character", s)
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r, nil
}

// number returns the digits of a number.
func (v value) number() (string, error) {
	n := jsontext.Number(v.data[v.start:min(len(v.data), v.start+maxNumber)])
	if n == 0 {
		return "", v.errorf("is no number")
	}
	return string(v.data[v.start : v.start+n]), nil
}

// uint returns a whole number from 0 to most.
func (v value) uint(most uint64) (uint64, error) {
	length := jsontext.Number(v.data[v.start:min(len(v.data), v.start+maxNumber)])
	if length == 0 {
		return 0, v.errorf("is no number")
	}
	digits, n := v.data[v.start:v.start+length], uint64(0)
	for _, c := range digits {
		if c < '0' || c > '9' || n > most {
			return 0, v.errorf("is %s, not a whole number from 0 to %d", digits, most)
		}
		n = 10*n + uint64(c-'0')
	}
	if n > most {
		return 0, v.errorf("is %s, not a whole number from 0 to %d", digits, most)
	}
	return n, nil
}

func (v value) id() (uint32, error) {
	n, err := v.uint(math.MaxUint32)
	return uint32(n), err
}

// length returns a length that an int holds on every platform.
func (v value) length() (int, error) {
	n, err := v.uint(math.MaxInt32)
	return int(n), err
}

// float returns a number as the reference reads one: serde_json without its feature float_roundtrip rounds the digits,
// then the product with a power of ten, so the last bit may differ from the nearest float64.
func (v value) float() (float64, error) {
	s, err := v.number()
	if err != nil {
		return 0, err
	}
	var digits uint64
	exponent, point, full, negative := 0, false, false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '-':
			negative = true
		case c == '.':
			point = true
		case c == 'e' || c == 'E':
			n, err := strconv.Atoi(s[i+1:])
			if err != nil {
				return 0, v.errorf("is %s, whose exponent no float64 has", s)
			}
			exponent, i = exponent+n, len(s)
		default:
			d := uint64(c - '0')
			if full = full || digits > (math.MaxUint64-d)/10; full {
				if !point {
					exponent++
				}
				continue
			}
			digits = 10*digits + d
			if point {
				exponent--
			}
		}
	}
	f := float64(digits)
	for ; exponent < -308 && f != 0; exponent += 308 {
		f /= 1e308
	}
	switch {
	case f == 0:
	case exponent > 308:
		f = math.Inf(1)
	case exponent >= 0:
		f *= math.Pow10(exponent)
	default:
		f /= math.Pow10(-exponent)
	}
	if math.IsInf(f, 0) {
		return 0, v.errorf("is %s, more than a float64 holds", s)
	}
	if negative {
		f = -f
	}
	return f, nil
}

// items calls f for each value of an array.
func (v value) items(f func(i int, item value) error) error {
	if !v.is("[") {
		return v.errorf("is no array")
	}
	i := space(v.data, v.start+1)
	for n := 0; v.data[i] != ']'; n++ {
		item := value{v.data, i, v.name}
		if err := f(n, item); err != nil {
			return err
		}
		if i = space(v.data, item.end()); v.data[i] == ',' {
			i = space(v.data, i+1)
		}
	}
	return nil
}

// members calls f for each member of an object, in order.
func (v value) members(f func(key []byte, member value) error) error {
	if !v.is("{") {
		return v.errorf("is no object")
	}
	var key []byte
	i := space(v.data, v.start+1)
	for v.data[i] != '}' {
		key, i = appendString(key[:0], v.data, i)
		i = space(v.data, space(v.data, i)+1) // over the colon
		member := value{v.data, i, v.name}
		if err := f(key, member); err != nil {
			return err
		}
		if i = space(v.data, member.end()); v.data[i] == ',' {
			i = space(v.data, i+1)
		}
	}
	return nil
}

// An object has the members of an object that stands for a struct.
type object struct {
	value
	fields map[string]value
}

// object refuses members that known doesn't name, as a part of the file that this package wouldn't obey, and a name that
// comes twice.
func (v value) object(known ...string) (object, error) {
	o := object{v, make(map[string]value)}
	return o, v.members(func(key []byte, member value) error {
		name := string(key)
		if _, twice := o.fields[name]; twice {
			return member.errorf("has %q twice", name)
		}
		if known != nil && !slices.Contains(known, name) {
			return member.errorf("has the member %q, which this package doesn't know", name)
		}
		member.name = v.name + "." + name
		if v.name == "the file" {
			member.name = name
		}
		o.fields[name] = member
		return nil
	})
}

// field reads a member by a method of value. Without the member, the result is otherwise.
func field[T any](o object, name string, read func(value) (T, error), otherwise T) (T, error) {
	m, ok := o.fields[name]
	if !ok {
		return otherwise, nil
	}
	return read(m)
}

// nullable is field for a member that may be null, too.
func nullable[T any](o object, name string, read func(value) (T, error), otherwise T) (T, error) {
	if m, ok := o.fields[name]; ok && m.isNull() {
		return otherwise, nil
	}
	return field(o, name, read, otherwise)
}

// required is field for a member that must be there.
func required[T any](o object, name string, read func(value) (T, error)) (T, error) {
	m, ok := o.fields[name]
	if !ok {
		var zero T
		return zero, o.errorf("has no %q", name)
	}
	return read(m)
}
