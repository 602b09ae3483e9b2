package csv

import (
	"bufio"
	"cmp"
	stdcsv "encoding/csv"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// MaxRow is the longest row of text accepted, in bytes, with all its lines.
const MaxRow = 2 << 20

// mark is the byte order mark.
const mark = "\ufeff"

// Options describe a table. The zero value, and nil, is CSV of float64 without
// names.
type Options struct {
	DType  dtype.DType // the type of Read's result; Invalid means float64. Write uses the tensor's type
	Comma  rune        // between cells; 0 is a comma. No letter, digit, sign, point, quote, bracket or end of line
	Header bool        // Read: the first row holds the columns' names
}

// comma returns the delimiter, or an error if it isn't allowed.
func (o Options) comma() (rune, error) {
	c := o.Comma
	switch {
	case c == 0:
		return ',', nil
	case c == utf8.RuneError || !utf8.ValidRune(c) || string(c) == mark || unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("+-._()\"\r\n", c):
		return 0, fail(0, 0, ErrOption, "cells can't be separated by %q, which may stand in a number or ends a row; a comma, ; and a tab can", c)
	}
	return c, nil
}

// Read reads a table from r to its end. It returns a tensor of rank 2, rows and
// columns, and with Options.Header the columns' names. Lines end in LF, CRLF or CR,
// also mixed. Empty lines are left out. A table of no rows has the columns of its
// header, and none without a header. A byte order mark at the beginning is skipped.
//
// Errors are of type *Error.
func Read(r io.Reader, opts *Options) (t tensor.Any, names []string, err error) {
	if r == nil {
		return tensor.Any{}, nil, fail(0, 0, ErrOption, "the reader is nil")
	}
	o := cmp.Or(opts, new(Options))
	comma, err := o.comma()
	if err != nil {
		return tensor.Any{}, nil, err
	}
	if o.DType == dtype.Invalid {
		o.DType = dtype.Float64
	}
	read, ok := readers[o.DType]
	if o.DType.Size() == 1 && (o.DType.Format() != 0 || o.DType.IsStored()) {
		read, ok = byteReader(o.DType), true
	}
	if !ok {
		return tensor.Any{}, nil, fail(0, 0, format.ErrType, "%v has no text; read another type", o.DType)
	}
	in := &table{limit: &limited{r: r}, header: o.Header}
	text := bufio.NewReader(in.limit)
	if head, _ := text.Peek(len(mark)); string(head) == mark {
		text.Discard(len(mark))
	}
	in.rows = stdcsv.NewReader(text)
	in.rows.Comma, in.rows.ReuseRecord, in.rows.FieldsPerRecord = comma, true, -1
	if t, err = read(in); err != nil {
		return tensor.Any{}, nil, err
	}
	return t, in.names, nil
}

// Open is Read of a file.
func Open(path string, opts *Options) (t tensor.Any, names []string, err error) {
	t, err = formats.Read(&format.Source{Path: path}, func(r io.Reader) (a tensor.Any, err error) {
		a, names, err = Read(r, opts)
		return a, err
	})
	return t, names, err
}

// table returns the rows of a text one by one.
type table struct {
	rows    *stdcsv.Reader
	limit   *limited
	header  bool
	names   []string
	columns int
	first   int // the line of the first row
	last    int // the line of the last row that was read
}

// next returns the next row of numbers; io.EOF after the last one.
func (in *table) next() ([]string, error) {
	for {
		in.limit.used = in.rows.InputOffset()
		row, err := in.rows.Read()
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, in.because(err)
		}
		line, _ := in.rows.FieldPos(0)
		in.last = line
		if in.first == 0 {
			in.first, in.columns = line, len(row)
		}
		if len(row) != in.columns {
			return nil, fail(line, 0, ErrFormat, "the row has %d cells, the one of line %d has %d", len(row), in.first, in.columns)
		}
		if in.header && in.names == nil {
			in.names = slices.Clone(row)
			continue
		}
		return row, nil
	}
}

// because makes an Error of the reason for which a row can't be read.
func (in *table) because(err error) error {
	var syntax *stdcsv.ParseError
	var own *Error
	switch {
	case errors.As(err, &own): // from limited
		own.Line = in.last + 1
		return own
	case !errors.As(err, &syntax):
		return fail(0, 0, err, "reading: %v", err)
	case errors.Is(err, stdcsv.ErrBareQuote):
		return fail(syntax.Line, 0, ErrFormat, "byte %d: a quote inside a cell that doesn't begin with one; a quote in quotes is written twice", syntax.Column)
	case errors.Is(err, stdcsv.ErrQuote):
		return fail(syntax.Line, 0, ErrFormat, "byte %d: a quote that isn't closed, or text behind a closing one; a quote in quotes is written twice", syntax.Column)
	}
	return fail(syntax.Line, 0, ErrFormat, "byte %d: %v", syntax.Column, syntax.Err)
}

