package conv

import (
	"testing"
	"time"
	"unsafe"

	"github.com/ashlar-go/ashlar/mem"
)

// BenchmarkTurn transposes 4096 × 4096 elements in turns with a plain copy of as many bytes, and reports the best of
// both in GB/s, of bytes read and written.
func BenchmarkTurn(b *testing.B) {
	b.Run("4", func(b *testing.B) { benchmarkTurn[uint32](b, 4096) })
	b.Run("8", func(b *testing.B) { benchmarkTurn[uint64](b, 4096) })
	b.Run("2", func(b *testing.B) { benchmarkTurn[uint16](b, 4096) })
	b.Run("1", func(b *testing.B) { benchmarkTurn[uint8](b, 4096) })
	b.Run("1024x4", func(b *testing.B) { benchmarkTurn[uint32](b, 1024) })
	b.Run("256x4", func(b *testing.B) { benchmarkTurn[uint32](b, 256) })
}

func benchmarkTurn[T uint8 | uint16 | uint32 | uint64](b *testing.B, n int) {
	var t T
	bytes := n * n * int(unsafe.Sizeof(t))
	x, err := mem.Alloc(2 * bytes)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	rest := x.Bytes()
	for i := 0; i < len(rest); i += 4096 {
		rest[i] = 1
	}
	all := unsafe.Slice((*T)(unsafe.Pointer(&rest[0])), 2*n*n)
	src, dst := all[:n*n], all[n*n:]
	best := [2]float64{}
	for b.Loop() {
		from := time.Now()
		copy(dst, src)
		mid := time.Now()
		Copy2(dst, src, Block{0, n, n, n, 1}, Block{0, n, 1, n, n}, false)
		end := time.Now()
		best[0] = max(best[0], float64(2*bytes)/float64(mid.Sub(from).Nanoseconds()))
		best[1] = max(best[1], float64(2*bytes)/float64(end.Sub(mid).Nanoseconds()))
	}
	b.ReportMetric(best[0], "copyGB/s")
	b.ReportMetric(best[1], "turnGB/s")
	b.ReportMetric(best[1]/best[0], "ratio")
}
