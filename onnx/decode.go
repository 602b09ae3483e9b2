package onnx

import "fmt"

// The decoders below read one message each. Field numbers are onnx.proto's, which is also where the meaning of every
// field stands. Each goes over the message twice: once to count, so that lists are allocated at their final length, and
// once to read. Fields that aren't named here are skipped, as protobuf asks: training information, device
// configurations, and whatever later versions add.

// What a check needs besides the structures, per node or attribute, per name of a value and per axis; paid for while decoding.
const (
	checkNode  = 256
	checkValue = 384
	checkAxis  = 32 // of a stored tensor
)

func (d *decoder) model(m msg) (*Model, error) {
	t, err := m.scan()
	if err != nil {
		return nil, err
	}
	if t[7] != 1 {
		return nil, failf("%d graphs in the file, so it is no ONNX model (they have one)", t[7])
	}
	out := &Model{}
	if out.Opsets, err = list[Opset](d, t[8], 0); err != nil {
		return nil, err
	}
	if out.Metadata, err = list[Entry](d, t[14], 0); err != nil {
		return nil, err
	}
	if out.Functions, err = list[Function](d, t[25], 0); err != nil {
		return nil, err
	}
	err = d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			out.IR, err = f.int()
		case 2:
			out.Producer, err = d.text(f)
		case 3:
			out.ProducerVersion, err = d.text(f)
		case 4:
			out.Domain, err = d.text(f)
		case 5:
			out.Version, err = f.int()
		case 6:
			out.Doc, err = d.text(f)
		case 7:
			out.Graph, err = d.graph(f)
		case 8:
			out.Opsets, err = one(out.Opsets, f, d.opset)
		case 14:
			out.Metadata, err = one(out.Metadata, f, d.entry)
		case 25:
			out.Functions, err = one(out.Functions, f, d.function)
		}
		return err
	})
	return out, err
}

// one decodes a message field and appends the result; list has made room for it.
func one[T any](to []T, f field, decode func(m msg, into *T) error) ([]T, error) {
	m, err := f.message()
	if err != nil {
		return to, err
	}
	var v T
	err = decode(m, &v)
	return append(to, v), err
}

// texts appends a string field to a list for which list has made room.
func (d *decoder) texts(to []string, f field) ([]string, error) {
	s, err := d.text(f)
	return append(to, s), err
}

func (d *decoder) opset(m msg, o *Opset) error {
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			o.Domain, err = d.text(f)
		case 2:
			o.Version, err = f.int()
		}
		return err
	})
}

func (d *decoder) entry(m msg, e *Entry) error {
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			e.Key, err = d.text(f)
		case 2:
			e.Value, err = d.text(f)
		}
		return err
	})
}

func (d *decoder) graph(f field) (*Graph, error) {
	m, err := f.message()
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	if err := d.graphInto(m, g); err != nil {
		return nil, in(fmt.Sprintf("graph %q", m.first(2)), err)
	}
	return g, nil
}

func (d *decoder) graphInto(m msg, g *Graph) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	if err := d.spend(int64(256)); err != nil {
		return err
	}
	d.graphs++
	defer func() { d.graphs-- }()
	if g.Nodes, err = list[Node](d, t[1], checkNode); err != nil {
		return err
	}
	if g.Initializers, err = list[TensorProto](d, t[5], checkValue); err != nil {
		return err
	}
	if g.Sparse, err = list[SparseTensor](d, t[15], checkValue); err != nil {
		return err
	}
	if g.Inputs, err = list[ValueInfo](d, t[11], checkValue); err != nil {
		return err
	}
	if g.Outputs, err = list[ValueInfo](d, t[12], checkValue*d.graphs); err != nil {
		return err
	}
	if g.Values, err = list[ValueInfo](d, t[13], checkValue); err != nil {
		return err
	}
	if g.Quantization, err = list[Quantization](d, t[14], 0); err != nil {
		return err
	}
	if g.Metadata, err = list[Entry](d, t[16], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			g.Nodes, err = one(g.Nodes, f, func(m msg, n *Node) error { return d.node(m, n, len(g.Nodes)) })
		case 2:
			g.Name, err = d.text(f)
		case 5:
			if g.Initializers, err = one(g.Initializers, f, d.tensor); err != nil {
				err = in(named("initializer", f.body.first(8), len(g.Initializers)-1), err)
			}
		case 10:
			g.Doc, err = d.text(f)
		case 11:
			g.Inputs, err = d.value("input", g.Inputs, f)
		case 12:
			g.Outputs, err = d.value("output", g.Outputs, f)
		case 13:
			g.Values, err = d.value("value_info", g.Values, f)
		case 14:
			g.Quantization, err = one(g.Quantization, f, d.quantization)
		case 15:
			if g.Sparse, err = one(g.Sparse, f, d.sparse); err != nil {
				err = in(fmt.Sprintf("sparse initializer %d", len(g.Sparse)-1), err)
			}
		case 16:
			g.Metadata, err = one(g.Metadata, f, d.entry)
		}
		return err
	})
}

