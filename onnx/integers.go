package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// NewIntegerSession is NewSession for a model whose operators of floats stand between DequantizeLinear and QuantizeLinear nodes, as PyTorch,
// TensorRT and Vitis export quantized models. It runs such an operator on the integers: Conv as op.QLinearConv, MatMul as op.QLinearMatMul, Gemm as
// QGemm, Add as op.QLinearAdd and Mul as op.QLinearMul, and MaxPool, Reshape, Flatten and Transpose on the integers themselves. The results have the same bits on
// every processor. NewSession has other bits, as it rounds after each node. These operators become integer ones:
//
//   - Every operand is given by a DequantizeLinear of int8 or uint8, and the result is read by a QuantizeLinear to one of them and by nothing
//     else. Scales are constants of float32, and zero points constants that are present.
//   - There is one scale, of weights also one for each output channel of a Conv, or for each column of a product.
//   - A bias is given by a DequantizeLinear of int32 with a zero point of 0. Its scales are the products of the operands' scales, within 2⁻²⁰ of them.
//   - A Relu may stand before the QuantizeLinear if the zero point is the smallest integer: the integers end there anyway.
//   - MaxPool and the others that only choose or move elements have the same scale and zero point before and after them.
//
// Session.Steps lists them as one step, which says so. Receipts have the mode receipt.Integers. Of such a step they have the results that are
// left, under the operator's node.
func NewIntegerSession(m *Model) (*Session, error) { return newSession(m, form{integers: true}) }

// Integers returns how many steps of a session of NewIntegerSession run on integers, in all its graphs. Where none does, why has the reason; else it is "".
func (s *Session) Integers() (steps int, why string) {
	s.c.all(func(c *compiled) bool {
		for i := range c.steps {
			if c.steps[i].integers {
				steps++
			}
		}
		return true
	})
	if steps > 0 {
		return steps, ""
	}
	given := make(map[string]bool) // by a DequantizeLinear
	for g := range s.c.m.Graph.All() {
		for i := range g.Nodes {
			if n := &g.Nodes[i]; n.Op == "DequantizeLinear" && isDefault(n.Domain) && len(n.Outputs) == 1 {
				given[n.Outputs[0]] = true
			}
		}
	}
	if len(given) == 0 {
		return 0, "the model has no DequantizeLinear node, so it isn't quantized in this form"
	}
	products, floats := 0, 0
	for g := range s.c.m.Graph.All() {
		for i := range g.Nodes {
			if n := &g.Nodes[i]; slices.Contains([]string{"Conv", "Gemm", "MatMul"}, n.Op) && isDefault(n.Domain) && len(n.Inputs) > 1 {
				if products++; !given[n.Inputs[1]] {
					floats++
				}
			}
		}
	}
	if floats > 0 {
		return 0, fmt.Sprintf("no DequantizeLinear gives the weights of %d of its %d Conv, Gemm and MatMul nodes", floats, products)
	}
	return 0, "no operator stands between DequantizeLinear and QuantizeLinear nodes as onnx.NewIntegerSession describes"
}

// A quantity is a value that a step quantizes or dequantizes: of type d, with a scale and a zero point, -1 if absent.
type quantity struct {
	id, scale, zero int
	d               dtype.DType
	scales          []float32
	from            int // the step that dequantizes it
}

// A quantizer turns steps of a graph into integer ones.
type quantizer struct {
	*compiled
	reads []int
	maker map[int]int
	gone  []bool
}

// quantized makes integer steps; see NewIntegerSession. The constants are loaded.
func (c *compiled) quantized() {
	q := quantizer{compiled: c, gone: make([]bool, len(c.steps)), maker: make(map[int]int)}
	q.reads, _ = c.uses()
	for i := range c.steps {
		if s := &c.steps[i]; len(s.out) == 1 && s.out[0] >= 0 && c.ops[i] != nil && !s.own && s.value == nil {
			q.maker[s.out[0]] = i
		}
	}
	for i := range c.steps {
		if c.isOp(i, "QuantizeLinear") {
			q.step(i)
		}
	}
	for i := range c.steps { // nothing reads these any more
		if c.isOp(i, "DequantizeLinear") && q.reads[c.steps[i].out[0]] == 0 {
			q.gone[i] = true
		}
	}
	c.without(q.gone)
}

