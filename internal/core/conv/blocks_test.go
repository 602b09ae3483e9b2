package conv

import (
	"fmt"
	"math"
	"slices"
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"

	"pgregory.net/rapid"
)

func Example() {
	src := []int{0, 1, 2, 3, 4, 5}
	dst := make([]int, 6)
	Pack(dst, src, Block{Rows: 3, Row: 1, Cols: 2, Col: 3}) // a 2×3 matrix, transposed
	fmt.Println(dst)
	// Output: [0 3 1 4 2 5]
}

func block(t *rapid.T, rows, cols int) (Block, int) {
	b := Block{Rows: rows, Cols: cols, Row: rapid.IntRange(-7, 40).Draw(t, "row"), Col: rapid.SampledFrom([]int{-2, -1, 1, 2, 3, 41}).Draw(t, "col")}
	lo, hi := 0, 0
	for _, d := range []int{(rows - 1) * b.Row, (cols - 1) * b.Col} {
		lo, hi = lo+min(d, 0), hi+max(d, 0)
	}
	b.Off = -lo
	return b, hi - lo + 1
}

// TestBlocks compares Pack, Spread and Copy2 with their definition: element
// (i, j) at Off + i·Row + j·Col.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 40).Draw(t, "cols")
		b, n := block(t, rows, cols)
		src := make([]int, n)
		for i := range src {
			src[i] = i + 1
		}
		row := make([]int, rows*cols)
		Pack(row, src, b)
		for i := range rows {
			for j := range cols {
				if want := src[b.Off+i*b.Row+j*b.Col]; row[i*cols+j] != want {
					t.Fatalf("Pack %+v: (%d,%d) is %d, want %d", b, i, j, row[i*cols+j], want)
				}
			}
		}
		d, m := block(t, rows, cols)
		one, two := make([]int, m), make([]int, m)
		Spread(one, row, d)
		Copy2(two, src, d, b, false)
		last := map[int]int{}
		for i := range rows {
			for j := range cols {
				last[d.Off+i*d.Row+j*d.Col]++
			}
		}
		for at, times := range last {
			if times == 1 && one[at] != two[at] { // where several land, any may win
				t.Fatalf("Spread and Copy2 to %+v differ at %d: %d and %d", d, at, one[at], two[at])
			}
		}
		for i := range rows {
			for j := range cols {
				if at := d.Off + i*d.Row + j*d.Col; last[at] == 1 && one[at] != row[i*cols+j] {
					t.Fatalf("Spread %+v: (%d,%d) is %d, want %d", d, i, j, one[at], row[i*cols+j])
				}
			}
		}
	})
}

func TestFill(t *testing.T) {
	for n := range 200 {
		s := make([]int16, n+1)
		Fill(s[:n], 7)
		if slices.ContainsFunc(s[:n], func(v int16) bool { return v != 7 }) || s[n] != 0 {
			t.Fatalf("Fill of %d elements: %v", n, s)
		}
	}
}

// TestCanon puts NaNs of several payloads at every place of rows of every short
// length and alignment, among values that must stay as they are.
func TestCanon(t *testing.T) {
	nans := []uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff}
	keep := []uint32{0x7f800000, 0xff800000, 0x80000000, 0, 1, 0x7f7fffff, 0x3f800000}
	for n := range 40 {
		for start := range 3 {
			for at := range n {
				row := make([]float32, start+n)[start:]
				for i := range row {
					row[i] = math.Float32frombits(keep[i%len(keep)])
				}
				row[at] = math.Float32frombits(nans[(n+at)%len(nans)])
				Canon32(row)
				for i := range row {
					want := keep[i%len(keep)]
					if i == at {
						want = 0x7fc00000
					}
					if got := math.Float32bits(row[i]); got != want {
						t.Fatalf("length %d, NaN at %d: element %d is %08x, want %08x", n, at, i, got, want)
					}
				}
			}
		}
	}
	row := []float64{1, math.Float64frombits(0xfff8000000000001), math.Inf(-1)}
	if Canon64(row); math.Float64bits(row[1]) != 0x7ff8000000000000 || row[0] != 1 || row[2] != math.Inf(-1) {
		t.Errorf("Canon64: %x", row)
	}
}

func TestOverlap(t *testing.T) {
	a := make([]int32, 10)
	for _, c := range []struct {
		x, y []int32
		want bool
	}{
		{a[:5], a[5:], false}, {a[:6], a[5:], true}, {a, a[3:4], true}, {a[:0], a, false}, {a, make([]int32, 10), false},
	} {
		if got := Overlap(c.x, c.y); got != c.want || Overlap(c.y, c.x) != c.want {
			t.Errorf("Overlap is %t, want %t", got, c.want)
		}
	}
	if !Same(a, As[uint32](a)) || Same(a, a[1:]) {
		t.Error("Same")
	}
}

// An empty block touches nothing, wherever its strides lead.
func TestEmptyBlocks(t *testing.T) {
	for _, b := range []Block{{Rows: 3, Row: 5, Col: 1}, {Rows: 3, Row: 5}, {Rows: 3, Row: 5, Col: 2}, {Cols: 3, Col: 1, Off: 9}, {Cols: 3, Off: 9}, {Cols: 40, Col: 7, Off: 9}} {
		var none []int
		Pack(none, none, b)
		Spread(none, none, b)
		Copy2(none, none, b, b, false)
	}
}

func TestDense(t *testing.T) {
	for _, c := range []struct {
		b    Block
		want bool
	}{
		{Block{Rows: 2, Row: 3, Cols: 3, Col: 1}, true},
		{Block{Rows: 2, Row: 4, Cols: 3, Col: 1}, false},
		{Block{Rows: 1, Row: 99, Cols: 3, Col: 1}, true},
		{Block{Rows: 3, Row: 1, Cols: 1, Col: 99}, true},
		{Block{Rows: 2, Row: 1, Cols: 2, Col: 2}, false},
		{Block{Rows: 2, Row: 3, Cols: 3, Col: -1}, false},
	} {
		if got := c.b.Dense(); got != c.want {
			t.Errorf("%+v: Dense is %t", c.b, got)
		}
	}
}

func TestCarve(t *testing.T) {
	all := make([]byte, 320)
	scratch := all
	a := Carve[float64](&scratch, 3)
	b := Carve[int8](&scratch, 65)
	c := Carve[int16](&scratch, 0)
	if len(a) != 3 || len(b) != 65 || len(c) != 0 || len(scratch) != 320-64-128 || Overlap(a, b) || !Same(a, all) || !Same(b, all[64:]) {
		t.Error(len(a), len(b), len(c), len(scratch))
	}
	defer func() {
		if recover() == nil {
			t.Error("Carve gave more than there is")
		}
	}()
	Carve[float64](&scratch, 17)
}

func TestAs(t *testing.T) {
	s := []float32{1, -2}
	w := As[uint32](s)
	if w[0] = 0x40000000; s[0] != 2 || w[1] != 0xc0000000 || len(As[int32]([]float32{})) != 0 {
		t.Error(s, w)
	}
	defer func() {
		if recover() == nil {
			t.Error("As between sizes")
		}
	}()
	As[float64](s)
}
