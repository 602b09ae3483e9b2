package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// An output is one of float32, as both give it.
type output struct {
	name         string
	shape        []int
	ours, theirs []float32
}

// outputsOf returns the outputs of float32.
func outputsOf(out map[string]tensor.Any, results []datum) (list []output, err error) {
	for _, d := range results {
		a, ok := tensor.As[float32](out[d.Name])
		if !ok || d.Type != "float32" {
			continue
		}
		b, err := os.ReadFile(d.File)
		if err != nil {
			return nil, err
		}
		theirs := make([]float32, len(b)/4)
		if _, err = binary.Decode(b, binary.NativeEndian, theirs); err != nil {
			return nil, err
		}
		if a.Len() != len(theirs) {
			return nil, fmt.Errorf("output %q has %d elements here and %d there", d.Name, a.Len(), len(theirs))
		}
		list = append(list, output{d.Name, a.Shape(), slices.Collect(a.Values()), theirs})
	}
	return list, nil
}

// compare returns the largest difference of two outputs, and the largest output of ONNX Runtime.
func compare(list []output) (difference, largest float64) {
	for _, o := range list {
		for i, v := range o.ours {
			difference, largest = max(difference, math.Abs(float64(v)-float64(o.theirs[i]))), max(largest, math.Abs(float64(o.theirs[i])))
		}
	}
	return difference, largest
}

// A distance is the largest error of outputs.
type distance struct {
	Absolute float64 `json:"absolute"`
	Relative float64 `json:"relative"` // to the largest exact element of the same output
}

// add counts an output.
func (d *distance) add(got []float32, want []float64) error {
	far, largest := 0.0, 0.0
	for i, w := range want {
		v := float64(got[i])
		if v != w && !(math.IsNaN(v) && math.IsNaN(w)) { // which leaves out infinities
			far = max(far, math.Abs(v-w))
		}
		if size := math.Abs(w); size > largest && !math.IsInf(size, 0) {
			largest = size
		}
	}
	if math.IsNaN(far) || math.IsInf(far, 0) {
		return errors.New("an element is infinite or NaN in one of float32 and float64 alone")
	}
	d.Absolute = max(d.Absolute, far)
	if largest > 0 {
		d.Relative = max(d.Relative, far/largest)
	}
	return nil
}

// judge sets how far both sides' outputs are from the exact ones.
func (r *row) judge(ctx context.Context, file string, feeds map[string]tensor.Any, outputs []output) error {
	if len(outputs) == 0 {
		return errors.New("no output is float32")
	}
	m, err := onnx.Open(file)
	if err != nil {
		return err
	}
	defer m.Close()
	exact, err := exactly(ctx, m, feeds)
	if err != nil {
		return err
	}
	var theirs, ours distance
	for _, o := range outputs {
		want, ok := tensor.As[float64](exact[o.name])
		if !ok || !slices.Equal(want.Shape(), o.shape) {
			return fmt.Errorf("output %q is %v%v in float64 and float32%v else", o.name, exact[o.name].DType(), exact[o.name].Shape(), o.shape)
		}
		elems := slices.Collect(want.Values())
		if err := errors.Join(theirs.add(o.theirs, elems), ours.add(o.ours, elems)); err != nil {
			return fmt.Errorf("output %q: %w", o.name, err)
		}
	}
	r.Peer.Error, r.Ours.Error = &theirs, &ours
	return nil
}

// exactly runs a model in float64, which changes it.
func exactly(ctx context.Context, m *onnx.Model, feeds map[string]tensor.Any) (map[string]tensor.Any, error) {
	w := widener{m: m}
	if err := w.model(); err != nil {
		return nil, err
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		return nil, lacking(err)
	}
	wide := map[string]tensor.Any{}
	for name, a := range feeds {
		if wide[name], err = inFloat64(a); err != nil {
			return nil, err
		}
	}
	var found []string
	out, err := s.Run(ctx, wide, &onnx.Options{Observe: func(r *onnx.NodeRun) {
		if r.Node.Name != scales && slices.ContainsFunc(r.Values, narrow) {
			found = append(found, r.Node.Op)
		}
	}})
	if err == nil {
		err = naming("operators that give narrower floats than float64", found)
	}
	return out, err
}

// naming is an error about operators, nil without any.
func naming(why string, list []string) error {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return fmt.Errorf("%s: %s", why, strings.Join(slices.Compact(list), ", "))
}

// lacking names the operators that a model in float64 can't have.
func lacking(err error) error {
	var u *onnx.UnsupportedError
	var list []string
	if errors.As(err, &u) {
		for _, x := range u.List {
			if x.Op != "" { // else it isn't a node
				list = append(list, x.Op)
			}
		}
	}
	return cmp.Or(naming("operators without float64", list), err)
}

// narrow reports whether a value has floats of fewer bits than float64.
func narrow(v onnx.Value) bool {
	switch v.Kind() {
	case onnx.KindTensor:
		d := v.Tensor().DType()
		return d.IsFloat() && d != dtype.Float64 || d == dtype.Complex64
	case onnx.KindSequence:
		return slices.ContainsFunc(v.Items(), narrow)
	}
	return false
}

// inFloat64 returns a as float64 if its elements are floats.
func inFloat64(a tensor.Any) (tensor.Any, error) {
	if !a.DType().IsFloat() || a.DType() == dtype.Float64 {
		return a, nil
	}
	cast, _ := op.Lookup("CastLike") // which is there
	out, err := cast.Run(&op.Call{Inputs: []tensor.Any{a, tensor.Scalar(0.0).Any()}, Attrs: op.AttrMap(nil)})
	if err != nil {
		return a, err
	}
	return out[0], nil
}