func (d *decoder) quantization(m msg, q *Quantization) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	if q.Params, err = list[Entry](d, t[2], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			q.Tensor, err = d.text(f)
		case 2:
			q.Params, err = one(q.Params, f, d.entry)
		}
		return err
	})
}

// node decodes node number i of its graph.
func (d *decoder) node(m msg, n *Node, i int) error {
	if err := d.nodeInto(m, n); err != nil {
		named := Node{Name: m.first(3), Op: m.first(4), Domain: m.first(7)}
		return in(named.label(i, 0), err)
	}
	return nil
}

func (d *decoder) nodeInto(m msg, n *Node) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	// Each graph around may have to hand the value on.
	if n.Inputs, err = list[string](d, t[1], checkValue*max(d.graphs, 1)); err != nil {
		return err
	}
	if n.Outputs, err = list[string](d, t[2], checkValue); err != nil {
		return err
	}
	if n.Attributes, err = list[Attribute](d, t[5], checkNode); err != nil {
		return err
	}
	if n.Metadata, err = list[Entry](d, t[9], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			n.Inputs, err = d.texts(n.Inputs, f)
		case 2:
			n.Outputs, err = d.texts(n.Outputs, f)
		case 3:
			n.Name, err = d.text(f)
		case 4:
			n.Op, err = d.text(f)
		case 5:
			n.Attributes, err = d.attribute(n.Attributes, f)
		case 6:
			n.Doc, err = d.text(f)
		case 7:
			n.Domain, err = d.text(f)
		case 8:
			n.Overload, err = d.text(f)
		case 9:
			n.Metadata, err = one(n.Metadata, f, d.entry)
		}
		return err
	})
}

func (d *decoder) value(kind string, to []ValueInfo, f field) ([]ValueInfo, error) {
	to, err := one(to, f, d.valueInto)
	if err != nil {
		err = in(named(kind, f.body.first(1), len(to)-1), err)
	}
	return to, err
}

func (d *decoder) valueInto(m msg, v *ValueInfo) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	if v.Metadata, err = list[Entry](d, t[4], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			v.Name, err = d.text(f)
		case 2:
			var m msg
			if m, err = f.message(); err == nil {
				err = d.typ(m, &v.Type)
			}
		case 3:
			v.Doc, err = d.text(f)
		case 4:
			v.Metadata, err = one(v.Metadata, f, d.entry)
		}
		return err
	})
}

// typ decodes a TypeProto. It is a choice: of several kinds the last one counts.
func (d *decoder) typ(m msg, t *Type) error {
	return d.each(m, func(f field) (err error) {
		var kind Kind
		switch f.num {
		case 1:
			kind = KindTensor
		case 4:
			kind = KindSequence
		case 5:
			kind = KindMap
		case 6:
			t.Denotation, err = d.text(f)
			return err
		case 7:
			kind = KindOpaque
		case 8:
			kind = KindSparse
		case 9:
			kind = KindOptional
		default:
			return nil
		}
		body, err := f.message()
		if err != nil {
			return err
		}
		*t = Type{Kind: kind, Denotation: t.Denotation}
		if kind == KindOpaque {
			return nil
		}
		return d.each(body, func(f field) error { return d.typeField(t, f) })
	})
}

