//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
)

var manyPacked = []struct {
	name string
	*Levels[*Packed]
}{{"q4_0", &PackedQ4_0}, {"q8_0", &PackedQ8_0}, {"q4_k", &PackedQ4_K}, {"nibbles", &PackedNibbles}}

// TestPackedMany compares the sums of any blocks, at the end of the memory, with those of unpacked elements.
func TestPackedMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range manyPacked {
		p := f.Best()
		if p == nil || !p.Many() {
			continue
		}
		size := PackedStep / p.len * p.size
		for _, beside := range []int{0, 2, 48} {
			stride := size + beside
			b := elements[byte](guard(t, PackedMany*stride), (PackedMany-1)*stride+size, 0)
			x, room, sums, want := make([]float32, PackedStep), new(PackedRoom), new(PackedSums), new(PackedSums)
			for round := range 30 {
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				if round < 25 { // scales that are numbers
					for i := 0; i < len(b); i += 2 {
						b[i+1] &= 0xbb
					}
				}
				for i := range x {
					x[i] = r.Float32() - 0.5
				}
				for i := range PackedMany {
					sums[i] = r.Float32()
					want[i] = sums[i]
				}
				p.Turn(room[:], b, stride, p.Columns())
				weights := func(dst []float32, row int) { p.Unpack(dst, b[row*stride:]) }
				if p.unpack == nil {
					scales := room[PackedMany*4*p.Columns():]
					zeros := scales[8*PackedMany:]
					for i := range 8 * PackedMany {
						scales[i] = r.Float32() - 0.5
					}
					for i := range PackedMany {
						zeros[i] = fromBits[float32](uint64(r.Uint32()))
					}
					weights = func(dst []float32, row int) {
						for l := range dst {
							q, zero := b[row*stride+l/2]>>(l%2*4)&15, bits(zeros[row])>>(l/32*4)&15
							dst[l] = (float32(q) - float32(zero)) * scales[l/32*PackedMany+row]
						}
					}
				}
				p.Dots(sums, x, room, 0, 0)
				w := make([]float32, PackedStep)
				for i := range PackedMany {
					weights(w, i)
					for l := range w {
						want[i] = float.FMA32(x[l], w[l], want[i])
					}
					if bits(sums[i]) != bits(want[i]) && (sums[i] == sums[i] || want[i] == want[i]) {
						t.Fatalf("%s: sum %d is %v, want %v", f.name, i, sums[i], want[i])
					}
				}
			}
		}
	}
}

// ofBlock is the definition of the elements of a block: of q4_0, q8_0 or, of 256, q4_k.
func ofBlock(dst []float32, b []byte, size int) {
	half := func(at int) float32 { return num.FromBits[num.F16](uint16(b[at]) | uint16(b[at+1])<<8).Float32() }
	d := half(0)
	for i := range dst {
		switch size {
		case 18:
			dst[i] = d * float32(int(b[2+i%16]>>(i/16*4)&15)-8)
		case 34:
			dst[i] = d * float32(int8(b[2+i]))
		case 144:
			sub := i / 32
			scale, least := b[4:][sub%4], b[8:][sub%4]
			if rest := b[12:][sub%4]; sub < 4 {
				scale, least = scale&63, least&63
			} else {
				scale, least = rest&15|scale>>6<<4, rest>>4|least>>6<<4
			}
			q := b[16+sub/2*32+i%32] >> (sub % 2 * 4) & 15
			dst[i] = float32(d*float32(scale)*float32(q)) - float32(half(2)*float32(least))
		}
	}
}

// TestPacked compares elements and sums of any blocks, which end at a wall, with the definitions.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	levels(t, func(t *testing.T, level cpu.Level) {
		for _, f := range manyPacked[:3] {
			p := f.Levels[level]
			for round := range 60 {
				blocks := 1 + round%3
				stride := blocks*p.size + r.IntN(4)
				b := atEnd(t, make([]byte, (PackedRows-1)*stride+blocks*p.size))
				for i := range b {
					if b[i] = byte(r.Uint32()); round < 40 && i%2 == 1 {
						b[i] &= 0xbb // scales that are numbers
					}
				}
				x := atEnd(t, make([]float32, blocks*p.len))
				for i := range x {
					x[i] = r.Float32() - 0.5
				}
				sums, want := new(PackedSums), make([]float32, PackedRows)
				for i := range want {
					sums[i] = r.Float32()
					want[i] = sums[i]
				}
				p.Dot(sums, x, b, stride, 0)
				w, got := make([]float32, len(x)), atEnd(t, make([]float32, len(x)))
				for i := range want {
					row := b[i*stride:][:blocks*p.size]
					for k := range blocks {
						ofBlock(w[k*p.len:][:p.len], row[k*p.size:], p.size)
					}
					p.Unpack(got, row)
					for l := range w {
						if bits(got[l]) != bits(canonical(w[l])) {
							t.Fatalf("%s: element %d of row %d is %v, want %v", f.name, l, i, got[l], w[l])
						}
						want[i] = float.FMA32(x[l], w[l], want[i])
					}
					if canonBits(sums[i]) != canonBits(want[i]) {
						t.Fatalf("%s: sum %d is %v, want %v", f.name, i, sums[i], want[i])
					}
				}
			}
		}
	})
}

// BenchmarkPackedMany is one part of a product in a cache: its turning and its sums.
func BenchmarkPackedMany(b *testing.B) {
	x := make([]float32, PackedStep)
	for _, f := range manyPacked {
		p := f.Best()
		if p == nil || !p.Many() {
			continue
		}
		stride := 16 * PackedStep / p.len * p.size
		codes, room, sums := make([]byte, PackedMany*stride), new(PackedRoom), new(PackedSums)
		b.Run(f.name+"/turn", func(b *testing.B) {
			for b.Loop() {
				p.Turn(room[:], codes, stride, p.Columns())
			}
		})
		b.Run(f.name+"/dots", func(b *testing.B) {
			for b.Loop() {
				p.Dots(sums, x, room, 0, 0)
			}
		})
	}
}
