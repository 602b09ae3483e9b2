package op

import (
	"context"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// GroupNormalization returns, for x [N, C, …] whose channels are in equal groups, for
// each group of each image
//
//	y = (x − μ)·(1/√(σ² + epsilon))·scale + bias
//
// where μ and σ² are the mean and the variance of the group, as Mean and Var compute
// them before they round; scale and bias have one number for each channel. Every step
// is rounded in float64, and the result once. ONNX GroupNormalization; at opset 18 scale
// and bias have one number for each group.
func GroupNormalization[T num.Floating](x, scale, bias tensor.Tensor[T], groups int, epsilon float64, opts ...Option) (r tensor.Tensor[T]) {
	groupNormalized("GroupNormalization", x.Any(), scale.Any(), bias.Any(), groups, epsilon, false).Into(exec.Ref(&r), opts)
	return r
}

func groupNormalized(name string, x, scale, bias tensor.Any, groups int, epsilon float64, perGroup bool) *move.Transfer {
	plan.Present(name, &x, &scale, &bias)
	checkFloats(name, x, scale, bias)
	if x.Rank() < 2 {
		panic(plan.Fail(name, tensor.ErrShape, "the input is %s; want [N, C, …]", tensor.Describe(x)))
	}
	shape := x.Shape()
	channels := shape[1]
	if groups < 1 || channels%groups != 0 {
		panic(plan.Fail(name, tensor.ErrShape, "%d groups don't divide %d channels", groups, channels))
	}
	want := channels
	if perGroup {
		want = groups
	}
	for i, p := range []tensor.Any{scale, bias} {
		if p.Rank() != 1 || p.Dim(0) != want {
			panic(plan.Fail(name, tensor.ErrShape, "input %d is %s; want %d numbers", i+1, tensor.Describe(p), want))
		}
	}
	return &move.Transfer{Name: name, D: x.DType(), Shape: shape, In: move.OperandsOf(x, scale, bias), Price: plan.Taking(0, 24*plan.BytesIn(channels/groups, shape[2:])), Fill: func(ctx context.Context, dst move.Words, in []move.Words) {
		_, _, plane := move.Around(shape, 1)
		n := channels / groups * plane
		z := normalization{name: name, n: n, epsilon: epsilon, every: plane, place: func(at int) int { return at / plane % channels }}
		if perGroup {
			z.every, z.place = n, func(at int) int { return at / n % groups }
		}
		z.fill(ctx, dst, in[0], in[1], in[2])
	}}
}

var groupNormalization = plan.Operator{About: plan.About{Name: "GroupNormalization", FLOPs: plan.FLOPs{Each: 7}, Versions: []int{18, 21}, Attrs: []string{"epsilon", "num_groups", "stash_type"}}, Least: 3, Takes: plan.Floats,
	Move: func(c *plan.Use) plan.Mover {
		return groupNormalized("GroupNormalization", c.In(0), c.In(1), c.In(2), plan.AttrInt(c, "num_groups", 0), float64(c.Attrs.Float("epsilon", 1e-5)), c.Opset < 21)
	}}
