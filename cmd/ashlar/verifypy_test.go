package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPythonReceipt has docs/receipts/verify.py, which knows the documentation alone, check receipts and the files of their values.
func TestPythonReceipt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3: ", err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const model, image = "../../testdata/digits.onnx", "../../testdata/seven.png"
	for _, args := range [][]string{
		{"run", model, image, "--receipt", at("r.json"), "--receipt-nodes", "--all", at("all.npz")},
		{"convert", model, at("weights.npz")},
		{"compute", "mean(x, axis=0)", "-i", "x=../../testdata/digits-test.npy", "--receipt", at("plan.json"), "--receipt-nodes"},
	} {
		if c := newCall(nil).with(args...); c.code != 0 {
			t.Fatalf("%q: %s", args, c.err.String())
		}
	}
	receipt, err := os.ReadFile(at("r.json"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(from, to string) string {
		f, err := os.CreateTemp(dir, "*.json")
		if err == nil {
			_, err = f.Write(bytes.Replace(receipt, []byte(from), []byte(to), 1))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"equal: the roots, and 19 digests of values", []string{at("r.json"), at("all.npz"), at("weights.npz")}},
		{"equal: the roots, and 0 digests of values", []string{at("plan.json")}},
		{"the root differs", []string{change(`"rules":1`, `"rules":2`)}},
		{"the root of the nodes differs", []string{change(`"node":"node 1 `, `"node":"node 9 `)}},
		{"the receipt isn't canonical JSON", []string{change(`,"kind"`, `, "kind"`)}},
	} {
		out, _ := exec.Command(python, append([]string{"../../docs/receipts/verify.py"}, c.args...)...).CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%q: %.300s, want %s", c.args, out, c.want)
		}
	}
}
