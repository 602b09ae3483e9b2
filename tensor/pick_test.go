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

// selection is an index by lists in three forms: a way to read, a way to write, and
// for each element of the result the index it has in the tensor.
type selection struct {
	get   func(x tensor.Tensor[int32]) tensor.Tensor[int32]
	set   func(x, src tensor.Tensor[int32])
	shape []int
	from  [][]int
}

// drawSelection draws a selection of a tensor of that shape.
func drawSelection(t *rapid.T, shape []int) selection {
	rank := len(shape)
	s := selection{}
	// count draws how many positions of an axis are asked for.
	count := func(n int) int {
		if n == 0 {
			return 0
		}
		return rapid.IntRange(0, 4).Draw(t, "count")
	}
	position := func(n int) int { return rapid.IntRange(-n, n-1).Draw(t, "position") }
	wrap := func(i, n int) int { return (i + n) % n }
	switch rapid.SampledFrom([]string{"take", "index", "mask"}).Draw(t, "form") {
	case "take":
		a := rapid.IntRange(0, rank-1).Draw(t, "axis")
		at := make([]int, count(shape[a]))
		for k := range at {
			at[k] = position(shape[a])
		}
		s.shape = slices.Clone(shape)
		s.shape[a] = len(at)
		for _, c := range coords(s.shape) {
			c[a] = wrap(at[c[a]], shape[a])
			s.from = append(s.from, c)
		}
		a -= rank * rapid.IntRange(0, 1).Draw(t, "negative")
		s.get = func(x tensor.Tensor[int32]) tensor.Tensor[int32] { return tensor.Take(x, a, at...) }
		s.set = func(x, src tensor.Tensor[int32]) { tensor.SetTake(x, src, a, at...) }
	case "index":
		n := rapid.IntRange(1, rank).Draw(t, "arrays")
		common := []int{}
		for range rapid.IntRange(0, 2).Draw(t, "rank") {
			common = append(common, rapid.IntRange(0, 3).Draw(t, "extent"))
		}
		if slices.Contains(shape[:n], 0) {
			common = []int{0}
		}
		var at []tensor.Tensor[int64]
		for k := range n {
			own := slices.Clone(common)
			for i := range own {
				if rapid.IntRange(0, 3).Draw(t, "stretch") == 0 && shape[k] > 0 {
					own[i] = 1
				}
			}
			own = own[rapid.IntRange(0, len(own)).Draw(t, "fewer"):]
			if shape[k] == 0 {
				own = []int{0}
			}
			x := tensor.New[int64](own...)
			for i := range x.All() {
				x.Set(int64(position(shape[k])), i...)
			}
			at = append(at, x)
		}
		lead := []int{} // the common shape by NumPy's rules
		for _, x := range at {
			for len(lead) < x.Rank() {
				lead = append([]int{1}, lead...)
			}
			for i, e := range x.Shape() {
				if k := len(lead) - x.Rank() + i; lead[k] == 1 {
					lead[k] = e
				}
			}
		}
		s.shape = append(slices.Clone(lead), shape[n:]...)
		for _, c := range coords(s.shape) {
			from := make([]int, 0, rank)
			for k, x := range at {
				from = append(from, wrap(int(x.BroadcastTo(lead...).At(c[:len(lead)]...)), shape[k]))
			}
			s.from = append(s.from, append(from, c[len(lead):]...))
		}
		s.get = func(x tensor.Tensor[int32]) tensor.Tensor[int32] { return tensor.IndexBy(x, at...) }
		s.set = func(x, src tensor.Tensor[int32]) { tensor.SetIndexBy(x, src, at...) }
	case "mask":
		n := rapid.IntRange(0, rank).Draw(t, "axes")
		mask := tensor.New[bool](shape[:n]...)
		hits := 0
		for i := range mask.All() {
			if rapid.Bool().Draw(t, "in") {
				mask.Set(true, i...)
				hits++
				for _, c := range coords(shape[n:]) {
					s.from = append(s.from, append(slices.Clone(i), c...))
				}
			}
		}
		s.shape = append([]int{hits}, shape[n:]...)
		s.get = func(x tensor.Tensor[int32]) tensor.Tensor[int32] { return tensor.Mask(x, mask) }
		s.set = func(x, src tensor.Tensor[int32]) { tensor.SetMask(x, src, mask) }
	}
	return s
}

// Selections against their definition, element by element.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		if len(p.m.shape) == 0 {
			return
		}
		x := p.t
		s := drawSelection(t, p.m.shape)
		want := make([]int32, 0, len(s.from))
		for _, c := range s.from {
			want = append(want, x.At(c...))
		}
		got := s.get(x)
		if !slices.Equal(got.Shape(), s.shape) || !slices.Equal(values(got), want) || got.Any().SameData(x.Any()) {
			t.Fatalf("%v: %v of shape %v, want %v of shape %v", x.Layout(), got, got.Shape(), want, s.shape)
		}
		// Writing: the places in order, so that the last of a repeated one stays.
		after := x.Clone()
		src := tensor.New[int32](s.shape...)
		for i, e := range src.Elems() {
			src.Elems()[i] = e - int32(i) - 1
		}
		switch rapid.SampledFrom([]string{"full", "scalar", "itself"}).Draw(t, "source") {
		case "scalar":
			src = tensor.Scalar[int32](-5)
		case "itself": // a view of the target, where the shape allows
			if size(s.shape) > 0 && x.Len() > 0 {
				src = x.Slice(first(x.Rank())...)
			}
		}
		full := src.BroadcastTo(s.shape...).Clone()
		for k, c := range coords(s.shape)[:len(s.from)] {
			after.Set(full.At(c...), s.from[k]...)
		}
		s.set(x, src)
		if !slices.Equal(values(x), values(after)) {
			t.Fatalf("%v, %v written: %v, want %v", x.Layout(), src, x, after)
		}
		if err := tensor.Try(func() { s.set(x.ReadOnly(), src) }); !errors.Is(err, tensor.ErrReadOnly) {
			t.Fatalf("read-only: %v", err)
		}
	})
}

