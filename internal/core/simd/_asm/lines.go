package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Lines are folds of many short rows in one call, each folded to one element in registers. After whole groups of elements, one for each
// accumulator, the last elements of a line go into the first accumulators under a mask.

// lines lists the folds of lines, and the functions that find an element in each line.
func lines() (l list) {
	for _, k := range []kind{F32, F64} {
		bits := k.String()[1:]
		x := arg{"x", k, false}
		l.add(kernel{table: "SumLines" + bits, fold: 32, args: []arg{{"dst", F64, false}, x},
			start: func(m machine) value { return f64(m, math.Copysign(0, -1)) }, join: machine.add,
			body: func(m machine) { m.store(0, m.accumulate(m.load(0), wide(m, m.load(1)))) }})
		l.add(kernel{table: "SquareLines" + bits, fold: 32, args: []arg{{"dst", F64, false}, x, {"shift", F64, true}},
			start: func(m machine) value { return f64(m, math.Copysign(0, -1)) }, join: machine.add,
			body: func(m machine) {
				d := m.sub(wide(m, m.load(1)), m.load(2))
				m.store(0, m.fma(d, d, m.load(0)))
			}})
		for _, f := range []struct {
			table string
			up    bool
			from  float64
		}{{"MaxLines", true, math.Inf(-1)}, {"MinLines", false, math.Inf(1)}} {
			join := func(m machine, a, b value) value { return m.peak(a, b, f.up) }
			l.add(kernel{table: f.table + bits, fold: 256 / k.size(), args: []arg{{"dst", k, false}, x},
				start: func(m machine) value { return number(m, k, f.from) }, join: join,
				body: func(m machine) { m.store(0, join(m, m.load(0), m.load(1))) }})
		}
		l.add(kernel{table: "FirstLines" + bits, find: true, args: []arg{{"dst", I64, false}, {"best", k, false}, x}, inner: k})
	}
	return l
}

// linesAhead is the distance in bytes from a load of a line to the address that is prefetched.
const linesAhead = 8192

// shortLine is the least number of elements of a line with prefetches.
const shortLine = 64

// lining writes the loops over lines and their elements. Several lines go at a time where there are registers for their accumulators, and
// lines are short or all of them take at most simd.together bytes. Then their additions needn't wait for each other. Other lines go one
// after the other, in their order in memory, with prefetches. Near the end of a line the next one is prefetched.
func (x *x86) lining(lines reg.Register) {
	c, k := x.c, x.k
	dst := x.base[0].(reg.GPVirtual)
	src := []reg.GPVirtual{x.base[1].(reg.GPVirtual)}
	size := k.args[1].kind.size()
	step := c.Load(c.Param("step"), c.GP64()).(reg.GPVirtual)
	c.IMUL3Q(operand.I32(size), step, step)
	n := c.Load(c.Param("n"), c.GP64())
	left := c.GP64()
	start := k.start(x)
	sums := [][]operand.Op{nil}
	if x.wide {
		src, sums = append(src, c.GP64(), c.GP64(), c.GP64()), make([][]operand.Op, 4)
	}
	for i := range sums {
		for range k.fold / x.lanes {
			sums[i] = append(sums[i], x.register(x.bytes))
		}
	}
	first, then, ahead, next := c.GP64(), c.GP64(), c.GP64(), c.GP64() // prefetch distances: first before the end of a line, then near it
	c.MOVQ(n, next)
	c.IMUL3Q(operand.I32(size), next, next)
	c.MOVL(operand.U32(linesAhead), first.As32())
	c.LEAQ(operand.Mem{Base: step, Disp: linesAhead}, then)
	c.SUBQ(next, then)
	c.CMPQ(next, first)
	c.JGE(operand.LabelRef("far"))
	c.CMPQ(next, step)
	c.JEQ(operand.LabelRef("far"))
	c.XORL(first.As32(), first.As32()) // no prefetches for short lines that lie apart: nothing is known of them
	c.XORL(then.As32(), then.As32())
	c.Label("far")
	// some writes the loop over at lines at a time.
	some := func(label string, at int) {
		// each calls f for each of these lines.
		each := func(f func(i int)) {
			for i := range at {
				x.base[1], x.sums = src[i], sums[i]
				f(i)
			}
		}
		c.Label("lines" + label)
		each(func(i int) {
			if i > 0 {
				c.LEAQ(operand.Mem{Base: src[i-1], Index: step, Scale: 1}, src[i])
			}
			for _, s := range x.sums {
				x.move(start.op, s)
			}
		})
		c.XORL(x.index.As32(), x.index.As32())
		c.MOVQ(n, left)
		c.MOVQ(first, ahead)
		c.SUBQ(operand.I32(k.fold), left)
		c.JLT(operand.LabelRef("rest" + label))
		c.Label("many" + label)
		if at == 1 {
			c.CMPQ(left, operand.I32(linesAhead/size))
			c.CMOVQLT(then, ahead)
			c.LEAQ(operand.Mem{Base: ahead, Index: x.index, Scale: uint8(size)}, next)
			for b := 0; b < k.fold*size; b += 64 {
				c.PREFETCHT0(operand.Mem{Base: src[0], Index: next, Scale: 1, Disp: b})
			}
		}
		for x.off = 0; x.off < k.fold; x.off += x.lanes {
			each(func(int) { k.body(x) })
		}
		c.ADDQ(operand.I32(k.fold), x.index)
		c.SUBQ(operand.I32(k.fold), left)
		c.JGE(operand.LabelRef("many" + label))
		c.Label("rest" + label)
		c.ADDQ(operand.I32(k.fold), left)
		c.JLE(operand.LabelRef("whole" + label))
		x.masked(left, "whole"+label, func() { each(func(int) { k.body(x) }) })
		c.Label("whole" + label)
		each(func(i int) {
			r, size := x.joined(), k.args[0].kind.size()
			x.do(map[int]string{4: "VMOVD", 8: "VMOVQ"}[size], r.op, operand.Mem{Base: dst, Disp: i * size})
		})
		c.ADDQ(operand.I32(at*k.args[0].kind.size()), dst)
		c.LEAQ(operand.Mem{Base: src[0], Index: step, Scale: uint8(at)}, src[0])
		c.SUBQ(operand.I32(at), lines)
	}
	if len(src) > 1 {
		c.CMPQ(n, operand.I32(shortLine))
		c.JLT(operand.LabelRef("together"))
		all := c.GP64()
		c.MOVQ(n, all)
		c.IMUL3Q(operand.I32(size), all, all)
		c.IMULQ(lines, all)
		c.CMPQ(all, operand.NewDataAddr(operand.Symbol{Name: "·together"}, size/8*8))
		c.JGT(operand.LabelRef("apart"))
		c.Label("together")
		c.SUBQ(operand.I32(len(src)), lines)
		c.JLT(operand.LabelRef("few"))
		some("", len(src))
		c.JGE(operand.LabelRef("lines"))
		c.Label("few")
		c.ADDQ(operand.I32(len(src)), lines)
	}
	c.Label("apart")
	c.TESTQ(lines, lines)
	c.JLE(operand.LabelRef("done"))
	some("one", 1)
	c.JNE(operand.LabelRef("linesone"))
	c.Label("done")
}

