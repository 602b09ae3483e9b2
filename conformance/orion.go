package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/op/ml"
	"github.com/ashlar-go/ashlar/tensor"
)

// runOrion runs the Orion suite: OP per file.
func runOrion(r *report) error {
	return r.cases(func(path, name string, text []byte, cases []json.RawMessage) error {
		if name == "fixedpoint_exact" { // scalars, not calls
			return r.runFixed(path, name, text)
		}
		for _, raw := range cases {
			var c orionCase
			if err := json.Unmarshal(raw, &c); err != nil {
				return fmt.Errorf("%s: %v", path, err)
			}
			if r.wants(name) {
				r.judge(name, c.Name, c.run)
			}
		}
		return nil
	})
}

// orionValue is a tensor of the data, a list of them, a number or a list of numbers.
type orionValue struct {
	DType    string
	Shape    *[]int
	Data     []json.RawMessage
	Sequence []orionValue
	Scalar   json.RawMessage
	List     []json.RawMessage
}

type orionCase struct {
	Name, Op, DType, Compare, Note string
	Inputs                         []*orionValue // null is an absent operand
	Args                           map[string]json.RawMessage
	Outputs                        []*orionValue // null isn't checked
	Units                          *float64      `json:"tol_raw"`
	Relative                       float64       `json:"orion_rel_tol"`
}

// orionTypes are the names of the element types there are. The others are complex
// numbers of fixed point.
var orionTypes = map[string]string{"i8": "int8", "i32": "int32", "u32": "uint32", "bool": "bool",
	"FP8x23": "fp8x23", "FP16x16": "fp16x16", "FP32x32": "fp32x32", "FP64x64": "fp64x64"}

func (v *orionValue) tensor() (tensor.Any, error) {
	d, ok := orionTypes[v.DType]
	if !ok {
		return tensor.Any{}, unsupported{"there is no " + v.DType}
	}
	if v.Shape == nil {
		n := []int{len(v.Data)}
		v.Shape = &n
	}
	if strings.HasPrefix(d, "fp") {
		return orionFixed(d, *v.Shape, v.Data)
	}
	return (&array{DType: d, Shape: *v.Shape, Data: v.Data}).tensor()
}

