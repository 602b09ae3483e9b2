package onnx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx/internal/wire"
	"google.golang.org/protobuf/encoding/protowire"
)

// Encode writes m as an ONNX file. Equal models give equal bytes. The raw elements of the main graph's initializers start
// at multiples of 8, so that Open can use them in place. Fields that the decoder skips (training information) aren't written.
// It fails if an attribute's Value isn't of the Go type that its Type asks for.
func Encode(m *Model) (file []byte, err error) {
	err = m.use(func() error {
		file, err = encode(m, nil)
		return err
	})
	return file, err
}

// encode is Encode, with the large weights written to data if that isn't nil.
func encode(m *Model, data *data) ([]byte, error) {
	if m.Graph == nil {
		return nil, failf("the model has no graph")
	}
	e := encoder{own: m.buf, data: data}
	defer e.release()
	b := wire.AppendInt(nil, 1, m.IR)
	b = wire.AppendString(b, 2, m.Producer)
	b = wire.AppendString(b, 3, m.ProducerVersion)
	b = wire.AppendString(b, 4, m.Domain)
	b = wire.AppendInt(b, 5, m.Version)
	b = wire.AppendString(b, 6, m.Doc)
	b = e.opsets(b, 8, m.Opsets)
	b = e.entries(b, 14, m.Metadata)
	for i := range m.Functions {
		b = wire.AppendBytes(b, 25, e.function(&m.Functions[i]))
	}
	b = e.mainGraph(b, m.Graph)
	if e.err != nil {
		return nil, in(fmt.Sprintf("graph %q", m.Graph.Name), e.err)
	}
	return b, nil
}

// rawAlign is the boundary that raw elements start at: it suits every element type.
const rawAlign = 8

// An encoder appends fields to a message. err is the first thing that couldn't be written.
type encoder struct {
	err   error
	depth int                    // of graphs inside each other
	own   *mem.Buffer            // the model's, held by the caller
	held  map[*mem.Buffer]func() // other models', whose tensors are among this one's
	data  *data                  // nil: elements stay where they are
}

// hold keeps the bytes of a tensor in place until release. It reports whether they are there.
func (e *encoder) hold(t *TensorProto) bool {
	if t.from == nil || t.from == e.own || e.held[t.from] != nil {
		return true
	}
	release, err := wire.Hold(t.from)
	if err != nil {
		if e.err == nil {
			e.err = in(fmt.Sprintf("tensor %q", t.Name), err)
		}
		return false
	}
	if e.held == nil {
		e.held = make(map[*mem.Buffer]func())
	}
	e.held[t.from] = release
	return true
}

func (e *encoder) release() {
	for _, f := range e.held {
		f()
	}
}

func (e *encoder) entries(b []byte, num protowire.Number, list []Entry) []byte {
	for _, kv := range list {
		b = wire.AppendBytes(b, num, wire.AppendString(wire.AppendString(nil, 1, kv.Key), 2, kv.Value))
	}
	return b
}

func (e *encoder) opsets(b []byte, num protowire.Number, list []Opset) []byte {
	for _, o := range list {
		b = wire.AppendBytes(b, num, wire.AppendInt(wire.AppendString(nil, 1, o.Domain), 2, o.Version))
	}
	return b
}

// mainGraph appends the model's graph with its initializers last, each where its raw elements are aligned. Where they
// end up depends on the length of the graph, whose own size depends on the padding: try each size of the length.
func (e *encoder) mainGraph(b []byte, g *Graph) []byte {
	b = protowire.AppendTag(b, 7, protowire.BytesType)
	rest := e.graph(g)
	weights := e.stored(g.Initializers)
	heads := make([][]byte, len(weights))
	for i := range weights {
		heads[i] = e.tensorHead(&weights[i])
	}
	for lenSize := 1; ; lenSize++ {
		pads := make([]int, len(heads))
		start := len(b) + lenSize
		at := start + len(rest)
		for i := range heads {
			at, pads[i] = place(at, &weights[i], len(heads[i]))
		}
		if protowire.SizeVarint(uint64(at-start)) > lenSize {
			continue
		}
		b = wire.AppendLength(b, at-start, lenSize)
		b = append(b, rest...)
		for i := range heads {
			t := &weights[i]
			b = protowire.AppendTag(b, 5, protowire.BytesType)
			b = protowire.AppendVarint(b, uint64(len(heads[i])+pads[i]+tailSize(t)))
			b = append(b, heads[i]...)
			b = appendPadding(b, t, pads[i])
			b = e.tensorTail(b, t)
		}
		return b
	}
}

