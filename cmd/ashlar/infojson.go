package main

import (
	"errors"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/onnx/weights"
)

// An infoLine is the line of JSON about one file.
type infoLine struct {
	File   string      `json:"file"`
	Kind   string      `json:"kind"`
	Bytes  int64       `json:"bytes,omitempty"` // of a file that isn't a stream
	Arrays []infoArray `json:"arrays,omitempty"`
	Model  *infoModel  `json:"model,omitempty"`
}

// An infoArray is a tensor in a file, an input or an output.
type infoArray struct {
	Name  string `json:"name,omitempty"`
	DType string `json:"dtype"`
	Shape []any  `json:"shape"` // numbers, names, and null where a size is open; null where the rank is
	Bytes int64  `json:"bytes,omitempty"`

	Unfinished string `json:"unfinished,omitempty"` // who writes a Zarr array that isn't finished
}

type infoModel struct {
	IR          int64         `json:"ir"`
	Opsets      []infoOpset   `json:"opsets"`
	Producer    string        `json:"producer,omitempty"`
	Inputs      []infoArray   `json:"inputs"`
	Outputs     []infoArray   `json:"outputs"`
	Weights     int           `json:"weights"`
	Constants   int           `json:"constants,omitempty"` // tensors in Constant nodes, which aren't in Weights
	Parameters  int64         `json:"parameters"`          // of both
	InPlace     int64         `json:"weights_in_place"`    // bytes
	Copied      int64         `json:"weights_copied"`
	Operators   []operatorUse `json:"operators"`
	Cost        *infoCost     `json:"cost,omitempty"` // of a model that can be run
	Plan        []infoStep    `json:"plan,omitempty"` // with --plan
	Regions     []infoRegion  `json:"regions,omitempty"`
	Convs       *infoShare    `json:"convolutions,omitempty"`
	Integers    *infoIntegers `json:"integers,omitempty"` // with --integers
	Unsupported []string      `json:"unsupported,omitempty"`
	Error       string        `json:"error,omitempty"` // why it can't be run, if nothing is unsupported
}

// infoIntegers counts the FLOPs of Conv, Gemm and MatMul.
type infoIntegers struct {
	FLOPs    int64 `json:"flops"`
	Integers int64 `json:"on_integers"`
}

type infoOpset struct {
	Domain  string `json:"domain"`
	Version int64  `json:"version"`
	Assumed bool   `json:"assumed,omitempty"` // the model doesn't import it
}

type infoCost struct {
	FLOPs   int64      `json:"flops"`
	Exact   bool       `json:"flops_exact"`
	Weights int64      `json:"weights"` // bytes
	Live    int64      `json:"live"`
	LiveAt  string     `json:"live_at,omitempty"`
	LiveAll bool       `json:"live_exact"`
	Nodes   []infoNode `json:"nodes"`
}

type infoNode struct {
	Name  string   `json:"name"`
	Op    string   `json:"op"`
	Depth int      `json:"depth,omitempty"`
	Once  bool     `json:"once"`
	FLOPs *int64   `json:"flops"` // null: unknown
	Bytes *int64   `json:"bytes"`
	Types []string `json:"results"`
}

// known is nil for a number that is unknown.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func arrayOf(name string, i format.Info) infoArray {
	a := infoArray{Name: name, DType: i.Type, Shape: []any{}, Bytes: i.Bytes, Unfinished: i.Unfinished}
	for _, n := range i.Shape {
		a.Shape = append(a.Shape, n)
	}
	return a
}

// declared is a value as the graph declares it.
func declared(v *onnx.ValueInfo) infoArray {
	t := &v.Type
	if t.Kind != onnx.KindTensor {
		return infoArray{Name: v.Name, DType: t.String()}
	}
	a := infoArray{Name: v.Name, DType: t.Elem.String()}
	if t.HasShape {
		a.Shape = []any{}
	}
	for _, d := range t.Shape {
		switch {
		case d.Value >= 0:
			a.Shape = append(a.Shape, d.Value)
		case d.Param != "":
			a.Shape = append(a.Shape, d.Param)
		default:
			a.Shape = append(a.Shape, nil)
		}
	}
	return a
}