func (c *orionCase) run() error {
	for _, o := range c.Outputs {
		if o != nil && o.DType != "" && orionTypes[o.DType] == "" {
			return unsupported{"there is no " + o.DType}
		}
	}
	call := &orionCall{c: c}
	for _, in := range c.Inputs {
		if in == nil {
			call.in = append(call.in, tensor.Any{})
			continue
		}
		vs := []orionValue{*in}
		if in.Sequence != nil {
			vs = in.Sequence
		}
		for k := range vs {
			t, err := vs[k].tensor()
			if err != nil {
				return err
			}
			call.in = append(call.in, t)
		}
	}
	f := orionOps[c.Op]
	if f == nil {
		f = orionReals[c.Op]
	}
	if f == nil {
		return unsupported{"no operator for it"}
	}
	got, err := f(call)
	if c.Compare == "error" {
		if _, no := err.(unsupported); err == nil || no {
			return fmt.Errorf("no error, but %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return c.check(got)
}

// check compares results. Orion's comparisons give 0 and 1 and its indices are
// narrower: values are compared in the type that the data has.
func (c *orionCase) check(got []tensor.Any) error {
	want := c.Outputs
	if len(want) == 1 && want[0] != nil && want[0].Sequence != nil {
		all := want[0].Sequence
		want = nil
		for i := range all {
			want = append(want, &all[i])
		}
		if len(got) != len(want) {
			return fmt.Errorf("a sequence of %d, want %d", len(got), len(want))
		}
	}
	for i, w := range want {
		if w == nil {
			continue
		}
		if i >= len(got) {
			return fmt.Errorf("%d results, want %d", len(got), len(want))
		}
		switch {
		case w.Scalar != nil:
			w.Data, w.Shape = []json.RawMessage{w.Scalar}, new([]int)
		case w.List != nil:
			w.Data, w.DType = w.List, "u32"
		case w.Data == nil && w.Shape != nil:
			if s := got[i].Shape(); !slices.Equal(s, *w.Shape) {
				return fmt.Errorf("result %d has shape %v, want %v", i, s, *w.Shape)
			}
			continue
		case w.Data == nil:
			return unsupported{"nothing to compare"}
		}
		if w.Shape == nil { // the elements alone are known
			w.Shape = new([]int)
			*w.Shape = got[i].Shape()
		}
		t, err := w.tensor()
		if err != nil {
			return err
		}
		if t.DType().IsFixed() {
			err = c.near(got[i], t)
		} else {
			err = compare(cast(got[i], t.DType()), t, exactly)
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// orionCall is a case being run.
type orionCall struct {
	c  *orionCase
	in []tensor.Any
}

// arg reads an argument into to; absent and null leave it alone and give false.
func (o *orionCall) arg(name string, to any) bool {
	raw, ok := o.c.Args[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if b, isBool := to.(*int64); isBool { // an attribute of ONNX
		switch string(raw) {
		case "true":
			*b = 1
			return true
		case "false":
			*b = 0
			return true
		}
	}
	if err := json.Unmarshal(raw, to); err != nil {
		panic(fmt.Sprintf("argument %s of %s: %v", name, o.c.Op, err))
	}
	return true
}

// attrs returns the named arguments that are given, all of them integers or lists.
func (o *orionCall) attrs(names ...string) attrs {
	a := attrs{}
	for _, name := range names {
		raw := o.c.Args[name]
		var n int64
		var list []int64
		if strings.HasPrefix(string(raw), "[") {
			if o.arg(name, &list) {
				a[name] = list
			}
		} else if o.arg(name, &n) {
			a[name] = n
		}
	}
	return a
}

func int64sOf(v []int64) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }

// list returns a list of integers as a tensor, nil when it isn't given.
func (o *orionCall) list(name string) tensor.Any {
	var v []int64
	if !o.arg(name, &v) {
		return tensor.Any{}
	}
	return int64sOf(v)
}

// inOrion calls an operator under the option Orion.
func inOrion(name string, opset int, in []tensor.Any, a attrs) ([]tensor.Any, error) {
	o, ok := all.Lookup(name)
	if !ok {
		return nil, unsupported{"no operator " + name}
	}
	for _, t := range in { // all fixed-point operands are of one format
		if !t.IsZero() && t.DType().IsFixed() {
			o = op.InFixed(o, t.DType())
			break
		}
	}
	if o = op.InOrion(o); len(in) > 0 && name != "Where" && name != "QLinearConcat" && !o.Supports(in[0].DType()) {
		return nil, unsupported{fmt.Sprintf("%s is not defined for %v", name, in[0].DType())}
	}
	return o.Run(&op.Call{Inputs: in, Attrs: a, Opset: opset})
}

// orionFunc calls the counterpart of an operator of Orion.
type orionFunc func(o *orionCall) ([]tensor.Any, error)

// orionNamed is an operator of ONNX with the arguments as attributes. Older revisions
// converted integers for functions that have none.
func orionNamed(name string, opset int, names ...string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		in := slices.Clone(o.in)
		if d := o.format(); len(in) == 1 && in[0].DType().IsInteger() && d != dtype.Invalid {
			in[0] = cast(in[0], d)
		}
		if strings.HasPrefix(name, "Gather") || strings.HasPrefix(name, "ReverseS") {
			in[1] = cast(in[1], dtype.Int64)
		}
		return inOrion(name, opset, in, o.attrs(names...))
	}
}

// orionReduce is a reduction by one axis, or all.
func orionReduce(name string, opset int, axes string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		a := o.attrs(axes, "keepdims")
		if n, one := a[axes].(int64); one {
			a[axes] = []int64{n}
		}
		if axes != "axes" && a[axes] != nil {
			a["axes"] = a[axes]
			delete(a, axes)
		}
		if v, ok := a["axes"].([]int64); ok && len(v) == 0 {
			delete(a, "axes")
		}
		return inOrion(name, opset, o.in, a)
	}
}

// orionScatter has the updates before the indices.
func orionScatter(name string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		a := o.attrs("axis")
		var mode string
		if o.arg("reduction", &mode) {
			a["reduction"] = mode
		}
		return inOrion(name, 18, []tensor.Any{o.in[0], cast(o.in[2], dtype.Int64), o.in[1]}, a)
	}
}

// orionOps has the counterpart of each operator.
var orionOps = map[string]orionFunc{
	"abs": orionNamed("Abs", 13), "neg": orionNamed("Neg", 13), "sign": orionNamed("Sign", 13), "relu": orionNamed("Relu", 14), "identity": orionNamed("Identity", 13),
	"is_inf": orionNamed("IsInf", 20, "detect_negative", "detect_positive"),
	"not":    orionNamed("Not", 1), "add": orionNamed("Add", 13), "sub": orionNamed("Sub", 13), "mul": orionNamed("Mul", 13), "div": orionNamed("Div", 13),
	"equal": orionNamed("Equal", 13), "greater": orionNamed("Greater", 13), "greater_equal": orionNamed("GreaterOrEqual", 13),
	"less": orionNamed("Less", 13), "less_equal": orionNamed("LessOrEqual", 13), "matmul": orionNamed("MatMul", 13), "nonzero": orionNamed("NonZero", 13),
	"and": orionNamed("And", 7), "or": orionNamed("Or", 7), "xor": orionNamed("Xor", 7),
	"argmax": orionNamed("ArgMax", 13, "axis", "keepdims", "select_last_index"), "argmin": orionNamed("ArgMin", 13, "axis", "keepdims", "select_last_index"),
	"concat": orionNamed("Concat", 13, "axis"), "flatten": orionNamed("Flatten", 13, "axis"),
	"gather": orionNamed("Gather", 13, "axis"), "gather_elements": orionNamed("GatherElements", 13, "axis"), "gather_nd": orionNamed("GatherND", 13, "batch_dims"),
	"reverse_sequence": orionNamed("ReverseSequence", 10, "batch_axis", "time_axis"),
	"depth_to_space":   orionDepth, "space_to_depth": orionNamed("SpaceToDepth", 13, "blocksize"),
	"squeeze": orionNamed("Squeeze", 11, "axes"), "unsqueeze": orionNamed("Unsqueeze", 11, "axes"), "eye_like": orionNamed("EyeLike", 9, "k"),
	"max": orionNamed("Max", 13), "min": orionNamed("Min", 13), "max_in_tensor": orionAll("ReduceMax"), "min_in_tensor": orionAll("ReduceMin"),
	"reduce_sum": orionReduce("ReduceSum", 11, "axes"), "reduce_mean": orionReduce("ReduceMean", 13, "axes"), "reduce_min": orionReduce("ReduceMin", 13, "axes"),
	"reduce_max": orionReduce("ReduceMax", 13, "axes"), "reduce_prod": orionReduce("ReduceProd", 13, "axis"), "reduce_l1": orionReduce("ReduceL1", 13, "axis"),
	"reduce_sum_square": orionReduce("ReduceSumSquare", 13, "axis"),
	"scatter_elements":  orionScatter("ScatterElements"), "scatter_nd": orionScatter("ScatterND"),
	"where": orionNamed("Where", 16),
	"compress": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Compress", 11, []tensor.Any{o.in[0], cast(o.in[1], dtype.Bool)}, o.attrs("axis"))
	},
	"transpose": func(o *orionCall) ([]tensor.Any, error) {
		a := o.attrs("axes")
		if v, ok := a["axes"]; ok {
			a = attrs{"perm": v}
		}
		return inOrion("Transpose", 11, o.in, a)
	},
	"reshape": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Reshape", 14, append(o.in, o.list("target_shape")), o.attrs("allowzero"))
	},
	"slice": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Slice", 13, append(o.in, o.list("starts"), o.list("ends"), o.list("axes"), o.list("steps")), attrs{})
	},
	"cumsum": func(o *orionCall) ([]tensor.Any, error) {
		var axis int64
		o.arg("axis", &axis)
		return inOrion("CumSum", 14, append(o.in, tensor.Scalar(axis).Any()), o.attrs("exclusive", "reverse"))
	},
	"trilu": func(o *orionCall) ([]tensor.Any, error) {
		var k int64
		o.arg("k", &k)
		return inOrion("Trilu", 14, append(o.in, tensor.Scalar(k).Any()), o.attrs("upper"))
	},
	"clip": func(o *orionCall) ([]tensor.Any, error) {
		in := slices.Clone(o.in)
		for _, name := range []string{"min", "max"} {
			v, err := o.number(name, o.in[0].DType())
			if err != nil {
				return nil, err
			}
			in = append(in, v)
		}
		return inOrion("Clip", 13, in, attrs{})
	},
	"bit_shift": func(o *orionCall) ([]tensor.Any, error) {
		var to string
		o.arg("direction", &to)
		return inOrion("BitShift", 11, o.in, attrs{"direction": to})
	},
	"range": func(o *orionCall) ([]tensor.Any, error) {
		d, err := dtype.Parse(orionTypes[o.c.DType])
		if err != nil {
			return nil, unsupported{"there is no " + o.c.DType}
		}
		var in []tensor.Any
		for _, name := range []string{"start", "end", "step"} {
			v, err := o.number(name, d)
			if err != nil {
				return nil, err
			}
			in = append(in, v)
		}
		return inOrion("Range", 11, in, attrs{})
	},
	"constant_of_shape": func(o *orionCall) ([]tensor.Any, error) {
		var v int64
		o.arg("value", &v)
		return inOrion("ConstantOfShape", 9, []tensor.Any{o.list("shape")}, attrs{"value": tensor.FromSlice([]int64{v}, 1)})
	},
	"quantize_linear":   orionQuantized("QuantizeLinear", func([]tensor.Any) dtype.DType { return dtype.Int8 }),
	"dequantize_linear": orionQuantized("DequantizeLinear", func(in []tensor.Any) dtype.DType { return in[0].DType() }),
	"array_feature_extractor": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("ArrayFeatureExtractor", 1, []tensor.Any{o.in[0], cast(o.in[1], dtype.Int64)}, attrs{})
	},
	"binarizer": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("Binarizer", 1, o.in, o.reals(attrs{}, "threshold"))
	},
	"label_encoder": func(o *orionCall) ([]tensor.Any, error) {
		if o.in[0].DType().IsFixed() {
			return o.fixedLabels()
		}
		var t [4][]int32
		for i := range t {
			v, ok := tensor.As[int32](o.in[i])
			if !ok {
				return nil, unsupported{"no case has other types"}
			}
			t[i] = slices.Collect(v.Values())
		}
		out := ml.LabelEncoder(typed[int32](o.in[0]), t[2], t[3], t[1][0])
		return []tensor.Any{out.Any()}, nil
	},
	"conv_integer": func(o *orionCall) ([]tensor.Any, error) {
		return inOrion("ConvInteger", 10, o.in, o.attrs("dilations", "group", "kernel_shape", "pads", "strides"))
	},
	"unique": func(o *orionCall) ([]tensor.Any, error) {
		u, ok := op.Lookup("Unique")
		if !ok {
			return nil, unsupported{"no operator Unique"}
		}
		return u.Run(&op.Call{Inputs: o.in, Attrs: o.attrs("axis", "sorted"), Opset: 11, Outputs: 4})
	},
	"linear": func(o *orionCall) ([]tensor.Any, error) { // the input is a vector, which Gemm has none of
		y, err := inOrion("MatMul", 11, []tensor.Any{o.in[1], o.in[0]}, attrs{})
		if err != nil {
			return nil, err
		}
		return inOrion("Add", 11, []tensor.Any{y[0], o.in[2]}, attrs{})
	},
	"split": orionSplit, "split_to_sequence": orionSplit, "concat_from_sequence": orionJoin,
	// A sequence is a slice of tensors.
	"sequence_construct": func(o *orionCall) ([]tensor.Any, error) { return o.in, nil },
	"sequence_length": func(o *orionCall) ([]tensor.Any, error) {
		return []tensor.Any{tensor.Scalar(int64(len(o.in))).Any()}, nil
	},
	"sequence_at": func(o *orionCall) ([]tensor.Any, error) {
		seq, at := o.sequence(1)
		return seq[at : at+1], nil
	},
	"sequence_erase": func(o *orionCall) ([]tensor.Any, error) {
		if len(o.c.Inputs) == 1 {
			return o.in[:len(o.in)-1], nil
		}
		seq, at := o.sequence(1)
		return slices.Delete(seq, at, at+1), nil
	},
	"sequence_insert": func(o *orionCall) ([]tensor.Any, error) {
		seq, at := o.sequence(2)
		return slices.Insert(seq, at, o.in[len(o.in)-2]), nil
	},
	"sequence_empty": func(o *orionCall) ([]tensor.Any, error) { // Orion's has one tensor without elements
		d, err := dtype.Parse(orionTypes[o.c.Outputs[0].Sequence[0].DType])
		if err != nil {
			return nil, unsupported{"there is no " + o.c.Outputs[0].Sequence[0].DType}
		}
		return []tensor.Any{cast(tensor.New[int32](0).Any(), d)}, nil
	},
	"at": func(o *orionCall) (out []tensor.Any, err error) {
		var at []int
		o.arg("indices", &at)
		idx := make([]tensor.Index, len(at))
		for i, n := range at {
			idx[i] = tensor.I(n)
		}
		if len(at) != o.in[0].Rank() {
			return nil, fmt.Errorf("%d indices for rank %d", len(at), o.in[0].Rank())
		}
		t, err := tensor.Slice(o.in[0], idx...)
		return []tensor.Any{t}, err
	},
	"stride": func(o *orionCall) ([]tensor.Any, error) {
		lay := o.in[0].Layout()
		t := lay.Strides()
		strides, err := t.Flatten()
		return []tensor.Any{intsOf(strides)}, err
	},
	"ravel_index": func(o *orionCall) (out []tensor.Any, err error) {
		var shape, at []int
		o.arg("shape", &shape)
		o.arg("indices", &at)
		err = tensor.Try(func() { out = []tensor.Any{tensor.Scalar(int64(op.RavelIndex(at, shape))).Any()} })
		return out, err
	},
	"unravel_index": func(o *orionCall) (out []tensor.Any, err error) {
		var shape []int
		var n int
		o.arg("shape", &shape)
		o.arg("index", &n)
		err = tensor.Try(func() { out = []tensor.Any{intsOf(op.UnravelIndex(n, shape))} })
		return out, err
	},
}

