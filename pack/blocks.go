package pack

import (
	"encoding/binary"
	"math"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// blocks is a format of rows made of blocks: len elements in size bytes, with the scales that they share.
type blocks struct {
	name      string
	len, size int                         // elements and bytes of a block
	decode    func(y []float32, b []byte) // one block
	encode    func(b []byte, x []float32) // nil: it is read only
	flat      bool                        // there is no scale, and a block may continue in the next row
	kernel    *simd.Levels[*simd.Packed]  // nil: there are none
}

// fast returns the kernel of the level in use, nil if there is none.
func (f *blocks) fast() *simd.Packed {
	if f.kernel == nil {
		return nil
	}
	return f.kernel.Best()
}

func (f *blocks) Name() string   { return f.name }
func (f *blocks) Group() int     { return f.len }
func (f *blocks) Size(n int) int { return n / f.len * f.size }

func (f *blocks) Check(s *Spec) error {
	if s == nil {
		return noSpec()
	}
	if s.tile != (Tile{}) {
		return fail("pack.NewSpec", tensor.ErrDType, "%s has no tiles: its blocks are parts of rows", f.name)
	}
	p := s.paddedShape()
	if f.flat && s.StorageLen()%f.len == 0 {
		return nil
	}
	if len(p) == 0 || p[len(p)-1]%f.len != 0 {
		return fail("pack.NewSpec", tensor.ErrShape, "%s has rows of whole blocks of %d, which shape %s doesn't: pad the last axis", f.name, f.len, ints(p))
	}
	return nil
}

// writable returns an error for a format that is read only.
func (f *blocks) writable(op string) error {
	if f.encode == nil {
		return fail(op, tensor.ErrDType, "%s is read and not made: nothing here finds its best codes; q4_0, q8_0, q4_k and q6_k are made", f.name)
	}
	return nil
}

func (f *blocks) Encode(dst []byte, src []float32, _ int) {
	fits(f, "Encode", len(dst), len(src))
	if err := f.writable("pack.Format.Encode"); err != nil {
		panic(err)
	}
	for ; len(src) > 0; dst, src = dst[f.size:], src[f.len:] {
		f.encode(dst[:f.size], src[:f.len])
	}
}

func (f *blocks) Decode(dst []float32, src []byte, _ int) {
	fits(f, "Decode", len(src), len(dst))
	const most = 1 << 14 // elements at a time, since nothing interrupts a kernel
	for k := f.fast(); k != nil && len(dst) > most; dst, src = dst[most:], src[most/f.len*f.size:] {
		k.Unpack(dst[:most], src)
	}
	if k := f.fast(); k != nil {
		k.Unpack(dst, src)
		return
	}
	for ; len(dst) > 0; dst, src = dst[f.len:], src[f.size:] {
		f.define(dst[:f.len], src[:f.size])
	}
}

// define is Decode of one block without a kernel. NaNs of scales are canonical.
func (f *blocks) define(dst []float32, src []byte) {
	f.decode(dst, src)
	for i, v := range dst {
		if v != v {
			dst[i] = num.NaN32()
		}
	}
}

// ggml are the block types of GGUF files. Each is decoded bit for bit like ggml's dequantize_row functions without fused
// products: the operations below are in the same order.
//
// Sources: github.com/ggml-org/llama.cpp, ggml/src/ggml-common.h for the blocks, gguf-py/gguf/quants.py and
// ggml/src/ggml-quants.c for their values.
var ggml = []*blocks{
	{"q4_0", 32, 18, q4_0, putQ4_0, false, &simd.PackedQ4_0},
	{"q4_1", 32, 20, q4_1, nil, false, nil},
	{"q5_0", 32, 22, q5_0, nil, false, nil},
	{"q5_1", 32, 24, q5_1, nil, false, nil},
	{"q8_0", 32, 34, q8_0, putQ8_0, false, &simd.PackedQ8_0},
	{"q2_k", 256, 84, q2_K, nil, false, nil},
	{"q3_k", 256, 110, q3_K, nil, false, nil},
	{"q4_k", 256, 144, q4_K, putQ4_K, false, &simd.PackedQ4_K},
	{"q5_k", 256, 176, q5_K, nil, false, nil},
	{"q6_k", 256, 210, q6_K, putQ6_K, false, nil},
	{"q8_k", 256, 292, q8_K, nil, false, nil},
	{"iq2_xxs", 256, 66, iq2_XXS, nil, false, nil},
	{"iq2_xs", 256, 74, iq2_XS, nil, false, nil},
	{"iq3_xxs", 256, 98, iq3_XXS, nil, false, nil},
	{"iq1_s", 256, 50, iq1_S, nil, false, nil},
	{"iq4_nl", 32, 18, iq4_NL, nil, false, nil},
	{"iq3_s", 256, 110, iq3_S, nil, false, nil},
	{"iq2_s", 256, 82, iq2_S, nil, false, nil},
	{"iq4_xs", 256, 136, iq4_XS, nil, false, nil},
	{"iq1_m", 256, 56, iq1_M, nil, false, nil},
	{"tq1_0", 256, 54, tq1_0, nil, false, nil},
	{"tq2_0", 256, 66, tq2_0, nil, false, nil},
	{"ggml_mxfp4", 32, 17, ggmlMXFP4, nil, false, nil},
	{"ggml_nvfp4", 64, 36, ggmlNVFP4, nil, false, nil},
	{"q1_0", 128, 18, q1_0, nil, false, nil},
	{"q2_0", 64, 18, q2_0, nil, false, nil},
}

func half(b []byte) float32 { return num.FromBits[num.F16](binary.LittleEndian.Uint16(b)).Float32() }

// nibbles sets y[i] to the value of the low half of b[i], and y[len(b)+i] to the value of the high half.
func nibbles(y []float32, b []byte, d float32, values *[16]float32) {
	lo, hi := y[:len(b)], y[len(b):][:len(b)]
	for i, c := range b {
		lo[i], hi[i] = d*values[c&15], d*values[c>>4]
	}
}

var (
	less8  = [16]float32{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}
	iq4    = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
	twoE21 = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12} // E2M1 times 2, without -0
)

