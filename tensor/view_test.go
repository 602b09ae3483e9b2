package tensor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Every move of an axis is a removal and an insertion.
func TestMoveAxis(t *testing.T) {
	x := tensor.New[int8](2, 3, 4, 5)
	for from := range 4 {
		for to := range 4 {
			want := x.Shape()
			e := want[from]
			want = slices.Insert(slices.Delete(want, from, from+1), to, e)
			if got := tensor.MoveAxis(x, from-4, to).Shape(); !slices.Equal(got, want) {
				t.Errorf("MoveAxis(%d, %d): %v, want %v", from-4, to, got, want)
			}
		}
	}
}

// Calls that Cytnx's and NumPy's users trip over, by the layouts that come out.
func TestViewLayouts(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(2, 3, 4)
	for _, c := range []struct {
		name string
		got  tensor.Tensor[int32]
		want string
		off  int
	}{
		{"permuted", x.Permute(2, 0, -2), "(4,2,3):(1,12,4)", 0},
		{"clamped", x.S(":, 1:99"), "(2,2,4):(12,4,1)", 4},
		{"empty", x.S(":, 5:"), "(2,0,4):(12,4,1)", 0},
		{"one of a step", x.S(":, :, :1:2"), "(2,3,1):(12,4,1)", 0},
		{"reversed", x.S(":, ::-1"), "(2,3,4):(12,-4,1)", 8},
		{"-n is the first", x.S("-2"), "(3,4):(4,1)", 0},
		{"all axes", x.S("1, 2, 3"), "():()", 23},
		{"new axes", x.S("None, ..., None"), "(1,2,3,4,1):(0,12,4,1,0)", 0},
		{"merged", x.View(6, 4), "(6,4):(4,1)", 0},
		{"split", x.Transpose().View(2, 2, 3, 2), "(2,2,3,2):(2,1,4,12)", 0},
		{"reshaped behind a slice", x.S("1").View(2, 6), "(2,6):(6,1)", 12},
		{"stretched", x.S("0, 0:1").BroadcastTo(3, 4), "(3,4):(0,1)", 0},
		{"diagonal", tensor.Diagonal(x, 1, 0, 2), "(3,2):(4,13)", 1},
		{"lower diagonal", tensor.Diagonal(x, -1, 0, 2), "(3,1):(4,13)", 12},
		{"diagonal outside", tensor.Diagonal(x, 7, 0, 2), "(3,0):(4,13)", 0},
		{"windows", tensor.SlidingWindow(x, 1, 2), "(2,2,4,2):(12,4,1,4)", 0},
		{"windows of windows", tensor.SlidingWindow(tensor.SlidingWindow(x.S("0, 0"), 0, 3), 0, 2), "(1,3,2):(1,1,1)", 0},
	} {
		lay := c.got.Layout()
		if _, off := c.got.Data(); lay.String() != c.want || off != c.off {
			t.Errorf("%s: %v from %d, want %s from %d", c.name, lay, off, c.want, c.off)
		}
		if !c.got.Any().SameData(x.Any()) {
			t.Errorf("%s: another storage", c.name)
		}
	}
}

// Clone keeps the order in which axes stand in memory, without the holes.
func TestCloneLayouts(t *testing.T) {
	x := tensor.Arange[int32](0, 24, 1).View(2, 3, 4)
	nested := tensor.FromLayout(slices.Collect(x.Values())[:16], layout.MustParse("((2,2),4):((1,8),2)"))
	for _, c := range []struct {
		name string
		of   tensor.Tensor[int32]
		want string
	}{
		{"dense", x, "(2,3,4):(12,4,1)"},
		{"permuted", x.Permute(2, 0, 1), "(4,2,3):(1,12,4)"},
		{"permuted and cut", x.Permute(2, 0, 1).S("1:, :, ::2"), "(3,2,2):(1,6,3)"},
		{"cut", x.S(":, 1:, ::2"), "(2,2,2):(4,2,1)"},
		{"reversed", x.Flip(), "(2,3,4):(12,4,1)"},
		{"an axis of 1 between", x.Permute(2, 0, 1).S("1:, :1, ::2"), "(3,1,2):(1,3,3)"},
		{"stretched", x.S("0, 0").Unsqueeze(0).BroadcastTo(3, 4), "(3,4):(4,1)"},
		{"stretched inside", x.S("0, 0").Unsqueeze(1).BroadcastTo(4, 3), "(4,3):(3,1)"},
		{"empty", x.S(":, 3:"), "(2,0,4):(4,4,1)"},
		{"nested", nested, "((2,2),4):((1,8),2)"},
		{"nested and cut", nested.S(":, 1:"), "(4,3):(3,1)"},
	} {
		got := c.of.Clone()
		if lay := got.Layout(); lay.String() != c.want && !(c.of.Len() == 0) {
			t.Errorf("%s: %v, want %s", c.name, lay, c.want)
		}
		if !slices.Equal(values(got), values(c.of)) || got.Any().SameData(c.of.Any()) {
			t.Errorf("%s: %v, want %v", c.name, got, c.of)
		}
		data, off := got.Data()
		if len(data) != c.of.Len() || off != 0 {
			t.Errorf("%s: a storage of %d for %d elements", c.name, len(data), c.of.Len())
		}
	}
}

// More axes than a layout holds inline.
func TestManyAxes(t *testing.T) {
	shape := []int{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}
	x := tensor.Arange[int32](0, 32, 1).View(shape...)
	if x.At(1, 0, 1, 0, 1, 0, 1, 0, 1, 0) != 31 {
		t.Error(x.Layout())
	}
	want := tensor.Flatten(tensor.Arange[int32](0, 32, 1).View(2, 2, 2, 2, 2).Transpose())
	if got := x.Transpose().Squeeze().Reshape(-1); !slices.Equal(values(got), values(want)) {
		t.Error(fmt.Sprint(got))
	}
	y := tensor.SwapAxes(tensor.MoveAxis(x.Unsqueeze(0, -1).Flip(1, -2), 1, -1), 0, -1)
	if y.Rank() != 12 || y.Dim(0) != 2 || y.Clone().Len() != 32 || y.Contiguous().Len() != 32 {
		t.Error(y.Shape())
	}
	y.CopyFrom(tensor.Scalar[int32](5))
	if got := values(x); slices.Max(got) != 5 || slices.Min(got) != 5 {
		t.Error(got)
	}
}
