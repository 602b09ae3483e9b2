package main

import (
	"strings"
	"testing"
	"testing/synctest"
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

// A call that takes a millisecond is measured as such, and one of a microsecond in batches.
func TestMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, want := range map[time.Duration]int{time.Millisecond: 9, time.Microsecond: 2 + 7*201} {
			calls := 0
			median, least := measure(func() { calls++; time.Sleep(took) }, 0)
			if s := took.Seconds(); max(median, least)-s > 1e-12 || s-least > 1e-12 || calls != want {
				t.Errorf("median %v, least %v, %d calls of %v", median, least, calls, took)
			}
		}
	})
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
