package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// OfSteps returns the picture of the steps that onnx.Session.Steps lists for a model with these inputs: a box for each step, input and output, an
// arrow for each value that one gives and another reads. The box of a step has its operators, how it runs, and of each result the name, the type,
// the bytes and the place. The type has the shape, that of an input which isn't contiguous the layout. Results of a step that gives several have
// numbers, and their arrows, too. Arrows lead from the steps of a branch to the step that chooses it. Steps whose results are the same in every run
// aren't drawn. A model without a graph gives a picture without nodes.
func OfSteps(title string, m *onnx.Model, inputs map[string]tensor.Any, steps []onnx.Step) *draw.Graph {
	g := &draw.Graph{Title: title}
	if m == nil || m.Graph == nil {
		return g
	}
	ends := func(v *onnx.ValueInfo, known tensor.Any) { // adds the box of an input or output
		text := typeOf(known)
		if text == "" {
			text = v.Type.String()
		}
		g.Nodes = append(g.Nodes, draw.Node{Label: tail(v.Name), Detail: text, Group: -1})
	}
	fed := make(map[string]int) // of each input, its box
	for _, v := range m.Inputs() {
		fed[v.Name] = len(g.Nodes)
		ends(&v, inputs[v.Name])
	}
	boxes := make([]int, len(steps))
	groups := make(map[string]int) // a colour for each operator
	makers := make(map[string]int) // of each value of the model's graph, its step
	for i := range steps {
		s := &steps[i]
		for k := range s.Results {
			if s.Depth == 0 {
				makers[s.Results[k].Name] = i
			}
		}
		if boxes[i] = len(g.Nodes); s.How == "constant" {
			boxes[i] = -1
			continue
		}
		if _, ok := groups[s.Nodes[0].Op]; !ok {
			groups[s.Nodes[0].Op] = len(groups)
		}
		ops := wrapped("+", strings.Split(s.String(), "+")...)
		for k := range ops {
			ops[k] = label(ops[k])
		}
		g.Nodes = append(g.Nodes, draw.Node{Label: ops[0], Detail: strings.Join(append(ops[1:], detailsOf(s)...), "\n"), Group: groups[s.Nodes[0].Op]})
	}
	arrows := func(to int, reads ...onnx.StepRead) {
		first := len(g.Edges)
		for _, r := range reads {
			from, ok := fed[r.Name]
			text := ""
			if r.Step >= 0 {
				if from, ok = boxes[r.Step], boxes[r.Step] >= 0; len(steps[r.Step].Results) > 1 {
					text = fmt.Sprint(1 + indexOf(&steps[r.Step], r.Name))
				}
			}
			switch k := slices.IndexFunc(g.Edges[first:], func(e draw.Edge) bool { return e.From == from }); {
			case !ok:
			case k >= 0:
				g.Edges[first+k].Label += ", " + text
			default:
				g.Edges = append(g.Edges, draw.Edge{From: from, To: to, Label: text})
			}
		}
	}
	for i := range steps {
		arrows(boxes[i], steps[i].Reads...)
	}
	for i := range m.Graph.Outputs {
		v := &m.Graph.Outputs[i]
		read, known := onnx.StepRead{Name: v.Name, Step: -1}, inputs[v.Name]
		if k, ok := makers[v.Name]; ok {
			read.Step, known = k, steps[k].Results[indexOf(&steps[k], v.Name)].Value
		}
		ends(v, known)
		arrows(len(g.Nodes)-1, read)
	}
	return g
}

// indexOf returns the place of a result, by its name.
func indexOf(s *onnx.Step, name string) int {
	return slices.IndexFunc(s.Results, func(v onnx.StepValue) bool { return v.Name == name })
}

// detailsOf says how a step runs, and describes its results.
func detailsOf(s *onnx.Step) (lines []string) {
	const most = 4 // results
	way := []string{s.Way()}
	if inside := insideOf(s.Nodes[0]); inside != "" && s.How != "branch" {
		way = append(way, inside)
	}
	lines = wrapped(", ", way...)
	for k := range s.Results {
		if k == most {
			return append(lines, fmt.Sprintf("and %d more", len(s.Results)-most))
		}
		v := &s.Results[k]
		value, place := []string{tail(v.Name)}, []string{v.Place()}
		if len(s.Results) > 1 {
			value[0] = fmt.Sprintf("%d: %s", k+1, value[0])
		}
		if v.In != "" {
			place[0] = "in " + tail(v.In)
		}
		if t := typeOf(v.Value); t != "" {
			size := fmt.Sprintf("%d bytes", v.Bytes)
			if v.Bytes == 1 {
				size = "1 byte"
			}
			value, place = append(value, t), append([]string{size}, place...)
		}
		lines = slices.Concat(lines, wrapped(" ", value...), wrapped(", ", place...))
	}
	return lines
}

// typeOf is the type of a value: with the shape or, where that doesn't say where elements lie, the layout. It is "" for the zero Any.
func typeOf(a tensor.Any) string {
	switch {
	case a.IsZero():
		return ""
	case a.IsContiguous():
		return tensor.Describe(a)
	}
	return fmt.Sprintf("%v %s", a.DType(), a.Layout())
}

const lineLength = 44 // characters of a line in a box

// wrapped joins parts, on several lines where they don't fit one.
func wrapped(sep string, parts ...string) []string {
	lines := []string{parts[0]}
	for _, part := range parts[1:] {
		if last := &lines[len(lines)-1]; len([]rune(*last+sep+part)) <= lineLength {
			*last += sep + part
		} else {
			*last += strings.TrimRight(sep, " ")
			lines = append(lines, part)
		}
	}
	return lines
}

// tail is a name from a file on one line. Of a long one it is the end, which says more.
func tail(name string) string {
	r := []rune(name)
	if len(r) > lineLength {
		r = append([]rune{'…'}, r[len(r)-lineLength+1:]...)
	}
	return label(string(r))
}
