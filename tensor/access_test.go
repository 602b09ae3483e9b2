package tensor_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestHandle(t *testing.T) {
	if n := unsafe.Sizeof(tensor.Tensor[float32]{}); strconv.IntSize == 64 && n != 160 {
		t.Errorf("a handle has %d bytes, not 160", n)
	}
	// A type that isn't comparable to reflection doesn't compile with ==: neither handles
	// by accident, nor as the key of a map.
	if reflect.TypeFor[tensor.Tensor[float32]]().Comparable() {
		t.Error("== compiles on tensors")
	}
	if reflect.TypeFor[layout.Layout]().Comparable() {
		t.Error("== compiles on layouts")
	}
}

func TestAccess(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(2, 3, 4)
	if x.At(1, 2, 3) != 23 || x.At(0, 0, 0) != 0 || x.At(1, 0, 2) != 14 {
		t.Error(x)
	}
	x.Set(-5, 1, 0, 2)
	if data, off := x.Data(); data[off+14] != -5 {
		t.Error(data)
	}
	for _, idx := range [][]int{{}, {0}, {0, 0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 4}, {-1, 0, 0}} {
		if err := tensor.Try(func() { x.At(idx...) }); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("At%v: %v", idx, err)
		}
		if err := tensor.Try(func() { x.Set(1, idx...) }); !errors.Is(err, tensor.ErrIndex) {
			t.Errorf("Set%v: %v", idx, err)
		}
	}
	for axis, want := range map[int]int{0: 2, 1: 3, 2: 4, -1: 4, -3: 2} {
		if x.Dim(axis) != want {
			t.Errorf("Dim(%d) is %d", axis, x.Dim(axis))
		}
	}
	for _, axis := range []int{3, -4} {
		if err := tensor.Try(func() { x.Dim(axis) }); !errors.Is(err, tensor.ErrAxis) {
			t.Errorf("Dim(%d): %v", axis, err)
		}
	}
	shape := x.Shape()
	if shape[0] = 99; x.Dim(0) != 2 {
		t.Error("Shape gives the tensor's own slice")
	}
	if v := x.S("1:, 2:, 3:").Item(); v != 23 {
		t.Error(v)
	}
	for _, y := range []tensor.Tensor[int32]{x, x.S(":0")} {
		if err := tensor.Try(func() { y.Item() }); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("Item of %v: %v", y.Shape(), err)
		}
	}
}

// An element is found the same way whatever its layout and storage, and each mistake is
// the error it is.
func TestAccessPaths(t *testing.T) {
	large := tensor.New[int32](1<<15, 2) // not on the Go heap
	deep := tensor.New[int32](1, 1, 1, 1, 1, 1, 1, 1, 2)
	words := tensor.BitCast[int32](tensor.New[float32](2, 3))
	for name, x := range map[string]tensor.Tensor[int32]{
		"rank 1": tensor.New[int32](4), "rank 2": tensor.New[int32](3, 4), "rank 8": tensor.New[int32](1, 2, 1, 2, 1, 2, 1, 2), "deep": deep, "large": large,
		"turned": tensor.New[int32](3, 4).Transpose(), "reversed": tensor.New[int32](3, 4).Flip(), "bits of another type": words,
		"nested": tensor.FromLayout(make([]int32, 16), layout.MustParse("((2,2),4):((1,8),2)")), "rank 0": tensor.Scalar[int32](0),
	} {
		for k, idx := int32(1), x.Any().Indices(); k < 3; k++ {
			for at := range idx {
				x.Set(x.At(at...)+k, at...)
			}
		}
		for at, v := range x.All() {
			if v != 3 || x.At(at...) != 3 || x.ReadOnly().At(at...) != 3 {
				t.Fatalf("%s: %v at %v", name, v, at)
			}
		}
		idx := make([]int, x.Rank())
		if err := tensor.Try(func() { x.ReadOnly().Set(1, idx...) }); !errors.Is(err, tensor.ErrReadOnly) {
			t.Errorf("%s: read-only: %v", name, err)
		}
		for _, wrong := range [][]int{append(idx, 0), slices.Repeat([]int{0}, 9), nil} {
			if len(wrong) == x.Rank() {
				continue
			}
			if err := tensor.Try(func() { x.At(wrong...) }); !errors.Is(err, tensor.ErrIndex) {
				t.Errorf("%s: %d indices: %v", name, len(wrong), err)
			}
		}
		for axis := range idx {
			for _, i := range []int{-1, x.Dim(axis), math.MinInt, math.MaxInt} {
				wrong := slices.Clone(idx)
				wrong[axis] = i
				for _, f := range []func(){func() { x.At(wrong...) }, func() { x.Set(1, wrong...) }} {
					if err := tensor.Try(f); !errors.Is(err, tensor.ErrIndex) {
						t.Errorf("%s: %v: %v", name, wrong, err)
					}
				}
			}
		}
		x.Close()
		for _, f := range []func(){func() { x.At(idx...) }, func() { x.Set(1, idx...) }} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrClosed) {
				t.Errorf("%s: closed: %v", name, err)
			}
		}
	}
	var zero tensor.Tensor[int32]
	if err := tensor.Try(func() { zero.View(1, 1).At(0, 0) }); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("a view of the zero value: %v", err)
	}
}

