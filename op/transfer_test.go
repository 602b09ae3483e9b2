package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// A relocation is a call of an operator that moves elements, and its meaning:
// where the element at a coordinate of the result comes from, or nil for filler.
type relocation[T num.Elem] struct {
	name   string
	a      tensor.Tensor[T]
	call   func(a tensor.Tensor[T], opts ...Option) tensor.Tensor[T]
	shape  []int
	from   func(c []int) []int
	filler T
}

// check compares the result with its meaning, for operands and targets in every
// kind of memory and for a target that is part of the operand's.
func (r relocation[T]) check(t rapid.TB) {
	t.Helper()
	want := tensor.New[T](r.shape...)
	for c := range want.All() {
		v := r.filler
		if at := r.from(slices.Clone(c)); at != nil {
			v = r.a.At(at...)
		}
		want.Set(v, c...)
	}
	compare := func(what string, got tensor.Tensor[T]) {
		t.Helper()
		if !slices.Equal(got.Shape(), want.Shape()) {
			t.Fatalf("%s %s of %v: shape %v, want %v", r.name, what, r.a.Shape(), got.Shape(), want.Shape())
		}
		for c, w := range want.All() {
			if g := got.At(c...); rawBits(g) != rawBits(w) {
				t.Fatalf("%s %s of %v: at %v %v, want %v", r.name, what, r.a.Shape(), c, g, w)
			}
		}
	}
	for _, v := range variants(r.a) {
		compare(v.name, r.call(v.t))
	}
	for _, v := range variants(tensor.New[T](r.shape...)) {
		compare("into "+v.name, r.call(r.a, Into(v.t)))
	}
	store := tensor.New[T](r.a.Len() + want.Len())
	a := store.Slice(tensor.R(0, r.a.Len())).View(r.a.Shape()...)
	dst := store.Slice(tensor.R(r.a.Len()/2, r.a.Len()/2+want.Len())).View(r.shape...)
	a.CopyFrom(r.a)
	compare("into its operand's memory", r.call(a, Into(dst)))
}

func changed[T any](s []T, at int, v T) []T {
	s[at] = v
	return s
}

