package meta

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// mostTargets is how many arrays a plan writes.
const mostTargets = 6

// chunked computes values of a set as a plan over chunks: of nodes that package chunk has with the same bits, from chunks of
// the other nodes' values. Chunks are random, the same for one seed. It returns how many arrays the plan has written.
func (c *Case) chunked(set scope, workers int) (written int, err error) {
	f, s := frame{m: c.Model}, maps.Clone(set)
	if err := f.graph(c.Model.Graph, s); err != nil {
		return 0, err
	}
	ctx, files, failed := context.Background(), zarr.Memory(), error(nil)
	r := rand.New(rand.NewPCG(c.Seed, 65))
	arrays, read := make(map[string]chunk.Array), make(map[string]bool)
	array := func(name string) (a chunk.Array, ok bool) {
		if a, ok = arrays[name]; ok {
			return a, true
		}
		v, ok := s[name]
		if !ok || v.Kind() != onnx.KindTensor || v.Strings() != nil {
			return a, false
		}
		var chunks []int
		for _, e := range v.Shape() {
			chunks = append(chunks, 1+r.IntN(max(1, e)))
		}
		arrays[name] = chunk.FromTensor(name, v.Tensor(), chunks...)
		if z, err := zarr.Create(ctx, files, name, zarr.Metadata{DType: v.Tensor().DType(), Shape: v.Shape(), Chunks: chunks}, nil); err == nil && r.IntN(2) == 0 { // Zarr lacks some types
			if err := z.Write(ctx, make([]int, len(chunks)), v.Tensor()); err != nil {
				failed = err
			}
			arrays[name] = chunk.From(name, z)
		}
		return arrays[name], arrays[name].Err() == nil
	}
	var made []string
	var targets []chunk.Target
	store, loose := zarr.Memory(), make(map[string]bool)
	nodes := append(slices.Clone(c.Model.Graph.Nodes), reductions(r, &f, s)...)
	for i := range nodes {
		n := &nodes[i]
		if len(n.Outputs) != 1 || n.Domain == functions {
			continue
		}
		var in []chunk.Array
		for _, name := range n.Inputs {
			if a, ok := array(name); ok {
				in = append(in, a)
			}
		}
		if len(in) == 0 || len(in) != len(n.Inputs) {
			continue
		}
		a, ok := overChunks(n, in, s, c.Model.Opset(""))
		if !ok || a.Err() != nil {
			continue
		}
		if n.Op == "ReduceLogSumExp" { // nodes behind it read the session's result
			if len(targets) < mostTargets && in[0].DType().IsFloat() {
				targets = append(targets, chunk.Target{Array: a, Store: store, Path: n.Outputs[0]})
				loose[n.Outputs[0]] = true
			}
			continue
		}
		arrays[n.Outputs[0]] = a
		made = append(made, n.Outputs[0])
		for _, name := range n.Inputs {
			read[name] = true
		}
	}
	for _, name := range slices.Backward(made) {
		if arrays[name].DType().PerByte() > 1 { // Zarr lacks most of these types
			continue
		}
		if len(targets) < 2*mostTargets && (!read[name] || r.IntN(4) == 0) {
			targets = append(targets, chunk.Target{Array: arrays[name], Store: store, Path: name})
		}
	}
	if len(targets) == 0 {
		return 0, nil
	}
	if failed != nil {
		return 0, failed
	}
	p, err := chunk.NewPlan(nil, targets...)
	if err != nil {
		return 0, fmt.Errorf("plan: %w", err)
	}
	if err := p.Run(ctx, &chunk.RunOptions{Workers: workers}); err != nil {
		return 0, err
	}
	want, got := make(scope), make(scope)
	for _, t := range targets {
		a, err := zarr.Open(ctx, store, t.Path, nil)
		if err != nil {
			return 0, err
		}
		b, err := a.Read(ctx)
		if err != nil {
			return 0, err
		}
		if want[t.Path], got[t.Path] = s[t.Path], onnx.TensorValue(b); loose[t.Path] && near(&f, want[t.Path], got[t.Path]) {
			got[t.Path] = want[t.Path]
		}
	}
	return len(targets), compare(want, got)
}

