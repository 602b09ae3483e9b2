package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// asOf returns a with its element type.
func asOf[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " is of another type")
	}
	return t
}

// A type that no tensor holds is refused also by functions that panic.
func TestEmptyOfNoType(t *testing.T) {
	for _, d := range []dtype.DType{dtype.Invalid, dtype.DType(200)} {
		if err := tensor.Try(func() { tensor.EmptyOf(d, 2) }); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("%v: %v", d, err)
		}
	}
}

func TestMake(t *testing.T) {
	for _, d := range dtype.All() {
		a, err := tensor.Make(d, 2, 3)
		if err != nil {
			t.Errorf("%v: %v", d, err)
			continue
		}
		b, ok := tensor.Bytes(a)
		if a.DType() != d || !slices.Equal(a.Shape(), []int{2, 3}) || a.Len() != 6 || !ok || len(b) != 6*d.Size() || slices.Max(b) != 0 {
			t.Errorf("%v: %s with %d bytes", d, tensor.Describe(a), len(b))
		}
		b[len(b)-1] = 1 // shared; and a legal bool
		if c, err := tensor.Clone(a); err != nil {
			t.Error(err)
		} else if cb, _ := tensor.Bytes(c); !slices.Equal(b, cb) || &b[0] == &cb[0] {
			t.Errorf("%v: Clone holds %v, want %v", d, cb, b)
		}
		if s := tensor.Describe(a); s != d.String()+"[2,3]" {
			t.Error(s)
		}
	}
	for _, c := range []struct {
		d     dtype.DType
		shape []int
		want  error
	}{
		{dtype.Invalid, []int{1}, tensor.ErrDType},
		{dtype.DType(99), []int{1}, tensor.ErrDType},
		{dtype.Int8, []int{-1}, tensor.ErrShape},
		{dtype.Int64, []int{1 << 30, 1 << 30, 1 << 30}, tensor.ErrOverflow},
	} {
		if a, err := tensor.Make(c.d, c.shape...); !errors.Is(err, c.want) || !a.IsZero() {
			t.Errorf("Make(%v, %v): %v, %v", c.d, c.shape, a, err)
		}
	}
}

