package gguf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
)

// Limits of a file. A name or a key is text of at most 2^16 bytes.
const (
	MaxKeys    = 1 << 16 // of the metadata
	MaxTensors = 1 << 17
	MaxRank    = 4 // the format's own
	MaxDepth   = 8 // of arrays in arrays

	maxName = 1 << 16
)

const (
	magic     = "GGUF"
	alignment = 32 // the alignment if the metadata has none
	alignKey  = "general.alignment"
)

// Info describes a tensor of a file.
type Info struct {
	Name   string
	Type   string      // the element type as the format names it: "F32", "Q4_K"
	DType  dtype.DType // of the values; dtype.Invalid if no tensor holds them
	Shape  []int       // row-major: the format has the extents in reverse order
	Offset int         // the byte of its file where the elements begin
	Bytes  int         // the size of the elements in the file
	Packed *pack.Spec  // describes the pack.Tensor of blocks; nil: plain elements
}

type entry struct {
	Info
	kind *kind // nil: unknown
	at   int64 // the byte of the description in the file, for errors
}

type key struct {
	name string
	typ  uint32
	at   int // where the value begins
}

// header is the result of parse.
type header struct {
	version uint32
	keys    []key
	byKey   map[string]int
	tensors []entry // in the file's order
}

// A cursor reads numbers and texts from a file.
type cursor struct {
	b   []byte
	pos int
}

func (c *cursor) fail(err error, format string, args ...any) *format.Error {
	return fail(int64(c.pos), "", err, format, args...)
}

// take returns the next n bytes.
func (c *cursor) take(n uint64, what string) ([]byte, *format.Error) {
	if left := uint64(len(c.b) - c.pos); n > left {
		return nil, c.fail(format.ErrShort, "%s of %d bytes, where the file has %d left", what, n, left)
	}
	b := c.b[c.pos:][:n]
	c.pos += int(n)
	return b, nil
}

