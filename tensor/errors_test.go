package tensor_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

var update = flag.Bool("update", false, "rewrite the files of expected texts in testdata")

// golden compares text with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text == string(want) {
		return
	}
	got, exp := bytes.Split([]byte(text), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(got), len(exp)) {
		if i >= len(got) || i >= len(exp) || !bytes.Equal(got[i], exp[i]) {
			t.Fatalf("%s differs from line %d on:\ngot\n%s\nwant\n%s", file, i+1, bytes.Join(got[min(i, len(got)):min(i+4, len(got))], []byte("\n")), bytes.Join(exp[min(i, len(exp)):min(i+4, len(exp))], []byte("\n")))
		}
	}
}

// TestErrors compares the text of every error with testdata/errors.txt: sentinel
// and text, one line each.
func TestErrors(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the numbers in the texts are those of 64 bits")
	}
	x := tensor.Arange[float32](0, 24, 1).View(4, 6)
	nested := tensor.FromLayout(make([]int8, 16), layout.MustParse("((2,2),4):((1,8),2)"))
	closed := tensor.New[float32](2)
	closed.Close()
	spec, err := tensor.NewSpec(dtype.Float32, 2)
	if err != nil {
		t.Fatal(err)
	}
	buf := mem.Borrow(make([]byte, 16, 32), nil)
	buf.Bytes()[9] = 7
	gone := mem.Borrow(make([]byte, 16), nil)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	lay := layout.MustParse("(4):(1)")
	file := filepath.Join(t.TempDir(), "bytes")
	if err := os.WriteFile(file, make([]byte, 16), 0o666); err != nil {
		t.Fatal(err)
	}
	mapped, err := mem.Map(file)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.Close()
	m, err := tensor.FromBytes(dtype.Float32, mapped, 0, lay)
	if err != nil {
		t.Fatal(err)
	}
	failed := func(_ any, err error) error { return err }
	var out bytes.Buffer
	for _, c := range []any{
		func() { tensor.New[int8](2, -1) },
		func() { tensor.New[int8](math.MaxInt, 2) },
		func() { tensor.New[int64](math.MaxInt / 2) },
		func() { tensor.FromSlice([]int8{1, 2, 3}, 2, 2) },
		func() { tensor.FromSlice([]int8{1}, -1, -1) },
		func() { tensor.FromLayout([]int8{1, 2, 3}, lay) },
		func() { tensor.Arange(0, 1, 0.0) },
		func() { tensor.Linspace(0, math.Inf(1), 3) },
		func() { tensor.Linspace(0.0, 1, -3) },
		func() { tensor.Eye[int8](-1) },
		func() { x.At(1) },
		func() { x.At(1, 6) },
		func() { x.Set(0, -1, 0) },
		func() { x.Item() },
		func() { x.Dim(2) },
		func() { tensor.Scalar[int8](1).Dim(-1) },
		func() { x.Transpose().Elems() },
		func() { x.Slice(tensor.I(4)) },
		func() { x.Slice(tensor.I(0), tensor.I(0), tensor.I(0)) },
		func() { x.Slice(tensor.R(0, 4, 0)) },
		func() { x.Slice(tensor.Ellipsis, tensor.Ellipsis) },
		func() { nested.Slice(tensor.R(1, 4)) },
		func() { x.S("1:2;") },
		func() { x.S("9") },
		func() { x.Permute(0) },
		func() { x.Permute(0, 0) },
		func() { tensor.PermuteInPlace(&x, 0, 2) },
		func() { tensor.SwapAxes(x, 0, 2) },
		func() { tensor.MoveAxis(x, -3, 0) },
		func() { x.Squeeze(0) },
		func() { x.Squeeze(5) },
		func() { x.Unsqueeze(0).Squeeze(0, -3) },
		func() { x.Unsqueeze(0, 0) },
		func() { x.Unsqueeze(4) },
		func() { x.Flip(0, -2) },
		func() { x.BroadcastTo(4) },
		func() { x.BroadcastTo(3, 6) },
		func() { x.BroadcastTo(-1, 6) },
		func() { tensor.Diagonal(x, 0, 1, -1) },
		func() { tensor.Diagonal(x, 0, 0, 2) },
		func() { tensor.Diagonal(nested, 0, 0, 1) },
		func() { tensor.SlidingWindow(x, 1, 7) },
		func() { tensor.SlidingWindow(nested, 0, 2) },
		func() { x.View(5, 5) },
		func() { x.View(-1, 5) },
		func() { x.View(-1, -1) },
		func() { x.View(-2, 24) },
		func() { x.S(":0").View(-1, 0) },
		func() { x.Transpose().View(3, 8) },
		func() { x.S(":, :5").View(-1, 4) },
		func() { x.Reshape(7) },
		func() { x.Reshape(-1, math.MaxInt, 2) },
		func() { tensor.ReshapeInPlace(&x, 4, 4) },
		func() { x.CopyFrom(tensor.New[float32](6, 4)) },
		func() { tensor.ReshapeIn(x, tensor.OrderF, 4, 5) },
		func() { tensor.ReshapeIn(x, 9, 24) },
		func() { tensor.Flatten(x, 9) },
		func() { tensor.AtOr(x, 0, 1) },
		func() { tensor.FromNested[int8]([][]int8{{1, 2}, {3}}) },
		func() { tensor.FromNested[int8]([]any{int8(1), "2"}) },
		func() { tensor.FromNested[int8]([]any{int8(1), 200}) },
		func() { tensor.FromNested[int8]([]any{int8(1), []int8{2}}) },
		func() { tensor.RandomUniform(1, 2.0, 2) },
		func() { tensor.RandomNormal(1, 0, -1.0) },
		func() { tensor.RandomNormal(1, fixed.FP8x23FromBits(math.MaxInt32), fixed.FP8x23FromBits(1<<23), 9) },
		func() { tensor.RandomIntegers[int8](1, 5, 5) },
		func() { tensor.RandomPermutation(1, -1) },
		func() { tensor.Take(x, 1, 0, 6) },
		func() { tensor.SetTake(x, tensor.New[float32](3, 6), 0, 1, 2) },
		func() { tensor.IndexBy(x) },
		func() { tensor.IndexBy(x, tensor.FromSlice([]int64{0, 4})) },
		func() { tensor.IndexBy(x, tensor.New[int64](2), tensor.New[int64](3)) },
		func() { tensor.SetIndexBy(x, tensor.New[float32](5), tensor.New[int64](2)) },
		func() { tensor.Mask(x, tensor.New[bool](6)) },
		func() { tensor.SetMask(x, tensor.New[float32](3), tensor.Full(true, 4, 6)) },
		func() { tensor.SetMask(x.ReadOnly(), x, tensor.Full(true, 4, 6)) },
		new(tensor.Tensor[int8]).UnmarshalJSON([]byte("[[1,2],[3]]")),
		new(tensor.Tensor[int8]).UnmarshalJSON([]byte("[1,300]")),
		new(tensor.Tensor[int8]).UnmarshalJSON([]byte("[1,2")),
		new(tensor.Tensor[int8]).UnmarshalBinary([]byte("PK")),
		new(tensor.Tensor[int8]).UnmarshalBinary([]byte("ASHLAR\x00\x01\x05int16\x00\x00\x00\x00\x01\x00")),
		new(tensor.Tensor[int8]).UnmarshalBinary([]byte("ASHLAR\x00\x01\x04int8\x00\x00\x00\x00\x01\x00")),
		func() { tensor.Axis(x, 2) },
		func() { tensor.Windows(x, 2) },
		func() { tensor.Windows(x, 2, 7) },
		func() { nested.Any().Export() },
		func() { closed.Any().Storage() },
		func() { tensor.Detach(closed) },
		func() { closed.Any().Pin() },
		func() { tensor.NewIn[int8](new(mem.Scratch), -1) },
		func() { x.ReadOnly().Set(1, 0, 0) },
		func() { x.BroadcastTo(2, 4, 6).Fill(1) },
		func() { asOf[float32](m).Fill(1) },
		func() { closed.At(0) },
		func() { tensor.Tensor[int8]{}.Fill(1) },
		failed(tensor.Make(dtype.Invalid, 2)),
		failed(tensor.Make(dtype.Int8, -2)),
		failed(tensor.NewSpec(dtype.Int8, 2, -2)),
		failed(tensor.FromBytes(dtype.Float32, gone, 0, lay)),
		failed(tensor.FromBytes(dtype.Float32, buf, 1, lay)),
		failed(tensor.FromBytes(dtype.Float64, buf, 0, lay)),
		failed(tensor.FromBytes(dtype.Int16, buf, 1, lay)),
		failed(tensor.FromBytes(dtype.Bool, buf, 8, lay)),
		failed(tensor.Slice(x.Any(), tensor.I(-5))),
		failed(tensor.Slice(spec.Any(), tensor.I(0))),
		tensor.Copy(x.Any(), nested.Any()),
		tensor.Copy(x.Any(), spec.Any()),
	} {
		err, is := c.(error)
		if !is {
			err = tensor.Try(c.(func()))
		}
		var e *tensor.Error
		if !errors.As(err, &e) {
			t.Errorf("after\n%sno tensor.Error: %v", out.String(), err)
			continue
		}
		fmt.Fprintf(&out, "%v | %v\n", e.Err, err)
	}
	golden(t, "errors.txt", out.String())
}

