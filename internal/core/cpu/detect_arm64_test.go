//go:build !purego

package cpu

import "testing"

func TestNEON(t *testing.T) {
	if got := Detect(); got != NEON || got.String() != "neon" {
		t.Errorf("detected %v", got)
	}
}
