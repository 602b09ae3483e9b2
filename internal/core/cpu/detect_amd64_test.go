//go:build amd64 && !purego

package cpu

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Linux lists what it found out by itself.
func TestAgainstLinux(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	var name, vendor string
	var flags []string
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "vendor_id":
			vendor = strings.TrimSpace(value)
		case "model name":
			name = strings.Join(strings.Fields(value), " ")
		case "flags":
			flags = strings.Fields(value)
		}
	}
	want := Generic
	has := func(f string) bool { return slices.Contains(flags, f) }
	if has("avx2") && has("fma") && has("f16c") {
		want = AVX2
		if has("avx512f") && has("avx512cd") && has("avx512bw") && has("avx512dq") && has("avx512vl") {
			want = AVX512
		}
	}
	if Detect() != want {
		t.Errorf("detected %v, Linux says %v", Detect(), want)
	}
	if IsIntel() != (vendor == "GenuineIntel") {
		t.Errorf("IsIntel is %v, Linux says %q", IsIntel(), vendor)
	}
	// A virtual machine may run on another processor than the one that its kernel saw when it started.
	if name != "unknown" && !has("hypervisor") && Name() != name {
		t.Errorf("the name is %q, Linux says %q", Name(), name)
	}
}

func TestName(t *testing.T) {
	if name := Name(); name == "" || strings.TrimSpace(name) != name {
		t.Errorf("%q", name)
	}
}