func (p *program) describeJSON(s *source, f *infoFlags) error {
	line := infoLine{File: s.name, Bytes: s.Size}
	var err error
	if s.isModel() {
		line.Kind = "onnx"
		line.Model, err = p.modelJSON(s, f)
	} else {
		line.Kind, line.Arrays, err = p.arraysJSON(s)
	}
	if line.Model != nil || err == nil {
		if e := p.printLine(&line); e != nil {
			return e
		}
	}
	return err
}

func (p *program) modelJSON(s *source, f *infoFlags) (*infoModel, error) {
	m, err := p.model(s)
	if err != nil {
		return nil, err
	}
	out := &infoModel{IR: m.IR, Producer: strings.TrimSpace(m.Producer + " " + m.ProducerVersion), Opsets: []infoOpset{}, Inputs: []infoArray{},
		Outputs: []infoArray{}, Operators: []operatorUse{}}
	for _, o := range m.Opsets {
		out.Opsets = append(out.Opsets, infoOpset{o.Domain, o.Version, false})
	}
	for _, o := range m.AssumedOpsets() {
		out.Opsets = append(out.Opsets, infoOpset{o.Domain, o.Version, true})
	}
	sizes, err := p.sizes(s, m, f)
	if err != nil {
		return nil, err
	}
	c, err := costOf(s, m, sizes)
	var missing *onnx.UnsupportedError
	if errors.As(err, &missing) {
		out.Unsupported = unsupported(missing)
		err = nil
	} else if err != nil {
		out.Error = printable(err.Error())
	}
	if m.Graph == nil {
		return out, err
	}
	for _, v := range m.Inputs() {
		out.Inputs = append(out.Inputs, declared(&v))
	}
	for i := range m.Graph.Outputs {
		out.Outputs = append(out.Outputs, declared(&m.Graph.Outputs[i]))
	}
	out.Weights, out.Parameters = len(weights.Of(m).Names()), parameters(m)
	out.Constants, _ = inConstants(m)
	out.InPlace, out.Copied = m.Weights()
	if out.Operators = operatorsOf(m); c == nil {
		return out, err
	}
	if f.plan {
		steps, err := p.stepsOf(s, m, sizes, f)
		if err != nil {
			out.Error = printable(err.Error())
			return out, err
		}
		out.Plan, out.Regions = infoSteps(steps), infoRegions(steps)
		if n := shareOf(steps); n.convs > 0 {
			out.Convs = &n
		}
		if f.integers {
			out.Integers = new(infoIntegers)
			out.Integers.Integers, out.Integers.FLOPs = quantize.Share(steps, c.Cost)
		}
	}
	out.Operators = costs(c.Cost)
	out.Cost = &infoCost{FLOPs: c.FLOPs, Exact: c.Exact, Weights: c.Plan.Weights, Live: c.Plan.Live, LiveAt: c.Plan.Node, LiveAll: c.Plan.Exact, Nodes: []infoNode{}}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		x := infoNode{Name: nameOf(n.Node, n.Index), Op: opOf(n.Node), Depth: n.Depth, Once: n.Once, FLOPs: known(n.FLOPs), Bytes: known(n.Bytes), Types: []string{}}
		for _, t := range n.Types {
			x.Types = append(x.Types, t.String())
		}
		out.Cost.Nodes = append(out.Cost.Nodes, x)
	}
	return out, nil
}

func (p *program) arraysJSON(s *source) (kind string, list []infoArray, err error) {
	if !s.several() {
		f, i, err := p.headerOf(s)
		if err != nil {
			return "", nil, err
		}
		if kind = s.format.Name; s.isPicture() {
			kind = strings.ToLower(f.About())
		}
		return kind, []infoArray{arrayOf("", i)}, nil
	}
	f, err := p.file(s)
	if err != nil {
		return "", nil, err
	}
	list = []infoArray{}
	for _, name := range f.Names() {
		i, err := f.Info(name)
		if err != nil {
			return "", nil, s.in(err)
		}
		list = append(list, arrayOf(name, i))
	}
	return s.format.Name, list, nil
}
