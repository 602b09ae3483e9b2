package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/formats"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata and docs/operators.md")

// inRoot makes the root of the repository the working folder, where the files of the examples are.
func inRoot(t testing.TB) { t.(*testing.T).Chdir(filepath.Join("..", "..")) }

// A call is one run of the command and its outcome.
type call struct {
	program
	code     int
	out, err bytes.Buffer
}

// newCall is a program whose streams are in memory, and whose world has no variables and no terminal.
func newCall(stdin io.Reader) *call {
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	c := &call{}
	c.program = program{stdin: stdin, stdout: &c.out, stderr: &c.err, getenv: func(string) string { return "" },
		terminal: func(any) bool { return false }, cpuErr: func() error { return nil }, patience: time.Hour}
	return c
}

func (c *call) with(args ...string) *call {
	c.code = c.run(context.Background(), args)
	return c
}

// words splits a command line at spaces outside double quotes.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestTranscripts runs the lines of testdata/*.txt that begin with "$ ashlar" and compares their output, on standard
// output and standard error, with the lines that follow; a last line "exit N" is an exit code other than 0. TMP is a folder with
// the files of makeFiles, and < gives a file as standard input. Lines before the first command are comments.
func TestTranscripts(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	files, err := filepath.Glob(filepath.FromSlash("cmd/ashlar/testdata/*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split("\n"+string(text), "\n$ ashlar ")
			got := strings.TrimPrefix(parts[0], "\n")
			for _, part := range parts[1:] {
				line, want, _ := strings.Cut(part, "\n")
				out := transcript(t, line, tmp)
				got += "\n$ ashlar " + line + "\n" + strings.TrimSuffix(out, "\n")
				if strings.TrimSpace(out) != strings.TrimSpace(want) && !*update {
					t.Errorf("$ ashlar %s\n--- got\n%s--- want\n%s", line, out, want)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.TrimLeft(got, "\n")+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func transcript(t *testing.T, line, tmp string) string {
	args := words(strings.ReplaceAll(line, "TMP", tmp))
	var stdin io.Reader
	for i, a := range args {
		if a == "<" {
			b, err := os.ReadFile(args[i+1])
			if err != nil {
				t.Fatal(err)
			}
			stdin, args = bytes.NewReader(b), args[:i]
			break
		}
	}
	c := newCall(stdin).with(args...)
	out := c.out.String() + c.err.String()
	if c.code != 0 {
		out += fmt.Sprintf("exit %d\n", c.code)
	}
	return strings.ReplaceAll(out, tmp, "TMP") + "\n"
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var walk func(c *cobra.Command)
	n := 0
	walk = func(c *cobra.Command) {
		n++
		out := newCall(nil).with(append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if c.Example == "" || out.code != 0 || !strings.Contains(out.out.String(), "Examples:\n"+c.Example) {
			t.Errorf("%s --help: exit %d and no example in\n%s%s", c.CommandPath(), out.code, out.out.String(), out.err.String())
		}
		if c.Short == "" {
			t.Errorf("%s has no description", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	p := newCall(nil)
	walk(p.root())
	if n < 10 {
		t.Errorf("walked over %d commands, there are 10 at least", n)
	}
}

func TestVersion(t *testing.T) {
	c := newCall(nil).with("version")
	if c.code != 0 {
		t.Fatal(c.code, c.err.String())
	}
	for _, want := range []string{"ashlar", "revision", "go         go1.", "processor", "level", "kernels    plain Go"} {
		if !strings.Contains("\n"+c.out.String(), "\n"+want) {
			t.Errorf("no line begins with %q in\n%s", want, c.out.String())
		}
	}
}

func TestVersionFlag(t *testing.T) {
	if c := newCall(nil).with("--version"); c.code != 0 || c.out.String() != "ashlar "+buildVersion()+"\n" {
		t.Errorf("exit %d: %q", c.code, c.out.String())
	}
}

func TestRevision(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-11-28T10:00:00Z"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"(devel)", nil, "not recorded; go build in a clone records it, go run and -buildvcs=false don't"},
		{"v0.1.0", nil, ""},
		{"(devel)", vcs[:1], "0123abc"},
		{"v0.1.1-0.20261128100000-0123abc+dirty", vcs, "0123abc of 2026-11-28T10:00:00Z, with changes"},
	} {
		if got := revisionOf(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}); got != c.want {
			t.Errorf("%s: %q, want %q", c.version, got, c.want)
		}
	}
}

// failing refuses writes.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	c := newCall(nil)
	c.stdout = failing{}
	c.with("version")
	if c.code != 1 || !strings.Contains(c.err.String(), "ashlar: writing to standard output: short write") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}

func TestColourOnTerminalsOnly(t *testing.T) {
	inRoot(t)
	const esc = "\x1b["
	for _, tc := range []struct {
		name     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"pipe", false, nil, false},
		{"terminal", true, nil, true},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"dumb", true, map[string]string{"TERM": "dumb"}, false},
	} {
		c := newCall(nil)
		c.terminal = func(stream any) bool { return tc.terminal }
		c.getenv = func(key string) string { return tc.env[key] }
		c.with("run", "testdata/digits.onnx", "testdata/seven.png")
		if got := strings.Contains(c.out.String(), esc); got != tc.want || c.code != 0 {
			t.Errorf("%s: colour %v, exit %d: %q", tc.name, got, c.code, c.out.String())
		}
		if c.err.Len() != 0 {
			t.Errorf("%s: a run of no time wrote to standard error: %q", tc.name, c.err.String())
		}
	}
}

func TestProgress(t *testing.T) {
	inRoot(t)
	for _, terminal := range []bool{true, false} {
		c := newCall(nil)
		c.terminal = func(stream any) bool { return terminal && stream == io.Writer(&c.err) }
		c.patience = 0
		c.with("run", "testdata/digits.onnx", "testdata/seven.png")
		if got := strings.Contains(c.err.String(), "running"); got != terminal {
			t.Errorf("terminal %v: standard error is %q", terminal, c.err.String())
		}
		if strings.Contains(c.out.String(), "running") || c.code != 0 {
			t.Errorf("exit %d, standard output is %q", c.code, c.out.String())
		}
	}
}

func TestIsTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, stream := range []any{null, file, &bytes.Buffer{}} {
		if isTerminal(stream) {
			t.Errorf("%T is taken for a terminal", stream)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain ünïcode █": "plain ünïcode █", "a\x1b[31mb": "a\ufffd[31mb", "tab\tand\rreturn": "tab\ufffdand\ufffdreturn",
		"two\nlines": "two\nlines", "bad \xff": "bad \ufffd", "\u202egnp.exe": "\ufffdgnp.exe",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got := label("two\nlines" + strings.Repeat("é", 200)); got != "two lines"+strings.Repeat("é", 91)+"…" {
		t.Errorf("label gave %q", got)
	}
}

func TestAmounts(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{[]int{3}, "24 bytes"}, {[]int{1 << 37, 2}, "2.0 TiB"}, {[]int{1 << 59, 2}, "at least 8 EiB"}, {[]int{most / 8}, "8388608.0 TiB"}, {[]int{most, 2}, "at least 8 EiB"}, {[]int{most, 2, 0}, "0 bytes"},
	} {
		if got := amount(formats.Bytes(dtype.Int64, c.shape...)); got != c.want {
			t.Errorf("int64%v: %s, want %s", c.shape, got, c.want)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	for text, want := range map[string]int64{"none": -1, "1B": 1, "2GiB": 2 << 30, "1.5 MiB": 3 << 19, "500MB": 5e8, "10B": 10, "7TiB": 7 << 40} {
		var l memoryLimit
		if err := l.Set(text); err != nil || int64(l) != want {
			t.Errorf("%q: %d, %v; want %d", text, int64(l), err, want)
		}
	}
	for _, text := range []string{"", "0", "0B", "-1B", "1", "1048576", "GiB", "1XB", "NaN", "Inf", "1e30GiB", "2 GiB x"} {
		var l memoryLimit
		if err := l.Set(text); err == nil {
			t.Errorf("%q: no error, but %d", text, int64(l))
		}
	}
}
