package text

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestTables makes tables.txt anew by the oracle, and compares. It runs with -cases alone, as it asks about every code point.
func TestTables(t *testing.T) {
	o := newOracle(t)
	if *cases == 0 {
		t.Skip("the oracle takes minutes for all code points: run with -cases 1")
	}
	want, err := os.ReadFile("tables.txt")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/tables.js", o.root)
	cmd.Stderr = os.Stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(a) != len(b) {
		t.Errorf("the oracle gives %d lines, tables.txt has %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			t.Errorf("line %d is %.200q, tables.txt has %.200q", i+1, a[i], b[i])
		}
	}
}
