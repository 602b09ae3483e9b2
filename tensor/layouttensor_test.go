package tensor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// colex returns the elements in colexicographic order.
func colex(t tensor.Tensor[int32]) []int32 {
	lay := t.Layout()
	list := make([]int32, t.Len())
	for i := range list {
		idx, _ := lay.Coord(i)
		list[i] = t.At(idx...)
	}
	return list
}

// drawCompact draws a compact layout of n coordinates.
func drawCompact(t *rapid.T, n int) layout.Layout {
	ext := drawShape(t, n)
	str, step := make([]int, len(ext)), 1
	for _, i := range rapid.Permutation(seq(len(ext))).Draw(t, "order") {
		str[i] = step
		step *= ext[i]
	}
	l, err := layout.New(ext, str)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Compose and ReshapeLayout pick elements by number, or refuse.
func TestComposeByNumber(t *testing.T) {
	done := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		rhs := drawCompact(t, p.t.Len())
		numbers := make([]int, rhs.Size())
		shape := rhs.Shape()
		for i, idx := range coords(shape) {
			numbers[i], _ = rhs.At(idx)
		}
		for _, c := range []struct {
			name string
			f    func() tensor.Tensor[int32]
			all  []int32
		}{
			{"Compose", func() tensor.Tensor[int32] { return tensor.Compose(p.t, rhs) }, colex(p.t)},
			{"ReshapeLayout", func() tensor.Tensor[int32] { return tensor.ReshapeLayout(p.t, rhs) }, values(p.t)},
		} {
			var got tensor.Tensor[int32]
			if err := tensor.Try(func() { got = c.f() }); err != nil {
				if !errors.Is(err, layout.ErrDivide) && !errors.Is(err, layout.ErrOverlap) {
					t.Fatalf("%s: %v", c.name, err)
				}
				continue
			}
			done++
			want := make([]int32, len(numbers))
			for i, n := range numbers {
				want[i] = c.all[n]
			}
			if same(t, c.name, values(got), want); !slices.Equal(got.Shape(), shape) || !got.Any().SameData(p.t.Any()) {
				t.Fatalf("%s: %v", c.name, got.Layout())
			}
		}
		one := tensor.Coalesce(p.t)
		same(t, "Coalesce", colex(one), colex(p.t))
		if p.t.IsContiguous() {
			same(t, "ReshapeLayout, contiguous", values(tensor.ReshapeLayout(p.t, rhs)), func() []int32 {
				want := make([]int32, len(numbers))
				for i, n := range numbers {
					want[i] = values(p.t)[n]
				}
				return want
			}())
		}
	})
	if done == 0 {
		t.Error("everything was refused")
	}
}

// Copies in a stated order, into any shape, also from memory they overlap with.
func TestCopyInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		rhs := drawCompact(t, p.t.Len())
		fresh := tensor.FromLayout(make([]int32, p.t.Len()), rhs)
		tensor.CopyColex(fresh, p.t)
		same(t, "CopyColex", colex(fresh), colex(p.t))
		tensor.CopyFromAsync(fresh, nil, p.t, tensor.AsyncCopy{})
		same(t, "CopyFromAsync", colex(fresh), colex(p.t))
		tensor.CopyLogical(fresh, p.t)
		same(t, "CopyLogical", values(fresh), values(p.t))

		n := p.t.Len()
		data := tensor.Arange[int32](0, int32(n+3), 1)
		shift := rapid.IntRange(0, 3).Draw(t, "shift")
		src := data.Slice(tensor.R(0, n))
		dst := tensor.FromLayout(data.Elems()[shift:], rhs)
		before := colex(src)
		tensor.CopyColex(dst, src)
		same(t, "CopyColex, overlapping", colex(dst), before)
	})
}

