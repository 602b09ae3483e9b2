package judge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// byTMA plays the copy of boxes: it returns the offset in shared memory of each element of a row-major tile, for boxes that
// begin at the places that the layout has for their first elements. Shared memory is addressed in bytes here.
func byTMA(to func(r, c int) int, rows, cols, outer, inner, swizzle, bytes int) (where [][]int, aligned bool) {
	where, aligned = make([][]int, rows), true
	for r := range where {
		where[r] = make([]int, cols)
	}
	turn := func(address int) int { // bits from 7 on are added to those from 4 on
		switch swizzle {
		case 128:
			return address ^ address>>7&7<<4
		case 64:
			return address ^ address>>7&3<<4
		case 32:
			return address ^ address>>7&1<<4
		}
		return address
	}
	for r0 := 0; r0 < rows; r0 += outer {
		for c0 := 0; c0 < cols; c0 += inner {
			begin := turn(to(r0, c0) * bytes)
			aligned = aligned && begin%max(128, 8*swizzle) == 0
			for r := range outer {
				for c := range inner {
					where[r0+r][c0+c] = turn(begin+(r*inner+c)*bytes) / bytes
				}
			}
		}
	}
	return where, aligned
}

// TestSolveStage plays the boxes of TMA and the asynchronous copies on random tiles.
func TestSolveStage(t *testing.T) {
	gpu, err := ParseLines("nvidia")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	copied := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "bits")
		bytes := bits / 8
		rows, cols := 8*rapid.IntRange(1, 4).Draw(t, "rows"), 128/bits*rapid.SampledFrom([]int{1, 2, 4, 8, 8, 16}).Draw(t, "units")
		from, err := layout.New([]int{rows, cols}, []int{4096, 1})
		if err != nil {
			t.Fatal(err)
		}
		// Shared memory: columns in parts that lie one behind the other, as boxes do, or padded rows.
		inner := min(cols, 128/bits*rapid.SampledFrom([]int{1, 2, 4, 8, 8}).Draw(t, "inner units"))
		pitch := inner + rapid.SampledFrom([]int{0, 0, 0, 128 / bits, 2}).Draw(t, "padding")
		shape := layout.List(layout.Int(rows), layout.Ints(inner, cols/inner))
		stride := layout.List(layout.Int(pitch), layout.Ints(1, rows*pitch))
		in, err := layout.Of(shape, stride)
		if err != nil {
			t.Fatal(err)
		}
		b := log2(inner * bits / 128)
		if rapid.Bool().Draw(t, "another swizzle") {
			b = rapid.IntRange(0, 3).Draw(t, "bits of the swizzle")
		}
		w, err := layout.NewSwizzle(b, log2(128/bits), 3)
		if err != nil {
			t.Fatal(err)
		}
		to, err := layout.NewComposed(w, 0, in)
		if err != nil {
			t.Fatal(err)
		}
		s, err := SolveStage(context.Background(), Plain(from), to, gpu, NVIDIA, 256, bits, 8)
		if err != nil {
			t.Fatalf("%v to %v: %v", from, to, err)
		}
		at := func(r, c int) int {
			off, err := to.Offset(r + rows*c)
			if err != nil {
				t.Fatal(err)
			}
			return off
		}
		equal := func(outer, inner, swizzle int) bool {
			where, aligned := byTMA(at, rows, cols, outer, inner, swizzle, bytes)
			for r := range rows {
				for c := range cols {
					if where[r][c] != at(r, c) {
						return false
					}
				}
			}
			return aligned
		}
		if b := s.Box; b != nil {
			seen[b.Swizzle]++
			if !equal(b.Outer, b.Inner, b.Swizzle) || b.Axis != 1 || b.Count*b.Inner*b.Outer != rows*cols {
				t.Fatalf("%v to %v: %+v isn't what TMA does", from, to, b)
			}
		} else {
			seen[-1]++
			for swizzle := 32; swizzle <= 128; swizzle *= 2 {
				if n := swizzle / bytes; cols%n == 0 && equal(rows, n, swizzle) {
					t.Fatalf("%v to %v: %s, but a box of swizzle %d does it", from, to, s.NoBox, swizzle)
				}
			}
			if cols <= 256 && equal(rows, cols, 0) {
				t.Fatalf("%v to %v: %s, but one box does it", from, to, s.NoBox)
			}
		}
		copied[s.Width]++
		if s.Width == 0 {
			return
		}
		p, err := s.Access.over("", []int{rows, cols}, bits)
		if err != nil {
			t.Fatal(err)
		}
		taken := make([]bool, rows*cols)
		for i := 0; i < len(p.coords); i += p.vector {
			for j := range p.vector {
				x, first := p.coords[i+j], p.coords[i]
				if taken[x] || at(x%rows, x/rows) != at(first%rows, first/rows)+j || x/rows != first/rows+j || x%rows != first%rows {
					t.Fatalf("%v to %v: copy %d isn't a run in both memories", from, to, i/p.vector)
				}
				taken[x] = true
			}
		}
		if p.vector*bytes != s.Width || len(p.coords) != rows*cols {
			t.Fatalf("%d copies of %d bytes, of %d elements", len(p.coords)/p.vector, s.Width, rows*cols)
		}
	})
	for _, kind := range []int{-1, 0, 32, 64, 128} {
		if seen[kind] == 0 {
			t.Errorf("no random tile leads to swizzle %d: %v", kind, seen)
		}
	}
	if copied[16] == 0 || copied[4] == 0 {
		t.Errorf("no random tile is copied in 16 and in 4 bytes: %v", copied)
	}
}

