package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/imagedecoder"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A version is a line of operators.tsv: an operator of ONNX as an opset defines it.
type version struct {
	domain, op string
	since      int64
	attrs      []attribute
	inputs     []parameter
	outputs    int
	types      map[string][]string
}

type attribute struct {
	name, kind string
	needed     bool
}

// A parameter is an input: its name, its type or the name of a set of types, and whether it may be left out.
type parameter struct {
	name, of string
	optional bool
}

// versionsOf reads operators.tsv, but for the versions that end an operator.
func versionsOf(text string) (list []*version, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) < 8 {
			return nil, fmt.Errorf("a line of %d fields: %q", len(f), line)
		}
		if f[0] == "domain" || f[3] == "deprecated" {
			continue
		}
		dot := max(0, strings.LastIndex(f[1], "."))
		v := &version{domain: f[1][:dot], op: strings.TrimPrefix(f[1][dot:], "."), types: make(map[string][]string), outputs: len(strings.Fields(f[6]))}
		if v.since, err = strconv.ParseInt(f[2], 10, 64); err != nil {
			return nil, err
		}
		for a := range strings.FieldsSeq(f[4]) {
			name, kind, _ := strings.Cut(strings.TrimSuffix(a, "!"), ":")
			v.attrs = append(v.attrs, attribute{name, kind, strings.HasSuffix(a, "!")})
		}
		for p := range strings.FieldsSeq(f[5]) {
			name, of, _ := strings.Cut(p, ":")
			v.inputs = append(v.inputs, parameter{name, strings.TrimRight(of, "?*"), strings.HasSuffix(of, "?")})
		}
		for t := range strings.FieldsSeq(f[7]) {
			name, set, _ := strings.Cut(t, "=")
			v.types[name] = strings.Split(set, ",") // the parts of a type of several are no types of tensors
		}
		list = append(list, v)
	}
	return list, nil
}

// elems are ONNX's names of element types.
var elems = map[string]dtype.DType{"bool": dtype.Bool, "uint8": dtype.Uint8, "uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64,
	"int8": dtype.Int8, "int16": dtype.Int16, "int32": dtype.Int32, "int64": dtype.Int64, "float16": dtype.Float16, "bfloat16": dtype.BFloat16,
	"float": dtype.Float32, "double": dtype.Float64, "complex64": dtype.Complex64, "complex128": dtype.Complex128,
	"float8e4m3fn": dtype.Float8E4M3, "float8e5m2": dtype.Float8E5M2, "float8e4m3fnuz": dtype.Float8E4M3FNUZ, "float8e5m2fnuz": dtype.Float8E5M2FNUZ,
	"float8e8m0": dtype.Float8E8M0, "float4e2m1": dtype.Float4E2M1, "int4": dtype.Int4, "uint4": dtype.Uint4, "int2": dtype.Int2, "uint2": dtype.Uint2}

// A pattern is a node test of one node, whose shapes and values fit its operator.
type pattern struct {
	node   *onnx.Node
	inputs map[string]tensor.Any
}

// patternsOf reads a node test for each operator that has one of tensors alone, that with the most inputs.
func patternsOf(path string) (map[string]pattern, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	list := make(map[string]pattern)
	for _, f := range z.File {
		folder, ok := strings.CutSuffix(f.Name, "/model.onnx")
		if !ok {
			continue
		}
		text, err := fs.ReadFile(z, f.Name)
		if err != nil {
			return nil, err
		}
		m, err := onnx.Decode(text)
		if err != nil || len(m.Graph.Nodes) != 1 {
			continue
		}
		n := &m.Graph.Nodes[0]
		if old, ok := list[n.Op]; ok && len(old.inputs) >= len(m.Graph.Inputs) {
			continue
		}
		p := pattern{n, make(map[string]tensor.Any)}
		for i, in := range m.Graph.Inputs {
			if v, err := readValue(z, fmt.Sprintf("%s/test_data_set_0/input_%d.pb", folder, i), in); err == nil && v.Kind() == onnx.KindTensor && v.Strings() == nil {
				p.inputs[in.Name] = v.Tensor()
			}
		}
		if len(p.inputs) == len(m.Graph.Inputs) {
			list[n.Op] = p
		}
	}
	return list, nil
}

