package main

import (
	"encoding/json"
	"math"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A report is what --json prints. Names and shapes are the graph's; values are in row-major order.
type report struct {
	Model   string         `json:"model"`
	Inputs  []reportInput  `json:"inputs"`
	Outputs []reportOutput `json:"outputs"`
	Seconds struct {
		Load   float64 `json:"load"`   // to open, check and load the model
		Inputs float64 `json:"inputs"` // to read and convert the inputs
		Run    float64 `json:"run"`
	} `json:"seconds"`
	Memory struct {
		Weights int64 `json:"weights"`          // weights and constants together
		InPlace int64 `json:"weights_in_place"` // of the initializers: used where they are in the file
		Copied  int64 `json:"weights_copied"`
		Live    int64 `json:"live"`       // most that results take at one time, by the plan
		Exact   bool  `json:"live_exact"` // false: sizes known only during the run are missing in live
		Peak    int64 `json:"peak,omitempty"`
	} `json:"memory"`
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
	Values  []any  `json:"values"`
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

// mostValues is how many values of an output, and rows of classes, a report holds.
const mostValues = 10000

func (p *program) printJSON(r *result, top int) error {
	rep := report{Model: r.model, Inputs: []reportInput{}, Outputs: []reportOutput{}}
	for i := range r.m.Graph.Inputs {
		name := r.m.Graph.Inputs[i].Name
		if v := r.inputs.values[name]; v != nil {
			rep.Inputs = append(rep.Inputs, reportInput{name, v.tensor.DType().String(), tensor.Shape(v.tensor), v.files})
		}
	}
	for i := range r.m.Graph.Outputs {
		name := r.m.Graph.Outputs[i].Name
		t := r.outputs[name]
		o := reportOutput{Name: name, DType: t.DType().String(), Shape: tensor.Shape(t), Values: values(t, mostValues)}
		o.Omitted = tensor.Len(t) - len(o.Values)
		value := func(v float64) any { return float32(v) } // as short as among Values
		if t.DType() == dtype.Float64 || t.DType().IsFixed() {
			value = func(v float64) any { return v }
		}
		if k := r.ranks[name]; k != nil {
			o.Probabilities = &k.probabilities
			for _, row := range k.rows[:min(len(k.rows), mostValues)] {
				list := []reportClass{}
				for _, c := range best(row, top) {
					list = append(list, reportClass{c, r.labels.name(c, len(row)), value(row[c])})
				}
				o.Top = append(o.Top, list)
			}
		}
		rep.Outputs = append(rep.Outputs, o)
	}
	rep.Seconds.Load, rep.Seconds.Inputs, rep.Seconds.Run = r.load.Seconds(), r.read.Seconds(), r.run.Seconds()
	m := &rep.Memory
	m.Weights, m.Live, m.Exact = r.plan.Weights, r.plan.Live, r.plan.Exact
	m.InPlace, m.Copied = r.m.Weights()
	m.Peak = peakMemory()
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(&rep)
}

// values returns the first elements of a tensor, at most most, as what encoding/json writes in full: integers as they are,
// floats in the fewest digits that give them back.
func values(t tensor.Any, most int) []any {
	switch t := t.(type) {
	case tensor.Tensor[bool]:
		return jsonValues(t, most, func(v bool) any { return v })
	case tensor.Tensor[int8]:
		return jsonValues(t, most, func(v int8) any { return v })
	case tensor.Tensor[int16]:
		return jsonValues(t, most, func(v int16) any { return v })
	case tensor.Tensor[int32]:
		return jsonValues(t, most, func(v int32) any { return v })
	case tensor.Tensor[int64]:
		return jsonValues(t, most, func(v int64) any { return v })
	case tensor.Tensor[uint8]:
		return jsonValues(t, most, func(v uint8) any { return v })
	case tensor.Tensor[uint16]:
		return jsonValues(t, most, func(v uint16) any { return v })
	case tensor.Tensor[uint32]:
		return jsonValues(t, most, func(v uint32) any { return v })
	case tensor.Tensor[uint64]:
		return jsonValues(t, most, func(v uint64) any { return v })
	case tensor.Tensor[num.F8E4M3]:
		return jsonValues(t, most, func(v num.F8E4M3) any { return jsonFloat(v.Float32()) })
	case tensor.Tensor[num.F8E5M2]:
		return jsonValues(t, most, func(v num.F8E5M2) any { return jsonFloat(v.Float32()) })
	case tensor.Tensor[num.F16]:
		return jsonValues(t, most, func(v num.F16) any { return jsonFloat(v.Float32()) })
	case tensor.Tensor[num.BF16]:
		return jsonValues(t, most, func(v num.BF16) any { return jsonFloat(v.Float32()) })
	case tensor.Tensor[float32]:
		return jsonValues(t, most, jsonFloat[float32])
	case tensor.Tensor[float64]:
		return jsonValues(t, most, jsonFloat[float64])
	case tensor.Tensor[complex64]:
		return jsonValues(t, most, func(v complex64) any { return []any{jsonFloat(real(v)), jsonFloat(imag(v))} })
	case tensor.Tensor[complex128]:
		return jsonValues(t, most, func(v complex128) any { return []any{jsonFloat(real(v)), jsonFloat(imag(v))} })
	case tensor.Tensor[num.FP8x23]:
		return jsonValues(t, most, func(v num.FP8x23) any { return json.Number(v.String()) })
	case tensor.Tensor[num.FP16x16]:
		return jsonValues(t, most, func(v num.FP16x16) any { return json.Number(v.String()) })
	case tensor.Tensor[num.FP32x32]:
		return jsonValues(t, most, func(v num.FP32x32) any { return json.Number(v.String()) })
	case tensor.Tensor[num.FP64x64]:
		return jsonValues(t, most, func(v num.FP64x64) any { return json.Number(v.String()) })
	}
	return []any{}
}

func jsonValues[T num.Elem](t tensor.Tensor[T], most int, convert func(T) any) []any {
	elems := t.Contiguous().Elems()
	list := make([]any, min(len(elems), most))
	for i := range list {
		list[i] = convert(elems[i])
	}
	return list
}

// jsonFloat is v, or the name of what JSON has no number for.
func jsonFloat[T float32 | float64](v T) any {
	switch f := float64(v); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	return v
}
