package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// The results at every level that this processor and build have are those of
// digests.txt. The level is chosen when a program begins, so the test runs itself.
func TestLevels(t *testing.T) {
	const only = "ASHLAR_SAME_RUN"
	if os.Getenv(only) != "" {
		lines, results, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if results < 1000 {
			t.Errorf("%d results", results)
		}
		if !compare(os.Stdout, lines, digests) {
			t.Error("go run ./internal/same -v prints all; after a change that is meant to change results: go run -tags purego ./internal/same -update")
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for level := cpu.Generic; level <= cpu.Detect(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(exe, "-test.run=^TestLevels$")
			cmd.Env = append(os.Environ(), only+"=1", "ASHLAR_CPU="+level.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A digest that differs, an operator too many and one too few are seen.
func TestCompare(t *testing.T) {
	const ours = "Abs 1\nAdd 2\n"
	for theirs, want := range map[string]string{
		ours:                     "",
		"Abs 1\nAdd 3\n":         `Add: digest 2, want "3"`,
		"Abs 1\n":                `Add: digest 2, want ""`,
		"Abs 1\nAdd 2\nZero 3\n": "Zero: in digests.txt, but no operator",
	} {
		var b strings.Builder
		if ok := compare(&b, ours, theirs); ok != (want == "") || strings.TrimSpace(b.String()) != want {
			t.Errorf("%q: %v, %q", theirs, ok, b.String())
		}
	}
}
