package safetensors

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/jsontext"
)

// scanner reads the JSON that a header may contain (RFC 8259): objects whose
// keys the caller knows how to read, strings, and arrays of numbers. It accepts
// no other value, so nesting is bounded by the code that calls it.
type scanner struct {
	what string // "header" or "index", for errors
	text []byte
	base int64 // the file's byte where text begins
	pos  int
}

func (s *scanner) fail(at int, err error, format string, args ...any) *format.Error {
	return fail(s.base+int64(at), "", err, s.what+": "+format, args...)
}

// found describes the next byte for an error.
func (s *scanner) found() string {
	if s.pos >= len(s.text) {
		return "the end"
	}
	if c := s.text[s.pos]; c < ' ' || c >= 0x7f {
		return "byte 0x" + strconv.FormatUint(uint64(c), 16)
	}
	return strconv.QuoteRune(rune(s.text[s.pos]))
}

func (s *scanner) space() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\n\r", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// take skips white space, then c if it comes next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// want takes c. The reason has two parts so that they are joined only for an error,
// not for each of a hundred thousand tensors.
func (s *scanner) want(c byte, why, what string) *format.Error {
	if s.take(c) {
		return nil
	}
	return s.fail(s.pos, format.ErrFormat, "%s where %c %s%s", s.found(), c, why, what)
}

// object reads an object and calls value for each key, standing at its value.
func (s *scanner) object(what string, value func(at int, key []byte) *format.Error) *format.Error {
	if err := s.want('{', "must open ", what); err != nil {
		return err
	}
	if s.take('}') {
		return nil
	}
	for {
		s.space()
		at := s.pos
		key, err := s.str("a key of ", what)
		if err == nil {
			err = s.want(':', "must follow a key", "")
		}
		if err == nil {
			s.space()
			err = value(at, key)
		}
		if err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if err := s.want(',', "or } must follow a value of ", what); err != nil {
			return err
		}
	}
}

// numbers reads an array of integers that are not negative and calls value for
// each.
func (s *scanner) numbers(what string, value func(at, n int) *format.Error) *format.Error {
	if err := s.want('[', "must open ", what); err != nil {
		return err
	}
	if s.take(']') {
		return nil
	}
	for {
		s.space()
		at := s.pos
		n, err := s.number(what)
		if err == nil {
			err = value(at, n)
		}
		if err != nil {
			return err
		}
		if s.take(']') {
			return nil
		}
		if err := s.want(',', "or ] must follow a number of ", what); err != nil {
			return err
		}
	}
}

func (s *scanner) number(what string) (int, *format.Error) {
	const most = 20 // digits; 2^64 has 20
	at := s.pos
	for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
		if s.pos++; s.pos-at > most {
			return 0, s.fail(at, format.ErrLimit, "a number of more than %d digits in %s", most, what)
		}
	}
	digits := string(s.text[at:s.pos])
	switch {
	case digits == "":
		return 0, s.fail(at, format.ErrFormat, "%s where %s needs an integer that isn't negative", s.found(), what)
	case len(digits) > 1 && digits[0] == '0':
		return 0, s.fail(at, format.ErrFormat, "the number %s in %s begins with 0", digits, what)
	case s.pos < len(s.text) && strings.IndexByte(".eE", s.text[s.pos]) >= 0:
		return 0, s.fail(at, format.ErrFormat, "a fraction or exponent in %s, which needs integers", what)
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, s.fail(at, format.ErrLimit, "%s in %s doesn't fit an int of %d bits", digits, what, strconv.IntSize)
	}
	return n, nil
}

// str reads a string: UTF-8, with JSON's escapes. The bytes are the header's own
// unless it has escapes, so nothing is allocated for the keys of every tensor.
func (s *scanner) str(role, what string) ([]byte, *format.Error) {
	open := s.pos
	if open >= len(s.text) || s.text[open] != '"' {
		return nil, s.fail(open, format.ErrFormat, "%s where %s%s, a string, must stand", s.found(), role, what)
	}
	var built []byte // the string up to from, if escapes make it differ from the text
	s.pos++
	from := s.pos
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			last := s.text[from:s.pos]
			s.pos++
			if built == nil {
				return last, nil
			}
			return append(built, last...), nil
		case c < ' ':
			return nil, s.fail(s.pos, format.ErrFormat, "%s inside %s%s: control characters must be escaped", s.found(), role, what)
		case c == '\\':
			built = append(built, s.text[from:s.pos]...)
			r, n := jsontext.Escape(s.text[s.pos:])
			if n == 0 {
				return nil, s.fail(s.pos, format.ErrFormat, "an escape inside %s%s that JSON doesn't have", role, what)
			}
			built = utf8.AppendRune(built, r)
			s.pos += n
			from = s.pos
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.text[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, s.fail(s.pos, format.ErrFormat, "%s inside %s%s is not UTF-8", s.found(), role, what)
			}
			s.pos += n
		}
	}
	return nil, s.fail(open, format.ErrFormat, "%s%s has no closing quote", role, what)
}

// any returns the text of a value of any kind, up to where it must end. encoding/json
// parses it.
func (s *scanner) any() []byte {
	rest, depth := s.text[s.pos:], 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case ',':
			if depth == 0 {
				return bytes.TrimRight(rest[:i], " \t\r\n")
			}
		}
		if depth < 0 {
			return bytes.TrimRight(rest[:i], " \t\r\n")
		}
	}
	return rest
}
