package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/pack"
)

const (
	// MaxHeader is the longest header accepted, in bytes, the same as the
	// reference implementation's.
	MaxHeader = 100_000_000

	// MaxRank is the largest rank accepted, the same as PyTorch's.
	MaxRank = 64

	// MaxMetadata is the largest number of keys that metadata may have. A key and
	// its value are text of any length. The shortest take far more memory in a map
	// than bytes in a file.
	MaxMetadata = 1 << 18

	metadataKey = "__metadata__"
)

// Info describes a tensor of a file.
type Info struct {
	Name   string
	Type   string      // the element type as the file names it: "F32", and "I32" of fp16x16
	DType  dtype.DType // the type of the result of Tensor; dtype.Invalid if Tensor refuses it
	Shape  []int
	Offset int // the byte of the file where the elements begin
	Bytes  int // their size

	// Packed describes the result of Tensor if it is a pack.Tensor, else it is nil.
	// The scales of integers are among the elements; Info doesn't read them.
	Packed *pack.Spec
}

// entry is a tensor of the header; its bytes count from the end of the header.
type entry struct {
	name       string
	shape      []int
	begin, end int
	at         int         // in the header's text, for errors
	typ        int         // index in types
	d          dtype.DType // the type of the result of Tensor
}

// header is the result of parse.
type header struct {
	entries  []entry // by offset
	metadata map[string]string
	start    int // the byte of the file where the elements begin
}

// parse reads and checks the header of a file.
func parse(file []byte) (*header, *format.Error) {
	n, bad := headerBytes(file, len(file))
	if bad != nil {
		return nil, bad
	}
	return parseSized(file[:before+n], len(file))
}

const before = 8 // bytes of the header's length

// headerBytes reads the length of the header of a file of size bytes.
func headerBytes(head []byte, size int) (int, *format.Error) {
	if size < before {
		return 0, fail(int64(size), "", format.ErrShort, "the file has %d bytes, less than the 8 of a header's length", size)
	}
	n := binary.LittleEndian.Uint64(head)
	switch {
	case n > MaxHeader:
		return 0, fail(0, "", format.ErrLimit, "a header of %d bytes; the most accepted is %d; it isn't a safetensors file, or is damaged", n, MaxHeader)
	case n > uint64(size-before):
		return 0, fail(0, "", format.ErrShort, "a header of %d bytes in a file that has %d after the length", n, size-before)
	}
	return int(n), nil
}

// parseSized reads the header of a file of size bytes; file is the bytes up to the elements.
func parseSized(file []byte, size int) (*header, *format.Error) {
	h := &header{start: len(file)}
	s := &scanner{what: "header", text: file[before:h.start], base: before}
	if len(s.text) == 0 || s.text[0] != '{' {
		return nil, s.fail(0, format.ErrFormat, "%s where { must begin it", s.found())
	}
	if err := h.read(s); err != nil {
		return nil, err
	}
	return h, h.cover(s, size-h.start)
}

// read takes the JSON into entries, in the header's order.
func (h *header) read(s *scanner) *format.Error {
	const least = 48 // bytes of the shortest entry
	h.entries = make([]entry, 0, len(s.text)/least)
	err := s.object("the header", func(at int, name []byte) *format.Error {
		if string(name) == metadataKey {
			if h.metadata != nil {
				return s.fail(at, format.ErrFormat, "the key %q a second time", name)
			}
			return h.readMetadata(s)
		}
		e := entry{name: string(name), at: at}
		if err := e.read(s); err != nil {
			err.Name = e.name
			return err
		}
		h.entries = append(h.entries, e)
		return nil
	})
	if err != nil {
		return err
	}
	if s.space(); s.pos < len(s.text) {
		return s.fail(s.pos, format.ErrFormat, "%s after its end", s.found())
	}
	// Sorted, equal names are neighbours; that needs no second copy of the names.
	byName := make([]int32, len(h.entries))
	for i := range byName {
		byName[i] = int32(i)
	}
	slices.SortStableFunc(byName, func(a, b int32) int { return cmp.Compare(h.entries[a].name, h.entries[b].name) })
	for i := 1; i < len(byName); i++ {
		if e := h.entries[byName[i]]; e.name == h.entries[byName[i-1]].name {
			return s.fail(e.at, format.ErrFormat, "the key %.100q a second time", e.name)
		}
	}
	return nil
}

func (h *header) readMetadata(s *scanner) *format.Error {
	// Growing a map step by step leaves several times its size behind.
	rest := s.text[s.pos:]
	h.metadata = make(map[string]string, min(bytes.Count(rest, []byte(`":"`)), len(rest)/10, MaxMetadata))
	return s.object(metadataKey, func(at int, key []byte) *format.Error {
		if _, twice := h.metadata[string(key)]; twice {
			return s.fail(at, format.ErrFormat, "%s: the key %.100q a second time", metadataKey, key)
		}
		if len(h.metadata) == MaxMetadata {
			return s.fail(at, format.ErrLimit, "%s: more than %d keys", metadataKey, MaxMetadata)
		}
		v, err := s.str("a value of ", metadataKey)
		h.metadata[string(key)] = string(v)
		return err
	})
}

