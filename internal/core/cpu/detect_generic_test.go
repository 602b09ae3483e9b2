//go:build !(amd64 || arm64) || purego

package cpu

import (
	"runtime"
	"testing"
)

func TestGeneric(t *testing.T) {
	if Detect() != Generic || Name() != runtime.GOARCH {
		t.Errorf("detected %v on %q", Detect(), Name())
	}
}
