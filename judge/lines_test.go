package judge

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// Known answers, worked out by hand.
func TestTransactions(t *testing.T) {
	for _, tc := range []struct {
		expr, access, lines                string
		align, bits                        int
		sectors, lineCount, needed, fewest int
		widest, base                       int
	}{
		{"(32,32):(32,1)", "row", "nvidia", 128, 32, 32 * 4, 32, 32 * 4, 32 * 4, 1, 0},
		{"(32,32):(32,1)", "row", "nvidia", 16, 32, 32 * 5, 64, 32 * 4, 32 * 4, 1, 16},           // a row that begins at byte 16 ends in a fifth sector and a second line
		{"(32,32):(32,1)", "column", "nvidia", 128, 32, 32 * 32, 32 * 32, 32 * 4, 32 * 32, 4, 0}, // thread t has row t
		{"(32,32):(0,1)", "column", "nvidia", 128, 32, 32, 32, 32, 32, 4, 0},                     // one address for all
		{"(64,64):(64,1)", "row:8", "nvidia", 256, 16, 64 * 4, 64, 256, 256, 8, 0},
		{"(64,64):(64,1)", "row:8", "nvidia", 4, 16, 16*16 + 16, 80, 256, 256, 2, 4},
		{"(64,64):(64,1)", "tv:((8,4),8):((512,1),64)", "nvidia", 256, 16, 8 * 16, 8 * 4, 8 * 2, 128, 8, 0}, // 4 rows, 8 threads 16 bytes apart
		{"(64,64):(1,64)", "column:4/64", "amd", 128, 32, 16 * 16, 128, 256, 256, 4, 0},
		{"(8,8):(8,1)", "row:8/1", "cpu", 64, 64, 8, 8, 8, 8, 8, 0},
		{"(8,8):(8,1)", "row:8/1", "cpu", 8, 64, 16, 16, 8, 8, 1, 8},
		{"(8,8):(8,1)", "row", "nvidia", 128, 24, 3 * 2, 3, 6, 6, 0, 0}, // bytes 0 to 95, and 96 to 191
	} {
		m, err := ParseLines(tc.lines)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Transactions(mustEval(t, tc.expr), m, tc.align, tc.bits, mustAccess(t, tc.access))
		if err != nil {
			t.Errorf("%s %s: %v", tc.expr, tc.access, err)
			continue
		}
		if r.Sectors != tc.sectors || r.Lines != tc.lineCount || r.Needed != tc.needed || r.Fewest != tc.fewest || r.Widest != tc.widest || r.Base != tc.base {
			t.Errorf("%s %s, %s, align %d: %+v\nwant sectors %d, lines %d, needed %d, fewest %d, widest %d, base %d", tc.expr, tc.access, tc.lines, tc.align, *r, tc.sectors, tc.lineCount, tc.needed, tc.fewest, tc.widest, tc.base)
		}
	}
}

// byHand counts the transactions as the definition says, element by element, at one base.
func byHand(c bankCase, vectors [][][]int, m Lines, base int) (sectors, lines, useful, needed int, perStep []int) {
	for _, threads := range vectors {
		step := 0
		for from := 0; from < len(threads); from += m.Threads {
			n, bits := parts(c, m.Sector, base, threads[from:min(from+m.Threads, len(threads))])
			step += n
			n, _ = parts(c, m.Line, base, threads[from:min(from+m.Threads, len(threads))])
			lines += n
			useful += bits
			for ; bits > 0; bits -= 8 * m.Sector {
				needed++
			}
		}
		sectors += step
		perStep = append(perStep, step)
	}
	return sectors, lines, useful, needed, perStep
}

// parts counts the parts of memory of a size that a request touches, and its bits.
func parts(c bankCase, size, base int, request [][]int) (n, bits int) {
	touched, wanted := map[int]bool{}, map[int]bool{}
	for _, v := range request {
		for _, off := range v {
			if wanted[off] {
				continue
			}
			wanted[off] = true
			for bit := off * c.bits; bit < (off+1)*c.bits; bit += min(8, c.bits) {
				touched[(base+bit/8)/size] = true
			}
			touched[(base+((off+1)*c.bits-1)/8)/size] = true
		}
	}
	return len(touched), len(wanted) * c.bits
}

// loads reports whether each thread can load its elements n at a time, for every base up to two lines.
func loads(c bankCase, vectors [][][]int, m Lines, align, n int) bool {
	bytes := n * c.bits / 8
	if n*c.bits%8 != 0 || bytes&(bytes-1) != 0 || bytes > m.Vector {
		return false
	}
	var threads [][]int
	for _, step := range vectors {
		for t, v := range step {
			if t == len(threads) {
				threads = append(threads, nil)
			}
			threads[t] = append(threads[t], v...)
		}
	}
	for base := 0; base < 2*m.Line+2*bytes; base += align {
		for _, v := range threads {
			for k := 0; k < len(v); k += n {
				if k+n > len(v) || (8*base+v[k]*c.bits)%(8*bytes) != 0 {
					return false
				}
				for i := range n {
					if v[k+i] != v[k]+i {
						return false
					}
				}
			}
		}
	}
	return true
}

