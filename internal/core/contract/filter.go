package contract

import (
	"sync"
	"weak"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Filter keeps the weights of a direct convolution, or of a product of few rows, packed.
type Filter struct {
	W      tensor.Any // contiguous
	lock   sync.Mutex
	packed any         // the panels that the first call made
	buffer *mem.Buffer // that it is in
}

// pack returns the packed weights. The first call makes them, or the one after a call that failed.
func (f *Filter) pack(first func() any) any {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.packed == nil {
		f.packed = first()
	}
	return f.packed
}

// Of reports whether w is the weights of the filter.
func (f *Filter) Of(w *tensor.Any) bool {
	a, ok := tensor.Bytes(f.W)
	b, fine := tensor.Bytes(*w)
	return ok && fine && len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// filter is the weights by group, and in a group by tiles of channels, whose rows are k.
type filter[T num.Native] struct {
	panels []T
	tiles  []int // the channel of a group with which each tile begins, and how many there are
	deep   bool  // the panels are rows of channels
}

// filterOf returns the packed weights of a convolution's groups. It returns nil if the first call packed them for the other of Deep and Direct: which
// of them computes a depthwise convolution depends on the shape of the input and on how it lies.
func filterOf[T num.Native](f *Filter, groups, channels, k int, deep bool) *filter[T] {
	p := f.pack(func() any {
		w, at := reach.DataOf[T](&f.W)
		return packed(exec.Job{}, keptRoom[T](f, groups*channels*k), w[at:], groups, channels, k, deep)
	}).(*filter[T])
	if p.deep != deep {
		return nil
	}
	return p
}

// packed returns weights, packed into room. Those of a depthwise convolution become rows of channels, of one group.
func packed[T num.Native](j exec.Job, room, w []T, groups, channels, k int, deep bool) *filter[T] {
	_, lanes := TilesOf[T]().Columns()
	cols := min(TilesOf[T]().(tapper[T]).TapColumns(), max(directPanel, lanes))
	if deep {
		cols = deepTile
	}
	p := &filter[T]{panels: room, deep: deep}
	for c := 0; c < channels; c += TileCols(channels-c, cols, lanes) {
		p.tiles = append(p.tiles, c)
	}
	many := len(p.tiles)
	p.tiles = append(p.tiles, channels)
	if deep {
		conv.Pack(room, w[:channels*k], conv.Block{Rows: k, Row: 1, Cols: channels, Col: k})
		return p
	}
	exec.Split(j.Name, j.Ctx, groups*many, min(cols*k, 1<<24), func(from, to int) {
		for u := from; u < to; u++ {
			i, c := u/many*channels, p.tiles[u%many]
			conv.Pack(room[(i+c)*k:], w, conv.Block{Off: (i + c) * k, Rows: k, Row: 1, Cols: p.tiles[u%many+1] - c, Col: k})
		}
	})
	return p
}

// rooms gives filters memory in pages of 2 MiB where there are such: a run reads all of them, more than a processor's TLB holds in small pages.
// Small filters share a Buffer. The collector gives it back with the last of them.
var rooms struct {
	sync.Mutex
	buffer weak.Pointer[mem.Buffer] // filters hold it
	rest   []byte                   // of it
}

// keptRoom returns room for n elements of a filter.
func keptRoom[T num.Native](f *Filter, n int) []T {
	const shared = 4 << 20
	size := (n*dtype.Of[T]().Size() + 63) &^ 63
	rooms.Lock()
	defer rooms.Unlock()
	buffer := rooms.buffer.Value()
	if size > shared/2 || buffer == nil || size > len(rooms.rest) {
		room := shared
		if size > shared/2 {
			room = size
		}
		b, err := mem.AllocDirty(room)
		if err != nil {
			return make([]T, n)
		}
		rest := b.Bytes()
		if f.buffer = b; size > shared/2 {
			return conv.Carve[T](&rest, n)
		}
		buffer, rooms.buffer, rooms.rest = b, weak.Make(b), rest
	}
	f.buffer = buffer
	return conv.Carve[T](&rooms.rest, n)
}
