//go:build linux && amd64 && !purego

package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/num"
)

var manyPacked = []struct {
	name string
	*Levels[*Packed]
}{{"q4_0", &PackedQ4_0}, {"q8_0", &PackedQ8_0}, {"q4_k", &PackedQ4_K}, {"nibbles", &PackedNibbles}}

// TestPackedMany compares the sums of any blocks, at the end of the memory, with those of unpacked elements.
func TestPackedMany(t *testing.T) {
	if cpu.Detect() < cpu.AVX512 {
		t.Skip("the kernels need AVX-512")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range manyPacked {
		p := f.Levels[cpu.AVX512]
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
						want[i] = num.FMA32(x[l], w[l], want[i])
					}
					if bits(sums[i]) != bits(want[i]) && (sums[i] == sums[i] || want[i] == want[i]) {
						t.Fatalf("%s: sum %d is %v, want %v", f.name, i, sums[i], want[i])
					}
				}
			}
		}
	}
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
