package op

import (
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Gather returns the entries of a along axis that indices name, in the shape of
// indices, which takes the place of that axis. Indices may be negative. It panics,
// before anything is written, when one lies outside the axis. Elements keep their
// bits. ONNX Gather.
func Gather[T num.Elem](a tensor.Tensor[T], indices tensor.Tensor[int64], axis int, opts ...Option) tensor.Tensor[T] {
	axis = axisOf("Gather", axis, a.Rank())
	s := read(opts)
	dst := target[T]("Gather", &s, gatherShape(a.Any(), indices.Any(), axis))
	at := positions("Gather", indices, a.Dim(axis), axis)
	if dst.Len() == 0 {
		return dst
	}
	if dst.Any().Overlaps(a.Any()) {
		a = a.Clone()
	}
	// Both sides as [before, entry, after].
	before, n, after := around(a.Shape(), axis)
	src := a.Reshape(before, n, after)
	if !exec.Ref(&src).LayoutRef().Flat() {
		c := tensor.Empty[T](src.Shape()...)
		c.CopyFrom(src)
		src = c
	}
	out := dst
	if !exec.Ref(&dst).LayoutRef().Flat() || !dst.Any().CanView(before, len(at), after) {
		out = tensor.Empty[T](dst.Shape()...)
	}
	to := out.View(before, len(at), after)
	from, f0 := src.Data()
	till, t0 := to.Mutable()
	till = conv.Result(till, dst.Len())
	step, _ := exec.Ref(&src).LayoutRef().Stride(1)
	col, _ := exec.Ref(&src).LayoutRef().Stride(2)
	runs := before == 1 && step >= 0 && (col == 1 || after == 1) && to.IsContiguous()
	exec.Split("Gather", s.ctx(), len(at), before*after, func(lo, hi int) {
		if runs {
			conv.Pick(till[t0+lo*after:], from[f0:], after, step, at[lo:hi])
			return
		}
		for i := lo; i < hi; i++ {
			conv.Copy2(till, from, entry(exec.Ref(&to).LayoutRef(), t0, i), entry(exec.Ref(&src).LayoutRef(), f0, at[i]))
		}
	})
	runtime.KeepAlive(src)
	runtime.KeepAlive(to)
	if !out.Any().SameData(dst.Any()) {
		dst.CopyFrom(out)
	}
	return dst
}

// entry returns entry i of a flat layout [before, entry, after].
func entry(lay *layout.Layout, origin, i int) conv.Block {
	row, _ := lay.Stride(0)
	step, _ := lay.Stride(1)
	col, _ := lay.Stride(2)
	return conv.Block{Off: origin + i*step, Rows: lay.Dim(0), Row: row, Cols: lay.Dim(2), Col: col}
}

func gatherShape(a, indices tensor.Any, axis int) []int {
	shape := a.Shape()
	return append(append(append([]int{}, shape[:axis]...), indices.Shape()...), shape[axis+1:]...)
}

// positions resolves indices on an axis of extent n.
func positions(name string, indices tensor.Tensor[int64], n, axis int) []int {
	at := make([]int, 0, fits(name, indices.Len(), 8))
	i := 0
	for v := range indices.Values() {
		p := v
		if p < 0 {
			p += int64(n)
		}
		if uint64(p) >= uint64(n) {
			panic(fail(name, tensor.ErrIndex, "index %d at %s is outside axis %d of extent %d", v, shapeText(unravel(i, indices.Shape())), axis, n))
		}
		at = append(at, int(p))
		i++
	}
	return at
}

var gatherOp = opN{about: about{name: "Gather", onnx: []int{1, 11, 13}, attrs: []string{"axis"}}, least: 2,
	infer: func(c *Call) []tensor.Any {
		if d := c.in(1).DType(); d != dtype.Int64 && d != dtype.Int32 {
			panic(fail("Gather", tensor.ErrDType, "input 1 holds %v, want int64 or int32", d))
		}
		axis := axisOf("Gather", int(c.Attrs.Int("axis", 0)), c.in(0).Rank())
		return one(spec("Gather", c.in(0).DType(), gatherShape(c.in(0), c.in(1), axis)...))
	},
	typed: perType{dtype.Bool: runGather[bool], dtype.Int8: runGather[int8], dtype.Int16: runGather[int16],
		dtype.Int32: runGather[int32], dtype.Int64: runGather[int64], dtype.Uint8: runGather[uint8],
		dtype.Uint16: runGather[uint16], dtype.Uint32: runGather[uint32], dtype.Uint64: runGather[uint64],
		dtype.Float8E4M3: runGather[num.F8E4M3], dtype.Float8E5M2: runGather[num.F8E5M2],
		dtype.Float16: runGather[num.F16], dtype.BFloat16: runGather[num.BF16], dtype.Float32: runGather[float32],
		dtype.Float64: runGather[float64], dtype.Complex64: runGather[complex64],
		dtype.Complex128: runGather[complex128]}}

func runGather[T num.Elem](c *Call) []tensor.Any {
	return one(Gather(as[T]("Gather", c, 0), int64s("Gather", c, 1), int(c.Attrs.Int("axis", 0)), options(c)...).Any())
}

// int64s returns an input of int64 or int32 as int64.
func int64s(name string, c *Call, i int) tensor.Tensor[int64] {
	if t, ok := tensor.As[int64](c.in(i)); ok {
		return t
	}
	v, _ := ints(name, c, i)
	wide := roomFor[int64](name, len(v))
	for k, x := range v {
		wide[k] = int64(x)
	}
	return tensor.FromSlice(wide, c.in(i).Shape()...)
}