// sequence returns the sequence before the last n inputs and the position that the
// last one is; a negative one counts from the end.
func (o *orionCall) sequence(n int) (seq []tensor.Any, at int) {
	seq = slices.Clone(o.in[:len(o.in)-n])
	at = int(typed[int64](cast(o.in[len(o.in)-1], dtype.Int64)).Item())
	if at < 0 {
		at += len(seq)
	}
	return seq, at
}

func intsOf(v []int) tensor.Any {
	out := make([]int64, len(v))
	for i, n := range v {
		out[i] = int64(n)
	}
	return int64sOf(out)
}

func orionAll(name string) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) { return inOrion(name, 11, o.in, attrs{"keepdims": int64(0)}) }
}

func orionDepth(o *orionCall) ([]tensor.Any, error) {
	a := o.attrs("blocksize")
	var mode string
	if o.arg("mode", &mode) {
		a["mode"] = mode
	}
	return inOrion("DepthToSpace", 11, o.in, a)
}

// orionQuantized has the scale and the zero point stretched, where ONNX has vectors and
// an axis, and the zero point in the type of the numbers.
func orionQuantized(name string, zero func(in []tensor.Any) dtype.DType) orionFunc {
	return func(o *orionCall) ([]tensor.Any, error) {
		in := slices.Clone(o.in)
		if in[1].DType().IsFixed() {
			return inOrion(name, 25, in, attrs{})
		}
		for i := range in[1:] {
			if in[1+i].Rank() > 1 {
				flat, err := tensor.Reshape(in[1+i], in[1+i].Len())
				if err != nil {
					return nil, err
				}
				in[1+i] = flat
			}
		}
		in[2] = cast(in[2], zero(in))
		return inOrion(name, 25, in, attrs{})
	}
}
