package contract

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// TestPacked compares products with a packed matrix with the rule, bit for bit, and looks at the elements around the result.
func TestPacked(t *testing.T) {
	eachTiler(t, testPacked[float32], testPacked[float64])
}

func testPacked[T num.Float](t *testing.T, tiles Tiler[T]) {
	rapid.Check(t, func(t *rapid.T) {
		m, packedFor := rapid.IntRange(0, 5).Draw(t, "m"), rapid.IntRange(1, 3).Draw(t, "packed for rows")
		n, k := rapid.IntRange(0, 300).Draw(t, "n"), rapid.SampledFrom([]int{0, 1, 2, 7, 255, 256, 257, 600}).Draw(t, "k")
		byRows, aCol, more := rapid.Bool().Draw(t, "b by rows"), rapid.IntRange(1, 2).Draw(t, "step of a"), rapid.IntRange(0, 9).Draw(t, "more")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		fill := func(n int) []T {
			s := make([]T, n)
			for i := range s {
				s[i] = anyFloat[T](r, true)
			}
			return s
		}
		a, b, ldd := fill(m*k*aCol), fill(k*n), n+more
		c := fill(m * ldd)
		want := append([]T(nil), c...)
		row, col := n, 1
		if byRows {
			row, col = 1, k
		}
		x, y := make([]T, k), make([]T, k)
		for i := range m {
			for j := range n {
				for l := range k {
					x[l], y[l] = a[i*k*aCol+l*aCol], b[l*row+j*col]
				}
				want[i*ldd+j] = chain(x, y)
			}
		}
		p := packedBy(tiles, n, k, packedFor)
		room := fill(p.Room() + 1)
		last := room[p.Room()]
		p.Pack(room[:p.Room()], b, row, col)
		if m > 0 {
			p.Times(c, ldd, a, k*aCol, aCol, m, 0, p.Panels())
		}
		for i, w := range want {
			if pattern(c[i]) != pattern(w) {
				t.Fatalf("element %d is %v, want %v", i, c[i], w)
			}
		}
		if pattern(room[p.Room()]) != pattern(last) {
			t.Fatal("Pack wrote behind its room")
		}
	})
}

// BenchmarkFewRows multiplies few rows by a matrix of which columns (T) or rows are runs, as it lies and packed.
func BenchmarkFewRows(b *testing.B) {
	for level := cpu.AVX2; level <= cpu.Detect(); level++ {
		tiles := simd.Product32.At(level)
		if tiles == nil {
			continue
		}
		for _, s := range []struct {
			m, n, k int
			turned  bool
		}{{1, 128, 1536, true}, {1, 128, 1536, false}, {2, 128, 1536, true}, {4, 128, 1536, true}, {1, 128, 128, true}, {1, 64, 64, true}, {1, 10, 64, true}, {1, 1000, 2048, true}, {2, 1000, 2048, true}, {1, 4096, 1024, true}, {1, 4096, 1024, false}, {1, 4096, 4096, true}, {1, 4096, 4096, false}} {
			name := fmt.Sprintf("%s/%dx%dx%d", level, s.m, s.n, s.k)
			row, col := s.n, 1
			if s.turned {
				name += "T"
				row, col = 1, s.k
			}
			x, w, c := make([]float32, s.m*s.k), make([]float32, s.n*s.k), make([]float32, s.m*s.n)
			for i := range w {
				w[i] = float32(i%7) - 3
			}
			for i := range x {
				x[i] = float32(i % 5)
			}
			rate := func(b *testing.B) {
				b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			}
			b.Run(name+"/plain", func(b *testing.B) {
				g := Contraction{Batch: 1, M: s.m, N: s.n, K: s.k, ARow: s.k, ACol: 1, BRow: row, BCol: col, CRow: s.n, CCol: 1}
				e := Gemm[float32]{Tiles: tiles, Size: 4, A: x, B: w, C: c}
				for b.Loop() {
					h := g
					e.block(&h, 0, 0, s.m, 0, s.n)
				}
				rate(b)
			})
			b.Run(name+"/packed", func(b *testing.B) {
				p := packedBy(Tiler[float32](tiles), s.n, s.k, s.m)
				p.Pack(make([]float32, p.Room()), w, row, col)
				for b.Loop() {
					p.Times(c, s.n, x, s.k, 1, s.m, 0, p.Panels())
				}
				rate(b)
			})
			b.Run(name+"/row by row", func(b *testing.B) {
				p := packedBy(Tiler[float32](tiles), s.n, s.k, 1)
				p.Pack(make([]float32, p.Room()), w, row, col)
				for b.Loop() {
					p.Times(c, s.n, x, s.k, 1, s.m, 0, p.Panels())
				}
				rate(b)
			})
		}
	}
}

