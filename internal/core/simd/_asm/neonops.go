package main

import (
	"fmt"
	"math"
	"slices"
)

// The operations of neon.

func (n *neon) load(i int) value {
	k := n.k.args[i].kind
	if n.k.args[i].number {
		return value{k, n.base[i]}
	}
	if i == 0 && n.k.fold > 0 {
		return value{k, n.sums[n.off/n.lanes]}
	}
	v := n.vector()
	if n.tail > 0 {
		n.some(k, v, n.base[i], n.off*k.size())
		return value{k, v}
	}
	n.op("ldr", n.access(k), n.off*k.size(), v, n.base[i])
	return value{k, v}
}

// access names the part of a register that a load or store of a value uses.
func (n *neon) access(k kind) string {
	bytes := n.lanes * k.size()
	if n.single {
		bytes = k.size()
	}
	return map[int]string{1: "b", 2: "h", 4: "s", 8: "d", 16: "q"}[bytes]
}

func (n *neon) store(i int, v value) {
	if n.trial {
		n.stores = append(n.stores, stored{v, i, n.off})
		return
	}
	if i == 0 && n.k.fold > 0 {
		n.accumulated(n.sums[n.off/n.lanes], v)
		return
	}
	n.op("str", n.access(v.kind), n.off*v.kind.size(), n.reg(v), n.base[i])
}

// accumulated puts a value into an accumulator: by the instruction that makes it, if that is the last one.
func (n *neon) accumulated(sum virtual, v value) {
	r := n.reg(v)
	if n.tail > 0 { // the others stay
		size := v.kind.size()
		lo, hi := uint64(math.MaxUint64), uint64(0)
		if n.tail*size < 8 {
			lo >>= 64 - 8*n.tail*size
		} else {
			hi = 1<<(8*(n.tail*size-8)) - 1
		}
		n.op("bit", "16b", 0, sum, r, n.held16(lo, hi))
		return
	}
	if last := &n.code[len(n.code)-1]; last.outs == 1 && last.regs[0] == r && !n.pinned[r] {
		if !last.keeps {
			last.regs = append([]virtual{sum}, last.regs[1:]...)
			return
		}
		if before := n.code[len(n.code)-2]; before.moves && before.regs[0] == r && before.regs[1] == sum {
			last.regs = append([]virtual{sum}, last.regs[1:]...)
			n.code = append(n.code[:len(n.code)-2], *last)
			return
		}
	}
	n.copyTo(sum, r)
}

func (n *neon) copyTo(to, from virtual) {
	n.op("orr", "16b", 0, to, from, from)
	in := &n.code[len(n.code)-1]
	in.regs, in.moves = in.regs[:2], true
	in.text = func(r []int) string { return written("orr", "16b", 0, r[0], r[1], r[1]) }
}

func (n *neon) copied(from virtual) virtual {
	v := n.vector()
	n.copyTo(v, from)
	return v
}

func (n *neon) reg(v value) virtual {
	if t, ok := v.op.(truth); ok {
		return t.virtual
	}
	return v.op.(virtual)
}

// op1 and op2 add instructions on values.
func (n *neon) op1(name string, a value) value {
	d := n.vector()
	n.op(name, n.all(a.kind), 0, d, n.reg(a))
	return value{a.kind, d}
}

func (n *neon) op2(name string, a, b value) value {
	d := n.vector()
	n.op(name, n.all(a.kind), 0, d, n.reg(a), n.reg(b))
	return value{a.kind, d}
}

func (n *neon) logic(name string, a, b value) value {
	d := n.vector()
	n.op(name, n.bits(a.kind), 0, d, n.reg(a), n.reg(b))
	return value{a.kind, d}
}

// float puts an f before the name of an instruction for floats.
func float(name string, k kind) string {
	if k.float() {
		return "f" + name
	}
	return name
}

