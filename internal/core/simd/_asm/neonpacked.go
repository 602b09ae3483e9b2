package main

// The kernels of blocks for NEON; packed.go defines them. A vector has four rows, and there are four vectors.

const packedVectors = 4

// packedNEON writes all kernels of blocks.
func (f *armFile) packedNEON() {
	for _, b := range []struct {
		name          string
		len, bytes    int
		steps, unpack func(b *armBlocks)
	}{
		{"Q4_0", 32, 18, (*armBlocks).stepsQ4_0, (*armBlocks).unpackQ4_0},
		{"Q8_0", 32, 34, (*armBlocks).stepsQ8_0, (*armBlocks).unpackQ8_0},
		{"Q4_K", 256, 144, (*armBlocks).stepsQ4_K, (*armBlocks).unpackQ4_K},
	} {
		f.function("dot"+b.name, U32, "sums:s x:f b:b stride:i blocks:i next:u", func(g *armProduct) {
			(&armBlocks{armProduct: g}).dot(b.bytes, b.steps)
		})
		f.function("unpack"+b.name, U32, "dst:f b:b blocks:i", func(g *armProduct) {
			(&armBlocks{armProduct: g}).unpack(b.bytes, b.unpack)
		})
	}
}

// armBlocks writes a kernel of blocks.
type armBlocks struct {
	*armProduct
	x, b, stride virtual // x is the result of a kernel that unpacks
	from         virtual // the sums in memory
	sums         [packedVectors]virtual
}

func (p *armBlocks) dot(bytes int, steps func(p *armBlocks)) {
	p.from, p.x, p.b, p.stride = p.arg("sums"), p.arg("x"), p.arg("b"), p.arg("stride")
	blocks, next := p.arg("blocks"), p.arg("next")
	for v := range p.sums {
		p.sums[v] = p.pin(p.vector())
		p.op("ldr", "q", 16*v, p.sums[v], p.from)
	}
	p.line("block:")
	for line := 0; line < 16*bytes; line += 64 {
		p.line("PRFM (R%d), PLDL2KEEP", next)
		p.code[len(p.code)-1].outs = 0
		p.change("ADD", min(64, 16*bytes-line), next)
	}
	steps(p)
	p.change("ADD", bytes, p.b)
	p.change("SUBS", 1, blocks)
	p.line("BNE block")
	for v, s := range p.sums {
		p.op("str", "q", 16*v, s, p.from)
	}
}

// field returns a number of bits of each word, from bit first on, without a sign.
func (p *armBlocks) field(from virtual, first, bits int) virtual {
	if up := 32 - bits - first; up > 0 {
		from = p.made("shl", "4s", up, from)
	}
	return p.made("ushr", "4s", 32-bits, from)
}

func (p *armBlocks) floats(v virtual) virtual { return p.made("scvtf", "4s", 0, v) }

// rows calls f with an address for row i of vector v, disp bytes into the blocks that begin at a register.
func (p *armBlocks) rows(b virtual, disp int, f func(v, i int, at virtual)) {
	at := p.integer()
	p.line("MOVD R%d, R%d", b, at)
	p.change("ADD", disp, at)
	for i := range 4 * packedVectors {
		f(i/4, i%4, at)
		p.plus(at, p.stride)
	}
}

// turned loads 16 bytes of each block: word j of the rows of each vector.
func (p *armBlocks) turned(b virtual, disp int) (words [packedVectors][]virtual) {
	rows := make([]virtual, 4)
	p.rows(b, disp, func(v, i int, at virtual) {
		if rows[i] = p.made("ldr", "q", 0, at); i == 3 {
			words[v] = p.armProduct.turned(rows)
		}
	})
	return words
}

// halfScales returns the float16 at the beginning of each block.
func (p *armBlocks) halfScales() (scales [packedVectors]virtual) {
	var h [4]virtual
	p.rows(p.b, 0, func(v, i int, at virtual) {
		if h[i] = p.made("ldr", "h", 0, at); i == 3 {
			even, odd := p.made("zip1", "4h", 0, h[0], h[2]), p.made("zip1", "4h", 0, h[1], h[3])
			scales[v] = p.made("fcvtl", "4s", 0, p.made("zip1", "4h", 0, even, odd))
		}
	})
	return scales
}

