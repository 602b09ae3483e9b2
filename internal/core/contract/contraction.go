package contract

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The contraction behind MatMul, Gemm and Conv. For every shape, each batch
// entry alone: k in blocks of 256 counted from k = 0; in a block one chain
// acc = fma(a, b, acc) over k in order from +0; c is the first block's acc, then
// c = c + acc for each later block in order. K = 0 gives +0.

const GemmK = 256 // k of a block: the rule, not a tuning

// A Contraction is c[m,n] = Σₖ a[m,k]·b[k,n] per batch entry, and the steps after it. Of entries
// the origin counts from element 0 of the operand.
type Contraction struct {
	exec.Job
	Batch, M, N, K int

	AAt        Entries
	ARow, ACol int
	BAt        Entries
	BRow, BCol int
	CAt        Entries
	CRow, CCol int // one of them is 1, unless there is one row or one column

	Then    After
	Exact   *Exactness // of fixed point
	Columns *Filter    // if not nil, stands for b, one matrix; by Packs
}

// Run computes c, which overlaps no operand, from a and b, all of one type. plus is nil or the
// addend. Integers wrap, so that signs don't matter to them. In a product of float32,
// b may hold narrow floats, or a where b is one column and plus nil.
func (x *Contraction) Run(a, b, c, plus *tensor.Any) {
	switch d := c.DType(); {
	case d == dtype.Float32:
		contract[float32](x, a, b, c, plus)
	case d == dtype.Float64:
		contract[float64](x, a, b, c, plus)
	case d.IsFixed():
		x.exactly(a, b, c, plus, nil)
	case d.Size() == 1:
		contract[uint8](x, a, b, c, plus)
	case d.Size() == 2:
		contract[uint16](x, a, b, c, plus)
	case d.Size() == 4:
		contract[uint32](x, a, b, c, plus)
	default:
		contract[uint64](x, a, b, c, plus)
	}
}

