package onnx

import (
	"errors"
	"fmt"
	"io"

	"github.com/ashlar-go/ashlar/onnx/internal/wire"
)

// The decoders below read one message each. Field numbers are onnx.proto's, which is also where the meaning of every
// field stands. Each goes over the message twice: once to count, so that lists are allocated at their final length, and
// once to read. Fields that aren't named here are skipped, as protobuf asks: training information, device
// configurations, and whatever later versions add.

func (d *decoder) model(m wire.Message) (*Model, error) {
	t, err := m.Scan()
	if begun := t[1] > 0; begun && errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: the file is cut short", err)
	}
	if err != nil {
		return nil, err
	}
	if t[7] != 1 {
		return nil, failf("%d graphs in the file, so it is no whole ONNX model (they have one)", t[7])
	}
	out := &Model{}
	if out.Opsets, err = wire.List[Opset](&d.Limit, t[8], checkItem); err != nil {
		return nil, err
	}
	if out.Metadata, err = wire.List[Entry](&d.Limit, t[14], checkItem); err != nil {
		return nil, err
	}
	if out.Functions, err = wire.List[Function](&d.Limit, t[25], checkItem); err != nil {
		return nil, err
	}
	err = d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			out.IR, err = f.Int64()
		case 2:
			out.Producer, err = d.Text(f)
		case 3:
			out.ProducerVersion, err = d.Text(f)
		case 4:
			out.Domain, err = d.Text(f)
		case 5:
			out.Version, err = f.Int64()
		case 6:
			out.Doc, err = d.Text(f)
		case 7:
			out.Graph, err = d.graph(f)
		case 8:
			out.Opsets, err = wire.Append(out.Opsets, f, d.opset)
		case 14:
			out.Metadata, err = wire.Append(out.Metadata, f, d.entry)
		case 25:
			out.Functions, err = wire.Append(out.Functions, f, d.function)
		}
		return err
	})
	return out, err
}

func (d *decoder) graph(f wire.Field) (*Graph, error) {
	m, err := f.Message()
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	if err := d.graphInto(m, g); err != nil {
		return nil, in(fmt.Sprintf("graph %q", m.First(2)), err)
	}
	return g, nil
}

func (d *decoder) graphInto(m wire.Message, g *Graph) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	if err := d.Spend(int64(256)); err != nil {
		return err
	}
	d.graphs++
	defer func() { d.graphs-- }()
	if g.Nodes, err = wire.List[Node](&d.Limit, t[1], checkNode); err != nil {
		return err
	}
	if g.Initializers, err = wire.List[TensorProto](&d.Limit, t[5], checkValue); err != nil {
		return err
	}
	if g.Sparse, err = wire.List[SparseTensor](&d.Limit, t[15], checkValue); err != nil {
		return err
	}
	if g.Inputs, err = wire.List[ValueInfo](&d.Limit, t[11], checkValue); err != nil {
		return err
	}
	if g.Outputs, err = wire.List[ValueInfo](&d.Limit, t[12], checkValue*d.graphs); err != nil {
		return err
	}
	if g.Values, err = wire.List[ValueInfo](&d.Limit, t[13], checkValue); err != nil {
		return err
	}
	if g.Quantization, err = wire.List[Quantization](&d.Limit, t[14], checkItem); err != nil {
		return err
	}
	if g.Metadata, err = wire.List[Entry](&d.Limit, t[16], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			g.Nodes, err = wire.Append(g.Nodes, f, func(m wire.Message, n *Node) error { return d.node(m, n, len(g.Nodes)) })
		case 2:
			g.Name, err = d.Text(f)
		case 5:
			if g.Initializers, err = wire.Append(g.Initializers, f, d.tensor); err != nil {
				err = in(named("initializer", f.Body.First(8), len(g.Initializers)-1), err)
			}
		case 10:
			g.Doc, err = d.Text(f)
		case 11:
			g.Inputs, err = d.value("input", g.Inputs, f)
		case 12:
			g.Outputs, err = d.value("output", g.Outputs, f)
		case 13:
			g.Values, err = d.value("value_info", g.Values, f)
		case 14:
			g.Quantization, err = wire.Append(g.Quantization, f, d.quantization)
		case 15:
			if g.Sparse, err = wire.Append(g.Sparse, f, d.sparse); err != nil {
				err = in(fmt.Sprintf("sparse initializer %d", len(g.Sparse)-1), err)
			}
		case 16:
			g.Metadata, err = wire.Append(g.Metadata, f, d.entry)
		}
		return err
	})
}

