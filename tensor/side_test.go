package tensor_test

import (
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// Each pair is a call and the call it is measured against, in one run:
//
//	go test ./tensor -run '^$' -bench Side -count 5

//go:noinline
func handle(t tensor.Tensor[float32]) tensor.Tensor[float32] { return t }

func BenchmarkSideView(b *testing.B) {
	x := tensor.Arange[float32](0, 360, 1).View(3, 4, 5, 6)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"handle", func() { y = handle(x) }},
		{"slice", func() { y = x.Slice(tensor.I(1), tensor.R(1, 3), tensor.Colon, tensor.R(0, 6, 2)) }},
		{"permute", func() { y = x.Permute(3, 1, 2, 0) }},
		{"reshape", func() { y = x.Reshape(12, 30) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// at and set are a checked element of a matrix in a slice.
//
//go:noinline
func at(d []float32, s0, s1, i, j int) float32 { return d[i*s0+j*s1] }

//go:noinline
func set(d []float32, s0, s1 int, v float32, i, j int) { d[i*s0+j*s1] = v }

func BenchmarkSideAccess(b *testing.B) {
	const rows, cols = 64, 64
	x := tensor.New[float32](rows, cols)
	d := x.Elems()
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			for i := range rows {
				for j := range cols {
					sink = at(d, cols, 1, i, j)
				}
			}
		}
	})
	b.Run("At", func(b *testing.B) {
		for b.Loop() {
			for i := range rows {
				for j := range cols {
					sink = x.At(i, j)
				}
			}
		}
	})
	b.Run("assign", func(b *testing.B) {
		for b.Loop() {
			for i := range rows {
				for j := range cols {
					set(d, cols, 1, 2, i, j)
				}
			}
		}
	})
	b.Run("Set", func(b *testing.B) {
		for b.Loop() {
			for i := range rows {
				for j := range cols {
					x.Set(2, i, j)
				}
			}
		}
	})
}

func BenchmarkSideIterate(b *testing.B) {
	x := tensor.New[float32](1000, 1000)
	d := x.Elems()
	b.Run("slice", func(b *testing.B) {
		for b.Loop() {
			s := float32(0)
			for _, v := range d {
				s += v
			}
			sink = s
		}
	})
	b.Run("Values", func(b *testing.B) {
		for b.Loop() {
			s := float32(0)
			for v := range x.Values() {
				s += v
			}
			sink = s
		}
	})
}

func BenchmarkSideTranspose(b *testing.B) {
	const n = 4096
	x, z := tensor.Full[float32](1, n, n), tensor.Full[float32](2, n, n)
	turned := x.Transpose()
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(n * n * 4)
		for b.Loop() {
			copy(z.Elems(), x.Elems())
		}
	})
	b.Run("transpose", func(b *testing.B) {
		b.SetBytes(n * n * 4)
		for b.Loop() {
			z.CopyFrom(turned)
		}
	})
}
