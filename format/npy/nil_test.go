package npy

import (
	"errors"
	"io"
	"testing"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/tensor"
)

// What is nil is an error of this package, no panic.
func TestNil(t *testing.T) {
	for i, err := range []error{
		Write(nil, tensor.New[int8](2).Any(), nil),
		Write(io.Discard, tensor.Any{}, nil),
		WriteZip(nil, nil, nil, nil),
		WriteZip(io.Discard, []string{"a"}, []tensor.Any{{}}, nil),
		func() error { _, err := Read(nil, nil); return err }(),
		func() error { _, err := ReadHeader(nil, nil); return err }(),
		func() error { _, err := NewZip(nil, 3, nil); return err }(),
	} {
		var own *format.Error
		if !errors.As(err, &own) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