// Weights whose packing fails, as a file that shrinks under a mapping makes it, are packed by the next call.
func TestFilterFails(t *testing.T) {
	var f Filter
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic is lost")
			}
		}()
		f.pack(func() any { panic("no memory") })
	}()
	for want := range 2 { // the second is not asked
		if got := f.pack(func() any { return 7 + want }); got != 7 {
			t.Errorf("call %d got %v, want 7", want, got)
		}
	}
}

// TestFilterRoom keeps weights of each way: they take as many elements as the weights have, as Packs counts.
func TestFilterRoom(t *testing.T) {
	for _, c := range []struct{ channels, group, m, k int }{{64, 64, 64, 3}, {64, 1, 24, 3}, {64, 4, 32, 1}, {300, 300, 300, 5}} {
		x := tensor.RandomNormal[float32](1, 0, 1, 1, 9, 9, c.channels).Permute(0, 3, 1, 2).Any()
		w := tensor.RandomNormal[float32](1, 0, 1, c.m, c.channels/c.group, c.k, c.k).Any()
		g := ConvOf("Conv", &x, &w, nil, Window{}, c.group)
		g.Filter = &Filter{W: w}
		r := tensor.New[float32](plan.LastShape(g.Shape)...).Permute(0, 3, 1, 2).Any()
		g.Convolve(exec.Job{Ctx: context.Background()}, &x, &w, nil, &r, false, nil)
		last, _, _ := g.Packs(dtype.Float32)
		if f, ok := g.Filter.packed.(*filter[float32]); !ok || len(f.panels) != w.Len() || int64(4*w.Len()) != last {
			t.Errorf("%+v: %d elements are kept, and %d bytes are counted, want %d weights", c, len(f.panels), last, w.Len())
		}
	}
}

// TestFilterWays computes with weights that the first call packed for another way than the call at hand has: for another shape or layout.
func TestFilterWays(t *testing.T) {
	for _, c := range []struct {
		win    Window
		shapes [][]int
	}{
		{Window{}, [][]int{{1, 64, 9, 9}, {1, 64, 40, 40}}},
		{Window{Pads: []int{40_000, 40_000}, Dilations: []int{40_000}}, [][]int{{1, 64, 20}}}, // lines that no other way takes
	} {
		shape := []int{64, 1, 3, 3}[:len(c.shapes[0])]
		w := tensor.RandomNormal[float32](1, 0, 1, shape...).Any()
		var xs []tensor.Any
		for _, s := range c.shapes {
			x := tensor.RandomNormal[float32](1, 0, 1, s...)
			last := tensor.New[float32](plan.LastShape(s)...).Permute([]int{0, len(s) - 1, 1, 2}[:len(s)]...)
			last.CopyFrom(x)
			xs = append(xs, x.Any(), last.Any())
		}
		for range 2 {
			kept, ways := &Filter{W: w}, make(map[Route]bool)
			for _, x := range xs {
				var got [2][]byte
				for i, f := range []*Filter{nil, kept} {
					g := ConvOf("Conv", &x, &w, nil, c.win, 64)
					g.Filter = f
					r := tensor.New[float32](g.Shape...).Any()
					to, _ := g.Route(g.of(&x, &r))
					ways[to] = true
					g.Convolve(exec.Job{Ctx: context.Background()}, &x, &w, nil, &r, false, nil)
					got[i], _ = tensor.Bytes(r)
				}
				if !bytes.Equal(got[0], got[1]) {
					t.Errorf("%s: kept weights give another result", tensor.Describe(x))
				}
			}
			if len(ways) < 2 {
				t.Errorf("%v: all calls go the way %v", c.shapes, ways)
			}
			slices.Reverse(xs)
		}
	}
}

// TestStripOf wants strips that follow each other, differ by one line at most and have all lines, also where a product of both numbers is no int.
func TestStripOf(t *testing.T) {
	for lines := 1; lines < 20; lines++ {
		for strips := 1; strips <= lines; strips++ {
			at := 0
			for i := range strips {
				first, n := stripOf(i, lines, strips)
				if first != at || n != lines/strips && n != (lines+strips-1)/strips {
					t.Errorf("strip %d of %d, of %d lines, has %d lines from %d on; the strip before ends at %d", i, strips, lines, n, first, at)
				}
				at += n
			}
			if at != lines {
				t.Errorf("%d strips have %d lines of %d", strips, at, lines)
			}
		}
	}
	const all, strips = math.MaxInt, math.MaxInt / 2
	if first, n := stripOf(strips-1, all, strips); first != all-2 || n != 2 {
		t.Errorf("the last strip has %d lines from %d on, want 2 from %d on", n, first, all-2)
	}
}