// isOp reports whether a step is of ONNX's own operator of a name.
func (c *compiled) isOp(i int, name string) bool {
	s := &c.steps[i]
	o, _ := op.Lookup(name)
	return o != nil && c.ops[i] == o && !s.own && s.value == nil && len(s.out) == 1 && s.out[0] >= 0
}

// elementsOf returns the elements of a constant, nil for another value, for the default of an input and for other types.
func elementsOf[T float32 | int64 | int32 | int8 | uint8](c *compiled, id int) []T {
	if id < 0 || !c.vals[id].isTensor() || c.vals[id].a.IsSpec() || slices.Contains(c.inputs, id) {
		return nil
	}
	t, ok := tensor.As[T](c.vals[id].a)
	if !ok {
		return nil
	}
	return slices.Collect(tensor.ValuesOf[T](t.Any()))
}

// lowest reports whether a zero point is the smallest integer of its type.
func (c *compiled) lowest(id int) bool {
	return slices.Equal(elementsOf[uint8](c, id), []uint8{0}) || slices.Equal(elementsOf[int8](c, id), []int8{math.MinInt8})
}

// sides reads the scale and the zero point of a step, its inputs 1 and 2. It reports false where they aren't as wanted.
func (c *compiled) sides(i int) (q quantity, ok bool) {
	s := &c.steps[i]
	for _, name := range []string{"block_size", "output_dtype", "precision"} {
		if s.node.Attr(name) != nil {
			return q, false
		}
	}
	q = quantity{id: s.in[0], scale: s.in[1], zero: -1, from: i, scales: elementsOf[float32](c, s.in[1])}
	if len(s.in) > 2 {
		q.zero = s.in[2]
	}
	if q.zero >= 0 {
		if !c.vals[q.zero].isTensor() || c.vals[q.zero].a.Len() != len(q.scales) || c.vals[q.zero].a.IsSpec() {
			return q, false
		}
		q.d = c.vals[q.zero].a.DType()
	} else if c.vals[q.id].isTensor() {
		q.d = c.vals[q.id].a.DType()
	}
	return q, len(q.scales) > 0
}

// operand returns the quantity that a value dequantizes. There may be a scale for each index of an axis, unless axis is -1.
func (q *quantizer) operand(id, axis int) (of quantity, ok bool) {
	i, ok := q.maker[id]
	if !ok || !q.isOp(i, "DequantizeLinear") {
		return of, false
	}
	if of, ok = q.sides(i); !ok || of.zero < 0 || !plan.Bytes8.Has(of.d) {
		return of, false
	}
	if len(of.scales) == 1 {
		return of, q.vals[of.scale].a.Rank() == 0 || axis >= 0 || q.vals[of.scale].a.Rank() == 1
	}
	if axis < 0 || !q.vals[of.id].isTensor() || q.vals[of.scale].a.Rank() != 1 {
		return of, false
	}
	a := q.vals[of.id].a
	at := int64(1)
	if v := q.steps[i].node.Attr("axis"); v != nil {
		at, _ = v.Value.(int64)
	}
	if at < 0 {
		at += int64(a.Rank())
	}
	return of, int(at) == axis && axis < a.Rank() && a.Dim(axis) == len(of.scales)
}

// bias returns the integers of a bias, whose scales are the products of the operands' scales.
func (q *quantizer) bias(id int, a, b quantity) (of quantity, ok bool) {
	i, ok := q.maker[id]
	if !ok || !q.isOp(i, "DequantizeLinear") {
		return of, false
	}
	if of, ok = q.sides(i); !ok || of.d != dtype.Int32 {
		return of, false
	}
	for _, z := range elementsOf[int32](q.compiled, of.zero) {
		if z != 0 {
			return of, false
		}
	}
	for k := range max(len(of.scales), len(b.scales)) {
		want := float64(float64(a.scales[0]) * float64(b.scales[k%len(b.scales)]))
		if got := float64(of.scales[k%len(of.scales)]); !(math.Abs(got-want) <= 0x1p-20*math.Abs(want)) {
			return of, false
		}
	}
	return of, true
}

// same reports whether two values have one scale and zero point.
func (q *quantizer) same(a, b quantity) bool {
	if a.d != b.d || len(a.scales) != 1 || !slices.Equal(a.scales, b.scales) {
		return false
	}
	return slices.Equal(elementsOf[int8](q.compiled, a.zero), elementsOf[int8](q.compiled, b.zero)) &&
		slices.Equal(elementsOf[uint8](q.compiled, a.zero), elementsOf[uint8](q.compiled, b.zero))
}