// numbers loads the next four elements of x.
func (p *armBlocks) numbers() virtual {
	x := p.made("ldr", "q", 0, p.x)
	p.change("ADD", 16, p.x)
	return x
}

// signedSteps takes the signed codes from bit first of each byte on, and as many elements of x.
func (p *armBlocks) signedSteps(words [packedVectors][]virtual, scales [packedVectors]virtual, first, bits int) {
	for j := range 4 {
		x := p.numbers()
		for l := range 4 {
			for v, s := range p.sums {
				t := words[v][j]
				if up := 32 - bits - first - 8*l; up > 0 {
					t = p.made("shl", "4s", up, t)
				}
				t = p.floats(p.made("sshr", "4s", 32-bits, t))
				p.op("fmla by element", "4s", l, s, p.made("fmul", "4s", 0, t, scales[v]), x)
			}
		}
	}
}

// flip turns unsigned codes of four bits into signed ones that are 8 less.
func (p *armBlocks) flip(v virtual) virtual {
	return p.made("eor", "16b", 0, v, p.reg(p.constant(U8, 0x88)))
}

func (p *armBlocks) stepsQ4_0() {
	scales, words := p.halfScales(), p.turned(p.b, 2)
	for v := range words {
		for j := range words[v] {
			words[v][j] = p.flip(words[v][j])
		}
	}
	p.signedSteps(words, scales, 0, 4)
	p.signedSteps(words, scales, 4, 4)
}

func (p *armBlocks) stepsQ8_0() {
	scales := p.halfScales()
	for part := range 2 {
		p.signedSteps(p.turned(p.b, 2+16*part), scales, 0, 8)
	}
}

// stepsQ4_K keeps the scales of 8 times 32 elements behind the sums, and behind them the minima with the other sign. Each pass takes two
// times 32 elements that share bytes.
func (p *armBlocks) stepsQ4_K() {
	const most, least = 64, 64 + 512
	for v, w := range p.turned(p.b, 0) {
		d := p.made("fcvtl", "4s", 0, p.made("xtn", "4s", 0, w[0]))
		m := p.made("fneg", "4s", 0, p.made("fcvtl", "4s", 0, p.made("shrn", "4s", 16, w[0])))
		for i := range 8 {
			for k, six := range w[1:3] {
				t := virtual(0)
				if i < 4 {
					t = p.field(six, 8*i, 6)
				} else {
					t = p.made("orr", "16b", 0, p.field(w[3], 8*(i-4)+4*k, 4), p.made("shl", "4s", 4, p.field(six, 8*(i-4)+6, 2)))
				}
				p.op("str", "q", []int{most, least}[k]+64*i+16*v, p.made("fmul", "4s", 0, p.floats(t), []virtual{d, m}[k]), p.from)
			}
		}
	}
	codes, kept, pairs := p.pin(p.integer()), p.pin(p.integer()), p.pin(p.integer())
	p.line("MOVD R%d, R%d", p.b, codes)
	p.change("ADD", 16, codes)
	p.line("MOVD R%d, R%d", p.from, kept)
	p.line("MOVD $4, R%d", pairs)
	p.line("pair:")
	for sub := range 2 {
		var scales, minima [packedVectors]virtual
		for v := range scales {
			scales[v] = p.made("ldr", "q", most+64*sub+16*v, kept)
			minima[v] = p.made("ldr", "q", least+64*sub+16*v, kept)
		}
		for part := range 2 {
			words := p.turned(codes, 16*part)
			for j := range 4 {
				x := p.numbers()
				for l := range 4 {
					for v, s := range p.sums {
						w := p.copied(minima[v])
						p.op("fmla", "4s", 0, w, p.floats(p.field(words[v][j], 8*l+4*sub, 4)), scales[v])
						p.op("fmla by element", "4s", l, s, w, x)
					}
				}
			}
		}
	}
	p.change("ADD", 32, codes)
	p.change("ADD", 128, kept)
	p.change("SUBS", 1, pairs)
	p.line("BNE pair")
}

