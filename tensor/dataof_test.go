package tensor_test

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestAs(t *testing.T) {
	x := tensor.New[int8](2, 3)
	spec, err := tensor.NewSpec(dtype.Int8, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[int8](1)
	closed.Close()
	for _, c := range []struct {
		name                 string
		a                    tensor.Any
		ok, isZero, specOnly bool
	}{
		{"a tensor", x.Any(), true, false, false},
		{"a view", x.S("1:").Any().ReadOnly(), true, false, false},
		{"an empty one", x.S("2:").Any(), true, false, false},
		{"closed", closed.Any(), true, false, false},
		{"lazy", reach.Lazy(nil, dtype.Int8, 2, 3), true, false, false},
		{"another type", tensor.New[uint8](2, 3).Any(), false, false, false},
		{"foreign", reach.Foreign(t, dtype.Int8, x.Layout()), false, false, false},
		{"a Spec", spec.Any(), false, false, true},
		{"the zero value", tensor.Any{}, false, true, false},
		{"a zero tensor", tensor.Tensor[int8]{}.Any(), false, true, false},
		{"a view of a zero tensor", tensor.Diagonal(tensor.Tensor[int8]{}.View(1, 1), 0, 0, 1).Any(), false, true, false},
	} {
		y, ok := tensor.As[int8](c.a)
		if ok != c.ok || c.a.IsZero() != c.isZero || c.a.IsSpec() != c.specOnly {
			t.Errorf("%s: As says %t, IsZero %t, IsSpec %t", c.name, ok, c.a.IsZero(), c.a.IsSpec())
		}
		if ok == y.IsZero() {
			t.Errorf("%s: As returns %v", c.name, y)
		}
	}
	if y, _ := tensor.As[int8](x.Any().ReadOnly()); !y.IsReadOnly() || !y.Any().SameData(x.Any()) || x.IsReadOnly() {
		t.Error("As doesn't return the view that it was given")
	}
	if d := (tensor.Any{}).DType(); d != dtype.Invalid || spec.Any().DType() != dtype.Int8 || !slices.Equal(spec.Any().Shape(), []int{2, 3}) {
		t.Errorf("the zero value has type %v, the Spec is %v", d, spec.Any())
	}
	for _, f := range []func(){func() { spec.Any().Export() }, func() { spec.Any().Storage() }, func() { spec.Any().Pin() }, func() { spec.Any().At(0, 0) }} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrDType) {
			t.Errorf("of a Spec: %v", err)
		}
	}
}