// valueOf returns an attribute of a kind.
func (v *version) valueOf(name, kind string) onnx.Attribute {
	switch {
	case name == "dtype" && v.op == "Multinomial":
		return onnx.IntAttr(name, 6)
	case name == "output_dtype" && v.op == "QuantizeLinear":
		return onnx.IntAttr(name, 3)
	case name == "to" && kind == "string":
		return onnx.StringAttr(name, "FLOAT")
	}
	switch kind {
	case "int":
		return onnx.IntAttr(name, 1)
	case "float":
		return onnx.FloatAttr(name, 1)
	case "string":
		return onnx.StringAttr(name, "x")
	case "list_of_ints":
		return onnx.IntsAttr(name, 1)
	case "list_of_floats":
		return onnx.FloatsAttr(name, 1)
	case "list_of_strings":
		return onnx.StringsAttr(name, "x")
	case "graph":
		return onnx.GraphAttr(name, onnx.NewBuilder("body"))
	case "sparse_tensor":
		return onnx.Attribute{Name: name, Type: onnx.AttrSparseTensor, Value: sparse()}
	}
	a, err := onnx.TensorAttr(name, tensor.FromSlice([]float32{1}).Any())
	if err != nil {
		panic(err)
	}
	return a
}

// sparse returns a vector with one element that isn't 0.
func sparse() *onnx.SparseTensor {
	values, err := onnx.NewTensorProto("", tensor.FromSlice([]float32{2}).Any())
	indices, err2 := onnx.NewTensorProto("", tensor.FromSlice([]int64{1}).Any())
	if err = errors.Join(err, err2); err != nil {
		panic(err)
	}
	return &onnx.SparseTensor{Values: values, Indices: indices, Dims: []int64{3}}
}

// model returns the version as a node with attributes. Inputs are of the types of a set of types, or else of the first that is
// listed; with a pattern they have its values and shapes.
func (v *version) model(p *pattern, attrs []onnx.Attribute, set string, elem onnx.ElemType) (*onnx.Model, map[string]tensor.Any) {
	n := onnx.Node{Op: v.op, Domain: v.domain, Attributes: attrs}
	g := &onnx.Graph{Name: "g"}
	values := make(map[string]tensor.Any)
	for i := range max(1, v.outputs) {
		n.Outputs = append(n.Outputs, fmt.Sprint("out", i))
	}
	if p != nil {
		n.Outputs = p.node.Outputs
	}
	for i, in := range v.inputs {
		t := onnx.Type{Kind: onnx.KindTensor, HasShape: true, Shape: []onnx.Dim{{Value: 1}}}
		if p != nil {
			if i >= len(p.node.Inputs) || p.node.Inputs[i] == "" {
				n.Inputs = append(n.Inputs, "")
				continue
			}
			a := p.inputs[p.node.Inputs[i]]
			t.Elem, t.Shape = onnx.ElemOf(a.DType()), nil
			for _, e := range a.Shape() {
				t.Shape = append(t.Shape, onnx.Dim{Value: int64(e)})
			}
			values[in.name] = a
		} else if in.optional {
			n.Inputs = append(n.Inputs, "")
			continue
		}
		listed := v.types[in.of]
		if listed == nil {
			listed = []string{in.of}
		}
		name := func(e onnx.ElemType) bool {
			return slices.ContainsFunc(listed, func(t string) bool { return elemOf(t) == e })
		}
		switch {
		case in.of == set:
			t.Elem = elem
		case name(t.Elem):
		case name(onnx.ElemOf(dtype.Float32)):
			t.Elem = onnx.ElemOf(dtype.Float32)
		case elemOf(listed[0]) != 0:
			t.Elem = elemOf(listed[0])
		}
		if strings.HasPrefix(listed[0], "seq(") {
			t = onnx.Type{Kind: onnx.KindSequence, Of: &onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemOf(dtype.Float32)}}
		} else if a, ok := values[in.name]; ok && t.Elem != onnx.ElemOf(a.DType()) && t.Elem != onnx.ElemString {
			pointwise.Convert(&a, "Cast", elems[elemName(t.Elem)], new(a), nil)
			values[in.name] = a
		}
		n.Inputs = append(n.Inputs, in.name)
		g.Inputs = append(g.Inputs, onnx.ValueInfo{Name: in.name, Type: t})
	}
	for _, o := range n.Outputs {
		if o != "" {
			g.Outputs = append(g.Outputs, onnx.ValueInfo{Name: o})
		}
	}
	g.Nodes = []onnx.Node{n}
	m := &onnx.Model{IR: 10, Opsets: []onnx.Opset{{Domain: v.domain, Version: v.since}}, Graph: g}
	if v.domain != "" {
		m.Opsets = append(m.Opsets, onnx.Opset{Version: 28})
	}
	return m, values
}

