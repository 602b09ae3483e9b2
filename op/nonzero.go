package op

import (
	"context"
	"encoding/binary"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// NonZero returns the coordinates of the elements of a that aren't zero, in
// row-major order: an int64 of shape (rank, how many), one column for each. Both
// zeros of a float are zero, NaN isn't; true isn't. Of rank 0 the result is (0,1)
// or (0,0). ONNX NonZero; numpy.nonzero has the rows one by one.
func NonZero[T num.Elem](a tensor.Tensor[T], opts ...Option) (r tensor.Tensor[int64]) {
	nonzeros(a.Any()).into(exec.Ref(&r), opts)
	return r
}

func nonzeros(a tensor.Any) *transfer {
	present("NonZero", &a)
	if a.IsSpec() {
		panic(unknown("NonZero", 0))
	}
	shape := a.Shape()
	truth := truths(wordsOf(a))
	n := 0
	for _, v := range truth {
		if v {
			n++
		}
	}
	return &transfer{name: "NonZero", d: dtype.Int64, shape: []int{len(shape), n}, fill: func(_ context.Context, dst words, _ []words) {
		c := make([]int, len(shape))
		k := 0
		for _, v := range truth {
			if v {
				for i, x := range c {
					binary.NativeEndian.PutUint64(dst.mem[8*(i*n+k):], uint64(x))
				}
				k++
			}
			for i := len(c) - 1; i >= 0; i-- {
				if c[i]++; c[i] < shape[i] {
					break
				}
				c[i] = 0
			}
		}
	}}
}

// truths returns which elements aren't zero.
func truths(w words) []bool {
	d := w.of.DType()
	if d.IsFloat() && d.IsStored() { // the sign, where there is one, is at another place
		out, v := make([]bool, w.len()), numericOf(w)
		for i := range out {
			out[i] = v.float(i) != 0
		}
		runtime.KeepAlive(w.of)
		return out
	}
	size := w.size
	if d.IsComplex() {
		size /= 2
	}
	mask := ^uint64(0)
	if d.IsFloat() || d.IsComplex() {
		mask = 1<<(8*size-1) - 1 // but for the sign
	}
	part := words{of: w.of, mem: w.mem, size: size}
	out := make([]bool, w.len())
	for i := range out {
		if d.IsComplex() {
			out[i] = (part.bits(2*i)|part.bits(2*i+1))&mask != 0
		} else {
			out[i] = part.bits(i)&mask != 0
		}
	}
	runtime.KeepAlive(w.of)
	return out
}

var nonZero = opN{about: about{name: "NonZero", orion: &orionUint32, onnx: []int{9, 13}}, least: 1,
	move: func(c *Call) *transfer { return nonzeros(c.in(0)) }}
