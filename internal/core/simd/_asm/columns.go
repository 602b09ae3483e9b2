package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Columns are sums, or the best, down rows that may lie anywhere, w elements of each. A lane is a chain of rows: from the end of the
// lane before to its own end. Finished lanes are joined pairwise, level by level. The sums of the last 2^i lanes are the columns of
// dst from i·w on, and dst has room for all. Four rows are added at a time, to some columns in registers, while the next four are
// prefetched. Rows that are pages apart share a few sets of the first-level cache, which has room for no more.

const columnRows = 4

// abreast returns the number of vectors of columns that are added up side by side, where there are as many.
func (x *x86) abreast() int {
	if x.wide {
		return 2 * unroll
	}
	return unroll
}

// goingDown writes the loops over lanes, groups of rows, columns and the rows of a group.
func (x *x86) goingDown() {
	c, kind, sum := x.c, x.k.args[1].kind, x.k.args[0].kind
	rows := x.base[2].(reg.GPVirtual)
	n := c.Load(c.Param("rows").Len(), c.GP64())
	lanes := c.Load(c.Param("ends").Len(), c.GP64())
	ends := x.base[3].(reg.GPVirtual)
	start := x.k.start(x)
	for range x.abreast() {
		x.sums = append(x.sums, x.register(x.bytes))
	}
	var kept [4]operand.Mem // in the place of arguments that nobody reads, as registers are few
	for i, name := range []string{"dst", "x", "rows", "ends"} {
		b, err := c.Param(name).Cap().Resolve()
		if err != nil {
			panic(err)
		}
		kept[i] = b.Addr
	}
	width, lane, begin, end := kept[0], kept[1], kept[2], kept[3] // of a row of sums, in bytes; of the rows of the lane
	row, till, slot := c.GP64(), c.GP64(), c.GP64()               // of the group of rows; the place of the sums of the lane
	to, column, left := c.GP64(), c.GP64(), c.GP64()
	x.base[1] = column
	// some writes the program for the number of columns: it adds up a group of rows of them.
	some := func(label string, columns int) {
		sums := x.sums[:(columns+x.lanes-1)/x.lanes]
		each := func(f func(at operand.Mem, s operand.Op), base, index reg.Register) {
			for u, s := range sums {
				f(operand.Mem{Base: base, Index: index, Scale: 1, Disp: u * x.bytes}, s)
			}
		}
		read := func(at operand.Mem, s operand.Op) {
			switch {
			case x.single:
				x.element(sum, at, s)
			case x.some != nil:
				x.do("VMOVDQU"+fmt.Sprint(8*sum.size())+"_Z", at, x.some, s)
			default:
				x.move(at, s)
			}
		}
		i, next, level, bits := c.GP64(), c.GP64(), c.GP64(), c.GP64()
		c.CMPQ(row, begin)
		c.JEQ(operand.LabelRef("begin" + label))
		each(read, to, slot)
		c.JMP(operand.LabelRef("add" + label))
		c.Label("begin" + label)
		for _, s := range sums {
			x.move(start.op, s)
		}
		c.Label("add" + label)
		c.MOVQ(row, i)
		c.CMPQ(i, till)
		c.JGE(operand.LabelRef("added" + label))
		c.Label("row" + label)
		c.MOVQ(operand.Mem{Base: rows, Index: i, Scale: 8}, x.index)
		for x.off = 0; x.off < columns; x.off += x.lanes {
			x.k.body(x)
		}
		x.off = 0
		c.LEAQ(operand.Mem{Base: i, Disp: columnRows}, next)
		c.CMPQ(next, n)
		c.CMOVQGE(i, next)
		c.MOVQ(operand.Mem{Base: rows, Index: next, Scale: 8}, next)
		for off := 0; off < columns*kind.size(); off += 64 {
			c.PREFETCHT0(operand.Mem{Base: column, Index: next, Scale: uint8(kind.size()), Disp: off})
		}
		c.INCQ(i)
		c.CMPQ(i, till)
		c.JLT(operand.LabelRef("row" + label))
		c.Label("added" + label)
		c.CMPQ(till, end)
		c.JLT(operand.LabelRef("store" + label))
		c.MOVQ(lane, bits)
		c.XORL(level.As32(), level.As32())
		c.Label("join" + label)
		c.SHRQ(operand.U8(1), bits)
		c.JCC(operand.LabelRef("store" + label))
		each(func(at operand.Mem, s operand.Op) {
			v := value{sum, x.register(x.bytes)}
			read(at, v.op)
			x.move(x.k.join(x, v, value{sum, s}).op, s)
		}, to, level)
		c.ADDQ(width, level)
		c.JMP(operand.LabelRef("join" + label))
		c.Label("store" + label)
		each(func(at operand.Mem, s operand.Op) {
			switch {
			case x.single:
				x.do(map[int]string{4: "VMOVD", 8: "VMOVQ"}[sum.size()], s.(reg.Vec).AsX(), at)
			case x.some != nil:
				x.do("VMOVDQU"+fmt.Sprint(8*sum.size()), s, x.some, at)
			default:
				x.move(s, at)
			}
		}, to, slot)
		c.ADDQ(operand.I32(columns*sum.size()), to)
		c.ADDQ(operand.I32(columns*kind.size()), column)
		c.SUBQ(operand.I32(columns), left)
	}
	c.Load(c.Param("w"), left)
	c.IMUL3Q(operand.I32(sum.size()), left, left)
	c.MOVQ(left, width)
	c.XORL(row.As32(), row.As32())
	c.MOVQ(row, lane)
	c.Label("lane")
	c.MOVQ(row, begin)
	c.MOVQ(lane, slot)
	c.MOVQ(operand.Mem{Base: ends, Index: slot, Scale: 8}, till)
	c.MOVQ(till, end)
	c.NOTQ(slot)
	c.TZCNTQ(slot, slot)
	c.IMULQ(width, slot)
	c.Label("rows")
	c.LEAQ(operand.Mem{Base: row, Disp: columnRows}, till)
	c.CMPQ(till, end)
	c.CMOVQGT(end, till)
	c.Load(c.Param("dst").Base(), to)
	c.Load(c.Param("x").Base(), column)
	c.Load(c.Param("w"), left)
	for n := x.abreast(); n >= unroll; n /= 2 {
		label := fmt.Sprint(n)
		c.SUBQ(operand.I32(n*x.lanes), left)
		c.JLT(operand.LabelRef("few" + label))
		c.Label("many" + label)
		some(label, n*x.lanes)
		c.JGE(operand.LabelRef("many" + label))
		c.Label("few" + label)
		c.ADDQ(operand.I32(n*x.lanes), left)
		c.JLE(operand.LabelRef("next"))
	}
	c.Label("one")
	if x.single = !x.wide; x.single {
		some("one", 1)
	} else {
		ones, mask := c.GP64(), c.K()
		c.MOVQ(operand.I32(-1), ones)
		c.BZHIQ(left, ones, ones)
		c.KMOVQ(ones, mask)
		x.some = mask
		some("one", x.lanes)
	}
	x.some, x.single = nil, false
	c.JG(operand.LabelRef("one"))
	c.Label("next")
	c.MOVQ(till, row)
	c.CMPQ(row, end)
	c.JLT(operand.LabelRef("rows"))
	c.MOVQ(lane, left)
	c.INCQ(left)
	c.MOVQ(left, lane)
	c.CMPQ(left, lanes)
	c.JLT(operand.LabelRef("lane"))
}