// place says where an initializer that starts at offset at ends, and how many bytes of padding its head needs after it.
func place(at int, t *TensorProto, head int) (end, pad int) {
	const tag = 1
	for pad = 0; ; pad++ {
		if pad > 0 && pad < minPadding(t) {
			continue
		}
		size := head + pad + tailSize(t)
		end = at + tag + protowire.SizeVarint(uint64(size)) + size
		if len(t.Raw) == 0 || t.External != nil || (end-len(t.Raw))%rawAlign == 0 {
			return end, pad
		}
	}
}

// minPadding is the least padding in bytes. Padding is a doc_string of spaces, followed by the real one: of a field that comes twice the last one counts.
func minPadding(t *TensorProto) int {
	if t.Doc == "" {
		return 4
	}
	return 2
}

func appendPadding(b []byte, t *TensorProto, pad int) []byte {
	if pad > 0 {
		b = protowire.AppendTag(b, 12, protowire.BytesType)
		b = protowire.AppendString(b, strings.Repeat(" ", pad-minPadding(t)))
		if t.Doc == "" {
			b = protowire.AppendString(protowire.AppendTag(b, 12, protowire.BytesType), "")
		}
	}
	return b
}

// tensorHead is the message without documentation and raw elements.
func (e *encoder) tensorHead(t *TensorProto) []byte {
	b := wire.AppendInts(nil, 1, t.Dims)
	b = wire.AppendInt(b, 2, int64(t.Type))
	if t.Segment {
		b = wire.AppendBytes(b, 3, nil)
	}
	b = wire.AppendString(b, 8, t.Name)
	if x := t.External; x != nil {
		entries := x.Entries
		if entries == nil {
			entries = []Entry{{"location", x.Location}, {"offset", strconv.FormatInt(x.Offset, 10)}}
			if x.Length >= 0 {
				entries = append(entries, Entry{"length", strconv.FormatInt(x.Length, 10)})
			}
		}
		b = wire.AppendInt(e.entries(b, 13, entries), 14, 1)
	}
	b = e.entries(b, 16, t.Metadata)
	if t.list != 0 && t.External == nil && e.hold(t) { // as it stood in the file
		var f wire.Field
		for m := t.body; ; {
			at := m.Bytes
			if ok, err := m.Next(&f); !ok || err != nil {
				break
			}
			if f.Num == t.list {
				b = append(b, at[:len(at)-len(m.Bytes)]...)
			}
		}
	}
	return b
}

// hasRaw reports whether raw_data is written. An empty tensor is marked by a raw_data of no bytes, as other writers do.
func (t *TensorProto) hasRaw() bool { return t.Raw != nil && t.External == nil }

// tensorTail appends the fields after the padding: documentation, then raw elements. tailSize is its length.
func (e *encoder) tensorTail(b []byte, t *TensorProto) []byte {
	b = wire.AppendString(b, 12, t.Doc)
	if t.hasRaw() && e.hold(t) {
		b = wire.AppendBytes(b, rawField, t.Raw)
	}
	return b
}

func tailSize(t *TensorProto) (n int) {
	if t.Doc != "" {
		n = 1 + protowire.SizeBytes(len(t.Doc))
	}
	if t.hasRaw() {
		n += 1 + protowire.SizeBytes(len(t.Raw))
	}
	return n
}

func (e *encoder) tensor(t *TensorProto) []byte { return e.tensorTail(e.tensorHead(t), t) }

func (e *encoder) sparse(s *SparseTensor) []byte {
	b := wire.AppendBytes(nil, 1, e.tensor(&s.Values))
	b = wire.AppendBytes(b, 2, e.tensor(&s.Indices))
	return wire.AppendInts(b, 3, s.Dims)
}