func testTransfers[T num.Elem](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		extents := rapid.IntRange(0, 4)
		shape := rapid.SliceOfN(extents, 1, 4).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		n := shape[axis]
		r := rand.New(rand.NewPCG(1, uint64(n)))
		a := random[T](r, shape...)
		small := func(name string, lo, hi int) []int {
			return rapid.SliceOfN(rapid.IntRange(lo, hi), len(shape), len(shape)).Draw(t, name)
		}

		repeats := small("repeats", 0, 3)
		out := slices.Clone(shape)
		for i := range out {
			out[i] *= repeats[i]
		}
		relocation[T]{"Tile", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] { return Tile(a, repeats, o...) }, out, func(c []int) []int {
			for i := range c {
				c[i] %= shape[i]
			}
			return c
		}, *new(T)}.check(t)

		shift := rapid.IntRange(-9, 9).Draw(t, "shift")
		relocation[T]{"Roll", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] { return Roll(a, shift, axis-len(shape), o...) }, shape, func(c []int) []int {
			return changed(c, axis, ((c[axis]-shift)%n+n)%n)
		}, *new(T)}.check(t)

		before, after := small("before", 0, 5), small("after", 0, 5)
		for i, e := range shape {
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				before[i] = -min(before[i], e)
			}
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				after[i] = -min(after[i], e+min(before[i], 0))
			}
			out[i] = e + before[i] + after[i]
		}
		fill := of[T](3)
		for _, mode := range []PadMode{PadConstant, PadEdge, PadReflect, PadWrap} {
			empty := slices.Contains(shape, 0)
			for i, e := range shape { // the elements that wrap repeats
				empty = empty || mode == PadWrap && e+min(before[i], 0)+min(after[i], 0) == 0
			}
			if mode != PadConstant && empty {
				continue
			}
			relocation[T]{"Pad " + string(mode), a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
				return Pad(a, before, after, mode, fill, o...)
			}, out, func(c []int) []int {
				for i, e := range shape {
					at := c[i] - before[i]
					if left := e + min(before[i], 0) + min(after[i], 0); mode == PadWrap { // cut first
						at = max(0, -before[i]) + ((c[i]-max(before[i], 0))%left+left)%left
					}
					for at < 0 || at >= e { // walk to the data by the mode's rule
						switch {
						case mode == PadConstant:
							return nil
						case mode == PadEdge || e == 1:
							at = max(0, min(at, e-1))
						case at < 0:
							at = -at
						default:
							at = 2*(e-1) - at
						}
					}
					c[i] = at
				}
				return c
			}, fill}.check(t)
		}

		counts := rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "counts")
		var entries []int
		for i, k := range counts {
			entries = append(entries, slices.Repeat([]int{i}, k)...)
		}
		relocation[T]{"Repeat", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
			if n == 0 {
				return Repeat(a, []int{2}, axis, o...)
			}
			return Repeat(a, counts, axis, o...)
		}, changed(slices.Clone(shape), axis, len(entries)), func(c []int) []int {
			return changed(c, axis, entries[c[axis]])
		}, *new(T)}.check(t)

		cond := rapid.SliceOfN(rapid.Bool(), 0, n).Draw(t, "cond")
		var chosen []int
		for i, v := range cond {
			if v {
				chosen = append(chosen, i)
			}
		}
		relocation[T]{"Compress", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
			return Compress(a, tensor.FromSlice(cond, len(cond)), axis, o...)
		}, changed(slices.Clone(shape), axis, len(chosen)), func(c []int) []int {
			return changed(c, axis, chosen[c[axis]])
		}, *new(T)}.check(t)

		if n > 0 {
			by := rapid.SliceOfN(rapid.IntRange(-3*n, 3*n), 0, 6).Draw(t, "indices")
			idx := make([]int64, len(by))
			for _, mode := range []TakeMode{TakeRaise, TakeWrap, TakeClip} {
				at := make([]int, len(by))
				for i, v := range by {
					switch {
					case mode == TakeClip:
						at[i] = max(0, min(v, n-1))
					case mode == TakeRaise:
						v = v % n // within [-n, n)
						fallthrough
					default:
						at[i] = (v%n + n) % n
					}
					idx[i] = int64(v)
				}
				where := tensor.FromSlice(slices.Clone(idx), 1, len(idx))
				relocation[T]{fmt.Sprint("Take ", mode), a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
					return Take(a, where, axis, mode, o...)
				}, slices.Concat(shape[:axis], []int{1, len(idx)}, shape[axis+1:]), func(c []int) []int {
					return slices.Concat(c[:axis], []int{at[c[axis+1]]}, c[axis+2:])
				}, *new(T)}.check(t)
			}
			reach := slices.Clone(shape)
			for i := range reach {
				reach[i] = rapid.IntRange(0, shape[i]).Draw(t, "reach")
			}
			reach[axis] = rapid.IntRange(0, 5).Draw(t, "reach")
			where := tensor.New[int64](reach...)
			for c := range where.All() {
				where.Set(int64(rapid.IntRange(-n, n-1).Draw(t, "index")), c...)
			}
			relocation[T]{"GatherElements", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] { return GatherElements(a, where, axis, o...) }, reach, func(c []int) []int {
				return changed(c, axis, (int(where.At(c...))+n)%n)
			}, *new(T)}.check(t)
			thin := slices.Clone(shape)
			for i := range thin {
				thin[i] = 1
			}
			thin[axis] = 3
			where = tensor.New[int64](thin...)
			for c := range where.All() {
				where.Set(int64(rapid.IntRange(-n, n-1).Draw(t, "index")), c...)
			}
			relocation[T]{"TakeAlongAxis", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] { return TakeAlongAxis(a, where, axis, o...) },
				changed(slices.Clone(shape), axis, 3), func(c []int) []int {
					at := make([]int, len(c))
					at[axis] = c[axis]
					return changed(c, axis, (int(where.At(at...))+n)%n)
				}, *new(T)}.check(t)
		}

		if len(shape) > 1 {
			k := rapid.IntRange(-5, 5).Draw(t, "diagonal")
			for _, upper := range []bool{true, false} {
				relocation[T]{fmt.Sprintf("Trilu %v %d", upper, k), a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
					if upper {
						return Triu(a, k, o...)
					}
					return Tril(a, k, o...)
				}, shape, func(c []int) []int {
					if d := c[len(c)-1] - c[len(c)-2] - k; upper && d < 0 || !upper && d > 0 {
						return nil
					}
					return c
				}, *new(T)}.check(t)
			}
			time := rapid.IntRange(0, 1).Draw(t, "time axis")
			batch := 1 - time
			lengths := tensor.New[int64](shape[batch])
			for i := range shape[batch] {
				lengths.Set(int64(rapid.IntRange(0, shape[time]).Draw(t, "length")), i)
			}
			relocation[T]{"ReverseSequence", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] {
				return ReverseSequence(a, lengths, time, o...)
			}, shape, func(c []int) []int {
				if m := int(lengths.At(c[batch])); c[time] < m {
					c[time] = m - 1 - c[time]
				}
				return c
			}, *new(T)}.check(t)

			// GatherND: the first axis in common, some of the others named.
			b := rapid.IntRange(0, 1).Draw(t, "batch")
			named := rapid.IntRange(0, len(shape)-b).Draw(t, "named")
			if !slices.Contains(shape[b:b+named], 0) {
				by := slices.Concat(shape[:b], []int{2, 3, named})
				where := tensor.New[int64](by...)
				for c := range where.All() {
					e := shape[b+c[len(c)-1]]
					where.Set(int64(rapid.IntRange(-e, e-1).Draw(t, "index")), c...)
				}
				relocation[T]{"GatherND", a, func(a tensor.Tensor[T], o ...Option) tensor.Tensor[T] { return GatherND(a, where, b, o...) },
					slices.Concat(by[:len(by)-1], shape[b+named:]), func(c []int) []int {
						at := slices.Clone(c[:b])
						for x := range named {
							v := int(where.At(slices.Concat(c[:len(by)-1], []int{x})...))
							at = append(at, (v+shape[b+x])%shape[b+x])
						}
						return append(at, c[len(by)-1:]...)
					}, *new(T)}.check(t)
			}
		}
	})
}