// masked writes the program for the last left elements of a line, up to a label. There are some, but fewer than accumulators.
func (x *x86) masked(left reg.GPVirtual, whole string, program func()) {
	c, k := x.c, x.k
	if x.wide {
		ones := c.GP64()
		c.MOVQ(operand.I32(-1), ones)
		c.BZHIQ(left, ones, ones)
		for x.off = 0; x.off < k.fold; x.off += x.lanes {
			mask := c.K()
			c.KMOVQ(ones, mask)
			x.some = mask
			program()
			if x.off+x.lanes < k.fold {
				c.SHRQ(operand.U8(x.lanes), ones)
				c.JEQ(operand.LabelRef(whole))
			}
		}
	} else {
		for x.off = 0; x.off < k.fold; x.off += x.lanes {
			x.masks = make(map[int]operand.Op)
			for _, a := range k.args[:2] {
				s := a.kind.size()
				if _, ok := x.masks[s]; ok {
					continue
				}
				x.masks[s] = x.under(left, a.kind)
			}
			program()
			if x.off+x.lanes < k.fold {
				c.SUBQ(operand.I32(x.lanes), left)
				c.JLE(operand.LabelRef(whole))
			}
		}
	}
	x.off, x.some, x.masks = 0, nil, nil
}

// under returns a mask of AVX2 for the first left elements of a vector.
func (x *x86) under(left reg.GPVirtual, k kind) operand.Op {
	many, mask := x.register(x.lanes*k.size()), x.register(x.lanes*k.size())
	x.c.VMOVQ(left, many.AsX())
	x.do("VPBROADCAST"+size(k), many.AsX(), many)
	x.do("VPCMPGT"+size(k), x.part(x.counting(k.size()), k), many, mask)
	return mask
}

// counting returns the constant 0, 1, 2 … in elements of a size.
func (x *x86) counting(size int) operand.Op {
	words := make([]uint64, 8)
	for i := range words {
		if words[i] = uint64(i); size == 4 {
			words[i] = uint64(2*i) | uint64(2*i+1)<<32
		}
	}
	return x.named(words...)
}

// joined joins the accumulators, then the halves of the first, and returns the result.
func (x *x86) joined() value {
	kind := x.k.args[0].kind
	v := make([]value, len(x.sums))
	for i, s := range x.sums {
		v[i] = value{kind, s}
	}
	for ; len(v) > 1; v = v[:len(v)/2] {
		for i := range v[:len(v)/2] {
			v[i] = x.k.join(x, v[i], v[i+len(v)/2])
		}
	}
	lanes := x.lanes
	defer func() { x.lanes = lanes }()
	r := v[0]
	for h := lanes / 2; h > 0; h /= 2 {
		upper := value{kind, x.register(max(16, h*kind.size()))}
		switch h * kind.size() {
		case 32:
			x.do("VEXTRACTF64X4", operand.U8(1), r.op, upper.op)
		case 16:
			x.do("VEXTRACTF128", operand.U8(1), r.op, upper.op)
		default:
			x.do("VPSHUFD", operand.U8(map[int]uint64{8: 0xee, 4: 0x55}[h*kind.size()]), r.op, upper.op)
		}
		x.lanes = max(h, 16/kind.size())
		r = x.k.join(x, value{kind, x.part(r.op, kind)}, upper)
	}
	return r
}

