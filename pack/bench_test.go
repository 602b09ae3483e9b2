package pack

import (
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// BenchmarkStorage is a matrix of 4096×4096 float32, 64 MiB, on its way into storage
// and back, beside a copy of the same bytes.
func BenchmarkStorage(b *testing.B) {
	const n = 4096
	x := tensor.RandomUniform[float32](1, -1, 1, n, n)
	to := tensor.New[float32](n, n)
	bench := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * n * n)
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("copy", func() error { to.CopyFrom(x); return nil })
	for _, c := range []struct {
		name string
		f    Format
	}{{"tiles", nil}, {"bfp8", BFP8}, {"bfp4", BFP4}} {
		p, err := Pack(x.Any(), &Options{Tile: TileOf(32, 32), Format: c.f})
		if err != nil {
			b.Fatal(err)
		}
		zero := tensor.Scalar[float32](0)
		bench(c.name+"/pack", func() error { return p.fill(x.Any(), zero.Any()) })
		bench(c.name+"/unpack", func() error { return p.unpackTo(to.Any()) })
		p.Close()
	}
}

// BenchmarkRows is the rows alone, on a tile or as many elements. SetBytes counts those of the float32.
func BenchmarkRows(b *testing.B) {
	x := run(tensor.RandomUniform[float32](1, -1, 1, 32, 32))
	formats := []Format{BFP8, BFP4}
	for _, name := range []string{"q4_0", "q8_0", "q4_k", "q6_k", "iq2_xs", "mxfp4", "mxfp8_e4m3"} {
		f, err := FormatNamed(name)
		if err != nil {
			b.Fatal(err)
		}
		formats = append(formats, f)
	}
	for _, f := range formats {
		codes := make([]byte, f.Size(len(x)))
		b.Run(f.Name()+"/pack", func(b *testing.B) {
			if rows, ok := f.(*blocks); ok && rows.encode == nil {
				b.Skip("it is read only")
			}
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				f.Encode(codes, x, 0)
			}
		})
		b.Run(f.Name()+"/unpack", func(b *testing.B) {
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				f.Decode(x, codes, 0)
			}
		})
	}
}
