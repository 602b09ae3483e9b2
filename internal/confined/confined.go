// Package confined has tests call functions where an allocation of more than 1 GiB fails, and names the call that ends the
// process.
package confined

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	room     = 1 << 30          // bytes that calls may take, all together
	hang     = 60 * time.Second // a call that takes longer has no end
	variable = "ASHLAR_CONFINED"
	finished = "finished"
)

// Each calls f with 0 to n-1 in a process of its own, which runs the test t alone and may take 1 GiB of addresses more than it
// has at its start. On systems other than Linux it may take more. A call that ends the process, as one beyond memory does, or
// that hangs is an error of t with its name, and the others go on in another process. f may use t.
func Each(t *testing.T, n int, name func(i int) string, f func(i int)) {
	t.Helper()
	if file := os.Getenv(variable); file != "" {
		inside(t, file, n, f)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "at")
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	next := 0
	for try := 0; try < 40 && next < n; try++ {
		if err := os.WriteFile(file, []byte(strconv.Itoa(next)), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, args...)
		cmd.Env = append(os.Environ(), variable+"="+file)
		out, failed := cmd.CombinedOutput()
		at, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(at) == finished {
			if failed != nil {
				t.Errorf("%v\n%s", failed, out)
			} else if testing.Verbose() {
				t.Logf("%s", out)
			}
			return
		}
		i, err := strconv.Atoi(string(at))
		if err != nil {
			t.Fatalf("%v, %v\n%s", err, failed, out)
		}
		text := string(out)
		for _, mark := range []string{"hangs", "fatal error:", "panic:"} {
			if k := strings.Index(text, mark); k >= 0 {
				text = text[k:]
				break
			}
		}
		t.Errorf("%s: %v: %.3000s", name(i), failed, text)
		next = i + 1
	}
	if next < n {
		t.Error("too many calls end the process")
	}
}

// inside is Each in the process of its own. The file has the number of the call to begin with, and then that of the call at work.
func inside(t *testing.T, file string, n int, f func(i int)) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	from, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	at, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := limit(room); err != nil {
		t.Fatal(err)
	}
	for i := from; i < n; i++ {
		if _, err := at.WriteAt(fmt.Appendf(nil, "%d", i), 0); err != nil {
			t.Fatal(err)
		}
		watch := time.AfterFunc(hang, func() { panic("hangs") })
		f(i)
		watch.Stop()
	}
	if err := os.WriteFile(file, []byte(finished), 0o666); err != nil {
		t.Fatal(err)
	}
}