// reductions are nodes more that reduce values of a scope, which gets their results.
func reductions(r *rand.Rand, f *frame, s scope) (nodes []onnx.Node) {
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(s)), func(name string) bool {
		v := s[name]
		return v.Kind() != onnx.KindTensor || v.Strings() != nil || !v.Tensor().DType().IsFloat() || len(v.Shape()) == 0 || v.Tensor().Len() == 0
	})
	for i := range min(len(list), mostTargets) {
		n := onnx.Node{Op: []string{"ReduceLogSumExp", "ReduceLogSumExp", "ReduceMax", "ReduceMin"}[r.IntN(4)], Inputs: []string{list[r.IntN(len(list))]}, Outputs: []string{fmt.Sprint("reduced", i)}}
		axis := r.Int64N(int64(len(s[n.Inputs[0]].Shape())))
		if f.m.Opset("") < 18 {
			n.Attributes = []onnx.Attribute{onnx.IntsAttr("axes", axis)}
		} else {
			n.Inputs = append(n.Inputs, fmt.Sprint("axis", i))
			s[n.Inputs[1]] = onnx.TensorValue(tensor.FromSlice([]int64{axis}, 1).Any())
		}
		if f.node(&n, s) == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// near reports whether two tensors have NaN and infinities in the same places, and elsewhere about the same numbers.
func near(f *frame, want, got onnx.Value) bool {
	if want.String() != got.String() {
		return false
	}
	var list [2][]float64
	for i, v := range []onnx.Value{want, got} {
		v, err := f.op("Cast", []onnx.Value{v}, onnx.IntAttr("to", int64(onnx.ElemFloat64)))
		if err != nil {
			return false
		}
		list[i] = as[float64](v)
	}
	for i, w := range list[0] {
		if g := list[1][i]; g != w && (g == g || w == w) && !(math.Abs(g-w) <= max(1, math.Abs(w))/64) {
			return false
		}
	}
	return true
}

// overChunks returns a node's result as an array. It reports false for nodes that package chunk lacks, or has with other
// sums: sums of floats begin anew in each chunk. But for ReduceLogSumExp, which is near.
func overChunks(n *onnx.Node, in []chunk.Array, s scope, opset int64) (a chunk.Array, ok bool) {
	exact := in[0].DType().IsInteger()
	axis := func(def int64) int {
		if at := n.Attr("axis"); at != nil {
			def = at.Value.(int64)
		}
		return int(def)
	}
	switch n.Op {
	case "Transpose":
		perm := n.Attr("perm")
		if perm == nil {
			return a, false
		}
		return chunk.Transpose(in[0], numbers(perm.Value.([]int64))...), true
	case "Concat":
		return chunk.Concat(axis(0), in...), true
	case "MatMul":
		return chunk.MatMul(in[0], in[1]), exact
	case "ReduceMax", "ReduceMin", "ReduceLogSumExp", "ReduceSum", "ReduceProd", "ArgMax", "ArgMin":
		how := chunk.Reducing{KeepDims: true}
		if at := n.Attr("keepdims"); at != nil {
			how.KeepDims = at.Value.(int64) != 0
		}
		switch at := n.Attr("axes"); {
		case n.Op[0] == 'A':
			how.Axes = []int{axis(0)}
			if at := n.Attr("select_last_index"); at != nil {
				how.Last = at.Value.(int64) != 0
			}
		case at != nil && (opset < 13 || opset < 18 && n.Op != "ReduceSum"):
			how.Axes = numbers(at.Value.([]int64))
		case len(in) > 1:
			if how.Axes = numbers(as[int64](s[n.Inputs[1]])); len(how.Axes) == 0 {
				return a, false
			}
		}
		return chunk.Reduce(n.Op, in[0], how), exact || n.Op != "ReduceSum" && n.Op != "ReduceProd"
	case "Slice":
		if len(in) != 5 || len(in[0].Shape()) != 1 {
			return a, false
		}
		var at [5]int
		for i, name := range n.Inputs[1:] {
			v := s[name]
			if v.Tensor().DType() != dtype.Int64 || v.Tensor().Len() != 1 {
				return a, false
			}
			at[i] = int(as[int64](v)[0])
		}
		return chunk.Slice(in[0], tensor.R(at[0], at[1], at[3])), at[0] >= 0
	}
	return chunk.Map(n.Op, attributesOf(n), in...), n.Op != "Clip" || opset >= 11 // before, its bounds are attributes
}

func numbers(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}
