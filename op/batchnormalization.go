package op

import (
	"math"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BatchNormalization returns (x − mean) · scale/√(variance + epsilon) + bias for
// x [N, C, …] and one number per channel of each of the others: the way a trained
// network uses it. An x of rank 1 has one channel. Per channel the factor is computed in float64, and so is each
// element, unfused; the result is rounded once. Fixed point is computed
// exactly and rounded once; a negative variance is an error, and so is one of 0 with
// epsilon 0, but where x is the mean. ONNX BatchNormalization outside of training.
func BatchNormalization[T num.Fractional](x, scale, bias, mean, variance tensor.Tensor[T], epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	batchNormalized(exec.Ref(&r), [5]*tensor.Any{exec.Ref(&x), exec.Ref(&scale), exec.Ref(&bias), exec.Ref(&mean), exec.Ref(&variance)}, epsilon, nil, nil, opts)
	return r
}

// An affinity is a step x ↦ (x − mean)·factor + bias.
type affinity struct{ mean, factor, bias float64 }

// affinities returns the step of each channel for scale, bias, mean and variance.
func affinities(params []*tensor.Any, epsilon float64) []affinity {
	var by [4]move.Numeric
	for i, p := range params {
		by[i] = move.NumericOf(move.WordsOf(*p))
	}
	list := make([]affinity, params[0].Len())
	for k := range list {
		list[k] = affinity{by[2].Float(k), by[0].Float(k) / math.Sqrt(by[3].Float(k)+epsilon), by[1].Float(k)}
	}
	runtime.KeepAlive(&by)
	return list
}

// batchNormalized is BatchNormalization for a run-time element type; in is x, scale, bias,
// mean and variance, and norms the steps of the channels, if they are known.
func batchNormalized(r *tensor.Any, in [5]*tensor.Any, epsilon float64, norms []affinity, then plan.Tail, opts []Option) {
	const name = "BatchNormalization"
	plan.Present(name, in[:]...)
	x, d := in[0], in[0].DType()
	checkNorm(name, *x, *in[1], *in[2], *in[3], *in[4])
	if d.IsFixed() {
		batchFixed(r, in, epsilon, opts)
		return
	}
	s := plan.Read(name, opts)
	plan.AimShape(r, name, &s, d, x.Shape())
	if r.Len() == 0 {
		return
	}
	if (d == dtype.Float32 || d == dtype.Float64) && plan.LiesLast(r) && (x.SameData(*r) || !x.Overlaps(*r)) && !slices.ContainsFunc(in[1:], func(a *tensor.Any) bool { return a.Overlaps(*r) }) {
		if norms == nil {
			norms = affinities(in[1:], epsilon)
		}
		if !plan.LiesLast(x) {
			r.CopyFrom(*x)
			x = r
		}
		normalizedLast(name, r, x, norms, then, &s)
		return
	}
	c := x.Contiguous()
	out := plan.Beside(r, !r.IsContiguous() || exec.MustCopy(x, r), in[1:]...)
	src, res := exec.RunIn(&c), exec.RunIn(out)
	if norms == nil {
		norms = affinities(in[1:], epsilon)
	}
	channels := channelsOf(&c)
	per := c.Len() / (c.Dim(0) * channels)
	exec.Split(name, s.Ctx(), c.Dim(0)*channels, per*2, func(from, to int) {
		for i := from; i < to; i++ {
			line := exec.Part(res, d, i*per, per)
			if affineRun(d, line, exec.Part(src, d, i*per, per), norms[i%channels]); then != nil {
				then(line, i*per, false)
			}
		}
	})
	plan.Drop(&c, x)
	plan.Put(r, out)
}

// normalizedLast is batchNormalized for floats that lie channels last.
func normalizedLast(name string, r, x *tensor.Any, norms []affinity, then plan.Tail, s *plan.Settings) {
	d, channels := x.DType(), x.Dim(1)
	pixels := x.Len() / channels
	from, to := plan.Last(*x, x.Rank()), plan.Last(*r, x.Rank())
	lines := func(a *tensor.Any) exec.Run {
		if d == dtype.Float32 {
			return exec.RunOf(storage[float32](a))
		}
		return exec.RunOf(storage[float64](a))
	}
	step := func(a *tensor.Any) int { // from one element with all channels to the next
		for axis := a.Rank() - 2; axis >= 0; axis-- {
			if n, _ := walk.Ref(a.LayoutRef()).Stride(axis); a.Dim(axis) > 1 {
				return n
			}
		}
		return channels
	}
	src, dst := lines(&from), lines(&to)
	by, a, b := normsBeside(d, norms), step(&from), step(&to)
	each := 1 // elements in a row
	if a == channels && b == channels {
		each = 1 + 4096/channels
	}
	exec.Split(name, s.Ctx(), (pixels+each-1)/each, each*channels*2, func(first, end int) {
		for i := first * each; i < min(end*each, pixels); i += each {
			n := min(each, pixels-i) * channels
			line := exec.Part(dst, d, i*b, n)
			if by(line, exec.Part(src, d, i*a, n), i*channels); then != nil {
				then(line, i*channels, true)
			}
		}
	})
	runtime.KeepAlive(x)
	runtime.KeepAlive(r)
}

// channelsOf returns how many channels x [N, C, …] or [N] has.
func channelsOf(x *tensor.Any) int {
	if x.Rank() == 1 {
		return 1
	}
	return x.Dim(1)
}

// TrainingBatchNormalization normalizes x [N, C, …] as BatchNormalization does, with the mean and
// the variance of each channel of x itself, and returns the running mean and variance updated:
//
//	mean' = mean·momentum + (mean of the channel)·(1 − momentum)
//
// The mean and the population variance of a channel are the results of Mean and Var in
// float64. Each step of the update is rounded to float64, and the result to T. Without elements
// they are NaN. An Into target takes the first result. It panics when shapes don't fit. ONNX
// BatchNormalization with training_mode 1.
func TrainingBatchNormalization[T num.Floating](x, scale, bias, mean, variance tensor.Tensor[T], epsilon, momentum float64, opts ...Option) (r, newMean, newVariance tensor.Tensor[T]) {
	batchTrained([5]*tensor.Any{exec.Ref(&r), exec.Ref(&newMean), exec.Ref(&newVariance)},
		[5]*tensor.Any{exec.Ref(&x), exec.Ref(&scale), exec.Ref(&bias), exec.Ref(&mean), exec.Ref(&variance)}, epsilon, momentum, opts)
	return r, newMean, newVariance
}

// batchTrained is TrainingBatchNormalization for run-time element types. Of outs, the result, the
// running mean and variance and the mean and variance of x, any but the first may be nil.
func batchTrained(outs, in [5]*tensor.Any, epsilon, momentum float64, opts []Option) {
	const name = "BatchNormalization"
	plan.Present(name, in[:]...)
	x, quiet := in[0], plan.WithoutInto(opts)
	checkNorm(name, *x, *in[1], *in[2], *in[3], *in[4])
	axes := []int{0}
	for i := 2; i < x.Rank(); i++ {
		axes = append(axes, i)
	}
	var wide tensor.Any
	var stats [2]tensor.Any
	pointwise.Convert(&wide, name, dtype.Float64, x, quiet)
	lines := wide.Reshape(append([]int{x.Dim(0), channelsOf(x)}, x.Shape()[min(2, x.Rank()):]...)...)
	reduceMean.Call(&stats[0], &lines, axes, 0, quiet)
	varOp.Call(&stats[1], &lines, axes, 0, quiet)
	for i := range stats {
		if running := in[3+i]; outs[1+i] != nil {
			was, now := move.NumericOf(move.WordsOf(*running)), move.ElemsOf[float64](&stats[i])
			fresh := tensor.EmptyOf(running.DType(), len(now))
			to := move.NumericOf(move.WordsOf(fresh))
			for k, v := range now {
				to.SetFloat(k, float64(was.Float(k)*momentum)+float64(v*(1-momentum)))
			}
			*outs[1+i] = fresh
		}
		if outs[3+i] != nil {
			pointwise.Convert(outs[3+i], name, in[3+i].DType(), &stats[i], quiet)
		}
	}
	batchNormalized(outs[0], [5]*tensor.Any{x, in[1], in[2], &stats[0], &stats[1]}, epsilon, nil, nil, opts)
	runtime.KeepAlive(&stats)
}

// affine sets dst to (src − mean) · factor + bias, each step in float64, rounded once.
func affine[T num.Float](dst, src []T, by affinity) {
	switch d := any(dst).(type) {
	case []float32:
		if simd.TryAffine32(d, conv.As[float32](src), by.mean, by.factor, by.bias) {
			return
		}
	case []float64:
		if simd.TryAffine64(d, conv.As[float64](src), by.mean, by.factor, by.bias) {
			return
		}
	}
	for i, v := range src {
		dst[i] = T(float64((float64(v)-by.mean)*by.factor) + by.bias)
	}
	cast.CanonicalRow(dst)
}

// normsBeside returns the function that takes elements channels last, from element at on, through the steps of their channels.
func normsBeside(d dtype.DType, norms []affinity) func(dst, src exec.Run, at int) {
	times := 1 + 256/max(1, len(norms))
	var by [3][]float64 // more than once, for long rows
	for range times {
		for _, n := range norms {
			by[0], by[1], by[2] = append(by[0], n.mean), append(by[1], n.factor), append(by[2], n.bias)
		}
	}
	return func(dst, src exec.Run, at int) {
		for i := 0; i < len(src); {
			c := (at + i) % len(norms)
			n := min(len(by[0])-c, len(src)-i)
			to, from := exec.Part(dst, d, i, n), exec.Part(src, d, i, n)
			if mean, factor, bias := by[0][c:c+n], by[1][c:c+n], by[2][c:c+n]; d == dtype.Float32 {
				affineBeside(exec.Of[float32](to), exec.Of[float32](from), mean, factor, bias)
			} else {
				affineBeside(exec.Of[float64](to), exec.Of[float64](from), mean, factor, bias)
			}
			i += n
		}
	}
}

// affineBeside is affine where each element has a step of its own.
func affineBeside[T num.Float](dst, src []T, mean, factor, bias []float64) {
	switch d := any(dst).(type) {
	case []float32:
		if simd.TryAffineRow32(d, conv.As[float32](src), mean, factor, bias) {
			return
		}
	case []float64:
		if simd.TryAffineRow64(d, conv.As[float64](src), mean, factor, bias) {
			return
		}
	}
	for i, v := range src {
		dst[i] = T(float64((float64(v)-mean[i])*factor[i]) + bias[i])
	}
	cast.CanonicalRow(dst)
}

// affineRun is affine for a run-time element type.
func affineRun(d dtype.DType, dst, src exec.Run, by affinity) {
	switch d {
	case dtype.Float32:
		affine(exec.Of[float32](dst), exec.Of[float32](src), by)
		return
	case dtype.Float64:
		affine(exec.Of[float64](dst), exec.Of[float64](src), by)
		return
	}
	var singles [256]float32
	var doubles [256]float64
	for at := 0; at < len(src); at += len(singles) {
		n := min(len(singles), len(src)-at)
		from, to := exec.Part(src, d, at, n), exec.Part(dst, d, at, n)
		f, w := singles[:n], doubles[:n]
		cast.WidenOf(d)(exec.RunOf(f), from)
		if d.Size() == 2 && simd.TryAffineOdd(f, f, by.mean, by.factor, by.bias) {
			cast.NarrowOf(d)(to, exec.RunOf(f))
			continue
		}
		conv.WidenF32(w, f)
		affine(w, w, by)
		cast.StoreFloats(to, d, 0, w, 0)
	}
}

// checkNorm panics unless each of params has one number per channel of x.
func checkNorm(name string, x tensor.Any, params ...tensor.Any) {
	if x.Rank() < 1 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s; want [N, C, …] or [N]", tensor.Describe(x)))
	}
	for i, p := range params {
		if p.Rank() != 1 || p.Dim(0) != channelsOf(&x) {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want one number for each of %d channels", i+1, tensor.Describe(p), channelsOf(&x)))
		}
	}
}