func randomLines(r *rand.Rand) (Lines, int) {
	sector := pick(r, 32, 32, 64, 128, 4, 8)
	m := Lines{sector, sector * pick(r, 1, 1, 2, 4), pick(r, 32, 32, 64, 1, 3, 8), pick(r, 16, 16, 64, 4)}
	return m, max(pick(r, 1, 2, 4, 8, 16, 16, 64, 128, 256), m.Line/pick(r, 1, 4, 8, 32))
}

// Random accesses have the counts of a look at every bit, at every base.
func TestTransactionsByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	widths, worse := map[int]int{}, 0
	for n := 0; n < *cases; n++ {
		c := randomBankCase(r)
		m, align := randomLines(r)
		got, err := Transactions(c.lay, m, align, c.bits, c.access)
		if err != nil {
			t.Fatalf("%v %v: %v", c, m, err)
		}
		worst, fewest := -1, 0
		vectors := vectorsOf(c)
		for base := 0; base < m.Line; base += align {
			sectors, lines, useful, needed, perStep := byHand(c, vectors, m, base)
			if base == 0 || sectors < fewest {
				fewest = sectors
			}
			if sectors > worst {
				worst = sectors
				if got.Base == base && (got.Sectors != sectors || got.Lines != lines || got.Useful != useful || got.Needed != needed || got.Moved != sectors*m.Sector || !slices.Equal(got.PerStep, perStep)) {
					t.Fatalf("%v %v, align %d: %+v\nwant %d sectors %v, %d lines, %d useful, %d needed", c, m, align, *got, sectors, perStep, lines, useful, needed)
				}
			}
		}
		if got.Sectors != worst || got.Fewest != fewest || got.Steps != len(got.PerStep) {
			t.Fatalf("%v %v, align %d: %+v\nwant %d to %d sectors", c, m, align, *got, fewest, worst)
		}
		if worst > fewest {
			worse++
		}
		widest := 0
		for w := 1; w <= 1<<10; w *= 2 {
			if loads(c, vectors, m, align, w) {
				widest = w
			} else if widest > 0 {
				break
			}
		}
		if got.Widest != widest || got.Narrow == "" {
			t.Fatalf("%v %v, align %d: the widest load has %d elements (%s), want %d", c, m, align, got.Widest, got.Narrow, widest)
		}
		widths[widest]++
		count := map[int]int{}
		for _, threads := range vectors {
			for k := 1; k < len(threads); k++ {
				count[threads[k][0]-threads[k-1][0]]++
			}
		}
		if len(got.Strides) != min(16, len(count)) {
			t.Fatalf("%v: %v, want %v", c, got.Strides, count)
		}
		for _, s := range got.Strides {
			if count[s.Elements] != s.Count {
				t.Fatalf("%v: %v, want %v", c, got.Strides, count)
			}
		}
		if (got.Worst == nil) != (got.Sectors == got.Needed) && got.Worst == nil {
			t.Fatalf("%v %v: no request is the worst, with %d sectors for %d", c, m, got.Sectors, got.Needed)
		}
		if w := got.Worst; w != nil {
			worstHolds(t, c, vectors, m, got)
			if w.Sectors <= w.Needed {
				t.Fatalf("%v %v: %+v", c, m, *w)
			}
		}
	}
	t.Logf("widest loads: %v; bases differ in %d", widths, worse)
	if worse == 0 || len(widths) < 4 {
		t.Error("the cases are too much alike")
	}
}

// worstHolds looks at the worst request: no other has more sectors beyond those that it fills, and its elements are as told.
func worstHolds(t *testing.T, c bankCase, vectors [][][]int, m Lines, got *Traffic) {
	t.Helper()
	w := got.Worst
	for step, threads := range vectors {
		for from := 0; from < len(threads); from += m.Threads {
			part := threads[from:min(from+m.Threads, len(threads))]
			sectors, bits := parts(c, m.Sector, got.Base, part)
			flat := slices.Concat(part...)
			more := sectors - (bits+8*m.Sector-1)/(8*m.Sector)
			if more > w.Sectors-w.Needed {
				t.Fatalf("%v %v: the worst is %+v, but step %d from thread %d on has %d more", c, m, *w, step, from, more)
			}
			if step != w.Step || from != w.Thread {
				continue
			}
			far := 0
			for k := 1; k < len(flat); k++ {
				far = max(far, flat[k]-flat[k-1], flat[k-1]-flat[k])
			}
			if more != w.Sectors-w.Needed || !slices.Equal(flat, w.Offsets) || far != max(w.Apart, -w.Apart) {
				t.Fatalf("%v %v: %+v; the offsets are %v, at most %d apart", c, m, *w, flat, far)
			}
			in := c.lay.Inner()
			for k, coord := range w.Coords {
				x, _ := in.At(coord)
				if off := c.lay.Outer().(layout.Swizzle).At(x + c.lay.Base()); off != flat[k] {
					t.Fatalf("%v: %v has offset %d, not %d", c, coord, off, flat[k])
				}
			}
		}
	}
}

