package main

import (
	"encoding/json"
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/classes"
)

// A report is the output of --json. Names and shapes are the graph's; values are in row-major order.
type report struct {
	Model   string         `json:"model"`
	Inputs  []reportInput  `json:"inputs"`
	Outputs []reportOutput `json:"outputs"`
	Seconds struct {
		Load   float64   `json:"load"`           // to open, check and load the model
		Inputs float64   `json:"inputs"`         // to read and convert the inputs
		Run    float64   `json:"run"`            // the median of several
		Runs   []float64 `json:"runs,omitempty"` // with --repeat
	} `json:"seconds"`
	Profile *reportProfile `json:"profile,omitempty"`
	Memory  struct {
		Weights int64 `json:"weights"`          // weights and constants together
		InPlace int64 `json:"weights_in_place"` // of the initializers: used where they are in the file
		Copied  int64 `json:"weights_copied"`
		Live    int64 `json:"live"`       // most that results take at one time, by the plan
		Exact   bool  `json:"live_exact"` // false: sizes known only during the run are missing in live
		Peak    int64 `json:"peak,omitempty"`
	} `json:"memory"`
}

// A reportProfile is where the time of a run goes: the slowest parts first.
type reportProfile struct {
	Operators []share `json:"operators"`
	Nodes     []share `json:"nodes"`
}

type reportInput struct {
	Name  string   `json:"name"`
	DType string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Files []string `json:"files"`
}

type reportOutput struct {
	Name    string `json:"name"`
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Values  []any  `json:"values"`  // strings, or the maps of a sequence, too
	Omitted int    `json:"omitted"` // how many values there are beyond those

	// Of an output that scores classes.
	Probabilities *bool           `json:"probabilities,omitempty"`
	Top           [][]reportClass `json:"top,omitempty"` // by row
}

type reportClass struct {
	Class int    `json:"class"`
	Label string `json:"label,omitempty"`
	Value any    `json:"value"`
}

func (p *program) printJSON(r *result) error {
	f := r.f
	rep := report{Model: r.src.name, Inputs: []reportInput{}, Outputs: []reportOutput{}}
	for i := range r.m.Graph.Inputs {
		name := r.m.Graph.Inputs[i].Name
		if v := r.inputs.values[name]; v != nil && v.list != nil {
			for i, t := range v.list {
				rep.Inputs = append(rep.Inputs, reportInput{fmt.Sprintf("%s.%d", name, i), t.DType().String(), t.Shape(), v.files[i : i+1]})
			}
		} else if v != nil {
			if v.text != nil {
				rep.Inputs = append(rep.Inputs, reportInput{name, textKind(v.text[0]), v.text[0].Shape(), v.files})
				continue
			}
			rep.Inputs = append(rep.Inputs, reportInput{name, v.tensor.DType().String(), v.tensor.Shape(), v.files})
		}
	}
	rep.Outputs = append(rep.Outputs, r.reportOutputs()...)
	rep.Seconds.Load, rep.Seconds.Inputs, rep.Seconds.Run = r.load.Seconds(), r.read.Seconds(), median(r.spent).Seconds()
	if f.repeat > 1 {
		rep.Seconds.Runs = r.seconds()
	}
	if f.profile {
		ops, nodes := r.profile.shares()
		rep.Profile = &reportProfile{ops, nodes}
	}
	m := &rep.Memory
	m.Weights, m.Live, m.Exact = r.plan.Weights, r.plan.Live, r.plan.Exact
	m.InPlace, m.Copied = r.m.Weights()
	m.Peak = peakMemory()
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(&rep)
}

// seconds are the times of all runs.
func (r *result) seconds() (list []float64) {
	for _, d := range r.spent {
		list = append(list, d.Seconds())
	}
	return list
}

// reportOutputs are the outputs of a run as JSON has them.
func (r *result) reportOutputs() []reportOutput {
	list := []reportOutput{}
	for _, name := range r.names() {
		t := r.outputs[name]
		o := reportOutput{Name: name, DType: t.DType().String(), Shape: t.Shape(), Values: values(t, mostValues)}
		o.Omitted = t.Len() - len(o.Values)
		value := func(v float64) any { return float32(v) } // as short as among Values
		if t.DType() == dtype.Float64 || t.DType().IsFixed() {
			value = func(v float64) any { return v }
		}
		if k := r.ranks[name]; k != nil {
			o.Probabilities = &k.Probabilities
			for _, row := range k.Rows[:min(len(k.Rows), mostValues)] {
				top := []reportClass{}
				for _, c := range classes.Best(row, r.f.top) {
					top = append(top, reportClass{c, r.labels.name(c, len(row)), value(row[c])})
				}
				o.Top = append(o.Top, top)
			}
		}
		list = append(list, o)
	}
	for i := range r.m.Graph.Outputs {
		name := r.m.Graph.Outputs[i].Name
		v, ok := r.text[name]
		if !ok {
			continue
		}
		o := reportOutput{Name: name, DType: "string", Shape: v.Shape(), Values: []any{}}
		if list := v.Strings(); list != nil {
			for _, s := range list[:min(len(list), mostValues)] {
				o.Values = append(o.Values, s)
			}
			o.Omitted = len(list) - len(o.Values)
		} else {
			o.DType, o.Shape = v.String(), []int{}
			if list, ok := textOf(v, mostValues).([]any); ok {
				o.Values, o.Omitted = list, len(v.Items())-len(list)
			} else {
				o.Values = []any{textOf(v, mostValues)}
			}
		}
		list = append(list, o)
	}
	return list
}