// contract is run for numbers of Go's own types, and contractFixed for fixed point.
func contract[T num.Native](g *Contraction, a, b, c, plus *tensor.Any) {
	e := Gemm[T]{Tiles: TilesOf[T](), Size: dtype.Of[T]().Size()}
	if a.DType().IsNarrow() { // compute the transpose
		a, g.AAt, g.ARow, g.ACol, b, g.BAt, g.BRow, g.BCol = b, g.BAt, g.BCol, g.BRow, a, g.AAt, g.ACol, g.ARow
		g.M, g.N, g.CRow, g.CCol = g.N, g.M, g.CCol, g.CRow
	}
	e.A, e.C = dataOf[T](a, &g.AAt), mutableOf[T](c, &g.CAt)
	if b.DType().IsNarrow() {
		e.narrow = narrowOf(b, &g.BAt)
	} else {
		e.B = dataOf[T](b, &g.BAt)
	}
	if plus != nil {
		e.Plus = dataOf[T](plus, &g.Then.At)
	}
	if g.Columns != nil && g.CCol == 1 {
		e.packedRows(g)
	} else {
		e.Run(g)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
	runtime.KeepAlive(plus)
}

// dataOf returns the storage of an operand, and has entries count from its beginning.
func dataOf[T num.Elem](a *tensor.Any, at *Entries) []T {
	data, origin := reach.DataOf[T](a)
	at.Origin += origin
	return data
}

// mutableOf is dataOf for a result.
func mutableOf[T num.Elem](a *tensor.Any, at *Entries) []T {
	data, origin := reach.MutableOf[T](a)
	at.Origin += origin
	return data
}

// Gemm has the operands of a contraction, and the tiles that multiply them.
type Gemm[T num.Native] struct {
	A, B, C, Plus []T

	narrow *narrowSide // if not nil, stands for b
	Tiles  Tiler[T]
	Size   int // of an element
}

// Entries says where the entries of a batch begin.
type Entries struct {
	Origin int
	exec.Sequence
}

// At returns the place of entry i.
func (e *Entries) At(i int) int { return e.Origin + e.Offset(i) }

// A Loop is an extent and a stride, in elements.
type Loop struct{ Ext, Str int }

// EntriesOf returns the entries of loops, the last of which is the fastest.
func EntriesOf(origin int, loops ...Loop) (e Entries) {
	e.Origin = origin
	e.Clear()
	for _, l := range slices.Backward(loops) {
		e.Around(l.Ext, l.Str)
	}
	return e
}

// Matrices makes e the matrices of a batch that a layout stretches to, and returns their strides. An axis for the rows or the columns that
// isn't there has stride 1.
func (e *Entries) Matrices(lay *layout.Layout, rows, cols bool, batch []int) (row, col int) {
	axis := walk.Ref(lay).Rank()
	row, col = 1, 1
	if cols {
		axis--
		col, _ = walk.Ref(lay).Stride(axis)
	}
	if rows {
		axis--
		row, _ = walk.Ref(lay).Stride(axis)
	}
	e.Clear()
	for _, ext := range slices.Backward(batch) {
		str := 0
		if axis--; axis >= 0 && walk.Ref(lay).Dim(axis) > 1 {
			str, _ = walk.Ref(lay).Stride(axis)
		}
		e.Around(ext, str)
	}
	return row, col
}

// Panels holds the packed operands of a worker.
type Panels struct {
	*mem.Buffer
	offs   [GemmK]int    // of the rows of b in a block
	places [2][byteK]int // the same of bytes, and of copies of the rest of a width
	made   any           // the lines that were copied last, to be used again
}

// PanelPool keeps panels from one product to the next. The collector empties it.
var PanelPool = sync.Pool{New: func() any { return new(Panels) }}

// PanelsOf returns scratch of at least n bytes.
func PanelsOf(n int) *Panels {
	p := PanelPool.Get().(*Panels)
	if p.Buffer == nil || p.Len() < n {
		b, err := mem.AllocDirty(max(n, 4<<20)) // in 2 MiB pages where there are such
		if err != nil {
			b = mem.Borrow(ram.Make(n), nil)
		}
		if p.Buffer != nil {
			p.Close()
		}
		p.Buffer = b
	}
	return p
}

// Run computes c, split over threads by rows and columns of c.
func (e *Gemm[T]) Run(g *Contraction) {
	if g.Batch == 0 || g.M == 0 || g.N == 0 || e.singles(g) {
		return
	}
	cols, lanes := e.Tiles.Columns()
	rows := e.Tiles.Rows(min(g.N, cols))
	if g.N == 1 {
		g.CCol = 1
	} else if g.M == 1 && g.CCol != 1 {
		g.CRow = 1
	}
	if e.narrow == nil && !e.after(g) && (g.CCol != 1 || g.CRow == 1 && g.N < g.M && g.N <= FewRows) { // compute the transpose
		e.A, g.AAt, g.ARow, g.ACol, e.B, g.BAt, g.BRow, g.BCol = e.B, g.BAt, g.BCol, g.BRow, e.A, g.AAt, g.ACol, g.ARow
		g.M, g.N, g.CRow, g.CCol = g.N, g.M, g.CCol, g.CRow
	}
	steps := max(1, g.K)
	if lanes > 1 { // with instructions for it, some fifty times as fast
		steps = max(1, g.K/20)
	}
	steps = min(steps, 1<<24) // a cost that fits an int
	p := pieces{1, 1, g.M, g.N}
	if w := exec.Workers(g.Ctx); w > 1 && float64(g.Batch)*float64(g.M)*float64(g.N)*float64(steps) >= float64(exec.Least()) {
		p = e.cut(g, w, rows, lanes)
	}
	count, cost := g.Batch*p.down*p.across, p.m*p.n*steps
	if count == 1 && exec.Goes(g.Ctx) || g.Little(count, cost) {
		e.some(g, p, 0, count)
	} else {
		e.split(g, p, count, cost)
	}
}

// pieces says how each entry of a batch is divided: of m rows and n columns each, so many one below the other and side by side.
type pieces struct{ down, across, m, n int }

// cut divides a product so that the last of the workers ends as early as it can. The time of a piece is the product of its rows and its vectors, plus
// some rows and vectors for its operands. Halves that differ by a vector, or a small piece at the end, leave a worker without work.
func (e *Gemm[T]) cut(g *Contraction, workers, rows, lanes int) (best pieces) {
	const (
		begins = 10_000 // the time that a piece takes besides, in vectors that are multiplied and added
		spread = 1. / 32
	)
	moreRows, moreVectors := 2., .25
	if g.BCol != 1 {
		moreRows = 12
	}
	w, vectors := float64(workers), (g.N+lanes-1)/lanes
	most := max(workers, min(8*workers, 256)) // pieces
	least := math.Inf(1)
	for down := 1; down <= most && (down-1)*rows < g.M; down++ {
		m := roundUp((g.M+down-1)/down, rows)
		if (g.M+m-1)/m != down {
			continue
		}
		for across := 1; across <= vectors && (down*across == 1 || g.Batch*down*across <= most); across++ {
			n := (vectors + across - 1) / across
			if (vectors+n-1)/n != across {
				continue
			}
			one := float64((float64(m)+moreRows)*(float64(n)+moreVectors)) + begins/float64(max(1, g.K))
			count := float64(g.Batch * down * across)
			all := float64(math.Ceil(count/w) * one)
			if last := float64(count*one)*float64(g.M)*float64(vectors)/float64(down*m)/float64(across*n)/w + one - one/w; last < all {
				all = last // the last pieces are smaller
			}
			if all += float64(spread * one); all < least {
				least, best = all, pieces{down, across, m, n * lanes}
			}
		}
	}
	return best
}

// split computes all pieces.
func (e *Gemm[T]) split(g *Contraction, p pieces, count, cost int) {
	h, d := *g, *e // without these copies, a product that isn't split would move both to the heap
	exec.Split(g.Name, g.Ctx, count, cost, func(from, to int) { d.some(&h, p, from, to) })
}

// some computes pieces [from, to).
func (e *Gemm[T]) some(g *Contraction, p pieces, from, to int) {
	for u := from; u < to; u++ {
		b, r, x := u/(p.across*p.down), u/p.across%p.down*p.m, u%p.across*p.n
		e.block(g, b, r, min(p.m, g.M-r), x, min(p.n, g.N-x))
	}
}

// block computes c[r:r+m, x:x+n] of a batch entry: by columns that stay in the last cache, by blocks of k, and by rows that stay in the second.
func (e *Gemm[T]) block(g *Contraction, batch, r, m, x, n int) {
	cols, lanes := e.Tiles.Columns()
	if s, ok := e.Tiles.(streamer[T]); ok && m <= FewRows {
		switch whole := n - n%lanes; {
		case g.BCol == 1 && n > cols:
			e.skinny(g, s, batch, r, m, x, n)
			return
		case m == 1 && g.BRow == 1 && g.BCol != 1 && min(n, g.K) >= lanes: // a matrix times a vector
			if e.dots(g, s, batch, r, x, whole); whole == n {
				return
			}
			x, n = x+whole, n-whole
		}
	}
	s := e.sides(g, batch, r, m, x, n)
	if s.panels != nil {
		defer PanelPool.Put(s.panels)
	}
	for x0 := 0; x0 < n; x0 += s.nc {
		nn := min(s.nc, n-x0)
		for k0 := 0; k0 == 0 || k0 < g.K; k0 += GemmK {
			if x0+k0 > 0 {
				exec.Look(g.Name, g.Ctx)
			}
			kn := min(GemmK, g.K-k0)
			b := e.right(g, &s, k0, kn, x0, nn)
			for r0 := 0; r0 < m; r0 += s.mc {
				mn := min(s.mc, m-r0)
				e.multiply(g, &s, r0, mn, x0, nn, k0, s.left(g, r0, mn, k0, kn), b)
				if e.after(g) && k0+kn == g.K {
					e.finish(g, batch, r+r0, mn, x+x0, nn)
				}
			}
		}
	}
	if s.stream {
		simd.Fence()
	}
}

// A side is a block of an operand as the tiles read it: a copy, or the operand as it lies.
type side[T num.Native] struct {
	data     []T
	row, col int  // strides
	k        int  // of the block
	panels   bool // of b, each as wide as a tile, follow each other: its columns are its rows' stride
}

// sides are the operands of a block of c, and room for copies of their parts.
type sides[T num.Native] struct {
	mc, nc  int // rows and columns of a part
	a, b, c []T // from the first element of the block on; of narrow floats b is nil
	at      int // where b begins
	stream  bool
	panels  *Panels // nil without copies
	as, bs  []T     // nil where tiles read the operand as it lies
	pitch   int     // of rows of b that are widened as they lie
	short   []uint16
}

// sides decides which operands of a block are copied. The tiles take rows of b and any strides of a. A copy of b pays when it is read often and
// its original doesn't stay in the caches. A copy of a pays only when its rows aren't runs: of runs a tile reads a line each, and mostly uses it
// up before the caches need the place.
func (e *Gemm[T]) sides(g *Contraction, batch, r, m, x, n int) sides[T] {
	cols, lanes := e.Tiles.Columns()
	rows, most := e.Tiles.Rows(min(n, cols)), blocks()
	s := sides[T]{mc: evenly(m, most.a/e.Size/GemmK, rows), nc: evenly(n, most.b/e.Size/GemmK, cols), c: e.C[g.CAt.At(batch)+r*g.CRow+x:]}
	s.stream = g.K <= GemmK && len(e.C)*e.Size >= conv.Large && g.CRow*e.Size%64 == 0 && conv.LineAligned(s.c)
	if s.stream && g.K <= GemmK/4 {
		s.mc = min(s.mc, 8*rows) // c is written nearly in order; with one tile for each call, calls would take a third of the time
	}
	if g.K == 0 {
		return s
	}
	if s.a, s.at = e.A[g.AAt.At(batch)+r*g.ARow:], g.BAt.At(batch)+x*g.BCol; e.narrow == nil {
		s.b = e.B[s.at:]
	}
	if m <= rows && g.BCol != 1 {
		s.nc = evenly(n, copiedOnce/min(g.K, GemmK), cols) // while the copy is in the caches
	}
	often, kb := m > 3*rows && n > 3*cols, min(g.K, GemmK)
	var roomA, roomB, short int
	if often && lanes > 1 && g.ACol != 1 {
		roomA = kb * s.mc
	}
	switch {
	case e.narrow != nil && g.BCol == 1:
		s.pitch = s.nc + lanes // so that rows aren't apart by a power of two
		roomB = kb * s.pitch
	case e.narrow != nil:
		roomB, short = kb*s.nc, kb*cols
	case g.BCol != 1 || often && float64(m)*float64(n)*float64(g.K) >= float64(gemmLarge)/float64(e.Size):
		roomB = kb * s.nc
	}
	if roomA+roomB > 0 {
		s.panels = PanelsOf((roomA+roomB+short)*e.Size + 256)
		rest := s.panels.Bytes()
		for l := range kb {
			s.panels.offs[l] = l * g.BRow
		}
		s.as, s.bs, s.short = conv.Carve[T](&rest, roomA), conv.Carve[T](&rest, roomB), conv.Carve[uint16](&rest, short)
	}
	return s
}

// right returns n columns of b from column x on, of a block of k.
func (e *Gemm[T]) right(g *Contraction, s *sides[T], k0, k, x, n int) side[T] {
	switch {
	case k == 0:
		return side[T]{}
	case len(s.bs) == 0:
		return side[T]{s.b[k0*g.BRow+x:], g.BRow, 1, k, false}
	case s.pitch > 0:
		e.narrow.rows(exec.RunOf(s.bs), s.pitch, s.at+k0*g.BRow+x, g.BRow, k, n)
		return side[T]{s.bs, s.pitch, 1, k, false}
	case g.BCol != 1:
		e.packColumns(s.bs, s.short, conv.Block{Off: s.at + k0*g.BRow + x*g.BCol, Rows: k, Row: g.BRow, Cols: n, Col: g.BCol})
	default:
		e.packRows(g, s.bs, s.b[k0*g.BRow+x:], s.panels.offs[:k], n)
	}
	return side[T]{s.bs, 0, k, k, true}
}

// left returns m rows of a from row r on, of a block of k.
func (s *sides[T]) left(g *Contraction, r, m, k0, k int) side[T] {
	switch {
	case k == 0:
		return side[T]{}
	case len(s.as) == 0:
		return side[T]{s.a[r*g.ARow+k0*g.ACol:], g.ARow, g.ACol, k, false}
	}
	conv.Pack(s.as, s.a, conv.Block{Off: r*g.ARow + k0*g.ACol, Rows: m, Row: g.ARow, Cols: k, Col: g.ACol})
	return side[T]{s.as, k, 1, k, false}
}

// multiply stores or adds the sums of a block of k, tile by tile.
func (e *Gemm[T]) multiply(g *Contraction, s *sides[T], r, m, x, n, k0 int, a, b side[T]) {
	cols, lanes := e.Tiles.Columns()
	for j, w := 0, 0; j < n; j += w {
		w = TileCols(n-j, cols, lanes)
		mode := simd.StoreSums
		if k0 > 0 {
			mode = simd.AddSums
		} else if s.stream && w%lanes == 0 {
			mode = simd.StreamSums
		}
		row := b.row
		if b.panels {
			row = w
		}
		e.Tiles.Tiles(s.c[r*g.CRow+x+j:], g.CRow, a.data, a.row, a.col, b.data[min(j*b.col, len(b.data)):], row, m, w, a.k, mode)
	}
}

// packRows copies n columns of a block of b, whose rows are at offs, into panels as wide as a
// tile. A few rows at a time go into all panels, so that memory is read in order.
func (e *Gemm[T]) packRows(g *Contraction, dst, b []T, offs []int, n int) {
	const few = 16
	cols, lanes := e.Tiles.Columns()
	k := len(offs)
	for l := 0; l < k; l += few {
		rows := offs[:min(few, k-l)]
		for j, w := 0, 0; j < n; j += w {
			w = TileCols(n-j, cols, lanes)
			e.Tiles.Gather(dst[j*k+l*w:], w, b[l*g.BRow+j:], rows, rows[len(rows)-1], w)
		}
	}
}
