package safetensors

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// PackKey begins the key of the metadata that describes a pack.Tensor; its name follows.
const PackKey = "ashlar.pack:"

// described puts the storage of packed tensors in their place, and their descriptions
// into a copy of the metadata.
func described(names []string, ts []tensor.Any, metadata map[string]string) ([]tensor.Any, map[string]string, error) {
	metadata = maps.Clone(metadata)
	maps.DeleteFunc(metadata, func(key, _ string) bool { return strings.HasPrefix(key, PackKey) })
	ts = slices.Clone(ts)
	for i, t := range ts {
		p, ok := t.(pack.Tensor)
		if !ok {
			continue
		}
		text, err := p.MarshalText()
		if err == nil {
			ts[i], err = stored(p)
		}
		if err != nil {
			return nil, nil, fail(-1, names[i], err, "%v", err)
		}
		if metadata == nil {
			metadata = make(map[string]string)
		}
		metadata[PackKey+names[i]] = string(text)
	}
	return ts, metadata, nil
}

// stored returns what an entry holds of a packed tensor: its storage, and behind it the
// scales if there are any.
func stored(p pack.Tensor) (tensor.Any, error) {
	data, err := p.Data()
	if err != nil || p.ScaleBytes() == 0 {
		return data, err
	}
	b, _ := tensor.Bytes(data)
	all := make([]byte, 0, len(b)+p.ScaleBytes())
	all = p.AppendScales(append(all, b...))
	runtime.KeepAlive(data)
	return tensor.FromSlice(all, len(all)), nil
}

// readPacked reads the descriptions of packed tensors, each of which must fit its
// entry.
func (f *File) readPacked() error {
	for key, text := range f.header.metadata {
		name, ok := strings.CutPrefix(key, PackKey)
		if !ok {
			continue
		}
		const header = 8 // where it begins
		i, ok := f.byName[name]
		if !ok {
			return fail(header, "", ErrFormat, "the metadata %.100q describes a tensor that the file doesn't have", key)
		}
		e := f.header.entries[i]
		s, err := pack.ParseSpec([]byte(text))
		if err != nil {
			return fail(int64(8+e.at), name, ErrFormat, "its description in the metadata: %v", err)
		}
		d := s.DType()
		if s.Format() != nil {
			d = dtype.Uint8
		}
		if want := s.Bytes() + s.ScaleBytes(); types[e.typ].d != d || len(e.shape) != 1 || e.end-e.begin != want {
			return fail(int64(8+e.at), name, ErrFormat, "its %d bytes of %s aren't the %d of %v that the metadata describes", e.end-e.begin, types[e.typ].name, want, s)
		}
		if f.packed == nil {
			f.packed = make(map[int]*pack.Spec)
		}
		f.packed[i] = &s
	}
	return nil
}
