package meta

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// opsets are the ones that a model may import.
var opsets = []int64{8, 9, 11, 13, 15, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28}

// A feature is something that a graph may have.
type feature uint

const (
	branches feature = 1 << iota
	loops
	scans
	mapping   // SequenceMap
	calls     // of functions
	sequences // and optionals
	texts     // strings
	weights   // initializers
	constants // Constant nodes
	special   // NaN, infinities, ends of ranges
	views
	inner    // values inside that are outputs, too
	given    // operators of the program
	large    // enough elements for several threads
	casts    // from one type to another
	narrow   // types of 16 bits and fewer
	named    // dimensions with names
	patterns // nodes that stand together
	batches  // operands with an extent that may be cut
	defaults // weights that are inputs, too, which a run may be given
)

// A drawing is a graph that grows.
type drawing struct {
	r     *rand.Rand
	has   feature
	ops   []*op.Op // that the graph may have
	m     *onnx.Model
	g     *onnx.Graph // the model's, or a body's
	frame *frame
	s     scope
	live  []string // values that nodes may read, in the order in which they came
	outer int      // how many of live belong to a graph outside
	count *int     // of names
	fills map[string]optest.SampleInput
	depth int
	grown int // nodes, without the makers of operands

	stored bool            // values are weights or constants
	batch  int             // the first extent of inputs that may be cut along it; 0 is none
	parted map[string]bool // these inputs
	only   []dtype.DType   // the types that operands have most often; nil for all
}

// NewCase draws a graph of some nodes, and inputs. The same seed gives the same case. Half of all operators and of all
// features are left out.
func NewCase(seed uint64, nodes int) *Case { return newCase(seed, nodes, Thing{}) }

// newCase draws a graph that has a thing more often than others, if that is an operator, a type or a kernel.
func newCase(seed uint64, nodes int, want Thing) *Case {
	r := rand.New(rand.NewPCG(seed, 63))
	g := &onnx.Graph{Name: "drawn"}
	m := &onnx.Model{IR: 10, Graph: g, Opsets: []onnx.Opset{{Version: opsets[r.IntN(len(opsets))]}, {Domain: "ai.onnx.ml", Version: int64(1 + r.IntN(5))},
		{Domain: "com.microsoft", Version: 1}, {Domain: "ai.onnx.preview.training", Version: 1}, {Domain: functions, Version: 1}, {Domain: extras, Version: 1}}}
	d := &drawing{r: r, has: feature(r.Uint64()), m: m, g: g, frame: &frame{m: m}, s: make(scope), count: new(int), fills: make(map[string]optest.SampleInput), parted: make(map[string]bool)}
	if d.flag(batches) {
		d.batch = 2 + r.IntN(4)
	}
	if want.Kind != "" {
		d.has = ^feature(0)
	}
	for _, o := range all.Operators() {
		switch {
		case len(o.Versions()) > 0:
		case !d.flag(given): // runs of models without such operators may be prepared
			continue
		default:
			m.Operators = append(m.Operators, o.As(extras, o.Name(), 1))
		}
		if r.IntN(2) == 0 {
			d.ops = append(d.ops, o)
		}
	}
	if name, of, _ := strings.Cut(want.Name, " "); want.Kind != "" {
		d.ops = slices.DeleteFunc(all.Operators(), func(o *op.Op) bool {
			return want.Kind != aPass && want.Kind != aRoute && want.Kind != aType && nameOf(o) != name
		})
		d.only = slices.DeleteFunc(dtype.All(), func(t dtype.DType) bool { return t.String() != cmp.Or(of, name) })
	}
	for tries := 0; d.grown < nodes && tries < 20*nodes; tries++ {
		d.grow()
	}
	d.outputs()
	c := &Case{Seed: seed, Model: m}
	for _, v := range g.Inputs {
		if d.parted[v.Name] {
			c.Parted = append(c.Parted, v.Name)
		}
	}
	d.sets(c)
	return c
}

func (d *drawing) flag(f feature) bool { return d.has&f != 0 }

// one reports true once in n times.
func (d *drawing) one(n int) bool { return d.r.IntN(n) == 0 }

func (d *drawing) fresh(kind string) string {
	*d.count++
	return fmt.Sprint(kind, *d.count)
}

