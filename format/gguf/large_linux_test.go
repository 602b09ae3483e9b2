package gguf

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

// TestLarge opens a file of 2 GB that is a hole behind its header: few of its pages are touched.
func TestLarge(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("a file of 2 GB can't be mapped into an address space of 32 bits")
	}
	path := filepath.Join(t.TempDir(), "large.gguf")
	const rows = 2_000_000_000 / 144
	b := head(2, 0).tensor("x", 12, 0, 256, rows).tensor("last", 0, (144*rows+31)/32*32, 1).pad(32).b
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(b))+(144*rows+31)/32*32+4); err != nil {
		t.Skipf("this file system has no files of 2 GB: %v", err)
	}
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	took := allocated(func() {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := f.Tensor("x", tensor.I(-1), tensor.R(0, 2)); err != nil || !slices.Equal(a.Shape(), []int{2}) {
			t.Fatal(a, err)
		}
		f.Close()
	})
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	faults := after.Minflt - before.Minflt // the whole file has half a million pages, and a fault brings 16 at most
	if took > 64<<20 || faults > 10_000 {
		t.Errorf("%d bytes were allocated, %d faults of pages", took, faults)
	}
	t.Logf("%d bytes were allocated, %d faults of pages", took, faults)
}