func (n *neon) add(a, b value) value          { return n.op2(float("add", a.kind), a, b) }
func (n *neon) sub(a, b value) value          { return n.op2(float("sub", a.kind), a, b) }
func (n *neon) mul(a, b value) value          { return n.op2(float("mul", a.kind), a, b) }
func (n *neon) div(a, b value) value          { return n.op2("fdiv", a, b) }
func (n *neon) sqrt(a value) value            { return n.op1("fsqrt", a) }
func (n *neon) accumulate(sum, a value) value { return n.add(sum, a) }

func (n *neon) round(a value, how rounding) value {
	return n.op1([...]string{toEven: "frintn", down: "frintm", up: "frintp", toZero: "frintz"}[how], a)
}

func (n *neon) fma(a, b, c value) value  { return n.fused("fmla", n.copied(n.reg(c)), a, b) }
func (n *neon) fnma(a, b, c value) value { return n.fused("fmls", n.copied(n.reg(c)), a, b) }
func (n *neon) fms(a, b, c value) value  { return n.fused("fmla", n.reg(n.op1("fneg", c)), a, b) }

func (n *neon) fused(name string, d virtual, a, b value) value {
	n.op(name, n.all(a.kind), 0, d, n.reg(a), n.reg(b))
	return value{a.kind, d}
}

func (n *neon) max(a, b value) value { return n.extreme("max", gt, a, b) }
func (n *neon) min(a, b value) value { return n.extreme("min", lt, a, b) }

func (n *neon) extreme(name string, p pred, a, b value) value {
	switch {
	case a.kind.float():
		return n.op2("f"+name, a, b)
	case a.kind.size() == 8:
		return n.sel(n.cmp(p, a, b), a, b)
	case a.kind.signed():
		return n.op2("s"+name, a, b)
	}
	return n.op2("u"+name, a, b)
}

func (n *neon) peak(a, b value, up bool) value {
	if up {
		return n.max(a, b)
	}
	return n.min(a, b)
}

func (n *neon) limit(a, b value, up bool) value {
	if up {
		return n.sel(n.cmp(gt, a, b), a, b)
	}
	return n.sel(n.cmp(lt, a, b), a, b)
}

func (n *neon) magnitude(a, most value) value { return n.limit(n.op1("fabs", a), most, false) }

func (n *neon) signed(v, a value) value {
	d := n.copied(n.reg(n.constant(a.kind, a.kind.top())))
	n.op("bsl", n.bits(a.kind), 0, d, n.reg(a), n.reg(v))
	return value{v.kind, d}
}

func (n *neon) and(a, b value) value { return n.logic("and", a, b) }
func (n *neon) or(a, b value) value  { return n.logic("orr", a, b) }
func (n *neon) xor(a, b value) value { return n.logic("eor", a, b) }

func (n *neon) shl(a value, by int) value { return n.shift("shl", a, by) }
func (n *neon) shr(a value, by int) value { return n.shift("ushr", a, by) }

func (n *neon) shift(name string, a value, by int) value {
	d := n.vector()
	n.op(name, n.all(a.kind), by, d, n.reg(a))
	return value{a.kind, d}
}

func (n *neon) cmp(p pred, a, b value) value {
	if p == unordered {
		m := n.op2("fcmeq", a, a)
		if a != b {
			m = n.and(m, n.op2("fcmeq", b, b))
		}
		return value{a.kind, truth{n.reg(m), true}}
	}
	if p == lt || p == le {
		a, b, p = b, a, map[pred]pred{lt: gt, le: ge}[p]
	}
	name := map[pred]string{eq: "cmeq", ne: "cmeq", gt: "cmgt", ge: "cmge"}[p]
	switch {
	case a.kind.float():
		name = "f" + name
	case !a.kind.signed() && p == gt:
		name = "cmhi"
	case !a.kind.signed() && p == ge:
		name = "cmhs"
	}
	return value{a.kind, truth{n.reg(n.op2(name, a, b)), p == ne}}
}