func TestElems(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(2, 3, 4)
	part := x.Slice(tensor.I(1), tensor.R(1, 3))
	e := part.Elems()
	if !slices.Equal(e, []int32{16, 17, 18, 19, 20, 21, 22, 23}) || cap(e) != 8 {
		t.Error(e, cap(e))
	}
	if e[0] = -1; x.At(1, 1, 0) != -1 {
		t.Error("Elems copied")
	}
	if err := tensor.Try(func() { x.Transpose().Elems() }); !errors.Is(err, tensor.ErrView) {
		t.Error(err)
	}
	if e := x.S("5:").Transpose().Elems(); len(e) != 0 {
		t.Error(e)
	}
	lay, a, b := part.Layout(), part.Any(), x.Any()
	if r := reach.Run[int32](&a, &lay); len(r) != 8 || &r[0] != &e[0] {
		t.Error(r)
	}
	if r := reach.Run[int32](&b, &lay); r != nil {
		t.Error("Run of another layout:", r)
	}
}

func TestReadOnly(t *testing.T) {
	x := tensor.Arange[int32](0, 6, 1).View(2, 3)
	r := x.ReadOnly()
	if !r.IsReadOnly() || x.IsReadOnly() || r.At(1, 2) != 5 || !r.Any().SameData(x.Any()) {
		t.Error(r)
	}
	for name, y := range map[string]tensor.Tensor[int32]{
		"ReadOnly": r, "twice": r.ReadOnly(), "Slice": r.S("1:"), "Permute": r.Permute(1, 0), "View": r.View(6), "Reshape": r.Reshape(3, 2),
		"Squeeze": r.Unsqueeze(0).Squeeze(), "Flip": r.Flip(), "BroadcastTo": x.BroadcastTo(2, 2, 3), "same shape": x.BroadcastTo(2, 3),
		"Contiguous": r.Contiguous(), "Diagonal": tensor.Diagonal(x, 0, 0, 1), "SlidingWindow": tensor.SlidingWindow(x, 0, 2),
	} {
		idx := make([]int, y.Rank())
		for what, f := range map[string]func(){
			"Set": func() { y.Set(1, idx...) }, "Fill": func() { y.Fill(1) }, "CopyFrom": func() { y.CopyFrom(tensor.Scalar[int32](1)) }, "Mutable": func() { tensor.Mutable(y) },
		} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrReadOnly) {
				t.Errorf("%s.%s: %v", name, what, err)
			}
		}
		c := y.Clone()
		c.Fill(1)
		if f := tensor.Flatten(y); f.IsReadOnly() || c.IsReadOnly() {
			t.Errorf("a copy of %s is read-only", name)
		}
	}
	if got := values(x); !slices.Equal(got, []int32{0, 1, 2, 3, 4, 5}) {
		t.Error("written through a read-only view:", got)
	}
}

