//go:build !purego && !windows

package cpu

import "golang.org/x/sys/cpu"

func hasI8MM() bool { return cpu.ARM64.HasI8MM }
