package onnx

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/tensor"
)

var networks = flag.Int("networks", 150, "how many random networks TestLastNetworks runs")

// A pictureNet is a random network of pictures.
type pictureNet struct {
	r    *rand.Rand
	b    *Builder
	vals []picture
}

type picture struct {
	name    string
	c, h, w int
}

func (p *pictureNet) weight(shape ...int) string {
	return p.b.Weight(p.b.fresh("w"), noise(p.r, shape...))
}

func (p *pictureNet) add(name string, c, h, w int) { p.vals = append(p.vals, picture{name, c, h, w}) }

func (p *pictureNet) pick() picture {
	return p.vals[len(p.vals)-1-min(p.r.IntN(len(p.vals)), p.r.IntN(len(p.vals)), p.r.IntN(len(p.vals)))]
}

// grow adds a node, or some that belong together.
func (p *pictureNet) grow() {
	r, b, v := p.r, p.b, p.pick()
	conv := func(x string, c, m, k, group int, attrs ...Attribute) string {
		in := []string{x, p.weight(m, c/group, k, k)}
		if r.IntN(2) == 0 {
			in = append(in, p.weight(m))
		}
		return b.Node("Conv", in, append(attrs, IntAttr("group", int64(group)))...)
	}
	same := func(c, h, w int) (list []picture) {
		for _, u := range p.vals {
			if (c == 0 || u.c == c) && u.h == h && u.w == w {
				list = append(list, u)
			}
		}
		return list
	}
	switch kind := r.IntN(24); kind {
	case 0, 1, 2, 3: // a convolution
		k, stride := []int{1, 1, 3, 3, 2}[r.IntN(5)], 1+r.IntN(2)
		pad := r.IntN(k/2 + 1)
		if h, w := (v.h+2*pad-k)/stride+1, (v.w+2*pad-k)/stride+1; v.h+2*pad >= k && v.w+2*pad >= k {
			m, at, n := []int{8, 12, 16, 24, 33, 40}[r.IntN(6)], int64(pad), int64(stride)
			p.add(conv(v.name, v.c, m, k, 1, IntsAttr("pads", at, at, at, at), IntsAttr("strides", n, n)), m, h, w)
		}
	case 4: // of groups
		if v.c%2 == 0 {
			p.add(conv(v.name, v.c, 16, 1, 2), 16, v.h, v.w)
		}
	case 5, 6: // depthwise
		k := []int{1, 3}[r.IntN(2)]
		at := int64(k / 2)
		p.add(conv(v.name, v.c, v.c, k, v.c, IntsAttr("pads", at, at, at, at)), v.c, v.h, v.w)
	case 7:
		scale, bias, mean := p.weight(v.c), p.weight(v.c), p.weight(v.c)
		variance := b.Weight(b.fresh("w"), tensor.RandomUniform[float32](r.Uint64(), .5, 2, v.c).Any())
		p.add(b.Node("BatchNormalization", []string{v.name, scale, bias, mean, variance}), v.c, v.h, v.w)
	case 8:
		p.add(b.Node([]string{"Relu", "Sigmoid", "HardSwish", "Neg", "Identity"}[r.IntN(5)], []string{v.name}), v.c, v.h, v.w)
	case 9: // x · sigmoid(x)
		p.add(b.Node("Mul", []string{v.name, b.Node("Sigmoid", []string{v.name})}), v.c, v.h, v.w)
	case 10:
		list := same(v.c, v.h, v.w)
		p.add(b.Node([]string{"Add", "Mul", "Sub"}[r.IntN(3)], []string{v.name, list[r.IntN(len(list))].name}), v.c, v.h, v.w)
	case 11:
		in, c := []string{v.name}, v.c
		for _, u := range same(0, v.h, v.w) {
			if r.IntN(2) == 0 && c+u.c < 150 && len(in) < 4 {
				in, c = append(in, u.name), c+u.c
			}
		}
		p.add(b.Node("Concat", in, IntAttr("axis", 1)), c, v.h, v.w)
	case 12:
		if v.h >= 2 && v.w >= 2 {
			name := []string{"MaxPool", "AveragePool"}[r.IntN(2)]
			p.add(b.Node(name, []string{v.name}, IntsAttr("kernel_shape", 2, 2), IntsAttr("strides", 1, 1)), v.c, v.h-1, v.w-1)
		}
	case 13: // some channels
		if v.c%2 == 0 {
			outs := b.Nodes("Split", 2, []string{v.name}, IntAttr("axis", 1))
			p.add(outs[0], v.c/2, v.h, v.w)
			p.add(outs[1], v.c/2, v.h, v.w)
		}
	case 16: // another size
		h, w := 1+r.IntN(2*v.h), 1+r.IntN(2*v.w)
		mode := []string{"nearest", "linear", "cubic"}[r.IntN(3)]
		coordinates := []string{"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"}[r.IntN(4)]
		sizes := b.Weight(b.fresh("w"), ints(1, int64(v.c), int64(h), int64(w)))
		p.add(b.Node("Resize", []string{v.name, "", "", sizes}, StringAttr("mode", mode), StringAttr("coordinate_transformation_mode", coordinates)), v.c, h, w)
	case 17:
		pads, mode := [8]int64{}, []string{"constant", "edge", "reflect"}[r.IntN(3)]
		if r.IntN(3) == 0 && mode == "constant" {
			pads[1], pads[5] = r.Int64N(3), r.Int64N(3)
		}
		pads[2], pads[3], pads[6], pads[7] = r.Int64N(3), r.Int64N(3), r.Int64N(3), r.Int64N(3)
		in := []string{v.name, b.Weight(b.fresh("w"), ints(pads[:]...))}
		if mode == "constant" && r.IntN(2) == 0 {
			in = append(in, p.weight())
		}
		p.add(b.Node("Pad", in, StringAttr("mode", mode)), v.c+int(pads[1]+pads[5]), v.h+int(pads[2]+pads[6]), v.w+int(pads[3]+pads[7]))
	case 18:
		k, stride := int64(2+r.IntN(2)), int64(1+r.IntN(3))
		if n := int(k); v.h >= n && v.w >= n {
			p.add(b.Node([]string{"MaxPool", "AveragePool"}[r.IntN(2)], []string{v.name}, IntsAttr("kernel_shape", k, k), IntsAttr("strides", stride, stride), IntsAttr("pads", 1, 0, 1, 1)),
				v.c, (v.h+2-n)/int(stride)+1, (v.w+1-n)/int(stride)+1)
		}
	case 19: // attention by a number for each channel, or each place
		by := b.Node("GlobalMaxPool", []string{v.name})
		if r.IntN(2) == 0 {
			by = b.Node([]string{"ReduceMax", "ReduceMean"}[r.IntN(2)], []string{v.name}, IntsAttr("axes", 1))
		}
		p.add(b.Node("Mul", []string{v.name, by}), v.c, v.h, v.w)
	case 20:
		switch r.IntN(4) {
		case 0:
			p.add(b.Node("PRelu", []string{v.name, p.weight(v.c, 1, 1)}), v.c, v.h, v.w)
		case 1:
			p.add(b.Node("Clip", []string{v.name, b.Weight(b.fresh("w"), tensor.Scalar[float32](-.5).Any())}), v.c, v.h, v.w)
		case 2:
			p.add(b.Node("Softmax", []string{v.name}, IntAttr("axis", []int64{1, 3}[r.IntN(2)])), v.c, v.h, v.w)
		default:
			p.add(b.Node("Add", []string{v.name, p.weight(1, v.c, v.h, v.w)}), v.c, v.h, v.w)
		}
	case 21: // some places
		if v.h > 1 && v.w > 1 {
			to := func(list ...int64) string { return b.Weight(b.fresh("w"), ints(list...)) }
			y, x := 1+r.IntN(v.h-1), 1+r.IntN(v.w-1)
			p.add(b.Node("Slice", []string{v.name, to(0, 0), to(int64(y), int64(x)), to(2, 3)}), v.c, y, x)
		}
	case 22: // as [N, H, W, C], and back
		x := b.Node("Transpose", []string{v.name}, IntsAttr("perm", 0, 2, 3, 1))
		if r.IntN(2) == 0 {
			x = b.Node("Sigmoid", []string{x})
		}
		p.add(b.Node("Transpose", []string{x}, IntsAttr("perm", 0, 3, 1, 2)), v.c, v.h, v.w)
	case 23: // as a list, and back
		to := func(list ...int64) string { return b.Weight(b.fresh("w"), ints(list...)) }
		x := b.Node([]string{"Flatten", "Identity"}[r.IntN(2)], []string{v.name})
		p.add(b.Node("Reshape", []string{x, to(1, int64(v.c), int64(v.h), int64(v.w))}), v.c, v.h, v.w)
	case 14: // squeeze and excite, or channels by a number each
		by := p.weight(v.c, 1, 1)
		if r.IntN(2) == 0 {
			by = b.Node("GlobalAveragePool", []string{v.name})
		}
		p.add(b.Node("Mul", []string{v.name, by}), v.c, v.h, v.w)
	case 15: // a shuffle
		if v.c%4 == 0 {
			to := func(list ...int64) string { return b.Weight(b.fresh("w"), ints(list...)) }
			c, h, w := int64(v.c), int64(v.h), int64(v.w)
			x := b.Node("Reshape", []string{v.name, to(1, 4, c/4, h, w)})
			x = b.Node("Transpose", []string{x}, IntsAttr("perm", 0, 2, 1, 3, 4))
			p.add(b.Node("Reshape", []string{x, to(1, c, h, w)}), v.c, v.h, v.w)
		}
	}
}