// grow adds a node, and perhaps some that make its operands, or nothing where the node can't be run.
func (d *drawing) grow() {
	nodes, live, weights := len(d.g.Nodes), len(d.live), len(d.g.Initializers)
	inputs := len(d.m.Graph.Inputs)
	var err error
	switch {
	case d.depth < 2 && d.flag(branches) && d.one(16):
		err = d.choose()
	case d.depth < 2 && d.flag(loops) && d.one(16):
		err = d.loop()
	case d.depth < 2 && d.flag(scans) && d.one(16):
		err = d.scan()
	case d.depth == 0 && d.flag(mapping) && d.one(16):
		err = d.each()
	case d.depth == 0 && d.flag(calls) && d.one(16):
		err = d.call()
	case d.flag(sequences) && d.one(12):
		err = d.sequence()
	case d.flag(texts) && d.one(12):
		err = d.text()
	case d.flag(patterns) && d.one(6):
		err = d.pattern()
	case d.one(24):
		err = d.plain()
	case d.flag(views) && d.one(8>>min(d.depth, 1)):
		err = d.view()
	default:
		err = d.operator()
	}
	d.grown++
	if err != nil { // the nodes that it added go
		d.grown--
		for _, name := range d.live[live:] {
			delete(d.s, name)
			delete(d.fills, name)
		}
		d.g.Nodes, d.live, d.g.Initializers = d.g.Nodes[:nodes], d.live[:live], d.g.Initializers[:weights]
		d.m.Graph.Inputs = d.m.Graph.Inputs[:inputs]
	}
}

// most is how many bytes a value has at most.
const most = 1 << 20

// add runs a node, and adds it to the graph.
func (d *drawing) add(n onnx.Node) ([]string, error) {
	if n.Name = d.fresh("n"); len(n.Outputs) == 0 {
		n.Outputs = []string{d.fresh("v")}
	}
	s := maps.Clone(d.s)
	if err := d.frame.node(&n, s); err != nil {
		return nil, err
	}
	for _, name := range n.Outputs {
		if name == "" {
			continue
		}
		if s[name].Kind() == onnx.KindNone || s[name].Kind() == onnx.KindSequence && len(s[name].Items()) == 0 || size(s[name]) > most {
			return nil, fmt.Errorf("%s is too large", name)
		}
	}
	d.g.Nodes = append(d.g.Nodes, n)
	for _, name := range n.Outputs {
		if name != "" {
			d.s[name] = s[name]
			d.live = append(d.live, name)
		}
	}
	return n.Outputs, nil
}

// size is about how many bytes a value has.
func size(v onnx.Value) (n int) {
	switch {
	case v.Kind() == onnx.KindTensor && v.Strings() == nil:
		return v.Tensor().Len() * max(1, v.Tensor().DType().Size())
	case v.Kind() == onnx.KindTensor:
		for _, s := range v.Strings() {
			n += 16 + len(s)
		}
	}
	for _, v := range v.Items() {
		n += 16 + size(v)
	}
	return n
}

func (d *drawing) node(op string, in []string, attrs ...onnx.Attribute) (string, error) {
	out, err := d.add(onnx.Node{Op: op, Inputs: in, Attributes: attrs})
	if err != nil {
		return "", err
	}
	return out[0], nil
}

// value brings a tensor into the graph: as an input, a weight, or a constant.
func (d *drawing) value(x optest.SampleInput) (string, error) {
	v := onnx.TensorValue(x.Value)
	kind := d.r.IntN(3)
	switch {
	case d.flag(weights) && (kind == 0 || (d.depth > 0 || d.stored) && kind < 2):
		name := d.fresh("w")
		t, err := onnx.NewTensorProto(name, x.Value)
		if err != nil {
			return "", err
		}
		d.g.Initializers = append(d.g.Initializers, t)
		d.s[name] = v
		if d.depth == 0 && d.flag(defaults) && d.one(6) {
			d.g.Inputs = append(d.g.Inputs, onnx.ValueInfo{Name: name, Type: typeOf(v)})
			d.fills[name] = x
		}
		d.live = append(d.live, name)
		return name, nil
	case d.flag(constants) && kind == 1 || d.depth > 0 || d.stored:
		a, err := d.constant(x.Value)
		if err != nil {
			return "", err
		}
		return d.node("Constant", nil, a)
	}
	name := d.fresh("x")
	d.input(name, v)
	d.fills[name] = x
	return name, nil
}

