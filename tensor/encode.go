package tensor

import (
	"errors"
	"io"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/conv"
)

// piece is about how many bytes Encode gathers at a time.
const piece = 1 << 20

// Encode writes a's elements in row-major order, each in ascending byte order:
// the body of most tensor files. A view that isn't contiguous is gathered in
// pieces of about 1 MiB. It fails as w fails, and for an Any without elements.
func Encode(w io.Writer, a Any) error {
	const op = "tensor.Encode"
	if err := none(op, a); err != nil {
		return err
	}
	if w == nil {
		return noWriter(op)
	}
	if b, ok := Bytes(a); ok {
		err := writeBytes(w, b, conv.Unit(a.DType()))
		runtime.KeepAlive(a.st) // b alone doesn't keep its memory
		return err
	}
	size := a.Len() * a.DType().Size()
	if size <= piece || a.Rank() == 0 {
		c, err := Contiguous(a)
		if err != nil {
			return err
		}
		b, _ := Bytes(c)
		err = writeBytes(w, b, conv.Unit(a.DType()))
		return errors.Join(err, c.Close()) // c is a copy: a was not contiguous
	}
	rows := a.Dim(0) // not 0: an empty tensor is contiguous
	step := max(1, piece/(size/rows))
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		if n > 1 {
			if part, err := Slice(a, R(i, i+n)); err == nil {
				if err := Encode(w, part); err != nil {
					return err
				}
				continue
			} // a nested axis that has no layout for this range: row by row then
		}
		for k := range n {
			row, err := Slice(a, I(i+k))
			if err != nil {
				return err
			}
			if err := Encode(w, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func noWriter(op string) error {
	return &Error{op, "there is nothing to write to: the io.Writer is nil", ErrValue}
}

// writeBytes writes elements whose parts have n bytes, in ascending byte order.
func writeBytes(w io.Writer, b []byte, n int) error {
	if !conv.BigEndian || n == 1 {
		_, err := w.Write(b)
		return err
	}
	for len(b) > 0 {
		part := slices.Clone(b[:min(len(b), piece)])
		conv.Reverse(part, n)
		if _, err := w.Write(part); err != nil {
			return err
		}
		b = b[len(part):]
	}
	return nil
}