func first(n int) []tensor.Index {
	idx := make([]tensor.Index, n)
	for i := range idx {
		idx[i] = tensor.I(0)
	}
	return idx
}

// A source that overlaps the places it goes to is read first.
func TestPickOverlap(t *testing.T) {
	x := tensor.Arange[int32](0, 6, 1)
	tensor.SetTake(x, x.S(":3"), 0, 1, 2, 3)
	if want := []int32{0, 0, 1, 2, 4, 5}; !slices.Equal(x.Elems(), want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

func TestPickRefuses(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(4, 6)
	ints := func(v ...int64) tensor.Tensor[int64] { return tensor.FromSlice(v) }
	empty := tensor.New[int32](0, 3)
	before := x.Clone()
	for i, c := range []struct {
		f    func()
		want error
	}{
		{func() { tensor.Take(x, 2, 0) }, tensor.ErrAxis},
		{func() { tensor.Take(x, 1, 0, 6) }, tensor.ErrIndex},
		{func() { tensor.Take(x, 0, -5) }, tensor.ErrIndex},
		{func() { tensor.Take(empty, 0, 0) }, tensor.ErrIndex},
		{func() { tensor.Take(empty, 1, 3) }, tensor.ErrIndex},
		{func() { tensor.SetTake(x, tensor.Scalar[int32](1), 0, 0, 4) }, tensor.ErrIndex},
		{func() { tensor.SetTake(x, tensor.New[int32](3, 6), 0, 0, 1) }, tensor.ErrShape},
		{func() { tensor.IndexBy(x) }, tensor.ErrAxis},
		{func() { tensor.IndexBy(x, ints(0), ints(0), ints(0)) }, tensor.ErrAxis},
		{func() { tensor.IndexBy(x, ints(0, 1), ints(0, 1, 2)) }, tensor.ErrShape},
		{func() { tensor.IndexBy(x, ints(0, 1), ints(5, 6)) }, tensor.ErrIndex},
		{func() { tensor.IndexBy(x, ints(math.MinInt64)) }, tensor.ErrIndex},
		{func() { tensor.IndexBy(empty, ints(0)) }, tensor.ErrIndex},
		{func() { tensor.SetIndexBy(x, tensor.Scalar[int32](1), ints(0, 9)) }, tensor.ErrIndex},
		{func() { tensor.SetIndexBy(x, tensor.New[int32](5), ints(0, 1)) }, tensor.ErrShape},
		{func() { tensor.Mask(x, tensor.New[bool](6)) }, tensor.ErrShape},
		{func() { tensor.Mask(x, tensor.New[bool](4, 6, 1)) }, tensor.ErrShape},
		{func() { tensor.SetMask(x, tensor.New[int32](2, 6), tensor.FromSlice([]bool{true, true, true, false})) }, tensor.ErrShape},
		{func() { tensor.Mask(x, tensor.Tensor[bool]{}) }, tensor.ErrClosed},
		{func() { tensor.IndexBy(x, tensor.Tensor[int64]{}) }, tensor.ErrClosed},
		{func() { tensor.Take(tensor.Tensor[int8]{}, 0) }, tensor.ErrClosed},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.want) {
			t.Errorf("case %d: %v, want %v", i, err, c.want)
		}
	}
	if !slices.Equal(x.Elems(), before.Elems()) {
		t.Error("a failed call wrote something")
	}
	nested := tensor.FromLayout([]int32{0, 1, 2, 3, 4, 5, 6, 7}, layout.MustParse("((2,2),2):((1,4),2)"))
	if got := tensor.Take(nested, 0, -1, 1); !slices.Equal(values(got), []int32{5, 7, 1, 3}) {
		t.Errorf("of a nested axis: %v", got)
	}
}

// A selector may lie in the memory that is written: it is read first.
func TestSelectorsInTheTarget(t *testing.T) {
	a := tensor.Arange[int64](0, 10, 1)
	tensor.SetIndexBy(a.S("2:"), tensor.Scalar[int64](3), a.S(":-2"))
	all := tensor.FromSlice([]int64{0, 0, 0, 1, 2, 0, 0, 0}, 8)
	v := all.S("3:6")
	tensor.SetIndexBy(v, tensor.FromSlice([]int64{4, -3, 2}, 3), v)
	b := tensor.FromSlice([]int64{2, 0, 1}, 3)
	tensor.SetIndexBy(b, tensor.FromSlice([]int64{10, 20, 30}, 3), b)
	m := tensor.FromSlice([]bool{true, true, true, true}, 4)
	tensor.SetMask(m.S("1:"), tensor.Scalar(false), m.S(":3"))
	lanes := tensor.Arange[int64](0, 6, 1)
	tensor.Store(lanes.S("1:"), lanes.Elems()[:5], 0)
	loaded := tensor.Arange[int64](0, 6, 1)
	tensor.Load(loaded.S("::-1"), loaded.Elems()[:4], 0)
	for _, c := range [][2]string{{a.String(), "[0 1 3 3 3 3 3 3 3 3]"}, {all.String(), "[ 0  0  0  2  4 -3  0  0]"}, {b.String(), "[20 30 10]"},
		{m.String(), "[ True False False False]"}, {lanes.String(), "[0 0 1 2 3 4]"}, {loaded.String(), "[5 4 3 2 4 5]"}} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
}
