package op

import (
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
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
	row := exec.As[func(dst, a, b []float32)](add.Rows.Plain(dtype.Float32))
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

// Reductions of a 4096×4096 matrix, functions and softmax of it, into results that are kept.
func BenchmarkMatrix(b *testing.B) {
	const n = 4096
	a, line, at, full := tensor.RandomNormal[float32](1, 0, 1, n, n), tensor.New[float32](n), tensor.New[int64](n), tensor.New[float32](n, n)
	for _, c := range []struct {
		name  string
		bytes int64
		f     func()
	}{
		{"sum last", 4, func() { ReduceSum(a, []int{1}, Into(line)) }},
		{"sum first", 4, func() { ReduceSum(a, []int{0}, Into(line)) }},
		{"max last", 4, func() { ReduceMax(a, []int{1}, Into(line)) }},
		{"max first", 4, func() { ReduceMax(a, []int{0}, Into(line)) }},
		{"argmax last", 4, func() { ArgMax(a, 1, ArgOptions{}, Into(at)) }},
		{"argmax first", 4, func() { ArgMax(a, 0, ArgOptions{}, Into(at)) }},
		{"softmax", 8, func() { Softmax(a, 1, Into(full)) }},
		{"log softmax", 8, func() { LogSoftmax(a, 1, Into(full)) }},
		{"exp", 8, func() { Exp(a, Into(full)) }},
		{"tanh", 8, func() { Tanh(a, Into(full)) }},
		{"add", 12, func() { Add(a, a, Into(full)) }},
		{"add row", 8, func() { Add(a, line, Into(full)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(c.bytes * n * n)
			for b.Loop() {
				c.f()
			}
		})
	}
}

// Chains of operators over a 4096×4096 matrix, one after the other and in one pass.
func BenchmarkChain(b *testing.B) {
	const n = 4096
	x, y, z := tensor.Full[float32](0.3, n, n), tensor.Full[float32](0.2, n, n), tensor.Full[float32](0.1, n, n)
	row, out := tensor.Full[float32](0.1, n), tensor.Empty[float32](n, n)
	into := Into(out)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"three with tanh, one by one", func() { Tanh(Add(Mul(x, y, into), z, into), into) }},
		{"three with tanh, fused", func() { Fuse(Tanh(Add(Mul(Lazy(x), y), z)), into) }},
		{"five, one by one", func() { Relu(Add(Mul(Add(Mul(x, y, into), row, into), z, into), x, into), into) }},
		{"five, fused", func() { Fuse(Relu(Add(Mul(Add(Mul(Lazy(x), y), row), z), x)), into) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
			}
		})
	}
}

// The cost of a call, beside that of an elementwise operator: of 8×8 elements.
func BenchmarkOverhead(b *testing.B) {
	a, full, line, one, at := tensor.Full[float32](1.5, 8, 8), tensor.New[float32](8, 8), tensor.New[float32](8), tensor.New[float32](), tensor.New[int64](8)
	narrow := tensor.New[num.BF16](8, 8)
	first, last := []int{0}, []int{1}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"add", func() { Add(a, a, Into(full)) }},
		{"cast", func() { Cast[num.BF16](a, Into(narrow)) }},
		{"sum all", func() { ReduceSum(a, nil, Into(one)) }},
		{"sum last", func() { ReduceSum(a, last, Into(line)) }},
		{"sum first", func() { ReduceSum(a, first, Into(line)) }},
		{"mean last", func() { ReduceMean(a, last, Into(line)) }},
		{"max all", func() { ReduceMax(a, nil, Into(one)) }},
		{"max last", func() { ReduceMax(a, last, Into(line)) }},
		{"max first", func() { ReduceMax(a, first, Into(line)) }},
		{"argmax last", func() { ArgMax(a, 1, ArgOptions{}, Into(at)) }},
		{"argmax first", func() { ArgMax(a, 0, ArgOptions{}, Into(at)) }},
		{"tanh(a·b + c), one by one", func() { Tanh(Add(Mul(a, a, Into(full)), a, Into(full)), Into(full)) }},
		{"tanh(a·b + c), fused", func() { Fuse(Tanh(Add(Mul(Lazy(a), a), a)), Into(full)) }},
		{"tanh(a·b + c), prepared", Prepare(Tanh(Add(Mul(Lazy(a), a), a)), Into(full))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}

// BenchmarkMatMulNBits multiplies a vector by a matrix of 4096×4096, of float32 and of 4 bits with a scale for each 32, in turns. It
// reports the least time of each in µs.
func BenchmarkMatMulNBits(b *testing.B) {
	const n = 4096
	x, w := tensor.RandomUniform[float32](1, -1, 1, 1, n), tensor.RandomUniform[float32](2, -1, 1, n, n)
	codes, scales, y := tensor.RandomIntegers[uint8](3, 0, 255, n, n/32, 16), tensor.RandomUniform[float32](4, -1, 1, n, n/32), tensor.New[float32](1, n)
	least := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		start := time.Now()
		MatMul(x, w.Transpose(), Into(y))
		middle := time.Now()
		MatMulNBits(x, codes, scales, tensor.Tensor[uint8]{}, tensor.Tensor[float32]{}, MatMulNBitsOptions{Columns: n, Bits: 4, Block: 32}, Into(y))
		least[0], least[1] = min(least[0], middle.Sub(start)), min(least[1], time.Since(middle))
	}
	b.ReportMetric(float64(least[0].Nanoseconds())/1000, "float32-µs")
	b.ReportMetric(float64(least[1].Nanoseconds())/1000, "4bits-µs")
}
