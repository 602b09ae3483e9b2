package onnx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func TestResolveErrors(t *testing.T) {
	type n = Node
	weights := func(names ...string) (list []TensorProto) {
		for _, s := range names {
			list = append(list, TensorProto{Name: s})
		}
		return list
	}
	value := func(names ...string) (list []ValueInfo) {
		for _, s := range names {
			list = append(list, ValueInfo{Name: s})
		}
		return list
	}
	for _, c := range []struct {
		name string
		g    Graph
		want string
	}{
		{"cycle", Graph{Nodes: []n{{Op: "A", Inputs: []string{"y"}, Outputs: []string{"x"}}, {Name: "back", Op: "B", Inputs: []string{"x"}, Outputs: []string{"y"}}}},
			`node 0 (A): input 0 "y" comes from node 1 "back" (B), which itself waits for this node: a cycle`},
		{"long cycle", Graph{Nodes: []n{{Op: "A", Inputs: []string{"z"}, Outputs: []string{"x"}}, {Op: "B", Inputs: []string{"x"}, Outputs: []string{"y"}}, {Op: "C", Inputs: []string{"y"}, Outputs: []string{"z"}}}},
			`node 0 (A): input 0 "z" comes from node 2 (C), which itself waits for this node: a cycle`},
		{"own output", Graph{Nodes: []n{{Op: "A", Inputs: []string{"", "x"}, Outputs: []string{"x"}}}}, `node 0 (A): input 1 "x" is an output of the node itself`},
		{"missing", Graph{Nodes: []n{{Name: "first", Op: "A", Inputs: []string{"y"}, Outputs: []string{"x"}}}}, `node 0 "first" (A): input 0 "y" is given a value by no node, input or initializer`},
		{"twice by nodes", Graph{Nodes: []n{{Op: "A", Outputs: []string{"x"}}, {Op: "B", Outputs: []string{"x"}}}},
			`node 1 (B): value "x" is given by node 0 (A) and again by node 1 (B); a value is given once`},
		{"twice by a node", Graph{Nodes: []n{{Op: "A", Outputs: []string{"x", "x"}}}}, `value "x" is given by node 0 (A) and again by node 0 (A)`},
		{"input given again", Graph{Inputs: value("x"), Nodes: []n{{Op: "A", Outputs: []string{"x"}}}}, `value "x" is given by input 0 and again by node 0 (A)`},
		{"two inputs", Graph{Inputs: value("x", "x")}, `value "x" is given by input 0 and again by input 1`},
		{"two weights", Graph{Initializers: weights("w", "w")}, `value "w" is given by initializer 0 and again by initializer 1`},
		{"two weights for an input", Graph{Inputs: value("w"), Initializers: weights("w", "w")}, `value "w" is given by input 0 and again by initializer 1`},
		{"nameless input", Graph{Inputs: value("")}, `input 0 has no name`},
		{"no outputs", Graph{Inputs: value("x")}, `the graph has no outputs`},
		{"long names", Graph{Nodes: []n{{Name: strings.Repeat("n", 1e6), Op: "A", Inputs: []string{strings.Repeat("x", 1e6)}}}},
			`node 0 "` + strings.Repeat("n", 100) + `" (A): input 0 "` + strings.Repeat("x", 100) + `" is given a value by no node`},
		{"missing output", Graph{Inputs: value("x"), Outputs: value("x", "y")}, `output 1 "y" is given a value by no node, input or initializer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := resolve(&c.g); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// Values go after their last use, and inputs, weights and outputs never do.
func TestLifetimes(t *testing.T) {
	b := NewBuilder("g")
	x := b.Input("x", dtype.Float32)
	w := b.Weight("w", tensor.New[float32](2).Any())
	a := b.Node("Relu", []string{x})
	c := b.Node("Add", []string{a, w})
	d := b.Node("Add", []string{a, c})
	b.Node("Relu", []string{d}) // nobody reads it
	e := b.Node("Add", []string{d, d})
	b.Output(e, dtype.Float32)
	m, err := b.Model(13)
	if err != nil {
		t.Fatal(err)
	}
	p, err := resolve(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{nil, nil, {"add1", "relu1"}, {"relu2"}, {"add2"}}
	for i, s := range p.steps {
		var got []string
		for _, id := range s.drop {
			got = append(got, p.names[id])
		}
		slices.Sort(got)
		if !slices.Equal(got, want[i]) {
			t.Errorf("step %d drops %v, want %v", i, got, want[i])
		}
	}
}

// Everything that is missing is in one list, with the place, the operator and the reason.
func TestCheckLists(t *testing.T) {
	str := pb{}.packed(1, 1).int(2, 99).str(6, "a")
	branch := func(op, in string) pb {
		return pb{}.bytes(1, nodeOf(op, in, "inner")).bytes(12, valueOf("inner", nil))
	}
	graph := pb{}.str(2, "g").
		bytes(11, valueOf("x", tensorType(1, 2))).bytes(11, valueOf("names", tensorType(99, 2))).bytes(11, valueOf("list", pb{}.bytes(4, pb{}.bytes(1, tensorType(99))))).
		bytes(5, pb{}.packed(1, 2).int(2, 22).packed(5, 0x21).str(8, "quarter")).
		bytes(5, pb{}.packed(1, 2).int(2, 1).int(14, 1).bytes(13, pb{}.str(1, "location").str(2, "w.bin")).str(8, "far")).
		bytes(1, nodeOf("Frobnicate", "x", "a").str(3, "f")).
		bytes(1, nodeOf("If", "x", "b", pb{}.str(1, "then_branch").bytes(6, branch("Relu", "x")).int(20, 5), pb{}.str(1, "else_branch").bytes(6, branch("Frobnicate", "a")).int(20, 5))).
		bytes(1, nodeOf("FusedGelu", "x", "c").str(7, "com.microsoft")).
		bytes(1, nodeOf("Relu", "x", "d", pb{}.str(1, "leak").f32(2, 1).int(20, 1))).
		bytes(1, nodeOf("Equal", "x", "e").str(1, "x")).
		bytes(1, nodeOf("Relu", "e", "r")).
		bytes(1, pb{}.str(2, "k").str(4, "Constant").bytes(5, pb{}.str(1, "value").bytes(5, str).int(20, 4))).
		bytes(1, nodeOf("Frobnicate", "a", "y")).
		bytes(12, valueOf("y", tensorType(1)))
	m := mustDecode(t, modelOf(graph))
	err := m.Check()
	var u *UnsupportedError
	if !errors.As(err, &u) || !errors.Is(err, ErrUnsupported) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`input "names": its type is element type 99[2]`,
		`input "list": its type is sequence(element type 99[])`,
		`initializer "far": elements in another file ("w.bin"), of an unknown folder; Open, OpenFS and DecodeIn know it`,
		`node 0 "f" (Frobnicate, opset 13): ONNX has no operator of this name up to opset 28`,
		`node 1 (If, opset 13): else_branch: node 0 (Frobnicate, opset 13): ONNX has no operator of this name up to opset 28`,
		`node 2 (com.microsoft.FusedGelu, opset 1): no operator of this library or the program, and no function of the model, has this name; the domain is ONNX Runtime's`,
		`node 3 (Relu, opset 13): attribute "leak" isn't known`,
		`node 6 (Constant, opset 13): element type element type 99`,
		`node 7 (Frobnicate, opset 13): ONNX has no operator of this name up to opset 28`,
		`node 1 (If, opset 13): input 0: dtype: it is float32[2]; a condition is one bool`,
		`node 5 (Relu, opset 13): op.Relu: is not defined for bool; convert the operand with op.Cast`,
	}
	var got []string
	for _, e := range u.List {
		got = append(got, e.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 1+len(want) || lines[0] != "onnx: 11 unsupported:" {
		t.Errorf("as text:\n%v", err)
	}
	if _, err := NewSession(m); !errors.As(err, &u) || len(u.List) != len(want) {
		t.Errorf("NewSession: %v", err)
	}
}

// A model that contradicts itself is an error about a place, not a list.
func TestCheckErrors(t *testing.T) {
	out := pb{}.bytes(12, valueOf("y", nil))
	node := func(p pb) pb {
		return modelOf(append(pb{}.str(2, "g").bytes(5, pb{}.packed(1, 1).int(2, 1).f32(4, 1).str(8, "w")).bytes(1, p), out...))
	}
	for _, c := range []struct {
		name string
		file pb
		want string
	}{
		{"weight", modelOf(append(pb{}.str(2, "g").bytes(5, pb{}.packed(1, 3).int(2, 1).bytes(9, []byte{1}).str(8, "y")), out...)),
			`onnx: graph "g": initializer "y": raw_data has 1 bytes; float32[3] needs 4 for each of 3 elements`},
		{"attribute twice", node(nodeOf("Relu", "w", "y", pb{}.str(1, "a").int(3, 1).int(20, 2), pb{}.str(1, "a").int(3, 2).int(20, 2))), `onnx: graph "g": node 0 (Relu, opset 13): attribute "a": it is there twice`},
		{"attribute without value", node(nodeOf("Relu", "w", "y", pb{}.str(1, "a"))), `attribute "a": it has no value`},
		{"constant without value", node(pb{}.str(2, "y").str(4, "Constant")), `node 0 (Constant, opset 13): it has 0 attributes, 0 inputs and 1 outputs`},
		{"constant with bad value", node(pb{}.str(2, "y").str(4, "Constant").bytes(5, pb{}.str(1, "value").bytes(5, pb{}.int(2, 1)).int(20, 4))), `node 0 (Constant, opset 13): raw_data has 0 bytes`},
		{"no opset", pb{}.bytes(7, append(pb{}.str(2, "g").bytes(5, pb{}.int(2, 1).f32(4, 1).str(8, "w")).bytes(1, nodeOf("Relu", "w", "y")), out...)), `the model doesn't say which opset its nodes are of`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := mustDecode(t, c.file).Check()
			var u *UnsupportedError
			if err == nil || errors.As(err, &u) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestMeaning(t *testing.T) {
	cos, _ := op.Lookup("Cos")
	for _, c := range []struct {
		name     string
		versions []int
		opset    int64
		want     string // the start; "" if it runs
	}{
		{"Cos", []int{7}, 7, ""},
		{"Cos", []int{7}, 28, ""}, // later versions only add types
		{"Cos", []int{7}, 29, "opset 29 is newer than 28"},
		{"Gelu", []int{20}, 17, "its meaning at opset 17 isn't available, only that of opsets [20]"},
		{"Softmax", []int{1, 11, 13}, 12, ""},
		{"Softmax", []int{1, 11}, 12, ""},
		{"Softmax", []int{1, 11}, 13, "opset 13 changed its meaning; available are those of opsets [1 11]"},
		{"Softmax", []int{13}, 12, "its meaning at opset 12 isn't available, only that of opsets [13]"},
		{"Softmax", []int{13}, 21, ""},
		{"Slice", []int{1, 11, 13}, 10, "opset 10 changed its meaning"},
		{"Slice", []int{1, 10}, 13, ""},
		{"Pad", []int{2, 11, 13}, 17, ""},
		{"Pad", []int{2, 11, 13}, 18, "opset 18 changed its meaning"},
		{"ReduceMean", []int{1, 11, 13, 18}, 22, ""},
		{"ReduceMean", []int{1, 11, 13}, 22, "opset 18 changed its meaning"},
	} {
		got := meaning(cos.As("", c.name, c.versions...), c.opset)
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s of %v at opset %d: %q, want %q", c.name, c.versions, c.opset, got, c.want)
		}
	}
	for name, at := range changed {
		if !slices.IsSorted(at) || at[0] < 7 || at[len(at)-1] > maxOpset {
			t.Errorf("%s changed at %v", name, at)
		}
	}
}

func TestOldOpset(t *testing.T) {
	file := pb{}.int(1, 3).bytes(8, pb{}.int(2, 9)).bytes(7, pb{}.bytes(11, valueOf("x", tensorType(1))).bytes(1, nodeOf("Gelu", "x", "y")).bytes(12, valueOf("y", nil)))
	err := mustDecode(t, file).Check()
	if want := "onnx: unsupported: node 0 (Gelu, opset 9): its meaning at opset 9 isn't available, only that of opsets [20]"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A model that Check lets pass makes a session, and runs, whatever its weights hold and wherever they stand.
func TestCheckedWeights(t *testing.T) {
	passed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3).Draw(t, "n")
		kind := ElemType(rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 10, 11, 12, 13, 14, 15, 16, 17, 21, 22, 23}).Draw(t, "type"))
		weight := pb{}.packed(1, int64(n)).int(2, int64(kind)).str(8, "w")
		size, per := 1, 1
		d, numbers := kind.DType()
		if numbers {
			size, per = d.Size(), d.PerByte()
		}
		num, entries := listOf(kind)
		whole := make([]byte, 0, 64)
		for range (n + per - 1) / per * size {
			whole = append(whole, byte(rapid.SampledFrom([]int{0, 0, 1, 1, 1, 2, 255}).Draw(t, "byte")))
		}
		files := fstest.MapFS{"f": {Data: append([]byte{7}, whole...)}}
		sparse := false
		switch how := rapid.IntRange(0, 3).Draw(t, "storage"); {
		case how == 0:
			weight = weight.bytes(9, whole)
		case how == 1:
			weight = weight.bytes(13, pb{}.str(1, "location").str(2, "f")).bytes(13, pb{}.str(1, "offset").str(2, "1")).int(14, 1)
		case num == 4:
			for range n * entries {
				weight = weight.f32(4, 1)
			}
		case num == 6:
			for range n {
				if rapid.IntRange(0, 5).Draw(t, "wrong") > 0 {
					weight = weight.str(6, "a")
				} else {
					weight = weight.int(6, 3)
				}
			}
		case num == 10:
			weight = weight.bytes(10, make([]byte, 8*n*entries))
		default:
			var list []int64
			for range (n*entries + per - 1) / per {
				list = append(list, rapid.SampledFrom([]int64{0, 1, 1, 1, 2, -1, 127, 128, -128, -129, 255, 256, 1<<15 - 1, 1 << 15, 1 << 16, 1<<31 - 1, 1 << 31, 1 << 32}).Draw(t, "entry"))
			}
			weight = weight.packed(num, list...)
		}
		graph, value := pb{}.str(2, "g"), pb{}.str(1, "value").bytes(5, weight).int(20, 4)
		switch rapid.IntRange(0, 3).Draw(t, "place") {
		case 0:
			graph = graph.bytes(5, weight).bytes(1, nodeOf("Identity", "w", "y"))
		case 1:
			graph = graph.bytes(1, pb{}.str(2, "y").str(4, "Constant").bytes(5, value))
		case 2:
			branch := func(name string) pb {
				b := pb{}.bytes(5, weight).bytes(1, nodeOf("Identity", "w", name)).bytes(12, valueOf(name, nil))
				return pb{}.str(1, name).bytes(6, b).int(20, 5)
			}
			yes := pb{}.packed(1).int(2, 9).str(8, "yes").bytes(9, []byte{1})
			graph = graph.bytes(5, yes).bytes(1, nodeOf("If", "yes", "y", branch("then_branch"), branch("else_branch")))
		default:
			sparse = true
			var at []int64
			for i := range n {
				at = append(at, int64(2*i))
			}
			indices := pb{}.packed(1, int64(n)).int(2, 7).packed(7, at...)
			graph = graph.bytes(15, pb{}.bytes(1, weight).bytes(2, indices).packed(3, 8)).bytes(1, nodeOf("Identity", "w", "y"))
		}
		m, err := DecodeIn(modelOf(graph.bytes(12, valueOf("y", nil))), files)
		if err == nil {
			err = m.Check()
		}
		if err != nil {
			refused++
			return
		}
		passed++
		s, err := NewSession(m)
		if err == nil {
			_, err = s.RunValues(context.Background(), nil, nil)
		}
		if err != nil {
			t.Fatalf("Check passes: %v (%v, sparse %v)", err, kind, sparse)
		}
	})
	if t.Logf("%d models passed, %d refused", passed, refused); passed+refused >= 100 && min(passed, refused) < (passed+refused)/50 {
		t.Error("nearly all are alike")
	}
}