// Prepared runs of networks whose values may lie channels last have the bits of runs without passes.
func TestLastNetworks(t *testing.T) {
	lie := 0
	for seed := range uint64(*networks) {
		p := &pictureNet{r: rand.New(rand.NewPCG(seed, 11)), b: NewBuilder("g")}
		h, w := p.begin(seed)
		for range 3 + p.r.IntN(25) {
			p.grow()
		}
		lie += p.same(t, seed, h, w)
	}
	t.Logf("%d values lie channels last", lie)
	if best := simd.Product32.Best(); best != nil && lie == 0 {
		t.Error("no value lies channels last")
	}
}

// The same of quantized networks.
func TestLastQuantized(t *testing.T) {
	lie := 0
	for seed := range uint64(*networks) {
		p := &pictureNet{r: rand.New(rand.NewPCG(seed, 12)), b: NewBuilder("g")}
		h, w := p.begin(seed)
		p.b.Import("com.microsoft", 1)
		q := quantizedNet{p, []bool{false}}
		scale, zero := q.quantum(false)
		q.vals[0].name = p.b.Node("QuantizeLinear", []string{"x", scale, zero})
		for range 3 + p.r.IntN(20) {
			q.grow()
		}
		lie += p.same(t, seed, h, w)
	}
	t.Logf("%d values lie channels last", lie)
	if lie == 0 {
		t.Error("no value lies channels last")
	}
}