// read takes the description of one tensor and checks shape, type and offsets
// against each other.
func (e *entry) read(s *scanner) *format.Error {
	var seen struct{ dtype, shape, offsets bool }
	err := s.object("a tensor", func(at int, key []byte) *format.Error {
		var again *bool
		switch string(key) {
		case "dtype":
			again = &seen.dtype
		case "shape":
			again = &seen.shape
		case "data_offsets":
			again = &seen.offsets
		default:
			return s.fail(at, format.ErrFormat, "the key %.100q; a tensor has dtype, shape and data_offsets", key)
		}
		if *again {
			return s.fail(at, format.ErrFormat, "the key %q a second time", key)
		}
		*again = true
		switch string(key) {
		case "dtype":
			return e.readType(s)
		case "shape":
			return e.readShape(s)
		}
		return e.readOffsets(s)
	})
	if err != nil {
		return err
	}
	if !seen.dtype || !seen.shape || !seen.offsets {
		return s.fail(e.at, format.ErrFormat, "one of dtype, shape and data_offsets is missing")
	}
	want, ok := size(e.shape, types[e.typ].bits)
	if !ok {
		return s.fail(e.at, format.ErrLimit, "shape %v of %s is larger than the address space", e.shape, types[e.typ].name)
	}
	if want%8 != 0 {
		return s.fail(e.at, format.ErrFormat, "shape %v of %s is no whole number of bytes", e.shape, types[e.typ].name)
	}
	if e.end-e.begin != want/8 {
		return s.fail(e.at, format.ErrFormat, "shape %v of %s wants %d bytes, data_offsets [%d,%d] are %d", e.shape, types[e.typ].name, want/8, e.begin, e.end, e.end-e.begin)
	}
	return nil
}

func (e *entry) readType(s *scanner) *format.Error {
	at := s.pos
	name, err := s.str("", "dtype")
	if err != nil {
		return err
	}
	if e.typ = typeNamed(string(name)); e.typ < 0 {
		return s.fail(at, format.ErrType, "dtype %.100q is none of the format's", name)
	}
	e.d = types[e.typ].d
	return nil
}

func (e *entry) readShape(s *scanner) *format.Error {
	var few [MaxRank]int
	n := 0
	err := s.numbers("shape", func(at, extent int) *format.Error {
		if n == MaxRank {
			return s.fail(at, format.ErrLimit, "a rank over %d", MaxRank)
		}
		few[n] = extent
		n++
		return nil
	})
	e.shape = slices.Clone(few[:n])
	return err
}

func (e *entry) readOffsets(s *scanner) *format.Error {
	var two [2]int
	n, open := 0, s.pos
	err := s.numbers("data_offsets", func(at, v int) *format.Error {
		if n == len(two) {
			return s.fail(at, format.ErrFormat, "a third number in data_offsets, which are [begin, end]")
		}
		two[n] = v
		n++
		return nil
	})
	switch e.begin, e.end = two[0], two[1]; {
	case err != nil:
		return err
	case n < len(two):
		return s.fail(open, format.ErrFormat, "%d numbers in data_offsets, which are [begin, end]", n)
	case e.begin > e.end:
		return s.fail(open, format.ErrFormat, "data_offsets [%d,%d] end before they begin", e.begin, e.end)
	}
	return nil
}

// size returns the bits of a shape. ok is false if the product of its extents
// other than 0 overflows an int: strides of an empty shape may not overflow either.
func size(shape []int, each int) (int, bool) {
	n, empty := uint(each), false
	for _, e := range shape {
		empty = empty || e == 0
		hi, lo := bits.Mul(n, uint(max(e, 1)))
		if hi != 0 || lo > 1<<(strconv.IntSize-1)-1 {
			return 0, false
		}
		n = lo
	}
	if empty {
		return 0, true
	}
	return int(n), true
}

// cover sorts the entries by their offsets and checks that they fill the n bytes
// after the header, each byte once.
func (h *header) cover(s *scanner, n int) *format.Error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	end, last := 0, ""
	for _, e := range h.entries {
		var err *format.Error
		switch {
		case e.end > n:
			err = s.fail(e.at, format.ErrShort, "data_offsets [%d,%d] lie beyond the %d bytes after the header", e.begin, e.end, n)
		case e.begin < end:
			err = s.fail(e.at, format.ErrFormat, "data_offsets [%d,%d] overlap those of %.100q, which end at %d", e.begin, e.end, last, end)
		case e.begin > end:
			err = s.fail(e.at, format.ErrFormat, "data_offsets [%d,%d] leave a hole from %d", e.begin, e.end, end)
		}
		if err != nil {
			err.Name = e.name
			return err
		}
		end, last = e.end, e.name
	}
	if end != n {
		return s.fail(0, format.ErrFormat, "the tensors end at byte %d of the %d after the header", end, n)
	}
	return nil
}
