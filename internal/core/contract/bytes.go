package contract

import (
	"runtime"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// ByteExact is how many products of two bytes less their zero points an int32 has room for, whatever they are, as a power of two.
const ByteExact = 1 << 15

// The rest of a block of bytes stands in measured.go.
const (
	byteK    = 512 // k of a block
	byteRate = 50  // steps in the time of an addition of exec.Split, with instructions for it
	quadRate = 200 // and with instructions for quads
)

// A ByteSide is an operand of bytes less zero points.
type ByteSide struct {
	Mem    []byte
	Signed bool
	Zero   []int32       // none for 0, one, or one for each row of a or column of b; of a more rows they repeat
	Filter *Filter       // if not nil, the bytes are its weights, which stay packed: of a convolution, or the one matrix b
	Turned func() []byte // instead of Mem: makes the bytes where nothing is packed yet
}

// bytes returns the bytes, in order.
func (s *ByteSide) bytes() []byte {
	if s.Turned != nil {
		return s.Turned()
	}
	return s.Mem
}

// flip returns the bits that differ between a byte of this side and its unsigned byte. zero returns the zero point of row or column i
// for unsigned bytes.
func (s *ByteSide) flip() byte {
	if s.Signed {
		return 128
	}
	return 0
}

func (s *ByteSide) zero(i int) int16 {
	z := int16(s.flip())
	if n := len(s.Zero); n > 0 {
		z += int16(s.Zero[i%n])
	}
	return z
}

// middle is the zero point that leaves of an unsigned byte an int8.
const middle = 128

// left reports whether zero points but one are there.
func (s *ByteSide) left(z int16) bool {
	for i := range max(1, len(s.Zero)) {
		if s.zero(i) != z {
			return true
		}
	}
	return false
}

// ones sets elements to 1.
func ones[T int8 | int16](s []T) {
	for i := range s {
		s[i] = 1
	}
}

// A ByteProduct is the sums of products Σₖ (a[m,k] − zero)·(b[k,n] − zero) for each entry of a batch, of bytes. They are int32, which wraps.
type ByteProduct struct {
	exec.Job
	Batch, M, N, K int

	A, B  ByteSide
	Row   func(entry int) int // the first row of a, each of K bytes
	First func(entry int) int // where row 0 of b begins
	Step  int                 // from a row of b to the next one

	// Emit takes the sums of row i from column at on. With Exact they come in parts that fit an int32, of which the last is said so.
	Exact bool
	Emit  func(entry, i, at int, sums []int32, last bool)
}

// byteTiles is simd.Bytes, simd.Quads, or plain loops.
type byteTiles[T int8 | int16 | uint8] interface {
	Group() int
	Widen(dst []T, src []byte, flip byte, zero T)
	Tiles(c []int32, ldc int, a []T, lda int, offs []int, most int, b []T, m, panels, k int, add bool)
}

// A byteTiler also packs b.
type byteTiler[T int8 | int16] interface {
	byteTiles[T]
	Join(dst []T, src []byte, offs []int, most int, flip byte, zero []T, step, panels int)
}

// oneRun is where rows in one piece have it.
var oneRun = []int{0}

// A byteBlock computes the sums of m rows from row r on and n columns from column c on.
type byteBlock func(x *ByteProduct, entry, r, m, c, n int)

// byteUnit returns the unit that k is a multiple of in packed operands, and the bytes of an element.
func byteUnit() (unit, size int) {
	if byteQuads != nil {
		return byteQuads.Group(), 1
	}
	if p := simd.DotProducts[cpu.Current()]; p != nil {
		return p.Group(), 1
	}
	if p := simd.ByteProducts.Best(); p != nil {
		return p.Group(), 2
	}
	return plainBytes{}.Group(), 2
}

// byteBlocksOf returns the function that computes blocks at the level in use, and how many steps it makes in the time of an addition.
func byteBlocksOf() (block byteBlock, rate int) {
	if q := byteQuads; q != nil {
		return func(x *ByteProduct, entry, r, m, c, n int) { x.quads(q, entry, r, m, c, n) }, quadRate
	}
	if p := simd.DotProducts[cpu.Current()]; p != nil {
		return blocksBy(p), byteRate
	}
	if p := simd.ByteProducts.Best(); p != nil {
		return blocksBy(p), byteRate
	}
	return blocksBy(plainBytes{}), 1
}

// Run computes the sums.
func (x *ByteProduct) Run() {
	if x.Batch == 0 || x.M == 0 || x.N == 0 {
		return
	}
	block, rate := byteBlocksOf()
	m := evenly(x.M, byteRows, 6)
	n := evenly(x.N, max(128, min(bytePairs/max(1, min(x.K, byteK)), byteSums/m)), simd.ByteColumns)
	steps := x.K/rate + 8 // for each sum, and to take it away
	count := func() int { return x.Batch * ((x.M + m - 1) / m) * ((x.N + n - 1) / n) }
	for count() < 2*exec.Workers(x.Ctx) && m*n*min(steps, 1<<20) > exec.Least() {
		switch {
		case m >= n && m > 6 || m > 12 && n <= 64:
			m = roundUp((m+1)/2, 6)
		case n > 64:
			n = roundUp((n+1)/2, simd.ByteColumns)
		default:
			steps = 0
		}
	}
	down, across := (x.M+m-1)/m, (x.N+n-1)/n
	exec.Split(x.Name, x.Ctx, x.Batch*down*across, m*n*min(x.K/rate+8, 1<<20), func(from, to int) {
		for u := from; u < to; u++ {
			r, c := u/across%down*m, u%across*n
			block(x, u/(across*down), r, min(m, x.M-r), c, min(n, x.N-c))
		}
	})
}

func blocksBy[T int8 | int16](t byteTiler[T]) byteBlock {
	return func(x *ByteProduct, entry, r, m, c, n int) { block(x, t, entry, r, m, c, n) }
}

// block is a byteBlock. As int8 all zero points are 128, and the sums are corrected for the differences: a row of ones in a makes sums of
// columns of b, and a panel of ones in b makes sums of rows of a.
func block[T int8 | int16](x *ByteProduct, t byteTiler[T], entry, r, m, c, n int) {
	const cols = simd.ByteColumns
	group := t.Group()
	panels, kb := (n+cols-1)/cols, roundUp(min(x.K, byteK), group)
	_, narrow := any(T(0)).(int8)
	rows, wide := m, panels // with the ones
	if narrow && x.A.left(middle) {
		rows++
	}
	if narrow && x.B.left(middle) {
		wide++
	}
	p := PanelsOf(2*kb*(rows+wide*cols) + 4*rows*wide*cols + 2*group*panels*cols + 4*n + cols*kb + 1024)
	defer PanelPool.Put(p)
	room := p.Bytes()
	as, bs, sums := conv.Carve[T](&room, rows*kb), conv.Carve[T](&room, wide*kb*cols), conv.Carve[int32](&room, rows*wide*cols)
	keptB := pairPanels(x, t)
	zero, edge, left := conv.Carve[T](&room, group*panels*cols), conv.Carve[byte](&room, cols*kb), conv.Carve[int32](&room, n)
	step := zerosOf(x, t, zero, c)
	if wide > panels {
		for j := range left {
			left[j] = int32(x.B.zero(c+j)) - middle
		}
	}
	row := x.Row(entry) + r
	var b []byte
	if x.K == 0 {
		clear(sums)
	} else if keptB == nil {
		b = x.B.bytes()[x.First(entry)+c:]
	}
	for k0 := 0; k0 == 0 || k0 < x.K; k0 += byteK {
		k := min(byteK, x.K-k0)
		even := roundUp(k, group)
		if k > 0 {
			exec.Look(x.Name, x.Ctx)
			if keptB != nil {
				bs, _ = keptB.at(k0, c, even)
			} else {
				joinPanels(x, t, p, edge, bs, b, n, k0, zero, step)
				ones(bs[panels*even*cols : wide*even*cols])
			}
			widenRows(x, t, as, m, row, k0)
			if rows > m {
				ones(as[m*even : m*even+k])
				clear(as[m*even+k : rows*even])
			}
			t.Tiles(sums, wide*cols, as, even, oneRun, 0, bs, rows, wide, even, k0 > 0 && !(x.Exact && k0%ByteExact == 0))
		}
		last := k0+byteK >= x.K
		if !last && !(x.Exact && (k0+byteK)%ByteExact == 0) {
			continue
		}
		for i := range m {
			of := sums[i*wide*cols:][:wide*cols]
			if rows > m {
				if z := int32(x.A.zero(row+i)) - middle; z != 0 {
					for j, s := range sums[m*wide*cols:] {
						of[j] -= z * s
					}
				}
			}
			if wide > panels {
				s := of[panels*cols]
				for j, z := range left {
					of[j] -= z * s
				}
			}
			x.Emit(entry, r+i, c, of[:n], last)
		}
	}
	runtime.KeepAlive(p)
}

// taken returns the number that is subtracted from elements for a zero point: of int8 the middle, whatever the zero point is.
func taken[T int8 | int16](z int16) T {
	if _, narrow := any(T(0)).(int8); narrow {
		z = middle
	}
	return T(z)
}

// zerosOf sets zero to the numbers that are subtracted from panels of b from column c on, and returns the step from panel to panel: 0 where all are alike.
func zerosOf[T int8 | int16](x *ByteProduct, t byteTiler[T], zero []T, c int) (step int) {
	const cols = simd.ByteColumns
	group, n := t.Group(), cols
	if _, narrow := any(T(0)).(int8); len(x.B.Zero) > 1 && !narrow {
		step, n = group*cols, len(zero)/group
	}
	for j := range n {
		z := taken[T](x.B.zero(min(c+j, x.N-1)))
		for h := range group {
			zero[group*j+h] = z
		}
	}
	return step
}

// joinPanels writes the panels of n columns of b, of a block of k. edge is scratch.
func joinPanels[T int8 | int16](x *ByteProduct, t byteTiler[T], p *Panels, edge []byte, dst []T, b []byte, n, k0 int, zero []T, step int) {
	const cols = simd.ByteColumns
	k, panels := min(byteK, x.K-k0), (n+cols-1)/cols
	even := roundUp(k, t.Group())
	offs, edges := p.places[0][:even], p.places[1][:even]
	most, whole := x.offsets(offs, k0, k), panels
	if most+panels*cols > len(b) {
		whole--
	}
	t.Join(dst, b, offs, most, x.B.flip(), zero, step, whole)
	if whole < panels {
		for l := range even {
			copy(edge[l*cols:(l+1)*cols], b[offs[l]+whole*cols:][:n-whole*cols])
			edges[l] = l * cols
		}
		t.Join(dst[whole*even*cols:], edge, edges, (even-1)*cols, x.B.flip(), zero[whole*step:], step, 1)
	}
}

// widenRows writes m rows of a from row on, of a block of k.
func widenRows[T int8 | int16](x *ByteProduct, t byteTiler[T], dst []T, m, row, k0 int) {
	k := min(byteK, x.K-k0)
	even := roundUp(k, t.Group())
	for i := range m {
		t.Widen(dst[i*even:i*even+k], x.A.Mem[(row+i)*x.K+k0:], x.A.flip(), taken[T](x.A.zero(row+i)))
		clear(dst[i*even+k : (i+1)*even])
	}
}

// offsets sets where k rows of b begin, from row k0 on, and returns the largest. The last one repeats: a has zeros there.
func (x *ByteProduct) offsets(offs []int, k0, k int) (most int) {
	for l := range offs {
		offs[l] = (min(l, k-1) + k0) * x.Step
		most = max(most, offs[l])
	}
	return most
}

// MatricesOf returns the entries of contiguous matrices of size elements whose other axes, lead, stretch to batch.
func MatricesOf(lead, batch []int, size int) Entries {
	loops := make([]Loop, len(batch))
	for i, skip := len(batch)-1, len(batch)-len(lead); i >= 0; i-- {
		loops[i].Ext = batch[i]
		if i >= skip && lead[i-skip] > 1 {
			loops[i].Str = size
			size *= lead[i-skip]
		}
	}
	return EntriesOf(0, loops...)
}

// plainBytes is the definition of simd.Bytes of int16.
type plainBytes struct{}

func (plainBytes) Group() int { return 2 }

func (plainBytes) Widen(dst []int16, src []byte, flip byte, zero int16) {
	for i := range dst {
		dst[i] = int16(src[i]^flip) - zero
	}
}

func (plainBytes) Join(dst []int16, src []byte, offs []int, _ int, flip byte, zero []int16, step, panels int) {
	for i := range panels {
		for l, at := range offs {
			row, z, to := src[at+i*simd.ByteColumns:][:simd.ByteColumns], zero[i*step+l%2:], dst[i*len(offs)*simd.ByteColumns+l/2*2*simd.ByteColumns+l%2:]
			for j, v := range row {
				to[2*j] = int16(v^flip) - z[2*j]
			}
		}
	}
}

func (plainBytes) Tiles(c []int32, ldc int, a []int16, lda int, offs []int, _ int, b []int16, m, panels, k int, add bool) {
	for i := range m {
		for j := range panels {
			sums := c[i*ldc+j*simd.ByteColumns:][:simd.ByteColumns]
			if !add {
				clear(sums)
			}
			for r, at := range offs {
				row, panel := a[i*lda+at:][:k], b[(j*len(offs)+r)*k*simd.ByteColumns:][:k*simd.ByteColumns]
				for l := 0; l+1 < len(row); l += 2 {
					x, y := int32(row[l]), int32(row[l+1])
					pairs := panel[l*simd.ByteColumns:][:2*simd.ByteColumns]
					for q := range sums {
						sums[q] += x*int32(pairs[2*q]) + y*int32(pairs[2*q+1])
					}
				}
			}
		}
	}
}
