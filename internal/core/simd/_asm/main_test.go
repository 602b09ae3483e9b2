package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestNEON wants each kernel of amd64 to have a form for NEON, or a reason why it has none.
func TestNEON(t *testing.T) {
	for _, o := range outputs {
		if o.rows == nil {
			if (o.neon == nil) == (o.notNEON == "") {
				t.Errorf("%s has neither kernels with NEON nor a reason, or both", o.name)
			}
			continue
		}
		assembly, err := os.ReadFile(filepath.Join("..", o.name+"_arm64.s"))
		if err != nil {
			t.Error(err)
		}
		for _, k := range o.rows() {
			if has := bytes.Contains(assembly, []byte("TEXT ·"+k.function(k.field, neonLevel)+"(SB)")); has != (k.notNEON == "") && k.table != "FastTanh" {
				t.Errorf("%s of %s: a kernel with NEON: %t; the reason for none: %q", k.table, k.field, has, k.notNEON)
			}
		}
	}
}

// TestCheckedIn wants the files of internal/core/simd to be what go run . writes.
func TestCheckedIn(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s isn't what the generator writes (%v): run go run . in internal/core/simd/_asm", name, err)
		}
	}
}
