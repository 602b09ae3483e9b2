package sound

import (
	"math"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Ring cuts a stream into windows that overlap. Rows come in chunks of any length: samples, which are rows of one number, or rows of features. The windows are
// the same whatever the chunks are.
//
// A window has Rows rows, and begins Step rows after the one before. Left rows of Fill stand before the first row of the stream. So with Left = Rows − Step
// each window has Step new rows behind Left old ones.
type Ring struct {
	rows, step, width int
	buf               []float32 // the rows from the beginning of the next window
	old               int       // elements of buf that are the left context, or were in the window before
	skip              int       // elements to pass by, where windows have gaps between them
}

// RingOptions are the left context of a Ring and the width of its rows. The zero value has no context, and rows of one number.
type RingOptions struct {
	Width int     // numbers in a row; 0 is 1
	Left  int     // rows before the first
	Fill  float32 // the numbers of these rows
}

// NewRing returns a Ring of windows that have rows rows and begin step rows apart. It panics if rows or step are below 1,
// or have more than 2^40 numbers. Where an int has 32 bits, the bound is 2^29. It panics for a negative width, and for a left context that is negative or isn't shorter than a window.
func NewRing(rows, step int, o RingOptions) *Ring {
	width := max(o.Width, 1)
	most := min(1<<40, math.MaxInt/4) / width // so that positions fit an int
	if rows < 1 || step < 1 || o.Width < 0 || o.Left < 0 || o.Left >= rows || max(rows, step) > most {
		panic(fail("NewRing", tensor.ErrValue, "%d rows of %d numbers, %d apart, after %d; want 1 to %d, and fewer before the first than a window has", rows, width, step, o.Left, most))
	}
	r := &Ring{rows: rows, step: step, width: width, buf: make([]float32, o.Left*width), old: o.Left * width}
	for i := range r.buf {
		r.buf[i] = o.Fill
	}
	return r
}

// Push takes a chunk and calls f with each window that it completes. The window is good until f returns, and f must not change it, as the next one overlaps.
// Push ends with the first error of f; the next call of Push goes on with the window after.
func (r *Ring) Push(chunk []float32, f func(window []float32) error) error {
	skipped := min(r.skip, len(chunk))
	r.skip -= skipped
	r.buf = append(r.buf, chunk[skipped:]...)
	at, size := 0, r.rows*r.width
	var err error
	for err == nil && at+size <= len(r.buf) {
		err = f(r.buf[at : at+size : at+size])
		at += r.step * r.width
		r.old = max(r.rows-r.step, 0) * r.width
	}
	if at > len(r.buf) {
		r.skip, at = at-len(r.buf), len(r.buf)
	}
	r.buf = r.buf[:copy(r.buf, r.buf[at:])]
	return err
}

// End calls f with a last window if rows came that were in none. Zeros stand behind them. The Ring must not be used afterwards.
func (r *Ring) End(f func(window []float32) error) error {
	if err := r.Push(nil, f); err != nil || len(r.buf) <= r.old { // windows may wait behind an error
		return err
	}
	return r.Push(make([]float32, r.rows*r.width-len(r.buf)), f)
}
