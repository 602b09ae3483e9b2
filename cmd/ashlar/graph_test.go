package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
)

func TestInfoPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.svg")
	c := newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", file)
	b, err := os.ReadFile(file)
	if c.code != 0 || err != nil || !strings.Contains(string(b), ">MaxPool<") || !strings.Contains(c.out.String(), "10 nodes") {
		t.Errorf("exit %d, %v: %s%s", c.code, err, c.out.String(), c.err.String())
	}
	if c = newCall(nil).with("info", "../../testdata/digits.onnx", "--svg", "-"); c.code != 0 || c.out.String() != string(b) {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
	for _, args := range [][]string{{"info", "../../testdata/digits.onnx", "../../testdata/digits.onnx", "--svg", file}, {"info", "graph_test.go", "--svg", file}} {
		if c := newCall(nil).with(args...); c.code == 0 || c.err.Len() == 0 {
			t.Errorf("%v: exit %d", args, c.code)
		}
	}
}

// --plan lists the steps of a run, as text and as JSON; sizes must be known, and files that are no models have none.
func TestInfoPlan(t *testing.T) {
	model := "../../testdata/digits.onnx"
	c := newCall(nil).with("info", model, "--plan", "--shape", "image=2x1x8x8")
	if c.code != 0 || !strings.Contains(c.out.String(), "Conv+Relu conv1") || !strings.Contains(c.out.String(), "relu1 float32 (2,16,8,8):(1024,") || !strings.Contains(c.out.String(), "in maxpool1") {
		t.Errorf("%d: %s%s", c.code, &c.out, &c.err)
	}
	var line infoLine
	c = newCall(nil).with("info", model, "--plan", "--shape", "image=2x1x8x8", "--json")
	if err := json.Unmarshal(c.out.Bytes(), &line); err != nil || len(line.Model.Plan) != 7 || line.Model.Plan[3].Results[0].In != "maxpool1" || line.Model.Plan[0].Nodes[1].Op != "Relu" {
		t.Errorf("%v: %s", err, &c.out)
	}
	if got := line.Model.Plan[3].Results[0]; got.Layout != "" || len(got.Shape) != 2 {
		t.Errorf("a view has the layout %q and the shape %v", got.Layout, got.Shape)
	}
	if c = newCall(nil).with("info", model, "--plan"); c.code != 1 || !strings.Contains(c.err.String(), "--shape image=1x1x8x8") {
		t.Errorf("%d: %s", c.code, &c.err)
	}
	if c = newCall(nil).with("info", "../../testdata/digits-test.npy", "--plan"); c.code != 2 || !strings.Contains(c.err.String(), "--plan are about models") {
		t.Errorf("%d: %s", c.code, &c.err)
	}
	t.Setenv("ASHLAR_PASSES", "none")
	if c = newCall(nil).with("info", model, "--plan", "--shape", "image=2x1x8x8"); c.code != 0 || strings.Contains(c.out.String(), "Conv+Relu") {
		t.Errorf("%d: %s%s", c.code, &c.out, &c.err)
	}
}

// --integers lists the steps of a run on integers, and says so, as text, as JSON and in the picture.
func TestInfoPlanIntegers(t *testing.T) {
	inRoot(t)
	dir := makeFiles(t)
	args := []string{"info", filepath.Join(dir, "quantized.onnx"), "--plan", "--shape", "x=1x2"}
	const step = "MatMul+2 DequantizeLinear+QuantizeLinear"
	c := newCall(nil).with(append(args, "--integers")...)
	if c.code != 0 || !strings.Contains(c.out.String(), "planned on integers") || !strings.HasSuffix(c.out.String(), "\nintegers  100.0 % of the operations of Conv, Gemm and MatMul\n") || !strings.Contains(c.out.String(), ", keeps ") || !strings.Contains(c.out.String(), step) {
		t.Errorf("exit %d: %s%s", c.code, &c.out, &c.err)
	}
	if c = newCall(nil).with(args...); c.code != 0 || strings.Contains(c.out.String(), "integers  ") || strings.Contains(c.out.String(), "on integers") {
		t.Errorf("exit %d: %s%s", c.code, &c.out, &c.err)
	}
	if c = newCall(nil).with(append(args, "--integers", "--svg", "-")...); c.code != 0 || !strings.Contains(c.out.String(), ">planned on integers") || !strings.Contains(c.out.String(), ">"+step+"<") {
		t.Errorf("exit %d: %s%s", c.code, &c.out, &c.err)
	}
	var line infoLine
	c = newCall(nil).with(append(args, "--integers", "--json")...)
	if err := json.Unmarshal(c.out.Bytes(), &line); err != nil || len(line.Model.Plan) != 3 || !line.Model.Plan[1].Integers || line.Model.Plan[1].Kept == 0 || line.Model.Integers == nil || *line.Model.Integers != (infoIntegers{4, 4}) || line.Model.Plan[0].Kept > 0 || line.Model.Plan[0].Integers {
		t.Errorf("%v: %s", err, &c.out)
	}
}

// With --plan the picture has the steps, of a model from standard input as well.
func TestInfoPlanPicture(t *testing.T) {
	model := "../../testdata/digits.onnx"
	file := filepath.Join(t.TempDir(), "steps.svg")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(bytes.NewReader(data)).with("info", "-", "--plan", "--shape", "image=2x1x8x8", "--svg", file)
	b, err := os.ReadFile(file)
	if c.code != 0 || err != nil || !strings.Contains(c.out.String(), "Conv+Relu conv1") {
		t.Fatalf("exit %d, %v: %s%s", c.code, err, &c.out, &c.err)
	}
	for _, text := range []string{">Conv+Relu<", ">relu1 float32[2,16,8,8]<", ">4096 bytes, in maxpool1<", ">float32[2,1,8,8]<", ">float32[2,10]<"} {
		if !strings.Contains(string(b), text) {
			t.Errorf("no %s in %s", text, b)
		}
	}
	if c = newCall(nil).with("info", model, "--plan", "--svg", "-"); c.code != 1 || !strings.Contains(c.err.String(), "--shape image=1x1x8x8") {
		t.Errorf("%d: %s", c.code, &c.err)
	}
	chain := onnx.NewBuilder("long")
	x := chain.Input("x", dtype.Float32, 2)
	y := x
	for range 1000 {
		y = chain.Node("Add", []string{y, x})
	}
	chain.OutputOf(y, onnx.Type{})
	texts := onnx.NewBuilder("strings")
	texts.OutputOf(texts.Node("Identity", []string{texts.InputOf("s", onnx.Type{Kind: onnx.KindTensor, Elem: onnx.ElemString, HasShape: true, Shape: []onnx.Dim{{Value: -1}}})}), onnx.Type{})
	for want, b := range map[string]*onnx.Builder{"; ashlar convert --inputs and --outputs takes a part": chain, "s string[?] is no tensor of numbers; leave --plan out": texts} {
		m, err := b.Model(20)
		if err != nil {
			t.Fatal(err)
		}
		data, err := onnx.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if c := newCall(bytes.NewReader(data)).with("info", "-", "--plan", "--svg", "-"); c.code != 1 || !strings.Contains(c.err.String(), want) {
			t.Errorf("exit %d: %s", c.code, &c.err)
		}
	}
}
