package meta

import (
	"maps"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// body draws the nodes of a graph inside, which sees the values outside and inputs of its own.
func (d *drawing) body(inputs ...onnx.Value) *drawing {
	b := *d
	b.g, b.depth, b.outer = &onnx.Graph{Name: d.fresh("g")}, d.depth+1, len(d.live)
	b.s, b.live = maps.Clone(d.s), slices.Clone(d.live)
	for _, v := range inputs {
		name := d.fresh("p")
		b.g.Inputs = append(b.g.Inputs, onnx.ValueInfo{Name: name, Type: typeOf(v)})
		b.s[name] = v
		b.live = append(b.live, name)
	}
	return &b
}

// fill adds some nodes.
func (d *drawing) fill() {
	d.grown = 0
	for n, tries := 1+d.r.IntN(8), 0; d.grown < n && tries < 40; tries++ {
		d.grow()
	}
}

// returns makes a value that fits an output of a body, the newest one or an older one after which others came.
func (d *drawing) returns(fits func(v onnx.Value) bool) bool {
	name, ok := "", false
	for i := len(d.live) - 1; i >= d.outer && (!ok || d.one(2)); i-- {
		if v := d.s[d.live[i]]; v.Kind() == onnx.KindTensor && v.Strings() == nil && fits(v) && d.made(d.live[i]) {
			name, ok = d.live[i], true
		}
	}
	if !ok {
		if name, ok = d.pick(fits); ok {
			same, err := d.node("Identity", []string{name})
			name, ok = same, err == nil
		}
	}
	if ok {
		d.g.Outputs = append(d.g.Outputs, onnx.ValueInfo{Name: name})
	}
	return ok
}

// made reports whether a node of the graph gives a value that is no output yet.
func (d *drawing) made(name string) bool {
	return slices.ContainsFunc(d.g.Nodes, func(n onnx.Node) bool { return slices.Contains(n.Outputs, name) }) &&
		!slices.ContainsFunc(d.g.Outputs, func(v onnx.ValueInfo) bool { return v.Name == name })
}

func anything(onnx.Value) bool { return true }

func ofType(t dtype.DType) func(v onnx.Value) bool {
	return func(v onnx.Value) bool { return v.Tensor().DType() == t }
}

func graphAttr(name string, g *onnx.Graph) onnx.Attribute {
	return onnx.Attribute{Name: name, Type: onnx.AttrGraph, Value: g}
}

func scalar[T bool | int64](v T) optest.SampleInput {
	if b, ok := any(v).(bool); ok {
		return optest.SampleInput{Value: tensor.Scalar(b).Any()}
	}
	return optest.SampleInput{Value: tensor.Scalar(any(v).(int64)).Any(), Fixed: true}
}

// choose adds an If.
func (d *drawing) choose() error {
	cond, err := d.value(scalar(d.one(2)))
	if err != nil {
		return err
	}
	yes := d.body()
	yes.fill()
	no := d.body()
	no.fill()
	n := onnx.Node{Op: "If", Inputs: []string{cond}, Attributes: []onnx.Attribute{graphAttr("then_branch", yes.g), graphAttr("else_branch", no.g)}}
	for range 1 + d.r.IntN(2) {
		if !yes.returns(anything) {
			return errNone
		}
		v := yes.s[yes.g.Outputs[len(yes.g.Outputs)-1].Name]
		if !no.returns(ofType(v.Tensor().DType())) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	_, err = d.add(n)
	return err
}

// loop adds a Loop.
func (d *drawing) loop() error {
	turns, err := d.value(scalar(int64([]int{0, 0, 1, 1, 2, 3, 4, 8}[d.r.IntN(8)])))
	if err != nil {
		return err
	}
	n := onnx.Node{Op: "Loop", Inputs: []string{turns, ""}}
	in := []onnx.Value{onnx.TensorValue(tensor.Scalar(int64(0)).Any()), onnx.TensorValue(tensor.Scalar(true).Any())}
	var carried []onnx.Value
	for range 1 + d.r.IntN(3) {
		if name, ok := d.pick(anything); ok {
			n.Inputs = append(n.Inputs, name)
			carried = append(carried, d.s[name])
		}
	}
	b := d.body(append(in, carried...)...)
	b.fill()
	going, err := b.node("Identity", []string{b.g.Inputs[1].Name})
	if limit, e := b.value(scalar(int64(d.r.IntN(6)))); e == nil && d.one(4) {
		going, err = b.node("Less", []string{b.g.Inputs[0].Name, limit})
	}
	if err != nil {
		return err
	}
	b.g.Outputs = []onnx.ValueInfo{{Name: going}}
	for _, v := range carried {
		alike := func(w onnx.Value) bool {
			return w.Tensor().DType() == v.Tensor().DType() && slices.Equal(w.Shape(), v.Shape())
		}
		if !b.returns(alike) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	for range d.r.IntN(3) {
		if !b.returns(anything) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	if len(n.Outputs) == 0 {
		return errNone
	}
	n.Attributes = []onnx.Attribute{graphAttr("body", b.g)}
	_, err = d.add(n)
	return err
}

// scan adds a Scan.
func (d *drawing) scan() error {
	rows := func(v onnx.Value) bool { s := v.Shape(); return len(s) > 0 && s[0] < 9 }
	first, ok := d.pick(rows)
	if !ok {
		return errNone
	}
	n := onnx.Node{Op: "Scan"}
	var in, carried []onnx.Value
	for range d.r.IntN(3) {
		name, _ := d.pick(anything)
		n.Inputs = append(n.Inputs, name)
		carried = append(carried, d.s[name])
	}
	in = slices.Clone(carried)
	whole := []string{first}
	if second, ok := d.pick(func(v onnx.Value) bool { return rows(v) && v.Shape()[0] == d.s[first].Shape()[0] }); ok && d.one(2) {
		whole = append(whole, second)
	}
	var back []int64
	for _, name := range whole {
		a := d.s[name].Tensor()
		row, err := tensor.Make(a.DType(), a.Shape()[1:]...)
		if err == nil && a.Dim(0) > 0 {
			err = tensor.Copy(row, a.Slice(tensor.I(0)))
		}
		if err != nil {
			return err
		}
		in = append(in, onnx.TensorValue(row))
		back = append(back, d.r.Int64N(2))
	}
	b := d.body(in...)
	b.fill()
	for _, v := range carried {
		if !b.returns(func(w onnx.Value) bool {
			return w.Tensor().DType() == v.Tensor().DType() && slices.Equal(w.Shape(), v.Shape())
		}) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	var backOut []int64
	for range 1 + d.r.IntN(2) {
		if !b.returns(anything) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
		backOut = append(backOut, d.r.Int64N(2))
	}
	n.Inputs = append(n.Inputs, whole...)
	n.Attributes = []onnx.Attribute{graphAttr("body", b.g), onnx.IntAttr("num_scan_inputs", int64(len(whole)))}
	if d.one(2) {
		n.Attributes = append(n.Attributes, onnx.IntsAttr("scan_input_directions", back...), onnx.IntsAttr("scan_output_directions", backOut...))
	}
	_, err := d.add(n)
	return err
}

// each adds a SequenceMap.
func (d *drawing) each() error {
	list, ok := d.sequenceValue()
	if !ok || len(d.s[list].Items()) == 0 || d.m.Opset("") < 17 {
		return errNone
	}
	n := onnx.Node{Op: "SequenceMap", Inputs: []string{list}}
	in := []onnx.Value{d.s[list].Items()[0]}
	if name, ok := d.pick(anything); ok && d.one(2) {
		n.Inputs = append(n.Inputs, name)
		in = append(in, d.s[name])
	}
	b := d.body(in...)
	b.fill()
	for range 1 + d.r.IntN(2) {
		if !b.returns(anything) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	n.Attributes = []onnx.Attribute{graphAttr("body", b.g)}
	_, err := d.add(n)
	return err
}

// call adds a function, and a node that calls it.
func (d *drawing) call() error {
	n := onnx.Node{Domain: functions, Op: d.fresh("F")}
	var in []onnx.Value
	for range 1 + d.r.IntN(3) {
		if name, ok := d.pick(anything); ok {
			n.Inputs = append(n.Inputs, name)
			in = append(in, d.s[name])
		}
	}
	b := d.body(in...)
	b.live, b.outer, b.has = b.live[b.outer:], 0, b.has&^weights
	for _, name := range d.live {
		delete(b.s, name)
	}
	b.fill()
	for range 1 + d.r.IntN(2) {
		if !b.returns(anything) {
			return errNone
		}
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	d.m.Functions = append(d.m.Functions, onnx.Function{Domain: functions, Name: n.Op, Inputs: names(b.g.Inputs), Outputs: names(b.g.Outputs), Nodes: b.g.Nodes, Opsets: d.m.Opsets})
	_, err := d.add(n)
	if err != nil {
		d.m.Functions = d.m.Functions[:len(d.m.Functions)-1]
	}
	return err
}

// sequenceValue returns a sequence that lives, or makes one.
func (d *drawing) sequenceValue() (string, bool) {
	for _, i := range d.r.Perm(len(d.live)) {
		if name := d.live[i]; d.s[name].Kind() == onnx.KindSequence && !d.one(3) {
			return name, true
		}
	}
	first, ok := d.pick(anything)
	if !ok {
		return "", false
	}
	list := []string{first}
	for range d.r.IntN(3) {
		if name, ok := d.pick(ofType(d.s[first].Tensor().DType())); ok {
			list = append(list, name)
		}
	}
	name, err := d.node("SequenceConstruct", list)
	return name, err == nil
}

// sequence adds a node that makes, changes or reads a sequence or an optional.
func (d *drawing) sequence() error {
	list, ok := d.sequenceValue()
	if !ok {
		return errNone
	}
	items := d.s[list].Items()
	var err error
	place := func() string {
		at := int64(0)
		if n := len(items); n > 0 {
			at = int64(d.r.IntN(2*n) - n)
		}
		var name string
		name, err = d.value(scalar(at))
		return name
	}
	like := func() string {
		if len(items) > 0 {
			if name, ok := d.pick(ofType(items[0].Tensor().DType())); ok {
				return name
			}
		}
		err = errNone
		return ""
	}
	n := onnx.Node{Inputs: []string{list}}
	switch d.r.IntN(9) {
	case 0, 1:
		n.Op, n.Inputs = "SequenceAt", append(n.Inputs, place())
	case 2:
		n.Op, n.Inputs = "SequenceInsert", append(n.Inputs, like(), place())
	case 3:
		n.Op, n.Inputs = "SequenceErase", append(n.Inputs, place())
	case 4:
		n.Op = "SequenceLength"
	case 5:
		n.Op, n.Attributes = "ConcatFromSequence", []onnx.Attribute{onnx.IntAttr("axis", d.r.Int64N(2)), onnx.IntAttr("new_axis", d.r.Int64N(2))}
	case 6:
		name, _ := d.pick(anything)
		n.Op, n.Inputs, n.Attributes = "SplitToSequence", []string{name}, []onnx.Attribute{onnx.IntAttr("axis", d.r.Int64N(2)), onnx.IntAttr("keepdims", d.r.Int64N(2))}
	case 7:
		n.Op = "Identity"
	default:
		if d.one(2) {
			list, _ = d.pick(anything)
		}
		var some string
		some, err = d.node("Optional", []string{list})
		n.Op, n.Inputs = []string{"OptionalHasElement", "OptionalGetElement"}[d.r.IntN(2)], []string{some}
	}
	if err != nil {
		return err
	}
	_, err = d.add(n)
	return err
}

// words are elements of tensors of strings.
var words = []string{"", "a", "B", "ab", "Ärger", "日本", "x y z", "1", "-2.5", "nan", "\x00", "the", "👩‍🚀"}

// text adds a node that makes or reads strings.
func (d *drawing) text() error {
	var live []string
	for _, name := range d.live {
		if d.s[name].Strings() != nil {
			live = append(live, name)
		}
	}
	some := func() (string, error) {
		if len(live) > 0 && !d.one(4) {
			return live[d.r.IntN(len(live))], nil
		}
		shape := [][]int{{}, {3}, {2, 2}, {1, 4}}[d.r.IntN(4)]
		list := make([]string, 1)
		for _, e := range shape {
			list = make([]string, len(list)*e)
		}
		for i := range list {
			list[i] = words[d.r.IntN(len(words))]
		}
		v := onnx.StringsValue(shape, list...)
		if d.depth == 0 && d.one(2) {
			name := d.fresh("x")
			d.input(name, v)
			return name, nil
		}
		t, err := onnx.NewStringsProto("", shape, list...)
		if err != nil {
			return "", err
		}
		return d.node("Constant", nil, onnx.Attribute{Name: "value", Type: onnx.AttrTensor, Value: t})
	}
	a, err := some()
	if err != nil {
		return err
	}
	n := onnx.Node{Inputs: []string{a}}
	switch d.r.IntN(10) {
	case 8:
		n.Op, n.Domain = "CategoryMapper", "ai.onnx.ml"
		n.Attributes = []onnx.Attribute{onnx.StringsAttr("cats_strings", "a", "B", "1"), onnx.IntsAttr("cats_int64s", 3, 1, 2)}
	case 0:
		b, err := some()
		if err != nil {
			return err
		}
		n.Op, n.Inputs = "StringConcat", append(n.Inputs, b)
	case 1:
		n.Op, n.Outputs = "StringSplit", []string{d.fresh("v"), d.fresh("v")}
	case 2:
		n.Op, n.Attributes = "RegexFullMatch", []onnx.Attribute{onnx.StringAttr("pattern", "[a-z]*")}
	case 3:
		n.Op, n.Attributes = "StringNormalizer", []onnx.Attribute{onnx.StringAttr("case_change_action", "UPPER")}
	case 4:
		b, err := some()
		if err != nil {
			return err
		}
		n.Op, n.Inputs = "Equal", append(n.Inputs, b)
	case 5:
		name, ok := d.pick(func(v onnx.Value) bool { return v.Tensor().Len() < 1000 })
		if !ok {
			return errNone
		}
		n.Op, n.Inputs, n.Attributes = "Cast", []string{name}, []onnx.Attribute{onnx.IntAttr("to", int64(onnx.ElemString))}
	case 6:
		n.Op = "Identity"
	case 7:
		list, err := d.ints(0, -1)
		if err != nil {
			return err
		}
		n.Op, n.Inputs = "Gather", append(n.Inputs, list)
	default:
		n.Op, n.Attributes = "Cast", []onnx.Attribute{onnx.IntAttr("to", int64(onnx.ElemFloat32))}
	}
	_, err = d.add(n)
	return err
}

// plain adds a node of an operator that has no cases in package optest, since its operands are few numbers.
func (d *drawing) plain() error {
	number := func(v int64) string {
		name, _ := d.value(scalar(v))
		return name
	}
	size := int64(d.r.IntN(9))
	n := onnx.Node{}
	elem := []onnx.ElemType{onnx.ElemFloat32, onnx.ElemFloat64, onnx.ElemFloat16}[d.r.IntN(3)]
	switch d.r.IntN(8) {
	case 6:
		x, err := d.value(optest.SampleInput{Value: optest.Random(d.r, dtype.Float32, []int{2, 3, 6, 7}, false, false)})
		if err != nil {
			return err
		}
		at, err := d.value(optest.SampleInput{Value: tensor.FromSlice([]float32{0, 1, 1, 4, 5, 1, 0, 2, 6, 5}, 2, 5).Any(), Fixed: true})
		if err != nil {
			return err
		}
		n.Op, n.Inputs, n.Attributes = "MaxRoiPool", []string{x, at}, []onnx.Attribute{onnx.IntsAttr("pooled_shape", 2, 3)}
	case 0:
		n.Op, n.Inputs = "Range", []string{number(size), number(size + int64(d.r.IntN(9))), number(1 + int64(d.r.IntN(3)))}
	case 1:
		n.Op, n.Inputs, n.Attributes = []string{"HannWindow", "HammingWindow", "BlackmanWindow"}[d.r.IntN(3)], []string{number(size)}, []onnx.Attribute{onnx.IntAttr("periodic", d.r.Int64N(2))}
	case 2:
		n.Op, n.Attributes = "RandomNormal", []onnx.Attribute{onnx.IntsAttr("shape", size, 3), onnx.FloatAttr("seed", 7), onnx.IntAttr("dtype", int64(elem))}
	case 3:
		n.Op, n.Attributes = "RandomUniform", []onnx.Attribute{onnx.IntsAttr("shape", size, 3), onnx.FloatAttr("seed", 7), onnx.IntAttr("dtype", int64(elem))}
	case 4:
		f, err := d.value(optest.SampleInput{Value: tensor.Scalar(float32(0.5)).Any(), Fixed: true})
		if err != nil {
			return err
		}
		g, err := d.value(optest.SampleInput{Value: tensor.Scalar(float32(3000)).Any(), Fixed: true})
		if err != nil {
			return err
		}
		n.Op, n.Inputs = "MelWeightMatrix", []string{number(4), number(16), number(8000), f, g}
	case 5:
		n.Op, n.Attributes = "ConstantOfShape", nil
		list, err := d.ints(size, 2)
		if err != nil {
			return err
		}
		n.Inputs = []string{list}
	default:
		name, ok := d.pick(ofType(dtype.Int64))
		if !ok {
			return errNone
		}
		n.Op, n.Domain, n.Inputs = "LabelEncoder", "ai.onnx.ml", []string{name}
		n.Attributes = []onnx.Attribute{onnx.IntsAttr("keys_int64s", 0, 1, 2, 3), onnx.FloatsAttr("values_floats", 0.5, -1, 2, 7)}
	}
	_, err := d.add(n)
	return err
}
