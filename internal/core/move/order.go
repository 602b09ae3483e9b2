package move

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// The order of max, min, argmax and the pools: NaN above everything for the
// largest, −0 < +0.

// Greater reports whether v comes before best as the largest.
func Greater[T num.Integer](v, best T) bool { return v > best }

// GreaterFloat is Greater for floats.
func GreaterFloat[T num.Float](v, best T) bool {
	switch {
	case best != best:
		return false
	case v != v, v > best:
		return true
	}
	return v == 0 && best == 0 && !math.Signbit(float64(v)) && math.Signbit(float64(best))
}

// Less reports whether v comes before best as the smallest.
func Less[T num.Integer](v, best T) bool { return v < best }

// LessFloat is Less for floats.
func LessFloat[T num.Float](v, best T) bool {
	switch {
	case best != best:
		return false
	case v != v, v < best:
		return true
	}
	return v == 0 && best == 0 && math.Signbit(float64(v)) && !math.Signbit(float64(best))
}

// GreaterFixed and LessFixed are for fixed point.
func GreaterFixed[T num.Fixed](v, best T) bool { return fixed.Compare(v, best) > 0 }
func LessFixed[T num.Fixed](v, best T) bool    { return fixed.Compare(v, best) < 0 }

// EndsOf returns −∞ and +∞, or the smallest and the largest value of a type without them.
func EndsOf(d dtype.DType) (lo, hi exec.Word) {
	if f := d.Format(); f != 0 {
		least, most := f.Ends()
		if d.Size() == 1 {
			return exec.WordOf(uint8(least)), exec.WordOf(uint8(most))
		}
		return exec.WordOf(least), exec.WordOf(most)
	}
	switch d {
	case dtype.Bool:
		return exec.WordOf(false), exec.WordOf(true)
	case dtype.Int8:
		return exec.WordOf[int8](math.MinInt8), exec.WordOf[int8](math.MaxInt8)
	case dtype.Int16:
		return exec.WordOf[int16](math.MinInt16), exec.WordOf[int16](math.MaxInt16)
	case dtype.Int32, dtype.FP8x23, dtype.FP16x16:
		return exec.WordOf[int32](math.MinInt32), exec.WordOf[int32](math.MaxInt32)
	case dtype.Int64, dtype.FP32x32:
		return exec.WordOf[int64](math.MinInt64), exec.WordOf[int64](math.MaxInt64)
	case dtype.Uint8:
		return exec.WordOf[uint8](0), exec.WordOf[uint8](math.MaxUint8)
	case dtype.Uint16:
		return exec.WordOf[uint16](0), exec.WordOf[uint16](math.MaxUint16)
	case dtype.Uint32:
		return exec.WordOf[uint32](0), exec.WordOf[uint32](math.MaxUint32)
	case dtype.Uint64:
		return exec.WordOf[uint64](0), exec.WordOf[uint64](math.MaxUint64)
	case dtype.Float32:
		return exec.WordOf(float32(math.Inf(-1))), exec.WordOf(float32(math.Inf(1)))
	case dtype.Float64:
		return exec.WordOf(math.Inf(-1)), exec.WordOf(math.Inf(1))
	}
	return exec.WordOf(fixed.FP64x64FromBits(fixed.Int128{Hi: math.MinInt64})), exec.WordOf(fixed.FP64x64FromBits(fixed.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}))
}

// Highest returns the second result of EndsOf.
func Highest[T num.Elem]() T {
	_, v := EndsOf(dtype.Of[T]())
	return exec.Number[T](&v)
}

// The order of Sort, ArgSort, TopK and Unique: NaN above everything, zeros equal.

// FormOf returns the order of elements of a real type of at most 8 bytes.
func FormOf(d dtype.DType) *order.Form {
	f := &order.Form{Size: d.Size(), Signed: d.IsSigned()}
	if d.IsFloat() {
		f.Largest = Largest(d)
	}
	return f
}

// sideLines is the number of neighbouring lines that are laid out in memory at a time, one after
// the other.
const sideLines = 16

// ByLines lays out the lines of n elements of src, after apart, one after the other in memory,
// calls a function for each, and gives each outs elements of dst. worker makes that function.
// Its room has numbers numbers of size bytes for each element.
func ByLines(name string, ctx context.Context, dst, src Words, before, n, after, outs, numbers, size int, worker func(room []byte) func(to, line []byte)) {
	strips := (after + sideLines - 1) / sideLines // of lines side by side
	exec.Split(name, ctx, before*strips, 4*n*min(after, sideLines)*bits.Len(uint(n)), func(from, till int) {
		in, out := n*src.Size, outs*dst.Size // bytes of a line
		need := (plan.Fits(name, n, numbers*size)*numbers*size + 64*numbers + 63) &^ 63
		wide, begin, end := 0, need, need // lines of src, and then of dst, laid out one after the other
		if after > 1 {
			wide = plan.Fits(name, min(after, sideLines), in+out)
			begin = need + (wide*in+63)&^63
			end = begin + wide*out
		}
		room, done := sideRoom(name, end)
		defer done()
		work := worker(room[:need])
		if after == 1 {
			for l := from; l < till; l++ {
				work(dst.Mem[l*out:(l+1)*out], src.Mem[l*in:(l+1)*in])
			}
			return
		}
		lines, tos := room[need:begin], room[begin:]
		for s := from; s < till; s++ {
			i, x := s/strips, s%strips*sideLines
			w := min(sideLines, after-x)
			exec.CopyBlock(lines, src.Mem, conv.Block{Rows: n, Row: 1, Cols: w, Col: n}, conv.Block{Off: i*n*after + x, Rows: n, Row: after, Cols: w, Col: 1}, src.Of.DType())
			for l := range w {
				work(tos[l*out:(l+1)*out], lines[l*in:(l+1)*in])
			}
			exec.CopyBlock(dst.Mem, tos, conv.Block{Off: i*outs*after + x, Rows: outs, Row: after, Cols: w, Col: 1}, conv.Block{Rows: outs, Row: 1, Cols: w, Col: outs}, dst.Of.DType())
		}
	})
}

var sideRooms sync.Pool // of *[]byte of at most mostScratch bytes

// sideRoom returns n bytes, which may hold anything, and a function that gives them back.
func sideRoom(name string, n int) (room []byte, done func()) {
	if n > plan.MostScratch {
		b, err := mem.AllocDirty(n)
		if err != nil {
			panic(plan.Fail(name, tensor.ErrMemory, "it needs room for %d bytes: %v", n, err))
		}
		return b.Bytes(), func() { b.Close() }
	}
	p, _ := sideRooms.Get().(*[]byte)
	if p == nil || len(*p) < n {
		b := make([]byte, n)
		p = &b
	}
	return (*p)[:n], func() { sideRooms.Put(p) }
}
