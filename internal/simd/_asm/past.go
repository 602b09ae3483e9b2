package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Results that go past the caches: a row whose result is marked, see simd.Past, has a loop of its own.

// streams reports whether the kernel looks for a mark: where a result may be large and isn't read again.
func (k *kernel) streams() bool {
	for _, name := range []string{"Widen", "Narrow", "SubNumber", "DivNumber"} {
		if strings.HasPrefix(k.table, name) {
			return true
		}
	}
	return k.form != ""
}

// streaming writes the main loop for a marked result, which lies at a multiple of what is stored at once: else the other loop serves.
func (x *x86) streaming(n reg.Register) {
	c, dst := x.c, x.k.args[0]
	step := x.vectors() * x.lanes
	c.Label("again")
	capacity := c.Load(c.Param(dst.name).Cap(), c.GP64())
	c.BTQ(operand.U8(62), capacity)
	c.JCC(operand.LabelRef("many"))
	c.TESTQ(operand.U32(min(x.bytes, step*dst.kind.size())-1), x.base[0])
	c.JNE(operand.LabelRef("many"))
	c.Label("past")
	x.past = true
	if x.k.usual != nil {
		x.trying("past", "doubtful")
	} else {
		x.together("past", x.k.body)
		x.put()
	}
	x.past = false
	c.ADDQ(operand.I32(step), x.index)
	c.SUBQ(operand.I32(step), n)
	c.JGE(operand.LabelRef("past"))
	c.SFENCE() // such stores are seen in any order
	c.JMP(operand.LabelRef("single"))
}

// putPast stores what waits past the caches, joined to whole registers as far as a step fills them: of a line of the cache that isn't
// written at once the memory would be read.
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

// pair returns a register with n bytes of each of two.
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
