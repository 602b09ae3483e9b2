package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// where returns the elements of p, in row-major order, at the indices that keep
// chooses.
func (p pair) where(keep func(idx []int) bool) []int32 {
	list := []int32{}
	for i, idx := range coords(p.m.shape) {
		if keep(idx) {
			list = append(list, p.m.data[p.m.at[i]])
		}
	}
	return list
}

// refused runs f, and reports whether it says that a nested axis has no such part.
func refused(t *rapid.T, p pair, f func()) bool {
	err := tensor.Try(f)
	if err != nil && (p.m.flat || !errors.Is(err, tensor.ErrView) && !errors.Is(err, layout.ErrDivide)) {
		t.Fatal(err)
	}
	return err != nil
}

func drawSizes(t *rapid.T, rank int) []int {
	size := make([]int, rank)
	for i := range size {
		size[i] = rapid.IntRange(1, 5).Draw(t, "size")
	}
	return size
}

func same(t *rapid.T, what string, got, want []int32) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// Tiles hold the elements whose indices divided by the sizes are the coordinates.
func TestTiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		size := drawSizes(t, len(p.m.shape))
		tiles := 0
		refused(t, p, func() {
			for at, tile := range tensor.Tiles(p.t, size...) {
				tiles += tile.Len()
				in := func(idx []int) bool {
					for i, x := range idx {
						if x/size[i] != at[i] {
							return false
						}
					}
					return true
				}
				same(t, "Tiles", values(tile), p.where(in))
				same(t, "Tile", values(tensor.Tile(p.t, size, at...)), p.where(in))
				if tile.Any().Clipped(size...) != !slices.Equal(tile.Shape(), size) {
					t.Fatal("Clipped")
				}
				clear(at) // the loop's own
			}
			if tiles != p.t.Len() {
				t.Fatalf("the tiles have %d elements of %d", tiles, p.t.Len())
			}
		})
		if len(size) == 0 || p.t.Len() == 0 {
			return
		}
		beyond := make([]int, len(size))
		beyond[0] = p.m.shape[0]/size[0] + rapid.SampledFrom([]int{1, math.MaxInt >> 20, math.MaxInt - 1000}).Draw(t, "beyond")
		refused(t, p, func() {
			if tile := tensor.Tile(p.t, size, beyond...); tile.Len() != 0 {
				t.Fatalf("past the edge: %v", tile)
			}
		})
	})
}

// A TileIterator goes through the tiles of one row of them.
func TestTiledIterator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		if len(p.m.shape) == 0 {
			return
		}
		axis := rapid.IntRange(0, len(p.m.shape)-1).Draw(t, "axis")
		size, at := drawSizes(t, len(p.m.shape)), make([]int, len(p.m.shape))
		for i := range at {
			at[i] = rapid.IntRange(0, 2).Draw(t, "start")
		}
		n := (p.m.shape[axis] + size[axis] - 1) / size[axis]
		circular := rapid.Bool().Draw(t, "circular") && n > 0
		refused(t, p, func() {
			it := tensor.TiledIterator(p.t, size, axis, at...)
			if circular {
				it.Circular()
			}
			for range 5 {
				if circular {
					at[axis] %= n
				}
				if it.Valid() != (at[axis] < n) {
					t.Fatalf("tile %d of %d: Valid is %v", at[axis], n, it.Valid())
				}
				if !it.Valid() {
					if err := tensor.Try(func() { it.Tile() }); !errors.Is(err, tensor.ErrIndex) {
						t.Fatal(err)
					}
					return
				}
				same(t, "Tile", values(it.Tile()), values(tensor.Tile(p.t, size, at...)))
				by := rapid.IntRange(0, 3).Draw(t, "by")
				it.Next(by)
				at[axis] += by
			}
		})
	})
}

