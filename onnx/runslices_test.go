package onnx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestRunSlices(t *testing.T) {
	s := session(t, func(b *Builder) {
		x, y := b.Input("x", dtype.Float32, "n", 2), b.Input("y", dtype.Float32, 2)
		b.Output(b.Rename(b.Node("Add", []string{x, y}), "z"), dtype.Float32, "n", 2)
	})
	open := session(t, func(b *Builder) {
		b.Output(b.Rename(b.Node("Neg", []string{b.Input("x", dtype.Float32, "n", "m")}), "z"), dtype.Float32, "n", "m")
	})
	ctx := context.Background()
	out, err := RunSlices[float32](ctx, s, []float32{1, 2, 3, 4}, []float32{10, 20})
	if err != nil || len(out) != 1 || !slices.Equal(out[0], []float32{11, 22, 13, 24}) {
		t.Errorf("got %v, %v", out, err)
	}
	type lists = [][]float32
	for _, tc := range []struct {
		s    *Session
		in   lists
		is   error
		want string
	}{
		{s, lists{{1, 2, 3}, {1, 2}}, tensor.ErrShape, `input "x": shape: wants float32[n,2], got a slice of 3 elements`},
		{s, lists{{1, 2}, {1, 2, 3}}, tensor.ErrShape, `input "y": shape: wants float32[2], got a slice of 3 elements`},
		{s, lists{{1, 2}, nil}, tensor.ErrShape, `input "y": shape: wants float32[2], got a slice of 0 elements`},
		{s, lists{{1, 2}}, tensor.ErrValue, "got 1 inputs, the model takes 2"},
		{s, lists{{1, 2}, {1, 2}, {1}}, tensor.ErrValue, "got 3 inputs, the model takes 2"},
		{open, lists{{1, 2}}, tensor.ErrShape, `input "x": shape: wants float32[n,m], got a slice of 2 elements, which doesn't say all sizes`},
		{nil, nil, tensor.ErrValue, "there is no session"},
	} {
		if _, err := RunSlices[float32](ctx, tc.s, tc.in...); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %s", tc.in, err, tc.want)
		}
	}
	_, err = RunSlices[int64](ctx, s, []float32{1, 2}, []float32{1, 2})
	if want := `output "z": dtype: it is float32[1,2], not of int64; Session.Call gives it`; !errors.Is(err, tensor.ErrDType) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = RunSlices[float32](ctx, s, []float64{1, 2}, []float64{1, 2})
	if want := `input "x": dtype: wants float32[n,2], got a slice of float64`; !errors.Is(err, tensor.ErrDType) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
