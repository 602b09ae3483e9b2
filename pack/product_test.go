package pack

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// randomBlocks returns rows of a format: any codes, and scales that are numbers unless they may be anything.
func randomBlocks(t testing.TB, f *blocks, n, k int, anything bool, seed uint64) Tensor {
	t.Helper()
	s, err := NewSpec(tensor.New[float32]().DType(), []int{n, k}, &Options{Format: f, Align: []int{f.len}})
	if err != nil {
		t.Fatal(err)
	}
	b := randomBytes(seed, s.Bytes())
	for i := 0; !anything && i < len(b); i += f.size {
		for _, at := range []int{0, 2} { // where q4_k has both; codes of others
			b[i+at], b[i+at+1] = b[i+at]|1, b[i+at+1]&0x83|0x20
		}
	}
	p, err := FromBytes(s, mem.Borrow(b, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestUnpackKernels compares the kernels with the definitions: all bits, of blocks of any bytes, at the end of the memory.
func TestUnpackKernels(t *testing.T) {
	for _, f := range ggml {
		if f.kernel == nil {
			continue
		}
		for _, k := range f.kernel {
			if k == nil {
				continue
			}
			if f.fast() == nil {
				t.Skip("no kernels: the processor, the build or ASHLAR_CPU has none")
			}
			for blocks := range 130 {
				b := randomBytes(uint64(blocks)+7, blocks*f.size)
				if blocks == 100 { // the ends of the scales
					for i := range 100 {
						b[i*f.size], b[i*f.size+1] = byte(i), byte(i/4<<2|3)
					}
				}
				got, want := make([]float32, blocks*f.len+1), make([]float32, blocks*f.len+1)
				got[blocks*f.len], want[blocks*f.len] = 7, 7
				k.Unpack(got[:blocks*f.len], b)
				for i := range blocks {
					f.define(want[i*f.len:][:f.len], b[i*f.size:][:f.size])
				}
				for i := range want {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						t.Fatalf("%s: element %d of %d blocks is %v, want %v", f.name, i, blocks, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestProduct compares products with those of unpacked matrices, which op.MatMul has.
func TestProduct(t *testing.T) {
	for _, f := range formats {
		f, ok := f.(*blocks)
		if !ok || f.flat {
			continue
		}
		for _, c := range []struct{ m, n, k int }{{1, 1, f.len}, {1, 16, 256}, {1, 17, 512}, {3, 37, 256 + f.len}, {1, 64, 2048}, {2, 100, 768 + f.len}, {1, 1041, 2048}, {2, 18, 256 - f.len/2}, {0, 3, f.len}, {2, 0, f.len}} {
			for _, anything := range []bool{false, true} {
				p := randomBlocks(t, f, c.n, c.k, anything, uint64(c.n))
				x := tensor.RandomUniform[float32](1, -1, 1, c.m, c.k)
				got, err := p.Product(context.Background(), x)
				if err != nil {
					t.Fatal(err)
				}
				w, err := p.Unpack()
				if err != nil {
					t.Fatal(err)
				}
				wide, _ := tensor.As[float32](w)
				want := op.MatMul(x, wide.Transpose())
				for i := range c.m {
					for j := range c.n {
						if g, w := got.At(i, j), want.At(i, j); math.Float32bits(g) != math.Float32bits(w) {
							t.Fatalf("%s, %v: element %d, %d is %v, want %v", f.name, c, i, j, g, w)
						}
					}
				}
			}
		}
	}
}

func TestProductErrors(t *testing.T) {
	q4, _ := FormatNamed("q4_0")
	p := randomBlocks(t, q4.(*blocks), 4, 64, false, 1)
	tiled, err := Pack(tensor.New[float32](4, 64).Any(), &Options{Format: BFP8, Tile: TileOf(32, 32)})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	closed := randomBlocks(t, q4.(*blocks), 4, 64, false, 1)
	closed.Close()
	for _, c := range []struct {
		p    Tensor
		x    tensor.Tensor[float32]
		is   error
		want string
	}{
		{p, tensor.New[float32](63), tensor.ErrShape, "pack.Product: float32[63] by q4_0[4,64]; want [..., k] by a matrix [n, k]"},
		{p, tensor.New[float32](), tensor.ErrShape, ""},
		{p, tensor.Tensor[float32]{}, tensor.ErrDType, ""},
		{tiled, tensor.New[float32](64), tensor.ErrDType, ""},
		{Tensor{}, tensor.New[float32](64), tensor.ErrClosed, ""},
		{closed, tensor.New[float32](64), tensor.ErrClosed, ""},
		{p, tensor.New[float32](64), context.Canceled, ""},
	} {
		ctx := t.Context()
		if c.is == context.Canceled {
			ctx = stopped
		}
		_, err := c.p.Product(ctx, c.x)
		if !errors.Is(err, c.is) || c.want != "" && err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// FuzzBlocks decodes any bytes as blocks of each format, and with a kernel to the same bits as without.
func FuzzBlocks(f *testing.F) {
	for i := range formats {
		f.Add(uint8(i), randomBytes(uint64(i), 300))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		f, ok := formats[int(which)%len(formats)].(*blocks)
		if !ok || len(b) < f.size {
			return
		}
		b = b[:min(len(b)/f.size, 64)*f.size]
		got, want := make([]float32, len(b)/f.size*f.len), make([]float32, f.len)
		f.Decode(got, b, 0)
		for i := 0; i*f.size < len(b); i++ {
			f.define(want, b[i*f.size:][:f.size])
			for j, v := range want {
				if math.Float32bits(got[i*f.len+j]) != math.Float32bits(v) {
					t.Fatalf("%s: element %d of block %d is %v, want %v", f.name, j, i, got[i*f.len+j], v)
				}
			}
		}
		if f.encode != nil { // what was decoded is encoded
			f.Encode(b, got, 0)
			f.Decode(got, b, 0)
		}
	})
}

// BenchmarkProduct multiplies a vector by a matrix of 4096×4096, float32 and in blocks in turns. It reports the least time of each in
// µs, and that of float32 over it.
func BenchmarkProduct(b *testing.B) {
	const n = 4096
	x := tensor.RandomUniform[float32](1, -1, 1, 1, n)
	w := tensor.RandomUniform[float32](2, -1, 1, n, n)
	y := tensor.New[float32](1, n)
	names := []string{"float32", "q4_0", "q8_0", "q4_k"}
	products := []func() error{func() error { op.MatMul(x, w.Transpose(), op.Into(y)); return nil }}
	for _, name := range names[1:] {
		f, err := FormatNamed(name)
		if err != nil {
			b.Fatal(err)
		}
		p := randomBlocks(b, f.(*blocks), n, n, false, 1)
		products = append(products, func() error { _, err := p.Product(context.Background(), x); return err })
	}
	least := make([]time.Duration, len(names))
	for b.Loop() {
		for i, product := range products {
			start := time.Now()
			if err := product(); err != nil {
				b.Fatal(err)
			}
			if took := time.Since(start); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	for i, name := range names {
		b.ReportMetric(float64(least[i].Nanoseconds())/1000, name+"-µs")
		b.ReportMetric(float64(least[0])/float64(least[i]), name+"-×")
	}
}

// BenchmarkUnpack is the unpacking of a matrix of 4096×4096 beside a copy of as many float32.
func BenchmarkUnpack(b *testing.B) {
	const n = 4096
	w := tensor.New[float32](n, n)
	dst, codes := make([]float32, n*n), make([]byte, n*n/32*34)
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(4 * n * n)
		for b.Loop() {
			copy(dst, w.Elems())
		}
	})
	for _, name := range []string{"q4_0", "q8_0", "q4_k"} {
		f, _ := FormatNamed(name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * n * n)
			for b.Loop() {
				f.Decode(dst, codes[:f.Size(n*n)], 0)
			}
		})
	}
}