func (d *decoder) quantization(m wire.Message, q *Quantization) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	if q.Params, err = wire.List[Entry](&d.Limit, t[2], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			q.Tensor, err = d.Text(f)
		case 2:
			q.Params, err = wire.Append(q.Params, f, d.entry)
		}
		return err
	})
}

// node decodes node number i of its graph.
func (d *decoder) node(m wire.Message, n *Node, i int) error {
	if err := d.nodeInto(m, n); err != nil {
		named := Node{Name: m.First(3), Op: m.First(4), Domain: m.First(7)}
		return in(named.label(i, 0), err)
	}
	return nil
}

func (d *decoder) nodeInto(m wire.Message, n *Node) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	// Each graph around may have to hand the value on.
	if n.Inputs, err = wire.List[string](&d.Limit, t[1], checkValue*max(d.graphs, 1)); err != nil {
		return err
	}
	if n.Outputs, err = wire.List[string](&d.Limit, t[2], checkValue); err != nil {
		return err
	}
	if n.Attributes, err = wire.List[Attribute](&d.Limit, t[5], checkNode); err != nil {
		return err
	}
	if n.Metadata, err = wire.List[Entry](&d.Limit, t[9], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			n.Inputs, err = d.AppendText(n.Inputs, f)
		case 2:
			n.Outputs, err = d.AppendText(n.Outputs, f)
		case 3:
			n.Name, err = d.Text(f)
		case 4:
			n.Op, err = d.Text(f)
		case 5:
			n.Attributes, err = d.attribute(n.Attributes, f)
		case 6:
			n.Doc, err = d.Text(f)
		case 7:
			n.Domain, err = d.Text(f)
		case 8:
			n.Overload, err = d.Text(f)
		case 9:
			n.Metadata, err = wire.Append(n.Metadata, f, d.entry)
		}
		return err
	})
}

func (d *decoder) value(kind string, to []ValueInfo, f wire.Field) ([]ValueInfo, error) {
	to, err := wire.Append(to, f, d.valueInto)
	if err != nil {
		err = in(named(kind, f.Body.First(1), len(to)-1), err)
	}
	return to, err
}

func (d *decoder) valueInto(m wire.Message, v *ValueInfo) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	if v.Metadata, err = wire.List[Entry](&d.Limit, t[4], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			v.Name, err = d.Text(f)
		case 2:
			var m wire.Message
			if m, err = f.Message(); err == nil {
				err = d.typ(m, &v.Type)
			}
		case 3:
			v.Doc, err = d.Text(f)
		case 4:
			v.Metadata, err = wire.Append(v.Metadata, f, d.entry)
		}
		return err
	})
}

