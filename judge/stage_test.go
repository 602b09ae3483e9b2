package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// moved plays TMA: it writes boxes of up to five axes to shared memory, and gives the offset of each element of a tile. A box
// begins where the tile has its first element.
func moved(b *Box, shape []int, bytes int, to func(x int) int) []int {
	turn := func(address int) int { return address ^ address>>7&(b.Swizzle/16-1)<<4 }
	if b.Swizzle == 0 {
		turn = func(address int) int { return address }
	}
	where := make([]int, layoutSize(shape))
	var walk func(start []int, axis int)
	walk = func(start []int, axis int) { // over the boxes of the tile
		if axis < len(shape) {
			for c := 0; c < shape[axis]; c += b.Extents[axis] {
				walk(append(slices.Clone(start), c), axis+1)
			}
			return
		}
		address := turn(to(linear(shape, start)) * bytes)
		at := slices.Clone(start)
		var fill func(k int)
		fill = func(k int) { // the last axis of the tensor is the slowest
			if k < 0 {
				where[linear(shape, at)] = turn(address) / bytes
				address += bytes
				return
			}
			i := b.Order[k]
			for at[i] = start[i]; at[i] < start[i]+b.Extents[i]; at[i]++ {
				fill(k - 1)
			}
			at[i] = start[i]
		}
		fill(len(b.Order) - 1)
	}
	walk(nil, 0)
	return where
}

func layoutSize(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

// TestBoxes gives SolveStage tiles of one to five axes that TMA writes by construction, and plays the boxes that it finds.
func TestBoxes(t *testing.T) {
	gpu, err := ParseLines("nvidia")
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{8, 16, 32}).Draw(t, "bits")
		rank := rapid.IntRange(1, 5).Draw(t, "rank")
		axis := rapid.IntRange(0, rank-1).Draw(t, "contiguous axis")
		units := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "units of 16 bytes")
		shape, strides, shared := make([]int, rank), make([]int, rank), make([]int, rank)
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range rank {
				if i != axis && !yield(i) {
					return
				}
			}
		})).Draw(t, "order in shared memory")
		shape[axis], strides[axis], shared[axis] = units*128/bits, 1, 1
		pitch, far := shape[axis], 256*128/bits
		for _, i := range order {
			shape[i] = rapid.IntRange(1, 4).Draw(t, "extent")
			if i == order[0] {
				shape[i] = 8 // a box begins at 128 bytes, or at 128 times the units of its swizzle
			}
			shared[i], pitch = pitch, pitch*shape[i]
			strides[i] = far * rapid.IntRange(1, 8).Draw(t, "element stride")
			far = strides[i] * shape[i]
		}
		from, err := layout.New(shape, strides)
		if err != nil {
			t.Fatal(err)
		}
		in, err := layout.New(shape, shared)
		if err != nil {
			t.Fatal(err)
		}
		w, err := layout.NewSwizzle(log2(units), log2(128/bits), 3)
		if err != nil {
			t.Fatal(err)
		}
		to, err := layout.NewComposed(w, 0, in)
		if err != nil {
			t.Fatal(err)
		}
		s, err := SolveStage(context.Background(), Plain(from), to, gpu, NVIDIA, 256, bits, 1)
		if err != nil {
			t.Fatalf("%v to %v: %v", from, to, err)
		}
		if s.Box == nil || s.Box.Count != 1 {
			t.Fatalf("%v to %v: box %+v, %s; TMA does it with one", from, to, s.Box, s.NoBox)
		}
		at := func(x int) int {
			off, err := to.Offset(x)
			if err != nil {
				t.Fatal(err)
			}
			return off
		}
		for x, got := range moved(s.Box, shape, bits/8, at) {
			if got != at(x) {
				t.Fatalf("%v to %v: %+v writes element %d to %d", from, to, s.Box, x, got)
			}
		}
		ranks[len(s.Box.Order)]++
	})
	for rank := 1; rank <= 5; rank++ {
		if ranks[rank] == 0 {
			t.Errorf("no random tile has %d axes: %v", rank, ranks)
		}
	}
}

// TestBoxesOfTiles has tiles that take several boxes.
func TestBoxesOfTiles(t *testing.T) {
	for _, tc := range []struct{ from, to, want string }{
		{"(64,64):(1024,1)", "(64,64):(128,1)", "{[1 64] [1 0] 0 64}"},           // padded rows of 256 bytes
		{"(64,64):(1024,1)", "(64,(32,2)):(32,(1,2048))", "{[64 32] [1 0] 0 2}"}, // columns in two halves
		{"(16,64):(1024,1)", "((8,2),64):((64,1024),1)", "{[8 64] [1 0] 0 2}"},   // a gap after 8 rows
		{"((8,2),64):((1024,65536),1)", "Sw<3,3,3> o (16,64):(64,1)", "{[8 2 64] [2 0 1] 128 1}"},
		{"512:1", "512:1", "{[256] [0] 0 2}"},
	} {
		to, err := Parse(tc.to)
		if err != nil {
			t.Fatal(err)
		}
		from := layout.MustParse(tc.from)
		b, why, err := box("TestBoxesOfTiles", Plain(from), to, 16)
		if err != nil || b == nil || fmt.Sprint(*b) != tc.want {
			t.Fatalf("%s to %s: %v, %q, %v; want %s", tc.from, tc.to, b, why, err, tc.want)
		}
		flat := from.Flatten().Shape()
		for x, got := range moved(b, flat, 2, func(x int) int { off, _ := to.Offset(x); return off }) {
			if want, err := to.Offset(x); err != nil || got != want {
				t.Fatalf("%s to %s: TMA writes element %d to %d, not %d", tc.from, tc.to, x, got, want)
			}
		}
	}
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
			if !equal(b.Extents[0], b.Extents[1], b.Swizzle) || b.Order[0] != 1 || b.Count*b.Extents[0]*b.Extents[1] != rows*cols {
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
		{"(64,64):(1024,1)", "(64,64):(1,64)", 256, 16, 128, 0, "1 elements", "no whole runs", nil},
		{"(64,64):(1024,1)", "(64,64):(72,1)", 8, 16, 128, 8, "multiple of 8 bytes", "begins at offset 72", nil},
		{"(64,64):(1000,2)", "(64,64):(64,1)", 256, 16, 128, 0, "1 elements", "a stride of global memory is 2", nil},
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
		if s.Width != tc.width || !strings.Contains(s.Narrow, tc.narrow) || (s.Box == nil) != (tc.noBox != "") || !strings.Contains(s.NoBox, tc.noBox) {
			t.Errorf("%s to %s: width %d, %q, box %v, %q", tc.from, tc.to, s.Width, s.Narrow, s.Box, s.NoBox)
		}
	}
	var none context.Context
	if _, err := SolveStage(none, layout.Composed{}, layout.Composed{}, gpu, NVIDIA, 16, 16, 32); err == nil {
		t.Error("a nil context")
	}
}