// step makes the operator before step i, a QuantizeLinear, an integer one that stands where i does.
func (q *quantizer) step(i int) {
	y, ok := q.sides(i)
	if !ok || !plan.Bytes8.Has(y.d) || len(y.scales) != 1 || y.zero < 0 {
		return
	}
	parts := []int{i} // the steps that it is made of
	from := func(id int) (j int, ok bool) {
		j, ok = q.maker[id]
		return j, ok && q.reads[id] == 1 && !q.gone[j]
	}
	j, ok := from(y.id)
	if ok && q.isOp(j, "Relu") {
		if !q.lowest(y.zero) {
			return
		}
		parts = append(parts, j)
		j, ok = from(q.steps[j].in[0])
	}
	if !ok || q.ops[j] == nil || q.steps[j].own {
		return
	}
	s := &q.steps[j]
	name, in, used := q.integerForm(j, y, len(parts) > 1)
	if name == "" {
		return
	}
	o, ok := op.Lookup(name)
	if !ok {
		return
	}
	lead := *s
	lead.in, lead.out, lead.integers = in, q.steps[i].out, true
	lead.also = slices.Clone(lead.also)
	for _, of := range used {
		if q.reads[q.steps[of.from].out[0]]--; q.reads[q.steps[of.from].out[0]] == 0 {
			lead.also = append(lead.also, q.steps[of.from].node)
		}
	}
	slices.Reverse(parts)
	for _, k := range parts {
		lead.also = append(lead.also, q.steps[k].node)
	}
	for _, k := range append(parts[:len(parts)-1], j) {
		q.gone[k] = true
	}
	q.steps[i], q.ops[i], q.attrs[i] = lead, o, q.attrs[j]
}

// integerForm returns the operator on integers that replaces step j between its operands and a result y, with its inputs: "" if there is none.
func (q *quantizer) integerForm(j int, y quantity, relu bool) (name string, in []int, used []quantity) {
	s := &q.steps[j]
	take := func(k, axis int) bool {
		of, ok := q.operand(s.in[k], axis)
		used, in = append(used, of), append(in, of.id, of.scale, of.zero)
		return ok
	}
	whole := func(name string, def int64) int64 {
		if v, ok := s.node.Attr(name), false; v != nil {
			if def, ok = v.Value.(int64); !ok {
				return -1
			}
		}
		return def
	}
	bias := func() bool {
		if len(s.in) < 3 || s.in[2] < 0 {
			return true
		}
		of, ok := q.bias(s.in[2], used[0], used[1])
		used, in = append(used, of), append(in, of.id)
		return ok
	}
	switch to := []int{y.scale, y.zero}; {
	case q.isOp(j, "Conv"):
		if take(0, -1) && take(1, 0) {
			if in = append(in, to...); bias() {
				return "QLinearConv", in, used
			}
		}
	case q.isOp(j, "MatMul"):
		if take(0, -1) && take(1, 1) && (len(used[1].scales) == 1 || q.vals[used[1].id].a.Rank() == 2) {
			return "QLinearMatMul", append(in, to...), used
		}
	case q.isOp(j, "Gemm"):
		axis := 1
		if whole("transB", 0) != 0 {
			axis = 0
		}
		one := func(name string) bool { v := s.node.Attr(name); return v == nil || v.Value == float32(1) }
		if one("alpha") && one("beta") && take(0, -1) && take(1, axis) && bias() {
			if len(in) == 6 {
				in = append(in, -1)
			}
			return "QGemm", append(in, to...), used
		}
	case q.isOp(j, "Add"), q.isOp(j, "Mul"):
		if len(s.in) == 2 && take(0, -1) && take(1, -1) && used[0].d == used[1].d && used[0].d == y.d {
			return "QLinear" + s.node.Op, append(in, to...), used
		}
	case relu:
	case q.isOp(j, "MaxPool"), q.isOp(j, "Reshape"), q.isOp(j, "Flatten"), q.isOp(j, "Transpose"):
		if take(0, -1) && q.same(used[0], y) {
			return s.node.Op, append([]int{used[0].id}, s.in[1:]...), used
		}
	}
	return "", nil, nil
}
