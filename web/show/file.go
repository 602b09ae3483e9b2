// Package show reads files of tensors and models for the page: names, types, parts
// of the elements, and runs of a model on a picture. It reads a file by parts, so that one of
// any size opens at once.
package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	maxPart  = 32 << 20 // bytes of a tensor that are read at a time
	maxWhole = 1 << 30  // bytes of what is read whole: a model, an array of an npz file
	maxList  = 2000     // tensors that are listed
)

// A File is an open file.
type File struct {
	r       io.ReaderAt
	size    int64
	entries map[string]*entry
	order   []string
	zip     *npy.Zip
	model   *onnx.Model
	name    string
}

// An entry is a tensor in the file. It has a load, which reads a part, or a place in the file.
type entry struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Shape  []int  `json:"shape"`
	Bytes  int    `json:"bytes"`
	Layout string `json:"layout,omitempty"`
	Chunks string `json:"chunks,omitempty"` // how a Zarr array is cut and compressed

	d       dtype.DType
	lay     layout.Layout
	at      int64
	swapped bool
	load    func(...tensor.Index) (tensor.Any, error)
}

// A Listing says what is in a file.
type Listing struct {
	Kind    string   `json:"kind"` // npy, npz, zarr, safetensors or onnx
	Tensors []*entry `json:"tensors"`
	More    int      `json:"more,omitempty"` // tensors that aren't listed
	Notes   []string `json:"notes,omitempty"`
	Graph   string   `json:"graph,omitempty"` // SVG
}

// Open reads what a file says about itself, told apart by its first bytes.
func Open(name string, r io.ReaderAt, size int64) (*File, *Listing, error) {
	f := &File{r: r, size: size, entries: map[string]*entry{}, name: name}
	head := make([]byte, min(16, size))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	l := &Listing{}
	var err error
	var store zarr.Store
	if bytes.HasPrefix(head, []byte("PK")) {
		store = zipped(r, size)
	}
	switch {
	case store != nil:
		l.Kind, err = "zarr", f.hierarchy(store)
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		l.Kind, err = "npy", f.array()
	case bytes.HasPrefix(head, []byte("PK")):
		l.Kind, err = "npz", f.archive()
	case len(head) > 8 && head[8] == '{' && head[7] == 0 && head[6] == 0:
		l.Kind, err = "safetensors", f.weights(l)
	default:
		l.Kind, err = "onnx", f.graph(l)
	}
	return f.listed(l, err)
}

// listed ends the opening of a file, which err may have kept.
func (f *File) listed(l *Listing, err error) (*File, *Listing, error) {
	if err != nil {
		return nil, nil, err
	}
	for _, n := range f.order[:min(len(f.order), maxList)] {
		l.Tensors = append(l.Tensors, f.entries[n])
	}
	l.More = max(len(f.order)-maxList, 0)
	return f, l, nil
}

func (f *File) add(e *entry) {
	if _, ok := f.entries[e.Name]; !ok {
		f.order = append(f.order, e.Name)
	}
	f.entries[e.Name] = e
}

func (f *File) array() error {
	h, err := npy.ReadHeader(io.NewSectionReader(f.r, 0, f.size))
	if err != nil {
		return err
	}
	lay, err := h.Layout()
	if err != nil {
		return err
	}
	if int64(h.Offset)+int64(h.Bytes()) > f.size {
		return fmt.Errorf("the header promises %d bytes of elements, the file has %d after it", h.Bytes(), f.size-int64(h.Offset))
	}
	f.add(&entry{Name: "array", Type: h.DType.String(), Shape: h.Shape, Bytes: h.Bytes(), Layout: lay.String(), d: h.DType, lay: lay, at: int64(h.Offset), swapped: h.BigEndian})
	return nil
}

func (f *File) archive() (err error) {
	if f.zip, err = npy.NewZip(f.r, f.size, npy.MaxBytes(maxWhole)); err != nil {
		return err
	}
	for _, name := range f.zip.Names() {
		h, err := f.zip.Header(name)
		e := &entry{Name: name, Type: h.DType.String(), Shape: h.Shape, Bytes: h.Bytes(), d: h.DType}
		if err != nil {
			e.Type = err.Error()
		} else if lay, err := h.Layout(); err == nil {
			e.Layout = lay.String()
		}
		e.load = whole(e, func() (tensor.Any, error) { return f.zip.Tensor(name) })
		f.add(e)
	}
	return nil
}

func (f *File) weights(l *Listing) error {
	list, metadata, err := safetensors.ReadHeader(f.r, f.size)
	if err != nil {
		return err
	}
	for _, x := range list {
		lay, err := layout.RowMajor(x.Shape...)
		if err != nil {
			return err
		}
		f.add(&entry{Name: x.Name, Type: x.Type, Shape: x.Shape, Bytes: x.Bytes, Layout: lay.String(), d: x.DType, lay: lay, at: int64(x.Offset)})
	}
	for k, v := range metadata {
		l.Notes = append(l.Notes, clip(k+": "+v))
	}
	return nil
}