// A masked copy leaves out the elements beyond the bound in the source's memory.
func TestCopyFromAsync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		lay := p.t.Layout()
		lo, hi := lay.Span()
		o := tensor.AsyncCopy{Masked: rapid.Bool().Draw(t, "masked"), Keep: rapid.Bool().Draw(t, "keep"), Bound: rapid.IntRange(lo-1, hi+2).Draw(t, "bound")}
		if rapid.Bool().Draw(t, "swizzled") {
			w, err := layout.NewSwizzle(rapid.IntRange(0, 1).Draw(t, "bits"), rapid.IntRange(0, 1).Draw(t, "base"), rapid.SampledFrom([]int{1, 2, -1, -2}).Draw(t, "shift"))
			if err != nil {
				t.Fatal(err)
			}
			o.Swizzle = w
			o.Base = rapid.IntRange(0, 5).Draw(t, "at")
		}
		n := p.t.Len()
		dst := tensor.FromLayout(slices.Repeat([]int32{-1}, n), drawCompact(t, n))
		to := dst.Layout()
		want := slices.Repeat([]int32{-1}, n)
		all, outside := colex(p.t), false
		for i, x := range all {
			s, _ := lay.Offset(i)
			d, _ := to.Offset(i)
			if o.Swizzle != (layout.Swizzle{}) {
				in := d % o.Swizzle.Size()
				d = o.Swizzle.At(o.Base+in) + d - in - o.Base
			}
			switch {
			case d < 0 || d >= n:
				outside = true
			case !o.Masked || s < o.Bound:
				want[d] = x
			case !o.Keep:
				want[d] = 0
			}
		}
		err := tensor.Try(func() { tensor.CopyFromAsync(dst, new(tensor.CopyGroup), p.t, o) })
		if outside {
			if !errors.Is(err, tensor.ErrIndex) {
				t.Fatal(err)
			}
			want = slices.Repeat([]int32{-1}, n)
		} else if err != nil {
			t.Fatal(err)
		}
		got, _ := dst.Data()
		same(t, "CopyFromAsync", got, want)
	})
	x := tensor.Arange[int32](0, 6, 1)
	tensor.CopyFromAsync(x.S("1:"), nil, x.S(":5"), tensor.AsyncCopy{Masked: true, Bound: 3})
	if got := values(x); !slices.Equal(got, []int32{0, 0, 1, 2, 0, 0}) {
		t.Error("overlapping:", got)
	}
}

// Rows follow the strides of the last axis.
func TestLoadStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		if p.t.Len() == 0 {
			return
		}
		idx := make([]int, p.t.Rank())
		for i := range idx {
			idx[i] = rapid.IntRange(0, p.m.shape[i]-1).Draw(t, "index")
		}
		lanes := slices.Repeat([]int32{-1}, rapid.IntRange(0, 6).Draw(t, "width"))
		want, n := make([]int32, len(lanes)), 0
		at := slices.Clone(idx)
		for i := range want {
			if len(at) == 0 && i > 0 || len(at) > 0 && at[len(at)-1] == p.m.shape[len(at)-1] {
				break
			}
			want[i] = p.t.At(at...)
			n++
			if len(at) > 0 {
				at[len(at)-1]++
			}
		}
		if tensor.Load(p.t, lanes, idx...) != n {
			t.Fatalf("%d lanes, want %d", tensor.Load(p.t, lanes, idx...), n)
		}
		same(t, "Load", lanes, want)
		last := len(idx) - 1
		lay := p.t.Layout()
		inRow := last < 0 || p.m.shape[last] == 1
		if !inRow {
			s, ok := lay.Stride(last)
			inRow = ok && s == 1
		}
		row := slices.Repeat([]int32{-1}, len(lanes))
		if err := tensor.Try(func() { tensor.LoadRow(p.t, row, idx...) }); (err == nil) != inRow {
			t.Fatalf("LoadRow of %v: %v", lay, err)
		}
		if inRow {
			same(t, "LoadRow", row, want)
		}
		before := values(p.t)
		for i := range lanes {
			lanes[i] = int32(1000 + i)
		}
		store := tensor.Store[int32]
		if inRow && rapid.Bool().Draw(t, "row") {
			store = tensor.StoreRow[int32]
		}
		if store(p.t, lanes, idx...) != n {
			t.Fatal("Store: not as many as Load")
		}
		changed := 0
		for i, v := range values(p.t) {
			if v != before[i] {
				changed++
			}
		}
		if tensor.Load(p.t, row, idx...); changed != n || !slices.Equal(row[:n], lanes[:n]) {
			t.Fatalf("Store set %d elements: %v", changed, row)
		}
	})
}