// The zero value is no tensor: access panics with a typed error, and calls that don't
// touch elements work.
func TestZeroValue(t *testing.T) {
	var x tensor.Tensor[float32]
	if !x.IsZero() || x.Any().SameData(x.Any()) || x.Close() != nil || x.IsReadOnly() {
		t.Error("zero value")
	}
	for name, f := range map[string]func(){
		"At": func() { x.At() }, "Set": func() { x.Set(1) }, "Item": func() { x.Item() }, "Data": func() { x.Data() }, "Elems": func() { x.Elems() },
		"Fill": func() { x.Fill(1) }, "Clone": func() { x.Clone() }, "Contiguous": func() { x.Contiguous() }, "Flatten": func() { tensor.Flatten(x) },
		"CopyFrom": func() { x.CopyFrom(tensor.Scalar[float32](1)) }, "Overlaps": func() { x.Any().Overlaps(x.Any()) }, "from it": func() { tensor.Scalar[float32](1).CopyFrom(x) },
		"Values": func() { values(x) }, "MakeContiguous": func() { tensor.MakeContiguous(&x) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := x.String(); s != "tensor.Tensor[float32](zero value)" {
		t.Error(s)
	}
}

func TestTry(t *testing.T) {
	if err := tensor.Try(func() {}); err != nil {
		t.Error(err)
	}
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("Try let %v through as something else", r)
		}
	}()
	err := tensor.Try(func() { panic("other") })
	t.Errorf("Try took another panic: %v", err)
}

// Loops may end early, start anew, and write to the indices they are given.
func TestIterate(t *testing.T) {
	x := tensor.Arange[int32](0, 6, 1).View(2, 3).Transpose()
	var got []int32
	for v := range x.Values() {
		if got = append(got, v); len(got) == 4 {
			break
		}
	}
	if !slices.Equal(got, []int32{0, 3, 1, 4}) {
		t.Error(got)
	}
	n := 0
	for i, v := range x.All() {
		if want := int32(i[1]*3 + i[0]); v != want {
			t.Errorf("%v at %v", v, i)
		}
		i[0], i[1] = 7, 7
		if n++; n == 5 {
			break
		}
	}
	for i, v := range x.All() { // a write shows in later elements
		if v == 0 {
			x.Set(-1, 2, 1)
		}
		if i[0] == 2 && i[1] == 1 && v != -1 {
			t.Error("the element was read before")
		}
	}
	err := tensor.Try(func() {
		for range x.Values() {
			x.Close()
		}
	})
	if !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("closed inside the loop: %v", err)
	}
	for i, v := range tensor.Scalar[int8](4).All() {
		if len(i) != 0 || v != 4 {
			t.Error(i, v)
		}
	}
	for range tensor.New[int8](3, 0).All() {
		t.Error("an empty tensor has elements")
	}
}

// The parts of complex numbers are views of them, whatever the layout.
func TestRealImag(t *testing.T) {
	x := tensor.New[complex64](3, 4)
	for i := range x.Any().Indices() {
		x.Set(complex(float32(10*i[0]+i[1]), -float32(i[0]+i[1])), i...)
	}
	nested := tensor.FromLayout(x.Elems(), layout.MustParse("((2,2),3):((1,6),2)"))
	for _, z := range []tensor.Tensor[complex64]{x, x.Transpose(), x.Flip(), x.S("1:, ::2"), x.S("-1, ::-3"), x.S("2, 3"), x.S("3:"), x.S(":, 4:"), x.S(":1").BroadcastTo(5, 4), nested} {
		re, im := tensor.Real[float32](z), tensor.Imag[float32](z)
		if !slices.Equal(re.Shape(), z.Shape()) || re.IsReadOnly() != z.IsReadOnly() || im.IsReadOnly() != z.IsReadOnly() || !re.Any().SameData(z.Any()) || re.Any().Overlaps(im.Any()) {
			t.Errorf("%v: shape %v, read-only %v", z.Layout(), re.Shape(), re.IsReadOnly())
		}
		for i, v := range z.All() {
			if re.At(i...) != real(v) || im.At(i...) != imag(v) {
				t.Fatalf("%v at %v: %v and %v", z.Layout(), i, re.At(i...), im.At(i...))
			}
		}
		if c := im.Clone(); !slices.Equal(values(c), values(im)) {
			t.Errorf("%v: Clone %v, not %v", z.Layout(), c, im)
		}
	}
	im := tensor.Imag[float32](x)
	im.Fill(2)
	if x.At(2, 1) != 21+2i {
		t.Error("a write doesn't show:", x)
	}
	x.Close()
	if err := tensor.Try(func() { im.At(0, 0) }); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
	var zero tensor.Tensor[complex128]
	for want, f := range map[error]func(){
		tensor.ErrDType: func() { tensor.Real[float64](tensor.New[complex64](2)) }, tensor.ErrClosed: func() { tensor.Imag[float64](zero) },
	} {
		if err := tensor.Try(f); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
