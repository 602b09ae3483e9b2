//go:build !purego

package cpu

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

var names = []string{Generic: "generic", NEON: "neon", Dot: "dot", I8MM: "i8mm"}

// detect asks the operating system for the level of the processor. Go itself needs
// NEON.
func detect() Level {
	switch {
	case !cpu.ARM64.HasASIMDDP:
		return NEON
	case !hasI8MM():
		return Dot
	}
	return I8MM
}

// Name returns the name of the architecture, as Go writes it.
func Name() string { return runtime.GOARCH }

// Pause is a step of a loop that waits for another processor.
func Pause() {}