// Positions of a LayoutIterator are counted one by one.
func TestLayoutIterator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := make([]int32, rapid.IntRange(0, 40).Draw(t, "size"))
		for i := range data {
			data[i] = int32(i)
		}
		lay := layout.MustParse(rapid.SampledFrom([]string{"1:0", "(2,2):(8,1)", "(2,3):(3,1)", "4:0", "0:1", "((2,2),2):((1,4),2)"}).Draw(t, "layout"))
		_, hi := lay.Span()
		step, start := rapid.IntRange(1, 50).Draw(t, "step"), rapid.IntRange(0, 50).Draw(t, "start")
		circular := rapid.Bool().Draw(t, "circular")
		iterate := tensor.LayoutIterator[int32]
		if circular {
			iterate = tensor.CircularLayoutIterator[int32]
		}
		it := iterate(tensor.FromSlice(data), lay, step, start)
		for at := start; ; at += step {
			if circular && len(data) > 0 {
				at %= len(data)
			} else if !it.Valid() {
				if at < len(data) && at+max(hi, 0) < len(data) {
					t.Fatalf("stopped before %d", at)
				}
				return
			}
			var tile tensor.Tensor[int32]
			err := tensor.Try(func() { tile = it.Tile() })
			if at+hi >= len(data) {
				if err == nil {
					t.Fatalf("%v at %d of %d", lay, at, len(data))
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				for i := range lay.Size() {
					idx, _ := lay.Coord(i)
					if off, _ := lay.Offset(i); tile.At(idx...) != int32(at+off) {
						t.Fatalf("%v at %d: %v", lay, at, tile)
					}
				}
			}
			if it.Next(1); rapid.IntRange(0, 9).Draw(t, "stop") == 0 {
				return
			}
		}
	})
}

// The parts of a split hold each element once, in order.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		if len(p.m.shape) == 0 {
			return
		}
		axis := rapid.IntRange(0, len(p.m.shape)-1).Draw(t, "axis")
		count, align := rapid.IntRange(1, 6).Draw(t, "count"), rapid.SampledFrom([]int{1, 2, 3, math.MaxInt/2 + 1}).Draw(t, "align")
		n := p.m.shape[axis]
		refused(t, p, func() {
			from := 0
			parts := tensor.Split(p.t, axis, count)
			for i := range count {
				part := tensor.SplitPart(p.t, axis-len(p.m.shape), count, i, align)
				to := from + part.Dim(axis)
				same(t, "SplitPart", values(part), p.where(func(idx []int) bool { return from <= idx[axis] && idx[axis] < to }))
				if to < n && part.Dim(axis)%align != 0 {
					t.Fatalf("a part of %d with alignment %d", part.Dim(axis), align)
				}
				if from = to; align == 1 {
					same(t, "Split", values(parts[i]), values(part))
				}
			}
			if from != n || len(parts) != count {
				t.Fatalf("the parts cover %d of %d", from, n)
			}
		})
	})
}

// threadGrid draws a compact layout of threads for a shape.
func threadGrid(t *rapid.T, rank int) layout.Layout {
	ext, str := make([]int, rank), make([]int, rank)
	step := 1
	for _, i := range rapid.Permutation(seq(rank)).Draw(t, "order") {
		ext[i], str[i] = rapid.IntRange(1, 3).Draw(t, "threads"), step
		step *= ext[i]
	}
	l, err := layout.New(ext, str)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A thread gets the elements whose indices are its coordinates modulo the grid.
func TestDistribute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		threads := threadGrid(t, len(p.m.shape))
		axis := -1
		var o *tensor.DistributeOptions
		if len(p.m.shape) > 0 && rapid.Bool().Draw(t, "along") {
			axis = rapid.IntRange(0, len(p.m.shape)-1).Draw(t, "axis")
			o = &tensor.DistributeOptions{Axes: []int{axis}}
		}
		total := 0
		for i := range threads.Size() {
			grid, _ := threads.Coord(i)
			id, _ := threads.Offset(i)
			if refused(t, p, func() {
				frag := tensor.Distribute(p.t, threads, id, o)
				total += frag.Len()
				same(t, "Distribute", values(frag), p.where(func(idx []int) bool {
					for k, x := range idx {
						if axis < 0 || axis == k {
							if x%threads.Dim(k) != grid[k] {
								return false
							}
						}
					}
					return true
				}))
			}) {
				return
			}
		}
		if axis < 0 && total != p.t.Len() {
			t.Fatalf("the fragments have %d elements of %d", total, p.t.Len())
		}
	})
}

