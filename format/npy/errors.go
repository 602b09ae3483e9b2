package npy

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

func fail(at int64, err error, text string, args ...any) error {
	return &format.Error{Format: "npy", Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}
