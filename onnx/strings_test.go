package onnx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// textType is the type of strings of a rank.
func textType(rank int) Type {
	return Type{Kind: KindTensor, Elem: ElemString, HasShape: true, Shape: slices.Repeat([]Dim{{Value: -1}}, rank)}
}

// textModel is a model of strings x, by build, which names the outputs, through a file.
func textModel(t *testing.T, opset int64, build func(b *Builder, x string) []string) *Model {
	t.Helper()
	b := NewBuilder("text")
	b.Import("ai.onnx.ml", 4)
	outs := build(b, b.InputOf("x", Type{Kind: KindTensor, Elem: ElemString}))
	for i, name := range outs {
		b.OutputOf(b.Rename(name, fmt.Sprint("y", i)), Type{})
	}
	m, err := b.Model(opset)
	if err != nil {
		t.Fatal(err)
	}
	file, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Decode(file); err != nil {
		t.Fatal(err)
	}
	return m
}

// show writes a value for tests.
func show(v Value) string {
	switch {
	case v.text != nil:
		return fmt.Sprintf("%v %q", v, v.Strings())
	case v.Kind() == KindSequence:
		var parts []string
		for _, item := range v.Items() {
			parts = append(parts, show(item))
		}
		return strings.Join(parts, "; ")
	case v.Kind() == KindMap:
		var parts []string
		v.seq.items[0].eachKey(func(key any) { parts = append(parts, fmt.Sprint(key)) })
		return fmt.Sprint(parts, " ", show(*v.seq.items[1]))
	}
	return strings.Join(strings.Fields(fmt.Sprint(v.Tensor())), " ")
}