// graph is the message without its initializers.
func (e *encoder) graph(g *Graph) (b []byte) {
	if e.depth++; e.depth > maxNested+1 { // one that holds itself has no end
		if e.err == nil {
			e.err = failf("graphs stand inside each other more than %d deep", maxNested)
		}
		e.depth--
		return nil
	}
	defer func() { e.depth-- }()
	for i := range g.Nodes {
		b = wire.AppendBytes(b, 1, e.node(&g.Nodes[i], i))
	}
	b = wire.AppendString(b, 2, g.Name)
	b = wire.AppendString(b, 10, g.Doc)
	b = e.values(b, 11, g.Inputs)
	b = e.values(b, 12, g.Outputs)
	b = e.values(b, 13, g.Values)
	for _, q := range g.Quantization {
		b = wire.AppendBytes(b, 14, e.entries(wire.AppendString(nil, 1, q.Tensor), 2, q.Params))
	}
	for i := range g.Sparse {
		b = wire.AppendBytes(b, 15, e.sparse(&g.Sparse[i]))
	}
	return e.entries(b, 16, g.Metadata)
}

// subgraph is a graph inside an attribute, where nothing is aligned.
func (e *encoder) subgraph(g *Graph) []byte {
	b := e.graph(g)
	weights := e.stored(g.Initializers)
	for i := range weights {
		b = wire.AppendBytes(b, 5, e.tensor(&weights[i]))
	}
	return b
}

func (e *encoder) node(n *Node, i int) []byte {
	b := wire.AppendStrings(nil, 1, n.Inputs)
	b = wire.AppendStrings(b, 2, n.Outputs)
	b = wire.AppendString(b, 3, n.Name)
	b = wire.AppendString(b, 4, n.Op)
	for j := range n.Attributes {
		a := &n.Attributes[j]
		body, err := e.attribute(a)
		if err != nil && e.err == nil {
			e.err = in(n.label(i, 0), in(named("attribute", a.Name, j), err))
		}
		b = wire.AppendBytes(b, 5, body)
	}
	b = wire.AppendString(b, 6, n.Doc)
	b = wire.AppendString(b, 7, n.Domain)
	b = wire.AppendString(b, 8, n.Overload)
	return e.entries(b, 9, n.Metadata)
}

func (e *encoder) attribute(a *Attribute) ([]byte, error) {
	b := wire.AppendString(nil, 1, a.Name)
	b = wire.AppendString(b, 13, a.Doc)
	b = wire.AppendInt(b, 20, int64(a.Type))
	b = wire.AppendString(b, 21, a.Ref)
	if a.Ref != "" || a.Type == AttrUndefined && a.Value == nil {
		return b, nil
	}
	if a.Type <= 0 || int(a.Type) >= len(attrFields) {
		return nil, failf("its type is %d, which ONNX doesn't have", int32(a.Type))
	}
	if err := a.typed(); err != nil {
		return nil, err
	}
	num := attrFields[a.Type]
	switch v := a.Value.(type) {
	case float32:
		b = wire.AppendFloats(b, num, []float32{v})
	case int64:
		b = wire.AppendInts(b, num, []int64{v})
	case string:
		b = wire.AppendStrings(b, num, []string{v})
	case *TensorProto:
		b = wire.AppendBytes(b, num, e.tensor(v))
	case *Graph:
		b = wire.AppendBytes(b, num, e.subgraph(v))
	case []float32:
		b = wire.AppendFloats(b, num, v)
	case []int64:
		b = wire.AppendInts(b, num, v)
	case []string:
		b = wire.AppendStrings(b, num, v)
	case []TensorProto:
		for i := range v {
			b = wire.AppendBytes(b, num, e.tensor(&v[i]))
		}
	case []Graph:
		for i := range v {
			b = wire.AppendBytes(b, num, e.subgraph(&v[i]))
		}
	case *SparseTensor:
		b = wire.AppendBytes(b, num, e.sparse(v))
	case []SparseTensor:
		for i := range v {
			b = wire.AppendBytes(b, num, e.sparse(&v[i]))
		}
	case *Type:
		b = wire.AppendBytes(b, num, e.typ(v))
	case []Type:
		for i := range v {
			b = wire.AppendBytes(b, num, e.typ(&v[i]))
		}
	}
	return b, nil
}

func (e *encoder) values(b []byte, num protowire.Number, list []ValueInfo) []byte {
	for i := range list {
		v := &list[i]
		body := wire.AppendString(nil, 1, v.Name)
		if v.Type.Kind != KindNone || v.Type.Denotation != "" {
			body = wire.AppendBytes(body, 2, e.typ(&v.Type))
		}
		body = wire.AppendString(body, 3, v.Doc)
		b = wire.AppendBytes(b, num, e.entries(body, 4, v.Metadata))
	}
	return b
}

