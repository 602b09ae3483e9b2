package main

import (
	"os"
	"strconv"
	"strings"
)

// peakMemory returns the most bytes that the process has had in memory, files it maps included, or 0 where the system
// doesn't say. Linux: VmHWM of /proc/self/status, see proc(5); getrusage's figure would include the program that started
// this one.
func peakMemory() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return peakUsage()
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
