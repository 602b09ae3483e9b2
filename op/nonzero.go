package op

import (
	"context"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/order"
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
	n := conv.True(truth)
	return &transfer{name: "NonZero", d: dtype.Int64, shape: []int{len(shape), n}, fill: func(_ context.Context, dst words, _ []words) {
		if len(shape) == 0 || n == 0 {
			return
		}
		last, k := len(shape)-1, 0
		rows := order.Positions(dst.mem)
		for r := range elements(shape[:last]) { // the runs of the last axis
			m := conv.Places(rows[last*n+k:], truth[r*shape[last]:(r+1)*shape[last]], 0)
			for i, rest := last-1, r; i >= 0; i-- {
				conv.Fill(rows[i*n+k:i*n+k+m], int64(rest%shape[i]))
				rest /= shape[i]
			}
			k += m
		}
	}}
}

// truths returns which elements aren't zero: 1 for those. Of bools it is these themselves.
func truths(w words) []byte {
	d := w.of.DType()
	if d == dtype.Bool {
		return w.mem
	}
	out := make([]byte, w.len())
	if d.IsFloat() && d.IsStored() { // the sign, where there is one, is at another place
		v := numericOf(w)
		for i := range out {
			if v.float(i) != 0 {
				out[i] = 1
			}
		}
	} else {
		conv.Nonzero(out, w.mem, w.size, d.IsFloat() || d.IsComplex(), d.IsComplex())
	}
	runtime.KeepAlive(w.of)
	return out
}

var nonZero = opN{about: about{name: "NonZero", orion: &orionUint32, onnx: []int{9, 13}}, least: 1,
	move: func(c *Call) *transfer { return nonzeros(c.in(0)) }}