// typeField reads a field of the messages Tensor, SparseTensor, Sequence, Optional or Map inside a TypeProto.
func (d *decoder) typeField(t *Type, f field) error {
	switch {
	case f.num == 1 && (t.Kind == KindSequence || t.Kind == KindOptional), f.num == 2 && t.Kind == KindMap:
		m, err := f.message()
		if err != nil {
			return err
		}
		if err := d.spend(128); err != nil {
			return err
		}
		t.Of = &Type{}
		return d.typ(m, t.Of)
	case f.num == 1:
		e, err := f.int32()
		t.Elem = ElemType(e)
		return err
	case f.num == 2 && (t.Kind == KindTensor || t.Kind == KindSparse):
		m, err := f.message()
		if err != nil {
			return err
		}
		return d.shape(m, t)
	}
	return nil
}

func (d *decoder) shape(m msg, t *Type) error {
	n, err := m.scan()
	if err != nil {
		return err
	}
	t.HasShape = true
	if t.Shape, err = list[Dim](d, n[1], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		if f.num == 1 {
			t.Shape, err = one(t.Shape, f, d.dim)
		}
		return err
	})
}

// dim decodes a dimension. A negative number is what some exporters write for an unknown one.
func (d *decoder) dim(m msg, dim *Dim) error {
	dim.Value = -1
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			dim.Value, err = f.int()
			dim.Value, dim.Param = max(dim.Value, -1), ""
		case 2:
			dim.Param, err = d.text(f)
			dim.Value = -1
		case 3:
			dim.Denotation, err = d.text(f)
		}
		return err
	})
}

func (d *decoder) function(m msg, fn *Function) error {
	if err := d.functionInto(m, fn); err != nil {
		return in(fmt.Sprintf("function %q", m.first(1)), err)
	}
	return nil
}

func (d *decoder) functionInto(m msg, fn *Function) error {
	t, err := m.scan()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		to *[]string
		n  int
	}{{&fn.Inputs, t[4]}, {&fn.Outputs, t[5]}, {&fn.Attributes, t[6]}} {
		if *l.to, err = list[string](d, l.n, checkValue); err != nil {
			return err
		}
	}
	if fn.Nodes, err = list[Node](d, t[7], checkNode); err != nil {
		return err
	}
	if fn.Opsets, err = list[Opset](d, t[9], 0); err != nil {
		return err
	}
	if fn.Defaults, err = list[Attribute](d, t[11], 0); err != nil {
		return err
	}
	if fn.Values, err = list[ValueInfo](d, t[12], checkValue); err != nil {
		return err
	}
	if fn.Metadata, err = list[Entry](d, t[14], 0); err != nil {
		return err
	}
	return d.each(m, func(f field) (err error) {
		switch f.num {
		case 1:
			fn.Name, err = d.text(f)
		case 4:
			fn.Inputs, err = d.texts(fn.Inputs, f)
		case 5:
			fn.Outputs, err = d.texts(fn.Outputs, f)
		case 6:
			fn.Attributes, err = d.texts(fn.Attributes, f)
		case 7:
			fn.Nodes, err = one(fn.Nodes, f, func(m msg, n *Node) error { return d.node(m, n, len(fn.Nodes)) })
		case 8:
			fn.Doc, err = d.text(f)
		case 9:
			fn.Opsets, err = one(fn.Opsets, f, d.opset)
		case 10:
			fn.Domain, err = d.text(f)
		case 11:
			fn.Defaults, err = d.attribute(fn.Defaults, f)
		case 12:
			fn.Values, err = d.value("value_info", fn.Values, f)
		case 13:
			fn.Overload, err = d.text(f)
		case 14:
			fn.Metadata, err = one(fn.Metadata, f, d.entry)
		}
		return err
	})
}
