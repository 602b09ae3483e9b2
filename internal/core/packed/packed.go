// Package packed multiplies vectors by matrices stored in blocks of codes. It unpacks the codes during the multiplication.
//
// The rule of sums is that of package contract: blocks of 256 in order, each by fused steps in order. So a product has the bits of one
// with the unpacked matrix. The lanes of a kernel are rows of the matrix. A matrix without a kernel is unpacked a few rows at a time,
// which stay in a cache.
//
// Package pack multiplies by tensors of its formats, and package op by the weights of MatMulNBits. The columns of these weights are the
// rows here.
package packed

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// A Matrix has N rows of K elements. A row is whole blocks; the last one may have elements after the end of the row.
type Matrix struct {
	N, K      int
	Len, Size int // elements and bytes of a block; Len divides Step
	Bytes     []byte
	Stride    int                                 // bytes from row to row
	Decode    func(dst []float32, row, block int) // unpacks whole blocks of a row, from a block on
	Kernel    *simd.Packed                        // nil if there is no kernel
	Beside    func(room []float32, row, k int)    // for a kernel that needs it: writes the numbers after the Step turned elements from element k on
}

// Step is the number of elements of a sum in one chain, by the rule of sums.
const Step = simd.PackedStep

// Product sets y[i·N+j] to the sum over l of x[i·K+l] and element l of row j. NaNs are the canonical one. It panics with a
// tensor.Error where ctx, which may be nil, ends.
func Product(ctx context.Context, y, x []float32, m Matrix) {
	if m.N == 0 || m.K == 0 {
		clear(y)
		return
	}
	if m.K%m.Len != 0 {
		m.Kernel = nil
	}
	times, rows := len(y)/m.N, simd.PackedRows
	many := m.Kernel != nil && m.Kernel.Many() && m.N >= simd.PackedMany
	if many {
		rows = simd.PackedMany
	}
	exec.Split("Product", ctx, (m.N+rows-1)/rows, times*rows*max(1, m.K/20), func(from, to int) {
		w := work{Matrix: &m, scratch: scratches.Get().(*scratch), ctx: ctx, y: y, x: x}
		defer scratches.Put(w.scratch)
		for g := from; g < to; g++ {
			last := min((g+1)*rows, m.N)
			for k := 0; k < m.K; k += Step {
				if many && m.K-k >= Step {
					w.part(g*rows, last, simd.PackedMany, k)
					continue
				}
				for first := g * rows; first < last; first += simd.PackedRows {
					w.part(first, min(first+simd.PackedRows, last), simd.PackedRows, k)
				}
			}
		}
	})
	runtime.KeepAlive(m.Bytes)
}

// work is the part of a product that one thread computes.
type work struct {
	*Matrix
	*scratch
	ctx  context.Context
	y, x []float32
}

type scratch struct {
	sums simd.PackedSums
	room simd.PackedRoom // or elements of PackedRows rows
}

// The kernels are variables, so their arguments would be allocated for each call. A pool keeps them.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// part adds the products with up to Step elements from element k on, for the rows from first to last. The kernel takes rows rows.
func (w *work) part(first, last, rows, k int) {
	out, n, length := first, last-first, min(Step, w.K-k)
	dot := w.Kernel != nil && w.Kernel.Few() && w.N >= rows
	if rows == simd.PackedMany || dot {
		first, n = min(first, w.N-rows), rows // some rows are computed again
	}
	at := k / w.Len * w.Size
	b := w.Bytes[first*w.Stride+at:]
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	switch {
	case rows == simd.PackedMany:
		columns := w.Kernel.Columns()
		w.Kernel.Turn(w.room[:], b, w.Stride, columns)
		if w.Beside != nil {
			w.Beside(w.room[4*columns*rows:], first, k)
		}
	case !dot:
		for i := range n {
			w.Decode(w.room[i*Step:][:(length+w.Len-1)/w.Len*w.Len], first+i, k/w.Len)
		}
	}
	for i := range len(w.y) / w.N {
		exec.Look("Product", w.ctx)
		x, y, sums := w.x[i*w.K+k:][:length], w.y[i*w.N+out:][:last-out], w.sums[:n]
		clear(sums)
		switch {
		case rows == simd.PackedMany:
			next := start + uintptr(w.Size*Step/w.Len) // the next bytes of these rows, or of the rows after them
			if k+2*Step > w.K {
				next = start + uintptr(rows*w.Stride-at)
			}
			w.Kernel.Dots(&w.sums, x, &w.room, next, w.Stride)
		case dot:
			// The next rows lie after these. With each part of these, the same part of the next ones is prefetched.
			w.Kernel.Dot(&w.sums, x, b, w.Stride, start+uintptr(rows*w.Stride+(rows-1)*at))
		default:
			w.unpacked(sums, x)
		}
		add(y, sums[out-first:], k == 0)
		if k+length == w.K {
			canonical(y)
		}
	}
}

func add(y, sums []float32, first bool) {
	if first {
		copy(y, sums)
		return
	}
	y = y[:len(sums)]
	for i, v := range sums {
		y[i] += v
	}
}

func canonical(y []float32) {
	for i, v := range y {
		if v != v {
			y[i] = num.NaN32()
		}
	}
}

// unpacked adds the products of x and the elements in room.
func (w *work) unpacked(sums, x []float32) {
	if dots := simd.Product32.Best(); dots != nil && len(sums) == simd.PackedRows {
		_, lanes := dots.Columns()
		done := len(x) / lanes * lanes
		for i := 0; i < len(sums); i += lanes {
			dots.Dots(sums[i:i+lanes], w.room[i*Step:], Step, x[:done])
		}
		for i := range sums {
			for l := done; l < len(x); l++ {
				sums[i] = float.FMA32(x[l], w.room[i*Step+l], sums[i])
			}
		}
		return
	}
	float.FMABlock32(sums, 1, w.room[:], Step, 1, x, 1, len(sums), 1, len(x))
}
