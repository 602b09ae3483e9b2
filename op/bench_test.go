package op

import (
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// The cost of a call is BenchmarkAddInto less BenchmarkAddRow, at 16 elements as at
// 16K. BenchmarkAddByHand is the loop that someone would write instead.

func addOperands(n int) (dst, a, b tensor.Tensor[float32]) {
	a, b = tensor.Full[float32](1.5, n), tensor.Full[float32](-2, n)
	return tensor.New[float32](n), a, b
}

func benchmarkAddRow(b *testing.B, n int) {
	d, x, y := addOperands(n)
	dst, p, q := d.Elems(), x.Elems(), y.Elems()
	row := add.rows.F32
	b.SetBytes(int64(12 * n))
	for b.Loop() {
		row(dst, p, q)
	}
}

func BenchmarkAddRow16(b *testing.B)  { benchmarkAddRow(b, 16) }
func BenchmarkAddRow16K(b *testing.B) { benchmarkAddRow(b, 16<<10) }

func benchmarkAddInto(b *testing.B, n int) {
	d, x, y := addOperands(n)
	b.SetBytes(int64(12 * n))
	b.ReportAllocs()
	for b.Loop() {
		Add(x, y, Into(d))
	}
}

func BenchmarkAddInto16(b *testing.B)  { benchmarkAddInto(b, 16) }
func BenchmarkAddInto16K(b *testing.B) { benchmarkAddInto(b, 16<<10) }

func addByHand(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := a[i] + b[i]
		if v != v {
			v = num.NaN32()
		}
		dst[i] = v
	}
}

func benchmarkAddByHand(b *testing.B, n int) {
	d, x, y := addOperands(n)
	dst, p, q := d.Elems(), x.Elems(), y.Elems()
	b.SetBytes(int64(12 * n))
	for b.Loop() {
		addByHand(dst, p, q)
	}
}

func BenchmarkAddByHand16(b *testing.B)  { benchmarkAddByHand(b, 16) }
func BenchmarkAddByHand16K(b *testing.B) { benchmarkAddByHand(b, 16<<10) }

// The result in new memory, and a row stretched over a matrix.
func BenchmarkAddNew16K(b *testing.B) {
	_, x, y := addOperands(16 << 10)
	b.SetBytes(12 << 14)
	b.ReportAllocs()
	for b.Loop() {
		Add(x, y)
	}
}

func BenchmarkAddRowBroadcast16K(b *testing.B) {
	d, x, _ := addOperands(16 << 10)
	d, x = d.Reshape(128, 128), x.Reshape(128, 128)
	_, _, y := addOperands(128)
	b.SetBytes(8 << 14)
	b.ReportAllocs()
	for b.Loop() {
		Add(x, y, Into(d))
	}
}

func BenchmarkAddTransposed16K(b *testing.B) {
	d, x, y := addOperands(16 << 10)
	d, x, y = d.Reshape(128, 128), x.Reshape(128, 128).Transpose(), y.Reshape(128, 128)
	b.SetBytes(12 << 14)
	b.ReportAllocs()
	for b.Loop() {
		Add(x, y, Into(d))
	}
}
