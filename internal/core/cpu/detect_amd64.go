//go:build amd64 && !purego

package cpu

import (
	"encoding/binary"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"
)

var names = []string{Generic: "generic", AVX2: "avx2", AVX512: "avx512"}

// detect returns the highest level that the processor has and whose registers the operating system saves.
func detect() Level {
	x := &cpu.X86
	switch {
	case !(x.HasAVX2 && x.HasFMA && x.HasF16C):
		return Generic
	case !(x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL):
		return AVX2
	}
	return AVX512
}

// HasVNNI reports whether the processor has AVX-512 VNNI. Not all processors with AVX512 have it.
func HasVNNI() bool { return cpu.X86.HasAVX512VNNI }

// cpuid runs the CPUID instruction.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// Pause is a step of a loop that waits for another processor.
func Pause()

// IsIntel reports whether Intel made the processor.
//
// Source: as of Name, leaf 0.
func IsIntel() bool {
	_, b, c, d := cpuid(0, 0)
	return b == 0x756e6547 && d == 0x49656e69 && c == 0x6c65746e // GenuineIntel
}

// Name returns the processor's own name for itself, such as "AMD EPYC 9654 96-Core Processor", or the architecture's
// where it has none.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID, leaves 80000002h to 80000004h.
func Name() string {
	const extended = 0x80000000
	if last, _, _, _ := cpuid(extended, 0); last < extended+4 {
		return runtime.GOARCH
	}
	var brand []byte
	for leaf := uint32(extended + 2); leaf <= extended+4; leaf++ {
		a, b, c, d := cpuid(leaf, 0)
		for _, word := range []uint32{a, b, c, d} {
			brand = binary.LittleEndian.AppendUint32(brand, word)
		}
	}
	text, _, _ := strings.Cut(string(brand), "\x00")
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return runtime.GOARCH
	}
	return text
}
