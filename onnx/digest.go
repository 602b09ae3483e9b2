package onnx

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// Digest returns the SHA-256 of a value. Of a tensor of numbers it is tensor.Digest. Of other values it covers the parts.
// Strings have the shape, and each string its length and bytes. A sequence has the digests of its elements, a map the digests of
// its keys and values. It fails for the zero Value, and where elements can't be read.
func (v Value) Digest() (d [sha256.Size]byte, err error) {
	switch {
	case !v.known():
		return d, failf("%w: there is no value", tensor.ErrValue)
	case v.isTensor() && v.text == nil:
		return tensor.Digest(v.a)
	}
	s := newSummer("value")
	switch v.Kind() {
	case KindTensor:
		if _, err := tensor.Digest(v.a); err != nil { // a description, or closed
			return d, err
		}
		s.text("string")
		s.shape(v.a.Shape())
		for _, t := range v.Strings() {
			s.text(t)
		}
	case KindOptional:
		s.text("nothing")
	default:
		s.text([]string{KindSequence: "sequence", KindMap: "map"}[v.seq.kind])
		s.text(v.seq.elem.String())
		s.number(int64(len(v.seq.items)))
		for i, item := range v.seq.items {
			d, err := item.Digest()
			if err != nil {
				return d, in(fmt.Sprintf("element %d", i), err)
			}
			s.Write(d[:])
		}
	}
	return s.sum(), nil
}

// A summer writes parts to a hash so that no two lists of parts have the same bytes. Numbers are 8 bytes in ascending order; texts
// follow their length.
type summer struct {
	*bufio.Writer
	h hash.Hash
}

func newSummer(kind string) *summer {
	h := sha256.New()
	s := &summer{bufio.NewWriter(h), h}
	s.WriteString("ASHLAR\x00\x01")
	s.text(kind)
	return s
}

func (s *summer) number(n int64) {
	s.Write(binary.LittleEndian.AppendUint64(s.AvailableBuffer(), uint64(n)))
}

func (s *summer) text(t string) {
	s.number(int64(len(t)))
	io.WriteString(s, t)
}

func (s *summer) texts(list []string) {
	s.number(int64(len(list)))
	for _, t := range list {
		s.text(t)
	}
}

func (s *summer) shape(list []int) {
	s.number(int64(len(list)))
	for _, n := range list {
		s.number(int64(n))
	}
}

func (s *summer) sum() (d [sha256.Size]byte) {
	s.Flush()
	s.h.Sum(d[:0])
	return d
}

// Digests returns the digests of the model, by which a receipt names it: of each weight of its graph, dense or sparse, and of all
// else that a run depends on. That is the opsets, the nodes in their order with their names, the inputs and outputs,
// the functions, and constants and weights of graphs inside nodes. Texts for people, metadata, the graph's
// name, types of values between the nodes, and how a file stores elements don't count: a model converted between files has
// the same digests. The order of weights, opsets, functions and attributes doesn't count either.
func (m *Model) Digests() (p receipt.Program, err error) {
	err = m.use(func() error {
		p, err = m.digests()
		return err
	})
	return p, err
}

func (m *Model) digests() (p receipt.Program, err error) {
	if m.Graph == nil {
		return p, failf("the model has no graph")
	}
	d := digester{summer: newSummer("graph"), m: m}
	d.opsets(m.Opsets)
	d.graph(m.Graph, true)
	for _, f := range sortedBy(m.Functions, func(f *Function) string { return f.Domain + "\x00" + f.Name + "\x00" + f.Overload }) {
		d.text(domainOf(f.Domain))
		d.text(f.Name)
		d.text(f.Overload)
		d.texts(f.Inputs)
		d.texts(f.Outputs)
		d.texts(slices.Sorted(slices.Values(f.Attributes)))
		d.attributes(f.Defaults)
		d.nodes(f.Nodes)
		d.opsets(f.Opsets)
	}
	p.Graph = d.sum()
	for i := range m.Graph.Initializers {
		d.weight(&p, &m.Graph.Initializers[i], nil)
	}
	for i := range m.Graph.Sparse {
		d.weight(&p, &m.Graph.Sparse[i].Values, &m.Graph.Sparse[i])
	}
	slices.SortStableFunc(p.Weights, func(a, b receipt.Item) int { return cmp.Compare(a.Name, b.Name) })
	return p, d.err
}

// sortedBy returns pointers to the elements of list, in the order of their keys.
func sortedBy[T any](list []T, key func(*T) string) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	slices.SortStableFunc(out, func(a, b *T) int { return cmp.Compare(key(a), key(b)) })
	return out
}

// domainOf returns the one name that a domain has in digests.
func domainOf(domain string) string {
	if isDefault(domain) {
		return ""
	}
	return domain
}

// A digester hashes a model. err is the first thing that couldn't be read.
type digester struct {
	*summer
	m     *Model
	depth int // of graphs inside each other
	err   error
}

func (d *digester) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *digester) opsets(list []Opset) {
	d.number(int64(len(list)))
	for _, o := range sortedBy(list, func(o *Opset) string { return domainOf(o.Domain) }) {
		d.text(domainOf(o.Domain))
		d.number(o.Version)
	}
}

// tensor returns the digest of the elements of t.
func (d *digester) tensor(t *TensorProto) (sum [sha256.Size]byte) {
	v, err := d.m.elements(t)
	if err == nil {
		sum, err = v.Digest()
	}
	if err == nil && v.text == nil && !d.m.isPlaced(t) {
		err = v.a.Close() // it is a copy
	}
	if err != nil {
		d.fail(in(fmt.Sprintf("tensor %q", t.Name), err))
	}
	return sum
}

