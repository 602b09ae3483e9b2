//go:build !purego

package cpu

import (
	"encoding/binary"
	"os"
	"testing"
)

// Linux hands each program its processor's features in the auxiliary vector.
//
// Source: arch/arm64/include/uapi/asm/hwcap.h and include/uapi/linux/auxvec.h of Linux.
func TestAgainstLinux(t *testing.T) {
	b, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		t.Skip(err)
	}
	of := make(map[uint64]uint64)
	for ; len(b) >= 16; b = b[16:] {
		of[binary.LittleEndian.Uint64(b)] = binary.LittleEndian.Uint64(b[8:])
	}
	want := NEON
	if of[16]>>20&1 == 1 { // AT_HWCAP, HWCAP_ASIMDDP
		want = Dot
		if of[26]>>13&1 == 1 { // AT_HWCAP2, HWCAP2_I8MM
			want = I8MM
		}
	}
	if Detect() != want {
		t.Errorf("detected %v, Linux says %v", Detect(), want)
	}
	if name := os.Getenv("ASHLAR_CPU_WANT"); name != "" && Detect().String() != name {
		t.Errorf("detected %v, want %s", Detect(), name)
	}
}
