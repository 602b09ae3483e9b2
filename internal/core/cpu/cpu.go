// Package cpu selects the instruction set of the kernels. It is the best one of the processor that the build has kernels for, or a lower
// one that the environment asks for.
//
// ASHLAR_CPU sets the highest level in use. Its values are generic, avx2 and avx512 on amd64, and generic, neon, dot and i8mm on arm64.
// Results are the same bits at every level. A value that isn't one of the processor's and build's is an error, which Err returns: commands
// end with it, and onnx.NewSession returns it. Operators alone can't: they go on with the best level. The build tag purego leaves Generic
// alone.
package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Level is an instruction set of kernels. A higher level includes the lower ones. Each architecture counts its own levels from 1 on.
type Level uint8

const (
	Generic Level = iota // plain Go
	AVX2                 // amd64: AVX2, FMA, F16C
	AVX512               // amd64: AVX2's and AVX-512 F, CD, BW, DQ, VL

	NEON Level = 1 // arm64: all its processors have it
	Dot  Level = 2 // arm64: NEON and dot products of bytes (FEAT_DotProd)
	I8MM Level = 3 // arm64: Dot and products of matrices of bytes (FEAT_I8MM)
)

// String returns the level's value of ASHLAR_CPU.
func (l Level) String() string {
	if int(l) < len(names) {
		return names[l]
	}
	return fmt.Sprintf("cpu.Level(%d)", uint8(l))
}

// An Error is the reason why ASHLAR_CPU was not followed.
type Error struct {
	Value string // of ASHLAR_CPU
	Best  Level  // the best level of the processor and the build
}

func (e *Error) Error() string {
	return fmt.Sprintf("ASHLAR_CPU=%q: this processor and build have %s", e.Value, strings.Join(names[:e.Best+1], ", "))
}

var (
	best         = detect()
	current, err = choose(os.Getenv("ASHLAR_CPU"), best)
)

// choose returns the level for a value of ASHLAR_CPU, which may be empty, on a machine whose best level is best.
func choose(value string, best Level) (Level, error) {
	if value == "" {
		return best, nil
	}
	i := slices.Index(names, value)
	if i < 0 || Level(i) > best {
		return best, &Error{Value: value, Best: best}
	}
	return Level(i), nil
}

// Detect returns the highest level of the processor, the operating system and the build. It ignores ASHLAR_CPU.
func Detect() Level { return best }

// Current returns the level in use. It was chosen when the program began and doesn't change.
func Current() Level { return current }

// Err returns an *Error when ASHLAR_CPU has a value that can't be followed, else nil.
func Err() error { return err }
