package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeSelect writes, for AVX-512, the parts of a sort of unsigned integers of 4 bytes, and the kernels on indices and masks. Keys,
// elements and reversals have a form for AVX2 too.
func writeSelect(c *build.Context) {
	s := &sorting{c}
	s.keys()
	s.keysAVX2()
	s.elements()
	s.elementsAVX2()
	for _, size := range []int{4, 8} {
		s.reverse(size, "AVX512", reg.Z0, reg.Z1)
		s.reverse(size, "AVX2", reg.Y0, reg.Y1)
	}
	s.within()
	s.places()
	s.replace(4)
	s.replace(8)
	s.filter(4)
	s.filter(8)
	s.partition()
	for n := 1; n <= 16; n *= 2 {
		s.network(n)
	}
}

type sorting struct{ *build.Context }

func (s *sorting) begin(name, signature string) {
	s.Function(name)
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.SignatureExpr(signature)
}

// partition writes the function that moves the keys below a pivot to the front, in their order, and copies the others to spare, in
// theirs. A vector is compressed twice, and stored as a whole. The bytes behind its keys are overwritten later, or were read before.
// The last vector is loaded and stored under masks.
func (s *sorting) partition() {
	s.begin("partition32_AVX512", "func(keys, spare *uint32, n int, pivot uint32) int")
	from, to, spare, n, first, count, ones := reg.RSI, reg.RDI, reg.RBX, reg.RCX, reg.RDX, reg.RAX, reg.R8
	v, below, above, pivot := reg.Z0, reg.Z1, reg.Z2, reg.Z3
	s.Load(s.Param("keys"), from)
	s.MOVQ(from, to)
	s.MOVQ(from, first)
	s.Load(s.Param("spare"), spare)
	s.Load(s.Param("n"), n)
	s.Load(s.Param("pivot"), count.As32())
	s.VPBROADCASTD(count.As32(), pivot)
	some := func() {
		s.VPCMPUD(op.U8(1), pivot, v, reg.K1) // below it
		s.VPCOMPRESSD(v, reg.K1, below)
		s.KMOVW(reg.K1, count.As32())
		s.POPCNTL(count.As32(), count.As32())
	}
	s.SUBQ(op.I8(16), n)
	s.JLT(op.LabelRef("rest"))
	s.Label("next")
	s.VMOVDQU32(op.Mem{Base: from}, v)
	s.ADDQ(op.I8(64), from)
	some()
	s.KNOTW(reg.K1, reg.K2)
	s.VPCOMPRESSD(v, reg.K2, above)
	s.VMOVDQU32(below, op.Mem{Base: to})
	s.VMOVDQU32(above, op.Mem{Base: spare})
	s.LEAQ(op.Mem{Base: to, Index: count, Scale: 4}, to)
	s.NEGQ(count)
	s.LEAQ(op.Mem{Base: spare, Index: count, Scale: 4, Disp: 64}, spare)
	s.SUBQ(op.I8(16), n)
	s.JGE(op.LabelRef("next"))
	s.Label("rest")
	s.ADDQ(op.I8(16), n)
	s.JLE(op.LabelRef("done"))
	s.MOVL(op.I32(-1), ones.As32())
	s.BZHIL(n.As32(), ones.As32(), ones.As32())
	s.KMOVW(ones.As32(), reg.K3)
	s.VMOVDQU32_Z(op.Mem{Base: from}, reg.K3, v)
	some()
	s.KANDNW(reg.K3, reg.K1, reg.K2)
	s.KANDW(reg.K3, reg.K1, reg.K1)
	s.VPCOMPRESSD(v, reg.K1, below)
	s.VPCOMPRESSD(v, reg.K2, above)
	s.KMOVW(reg.K1, count.As32())
	s.POPCNTL(count.As32(), count.As32())
	s.SUBQ(count, n)
	s.BZHIL(n.As32(), ones.As32(), ones.As32())
	s.KMOVW(ones.As32(), reg.K2)
	s.MOVL(op.I32(-1), ones.As32())
	s.BZHIL(count.As32(), ones.As32(), ones.As32())
	s.KMOVW(ones.As32(), reg.K1)
	s.VMOVDQU32(below, reg.K1, op.Mem{Base: to})
	s.VMOVDQU32(above, reg.K2, op.Mem{Base: spare})
	s.LEAQ(op.Mem{Base: to, Index: count, Scale: 4}, to)
	s.Label("done")
	s.SUBQ(first, to)
	s.SHRQ(op.U8(2), to)
	s.Store(to, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

// network writes the function that sorts keys in n registers: more than 8·n, or with n = 1 fewer, and at most 16·n. It is a bitonic
// network: in each stage blocks of twice the length become ordered. The first step of a stage compares keys with their mirror images
// in the block. Each later step compares keys at half the distance. The smaller key goes to the front. Missing keys are the largest.
// Where registers mirror each other, the larger keys stay reversed, since the later steps don't depend on it.
func (s *sorting) network(n int) {
	s.begin(fmt.Sprintf("network32x%d_AVX512", n), "func(keys *uint32, n int)")
	keys, left, ones := reg.RSI, reg.RCX, reg.R8
	s.Load(s.Param("keys"), keys)
	s.Load(s.Param("n"), left)
	z := func(i int) reg.VecPhysical { return zmm[i] }
	other, low, turned, halves := zmm[16], zmm[17], zmm[18], zmm[19] // the last two are permutations
	for i, p := range []reg.VecPhysical{turned, halves} {
		name := fmt.Sprintf("network32x%d_%d", n, i)
		at := s.StaticGlobal(name)
		s.DataAttributes(attr.RODATA | attr.NOPTR)
		for lane := range 16 {
			s.AddDatum(4*lane, op.U32([]int{15, 7}[i]^lane))
		}
		s.VMOVDQU32(at, p)
	}
	for i, m := range []uint32{0xaaaa, 0xcccc, 0xf0f0, 0xff00} {
		s.MOVL(op.U32(m), ones.As32())
		s.KMOVW(ones.As32(), masks[i])
	}
	zero := reg.R9
	s.XORL(zero.As32(), zero.As32())
	// some sets K5 to the lanes of register i with keys, and returns false where all have one.
	some := func(i int) bool {
		if i < n/2 {
			return false
		}
		s.LEAQ(op.Mem{Base: left, Disp: -16 * i}, reg.RDX)
		s.TESTQ(reg.RDX, reg.RDX)
		s.CMOVQLT(zero, reg.RDX)
		s.MOVL(op.I32(-1), ones.As32())
		s.BZHIL(reg.EDX, ones.As32(), ones.As32())
		s.KMOVW(ones.As32(), reg.K5)
		return true
	}
	for i := range n {
		if some(i) {
			s.VPTERNLOGD(op.U8(0xff), z(i), z(i), z(i))
			s.VMOVDQU32(op.Mem{Base: keys, Disp: 64 * i}, reg.K5, z(i))
		} else {
			s.VMOVDQU32(op.Mem{Base: keys, Disp: 64 * i}, z(i))
		}
	}
	// within compares the keys of each register with the keys that permute puts beside them.
	within := func(upper int, permute func(x reg.VecPhysical)) {
		for i := range n {
			permute(z(i))
			s.VPMINUD(other, z(i), low)
			s.VPMAXUD(other, z(i), masks[upper], low)
			s.VMOVDQA32(low, z(i))
		}
	}
	apart := map[int]func(x reg.VecPhysical){
		1: func(x reg.VecPhysical) { s.VPSHUFD(op.U8(0xb1), x, other) },
		2: func(x reg.VecPhysical) { s.VPSHUFD(op.U8(0x4e), x, other) },
		4: func(x reg.VecPhysical) { s.VPERMQ(op.U8(0x4e), x, other) },
		8: func(x reg.VecPhysical) { s.VSHUFI64X2(op.U8(0x4e), x, x, other) },
	}
	mirror := map[int]func(x reg.VecPhysical){
		2:  apart[1],
		4:  func(x reg.VecPhysical) { s.VPSHUFD(op.U8(0x1b), x, other) },
		8:  func(x reg.VecPhysical) { s.VPERMD(x, halves, other) },
		16: func(x reg.VecPhysical) { s.VPERMD(x, turned, other) },
	}
	for block, stage := 2, 0; block <= 16*n; block, stage = block*2, stage+1 {
		if block <= 16 {
			within(stage, mirror[block])
		} else {
			regs := block / 16
			for i := range n {
				if j := i ^ (regs - 1); i < j {
					s.VPERMD(z(j), turned, other)
					s.VPMAXUD(other, z(i), z(j))
					s.VPMINUD(other, z(i), z(i))
				}
			}
			for d := regs / 4; d > 0; d /= 2 {
				for i := range n {
					if i&d == 0 {
						s.VMOVDQA32(z(i), low)
						s.VPMINUD(z(i+d), z(i), z(i))
						s.VPMAXUD(z(i+d), low, z(i+d))
					}
				}
			}
		}
		for d, upper := min(block/4, 8), min(stage-1, 3); d > 0; d, upper = d/2, upper-1 {
			within(upper, apart[d])
		}
	}
	for i := range n {
		if some(i) {
			s.VMOVDQU32(z(i), reg.K5, op.Mem{Base: keys, Disp: 64 * i})
		} else {
			s.VMOVDQU32(z(i), op.Mem{Base: keys, Disp: 64 * i})
		}
	}
	s.VZEROUPPER()
	s.RET()
}

// constant returns a register of the word x in each lane.
func (s *sorting) constant(x uint32, v reg.VecPhysical) reg.VecPhysical {
	s.MOVL(op.U32(x), reg.EAX)
	return s.spread(v)
}

// spread returns a register of AX in each lane.
func (s *sorting) spread(v reg.VecPhysical) reg.VecPhysical {
	if v.Size() == 64 {
		s.VPBROADCASTD(reg.EAX, v)
		return v
	}
	s.VMOVD(reg.EAX, v.AsX())
	s.VPBROADCASTD(v.AsX(), v)
	return v
}

// pass begins a function over n vectors, from src to dst. load loads a vector, and store stores one and ends the loop.
func (s *sorting) pass(name, src, more string, size int) (load func(v op.Op), store func(v op.Op)) {
	s.begin(name, fmt.Sprintf("func(dst, %s *uint32, n int%s", src, more))
	to, from, n, move := reg.RDI, reg.RSI, reg.RCX, s.VMOVDQU
	if size == 64 {
		move = func(from, to op.Op) { s.VMOVDQU32(from, to) }
	}
	s.Load(s.Param("dst"), to)
	s.Load(s.Param(src), from)
	s.Load(s.Param("n"), n)
	return func(v op.Op) {
			s.Label("next")
			move(op.Mem{Base: from}, v)
		}, func(v op.Op) {
			move(v, op.Mem{Base: to})
			s.ADDQ(op.I8(size), from)
			s.ADDQ(op.I8(size), to)
			s.DECQ(n)
			s.JNZ(op.LabelRef("next"))
		}
}

// keys writes the function that sets dst to the keys of float32, changed by turn, n vectors of them. It reports whether there are
// NaNs or negative zeros.
func (s *sorting) keys() {
	load, store := s.pass("keys32_AVX512", "src", ", turn uint32) bool", 64)
	v, mag, key := reg.Z0, reg.Z1, reg.Z2
	abs, one, infinity := s.constant(1<<31-1, reg.Z3), s.constant(1, reg.Z4), s.constant(0x7f800000, reg.Z5)
	sign, all := s.constant(1<<31, reg.Z6), s.constant(1<<32-1, reg.Z7)
	s.Load(s.Param("turn"), reg.EAX)
	turn := s.spread(reg.Z8)
	blurred, zero, special, here := reg.K1, reg.K2, reg.K3, reg.K4
	s.KXORW(blurred, blurred, blurred)
	load(v)
	s.VPANDD(abs, v, mag)
	s.VPTESTNMD(mag, mag, zero)
	s.VPSUBD(one, mag, mag)
	s.VPCMPUD(op.U8(5), infinity, mag, special) // a zero or a NaN
	s.VPTESTMD(v, v, special, here)
	s.KORW(here, blurred, blurred)
	s.VPSRAD(op.U8(31), v, key)
	s.VPTERNLOGD(op.U8(0x36), sign, v, key) // v ^ (sign of all bits | sign)
	s.VMOVDQA32(all, special, key)
	s.VMOVDQA32(sign, zero, key)
	s.VPXORD(turn, key, key)
	store(key)
	s.KTESTW(blurred, blurred)
	s.SETNE(reg.AL)
	s.Store(reg.AL, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

func (s *sorting) keysAVX2() {
	load, store := s.pass("keys32_AVX2", "src", ", turn uint32) bool", 32)
	v, mag, key, zero, blurred, none := reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5
	abs, infinity, sign := s.constant(1<<31-1, reg.Y6), s.constant(0x7f800000, reg.Y7), s.constant(1<<31, reg.Y8)
	s.Load(s.Param("turn"), reg.EAX)
	turn := s.spread(reg.Y9)
	s.VPXOR(blurred, blurred, blurred)
	s.VPXOR(none, none, none)
	load(v)
	s.VPAND(abs, v, mag)
	s.VPCMPEQD(none, mag, zero)
	s.VPCMPGTD(infinity, mag, mag) // a NaN
	s.VPSRAD(op.U8(31), v, key)
	s.VPOR(sign, key, key)
	s.VPXOR(v, key, key)
	s.VPAND(zero, v, v)
	s.VPOR(v, blurred, blurred)
	s.VPOR(mag, blurred, blurred)
	s.VPBLENDVB(zero, sign, key, key)
	s.VPOR(mag, key, key)
	s.VPXOR(turn, key, key)
	store(key)
	s.VPTEST(blurred, blurred)
	s.SETNE(reg.AL)
	s.Store(reg.AL, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

// elements writes the function that sets dst to the float32 of keys, n vectors of them.
func (s *sorting) elements() {
	load, store := s.pass("elements32_AVX512", "keys", ")", 64)
	v, key, sign := reg.Z0, reg.Z2, s.constant(1<<31, reg.Z6)
	load(v)
	s.VPSRAD(op.U8(31), v, key)
	s.VPTERNLOGD(op.U8(0x63), sign, v, key) // v ^ (not the first bit in all | sign)
	store(key)
	s.VZEROUPPER()
	s.RET()
}

func (s *sorting) elementsAVX2() {
	load, store := s.pass("elements32_AVX2", "keys", ")", 32)
	v, key, abs, all := reg.Y0, reg.Y2, s.constant(1<<31-1, reg.Y6), s.constant(1<<32-1, reg.Y7)
	load(v)
	s.VPSRAD(op.U8(31), v, key)
	s.VPAND(abs, key, key) // not (not the first bit in all | sign)
	s.VPXOR(all, key, key)
	s.VPXOR(v, key, key)
	store(key)
	s.VZEROUPPER()
	s.RET()
}

// reverse writes the function that copies n vectors from src to dst in reversed order, each of them reversed.
func (s *sorting) reverse(size int, level string, v, order reg.VecPhysical) {
	s.begin(fmt.Sprintf("reverse%d_%s", 8*size, level), fmt.Sprintf("func(dst, src *uint%d, n int)", 8*size))
	dst, src, n, at := reg.RDI, reg.RSI, reg.RCX, reg.RAX
	s.Load(s.Param("dst"), dst)
	s.Load(s.Param("src"), src)
	s.Load(s.Param("n"), n)
	bytes := int(v.Size())
	turned := s.StaticGlobal(fmt.Sprintf("reversed%d%s", 8*size, level))
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range bytes / 4 { // the words of elements
		s.AddDatum(4*i, op.U32(bytes/4-size/4-i+2*(i%(size/4))))
	}
	if bytes == 64 {
		s.VMOVDQU32(turned, order)
	} else {
		s.VMOVDQU(turned, order)
	}
	s.MOVQ(n, at)
	s.IMUL3Q(op.I8(bytes), at, at)
	s.ADDQ(at, src)
	s.Label("next")
	s.SUBQ(op.I8(bytes), src)
	s.VPERMD(op.Mem{Base: src}, order, v)
	if bytes == 64 {
		s.VMOVDQU32(v, op.Mem{Base: dst})
	} else {
		s.VMOVDQU(v, op.Mem{Base: dst})
	}
	s.ADDQ(op.I8(bytes), dst)
	s.DECQ(n)
	s.JNZ(op.LabelRef("next"))
	s.VZEROUPPER()
	s.RET()
}

// within writes the function that reports whether 32·n indices are all from -extent to extent-1.
func (s *sorting) within() {
	s.begin("within_AVX512", "func(at *int64, n, extent int) bool")
	at, n, x, extent, limit := reg.RSI, reg.RCX, reg.RAX, reg.Z0, reg.Z1
	s.Load(s.Param("at"), at)
	s.Load(s.Param("n"), n)
	s.Load(s.Param("extent"), x)
	s.VPBROADCASTQ(x, extent)
	s.ADDQ(x, x)
	s.VPBROADCASTQ(x, limit)
	s.KXORB(reg.K1, reg.K1, reg.K1)
	s.Label("next")
	for i, v := range zmm[2:6] {
		s.VPADDQ(op.Mem{Base: at, Disp: 64 * i}, extent, v)
	}
	s.VPMAXUQ(zmm[2], zmm[3], zmm[2])
	s.VPMAXUQ(zmm[4], zmm[5], zmm[4])
	s.VPMAXUQ(zmm[2], zmm[4], zmm[2])
	s.VPCMPUQ(op.U8(5), limit, zmm[2], reg.K2)
	s.KORB(reg.K1, reg.K2, reg.K1)
	s.ADDQ(op.I32(256), at)
	s.DECQ(n)
	s.JNZ(op.LabelRef("next"))
	s.KTESTB(reg.K1, reg.K1)
	s.SETEQ(reg.AL)
	s.Store(reg.AL, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

// places writes the function that stores the places of the bytes of a mask that aren't 0, counted from first on. The mask has 64·n
// bytes. The function returns the number of places.
func (s *sorting) places() {
	s.begin("places_AVX512", "func(dst *int64, mask *byte, n, first int) int")
	dst, mask, n, x, count, ones, bits, begin := reg.RDI, reg.RSI, reg.RCX, reg.RAX, reg.RDX, reg.R8, reg.R9, reg.R10
	at, eight, some := reg.Z0, reg.Z1, reg.Z2
	s.Load(s.Param("dst"), dst)
	s.MOVQ(dst, begin)
	s.Load(s.Param("mask"), mask)
	s.Load(s.Param("n"), n)
	s.Load(s.Param("first"), x)
	s.VPBROADCASTQ(x, at)
	lanes := s.StaticGlobal("placesLanes")
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		s.AddDatum(8*i, op.U64(i))
	}
	s.VPADDQ(lanes, at, at)
	s.MOVL(op.U32(8), x.As32())
	s.VPBROADCASTQ(x, eight)
	s.MOVL(op.I32(-1), ones.As32())
	s.Label("next")
	s.VMOVDQU64(op.Mem{Base: mask}, some)
	s.VPTESTMB(some, some, reg.K1)
	s.KMOVQ(reg.K1, bits)
	for range 8 {
		s.KMOVB(bits.As32(), reg.K1)
		s.VPCOMPRESSQ(at, reg.K1, some)
		s.MOVBLZX(bits.As8(), x.As32())
		s.POPCNTL(x.As32(), count.As32())
		s.BZHIL(count.As32(), ones.As32(), x.As32())
		s.KMOVB(x.As32(), reg.K2)
		s.VMOVDQU64(some, reg.K2, op.Mem{Base: dst})
		s.LEAQ(op.Mem{Base: dst, Index: count, Scale: 8}, dst)
		s.VPADDQ(eight, at, at)
		s.SHRQ(op.U8(8), bits)
	}
	s.ADDQ(op.I8(64), mask)
	s.DECQ(n)
	s.JNZ(op.LabelRef("next"))
	s.SUBQ(begin, dst)
	s.SHRQ(op.U8(3), dst)
	s.Store(dst, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

// replace writes the function that stores elements of src to dst where the bytes of a mask, n vectors of them, aren't 0. With step 0
// it stores the first element of src again and again, else one after the other. It returns the number of elements stored.
func (s *sorting) replace(size int) {
	lanes := 64 / size
	s.begin(fmt.Sprintf("replace%d_AVX512", 8*size), fmt.Sprintf("func(dst, src *uint%d, mask *byte, n, step int) int", 8*size))
	dst, src, mask, n, step, count, all, ones, some := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RBX, reg.RAX, reg.R8, reg.R9, reg.R10
	s.Load(s.Param("dst"), dst)
	s.Load(s.Param("src"), src)
	s.Load(s.Param("mask"), mask)
	s.Load(s.Param("n"), n)
	s.Load(s.Param("step"), step)
	s.XORL(all.As32(), all.As32())
	s.MOVL(op.I32(-1), ones.As32())
	same := reg.Z1
	ps := func(f, d func(...op.Op), ops ...op.Op) {
		if size == 4 {
			f(ops...)
		} else {
			d(ops...)
		}
	}
	bits := func() {
		if size == 4 {
			s.VMOVDQU(op.Mem{Base: mask}, reg.X0)
		} else {
			s.VMOVQ(op.Mem{Base: mask}, reg.X0)
		}
		s.VPTESTMB(reg.X0, reg.X0, reg.K1)
		s.KMOVW(reg.K1, count.As32())
		s.POPCNTL(count.As32(), count.As32())
		s.ADDQ(count, all)
	}
	on := func(label string) {
		s.ADDQ(op.I8(64), dst)
		s.ADDQ(op.I8(int8(lanes)), mask)
		s.DECQ(n)
		s.JNZ(op.LabelRef(label))
	}
	s.TESTQ(step, step)
	s.JNZ(op.LabelRef("next"))
	ps(s.VPBROADCASTD, s.VPBROADCASTQ, op.Mem{Base: src}, same)
	s.Label("same")
	bits()
	ps(s.VMOVDQU32, s.VMOVDQU64, same, reg.K1, op.Mem{Base: dst})
	on("same")
	s.JMP(op.LabelRef("done"))
	s.Label("next")
	bits()
	s.BZHIL(count.As32(), ones.As32(), some.As32()) // so that nothing after src is read
	s.KMOVW(some.As32(), reg.K2)
	if size == 4 {
		s.VMOVDQU32_Z(op.Mem{Base: src}, reg.K2, reg.Z0)
		s.VPEXPANDD_Z(reg.Z0, reg.K1, reg.Z0)
	} else {
		s.VMOVDQU64_Z(op.Mem{Base: src}, reg.K2, reg.Z0)
		s.VPEXPANDQ_Z(reg.Z0, reg.K1, reg.Z0)
	}
	ps(s.VMOVDQU32, s.VMOVDQU64, reg.Z0, reg.K1, op.Mem{Base: dst})
	s.LEAQ(op.Mem{Base: src, Index: count, Scale: uint8(size)}, src)
	on("next")
	s.Label("done")
	s.Store(all, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

// filter writes the function that copies the elements of src where the bytes of a mask, n vectors of them, aren't 0. The copies lie
// one after the other in dst, which has room for them. The function returns their number. Compressed vectors are stored as a whole
// while they fit into the room, as the next vector overwrites the rest, and then under masks.
func (s *sorting) filter(size int) {
	lanes := 64 / size
	s.begin(fmt.Sprintf("filter%d_AVX512", 8*size), fmt.Sprintf("func(dst, src *uint%d, mask *byte, n, room int) int", 8*size))
	dst, src, mask, n, last, count, begin, ones := reg.RDI, reg.RSI, reg.RDX, reg.RCX, reg.RBX, reg.RAX, reg.R8, reg.R9
	s.Load(s.Param("dst"), dst)
	s.MOVQ(dst, begin)
	s.Load(s.Param("src"), src)
	s.Load(s.Param("mask"), mask)
	s.Load(s.Param("n"), n)
	s.Load(s.Param("room"), last)
	s.LEAQ(op.Mem{Base: dst, Index: last, Scale: uint8(size), Disp: -64}, last) // the last place of a whole vector
	some := func() {
		if size == 4 {
			s.VMOVDQU(op.Mem{Base: mask}, reg.X0)
		} else {
			s.VMOVQ(op.Mem{Base: mask}, reg.X0)
		}
		s.VPTESTMB(reg.X0, reg.X0, reg.K1)
		s.KMOVW(reg.K1, count.As32())
		s.POPCNTL(count.As32(), count.As32())
		if size == 4 {
			s.VMOVDQU32(op.Mem{Base: src}, reg.Z1)
			s.VPCOMPRESSD(reg.Z1, reg.K1, reg.Z1)
		} else {
			s.VMOVDQU64(op.Mem{Base: src}, reg.Z1)
			s.VPCOMPRESSQ(reg.Z1, reg.K1, reg.Z1)
		}
	}
	on := func(label string) {
		s.LEAQ(op.Mem{Base: dst, Index: count, Scale: uint8(size)}, dst)
		s.ADDQ(op.I8(64), src)
		s.ADDQ(op.I8(int8(lanes)), mask)
		s.DECQ(n)
		s.JNZ(op.LabelRef(label))
	}
	s.Label("next")
	s.CMPQ(dst, last)
	s.JHI(op.LabelRef("few"))
	some()
	s.VMOVDQU64(reg.Z1, op.Mem{Base: dst})
	on("next")
	s.JMP(op.LabelRef("done"))
	s.Label("few")
	s.MOVL(op.I32(-1), ones.As32())
	s.Label("rest")
	some()
	s.BZHIL(count.As32(), ones.As32(), reg.R10L)
	s.KMOVW(reg.R10L, reg.K1)
	if size == 4 {
		s.VMOVDQU32(reg.Z1, reg.K1, op.Mem{Base: dst})
	} else {
		s.VMOVDQU64(reg.Z1, reg.K1, op.Mem{Base: dst})
	}
	on("rest")
	s.Label("done")
	s.SUBQ(begin, dst)
	s.SHRQ(op.U8([]int{4: 2, 8: 3}[size]), dst)
	s.Store(dst, s.ReturnIndex(0))
	s.VZEROUPPER()
	s.RET()
}

var (
	zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11,
		reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19}
	masks = []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
)
