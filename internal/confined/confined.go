// Package confined has tests call functions where an allocation of more than 1 GiB fails, and names the call that ends the
// process.
package confined

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	room     = 1 << 30          // bytes that calls may take, all together
	hang     = 20 * time.Second // a call that takes longer has no end
	variable = "ASHLAR_CONFINED"
	finished = "finished"
)

// Each calls f with 0 to n-1 in a process of its own, which runs the test t alone. The process may take 1 GiB of addresses more than
// it has at its start. On systems other than Linux it may take more. A call that ends the process, as one beyond memory does, or
// that hangs is an error of t with its text. The calls of other names go on in another process. f may use t.
func Each(t *testing.T, n int, name, text func(i int) string, f func(i int)) {
	t.Helper()
	if file := os.Getenv(variable); file != "" {
		inside(t, file, n, name, f)
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
	ended := "" // the names of calls that ended a process
	for next := 0; next < n; {
		if err := os.WriteFile(file, fmt.Append(nil, next, ended), 0o666); err != nil {
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
		var i int
		if _, err := fmt.Sscan(string(at), &i); err != nil {
			t.Fatalf("%v, %v\n%s", err, failed, out)
		}
		said := string(out)
		for _, mark := range []string{"hangs", "fatal error:", "panic:"} {
			if k := strings.Index(said, mark); k >= 0 {
				said = said[k:]
				break
			}
		}
		t.Errorf("%s: %v: %.3000s", text(i), failed, said)
		next, ended = i+1, ended+"\n"+name(i)
	}
}

// inside is Each in the process of its own. The file has the number of the call to begin with and the names to leave out. Then
// it begins with the number of the call at work.
func inside(t *testing.T, file string, n int, name func(i int) string, f func(i int)) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(string(b), "\n")
	from, err := strconv.Atoi(words[0])
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
		if slices.Contains(words[1:], name(i)) {
			continue
		}
		if _, err := at.WriteAt(fmt.Appendf(nil, "%d\n", i), 0); err != nil {
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
