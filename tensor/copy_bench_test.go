package tensor_test

import (
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// BenchmarkCopyTiled compares CopyFrom between a row-major matrix and one in 32×32
// tiles with copy of as many bytes.
func BenchmarkCopyTiled(b *testing.B) {
	const n = 4096
	rows := tensor.Full[float32](1, n, n)
	tiled := tensor.FromLayout(make([]float32, n*n), layout.MustParse("((32,128),(32,128)):((32,131072),(1,1024))"))
	dst, _ := tiled.Data()
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"copy", func() { copy(dst, rows.Elems()) }},
		{"rows to tiles", func() { tiled.CopyFrom(rows) }},
		{"tiles to rows", func() { rows.CopyFrom(tiled) }},
		{"rows to tiles, colexicographic", func() { tiled.CopyColex(rows) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(4 * n * n)
			for b.Loop() {
				c.f()
			}
		})
	}
}
