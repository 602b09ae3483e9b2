package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// A formula is a document's own: the coordinate of element i of a thread.
type formula func(t, i int) []int

// formulasOf has the documents' formulas of each instruction, by operand. They are arithmetic, not layouts.
func formulasOf(t testing.TB, name string) map[string]formula {
	t.Helper()
	for prefix, f := range documents {
		if strings.HasPrefix(name, prefix) {
			if list := f(t, name); list != nil {
				return list
			}
		}
	}
	t.Fatalf("%s has no formula of a document here", name)
	return nil
}

var documents = map[string]func(t testing.TB, name string) map[string]formula{}

// differs compares a fragment with the formula of a document, element by element.
func differs(f Fragment, want formula) error {
	shape := f.Shape()
	for i := range f.TV.Size() {
		thread, value := i%f.TV.Dim(0), i/f.TV.Dim(0)
		got, err := f.TV.Offset(i)
		if err != nil {
			return err
		}
		w := want(thread, value)
		if inside := len(w) == len(shape); !inside || got != linear(shape, w) || linear(shape, w) < 0 {
			return fmt.Errorf("%s: element %d of thread %d is %v, the document has %v", f.Name, value, thread, coordOf(shape, got), w)
		}
		for k, x := range w {
			if x < 0 || x >= shape[k] {
				return fmt.Errorf("%s: the document's element %d of thread %d is %v, in a matrix of %v", f.Name, value, thread, w, shape)
			}
		}
	}
	return nil
}

// TestInstructions compares each fragment with its document, element by element. Every element of an operand has a holder.
func TestInstructions(t *testing.T) {
	elements := 0
	names := Instructions("")
	for _, name := range names {
		m, err := Instruction(name)
		if err != nil {
			t.Fatal(err)
		}
		want := formulasOf(t, name)
		if m.Source == "" || m.Thread == "" || len(m.Fragments) != len(want) {
			t.Fatalf("%s: source %q, thread %q, fragments %v, the document has %v", name, m.Source, m.Thread, m.Fragments, slices.Collect(maps.Keys(want)))
		}
		for _, f := range m.Fragments {
			if want[f.Name] == nil {
				t.Fatalf("%s: no formula for %s", name, f.Name)
			}
			if err := differs(f, want[f.Name]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			size := 1
			for _, a := range f.Axes {
				size *= a.Size
			}
			held, count := make([]bool, size), 0
			for i := range f.TV.Size() {
				at, err := f.TV.Offset(i)
				if err != nil {
					t.Fatal(err)
				}
				if !held[at] {
					held[at], count = true, count+1
				}
			}
			if count != size {
				t.Errorf("%s: the threads hold %d of %d elements of %s", name, count, size, f.Name)
			}
			elements += f.TV.Size()
		}
	}
	t.Logf("%d instructions, %d elements", len(names), elements)
}

// multiplied multiplies the matrices of an operation through its registers: they are filled by the layouts, and the machine finds
// its elements in them by the document's formulas. It tells the first element of the result that isn't the plain product.
func multiplied(a, b, c Fragment, want map[string]formula, rng *rand.Rand) error {
	size := map[string]int{}
	for _, f := range []Fragment{a, b, c} {
		for _, x := range f.Axes {
			size[x.Name] = x.Size
		}
	}
	blocks := max(1, size["block"])
	random := func(rows, cols int) [][][]int {
		m := make([][][]int, blocks)
		for x := range m {
			m[x] = make([][]int, rows)
			for r := range m[x] {
				m[x][r] = make([]int, cols)
				for k := range m[x][r] {
					m[x][r][k] = rng.IntN(201) - 100
				}
			}
		}
		return m
	}
	at := func(m [][][]int, c []int) *int {
		if len(c) == 2 {
			c = []int{0, c[0], c[1]}
		}
		return &m[c[0]][c[1]][c[2]]
	}
	left, right := random(size["m"], size["k"]), random(size["k"], size["n"])
	through := func(f Fragment, m [][][]int) ([][][]int, error) { // as the machine sees the matrix
		seen := random(len(m[0]), len(m[0][0]))
		for i := range f.TV.Size() {
			thread, value := i%f.TV.Dim(0), i/f.TV.Dim(0)
			from, err := f.Element(thread, value)
			if err != nil {
				return nil, err
			}
			*at(seen, want[f.Name](thread, value)) = *at(m, from)
		}
		return seen, nil
	}
	la, err := through(a, left)
	if err != nil {
		return err
	}
	rb, err := through(b, right)
	if err != nil {
		return err
	}
	times := func(l, r [][][]int) [][][]int {
		out := random(size["m"], size["n"])
		for x := range out {
			for i := range out[x] {
				for j := range out[x][i] {
					sum := 0
					for k := range size["k"] {
						sum += l[x][i][k] * r[x][k][j]
					}
					out[x][i][j] = sum
				}
			}
		}
		return out
	}
	machine, plain := times(la, rb), times(left, right)
	for i := range c.TV.Size() { // the result leaves the registers by the layout
		thread, value := i%c.TV.Dim(0), i/c.TV.Dim(0)
		to, err := c.Element(thread, value)
		if err != nil {
			return err
		}
		if got, exact := *at(machine, want["C"](thread, value)), *at(plain, to); got != exact {
			return fmt.Errorf("element %v of C is %d, not %d", to, got, exact)
		}
	}
	return nil
}

// TestInstructionProducts multiplies random matrices through each instruction that has A, B and C.
func TestInstructionProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	count := 0
	for _, name := range Instructions("") {
		m, err := Instruction(name)
		if err != nil {
			t.Fatal(err)
		}
		want := formulasOf(t, name)
		if want["A"] == nil || want["C"] == nil {
			continue
		}
		abc := m.Fragments
		if want["B"] == nil { // in shared memory: the machine has all of it
			k, n := abc[0].Axes[1].Size, abc[1].Axes[1].Size
			abc = []Fragment{abc[0], fragment("B", 32, fmt.Sprintf("k%d n%d", k, n), "", fmt.Sprintf("%d:k %d:n", k, n)), abc[1]}
			want["B"] = func(_, i int) []int { return []int{i % k, i / k} }
		}
		count++
		if err := multiplied(abc[0], abc[1], abc[2], want, rng); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d instructions multiplied", count)
}

// TestInstructionFaults exchanges two registers, which the comparison and the product find, and permutes k in A and B alike,
// which the product can't find but the comparison does.
func TestInstructionFaults(t *testing.T) {
	m, err := Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		t.Fatal(err)
	}
	want := formulasOf(t, m.Name)
	good := map[string]Fragment{}
	for _, f := range m.Fragments {
		good[f.Name] = f
	}
	with := func(f Fragment, tv string) Fragment {
		f.TV = layout.MustParse(tv)
		return f
	}
	rng := rand.New(rand.NewPCG(3, 4))
	swapped := with(good["A"], "((4,8),(2,2,2)):((32,1),(16,128,8))") // registers 1 and 2
	if err := differs(swapped, want["A"]); err == nil {
		t.Error("the comparison doesn't find exchanged registers")
	}
	if err := multiplied(swapped, good["B"], good["C"], want, rng); err == nil {
		t.Error("the product doesn't find exchanged registers")
	}
	half := with(good["C"], "((4,8),(2,2)):((32,1),(8,16))")
	if err := multiplied(good["A"], good["B"], half, want, rng); err == nil || differs(half, want["C"]) == nil {
		t.Error("exchanged registers of C aren't found")
	}
	// Lane t mod 4 has the columns t mod 4 and 4 more, in place of two neighbours: the same in A and in B.
	a, b := with(good["A"], "((4,8),(2,2,2)):((16,1),(64,8,128))"), with(good["B"], "((4,8),(2,2)):((1,16),(4,8))")
	if err := multiplied(a, b, good["C"], want, rng); err != nil {
		t.Errorf("a permutation of k in A and B alike changes the product: %v", err)
	}
	if differs(a, want["A"]) == nil || differs(b, want["B"]) == nil {
		t.Error("the comparison doesn't find a permutation of k")
	}
}

