package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// some returns a receipt that has every field.
func some() *Receipt {
	d := func(s string) Digest { return sha256.Sum256([]byte(s)) }
	return &Receipt{
		Kind: Model, Rules: Rules,
		Program:  Program{Graph: d("graph"), Weights: []Item{{"bias", "float32[4]", d("bias")}, {"weight \"1\"\n\u2028<é>\x7f\x01", "float32[]", d("w")}}},
		Profile:  Profile{Mode: Exact, Fixed: "fp16x16", Opsets: []Opset{{"", 13}, {"ai.onnx.ml", 3}}, Operators: []string{"own.Op"}},
		Inputs:   []Item{{"x", "float32[1,3]", d("x")}},
		Outputs:  []Item{{"y", "int64[1]", d("y")}, {"z", "string[2]", d("z")}},
		Seeds:    []Seed{{`node 1 "r" (RandomNormal)`, "attribute", "3"}, {"node 2", "output name", "77"}},
		Sampling: &Sampling{d("settings"), d("tokens")},
		Nodes: []Node{{"node 0 (Abs)", []Item{{"a", "float32[1,3]", d("a")}}}, {"node 1: body: iteration 0: node 0 (Add)", nil},
			{"node 2 (Split)", []Item{{"b", "float32[1,1]", d("b")}, {"c", "float32[1,2]", d("c")}}}},
	}
}

func encoded(t *testing.T, r *Receipt) []byte {
	t.Helper()
	b, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	for i := range 4 {
		r := some()
		if i&1 > 0 {
			r.Nodes = nil
		}
		if i&2 > 0 {
			r.Sampling = nil
		}
		b := encoded(t, r)
		got, err := Parse(append(b, '\n'))
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if d := got.Check(); d != nil {
			t.Error(d)
		}
		if again := encoded(t, got); !bytes.Equal(again, b) {
			t.Errorf("got\n%s\nwant\n%s", again, b)
		}
		if d, err := Compare(r, got); d != nil || err != nil {
			t.Errorf("%v, %v", d, err)
		}
		// Canonical: sorted, which encoding/json does with maps, and without spaces.
		var m any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		var w bytes.Buffer
		e := json.NewEncoder(&w)
		e.SetEscapeHTML(false)
		if err := e.Encode(m); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(strings.TrimSuffix(w.String(), "\n"), `\u2028`, "\u2028"); string(b) != want {
			t.Errorf("got\n%s\nwant\n%s", b, want)
		}
	}
}

// The root doesn't depend on the nodes, and on all else.
func TestRoots(t *testing.T) {
	r := some()
	want := r.Root()
	if r.Nodes = nil; r.Root() != want {
		t.Error("the root depends on the nodes")
	}
	if r.Outputs[0].Digest[31] ^= 1; r.Root() == want {
		t.Error("the root doesn't depend on an output")
	}
}

// The tree is that of RFC 6962: MTH of the first k leaves, k the largest power of two below n, and of the rest.
func TestTree(t *testing.T) {
	var mth func(leaves [][]byte) Digest
	mth = func(leaves [][]byte) Digest {
		switch n := len(leaves); n {
		case 0:
			return sha256.Sum256(nil)
		case 1:
			return sha256.Sum256(append([]byte{0}, leaves[0]...))
		default:
			k := 1
			for 2*k < n {
				k *= 2
			}
			l, r := mth(leaves[:k]), mth(leaves[k:])
			return sha256.Sum256(append(append([]byte{1}, l[:]...), r[:]...))
		}
	}
	var leaves [][]byte
	var made Tree
	for n := range 70 {
		if got, want := made.Root(), mth(leaves); got != want {
			t.Errorf("%d leaves: %v, want %v", n, got, want)
		}
		leaf := []byte(fmt.Sprint("leaf ", n))
		leaves = append(leaves, leaf)
		made.Add(leaf)
	}
}

