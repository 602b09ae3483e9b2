package safetensors

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
		Write(nil, nil, nil, nil),
		Write(io.Discard, []string{"a"}, []tensor.Any{{}}, nil),
	} {
		var own *format.Error
		if !errors.As(err, &own) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