func (n *neon) sel(mask, yes, no value) value {
	t := mask.op.(truth)
	if t.not {
		yes, no = no, yes
	}
	d := n.copied(t.virtual)
	n.op("bsl", n.bits(mask.kind), 0, d, n.reg(yes), n.reg(no))
	return value{yes.kind, d}
}

func (n *neon) sum(mask, a, b, no value) value { return n.sel(mask, n.add(a, b), no) }

func (n *neon) mask(b value, like kind) value {
	v := n.reg(b)
	for size := 1; size < like.size(); size *= 2 {
		d := n.vector()
		n.op("ushll", arranged(size, 8), 0, d, v)
		v = d
	}
	m := n.op2("cmtst", value{like, v}, value{like, v})
	return value{like, truth{n.reg(m), false}}
}

func (n *neon) bools(m value) value {
	t := m.op.(truth)
	v := t.virtual
	for size := m.kind.size(); size > 1; size /= 2 {
		d := n.vector()
		n.op("xtn", arranged(size, 16), 0, d, v)
		v = d
	}
	one := n.constant(B8, 1)
	if t.not {
		return n.logic("bic", one, value{B8, v})
	}
	return n.and(one, value{B8, v})
}

func (n *neon) as(k kind, a value) value { return value{k, a.op} }

func (n *neon) convert(k kind, a value) value {
	d := n.vector()
	switch {
	case a.kind == F32 && k == F64:
		n.op("fcvtl", "2d", 0, d, n.reg(a))
	case a.kind == F64 && k == F32:
		n.op("fcvtn", "2d", 0, d, n.reg(a))
	case a.kind == U16 && k == U32:
		n.op("ushll", "4h", 0, d, n.reg(a))
	case a.kind == U32 && k == U16:
		n.op("xtn", "4s", 0, d, n.reg(a))
	case a.kind == U64 && k == U32:
		n.op("xtn", "2d", 0, d, n.reg(a))
	case a.kind == I32 && k == F64:
		wide := n.vector()
		n.op("sshll", "2s", 0, wide, n.reg(a))
		n.op("scvtf", "2d", 0, d, wide)
	case a.kind == F64 && k == I32:
		whole := n.vector()
		n.op("fcvtzs", "2d", 0, whole, n.reg(a))
		n.op("xtn", "2d", 0, d, whole)
	case a.kind == I32 && k == F32:
		n.op("scvtf", "4s", 0, d, n.reg(a))
	case a.kind == F32 && k == I32:
		n.op("fcvtzs", "4s", 0, d, n.reg(a))
	case a.kind.size() == 2 && k == I32:
		n.op(map[kind]string{U16: "ushll", I16: "sshll"}[a.kind], "4h", 0, d, n.reg(a))
	case a.kind == I32 && k.size() == 2:
		n.op("xtn", "4s", 0, d, n.reg(a))
	case a.kind.size() == 1 && k == I32:
		name, wide := map[kind]string{U8: "ushll", I8: "sshll"}[a.kind], n.vector()
		n.op(name, "8b", 0, wide, n.reg(a))
		n.op(name, "4h", 0, d, wide)
	case a.kind == I32 && k.size() == 1:
		half := n.vector()
		n.op("xtn", "4s", 0, half, n.reg(a))
		n.op("xtn", "8h", 0, d, half)
	default:
		panic(fmt.Sprintf("no conversion of %v to %v", a.kind, k))
	}
	return value{k, d}
}

func (n *neon) half(a value) value {
	d := n.vector()
	n.op("fcvtn", "4s", 0, d, n.reg(a))
	return value{U16, d}
}

func (n *neon) whole(a value) value {
	d := n.vector()
	n.op("fcvtl", "4s", 0, d, n.reg(a))
	return value{F32, d}
}

func (n *neon) upper(a value) value {
	d := n.vector()
	n.op("shrn", "4s", 16, d, n.reg(a))
	return value{U16, d}
}