// One element of each size, and each kind of zero.
func TestTransfers(t *testing.T) {
	t.Run("int8", testTransfers[int8])
	t.Run("float16", testTransfers[num.F16])
	t.Run("float32", testTransfers[float32])
	t.Run("int64", testTransfers[int64])
	t.Run("complex128", testTransfers[complex128])
}

func TestDepthAndSpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(0, 3)
		n, c, h, w := small.Draw(t, "n"), small.Draw(t, "c"), small.Draw(t, "h"), small.Draw(t, "w")
		b := rapid.IntRange(1, 3).Draw(t, "block")
		crd := rapid.Bool().Draw(t, "crd")
		deep := random[float32](rand.New(rand.NewPCG(4, 4)), n, c*b*b, h, w)
		relocation[float32]{"DepthToSpace", deep, func(a tensor.Tensor[float32], o ...Option) tensor.Tensor[float32] {
			return DepthToSpace(a, b, DepthToSpaceOptions{CRD: crd}, o...)
		},
			[]int{n, c, h * b, w * b}, func(at []int) []int {
				i, j := at[2]%b, at[3]%b
				ch := (i*b+j)*c + at[1]
				if crd {
					ch = (at[1]*b+i)*b + j
				}
				return []int{at[0], ch, at[2] / b, at[3] / b}
			}, 0}.check(t)
		wide := random[float32](rand.New(rand.NewPCG(5, 5)), n, c, h*b, w*b)
		relocation[float32]{"SpaceToDepth", wide, func(a tensor.Tensor[float32], o ...Option) tensor.Tensor[float32] { return SpaceToDepth(a, b, o...) },
			[]int{n, c * b * b, h, w}, func(at []int) []int {
				if c == 0 {
					return nil
				}
				block := at[1] / c
				return []int{at[0], at[1] % c, at[2]*b + block/b, at[3]*b + block%b}
			}, 0}.check(t)
	})
}

