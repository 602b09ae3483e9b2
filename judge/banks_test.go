package judge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

var cases = flag.Int("cases", 2000, "how many random cases the tests of this package run")

func mustAccess(t *testing.T, s string) Access {
	t.Helper()
	a, err := ParseAccess(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustEval(t testing.TB, s string) layout.Composed {
	t.Helper()
	c, err := layout.Eval(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Known answers, worked out by hand.
func TestConflicts(t *testing.T) {
	for _, tc := range []struct {
		expr, access   string
		banks          Banks
		bits           int
		conflicts, cyc int
	}{
		{"(32,32):(32,1)", "row", NVIDIA, 32, 0, 32},
		{"(32,32):(32,1)", "column", NVIDIA, 32, 31 * 32, 32 * 32},
		{"(32,32):(33,1)", "column", NVIDIA, 32, 0, 32},             // padding
		{"Sw<5,0,5> o (32,32):(32,1)", "column", NVIDIA, 32, 0, 32}, // a swizzle
		{"(32,32):(32,1)", "column", AMD, 32, 15 * 32, 16 * 32},     // two columns of 16 words in each bank
		{"(32,32):(0,1)", "column", NVIDIA, 32, 0, 32},              // one word for all
		{"(32,32):(0,1)", "column", Tensix, 32, 31 * 32, 32 * 32},   // which isn't shared
		{"(64,64):(64,1)", "row:8", NVIDIA, 16, 0, 64},              // 16 bytes a thread: 4 phases of 8
		{"(64,64):(64,1)", "ldmatrix", NVIDIA, 16, 7 * 64, 8 * 64},
		{"Sw<3,3,3> o (64,64):(64,1)", "ldmatrix", NVIDIA, 16, 0, 64},
		{"(32,32):(32,1)", "row", NVIDIA, 16, 0, 32}, // two threads in a word
		{"(8,8):(8,1)", "column:1/8", Banks{8, 4, false}, 32, 7 * 8, 8 * 8},
		{"Sw<2,0,3> o (8,8):(8,1)", "column:1/8", Banks{8, 4, false}, 32, 8, 16},
		{"(32,32):(32,1)", "tv:(32,32):(1,32)", NVIDIA, 32, 31 * 32, 32 * 32},
		{"(4,4):(4,1)", "row:1/1", Banks{2, 4, false}, 128, 16, 32}, // an element over both banks, twice
	} {
		r, err := Conflicts(mustEval(t, tc.expr), tc.banks, tc.bits, mustAccess(t, tc.access))
		if err != nil {
			t.Errorf("%s %s: %v", tc.expr, tc.access, err)
			continue
		}
		if r.Conflicts() != tc.conflicts || r.Cycles != tc.cyc || r.Split > 0 {
			t.Errorf("%s, %s, %v, %d bits: %d conflicts in %d cycles, %d split; want %d in %d", tc.expr, tc.access, tc.banks, tc.bits,
				r.Conflicts(), r.Cycles, r.Split, tc.conflicts, tc.cyc)
		}
	}
	r, err := Conflicts(mustEval(t, "Sw<2,0,3> o (8,8):(8,1)"), NVIDIA, 32, Rows(32, 2))
	if err != nil || r.Split == 0 || r.Broken == nil || r.Clean() {
		t.Errorf("a swizzle inside vectors: %+v %v", r, err)
	}
}

// A case is a random layout, memory and access.
type bankCase struct {
	lay    layout.Composed
	banks  Banks
	bits   int
	access Access
}

func (c bankCase) String() string {
	return fmt.Sprintf("%v, %v, %d bits, %v", c.lay, c.banks, c.bits, c.access)
}

func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

func randomBankCase(r *rand.Rand) bankCase {
	for {
		var ext, str []int
		for range 2 + r.IntN(2) {
			ext = append(ext, pick(r, 1, 2, 3, 4, 6, 8, 8, 16, 16))
			str = append(str, pick(r, 0, 1, 1, 2, 3, 4, 8, 9, 16, 17, 32, 33, 64))
		}
		l, err := layout.New(ext, str)
		if err != nil {
			continue
		}
		if r.IntN(2) == 0 {
			if l, err = layout.RowMajor(ext...); err != nil {
				continue
			}
		}
		w := layout.Swizzle{}
		if r.IntN(2) == 0 {
			b := r.IntN(4)
			if w, err = layout.NewSwizzle(b, r.IntN(4), pick(r, 1, -1)*(b+r.IntN(3))); err != nil {
				continue
			}
		}
		c, err := layout.NewComposed(w, pick(r, 0, 0, 0, 5, 16), l)
		if err != nil {
			continue
		}
		vector := pick(r, 1, 1, 2, 4, 8)
		a := Rows(pick(r, 4, 8, 32, 32, 7), vector)
		switch r.IntN(4) {
		case 0:
			a = Columns(pick(r, 4, 8, 32, 32, 7), vector)
		case 1:
			a = Matrices()
		case 2:
			threads := pick(r, 2, 4, 8, 16)
			values := vector * (1 + r.IntN(3))
			tv, err := layout.New([]int{threads, values}, []int{pick(r, 0, 1, values, 3), pick(r, 0, 1, threads)})
			if err != nil {
				continue
			}
			a = ThreadValues(tv, vector)
		}
		bits := pick(r, 4, 8, 16, 16, 32, 32, 64, 6, 24, 128)
		banks := pick(r, NVIDIA, AMD, Tensix, Banks{4, 4, false}, Banks{8, 2, false}, Banks{5, 3, false}, Banks{16, 4, true})
		if _, err := Conflicts(c, banks, bits, a); err != nil {
			continue
		}
		return bankCase{c, banks, bits, a}
	}
}

// vectorsOf gives the offsets of the vector of each thread in each step.
func vectorsOf(c bankCase) (vectors [][][]int) {
	in := c.lay.Inner()
	shape := in.Shape()
	vector := c.access.vector
	if c.access.kind == matrixAccess {
		vector = 128 / c.bits
	}
	rank := len(shape)
	var walk func(order []int, coord []int, visit func([]int))
	walk = func(order []int, coord []int, visit func([]int)) {
		if len(order) == 0 {
			visit(coord)
			return
		}
		last := order[len(order)-1]
		for coord[last] = 0; coord[last] < shape[last]; coord[last]++ {
			walk(order[:len(order)-1], coord, visit)
		}
	}
	at := func(coord []int) int {
		off, _ := in.At(coord)
		w := c.lay.Outer().(layout.Swizzle)
		return w.At(off + c.lay.Base())
	}
	switch c.access.kind {
	case ownAccess:
		tv := c.access.tv
		for step := 0; step < tv.Dim(1)/vector; step++ {
			var threads [][]int
			for t := range tv.Dim(0) {
				var v []int
				for k := range vector {
					i, _ := tv.At([]int{t, step*vector + k})
					v = append(v, at(coordOf(shape, i)))
				}
				threads = append(threads, v)
			}
			vectors = append(vectors, threads)
		}
	case matrixAccess:
		rows := make([]int, rank-2)
		for k := range rows {
			rows[k] = rank - 3 - k
		}
		walk(rows, make([]int, rank), func(coord []int) {
			for r := 0; r < shape[rank-2]; r += 8 {
				for col := 0; col < shape[rank-1]; col += vector {
					var threads [][]int
					for i := range 8 {
						var v []int
						for k := range vector {
							coord[rank-2], coord[rank-1] = r+i, col+k
							v = append(v, at(coord))
						}
						threads = append(threads, v)
					}
					vectors = append(vectors, threads)
				}
			}
		})
	default:
		order := make([]int, rank)
		for k := range order {
			order[k] = rank - 1 - k
		}
		if c.access.kind == columnAccess {
			order[0], order[1] = order[1], order[0]
		}
		var all []int
		walk(order, make([]int, rank), func(coord []int) { all = append(all, at(coord)) })
		for len(all) > 0 {
			var threads [][]int
			for t := 0; t < c.access.threads && len(all) > 0; t++ {
				threads = append(threads, all[:vector])
				all = all[vector:]
			}
			vectors = append(vectors, threads)
		}
	}
	return vectors
}

// simulate serves an access as the definition says, request by request.
func simulate(c bankCase) (cycles, phases, split int, perBank []int) {
	vector := c.access.vector
	if c.access.kind == matrixAccess {
		vector = 128 / c.bits
	}
	vectors := vectorsOf(c)
	perBank = make([]int, c.banks.Count)
	room := c.banks.Count * c.banks.Width * 8
	for _, threads := range vectors {
		var parts [][][]int
		for _, v := range threads {
			if vector*c.bits <= room {
				n := len(parts)
				if n == 0 || (len(parts[n-1])+1)*vector*c.bits > room {
					parts = append(parts, nil)
					n++
				}
				parts[n-1] = append(parts[n-1], v)
				continue
			}
			piece := vector
			for piece > 1 && piece*c.bits > room {
				piece /= 2
			}
			for from := 0; from < vector; from += piece {
				parts = append(parts, [][]int{v[from : from+piece]})
			}
		}
		for _, requests := range parts {
			served := map[int]map[string]bool{}
			for t, v := range requests {
				if len(v) > 1 {
					broken := v[0]%len(v) != 0
					for k := range v {
						broken = broken || v[k] != v[0]+k
					}
					if broken {
						split++
					}
				}
				for _, off := range v {
					for bit := off * c.bits; bit < (off+1)*c.bits; bit++ {
						word := bit / 8 / c.banks.Width
						bank := word % c.banks.Count
						if served[bank] == nil {
							served[bank] = map[string]bool{}
						}
						who := 0
						if c.banks.Single {
							who = t
						}
						served[bank][fmt.Sprint(word, who)] = true
					}
				}
			}
			fullest := 0
			for bank, words := range served {
				fullest = max(fullest, len(words))
				perBank[bank] += len(words)
			}
			cycles += fullest
			phases++
		}
	}
	return cycles, phases, split, perBank
}

// The counts are those of a simulation that knows nothing but the definition.
func TestConflictsSimulated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	conflicts := 0
	for range *cases {
		c := randomBankCase(r)
		got, err := Conflicts(c.lay, c.banks, c.bits, c.access)
		if err != nil {
			t.Fatal(c, err)
		}
		cycles, phases, split, perBank := simulate(c)
		if got.Cycles != cycles || got.Phases != phases || got.Split != split || fmt.Sprint(got.PerBank) != fmt.Sprint(perBank) {
			t.Fatalf("%v: %d cycles in %d phases, %d split, %v; the simulation has %d, %d, %d, %v", c, got.Cycles, got.Phases, got.Split, got.PerBank, cycles, phases, split, perBank)
		}
		if got.Conflicts() > 0 {
			conflicts++
		}
	}
	if conflicts*5 < *cases {
		t.Errorf("only %d of %d cases have conflicts", conflicts, *cases)
	}
}

// A small solver case: banks, a tile of at most 6 bits, one to three accesses.
func smallSolve(r *rand.Rand) (layout.Composed, Banks, []Access) {
	rows, cols := pick(r, 2, 4, 8), pick(r, 2, 4, 8)
	l, err := layout.RowMajor(rows, cols)
	if r.IntN(2) == 0 {
		l, err = layout.New([]int{rows, cols}, []int{pick(r, 1, 2, 4, 8), pick(r, 1, 2, 4, 8, 3)})
	}
	if err != nil {
		panic(err)
	}
	list := make([]Access, 1+r.IntN(3))
	for i := range list {
		threads := pick(r, 2, 4, 8)
		switch r.IntN(3) {
		case 0:
			list[i] = Rows(threads, 1)
		case 1:
			list[i] = Columns(threads, pick(r, 1, 1, 2))
		default:
			tv, _ := layout.New([]int{pick(r, 2, 4), 2}, []int{pick(r, 1, 2, 3, 5), 1})
			list[i] = ThreadValues(tv, pick(r, 1, 2))
		}
	}
	return Plain(l), pick(r, Banks{2, 4, false}, Banks{4, 4, false}, Banks{8, 4, false}, Banks{4, 4, true}), list
}

// The swizzle is the first clean one of the documented order, found without the solver's shortcuts.
func TestSolveSwizzleExhaustive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found, none := 0, 0
	for n := 0; n < *cases/3; n++ {
		l, banks, list := smallSolve(r)
		got, err := SolveSwizzle(context.Background(), l, banks, 32, list...)
		if err != nil {
			continue
		}
		var best *layout.Swizzle
		better := func(a, b layout.Swizzle) bool {
			if a.Bits() != b.Bits() {
				return a.Bits() < b.Bits()
			}
			if a.Size() != b.Size() {
				return a.Size() < b.Size()
			}
			if (a.Shift() > 0) != (b.Shift() > 0) {
				return a.Shift() > 0
			}
			return a.Base() < b.Base()
		}
		for b := 0; b <= got.Bits; b++ {
			for m := 0; m <= got.Bits; m++ {
				for s := -got.Bits; s <= got.Bits; s++ {
					w, err := layout.NewSwizzle(b, m, s)
					if err != nil || w.Size() > 1<<got.Bits || b == 0 && (m > 0 || s != 0) {
						continue
					}
					c, err := layout.NewComposed(w, 0, l.Inner())
					if err != nil {
						t.Fatal(err)
					}
					clean := true
					for _, a := range list {
						r, err := Conflicts(c, banks, 32, a)
						clean = clean && err == nil && r.Clean()
					}
					if clean && (best == nil || better(w, *best)) {
						best = &w
					}
				}
			}
		}
		switch {
		case got.Found != (best != nil):
			t.Fatalf("%v, %v, %v: found %v, exhaustive search %v", l, banks, list, got, best)
		case got.Found && got.Swizzle != *best:
			t.Fatalf("%v, %v, %v: %v, exhaustive search %v", l, banks, list, got.Swizzle, *best)
		case got.Found:
			found++
		default:
			if none++; got.Searched != got.Space {
				t.Fatalf("none, but %d of %d searched", got.Searched, got.Space)
			}
		}
	}
	if found < 20 || none < 20 {
		t.Errorf("%d found, %d none", found, none)
	}
}

// The XOR matrix exists exactly when one of all maps of words onto banks is without conflicts.
func TestSolveXORExhaustive(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	found, none, fewest := 0, 0, 0
	for n := 0; n < *cases/6; n++ {
		l, banks, list := smallSolve(r)
		got, err := SolveXOR(context.Background(), l, banks, 32, list...)
		if err != nil {
			if !errors.Is(err, layout.ErrDivide) && !errors.Is(err, layout.ErrShape) && !errors.Is(err, layout.ErrRange) {
				t.Fatal(err)
			}
			continue
		}
		if !got.Decided {
			t.Fatalf("%v, %v, %v: %s", l, banks, list, got.Why)
		}
		x := xorSearch{ctx: context.Background()}
		m, err := newModel("test", l, banks, 32, list)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.prepare("test", m); err != nil {
			t.Fatal(err)
		}
		if x.out.Decided {
			if got.Found {
				t.Fatal("found against the count of words")
			}
			none++
			continue
		}
		exists, least := false, 99
		total := 1 << (x.n * x.bank)
		if x.n*x.bank > 18 {
			continue
		}
		for code := range total {
			rows, terms, form := make([]int, x.bank), 0, true
			for i := range rows {
				rows[i] = code >> (i * x.n) & (1<<x.n - 1)
				own := rows[i] & (1<<min(x.bank, x.n) - 1)
				form = form && own == 1<<i&(1<<x.n-1)
				for k := x.bank; k < x.n; k++ {
					terms += rows[i] >> k & 1
				}
			}
			ok := true
			for _, d := range x.differ {
				ok = ok && image(rows, d) != 0
			}
			if ok {
				exists = true
				if form {
					least = min(least, terms)
				}
			}
		}
		if got.Found != exists {
			t.Fatalf("%v, %v, %v: found %v (%s), exhaustive %v", l, banks, list, got.Found, got.Why, exists)
		}
		if !got.Found {
			none++
			continue
		}
		found++
		if got.Fewest {
			if fewest++; got.Matrix.Terms() != least {
				t.Fatalf("%v, %v, %v: %v, the fewest terms are %d", l, banks, list, got.Matrix, least)
			}
		} else if least < 99 {
			t.Fatalf("%v: a form with %d terms was missed", l, least)
		}
		seen := map[int]bool{}
		for x := range 1 << len(got.Matrix.Rows) {
			seen[got.Matrix.At(x)] = true
		}
		if len(seen) != 1<<len(got.Matrix.Rows) {
			t.Fatalf("%v isn't invertible", got.Matrix)
		}
	}
	t.Logf("%d found, %d with the fewest terms, %d none", found, fewest, none)
	if found < 20 || none < 20 {
		t.Errorf("%d found, %d none", found, none)
	}
}
