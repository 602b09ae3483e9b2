// Package show reads files of tensors and models for the page: names, types, parts
// of the elements, and runs of a model on a picture. It reads a file in parts, so that a
// file of any size opens at once.
package show

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	_ "github.com/ashlar-go/ashlar/format/npy" // the formats that the page shows
	_ "github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
	"github.com/ashlar-go/ashlar/onnx/weights"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	maxPart  = 32 << 20 // the most bytes of a tensor that are read at a time
	maxWhole = 1 << 30  // the most bytes of a model, or of an array of an npz file, which are read whole
	maxList  = 2000     // the most tensors listed
)

// A File is an open file.
type File struct {
	name    string
	kind    string
	file    format.File
	model   *onnx.Model // nil: the file holds no model
	entries map[string]*entry
	order   []string
}

// An entry is a tensor in the file.
type entry struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Shape  []int  `json:"shape"`
	Bytes  int    `json:"bytes"`
	Layout string `json:"layout,omitempty"`
	Chunks string `json:"chunks,omitempty"` // the way it is stored, if it is unusual

	info format.Info
	err  error // the reason why it can't be read
}

// A Listing describes the contents of a file.
type Listing struct {
	Kind    string   `json:"kind"` // npy, npz, zarr, safetensors or onnx
	Tensors []*entry `json:"tensors"`
	More    int      `json:"more,omitempty"` // the number of tensors that aren't listed
	Notes   []string `json:"notes,omitempty"`
	Graph   string   `json:"graph,omitempty"` // SVG
}

// Open reads the description of a file's contents. It recognizes the format by the first bytes.
func Open(name string, r io.ReaderAt, size int64) (*File, *Listing, error) {
	source := &format.Source{At: r, Size: size, Options: format.Options{MaxBytes: maxWhole}}
	found, err := source.Format()
	if err != nil {
		return nil, nil, err
	}
	f, l := &File{name: name}, &Listing{}
	if found == nil || found.Name == "onnx" {
		f.kind, err = "onnx", f.graph(source, l)
	} else {
		f.kind = found.Name
		f.file, err = found.Open(source)
	}
	if err != nil {
		return nil, nil, err
	}
	return f.listed(l, size)
}

// listed completes the opening of a file with the list of its tensors. A tensor that can't be read has the reason as its type.
func (f *File) listed(l *Listing, size int64) (*File, *Listing, error) {
	l.Kind, f.order, f.entries = f.kind, f.file.Names(), make(map[string]*entry)
	if f.kind == "npy" {
		f.order = []string{"array"}
	}
	for _, name := range f.order[:min(len(f.order), maxList)] {
		i, err := f.file.Info(name)
		e := &entry{Name: name, Type: i.Type, Shape: i.Shape, Bytes: int(min(i.Bytes, math.MaxInt)), Chunks: i.Storage, info: i, err: err}
		switch {
		case err != nil && f.kind == "npy":
			return nil, nil, err
		case err != nil:
			e.Type = clip(err.Error())
		case f.kind != "zarr":
			e.Layout = i.Layout.String()
		}
		if f.kind == "npy" && i.Offset+i.Bytes > size {
			return nil, nil, fmt.Errorf("the header promises %d bytes of elements, the file has %d after it", i.Bytes, size-i.Offset)
		}
		f.entries[name] = e
		l.Tensors = append(l.Tensors, e)
	}
	l.More = max(len(f.order)-maxList, 0)
	if m, ok := f.file.(interface{ Metadata() map[string]string }); ok {
		for k, v := range m.Metadata() {
			l.Notes = append(l.Notes, clip(k+": "+v))
		}
		slices.Sort(l.Notes)
	}
	return f, l, nil
}

func (f *File) graph(s *format.Source, l *Listing) error {
	if s.Size > maxWhole {
		return fmt.Errorf("a model of %d bytes; up to %d are read, as all of it must be in memory", s.Size, maxWhole)
	}
	file, err := format.Named("onnx").Open(s)
	if err != nil {
		return fmt.Errorf("this is no npy, npz or safetensors file, and as an ONNX model: %w", err)
	}
	m := file.(weights.Weights).Model
	if m.Graph == nil {
		return errors.New("the file has no graph: it is no ONNX model, and none of npy, npz and safetensors")
	}
	f.file, f.model = file, m
	l.Notes = append(l.Notes, fmt.Sprintf("%d nodes, opset %d, made by %s %s", f.nodes(), m.Opset(""), clip(m.Producer), clip(m.ProducerVersion)))
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

// nodes counts the nodes of the model, with the nodes of inner graphs.
func (f *File) nodes() (n int) {
	for g := range f.model.Graph.All() {
		n += len(g.Nodes)
	}
	return n
}

func clip(s string) string {
	if r := []rune(strings.ToValidUTF8(s, "�")); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}

// part returns the elements of a tensor's last two axes at coordinates of the axes before.
// If they take more than maxPart bytes, it returns only the first rows. rows is the number
// of all rows.
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
	switch i := e.info; {
	case e.err != nil:
		return t, 0, e.err
	case i.Offset == 0:
		if f.kind != "zarr" && e.Bytes > maxWhole {
			return t, 0, fmt.Errorf("%q has %d bytes; up to %d are read", clip(e.Name), e.Bytes, maxWhole)
		}
	case i.DType == dtype.Invalid || i.DType.Bits() < 8:
		return t, 0, fmt.Errorf("elements of %s aren't shown here; ashlar show has them", e.Type)
	default:
		lay, _, err := i.Layout.Slice(idx...)
		if err != nil {
			return t, 0, err
		}
		if _, hi := lay.Span(); lay.Size() > 0 && hi+1 > maxPart/i.DType.Size() {
			return t, 0, fmt.Errorf("the part spans %d bytes, more than %d: the file has its columns side by side", (hi+1)*i.DType.Size(), maxPart)
		}
	}
	t, err = f.file.Tensor(name, idx...)
	return t, rows, err
}
