package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// byteQuads makes sums of four products at a time: nil where the level in use has no such instruction. It multiplies bytes with their zero points. Bytes
// of a become unsigned, and those of b signed. The share of the zero points is taken off the sums:
//
//	Σ (a − p)·(b − q) = Σ a·b − q·Σ a − p·Σ (b − q)
var byteQuads = simd.ByteQuads

// quads computes the sums of m rows and n columns.
func (x *ByteProduct) quads(t *simd.Quads, entry, r, m, c, n int) {
	const cols = simd.ByteColumns
	panels, kb := (n+cols-1)/cols, roundUp(min(x.K, byteK), 4)
	wide, lda := panels*cols, roundUp(kb, simd.QuadBlock)
	columns := x.quadPanels(t)
	p := PanelsOf(m*lda + kb*(wide+cols) + 4*(m*wide+2*wide+2*m) + 1024)
	defer PanelPool.Put(p)
	room := p.Bytes()
	as, bs := conv.Carve[byte](&room, m*lda), []byte(nil)
	if columns == nil {
		bs = conv.Carve[byte](&room, kb*wide)
	}
	edge, sums, zeros := conv.Carve[byte](&room, cols*kb), conv.Carve[int32](&room, m*wide), conv.Carve[int32](&room, wide)
	some, lines, ofColumns := conv.Carve[int32](&room, m), conv.Carve[int32](&room, m), conv.Carve[int32](&room, wide)
	anyZero := x.B.left(middle)
	for j := range zeros {
		zeros[j] = int32(x.B.zero(min(c+j, x.N-1))) - middle
	}
	row := x.Row(entry) + r
	var b []byte
	if x.K == 0 {
		clear(sums)
	} else if columns == nil {
		b = x.B.bytes()[x.First(entry)+c:]
	}
	from := 0 // where k of the sums so far began
	for k0 := 0; k0 == 0 || k0 < x.K; k0 += byteK {
		k := min(byteK, x.K-k0)
		if k0 == 0 || x.Exact && k0%ByteExact == 0 {
			from = k0
			clear(ofColumns)
			clear(lines)
		}
		if k > 0 {
			exec.Look(x.Name, x.Ctx)
			even, line := roundUp(k, 4), roundUp(k, simd.QuadBlock)
			if columns == nil {
				x.joinQuads(t, p, edge, bs, ofColumns, b, n, k0)
			} else {
				var add []int32
				bs, add = columns.at(k0, c, even)
				for j, s := range add[:wide] {
					ofColumns[j] += s
				}
			}
			of := some
			if !anyZero {
				of = nil
			}
			x.packQuads(t, as, of, m, row, k0)
			for i, s := range of {
				lines[i] += s
			}
			t.Tiles(sums, wide, as, line, oneRun, 0, bs, m, panels, even, k0 > from)
		}
		last := k0+byteK >= x.K
		if !last && !(x.Exact && (k0+byteK)%ByteExact == 0) {
			continue
		}
		for j := range ofColumns {
			ofColumns[j] -= int32(k0+k-from) * (zeros[j] + middle)
		}
		for i := range m {
			s := sums[i*wide : (i+1)*wide]
			if zero := int32(x.A.zero(row + i)); zero != 0 || lines[i] != 0 {
				t.Mend(s, zeros, ofColumns, lines[i], zero)
			}
			x.Emit(entry, r+i, c, s[:n], last)
		}
	}
	runtime.KeepAlive(p)
}

// packQuads writes m rows of a from row on, of a block of k, with zeros after each, and sets the sums of rows, if sums isn't nil.
func (x *ByteProduct) packQuads(t *simd.Quads, dst []byte, sums []int32, m, row, k0 int) {
	k := min(byteK, x.K-k0)
	line := roundUp(k, simd.QuadBlock)
	for i := range m {
		to := dst[i*line : (i+1)*line]
		t.Widen(to[:k], x.A.Mem[(row+i)*x.K+k0:], x.A.flip(), 0)
		clear(to[k:])
	}
	t.Sums(sums, dst, line, line/simd.QuadBlock, 0)
}

// joinQuads writes the panels of n columns of b, of a block of k, and adds the sums of columns to sums. edge is scratch.
func (x *ByteProduct) joinQuads(t *simd.Quads, p *Panels, edge, dst []byte, sums []int32, b []byte, n, k0 int) {
	const cols = simd.ByteColumns
	k, panels := min(byteK, x.K-k0), (n+cols-1)/cols
	even := roundUp(k, 4)
	offs, edges := p.places[0][:even], p.places[1][:even]
	flip := x.B.flip() ^ middle
	most, whole := x.offsets(offs, k0, k), panels
	if most+panels*cols > len(b) {
		whole--
	}
	t.Pack(dst, b, offs, most, flip, middle, even-k, whole, sums)
	if whole < panels {
		for l := range even {
			copy(edge[l*cols:(l+1)*cols], b[offs[l]+whole*cols:][:n-whole*cols])
			edges[l] = l * cols
		}
		t.Pack(dst[whole*even*cols:], edge, edges, (even-1)*cols, flip, middle, even-k, 1, sums[whole*cols:])
	}
}
