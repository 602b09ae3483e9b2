package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A row that streams has another loop, with non-temporal stores and prefetches.

const (
	fetched    = 4    // streams that a function prefetches
	fetchAhead = 8192 // bytes from a load to its prefetch along the operand
)

// streamSignature is the signature of the entry of a row that streams. It is the same for all types. The row doesn't look at operands that it
// doesn't have.
const streamSignature = "func(dst, a, b, c []struct{}, ahead *[4]uintptr)"

// streams reports whether the kernel can have non-temporal stores. Its result may be large then, and isn't read again.
func (k *kernel) streams() bool {
	if k.beside != nil {
		return true
	}
	for _, name := range []string{"WidenF32", "Narrow", "SubNumber", "DivNumber", "Normalize"} {
		if strings.HasPrefix(k.table, name) {
			return true
		}
	}
	return k.form != ""
}

// fetches returns the number of streams that the kernel prefetches: as many as memory delivers in the time of its arithmetic, and for a
// function of a product and a sum, all operands.
func (k *kernel) fetches() int {
	switch {
	case k.ahead > 0:
		return 0
	case k.field == "MulAddF32":
		return len(k.args) - 1
	case strings.HasPrefix(k.table, "Fast"):
		return 1
	case k.usual != nil:
		return fetched
	}
	return 0
}

// streaming writes the main loop with non-temporal stores. It serves results aligned to the bytes of one store; the usual loop serves others.
func (x *x86) streaming(n reg.Register) {
	c, dst := x.c, x.k.args[x.k.streamed]
	step := x.vectors() * x.lanes
	c.Label("again")
	c.TESTQ(x.hint, x.hint)
	c.JEQ(operand.LabelRef("many"))
	c.TESTQ(operand.U32(min(x.bytes, step*dst.kind.size())-1), x.base[x.k.streamed])
	c.JNE(operand.LabelRef("many"))
	var ahead []reg.GPVirtual
	if n := x.k.fetches(); n > 0 {
		ahead = x.ahead(n)
	}
	c.Label("past")
	x.nontemporal = true
	if x.k.usual != nil {
		x.trying("past")
	} else {
		x.together("past", x.k.body)
		x.put()
	}
	x.besides()
	x.nontemporal = false
	for line := 0; line < step*dst.kind.size(); line += 64 {
		for _, r := range ahead {
			c.PREFETCHT0(operand.Mem{Base: r, Index: x.index, Scale: uint8(dst.kind.size()), Disp: line})
		}
	}
	if a := x.k.args[1]; ahead == nil && len(x.k.args) == 2 && a.kind.size() > dst.kind.size() { // it reads more than it stores
		for line := 0; line < step*a.kind.size(); line += 64 {
			c.PREFETCHT0(operand.Mem{Base: x.base[1].(reg.Register), Index: x.index, Scale: uint8(a.kind.size()), Disp: fetchAhead + line})
		}
	}
	c.ADDQ(operand.I32(step), x.index)
	c.SUBQ(operand.I32(step), n)
	c.JGE(operand.LabelRef("past"))
	c.JMP(operand.LabelRef("single"))
}

// ahead returns the first addresses of the streams. The hint has them; where it has 0, they lie along the operand.
func (x *x86) ahead(n int) []reg.GPVirtual {
	c := x.c
	streams := make([]reg.GPVirtual, n)
	for i := range streams {
		streams[i] = c.GP64()
		c.MOVQ(operand.Mem{Base: x.hint, Disp: 8 * i}, streams[i])
	}
	c.TESTQ(streams[0], streams[0])
	c.JNE(operand.LabelRef("past"))
	for _, s := range streams {
		c.LEAQ(operand.Mem{Base: x.base[1].(reg.Register), Disp: fetchAhead}, s)
	}
	return streams
}

// putPast stores the waiting values by non-temporal stores. It joins them to whole registers as far as a step fills these. A cache line that
// isn't written at once would be read first.
func (x *x86) putPast(all []stored) {
	bytes := x.lanes * all[0].kind.size()
	parts := min(x.bytes/bytes, len(all))
	for ; len(all) > 0; all = all[parts:] {
		group := make([]reg.Vec, parts)
		for i := range group {
			group[i] = x.loaded(all[i].value).op.(reg.Vec)
		}
		n := bytes
		for ; len(group) > 1; n *= 2 {
			for i := range len(group) / 2 {
				group[i] = x.pair(n, group[2*i], group[2*i+1])
			}
			group = group[:len(group)/2]
		}
		x.off = all[0].off
		x.do("VMOVNTDQ", sized(group[0], n), x.at(all[0].arg))
	}
}

// pair returns a register with n bytes of a and n bytes of b.
func (x *x86) pair(n int, a, b reg.Vec) reg.Vec {
	r := x.register(2 * n)
	switch {
	case n == 4:
		x.do("VPUNPCKLDQ", b.AsX(), a.AsX(), r)
	case n == 8:
		x.do("VPUNPCKLQDQ", b.AsX(), a.AsX(), r)
	case n == 32:
		x.do("VINSERTI64X4", operand.U8(1), b.AsY(), a.AsZ(), r)
	case x.wide:
		x.do("VINSERTI32X4", operand.U8(1), b.AsX(), a.AsY(), r)
	default:
		x.do("VINSERTI128", operand.U8(1), b.AsX(), a.AsY(), r)
	}
	return r
}

// sized returns the low n bytes of a register.
func sized(r reg.Vec, n int) operand.Op {
	switch n {
	case 16:
		return r.AsX()
	case 32:
		return r.AsY()
	}
	return r.AsZ()
}
