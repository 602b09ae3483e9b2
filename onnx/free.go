package onnx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// mostMultiple is the largest multiple of sizes that free looks for: a network halves a picture a few times.
const mostMultiple = 128

// free adds to an error about shapes the sizes of inputs that the model leaves free, if it fits with others: with the next multiples of
// a power of two. Where ctx ends it returns the error of ctx.
func (s *Session) free(ctx context.Context, bound []Value, limit int64, err error) error {
	if !errors.Is(err, tensor.ErrShape) {
		return err
	}
	for multiple := 2; multiple <= mostMultiple; multiple *= 2 {
		others := slices.Clone(bound)
		var hints []string
		for i, id := range s.c.inputs {
			v, t := &others[id], &s.c.g.Inputs[i].Type
			if !v.isTensor() || isShapeLike(v.a) || !t.HasShape || len(t.Shape) != v.a.Rank() {
				continue
			}
			shape := v.a.Shape()
			for axis, d := range t.Shape {
				if n := shape[axis]; d.Value < 0 && n > 1 {
					shape[axis] = (n + multiple - 1) / multiple * multiple
				}
			}
			other := describedAs(v.elem(), shape...)
			if !other.known() || slices.Equal(shape, v.a.Shape()) {
				continue
			}
			hints = append(hints, fmt.Sprintf("the sizes of input %.100q are free and were %v; multiples of %d fit, as %v", s.c.g.Inputs[i].Name, v.a.Shape(), multiple, shape))
			*v = other
		}
		if len(hints) == 0 {
			continue
		}
		if _, again := s.newPlan(ctx, others, limit); again == nil {
			var e *Error
			if text := strings.Join(hints, "; "); errors.As(err, &e) {
				return &Error{File: e.File, Place: e.Place, Err: fmt.Errorf("%w; %s", e.Err, text)}
			}
		}
	}
	return cmp.Or(ctx.Err(), err)
}