func (c *cursor) u32(what string) (uint32, *format.Error) {
	b, err := c.take(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) u64(what string) (uint64, *format.Error) {
	b, err := c.take(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// text reads a text of at most most bytes.
func (c *cursor) text(most uint64, what string) (string, *format.Error) {
	at := c.pos
	n, err := c.u64("the length of " + what)
	if err != nil {
		return "", err
	}
	if n > most {
		return "", fail(int64(at), "", format.ErrLimit, "%s of %d bytes; the most accepted is %d", what, n, most)
	}
	b, err := c.take(n, what)
	return string(b), err
}

// parse reads and checks the header of a file.
func parse(file []byte) (*header, *format.Error) {
	c := &cursor{b: file}
	if head, err := c.take(8, "the beginning"); err != nil {
		return nil, err
	} else if !bytes.HasPrefix(head, []byte(magic)) {
		return nil, fail(0, "", format.ErrFormat, "it begins with %q, not %q", head[:4], magic)
	}
	h := &header{version: binary.LittleEndian.Uint32(file[4:]), byKey: map[string]int{}}
	switch swapped := bits.ReverseBytes32(h.version); {
	case h.version == 1:
		return nil, fail(4, "", ErrVersion, "version 1, whose lengths have 32 bits; versions 2 and 3 are read: convert the model again")
	case h.version != 2 && h.version != 3 && swapped <= 3:
		return nil, fail(4, "", ErrVersion, "version %d in big-endian order; little-endian files are read: gguf-py's gguf_convert_endian makes one", swapped)
	case h.version != 2 && h.version != 3:
		return nil, fail(4, "", ErrVersion, "version %d; versions 2 and 3 are read", h.version)
	}
	tensors, err := h.count(c, "tensors", MaxTensors, 24)
	if err != nil {
		return nil, err
	}
	keys, err := h.count(c, "keys of metadata", MaxKeys, 13)
	if err != nil {
		return nil, err
	}
	for range keys {
		if err := h.readKey(c); err != nil {
			return nil, err
		}
	}
	align, err := h.alignment(c)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for range tensors {
		e, err := readTensor(c, align)
		if err == nil && seen[e.Name] {
			err = fail(e.at, "", format.ErrFormat, "the tensor a second time")
		}
		if err != nil {
			err.Name = cmp.Or(err.Name, e.Name)
			return nil, err
		}
		seen[e.Name] = true
		h.tensors = append(h.tensors, e)
	}
	start := (int64(c.pos) + int64(align) - 1) / int64(align) * int64(align)
	return h, h.place(len(file), int(min(start, int64(len(file)))))
}

// count reads a number of items, at most most, each of which takes at least least bytes.
func (h *header) count(c *cursor, what string, most, least uint64) (uint64, *format.Error) {
	at := c.pos
	n, err := c.u64("the number of " + what)
	switch {
	case err != nil:
		return 0, err
	case n > most:
		return 0, fail(int64(at), "", format.ErrLimit, "%d %s; the most accepted is %d", n, what, most)
	case n > uint64(len(c.b))/least:
		return 0, fail(int64(at), "", format.ErrShort, "%d %s in a file of %d bytes", n, what, len(c.b))
	}
	return n, nil
}

// readKey reads a key and passes its value.
func (h *header) readKey(c *cursor) *format.Error {
	at := c.pos
	name, err := c.text(maxName, "a key")
	if err != nil {
		return err
	}
	k := key{name: name}
	if k.typ, err = c.u32("a type"); err == nil {
		k.at = c.pos
		if err = c.skip(k.typ, 0); err == nil {
			if _, twice := h.byKey[name]; twice {
				err = fail(int64(at), "", format.ErrFormat, "the key a second time")
			}
		}
	}
	if err != nil {
		err.Name = name
		return err
	}
	h.byKey[name] = len(h.keys)
	h.keys = append(h.keys, k)
	return nil
}

// alignment returns the alignment, of which the offsets of tensors are multiples.
func (h *header) alignment(c *cursor) (int, *format.Error) {
	i, ok := h.byKey[alignKey]
	if !ok {
		return alignment, nil
	}
	k := h.keys[i]
	if k.typ == typeUint32 {
		n := binary.LittleEndian.Uint32(c.b[k.at:])
		if !aligns(n) {
			return 0, fail(int64(k.at), alignKey, format.ErrFormat, "%d; want a multiple of 8 from 8 to 2^30", n)
		}
		return int(n), nil
	}
	return 0, fail(int64(k.at), alignKey, format.ErrFormat, "want a uint32, a multiple of 8 from 8 to 2^30")
}

// aligns reports whether the format takes n as the alignment: see general.alignment in ggml's docs/gguf.md.
func aligns(n uint32) bool { return n != 0 && n%8 == 0 && n <= 1<<30 }

// readTensor reads the description of a tensor. Its Offset still counts from the end of the header.
func readTensor(c *cursor, align int) (e entry, err *format.Error) {
	e.at = int64(c.pos)
	if e.Name, err = c.text(maxName, "a name"); err != nil {
		return e, err
	}
	rank, err := c.u32("a number of axes")
	if err != nil {
		return e, err
	}
	if rank > MaxRank {
		return e, c.fail(format.ErrLimit, "%d axes; the format has at most %d", rank, MaxRank)
	}
	e.Shape = make([]int, rank)
	for i := range e.Shape {
		n, err := c.u64("an extent")
		if err != nil {
			return e, err
		}
		if n > math.MaxInt {
			return e, c.fail(format.ErrFormat, "an extent of %d", n)
		}
		e.Shape[int(rank)-1-i] = int(n)
	}
	code, err := c.u32("a type")
	if err != nil {
		return e, err
	}
	off, err := c.u64("an offset")
	if err != nil {
		return e, err
	}
	if off%uint64(align) != 0 || off > math.MaxInt {
		return e, fail(e.at, "", format.ErrFormat, "its elements begin at %d, which is no multiple of %d", off, align)
	}
	e.Offset = int(off)
	return e, e.sized(code)
}

// sized sets the type and the bytes.
func (e *entry) sized(code uint32) *format.Error {
	if e.kind = kindOf(code); e.kind == nil {
		e.Type = fmt.Sprintf("type %d", code)
		return nil // place sets Bytes to the bytes up to the next tensor
	}
	k := e.kind
	e.Type, e.DType = k.name, k.d
	row := 1
	if n := len(e.Shape); n > 0 {
		row = e.Shape[n-1]
	}
	if row%k.block != 0 {
		return fail(e.at, "", format.ErrFormat, "rows of %d elements of %s, whose blocks have %d", row, k.name, k.block)
	}
	lay, err := layout.RowMajor(e.Shape...)        // also refuses an empty shape whose other extents are too large
	if err != nil || lay.Size() > math.MaxInt/16 { // then the size of the values fits an int, too
		return fail(e.at, "", format.ErrFormat, "shape %v is larger than any memory", e.Shape)
	}
	e.Bytes = lay.Size() / k.block * k.size
	return nil
}

// info completes the description.
func (e *entry) info() (Info, error) {
	i := e.Info
	i.Shape = slices.Clone(i.Shape)
	if e.kind == nil || e.kind.format == nil {
		return i, nil
	}
	s, err := pack.NewSpec(i.DType, i.Shape, &pack.Options{Format: e.kind.format})
	if err != nil {
		return i, fail(e.at, e.Name, err, "%v", err)
	}
	i.Packed = &s
	return i, nil
}

// place makes offsets count from the beginning of the file; the elements begin at start. It checks that tensors lie in the file
// and don't overlap.
func (h *header) place(size, start int) *format.Error {
	order := make([]*entry, len(h.tensors))
	for i := range order {
		order[i] = &h.tensors[i]
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Bytes, b.Bytes)) })
	for i, e := range order {
		room := max(size-start, 0)
		if i+1 < len(order) {
			room = min(room, order[i+1].Offset)
		}
		switch {
		case e.kind == nil && e.Offset <= max(size-start, 0):
			e.Bytes = max(room-e.Offset, 0)
		case e.Offset <= room && e.Bytes <= room-e.Offset:
		case e.Bytes == 0 && e.Offset <= max(size-start, 0):
		case i+1 < len(order) && room == order[i+1].Offset:
			return fail(e.at, e.Name, format.ErrFormat, "its %d bytes from %d on reach into those of %.100q, from %d on", e.Bytes, e.Offset, order[i+1].Name, room)
		default:
			return fail(e.at, e.Name, format.ErrShort, "its %d bytes from %d on, where the file has %d of elements", e.Bytes, e.Offset, room)
		}
	}
	for _, e := range order {
		e.Offset = min(e.Offset+start, size) // a file may end before the padding in front of no elements
	}
	return nil
}
