package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/receipt"
)

// The results at every level that this processor and build have are those of
// digests.txt. The level is chosen when a program begins, so the test runs itself.
func TestLevels(t *testing.T) {
	const only = "ASHLAR_SAME_RUN"
	if os.Getenv(only) != "" {
		lines, taken, results, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if results < 1000 {
			t.Errorf("%d results", results)
		}
		if !compare(os.Stdout, lines, digests) {
			t.Error("go run ./internal/same -v prints all; after a change that is meant to change results: go run -tags purego ./internal/same -update")
		}
		if was := changed(cells, taken); was != nil {
			t.Errorf("cases that were there at version %d of the rules give other results: raise receipt.Rules, then -update\n%s", version(cells), strings.Join(was, "\n"))
		}
		if taken != cells {
			t.Error("cells.txt isn't as it would be written: go run -tags purego ./internal/same -update")
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

// A case that changes is found, a new one and one that is gone aren't a change; the version is the first line's.
func TestChanged(t *testing.T) {
	const old = "rules 3\nAbs float32 0:12ab 1:34cd L0:56ef\nAdd int8 0:0000\n"
	for new, want := range map[string]string{
		old: "",
		"rules 3\nAbs float32 0:12ab 1:34cd 2:7777 L0:56ef\nAbs int8 0:9999\nAdd int8 0:0000\nSub int8 0:1111\n": "",
		"rules 3\nAbs float32 0:12ab\n":                                 "",
		"rules 3\nAbs float32 0:12ab 1:34ce L0:56ee\nAdd int8 0:0000\n": "Abs float32 case 1: 34ce, was 34cd; Abs float32 case L0: 56ee, was 56ef",
	} {
		if got := strings.Join(changed(old, new), "; "); got != want {
			t.Errorf("%q: %s, want %s", new, got, want)
		}
	}
	if version(old) != 3 || version("") != 0 {
		t.Error(version(old), version(""))
	}
	if version(cells) != receipt.Rules {
		t.Errorf("cells.txt is of version %d of the rules, receipt.Rules is %d: go run -tags purego ./internal/same -update", version(cells), receipt.Rules)
	}
}
