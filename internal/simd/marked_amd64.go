//go:build !purego

package simd

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/cpu"
	"github.com/ashlar-go/ashlar/num"
)

// Erf and its like have rows that compute nearly all elements and mark the others, which
// package num does then.
var (
	Erf      = Levels[*Rows1]{cpu.AVX2: unmarked(erfMarkedAVX2, num.Erf32), cpu.AVX512: unmarked(erfMarkedAVX512, num.Erf32)}
	Gelu     = Levels[*Rows1]{cpu.AVX2: unmarked(geluMarkedAVX2, num.Gelu32), cpu.AVX512: unmarked(geluMarkedAVX512, num.Gelu32)}
	GeluTanh = Levels[*Rows1]{cpu.AVX2: unmarked(geluTanhMarkedAVX2, num.GeluTanh32), cpu.AVX512: unmarked(geluTanhMarkedAVX512, num.GeluTanh32)}
	Mish     = Levels[*Rows1]{cpu.AVX2: unmarked(mishMarkedAVX2, num.Mish32), cpu.AVX512: unmarked(mishMarkedAVX512, num.Mish32)}
	Sin      = Levels[*Rows1]{cpu.AVX2: unmarked(sinMarkedAVX2, num.Sin32), cpu.AVX512: unmarked(sinMarkedAVX512, num.Sin32)}
	Cos      = Levels[*Rows1]{cpu.AVX2: unmarked(cosMarkedAVX2, num.Cos32), cpu.AVX512: unmarked(cosMarkedAVX512, num.Cos32)}
	Tan      = Levels[*Rows1]{cpu.AVX2: unmarked(tanMarkedAVX2, num.Tan32), cpu.AVX512: unmarked(tanMarkedAVX512, num.Tan32)}
)

const (
	mark      = 0x7fc00001
	markedLen = 512
)

var marks = sync.Pool{New: func() any { return new([markedLen]float32) }}

// unmarked returns the row that computes what row marks by f.
func unmarked(row func(dst, a []float32), f func(float32) float32) *Rows1 {
	return &Rows1{F32: func(dst, a []float32) {
		y := marks.Get().(*[markedLen]float32)
		for n := 0; len(dst) > 0; dst, a = dst[n:], a[n:] {
			n = min(len(dst), markedLen)
			row(y[:n], a)
			settle(dst[:n], a, y[:n], f)
		}
		marks.Put(y)
	}}
}

// settle copies y to dst, which may be a, and computes what is marked.
func settle(dst, a, y []float32, f func(float32) float32) {
	any, at := [1]float32{float32(math.NaN())}, [1]int64{}
	from := 0
	if TryFirstLines32(at[:], any[:], y, 0, len(y)) { // marks are NaNs, and there is hardly one
		from = int(at[0])
	}
	copy(dst[:from], y)
	for i := from; i < len(y); i++ {
		v := y[i]
		if math.Float32bits(v) == mark {
			v = f(a[i])
		}
		dst[i] = v
	}
}