func TestAlignment(t *testing.T) {
	for _, align := range []int{1, 2, 8, 64, 128, 4096, 1 << 17} {
		for _, text := range []string{"(3,5):(7,1)", "4:-1", "0:1", "(300,300):(300,1)"} {
			x := tensor.EmptyLayout[float32](layout.MustParse(text), align)
			if data, _ := x.Data(); len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%uintptr(align) != 0 {
				t.Errorf("%s: not a multiple of %d", text, align)
			}
			x.Fill(1)
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	x := tensor.EmptyLayout[float64](layout.MustParse("(2,8):(8,1)"), 64).Fill(3)
	lanes := make([]float64, 8)
	if tensor.LoadRowAligned(x, lanes, 1, 0) != 8 || lanes[7] != 3 || tensor.StoreRowAligned(x, lanes[:4], 0, 4) != 4 {
		t.Error(lanes)
	}
}

// Casts share memory, access and closing with their source.
func TestRecast(t *testing.T) {
	x := tensor.Arange[uint32](0, 24, 1).View(4, 6)
	for _, view := range []tensor.Tensor[uint32]{x, x.S("::-1, 2:"), x.Transpose(), x.S("1:1")} {
		f := tensor.BitCast[float32](view)
		if back := tensor.BitCast[uint32](f); !slices.Equal(slices.Collect(back.Values()), slices.Collect(view.Values())) || !back.Any().SameData(view.Any()) || tensor.Distance(back, view) != 0 || !f.Any().SameData(view.Any()) {
			t.Errorf("%v: %v", view.Layout(), back)
		}
	}
	narrow := tensor.Recast[uint8](x.S("1:, 2:4"))
	for idx, v := range narrow.All() {
		word := x.At(idx[0]+1, idx[1]/4+2)
		if b := (*[4]byte)(unsafe.Pointer(&word)); b[idx[1]%4] != v {
			t.Errorf("byte %v is %d of %x", idx, v, word)
		}
	}
	if wide := tensor.Recast[uint32](narrow); !slices.Equal(slices.Collect(wide.Values()), []uint32{8, 9, 14, 15, 20, 21}) || tensor.Distance(wide, x) != 8 {
		t.Error(wide)
	}
	if w := tensor.Recast[uint64](x.S(":, 2:4")); w.Len() != 4 || tensor.Distance(w, tensor.Recast[uint64](x)) != 1 {
		t.Error(w.Layout())
	}
	h := tensor.BitCast[num.BF16](tensor.FromSlice([]uint16{0x3f80}))
	if h.At(0).Float32() != 1 {
		t.Error(h)
	}
	if r := tensor.BitCast[int32](x.ReadOnly()); !r.IsReadOnly() {
		t.Error("a cast of a read-only view can be written")
	}
	for _, n := range []int{8, 2048, 1 << 20} { // a small block, one that is reused, memory outside the heap
		a := tensor.New[float32](n)
		b := tensor.BitCast[int32](a)
		c := tensor.Recast[int8](b)
		b.Elems()[0] = 1
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, f := range []func(){func() { a.At(0) }, func() { b.At(0) }, func() { c.At(0) }} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrClosed) {
				t.Errorf("%d elements: %v", n, err)
			}
		}
	}
}

// The texts come from the reference's own tests.
func TestWriteTo(t *testing.T) {
	iota := tensor.Arange[float32](0, 24, 1)
	text := func(t tensor.Tensor[float32]) string {
		var b strings.Builder
		if n, err := t.Any().WriteTo(&b); err != nil || int(n) != b.Len() {
			return fmt.Sprint(n, err)
		}
		return b.String()
	}
	for want, x := range map[string]tensor.Tensor[float32]{
		"0.0 1.0 2.0 \n3.0 4.0 5.0 ":               iota.S(":6").View(2, 3),
		"0.0 1.0 2.0":                              iota.S(":3"),
		"0.0 4.0 2.0 6.0 1.0 5.0 3.0 7.0":          iota.S(":8").View(2, 2, 2),
		"0.0 2.0 \n1.0 3.0 ":                       tensor.FromLayout(iota.S(":4").Elems(), layout.MustParse("(2,2):(1,2)")),
		"0.0 1.0 2.0 3.0":                          tensor.FromLayout(iota.S(":4").Elems(), layout.MustParse("((2,2)):((1,2))")),
		"0.0 1.0 \n4.0 5.0 \n8.0 9.0 \n12.0 13.0 ": tensor.FromLayout(iota.S(":14").Elems(), layout.MustParse("((2,2),2):((4,8),1)")),
		"":                                       iota.S(":0").View(0, 3),
		"3.7142856 3269017.2 1e-05 inf nan -0.0": tensor.FromSlice([]float32{3.7142856, 3269017.25, 1e-5, float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))}),
		"3.0":                                    tensor.Scalar[float32](3),
	} {
		if got := text(x); got != want {
			t.Errorf("%v: %q, want %q", x.Layout(), got, want)
		}
	}
	var b strings.Builder
	iota.S(":8").View(2, 2, 2).Any().WriteNested(&b)
	b.WriteByte(' ')
	iota.S(":0").View(2, 0).Any().WriteNested(&b)
	b.WriteByte(' ')
	tensor.FromSlice([]bool{true, false}).Any().WriteNested(&b)
	b.WriteByte(' ')
	tensor.Scalar[complex64](complex(1, 2)).Any().WriteNested(&b)
	if got, want := b.String(), "[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]] [[], []] [True, False] (1+2j)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLayoutTensorErrors compares the texts with testdata/layouttensor_errors.txt.
