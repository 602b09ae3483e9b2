package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/onnx"
)

// Strings and maps come and go as JSON.
func TestRunOnStrings(t *testing.T) {
	text := onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemString}
	b := onnx.NewBuilder("text")
	b.Import("ai.onnx.ml", 1)
	x := b.InputOf("x", text)
	m := b.InputOf("m", onnx.Type{Kind: onnx.KindMap, Elem: onnx.ElemString, Of: &onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemFloat32}})
	b.OutputOf(b.Rename(b.Node("StringConcat", []string{x, b.Strings("k", nil, "!")}), "loud"), text)
	row := b.Node("ai.onnx.ml.DictVectorizer", []string{m}, onnx.StringsAttr("string_vocabulary", "b", "a"))
	b.OutputOf(b.Rename(b.Node("ai.onnx.ml.ZipMap", []string{row}, onnx.IntsAttr("classlabels_int64s", 7, 8)), "maps"), onnx.Type{})
	model, err := b.Model(20)
	if err != nil {
		t.Fatal(err)
	}
	file, err := onnx.Encode(model)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path, mapFile := write("m.onnx", string(file)), write("m.json", `{"a":1,"c":2}`)
	for _, c := range []struct{ x, want string }{
		{`[["a","b<"]]`, "loud string[1,2]\n[[\"a!\",\"b<!\"]]\nmaps sequence of 1: map of 2: int64 to float32\n{\"7\":0,\"8\":1}\n"},
		{`"a"`, "loud string[]\n\"a!\"\n"},
		{`[]`, "loud string[0]\n[]\n"},
		{`[["a"],["b","c"]]`, "as many elements each"},
		{`[1]`, "where a string must stand"},
		{`{`, "the input takes strings, as JSON"},
	} {
		call := newCall(bytes.NewReader(nil)).with("run", path, write("x.json", c.x), "-i", "m="+mapFile)
		if got := call.out.String() + call.err.String(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.x, got, c.want)
		}
	}
	call := newCall(bytes.NewReader(nil)).with("run", "--json", path, write("x.json", `["a"]`), "-i", "m="+mapFile)
	if got, want := call.out.String(), `"outputs":[{"name":"loud","dtype":"string","shape":[1],"values":["a!"],"omitted":0}`; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
