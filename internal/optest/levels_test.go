package optest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/cpu"
	"github.com/ashlar-go/ashlar/op"
)

const digestsOnly = "ASHLAR_OPTEST_DIGESTS"

// The result doesn't depend on the instruction set: the test runs itself at every
// level there is and compares digests of all results. The level is chosen when a
// program begins.
func TestLevels(t *testing.T) {
	if os.Getenv(digestsOnly) != "" {
		for _, o := range op.All() {
			fmt.Printf("digest %s %s\n", o.Name(), digest(t, o))
		}
		return
	}
	if cpu.Detect() == cpu.Generic {
		t.Skip("this processor or build has plain Go alone")
	}
	want := digests(t, cpu.Generic)
	if len(want) != len(op.All()) {
		t.Fatalf("%d digests of %d operators", len(want), len(op.All()))
	}
	for level := cpu.Generic + 1; level <= cpu.Detect(); level++ {
		for name, got := range digests(t, level) {
			if got != want[name] {
				t.Errorf("%s: the results at level %v aren't those of plain Go", name, level)
			}
		}
	}
}

func digests(t *testing.T, level cpu.Level) map[string]string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestLevels$")
	cmd.Env = append(os.Environ(), digestsOnly+"=1", "ASHLAR_CPU="+level.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("at level %v: %v\n%s", level, err, out)
	}
	m := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "digest" {
			m[f[1]] = f[2]
		}
	}
	return m
}