// Every field counts for Compare, and is named.
func TestCompare(t *testing.T) {
	for want, change := range map[string]func(r *Receipt){
		"the fixed-point format differs: fp16x16 and nothing":                    func(r *Receipt) { r.Profile.Fixed = "" },
		`opset 0 differs: "" version 13 and "" version 14`:                       func(r *Receipt) { r.Profile.Opsets[0].Version = 14 },
		"own operator 0 differs: own.Op and nothing":                             func(r *Receipt) { r.Profile.Operators = nil },
		`input "x" differs: float32[1,3] `:                                       func(r *Receipt) { r.Inputs[0].Digest[3] ^= 4 },
		`input "x" differs: `:                                                    func(r *Receipt) { r.Inputs[0].Type = "float32[3,1]" },
		`the name of input 0 differs: x and q`:                                   func(r *Receipt) { r.Inputs[0].Name = "q" },
		`weight "bias" differs`:                                                  func(r *Receipt) { r.Program.Weights[0].Digest[0]++ },
		`weight "weight \"1\"`:                                                   func(r *Receipt) { r.Program.Weights = r.Program.Weights[:1] },
		"the graph differs":                                                      func(r *Receipt) { r.Program.Graph[9] ^= 1 },
		"seed 0 differs: 3 by attribute of node 1 \"r\" (RandomNormal) and 4 by": func(r *Receipt) { r.Seeds[0].Seed = "4" },
		"node 2 (Split): result \"c\" differs":                                   func(r *Receipt) { r.Nodes[2].Results[1].Digest[0]++; r.Outputs[0].Digest[0]++ },
		"the order of nodes differs: node 2":                                     func(r *Receipt) { r.Nodes = r.Nodes[:2] },
		"output \"z\" differs":                                                   func(r *Receipt) { r.Outputs[1].Digest[0]++ },
		"output \"y\" differs":                                                   func(r *Receipt) { r.Nodes, r.Outputs[0].Digest = nil, Digest{} },
		"the digest of the tokens":                                               func(r *Receipt) { r.Sampling.Tokens[0]++ },
		"the digest of the sampling settings":                                    func(r *Receipt) { r.Sampling = nil },
		"receipt: the receipts are of versions":                                  func(r *Receipt) { r.Rules++ },
		"receipt: one receipt is of a model, the ":                               func(r *Receipt) { r.Kind = Plan },
	} {
		r := some()
		change(r)
		d, err := Compare(some(), r)
		got := fmt.Sprint(err)
		if d != nil {
			got = d.String()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Two lists whose texts are the same when they are joined differ.
func TestCompareOfLists(t *testing.T) {
	a, b := some(), some()
	a.Profile.Opsets, b.Profile.Opsets = []Opset{{"a", 1}, {"b", 2}}, []Opset{{"a 1} {b", 2}}
	if d, err := Compare(a, b); err != nil || d == nil || d.What != "opset 0" {
		t.Errorf("%v, %v", d, err)
	}
	a, b = some(), some()
	a.Profile.Operators, b.Profile.Operators = []string{"a b"}, []string{"a", "b"}
	if d, err := Compare(a, b); err != nil || d == nil || d.What != "own operator 0" {
		t.Errorf("%v, %v", d, err)
	}
	b.Profile.Operators, b.Profile.Mode = a.Profile.Operators, Integers
	if d, err := Compare(a, b); err != nil || d == nil || d.What != "the mode" {
		t.Errorf("%v, %v", d, err)
	}
}

// Errors name what is wrong.
func TestParseErrors(t *testing.T) {
	good := string(encoded(t, some()))
	for _, c := range []struct{ from, to, want string }{
		{`{"ashlar_receipt":1`, `{"ashlar_receipt":2`, "byte 18: the receipt is of version 2; this program reads version 1"},
		{`"kind":"model"`, `"kind":"modal"`, `the kind "modal" isn't known`},
		{`"mode":"exact"`, `"mode":"fast"`, `the mode "fast" isn't known; want "exact" or "integers"`},
		{`"mode":"exact"`, `"mode":"integers"`, `the mode "integers" is of models, and has no fixed-point format`},
		{`"kind":`, `"kinds":`, `there is no field "kinds" in receipts of version 1`},
		{`"kind":"model",`, `"kind":"model","new":{"deep":[[[[]]]]},`, `there is no field "new"`},
		{`"kind":"model",`, `"kind":"model","kind":"model",`, `the field "kind" stands twice or out of order`},
		{`"kind":"model",`, ``, `the field "kind" is missing`},
		{`"name":"x"`, `"name": "x"`, `want "`},
		{`"name":"x"`, `"name":"\u0078"`, "the string isn't escaped as RFC 8785 wants it"},
		{`"name":"x"`, "\"name\":\"\xff\"", "the string isn't UTF-8"},
		{`"name":"x"`, `"name":"\ud800"`, "no escape of JSON"},
		{`"version":13`, `"version":13.0`, "want a whole number"},
		{`"version":13`, `"version":9007199254740992`, "want a whole number"},
		{`"version":13`, `"version":-1`, "want a whole number"},
		{`"inputs":[{`, `"inputs":{`, "want ["},
		{`"inputs":[{"digest":"`, `"inputs":[{"digest":"A`, "want a digest"},
		{`,"seeds"`, `,,"seeds"`, `the field "seeds" is missing`},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("no %s in %s", c.from, good)
		}
		_, err := Parse([]byte(strings.Replace(good, c.from, c.to, 1)))
		if e := new(Error); !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.to, c.from, err, c.want)
		}
	}
	for n := range len(good) {
		if _, err := Parse([]byte(good[:n])); err == nil {
			t.Errorf("the first %d bytes are read", n)
		}
	}
	for _, b := range []string{"", "null", "[]", "{}", good + " ", good + "{}", " " + good, good + "\n\n", strings.Repeat("[", 1<<20), `{"inputs":` + strings.Repeat("[", 1<<20)} {
		if _, err := Parse([]byte(b)); err == nil {
			t.Errorf("%.40q is read", b)
		}
	}
	if _, err := Parse(make([]byte, MaxSize+1)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	if b := strings.Replace(good, `"nodes":{"list":[`, `"nodes":{"list":[],"old":[`, 1); true {
		if _, err := Parse([]byte(b)); err == nil {
			t.Error("a list of nodes without nodes is read")
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	r := some()
	r.Inputs[0].Name = "\xff"
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
	r = some()
	r.Profile.Opsets[0].Version = 1 << 53
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "want a whole number") {
		t.Error(err)
	}
	r = some()
	r.Profile.Operators = make([]string, MaxNodes+1)
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "a list has more than 262144 items") {
		t.Error(err)
	}
	r = some()
	r.Nodes = make([]Node, MaxNodes+1)
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "leave the nodes out") {
		t.Error(err)
	}
}

