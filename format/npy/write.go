package npy

import (
	"bufio"
	"io"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
)

// Write writes a as an npy file of version 1, little-endian. For every layout of a
// it is row-major, or column-major with WriteOptions.Fortran. It is byte for byte
// the file that NumPy 1.24 makes of the same array in that order; there an array
// that is contiguous in both orders counts as row-major. A tensor that isn't
// contiguous is gathered in pieces of about a MiB. Write fails for a rank over
// MaxRank, for a tensor without elements of its own (a tensor.Spec), and with w's
// error.
func Write(w io.Writer, a tensor.Any, opts *WriteOptions) error {
	if w == nil || a.IsZero() {
		return fail(-1, format.ErrType, "the writer or the tensor is nil")
	}
	fortran := opts != nil && opts.Fortran && !bothOrders(a)
	text, err := headerText(a, fortran)
	if err != nil {
		return err
	}
	whole := a
	if fortran { // column-major order is row-major order of the transpose
		if a, err = tensor.Permute(a, backwards(a.Rank())...); err != nil {
			return fail(-1, err, "writing %s: %v", tensor.Describe(whole), err)
		}
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
		return fail(-1, err, "writing %s: %v", tensor.Describe(whole), err)
	}
	return nil
}

// WriteFile is Write to a file. The file appears, or replaces an earlier one, when it is
// whole; after an error the earlier file is unchanged.
func WriteFile(path string, a tensor.Any, opts *WriteOptions) error {
	return formats.PutFile(path, func(w io.Writer) error { return Write(w, a, opts) })
}

// bothOrders reports whether row-major and column-major order of a are the same:
// at most one of its axes is longer than 1, or it is empty.
func bothOrders(a tensor.Any) bool {
	long := 0
	for _, e := range a.Shape() {
		if e == 0 {
			return true
		}
		if e > 1 {
			long++
		}
	}
	return long <= 1
}

// backwards lists the axes of a rank, the last one first.
func backwards(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = rank - 1 - i
	}
	return axes
}

// headerText returns all text before the elements. Like NumPy, it leaves room for
// the slowest extent to grow to 21 digits, ends the header with at least one space
// and a newline, and begins the elements at a multiple of 64.
func headerText(a tensor.Any, fortran bool) (string, error) {
	const roomFor = 21
	descr := descrOf(a.DType())
	if descr == "" {
		return "", fail(-1, format.ErrType, "%v has no npy element type", a.DType())
	}
	shape := a.Shape()
	if len(shape) > MaxRank {
		return "", fail(-1, format.ErrLimit, "rank %d; NumPy's largest is %d: reshape the tensor", len(shape), MaxRank)
	}
	dims := strings.ReplaceAll(shapeText(shape), ",", ", ")
	if len(shape) == 1 {
		dims = shapeText(shape)
	}
	order, grows := "False", 0
	if fortran {
		order, grows = "True", len(shape)-1
	}
	text := "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + dims + ", }"
	if len(shape) > 0 {
		text += strings.Repeat(" ", roomFor-decimals(shape[grows]))
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
