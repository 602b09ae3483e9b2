package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
)

const (
	magic = "\x93NUMPY"

	// MaxHeader is the longest header text accepted, in bytes: the limit of
	// version 1. Versions 2 and 3 exist for structured types, which are refused.
	MaxHeader = 1<<16 - 1

	// MaxRank is the largest rank accepted, the same as NumPy's.
	MaxRank = 64
)

// Header describes the array of an npy file.
type Header struct {
	Version   int         // 1, 2 or 3
	Descr     string      // the element type as the file writes it: "<f4"
	DType     dtype.DType // the element type of the tensor
	BigEndian bool        // the elements' bytes are in descending order
	Fortran   bool        // the first axis is fastest in the file, not the last
	Shape     []int       // the extents; empty for rank 0
	Offset    int         // bytes before the first element
}

// Len returns the number of elements.
func (h Header) Len() int {
	n := 1
	for _, e := range h.Shape {
		n *= e // ReadHeader has checked the product
	}
	return n
}

// Bytes returns the size of the elements in the file, without the header.
func (h Header) Bytes() int { return h.Len() * h.DType.Size() }

// Layout returns the layout of the elements in the file: row-major, or
// column-major for Fortran order.
func (h Header) Layout() (layout.Layout, error) {
	if h.Fortran {
		return layout.ColMajor(h.Shape...)
	}
	return layout.RowMajor(h.Shape...)
}

// ReadHeader reads the header of an npy file from r and no byte beyond it. It
// returns Read's errors: for a file that isn't npy, an element type without a
// counterpart, and a shape whose size doesn't fit an int.
func ReadHeader(r io.Reader, opts *Options) (Header, error) {
	return readHeader(r, settingsOf(opts))
}

func readHeader(r io.Reader, s Options) (Header, error) {
	if r == nil {
		return Header{}, fail(-1, format.ErrFormat, "the reader is nil")
	}
	var pre [12]byte
	if err := readFull(r, pre[:8], 0, "the magic number"); err != nil {
		return Header{}, err
	}
	switch {
	case string(pre[:4]) == "PK\x03\x04" || string(pre[:4]) == "PK\x05\x06":
		return Header{}, fail(0, format.ErrFormat, "the file is a zip archive, as npz files are; OpenZip reads it")
	case pre[0] == 0x80 && pre[1] <= 5:
		return Header{}, fail(0, format.ErrFormat, "the file is a Python pickle, which can run code; save the array with numpy.save(…, allow_pickle=False)")
	case string(pre[:6]) != magic:
		return Header{}, fail(0, format.ErrFormat, "the file begins with %q, an npy file with %q", pre[:6], magic)
	}
	h := Header{Version: int(pre[6])}
	wide := 4
	switch {
	case pre[7] != 0 || h.Version < 1 || h.Version > 3:
		return Header{}, fail(6, format.ErrFormat, "version %d.%d; there are 1.0, 2.0 and 3.0", pre[6], pre[7])
	case h.Version == 1:
		wide = 2
	}
	if err := readFull(r, pre[8:8+wide], 8, "the header's length"); err != nil {
		return Header{}, err
	}
	n := uint64(binary.LittleEndian.Uint32(pre[8:])) // the bytes beyond wide are 0
	if n > MaxHeader {
		return Header{}, fail(8, format.ErrLimit, "a header of %d bytes; the most accepted is %d", n, MaxHeader)
	}
	base := 8 + wide
	text := make([]byte, n)
	if err := readFull(r, text, base, "the header"); err != nil {
		return Header{}, err
	}
	h.Offset = base + int(n)
	p := parser{text: text, base: base, as: s.As}
	return h, p.header(&h)
}

// readFull fills b, which begins at byte at of the file.
func readFull(r io.Reader, b []byte, at int, what string) error {
	n, err := io.ReadFull(r, b)
	switch err {
	case nil:
		return nil
	case io.EOF, io.ErrUnexpectedEOF:
		if at+n == 0 {
			return fail(0, format.ErrShort, "the file is empty")
		}
		return fail(int64(at+n), format.ErrShort, "the file ends inside %s: %d of its %d bytes are there", what, n, len(b))
	}
	return fail(int64(at+n), err, "reading %s: %v", what, err)
}

// parser reads the header text: a Python dict literal with exactly the keys
// descr, fortran_order and shape. It takes any order, spacing and quote, as
// NumPy and other writers use them, and no other Python: no escapes, no
// arithmetic, no nesting. An error names the text refused, and its byte.
type parser struct {
	text []byte
	base int // the file's byte where text begins
	pos  int
	as   dtype.DType
}

func (p *parser) fail(at int, err error, format string, args ...any) error {
	return fail(int64(p.base+at), err, "header: "+format, args...)
}