func TestLayoutTensorErrors(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the numbers in the texts are those of 64 bits")
	}
	x := tensor.Arange[float32](0, 24, 1).View(4, 6)
	row := tensor.Arange[int32](0, 12, 1)
	nested := tensor.FromLayout(make([]int32, 16), layout.MustParse("((2,2),4):((1,8),2)"))
	long := tensor.FromLayout(make([]int32, 112), layout.MustParse("((4,4),4):((1,32),4)"))
	threads := layout.MustParse("(2,2):(2,1)")
	lanes := make([]float32, 4)
	swizzle, err := layout.NewSwizzle(1, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, f := range []func(){
		func() { tensor.Tile(x, []int{2}, 0) },
		func() { tensor.Tile(x, []int{2, 0}, 0, 0) },
		func() { tensor.Tile(x, []int{2, 2}, 0) },
		func() { tensor.Tile(x, []int{2, 2}, 0, -1) },
		func() { tensor.Tile(nested, []int{3, 1}, 0, 0) },
		func() { tensor.Tiles(x, 2) },
		func() { x.Any().Clipped(1) },
		func() { tensor.TiledIterator(x, []int{2, 2}, 2, 0, 0) },
		func() { tensor.TiledIterator(x, []int{2, 2}, 0, 2, 0).Tile() },
		func() { tensor.TiledIterator(x, []int{2, 2}, 0, 0, 0).Next(-1) },
		func() { tensor.LayoutIterator(x, threads, 1, 0) },
		func() { tensor.LayoutIterator(row, threads, 0, 0) },
		func() { tensor.LayoutIterator(row, layout.MustParse("2:-1"), 1, 0) },
		func() { it := tensor.CircularLayoutIterator(row, layout.MustParse("4:1"), 5, 0); it.Next(2); it.Tile() },
		func() { tensor.Split(x, 0, 0) },
		func() { tensor.Split(x, 0, 1<<30) },
		func() { tensor.SplitPart(x, 0, 2, 2, 1) },
		func() { tensor.SplitPart(x, 0, 2, 0, 0) },
		func() { tensor.Distribute(x, threads, 4, nil) },
		func() { tensor.Distribute(x, threads, -1, nil) },
		func() { tensor.Distribute(x, layout.MustParse("(2):(1)"), 0, nil) },
		func() { tensor.Distribute(x, layout.MustParse("(2,2):(1,0)"), 0, nil) },
		func() { tensor.Distribute(x, threads, 0, &tensor.DistributeOptions{Axes: []int{2}}) },
		func() { tensor.Distribute(long, layout.MustParse("(3,1):(1,0)"), 0, nil) },
		func() { tensor.Distribute(x.S(":, ::2"), threads, 1, &tensor.DistributeOptions{Swizzle: swizzle}) },
		func() { tensor.Vectorize(x, 4) },
		func() { tensor.Vectorize(x, 0, 4) },
		func() { tensor.Vectorize(nested, 3, 1) },
		func() { tensor.Vectorize(x, 4, 4).Load(lanes, 0, 0) },
		func() { tensor.Vectorize(x, 2, 2).Load(lanes, 0, 3) },
		func() { tensor.Vectorize(x.ReadOnly(), 2, 2).Store(lanes, 0, 0) },
		func() { tensor.Vectorize(x, 3, 1).Lanes() },
		func() { tensor.Vectorize(x, 2, 2).CopyFrom(tensor.Vectorize(x, 2, 1)) },
		func() { tensor.FromVectors(lanes, layout.MustParse("2:4"), layout.MustParse("2:1")) },
		func() { tensor.Slice2D(x, 1, 0, tensor.R(0, 1), tensor.R(0, 1)) },
		func() { tensor.Slice2D(x, 0, 1, tensor.I(0), tensor.R(0, 1)) },
		func() { tensor.Slice1D(x, 0, tensor.R(0, 1)) },
		func() { tensor.Slice1D(x, 0, tensor.R(0, 1), 6) },
		func() { nested.Any().Stride(0) },
		func() { tensor.Compose(x, layout.MustParse("25:1")) },
		func() { tensor.Compose(x, layout.MustParse("3:3")) },
		func() { tensor.ReshapeLayout(x, layout.MustParse("(5,5):(5,1)")) },
		func() { tensor.ReshapeLayout(x, layout.MustParse("(4,6):(0,1)")) },
		func() { tensor.ReshapeLayout(x.S(":, :5"), layout.MustParse("(10,2):(2,1)")) },
		func() { tensor.Distance(x, x.Clone()) },
		func() { tensor.CopyColex(x, x.S(":2")) },
		func() { tensor.CopyLogical(x, x.S(":2")) },
		func() { tensor.CopyColex(x.ReadOnly(), x) },
		func() { tensor.CopyFromAsync(x, nil, x.Clone(), tensor.AsyncCopy{Swizzle: swizzle, Base: -1}) },
		func() {
			tensor.CopyFromAsync(tensor.Arange[float32](0, 9, 1), nil, tensor.New[float32](9), tensor.AsyncCopy{Swizzle: swizzle})
		},
		func() { tensor.Load(x, lanes, 4, 0) },
		func() { tensor.LoadRow(x.Transpose(), lanes, 0, 0) },
		func() { tensor.StoreRowAligned(x, lanes[:3], 0, 0) },
		func() { tensor.LoadRowAligned(x, lanes, 0, 1) },
		func() { x.Any().Prefetch(0, 6) },
		func() { tensor.AtCoord(x, layout.MustParseTuple("((0,0),0)")) },
		func() { tensor.SetCoord(x.ReadOnly(), 0, layout.Int(0)) },
		func() { tensor.EmptyLayout[int8](threads, 3) },
		func() { tensor.EmptyLayout[int8](threads, 1<<(strconv.IntSize-2)) }, // 2^62
		func() { tensor.EmptyLayout[int8](layout.MustParse("2:9223372036854775806"), 128) },
		func() { tensor.BitCast[float64](x) },
		func() { tensor.BitCast[bool](tensor.New[int8](1)) },
		func() { tensor.Recast[uint64](x.S(":, 1:3")) },
		func() { tensor.Recast[uint64](x.S(":, :3")) },
		func() { tensor.Recast[uint8](x.S(":, ::2")) },
	} {
		err := tensor.Try(f)
		var e *tensor.Error
		if !errors.As(err, &e) {
			t.Errorf("%d, after\n%sno tensor.Error: %v", i, out.String(), err)
			continue
		}
		fmt.Fprintf(&out, "%v | %v\n", e.Err, err)
	}
	golden(t, "layouttensor_errors.txt", out.String())
}

