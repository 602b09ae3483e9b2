package main

import (
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// orionSplit is Split, by sizes, into as many parts as asked for, or, into a
// sequence, by one.
func orionSplit(o *orionCall) ([]tensor.Any, error) {
	var axis, parts, keep int64 = 0, 0, 1
	o.arg("axis", &axis)
	o.arg("keepdims", &keep)
	a := int(axis)
	if a < 0 {
		a += o.in[0].Rank()
	}
	in := slices.Clone(o.in)
	var sizes []int64
	switch {
	case len(in) > 1: // the sizes, or one number: of parts
		for v := range typed[int64](cast(in[1], dtype.Int64)).Values() {
			sizes = append(sizes, v)
		}
		if len(sizes) == 1 {
			parts, sizes = sizes[0], nil
		}
		in = in[:1]
	case o.arg("spl", &sizes) || o.arg("split", &sizes):
	case o.arg("num_outputs", &parts):
	default:
		for range in[0].Dim(a) {
			sizes = append(sizes, 1)
		}
	}
	at := attrs{"axis": axis}
	n := int(parts)
	if sizes != nil {
		in, n = append(in, int64sOf(sizes)), len(sizes)
	} else {
		at["num_outputs"] = parts
	}
	s, ok := op.Lookup("Split")
	if !ok {
		return nil, unsupported{"no operator Split"}
	}
	out, err := s.Run(&op.Call{Inputs: in, Attrs: at, Opset: 18, Outputs: n})
	if err != nil || keep != 0 {
		return out, err
	}
	for i := range out {
		squeezed, err := inOrion("Squeeze", 11, out[i:i+1], attrs{"axes": []int64{axis}})
		if err != nil {
			return nil, err
		}
		out[i] = squeezed[0]
	}
	return out, nil
}

// orionJoin is Concat, or along a new axis.
func orionJoin(o *orionCall) ([]tensor.Any, error) {
	var axis, fresh int64
	o.arg("axis", &axis)
	o.arg("new_axis", &fresh)
	in := slices.Clone(o.in)
	if fresh != 0 {
		for i := range in {
			t, err := inOrion("Unsqueeze", 11, in[i:i+1], attrs{"axes": []int64{axis}})
			if err != nil {
				return nil, err
			}
			in[i] = t[0]
		}
	}
	return inOrion("Concat", 13, in, attrs{"axis": axis})
}
