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
	for _, c := range []struct {
		value string
		best  Level
		want  Level
		err   string
	}{
		{"", Generic, Generic, ""},
		{"", AVX512, AVX512, ""},
		{"generic", Generic, Generic, ""},
		{"generic", AVX512, Generic, ""},
		{"avx2", AVX512, AVX2, ""},
		{"avx2", AVX2, AVX2, ""},
		{"avx512", AVX512, AVX512, ""},
		{"avx512", AVX2, AVX2, "ASHLAR_CPU=avx512: this processor and build have avx2 at most"},
		{"avx2", Generic, Generic, "ASHLAR_CPU=avx2: this processor and build have generic at most"},
		{"sse9", AVX2, AVX2, `ASHLAR_CPU="sse9": not one of generic, avx2, avx512`},
		{"AVX2", AVX512, AVX512, `ASHLAR_CPU="AVX2": not one of generic, avx2, avx512`},
	} {
		got, err := choose(c.value, c.best)
		text := ""
		if err != nil {
			text = err.Error()
			var e *Error
			if !errors.As(err, &e) || e.Value != c.value || e.Best != c.best {
				t.Errorf("%q with %v: the error is %#v", c.value, c.best, err)
			}
		}
		if got != c.want || text != c.err {
			t.Errorf("%q with %v: got %v, %q; want %v, %q", c.value, c.best, got, text, c.want, c.err)
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
		"no":      fmt.Sprintf("level %v, err ASHLAR_CPU=%q: not one of generic, avx2, avx512", Detect(), "no"),
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
	if got := fmt.Sprint(Generic, AVX2, AVX512, Level(7)); got != "generic avx2 avx512 cpu.Level(7)" {
		t.Error(got)
	}
}
