package contract

import (
	"runtime"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Filter keeps the weights of convolutions of small planes. 49 outputs of a channel fill four vectors of 16 by three quarters. 16 channels of one output
// fill a vector, if the weights of neighbouring channels lie side by side, as in a Filter.
type Filter struct {
	W      tensor.Any // contiguous
	once   sync.Once
	packed any // filter[T]
}

// Of reports whether w is the weights of the filter.
func (f *Filter) Of(w *tensor.Any) bool {
	a, ok := tensor.Bytes(f.W)
	b, fine := tensor.Bytes(*w)
	return ok && fine && len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// filter is the weights by group; in a group by blocks of k; in a block by tiles of channels.
type filter[T num.Native] struct {
	panels []T
	tiles  []int // the channel of a group with which each tile begins, and how many there are
}

// mostTurned is how many outputs of a channel a small plane has at most: they and the sums of some tiles stay in the second-level cache.
const mostTurned = 256

// Turns reports whether a vector of channels computes a convolution in less time than a vector of outputs, and how many bytes the weights of that take.
func (g *Convolution) Turns(d dtype.DType) (bytes int64, ok bool) {
	var lanes int
	switch d {
	case dtype.Float32:
		_, lanes = TilesOf[float32]().Columns()
	case dtype.Float64:
		_, lanes = TilesOf[float64]().Columns()
	}
	const turning = 16 // of the sums, in their parts
	m, n := g.M/g.Group, g.Patch
	ok = lanes > 1 && n > FewRows && n <= mostTurned && g.K > 0 && (turning+1)*roundUp(m, lanes)*n < turning*m*roundUp(n, lanes)
	return int64(g.M) * int64(g.K) * int64(d.Size()), ok
}

// filterOf returns the packed weights of a contraction's groups.
func filterOf[T num.Native](f *Filter, g *Contraction) *filter[T] {
	f.once.Do(func() {
		cols, lanes := TilesOf[T]().Columns()
		cols = min(cols, max(32, lanes)) // narrow ones divide evenly among workers
		w, at := tensor.DataOf[T](&f.W)
		p := &filter[T]{panels: make([]T, len(w[at:][:g.Then.Groups*g.M*g.K]))}
		for j := 0; j < g.M; j += TileCols(g.M-j, cols, lanes) {
			p.tiles = append(p.tiles, j)
		}
		p.tiles = append(p.tiles, g.M)
		for i := range g.Then.Groups {
			for k0 := 0; k0 < g.K; k0 += GemmK {
				kn := min(GemmK, g.K-k0)
				for t, j := range p.tiles[:len(p.tiles)-1] {
					from := conv.Block{Off: at + (i*g.M+j)*g.K + k0, Rows: kn, Row: 1, Cols: p.tiles[t+1] - j, Col: g.K}
					conv.Pack(p.panels[i*g.M*g.K+k0*g.M+j*kn:], w, from)
				}
			}
		}
		f.packed = p
	})
	return f.packed.(*filter[T])
}

// turned computes a convolution with vectors of channels: rows of outputs times columns of the filter, whose sums are turned.
func (e *Gemm[T]) turned(g *Contraction) {
	const most = 64 << 10 // sums of a piece
	f := filterOf[T](g.Filter, g)
	tiles := len(f.tiles) - 1
	across, steps := 1+g.M*g.N/most, min(max(1, g.K/20), 1<<24)
	if !g.Little(g.Batch*g.M*g.N, steps) {
		across *= exec.Workers(g.Ctx)
	}
	across = min(across, tiles)
	h, d := *g, *e // as in split
	run := func(from, to int) {
		for u := from; u < to; u++ {
			i := u % across
			d.turnedTiles(&h, f, u/across, i*tiles/across, (i+1)*tiles/across)
		}
	}
	if count := g.Batch * across; count == 1 && exec.Goes(g.Ctx) {
		run(0, 1)
	} else {
		exec.Split(g.Name, g.Ctx, count, roundUp(g.M, across)/across*g.N*steps, run)
	}
}

// turnedTiles computes the channels of tiles [t0, t1) of a batch entry.
func (e *Gemm[T]) turnedTiles(g *Contraction, f *filter[T], batch, t0, t1 int) {
	m0, mn := f.tiles[t0], f.tiles[t1]-f.tiles[t0]
	room, extra := g.N*mn, 0
	if e.from != nil {
		extra = e.from.Room(0, g.N)
		room += min(g.K, GemmK) * g.N
	}
	p := PanelsOf((room+extra)*e.Size + 256)
	defer PanelPool.Put(p)
	rest := p.Bytes()
	sums := conv.Carve[T](&rest, g.N*mn)
	var outs []T
	aCol := g.BRow
	var made *blockOfB[T]
	if e.from != nil {
		outs, aCol = conv.Carve[T](&rest, min(g.K, GemmK)*g.N), g.N
		made = madeIn[T](p)
		*made = blockOfB[T]{batch: batch, nn: g.N, scratch: conv.Carve[T](&rest, extra), offs: p.offs[:], halves: made.halves}
	}
	weights := f.panels[batch%g.Then.Groups*g.M*g.K:]
	for k0 := 0; k0 < g.K; k0 += GemmK {
		kn, mode := min(GemmK, g.K-k0), simd.StoreSums
		if k0 > 0 {
			exec.Look(g.Name, g.Ctx)
			mode = simd.AddSums
		}
		a := outs
		if made == nil {
			a = e.B[g.BAt.At(batch)+k0*g.BRow:]
		} else {
			made.k0, made.kn = k0, kn
			e.from.ready(made)
			e.gather(outs, made, 0, g.N)
		}
		for t := t0; t < t1; t++ {
			j, w := f.tiles[t], f.tiles[t+1]-f.tiles[t]
			e.Tiles.Tiles(sums[j-m0:], mn, a, 1, aCol, weights[k0*g.M+j*kn:], w, g.N, w, kn, mode)
		}
	}
	conv.Pack(e.C[g.CAt.At(batch)+m0*g.CRow:], sums, conv.Block{Rows: mn, Row: 1, Cols: g.N, Col: mn})
	if e.after(g) {
		e.finish(g, batch, m0, mn, 0, g.N)
	}
	runtime.KeepAlive(p)
}
