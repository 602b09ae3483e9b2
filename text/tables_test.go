package text

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
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
	version, err := exec.Command("node", "-p", "process.versions.unicode").Output()
	if err != nil {
		t.Fatal(err)
	}
	clusters := strings.TrimSpace(string(version)) == "17.0"
	if !clusters {
		t.Logf("lines of grapheme clusters aren't compared: they come from node's own Unicode, which is %s, not 17.0", version)
	}
	cmd := exec.Command("node", "testdata/tables.js", o.root)
	cmd.Stderr = os.Stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	slices.SortFunc(a, bytes.Compare) // a line begins with its name, and the order of names is none of the oracle's
	slices.SortFunc(b, bytes.Compare)
	if len(a) != len(b) {
		t.Errorf("the oracle gives %d lines, tables.txt has %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) && (clusters || !bytes.HasPrefix(b[i], []byte("grapheme-"))) {
			t.Errorf("line %d is %.200q, tables.txt has %.200q", i+1, a[i], b[i])
		}
	}
}