// A quantizedNet is a random network of quantized pictures, some of which are signed.
type quantizedNet struct {
	*pictureNet
	signed []bool
}

// bytes returns weights of bytes.
func (q *quantizedNet) bytes(signed bool, shape ...int) string {
	if signed {
		t := tensor.New[int8](shape...)
		for i := range t.Elems() {
			t.Elems()[i] = int8(q.r.Uint32())
		}
		return q.b.Weight(q.b.fresh("w"), t.Any())
	}
	t := tensor.New[uint8](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = uint8(q.r.Uint32())
	}
	return q.b.Weight(q.b.fresh("w"), t.Any())
}

// quantum returns a scale and a zero point.
func (q *quantizedNet) quantum(signed bool) (scale, zero string) {
	by := []float32{1. / 64, .0123, .02}[q.r.IntN(3)]
	return q.b.Weight(q.b.fresh("scale"), tensor.Scalar(by).Any()), q.bytes(signed)
}

// grow adds a node, or some that belong together.
func (q *quantizedNet) grow() {
	r, b := q.r, q.b
	i := len(q.vals) - 1 - min(r.IntN(len(q.vals)), r.IntN(len(q.vals)))
	v, signed := q.vals[i], q.signed[i]
	scale, zero := q.quantum(signed)
	add := func(name string, signed bool, c, h, w int) {
		q.add(name, c, h, w)
		q.signed = append(q.signed, signed)
	}
	same := func(f func(u picture) bool) (list []picture) {
		for k, u := range q.vals {
			if q.signed[k] == signed && f(u) {
				list = append(list, u)
			}
		}
		return list
	}
	toScale, toZero := q.quantum(signed)
	switch r.IntN(15) {
	case 12: // operators that know nothing of scales
		list := same(func(u picture) bool { return u.c == v.c && u.h == v.h && u.w == v.w })
		add(b.Node([]string{"Max", "Min"}[r.IntN(2)], []string{v.name, list[r.IntN(len(list))].name}), signed, v.c, v.h, v.w)
	case 13:
		list := same(func(u picture) bool { return u.h == v.h && u.w == v.w && u.c+v.c < 90 })
		if len(list) > 0 {
			u := list[r.IntN(len(list))]
			add(b.Node("Concat", []string{v.name, u.name}, IntAttr("axis", 1)), signed, v.c+u.c, v.h, v.w)
		}
	case 14:
		if v.c%2 == 0 {
			for _, out := range b.Nodes("Split", 2, []string{v.name}, IntAttr("axis", 1)) {
				add(out, signed, v.c/2, v.h, v.w)
			}
		}
	case 0, 1, 2, 3, 4, 5: // a convolution
		k, stride, group, m := []int{1, 1, 3, 2}[r.IntN(4)], 1+r.IntN(2), 1, []int{1, 4, 8, 16, 17, 24, 40}[r.IntN(7)]
		pad := r.IntN(k/2 + 1)
		switch kind := r.IntN(4); {
		case kind == 0:
			group, m = v.c, v.c
		case kind == 1 && v.c%2 == 0 && m%2 == 0:
			group = 2
		}
		if v.h+2*pad < k || v.w+2*pad < k {
			return
		}
		of, to := r.IntN(2) == 0, r.IntN(2) == 0
		n := []int{1, m}[r.IntN(2)]
		scales := tensor.RandomUniform[float32](r.Uint64(), .001, .01, n)
		zeros := q.bytes(of, n)
		if r.IntN(2) == 0 {
			zeros = b.Weight(b.fresh("zeros"), tensor.New[uint8](n).Any())
			if of {
				zeros = b.Weight(b.fresh("zeros"), tensor.New[int8](n).Any())
			}
		}
		toScale, toZero = q.quantum(to)
		in := []string{v.name, scale, zero, q.bytes(of, m, v.c/group, k, k), b.Weight(b.fresh("scales"), scales.Any()), zeros, toScale, toZero}
		if r.IntN(2) == 0 {
			bias := tensor.New[int32](m)
			for i := range bias.Elems() {
				bias.Elems()[i] = int32(r.Uint32()) >> r.IntN(20)
			}
			in = append(in, b.Weight(b.fresh("bias"), bias.Any()))
		}
		at, step := int64(pad), int64(stride)
		name := b.Node("QLinearConv", in, IntsAttr("pads", at, at, at, at), IntsAttr("strides", step, step), IntAttr("group", int64(group)))
		add(name, to, m, (v.h+2*pad-k)/stride+1, (v.w+2*pad-k)/stride+1)
	case 6, 7:
		other, otherZero := q.quantum(signed)
		with := q.bytes(signed, v.c, 1, 1)
		if list := same(func(u picture) bool { return u.c == v.c && u.h == v.h && u.w == v.w }); r.IntN(4) > 0 {
			with = list[r.IntN(len(list))].name
		}
		name := []string{"com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"}[r.IntN(2)]
		add(b.Node(name, []string{v.name, scale, zero, with, other, otherZero, toScale, toZero}), signed, v.c, v.h, v.w)
	case 8:
		in, c := []string{toScale, toZero, v.name, scale, zero}, v.c
		for _, u := range same(func(u picture) bool { return u.h == v.h && u.w == v.w }) {
			if r.IntN(2) == 0 && c+u.c < 90 {
				by, less := q.quantum(signed)
				in, c = append(in, u.name, by, less), c+u.c
			}
		}
		add(b.Node("com.microsoft.QLinearConcat", in, IntAttr("axis", 1)), signed, c, v.h, v.w)
	case 9:
		if v.h >= 2 && v.w >= 2 {
			add(b.Node("MaxPool", []string{v.name}, IntsAttr("kernel_shape", 2, 2), IntsAttr("strides", 1, 1)), signed, v.c, v.h-1, v.w-1)
		}
	case 10:
		add(b.Node("com.microsoft.QLinearLeakyRelu", []string{v.name, scale, zero, toScale, toZero}), signed, v.c, v.h, v.w)
	case 11:
		x := b.Node("Relu", []string{b.Node("DequantizeLinear", []string{v.name, scale, zero})})
		add(b.Node("QuantizeLinear", []string{x, toScale, toZero}), signed, v.c, v.h, v.w)
	}
}