func TestDataOf(t *testing.T) {
	x := tensor.Arange[float32](0, 12, 1).View(3, 4)
	a := x.S("1:, 2:").Any()
	data, off := reach.DataOf[float32](&a)
	words, at := reach.DataOf[uint32](&a)
	if len(data) != 12 || off != 6 || data[off] != 6 || len(words) != 12 || at != 6 || words[at] != math.Float32bits(6) {
		t.Error(data, off, words, at)
	}
	w, at := reach.MutableOf[int32](&a)
	if w[at] = int32(math.Float32bits(-1)); x.At(1, 2) != -1 {
		t.Error("a write through MutableOf doesn't show:", x)
	}
	run := x.S("1").Any()
	if r := reach.Run[uint32](&run, run.LayoutRef()); len(r) != 4 || r[0] != math.Float32bits(4) {
		t.Error(r)
	}
	z := tensor.Full(complex(1, 2), 2).Any()
	if w, _ := reach.DataOf[fixed.FP64x64](&z); len(w) != 2 {
		t.Error(w)
	}
	truth := tensor.Full(true, 3).Any()
	if w, _ := reach.DataOf[uint8](&truth); !slices.Equal(w, []uint8{1, 1, 1}) {
		t.Error(w)
	}
	if got := slices.Collect(tensor.ValuesOf[float32](a)); !slices.Equal(got, []float32{-1, 7, 10, 11}) || a.At(0, 1) != float32(7) {
		t.Error(got, a.At(0, 1))
	}

	small := tensor.New[int8](3).Any()
	read := a.ReadOnly()
	spec, err := tensor.NewSpec(dtype.Int8, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := spec.Any()
	foreign := reach.Foreign(t, dtype.Int8, small.Layout())
	var none tensor.Any
	for name, c := range map[string]struct {
		f    func()
		want error
	}{
		"wider":              {func() { reach.DataOf[float64](&a) }, tensor.ErrDType},
		"narrower":           {func() { reach.DataOf[uint16](&a) }, tensor.ErrDType},
		"wider, to write":    {func() { reach.MutableOf[complex64](&a) }, tensor.ErrDType},
		"bool":               {func() { reach.DataOf[bool](&small) }, tensor.ErrDType},
		"bool, to write":     {func() { reach.MutableOf[bool](&small) }, tensor.ErrDType},
		"Run, wider":         {func() { reach.Run[float64](&run, run.LayoutRef()) }, tensor.ErrDType},
		"Run, bool":          {func() { reach.Run[bool](&small, small.LayoutRef()) }, tensor.ErrDType},
		"ValuesOf, wider":    {func() { _ = slices.Collect(tensor.ValuesOf[float64](a)) }, tensor.ErrDType},
		"ValuesOf, bool":     {func() { _ = slices.Collect(tensor.ValuesOf[bool](small)) }, tensor.ErrDType},
		"read-only":          {func() { reach.MutableOf[float32](&read) }, tensor.ErrReadOnly},
		"the zero value":     {func() { reach.DataOf[float32](&none) }, tensor.ErrClosed},
		"ValuesOf of none":   {func() { _ = slices.Collect(tensor.ValuesOf[float32](none)) }, tensor.ErrClosed},
		"a Spec":             {func() { reach.DataOf[int8](&s) }, tensor.ErrDType},
		"a Spec, to write":   {func() { reach.MutableOf[int8](&s) }, tensor.ErrDType},
		"foreign":            {func() { reach.DataOf[int8](&foreign) }, tensor.ErrDType},
		"At, too many":       {func() { a.At(0, 0, 0) }, tensor.ErrIndex},
		"At outside":         {func() { a.At(2, 0) }, tensor.ErrIndex},
		"At of the zero Any": {func() { none.At() }, tensor.ErrClosed},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	x.Close()
	if err := tensor.Try(func() { reach.DataOf[float32](&a) }); !errors.Is(err, tensor.ErrClosed) {
		t.Error(err)
	}
}

// Elements that stand where their own type may and a wider word may not.
func TestDataOfAlignment(t *testing.T) {
	if unsafe.Alignof(uint64(0)) == 4 {
		t.Skip("8 bytes are aligned at 4 here")
	}
	buf := mem.Borrow(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, 4)))), 32), nil)
	lay := layout.MustParse("3:1")
	a, err := tensor.FromBytes(dtype.Complex64, buf, 4, lay)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := reach.DataOf[complex64](&a); len(d) != 3 {
		t.Error(d)
	}
	for name, f := range map[string]func(){
		"DataOf": func() { reach.DataOf[uint64](&a) }, "MutableOf": func() { reach.MutableOf[float64](&a) }, "Run": func() { reach.Run[int64](&a, &lay) },
		"ValuesOf": func() { _ = slices.Collect(tensor.ValuesOf[float64](a)) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrAlign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	runtime.KeepAlive(a)
}

// An empty view at the end of a storage keeps no pointer behind it: the collector would
// find it in memory that belongs to nobody, and end the program.
func TestEmptyAtTheEnd(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var kept []any
	for round := range 4 {
		for _, n := range []int{1, 2, 8, 16, 64, 256, 1024, 2048, 4096, 8192, 1 << 15, 1 << 17} {
			kept = append(kept, empties(t, tensor.New[complex64](n))...)
			kept = append(kept, empties(t, tensor.FromSlice(make([]complex64, n)))...)
			kept = append(kept, empties(t, tensor.FromSlice(make([]complex64, n)[n:]))...)
			kept = append(kept, empties(t, tensor.FromSlice(make([]complex64, n+1)[:n]))...)
			kept = append(kept, make([]byte, 8*n)) // memory comes and goes
		}
		runtime.GC()
		kept = kept[len(kept)/2*(round&1):]
	}
	runtime.KeepAlive(kept)
}

// empties returns all kinds of views and slices of nothing at the end of x.
func empties(t *testing.T, x tensor.Tensor[complex64]) (all []any) {
	end := tensor.R(x.Len(), tensor.None)
	e := x.Slice(end)
	y := e.Unsqueeze(0).Transpose()
	y.CopyFrom(tensor.New[complex64](0, 1))
	y.Fill(1)
	a := y.Any()
	d, _ := reach.DataOf[complex64](&a)
	whole, _ := e.Data()
	b, ok := tensor.Bytes(a)
	f, err := tensor.FromBytes(dtype.Int8, mem.Borrow(make([]byte, 8*x.Len()), nil), 8*x.Len(), layout.MustParse("0:1"))
	if !ok || err != nil || len(b)+y.Len() != 0 {
		t.Fatal(b, err)
	}
	wide := x.View(-1, 1).Slice(end)
	return []any{e, y, d[len(d):], whole[len(whole):], b, f, e.Elems(), reach.Run[complex64](&a, a.LayoutRef()), e.Clone().Elems(), a.Nested(), a.Export(),
		tensor.Recast[float32](wide).Elems(), tensor.BitCast[fixed.FP32x32](e).Elems(), tensor.Imag[float32](e), tensor.Imag[float32](e).Contiguous().Elems(),
		tensor.Tile(e, []int{3}, 1), tensor.Split(e, 0, 2), tensor.Mask(e, tensor.New[bool](0)), tensor.Flatten(e).Elems(), tensor.Vectorize(e, 2).Lanes()}
}
