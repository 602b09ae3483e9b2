package pytorch

import (
	"fmt"

	"github.com/ashlar-go/ashlar/format"
)

func fail(at int64, name string, err error, text string, args ...any) *format.Error {
	return &format.Error{Format: "pytorch", Name: name, Offset: at, Text: fmt.Sprintf(text, args...), Err: err}
}