func TestStringGraphs(t *testing.T) {
	one := func(op string, attrs ...Attribute) func(b *Builder, x string) []string {
		return func(b *Builder, x string) []string { return []string{b.Node(op, []string{x}, attrs...)} }
	}
	constant := func(b *Builder, v ...int64) string {
		return b.Weight(b.fresh("c"), tensor.FromSlice(v, len(v)).Any())
	}
	x := StringsValue([]int{2, 2}, "b", "a", "", "b")
	list := StringsValue([]int{4}, "Monday", "tuesday", "", "\xffÄ")
	for _, c := range []struct {
		name  string
		x     Value
		build func(b *Builder, x string) []string
		want  string // or the beginning of an error
	}{
		{"Identity", x, one("Identity"), `string[2,2] ["b" "a" "" "b"]`},
		{"Transpose", x, one("Transpose"), `string[2,2] ["b" "" "a" "b"]`},
		{"Unique", x, func(b *Builder, x string) []string { return b.Nodes("Unique", 4, []string{x}) }, `string[3] ["" "a" "b"] | [2 1 0] | [2 1 0 2] | [1 1 2]`},
		{"Unique of rows, unsorted", x, func(b *Builder, x string) []string {
			return b.Nodes("Unique", 1, []string{x}, IntAttr("axis", 0), IntAttr("sorted", 0))
		}, `string[2,2] ["b" "a" "" "b"]`},
		{"Shape", x, one("Shape"), `[2 2]`},
		{"NonZero", x, one("NonZero"), `[[0 0 1] [0 1 1]]`},
		{"TensorScatter", x, func(b *Builder, x string) []string {
			return []string{b.Node("TensorScatter", []string{x, b.Strings("new", []int{2, 1}, "p", "q"), constant(b, 1, 2)}, IntAttr("axis", 1), StringAttr("mode", "circular"))}
		}, `string[2,2] ["b" "p" "q" "b"]`},
		{"Equal", x, func(b *Builder, x string) []string {
			return []string{b.Node("Equal", []string{x, b.Strings("k", nil, "b")})}
		}, `[[ True False] [False True]]`},
		{"Where, Concat, Pad", x, func(b *Builder, x string) []string {
			y := b.Node("Where", []string{b.Node("Equal", []string{x, b.Strings("k", []int{1}, "a")}), b.Strings("new", nil, "new"), x})
			return []string{b.Node("Concat", []string{y, x}, IntAttr("axis", 0)), b.Node("Pad", []string{y, constant(b, 0, 1, 0, 0)})}
		}, `string[4,2] ["b" "new" "" "b" "b" "a" "" "b"] | string[2,3] ["" "b" "new" "" "" "b"]`},
		{"Constant", x, func(b *Builder, x string) []string {
			return []string{b.Node("Constant", nil, StringsAttr("value_strings", "p", "q")), b.Node("Constant", nil, StringAttr("value_string", "p")), b.Node("Size", []string{x})}
		}, `string[2] ["p" "q"] | string[] ["p"] | 4`},
		{"ScatterElements", list, func(b *Builder, x string) []string {
			return []string{b.Node("ScatterElements", []string{x, constant(b, 2), b.Strings("s", []int{1}, "new")})}
		}, `string[4] ["Monday" "tuesday" "new" "\xffÄ"]`},
		{"ScatterElements that adds", list, func(b *Builder, x string) []string {
			return []string{b.Node("ScatterElements", []string{x, constant(b, 2), b.Strings("s", []int{1}, "new")}, StringAttr("reduction", "add"))}
		}, `it is "add"; strings aren't computed with`},
		{"Add", x, func(b *Builder, x string) []string { return []string{b.Node("Add", []string{x, x})} }, `input 0: dtype: it is string`},
		{"a mixed Concat", list, func(b *Builder, x string) []string {
			return []string{b.Node("Concat", []string{x, b.Weight("n", tensor.New[int32](2).Any())}, IntAttr("axis", 0))}
		}, `input 1: dtype: it is int32[2]; the operator takes strings there`},
		{"Gather at strings", list, func(b *Builder, x string) []string { return []string{b.Node("Gather", []string{x, x})} }, `input 1: dtype: it is string`},
		{"a count of strings", list, func(b *Builder, x string) []string {
			body := b.Body("body")
			body.Input("i", dtype.Int64)
			body.Input("going", dtype.Bool)
			body.OutputOf("going", Type{})
			return []string{b.Nodes("Loop", 1, []string{b.Node("Reshape", []string{x, constant(b)}), "", x}, GraphAttr("body", body))[0]}
		}, `it has 2 inputs`},
		{"StringNormalizer", list, one("StringNormalizer", StringAttr("case_change_action", "UPPER"), StringsAttr("stopwords", "TUESDAY")), `string[3] ["MONDAY" "" "\xffÄ"]`},
		{"StringNormalizer, exact", list, one("StringNormalizer", StringAttr("case_change_action", "LOWER"), StringsAttr("stopwords", "TUESDAY", ""), IntAttr("is_case_sensitive", 1)), `string[3] ["monday" "tuesday" "\xffä"]`},
		{"StringNormalizer of a matrix", x, one("StringNormalizer"), `input 0: shape: it is string[2,2]; want [C] or [1,C]`},
		{"StringConcat", x, func(b *Builder, x string) []string {
			return []string{b.Node("StringConcat", []string{x, b.Strings("k", []int{2, 1}, "-", "+")})}
		}, `string[2,2] ["b-" "a-" "+" "b+"]`},
		{"StringSplit", StringsValue([]int{3}, " a  b c", "", "d"), func(b *Builder, x string) []string {
			return append(b.Nodes("StringSplit", 2, []string{x}), b.Nodes("StringSplit", 2, []string{x}, StringAttr("delimiter", " "), IntAttr("maxsplit", 1))...)
		}, `string[3,3] ["a" "b" "c" "" "" "" "d" "" ""] | [3 0 1] | string[3,2] ["" "a  b c" "" "" "d" ""] | [2 1 1]`},
		{"RegexFullMatch", list, one("RegexFullMatch", StringAttr("pattern", "[a-z]*|M.*")), `[ True True True False]`},
		{"a wrong pattern", list, one("RegexFullMatch", StringAttr("pattern", "a)|(b")), `attribute "pattern": `},
		{"Cast from", StringsValue([]int{5}, "1.5", "-INF", "nan", "1e3", "7"), one("Cast", IntAttr("to", int64(ElemFloat32))), `[ 1.5 -inf nan 1000. 7. ]`},
		{"Cast to int8", StringsValue([]int{2}, "-128", "128"), one("Cast", IntAttr("to", int64(ElemInt8))), `input 0: element 1: value: "128" is no int8`},
		{"Cast to int4", StringsValue([]int{2}, "-8", "8"), one("Cast", IntAttr("to", int64(ElemInt4))), `input 0: element 1: value: "8" is no int4`},
		{"Cast to uint4", StringsValue([]int{2}, "15", "16"), one("Cast", IntAttr("to", int64(ElemUint4))), `input 0: element 1: value: "16" is no uint4`},
		{"Cast to uint64", StringsValue([]int{2}, "18446744073709551615", "0"), one("Cast", IntAttr("to", int64(ElemUint64))), `[18446744073709551615 0]`},
		{"Cast to int64", StringsValue([]int{2}, "-9223372036854775808", "9223372036854775808"), one("Cast", IntAttr("to", int64(ElemInt64))), `"9223372036854775808" is no int64`},
		{"Cast to and fro", StringsValue([]int{3}, "0.25", "1e20", "-3"), func(b *Builder, x string) []string {
			return []string{b.Node("Cast", []string{b.Node("Cast", []string{x}, IntAttr("to", int64(ElemFloat64)))}, IntAttr("to", int64(ElemString))), b.Node("CastLike", []string{b.Node("Shape", []string{x}), x})}
		}, `string[3] ["0.25" "1e+20" "-3.0"] | string[1] ["3"]`},
		{"a sequence", list, func(b *Builder, x string) []string {
			s := b.Node("SplitToSequence", []string{x}, IntAttr("keepdims", 0))
			s = b.Node("SequenceInsert", []string{s, b.Strings("k", nil, "k")})
			return []string{b.Node("SequenceAt", []string{s, b.Weight("at", tensor.Scalar[int64](4).Any())}), b.Node("ConcatFromSequence", []string{s}, IntAttr("axis", 0), IntAttr("new_axis", 1))}
		}, `string[] ["k"] | string[5] ["Monday" "tuesday" "" "\xffÄ" "k"]`},
		{"a sequence of two types", list, func(b *Builder, x string) []string {
			return []string{b.Node("SequenceConstruct", []string{x, b.Node("Shape", []string{x})})}
		}, `input 1: dtype: it holds int64, the first string`},
		{"Loop", StringsValue(nil, "a"), func(b *Builder, x string) []string {
			body := b.Body("body")
			body.Input("i", dtype.Int64)
			going := body.Input("going", dtype.Bool)
			s := body.InputOf("s", textType(0))
			twice := body.Node("StringConcat", []string{s, s})
			body.OutputOf(going, Type{})
			body.OutputOf(twice, textType(0))
			body.OutputOf(body.Node("Identity", []string{twice}), textType(0))
			return b.Nodes("Loop", 2, []string{b.Weight("n", tensor.Scalar[int64](3).Any()), "", x}, GraphAttr("body", body))
		}, `string[] ["aaaaaaaa"] | string[3] ["aa" "aaaa" "aaaaaaaa"]`},
		{"LabelEncoder", list, func(b *Builder, x string) []string {
			y := b.Node("ai.onnx.ml.LabelEncoder", []string{x}, StringsAttr("keys_strings", "", "Monday"), IntsAttr("values_int64s", 5, 6), IntAttr("default_int64", 9))
			return []string{y, b.Node("ai.onnx.ml.LabelEncoder", []string{y}, IntsAttr("keys_int64s", 5, 6), StringsAttr("values_strings", "five", "six"), StringAttr("default_string", "?")),
				b.Node("ai.onnx.ml.LabelEncoder", []string{x}, StringsAttr("keys_strings", "tuesday"), StringsAttr("values_strings", "Dienstag")),
				b.Node("ai.onnx.ml.LabelEncoder", []string{x}, StringsAttr("keys_strings", "tuesday"), FloatsAttr("values_floats", 0.5), FloatAttr("default_float", 2))}
		}, `[6 9 5 9] | string[4] ["six" "?" "five" "?"] | string[4] ["_Unused" "Dienstag" "_Unused" "_Unused"] | [2. 0.5 2. 2. ]`},
		{"CategoryMapper", list, func(b *Builder, x string) []string {
			y := b.Node("ai.onnx.ml.CategoryMapper", []string{x}, StringsAttr("cats_strings", "", "Monday"), IntsAttr("cats_int64s", 5, 6))
			return []string{y, b.Node("ai.onnx.ml.CategoryMapper", []string{y}, StringsAttr("cats_strings", "", "Monday"), IntsAttr("cats_int64s", 5, 6), StringAttr("default_string", "none"))}
		}, `[ 6 -1 5 -1] | string[4] ["Monday" "none" "" "none"]`},
		{"OneHotEncoder", list, one("ai.onnx.ml.OneHotEncoder", StringsAttr("cats_strings", "tuesday", "Monday")), `[[0. 1.] [1. 0.] [0. 0.] [0. 0.]]`},
		{"TfIdfVectorizer", StringsValue([]int{4}, "a", "b", "a", "b"), one("TfIdfVectorizer", StringsAttr("pool_strings", "b", "a", "b", "b", "a"), IntsAttr("ngram_counts", 0, 1), IntsAttr("ngram_indexes", 0, 1, 2),
			IntAttr("min_gram_length", 1), IntAttr("max_gram_length", 2), IntAttr("max_skip_count", 0), StringAttr("mode", "TF")), `[2. 2. 1.]`},
		{"classifiers", StringsValue([]int{2}, "x", "y"), func(b *Builder, x string) []string {
			f := b.Node("ai.onnx.ml.OneHotEncoder", []string{x}, StringsAttr("cats_strings", "x", "y"))
			linear := b.Nodes("ai.onnx.ml.LinearClassifier", 2, []string{f}, StringsAttr("classlabels_strings", "one", "two"), FloatsAttr("coefficients", 1, 0, 0, 1))
			svm := b.Nodes("ai.onnx.ml.SVMClassifier", 2, []string{f}, StringsAttr("classlabels_strings", "one", "two"), FloatsAttr("coefficients", 1, -1), FloatsAttr("support_vectors", 1, 0, 0, 1), IntsAttr("vectors_per_class", 1, 1), FloatsAttr("rho", 0), FloatsAttr("kernel_params", 0, 0, 0))
			return []string{linear[0], svm[0], b.Node("ai.onnx.ml.ZipMap", []string{linear[1]}, StringsAttr("classlabels_strings", "one", "two"))}
		}, `string[2] ["one" "two"] | string[2] ["one" "two"] | [one two] [1. 0.]; [one two] [0. 1.]`},
		{"ArrayFeatureExtractor", x, func(b *Builder, x string) []string {
			return []string{b.Node("ai.onnx.ml.ArrayFeatureExtractor", []string{x, constant(b, 1, 0)})}
		}, `string[2,2] ["a" "b" "b" ""]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSession(textModel(t, 24, c.build))
			var out map[string]Value
			if err == nil {
				for range 2 { // plans, and the values kept of attributes, serve again
					if out, err = s.RunValues(context.Background(), map[string]Value{"x": c.x}, nil); err != nil {
						break
					}
				}
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			var got []string
			for i := range len(out) {
				got = append(got, show(out[fmt.Sprint("y", i)]))
			}
			if text := strings.Join(got, " | "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// Maps go in and come out, and files of them are read.
func TestMaps(t *testing.T) {
	mapType := func(key, val ElemType) Type {
		return Type{Kind: KindMap, Elem: key, Of: &Type{Kind: KindTensor, Elem: val}}
	}
	for _, c := range []struct {
		op    string
		t     Type
		v     Value
		attrs []Attribute
		want  string
	}{
		{"DictVectorizer", mapType(ElemString, ElemFloat32), MapValue(map[string]float32{"a": 1, "c": 3, "x": 9}), []Attribute{StringsAttr("string_vocabulary", "c", "b", "a")}, "[[3. 0. 1.]]"},
		{"DictVectorizer", mapType(ElemInt64, ElemString), MapValue(map[int64]string{7: "p", 8: "q"}), []Attribute{IntsAttr("int64_vocabulary", 8, 9)}, `string[1,2] ["q" ""]`},
		{"DictVectorizer", mapType(ElemInt64, ElemFloat64), MapValue(map[int64]float64{}), []Attribute{IntsAttr("int64_vocabulary", 8, 9)}, `[[0. 0.]]`},
		{"DictVectorizer", mapType(ElemInt64, ElemFloat64), MapValue(map[int64]float64{}), []Attribute{StringsAttr("string_vocabulary", "a")}, `the vocabulary is of string`},
		{"CastMap", mapType(ElemInt64, ElemString), MapValue(map[int64]string{3: "1.5", 0: "-2"}), nil, "[[-2. 1.5]]"},
		{"CastMap", mapType(ElemInt64, ElemString), MapValue(map[int64]string{3: "15", 0: "-2"}), []Attribute{StringAttr("cast_to", "TO_INT64"), StringAttr("map_form", "SPARSE"), IntAttr("max_map", 5)}, "[[-2 0 0 15 0]]"},
		{"CastMap", mapType(ElemInt64, ElemFloat32), MapValue(map[int64]float32{1: 0.5}), []Attribute{StringAttr("cast_to", "TO_STRING"), StringAttr("map_form", "SPARSE"), IntAttr("max_map", 2)}, `string[1,2] ["" "0.5"]`},
		{"CastMap", mapType(ElemInt64, ElemFloat32), MapValue(map[int64]float32{1: 2.75}), []Attribute{StringAttr("cast_to", "TO_INT64")}, `[[2]]`},
		{"CastMap", mapType(ElemInt64, ElemFloat32), MapValue(map[int64]float32{5: 0.5}), []Attribute{StringAttr("map_form", "SPARSE")}, `key 5; max_map allows 0 to 0`},
		{"CastMap", mapType(ElemInt64, ElemFloat32), MapValue(map[int64]float32{5: 0.5}), []Attribute{StringAttr("map_form", "SPARSE"), IntAttr("max_map", 1<<60)}, `the run needs`},
		{"CastMap", mapType(ElemInt64, ElemFloat32), MapValue(map[int64]float64{5: 0.5}), nil, `wants map(int64,float32`},
		{"CastMap", mapType(ElemInt64, ElemFloat32), StringsValue(nil, "a"), nil, `onnx.MapValue makes a map`},
	} {
		b := NewBuilder("maps")
		b.Import("ai.onnx.ml", 1)
		b.OutputOf(b.Node("ai.onnx.ml."+c.op, []string{b.InputOf("x", c.t)}, c.attrs...), Type{})
		m, err := b.Model(20)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(m)
		if err != nil {
			t.Fatalf("%s: %v", c.op, err)
		}
		out, err := s.RunValues(context.Background(), map[string]Value{"x": c.v}, nil)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.op, err, c.want)
			}
			continue
		}
		for _, v := range out {
			if got := show(v); got != c.want {
				t.Errorf("%s: %s, want %s", c.op, got, c.want)
			}
		}
	}

	one := func(v float32) pb { return pb{}.int(2, 1).f32(4, v) }
	entry := pb{}.int(2, 8).str(4, "b").str(4, "a").bytes(5, pb{}.int(2, 1).bytes(3, one(2)).bytes(3, one(1)))
	mt := mapType(ElemString, ElemFloat32)
	v, err := DecodeValue(pb{}.int(2, 4).bytes(6, entry), Type{Kind: KindSequence, Of: &mt})
	if err != nil || v.String() != "sequence of 1: map of 2: string to float32" {
		t.Fatalf("%v, %v", v, err)
	}
	if m, ok := MapOf[string, float32](v.Items()[0]); !ok || !maps.Equal(m, map[string]float32{"a": 1, "b": 2}) {
		t.Errorf("the map is %v", m)
	}
	if _, ok := MapOf[int64, float32](v.Items()[0]); ok {
		t.Error("keys that are strings became integers")
	}
	if _, err := DecodeValue(pb{}.int(2, 8).str(4, "b"), mt); err == nil || !strings.Contains(err.Error(), "a map of 1 keys has 0 values") {
		t.Errorf("a key without a value: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}

// The strings that a run makes count against its memory.
func TestStringMemory(t *testing.T) {
	m := textModel(t, 20, func(b *Builder, x string) []string {
		for range 30 {
			x = b.Node("StringConcat", []string{x, x})
		}
		return []string{x}
	})
	s, err := NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.RunValues(context.Background(), map[string]Value{"x": StringsValue(nil, "a")}, &Options{MaxMemory: 1 << 20})
	var e *MemoryError
	if !errors.As(err, &e) || e.Need > 2<<20 {
		t.Errorf("2³⁰ bytes in 1 MiB: %v", err)
	}
}

// A file with strings that don't fit its shape, or stand elsewhere, is refused.
func TestStringProtos(t *testing.T) {
	text := Type{Kind: KindTensor, Elem: ElemString}
	for _, c := range []struct {
		p    pb
		want string
	}{
		{pb{}.packed(1, 2).int(2, 8).str(6, "a"), "string_data has 1 entries; string[2] needs 2"},
		{pb{}.packed(1, 1).int(2, 8).str(9, "abcd"), "strings stand elsewhere than in string_data"},
		{pb{}.packed(1, 1).int(2, 8).int(5, 1), "strings stand elsewhere"},
		{pb{}.packed(1, 1).int(2, 8).int(6, 1), "field 6 holds"},
		{pb{}.packed(1, 1<<40).int(2, 8).str(6, "a"), "string_data has 1 entries"},
	} {
		if v, err := DecodeValue(c.p, text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v, want %s", v, err, c.want)
		}
	}
	if v, err := DecodeValue(pb{}.packed(1, 0, 3).int(2, 8), text); err != nil || v.Strings() == nil || v.String() != "string[0,3]" {
		t.Errorf("no strings: %v, %v", v, err)
	}
	if _, err := DecodeTensor(pb{}.packed(1, 1).int(2, 8).str(6, "a")); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a tensor of strings: %v", err)
	}
	p, err := NewStringsProto("k", []int{2}, "a", "\xff")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := new(Model).Strings(&p); err != nil || !slices.Equal(list, []string{"a", "\xff"}) {
		t.Errorf("%q, %v", list, err)
	}
	if _, err := NewStringsProto("k", []int{3}, "a"); err == nil {
		t.Error("one string for three")
	}
}

// Every operator refuses strings, or is one that moves them or has a form for them.
func TestOnlyKnownOperatorsTakeStrings(t *testing.T) {
	for _, o := range all.Operators() {
		name := opName(o.Domain(), o.Name())
		if valueOps[keyOf(o.Domain(), o.Name(), "")] != nil || len(o.Versions()) == 0 || name == "Constant" { // which has no inputs
			continue
		}
		opset := int64(slices.Max(o.Versions()))
		m := &Model{IR: 10, Opsets: []Opset{{o.Domain(), opset}}, Graph: &Graph{Name: "g", Inputs: []ValueInfo{{Name: "x", Type: textType(1)}},
			Outputs: []ValueInfo{{Name: "y"}}, Nodes: []Node{{Op: o.Name(), Domain: o.Domain(), Inputs: []string{"x"}, Outputs: []string{"y"}}}}}
		if err := m.Check(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "it is string[1]; the operator takes no strings") {
			t.Errorf("%s of strings: %v", name, err)
		}
	}
	for key, f := range valueOps {
		if f.asks != nil && operators()[key] == nil {
			t.Errorf("there is a form for strings of %v, which isn't an operator", key)
		}
	}
}

// A list of values is the caller's after it has become a sequence.
func TestSequenceOfCopies(t *testing.T) {
	list := []Value{StringsValue([]int{1}, "a")}
	v := SequenceOf(list...)
	list[0] = Nothing()
	if got := show(v); got != `string[1] ["a"]` {
		t.Error(got)
	}
}

// Strings of a program in a place where they can't stand are an error.
func TestStringsElsewhere(t *testing.T) {
	values, err := NewStringsProto("w", []int{1}, "a")
	if err != nil {
		t.Fatal(err)
	}
	indices, err := NewTensorProto("", tensor.FromSlice([]int64{0}, 1).Any())
	if err != nil {
		t.Fatal(err)
	}
	outside := &TensorProto{Type: ElemString, Dims: []int64{1}, External: &External{Location: "w"}}
	for _, c := range []struct {
		g    Graph
		want string
	}{
		{Graph{Sparse: []SparseTensor{{values, indices, []int64{2}}}}, "strings in sparse form"},
		{Graph{Nodes: []Node{{Op: "LabelEncoder", Domain: mlDomain, Outputs: []string{"w"}, Attributes: []Attribute{{Name: "keys_tensor", Type: AttrTensor, Value: outside}}}}},
			"strings stand elsewhere than in string_data"},
		{Graph{Nodes: []Node{{Op: "Constant", Outputs: []string{"w"}, Attributes: []Attribute{{Name: "value_strings", Value: []string{"a", "b"}}}}}}, ""},
	} {
		c.g.Outputs = []ValueInfo{{Name: "w"}}
		m := &Model{IR: 10, Opsets: []Opset{{"", 21}, {mlDomain, 4}}, Graph: &c.g}
		if err := m.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
