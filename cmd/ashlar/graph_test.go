package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if c.code != 0 || !strings.Contains(c.out.String(), "Conv+Relu conv1") || !strings.Contains(c.out.String(), "relu1 float32 (2,16,8,8):(1024,64,8,1)") || !strings.Contains(c.out.String(), "in maxpool1") {
		t.Errorf("%d: %s%s", c.code, &c.out, &c.err)
	}
	var line infoLine
	c = newCall(nil).with("info", model, "--plan", "--shape", "image=2x1x8x8", "--json")
	if err := json.Unmarshal(c.out.Bytes(), &line); err != nil || len(line.Model.Plan) != 7 || line.Model.Plan[3].Results[0].In != "maxpool1" || line.Model.Plan[0].Nodes[1].Op != "Relu" {
		t.Errorf("%v: %s", err, &c.out)
	}
	if c = newCall(nil).with("info", model, "--plan"); c.code != 1 || !strings.Contains(c.err.String(), "--shape image=Nx1x8x8") {
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