// The functions that kernels call per tile or per vector don't allocate.
func TestLayoutTensorAllocs(t *testing.T) {
	x := tensor.Arange[float32](0, 256, 1).View(16, 16)
	v := tensor.Vectorize(x, 1, 4)
	threads := layout.MustParse("(2,2):(2,1)")
	size, lanes := []int{4, 8}, make([]float32, 4)
	whole, fits := x.Clone(), layout.MustParse("(8,32):(32,1)")
	for name, f := range map[string]func(){
		"Tile":          func() { y = tensor.Tile(x, size, 1, 1) },
		"Clipped":       func() { _ = x.Any().Clipped(16, 17) },
		"SplitPart":     func() { y = tensor.SplitPart(x, 1, 3, 2, 4) },
		"Distribute":    func() { y = tensor.Distribute(x, threads, 3, nil) },
		"Along":         func() { y = tensor.Distribute(x, threads, 3, &tensor.DistributeOptions{Axes: []int{1}}) },
		"Slice2D":       func() { y = tensor.Slice2D(x, 0, 1, tensor.R(2, 4), tensor.R(0, 4)) },
		"Slice1D":       func() { y = tensor.Slice1D(x, 1, tensor.R(2, 4), 3) },
		"Compose":       func() { y = tensor.Compose(x, fits) },
		"ReshapeLayout": func() { y = tensor.ReshapeLayout(x, fits) },
		"Coalesce":      func() { y = tensor.Coalesce(x) },
		"Distance":      func() { n = tensor.Distance(x, x) },
		"CopyColex":     func() { tensor.CopyColex(whole, x) },
		"Load":          func() { n = tensor.Load(x, lanes, 3, 4) },
		"LoadRow":       func() { n = tensor.LoadRow(x, lanes, 3, 4) },
		"StoreRow":      func() { n = tensor.StoreRow(x, lanes, 3, 4) },
		"Prefetch":      func() { x.Any().Prefetch(3, 4) },
		"Vectors.Load":  func() { n = v.Load(lanes, 3, 1) },
		"Vectors.Store": func() { n = v.Store(lanes, 3, 1) },
		"Vectors.Full":  func() { _ = v.Full(3, 1) },
	} {
		if c := testing.AllocsPerRun(100, f); c != 0 {
			t.Errorf("%s: %v allocations", name, c)
		}
	}
}
