package safetensors

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	// PackKey begins the key of the metadata that describes a pack.Tensor; its name follows.
	PackKey = "ashlar.pack:"

	// TypeKey begins the key of the metadata that has the type of fixed point.
	TypeKey = "ashlar.dtype:"
)

// described replaces packed tensors by their storage, and adds the descriptions of packed
// tensors and of fixed point to a copy of the metadata.
func described(names []string, ts []tensor.Any, metadata map[string]string) ([]tensor.Any, map[string]string, error) {
	metadata = maps.Clone(metadata)
	maps.DeleteFunc(metadata, func(key, _ string) bool {
		return strings.HasPrefix(key, PackKey) || strings.HasPrefix(key, TypeKey)
	})
	ts = slices.Clone(ts)
	describe := func(key, text string) {
		if metadata == nil {
			metadata = make(map[string]string)
		}
		metadata[key] = text
	}
	for i, t := range ts {
		p, ok := t.Foreign().(pack.Tensor)
		switch {
		case sixOf(t) != "":
			continue
		case !ok:
			if t.DType().IsFixed() {
				describe(TypeKey+names[i], t.DType().String())
			}
			continue
		}
		text, err := p.MarshalText()
		if err == nil {
			ts[i], err = stored(p)
		}
		if err != nil {
			return nil, nil, fail(-1, names[i], err, "%v", err)
		}
		describe(PackKey+names[i], string(text))
	}
	return ts, metadata, nil
}

// stored returns the contents of a packed tensor's entry: its storage, and behind it the
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
	return tensor.FromSlice(all, len(all)).Any(), nil
}

// readDescribed reads the descriptions of packed tensors and of fixed point. Each must fit
// its entry. If several don't, the error is about the first key.
func (f *File) readDescribed() (err error) {
	var first string
	for key, text := range f.header.metadata {
		if e := f.readDescription(key, text); e != nil && (err == nil || key < first) {
			first, err = key, e
		}
	}
	return err
}

// six describes an entry of six bits as a packed tensor, nil for another one.
func (e *entry) six() (*pack.Spec, error) {
	name, ok := sixes[types[e.typ].name]
	if !ok {
		return nil, nil
	}
	f, err := pack.FormatNamed(name)
	if err != nil {
		return nil, err
	}
	s, err := pack.NewSpec(dtype.Float32, e.shape, &pack.Options{Format: f})
	return &s, err
}

// readSixes makes packed tensors of the entries of six bits.
func (f *File) readSixes() error {
	for i := range f.header.entries {
		e := &f.header.entries[i]
		switch s, err := e.six(); {
		case err != nil:
			return fail(int64(8+e.at), e.name, err, "%v", err)
		case s != nil:
			f.pack(i, s)
		}
	}
	return nil
}

func (f *File) pack(i int, s *pack.Spec) {
	if f.packed == nil {
		f.packed = make(map[int]*pack.Spec)
	}
	f.packed[i] = s
}

func (f *File) readDescription(key, text string) error {
	name, packed := strings.CutPrefix(key, PackKey)
	if !packed {
		var fixed bool
		if name, fixed = strings.CutPrefix(key, TypeKey); !fixed {
			return nil
		}
	}
	const header = 8 // where it begins
	i, ok := f.byName[name]
	if !ok {
		return fail(header, "", format.ErrFormat, "the metadata %.100q describes a tensor that the file doesn't have", key)
	}
	e := &f.header.entries[i]
	var problem string
	if packed {
		problem = f.readPacked(i, e, text)
	} else {
		problem = e.readFixed(text)
	}
	if _, both := f.header.metadata[TypeKey+name]; packed && both {
		problem = "the metadata describes it twice"
	}
	if problem != "" {
		return fail(int64(8+e.at), name, format.ErrFormat, "%s", problem)
	}
	return nil
}

// readPacked reads the description of a packed tensor. It returns the text of an error, or "".
func (f *File) readPacked(i int, e *entry, text string) string {
	s, err := pack.ParseSpec([]byte(text))
	if err != nil {
		return fmt.Sprintf("its description in the metadata: %v", err)
	}
	d, shape := s.DType(), 1
	switch {
	case s.Format() != nil:
		d = dtype.Uint8
	case d == dtype.FP64x64:
		shape = 2
	}
	if want := s.Bytes() + s.ScaleBytes(); e.typ != typeOf(d) || len(e.shape) != shape || e.end-e.begin != want {
		return fmt.Sprintf("its %d bytes of %s aren't the %d of %v that the metadata describes", e.end-e.begin, types[e.typ].name, want, s)
	}
	f.pack(i, &s)
	return ""
}

// readFixed makes an entry of integers one of fixed point. It returns the text of an error,
// or "".
func (e *entry) readFixed(text string) string {
	d, err := dtype.Parse(text)
	switch n := len(e.shape); {
	case err != nil || !d.IsFixed():
		return fmt.Sprintf("the metadata has the type %.100q, which isn't fixed point", text)
	case words[d] != types[e.typ].d:
		return fmt.Sprintf("%s, and not the %v that the metadata describes, whose words are %s", types[e.typ].name, d, types[typeOf(d)].name)
	case d == dtype.FP64x64 && (n == 0 || e.shape[n-1] != 2):
		return fmt.Sprintf("shape %v of fp64x64 doesn't end with the 2 words of a number", e.shape)
	case d == dtype.FP64x64:
		e.shape = e.shape[:n-1]
	}
	e.d = d
	return ""
}
