// Package packed multiplies vectors by matrices whose elements stand in blocks of codes, which are unpacked while they are multiplied.
//
// The rule of sums is that of package contract: blocks of 256 in order, each by fused steps in order. So a product has the bits of one
// with the unpacked matrix. The lanes of a kernel are rows of the matrix. A matrix without a kernel is
// unpacked a few rows at a time, which stay in a cache.
//
// Package pack multiplies by tensors of its formats. MatMulNBits of package op can use this room: its columns are the rows here, its
// bytes are Bytes, and its unpacking is Decode. A kernel for it belongs to internal/core/simd/_asm/packed.go. The two codes of a byte
// are neighbours there, and an element is (q − zero)·scale, rounded once.
package packed

import (
	"context"
	"runtime"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// A Matrix has N rows of K elements. A row is whole blocks, of which the last may have more elements than the row.
type Matrix struct {
	N, K      int
	Len, Size int // elements and bytes of a block; Len divides Step
	Bytes     []byte
	Stride    int                           // bytes from row to row
	Decode    func(dst []float32, b []byte) // whole blocks
	Kernel    *simd.Packed                  // nil: there is none
}

// Step is how many elements of a sum are one chain: the rule of sums.
const Step = 256

const rows = simd.PackedRows

// Product sets y[i·N+j] to the sum over l of x[i·K+l] and element l of row j. NaNs are the canonical one. It panics with a
// tensor.Error where ctx, which may be nil, ends.
func Product(ctx context.Context, y, x []float32, m Matrix) {
	if m.N == 0 || m.K == 0 {
		clear(y)
		return
	}
	times := len(y) / m.N
	exec.Split("Product", ctx, (m.N+rows-1)/rows, times*rows*max(1, m.K/20), func(from, to int) {
		var w work
		for g := from; g < to; g++ {
			first := g * rows
			if first > m.N-rows && m.N >= rows && m.Kernel != nil { // some rows again
				first = m.N - rows
			}
			n := min(rows, m.N-first)
			for i := range times {
				exec.Look("Product", ctx)
				w.rows(y[i*m.N+first:][:n], x[i*m.K:][:m.K], &m, first)
			}
		}
	})
	runtime.KeepAlive(m.Bytes)
}

// work is the scratch of a thread.
type work struct {
	sums  simd.PackedSums
	panel [rows * Step]float32
}

// rows computes up to 16 sums, of the rows from number first on.
func (w *work) rows(y, x []float32, m *Matrix, first int) {
	b := m.Bytes[first*m.Stride:]
	if m.Kernel == nil || len(y) < rows || m.K%m.Len != 0 {
		w.unpacked(y, x, m, b)
		return
	}
	// The rows that come next lie behind these. A part of them is fetched with each part of these.
	next := uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(rows*m.Stride)
	for k := 0; k < m.K; k += Step {
		part, from := x[k:min(k+Step, m.K)], k/m.Len*m.Size
		clear(w.sums[:rows])
		m.Kernel.Dot(&w.sums, part, b[from:], m.Stride, next+uintptr(rows*from))
		w.add(y, k)
	}
	canonical(y)
}

// add adds the sums of a part to y.
func (w *work) add(y []float32, k int) {
	if k == 0 {
		copy(y, w.sums[:rows])
		return
	}
	for i := range y {
		y[i] += w.sums[i]
	}
}

// unpacked is rows for a matrix without a kernel, a part of whose rows it unpacks.
func (w *work) unpacked(y, x []float32, m *Matrix, b []byte) {
	dots := simd.Product32.Best()
	lanes := 0
	if dots != nil {
		_, lanes = dots.Columns()
	}
	for k := 0; k < m.K; k += Step {
		part, from := x[k:min(k+Step, m.K)], k/m.Len*m.Size
		blocks := (len(part) + m.Len - 1) / m.Len
		for i := range y {
			m.Decode(w.panel[i*Step:][:blocks*m.Len], b[i*m.Stride+from:][:blocks*m.Size])
		}
		clear(w.sums[:rows])
		done := 0
		if lanes > 0 && len(y) == rows {
			done = len(part) / lanes * lanes
			for i := 0; i < rows; i += lanes {
				dots.Dots(w.sums[i:i+lanes], w.panel[i*Step:], Step, part[:done])
			}
		} else {
			num.FMABlock32(w.sums[:], 1, w.panel[:], Step, 1, part, 1, len(y), 1, len(part))
			done = len(part)
		}
		for i := range y {
			for l := done; l < len(part); l++ {
				w.sums[i] = num.FMA32(part[l], w.panel[i*Step+l], w.sums[i])
			}
		}
		w.add(y, k)
	}
	canonical(y)
}

func canonical(y []float32) {
	for i, v := range y {
		if v != v {
			y[i] = num.NaN32()
		}
	}
}
