package main

import (
	"strings"
	"testing"
	"time"
)

// Every small case runs, and all names are distinct and spelled alike.
func TestCases(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range allCases() {
		if seen[c.name] {
			t.Errorf("%s twice", c.name)
		}
		seen[c.name] = true
		if !strings.HasSuffix(c.name, "/"+c.dtype+"/"+c.size) || c.flop == 0 && c.bytes == 0 {
			t.Errorf("%+v", c)
		}
		if c.size == "128x128" {
			c.setup()()
		}
	}
	for _, name := range []string{"gemm/f32/2048x2048x2048", "bmm/f64/64x64x64x64", "ew/chain/f32/4096x4096", "red/argmax_first/f64/4096x4096",
		"perm/t0231/f32/64x32x128x128", "move/gather_rows/f32/65536x256x16384", "move/concat1/f32/4096x2048", "conv/dw/f32/1x144x56x56x144x3x1"} {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
}

// A call that takes a millisecond is measured as such, one at a time and in batches.
func TestMeasure(t *testing.T) {
	calls := 0
	median, least := measure(func() { calls++; time.Sleep(time.Millisecond) }, 0)
	if median < 1e-3 || least < 1e-3 || least > median || calls != 9 {
		t.Errorf("median %v, least %v, %d calls", median, least, calls)
	}
	if median, _ := measure(func() {}, 0); median > 1e-3 {
		t.Errorf("nothing takes %v s", median)
	}
}

// BenchmarkCases makes as many calls of a case as -benchtime 10x says. Programs that count instructions need that.
func BenchmarkCases(b *testing.B) {
	for _, c := range allCases() {
		b.Run(c.name, func(b *testing.B) {
			call := c.setup()
			call()
			b.ResetTimer()
			for range b.N {
				call()
			}
		})
	}
}