// elemOf returns the element type that operators.tsv writes as tensor(NAME); 0 for other types.
func elemOf(text string) onnx.ElemType {
	name, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), "tensor(")
	if d, is := elems[name]; ok && is {
		return onnx.ElemOf(d)
	}
	if ok && name == "string" {
		return onnx.ElemString
	}
	return 0
}

func elemName(e onnx.ElemType) string {
	for name, d := range elems {
		if onnx.ElemOf(d) == e {
			return name
		}
	}
	return ""
}

// gapOf returns the first gap whose reason says one of the words, all of them if there are none.
func gapOf(m *onnx.Model, words ...string) string {
	m.Operators = []*op.Op{imagedecoder.Operator}
	var u *onnx.UnsupportedError
	if errors.As(m.Check(), &u) {
		for _, gap := range u.List {
			if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(gap.Reason, w) }) {
				return gap.Reason
			}
		}
	}
	return ""
}

// reasons are the attributes and the element types that this library doesn't have: patterns of an operator's name and of the attribute, or
// of the type of its set of types, and why.
var reasons = [][3]string{
	{"Attention", "T[12]=tensor(*)", "weights and values are the operands of one MatMul in ONNX's function, which has one type"},
	{"Gradient", "*", "it would differentiate the other operators"},
	{"[CG]*", "T*=tensor(bool)", "Col2Im and GridSample add elements"},
	{"Col2Im", "T=tensor(*)", "it adds elements: of numbers"},
	{"GridSample", "T1=tensor(*)", "it adds elements: of numbers"},
	{"Resize", "T*=tensor(string)", "the modes but nearest add elements"},
	{"Upsample", "T=tensor(string)", "the modes but nearest add elements"},
	{"Dropout", "T*=tensor(float8*fnuz)", "the type is stored and converted, and not computed with"},
	{"Is*", "T1=tensor(float8*fnuz)", "the type is stored and converted, and not computed with"},
	{"QLinearMatMul", "T?=tensor(float8*)", "exact sums are of integers; DequantizeLinear and MatMul have float8"},
	{"Erf", "T=tensor(*int*)", "the results lie between -1 and 1"},
	{"Gemm", "T=tensor(*int*)", "alpha and beta are floats; MatMul and Add have integers"},
	{"ReduceL2", "T=tensor(*int*)", "a root of an integer is none"},
	{"ReduceLog*", "T=tensor(*int*)", "a logarithm of an integer is none"},
	{"Random*Like", "T1=tensor(string)", "the shape alone is read: Shape has strings, and RandomNormal and RandomUniform no input"},
	{"Unique", "T=tensor(complex*)", "complex numbers have no order"},
}