func (f *File) graph(l *Listing) error {
	if f.size > maxWhole {
		return fmt.Errorf("a model of %d bytes; up to %d are read, as all of it must be in memory", f.size, maxWhole)
	}
	b := make([]byte, f.size)
	if _, err := f.r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	m, err := onnx.Decode(b)
	if err != nil {
		return fmt.Errorf("this is no npy, npz or safetensors file, and as an ONNX model: %w", err)
	}
	if m.Graph == nil {
		return errors.New("the file has no graph: it is no ONNX model, and none of npy, npz and safetensors")
	}
	f.model = m
	for i := range m.Graph.Initializers {
		t := &m.Graph.Initializers[i]
		shape, err := t.Shape()
		if err != nil {
			return err
		}
		e := &entry{Name: t.Name, Type: t.Type.String(), Shape: shape, Bytes: len(t.Raw)}
		e.load = whole(e, func() (tensor.Any, error) { return m.Tensor(t) })
		if lay, err := layout.RowMajor(shape...); err == nil {
			e.Layout = lay.String()
		}
		f.add(e)
	}
	l.Notes = append(l.Notes, fmt.Sprintf("%d nodes, opset %d, made by %s %s", len(m.Graph.Nodes), m.Opset(""), clip(m.Producer), clip(m.ProducerVersion)))
	for _, v := range m.Inputs() {
		l.Notes = append(l.Notes, "input "+clip(v.String()))
	}
	for _, v := range m.Graph.Outputs {
		l.Notes = append(l.Notes, "output "+clip(v.String()))
	}
	if err := m.Check(); err != nil {
		l.Notes = append(l.Notes, "it can't be run here: "+clip(err.Error()))
	}
	var svg strings.Builder
	if err := picture.Of(f.name, m, nil).WriteSVG(&svg); err != nil {
		l.Notes = append(l.Notes, "the graph isn't drawn: "+err.Error())
		return nil
	}
	l.Graph = svg.String()
	return nil
}

// whole reads parts of a tensor that is read whole.
func whole(e *entry, read func() (tensor.Any, error)) func(...tensor.Index) (tensor.Any, error) {
	return func(idx ...tensor.Index) (tensor.Any, error) {
		if e.Bytes > maxWhole {
			return tensor.Any{}, fmt.Errorf("%q has %d bytes; up to %d are read", clip(e.Name), e.Bytes, maxWhole)
		}
		t, err := read()
		if err != nil {
			return t, err
		}
		return tensor.Slice(t, idx...)
	}
}

func clip(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "�")); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}

// part returns the elements of a tensor at leading coordinates, of its last two axes; of
// those only the first rows where all take more than maxPart bytes. It returns how many
// rows there would be.
func (f *File) part(name string, at []int) (t tensor.Any, rows int, err error) {
	e := f.entries[name]
	if e == nil {
		return t, 0, fmt.Errorf("the file has no tensor %q", clip(name))
	}
	rank := len(e.Shape)
	var idx []tensor.Index
	for i := range max(rank-2, 0) {
		x := 0
		if i < len(at) {
			x = at[i]
		}
		if x < 0 || x >= e.Shape[i] {
			return t, 0, fmt.Errorf("axis %d goes from 0 to %d, not %d", i, e.Shape[i]-1, x)
		}
		idx = append(idx, tensor.I(x))
	}
	if rank > 0 {
		rows = e.Shape[max(rank-2, 0)]
		take := rows
		per := 1
		if rank > 1 {
			per = max(e.Shape[rank-1], 1)
		}
		if most := max(maxPart/16/per, 1); take > most {
			take = most
		}
		idx = append(idx, tensor.R(0, take))
	}
	if e.load != nil {
		t, err = e.load(idx...)
		return t, rows, err
	}
	if e.d == dtype.Invalid || e.d.Bits() < 8 {
		return t, 0, fmt.Errorf("elements of %s aren't shown here; ashlar show has them", e.Type)
	}
	lay, off, err := e.lay.Slice(idx...)
	if err != nil {
		return t, 0, err
	}
	size := e.d.Bits() / 8
	_, hi := lay.Span()
	if lay.Size() == 0 {
		hi = -1
	}
	if hi+1 > maxPart/size {
		return t, 0, fmt.Errorf("the part spans %d bytes, more than %d: the file has its columns side by side", (hi+1)*size, maxPart)
	}
	b, err := mem.Alloc((hi + 1) * size)
	if err != nil {
		return t, 0, err
	}
	if n, err := f.r.ReadAt(b.Bytes(), e.at+int64(off)*int64(size)); n < b.Len() {
		return t, 0, fmt.Errorf("the file ends early: %w", err)
	}
	t, _, err = tensor.SliceBytes(e.d, b, 0, lay, e.swapped)
	return t, rows, err
}
