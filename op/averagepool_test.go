package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// Means by lines have the bits of means of single windows, whatever the window and the plane.
func TestMeansByRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 400 {
		rank := 1 + r.IntN(3)
		shape, win := []int{1 + r.IntN(2), 1 + r.IntN(3)}, Window{Ceil: r.IntN(2) == 0}
		long, kernel := []int{3000, 40, 6}[rank-1], []int{9, 4, 2}[rank-1]
		if r.IntN(3) == 0 { // many planes, which go side by side
			shape[1], long, kernel = 4+r.IntN(400), min(1+long/10, 30/rank), kernel+4
		}
		for range rank {
			k, dil := 1+r.IntN(kernel), 1+r.IntN(3)
			shape = append(shape, (k-1)*dil+1+r.IntN(long))
			win.Kernel, win.Dilations, win.Strides = append(win.Kernel, k), append(win.Dilations, dil), append(win.Strides, 1+r.IntN(4))
		}
		for range 2 {
			for _, k := range win.Kernel {
				win.Pads = append(win.Pads, r.IntN(k+1))
			}
		}
		x := random[float32](r, shape...)
		p := poolOf(exec.Job{Name: "AveragePool"}, exec.Ref(&x), contract.Window(win))
		for _, pad := range []bool{false, true} {
			got, want := tensor.New[float32](p.shape...), tensor.New[float32](p.shape...)
			meansByRows(p, x.Elems(), pad, got.Elems(), conv.Canon32)
			means(p, x.Elems(), pad, func(o int, v float64) { want.Elems()[o] = float32(v) })
			for i, v := range want.Elems() {
				if g := got.Elems()[i]; math.Float32bits(g) != math.Float32bits(v) && (g == g || v == v) {
					t.Fatalf("%v, %+v, %v: output %d is %v, want %v", shape, win, pad, i, g, v)
				}
			}
		}
		wide := random[float64](r, shape...)
		got, want := tensor.New[float64](p.shape...), tensor.New[float64](p.shape...)
		meansByRows(p, wide.Elems(), false, got.Elems(), conv.Canon64)
		means(p, wide.Elems(), false, func(o int, v float64) { want.Elems()[o] = v })
		canonicalAll(got.Elems())
		canonicalAll(want.Elems())
		same(t, fmt.Sprintf("%v, %+v", shape, win), got, want)
	}
}

// TestMeansOfLongSteps takes a stride that is much longer than the operand: it costs no memory.
func TestMeansOfLongSteps(t *testing.T) {
	const long = 1 << 24
	x := tensor.Full[float32](3, 1, 1, 8, 9)
	for _, strides := range [][]int{{1, long}, {long, 1}, {long, long}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := AveragePool(x, Window{Kernel: []int{3, 3}, Strides: strides}, AveragePoolOptions{})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("strides %v: it took %d bytes", strides, took)
		}
		for v := range r.Values() {
			if v != 3 {
				t.Errorf("strides %v: a mean of 3s is %v", strides, v)
			}
		}
	}
}