// TestMemory reads and checks receipts that are one string, or many. All that they take together, freed or not, is at most nine
// times the file and 1 MiB.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	for _, s := range []string{"x", "\\", "\x01", "é", "\U0001F600", "\n"} {
		for _, set := range []func(r *Receipt, s string){
			func(r *Receipt, s string) { r.Kind = s },
			func(r *Receipt, s string) { r.Profile.Fixed = s },
			func(r *Receipt, s string) { r.Inputs[0].Name = s },
			func(r *Receipt, s string) { r.Nodes[0].Node = s },
			func(r *Receipt, s string) {
				for i := 0; i < len(s)-60; i += 60 {
					r.Profile.Operators = append(r.Profile.Operators, strings.ToValidUTF8(s[i:i+60], ""))
				}
			},
		} {
			r := some()
			set(r, strings.Repeat(s, size/len(s)))
			r.root, r.tree = r.Root(), r.NodesRoot()
			b := put(nil, r.fields())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := Parse(b)
			var d *Difference
			if err == nil {
				d = got.Check()
			}
			runtime.ReadMemStats(&after)
			if d != nil || err != nil && !strings.Contains(err.Error(), "the kind") {
				t.Errorf("%q: %v, %v", s, d, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+9*uint64(len(b)) {
				t.Errorf("%q: a receipt of %d bytes takes %d", s, len(b), took)
			}
		}
	}
}

