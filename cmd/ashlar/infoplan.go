package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// stepsOf says how a session prepares a run of a model.
func (p *program) stepsOf(s *source, m *onnx.Model, sizes map[string]tensor.Any, f *infoFlags) ([]onnx.Step, error) {
	if s.steps != nil {
		return s.steps, nil
	}
	for _, v := range m.Inputs() {
		_, numbers := v.Type.Elem.DType()
		known := v.Type.Kind == onnx.KindOptional || v.Type.Kind == onnx.KindTensor && (numbers || len(openInputs([]onnx.ValueInfo{v}, nil)) == 0)
		if !known {
			return nil, fmt.Errorf("%s: --plan: it needs the sizes of all inputs, and %s is no tensor of numbers; leave --plan out", s.name, label(v.String()))
		}
	}
	if open := openInputs(m.Inputs(), sizes); len(open) > 0 {
		return nil, fmt.Errorf("%s: --plan: sizes are open: say them, as in %s", s.name, shapeFlags(open))
	}
	session, err := p.session(m, &runFlags{integers: f.integers})
	if err != nil {
		return nil, s.in(err)
	}
	s.steps, err = session.Steps(sizes)
	return s.steps, s.in(err)
}

// describePlan prints the steps of a run.
func (p *program) describePlan(steps []onnx.Step) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nstep\thow\tnodes\tresult\tbytes\tplace\n")
	for i := range steps {
		s := &steps[i]
		name := label(s.String())
		if n := s.Nodes[0].Name; n != "" {
			name += " " + label(n)
		}
		head := fmt.Sprintf("%d\t%s\t%s%s", i, s.Way(), strings.Repeat("  ", s.Depth), name)
		for _, v := range s.Results {
			text, bytes, place := "?", "", label(v.Place())
			if !v.Value.IsZero() {
				if text, bytes = tensor.Describe(v.Value), amount(v.Bytes); laidOut(s) {
					text = fmt.Sprintf("%v %s", v.Value.DType(), v.Value.Layout())
				}
			}
			if s.How == "constant" {
				place = ""
			}
			fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", head, label(v.Name), text, bytes, place)
			head = "\t\t"
		}
		if len(s.Results) == 0 {
			fmt.Fprintf(w, "%s\t\t\t\n", head)
		}
	}
	w.Flush()
}

// laidOut reports whether a step's results have the layouts of their descriptions. A run alone knows layouts of views and of plain runs.
func laidOut(s *onnx.Step) bool { return s.How == "planned" || s.How == "constant" }

// An infoStep is a step in a line of JSON.
type infoStep struct {
	How      string      `json:"how"`
	Integers bool        `json:"integers,omitempty"`
	Kept     int64       `json:"kept,omitempty"` // bytes of packed weights
	Kernel   string      `json:"kernel,omitempty"`
	Depth    int         `json:"depth,omitempty"`
	Branch   string      `json:"branch,omitempty"`
	Nodes    []infoPart  `json:"nodes"`
	Results  []infoPlace `json:"results"`
}

type infoPart struct {
	Op   string `json:"op"`
	Name string `json:"name,omitempty"`
}

type infoPlace struct {
	infoArray
	Layout string `json:"layout,omitempty"`
	At     *int64 `json:"at,omitempty"` // in the memory that results have in common
	In     string `json:"in,omitempty"`
}

func infoSteps(steps []onnx.Step) (list []infoStep) {
	for i := range steps {
		s := &steps[i]
		step := infoStep{How: s.How, Integers: s.Integers, Kept: s.Kept, Kernel: s.Kernel, Depth: s.Depth, Branch: s.Branch}
		for _, n := range s.Nodes {
			step.Nodes = append(step.Nodes, infoPart{opOf(n), n.Name})
		}
		for _, v := range s.Results {
			place := infoPlace{infoArray: infoArray{Name: v.Name, Bytes: v.Bytes}, In: v.In}
			if !v.Value.IsZero() {
				if place.DType = v.Value.DType().String(); laidOut(s) {
					place.Layout = v.Value.Layout().String()
				}
				for _, n := range v.Value.Shape() {
					place.Shape = append(place.Shape, n)
				}
			}
			if v.At >= 0 {
				place.At = &v.At
			}
			step.Results = append(step.Results, place)
		}
		list = append(list, step)
	}
	return list
}