func TestAnyViews(t *testing.T) {
	x := tensor.Arange[int16](0, 6, 1).View(2, 3)
	must := func(a tensor.Any, err error) tensor.Tensor[int16] {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return asOf[int16](a)
	}
	for name, c := range map[string]struct {
		got   tensor.Tensor[int16]
		want  []int16
		share bool
	}{
		"Slice":       {must(tensor.Slice(x.Any(), tensor.Colon, tensor.I(1))), []int16{1, 4}, true},
		"Permute":     {must(tensor.Permute(x.Any(), 1, 0)), []int16{0, 3, 1, 4, 2, 5}, true},
		"Reshape":     {must(tensor.Reshape(x.Any(), -1)), []int16{0, 1, 2, 3, 4, 5}, true},
		"BroadcastTo": {must(tensor.BroadcastTo(x.S("0").Any(), 2, 3)), []int16{0, 1, 2, 0, 1, 2}, true},
		"Contiguous":  {must(tensor.Contiguous(x.Transpose().Any())), []int16{0, 3, 1, 4, 2, 5}, false},
		"Clone":       {must(tensor.Clone(x.Any())), []int16{0, 1, 2, 3, 4, 5}, false},
	} {
		if got := values(c.got); !slices.Equal(got, c.want) || c.got.Any().SameData(x.Any()) != c.share {
			t.Errorf("%s: %v, shares %v", name, got, !c.share)
		}
	}
	if err := tensor.Copy(x.Any(), tensor.Scalar[int16](7).Any()); err != nil || x.At(1, 1) != 7 {
		t.Error(err)
	}

	spec, err := tensor.NewSpec(dtype.Int16, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(name string, want error, a tensor.Any, err error) {
		t.Helper()
		var e *tensor.Error
		if !errors.Is(err, want) || !errors.As(err, &e) || !a.IsZero() {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	a, err := tensor.Slice(x.Any(), tensor.I(5))
	fail("Slice", tensor.ErrIndex, a, err)
	a, err = tensor.Permute(x.Any(), 0, 0)
	fail("Permute", tensor.ErrAxis, a, err)
	a, err = tensor.Reshape(x.Any(), 4)
	fail("Reshape", tensor.ErrShape, a, err)
	a, err = tensor.BroadcastTo(x.Any(), 4)
	fail("BroadcastTo", tensor.ErrShape, a, err)
	a, err = tensor.Slice(spec.Any(), tensor.I(0))
	fail("Slice of a Spec", tensor.ErrDType, a, err)
	a, err = tensor.Contiguous(spec.Any())
	fail("Contiguous of a Spec", tensor.ErrDType, a, err)
	fail("Copy of another type", tensor.ErrDType, tensor.Any{}, tensor.Copy(x.Any(), tensor.Scalar[int32](1).Any()))
	fail("Copy of a Spec", tensor.ErrDType, tensor.Any{}, tensor.Copy(x.Any(), spec.Any()))
	fail("Copy to a Spec", tensor.ErrDType, tensor.Any{}, tensor.Copy(spec.Any(), x.Any()))
	fail("Copy to read-only", tensor.ErrReadOnly, tensor.Any{}, tensor.Copy(x.ReadOnly().Any(), x.Any()))
	fail("Copy of another shape", tensor.ErrShape, tensor.Any{}, tensor.Copy(x.Any(), tensor.New[int16](4).Any()))
}

func TestSameData(t *testing.T) {
	x := tensor.New[int8](4)
	spec, err := tensor.NewSpec(dtype.Int8, 4)
	if err != nil {
		t.Fatal(err)
	}
	var zero tensor.Tensor[int8]
	for _, c := range []struct {
		a, b tensor.Any
		want bool
	}{
		{x.Any(), x.Any(), true}, {x.Any(), x.S("1:2").Any(), true}, {x.Any(), x.Clone().Any(), false}, {x.Any(), tensor.New[int16](4).Any(), false},
		{x.Any(), spec.Any(), false}, {spec.Any(), spec.Any(), false}, {zero.Any(), zero.Any(), false}, {x.Any(), tensor.Any{}, false}, {tensor.Any{}, tensor.Any{}, false},
	} {
		if got := c.a.SameData(c.b); got != c.want {
			t.Errorf("SameData(%v, %v) is %v", c.a, c.b, got)
		}
	}
	if err := spec.Any().Close(); err != nil {
		t.Error(err)
	}
}

func TestBytes(t *testing.T) {
	x := tensor.FromSlice([]uint8{1, 2, 3, 4, 5, 6}, 2, 3)
	if b, ok := tensor.Bytes(x.S("1:").Any()); !ok || !slices.Equal(b, []byte{4, 5, 6}) {
		t.Error(b, ok)
	}
	if b, ok := tensor.Bytes(x.S("9:").Any()); !ok || len(b) != 0 {
		t.Error(b, ok)
	}
	spec, err := tensor.NewSpec(dtype.Int8, 4)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]tensor.Any{"transposed": x.Transpose().Any(), "Spec": spec.Any(), "zero value": tensor.Tensor[uint8]{}.Any()} {
		if b, ok := tensor.Bytes(a); ok {
			t.Errorf("%s: %v", name, b)
		}
	}
}

func TestSpecEqual(t *testing.T) {
	spec := func(d dtype.DType, shape ...int) tensor.Spec {
		s, err := tensor.NewSpec(d, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := spec(dtype.Float32, 255, 255, 3)
	for _, c := range []struct {
		b                tensor.Spec
		equal, identical bool
	}{
		{spec(dtype.Float32, 255, 255, 3), true, true},
		{spec(dtype.Int32, 255, 255, 3), true, false},
		{spec(dtype.Float32, 255, 3, 255), false, false},
		{spec(dtype.Float32, 255, 255), false, false},
		{spec(dtype.Float32), false, false},
	} {
		if a.Equal(c.b) != c.equal || c.b.Equal(a) != c.equal || a.Identical(c.b) != c.identical {
			t.Errorf("%v and %v: equal %v, identical %v", a, c.b, a.Equal(c.b), a.Identical(c.b))
		}
	}
	if s := spec(dtype.Float32); s.Rank() != 0 || !s.Equal(spec(dtype.Bool)) {
		t.Error("a description of rank 0 isn't a scalar's")
	}
}

func TestSpec(t *testing.T) {
	s, err := tensor.NewSpec(dtype.BFloat16, 2, 0, 3)
	if err != nil || s.DType() != dtype.BFloat16 || s.Rank() != 3 || s.Dim(2) != 3 || s.Dim(-3) != 2 || s.Len() != 0 {
		t.Error(s, err)
	}
	if s.String() != "bfloat16[2,0,3]" || tensor.Sprint(s.Any(), nil) != "bfloat16[2,0,3]" {
		t.Error(s.String())
	}
	if l := s.Layout(); !l.Equal(layout.MustParse("(2,0,3):(3,3,1)")) {
		t.Error(l)
	}
	if err := tensor.Try(func() { s.Dim(3) }); !errors.Is(err, tensor.ErrAxis) {
		t.Error(err)
	}
	if s, err := tensor.NewSpec(dtype.Int64); err != nil || s.String() != "int64[]" {
		t.Error(s, err)
	}
	if _, err := tensor.NewSpec(dtype.Int8, -1); !errors.Is(err, tensor.ErrShape) {
		t.Error(err)
	}
}
