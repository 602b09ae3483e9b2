package serve

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/internal/core/jsontext"
)

// A scanner reads JSON (RFC 8259) from front to back. It isn't encoding/json, which knows no NaN and takes a pass and an
// allocation for each number.
type scanner struct {
	b []byte
	i int
	// base is where b begins in the body; errors count from there.
	base int
}

// mostDepth bounds how deep values nest that nobody asked for.
const mostDepth = 64

func (s *scanner) fail(format string, args ...any) error {
	return refuse(http.StatusBadRequest, "byte %d of the body: %s", s.base+s.i, fmt.Sprintf(format, args...))
}

// peek returns the first byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// what describes the next piece of text for an error.
func (s *scanner) what() string {
	if s.peek() == 0 && s.i == len(s.b) {
		return "the end"
	}
	rest := s.b[s.i:]
	n := bytes.IndexAny(rest, " \n\t\r,:]}")
	if n <= 0 {
		n = min(1, len(rest))
	}
	return fmt.Sprintf("%.24q", rest[:min(n, 24)])
}

func (s *scanner) want(c byte) error {
	if s.peek() != c {
		return s.fail("want %q, got %s", c, s.what())
	}
	s.i++
	return nil
}

// list reads the items between two brackets, separated by commas.
func (s *scanner) list(first, last byte, item func(i int) error) error {
	if err := s.want(first); err != nil {
		return err
	}
	if s.peek() == last {
		s.i++
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case last:
			s.i++
			return nil
		default:
			return s.fail("want ',' or %q, got %s", last, s.what())
		}
	}
}

func (s *scanner) array(item func(i int) error) error { return s.list('[', ']', item) }

// object calls member for each key, before its value.
func (s *scanner) object(member func(key string) error) error {
	return s.list('{', '}', func(int) error {
		key, err := s.name()
		if err == nil {
			err = s.want(':')
		}
		if err == nil {
			err = member(key)
		}
		return err
	})
}

// members is object for keys of which those in once may stand there once.
func (s *scanner) members(once []string, member func(key string) error) error {
	var seen [8]bool
	return s.object(func(key string) error {
		if i := slices.Index(once, key); i >= 0 {
			if seen[i] {
				return s.fail("%q stands there twice", key)
			}
			seen[i] = true
		}
		return member(key)
	})
}

// quoted returns a string with its quotes.
func (s *scanner) quoted() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("want a string, got %s", s.what())
	}
	for j := s.i + 1; j < len(s.b); j++ {
		switch c := s.b[j]; {
		case c == '"':
			from := s.i
			s.i = j + 1
			return s.b[from : j+1], nil
		case c == '\\':
			j++
		case c < ' ':
			return nil, s.fail("a control character in a string")
		}
	}
	return nil, s.fail("a string without an end")
}

// str returns the text between the quotes of a string, which is UTF-8 with right escapes. It takes no memory.
func (s *scanner) str() ([]byte, error) {
	s.peek()
	at := s.i
	q, err := s.quoted()
	if err != nil {
		return nil, err
	}
	in := q[1 : len(q)-1]
	ok := utf8.Valid(in)
	for rest := in; ok; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return in, nil
		}
		_, n := jsontext.Escape(rest[i:])
		ok, rest = n > 0, rest[i+n:]
	}
	s.i = at
	return nil, s.fail("a string that isn't UTF-8, or with a wrong escape")
}

// text reads a string. It takes no more memory than the string has bytes in the body.
func (s *scanner) text() (string, error) {
	in, err := s.str()
	return unescaped(in), err
}

// unescaped is the string that in, which str returned, stands for.
func unescaped(in []byte) string {
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	var b strings.Builder
	b.Grow(len(in))
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			b.Write(in)
			return b.String()
		}
		b.Write(in[:i])
		r, n := jsontext.Escape(in[i:])
		b.WriteRune(r)
		in = in[i+n:]
	}
}

// name reads a string of at most mostName bytes.
func (s *scanner) name() (string, error) {
	s.peek()
	at := s.i
	in, err := s.str()
	if len(in) > mostName {
		s.i = at
		return "", s.fail("a name, or an id, of %d bytes; the most is %d", len(in), mostName)
	}
	return unescaped(in), err
}

// number returns the text of a number.
func (s *scanner) number() ([]byte, error) {
	s.peek()
	from, j := s.i, s.i+jsontext.Number(s.b[s.i:])
	if j == from || j < len(s.b) && (s.b[j] >= '0' && s.b[j] <= '9' || s.b[j] >= 'a' && s.b[j] <= 'z' || s.b[j] >= 'A' && s.b[j] <= 'Z' || s.b[j] == '.') {
		return nil, s.fail("want a number, got %s", s.what())
	}
	s.i = j
	return s.b[from:j], nil
}

// special reads a word for a float that JSON has no number for.
func (s *scanner) special() (float64, bool) {
	c := s.peek()
	if c != 'N' && c != 'I' && c != '-' {
		return 0, false
	}
	rest := s.b[s.i:]
	for _, w := range [...]struct {
		text string
		v    float64
	}{{"NaN", math.NaN()}, {"Infinity", math.Inf(1)}, {"Inf", math.Inf(1)}, {"-Infinity", math.Inf(-1)}, {"-Inf", math.Inf(-1)}} {
		if bytes.HasPrefix(rest, []byte(w.text)) {
			s.i += len(w.text)
			return w.v, true
		}
	}
	return 0, false
}

// boolean reads true or false.
func (s *scanner) boolean() (bool, error) {
	s.peek()
	for _, w := range [...]string{"true", "false"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return w == "true", nil
		}
	}
	return false, s.fail("want true or false, got %s", s.what())
}

// skip reads a value of any kind.
func (s *scanner) skip(depth int) error {
	if depth > mostDepth {
		return s.fail("values nest deeper than %d", mostDepth)
	}
	switch c := s.peek(); {
	case c == '{':
		return s.list('{', '}', func(int) error {
			_, err := s.str()
			if err == nil {
				err = s.want(':')
			}
			if err == nil {
				err = s.skip(depth + 1)
			}
			return err
		})
	case c == '[':
		return s.array(func(int) error { return s.skip(depth + 1) })
	case c == '"':
		_, err := s.str()
		return err
	case c == 't' || c == 'f':
		_, err := s.boolean()
		return err
	case c == 'n' && bytes.HasPrefix(s.b[s.i:], []byte("null")):
		s.i += len("null")
		return nil
	}
	_, err := s.number()
	return err
}

// span finds the end of an array by its brackets alone. Whoever reads the elements checks the rest.
func (s *scanner) span() ([]byte, int, error) {
	if s.peek() != '[' {
		return nil, 0, s.fail("want an array, got %s", s.what())
	}
	from, depth := s.i, 0
	for j := s.i; j < len(s.b); j++ {
		switch s.b[j] {
		case '"':
			s.i = j
			if _, err := s.quoted(); err != nil {
				return nil, 0, err
			}
			j = s.i - 1
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				s.i = j + 1
				return s.b[from:s.i], from, nil
			}
		}
	}
	s.i = from
	return nil, 0, s.fail("an array without an end")
}