// Where threads nest as the tensor does, each element belongs to one of them too.
func TestDistributeByLeaf(t *testing.T) {
	x := tensor.FromLayout(tensor.Arange[int32](0, 96, 1).Elems(), layout.MustParse("((4,2,3),4):((1,16,32),4)"))
	threads := layout.MustParse("((2,2,2),2):((4,1,8),2)")
	seen := make(map[int32]bool)
	for id := range threads.Size() {
		frag := tensor.Distribute(x, threads, id, nil)
		lay := frag.Layout()
		if lay.Leaves() != 4 {
			t.Errorf("thread %d: %v isn't divided by leaf", id, lay)
		}
		for v := range frag.Values() {
			if seen[v] {
				t.Errorf("element %d belongs to two threads", v)
			}
			seen[v] = true
		}
	}
	if len(seen) != 96 {
		t.Errorf("%d elements of 96", len(seen))
	}
}

func TestDistributeSwizzled(t *testing.T) {
	x := tensor.Arange[int32](0, 16, 1).View(4, 4)
	w, err := layout.NewSwizzle(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	threads := layout.MustParse("(2,2):(2,1)")
	want := [][]int32{{0, 2, 8, 10}, {1, 3, 9, 11}, {5, 7, 13, 15}, {4, 6, 12, 14}}
	for id, v := range want {
		if got := values(tensor.Distribute(x, threads, id, &tensor.DistributeOptions{Swizzle: w})); !slices.Equal(got, v) {
			t.Errorf("thread %d: %v, want %v", id, got, v)
		}
	}
	far, err := layout.NewSwizzle(1, 2, 2) // 4 ↦ 4, but 16 ↦ 20
	if err != nil {
		t.Fatal(err)
	}
	if err := tensor.Try(func() {
		tensor.Distribute(tensor.Arange[int32](0, 18, 1).View(9, 2), layout.MustParse("(9,1):(1,0)"), 8, &tensor.DistributeOptions{Swizzle: far})
	}); !errors.Is(err, tensor.ErrIndex) {
		t.Error(err)
	}
	if err := tensor.Try(func() { tensor.Distribute(x.S(":, :2"), threads, 1, &tensor.DistributeOptions{Swizzle: w}) }); !errors.Is(err, tensor.ErrView) {
		t.Error(err)
	}
}

// Vectors are blocks; lanes outside the tensor are missing.
func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		size := drawSizes(t, len(p.m.shape))
		refused(t, p, func() {
			v := tensor.Vectorize(p.t, size...)
			elem := v.ElemLayout()
			// The order of the lanes: the axis of stride 1, then from the first on.
			order := seq(len(size))
			for i := range size {
				if s, ok := elem.Stride(i); ok && s == 1 && size[i] > 1 {
					order = slices.Insert(slices.Delete(order, i, i+1), 0, i)
					break
				}
			}
			clipped := false
			for _, at := range coords(v.Shape()) {
				want := make([]int32, v.ElemLen())
				present := 0
				for lane := range want {
					idx, left := make([]int, len(size)), lane
					for _, i := range order {
						idx[i] = at[i]*size[i] + left%size[i]
						left /= size[i]
					}
					k, inside := 0, true
					for i, x := range idx {
						inside = inside && x < p.m.shape[i]
						k = k*p.m.shape[i] + x
					}
					if inside {
						want[lane] = p.m.data[p.m.at[k]]
						present++
					}
				}
				same(t, "At", v.At(at...), want)
				lanes := make([]int32, len(want))
				for i := range lanes {
					lanes[i] = -1
				}
				if n := v.Load(lanes, at...); n != present || v.Full(at...) != (present == len(want)) {
					t.Fatalf("%d lanes, want %d", n, present)
				}
				clipped = clipped || present < len(want)
				for i := range lanes {
					lanes[i] *= 2
				}
				if n := v.Store(lanes, at...); n != present {
					t.Fatalf("stored %d lanes, want %d", n, present)
				}
			}
			if v.Clipped() != clipped {
				t.Fatalf("Clipped is %v", !clipped)
			}
			for i, x := range values(p.t) {
				if x != 2*p.m.data[p.m.at[i]] {
					t.Fatalf("element %d was stored as %d", i, x)
				}
			}
			data, _ := p.t.Data() // nothing else was written
			for i, x := range data {
				if !slices.Contains(p.m.at, i) && x != p.m.data[i] {
					t.Fatalf("place %d outside the tensor was written", i)
				}
			}
		})
	})
}