func (n *neon) lookup(index value, t *[16]uint64) value { return n.gather(index, t[:]) }

// gather takes the two lanes one after the other.
func (n *neon) gather(index value, t []uint64) value {
	at := n.and(index, i64(n, int64(len(t)-1)))
	base := n.table(t)
	d, lo, hi := n.vector(), n.integer(), n.integer()
	n.op("umov", "d", 0, lo, n.reg(at))
	n.op("umov", "d", 1, hi, n.reg(at))
	n.op("ldr scaled", "d", 0, d, base, lo)
	e := n.vector()
	n.op("ldr scaled", "d", 0, e, base, hi)
	r := n.vector()
	n.op("zip1", "2d", 0, r, d, e)
	return value{I64, r}
}

// table returns the address of a table.
func (n *neon) table(words []uint64) virtual {
	name := fmt.Sprintf("c%x_%d_%x", words[0], len(words), words[1])
	if _, ok := n.tables[name]; !ok {
		n.tables[name] = n.pin(n.integer())
		n.named = append(n.named, table{name, words})
	}
	return n.tables[name]
}

// pick turns an index into four bytes of each of two tables of four entries, once for all tables. TBX leaves what is beyond its table.
func (n *neon) pick(index value, t [16]float32) value {
	word := func(i int) uint64 { return uint64(math.Float32bits(t[i])) | uint64(math.Float32bits(t[i+1]))<<32 }
	at, ok := n.bytes[n.reg(index)]
	if !ok {
		low := n.and(value{U32, n.reg(index)}, n.constant(U32, 7))
		at = [2]virtual{n.reg(n.add(n.mul(low, n.constant(U32, 0x04040404)), n.constant(U32, 0x03020100))), n.vector()}
		n.op("sub", "16b", 0, at[1], at[0], n.reg(n.constant(U8, 16)))
		n.bytes[n.reg(index)] = at
	}
	d := n.vector()
	n.op("tbl", "16b", 0, d, n.held16(word(0), word(2)), at[0])
	n.op("tbx", "16b", 0, d, n.held16(word(4), word(6)), at[1])
	return value{F32, d}
}

// doubt keeps the largest value of the step.
func (n *neon) doubt(v value, most uint64) {
	if n.off == 0 {
		n.doubts = append(n.doubts, doubt{value: value{v.kind, n.copied(n.reg(v))}, most: most})
		return
	}
	d := n.reg(n.doubts[n.doubted].value)
	n.op("umax", "4s", 0, d, d, n.reg(v))
	n.doubted++
}

// differ collects the bits that differ anywhere in the step.
func (n *neon) differ(a, b value) {
	d := n.xor(a, b)
	if n.off == 0 {
		n.doubts = append(n.doubts, doubt{value: value{U32, n.copied(n.reg(d))}, differ: true})
		return
	}
	all := n.reg(n.doubts[n.doubted].value)
	n.op("orr", "16b", 0, all, all, n.reg(d))
	n.doubted++
}

func (n *neon) constant(k kind, bits uint64) value {
	for w := 8 * k.size(); w < 64; w *= 2 {
		bits &= math.MaxUint64 >> (64 - w)
		bits |= bits << w
	}
	return value{k, n.held16(bits, bits)}
}

// held16 returns a register with a constant of 16 bytes.
func (n *neon) held16(lo, hi uint64) virtual {
	c := [2]uint64{lo, hi}
	i := slices.Index(n.consts, c)
	if i < 0 {
		if i = len(n.consts); i == 0 {
			n.pool = n.pin(n.integer())
		}
		n.consts = append(n.consts, c)
		if i < n.few {
			n.held = append(n.held, n.pin(n.vector()))
		}
	}
	if i < n.few {
		return n.held[i]
	}
	v := n.vector()
	n.op("ldr", "q", 16*i, v, n.pool)
	return v
}