// finding writes the loops that find the first place of the best element in each line: the same bits, or any NaN for a NaN. Four vectors
// are compared at a time, then one, the last under a mask. A line without the element gives its length.
func (x *x86) finding(lines reg.Register) {
	const vectors = 4
	c, kind := x.c, x.k.args[1].kind
	dst, best, src := x.base[0].(reg.GPVirtual), x.base[1].(reg.GPVirtual), x.base[2].(reg.GPVirtual)
	bytes := kind.size()
	x.lanes = x.bytes / bytes // lanes of the elements, not of their positions
	step := c.Load(c.Param("step"), c.GP64()).(reg.GPVirtual)
	c.IMUL3Q(operand.I32(bytes), step, step)
	n := c.Load(c.Param("n"), c.GP64())
	left, found := c.GP64(), c.GP64()
	wanted := value{kind, x.register(x.bytes)}
	at := func(v int) operand.Mem {
		return operand.Mem{Base: src, Index: x.index, Scale: uint8(bytes), Disp: v * x.bytes}
	}
	c.TESTQ(lines, lines)
	c.JLE(operand.LabelRef("done"))
	c.Label("line")
	x.do("VPBROADCAST"+size(kind), operand.Mem{Base: best}, wanted.op)
	c.XORL(x.index.As32(), x.index.As32())
	c.MOVQ(n, left)
	x.do("VUCOMIS"+suffix(kind)[1:], wanted.op.(reg.Vec).AsX(), wanted.op.(reg.Vec).AsX())
	c.JPS(operand.LabelRef("nan"))
	for _, label := range []string{"", "nan"} {
		// matches sets the bits of the elements of v that equal the wanted one.
		matches := func(v value, bits reg.GPVirtual) {
			p, a, b := unordered, v, v
			if label == "" {
				i := kind - F32 + I32
				p, a, b = eq, x.as(i, v), x.as(i, wanted)
			}
			m := x.cmp(p, a, b)
			if x.wide {
				c.KMOVQ(m.op, bits)
			} else {
				x.do("VMOVMSK"+suffix(kind), m.op, bits.As32())
			}
		}
		if label != "" {
			c.Label(label)
		}
		c.SUBQ(operand.I32(vectors*x.lanes), left)
		c.JLT(operand.LabelRef("single" + label))
		c.Label("many" + label)
		for i := range vectors {
			bits := c.GP64()
			v := value{kind, x.inRegister(at(i), x.bytes)}
			if i == 0 {
				matches(v, found)
				continue
			}
			matches(v, bits)
			c.SHLQ(operand.U8(i*x.lanes), bits)
			c.ORQ(bits, found)
		}
		c.TESTQ(found, found)
		c.JNE(operand.LabelRef("found"))
		c.ADDQ(operand.I32(vectors*x.lanes), x.index)
		c.SUBQ(operand.I32(vectors*x.lanes), left)
		c.JGE(operand.LabelRef("many" + label))
		c.Label("single" + label)
		c.ADDQ(operand.I32(vectors*x.lanes), left)
		c.JLE(operand.LabelRef("none"))
		c.Label("one" + label)
		v := value{kind, x.register(x.bytes)}
		if x.wide {
			ones, mask := c.GP64(), c.K()
			c.MOVQ(operand.I32(-1), ones)
			c.BZHIQ(left, ones, ones)
			c.KMOVQ(ones, mask)
			x.do("VMOVDQU"+fmt.Sprint(8*bytes)+"_Z", at(0), mask, v.op)
		} else {
			x.do("VMASKMOV"+suffix(kind), at(0), x.under(left, kind), v.op)
		}
		matches(v, found)
		c.BZHIQ(left, found, found)
		c.TESTQ(found, found)
		c.JNE(operand.LabelRef("found"))
		c.ADDQ(operand.I32(x.lanes), x.index)
		c.SUBQ(operand.I32(x.lanes), left)
		c.JG(operand.LabelRef("one" + label))
		c.JMP(operand.LabelRef("none"))
	}
	c.Label("none")
	c.MOVQ(n, found)
	c.JMP(operand.LabelRef("store"))
	c.Label("found")
	c.TZCNTQ(found, found)
	c.ADDQ(x.index, found)
	c.Label("store")
	c.MOVQ(found, operand.Mem{Base: dst})
	c.ADDQ(operand.I32(8), dst)
	c.ADDQ(operand.I32(bytes), best)
	c.ADDQ(step, src)
	c.DECQ(lines)
	c.JNE(operand.LabelRef("line"))
	c.Label("done")
}
