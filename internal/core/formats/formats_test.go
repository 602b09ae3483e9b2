package formats_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

func Example() {
	s := &format.Source{R: strings.NewReader("12")}
	one := &formats.One{Read: func() (tensor.Any, error) {
		return formats.Read(s, func(r io.Reader) (tensor.Any, error) {
			b, err := io.ReadAll(r)
			return tensor.FromSlice(b, len(b)).Any(), err
		})
	}}
	fmt.Println(one.Tensor("", tensor.I(1)))
	fmt.Println(formats.Typed("uint8", []int{2}), formats.Bytes(dtype.Float32, 2, 3))
	// Output:
	// 50 <nil>
	// uint8[2] 24
}

// An error gets the names on its way out.
func TestWithin(t *testing.T) {
	inner := &format.Error{Format: "npy", Path: "x.npy", Offset: 3, Text: "broken", Err: format.ErrFormat}
	err := formats.Within("a.npz", inner)
	if want := "npy: a.npz/x.npy: byte 3: broken"; err.Error() != want || !errors.Is(err, format.ErrFormat) || inner.Path != "x.npy" {
		t.Errorf("got %v, want %s", err, want)
	}
	if formats.Within("a", nil) != nil || formats.Within("a", io.EOF) != io.EOF {
		t.Error("other errors don't stay")
	}
	_, err = tensor.Slice(tensor.New[int8](2).Any(), tensor.I(2))
	if wrong := formats.WrongIndex("npy", "x", err); wrong == nil || !errors.Is(wrong, tensor.ErrIndex) || formats.WrongIndex("npy", "x", io.EOF) != nil {
		t.Errorf("%v: %v", err, wrong)
	}
}
