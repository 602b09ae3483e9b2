package safetensors

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Write writes ts[i] under names[i]. The tensors have the order of the reference
// implementation: the types with the largest alignment first (U64, I64, F64, C64,
// F32, U32, …), names ascending within a type. So each tensor is aligned. The header
// is padded with spaces to a multiple of 8. metadata is free text by key, written with
// its keys ascending; nil leaves it out. The same input gives the same bytes, in any
// order of names.
//
// A pack.Tensor is written as its storage, of rank 1, and fixed point as integers. The
// metadata describes both; see the package comment. A pack.Tensor of six bits is an F6.
// Keys of metadata that would describe other tensors so are left out.
//
// Other elements are written row-major for every layout; a tensor that isn't contiguous
// is gathered in pieces of about a MiB. Write fails for a type that the format doesn't
// have, a name or text that isn't UTF-8, a name twice, a rank over MaxRank, a tensor
// without elements of its own, and with w's error.
func Write(w io.Writer, names []string, ts []tensor.Any, metadata map[string]string) error {
	if len(names) != len(ts) {
		return fail(-1, "", format.ErrName, "%d names for %d tensors", len(names), len(ts))
	}
	if w == nil || slices.ContainsFunc(ts, tensor.Any.IsZero) {
		return fail(-1, "", format.ErrType, "the writer is nil or a tensor the zero value")
	}
	ts, metadata, err := described(names, ts, metadata)
	if err != nil {
		return err
	}
	if len(metadata) > MaxMetadata {
		return fail(-1, "", format.ErrLimit, "metadata of %d keys; the most is %d, those of packed tensors and fixed point among them", len(metadata), MaxMetadata)
	}
	order := make([]int, len(names))
	for i, name := range names {
		order[i] = i
		switch {
		case typeIn(ts[i]) < 0:
			return fail(-1, name, format.ErrType, "%v has no name in the format; convert the tensor first", ts[i].DType())
		case len(shapeOf(ts[i])) > MaxRank:
			return fail(-1, name, format.ErrLimit, "rank %d; the largest is %d: reshape the tensor", len(shapeOf(ts[i])), MaxRank)
		case name == metadataKey:
			return fail(-1, name, format.ErrName, "the format keeps that name for its metadata")
		case !utf8.ValidString(name):
			return fail(-1, name, format.ErrName, "a name must be UTF-8")
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(typeIn(ts[j]), typeIn(ts[i])), cmp.Compare(names[i], names[j]))
	})
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return fail(-1, name, format.ErrName, "the name is given twice")
		}
		seen[name] = true
	}
	text, err := headerText(order, names, ts, metadata)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := out.Write(text); err != nil {
		return fail(0, "", err, "writing the header: %v", err)
	}
	for _, i := range order {
		var err error
		if e := tensor.Try(func() { err = encode(out, ts[i]) }); e != nil {
			err = e // the tensor is closed, or the zero value
		}
		if err != nil {
			return fail(-1, names[i], err, "writing %s: %v", tensor.Describe(ts[i]), err)
		}
	}
	if err := out.Flush(); err != nil {
		return fail(-1, "", err, "writing: %v", err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears, or replaces an earlier one, when it is
// whole; after an error the earlier file is unchanged.
func WriteFile(path string, names []string, ts []tensor.Any, metadata map[string]string) error {
	return formats.PutFile(path, func(w io.Writer) error { return Write(w, names, ts, metadata) })
}

// encode writes the elements of a tensor in row-major order, packed if they are smaller
// than a byte.
func encode(w io.Writer, t tensor.Any) error {
	if p, ok := t.Foreign().(pack.Tensor); ok { // of six bits
		data, err := p.Data()
		if err != nil {
			return err
		}
		t = data
	}
	if t.DType().Bits() >= 8 {
		return tensor.Encode(w, t)
	}
	t, err := tensor.Contiguous(t)
	if err != nil {
		return err
	}
	b, _ := tensor.Bytes(t)
	file := make([]byte, t.DType().Packed(len(b)))
	t.DType().Pack(file, b)
	runtime.KeepAlive(t)
	_, err = w.Write(file)
	return err
}

// shapeOf returns the shape of a tensor's entry: a number of fp64x64 is two words.
func shapeOf(t tensor.Any) []int {
	if t.DType() == dtype.FP64x64 {
		return append(t.Shape(), 2)
	}
	return t.Shape()
}

// headerText returns all bytes before the elements.
func headerText(order []int, names []string, ts []tensor.Any, metadata map[string]string) ([]byte, error) {
	b := append(make([]byte, 8), '{')
	if metadata != nil {
		b = append(appendString(b, metadataKey), ":{"...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(key) || !utf8.ValidString(metadata[key]) {
				return nil, fail(-1, "", format.ErrName, "the metadata %.100q is not UTF-8", key)
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			b = appendString(b, metadata[key])
		}
		b = append(b, '}')
	}
	at := 0
	for k, i := range order {
		if k > 0 || metadata != nil {
			b = append(b, ',')
		}
		typ := types[typeIn(ts[i])]
		b = append(appendString(b, names[i]), `:{"dtype":"`+typ.name+`","shape":[`...)
		shape := shapeOf(ts[i])
		for axis, extent := range shape {
			if axis > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(extent), 10)
		}
		bits, ok := size(shape, typ.bits)
		if bits%8 != 0 {
			return nil, fail(-1, names[i], format.ErrFormat, "shape %v of %s is no whole number of bytes, which the format wants; pad the tensor", shape, typ.name)
		}
		if !ok || at > int(^uint(0)>>1)-bits/8 {
			return nil, fail(-1, names[i], format.ErrLimit, "the file would be larger than the address space")
		}
		b = append(b, `],"data_offsets":[`...)
		b = append(strconv.AppendInt(b, int64(at), 10), ',')
		at += bits / 8
		b = append(strconv.AppendInt(b, int64(at), 10), "]}"...)
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	n := len(b) - 8
	if n > MaxHeader {
		return nil, fail(-1, "", format.ErrLimit, "the header has %d bytes, the most is %d", n, MaxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b, nil
}

// appendString writes s as JSON. It escapes only the characters that must be escaped.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if e := strings.IndexByte("\"\\\b\f\n\r\t", c); e >= 0 {
			b = append(b, '\\', `"\bfnrt`[e])
		} else if c < ' ' {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}
