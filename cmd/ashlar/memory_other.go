//go:build !(darwin || freebsd || netbsd || openbsd)

package main

// peakUsage has no source on these systems, except for the file that peakMemory reads on Linux.
func peakUsage() int64 { return 0 }
