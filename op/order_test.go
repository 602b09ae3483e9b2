package op

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// before compares two numbers in ascending order: NaNs last, all else by value.
func before[T num.Native](a, b T) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func lineOf[T num.Elem](a tensor.Tensor[T], axis int, c []int) []T {
	idx := make([]tensor.Index, a.Rank())
	for i := range idx {
		idx[i] = tensor.I(c[i])
	}
	idx[axis] = tensor.Colon
	return slices.Collect(a.Slice(idx...).Values())
}

// few returns elements of few different values, the odd ones among them.
func few[T num.Native](t *rapid.T, shape []int) tensor.Tensor[T] {
	a := tensor.New[T](shape...)
	var odd []T
	switch any(odd).(type) {
	case []float32, []float64:
		for _, v := range []float64{nan, negZero, inf, -inf, 5e-324, 1e-45} {
			odd = append(odd, T(v))
		}
	default:
		odd = []T{0, of[T](300), of[T](-300), 0 - T(1), 1 << 6}
	}
	for i := range a.Elems() {
		if k := rapid.IntRange(-8, len(odd)-1).Draw(t, "value"); k >= 0 {
			a.Elems()[i] = odd[k]
		} else {
			a.Elems()[i] = T(k + 4)
		}
	}
	return a
}

func testOrder[T num.Native](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		a := few[T](t, shape)
		order, sorted := tensor.New[int64](shape...), tensor.New[T](shape...)
		k := rapid.IntRange(0, shape[axis]).Draw(t, "k")
		out := changed(slices.Clone(shape), axis, k)
		most, least := tensor.New[int64](out...), tensor.New[int64](out...)
		for c := range order.All() {
			line := lineOf(a, axis, c)
			at := make([]int64, len(line))
			for i := range at {
				at[i] = int64(i)
			}
			slices.SortStableFunc(at, func(i, j int64) int { return before(line[i], line[j]) })
			order.Set(at[c[axis]], c...)
			sorted.Set(line[at[c[axis]]], c...)
			if c[axis] < k {
				least.Set(at[c[axis]], c...)
				slices.SortFunc(at, func(i, j int64) int { return cmp.Or(-before(line[i], line[j]), int(i-j)) })
				most.Set(at[c[axis]], c...)
			}
		}
		agree(t, "ArgSort", ArgSort(a, axis), order)
		for _, v := range variants(a) {
			agree(t, "ArgSort of "+v.name, ArgSort(v.t, axis-len(shape)), order)
			agree(t, "Sort of "+v.name, Sort(v.t, axis), sorted)
			agree(t, "Sort in place, "+v.name, Sort(v.t, axis, Into(v.t)), sorted)
		}
		for _, v := range variants(a) {
			values, at := TopK(v.t, k, axis, TopKOptions{})
			agree(t, "the largest", at, most)
			agree(t, "the largest", values, GatherElements(a, most, axis))
			values, at = TopK(v.t, k, axis, TopKOptions{Smallest: true})
			agree(t, "the smallest", at, least)
			agree(t, "the smallest", values, GatherElements(a, least, axis))
		}
		agree(t, "Sort by TakeAlongAxis", TakeAlongAxis(a, ArgSort(a, axis), axis), sorted)

		// Unique: the rows come back, each result differs, in order, and the first of its kind.
		for _, sort := range []bool{true, false} {
			entries, first, inverse, counts := Unique(a, axis, UniqueOptions{Unsorted: !sort})
			if got := Gather(entries, inverse, axis); a.Len() > 0 {
				for c, v := range got.All() {
					if before(v, a.At(c...)) != 0 {
						t.Fatalf("Unique %v: %v at %v of the entries put back, want %v", sort, v, c, a.At(c...))
					}
				}
			}
			agree(t, "the first of each", Gather(a, first, axis), entries)
			total := int64(0)
			for i := range first.Len() {
				total += counts.At(i)
				if i > 0 && !sort && first.At(i) <= first.At(i-1) {
					t.Fatalf("first occurrences %v, not ascending", first)
				}
				if i > 0 && sort && len(shape) == 1 && before(entries.At(i-1), entries.At(i)) >= 0 {
					t.Fatalf("entries %v, not ascending", entries)
				}
			}
			if total != int64(shape[axis]) {
				t.Fatalf("counts %v of %d entries", counts, shape[axis])
			}
			again, _, _, _ := Unique(entries, axis, UniqueOptions{Unsorted: !sort})
			agree(t, "Unique of Unique", again, entries)
		}
	})
}

