package judge

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/layout"
)

// sectorsOf counts by hand the sectors of elements in an order, at the worst base. It tells how many requests there are.
func sectorsOf(c bankCase, order []int, threads, vector int, m Lines, align int) (sectors, requests int) {
	for base := 0; base < m.Line; base += align {
		n, k := 0, 0
		for from := 0; from < len(order); from += threads * vector {
			for at := 0; at < threads; at += m.Threads {
				request := order[from+at*vector : from+min(at+m.Threads, threads)*vector]
				touched, _ := parts(c, m.Sector, base, [][]int{request})
				n += touched
				k++
			}
		}
		sectors, requests = max(sectors, n), k
	}
	return sectors, requests
}

// permutations calls f with each order of 0 … n-1.
func permutations(n int, f func([]int)) {
	p := make([]int, n)
	var next func(k int, used uint)
	next = func(k int, used uint) {
		if k == n {
			f(p)
			return
		}
		for i := range n {
			if used>>i&1 == 0 {
				p[k] = i
				next(k+1, used|1<<i)
			}
		}
	}
	next(0, 0)
}

// The order that is found is the best of all orders of the modes, which are walked here by hand; and no order of any kind,
// of which small layouts have few, touches fewer sectors than the bound.
func TestSolveOrderByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 2))
	ctx := context.Background()
	twist, err := layout.NewSwizzle(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	solved, proven, refused, all := 0, 0, 0, 0
	for n := 0; n < *cases/4; n++ {
		c := bankCase{bits: pick(r, 8, 16, 32, 32, 64, 24)}
		var ext, str []int
		for range 1 + r.IntN(3) {
			ext, str = append(ext, pick(r, 1, 2, 2, 3, 4, 8)), append(str, pick(r, 0, 1, 1, 2, 4, 5, 8, 16, 32))
		}
		in, err := layout.New(ext, str)
		if err != nil {
			t.Fatal(err)
		}
		if c.lay, err = layout.NewComposed(pick(r, layout.Swizzle{}, layout.Swizzle{}, twist), pick(r, 0, 0, 3), in); err != nil {
			t.Fatal(err)
		}
		m, align := randomLines(r)
		threads := pick(r, 1, 2, 2, 4, 4, 8, 3)
		got, err := SolveOrder(ctx, c.lay, m, align, c.bits, threads)
		if in.Size()%threads != 0 {
			if !errors.Is(err, layout.ErrDivide) {
				t.Fatalf("%v by %d: %v", c.lay, threads, err)
			}
			continue
		}
		modes := in.Coalesce()
		best, fewest, found := 0, 0, false
		permutations(modes.Leaves(), func(p []int) {
			var order []int // of offsets
			coord := make([]int, modes.Leaves())
			var walk func(k int)
			walk = func(k int) {
				if k < 0 {
					off := c.lay.Base()
					for i, x := range coord {
						_, d := modes.Leaf(i)
						off += x * d
					}
					order = append(order, c.lay.Outer().(layout.Swizzle).At(off))
					return
				}
				e, _ := modes.Leaf(p[k])
				for coord[p[k]] = 0; coord[p[k]] < e; coord[p[k]]++ {
					walk(k - 1)
				}
			}
			walk(len(p) - 1)
			for vector := 1; vector <= in.Size()/threads; vector *= 2 {
				if in.Size()%(threads*vector) != 0 || vector > 1 && !loadable(order, vector, c.bits, m, align) {
					continue
				}
				sectors, requests := sectorsOf(c, order, threads, vector, m, align)
				if !found || sectors < best || sectors == best && requests < fewest {
					best, fewest, found = sectors, requests, true
				}
			}
		})
		if errors.Is(err, ErrNone) {
			refused++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		solved++
		// The modes may be walked in an order that is no thread–value layout, so by hand may be better.
		if s, q := got.Traffic.Sectors, got.Traffic.Requests; s < best || s == best && q < fewest {
			t.Fatalf("%v by %d, %v, align %d: %v has %d sectors in %d requests; by hand the best are %d in %d", c.lay, threads, m, align, got.Text, s, q, best, fewest)
		} else if isPower(in.Size()) && (s != best || q != fewest) {
			t.Fatalf("%v by %d, %v, align %d: %v has %d sectors in %d requests; by hand there are %d in %d", c.lay, threads, m, align, got.Text, s, q, best, fewest)
		}
		if got.Least > got.Traffic.Sectors {
			t.Fatalf("%v: at least %d, but there are %d", c.lay, got.Least, got.Traffic.Sectors)
		}
		if got.Proven() {
			proven++
		}
		offs := make([]int, in.Size())
		for i := range offs {
			offs[i], _ = c.lay.Offset(i)
		}
		below := func(order []int) {
			for vector := 1; vector == 1 || vector*c.bits <= 8*min(m.Vector, align); vector *= 2 {
				if in.Size()%(threads*vector) != 0 || vector > 1 && !loadable(order, vector, c.bits, m, align) {
					continue
				}
				if s, _ := sectorsOf(c, order, threads, vector, m, align); s < got.Least {
					t.Fatalf("%v by %d, %v, align %d: the order %v with vectors of %d has %d sectors, fewer than %d", c.lay, threads, m, align, order, vector, s, got.Least)
				}
			}
		}
		if len(offs) <= 6 {
			all++
			permutations(len(offs), func(p []int) {
				order := make([]int, len(p))
				for i, x := range p {
					order[i] = offs[x]
				}
				below(order)
			})
		}
		slices.Sort(offs)
		below(offs)
		r.Shuffle(len(offs), func(i, j int) { offs[i], offs[j] = offs[j], offs[i] })
		below(offs)
	}
	t.Logf("%d solved, %d proven, %d without a layout; %d with every order tried", solved, proven, refused, all)
	if solved == 0 || proven == 0 || proven == solved || all == 0 {
		t.Error("the cases are too much alike")
	}
}

// loadable reports whether vectors of elements in an order are one load each, for every base.
func loadable(order []int, vector, bits int, m Lines, align int) bool {
	bytes := vector * bits / 8
	if bytes&(bytes-1) != 0 || bytes > m.Vector || bytes > align {
		return false
	}
	for i, off := range order {
		if off != order[i-i%vector]+i%vector || i%vector == 0 && off%vector != 0 {
			return false
		}
	}
	return true
}

func TestSolveOrderRefuses(t *testing.T) {
	ctx := context.Background()
	defer func(n int64) { trafficWork = n }(trafficWork)
	tile, m := Plain(layout.MustParse("(8,8):(8,1)")), lineNames["nvidia"]
	for _, tc := range []struct {
		expr        string
		threads     int
		align, bits int
		want        error
	}{
		{"(8,8):(8,1)", 0, 16, 32, layout.ErrRange}, {"(8,8):(8,1)", 5, 16, 32, layout.ErrDivide}, {"(8,8):(8,1)", 8, 3, 32, layout.ErrRange},
		{"(0,8):(8,1)", 8, 16, 32, layout.ErrDivide}, {"(3,5):(5,1)", 15, 16, 32, nil}, {"(3,5,2):(10,2,5)", 2, 16, 32, nil},
		{"(2,2,2,2,2,2,2,2,2):(1,3,9,27,81,243,729,2187,6561)", 2, 16, 32, layout.ErrLimit},
		{"(2,2,2):(1,4,16)", 2, 1, 32, layout.ErrLimit}, // with 128 bases, and the bound below
	} {
		trafficWork = 1 << 30
		if tc.align == 1 {
			trafficWork = 5 * 8 * 128
		}
		if _, err := SolveOrder(ctx, mustEval(t, tc.expr), m, tc.align, tc.bits, tc.threads); !errors.Is(err, tc.want) || tc.want == nil && err != nil {
			t.Errorf("%s by %d: %v", tc.expr, tc.threads, err)
		}
	}
	// The bound below is refused before it is counted, at each of 4096 bases.
	trafficWork = 1 << 30
	if _, err := SolveOrder(ctx, Plain(layout.MustParse("4194304:2")), Lines{1, 4096, 1, 1}, 1, 32, 1); !errors.Is(err, layout.ErrLimit) || !strings.Contains(err.Error(), "4096 bases") {
		t.Error(err)
	}
	if _, err := SolveOrder(ended.After(2), mustEval(t, "(3,5,7):(1,100,1000)"), m, 16, 32, 7); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var none context.Context
	if _, err := SolveOrder(none, tile, m, 16, 32, 8); err == nil {
		t.Error("a nil context is taken")
	}
}