var batchNormalization = plan.Operator{About: plan.About{Name: "BatchNormalization", Leads: true, Follows: true, FLOPs: plan.FLOPs{Each: 2}, Versions: []int{6, 7, 9, 14, 15},
	Attrs: []string{"epsilon", "is_test", "momentum", "spatial", "training_mode"}}, Least: 5, Takes: plan.Floats | plan.Fixeds,
	Planned: func(c *plan.Use, p *plan.Draft) {
		const name = "BatchNormalization"
		trains := batchCall(name, c)
		var in [5]*tensor.Any
		for i := range in {
			in[i] = c.With(name, i)
		}
		checkNorm(name, *in[0], c.Inputs[1:5]...)
		p.Stretched(in[0].DType(), c, 1)
		p.Takes(plan.Room(24, c.Inputs[1:2]), 0) // the step of each channel
		if trains {
			p.Takes(plan.Room(8, c.Inputs[:3]), 0) // x in float64, and its mean and variance
		}
		epsilon, momentum := float64(c.Attrs.Float("epsilon", 1e-5)), float64(c.Attrs.Float("momentum", 0.9))
		if !trains {
			stay := in[0].DType().IsFloat() && c.Fixed != nil && c.Known(1) && c.Known(2) && c.Known(3) && c.Known(4)
			var norms []affinity
			p.Last, p.ByInput = true, true
			p.By(c, 0, func(r *tensor.Any, opts []Option) {
				if stay && norms == nil {
					norms = affinities(in[1:], epsilon)
				}
				batchNormalized(r, in, epsilon, norms, c.Tail, opts)
			})
			p.After = func(k int, last bool) plan.Tail {
				d := in[0].DType()
				if k > 0 || d != dtype.Float32 && d != dtype.Float64 {
					return nil
				}
				for i := range in[1:] {
					if !c.Known(1 + i) { // another run may have others
						return nil
					}
					if in[1+i].IsSpec() { // and none will come
						return func(exec.Run, int, bool) {}
					}
				}
				norms, x := affinities(in[1:], epsilon), in[0]
				if last {
					by := normsBeside(d, norms)
					return func(lines exec.Run, at int, _ bool) { by(lines, lines, at) }
				}
				per := x.Len() / max(1, x.Dim(0)*channelsOf(x))
				return func(lines exec.Run, at int, _ bool) {
					for i := 0; i < len(lines); {
						n := min(per-(at+i)%per, len(lines)-i)
						line := exec.Part(lines, d, i, n)
						affineRun(d, line, line, norms[(at+i)/per%len(norms)])
						i += n
					}
				}
			}
			return
		}
		for i := 1; !p.Brief && i < c.Outputs; i++ {
			p.Out = append(p.Out, plan.Spec(name, in[3].DType(), channelsOf(in[0])))
		}
		p.List(c, max(c.Outputs, 1), func(to []tensor.Any, opts []Option) {
			var all [5]*tensor.Any
			for i := range to {
				all[i] = &to[i]
			}
			batchTrained(all, in, epsilon, momentum, opts)
		})
	}}