// A part of the vectors has the vectors of the whole.
func TestPartsOfVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		rank := len(p.m.shape)
		if rank == 0 {
			return
		}
		refused(t, p, func() {
			v := tensor.Vectorize(p.t, drawSizes(t, rank)...)
			size, threads := drawSizes(t, rank), threadGrid(t, rank)
			axis, count := rapid.IntRange(0, rank-1).Draw(t, "axis"), rapid.IntRange(1, 3).Draw(t, "count")
			at := make([]int, rank)
			for i := range at {
				at[i] = rapid.IntRange(0, 2).Draw(t, "coord")
			}
			id := rapid.IntRange(0, threads.Size()-1).Draw(t, "thread")
			grid, _ := threads.Coord(0)
			for i := range threads.Size() {
				if o, _ := threads.Offset(i); o == id {
					grid, _ = threads.Coord(i)
				}
			}
			compare := func(what string, part tensor.Vectors[int32], from func(idx []int) []int) {
				for _, idx := range coords(part.Shape()) {
					whole := from(idx)
					same(t, what, part.At(idx...), v.At(whole...))
					if part.Full(idx...) != v.Full(whole...) {
						t.Fatalf("%s: Full", what)
					}
				}
			}
			each := func(f func(i, x int) int) func(idx []int) []int {
				return func(idx []int) []int {
					out := make([]int, len(idx))
					for i, x := range idx {
						out[i] = f(i, x)
					}
					return out
				}
			}
			compare("Tile", v.Tile(size, at...), each(func(i, x int) int { return at[i]*size[i] + x }))
			compare("Distribute", v.Distribute(threads, id, nil), each(func(i, x int) int { return grid[i] + x*threads.Dim(i) }))
			from := 0
			for _, part := range v.Split(axis, count) {
				compare("Split", part, each(func(i, x int) int {
					if i == axis {
						x += from
					}
					return x
				}))
				from += part.Dim(axis)
			}
			if !v.Clipped() {
				lanes := v.Lanes()
				if lanes.Len() != v.Len()*v.ElemLen() || lanes.Rank() != 2*rank {
					t.Fatalf("Lanes: %v", lanes.Layout())
				}
			}
		})
	})
}

// The coordinate of a thread in a nested mode counts through it, the first leaf fastest.
func TestDistributeNestedThreads(t *testing.T) {
	x := tensor.Arange[int32](0, 8, 1)
	for id, want := range [][]int32{{0, 4}, {2, 6}, {1, 5}, {3, 7}} {
		if got := values(tensor.Distribute(x, layout.MustParse("((2,2)):((2,1))"), id, nil)); !slices.Equal(got, want) {
			t.Errorf("thread %d: %v, want %v", id, got, want)
		}
	}
}
