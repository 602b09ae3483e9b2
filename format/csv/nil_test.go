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
		Write(nil, tensor.New[int8](2).Any(), nil, Options{}),
		Write(io.Discard, tensor.Any{}, nil, Options{}),
		func() error { _, _, err := Read(nil, Options{}); return err }(),
	} {
		var own *Error
		if !errors.As(err, &own) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
