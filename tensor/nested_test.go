package tensor_test

import (
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func TestFromNested(t *testing.T) {
	half := num.F16FromFloat32(0.5)
	for _, c := range []struct {
		nest  any
		shape []int
		elems []float32
	}{
		{float32(7), []int{}, []float32{7}},
		{[]float32{1, 2}, []int{2}, []float32{1, 2}},
		{[][]float32{{1, 0.5, 1.3}, {2, 4.2, 6.7}}, []int{2, 3}, []float32{1, 0.5, 1.3, 2, 4.2, 6.7}},
		{[][][]float32{{{1}, {2}}}, []int{1, 2, 1}, []float32{1, 2}},
		{[]any{[]float32{1, 2}, []any{float32(3), float32(4)}}, []int{2, 2}, []float32{1, 2, 3, 4}},
		{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]float32{5}}}}}}}}}}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []float32{5}},
		{[]float32{}, []int{0}, nil},
		{[][]float32{{}, {}}, []int{2, 0}, nil},
		{[][][]float32{}, []int{0, 0, 0}, nil},
	} {
		got := tensor.FromNested[float32](c.nest)
		if !slices.Equal(got.Shape(), c.shape) || !slices.Equal(got.Elems(), c.elems) {
			t.Errorf("%v: %v of shape %v", c.nest, got, got.Shape())
		}
	}
	if got := tensor.FromNested[num.F16]([][]num.F16{{half}}); got.At(0, 0) != half {
		t.Errorf("got %v", got)
	}
	rows := []int8{1, 2}
	if x := tensor.FromNested[int8]([][]int8{rows, rows}); true {
		x.Set(9, 0, 0)
		if rows[0] != 1 || x.At(1, 0) != 1 {
			t.Error("the tensor shares with the nest")
		}
	}
}

func TestFromNestedRefuses(t *testing.T) {
	for _, c := range []struct {
		nest any
		say  string
	}{
		{[][]float32{{1, 2}, {1}}, "entry [1] has 1 entries, others at its level have 2"},
		{[][][]float32{{{1}, {2}}, {{3}, {4, 5}}}, "entry [1][1] has 2 entries"},
		{[][]float32{{}, {1}}, "entry [1] has 1 entries, others at its level have 0"},
		{[]any{float32(1), []float32{2}}, "entry [1] is a slice, others at its level are elements"},
		{[]any{[]float32{2}, float32(1)}, "entry [1] is an element, others at its level are slices"},
		{[]any{float32(1), 2}, "entry [1] is of type int, not of float32"},
		{[][]float64{{1}}, "the nest is of type [][]float64"},
		{nil, "the nest is of type <nil>"},
	} {
		err := tensor.Try(func() { tensor.FromNested[float32](c.nest) })
		if !errors.Is(err, tensor.ErrShape) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: %v, want %q", c.nest, err, c.say)
		}
	}
}

// Nested and back, for ranks with Go types of their own and beyond.
func TestNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 11).Draw(t, "shape")
		for size(shape) > 2000 {
			shape[slices.Index(shape, slices.Max(shape))] = 1
		}
		x := tensor.Arange[int32](0, int32(size(shape)), 1).View(shape...)
		v := x.Transpose()
		back := tensor.FromNested[int32](v.Nested())
		if !slices.Equal(back.Shape(), v.Shape()) || !slices.Equal(back.Elems(), values(v)) {
			t.Fatalf("%v comes back as %v", v, back)
		}
	})
	x := tensor.Arange[int32](0, 6, 1).View(2, 3)
	if got := x.Nested(); !reflect.DeepEqual(got, [][]int32{{0, 1, 2}, {3, 4, 5}}) {
		t.Errorf("got %v", got)
	}
	got := x.View(2, 1, 3).Nested().([][][]int32)
	if got[1][0][2] != 5 {
		t.Errorf("got %v", got)
	}
	got[1][0] = append(got[1][0], 7)
	if got[0][0][0] = 9; x.At(0, 0) != 0 {
		t.Error("Nested shares")
	}
	if got := tensor.New[bool](2, 0).Nested(); !reflect.DeepEqual(got, [][]bool{{}, {}}) {
		t.Errorf("got %v", got)
	}
	if got := tensor.Scalar(2.5).Nested(); got != 2.5 {
		t.Errorf("got %v", got)
	}
}

// Extents before one of 0, and slices that hold themselves, don't take memory without end.
func TestNestedLimits(t *testing.T) {
	x := tensor.New[float32](1<<21, 0, 3)
	for name, f := range map[string]func(){
		"Nested": func() { x.Nested() }, "WriteNested": func() { x.WriteNested(io.Discard) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := x.MarshalJSON(); !errors.Is(err, tensor.ErrMemory) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := x.S(":2").MarshalJSON(); err != nil || string(b) != "[[],[]]" {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := x.Transpose().MarshalJSON(); err != nil || string(b) != "[[],[],[]]" {
		t.Errorf("%s, %v", b, err)
	}
	self := make([]any, 1)
	self[0] = self
	if err := tensor.Try(func() { tensor.FromNested[float32](self) }); !errors.Is(err, tensor.ErrShape) {
		t.Error(err)
	}
}
