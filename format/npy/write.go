package npy

import (
	"bufio"
	"io"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// Write writes a as an npy file of version 1, little-endian and row-major,
// whatever its layout. It is the file that NumPy 1.24 makes of the same
// array, byte for byte. A tensor that isn't contiguous is gathered in pieces of
// about a MiB. It fails for a rank over MaxRank, for a tensor without elements
// of its own (a tensor.Spec), and with w's error.
func Write(w io.Writer, a tensor.Any) error {
	text, err := headerText(a)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := out.WriteString(text); err != nil {
		return fail(0, err, "writing the header: %v", err)
	}
	if e := tensor.Try(func() { err = tensor.Encode(out, a) }); e != nil {
		err = e // the tensor is closed, or the zero value
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fail(-1, err, "writing %s: %v", tensor.Describe(a), err)
	}
	return nil
}

// headerText returns everything before the elements. NumPy leaves room for the
// first extent to grow to 21 digits, ends the header with at least one space and
// a newline, and begins the elements at a multiple of 64.
func headerText(a tensor.Any) (string, error) {
	const roomFor = 21
	descr := descrOf(a.DType())
	if descr == "" {
		return "", fail(-1, ErrType, "%v has no npy element type", a.DType())
	}
	shape := tensor.Shape(a)
	if len(shape) > MaxRank {
		return "", fail(-1, ErrLimit, "rank %d; NumPy's largest is %d: reshape the tensor", len(shape), MaxRank)
	}
	dims := strings.ReplaceAll(shapeText(shape), ",", ", ")
	if len(shape) == 1 {
		dims = shapeText(shape)
	}
	text := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + dims + ", }"
	if len(shape) > 0 {
		text += strings.Repeat(" ", roomFor-decimals(shape[0]))
	}
	const before = len(magic) + 4
	text += strings.Repeat(" ", 64-(before+len(text)+1)%64) + "\n"
	return magic + "\x01\x00" + string([]byte{byte(len(text)), byte(len(text) >> 8)}) + text, nil
}

func decimals(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}
