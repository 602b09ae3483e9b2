package ashlar_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// ownImport writes an import of packages of this repository into a fixture.
func ownImport(dirs ...string) string {
	var b strings.Builder
	for _, d := range dirs {
		b.WriteString("import _ \"" + modulePath + "/" + d + "\"\n")
	}
	return b.String()
}

// broken holds, for each rule, small trees that break it and how each message about them begins.
var broken = []struct {
	rule  string
	files map[string]string
	want  []string
}{
	{"imports", map[string]string{
		"layout/a.go":             "package layout\n" + ownImport("num"),
		"layout/a_test.go":        "package layout\n" + ownImport("op"),
		"op/a.go":                 "package op\n" + ownImport("tensor", "layout", "pack"),
		"tensor/a.go":             "package tensor\n" + ownImport("op"),
		"format/npy/a.go":         "package npy\n" + ownImport("tensor", "op", "format/image"),
		"internal/core/walk/a.go": "package walk\n" + ownImport("layout", "num"),
		"draw/a.go":               "package draw\n" + ownImport("tensor", "op"),
		"onnx/a.go":               "package onnx\n" + ownImport("op", "internal/optest"),
		"cmd/ashlar/a.go":         "package main\n" + ownImport("onnx", "draw", "internal/optest"),
		"internal/optest/a.go":    "package optest\n" + ownImport("op", "onnx"),
		"doc.go":                  "package ashlar\n" + ownImport("tensor"),
		"extra/a.go":              "package extra\n",
		"linalg/go.mod":           "module " + modulePath + "/linalg\n",
		"linalg/a.go":             "package linalg\n" + ownImport("tensor", "internal/core/walk"),
		"bench/go.mod":            "module " + modulePath + "/bench\n",
		"bench/a.go":              "package bench\n" + ownImport("op", "internal/bench"),
	}, []string{
		"doc.go:2: the root package imports tensor",
		"draw/a.go:3: draw imports op: of this repository it may import layout, tensor, pack, device only",
		"extra: the import table doesn't know this package",
		"format/npy/a.go:3: format/npy imports op: format/… packages never do",
		"format/npy/a.go:4: format/npy (level 8) imports format/image (level 8)",
		"internal/core/walk/a.go:3: internal/core/walk imports num: of this repository it may import layout, internal/core/modes only",
		"layout/a.go:2: layout (level -2) imports num (level -1)",
		"linalg/a.go:3: linalg imports internal/core/walk",
		"onnx/a.go:3: onnx imports internal/optest, a tool",
		"op/a.go:4: op imports pack: op packages never do",
		"tensor/a.go:2: tensor (level 3) imports op (level 10)",
	}},
	{"dependencies", map[string]string{
		"go.mod":               "module " + modulePath + "\n\nrequire (\n\texample.com/direct v1.0.0\n\texample.com/far v1.0.0 // indirect\n\tgolang.org/x/sys v0.1.0\n)\n",
		"tensor/a.go":          "package tensor\nimport (\n\t\"fmt\"\n\t\"golang.org/x/sys/unix\"\n)\n",
		"mem/a.go":             "package mem\nimport \"golang.org/x/sys/unix\"\n",
		"op/a.go":              "package op\nimport \"example.com/other/pkg\"\n",
		"op/a_test.go":         "package op\nimport \"pgregory.net/rapid\"\n",
		"onnx/a.go":            "package onnx\nimport (\n\t\"google.golang.org/protobuf/proto\"\n\t\"google.golang.org/protobuf/encoding/protowire\"\n)\n",
		"internal/optest/a.go": "package optest\nimport \"pgregory.net/rapid\"\n",
		"cmd/ashlar/a.go":      "package main\nimport \"pgregory.net/rapid\"\n",
	}, []string{
		"cmd/ashlar/a.go:2: cmd/ashlar imports pgregory.net/rapid: the table",
		"go.mod requires example.com/direct:",
		"onnx/a.go:3: onnx imports google.golang.org/protobuf/proto: of protobuf",
		"op/a.go:2: op imports example.com/other/pkg: do without it",
		"tensor/a.go:4: tensor imports golang.org/x/sys/unix: the table",
	}},
	{"dependencies", map[string]string{
		"go.mod": "module " + modulePath + "\n\nrequire example.com/direct v1.0.0\n",
	}, []string{
		"go.mod requires example.com/direct:",
	}},
	{"modules", map[string]string{
		"go.mod":            "module " + modulePath + "\n",
		"go.work":           "go 1.26\n\nuse (\n\t.\n\t./fine\n\t./a/b\n)\n",
		"fine/go.mod":       "module " + modulePath + "/fine\n\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => ../\n",
		"alone/go.mod":      "module " + modulePath + "/alone\n",
		"a/b/go.mod":        "module example.com/b\n\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => ../\n",
		"x/testdata/go.mod": "module example.com/fixture\n",
	}, []string{
		"a/b/go.mod: no replace of the root: add replace " + modulePath + " => ../..",
		"a/b/go.mod: the module isn't called " + modulePath + "/a/b",
		"alone/go.mod: go.work doesn't list the module: add ./alone",
	}},
	{"seeds", map[string]string{
		"op/a_test.go":     "package op\nimport \"pgregory.net/rapid\"\n",
		"op/b_test.go":     "package op\n" + ownImport("internal/seeded"),
		"tensor/a_test.go": "package tensor\nimport \"pgregory.net/rapid\"\n",
	}, []string{
		"tensor/a_test.go:2: rapid draws anew in each run: import internal/seeded in a test of tensor",
	}},
	{"files", map[string]string{
		"op/long.go":         "package op\n" + strings.Repeat("\n", maxLines),
		"op/fits.go":         "package op\n" + strings.Repeat("\n", maxLines-1),
		"op/long_test.go":    "package op\n" + strings.Repeat("\n", maxLines),
		"op/utils.go":        "package op\n",
		"op/common_test.go":  "package op\n",
		"tensor/helper/a.go": "package helper\n",
		"op/commonly.go":     "package op\n",
	}, []string{
		`op/common_test.go: "common" says nothing`,
		"op/long.go has 601 lines, more than 600",
		`op/utils.go: "utils" says nothing`,
		`tensor/helper/a.go: "helper" says nothing`,
	}},
	{"map", map[string]string{
		"doc.go":                  "// Package ashlar is a map:\n//\n//\top/       operators; format/pgm/ is no entry\n//\tgone/     nothing\n//\top/a.go    a\n//\top/b.go    b\n//\tinternal/core/walk/  rows\npackage ashlar\n\nconst X = 1\n",
		"op/a.go":                 "package op\n",
		"op/deep/a.go":            "package deep\n",
		"internal/core/walk/a.go": "package walk\n",
		"internal/core/cpu/a.go":  "package cpu\n",
		"format/pgm/a_test.go":    "package pgm\n",
		"op/testdata/p/a.go":      "package p\n",
	}, []string{
		"doc.go declares something",
		"doc.go doesn't name the folder format/pgm/",
		"doc.go doesn't name the folder internal/core/cpu/",
		"doc.go names gone/",
		"doc.go names op/b.go, which isn't there",
	}},
	{"calls", map[string]string{
		"num/a.go":             "package num\nimport \"math\"\nfunc init() {}\nvar a = float32(math.FMA(1, 2, 3))\nvar b = math.FMA(1, 2, 3) + math.Sqrt(math.Pi) + math.Log(2)\n",
		"op/a.go":              "package op\nimport (\n\tm \"math\"\n\t\"math/cmplx\"\n\t\"unsafe\"\n\t\"reflect\"\n)\nfunc init() {}\nfunc (x T) init() { y := m.Exp; _ = m.FMA(1, 2, 3) }\n",
		"op/a_test.go":         "package op\nimport \"math\"\nvar x = math.Exp(1)\n",
		"tensor/a.go":          "package tensor\nimport (\n\t\"math\"\n\t\"unsafe\"\n)\nfunc init() { panic(math.MaxInt) }\n",
		"internal/optest/a.go": "package optest\nimport \"math\"\nvar x = math.Exp(1)\n",
		"format/npy/a.go":      "package npy\nimport \"unsafe\"\nfunc f() { panic(1) }\n",
		"onnx/a.go":            "package onnx\nimport \"math\"\nfunc f(x float64) float32 { (panic)(2); return float32((math.FMA(x, x, x))) }\n",
	}, []string{
		"format/npy/a.go:2: unsafe is for mem",
		"format/npy/a.go:3: panic in format/npy",
		"num/a.go:3: func init in num",
		"num/a.go:4: float32(math.FMA(…)) rounds twice",
		"num/a.go:5: math.FMA outside internal/core/float",
		"num/a.go:5: math.Log differs between platforms",
		"onnx/a.go:3: float32(math.FMA(…)) rounds twice",
		"onnx/a.go:3: panic in onnx",
		"op/a.go:4: math/cmplx differs between platforms",
		"op/a.go:5: unsafe is for mem",
		"op/a.go:6: reflect in op",
		"op/a.go:8: func init in op",
		"op/a.go:9: math.Exp differs between platforms",
		"op/a.go:9: math.FMA outside internal/core/float",
	}},
	{"typed", map[string]string{
		"op/a.go":     "package op\nimport \"tensor\"\nfunc Add[T any](a tensor.Tensor[T]) {}\ntype Pair struct{ a tensor.Tensor[int] }\nfunc add(a tensor.Tensor[int]) {}\nfunc (p Pair) Add() { var a tensor.Tensor[int] }\n",
		"tensor/a.go": "package tensor\nfunc f(a tensor.Tensor[int]) {}\n",
	}, []string{
		"op/a.go:5: a typed tensor below a façade",
		"op/a.go:6: a typed tensor below a façade",
	}},
	{"words", map[string]string{
		"op/a.go":                 "package op\n\n// TO" + "DO: more\n// method, toDoList, for nowhere\n",
		"docs/a.md":               "It works for n" + "ow.\nSee ../sha" + "red/x.\n",
		"conformance/a.go":        "package main\n\nconst dir = \"../sha" + "red/conformance\"\n",
		".ci/run":                 "ls ../sha" + "red\n# fix" + "me\n",
		"mem/a.s":                 "// not impl" + "emented\n",
		"onnx/testdata/README.md": "a place" + "holder in /wo" + "rk/main\n",
	}, []string{
		`.ci/run:2: "fix` + `me" marks something unfinished`,
		`docs/a.md:1: "for n` + `ow" marks something unfinished`,
		`docs/a.md:2: "../sha` + `red" lies outside the repository`,
		`mem/a.s:1: "not impl` + `emented" marks something unfinished`,
		`onnx/testdata/README.md:1: "/wo` + `rk/" lies outside the repository`,
		`op/a.go:3: "TO` + `DO" marks something unfinished`,
	}},
	{"examples", map[string]string{
		"layout/a.go":            "// Package layout has a comment.\npackage layout\n",
		"layout/example_test.go": "package layout_test\nfunc Example() {\n\t// Output:\n}\n",
		"num/a.go":               "package num\n",
		"num/example_test.go":    "package num_test\nfunc Example() {}\n",
		"internal/optest/a.go":   "package optest\n",
		"op/a.go": "// Package op has a comment.\npackage op\n" +
			"func Add(a, b tensor.Tensor[int]) tensor.Tensor[int] { return a }\n" +
			"func Sub(a, b tensor.Tensor[int]) (tensor.Tensor[int], error) { return a, nil }\n" +
			"func Mul(a, b tensor.Tensor[int]) tensor.Tensor[int] { return a }\n" +
			"func Into(a tensor.Tensor[int]) Option { return Option{} }\n" +
			"func inner() tensor.Tensor[int] { return tensor.Tensor[int]{} }\n",
		"op/example_test.go": "package op_test\nfunc ExampleAdd_wrap() {\n\tf()\n\t// Output: 1\n}\nfunc ExampleMul() {\n\tf()\n}\n",
	}, []string{
		"internal/optest: no package comment",
		"num: no Example with an Output comment",
		"num: no package comment",
		"op/a.go:4: op.Sub has no Example",
		"op/a.go:5: op.Mul has no Example",
	}},
}

// TestRulesCanFail runs each rule on trees that break it and compares all that it says.
func TestRulesCanFail(t *testing.T) {
	for _, r := range rules {
		n := 0
		for _, b := range broken {
			if b.rule != r.name {
				continue
			}
			n++
			fsys := fstest.MapFS{}
			for name, text := range b.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			tr, err := load(fsys)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			got := r.check(tr)
			slices.Sort(got)
			for i := range max(len(got), len(b.want)) {
				if i >= len(got) || i >= len(b.want) || !strings.HasPrefix(got[i], b.want[i]) {
					t.Errorf("%s: got\n%s\nwant lines that begin\n%s", r.name, strings.Join(got, "\n"), strings.Join(b.want, "\n"))
					break
				}
			}
		}
		if n == 0 {
			t.Errorf("rule %s has no tree that breaks it: add one", r.name)
		}
	}
}