// Every attribute and every element type of every version of every operator of ONNX is known, or has its reason. operators.tsv has the
// facts of ONNX's documentation. Where the shapes of a node test fit a version, its nodes have plans.
func TestOperators(t *testing.T) {
	missing := t.Skipf
	if os.Getenv("ASHLAR_SUITES") == "required" {
		missing = t.Fatalf
	}
	root, err := checkoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	folder := (&report{root: root}).path("conformance/onnx")
	text, err := os.ReadFile(filepath.Join(folder, "operators.tsv"))
	if err != nil {
		missing("the conformance data isn't here: %v", err)
	}
	list, err := versionsOf(string(text))
	if err != nil {
		t.Fatal(err)
	}
	patterns, err := patternsOf(filepath.Join(folder, "node_tests.zip"))
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(reasons))
	fails := func(v *version, what, why string) {
		for i, r := range reasons {
			if name, _ := path.Match(r[0], v.op); name {
				if of, _ := path.Match(r[1], what); of {
					used[i] = true
					return
				}
			}
		}
		t.Errorf("%s %d, %s: %s", v.op, v.since, what, why)
	}
	attributes, types, planned := 0, 0, 0
	for _, v := range list {
		for _, a := range v.attrs {
			attributes++
			var with []onnx.Attribute
			for _, b := range v.attrs {
				if b == a || b.needed || v.op == "LabelEncoder" && b.name == "classes_strings" {
					with = append(with, v.valueOf(b.name, b.kind))
				}
			}
			m, _ := v.model(nil, with, "", 0)
			if why := gapOf(m, "isn't known", "opset", "isn't implemented", "no operator"); why != "" {
				fails(v, a.name, why)
			}
		}
		var p *pattern
		if found, ok := patterns[v.op]; ok {
			m, values := v.model(&found, v.attributesFor(&found, 0), "", 0)
			if s, err := onnx.NewSession(m); err == nil {
				if _, err = s.Plan(values); err == nil {
					p = &found
				}
			}
		}
		for set, list := range v.types {
			if !slices.ContainsFunc(v.inputs, func(in parameter) bool { return in.of == set }) {
				continue
			}
			for _, text := range list {
				elem := elemOf(text)
				if elem == 0 {
					continue
				}
				types++
				m, values := v.model(p, v.attributesFor(p, elem), set, elem)
				var words []string
				if p == nil { // the shapes and attributes may be wrong
					words = []string{"is not defined for", "takes no strings"}
				}
				if why := gapOf(m, words...); why != "" {
					fails(v, set+"="+text, why)
					continue
				}
				if p == nil || elem == onnx.ElemString {
					continue
				}
				planned++
				s, err := onnx.NewSession(m)
				if err == nil {
					_, err = s.Plan(values)
				}
				if err != nil {
					fails(v, set+"="+text, err.Error())
				}
			}
		}
	}
	for i, is := range used {
		if !is {
			t.Errorf("%s %s runs; its reason is old", reasons[i][0], reasons[i][1])
		}
	}
	t.Logf("%d versions, %d attributes, %d types, %d of them planned", len(list), attributes, types, planned)
}

// attributesFor returns the pattern's attributes that a version has and, of other values, those that an element type needs.
func (v *version) attributesFor(p *pattern, elem onnx.ElemType) (list []onnx.Attribute) {
	set := make(map[string]onnx.Attribute)
	if p != nil {
		for _, a := range p.node.Attributes {
			set[a.Name] = a
		}
	}
	delete(set, "reduction") // none is for all types
	switch {
	case v.op == "BitCast" && elem != 0:
		set["to"] = onnx.IntAttr("to", int64(elem))
	case v.op == "Mod" && (elem == 1 || elem == 10 || elem == 11 || elem == 16):
		set["fmod"] = onnx.IntAttr("fmod", 1)
	case strings.HasPrefix(v.op, "Random"):
		set["dtype"] = onnx.IntAttr("dtype", 1)
	case v.op == "DequantizeLinear" && elem == 24: // float8e8m0 is no type of a result
		set["output_dtype"] = onnx.IntAttr("output_dtype", 1)
	}
	for _, a := range v.attrs {
		if x, ok := set[a.name]; ok {
			list = append(list, x)
		}
	}
	return list
}
