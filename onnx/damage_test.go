package onnx

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/tensor"
)

// seedFiles are small models over many operators.
func seedFiles(t testing.TB) (files [][]byte) {
	for _, build := range []func(b *Builder){
		residual,
		func(b *Builder) {
			x := b.Input("x", dtype.Float32, "n", 1, 6, 6)
			x = b.Node("Conv", []string{x, b.Weight("k", tensor.Full[float32](1, 2, 1, 3, 3).Any())}, IntsAttr("pads", 1, 1, 1, 1), IntsAttr("strides", 2, 1))
			x = b.Node("MaxPool", []string{x}, IntsAttr("kernel_shape", 2, 2))
			x = b.Node("Transpose", []string{x}, IntsAttr("perm", 0, 2, 3, 1))
			x = b.Node("Reshape", []string{x, b.Weight("s", tensor.FromSlice([]int64{0, -1}, 2).Any())})
			x = b.Node("Softmax", []string{b.Node("Gemm", []string{x, b.Weight("d", tensor.Full[float32](1, 20, 3).Any())})})
			b.Output(x, dtype.Float32, "n", 3)
		},
		func(b *Builder) {
			x := b.Input("x", dtype.Float32, "n", 4)
			shape := b.Node("Shape", []string{x})
			zeros := b.Node("ConstantOfShape", []string{shape})
			x = b.Node("Concat", []string{x, zeros}, IntAttr("axis", -1))
			x = b.Node("Slice", []string{x, b.Weight("from", tensor.FromSlice([]int64{1}, 1).Any()), b.Weight("to", tensor.FromSlice([]int64{3}, 1).Any())})
			b.Output(b.Node("ReduceSum", []string{b.Node("Unsqueeze", []string{x, b.Weight("axes", tensor.FromSlice([]int64{0}, 1).Any())})}), dtype.Float32)
		},
		func(b *Builder) {
			x := b.Input("x", dtype.Float32, 2)
			y := looped(b, 2, []string{b.Weight("m", count(3)), "", x}, func(b *Builder, v []string) []string {
				next := choose(b, v[1], func(b *Builder) string { return b.Node("Add", []string{v[2], x}) }, func(b *Builder) string { return v[2] })
				return []string{v[1], next, b.Node("Neg", []string{next})}
			})
			b.OutputOf(y[0], Type{})
			b.OutputOf(y[1], Type{})
		},
		func(b *Builder) {
			x := b.Input("x", dtype.Float32, 2, 2)
			parts := b.Node("SplitToSequence", []string{x}, IntAttr("axis", 1))
			part := b.Body("body")
			part.OutputOf(part.Node("Neg", []string{part.InputOf("part", Type{})}), Type{})
			negative := b.Node("SequenceMap", []string{parts}, GraphAttr("body", part))
			row := b.Body("body")
			row.OutputOf(row.Node("Abs", []string{row.InputOf("row", Type{})}), Type{})
			y := b.Node("Scan", []string{b.Node("ConcatFromSequence", []string{negative}, IntAttr("axis", 1))}, GraphAttr("body", row), IntAttr("num_scan_inputs", 1))
			b.OutputOf(b.Node("OptionalGetElement", []string{b.Node("Optional", []string{y})}), Type{})
		},
	} {
		b := NewBuilder("seed")
		build(b)
		m, err := b.Model(17)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	files = append(files, externalModel(t, "location", "w", "offset", "4", "length", "12"))
	for _, m := range []*Model{functionSeed(), textSeed(t), forestSeed(t), sparseModel(t, sparseOf(t, "w", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{0, 1, 1, 2}, 2, 2)), false)} {
		file, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// textSeed is a model of strings and maps.
func textSeed(t testing.TB) *Model {
	b := NewBuilder("text")
	b.Import("ai.onnx.ml", 4)
	x := b.InputOf("x", Type{Kind: KindTensor, Elem: ElemString, HasShape: true, Shape: []Dim{{Value: 2}}})
	lower := b.Node("StringNormalizer", []string{x}, StringAttr("case_change_action", "LOWER"))
	parts := b.Nodes("StringSplit", 2, []string{b.Node("StringConcat", []string{lower, x})}, StringAttr("delimiter", "b"))
	b.OutputOf(b.Node("RegexFullMatch", []string{parts[0]}, StringAttr("pattern", "a+")), Type{})
	codes := b.Node("ai.onnx.ml.LabelEncoder", []string{lower}, StringsAttr("keys_strings", "a", "b"), FloatsAttr("values_floats", 1, 2))
	zip := b.Node("ai.onnx.ml.ZipMap", []string{codes}, StringsAttr("classlabels_strings", "p", "q"))
	b.OutputOf(zip, Type{})
	b.OutputOf(b.Node("Cast", []string{parts[1]}, IntAttr("to", int64(ElemString))), Type{})
	b.OutputOf(b.Node("TfIdfVectorizer", []string{lower}, StringsAttr("pool_strings", "a", "b"), IntsAttr("ngram_counts", 0), IntsAttr("ngram_indexes", 0, 1),
		IntAttr("min_gram_length", 1), IntAttr("max_gram_length", 1), IntAttr("max_skip_count", 0), StringAttr("mode", "TF")), Type{})
	m, err := b.Model(20)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// forestSeed is a model of trees, a support vector machine and a linear classifier.
func forestSeed(t testing.TB) *Model {
	b := NewBuilder("forest")
	b.Import("ai.onnx.ml", 3)
	x := b.Node("ai.onnx.ml.Scaler", []string{b.Input("x", dtype.Float32, 2, 2)}, FloatsAttr("offset", 0.5), FloatsAttr("scale", 2))
	for _, name := range b.Nodes("ai.onnx.ml.TreeEnsembleClassifier", 2, []string{x}, IntsAttr("nodes_treeids", 0, 0, 0), IntsAttr("nodes_nodeids", 0, 1, 2),
		IntsAttr("nodes_featureids", 0, 0, 0), StringsAttr("nodes_modes", "BRANCH_LEQ", "LEAF", "LEAF"), FloatsAttr("nodes_values", 0.5, 0, 0),
		IntsAttr("nodes_truenodeids", 1, 0, 0), IntsAttr("nodes_falsenodeids", 2, 0, 0), IntsAttr("class_treeids", 0, 0), IntsAttr("class_nodeids", 1, 2),
		IntsAttr("class_ids", 0, 1), FloatsAttr("class_weights", 1, 1), StringsAttr("classlabels_strings", "p", "q"), StringAttr("post_transform", "SOFTMAX")) {
		b.OutputOf(name, Type{})
	}
	for _, name := range b.Nodes("ai.onnx.ml.SVMClassifier", 2, []string{x}, StringAttr("kernel_type", "RBF"), FloatsAttr("kernel_params", 0.5, 0, 3),
		FloatsAttr("support_vectors", 1, 2, 3, 4), IntsAttr("vectors_per_class", 1, 1), FloatsAttr("coefficients", 1, -1), FloatsAttr("rho", 0.1),
		FloatsAttr("prob_a", -1), FloatsAttr("prob_b", 0), IntsAttr("classlabels_ints", 0, 1)) {
		b.OutputOf(name, Type{})
	}
	for _, name := range b.Nodes("ai.onnx.ml.LinearClassifier", 2, []string{x}, FloatsAttr("coefficients", 1, 2, 3, 4), FloatsAttr("intercepts", 0, 1), IntsAttr("classlabels_ints", 5, 6)) {
		b.OutputOf(name, Type{})
	}
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// functionSeed is a model of functions that call each other, hand attributes and graphs on, and hold an If and a Loop.
func functionSeed() *Model {
	named := func(name string) []ValueInfo { return []ValueInfo{{Name: name}} }
	loop := &Graph{Inputs: []ValueInfo{{Name: "i"}, {Name: "go"}, {Name: "s"}}, Outputs: []ValueInfo{{Name: "go"}, {Name: "t"}},
		Nodes: []Node{callOf("", "Scale", []string{"s", "v"}, []string{"t"}, Attribute{Name: "by", Type: AttrFloat, Ref: "by"})}}
	then := &Graph{Nodes: []Node{callOf("", "Scale", []string{"x"}, []string{"a"})}, Outputs: named("a")}
	return modelWith([]Node{callOf("c", "Both", []string{"x"}, []string{"z"}, FloatAttr("by", 0.5), Attribute{Name: "g", Type: AttrGraph, Value: then}),
		callOf("", "Swish", []string{"z"}, []string{"y"})},
		scaleFn, Function{Name: "Both", Inputs: []string{"v"}, Outputs: []string{"w"}, Attributes: []string{"by", "g"}, Nodes: []Node{
			nodeFor("Constant", nil, []string{"n"}, IntAttr("value_int", 2)),
			nodeFor("Cast", []string{"n"}, []string{"yes"}, IntAttr("to", 9)),
			nodeFor("Loop", []string{"n", "yes", "v"}, []string{"u"}, Attribute{Name: "body", Type: AttrGraph, Value: loop}),
			nodeFor("If", []string{"yes"}, []string{"k"}, Attribute{Name: "then_branch", Type: AttrGraph, Ref: "g"}, Attribute{Name: "else_branch", Type: AttrGraph, Ref: "g"}),
			nodeFor("Add", []string{"u", "k"}, []string{"w"})}},
		Function{Name: "Swish", Inputs: []string{"x"}, Outputs: []string{"y"}, Nodes: []Node{
			nodeFor("Sigmoid", []string{"x"}, []string{"s"}), nodeFor("Mul", []string{"x", "s"}, []string{"y"})}})
}

// runFile decodes and runs a file on inputs of zeros, and returns the first error.
func runFile(t *testing.T, file []byte) error {
	m, err := DecodeIn(file, fstest.MapFS{"w": {Data: data123}})
	if err != nil {
		return err
	}
	checked := m.Check()
	s, err := NewSession(m)
	if err != nil {
		if checked == nil {
			t.Errorf("Check passes, NewSession refuses: %v", err)
		}
		return err
	}
	inputs := make(map[string]Value)
	for _, v := range m.Inputs() {
		if t := &v.Type; t.Kind == KindTensor && t.Elem == ElemString && len(t.Shape) == 1 && 0 <= t.Shape[0].Value && t.Shape[0].Value <= 64 {
			inputs[v.Name] = StringsValue([]int{int(t.Shape[0].Value)}, slices.Repeat([]string{"aB"}, int(t.Shape[0].Value))...)
			continue
		}
		d := guess(&v.Type).a
		if d.IsZero() || size(d) > 1<<16 {
			return nil
		}
		a, err := tensor.Make(d.DType(), d.Shape()...)
		if err != nil {
			t.Fatal(err)
		}
		inputs[v.Name] = TensorValue(a)
	}
	ctx := ended.After(1_000_000)
	_, err = s.RunValues(ctx, inputs, &Options{MaxMemory: 1 << 20, MaxIterations: 1000})
	if ctx.Err() != nil {
		t.Error("the run looks at its context without end")
	}
	return err
}

// A good file runs; cut short anywhere, or with one bit turned over, it gives an error or another result, and asks
// for no more memory than it may.
func TestDamagedFiles(t *testing.T) {
	for _, file := range seedFiles(t) {
		if err := runFile(t, file); err != nil {
			t.Fatal(err)
		}
		for n := range file {
			if err := runFile(t, file[:n]); err == nil {
				t.Errorf("the first %d bytes of %d run", n, len(file))
			}
		}
		for i := range file {
			for bit := range 8 {
				if !*lengthy && (i+bit)%4 > 0 { // two bits of each byte
					continue
				}
				bad := slices.Clone(file)
				bad[i] ^= 1 << bit
				before := allocated()
				err := runFile(t, bad)
				if got := allocated() - before; got > 64<<20 {
					t.Errorf("byte %d, bit %d: %d bytes allocated (%v)", i, bit, got, err)
				}
			}
		}
	}
}

// FuzzRun looks for models that make a run panic, or last, where it should give an error.
func FuzzRun(f *testing.F) {
	for _, file := range seedFiles(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) { runFile(t, file) })
}