func TestTransactionsRefuse(t *testing.T) {
	tile := Plain(layout.MustParse("(8,8):(8,1)"))
	good := lineNames["nvidia"]
	for _, tc := range []struct {
		l     layout.Composed
		m     Lines
		align int
		bits  int
		a     Access
		want  error
	}{
		{tile, Lines{}, 16, 32, Rows(8, 1), layout.ErrRange},
		{tile, Lines{64, 32, 1, 16}, 16, 32, Rows(8, 1), layout.ErrRange},
		{tile, Lines{32, 96, 1, 16}, 16, 32, Rows(8, 1), layout.ErrRange},
		{tile, Lines{32, 128, 0, 16}, 16, 32, Rows(8, 1), layout.ErrRange},
		{tile, good, 0, 32, Rows(8, 1), layout.ErrRange},
		{tile, good, 12, 32, Rows(8, 1), layout.ErrRange},
		{tile, good, 16, 0, Rows(8, 1), layout.ErrRange},
		{tile, good, 16, 32, Rows(8, 3), layout.ErrShape},
		{tile, good, 16, 32, ThreadValues(layout.MustParse("(8,8):(8,2)"), 1), layout.ErrRange}, // coordinate 70 of 64
		{Plain(layout.MustParse("8:-1")), good, 16, 32, Rows(8, 1), layout.ErrRange},
		{Plain(layout.MustParse("2:1152921504606846976")), good, 16, 32, Rows(8, 1), layout.ErrOverflow},
		{Plain(layout.MustParse("(2048,4096):(4096,1)")), good, 16, 32, Rows(8, 1), layout.ErrLimit},
		{Plain(layout.MustParse("(1024,1024):(1024,1)")), Lines{4096, 4096, 32, 16}, 1, 32, Rows(32, 1), layout.ErrLimit},
	} {
		if _, err := Transactions(tc.l, tc.m, tc.align, tc.bits, tc.a); !errors.Is(err, tc.want) {
			t.Errorf("%v %v %d %d %v: %v", tc.l, tc.m, tc.align, tc.bits, tc.a, err)
		}
	}
	// A request of very many modes, and of very many elements, has a bounded number of coordinates.
	ones := make([]int, 50000)
	for i := range ones {
		ones[i] = 1
	}
	for _, shape := range [][]int{append(ones, 1<<16), {1 << 10, 1 << 12}} {
		order, err := layout.ColMajorOf(layout.Ints(shape...))
		if err != nil {
			t.Fatal(err)
		}
		size := order.Size()
		strided, err := layout.Compose(layout.MustParse("4194304:64"), order)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Transactions(Plain(strided), Lines{32, 128, 1024, 16}, 256, 32, Rows(1024, 1<<12))
		if err != nil {
			t.Fatal(err)
		}
		w := r.Worst
		if r.Sectors != size || w == nil || len(w.Coords) == 0 || len(w.Coords)*len(shape) > 1<<16 || len(w.Coords) != len(w.Offsets) || len(w.From) != len(shape) || r.Bits != 32 {
			t.Errorf("%d modes of %d elements: %d sectors", len(shape), size, r.Sectors)
		}
	}
	for _, s := range []string{"", "intel", "32/128/32", "32/128/32/16/1", "32/x/32/16", "-32/128/32/16", "33/128/32/16", "99999999999999999999/1/1/1"} {
		if m, err := ParseLines(s); err == nil {
			t.Errorf("%q is read as %v", s, m)
		}
	}
}

// FuzzParseLines wants an error or a memory that prints and reads back.
func FuzzParseLines(f *testing.F) {
	for _, s := range []string{"nvidia", " CPU", "64/128/64/16"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseLines(text)
		if err != nil {
			return
		}
		if again, err := ParseLines(m.String()); err != nil || again != m {
			t.Fatalf("%q: %v, %v, %v", text, m, again, err)
		}
	})
}

func BenchmarkTransactions(b *testing.B) {
	tile := Plain(layout.MustParse("(128,128):(128,1)"))
	for _, a := range []Access{Rows(256, 4), Columns(256, 1)} {
		b.Run(a.String(), func(b *testing.B) {
			for range b.N {
				if _, err := Transactions(tile, lineNames["nvidia"], 4, 32, a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
