package onnx

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op/all"
)

// The table of the operators on values.

func init() {
	newer := []int{19, 21, 23, 24, 25}
	for _, f := range slices.Concat(textOps(), partOps(), []*valueOp{
		{name: "If", versions: append([]int{1, 11, 13, 16}, newer...), graphs: []string{"then_branch", "else_branch"},
			least: 1, most: 1, chooses: true, bodies: checkIf, infer: inferIf, run: runIf},
		{name: "Loop", versions: append([]int{1, 11, 13, 16}, newer...), graphs: []string{"body"},
			most: -1, bodies: checkLoop, infer: inferLoop, run: runLoop},
		{name: "Scan", versions: append([]int{8, 9, 11, 16}, newer...), graphs: []string{"body"},
			attrs: []string{"num_scan_inputs", "directions", "scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"},
			most:  -1, bodies: checkScan, infer: inferScan, run: runScan},
		{name: "SequenceMap", versions: []int{17}, graphs: []string{"body"}, least: 1, most: -1, bodies: checkMap, infer: inferMap, run: runMap},
		simple("SequenceEmpty", 0, 0, emptySequence, []string{"dtype"}, 11),
		simple("SequenceConstruct", 1, -1, construct, nil, 11),
		simple("SequenceInsert", 2, 3, insert, nil, 11),
		simple("SequenceErase", 1, 2, erase, nil, 11),
		simple("SequenceAt", 2, 2, sequenceAt, nil, 11),
		simple("SequenceLength", 1, 1, sequenceLength, nil, 11),
		simple("SplitToSequence", 1, 2, splitToSequence, []string{"axis", "keepdims"}, 11, 24),
		simple("ConcatFromSequence", 1, 1, concatFromSequence, []string{"axis", "new_axis"}, 11),
		simple("Optional", 0, 1, optional, []string{"type"}, 15),
		simple("OptionalHasElement", 0, 1, hasElement, nil, 15, 18),
		simple("OptionalGetElement", 1, 1, getElement, nil, 15, 18),
	}) {
		valueOps[keyOf(f.domain, f.name, "")] = f
	}
}

// textOps are the operators on strings and maps, and the forms for strings of operators of package op.
func textOps() (list []*valueOp) {
	never := func(*Node) bool { return false }
	for _, o := range all.Operators() {
		if m := about(o).Moves; m != (plan.Moves{}) {
			f := computed(o.Name(), 0, -1, func(k *valueCall) ([]Value, error) { return k.move(m) }, nil)
			f.domain, f.asks = o.Domain(), never
			list = append(list, f)
		}
	}
	distinct := computed("Unique", 0, -1, (*valueCall).unique, nil)
	distinct.asks = never
	pass := simple("Identity", 1, 1, func(k *valueCall) (Value, error) { return k.in[0], nil }, nil)
	pass.asks, pass.any = never, true
	cast := func(name string, compute func(k *valueCall) (Value, error), versions ...int) *valueOp {
		f := simple(name, 1, 2, compute, nil, versions...)
		f.asks = func(n *Node) bool {
			a := n.Attr("to")
			return a != nil && a.Value == int64(ElemString)
		}
		return f
	}
	list = append(list, distinct, pass, cast("Cast", castStrings, 6, 9, 13, 19, 21, 23, 24, 25), cast("CastLike", castStringsLike, 15, 19, 21, 23, 24, 25),
		simple("StringNormalizer", 1, 1, normalizeStrings, []string{"case_change_action", "is_case_sensitive", "locale", "stopwords"}, 10),
		simple("StringConcat", 2, 2, concatStrings, nil, 20),
		computed("StringSplit", 1, 1, splitStrings, []string{"delimiter", "maxsplit"}, 20),
		simple("RegexFullMatch", 1, 1, matchStrings, []string{"pattern"}, 20),
	)
	return append(list, mlOps()...)
}

func mlOps() []*valueOp {
	mapper := relabelled("CategoryMapper", categories, []string{"cats_int64s", "cats_strings", "default_int64", "default_string"}, 1)
	mapper.asks = nil // it always has strings
	list := []*valueOp{
		simple("ZipMap", 1, 1, zipMap, []string{"classlabels_int64s", "classlabels_strings"}, 1),
		simple("DictVectorizer", 1, 1, vectorize, []string{"int64_vocabulary", "string_vocabulary"}, 1),
		simple("CastMap", 1, 1, castMap, []string{"cast_to", "map_form", "max_map"}, 1),
		mapper,
		relabelled("LabelEncoder", encoded, []string{"classes_strings", "default_string", "keys_strings", "values_strings"}, 1, 2, 4),
		relabelled("OneHotEncoder", func(k *valueCall) (*labelling, error) { return k.given0("cats_strings", "cats_int64s") }, nil, 1),
		relabelled("LinearClassifier", func(k *valueCall) (*labelling, error) { return k.classes("classlabels_ints") }, nil, 1),
		relabelled("SVMClassifier", func(k *valueCall) (*labelling, error) { return k.classes("classlabels_ints") }, nil, 1),
		relabelled("TreeEnsembleClassifier", func(k *valueCall) (*labelling, error) { return k.classes("classlabels_int64s") }, nil, 1, 3),
	}
	for _, f := range list {
		f.domain = mlDomain
	}
	return append(list, relabelled("TfIdfVectorizer", func(k *valueCall) (*labelling, error) { return k.given0("pool_strings", "pool_int64s") }, nil, 9))
}

// partOps are the operators of ownDomain.
func partOps() []*valueOp {
	parts := []*valueOp{
		simple("Widen", 1, 1, widened, nil, 1),
		simple("ChannelsFirst", 1, 1, func(k *valueCall) (Value, error) { return turned(k, -1, 1) }, nil, 1),
		simple("ChannelsLast", 1, 1, func(k *valueCall) (Value, error) { return turned(k, 1, -1) }, nil, 1),
		simple("AddSame", 2, 2, addedSame, nil, 1),
	}
	for _, f := range parts {
		f.domain = ownDomain
	}
	return append(parts,
		&valueOp{name: "Apply", domain: ownDomain, versions: []int{1}, graphs: []string{"body"}, least: 1, most: -1, bodies: checkApply, infer: inferApply, run: runApply})
}
