package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Where returns a where cond is true and b elsewhere, bit for bit. The three
// shapes broadcast. It panics if they don't. ONNX Where.
func Where[T num.Elem](cond tensor.Tensor[bool], a, b tensor.Tensor[T], opts ...Option) (r tensor.Tensor[T]) {
	choose(exec.Ref(&r), exec.Ref(&cond), exec.Ref(&a), exec.Ref(&b), opts)
	return r
}

func choose(r, cond, a, b *tensor.Any, opts []Option) {
	present("Where", cond, a, b)
	d := a.DType()
	if isLazy(cond, a, b) {
		noted(r, note{name: "Where", args: []arg{argOf("Where", cond), argOf("Where", a), argOf("Where", b)},
			run: func(r *tensor.Any, in []*tensor.Any, opts []Option) { choose(r, in[0], in[1], in[2], opts) }}, d, opts, cond.LayoutRef(), a.LayoutRef(), b.LayoutRef())
		return
	}
	must("Where", d != dtype.Invalid, d)
	s := read(opts)
	aim(r, "Where", &s, d, cond.LayoutRef(), a.LayoutRef(), b.LayoutRef())
	j := exec.Job{Name: "Where", Ctx: s.ctx(), Cost: 1}
	heed(&j, opts)
	exec.Elementwise(&j, r, &[3]*tensor.Any{cond, a, b}, 3, &exec.Kernel{Three: whereRow(d), Stream: whereStream(d)})
}

// whereRow returns the row of Where. It chooses between words: between floats it would
// branch, and mispredict.
func whereRow(d dtype.DType) exec.Row3 {
	fast := fastest(&simd.Where)
	if fast == nil {
		fast = new(simd.RowsWhere)
	}
	// A row that a generic function picks would be allocated: it carries its types along.
	switch d.Size() {
	case 1:
		if fast.U8 != nil {
			return exec.Forget[exec.Row3](fast.U8)
		}
		return exec.Forget[exec.Row3](whereWords[uint8])
	case 2:
		if fast.U16 != nil {
			return exec.Forget[exec.Row3](fast.U16)
		}
		return exec.Forget[exec.Row3](whereWords[uint16])
	case 4:
		if fast.U32 != nil {
			return exec.Forget[exec.Row3](fast.U32)
		}
		return exec.Forget[exec.Row3](whereWords[uint32])
	case 8:
		if fast.U64 != nil {
			return exec.Forget[exec.Row3](fast.U64)
		}
		return exec.Forget[exec.Row3](whereWords[uint64])
	}
	return exec.Forget[exec.Row3](whereWords[[2]uint64])
}

// whereStream returns the second entry of the row of Where, or nil.
func whereStream(d dtype.DType) simd.Stream {
	t := fastest(&simd.Where)
	if t == nil {
		return nil
	}
	switch d.Size() {
	case 1:
		return t.Stream.U8
	case 2:
		return t.Stream.U16
	case 4:
		return t.Stream.U32
	case 8:
		return t.Stream.U64
	}
	return nil
}

// whereWords defines Where.
func whereWords[W any](dst []W, mask []bool, a, b []W) {
	mask, a, b = mask[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := b[i]
		if mask[i] {
			v = a[i]
		}
		dst[i] = v
	}
}

var where = opN{about: about{name: "Where", flops: flops{free: true}, orion: &inOrion{truth: 1}, onnx: []int{9, 16}}, least: 3, fast: whereFast, by: 1,
	planned: func(c *Call, p *Plan) {
		if d := c.in(0).DType(); d != dtype.Bool {
			panic(fail("Where", tensor.ErrDType, "input 0 holds %v, want bool", d))
		}
		cond, a, b := c.with("Where", 0), c.with("Where", 1), c.with("Where", 2)
		if a.DType() != b.DType() {
			panic(notHeld("Where", b, 2, a.DType()))
		}
		p.stretched(a.DType(), c, 3)
		p.by(c, 0, func(r *tensor.Any, opts []Option) { choose(r, cond, a, b, opts) })
	}}
