package gguf

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
)

// ErrVersion is the reason for which a file of version 1, of an unknown one, or of the other byte order is refused.
var ErrVersion = errors.New("unsupported version")

func fail(at int64, name string, err error, text string, args ...any) *format.Error {
	return &format.Error{Format: "gguf", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}

// in adds the file's name to an error that was made without it.
func in(path string, err error) error {
	var e *format.Error
	if errors.As(err, &e) && e.Path != "" {
		return err
	}
	return formats.Within(path, err)
}