func (p *armBlocks) unpack(bytes int, unpack func(p *armBlocks)) {
	p.x, p.b = p.arg("dst"), p.arg("b")
	blocks := p.arg("blocks")
	p.line("block:")
	unpack(p)
	p.change("ADD", bytes, p.b)
	p.change("SUBS", 1, blocks)
	p.line("BNE block")
}

// at returns the address of byte disp of the block.
func (p *armBlocks) at(disp int) virtual {
	at := p.integer()
	p.line("MOVD R%d, R%d", p.b, at)
	p.change("ADD", disp, at)
	return at
}

// spread returns the float16 at byte disp of the block, in all lanes.
func (p *armBlocks) spread(disp int) virtual {
	return p.made("dup", "4s", 0, p.made("fcvtl", "4s", 0, p.made("ldr", "h", disp, p.b)))
}

// longs widens the elements of a vector of bytes to 32 bits, by ushll or sshll.
func (p *armBlocks) longs(how string, v virtual) (all []virtual) {
	for _, of := range []string{"8b", "16b"} {
		half := p.made(how, of, 0, v)
		all = append(all, p.made(how, "4h", 0, half), p.made(how, "8h", 0, half))
	}
	return all
}

// stored stores vectors from byte disp of the result on, with NaNs as the canonical one.
func (p *armBlocks) stored(v virtual, disp int) {
	numbers := p.made("fcmeq", "4s", 0, v, v)
	p.op("bsl", "16b", 0, numbers, v, p.reg(nan(p.neon, F32)))
	p.op("str", "q", disp, numbers, p.x)
}

// scaled stores 16 signed codes, times a scale.
func (p *armBlocks) scaled(codes, d virtual, disp int) {
	for i, v := range p.longs("sshll", codes) {
		p.stored(p.made("fmul", "4s", 0, p.floats(v), d), disp+16*i)
	}
}

func (p *armBlocks) unpackQ4_0() {
	d, codes := p.spread(0), p.flip(p.made("ldr", "q", 0, p.at(2)))
	p.scaled(p.made("sshr", "16b", 4, p.made("shl", "16b", 4, codes)), d, 0)
	p.scaled(p.made("sshr", "16b", 4, codes), d, 64)
	p.change("ADD", 128, p.x)
}

func (p *armBlocks) unpackQ8_0() {
	d := p.spread(0)
	for part := range 2 {
		p.scaled(p.made("ldr", "q", 0, p.at(2+16*part)), d, 64*part)
	}
	p.change("ADD", 128, p.x)
}

func (p *armBlocks) unpackQ4_K() {
	rest := p.made("ldr", "s", 12, p.b)
	var all [2][]virtual // four scales and four more, and the same of minima with the other sign
	for k := range all {
		six := p.made("ldr", "s", 4+4*k, p.b)
		low := p.made("ushr", "8b", 2, p.made("shl", "8b", 2, six))
		four := rest
		if k == 0 {
			four = p.made("shl", "8b", 4, rest)
		}
		high := p.made("orr", "8b", 0, p.made("ushr", "8b", 4, four), p.made("shl", "8b", 4, p.made("ushr", "8b", 6, six)))
		d := p.spread(2 * k)
		if k == 1 {
			d = p.made("fneg", "4s", 0, d)
		}
		half := p.made("ushll", "8b", 0, p.made("zip1", "2s", 0, low, high))
		for _, of := range []string{"4h", "8h"} {
			all[k] = append(all[k], p.made("fmul", "4s", 0, p.floats(p.made("ushll", of, 0, half)), d))
		}
	}
	for pair := range 4 {
		for part := range 2 {
			codes := p.made("ldr", "q", 16+32*pair+16*part, p.b)
			for high := range 2 {
				sub, four := 2*pair+high, codes
				if high == 0 {
					four = p.made("shl", "16b", 4, codes)
				}
				scale, least := p.made("dup", "4s", sub%4, all[0][sub/4]), p.made("dup", "4s", sub%4, all[1][sub/4])
				for i, v := range p.longs("ushll", p.made("ushr", "16b", 4, four)) {
					w := p.copied(least)
					p.op("fmla", "4s", 0, w, p.floats(v), scale)
					p.stored(w, 128*high+64*part+16*i)
				}
			}
		}
		p.change("ADD", 256, p.x)
	}
}