// batchCall checks the types and the attributes of a node, and reports whether it trains: before
// opset 7 unless is_test, then by the number of outputs, and from opset 14 on by training_mode.
func batchCall(name string, c *plan.Use) bool {
	trains, most := c.Outputs > 1, 5
	switch {
	case c.Opset == 6:
		trains = c.Attrs.Int("is_test", 0) == 0
	case c.Opset >= 14:
		trains, most = c.Attrs.Int("training_mode", 0) != 0, 3
	}
	if !trains {
		most = 1
	}
	if c.Outputs > most {
		panic(plan.Fail(name, tensor.ErrShape, "it has %d outputs; want %d at most, more in training alone", c.Outputs, most))
	}
	if c.Attrs.Int("spatial", 1) == 0 {
		panic(plan.Fail(name, ErrUnsupported, "spatial 0, a mean for each element of an image, is not supported"))
	}
	d := c.In(0).DType()
	if d.IsFixed() {
		plan.OneType(name, c.Inputs[:5]...)
		if trains {
			panic(plan.Fail(name, ErrUnsupported, "training in fixed point; convert the operands with op.Cast"))
		}
	}
	for _, pair := range [2]int{1, 3} {
		a := c.In(pair)
		plan.OneType(name, a, c.In(pair+1))
		plan.Must(name, d.IsFixed() || plan.Floats.Has(a.DType()), a.DType())
	}
	return trains
}