// One bit of a file that differs is an error of Parse or of Check, and never passes.
func TestMutations(t *testing.T) {
	b := encoded(t, some())
	r := rand.New(rand.NewPCG(1, 2))
	byCheck := 0
	for range 1000 {
		at, bit := r.IntN(len(b)), r.IntN(8)
		m := bytes.Clone(b)
		m[at] ^= 1 << bit
		got, err := Parse(m)
		if err == nil {
			byCheck++
		}
		if err == nil && got.Check() == nil {
			t.Errorf("bit %d of byte %d, in …%.60s…, isn't found", bit, at, m[max(0, at-30):])
		}
	}
	if byCheck < 100 {
		t.Errorf("only %d mutations got as far as Check", byCheck)
	}
}

func FuzzParse(f *testing.F) {
	b, _ := some().Encode()
	f.Add(b)
	r := some()
	r.Nodes, r.Sampling = nil, nil
	b, _ = r.Encode()
	f.Add(b)
	c := &Certificate{Rule: &Rule{Seed: 3, Runs: 1, Inputs: []Range{{"x", "float32[2]", "0", "1"}}}, Runs: []Receipt{*some()}}
	b, _ = c.Encode()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ParseCertificate(b); err == nil {
			again, err := c.Encode()
			if err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), bytes.TrimSuffix(b, []byte("\n"))) {
				t.Fatalf("read %s, wrote %s, %v", b, again, err)
			}
		}
		r, err := Parse(b)
		if err != nil {
			if r != nil || !reflect.TypeFor[*Error]().AssignableTo(reflect.TypeOf(err)) {
				t.Fatalf("%v, %T", r, err)
			}
			return
		}
		root, tree := r.root, r.tree
		again := put(nil, r.fields())
		if !bytes.Equal(again, bytes.TrimSuffix(b, []byte("\n"))) {
			t.Fatalf("read %s, wrote %s", b, again)
		}
		whole, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if (r.Check() == nil) != (bytes.Equal(whole, again)) {
			t.Fatalf("Check: %v; roots %v and %v", r.Check(), root, tree)
		}
	})
}

// A certificate goes through a file unchanged. A file with other contents than its roots say is refused.
func TestCertificateFile(t *testing.T) {
	c := &Certificate{Rule: &Rule{Seed: 3, Runs: 2, Inputs: []Range{{"x", "float32[2]", "0", "1e-3"}}}, Runs: []Receipt{*some(), *some()}, Missed: []string{"node 4"}}
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseCertificate(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read.Encode(); err != nil || !bytes.Equal(again, b) || read.Runs[1].Root() != some().Root() || read.Rule.Inputs[0].To != "1e-3" {
		t.Errorf("%s, %v, want %s", again, err, b)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"ashlar_certificate":1`, `"ashlar_certificate":2`, "is of version 2"},
		{`"runs":2`, `"runs":-2`, "want a whole number"},
		{`"version":13`, `"version":14`, "run 0: the root"},
		{`"mode":"exact"`, `"mode":"fast"`, `the mode "fast" isn't known`},
		{`{"ashlar_certificate"`, `{"a":1,"ashlar_certificate"`, `there is no field "a"`},
	} {
		if _, err := ParseCertificate(bytes.Replace(b, []byte(c.from), []byte(c.to), 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for _, empty := range []string{"", "{}", `{"ashlar_certificate":1,"missed":[],"runs":[]}`} {
		if _, err := ParseCertificate([]byte(empty)); err == nil {
			t.Errorf("%q is a certificate", empty)
		}
	}
}
