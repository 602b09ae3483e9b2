//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
)

// Streams begin where spans of memory end, the last span's serving for those that are missing.
func TestPrefetch(t *testing.T) {
	run := make([]byte, 100)
	var p Prefetch
	if p.After(); p != (Prefetch{}) {
		t.Errorf("after nothing: %v", p)
	}
	p.After(run[:40], run[40:70])
	for i, want := range []int{40, 70, 70, 70} {
		if got := p[i] - uintptr(unsafe.Pointer(&run[0])); got != uintptr(want) {
			t.Errorf("stream %d is %d bytes from the first, want %d", i, got, want)
		}
	}
}

// Beside the exponentials of a line are the results of the line before, which compare looks at, and the largest of the next.
func TestBeside(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		var mem [2]guarded
		for i := range mem {
			mem[i] = guard(t, 4096)
		}
		inf := float32(math.Inf(1))
		rnd := rand.New(rand.NewPCG(10, 11))
		for _, p := range [][3]float32{{1.25, 3, 7}, {0, 0x1p-140, -2}, {-inf, -1e30, inf}, {2, float32(math.NaN()), 0}} {
			all := func(a []float32, call func(e []float32, most *[32]float32, next []float32)) {
				n := len(a)
				e, next := elements[float32](mem[0], n, 4*(n%16)), elements[float32](mem[1], n, 4*(n%7))
				fill(rnd, next)
				wants, peak, most := make([]float32, n), -inf, [32]float32{}
				for i := range a {
					wants[i] = float.Exp32(a[i] - p[0])
					if next[i] > peak {
						peak = next[i]
					}
				}
				for i := range most {
					most[i] = -inf
				}
				call(e, &most, next)
				for i := range e {
					if bits(e[i]) != bits(wants[i]) {
						t.Fatalf("e %d of %d: got %v, want %v", i, n, e[i], wants[i])
					}
				}
				if got := slices.Max(most[:]); got != peak {
					t.Fatalf("the largest of %v: got %v, want %v", next, got, peak)
				}
			}
			check2(t, "softmax32", func(dst, a, b []float32) {
				for i := range b {
					b[i] = canonical(b[i])
				}
				all(a, func(e []float32, most *[32]float32, next []float32) {
					at(l, softmax32s)(e, a, p[0], dst, b, p[1], most, next, ahead != nil)
				})
			}, func(_, b float32) float32 { return canonical(b / p[1]) })
			check2(t, "logSoftmax32", func(dst, a, b []float32) {
				all(a, func(e []float32, most *[32]float32, next []float32) {
					at(l, logSoftmax32s)(e, a, p[0], dst, b, p[1], p[2], most, next, ahead != nil)
				})
			}, func(_, b float32) float32 { return canonical(b - p[1] - p[2]) })
		}
	})
}

// BenchmarkStream runs rows of 16M elements in pages of 2 MiB, by usual and by non-temporal stores.
func BenchmarkStream(b *testing.B) {
	const n = 16 << 20
	huge := func() []float32 {
		const page = 2 << 20
		m, err := syscall.Mmap(-1, 0, 4*n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = syscall.Munmap(m) })
		m = m[-uintptr(unsafe.Pointer(&m[0]))%page:]
		_ = syscall.Madvise(m[:4*n], syscall.MADV_HUGEPAGE)
		return unsafe.Slice((*float32)(unsafe.Pointer(&m[0])), n)
	}
	dst, x, y := huge(), huge(), huge()
	for i := range x {
		x[i], y[i] = float32(i%7), float32(i%5)
	}
	bools := unsafe.Slice((*bool)(unsafe.Pointer(&dst[0])), n)
	words := unsafe.Slice((*uint16)(unsafe.Pointer(&dst[0])), n)
	l := min(cpu.Detect(), Top)
	for _, c := range []struct {
		name   string
		bytes  int64
		usual  func()
		stream func()
	}{
		{"add", 12, func() { Add[l].F32(dst, x, y) }, func() { Add[l].Stream.F32(erase(dst), erase(x), erase(y), nil, new(Prefetch)) }},
		{"relu", 8, func() { Relu[l].F32(dst, x) }, func() { Relu[l].Stream.F32(erase(dst), erase(x), nil, nil, new(Prefetch)) }},
		{"greater", 9, func() { Greater[l].F32(bools, x, y) }, func() { Greater[l].Stream.F32(erase(bools), erase(x), erase(y), nil, new(Prefetch)) }},
		{"bfloat16", 6, func() { at(l, narrowBF16s)(words, x, false) }, func() { at(l, narrowBF16s)(words, x, true) }},
		{"exp", 8, func() { Exp[l].F32(dst, x) }, func() { Exp[l].Stream.F32(erase(dst), erase(x), nil, nil, new(Prefetch)) }},
		{"tanh", 8, func() { Tanh[l].F32(dst, x) }, func() { Tanh[l].Stream.F32(erase(dst), erase(x), nil, nil, new(Prefetch)) }},
	} {
		for _, f := range []struct {
			name string
			call func()
		}{{"usual", c.usual}, {"stream", c.stream}} {
			b.Run(c.name+"/"+f.name, func(b *testing.B) {
				b.SetBytes(c.bytes * n)
				for b.Loop() {
					f.call()
				}
			})
		}
	}
}