func q4_0(y []float32, b []byte) { nibbles(y, b[2:], half(b), &less8) }

func iq4_NL(y []float32, b []byte) { nibbles(y, b[2:], half(b), &iq4) }

func q4_1(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i, c := range b[4:] {
		y[i], y[16+i] = float32(d*float32(c&15))+m, float32(d*float32(c>>4))+m
	}
}

func q5_0(y []float32, b []byte) {
	d, high := half(b), binary.LittleEndian.Uint32(b[2:])
	for i, c := range b[6:] {
		y[i] = d * float32(int(c&15)|int(high>>i&1)<<4-16)
		y[16+i] = d * float32(int(c>>4)|int(high>>(16+i)&1)<<4-16)
	}
}

func q5_1(y []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), binary.LittleEndian.Uint32(b[4:])
	for i, c := range b[8:] {
		y[i] = float32(d*float32(uint32(c&15)|high>>i&1<<4)) + m
		y[16+i] = float32(d*float32(uint32(c>>4)|high>>(16+i)&1<<4)) + m
	}
}

func q8_0(y []float32, b []byte) {
	d := half(b)
	for i, c := range b[2:] {
		y[i] = float32(int8(c)) * d
	}
}

func q1_0(y []float32, b []byte) {
	d := half(b)
	for i := range y {
		if y[i] = -d; b[2+i/8]>>(i%8)&1 != 0 {
			y[i] = d
		}
	}
}

func q2_0(y []float32, b []byte) {
	d := half(b)
	for i := range y {
		y[i] = float32(int(b[2+i/4]>>(i%4*2)&3)-1) * d
	}
}

// ggmlMXFP4 is MXFP4 with the codes of elements i and 16+i in byte i. The scale is half of 2^(e-127), also for e = 255.
func ggmlMXFP4(y []float32, b []byte) {
	d := math.Float32frombits(0x200000 << b[0])
	if b[0] > 1 {
		d = math.Float32frombits(uint32(b[0]-1) << 23)
	}
	nibbles(y, b[1:], d, &twoE21)
}

// ggmlNVFP4 is four blocks of NVFP4, each with the codes of elements i and 8+i in byte i. The upper bit of a scale doesn't count;
// 7f is 0, and ff, which is NaN elsewhere, is 480.
func ggmlNVFP4(y []float32, b []byte) {
	for s, scale := range b[:4] {
		d := num.FromBits[num.F8E4M3](uint16(scale&0x7f)).Float32() / 2
		if scale == 0x7f {
			d = 0
		} else if scale == 0xff {
			d = 240
		}
		nibbles(y[16*s:][:16], b[4+8*s:][:8], d, &twoE21)
	}
}