// limited stops a row that doesn't end. It returns LF for each end of a line: LF,
// CRLF and CR, also in quoted cells.
type limited struct {
	r           io.Reader
	given, used int64 // bytes returned, and the bytes of whole rows among them
	cr          bool  // the last byte read was a CR
}

func (l *limited) Read(b []byte) (int, error) {
	if l.given-l.used > MaxRow {
		return 0, fail(0, 0, format.ErrLimit, "a row of more than %d bytes; is a quote not closed, or is it no table?", MaxRow)
	}
	n, err := l.r.Read(b)
	kept := b[:0] // in place, since no byte becomes two
	for _, c := range b[:n] {
		second := l.cr && c == '\n'
		if l.cr = c == '\r'; l.cr {
			c = '\n'
		}
		if !second {
			kept = append(kept, c)
		}
	}
	l.given += int64(len(kept))
	return len(kept), err
}

// readers read the rows of a table as one element type; byteReader reads more types.
var readers = map[dtype.DType]func(in *table) (tensor.Any, error){
	dtype.Bool:       reader(parseBool),
	dtype.Int8:       reader(parseInt[int8]),
	dtype.Int16:      reader(parseInt[int16]),
	dtype.Int32:      reader(parseInt[int32]),
	dtype.Int64:      reader(parseInt[int64]),
	dtype.Uint8:      reader(parseUint[uint8]),
	dtype.Uint16:     reader(parseUint[uint16]),
	dtype.Uint32:     reader(parseUint[uint32]),
	dtype.Uint64:     reader(parseUint[uint64]),
	dtype.Float16:    reader(narrow(dtype.Float16, num.FromBits[num.F16])),
	dtype.BFloat16:   reader(narrow(dtype.BFloat16, num.FromBits[num.BF16])),
	dtype.Float32:    reader(func(s string) (float32, string) { v, why := parseFloat(s, 32); return float32(v), why }),
	dtype.Float64:    reader(func(s string) (float64, string) { return parseFloat(s, 64) }),
	dtype.Complex64:  reader(func(s string) (complex64, string) { v, why := parseComplex(s, 64); return complex64(v), why }),
	dtype.Complex128: reader(func(s string) (complex128, string) { return parseComplex(s, 128) }),
	dtype.FP8x23:     reader(parseFixed[fixed.FP8x23]),
	dtype.FP16x16:    reader(parseFixed[fixed.FP16x16]),
	dtype.FP32x32:    reader(parseFixed[fixed.FP32x32]),
	dtype.FP64x64:    reader(parseFixed[fixed.FP64x64]),
}

// reader returns a function that reads a table. parse parses one cell, or returns
// the reason of an error.
func reader[T num.Elem](parse func(cell string) (v T, why string)) func(in *table) (tensor.Any, error) {
	return func(in *table) (tensor.Any, error) {
		return gather(in, dtype.Of[T](), parse, func(t *tensor.Any) []T {
			all, _ := reach.MutableOf[T](t)
			return all
		})
	}
}

// byteReader is reader for floats of at most 8 bits and integers of fewer than 8. Each
// element is a byte.
func byteReader(d dtype.DType) func(in *table) (tensor.Any, error) {
	parse := func(cell string) (byte, string) { return parseSmall(d, cell) }
	if d.Format() != 0 {
		parse = narrow(d, func(bits uint16) byte { return byte(bits) })
	}
	return func(in *table) (tensor.Any, error) {
		return gather(in, d, parse, func(t *tensor.Any) []byte {
			b, _ := tensor.Bytes(*t)
			return b
		})
	}
}

// gather reads a table of elements of type d, each as a T. place returns the memory of
// the new tensor t.
func gather[T any](in *table, d dtype.DType, parse func(cell string) (v T, why string), place func(t *tensor.Any) []T) (tensor.Any, error) {
	const piece = 1 << 16
	var pieces [][]T // a single slice would take twice the memory while it grows
	var elems []T
	rows := 0
	for ; ; rows++ {
		row, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return tensor.Any{}, err
		}
		for i, cell := range row {
			cell = strings.TrimSpace(cell)
			v, why := parse(cell)
			if why != "" {
				line, _ := in.rows.FieldPos(i)
				return tensor.Any{}, fail(line, i+1, ErrValue, "%s", describe(cell, why))
			}
			if len(elems) == piece {
				pieces, elems = append(pieces, elems), make([]T, 0, piece)
			}
			elems = append(elems, v)
		}
	}
	t, err := tensor.Make(d, rows, in.columns)
	if err != nil {
		return t, fail(0, 0, err, "%v", err)
	}
	all := place(&t)
	for _, p := range append(pieces, elems) {
		all = all[copy(all, p):]
	}
	runtime.KeepAlive(t)
	return t, nil
}
