//go:build linux && amd64 && !purego

package simd

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/ashlar-go/ashlar/internal/cpu"
)

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type number interface{ integer | float32 | float64 }

// canonical is the rule for computed NaNs.
func canonical[T number](v T) T {
	if v == v {
		return v
	}
	if _, ok := any(v).(float32); ok {
		return fromBits[T](0x7fc00000)
	}
	return fromBits[T](0x7ff8000000000000)
}

// checked has the names of the functions that tests compared, all levels as one.
var checked = make(map[string]bool)

func check2[R, T any](t *testing.T, name string, f func(dst []R, a, b []T), want func(a, b T) R) {
	t.Helper()
	if f == nil {
		return // not at this level; TestAllChecked sees to it that it is at one
	}
	checked[name] = true
	t.Run(name, func(t *testing.T) {
		compare(t, 2, func(dst []R, in [3][]T) { f(dst, in[0], in[1]) }, func(in [3]T) R { return want(in[0], in[1]) })
	})
}

func plus[T number](a, b T) T { return canonical(a + b) }

func TestRows2(t *testing.T) {
	levels(t, func(t *testing.T, l cpu.Level) {
		check2(t, "addI8", Add[l].I8, plus[int8])
		check2(t, "addI16", Add[l].I16, plus[int16])
		check2(t, "addI32", Add[l].I32, plus[int32])
		check2(t, "addI64", Add[l].I64, plus[int64])
		check2(t, "addF32", Add[l].F32, plus[float32])
		check2(t, "addF64", Add[l].F64, plus[float64])
	})
}

// TestMain wants every function that the tables list to have been compared.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && cpu.Detect() == cpu.AVX512 && flag.Lookup("test.run").Value.String() == "" {
		text, err := os.ReadFile("tables_amd64.go")
		if err != nil {
			panic(err)
		}
		for _, f := range regexp.MustCompile(`[ {](\w+)AVX(?:2|512)\b`).FindAllStringSubmatch(string(text), -1) {
			if !checked[f[1]] {
				fmt.Println("FAIL: no test compares", f[1])
				code = 1
			}
		}
	}
	os.Exit(code)
}
