//go:build !purego

package cpu

import "runtime"

var names = []string{Generic: "generic", NEON: "neon"}

// detect has nothing to ask for: Go itself needs NEON.
func detect() Level { return NEON }

// Name returns the name of the architecture, as Go writes it.
func Name() string { return runtime.GOARCH }

// Pause is a step of a loop that waits for another processor.
func Pause() {}