func q2_K(y []float32, b []byte) {
	scales, qs, d, m := b[:16], b[16:80], half(b[80:]), half(b[82:])
	for i, s := range scales {
		dl, ml := d*float32(s&15), float32(m*float32(s>>4))
		codes := qs[i/8*32+i%2*16:][:16]
		for j, c := range codes {
			y[16*i+j] = float32(dl*float32(c>>(i%8/2*2)&3)) - ml
		}
	}
}

func q3_K(y []float32, b []byte) {
	mask, qs, scales, d := b[:32], b[32:96], b[96:108], half(b[108:])
	for i := range 16 {
		s := scales[i%8] >> (i / 8 * 4) & 15
		s |= scales[8+i%4] >> (i / 4 * 2) & 3 << 4
		dl := d * float32(int(s)-32)
		at := i / 8 * 32
		for j := i % 2 * 16; j < i%2*16+16; j++ {
			q := int(qs[at+j] >> (i % 8 / 2 * 2) & 3)
			if mask[j]>>(i/2)&1 == 0 {
				q -= 4
			}
			y[i/2*32+j] = dl * float32(q)
		}
	}
}

// scaleMin unpacks the i-th of eight scales and minima of six bits.
func scaleMin(b []byte, i int) (scale, least float32) {
	if i < 4 {
		return float32(b[i] & 63), float32(b[4+i] & 63)
	}
	return float32(b[4+i]&15 | b[i-4]>>6<<4), float32(b[4+i]>>4 | b[i]>>6<<4)
}

func q4_K(y []float32, b []byte) {
	d, m := half(b), half(b[2:])
	for i := range 8 {
		s, l := scaleMin(b[4:16], i)
		dl, ml := d*s, float32(m*l)
		shift := i % 2 * 4
		out := y[32*i:][:32]
		for j, c := range b[16+i/2*32:][:32] {
			out[j] = float32(dl*float32(c>>shift&15)) - ml
		}
	}
}

func q5_K(y []float32, b []byte) {
	d, m, high := half(b), half(b[2:]), b[16:48]
	for i := range 8 {
		s, l := scaleMin(b[4:16], i)
		dl, ml := d*s, float32(m*l)
		for j, c := range b[48+i/2*32:][:32] {
			y[32*i+j] = float32(dl*float32(c>>(i%2*4)&15|high[j]>>i&1<<4)) - ml
		}
	}
}

func q6_K(y []float32, b []byte) {
	low, high, scales, d := b[:128], b[128:192], b[192:208], half(b[208:])
	for i := range 8 { // of 32
		ql, qh := low[i/4*64+i%2*32:][:32], high[i/4*32:][:32]
		shift, up := i%4/2*4, i%4*2
		first, second := d*float32(int8(scales[2*i])), d*float32(int8(scales[2*i+1]))
		out := y[32*i:][:32]
		for j, c := range ql {
			q := float32(int(c>>shift&15|qh[j]>>up&3<<4) - 32)
			if j < 16 {
				out[j] = first * q
			} else {
				out[j] = second * q
			}
		}
	}
}

func q8_K(y []float32, b []byte) {
	d := math.Float32frombits(binary.LittleEndian.Uint32(b))
	for i, c := range b[4:260] {
		y[i] = d * float32(int8(c))
	}
}

func iq4_XS(y []float32, b []byte) {
	d, high := half(b), binary.LittleEndian.Uint16(b[2:])
	for i := range 8 {
		s := int(b[4+i/2]>>(i%2*4)&15) | int(high>>(2*i)&3)<<4
		nibbles(y[32*i:][:32], b[8+16*i:][:16], d*float32(s-32), &iq4)
	}
}

// tq1_0 has five numbers of three values in a byte. They are the digits of a number in base 3, which is stored times 256/243.
func tq1_0(y []float32, b []byte) {
	d := half(b[52:])
	run := func(y []float32, b []byte) {
		for i := range y {
			c := b[i%len(b)] * [5]byte{1, 3, 9, 27, 81}[i/len(b)]
			y[i] = float32(int(c)*3>>8-1) * d
		}
	}
	run(y[:160], b[:32])
	run(y[160:240], b[32:48])
	run(y[240:], b[48:52])
}

func tq2_0(y []float32, b []byte) {
	d := half(b[64:])
	for i := range y {
		y[i] = float32(int(b[i/128*32+i%32]>>(i/32%4*2)&3)-1) * d
	}
}