func TestNonZero(t *testing.T) {
	negative := tensor.FromSlice([]float32{0, float32(negZero), 1, float32(math.NaN()), 0, -2}, 2, 3)
	same(t, "NonZero", NonZero(negative), tensor.FromSlice([]int64{0, 1, 1, 2, 0, 2}, 2, 3))
	same(t, "of columns", NonZero(negative.Transpose()), tensor.FromSlice([]int64{0, 2, 2, 1, 0, 1}, 2, 3))
	same(t, "complex", NonZero(tensor.FromSlice([]complex64{0, complex(float32(negZero), 0), 1i})), tensor.FromSlice([]int64{2}, 1, 1))
	same(t, "rank 0", NonZero(tensor.Scalar(true)), tensor.New[int64](0, 1))
	same(t, "nothing", NonZero(tensor.New[int8](3, 0)), tensor.New[int64](2, 0))
	same(t, "bytes above the sign", NonZero(tensor.FromSlice([]int16{256, -32768, 0})), tensor.FromSlice([]int64{0, 1}, 1, 2))
	a := i64(0, 5, 0, 7)
	out := tensor.New[int64](1, 2)
	same(t, "into", NonZero(a, Into(out)), tensor.FromSlice([]int64{1, 3}, 1, 2))
	fails(t, func() { NonZero(a, Into(a)) }, "op.NonZero", "(1,2)")
	same(t, "a refused call", a, i64(0, 5, 0, 7))
}

