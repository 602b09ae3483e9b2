package conv

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/mem"
)

// Spans copied by non-temporal stores are those that copy copies, and nothing beside them changes: of any length, short of a line to groups of
// pages, wherever either side begins.
func TestRunsPast(t *testing.T) {
	t.Run("1", func(t *testing.T) { testRuns(t, func(i int) uint8 { return uint8(i*i>>3 + i) }) })
	t.Run("4", func(t *testing.T) { testRuns(t, func(i int) uint32 { return uint32(i) }) })
	t.Run("16", func(t *testing.T) { testRuns(t, func(i int) [2]uint64 { return [2]uint64{uint64(i), 1} }) })
}

func testRuns[T comparable](t *testing.T, value func(int) T) {
	r := rand.New(rand.NewPCG(8, 8))
	src := make([]T, 1<<18)
	for i := range src {
		src[i] = value(i)
	}
	dst, want := make([]T, len(src)), make([]T, len(src))
	same := func(what string, args ...any) {
		t.Helper()
		simd.Fence()
		if !slices.Equal(dst, want) {
			t.Fatalf(what, args...)
		}
	}
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129, 300, 511, 1023, 1024, 1025, 4096, 5000, 16384, 16385, 70001} {
		d, s := r.IntN(200), r.IntN(200)
		copy(want[d:d+n], src[s:s+n])
		Copy(dst[d:d+n], src[s:s+n], true)
		same("Copy of %d from %d to %d", n, s, d)
	}
	for _, n := range []int{1, 8, 32, 64, 100, 128, 256, 257, 1000, 1024, 3000, 4096} {
		for _, odd := range []int{0, 1} {
			at, d, step := make([]int, 17), 64+odd, r.IntN(3)+1
			for i := range at {
				at[i] = r.IntN((len(src) - n) / step)
				copy(want[d+i*n:d+(i+1)*n], src[at[i]*step:])
			}
			Pick(dst[d:], src, n, step, at, true)
			same("Pick of runs of %d to %d", n, d)

			db, sb := Block{d + 16*(n+64*odd), 17, -n - 64*odd, n, 1}, Block{r.IntN(50), 17, r.IntN(2 * n), n, 1}
			for i := range db.Rows {
				copy(want[db.Off+i*db.Row:][:n], src[sb.Off+i*sb.Row:][:n])
			}
			Copy2(dst, src, db, sb, true)
			same("Copy2 of %+v to %+v", sb, db)
		}
	}
}

// BenchmarkRuns copies 32 MiB in runs that are read here and there, by usual and by non-temporal stores.
func BenchmarkRuns(b *testing.B) {
	const bytes = 32 << 20
	m, err := mem.Alloc(2 * bytes)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	dst, src := m.Bytes()[:bytes], m.Bytes()[bytes:]
	for i := range src {
		dst[i], src[i] = 1, byte(i)
	}
	for _, run := range []struct {
		name string
		n    int
	}{{"128", 128}, {"256", 256}, {"1000", 1000}, {"4096", 4096}, {"32M", bytes}} {
		b.Run(run.name, func(b *testing.B) {
			at := rand.New(rand.NewPCG(1, 1)).Perm(bytes / run.n)
			best := [2]float64{}
			for b.Loop() {
				for i, stream := range []bool{false, true} {
					from := time.Now()
					Pick(dst, src, run.n, run.n, at, stream)
					simd.Fence()
					best[i] = max(best[i], 2*bytes/float64(time.Since(from).Nanoseconds()))
				}
			}
			b.ReportMetric(best[0], "usualGB/s")
			b.ReportMetric(best[1], "streamGB/s")
			b.ReportMetric(best[1]/best[0], "ratio")
		})
	}
}
