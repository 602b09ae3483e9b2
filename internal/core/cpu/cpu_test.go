package cpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	last := Level(len(names) - 1)
	for _, c := range []struct {
		value string
		best  Level
		want  Level
		wrong bool
	}{
		{"", Generic, Generic, false},
		{"", last, last, false},
		{"generic", Generic, Generic, false},
		{"generic", last, Generic, false},
		{last.String(), last, last, false},
		{last.String(), last - min(last, 1), last - min(last, 1), last > 0},
		{"sse9", last, last, true},
		{"GENERIC", last, last, true},
	} {
		got, err := choose(c.value, c.best)
		text, want := "", ""
		if c.wrong {
			want = fmt.Sprintf("ASHLAR_CPU=%q: this processor and build have %s", c.value, strings.Join(names[:c.best+1], ", "))
		}
		if err != nil {
			text = err.Error()
			var e *Error
			if !errors.As(err, &e) || e.Value != c.value || e.Best != c.best {
				t.Errorf("%q with %v: the error is %#v", c.value, c.best, err)
			}
		}
		if got != c.want || text != want {
			t.Errorf("%q with %v: got %v, %q; want %v, %q", c.value, c.best, got, text, c.want, want)
		}
	}
}

// The variable is read when the program begins, so the test runs itself with it set.
func TestEnvironment(t *testing.T) {
	if os.Getenv("ASHLAR_CPU_TEST") != "" {
		fmt.Printf("level %v, err %v\n", Current(), Err())
		return
	}
	for value, want := range map[string]string{
		"":        fmt.Sprintf("level %v, err <nil>", Detect()),
		"generic": "level generic, err <nil>",
		"no":      fmt.Sprintf("level %v, err ASHLAR_CPU=%q: this processor and build have generic", Detect(), "no"),
	} {
		self := exec.Command(os.Args[0], "-test.run=^TestEnvironment$", "-test.v")
		self.Env = append(os.Environ(), "ASHLAR_CPU_TEST=1", "ASHLAR_CPU="+value)
		out, err := self.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Skipf("this platform starts no processes: %v", err)
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("ASHLAR_CPU=%s: no %q in\n%s", value, want, out)
		}
	}
}

func TestLevelNames(t *testing.T) {
	if got := fmt.Sprint(Generic, Level(7)); got != "generic cpu.Level(7)" {
		t.Error(got)
	}
}