func TestOneHot(t *testing.T) {
	at := tensor.FromSlice([]int64{1, -1, 3, -4}, 2, 2)
	same(t, "last axis", OneHot(at, 3, -1, int8(0), 1), tensor.FromSlice([]int8{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 2, 2, 3))
	same(t, "first axis", OneHot(at, 3, 0, 7.5, -1), tensor.FromSlice([]float64{7.5, 7.5, 7.5, 7.5, -1, 7.5, 7.5, 7.5, 7.5, -1, 7.5, 7.5}, 3, 2, 2))
	same(t, "no depth", OneHot(at, 0, 0, 7.5, -1), tensor.New[float64](0, 2, 2))
	same(t, "over its indices", OneHot(i64(1, 0), 2, 0, int64(0), 1, Into(at)), tensor.FromSlice([]int64{0, 1, 1, 0}, 2, 2))
	fails(t, func() { OneHot(at, -1, 0, 0.0, 1) }, "op.OneHot", "depth -1")
	fails(t, func() { OneHot(at, 2, 3, 0.0, 1) }, "op.OneHot", "axis 3")
}

func TestSplit(t *testing.T) {
	a := count(2, 7)
	got := Split(a, []int{3, 0, 4}, -1)
	for i, want := range []string{":,:3", ":,:0", ":,3:"} {
		same(t, want, got[i], a.S(want))
		if !got[i].Any().SameData(a.Any()) {
			t.Errorf("part %d is a copy", i)
		}
	}
	for i, want := range []string{":,:3", ":,3:5", ":,5:"} {
		same(t, want, ArraySplit(a, 3, 1)[i], a.S(want))
	}
	nested := variants(count(4, 6))
	for i, v := range nested {
		same(t, v.name, Split(v.t, []int{5, 1}, 1)[1], count(4, 6).S(":,5:"))
		out := runs(t, "Split", &Call{Inputs: []tensor.Any{v.t.Any(), i64(5, 1).Any()}, Attrs: given{"axis": int64(1)}, Outputs: 2})
		sameAny(t, fmt.Sprint("run-time form ", i), out[1], count(4, 6).S(":,5:").Any())
	}
	for _, c := range []struct {
		opset, outputs int
		attrs          given
		in             []tensor.Any
		want           []int
	}{
		{12, 2, given{"split": []int64{2, 5}, "axis": int64(1)}, nil, []int{2, 5}},
		{12, 7, given{"axis": int64(1)}, nil, []int{1, 1, 1, 1, 1, 1, 1}},
		{12, 2, given{"axis": int64(1)}, nil, nil},
		{13, 2, given{"axis": int64(1)}, []tensor.Any{i64(6, 1).Any()}, []int{6, 1}},
		{13, 2, given{"axis": int64(1)}, []tensor.Any{i64(6, 2).Any()}, nil},
		{13, 2, given{"axis": int64(1)}, []tensor.Any{i64(8, -1).Any()}, nil},
		{13, 1, given{"axis": int64(1)}, []tensor.Any{i64(6, 1).Any()}, nil},
		{18, 3, given{"axis": int64(1), "num_outputs": int64(3)}, nil, []int{3, 3, 1}},
		{18, 3, given{"axis": int64(1), "num_outputs": int64(4)}, nil, nil},
		{18, 5, given{"axis": int64(1), "num_outputs": int64(5)}, nil, []int{2, 2, 2, 1, 0}},
	} {
		var sizes []int
		for _, p := range runs(t, "Split", &Call{Inputs: append([]tensor.Any{a.Any()}, c.in...), Attrs: c.attrs, Opset: c.opset, Outputs: c.outputs}) {
			sizes = append(sizes, p.Dim(1))
		}
		if !slices.Equal(sizes, c.want) {
			t.Errorf("opset %d, %v: %v, want %v", c.opset, c.attrs, sizes, c.want)
		}
	}
	fails(t, func() { Split(a, []int{1}, 0) }, "op.Split", "leave 1 of the 2")
	fails(t, func() { Split(a, []int{1}, 2) }, "op.Split", "axis 2")
	fails(t, func() { ArraySplit(a, 0, 0) }, "op.ArraySplit", "0 parts")
}

func TestStack(t *testing.T) {
	a, b := count(2, 3), Neg(count(2, 3))
	got := Stack([]tensor.Tensor[int32]{a, b.Transpose().Contiguous().Transpose()}, 1)
	same(t, "first", got.S(":,0"), a)
	same(t, "second", got.S(":,1"), b)
	fails(t, func() { Stack([]tensor.Tensor[int32]{}, 0) }, "op.Stack", "no tensors")
	fails(t, func() { Stack([]tensor.Tensor[int32]{a, count(3, 2)}, 0) }, "op.Stack", "(2,3)", "tensor 1 has (3,2)")
	fails(t, func() { Stack([]tensor.Tensor[int32]{a}, 3) }, "op.Stack", "axis 3")
}

func TestTransfersRefuse(t *testing.T) {
	a := count(2, 3)
	x, half := i64(0, 1), tensor.New[float32](2)
	fails(t, func() { Tile(a, []int{1}) }, "op.Tile", "1 repeats", "rank 2")
	fails(t, func() { Tile(a, []int{1, -1}) }, "op.Tile", "axis 1", "-1")
	fails(t, func() { Tile(a, []int{1, 1 << 62}) }, "op.Tile", "don't fit an int")
	fails(t, func() { Pad(a, []int{0, -4}, []int{0, 0}, PadConstant, 0) }, "op.Pad", "extent 3 of axis 1")
	fails(t, func() { Pad(a, []int{0}, []int{0, 0}, PadConstant, 0) }, "op.Pad", "1 amounts")
	fails(t, func() { Pad(a, []int{0, 0}, []int{0, 0}, "mirror", 0) }, "op.Pad", `"mirror"`, "reflect")
	fails(t, func() { Pad(count(0), []int{1}, []int{0}, PadEdge, 0) }, "op.Pad", "axis 0 is empty")
	fails(t, func() { Pad(a, []int{1<<63 - 1, 0}, []int{0, 0}, PadConstant, 0) }, "op.Pad", "doesn't fit an int")
	fails(t, func() { Triu(count(3), 0) }, "op.Trilu", "two axes")
	fails(t, func() { Repeat(a, []int{1, 2}, 1) }, "op.Repeat", "2 counts", "extent 3")
	fails(t, func() { Repeat(a, []int{-1}, 1) }, "op.Repeat", "-1 times")
	fails(t, func() { Roll(a, 1, 2) }, "op.Roll", "axis 2")
	fails(t, func() { Take(a, i64(3), 1, TakeRaise) }, "op.Take", "index 3 at (0)", "axis 1 of extent 3")
	fails(t, func() { Take(count(0), i64(3), 0, TakeClip) }, "op.Take", "axis 0 is empty")
	fails(t, func() { Compress(a, tensor.New[bool](3), 0) }, "op.Compress", "at most 2")
	fails(t, func() { GatherElements(a, tensor.New[int64](3, 1), 1) }, "op.GatherElements", "extent 3 on axis 0", "the data 2")
	fails(t, func() { GatherElements(a, tensor.New[int64](3), 1) }, "op.GatherElements", "rank 1", "2")
	fails(t, func() { GatherElements(a, tensor.FromSlice([]int64{0, -4}, 2, 1), 1) }, "op.GatherElements", "index -4 at (1,0)", "extent 3")
	fails(t, func() { GatherND(a, tensor.FromSlice([]int64{0, 0, 1, 3}, 2, 2), 0) }, "op.GatherND", "index 3 at (1,1)", "axis 1 of extent 3")
	fails(t, func() { GatherND(a, tensor.New[int64](1, 3), 0) }, "op.GatherND", "3 numbers")
	fails(t, func() { GatherND(a, tensor.New[int64](3, 1), 1) }, "op.GatherND", "batch axis 0", "2", "3")
	fails(t, func() { GatherND(a, tensor.Scalar(int64(0)), 0) }, "op.GatherND", "rank 0")
	fails(t, func() { TakeAlongAxis(a, tensor.New[int64](3, 1), 1) }, "op.TakeAlongAxis", "axis 0 is 2 and 3")
	fails(t, func() { DepthToSpace(tensor.New[int8](1, 6, 1, 1), 2, DepthToSpaceOptions{}) }, "op.DepthToSpace", "6 channels")
	fails(t, func() { SpaceToDepth(tensor.New[int8](1, 1, 3, 2), 2) }, "op.SpaceToDepth", "height of 3")
	fails(t, func() { SpaceToDepth(tensor.New[int8](1, 1, 2, 2), 0) }, "op.SpaceToDepth", "0 pixels")
	fails(t, func() { ReverseSequence(a, i64(1, 2), 0) }, "op.ReverseSequence", "3 entries of axis 1")
	fails(t, func() { ReverseSequence(a, i64(1, 2, 3), 2) }, "op.ReverseSequence", "axis 2")
	fails(t, func() { ReverseSequence(tensor.New[int8](2, 3, 4), i64(1, 2), 2) }, "op.ReverseSequence", "the time axis is 2")
	fails(t, func() { ReverseSequence(a, i64(1, 4), 1) }, "op.ReverseSequence", "length 4 of entry 1", "extent 3")
	b := i64(4, 5)
	fails(t, func() { GatherElements(b, i64(0, 2), 0, Into(b)) }, "op.GatherElements", "index 2 at (1)")
	same(t, "a refused call", b, i64(4, 5))
	for _, c := range []struct {
		op    string
		opset int
		in    []tensor.Any
		attrs given
	}{
		{"GatherElements", 13, []tensor.Any{a.Any(), half.Any()}, nil},
		{"GatherND", 13, []tensor.Any{a.Any(), half.Any()}, nil},
		{"Compress", 11, []tensor.Any{a.Any(), x.Any()}, nil},
		{"Pad", 13, []tensor.Any{a.Any(), i64(0, 0, 0).Any()}, nil},
		{"Pad", 13, []tensor.Any{a.Any(), i64(0, 0, 0, 0).Any(), half.Any()}, nil},
		{"Pad", 18, []tensor.Any{a.Any(), i64(0, 0, 0, 0).Any(), {}, i64(1, -1).Any()}, nil},
		{"Pad", 10, []tensor.Any{a.Any()}, given{"pads": []int64{0, 0, 0, 0}}},
		{"OneHot", 11, []tensor.Any{x.Any(), i64(2, 2).Any(), x.Any()}, nil},
		{"OneHot", 11, []tensor.Any{x.Any(), i64(2).Any(), i64(2).Any()}, nil},
		{"OneHot", 11, []tensor.Any{tensor.New[bool](2).Any(), i64(2).Any(), x.Any()}, nil},
		{"Trilu", 14, []tensor.Any{a.Any(), i64(1, 1).Any()}, nil},
		{"Range", 11, []tensor.Any{x.Any(), x.Any(), x.Any()}, nil},
		{"Range", 11, []tensor.Any{tensor.Scalar(int64(0)).Any(), tensor.Scalar(int64(3)).Any(), tensor.Scalar(int64(0)).Any()}, nil},
		{"EyeLike", 9, []tensor.Any{x.Any()}, nil},
		{"EyeLike", 9, []tensor.Any{a.Any()}, given{"dtype": int64(8)}},
		{"ReverseSequence", 10, []tensor.Any{a.Any(), x.Any()}, given{"batch_axis": int64(0), "time_axis": int64(2)}},
		{"DepthToSpace", 13, []tensor.Any{tensor.New[int8](1, 4, 1, 1).Any()}, given{"blocksize": int64(2), "mode": "CDR"}},
		{"DepthToSpace", 13, []tensor.Any{tensor.New[int8](1, 4, 1, 1).Any()}, nil},
	} {
		if out := runs(t, c.op, &Call{Inputs: c.in, Attrs: c.attrs, Opset: c.opset}); out != nil {
			t.Errorf("%s of %v, %v gives %v, want an error", c.op, described(c.in), c.attrs, described(out))
		}
	}
}

func TestRunTimeTransfers(t *testing.T) {
	a := count(2, 3)
	units := func(v float64) tensor.Tensor[fixed.FP16x16] { return Cast[fixed.FP16x16](tensor.Scalar(v)) }
	for _, c := range []struct {
		op    string
		opset int
		in    []tensor.Any
		attrs given
		want  tensor.Any
	}{
		{"Tile", 13, []tensor.Any{a.Any(), i64(1, 2).Any()}, nil, Tile(a, []int{1, 2}).Any()},
		{"Pad", 13, []tensor.Any{a.Any(), i64(0, 1, 1, 0).Any()}, nil, Pad(a, []int{0, 1}, []int{1, 0}, PadConstant, 0).Any()},
		{"Pad", 18, []tensor.Any{a.Any(), i64(1, 0).Any(), tensor.Scalar(int32(9)).Any(), i64(-1).Any()}, nil, Pad(a, []int{0, 1}, []int{0, 0}, PadConstant, 9).Any()},
		{"Pad", 19, []tensor.Any{a.Any(), i64(1, 2).Any(), {}, i64(1).Any()}, given{"mode": "wrap"}, Pad(a, []int{0, 1}, []int{0, 2}, PadWrap, 0).Any()},
		{"Pad", 10, []tensor.Any{tensor.FromSlice([]float32{1}).Any()}, given{"pads": []int64{1, 1}, "value": float32(2)}, tensor.FromSlice([]float32{2, 1, 2}).Any()},
		{"Compress", 11, []tensor.Any{a.Any(), tensor.FromSlice([]bool{false, true}).Any()}, given{"axis": int64(0)}, a.S("1:").Any()},
		{"Compress", 11, []tensor.Any{a.Transpose().Any(), tensor.FromSlice([]bool{false, true, true}).Any()}, nil, tensor.FromSlice([]int32{3, 1}).Any()},
		{"OneHot", 11, []tensor.Any{tensor.FromSlice([]float32{1.9, -1.2, -0.5}).Any(), tensor.Scalar(float32(2.5)).Any(), tensor.FromSlice([]int32{5, 6}).Any()}, nil,
			tensor.FromSlice([]int32{5, 6, 5, 6, 6, 5}, 3, 2).Any()},
		{"Range", 11, []tensor.Any{tensor.Scalar(int64(5)).Any(), tensor.Scalar(int64(-2)).Any(), tensor.Scalar(int64(-3)).Any()}, nil, i64(5, 2, -1).Any()},
		{"Range", 11, []tensor.Any{tensor.Scalar(int64(5)).Any(), tensor.Scalar(int64(9)).Any(), tensor.Scalar(int64(-3)).Any()}, nil, i64().Any()},
		{"Range", 11, []tensor.Any{units(1).Any(), units(-2).Any(), units(-1.5).Any()}, nil, tensor.FromSlice([]fixed.FP16x16{units(1).Item(), units(-0.5).Item()}).Any()},
		{"EyeLike", 9, []tensor.Any{a.Any()}, given{"k": int64(1)}, tensor.FromSlice([]int32{0, 1, 0, 0, 0, 1}, 2, 3).Any()},
		{"EyeLike", 9, []tensor.Any{a.Any()}, given{"k": int64(-1), "dtype": int64(1)}, tensor.FromSlice([]float32{0, 0, 0, 1, 0, 0}, 2, 3).Any()},
		{"Trilu", 14, []tensor.Any{a.Any(), tensor.Scalar(int64(1)).Any()}, nil, Triu(a, 1).Any()},
		{"Trilu", 14, []tensor.Any{a.Any()}, given{"upper": int64(0)}, Tril(a, 0).Any()},
		{"GatherElements", 13, []tensor.Any{a.Any(), tensor.FromSlice([]int32{-1, 0}, 2, 1).Any()}, given{"axis": int64(1)}, tensor.FromSlice([]int32{2, 3}, 2, 1).Any()},
		{"GatherND", 12, []tensor.Any{a.Any(), tensor.FromSlice([]int64{2, 0}, 2, 1).Any()}, given{"batch_dims": int64(1)}, tensor.FromSlice([]int32{2, 3}).Any()},
		{"ReverseSequence", 10, []tensor.Any{a.Any(), i64(2, 3).Any()}, given{"batch_axis": int64(0), "time_axis": int64(1)}, tensor.FromSlice([]int32{1, 0, 2, 5, 4, 3}, 2, 3).Any()},
	} {
		out := runs(t, c.op, &Call{Inputs: c.in, Attrs: c.attrs, Opset: c.opset})
		if out == nil {
			t.Errorf("%s of %v, %v fails", c.op, described(c.in), c.attrs)
			continue
		}
		sameAny(t, fmt.Sprint(c.op, " ", c.attrs), out[0], c.want)
	}
	half := tensor.Scalar(num.FromFloat64[num.F16](0.5))
	out := runs(t, "Range", &Call{Inputs: []tensor.Any{tensor.Scalar(num.F16{}).Any(), tensor.Scalar(num.FromFloat64[num.F16](2)).Any(), half.Any()}})
	same(t, "Range of float16", Cast[float32](asOf[num.F16](out[0])), tensor.FromSlice([]float32{0, 0.5, 1, 1.5}))
}
