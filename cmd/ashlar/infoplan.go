package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// stepsOf says how a session prepares a run of a model.
func (p *program) stepsOf(s *source, m *onnx.Model, sizes map[string]tensor.Any) ([]onnx.Step, error) {
	if open := openInputs(m.Inputs(), sizes); len(open) > 0 {
		return nil, fmt.Errorf("%s: --plan: sizes are open: say them, as in --shape %s", s.name, open[0])
	}
	session, err := onnx.NewSession(m)
	if err != nil {
		return nil, s.in(err)
	}
	steps, err := session.Steps(sizes)
	if err != nil {
		return nil, s.in(err)
	}
	return steps, nil
}

// describePlan prints the steps of a run.
func (p *program) describePlan(steps []onnx.Step) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nstep\thow\tnodes\tresult\tbytes\tplace\n")
	for i := range steps {
		s := &steps[i]
		how := s.How
		if s.Kernel != "" {
			how += ", " + s.Kernel
		}
		head := fmt.Sprintf("%d\t%s\t%s%s", i, how, strings.Repeat("  ", s.Depth), stepName(s))
		for _, v := range s.Results {
			text, bytes, place := "?", "", "its own"
			if !v.Value.IsZero() {
				text, bytes = fmt.Sprintf("%v %s", v.Value.DType(), v.Value.Layout()), amount(v.Bytes)
			}
			switch {
			case v.In != "":
				place = "in " + label(v.In)
			case v.At >= 0:
				place = fmt.Sprintf("at %d", v.At)
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

// stepName is the operators of a step, and the name of its first node.
func stepName(s *onnx.Step) string {
	var ops []string
	for _, n := range s.Nodes {
		ops = append(ops, opOf(n))
	}
	name := label(strings.Join(ops, "+"))
	if s.Nodes[0].Name != "" {
		name += " " + label(s.Nodes[0].Name)
	}
	return name
}

// An infoStep is a step in a line of JSON.
type infoStep struct {
	How     string      `json:"how"`
	Kernel  string      `json:"kernel,omitempty"`
	Depth   int         `json:"depth,omitempty"`
	Nodes   []infoPart  `json:"nodes"`
	Results []infoPlace `json:"results"`
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
		step := infoStep{How: s.How, Kernel: s.Kernel, Depth: s.Depth}
		for _, n := range s.Nodes {
			step.Nodes = append(step.Nodes, infoPart{opOf(n), n.Name})
		}
		for _, v := range s.Results {
			place := infoPlace{infoArray: infoArray{Name: v.Name, Bytes: v.Bytes}, In: v.In}
			if !v.Value.IsZero() {
				place.DType, place.Layout = v.Value.DType().String(), v.Value.Layout().String()
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
