package op_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A result that is so large that its stores are non-temporal is that of its parts, whose stores aren't: apart from the operands,
// in the place of one, of another element size, in one pass, by lines and of operands that are stretched.
func TestLargeResults(t *testing.T) {
	const rows, cols, part = 4133, 4100, 61 // neither whole vectors nor whole blocks
	r := rand.New(rand.NewPCG(3, 4))
	few := make([]float32, 1<<16+11)
	for i := range few {
		switch few[i] = float32(r.NormFloat64() * 3); r.IntN(1000) {
		case 0:
			few[i] = float32(math.Inf(1 - 2*r.IntN(2)))
		case 1:
			few[i] = float32(math.NaN())
		}
	}
	made := func(from int) tensor.Tensor[float32] {
		x := tensor.Empty[float32](rows, cols)
		data, off := tensor.Mutable(x)
		for i := off; i < len(data); {
			i += copy(data[i:], few[from%len(few):])
			from = 0
		}
		return x
	}
	a, b := made(5), made(777)
	mask, row := op.Greater(a, b), made(99).Slice(tensor.I(0))
	bf := op.Cast[num.BF16](a)

	largeIs(t, "Add", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Add(a.Slice(i), b.Slice(i), o...)
	})
	largeIs(t, "AddRow", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Add(a.Slice(i), row, o...) })
	largeIs(t, "Greater", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[bool] {
		return op.Greater(a.Slice(i), b.Slice(i), o...)
	})
	largeIs(t, "Where", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Where(mask.Slice(i), a.Slice(i), b.Slice(i), o...)
	})
	largeIs(t, "Clip", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Clip(a.Slice(i), -1, 1, o...) })
	largeIs(t, "Exp", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Exp(a.Slice(i), o...) })
	largeIs(t, "Tanh", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Tanh(a.Slice(i), o...) })
	largeIs(t, "Gelu", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Gelu(a.Slice(i), o...) })
	largeIs(t, "Cast to bfloat16", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[num.BF16] {
		return op.Cast[num.BF16](a.Slice(i), o...)
	})
	largeIs(t, "Cast from bfloat16", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Cast[float32](bf.Slice(i), o...)
	})
	largeIs(t, "Cast to float64", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float64] { return op.Cast[float64](a.Slice(i), o...) })
	largeIs(t, "Sqrt of bfloat16", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[num.BF16] { return op.Sqrt(bf.Slice(i), o...) })
	largeIs(t, "Softmax", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.Softmax(a.Slice(i), 1, o...) })
	largeIs(t, "LogSoftmax", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] { return op.LogSoftmax(a.Slice(i), 1, o...) })
	largeIs(t, "Fuse of a product and a sum", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Fuse(op.Add(op.Mul(op.Lazy(a.Slice(i)), b.Slice(i)), row), o...)
	})
	largeIs(t, "Fuse", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Fuse(op.Tanh(op.Add(op.Mul(op.Lazy(a.Slice(i)), b.Slice(i)), row)), o...)
	})

	at := tensor.RandomIntegers[int64](1, 0, rows, rows)
	largeIs(t, "Gather", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Gather(a, at.Slice(i), 0, o...)
	})
	largeIs(t, "GatherND", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.GatherND(a, at.Slice(i).Reshape(-1, 1), 0, o...)
	})
	largeIs(t, "Concat", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Concat([]tensor.Tensor[float32]{a.Slice(i), b.Slice(i, tensor.R(1, 2000)), b.Slice(i)}, 1, o...)
	})
	largeIs(t, "Pad", rows, part, func(i tensor.Index, o ...op.Option) tensor.Tensor[float32] {
		return op.Pad(a.Slice(i), []int{0, 3}, []int{0, 40}, op.PadConstant, 1, o...)
	})

	want := op.Sub(a, b)
	op.Sub(a, b, op.Into(a))
	if err := sameBits(a, want); err != nil {
		t.Errorf("in place: %v", err)
	}
}

// largeIs compares f on all of some rows with f on a few of them at a time. The results on all are one in pages of its own and one that
// begins in the midst of a line of the cache.
func largeIs[T num.Elem](t *testing.T, name string, rows, part int, f func(i tensor.Index, opts ...op.Option) tensor.Tensor[T]) {
	t.Helper()
	var z T
	cols := f(tensor.R(0, 1)).Shape()[1]
	rows = min(rows, conv.Large/(cols*int(unsafe.Sizeof(z)))+part) // which are more than Large bytes
	got := f(tensor.R(0, rows))
	shifted := tensor.Empty[T](rows*cols+1).Slice(tensor.R(1, rows*cols+1)).Reshape(rows, cols)
	f(tensor.R(0, rows), op.Into(shifted))
	for i := 0; i < rows; i += part {
		some := tensor.R(i, min(i+part, rows))
		want := f(some)
		for _, x := range []tensor.Tensor[T]{got, shifted} {
			if err := sameBits(x.Slice(some), want); err != nil {
				t.Errorf("%s, rows from %d on: %v", name, i, err)
				return
			}
		}
	}
}

func sameBits[T num.Elem](got, want tensor.Tensor[T]) error {
	x, i := got.Data()
	y, j := want.Data()
	n := want.Len()
	p, q := conv.Memory(x[i:i+n]), conv.Memory(y[j:j+n])
	if bytes.Equal(p, q) {
		return nil
	}
	k := 0
	for p[k] == q[k] {
		k++
	}
	k /= len(p) / n
	return fmt.Errorf("element %d is %v, want %v", k, x[i+k], y[j+k])
}