// elements returns the value that t describes.
func (m *Model) elements(t *TensorProto) (Value, error) {
	if t.Type != ElemString {
		a, err := m.load(t)
		return Value{a: a}, err
	}
	list, err := m.strings(t)
	if err != nil {
		return Value{}, err
	}
	shape, err := t.Shape()
	return StringsValue(shape, list...), err
}

// weight adds a weight to the list. Of a sparse one all count that it consists of.
func (d *digester) weight(p *receipt.Program, t *TensorProto, sparse *SparseTensor) {
	item := receipt.Item{Name: t.Name, Type: t.String(), Digest: d.tensor(t)}
	if sparse != nil {
		s := newSummer("sparse")
		d.sparse(s, sparse)
		item.Type, item.Digest = "sparse("+item.Type+")", s.sum()
	}
	p.Weights = append(p.Weights, item)
}

func (d *digester) sparse(s *summer, t *SparseTensor) {
	if t == nil {
		d.fail(failf("an attribute holds no tensor"))
		return
	}
	for _, part := range []*TensorProto{&t.Values, &t.Indices} {
		sum := d.tensor(part)
		s.Write(sum[:])
	}
	s.number(int64(len(t.Dims)))
	for _, n := range t.Dims {
		s.number(n)
	}
}

// graph hashes a graph; the weights of the model's own are listed apart.
func (d *digester) graph(g *Graph, top bool) {
	if d.depth > maxNested || g == nil { // one that holds itself has no end
		d.fail(failf("an attribute holds no graph, or graphs stand inside each other more than %d deep", maxNested))
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	for _, list := range [][]ValueInfo{g.Inputs, g.Outputs} {
		d.number(int64(len(list)))
		for i := range list {
			d.text(list[i].Name)
			d.typ(&list[i].Type)
		}
	}
	d.nodes(g.Nodes)
	if top {
		return
	}
	d.number(int64(len(g.Initializers)))
	for _, t := range sortedBy(g.Initializers, func(t *TensorProto) string { return t.Name }) {
		sum := d.tensor(t)
		d.text(t.Name)
		d.Write(sum[:])
	}
	d.number(int64(len(g.Sparse)))
	for _, t := range sortedBy(g.Sparse, func(t *SparseTensor) string { return t.Values.Name }) {
		d.text(t.Values.Name)
		d.sparse(d.summer, t)
	}
}

func (d *digester) nodes(list []Node) {
	d.number(int64(len(list)))
	for i := range list {
		n := &list[i]
		d.text(n.Name)
		d.text(n.Op)
		d.text(domainOf(n.Domain))
		d.text(n.Overload)
		d.texts(n.Inputs)
		d.texts(n.Outputs)
		d.attributes(n.Attributes)
	}
}

func (d *digester) attributes(list []Attribute) {
	d.number(int64(len(list)))
	for _, a := range sortedBy(list, func(a *Attribute) string { return a.Name }) {
		d.text(a.Name)
		d.text(a.Ref)
		if a.Ref != "" {
			d.number(int64(a.Type))
		} else {
			d.attribute(a.Value)
		}
	}
}

// typ hashes a type by its parts, as the name of a dimension may be any text.
func (d *digester) typ(t *Type) {
	for depth := 0; t != nil; t = t.Of {
		if depth++; depth > maxNested { // one that holds itself has no end
			d.fail(failf("types stand inside each other more than %d deep", maxNested))
			return
		}
		d.number(int64(t.Kind))
		d.number(int64(t.Elem))
		if !t.HasShape {
			d.number(-1)
			continue
		}
		d.number(int64(len(t.Shape)))
		for _, n := range t.Shape {
			d.number(max(n.Value, -1))
			if n.Value < 0 {
				d.text(n.Param)
			}
		}
	}
	d.number(-1)
}

// attribute hashes the kind of an attribute's value, which is that of a file whatever Attribute.Type says, and the value.
func (d *digester) attribute(value any) {
	switch v := value.(type) {
	case nil:
		d.number(int64(AttrUndefined))
	case float32:
		d.number(int64(AttrFloat))
		d.number(int64(math.Float32bits(v)))
	case int64:
		d.number(int64(AttrInt))
		d.number(v)
	case string:
		d.number(int64(AttrString))
		d.text(v)
	case *TensorProto:
		d.number(int64(AttrTensor))
		if v == nil {
			d.fail(failf("an attribute holds no tensor"))
			return
		}
		sum := d.tensor(v)
		d.Write(sum[:])
	case *SparseTensor:
		d.number(int64(AttrSparseTensor))
		d.sparse(d.summer, v)
	case *Graph:
		d.number(int64(AttrGraph))
		d.graph(v, false)
	case *Type:
		d.number(int64(AttrTypeProto))
		d.typ(v)
	case []float32:
		eachOf(d, AttrFloats, v, func(v *float32) any { return *v })
	case []int64:
		eachOf(d, AttrInts, v, func(v *int64) any { return *v })
	case []string:
		eachOf(d, AttrStrings, v, func(v *string) any { return *v })
	case []TensorProto:
		eachOf(d, AttrTensors, v, func(v *TensorProto) any { return v })
	case []SparseTensor:
		eachOf(d, AttrSparseTensors, v, func(v *SparseTensor) any { return v })
	case []Graph:
		eachOf(d, AttrGraphs, v, func(v *Graph) any { return v })
	case []Type:
		eachOf(d, AttrTypes, v, func(v *Type) any { return v })
	default:
		d.fail(failf("an attribute holds a %T, which ONNX doesn't have", value))
	}
}

func eachOf[T any](d *digester, kind AttrType, list []T, value func(*T) any) {
	d.number(int64(kind))
	d.number(int64(len(list)))
	for i := range list {
		d.attribute(value(&list[i]))
	}
}
