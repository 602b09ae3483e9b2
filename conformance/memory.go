package main

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/mem"
)

// memory watches how much the process holds, where Linux tells.
type memory struct {
	idle  int64
	known bool // the high-water mark could be reset
}

// start gives back all memory that can be given back, and notes the rest.
func (m *memory) start() {
	mem.SetBound(mem.SetBound(0)) // lets go of the memory that the arena keeps for reuse
	debug.FreeOSMemory()
	// Sets the high-water mark to the present; see proc(5), clear_refs.
	m.known = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
	m.idle = status("VmRSS:")
}

// peak returns the largest resident size since start, above the size then;
// 0 where it can't be known.
func (m *memory) peak() int64 {
	if high := status("VmHWM:"); m.known && high > 0 {
		return high - m.idle
	}
	return 0
}

// status reads a line of /proc/self/status in bytes.
func status(name string) int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
