package judge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// loadedOnes are instructions of each way to load; operand by operand.
var loadedOnes = []string{"sm80.mma.m16n8k16.f16", "sm80.mma.m16n8k8.tf32", "sm80.mma.m16n8k32.s8", "sm80.mma.m8n8k4.f64", "sm75.mma.m8n8k32.s4", "sm75.mma.m16n8k8.f16"}

// drawTile draws a layout that may hold tiles of an operand: rows or columns run on, padded or not, swizzled or not.
func drawTile(t *rapid.T, part []int) layout.Composed {
	shape := []int{part[0] * rapid.IntRange(1, 3).Draw(t, "tiles down"), part[1] * rapid.IntRange(1, 2).Draw(t, "tiles right")}
	pad := rapid.SampledFrom([]int{0, 0, 1, 4, 8, 16}).Draw(t, "padding")
	stride := []int{shape[1] + pad, 1}
	if rapid.Bool().Draw(t, "columns") {
		stride = []int{1, shape[0] + pad}
	}
	l, err := layout.New(shape, stride)
	if err != nil {
		t.Fatal(err)
	}
	n := []int{rapid.IntRange(0, 3).Draw(t, "bits"), rapid.IntRange(0, 4).Draw(t, "base"), 0}
	n[2] = rapid.IntRange(max(1, n[0]), 5).Draw(t, "shift")
	w, err := layout.NewSwizzle(n[0], n[1], n[2])
	if err != nil {
		t.Fatal(err)
	}
	c, err := layout.NewComposed(w, rapid.SampledFrom([]int{0, 0, 0, 8, 3}).Draw(t, "offset"), l)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wanted lists the elements of a thread in tile i of an operand by the document's formula: linear coordinates of the layout.
func wantedOf(h []int, part []int, f formula, thread, values, tile int) []int {
	down := h[0] / part[0]
	var list []int
	for v := range values {
		at := f(thread, v)
		list = append(list, at[0]+tile%down*part[0]+h[0]*(at[1]+tile/down*part[1]))
	}
	return list
}

// TestSolveLoad plays each load on random layouts: ldmatrix or the vectors bring the operand into the registers, by the
// documents. Where ldmatrix is refused, a row that it would need is no aligned run of memory.
func TestSolveLoad(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		name, operand := rapid.SampledFrom(loadedOnes).Draw(t, "instruction"), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "operand")
		m, err := Instruction(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Fragment(operand)
		if err != nil {
			t.Fatal(err)
		}
		c := drawTile(t, f.Shape())
		l, err := SolveLoad(context.Background(), c, NVIDIA, m, operand)
		if err != nil {
			if f.Bits >= 8 || !errors.Is(err, ErrNone) {
				t.Fatalf("%v of %s from %v: %v", operand, name, c, err)
			}
			seen["none"]++
			return
		}
		inner := c.Inner()
		shape := inner.Shape()
		want := ptxFragments(nil, name)[operand]
		values, units := f.TV.Dim(1), max(1, 16/f.Bits)
		at := func(x int) int {
			off, err := c.Offset(x)
			if err != nil {
				t.Fatal(err)
			}
			return off
		}
		// row is the coordinates of row r of the matrix that fills a register of all lanes, by PTX's picture of ldmatrix.
		row := func(tile, register, r int, trans bool) (list []int) {
			for unit := range 8 {
				lane, half := 4*r+unit/2, unit%2
				if trans {
					lane, half = 4*unit+r/2, r%2
				}
				own := wantedOf(shape, f.Shape(), want, lane, values, tile)
				if f.Bits == 32 {
					if half == 0 {
						list = append(list, own[register])
					}
					continue
				}
				list = append(list, own[register*32/f.Bits+half*units:][:units]...)
			}
			return list
		}
		run := func(x []int) bool {
			for i := range x {
				if at(x[i]) != at(x[0])+i {
					return false
				}
			}
			return at(x[0])%len(x) == 0
		}
		all := func(trans bool) bool { // ldmatrix can load the operand
			if f.Bits > 32 || f.Bits == 32 && trans {
				return false
			}
			for tile := range l.Tiles {
				for register := range values * f.Bits / 32 {
					for r := range 8 {
						if !run(row(tile, register, r, trans)) {
							return false
						}
					}
				}
			}
			return true
		}
		kind, _, _ := strings.Cut(l.With, ".x")
		if strings.HasSuffix(l.With, ".trans") {
			kind += ".trans"
		}
		seen[strings.TrimRight(kind, "0123456789")]++
		straight, trans := all(false), all(true)
		switch {
		case straight != (kind == "ldmatrix") || !straight && trans != (kind == "ldmatrix.trans"):
			t.Fatalf("%s of %s from %v: %s; by hand ldmatrix %v, trans %v", operand, name, c, l.With, straight, trans)
		case len(l.Refused) != map[string]int{"ldmatrix": 0, "ldmatrix.trans": 1}[kind]+2*either(straight || trans, 0, 1):
			t.Fatalf("%s: refused %v", l.With, l.Refused)
		}
		p, err := l.Access.over("", shape, f.Bits)
		if err != nil {
			t.Fatal(err)
		}
		if straight || trans { // the rows of matrix after matrix, eight threads at once
			for i := 0; i < len(p.coords); i += p.vector {
				step := i / p.vector / 8 // tile by tile, register by register
				per := values * f.Bits / 32
				if got, want := p.coords[i:i+p.vector], row(step/per, step%per, i/p.vector%8, !straight); !slices.Equal(got, want) {
					t.Fatalf("%s of %s: row %d of matrix %d is %v, want %v", operand, name, i/p.vector%8, step, got, want)
				}
			}
			return
		}
		for tile := range l.Tiles {
			for lane := range 32 {
				own := wantedOf(shape, f.Shape(), want, lane, values, tile)
				for v := 0; v < values; v += p.vector {
					step := (tile*values + v) / p.vector
					got := p.coords[(step*32+lane)*p.vector:][:p.vector]
					if !slices.Equal(got, own[v:v+p.vector]) || !run(got) {
						t.Fatalf("%s of %s: lane %d loads %v for the values from %d on, %v", operand, name, lane, got, v, own)
					}
				}
			}
		}
	})
	for _, kind := range []string{"ldmatrix", "ldmatrix.trans", "ld.shared.b", "ld.shared.v2.b", "none"} {
		if seen[kind] == 0 {
			t.Errorf("no random layout leads to %s: %v", kind, seen)
		}
	}
}