// constant is the attribute of a Constant.
func (d *drawing) constant(a tensor.Any) (onnx.Attribute, error) {
	if a.Rank() < 2 && d.one(2) {
		if x, ok := tensor.As[float32](a); ok {
			list := slices.Collect(x.Values())
			if a.Rank() == 0 {
				return onnx.FloatAttr("value_float", list[0]), nil
			}
			return onnx.FloatsAttr("value_floats", list...), nil
		}
		if x, ok := tensor.As[int64](a); ok {
			list := slices.Collect(x.Values())
			if a.Rank() == 0 {
				return onnx.IntAttr("value_int", list[0]), nil
			}
			return onnx.IntsAttr("value_ints", list...), nil
		}
	}
	return onnx.TensorAttr("value", a)
}

func (d *drawing) input(name string, v onnx.Value) {
	d.m.Graph.Inputs = append(d.m.Graph.Inputs, onnx.ValueInfo{Name: name, Type: typeOf(v)})
	d.s[name] = v
	d.live = append(d.live, name)
}

// dtype draws an element type of operands.
func (d *drawing) dtype() dtype.DType {
	if len(d.only) > 0 && !d.one(4) {
		return d.only[d.r.IntN(len(d.only))]
	}
	if d.one(2) {
		if name, ok := d.pick(func(v onnx.Value) bool { return true }); ok {
			return d.s[name].Tensor().DType()
		}
	}
	list := []dtype.DType{dtype.Float32, dtype.Float32, dtype.Float32, dtype.Float64, dtype.Int64, dtype.Int32, dtype.Bool, dtype.Uint8, dtype.Int8, dtype.Uint64, dtype.Uint32, dtype.Int16, dtype.Uint16}
	if d.flag(narrow) && d.one(2) {
		list = slices.DeleteFunc(dtype.All(), func(t dtype.DType) bool { return onnx.ElemOf(t) == onnx.ElemUndefined })
	}
	return list[d.r.IntN(len(list))]
}

// pick returns a tensor of numbers among the live values, one of the newest most often.
func (d *drawing) pick(fits func(v onnx.Value) bool) (string, bool) {
	var list []string
	for _, name := range d.live {
		if v := d.s[name]; v.Kind() == onnx.KindTensor && v.Strings() == nil && fits(v) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "", false
	}
	if n := len(list); n > 6 && !d.one(3) {
		list = list[n-6:]
	}
	return list[d.r.IntN(len(list))], true
}

