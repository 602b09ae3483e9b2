package zarr

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// variable is the type of strings of variable length. No tensor has them; their DType is one that isn't used.
const variable = "string"

func (m *Metadata) varies() bool { return m.Type == variable }

func noTensor() error {
	return fail(format.ErrType, "strings of variable length, which no tensor holds; Array.Strings reads them")
}

// Strings returns the elements of an array of strings or times as text, and their shape. idx selects a part, as [tensor.Slice] does. For
// other arrays list is nil.
func (a *Array) Strings(ctx context.Context, idx ...tensor.Index) (list []string, shape []int, err error) {
	if a.meta.varies() {
		if err = needContext(ctx); err == nil {
			list, shape, err = a.texts(ctx, idx)
		}
		return list, shape, at(a.path, err)
	}
	if !a.text() && !timeName.MatchString(a.meta.Type) {
		return nil, nil, nil
	}
	if a.text() && len(idx) > 0 { // the characters are a last axis, also behind an ellipsis
		if idx = slices.Clone(idx); !slices.Contains(idx, tensor.Ellipsis) {
			idx = append(idx, tensor.Ellipsis)
		}
		idx = append(idx, tensor.Colon)
	}
	t, err := a.Index(ctx, idx...)
	if err != nil {
		return nil, nil, err
	}
	if shape = t.Shape(); a.text() {
		shape = shape[:len(shape)-1]
	}
	list, _ = a.Text(t)
	return append([]string{}, list...), shape, nil
}

// texts is Strings for strings of variable length. It reads each chunk that it needs once, and keeps one at a time.
func (a *Array) texts(ctx context.Context, idx []tensor.Index) ([]string, []int, error) {
	m := &a.meta
	whole, err := layout.RowMajor(m.Shape...)
	if err != nil {
		return nil, nil, fail(err, "shape %v: %v", m.Shape, err)
	}
	part, first, err := whole.Slice(idx...)
	if err != nil {
		return nil, nil, tensor.Wrap("tensor.Slice", err)
	}
	shape := part.Shape()
	most := a.pipe.limit
	n, err := bytesOf(dtype.Complex128, shape) // a string takes 16 bytes
	if err == nil && n > most {
		err = fail(format.ErrLimit, "%d strings; the most accepted are %d, which the option MaxBytes sets", n/16, most/16)
	}
	inner, err2 := a.pipe.layout()
	if err = errors.Join(err, err2); err != nil {
		return nil, nil, err
	}
	type place struct{ to, from int } // in the list, and in the chunk
	places := map[string][]place{}
	for i := range part.Size() {
		off := first
		for axis, left := len(shape)-1, i; axis >= 0; axis-- {
			stride, _ := part.Stride(axis)
			off += left % shape[axis] * stride
			left /= shape[axis]
		}
		index, from := make([]int, len(m.Shape)), 0
		for axis := len(m.Shape) - 1; axis >= 0; axis-- {
			k := off % m.Shape[axis]
			off /= m.Shape[axis]
			stride, _ := inner.Stride(axis)
			index[axis] = k / m.Chunks[axis]
			from += k % m.Chunks[axis] * stride
		}
		key := a.ChunkKey(index...)
		places[key] = append(places[key], place{i, from})
	}
	list, left := make([]string, part.Size()), most
	for _, key := range slices.Sorted(maps.Keys(places)) {
		chunk, err := a.chunkTexts(ctx, key)
		if err != nil {
			return nil, nil, at(key, err)
		}
		for _, p := range places[key] {
			if chunk == nil {
				list[p.to] = m.absent
				continue
			}
			list[p.to] = chunk[p.from]
			if left -= len(chunk[p.from]); left < 0 {
				return nil, nil, fail(format.ErrLimit, "strings of more than %d bytes, which the option MaxBytes sets", most)
			}
		}
	}
	return list, shape, ended(ctx)
}

// chunkTexts reads a chunk of strings of variable length; nil if it is absent.
func (a *Array) chunkTexts(ctx context.Context, key string) ([]string, error) {
	b, err := a.store.Get(ctx, key, int64(a.pipe.most))
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.set.Whole:
		return nil, a.absent(tensor.Any{})
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil:
		b, err = a.pipe.decode(nil, b)
	}
	if err != nil {
		return nil, err
	}
	return splitTexts(b, a.pipe.n)
}

// splitTexts takes n strings apart: their number, then the length of each before its bytes, in 32 bits, the lowest first. Source:
// numcodecs.readthedocs.io, VLenUTF8.
func splitTexts(b []byte, n int) ([]string, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) != uint64(n) || (len(b)-4)/4 < n {
		return nil, fail(ErrFormat, "vlen-utf8: %d bytes that begin with %x; the chunk has %d strings", len(b), b[:min(4, len(b))], n)
	}
	list := make([]string, 0, n)
	for b = b[4:]; len(list) < n; {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, fail(ErrFormat, "vlen-utf8: the string %d of %d ends beyond the chunk", len(list), n)
		}
		size := int(binary.LittleEndian.Uint32(b))
		if !utf8.Valid(b[4 : 4+size]) {
			return nil, fail(ErrFormat, "vlen-utf8: the string %d isn't UTF-8: %.50q", len(list), b[4:4+size])
		}
		list, b = append(list, string(b[4:4+size])), b[4+size:]
	}
	if len(b) > 0 {
		return nil, fail(ErrFormat, "vlen-utf8: %d bytes follow the %d strings", len(b), n)
	}
	return list, nil
}

// fillString reads the fill value of strings of variable length. In version 2 it may be null or 0, which stand for the empty string.
func fillString(raw json.RawMessage, version int) (text string, err error) {
	if version == 2 && (len(raw) == 0 || string(raw) == "null" || string(raw) == "0") {
		return "", nil
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", fail(ErrFormat, "fill_value %.100s is no string", raw)
	}
	return text, nil
}

// objects2 replaces the first filter of objects of version 2, which makes bytes of them, by a codec.
func objects2(filters []map[string]any) ([]map[string]any, error) {
	if len(filters) == 0 {
		return nil, fail(format.ErrType, `dtype "|O": objects of no filter; texts of the filter vlen-utf8 are read`)
	}
	if id, _ := filters[0]["id"].(string); id != "vlen-utf8" {
		return nil, fail(format.ErrType, `dtype "|O": objects of the filter %s; texts of the filter vlen-utf8 are read`, shown(filters[0]["id"]))
	}
	return filters[1:], nil
}
