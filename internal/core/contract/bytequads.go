package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// byteQuads makes sums of four products at a time: nil where the level in use has no such instruction. It multiplies bytes with their zero points. One
// operand is unsigned, and the other is signed. The share of the zero points is taken off the sums:
//
//	Σ (a − p)·(b − q) = Σ a·b − q·Σ a − p·Σ (b − q)
var byteQuads = simd.ByteQuads

// quads computes the sums of m rows and n columns.
func (x *ByteProduct) quads(t *simd.Quads, entry, r, m, c, n int) {
	const cols = simd.ByteColumns
	panels, kb := (n+cols-1)/cols, roundUp(min(x.K, byteK), 4)
	wide, lda := panels*cols, roundUp(kb, simd.QuadBlock)
	p := PanelsOf(m*lda + kb*(wide+cols) + 4*(m*wide+2*wide+2*m) + 1024)
	defer PanelPool.Put(p)
	room := p.Bytes()
	as, bs, edge := conv.Carve[byte](&room, m*lda), conv.Carve[byte](&room, kb*wide), conv.Carve[byte](&room, cols*kb)
	sums, zeros, columns := conv.Carve[int32](&room, m*wide), conv.Carve[int32](&room, wide), conv.Carve[int32](&room, wide)
	some, lines := conv.Carve[int32](&room, m), conv.Carve[int32](&room, m)
	offs, edges := p.places[0][:kb], p.places[1][:kb]
	// b is unsigned where a is signed. Its zero points are less by 128 where its bytes, unsigned, become signed.
	flip, back := x.B.flip(), byte(0)
	if !x.A.Signed {
		flip, back = x.B.flip()^128, 128
	}
	anyZero := false
	for j := range wide {
		zeros[j] = int32(x.B.zero(min(c+j, x.N-1))) - int32(back)
		anyZero = anyZero || zeros[j] != 0
	}
	row := x.Row(entry) + r
	var b []byte
	if x.K > 0 {
		b = x.B.Mem[x.First(entry)+c:]
	} else {
		clear(sums)
	}
	from := 0 // where k of the sums so far began
	for k0 := 0; k0 == 0 || k0 < x.K; k0 += byteK {
		k := min(byteK, x.K-k0)
		if k0 == 0 || x.Exact && k0%ByteExact == 0 {
			from = k0
			clear(columns)
			clear(lines)
		}
		if k > 0 {
			exec.Look(x.Name, x.Ctx)
			even := roundUp(k, 4)
			most := x.offsets(offs[:even], k0, k)
			whole := panels
			if most+wide > len(b) {
				whole--
			}
			t.Pack(bs, b, offs[:even], most, flip, back, even-k, whole, columns)
			if whole < panels {
				for l := range even {
					copy(edge[l*cols:(l+1)*cols], b[offs[l]+whole*cols:][:n-whole*cols])
					edges[l] = l * cols
				}
				t.Pack(bs[whole*even*cols:], edge, edges[:even], (even-1)*cols, flip, back, even-k, 1, columns[whole*cols:])
			}
			line := roundUp(k, simd.QuadBlock)
			for i := range m {
				to := as[i*line : (i+1)*line]
				clear(to[copy(to, x.A.Mem[(row+i)*x.K+k0:][:k]):])
			}
			if anyZero {
				t.Sums(some, as, line, line/simd.QuadBlock, x.A.flip())
				for i, s := range some {
					lines[i] += s - int32(x.A.flip())*int32(line)
				}
			}
			t.Tiles(sums, wide, as, line, x.A.Signed, bs, m, panels, even, k0 > from)
		}
		last := k0+byteK >= x.K
		if !last && !(x.Exact && (k0+byteK)%ByteExact == 0) {
			continue
		}
		for j := range columns {
			columns[j] -= int32(k0+k-from) * (zeros[j] + int32(back))
		}
		for i := range m {
			s := sums[i*wide : (i+1)*wide]
			if zero := int32(x.A.zero(row+i)) - int32(x.A.flip()); zero != 0 || lines[i] != 0 {
				t.Mend(s, zeros, columns, lines[i], zero)
			}
			x.Emit(entry, r+i, c, s[:n], last)
		}
	}
	runtime.KeepAlive(p)
}