// operator adds a node of an operator of package op.
func (d *drawing) operator() error {
	if len(d.ops) == 0 {
		return fmt.Errorf("no operator")
	}
	o := d.ops[d.r.IntN(len(d.ops))]
	bits := []int{4, 4, 4, 7}[d.r.IntN(4)]
	if d.flag(large) && d.one(8) {
		bits = 10
	}
	t, like := d.dtype(), []int(nil)
	if !o.Supports(t) {
		list := slices.DeleteFunc(dtype.All(), func(t dtype.DType) bool {
			return onnx.ElemOf(t) == onnx.ElemUndefined || !o.Supports(t) || t.Size() < 4 && t != dtype.Bool && !d.flag(narrow)
		})
		if len(list) == 0 {
			return errNone
		}
		t = list[d.r.IntN(len(list))]
	}
	if name, ok := d.pick(ofType(t)); ok && !d.one(4) {
		like = d.s[name].Shape()
	}
	c, ok := optest.NewSample(d.r, o, t, bits, like)
	if !ok {
		return fmt.Errorf("no sample")
	}
	n := onnx.Node{Op: o.Name(), Domain: o.Domain()}
	if len(o.Versions()) == 0 {
		n.Domain = extras
	}
	for _, x := range c.Inputs {
		if x.Special = x.Special && d.flag(special); x.Special && !x.Fixed && !x.Value.IsZero() {
			d.bands(x.Value)
		}
		name := ""
		if !x.Value.IsZero() {
			var err error
			if name, err = d.operand(x); err != nil {
				return err
			}
		}
		n.Inputs = append(n.Inputs, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
		if !slices.Contains(o.Attributes(), name) {
			continue
		}
		a, err := attribute(name, c.Attrs[name])
		if err != nil {
			return err
		}
		n.Attributes = append(n.Attributes, a)
	}
	for range c.Outputs {
		n.Outputs = append(n.Outputs, d.fresh("v"))
	}
	_, err := d.add(n)
	return err
}

func attribute(name string, v any) (onnx.Attribute, error) {
	switch v := v.(type) {
	case int64:
		return onnx.IntAttr(name, v), nil
	case float32:
		return onnx.FloatAttr(name, v), nil
	case string:
		return onnx.StringAttr(name, v), nil
	case []int64:
		return onnx.IntsAttr(name, v...), nil
	case []float32:
		return onnx.FloatsAttr(name, v...), nil
	case []string:
		return onnx.StringsAttr(name, v...), nil
	}
	a, _ := op.AttrMap{name: v}.Tensor(name)
	return onnx.TensorAttr(name, a)
}

// outputs makes the values that nothing reads outputs of the graph, and some others; but for some results of nodes with several.
func (d *drawing) outputs() {
	read := make(map[string]bool)
	for g := range d.m.Graph.All() {
		for _, n := range g.Nodes {
			for _, name := range n.Inputs {
				read[name] = true
			}
		}
		for _, v := range g.Outputs {
			read[v.Name] = true
		}
	}
	for _, n := range d.g.Nodes {
		for i, name := range n.Outputs {
			if name == "" || read[name] && !(d.flag(inner) && d.one(8)) || i > 0 && d.one(2) {
				continue
			}
			v := onnx.ValueInfo{Name: name}
			if d.one(2) {
				v.Type = typeOf(d.s[name])
			}
			d.g.Outputs = append(d.g.Outputs, v)
		}
	}
}

// sets makes the case's sets of inputs, and gives inputs the shapes that all sets have.
func (d *drawing) sets(c *Case) {
	ins := d.m.Graph.Inputs
	first := Set{In: make(scope), Want: make(scope)}
	left := func(name string) bool { // to its default
		return d.one(2) && slices.ContainsFunc(d.g.Initializers, func(t onnx.TensorProto) bool { return t.Name == name })
	}
	for _, v := range ins {
		if !left(v.Name) {
			first.In[v.Name] = d.s[v.Name]
		}
	}
	for _, v := range d.g.Outputs {
		first.Want[v.Name] = d.s[v.Name]
	}
	c.Sets = append(c.Sets, first)
	for range 3 {
		old, to := 0, 0
		if d.one(2) && len(ins) > 0 { // another extent
			if shape := d.s[ins[d.r.IntN(len(ins))].Name].Shape(); len(shape) > 0 {
				if len(shape) > 2 && !d.one(3) { // behind the channels
					shape = shape[2:]
				}
				old, to = shape[d.r.IntN(len(shape))], d.r.IntN([]int{2, 20, 40}[d.r.IntN(3)])
			}
		}
		s := Set{In: make(scope)}
		for _, v := range ins {
			if left(v.Name) {
				continue
			}
			x, ok := d.fills[v.Name]
			if !ok || x.Fixed {
				s.In[v.Name] = d.s[v.Name]
				continue
			}
			shape := slices.Clone(x.Value.Shape())
			for i, e := range shape {
				if e == old && old != to {
					shape[i] = to
				}
			}
			a := optest.Random(d.r, x.Value.DType(), shape, x.Special, x.Nonzero)
			if x.Special {
				d.bands(a)
			}
			s.In[v.Name] = onnx.TensorValue(a)
		}
		var err error
		if s.Want, err = Reference(c.Model, s.In); err == nil {
			c.Sets = append(c.Sets, s)
		}
	}
	for i := range ins {
		t := &ins[i].Type
		if t.Kind != onnx.KindTensor || d.one(8) {
			continue
		}
		t.HasShape = true
		for k, e := range d.s[ins[i].Name].Shape() {
			dim := onnx.Dim{Value: int64(e)}
			for _, s := range c.Sets {
				if v, ok := s.In[ins[i].Name]; ok && v.Shape()[k] != e {
					dim.Value = -1
				}
			}
			if x, ok := d.fills[ins[i].Name]; dim.Value < 0 || d.flag(named) && ok && !x.Fixed {
				dim.Value = -1
				if d.flag(named) && !d.one(4) {
					dim.Param = fmt.Sprint("d", e)
				}
			}
			t.Shape = append(t.Shape, dim)
		}
	}
}