func TestInstructionErrors(t *testing.T) {
	for name, want := range map[string]string{
		"sm80.mma.m16n8k16.fp16": "the nearest is sm80.mma.m16n8k16.f16",
		"SM80.mma.m16n8k8.tf32":  "the nearest is sm80.mma.m16n8k8.tf32",
		"sm80.mma.m16n8k16":      "5 names begin so, as does sm80.mma.m16n8k16.bf16",
		"":                       "names begin so, as does amx.",
	} {
		m, err := Instruction(name)
		if m != nil || !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("Instruction(%q) = %v, %v; want %s", name, m, err, want)
		}
	}
	if _, err := Instruction(strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 2000 {
		t.Error("a long name has no short error")
	}
	m, err := Instruction("sm75.ldmatrix.m8n8.x4.b16")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fragment("A"); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "address, D") {
		t.Errorf("A of ldmatrix: %v", err)
	}
	f, err := m.Fragment("D")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int{{-1, 0}, {32, 0}, {0, 8}, {0, -1}} {
		if _, err := f.Element(at[0], at[1]); !errors.Is(err, layout.ErrRange) {
			t.Errorf("Element%v: %v", at, err)
		}
	}
	// A caller may make an instruction of its own, which is checked.
	tile := Plain(layout.MustParse("(64,64):(64,1)"))
	axes := []Extent{{"m", 8}, {"k", 8}}
	for _, own := range []*MatrixInstruction{
		nil, {}, {Name: "sm90.wgmma.own"},
		{Name: "sm90.wgmma.own", Fragments: []Fragment{{Name: "A"}, {Name: "C"}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: axes}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: axes, Bits: 16, TV: layout.MustParse("(8,9):(1,8)")}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: axes, Bits: 24, TV: layout.MustParse("(8,8):(1,8)")}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: []Extent{{"m", 0}, {"k", 8}}, Bits: 16, TV: layout.MustParse("(8,8):(1,8)")}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: axes, Bits: 16, TV: layout.MustParse("(2048,1):(0,0)")}}},
		{Name: "own", Fragments: []Fragment{{Name: "A", Axes: axes, Bits: 16, TV: layout.MustParse("(8,8):(7,1)")}}}, // no layout in a larger tile
	} {
		if _, err := SolveLoad(context.Background(), tile, NVIDIA, own, "A"); err == nil {
			t.Errorf("%+v has a load", own)
		}
		if _, err := SolveCanonical(tile, own, "A"); err == nil {
			t.Errorf("%+v has a descriptor", own)
		}
		if own != nil && len(own.Fragments) > 0 && own.Fragments[0].check("") != nil {
			if _, err := own.Fragments[0].Element(0, 0); err == nil {
				t.Errorf("%+v has elements", own)
			}
		}
	}
	// The table isn't shared with the callers.
	m.Fragments[0].Name = "changed"
	if again, err := Instruction(m.Name); err != nil || again.Fragments[0].Name != "address" {
		t.Error("a caller changed the table")
	}
}