func agree[T num.Elem](t rapid.TB, what string, got, want tensor.Tensor[T]) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
	}
	for c, w := range want.All() {
		if g := got.At(c...); rawBits(g) != rawBits(w) {
			t.Fatalf("%s: %v at %v, want %v; all: %v", what, g, c, w, got)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Run("int8", testOrder[int8])
	t.Run("uint16", testOrder[uint16])
	t.Run("int64", testOrder[int64])
	t.Run("float32", testOrder[float32])
	t.Run("float64", testOrder[float64])
}

// All values of the narrow types, in the order of their float32 values.
func TestOrderOfNarrowFloats(t *testing.T) {
	testNarrowOrder(t, 1<<16, func(i int) num.F16 { return num.FromBits[num.F16](uint16(i)) })
	testNarrowOrder(t, 1<<16, func(i int) num.BF16 { return num.FromBits[num.BF16](uint16(i)) })
	testNarrowOrder(t, 1<<8, func(i int) num.F8E4M3 { return num.FromBits[num.F8E4M3](uint16(i)) })
	testNarrowOrder(t, 1<<8, func(i int) num.F8E5M2 { return num.FromBits[num.F8E5M2](uint16(i)) })
}

func testNarrowOrder[T num.Narrow](t *testing.T, n int, fromBits func(int) T) {
	a := tensor.New[T](n)
	for i := range a.Elems() {
		a.Elems()[i] = fromBits(i)
	}
	same(t, fmt.Sprint(a.DType()), ArgSort(a, 0), ArgSort(Cast[float32](a), 0))
}

func TestSortBools(t *testing.T) {
	same(t, "Sort", Sort(tensor.FromSlice([]bool{true, false, true, false}), 0), tensor.FromSlice([]bool{false, false, true, true}))
}

func TestTopKRefuses(t *testing.T) {
	a := count(2, 3)
	fails(t, func() { TopK(a, 4, 1, TopKOptions{}) }, "op.TopK", "k is 4", "axis 1", "extent 3")
	fails(t, func() { TopK(a, -1, 1, TopKOptions{}) }, "op.TopK", "k is -1")
	fails(t, func() { Sort(a, 2) }, "op.Sort", "axis 2")
	for _, c := range []*Call{
		{Inputs: []tensor.Any{a.Any(), i64(4).Any()}},
		{Inputs: []tensor.Any{a.Any(), i64(1, 1).Any()}},
		{Inputs: []tensor.Any{a.Any(), i64(1).Any()}, Attrs: given{"axis": int64(2)}},
		{Inputs: []tensor.Any{tensor.New[bool](3).Any(), i64(1).Any()}},
		{Inputs: []tensor.Any{a.Any()}, Opset: 9},
	} {
		if runs(t, "TopK", c) != nil {
			t.Errorf("TopK of %v, %v runs", described(c.Inputs), c.Attrs)
		}
	}
	out := runs(t, "TopK", &Call{Inputs: []tensor.Any{a.Any()}, Opset: 9, Attrs: given{"k": int64(2)}})
	sameAny(t, "an attribute before opset 10", out[0], tensor.FromSlice([]int32{2, 1, 5, 4}, 2, 2).Any())
}

func testCumulative[T num.Native](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		a := few[T](t, shape)
		if rapid.Bool().Draw(t, "plain") {
			a = random[T](rand.New(rand.NewPCG(3, 3)), shape...)
		}
		exclusive, reverse := rapid.Bool().Draw(t, "exclusive"), rapid.Bool().Draw(t, "reverse")
		sums, products := tensor.New[T](shape...), tensor.New[T](shape...)
		for c := range sums.All() {
			line := lineOf(a, axis, c)
			i := c[axis]
			if reverse {
				slices.Reverse(line)
				i = len(line) - 1 - i
			}
			if !exclusive {
				i++
			}
			sum, product, s, p := math.Copysign(0, -1), 1.0, T(0), T(1)
			for _, v := range line[:i] {
				sum, product = sum+float64(v), product*float64(v)
				s, p = s+v, p*v
			}
			if dtype.Of[T]().IsFloat() {
				if i == 0 {
					sum = 0
				}
				s, p = T(sum), T(product)
				if s != s {
					s = T(nan)
				}
				if p != p {
					p = T(nan)
				}
			}
			sums.Set(s, c...)
			products.Set(p, c...)
		}
		for _, v := range variants(a) {
			agree(t, "CumSum of "+v.name, CumSum(v.t, axis, CumOptions{Exclusive: exclusive, Reverse: reverse}), sums)
			agree(t, "CumProd of "+v.name, CumProd(v.t, axis, CumOptions{Exclusive: exclusive, Reverse: reverse}), products)
			agree(t, "CumSum in place, "+v.name, CumSum(v.t, axis, CumOptions{Exclusive: exclusive, Reverse: reverse}, Into(v.t)), sums)
		}
	})
}

