package optest

import "github.com/ashlar-go/ashlar/dtype"

// moves has the calls of operators that don't use the values of elements.
func moves(name string) []testCase {
	switch name {
	case "CenterCropPad":
		return []testCase{{in: []input{data(4, 6), ints(3, 9)}}, {in: []input{data(4, 6), ints(5)}, attrs: attrs{"axes": []int64{-1}}}}
	case "Col2Im":
		return []testCase{{in: []input{data(2, 8, 6), ints(3, 4), ints(2, 2)}}, {in: []input{data(1, 6, 6), ints(5), ints(3)}, attrs: attrs{"dilations": []int64{2}, "pads": []int64{2, 3}}}}
	case "Compress":
		cond := input{shape: []int{3}, dtype: dtype.Bool}
		return []testCase{{in: []input{data(4, 6), cond}, attrs: attrs{"axis": int64(1)}}, {in: []input{data(4, 6), cond}}}
	case "Concat":
		return []testCase{{in: []input{data(4, 6), data(4, 2)}, attrs: attrs{"axis": int64(1)}}, {in: []input{data(2, 3, 4), data(1, 3, 4), data(0, 3, 4)}, attrs: attrs{"axis": int64(-3)}}}
	case "CumSum", "CumProd":
		cs := []testCase{{in: []input{data(4, 6), index(nil, 1)}}, {in: []input{data(2, 3, 4), index(nil, -2)}}, {in: []input{data(2, 300), index(nil, 1)}}}
		for i := range cs {
			cs[i].attrs = attrs{"exclusive": int64(i % 2), "reverse": int64(i / 2)}
		}
		return cs
	case "DepthToSpace":
		return []testCase{{in: []input{data(2, 8, 2, 3)}, attrs: attrs{"blocksize": int64(2)}}, {in: []input{data(2, 8, 2, 3)}, attrs: attrs{"blocksize": int64(2), "mode": "CRD"}}}
	case "Expand":
		return []testCase{{in: []input{data(4, 1), ints(2, 4, 6)}}, {in: []input{data(), ints(3, 2)}}}
	case "EyeLike":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(4, 6)}, attrs: attrs{"k": int64(-2), "dtype": int64(16)}}}
	case "Flatten":
		return []testCase{{in: []input{data(2, 3, 4)}}, {in: []input{data(2, 4, 2, 3)}, attrs: attrs{"axis": int64(2)}}, {in: []input{data(4, 6)}, attrs: attrs{"axis": int64(0)}}}
	case "Gather":
		return []testCase{{in: []input{data(4, 6), index([]int{2, 2}, 0, 3, -1, 1)}}, {in: []input{data(2, 3, 4), index(nil, 2)}, attrs: attrs{"axis": int64(1)}},
			{in: []input{data(33, 40), ints(5, 5, 39)}, attrs: attrs{"axis": int64(-1)}}}
	case "GatherElements":
		return []testCase{{in: []input{data(4, 6), index([]int{2, 3}, 0, 3, -1, 1, 1, -4)}}, {in: []input{data(4, 6), index([]int{4, 1}, 5, -1, 0, 0)}, attrs: attrs{"axis": int64(1)}}}
	case "GatherND":
		return []testCase{{in: []input{data(4, 6), index([]int{3, 2}, 0, 5, -1, 1, 2, -6)}}, {in: []input{data(2, 3, 4), index([]int{2, 2, 1}, 2, 0, -3, 1)}, attrs: attrs{"batch_dims": int64(1)}}}
	case "GridSample":
		grid := input{shape: []int{2, 3, 2, 2}, dtype: dtype.Float32}
		var cs []testCase
		for i, mode := range []string{"linear", "nearest", "cubic"} {
			cs = append(cs, testCase{in: []input{data(2, 3, 4, 5), grid}, attrs: attrs{"mode": mode, "padding_mode": []string{"zeros", "border", "reflection"}[i]}})
		}
		return cs
	case "NonZero":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(2, 3, 4)}}, {in: []input{data()}}, {in: []input{data(3, 0, 2)}}}
	case "OneHot":
		wide := func(d dtype.DType) bool { return real(d) && (d.IsInteger() || d.Size() > 1) }
		return []testCase{{in: []input{data(4, 6), ints(5), ints(0, 1)}, only: wide}, {in: []input{index([]int{2, 2}, 0, 3, -1, 1), index(nil, 4), data(2)}, attrs: attrs{"axis": int64(0)}}}
	case "Pad":
		cs := []testCase{{in: []input{data(4, 6), ints(1, 2, 0, -1), data()}}}
		for _, mode := range []string{"edge", "reflect", "wrap"} {
			cs = append(cs, testCase{in: []input{data(2, 3, 4), ints(5, 0, 1, 2), {absent: true}, ints(-1, 0)}, attrs: attrs{"mode": mode}})
		}
		return cs
	case "Reshape":
		return []testCase{{in: []input{data(4, 6), ints(3, -1)}}, {in: []input{data(2, 3, 4), ints(0, 12)}}, {in: []input{data(33, 40), ints(40, 33)}}, {in: []input{data(), ints(1, 1)}}}
	case "Resize":
		cs := []testCase{{in: []input{data(4, 6), {absent: true}, {absent: true}, ints(7, 5)}}}
		for _, mode := range []string{"linear", "cubic"} {
			cs = append(cs, testCase{in: []input{data(2, 4, 6), {absent: true}, {absent: true}, ints(7, 5)}, only: real, attrs: attrs{"mode": mode, "axes": []int64{2, 1}}},
				testCase{in: []input{data(4, 6), {absent: true}, {absent: true}, ints(3, 2)}, only: real, attrs: attrs{"mode": mode, "antialias": int64(1), "exclude_outside": int64(1)}})
		}
		return cs
	case "ReverseSequence":
		return []testCase{{in: []input{data(4, 6, 2), ints(0, 1, 2, 3, 4, 2)}}, {in: []input{data(4, 6), ints(0, 1, 6, 5)}, attrs: attrs{"batch_axis": int64(0), "time_axis": int64(1)}}}
	case "Scatter", "ScatterElements":
		cs := []testCase{{in: []input{data(4, 6), index([]int{2, 3}, 0, 3, -1, 1, 3, -4), data(2, 3)}}}
		for _, mode := range []string{"add", "mul", "max", "min"} {
			if name == "ScatterElements" {
				cs = append(cs, testCase{in: []input{data(4, 6), index([]int{3, 3}, 5, 5, -1, 0, 0, 0, 1, 2, 2), data(3, 3)}, only: real,
					attrs: attrs{"axis": int64(1), "reduction": mode}})
			}
		}
		return cs
	case "ScatterND":
		cs := []testCase{{in: []input{data(4, 6), index([]int{3, 1}, 0, -1, 0), data(3, 6)}}}
		for _, mode := range []string{"add", "mul", "max", "min"} {
			cs = append(cs, testCase{in: []input{data(4, 6), index([]int{3, 2}, 0, 1, 0, 1, -1, -1), data(3)}, only: real, attrs: attrs{"reduction": mode}})
		}
		return cs
	case "Slice":
		return []testCase{{in: []input{data(4, 6), ints(1, 5), ints(4, -7), ints(0, 1), ints(2, -2)}}, {in: []input{data(2, 4, 6), ints(1), ints(100), ints(-1)}},
			{in: []input{data(4, 6)}, attrs: attrs{"starts": []int64{1, 0}, "ends": []int64{3, -1}}, opset: 9}}
	case "SpaceToDepth":
		return []testCase{{in: []input{data(2, 2, 4, 6)}, attrs: attrs{"blocksize": int64(2)}}}
	case "Split":
		return []testCase{{in: []input{data(4, 6), ints(1, 5)}, attrs: attrs{"axis": int64(1)}, outputs: 2}, {in: []input{data(5, 4)}, attrs: attrs{"num_outputs": int64(3)}, outputs: 3}}
	case "Squeeze":
		return []testCase{{in: []input{data(1, 5, 1)}}, {in: []input{data(1, 4, 6, 1), ints(-1)}}, {in: []input{data(1, 5, 1)}, attrs: attrs{"axes": []int64{0}}, opset: 11}}
	case "Tile":
		return []testCase{{in: []input{data(4, 6), ints(2, 1)}}, {in: []input{data(2, 3, 4), ints(1, 2, 3)}}, {in: []input{data(4, 6), ints(0, 2)}}}
	case "TopK":
		return []testCase{{in: []input{data(4, 6), ints(3)}, outputs: 2}, {in: []input{data(5, 7, 2), ints(4)}, attrs: attrs{"axis": int64(1), "largest": int64(0)}, outputs: 2}}
	case "Transpose":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(2, 3, 4)}, attrs: attrs{"perm": []int64{2, 0, 1}}}, {in: []input{data(2, 4, 2, 3)}, attrs: attrs{"perm": []int64{0, 2, 3, 1}}}}
	case "Trilu":
		return []testCase{{in: []input{data(4, 6)}}, {in: []input{data(2, 3, 4), index(nil, -1)}, attrs: attrs{"upper": int64(0)}}}
	case "Unique":
		return []testCase{{in: []input{data(4, 6)}, outputs: 4}, {in: []input{data(7, 2)}, attrs: attrs{"axis": int64(0)}, outputs: 4}, {in: []input{data(40)}, attrs: attrs{"sorted": int64(0)}, outputs: 2}}
	case "Upsample":
		return []testCase{{in: []input{data(4, 6)}, opset: 7, attrs: attrs{"scales": []float32{2, 1.5}}}, {in: []input{data(4, 6)}, opset: 7, only: real, attrs: attrs{"scales": []float32{2, 1.5}, "mode": "linear"}}}
	case "Unsqueeze":
		return []testCase{{in: []input{data(4, 6), ints(0, -1)}}, {in: []input{data(), ints(0)}}, {in: []input{data(4, 6)}, attrs: attrs{"axes": []int64{1}}, opset: 11}}
	}
	return nil
}

// real reports whether a type has arithmetic and an order.
func real(d dtype.DType) bool { return (d.IsInteger() || d.IsFloat()) && !d.IsStored() }