// inexact are the operators whose meaning in float32 is no approximation of one in real numbers.
var inexact = regexp.MustCompile("[Qq]uantize|^QLinear|^QGemm$|^MatMulIntegerToFloat$|^Random|^Bernoulli$|^Multinomial$|^BitCast$")

// typed are operators that give float32 without an attribute, and that attribute.
var typed = map[string]string{"HannWindow": "output_datatype", "HammingWindow": "output_datatype", "BlackmanWindow": "output_datatype",
	"MelWeightMatrix": "output_datatype", "SequenceEmpty": "dtype"}

// scales is the name of the nodes that give Resize its scales.
const scales = "scales in float32"

// A widener makes floats of a model float64.
type widener struct {
	m     *onnx.Model
	casts int
	found []string // inexact operators
	err   error
}

func (w *widener) model() error {
	w.graph(w.m.Graph)
	for i := range w.m.Functions {
		f := &w.m.Functions[i]
		w.values(f.Values)
		w.attributes(f.Defaults)
		f.Nodes = w.nodes(f.Nodes)
	}
	return errors.Join(w.err, naming("operators without an exact answer", w.found))
}

func (w *widener) graph(g *onnx.Graph) {
	w.tensors(g.Initializers)
	for i := range g.Sparse {
		w.tensor(&g.Sparse[i].Values)
	}
	w.values(g.Inputs)
	w.values(g.Outputs)
	w.values(g.Values)
	g.Nodes = w.nodes(g.Nodes)
}

func wider(e onnx.ElemType) onnx.ElemType {
	if e == onnx.ElemFloat32 || e == onnx.ElemFloat16 || e == onnx.ElemBFloat16 {
		return onnx.ElemFloat64
	}
	return e
}

func (w *widener) values(list []onnx.ValueInfo) {
	for i := range list {
		w.typ(&list[i].Type)
	}
}

func (w *widener) typ(t *onnx.Type) {
	for ; t != nil; t = t.Of {
		t.Elem = wider(t.Elem)
	}
}

func (w *widener) tensors(list []onnx.TensorProto) {
	for i := range list {
		w.tensor(&list[i])
	}
}

func (w *widener) tensor(t *onnx.TensorProto) {
	if wider(t.Type) == t.Type {
		return
	}
	a, err := w.m.Tensor(t)
	if err == nil {
		a, err = inFloat64(a)
	}
	if err == nil {
		*t, err = onnx.NewTensorProto(t.Name, a)
	}
	w.fail(err)
}

func (w *widener) attributes(list []onnx.Attribute) {
	for i := range list {
		a := &list[i]
		switch v := a.Value.(type) {
		case *onnx.TensorProto:
			w.tensor(v)
		case []onnx.TensorProto:
			w.tensors(v)
		case *onnx.SparseTensor:
			w.tensor(&v.Values)
		case *onnx.Type:
			w.typ(v)
		case *onnx.Graph:
			w.graph(v)
		case []onnx.Graph:
			for j := range v {
				w.graph(&v[j])
			}
		case int64:
			if slices.Contains([]string{"to", "dtype", "output_datatype", "softmax_precision"}, a.Name) {
				a.Value = int64(wider(onnx.ElemType(v)))
			}
		case string:
			if a.Name == "to" && (v == "FLOAT" || v == "FLOAT16") { // Cast of opset 1
				a.Value = "DOUBLE"
			}
		}
	}
}

// nodes makes nodes compute in float64. An attribute that isn't there and means float32 is added.
func (w *widener) nodes(list []onnx.Node) []onnx.Node {
	for i := range list {
		n := &list[i]
		if inexact.MatchString(n.Op) {
			w.found = append(w.found, n.Op)
		}
		w.attributes(n.Attributes)
		if name := typed[n.Op]; name != "" && n.Attr(name) == nil {
			n.Attributes = append(n.Attributes, onnx.IntAttr(name, int64(onnx.ElemFloat64)))
		}
		at := -1
		switch n.Op {
		case "Constant":
			w.constant(n)
		case "ConstantOfShape":
			if n.Attr("value") == nil {
				n.Attributes = append(n.Attributes, w.numbers([]float64{0}, 1))
			}
		case "Resize", "Upsample":
			at = min(len(n.Inputs)-1, 2) // the scales; of opset 10 they are input 1
		}
		if at > 0 && n.Inputs[at] != "" {
			w.casts++
			from, to := n.Inputs[at], fmt.Sprintf("%s.%d", scales, w.casts)
			n.Inputs = slices.Clone(n.Inputs)
			n.Inputs[at] = to
			list = append(list, onnx.Node{Name: scales, Op: "Cast", Inputs: []string{from}, Outputs: []string{to},
				Attributes: []onnx.Attribute{onnx.IntAttr("to", int64(onnx.ElemFloat32))}})
		}
	}
	return list
}

// constant makes the floats of a Constant a tensor.
func (w *widener) constant(n *onnx.Node) {
	for i := range n.Attributes {
		switch v := n.Attributes[i].Value.(type) {
		case float32:
			n.Attributes[i] = w.numbers([]float64{float64(v)})
		case []float32:
			var list []float64
			for _, x := range v {
				list = append(list, float64(x))
			}
			n.Attributes[i] = w.numbers(list, len(list))
		}
	}
}

// numbers is an attribute "value" of float64.
func (w *widener) numbers(list []float64, shape ...int) onnx.Attribute {
	a, err := onnx.TensorAttr("value", tensor.FromSlice(list, shape...).Any())
	w.fail(err)
	return a
}

func (w *widener) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