func TestCumulative(t *testing.T) {
	t.Run("int8", testCumulative[int8])
	t.Run("uint16", testCumulative[uint16])
	t.Run("int64", testCumulative[int64])
	t.Run("float32", testCumulative[float32])
	t.Run("float64", testCumulative[float64])
	half := Cast[num.F16](tensor.FromSlice([]float32{2048, 1, 1, 1}))
	same(t, "float16 rounds results, not the sum", Cast[float32](CumSum(half, 0, CumOptions{})), tensor.FromSlice([]float32{2048, 2048, 2050, 2052}))
	fails(t, func() { CumSum(half, 1, CumOptions{}) }, "op.CumSum", "axis 1")
	if runs(t, "CumSum", &Call{Inputs: []tensor.Any{half.Any(), i64(0, 0).Any()}}) != nil {
		t.Error("two axes are accepted")
	}
}

func testScatter[T num.Native](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		a := few[T](t, shape)
		reach := slices.Clone(shape)
		for i := range reach {
			reach[i] = rapid.IntRange(0, shape[i]).Draw(t, "reach")
		}
		reach[axis] = rapid.IntRange(0, 6).Draw(t, "reach")
		n := shape[axis]
		at := tensor.New[int64](reach...)
		for c := range at.All() {
			at.Set(int64(rapid.IntRange(-n, n-1).Draw(t, "index")), c...)
		}
		updates := few[T](t, reach)
		named := rapid.IntRange(0, len(shape)).Draw(t, "named")
		coords := tensor.New[int64](3, named)
		for c := range coords.All() {
			coords.Set(int64(rapid.IntRange(-shape[c[1]], shape[c[1]]-1).Draw(t, "index")), c...)
		}
		blocks := few[T](t, slices.Concat([]int{3}, shape[named:]))
		for _, mode := range []ScatterMode{ScatterReplace, ScatterAdd, ScatterMul, ScatterMax, ScatterMin} {
			step := func(x, v T) T {
				var r T
				switch mode {
				case ScatterReplace:
					return v
				case ScatterAdd:
					r = x + v
				case ScatterMul:
					r = x * v
				case ScatterMax:
					r = max(x, v)
				case ScatterMin:
					r = min(x, v)
				}
				if r != r {
					r = T(nan)
				}
				return r
			}
			want := a.Clone()
			for c, v := range updates.All() {
				to := changed(slices.Clone(c), axis, (int(at.At(c...))+n)%n)
				want.Set(step(want.At(to...), v), to...)
			}
			for _, v := range variants(a) {
				agree(t, "ScatterElements "+string(mode)+" of "+v.name, ScatterElements(v.t, at, updates, axis, mode), want)
				agree(t, "ScatterElements in place, "+string(mode)+" of "+v.name, ScatterElements(v.t, at, updates, axis, mode, Into(v.t)), want)
			}
			want = a.Clone()
			for c, v := range blocks.All() {
				var to []int
				for k := range named {
					to = append(to, (int(coords.At(c[0], k))+shape[k])%shape[k])
				}
				to = append(to, c[1:]...)
				want.Set(step(want.At(to...), v), to...)
			}
			for _, v := range variants(blocks) {
				agree(t, "ScatterND "+string(mode)+" of "+v.name, ScatterND(a, coords, v.t, mode), want)
			}
		}
	})
}