// The smallest swizzle of a row-major tile is free of conflicts for ldmatrix and for the copy that fills it.
func TestSolveLoadMends(t *testing.T) {
	m, err := Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{ // 64, 32 and 16 elements in a row
		"(64,64):(64,1)": "Sw<3,3,3>",
		"(64,32):(32,1)": "Sw<2,3,3>",
		"(64,16):(16,1)": "Sw<1,3,3>",
	} {
		c := Plain(layout.MustParse(text))
		l, err := SolveLoad(context.Background(), c, NVIDIA, m, "A", Rows(32, 8))
		if err != nil || l.Swizzle == nil || !l.Swizzle.Found {
			t.Fatalf("%s: %v %v", text, l, err)
		}
		if got := l.Swizzle.Swizzle.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		mended, err := layout.NewComposed(l.Swizzle.Swizzle, 0, c.Inner())
		if err != nil {
			t.Fatal(err)
		}
		if l, err = SolveLoad(context.Background(), mended, NVIDIA, m, "A"); err != nil || !l.Report.Clean() || l.Swizzle != nil {
			t.Errorf("%v: %v %v", mended, l, err)
		}
	}
}

func TestSolveLoadErrors(t *testing.T) {
	m, err := Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		t.Fatal(err)
	}
	bits, err := Instruction("sm75.mma.m8n8k32.s4")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		layout, operand string
		m               *MatrixInstruction
		is              error
		says            string
	}{
		{"(16,16):(16,1)", "D", m, ErrNone, "A, B, C"},
		{"256:1", "A", m, layout.ErrShape, "1 modes"},
		{"(24,16):(16,1)", "A", m, layout.ErrDivide, "whole tiles of (16,16)"},
		{"(0,16):(16,1)", "A", m, layout.ErrDivide, "whole tiles"},
		{"(16,16):(-16,1)", "A", m, layout.ErrRange, "memory begins at 0"},
		{"(4096,4096):(4096,1)", "A", m, layout.ErrLimit, "elements"},
		{"(8,32):(1,8)", "A", bits, ErrNone, "whole bytes"},
	} {
		_, err := SolveLoad(context.Background(), Plain(layout.MustParse(tc.layout)), NVIDIA, tc.m, tc.operand)
		if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s of %s from %s: %v", tc.operand, tc.m.Name, tc.layout, err)
		}
	}
	var none context.Context
	if _, err := SolveLoad(none, Plain(layout.MustParse("(16,16):(16,1)")), NVIDIA, m, "A"); err == nil {
		t.Error("a nil context")
	}
}
