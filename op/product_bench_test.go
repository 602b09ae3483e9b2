package op_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// rate runs f until its best time doesn't say much about the machine's other work, in turns with the probe of fused
// steps. It reports GFLOP/s of the best run and how much of the limit that is.
func rate(b *testing.B, flops int, probe func(n int) int, f func()) {
	f()
	best, limit := 0.0, 0.0
	for b.Loop() {
		if probe != nil {
			from := time.Now()
			steps := probe(10_000)
			limit = max(limit, float64(2*steps)/float64(time.Since(from).Nanoseconds()))
		}
		runs := max(1, 1_000_000/max(1, flops/200)) // some 1 ms
		for range 3 {
			from := time.Now()
			for range runs {
				f()
			}
			best = max(best, float64(flops*runs)/float64(time.Since(from).Nanoseconds()))
		}
	}
	b.ReportMetric(best, "GFLOP/s")
	if limit > 0 {
		b.ReportMetric(100*best/limit, "%peak")
	}
}

func filled[T num.Elem](of func(i int) T, shape ...int) tensor.Tensor[T] {
	t := tensor.New[T](shape...)
	s := t.Elems()
	for i := range s {
		s[i] = of(i)
	}
	return t
}

func small32(i int) float32 { return float32(i*7%13-6) / 8 }
func small64(i int) float64 { return float64(i*7%13-6) / 8 }

func benchmarkMatMul[T num.Float](b *testing.B, name string, of func(int) T, probe func(int) int) {
	for _, s := range [][4]int{{1, 64, 64, 64}, {1, 128, 128, 128}, {1, 256, 256, 256}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 2048, 2048, 2048},
		{1, 1, 4096, 4096}, {1, 4096, 4096, 1}, {1, 128, 4096, 64}, {1, 4096, 16, 4096}, {64, 64, 64, 64}} {
		b.Run(fmt.Sprintf("%s/%dx%dx%dx%d", name, s[0], s[1], s[2], s[3]), func(b *testing.B) {
			x, y, c := filled(of, s[0], s[1], s[2]), filled(of, s[0], s[2], s[3]), tensor.New[T](s[0], s[1], s[3])
			if s[0] == 1 {
				x, y, c = x.Squeeze(0), y.Squeeze(0), c.Squeeze(0)
			}
			rate(b, 2*s[0]*s[1]*s[2]*s[3], probe, func() { op.MatMul(x, y, op.Into(c)) })
		})
	}
}

func BenchmarkMatMul(b *testing.B) {
	var p32, p64 func(int) int
	if p := simd.Product32.Best(); p != nil {
		p32 = p.Probe
	}
	if p := simd.Product64.Best(); p != nil {
		p64 = p.Probe
	}
	benchmarkMatMul(b, "f32", small32, p32)
	benchmarkMatMul(b, "f64", small64, p64)
}

func BenchmarkConv(b *testing.B) {
	var probe func(int) int
	if p := simd.Product32.Best(); p != nil {
		probe = p.Probe
	}
	for _, s := range []struct{ n, c, side, m, kernel, stride int }{
		{1, 64, 56, 64, 3, 1}, {8, 64, 56, 64, 3, 1}, {1, 256, 56, 64, 1, 1}, {1, 3, 224, 64, 7, 2}, {1, 512, 7, 512, 3, 1},
	} {
		b.Run(fmt.Sprintf("%dx%dx%dx%dx%dx%dx%d", s.n, s.c, s.side, s.side, s.m, s.kernel, s.stride), func(b *testing.B) {
			x, w, bias := filled(small32, s.n, s.c, s.side, s.side), filled(small32, s.m, s.c, s.kernel, s.kernel), filled(small32, s.m)
			pad := s.kernel / 2
			win := op.Window{Strides: []int{s.stride, s.stride}, Pads: []int{pad, pad, pad, pad}}
			y := op.Conv(x, w, bias, win, 1)
			rate(b, 2*y.Len()*s.c*s.kernel*s.kernel, probe, func() { op.Conv(x, w, bias, win, 1, op.Into(y)) })
		})
	}
}
