//go:build !(amd64 || arm64) || purego

package cpu

import "runtime"

var names = []string{Generic: "generic"}

func detect() Level { return Generic }

// Name returns the name of the architecture, as Go writes it.
func Name() string { return runtime.GOARCH }

// Pause is a step of a loop that waits for another processor.
func Pause() {}
