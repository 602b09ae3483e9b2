//go:build darwin || freebsd || netbsd || openbsd

package main

import (
	"runtime"
	"syscall"
)

// peakUsage is getrusage's ru_maxrss, which counts bytes on macOS and KiB on the BSDs.
func peakUsage() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	n := int64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		n <<= 10
	}
	return n
}