// found describes the next byte for an error.
func (p *parser) found() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	return strconv.QuoteRune(rune(p.text[p.pos]))
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\n\r\f", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// take skips white space, then c if it comes next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) header(h *Header) error {
	if !p.take('{') {
		return p.fail(p.pos, format.ErrFormat, "%s where { must open the dict", p.found())
	}
	const all = 3
	var seen [all]bool
	count := 0
	for !p.take('}') {
		at := p.pos
		key, err := p.quoted("a key")
		if err != nil {
			return err
		}
		which := -1
		for i, name := range [all]string{"descr", "fortran_order", "shape"} {
			if key == name {
				which = i
			}
		}
		if which < 0 {
			return p.fail(at, format.ErrFormat, "the key %q; the keys are descr, fortran_order and shape", key)
		}
		if seen[which] {
			return p.fail(at, format.ErrFormat, "the key %q a second time", key)
		}
		seen[which] = true
		count++
		if !p.take(':') {
			return p.fail(p.pos, format.ErrFormat, "%s where : must follow the key %q", p.found(), key)
		}
		p.space()
		switch which {
		case 0:
			err = p.descr(h)
		case 1:
			h.Fortran, err = p.boolean()
		case 2:
			h.Shape, err = p.shape()
		}
		if err != nil {
			return err
		}
		if !p.take(',') {
			if !p.take('}') {
				return p.fail(p.pos, format.ErrFormat, "%s where , or } must follow the value of %q", p.found(), key)
			}
			break
		}
	}
	if p.space(); p.pos < len(p.text) {
		return p.fail(p.pos, format.ErrFormat, "%s after the dict", p.found())
	}
	if count < all {
		return p.fail(0, format.ErrFormat, "%d of the keys descr, fortran_order and shape are there", count)
	}
	return p.size(h)
}

// quoted reads a string literal in either quote. Names and descriptors are
// short and plain, so an escape, a control character or a long string is
// refused.
func (p *parser) quoted(what string) (string, error) {
	const most = 256
	at := p.pos
	if at >= len(p.text) || p.text[at] != '\'' && p.text[at] != '"' {
		return "", p.fail(at, format.ErrFormat, "%s where %s, a string, must stand", p.found(), what)
	}
	quote := p.text[at]
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == quote:
			p.pos++
			return string(p.text[at+1 : p.pos-1]), nil
		case c == '\\' || c < ' ':
			return "", p.fail(p.pos, format.ErrFormat, "%s inside %s: escapes and control characters are not accepted", p.found(), what)
		case p.pos-at > most:
			return "", p.fail(at, format.ErrLimit, "%s is longer than %d bytes", what, most)
		}
	}
	return "", p.fail(at, format.ErrFormat, "%s is a string without its closing quote", what)
}

func (p *parser) boolean() (bool, error) {
	for _, word := range []string{"True", "False"} {
		rest, ok := bytes.CutPrefix(p.text[p.pos:], []byte(word))
		if ok && (len(rest) == 0 || !wordByte(rest[0])) {
			p.pos += len(word)
			return word == "True", nil
		}
	}
	return false, p.fail(p.pos, format.ErrFormat, "%s where fortran_order must be True or False", p.found())
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// shape reads a tuple of extents. As in Python, (3) is a number in parentheses
// and (3,) is a tuple.
func (p *parser) shape() ([]int, error) {
	open := p.pos
	if !p.take('(') {
		return nil, p.fail(p.pos, format.ErrFormat, "%s where shape must be a tuple: (), (3,) or (2, 3)", p.found())
	}
	shape := []int{}
	comma := true
	for !p.take(')') {
		if !comma {
			return nil, p.fail(p.pos, format.ErrFormat, "%s where , or ) must follow an extent", p.found())
		}
		if len(shape) == MaxRank {
			return nil, p.fail(open, format.ErrLimit, "more than %d extents, NumPy's largest rank", MaxRank)
		}
		e, err := p.extent()
		if err != nil {
			return nil, err
		}
		shape = append(shape, e)
		comma = p.take(',')
	}
	if len(shape) == 1 && !comma {
		return nil, p.fail(open, format.ErrFormat, "shape (%d) is a number, not a tuple; (%d,) would be one", shape[0], shape[0])
	}
	return shape, nil
}

// extent reads a decimal number, with the L that Python 2 wrote after a long.
func (p *parser) extent() (int, error) {
	const most = 20 // digits; 2^64 has 20
	at := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		if p.pos++; p.pos-at > most {
			return 0, p.fail(at, format.ErrLimit, "an extent of more than %d digits", most)
		}
	}
	digits := string(p.text[at:p.pos])
	if digits == "" {
		if p.pos < len(p.text) && p.text[p.pos] == '-' {
			return 0, p.fail(at, format.ErrFormat, "a negative extent")
		}
		return 0, p.fail(at, format.ErrFormat, "%s where an extent, a decimal number, must stand", p.found())
	}
	if len(digits) > 1 && digits[0] == '0' {
		return 0, p.fail(at, format.ErrFormat, "the extent %s begins with 0, which is no number in Python", digits)
	}
	if p.pos < len(p.text) && p.text[p.pos] == 'L' {
		p.pos++
	}
	if p.pos < len(p.text) && (wordByte(p.text[p.pos]) || p.text[p.pos] == '.') {
		return 0, p.fail(p.pos, format.ErrFormat, "%s after the digits %s: an extent is a decimal number without a fraction", p.found(), digits)
	}
	e, err := strconv.Atoi(digits)
	if err != nil {
		return 0, p.fail(at, format.ErrLimit, "the extent %s doesn't fit an int of %d bits", digits, strconv.IntSize)
	}
	return e, nil
}

// size returns an error for a shape whose elements could not be addressed. An
// extent of 0 doesn't count, as in NumPy: strides of an empty shape may not
// overflow either.
func (p *parser) size(h *Header) error {
	n := uint(h.DType.Size())
	for _, e := range h.Shape {
		hi, lo := bits.Mul(n, uint(max(e, 1)))
		if hi != 0 || lo > 1<<(strconv.IntSize-1)-1 {
			return p.fail(0, format.ErrLimit, "shape %s of %v is larger than the address space", shapeText(h.Shape), h.DType)
		}
		n = lo
	}
	return nil
}

// shapeText writes a shape as NumPy does, without spaces: (), (3,), (2,3).
func shapeText(shape []int) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, e := range shape {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(e))
	}
	b.WriteByte(')')
	return b.String()
}
