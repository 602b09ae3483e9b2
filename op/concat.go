package op

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Concat returns the tensors ts one after the other along axis, which may be
// negative. They have one rank, at least 1, and agree in every other extent. It
// panics when they don't, or when there are none. Elements keep their bits. ONNX
// Concat.
func Concat[T num.Elem](axis int, ts []tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	boxed := make([]tensor.Any, len(ts))
	for i, t := range ts {
		boxed[i] = t.Any()
	}
	shape := concatShape(axis, boxed)
	axis = axisOf("Concat", axis, len(shape))
	s := read(opts)
	dst := target[T]("Concat", &s, shape)
	out := dst
	if !exec.Ref(&dst).LayoutRef().Flat() { // a part of a nested axis may have no view
		out = tensor.Empty[T](shape...)
	}
	at := make([]int, len(ts)+1)
	own := slices.Clone(ts)
	for i, t := range ts {
		if out.Any().Overlaps(t.Any()) {
			own[i] = t.Clone()
		}
		at[i+1] = at[i] + t.Dim(axis)
	}
	before, n, after := around(shape, axis)
	till, t0 := out.Mutable()
	till = conv.Result(till, out.Len())
	exec.Split("Concat", s.ctx(), len(ts), max(1, dst.Len()/len(ts)), func(from, to int) {
		for i := from; i < to; i++ {
			if t := &own[i]; out.IsContiguous() && t.IsContiguous() {
				run, first := (at[i+1]-at[i])*after, t0+at[i]*after
				data, f0 := t.Data()
				conv.Copy2(till, data, conv.Block{Off: first, Rows: before, Row: n * after, Cols: run, Col: 1}, conv.Block{Off: f0, Rows: before, Row: run, Cols: run, Col: 1})
				continue
			}
			idx := make([]tensor.Index, len(shape))
			for k := range idx {
				idx[k] = tensor.Colon
			}
			idx[axis] = tensor.R(at[i], at[i+1])
			out.Slice(idx...).CopyFrom(own[i])
		}
	})
	runtime.KeepAlive(own)
	runtime.KeepAlive(out)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
}

// concatShape returns the result's shape.
func concatShape(axis int, ts []tensor.Any) []int {
	if len(ts) == 0 {
		panic(fail("Concat", tensor.ErrShape, "no tensors; give at least one"))
	}
	shape := ts[0].Shape()
	axis = axisOf("Concat", axis, len(shape))
	for i, t := range ts[1:] {
		if t.Rank() != len(shape) {
			panic(fail("Concat", tensor.ErrShape, "tensor 0 has rank %d, tensor %d has %d", len(shape), i+1, t.Rank()))
		}
		for a := range shape {
			if a != axis && t.Dim(a) != shape[a] {
				panic(fail("Concat", tensor.ErrShape, "tensors 0 and %d have extents %d and %d on axis %d; only axis %d may differ",
					i+1, shape[a], t.Dim(a), a, axis))
			}
		}
		shape[axis] += t.Dim(axis)
	}
	return shape
}

var concat = opN{about: about{name: "Concat", onnx: []int{4, 11, 13}, attrs: []string{"axis"}}, least: 1, most: -1,
	run: perType{dtype.Bool: runConcat[bool], dtype.Int8: runConcat[int8], dtype.Int16: runConcat[int16], dtype.Int32: runConcat[int32],
		dtype.Int64: runConcat[int64], dtype.Uint8: runConcat[uint8], dtype.Uint16: runConcat[uint16], dtype.Uint32: runConcat[uint32],
		dtype.Uint64: runConcat[uint64], dtype.Float8E4M3: runConcat[num.F8E4M3], dtype.Float8E5M2: runConcat[num.F8E5M2],
		dtype.Float16: runConcat[num.F16], dtype.BFloat16: runConcat[num.BF16], dtype.Float32: runConcat[float32],
		dtype.Float64: runConcat[float64], dtype.Complex64: runConcat[complex64], dtype.Complex128: runConcat[complex128]},
	infer: func(c *Call) []tensor.Any {
		needs("Concat", c, len(c.Inputs))
		oneType("Concat", c.Inputs...)
		return one(spec("Concat", c.in(0).DType(), concatShape(int(c.Attrs.Int("axis", 1)), c.Inputs)...))
	}}

func runConcat[T num.Elem](c *Call) []tensor.Any {
	needs("Concat", c, len(c.Inputs))
	ts := make([]tensor.Tensor[T], len(c.Inputs))
	for i := range ts {
		ts[i] = as[T]("Concat", c, i)
	}
	return one(Concat(int(c.Attrs.Int("axis", 1)), ts, options(c)...).Any())
}