// begin adds the input, and returns its extents.
func (p *pictureNet) begin(seed uint64) (h, w int) {
	side := 12
	if seed%16 == 0 {
		side = 60
	}
	h, w = 1+p.r.IntN(side), 1+p.r.IntN(side)
	p.add(p.b.Input("x", dtype.Float32, 1, 3, h, w), 3, h, w)
	return h, w
}

// same compares the network's prepared runs with runs without passes, and returns how many values lie channels last.
func (p *pictureNet) same(t *testing.T, seed uint64, h, w int) (lie int) {
	p.b.OutputOf(p.vals[len(p.vals)-1].name, Type{})
	if v := p.pick(); v.name != p.vals[len(p.vals)-1].name && v.name != "x" {
		p.b.OutputOf(v.name, Type{})
	}
	m, err := p.b.Model(17)
	if err != nil {
		t.Fatalf("network %d: %v", seed, err)
	}
	plain, err := m.sessionBy(form{}, 0)
	if err != nil {
		t.Fatalf("network %d: %v", seed, err)
	}
	s, err := m.sessionBy(form{}, allPasses)
	if err != nil {
		t.Fatalf("network %d: %v", seed, err)
	}
	o := Options{Threads: 1 + int(seed%3)}
	if seed%4 == 1 { // memory for some of the packed weights, or for no prepared run
		plan, err := s.Plan(vals{"x": noise(p.r, 1, 3, h, w)})
		if err != nil {
			t.Fatal(err)
		}
		o.MaxMemory = plan.Weights + plan.Live + p.r.Int64N(1+2*plan.Live)
	}
	st, err := s.Stream(&StreamOptions{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		x := noise(p.r, 1, 3, h, w)
		if data, _ := tensor.As[float32](x); p.r.IntN(4) == 0 {
			data.Elems()[p.r.IntN(x.Len())] = []float32{float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 1e-40}[p.r.IntN(4)]
		}
		in := vals{"x": x}
		want, err := plainly(plain, context.Background(), in, Options{})
		if err != nil {
			t.Fatalf("network %d: %v", seed, err)
		}
		got, err := st.Run(context.Background(), in)
		if err != nil {
			t.Fatalf("network %d: %v", seed, err)
		}
		for name, a := range want {
			if !bytes.Equal(bitsOf(a), bitsOf(got[name])) {
				var ops []string
				for _, n := range m.Graph.Nodes {
					ops = append(ops, fmt.Sprint(n.Op, n.Inputs, n.Outputs))
				}
				t.Fatalf("network %d: %s differs: %v", seed, name, ops)
			}
		}
	}
	if st.ready == nil && o.MaxMemory == 0 {
		t.Fatalf("network %d isn't prepared", seed)
	}
	for _, slot := range slots(st) {
		if slot != nil && slot.last {
			lie++
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return lie
}

// slots returns those of a stream's prepared run.
func slots(st *Stream) []*slot {
	if st.ready == nil {
		return nil
	}
	return st.ready.root.slots
}