// typ decodes a TypeProto. It is a choice: of several kinds the last one counts.
func (d *decoder) typ(m wire.Message, t *Type) error {
	return d.Each(m, func(f wire.Field) (err error) {
		var kind Kind
		switch f.Num {
		case 1:
			kind = KindTensor
		case 4:
			kind = KindSequence
		case 5:
			kind = KindMap
		case 6:
			t.Denotation, err = d.Text(f)
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
		body, err := f.Message()
		if err != nil {
			return err
		}
		*t = Type{Kind: kind, Denotation: t.Denotation}
		if kind == KindOpaque {
			return nil
		}
		return d.Each(body, func(f wire.Field) error { return d.typeField(t, f) })
	})
}

// typeField reads a field of the messages Tensor, SparseTensor, Sequence, Optional or Map inside a TypeProto.
func (d *decoder) typeField(t *Type, f wire.Field) error {
	switch {
	case f.Num == 1 && (t.Kind == KindSequence || t.Kind == KindOptional), f.Num == 2 && t.Kind == KindMap:
		m, err := f.Message()
		if err != nil {
			return err
		}
		if err := d.Spend(128); err != nil {
			return err
		}
		t.Of = &Type{}
		return d.typ(m, t.Of)
	case f.Num == 1:
		e, err := f.Int32()
		t.Elem = ElemType(e)
		return err
	case f.Num == 2 && (t.Kind == KindTensor || t.Kind == KindSparse):
		m, err := f.Message()
		if err != nil {
			return err
		}
		return d.shape(m, t)
	}
	return nil
}

func (d *decoder) shape(m wire.Message, t *Type) error {
	n, err := m.Scan()
	if err != nil {
		return err
	}
	t.HasShape = true
	if t.Shape, err = wire.List[Dim](&d.Limit, n[1], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		if f.Num == 1 {
			t.Shape, err = wire.Append(t.Shape, f, d.dim)
		}
		return err
	})
}

// dim decodes a dimension. Some exporters write a negative number for an unknown dimension.
func (d *decoder) dim(m wire.Message, dim *Dim) error {
	dim.Value = -1
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			dim.Value, err = f.Int64()
			dim.Value, dim.Param = max(dim.Value, -1), ""
		case 2:
			dim.Param, err = d.Text(f)
			dim.Value = -1
		case 3:
			dim.Denotation, err = d.Text(f)
		}
		return err
	})
}

func (d *decoder) function(m wire.Message, fn *Function) error {
	if err := d.functionInto(m, fn); err != nil {
		return in(fmt.Sprintf("function %q", m.First(1)), err)
	}
	return nil
}

func (d *decoder) functionInto(m wire.Message, fn *Function) error {
	t, err := m.Scan()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		to *[]string
		n  int
	}{{&fn.Inputs, t[4]}, {&fn.Outputs, t[5]}, {&fn.Attributes, t[6]}} {
		if *l.to, err = wire.List[string](&d.Limit, l.n, checkValue); err != nil {
			return err
		}
	}
	if fn.Nodes, err = wire.List[Node](&d.Limit, t[7], checkNode); err != nil {
		return err
	}
	if fn.Opsets, err = wire.List[Opset](&d.Limit, t[9], checkItem); err != nil {
		return err
	}
	if fn.Defaults, err = wire.List[Attribute](&d.Limit, t[11], checkNode); err != nil {
		return err
	}
	if fn.Values, err = wire.List[ValueInfo](&d.Limit, t[12], checkValue); err != nil {
		return err
	}
	if fn.Metadata, err = wire.List[Entry](&d.Limit, t[14], checkItem); err != nil {
		return err
	}
	return d.Each(m, func(f wire.Field) (err error) {
		switch f.Num {
		case 1:
			fn.Name, err = d.Text(f)
		case 4:
			fn.Inputs, err = d.AppendText(fn.Inputs, f)
		case 5:
			fn.Outputs, err = d.AppendText(fn.Outputs, f)
		case 6:
			fn.Attributes, err = d.AppendText(fn.Attributes, f)
		case 7:
			fn.Nodes, err = wire.Append(fn.Nodes, f, func(m wire.Message, n *Node) error { return d.node(m, n, len(fn.Nodes)) })
		case 8:
			fn.Doc, err = d.Text(f)
		case 9:
			fn.Opsets, err = wire.Append(fn.Opsets, f, d.opset)
		case 10:
			fn.Domain, err = d.Text(f)
		case 11:
			fn.Defaults, err = d.attribute(fn.Defaults, f)
		case 12:
			fn.Values, err = d.value("value_info", fn.Values, f)
		case 13:
			fn.Overload, err = d.Text(f)
		case 14:
			fn.Metadata, err = wire.Append(fn.Metadata, f, d.entry)
		}
		return err
	})
}
