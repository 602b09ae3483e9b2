package csv

import (
	"errors"
	"io"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// What is nil is an error of this package, no panic.
func TestNil(t *testing.T) {
	for i, err := range []error{
		Write(nil, tensor.New[int8](2).Any(), nil, nil),
		Write(io.Discard, tensor.Any{}, nil, nil),
		func() error { _, _, err := Read(nil, nil); return err }(),
	} {
		var own *Error
		if !errors.As(err, &own) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
