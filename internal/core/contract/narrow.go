package contract

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/tensor"
)

// A narrowSide is an operand of narrow floats, widened a part at a time just before it is multiplied.
type narrowSide struct {
	data  exec.Run
	d     dtype.DType
	widen exec.Row1
}

// narrowOf returns the elements of a, and has entries count from the beginning of its storage.
func narrowOf(a *tensor.Any, at *Entries) *narrowSide {
	data, origin := exec.Storage(a)
	at.Origin += origin
	return &narrowSide{data, a.DType(), cast.WidenOf(a.DType())}
}

// Widens reports whether a product of m rows, n columns and a right side of narrow floats takes it as it lies: with one stride of 1 in its
// matrices. A single sum takes float32 alone.
func Widens(m, n int, b *tensor.Any) bool {
	lay := b.LayoutRef()
	if !walk.Ref(lay).Flat() || m*n == 1 {
		return false
	}
	for i := max(0, walk.Ref(lay).Rank()-2); i < walk.Ref(lay).Rank(); i++ {
		if s, _ := walk.Ref(lay).Stride(i); s == 1 {
			return true
		}
	}
	return false
}

// rows sets dst, whose rows are pitch apart, to rows of n adjacent elements, the first of which is at. They are step apart.
func (s *narrowSide) rows(dst exec.Run, pitch, at, step, rows, n int) {
	for i := range rows {
		s.widen(exec.Part(dst, dtype.Float32, i*pitch, n), exec.Part(s.data, s.d, at+i*step, n))
	}
}

// pack sets dst to a block, whose columns are runs, row by row. room is for as many elements.
func (s *narrowSide) pack(dst exec.Run, room []uint16, b conv.Block) {
	n := b.Rows * b.Cols
	if s.d.Size() == 2 {
		conv.Pack(room[:n], exec.Of[uint16](s.data), b)
		s.widen(dst[:n], exec.RunOf(room[:n]))
		return
	}
	short := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(room))), n)
	conv.Pack(short, exec.Of[uint8](s.data), b)
	s.widen(dst[:n], exec.RunOf(short))
}

// packColumns packs a block of b, whose columns are runs, into panels as wide as a tile. room is for one of them, of narrow floats.
func (e *Gemm[T]) packColumns(dst []T, room []uint16, b conv.Block) {
	cols, lanes := e.Tiles.Columns()
	for j, w := 0, 0; j < b.Cols; j += w {
		w = TileCols(b.Cols-j, cols, lanes)
		part := b
		part.Off, part.Cols = b.Off+j*b.Col, w
		e.turn(dst[j*b.Rows:], room, part)
	}
}

// turn packs a block of b, whose columns are runs, row by row.
func (e *Gemm[T]) turn(dst []T, room []uint16, b conv.Block) {
	if e.narrow != nil {
		e.narrow.pack(exec.RunOf(dst), room, b)
	} else {
		conv.Pack(dst, e.B, b)
	}
}