// A failed call changes nothing.
func TestFailedInPlace(t *testing.T) {
	x := tensor.Arange[int8](0, 6, 1).View(2, 3)
	for name, f := range map[string]func(){
		"PermuteInPlace": func() { tensor.PermuteInPlace(&x, 0, 0) }, "ReshapeInPlace": func() { tensor.ReshapeInPlace(&x, 4) }, "-1": func() { tensor.ReshapeInPlace(&x, -1, 4) },
	} {
		before := x
		lay := x.Layout()
		if err := tensor.Try(f); err == nil || !x.Any().SameData(before.Any()) || !lay.Equal(x.Layout()) {
			t.Errorf("%s: %v, %v", name, err, x.Layout())
		}
	}
}

// In-place forms change one handle; a pointer to it is another name, a copy of it
// is not.
func TestInPlace(t *testing.T) {
	a := tensor.Arange[int8](0, 6, 1).View(2, 3)
	copied, alias := a, &a
	tensor.PermuteInPlace(&a, 1, 0)
	if alias.Dim(0) != 3 || copied.Dim(0) != 2 || !a.Any().SameData(copied.Any()) {
		t.Error(alias.Shape(), copied.Shape())
	}
	tensor.ReshapeInPlace(&a, 6) // copies: the elements of a transposed matrix don't stand in a row
	if a.Any().SameData(copied.Any()) || alias.Rank() != 1 || a.At(1) != 3 || copied.At(0, 1) != 1 {
		t.Error(a, copied)
	}
	b := copied.Transpose()
	tensor.MakeContiguous(&b)
	if b.Any().SameData(copied.Any()) || !b.IsContiguous() || b.At(0, 1) != 3 {
		t.Error(b)
	}
	c := copied
	tensor.MakeContiguous(&c)
	if !c.Any().SameData(copied.Any()) {
		t.Error("MakeContiguous of a contiguous tensor copied")
	}
}
