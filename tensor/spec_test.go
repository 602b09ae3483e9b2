package tensor_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

func ExampleSpec_Align() {
	s, err := tensor.NewSpec(dtype.Float32, 3, 5, 7)
	if err != nil {
		log.Fatal(err)
	}
	if s, err = s.Align(32, 32); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s, s.Padded(), s.Len(), s.StorageLen())
	// Output: float32[3,5,7] float32[3,32,32] 105 3072
}

func TestSpecPadding(t *testing.T) {
	spec := func(shape ...int) tensor.Spec {
		s, err := tensor.NewSpec(dtype.Int8, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct{ shape, align, padded []int }{
		{nil, nil, nil},
		{nil, []int{32, 32}, []int{32, 32}},
		{[]int{5}, []int{32, 32}, []int{32, 32}},
		{[]int{14, 28}, []int{4, 3}, []int{16, 30}},
		{[]int{14, 28}, []int{15}, []int{14, 30}},
		{[]int{2, 3, 30, 40}, []int{128, 32, 32}, []int{2, 4, 32, 64}},
		{[]int{5, 40, 50}, []int{128, 32, 32}, []int{6, 64, 64}},
		{[]int{2, 2, 3}, []int{16, 1, 4}, []int{8, 2, 4}},
		{[]int{14, 28}, []int{128, 32, 32}, []int{4, 32, 32}},
		{[]int{0, 5}, []int{32, 32}, []int{0, 32}},
		{[]int{3, 0, 5}, []int{7, 32, 32}, []int{3, 0, 32}},
	} {
		s, err := spec(c.shape...).Align(c.align...)
		if err != nil || !slices.Equal(s.Padded().Shape(), c.padded) || !slices.Equal(s.Shape(), c.shape) {
			t.Errorf("%v aligned to %v: %v, %v", c.shape, c.align, s.Padded(), err)
		}
	}
	padded, err := spec(14, 28).WithPadded(1, 32, 32)
	if err != nil || padded.StorageLen() != 1024 || padded.Len() != 392 || padded.Identical(spec(14, 28)) || !padded.Equal(spec(14, 28)) {
		t.Errorf("padded: %v, %v", padded, err)
	}
	for n, want := range map[int]string{2: "int8[14,28] int8[32,32]", 3: "int8[1,14,28] int8[1,32,32]", 4: "int8[1,1,14,28] int8[1,1,32,32]"} {
		if s, err := padded.ToRank(n); err != nil || fmt.Sprint(s, " ", s.Padded()) != want {
			t.Errorf("rank %d: %v %v, %v", n, s, s.Padded(), err)
		}
	}
	failed := func(_ tensor.Spec, err error) error { return err }
	for _, c := range []struct {
		err, is error
	}{
		{failed(spec(14, 28).WithPadded(32)), tensor.ErrShape},
		{failed(spec(14, 28).WithPadded(13, 28)), tensor.ErrShape},
		{failed(spec(14, 28).WithPadded(math.MaxInt/2, 28)), tensor.ErrOverflow},
		{failed(spec(14, 28).Align(0)), tensor.ErrShape},
		{failed(spec(14, 28).Align(-3, 1)), tensor.ErrShape},
		{failed(spec(2, 14, 28).Align(10, 32, 32)), tensor.ErrShape},
		{failed(spec(14, 28).Align(math.MaxInt)), tensor.ErrOverflow},
		{failed(spec(2, 28).Align(math.MaxInt/2, math.MaxInt/2, 1)), tensor.ErrOverflow},
		{failed(padded.ToRank(1)), tensor.ErrShape},
		{failed(padded.ToRank(-1)), tensor.ErrShape},
		{failed(padded.ToRank(math.MaxInt)), tensor.ErrShape},
	} {
		var e *tensor.Error
		if !errors.As(c.err, &e) || !errors.Is(c.err, c.is) {
			t.Errorf("got %v, want %v", c.err, c.is)
		}
	}
}
