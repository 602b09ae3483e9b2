package op

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The largest elements by rows equal the largest ones window by window, as the search for places finds them: whatever the window, and where
// padding is all that it sees.
func TestLargestByRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	rows, windows := 0, 150
	if *Long {
		windows = 600
	}
	for range windows {
		rank := 1 + r.IntN(3)
		shape, win := []int{1 + r.IntN(2), 1 + r.IntN(3)}, Window{Ceil: r.IntN(2) == 0}
		long, wide := []int{3000, 120, 8}[rank-1], []int{90, 30, 3}[rank-1]
		if r.IntN(3) == 0 { // many planes, which go side by side
			shape[1], long, wide = 30+r.IntN(300), 1+min(long/10, 30/rank), 1+wide/10
		}
		for range rank {
			k, dil := 1+r.IntN(wide), 1+r.IntN(3)
			shape = append(shape, 1+r.IntN(long))
			win.Kernel, win.Dilations, win.Strides = append(win.Kernel, k), append(win.Dilations, dil), append(win.Strides, 1+r.IntN(5))
		}
		for range 2 {
			for i, k := range win.Kernel {
				win.Pads = append(win.Pads, (k-1)*win.Dilations[i]+r.IntN(3))
			}
		}
		x := random[float32](r, shape...)
		for i := range x.Elems() {
			if r.IntN(20) == 0 {
				x.Elems()[i] = []float32{float32(math.Inf(-1)), float32(math.Inf(1)), float32(math.NaN()), 0, float32(math.Copysign(0, -1))}[r.IntN(5)]
			}
		}
		p := poolOf(exec.Job{Name: "MaxPool", Ctx: context.Background()}, exec.Ref(&x), contract.Window(win))
		if p.byRows(false) {
			rows++
		}
		what := fmt.Sprintf("%v, %+v", shape, win)
		largestBoth(t, what, p, x)
		numbers := tensor.New[float32](shape...)
		for i := range numbers.Elems() {
			numbers.Elems()[i] = float32(r.IntN(256) - 128)
		}
		largestBoth(t, what, p, Cast[int8](numbers))
		largestBoth(t, what, p, Cast[int64](numbers))
	}
	if rows < windows/2 {
		t.Errorf("%d of %d windows go by rows, want more", rows, windows)
	}
}

func largestBoth[T num.Native](t *testing.T, what string, p *pooling, x tensor.Tensor[T]) {
	t.Helper()
	got, want := tensor.New[T](p.shape...), tensor.New[T](p.shape...)
	p.maxima(exec.Ref(&x), exec.Ref(&got), nil)
	p.maxima(exec.Ref(&x), exec.Ref(&want), make([]int64, want.Len()))
	same(t, what, got, want)
}
