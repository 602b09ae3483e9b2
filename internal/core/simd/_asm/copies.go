package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// page is the size in bytes after which the processor's own prefetches stop, group a number of pages.
const (
	page  = 4096
	group = 4
)

// writeCopies writes the copies of whole lines of 64 bytes by non-temporal stores. src may begin anywhere, dst begins at a line. The
// pages of a group take turns, a piece of each, so that the memory answers several streams. The last pages, fewer than a group, are
// copied in order, and each load prefetches the line that lies ahead bytes later.
func writeCopies(c *build.Context) {
	for _, t := range []struct {
		level string
		bytes int // of a vector
	}{{"AVX2", 32}, {"AVX512", 64}} {
		c.Function("copyLines_" + t.level)
		c.Attributes(attr.NOSPLIT)
		c.Pragma("noescape")
		c.SignatureExpr("func(dst, src *byte, lines, ahead int)")
		dst, src := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("src"), c.GP64())
		lines, ahead := c.Load(c.Param("lines"), c.GP64()), c.Load(c.Param("ahead"), c.GP64())
		// move copies pieces of so many bytes, apart bytes apart.
		move := func(pieces, apart, bytes int) {
			var v []reg.VecVirtual
			var at []int
			for p := range pieces {
				for b := 0; b < bytes; b += t.bytes {
					r := c.YMM()
					if t.bytes == 64 {
						r = c.ZMM()
					}
					at = append(at, p*apart+b)
					v = append(v, r)
					if t.bytes == 64 {
						c.VMOVDQU64(operand.Mem{Base: src, Disp: p*apart + b}, r)
					} else {
						c.VMOVDQU(operand.Mem{Base: src, Disp: p*apart + b}, r)
					}
				}
			}
			for i, r := range v {
				c.VMOVNTDQ(r, operand.Mem{Base: dst, Disp: at[i]})
			}
		}
		on := func(bytes int) {
			c.ADDQ(operand.I32(bytes), src)
			c.ADDQ(operand.I32(bytes), dst)
		}
		fetch := func(bytes int) {
			for b := 0; b < bytes; b += 64 {
				c.PREFETCHT0(operand.Mem{Base: src, Index: ahead, Scale: 1, Disp: b})
			}
		}

		c.SUBQ(operand.I32(group*page/64), lines)
		c.JLT(operand.LabelRef("order"))
		c.Label("group")
		left := c.GP64()
		c.MOVQ(operand.I32(page/(2*t.bytes)), left)
		c.Label("pieces")
		move(group, page, 2*t.bytes)
		on(2 * t.bytes)
		c.DECQ(left)
		c.JNZ(operand.LabelRef("pieces"))
		on((group - 1) * page)
		c.SUBQ(operand.I32(group*page/64), lines)
		c.JGE(operand.LabelRef("group"))

		c.Label("order")
		c.ADDQ(operand.I32(group*page/64-4), lines)
		c.JLT(operand.LabelRef("rest"))
		c.Label("four")
		move(1, 0, 256)
		fetch(256)
		on(256)
		c.SUBQ(operand.I8(4), lines)
		c.JGE(operand.LabelRef("four"))
		c.Label("rest")
		c.ADDQ(operand.I8(4), lines)
		c.JLE(operand.LabelRef("done"))
		c.Label("one")
		move(1, 0, 64)
		fetch(64)
		on(64)
		c.DECQ(lines)
		c.JNZ(operand.LabelRef("one"))
		c.Label("done")
		c.VZEROUPPER()
		c.RET()
	}
}
