package show

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

func sectionOf(b []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
}

func TestVerify(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "digits.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := Open("digits.onnx", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := onnx.NewSession(f.model)
	if err != nil {
		t.Fatal(err)
	}
	image := tensor.RandomUniform[float32](1, 0, 1, 2, 1, 8, 8).Any()
	file := func(a tensor.Any) *io.SectionReader {
		var w bytes.Buffer
		if err := npy.Write(&w, a, nil); err != nil {
			t.Fatal(err)
		}
		return sectionOf(w.Bytes())
	}
	both := func(a tensor.Any) *io.SectionReader {
		var w bytes.Buffer
		if err := npy.WriteZip(&w, []string{"other", "image"}, []tensor.Any{tensor.Scalar(1.5).Any(), a}, nil); err != nil {
			t.Fatal(err)
		}
		return sectionOf(w.Bytes())
	}
	var r receipt.Receipt
	if _, err := s.Run(context.Background(), map[string]tensor.Any{"image": image}, &onnx.Options{Receipt: &r, ReceiptNodes: true}); err != nil {
		t.Fatal(err)
	}
	encoded := func(r receipt.Receipt) *io.SectionReader {
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return sectionOf(b)
	}
	good := encoded(r)
	node, weight, rules, plan := r, r, r, r
	node.Nodes = append([]receipt.Node(nil), r.Nodes...)
	node.Nodes[3].Results = []receipt.Item{{Name: r.Nodes[3].Results[0].Name, Type: r.Nodes[3].Results[0].Type}}
	weight.Program.Weights = append([]receipt.Item(nil), r.Program.Weights...)
	weight.Program.Weights[0].Digest[0] ^= 1
	rules.Rules++
	plan.Kind = receipt.Plan
	other := image.Clone()
	x, _ := tensor.As[float32](other)
	x.Set(7, 1, 0, 3, 3)
	for _, c := range []struct {
		name  string
		files map[string]*io.SectionReader
		want  string // the answer and what is said
	}{
		{"equal", map[string]*io.SectionReader{"r.json": good, "image.npy": file(image)}, "equal: "},
		{"by another name", map[string]*io.SectionReader{"r.json": good, "a.npy": file(image)}, "equal: "},
		{"of several", map[string]*io.SectionReader{"R.JSON": good, "a.npz": both(image)}, "undecided: onnx: there is no input \"other\""},
		{"no input", map[string]*io.SectionReader{"r.json": good}, "model: image float32[2,1,8,8]"},
		{"another input", map[string]*io.SectionReader{"r.json": good, "image.npy": file(other)}, `differs: input "image"`},
		{"a node", map[string]*io.SectionReader{"r.json": encoded(node), "image.npy": file(image)}, "differs: node 3 "},
		{"a weight, no input", map[string]*io.SectionReader{"r.json": encoded(weight)}, `differs: weight "`},
		{"rules", map[string]*io.SectionReader{"r.json": encoded(rules)}, "undecided: it is of version 2"},
		{"a plan", map[string]*io.SectionReader{"r.json": encoded(plan)}, "undecided: it is of a computation over arrays"},
		{"no receipt", map[string]*io.SectionReader{"image.npy": file(image)}, "there is no receipt"},
		{"no JSON", map[string]*io.SectionReader{"r.json": sectionOf([]byte("{}"))}, "r.json: receipt: byte 1: "},
		{"no array", map[string]*io.SectionReader{"r.json": good, "image.npy": sectionOf([]byte("text"))}, "image.npy: inputs are npy, npz or safetensors files"},
	} {
		var order []string
		for name := range c.files {
			order = append(order, name)
		}
		v, err := f.Verify(context.Background(), c.files, order)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = v.Answer + ": " + v.What + strings.Join(v.Wants, ", ")
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if err == nil && (v.Root == "" || v.Has == "") {
			t.Errorf("%s: %+v", c.name, v)
		}
		if c.name == "a node" && (v.Value == "" || len(v.Sides) != 2) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	if _, err := (&File{}).Verify(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "open the ONNX file") {
		t.Error(err)
	}
}
