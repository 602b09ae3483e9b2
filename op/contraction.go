package op

import (
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// The contraction behind MatMul, Gemm and Conv. For every shape, each batch
// entry alone: k in blocks of 256 counted from k = 0; in a block one chain
// acc = fma(a, b, acc) over k in order from +0; c is the first block's acc, then
// c = c + acc for each later block in order. K = 0 gives +0.

const gemmK = 256 // k of a block: the rule, not a tuning

// The sizes of what is packed, for a core with 1 MiB and its share of a last-level
// cache: a block of a and a panel of b as wide as a tile stay in the second level,
// from where the tile fetches them. A wider b is less reading of a.
const (
	fewRows = 4         // rows of a product for which b isn't packed unless it must be
	gemmA   = 256 << 10 // bytes of a block of a
	gemmB   = 2 << 20   // bytes of a block of b

	gemmLarge = 512 << 20 // steps times bytes of an element from which on b is packed
)

// A contraction is c[m,n] = Σₖ a[m,k]·b[k,n] per batch entry, and what comes after. Of entries
// the origin counts from element 0 of the operand.
type contraction struct {
	exec.Job
	batch, m, n, k int

	aAt        entries
	aRow, aCol int
	bAt        entries
	bRow, bCol int
	cAt        entries
	cRow, cCol int // one of them is 1, unless there is one row or one column

	then  after
	exact *exactness // of fixed point
}

// run computes c, which overlaps no operand, from a and b, all of one type. With g b is the
// input of a convolution, whose patches stand for b. plus is nil or what is added. Integers
// wrap, so that signs don't matter to them.
func (x *contraction) run(a, b, c, plus *tensor.Any, g *convolution) {
	switch d := c.DType(); {
	case d == dtype.Float32:
		contract[float32](x, a, b, c, plus, g)
	case d == dtype.Float64:
		contract[float64](x, a, b, c, plus, g)
	case d == dtype.FP8x23:
		contractFixed[fixed.FP8x23](*x, a, b, c, plus, g)
	case d == dtype.FP16x16:
		contractFixed[fixed.FP16x16](*x, a, b, c, plus, g)
	case d == dtype.FP32x32:
		contractFixed[fixed.FP32x32](*x, a, b, c, plus, g)
	case d == dtype.FP64x64:
		contractFixed[fixed.FP64x64](*x, a, b, c, plus, g)
	case d.Size() == 1:
		contract[uint8](x, a, b, c, plus, g)
	case d.Size() == 2:
		contract[uint16](x, a, b, c, plus, g)
	case d.Size() == 4:
		contract[uint32](x, a, b, c, plus, g)
	default:
		contract[uint64](x, a, b, c, plus, g)
	}
}

// contract is run for numbers of Go's own types, and contractFixed for fixed point.
func contract[T num.Native](g *contraction, a, b, c, plus *tensor.Any, conv *convolution) {
	e := gemm[T]{tiles: tilesOf[T](), size: dtype.Of[T]().Size()}
	e.a, e.b, e.c = dataOf[T](a, &g.aAt), dataOf[T](b, &g.bAt), mutableOf[T](c, &g.cAt)
	if plus != nil {
		e.plus = dataOf[T](plus, &g.then.at)
	}
	if conv == nil {
		e.run(g)
	} else if e.from = patchesOf(conv, e.b[g.bAt.origin:]); !e.few(g) {
		e.run(g)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	runtime.KeepAlive(plus)
}

// dataOf returns the storage of an operand, and has entries count from its beginning.
func dataOf[T num.Elem](a *tensor.Any, at *entries) []T {
	data, origin := tensor.DataOf[T](a)
	at.origin += origin
	return data
}

// mutableOf is dataOf for a result.
func mutableOf[T num.Elem](a *tensor.Any, at *entries) []T {
	data, origin := tensor.MutableOf[T](a)
	at.origin += origin
	return data
}

// gemm is what a contraction is of.
type gemm[T num.Native] struct {
	a, b, c, plus []T

	from  source[T] // if not nil, stands for b
	tiles tiler[T]
	size  int // of an element
}

// A source makes the elements of b up, a block at a time.
type source[T any] interface {
	// room returns how many elements of scratch columns [n0, n0+nn) of a block take.
	room(n0, nn int) int
	// ready prepares a block and the offsets of its rows.
	ready(b *blockOfB[T])
	// part returns a run of columns of a block from n on: that of row l is src[offs[l]:].
	part(b *blockOfB[T], n int) (src []T, run int)
}

// blockOfB is b[k0:k0+kn, n0:n0+nn] of a batch entry, and what its source keeps.
type blockOfB[T any] struct {
	batch, k0, kn, n0, nn int

	scratch []T
	offs    []int // one for each k
	most    int   // of them
	origin  int
}

// entries says where the entries of a batch begin.
type entries struct {
	origin int
	exec.Sequence
}

func (e *entries) at(i int) int { return e.origin + e.Offset(i) }

type loop struct{ ext, str int }

// entriesOf returns the entries of loops, the last of which is the fastest.
func entriesOf(origin int, loops ...loop) (e entries) {
	e.origin = origin
	e.Clear()
	for _, l := range slices.Backward(loops) {
		e.Around(l.ext, l.str)
	}
	return e
}

// matrices makes e the matrices of a batch that a layout stretches to, and returns their strides. An
// axis for the rows or the columns that isn't there has stride 1.
func (e *entries) matrices(lay *layout.Layout, rows, cols bool, batch []int) (row, col int) {
	axis := lay.Rank()
	row, col = 1, 1
	if cols {
		axis--
		col, _ = lay.Stride(axis)
	}
	if rows {
		axis--
		row, _ = lay.Stride(axis)
	}
	e.Clear()
	for _, ext := range slices.Backward(batch) {
		str := 0
		if axis--; axis >= 0 && lay.Dim(axis) > 1 {
			str, _ = lay.Stride(axis)
		}
		e.Around(ext, str)
	}
	return row, col
}

// panels holds what one worker packs.
type panels struct {
	*mem.Buffer
	offs [gemmK]int // of the rows of b in a block
	made any        // the block that a source made last, to be used again
}

var panelPool = sync.Pool{New: func() any { return new(panels) }}

// panelsOf returns scratch of at least n bytes.
func panelsOf(n int) *panels {
	p := panelPool.Get().(*panels)
	if p.Buffer == nil || p.Len() < n {
		b, err := mem.AllocDirty(max(n, 4<<20)) // in 2 MiB pages where there are such
		if err != nil {
			b = mem.Borrow(mem.Make(n), nil)
		}
		if p.Buffer != nil {
			p.Close()
		}
		p.Buffer = b
	}
	return p
}

// run computes c, split over threads by rows and columns of c.
func (e *gemm[T]) run(g *contraction) {
	if g.batch == 0 || g.m == 0 || g.n == 0 || e.singles(g) {
		return
	}
	cols, lanes := e.tiles.Columns()
	rows := e.tiles.Rows(min(g.n, cols))
	if g.n == 1 {
		g.cCol = 1
	} else if g.m == 1 && g.cCol != 1 {
		g.cRow = 1
	}
	if e.from == nil && !e.after(g) && (g.cCol != 1 || g.cRow == 1 && g.n < g.m && g.n <= fewRows) { // compute the transpose
		e.a, g.aAt, g.aRow, g.aCol, e.b, g.bAt, g.bRow, g.bCol = e.b, g.bAt, g.bCol, g.bRow, e.a, g.aAt, g.aCol, g.aRow
		g.m, g.n, g.cRow, g.cCol = g.n, g.m, g.cCol, g.cRow
	}
	steps := max(1, g.k)
	if lanes > 1 { // with instructions for it, some fifty times as fast
		steps = max(1, g.k/20)
	}
	steps = min(steps, 1<<24) // a cost that fits an int
	m, n := g.m, g.n          // of a piece
	for workers := exec.Workers(g.Ctx); workers > 1; {
		pieces := g.batch * ((g.m + m - 1) / m) * ((g.n + n - 1) / n)
		least := exec.SplitCost / 2
		if pieces >= workers { // pieces enough, but small ones share the work better
			least *= 16
		}
		lessM, lessN := roundUp((m+1)/2, rows), roundUp((n+1)/2, cols)
		switch {
		case pieces >= 4*workers || m*n*steps < 2*least:
			workers = 0
		case m > n && lessM < m || lessN >= n && lessM < m:
			m = lessM
		case lessN < n:
			n = lessN
		default:
			workers = 0
		}
	}
	p := pieces{down: (g.m + m - 1) / m, across: (g.n + n - 1) / n, m: m, n: n}
	count, cost := g.batch*p.down*p.across, m*n*steps
	if count == 1 && exec.Goes(g.Ctx) || g.Little(count, cost) {
		e.some(g, p, 0, count)
	} else {
		e.split(g, p, count, cost)
	}
}

// pieces says how each entry of a batch is divided: of m rows and n columns each, so many one below the other and side by side.
type pieces struct{ down, across, m, n int }

// split computes all pieces.
func (e *gemm[T]) split(g *contraction, p pieces, count, cost int) {
	h, d := *g, *e // without them those of a product that isn't split would not stay on the stack
	exec.Split(g.Name, g.Ctx, count, cost, func(from, to int) { d.some(&h, p, from, to) })
}

// some computes pieces [from, to).
func (e *gemm[T]) some(g *contraction, p pieces, from, to int) {
	for u := from; u < to; u++ {
		b, r, x := u/(p.across*p.down), u/p.across%p.down*p.m, u%p.across*p.n
		e.block(g, b, r, min(p.m, g.m-r), x, min(p.n, g.n-x))
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// block computes c[r:r+m, x:x+n] of a batch entry.
func (e *gemm[T]) block(g *contraction, batch, r, m, x, n int) {
	cols, lanes := e.tiles.Columns()
	rows := e.tiles.Rows(min(n, cols))
	if s, ok := e.tiles.(streamer[T]); ok && m <= fewRows && n > cols && e.from == nil {
		e.skinny(g, s, batch, r, m, x, n)
		return
	}
	nc, mc := evenly(n, gemmB/e.size/gemmK, cols), evenly(m, gemmA/e.size/gemmK, rows)
	// The tiles take rows of b and any strides of a. A copy of b pays when it is read often and what it is of doesn't stay in the caches, one of a
	// only when its rows aren't runs: of runs a tile reads a line each, and mostly uses it up before the caches need the place.
	often := m > 3*rows && n > 3*cols
	packB := e.from != nil || g.bCol != 1 || often && float64(m)*float64(n)*float64(g.k) >= gemmLarge/float64(e.size)
	packA := often && lanes > 1 && g.aCol != 1
	kb := min(g.k, gemmK)
	kept := nc // columns of b that are packed and kept; with one block of a, a panel that a source makes is used but once
	if e.from != nil && m <= mc {
		kept = 0
	}
	var bs, as []T
	var p *panels
	var made *blockOfB[T]
	if packA || packB {
		room, extra := kb*max(kept, cols), 0
		for x0 := 0; e.from != nil && x0 < n; x0 += nc {
			extra = max(extra, e.from.room(x+x0, min(nc, n-x0)))
		}
		if packA {
			room += kb * mc
		}
		p = panelsOf((room+extra)*e.size + 256)
		defer panelPool.Put(p)
		rest := p.Bytes()
		bs = conv.Carve[T](&rest, kb*max(kept, cols))
		if packA {
			as = conv.Carve[T](&rest, kb*mc)
		}
		if e.from != nil {
			if made, _ = p.made.(*blockOfB[T]); made == nil {
				made = new(blockOfB[T])
				p.made = made
			}
			*made = blockOfB[T]{batch: batch, scratch: conv.Carve[T](&rest, extra), offs: p.offs[:]}
		}
		for l := range min(kb, len(p.offs)) {
			p.offs[l] = l * g.bRow
		}
	}
	c, a, b := e.c[g.cAt.at(batch)+r*g.cRow+x:], e.a, e.b
	if g.k > 0 {
		a = a[g.aAt.at(batch)+r*g.aRow:]
		if e.from == nil {
			b = b[g.bAt.at(batch)+x*g.bCol:]
		}
	}
	stream := g.k <= gemmK && len(e.c)*e.size >= conv.Large && g.cRow*e.size%64 == 0 && conv.LineAligned(c)
	if stream && g.k <= gemmK/4 {
		mc = rows // c is written in order, and b with so few rows read again from the second-level cache
	}
	for x0 := 0; x0 < n; x0 += nc {
		nn := min(nc, n-x0)
		for k0 := 0; k0 == 0 || k0 < g.k; k0 += gemmK {
			if x0+k0 > 0 {
				exec.Look(g.Name, g.Ctx)
			}
			kn, mode := min(gemmK, g.k-k0), simd.StoreSums
			if k0 > 0 {
				mode = simd.AddSums
			}
			if e.from != nil && kn > 0 {
				made.k0, made.kn, made.n0, made.nn = k0, kn, x+x0, nn
				e.from.ready(made)
			} else if packB && kn > 0 {
				e.packRows(g, bs, b[k0*g.bRow+x0*g.bCol:], p.offs[:kn], nn)
			}
			for r0 := 0; r0 < m; r0 += mc {
				mn := min(mc, m-r0)
				if packA && kn > 0 {
					conv.Pack(as, a, conv.Block{Off: r0*g.aRow + k0*g.aCol, Rows: mn, Row: g.aRow, Cols: kn, Col: g.aCol})
				}
				for j, w := 0, 0; j < nn; j += w {
					w = tileCols(nn-j, cols, lanes)
					bj, ldb := b, g.bRow
					if packB {
						bj, ldb = bs[min(j, kept)*kn:], w
					} else if kn > 0 {
						bj = b[k0*g.bRow+x0+j:]
					}
					var parts joiner[T]
					var more []T
					var split int
					if e.from != nil && kn > 0 {
						var src []T
						if src, more, split, parts = e.parts(g, made, x+x0+j, w); parts != nil {
							bj = src
						} else if r0 == 0 {
							e.gather(g, bj, made, x+x0+j, w)
						}
					}
					how := mode
					if stream && w%lanes == 0 {
						how = simd.StreamSums
					}
					ai, aRow, aCol := a, g.aRow, g.aCol
					if packA {
						ai, aRow, aCol = as, kn, 1
					} else if kn > 0 {
						ai = a[r0*g.aRow+k0*g.aCol:]
					}
					if cj := c[r0*g.cRow+x0+j:]; parts != nil {
						parts.TilesOfParts(cj, g.cRow, ai, aRow, aCol, bj, more, split, made.offs[:kn], made.most, mn, w, how)
					} else {
						e.tiles.Tiles(cj, g.cRow, ai, aRow, aCol, bj, ldb, mn, w, kn, how)
					}
				}
				if e.after(g) && k0+gemmK >= g.k {
					e.finish(g, batch, r+r0, mn, x+x0, nn)
				}
			}
		}
	}
	if stream {
		simd.Fence()
	}
	runtime.KeepAlive(p)
}

// packRows copies n columns of a block of b, whose rows are at offs, into panels as wide as a
// tile. A few rows at a time go into all panels, so that memory is read in order.
func (e *gemm[T]) packRows(g *contraction, dst, b []T, offs []int, n int) {
	const few = 16
	cols, lanes := e.tiles.Columns()
	k := len(offs)
	if g.bCol != 1 {
		for j, w := 0, 0; j < n; j += w {
			w = tileCols(n-j, cols, lanes)
			conv.Pack(dst[j*k:], b, conv.Block{Off: j * g.bCol, Rows: k, Row: g.bRow, Cols: w, Col: g.bCol})
		}
		return
	}
	for l := 0; l < k; l += few {
		rows := offs[:min(few, k-l)]
		for j, w := 0, 0; j < n; j += w {
			w = tileCols(n-j, cols, lanes)
			e.tiles.Gather(dst[j*k+l*w:], w, b[l*g.bRow+j:], rows, rows[len(rows)-1], w)
		}
	}
}

// parts returns columns [n, n+w) of a block of the source as one part or two, and a tiler that
// takes them so; else nil.
func (e *gemm[T]) parts(g *contraction, b *blockOfB[T], n, w int) (src, more []T, split int, by joiner[T]) {
	by, ok := e.tiles.(joiner[T])
	if !ok {
		return nil, nil, 0, nil
	}
	src, split = e.from.part(b, n)
	split = min(split, w)
	run := 0
	if split < w {
		more, run = e.from.part(b, n+split)
	}
	if split+run < w || !by.TakesParts(split, w) {
		return nil, nil, 0, nil
	}
	return src, more, split, by
}

// gather packs columns [n, n+w) of a block of the source.
func (e *gemm[T]) gather(g *contraction, dst []T, b *blockOfB[T], n, w int) {
	for j := 0; j < w; {
		src, run := e.from.part(b, n+j)
		run = min(run, w-j)
		e.tiles.Gather(dst[j:], w, src, b.offs[:b.kn], b.most, run)
		j += run
	}
}

// evenly returns how many of n rows or columns a block takes, whole tiles of them unless all,
// so that blocks take at most most, where tiles are no wider, and all about the same.
func evenly(n, most, tile int) int {
	most = max(tile, most/tile*tile)
	blocks := (n + most - 1) / most
	return min(n, roundUp((n+blocks-1)/blocks, tile))
}

// tileCols returns how many of n columns the next tile takes, whole vectors of them where they are enough, so that all take about
// the same.
func tileCols(n, most, lanes int) int {
	vectors := (n + lanes - 1) / lanes
	tiles := (vectors*lanes + most - 1) / most
	return min(n, lanes*((vectors+tiles-1)/tiles))
}

// skinny is block for so few rows that packing b would cost more than the
// product: b goes by once, in order.
func (e *gemm[T]) skinny(g *contraction, s streamer[T], batch, r, m, x, n int) {
	if _, lanes := e.tiles.Columns(); m == 1 && g.bRow == 1 && g.bCol != 1 && g.k >= lanes {
		whole := n - n%lanes
		e.dots(g, s, batch, r, x, whole)
		if x, n = x+whole, n-whole; n == 0 {
			return
		}
	}
	const strip = 4096 // columns whose sums stay in the first-level cache
	width := min(n, strip)
	if g.bCol != 1 {
		width = min(n, 128)
	}
	kb := min(g.k, gemmK)
	need := m * width
	if g.bCol != 1 {
		need += kb * width
	}
	p := panelsOf((need)*e.size + 256)
	defer panelPool.Put(p)
	rest := p.Bytes()
	acc := conv.Carve[T](&rest, m*width)
	canon := canonFor[T]()
	for x0 := 0; x0 < n; x0 += width {
		w := min(width, n-x0)
		for k0 := 0; k0 == 0 || k0 < g.k; k0 += gemmK {
			if x0+k0 > 0 {
				exec.Look(g.Name, g.Ctx)
			}
			kn := min(gemmK, g.k-k0)
			clear(acc[:m*w])
			if kn > 0 {
				a, b, ldb := e.a[g.aAt.at(batch)+r*g.aRow+k0*g.aCol:], e.b[g.bAt.at(batch)+k0*g.bRow+(x+x0)*g.bCol:], g.bRow
				if g.bCol != 1 {
					packed := rest
					bs := conv.Carve[T](&packed, kn*w)
					conv.Pack(bs, b, conv.Block{Rows: kn, Row: g.bRow, Cols: w, Col: g.bCol})
					b, ldb = bs, w
				}
				for l := range kn {
					p.offs[l] = l * ldb
				}
				for l := 0; l < kn; l += 8 {
					for i := range m {
						s.AddRows(acc[i*w:(i+1)*w], a[i*g.aRow+l*g.aCol:], g.aCol, b, p.offs[l:min(l+8, kn)], (kn-1)*ldb)
					}
				}
			}
			for i := range m {
				row, sums := e.c[g.cAt.at(batch)+(r+i)*g.cRow+x+x0:][:w], acc[i*w:(i+1)*w]
				if k0 == 0 {
					copy(row, sums)
				} else {
					for j, v := range sums {
						row[j] += v
					}
				}
				if k0+gemmK >= g.k {
					canon(row)
				}
			}
		}
		if e.after(g) {
			e.finish(g, batch, r, m, x+x0, w)
		}
	}
	runtime.KeepAlive(p)
}

// dots is skinny for one row and columns of b that are runs, a matrix times a
// vector: a few columns, of which n is a multiple, go by together, in order.
func (e *gemm[T]) dots(g *contraction, s streamer[T], batch, r, x, n int) {
	_, lanes := e.tiles.Columns()
	p := panelsOf((g.k+lanes+lanes*lanes)*e.size + 256)
	defer panelPool.Put(p)
	rest := p.Bytes()
	acc, turned := conv.Carve[T](&rest, lanes), conv.Carve[T](&rest, lanes*lanes)
	a := e.a[g.aAt.at(batch)+r*g.aRow:]
	if g.aCol != 1 {
		run := conv.Carve[T](&rest, g.k)
		conv.Pack(run, a, conv.Block{Rows: 1, Cols: g.k, Col: g.aCol})
		a = run
	}
	for i := range lanes {
		p.offs[i] = i * lanes
	}
	canon := canonFor[T]()
	c := e.c[g.cAt.at(batch)+r*g.cRow+x:][:n]
	for j := 0; j < n; j += lanes {
		b, row := e.b[g.bAt.at(batch)+(x+j)*g.bCol:], c[j:j+lanes]
		for k0 := 0; k0 < g.k; k0 += gemmK {
			kn := min(gemmK, g.k-k0)
			clear(acc)
			odd := kn % lanes
			s.Dots(acc, b[k0:], g.bCol, a[k0:k0+kn-odd])
			if at := k0 + kn - odd; odd > 0 {
				conv.Pack(turned[:odd*lanes], b, conv.Block{Off: at, Rows: odd, Row: 1, Cols: lanes, Col: g.bCol})
				s.AddRows(acc, a[at:], 1, turned, p.offs[:odd], (odd-1)*lanes)
			}
			if k0 == 0 {
				copy(row, acc)
				continue
			}
			for i, v := range acc {
				row[i] += v
			}
		}
	}
	canon(c)
	if e.after(g) {
		e.finish(g, batch, r, 1, x, n)
	}
	runtime.KeepAlive(p)
}