func (e *encoder) typ(t *Type) (b []byte) {
	switch t.Kind {
	case KindTensor, KindSparse:
		body := wire.AppendInt(nil, 1, int64(t.Elem))
		if t.HasShape {
			body = wire.AppendBytes(body, 2, e.shape(t.Shape))
		}
		num := protowire.Number(1)
		if t.Kind == KindSparse {
			num = 8
		}
		b = wire.AppendBytes(b, num, body)
	case KindSequence:
		b = wire.AppendBytes(b, 4, e.of(1, t))
	case KindMap:
		b = wire.AppendBytes(b, 5, append(wire.AppendInt(nil, 1, int64(t.Elem)), e.of(2, t)...))
	case KindOpaque:
		b = wire.AppendBytes(b, 7, nil)
	case KindOptional:
		b = wire.AppendBytes(b, 9, e.of(1, t))
	}
	return wire.AppendString(b, 6, t.Denotation)
}

func (e *encoder) of(num protowire.Number, t *Type) []byte {
	if t.Of == nil {
		return nil
	}
	return wire.AppendBytes(nil, num, e.typ(t.Of))
}

func (e *encoder) shape(dims []Dim) (b []byte) {
	for _, d := range dims {
		var body []byte
		switch {
		case d.Value >= 0:
			body = wire.AppendInts(nil, 1, []int64{d.Value})
		case d.Param != "":
			body = wire.AppendString(nil, 2, d.Param)
		}
		b = wire.AppendBytes(b, 1, wire.AppendString(body, 3, d.Denotation))
	}
	return b
}

func (e *encoder) function(f *Function) []byte {
	b := wire.AppendString(nil, 1, f.Name)
	b = wire.AppendStrings(b, 4, f.Inputs)
	b = wire.AppendStrings(b, 5, f.Outputs)
	b = wire.AppendStrings(b, 6, f.Attributes)
	for i := range f.Nodes {
		b = wire.AppendBytes(b, 7, e.node(&f.Nodes[i], i))
	}
	b = wire.AppendString(b, 8, f.Doc)
	b = e.opsets(b, 9, f.Opsets)
	b = wire.AppendString(b, 10, f.Domain)
	for i := range f.Defaults {
		body, err := e.attribute(&f.Defaults[i])
		if err != nil && e.err == nil {
			e.err = in(fmt.Sprintf("function %q", f.Name), in(named("attribute", f.Defaults[i].Name, i), err))
		}
		b = wire.AppendBytes(b, 11, body)
	}
	b = e.values(b, 12, f.Values)
	b = wire.AppendString(b, 13, f.Overload)
	return e.entries(b, 14, f.Metadata)
}

// data is the file beside a model that weights of least bytes and more go to.
type data struct {
	*wire.DataFile
	name  string
	least int
}

// stored returns weights as they are written: with elements in the data file, if there is one.
func (e *encoder) stored(list []TensorProto) []TensorProto {
	if e.data == nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		t := &list[i]
		if t.Type == ElemString || t.unsupported() != "" {
			continue
		}
		err := e.move(t)
		if err != nil && e.err == nil {
			e.err = in(fmt.Sprintf("initializer %q", t.Name), err)
		}
	}
	return list
}

// move puts the elements of t into the data file if they are many, else into t.
func (e *encoder) move(t *TensorProto) error {
	if !e.hold(t) {
		return nil // e.err says it
	}
	n, size, err := t.check()
	if err != nil {
		return err
	}
	raw := t.Raw
	switch large := n*size >= e.data.least && n > 0; {
	case t.External != nil:
		buf, at, n, err := t.External.find()
		if err != nil {
			return err
		}
		release, err := wire.Hold(buf)
		if err != nil {
			return err
		}
		defer release()
		if raw = buf.Bytes()[at:][:n]; !large {
			t.Raw, t.External = append([]byte{}, raw...), nil
			return nil
		}
	case !large:
		return nil
	case t.list != 0:
		raw = make([]byte, n*size)
		if err := t.unlist(raw, size); err != nil {
			return err
		}
	}
	at, err := e.data.Put(raw)
	t.External = &External{Location: e.data.name, Offset: at, Length: int64(len(raw))}
	t.Raw, t.list, t.count, t.body = nil, 0, 0, wire.Message{}
	return err
}