func TestScatter(t *testing.T) {
	t.Run("int8", testScatter[int8])
	t.Run("uint32", testScatter[uint32])
	t.Run("float32", testScatter[float32])
	t.Run("float64", testScatter[float64])
	half := Cast[num.BF16](tensor.FromSlice([]float32{256, 256}))
	ones := Cast[num.BF16](tensor.FromSlice([]float32{1, 1, 1}))
	got := ScatterElements(half, i64(0, 0, 1), ones, 0, ScatterAdd)
	same(t, "bfloat16 rounds each step", Cast[float32](got), tensor.FromSlice([]float32{256, 256, 0}[:2]))

	a, at := i64(1, 2, 3), i64(0, 3)
	fails(t, func() { ScatterElements(a, at, at, 0, ScatterReplace, Into(a)) }, "op.ScatterElements", "index 3 at (1)", "extent 3")
	fails(t, func() { ScatterElements(a, i64(0), at, 0, ScatterReplace) }, "op.ScatterElements", "shape (2)", "(1)")
	fails(t, func() { ScatterElements(a, at, at, 0, "div") }, "op.ScatterElements", `"div"`, "add")
	fails(t, func() { ScatterND(a, tensor.FromSlice([]int64{-4}, 1, 1), i64(9), ScatterAdd, Into(a)) }, "op.ScatterND", "index -4 at (0,0)")
	fails(t, func() {
		ScatterElements(tensor.New[bool](2), i64(0), tensor.New[bool](1), 0, ScatterAdd)
	}, "op.ScatterElements", "bool", "op.Cast")
	same(t, "a refused call", a, i64(1, 2, 3))
	if runs(t, "ScatterElements", &Call{Inputs: []tensor.Any{a.Any(), i64(0).Any(), count(1).Any()}}) != nil {
		t.Error("updates of another type are accepted")
	}
	out := runs(t, "Scatter", &Call{Inputs: []tensor.Any{a.Any(), i64(-1).Any(), i64(7).Any()}})
	sameAny(t, "Scatter", out[0], i64(1, 2, 7).Any())
}

func TestUnique(t *testing.T) {
	odd := math.Float32frombits(0xffc12345)
	a := tensor.FromSlice([]float32{2, odd, float32(negZero), 2, 0, float32(nan), -1})
	v, first, inverse, counts := Unique(a, 0, UniqueOptions{})
	same(t, "entries", v, tensor.FromSlice([]float32{-1, float32(negZero), 2, odd}))
	same(t, "first", first, i64(6, 2, 0, 1))
	same(t, "inverse", inverse, i64(2, 3, 1, 2, 1, 3, 0))
	same(t, "counts", counts, i64(1, 2, 2, 2))
	v, _, _, _ = Unique(a, 0, UniqueOptions{Unsorted: true})
	same(t, "by occurrence", v, tensor.FromSlice([]float32{2, odd, float32(negZero), -1}))
	wide := func(lo ...uint64) tensor.Tensor[fixed.FP64x64] {
		x := tensor.New[fixed.FP64x64](len(lo))
		for i, v := range lo {
			x.Set(fixed.FP64x64FromBits(fixed.Int128{Hi: -1, Lo: v}), i)
		}
		return x
	}
	f, first, inverse, counts := Unique(wide(7, 3, 7), 0, UniqueOptions{})
	same(t, "fixed point", f, wide(3, 7))
	same(t, "first of fixed point", first, i64(1, 0))
	same(t, "inverse of fixed point", inverse, i64(1, 0, 1))
	same(t, "counts of fixed point", counts, i64(1, 2))
	for outs := 1; outs <= 4; outs++ {
		if out := runs(t, "Unique", &Call{Inputs: []tensor.Any{count(2, 3).Transpose().Any()}, Outputs: outs}); len(out) != outs || out[0].Dim(0) != 6 {
			t.Errorf("%d outputs: %v", outs, described(out))
		}
	}
	if runs(t, "Unique", &Call{Inputs: []tensor.Any{tensor.New[complex64](3).Any()}}) != nil {
		t.Error("complex numbers have no order")
	}
}

func TestHardmax(t *testing.T) {
	a := tensor.FromSlice([]float32{1, 3, 3, float32(nan), 5, float32(nan), float32(negZero), 0, 0}, 3, 3)
	want := tensor.FromSlice([]float32{0, 1, 0, 1, 0, 0, 0, 1, 0}, 3, 3)
	for _, v := range variants(a) {
		same(t, v.name, Hardmax(v.t, 1), want)
		same(t, v.name, Hardmax(v.t.Transpose(), 0), want.Transpose())
	}
	same(t, "ArgMax", ArgMax(Hardmax(a, 1), 1, ArgOptions{}), ArgMax(a, 1, ArgOptions{}))
	out := runs(t, "Hardmax", &Call{Inputs: []tensor.Any{a.Any()}, Attrs: given{"axis": int64(0)}, Opset: 11})
	sameAny(t, "one line of all before opset 13", out[0], tensor.FromSlice([]float32{0, 0, 0, 1, 0, 0, 0, 0, 0}, 3, 3).Any())
}
