package onnx

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// model builds a model and reads it back from its file.
func model(t *testing.T, build func(b *Builder)) *Model {
	t.Helper()
	return session(t, build).c.m
}

func fixedSession(t *testing.T, d dtype.DType, build func(b *Builder)) *Session {
	t.Helper()
	s, err := NewFixedSession(model(t, build), d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fixedVec(t *testing.T, d dtype.DType, v ...float32) tensor.Any {
	t.Helper()
	a, err := toFixed(vec(v...), d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var formats = []dtype.DType{dtype.FP8x23, dtype.FP16x16, dtype.FP32x32, dtype.FP64x64}

func TestFixedRun(t *testing.T) {
	for _, d := range formats {
		s := fixedSession(t, d, residual)
		want := fixedVec(t, d, 3.5, 0, -5)
		for range 2 { // floats are rounded for each run, fixed point is taken as it is
			for _, x := range []tensor.Any{vec(1.25, 0, -5), fixedVec(t, d, 1.25, 0, -5)} {
				tensortest.Equal(t, mustRun(t, s, vals{"x": x})["y"], want)
			}
		}
		p, err := s.Plan(vals{"x": vec(0, 0, 0)})
		if size := int64(d.Size()); err != nil || p.Weights != 3*size || p.Live != 9*size && p.Live != 6*size {
			t.Errorf("%v: plan %+v, %v", d, p, err)
		}
		if _, err := s.Run(context.Background(), vals{"x": tensor.New[float64](3).Any()}, nil); err == nil {
			t.Errorf("%v: took a float64 where the model wants float32", d)
		}
	}
	if _, err := NewFixedSession(model(t, residual), dtype.Float32); err == nil || !strings.Contains(err.Error(), "float32 isn't a fixed-point format") {
		t.Error(err)
	}
}

// Whatever brings floats into a graph brings numbers of the format.
func TestFixedSources(t *testing.T) {
	s := fixedSession(t, dtype.FP16x16, func(b *Builder) {
		n := b.Input("n", dtype.Int64, 2)
		value, err := TensorAttr("value", vec(0.1))
		if err != nil {
			t.Fatal(err)
		}
		b.Output(b.Rename(b.Node("Cast", []string{n}, IntAttr("to", int64(ElemFloat16))), "cast"), dtype.Float16, 2)
		b.Output(b.Rename(b.Node("ConstantOfShape", []string{n}, value), "filled"), dtype.Float32, nil, nil)
		b.Output(b.Rename(b.Node("Constant", nil, FloatAttr("value_float", 1.0/3)), "constant"), dtype.Float32)
		b.Output(b.Rename(b.Node("Cast", []string{"cast"}, IntAttr("to", int64(ElemInt64))), "back"), dtype.Int64, 2)
	})
	out := mustRun(t, s, vals{"n": tensor.FromSlice([]int64{1, 2}, 2).Any()})
	tensortest.Equal(t, out["cast"], fixedVec(t, dtype.FP16x16, 1, 2))
	tensortest.Equal(t, out["filled"], tensor.Full(fixed.FP16x16FromBits(6554), 1, 2).Any())
	tensortest.Equal(t, out["constant"], tensor.Scalar(fixed.FP16x16FromBits(21845)).Any())
	tensortest.Equal(t, out["back"], tensor.FromSlice([]int64{1, 2}, 2).Any())
}

// The scales of Resize are no numbers of the format: 0.6 in 16 bits would make one of 3 of 5.
func TestFixedScales(t *testing.T) {
	build := func(b *Builder) {
		x := b.Input("x", dtype.Float32, 1, 1, 1, 5)
		scales := b.Weight("scales", vec(1, 1, 1, 0.6))
		b.Output(b.Rename(b.Node("Resize", []string{x, "", scales}, StringAttr("mode", "nearest")), "y"), dtype.Float32, 1, 1, 1, nil)
	}
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5}, 1, 1, 1, 5)
	want := mustRun(t, session(t, build), vals{"x": x.Any()})["y"]
	for _, d := range formats[:2] {
		got := mustRun(t, fixedSession(t, d, build), vals{"x": x.Any()})["y"]
		want, err := toFixed(want, d)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Equal(t, got, want)
	}
}

// An error names the number that a format has no room for, and the format that has it.
func TestFixedErrors(t *testing.T) {
	weights := func(v ...float32) func(b *Builder) {
		return func(b *Builder) {
			x := b.Input("x", dtype.Float32, 2)
			b.Output(b.Node("Add", []string{x, b.Weight("w", vec(v...))}), dtype.Float32, 2)
		}
	}
	for _, c := range []struct {
		d    dtype.DType
		v    []float32
		want string
		is   error
	}{
		{dtype.FP8x23, []float32{256, -300}, `tensor "w": overflow: element [1] is -300, which is beyond fp8x23; fp16x16 has room`, fixed.ErrOverflow},
		{dtype.FP16x16, []float32{1 << 40, 1}, `element [0] is 1.099511627776e+12, which is beyond fp16x16; fp64x64 has room`, fixed.ErrOverflow},
		{dtype.FP32x32, []float32{0, math.MaxFloat32}, `which is beyond fp32x32; no format has room for it`, fixed.ErrOverflow},
		{dtype.FP64x64, []float32{0, float32(math.NaN())}, `element [1] is NaN, which fp64x64 doesn't have`, fixed.ErrDomain},
	} {
		_, err := NewFixedSession(model(t, weights(c.v...)), c.d)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.is) {
			t.Errorf("%v: %v, want %s", c.v, err, c.want)
		}
	}
	for _, c := range []struct { // next to the ends
		d    dtype.DType
		v    []float64
		want string
	}{
		{dtype.FP8x23, []float64{-256, 256}, `element [1] is 256, which is beyond fp8x23; fp16x16 has room`},
		{dtype.FP8x23, []float64{255, 256 - 1.0/(1<<30)}, `element [1] is 255.99999999906868, which is beyond fp8x23; fp16x16 has room`},
		{dtype.FP8x23, []float64{-32768, 32768}, `element [0] is -32768, which is beyond fp8x23; fp32x32 has room`},
		{dtype.FP32x32, []float64{-1 << 31, 1 << 31}, `element [1] is 2.147483648e+09, which is beyond fp32x32; fp64x64 has room`},
		{dtype.FP64x64, []float64{-1 << 63, 1 << 63}, `element [1] is 9.223372036854776e+18, which is beyond fp64x64; no format has room for it`},
	} {
		_, err := toFixed(tensor.FromSlice(c.v, len(c.v)).Any(), c.d)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.v, err, c.want)
		}
	}
	s := fixedSession(t, dtype.FP8x23, weights(200, 0))
	_, err := s.Run(context.Background(), vals{"x": vec(0, 1e9)}, nil)
	if err == nil || !strings.Contains(err.Error(), `input "x": overflow: element [1] is 1e+09, which is beyond fp8x23; fp32x32 has room`) {
		t.Error(err)
	}
	_, err = s.Run(context.Background(), vals{"x": vec(100, 0)}, nil)
	if !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "(Add, opset 13): op.Add: at index (0)") {
		t.Error(err)
	}
}