func TestSolveStageCases(t *testing.T) {
	gpu, err := ParseLines("nvidia")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		from, to            string
		align, bits, thread int
		width               int
		narrow, noBox       string
		is                  error
	}{
		{"(64,64):(1024,1)", "Sw<3,3,3> o (64,64):(64,1)", 256, 16, 128, 16, "", "", nil},
		{"(64,64):(1024,1)", "(64,64):(1,64)", 256, 16, 128, 0, "1 elements", "box", nil},
		{"(64,64):(1024,1)", "(64,64):(72,1)", 8, 16, 128, 8, "multiple of 8 bytes", "lies 72 elements", nil},
		{"(64,64):(1000,2)", "(64,64):(64,1)", 256, 16, 128, 0, "1 elements", "isn't", nil},
		{"(64,64):(1004,1)", "(64,64):(64,1)", 256, 16, 128, 8, "4 elements", "multiple of 16 bytes", nil},
		{"(64,64):(1024,1)", "(64,32):(32,1)", 256, 16, 128, 0, "", "", layout.ErrShape},
		{"(64,64):(1024,1)", "(64,64):(64,1)", 256, 16, 3, 0, "", "", layout.ErrDivide},
		{"(64,64):(1024,1)", "(64,64):(64,1)", 256, 16, 0, 0, "", "", layout.ErrRange},
		{"(64,64):(1024,1)", "(64,64):(64,1)", 256, 24, 128, 0, "", "", layout.ErrRange},
		{"(64,64):(1024,1)", "(64,64):(0,1)", 256, 16, 128, 0, "", "", layout.ErrShape},
	} {
		from, to := Plain(layout.MustParse(tc.from)), layout.Composed{}
		if to, err = Parse(tc.to); err != nil {
			t.Fatal(err)
		}
		s, err := SolveStage(context.Background(), from, to, gpu, NVIDIA, tc.align, tc.bits, tc.thread)
		if tc.is != nil {
			if err == nil || tc.is != layout.ErrShape && !errors.Is(err, tc.is) {
				t.Errorf("%s to %s: %v, want %v", tc.from, tc.to, err, tc.is)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s to %s: %v", tc.from, tc.to, err)
		}
		if s.Width != tc.width || !strings.Contains(s.Narrow, tc.narrow) || (s.Box == nil) != (tc.noBox != "") {
			t.Errorf("%s to %s: width %d, %q, box %v, %q", tc.from, tc.to, s.Width, s.Narrow, s.Box, s.NoBox)
		}
	}
	var none context.Context
	if _, err := SolveStage(none, layout.Composed{}, layout.Composed{}, gpu, NVIDIA, 16, 16, 32); err == nil {
		t.Error("a nil context")
	}
}
