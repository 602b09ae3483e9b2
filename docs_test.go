package ashlar_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op/all"
)

// A fence is one fenced block of a page.
type fence struct {
	lang, text string
	line       int
}

func fences(t *testing.T, page string) []fence {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var list []fence
	open := false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		lang, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !open:
			list = append(list, fence{lang: strings.TrimSpace(lang), line: n})
			open = true
		case isFence:
			open = false
		case open:
			list[len(list)-1].text += line
		}
	}
	if open {
		t.Fatalf("%s: the block of line %d doesn't end", page, list[len(list)-1].line)
	}
	return list
}

var long = flag.Bool("long", false, "also compile and run the programs of the pages, and add an operator as CONTRIBUTING.md says")

// compiles is called by tests that compile programs. They test pages and sizes, which change little, and take minutes together.
func compiles(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("it compiles programs: go test . -timeout 1h -args -long")
	}
}

// runPage runs what a page shows, in order: in sh blocks each line that begins with "$ " is a command and the lines up to
// the next one are its output; a go block that begins with "package main" is a program and the text block after it is
// its output. Lines of sh blocks before the first command aren't run. Everything runs in the root of the repository,
// with /tmp/ standing for a folder of the test's own. It returns how many commands and programs it ran.
func runPage(t *testing.T, page string) (commands, programs int) {
	t.Helper()
	compiles(t)
	tmp := t.TempDir() + "/"
	list := fences(t, page)
	for i, f := range list {
		where := fmt.Sprintf("%s:%d", page, f.line)
		switch {
		case f.lang == "sh":
			for _, c := range strings.Split("\n"+f.text, "\n$ ")[1:] {
				command, want, _ := strings.Cut(c, "\n")
				commands++
				got := output(t, where, exec.Command("bash", "-ec", strings.ReplaceAll(command, "/tmp/", tmp)))
				compare(t, where+": $ "+command, strings.ReplaceAll(got, tmp, "/tmp/"), want)
			}
		case f.lang == "go" && strings.HasPrefix(f.text, "package main\n"):
			if i+1 == len(list) || list[i+1].lang != "text" {
				t.Errorf("%s: no text block with the program's output follows", where)
				continue
			}
			programs++
			file := filepath.Join(tmp, fmt.Sprintf("program%d.go", programs))
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(f.text, "/tmp/", tmp)), 0o666); err != nil {
				t.Fatal(err)
			}
			compare(t, where+": program", output(t, where, exec.Command("go", "run", file)), list[i+1].text)
		}
	}
	return commands, programs
}

func output(t *testing.T, where string, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %s: %v\n%s%s", where, strings.Join(cmd.Args, " "), err, stderr.String(), out)
	}
	return string(out)
}

func compare(t *testing.T, where, got, want string) {
	t.Helper()
	if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
		t.Errorf("%s: the page and the output differ\n--- got\n%s\n--- the page says\n%s", where, got, want)
	}
}

func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	operators := fmt.Sprintf(" %d operators", len(all.Operators()))
	types := fmt.Sprintf(" %d element types", dtype.Count-1)
	for _, c := range []string{"go run ./cmd/ashlar run testdata/digits.onnx testdata/seven.png", "go test ./...\n", operators, types} {
		if !strings.Contains(string(text), c) {
			t.Errorf("README.md doesn't say %q", c)
		}
	}
	if commands, programs := runPage(t, "README.md"); commands == 0 || programs != 1 {
		t.Errorf("ran %d commands and %d programs, want at least 1 and 1", commands, programs)
	}
}

func TestStart(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("docs/start.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count("\n"+string(text), "\n## "); n != 8 {
		t.Errorf("docs/start.md has %d steps, want 8", n)
	}
	if commands, programs := runPage(t, filepath.FromSlash("docs/start.md")); commands < 3 || programs < 3 {
		t.Errorf("ran %d commands and %d programs, want at least 3 of each", commands, programs)
	}
}

func TestInside(t *testing.T) {
	if commands, _ := runPage(t, filepath.FromSlash("docs/inside.md")); commands < 15 {
		t.Errorf("ran %d commands, want at least 15", commands)
	}
}

func TestReceipts(t *testing.T) {
	if commands, _ := runPage(t, filepath.FromSlash("docs/receipts.md")); commands < 6 {
		t.Errorf("ran %d commands, want at least 6", commands)
	}
}

func TestARM(t *testing.T) {
	if commands, _ := runPage(t, filepath.FromSlash("docs/arm.md")); commands < 3 {
		t.Errorf("ran %d commands, want at least 3", commands)
	}
}

// TestHowTo runs the how-tos, which are a page each.
func TestHowTo(t *testing.T) {
	pages, err := filepath.Glob(filepath.FromSlash("docs/howto/*.md"))
	if err != nil || len(pages) < 9 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if words := len(strings.Fields(string(text))); err != nil || words > 400 {
				t.Errorf("%d words, more than a page of 400 (%v)", words, err)
			}
			if commands, programs := runPage(t, page); commands+programs == 0 {
				t.Error("the page shows nothing that runs")
			}
		})
	}
}

func TestOneTensor(t *testing.T) {
	if _, programs := runPage(t, filepath.FromSlash("docs/one-tensor.md")); programs != 1 {
		t.Errorf("ran %d programs, want 1", programs)
	}
}

func TestSoundPage(t *testing.T) {
	if _, programs := runPage(t, filepath.FromSlash("docs/sound.md")); programs != 1 {
		t.Errorf("ran %d programs, want 1", programs)
	}
}

func TestEmbeddingsPages(t *testing.T) {
	if commands, programs := runPage(t, filepath.FromSlash("docs/embeddings.md")); commands < 4 || programs != 1 {
		t.Errorf("ran %d commands and %d programs, want 4 and 1", commands, programs)
	}
	if _, programs := runPage(t, filepath.FromSlash("docs/from-fastembed.md")); programs != 1 {
		t.Errorf("ran %d programs, want 1", programs)
	}
}

func TestQuantizePage(t *testing.T) {
	if commands, _ := runPage(t, filepath.FromSlash("docs/quantize.md")); commands != 3 {
		t.Errorf("ran %d commands, want 3", commands)
	}
}

func TestFixedPoint(t *testing.T) {
	if _, programs := runPage(t, filepath.FromSlash("docs/fixed-point.md")); programs != 1 {
		t.Errorf("ran %d programs, want 1", programs)
	}
}

// TestContributing lays the operator of CONTRIBUTING.md over package op, adds it to the list, and runs what the page says.
func TestContributing(t *testing.T) {
	compiles(t)
	const page, list = "CONTRIBUTING.md", "op/all.go"
	all, err := os.ReadFile(filepath.FromSlash(list))
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(all), "return []plan.Table{")
	if !ok {
		t.Fatalf("%s holds no list that begins with return []plan.Table{", list)
	}
	files := map[string]string{list: before + "return []plan.Table{&absDiff, " + after}
	var commands []string
	for _, f := range fences(t, page) {
		if file, ok := strings.CutPrefix(f.lang, "go "); ok {
			files[file] = f.text
			if _, err := os.Stat(filepath.FromSlash(file)); err == nil {
				t.Fatalf("%s is in the tree already: the page needs another example", file)
			}
		}
		if f.lang == "sh" {
			commands = append(commands, strings.Split(strings.TrimSpace(f.text), "\n")...)
		}
	}
	if len(files) != 3 || len(commands) != 2 {
		t.Fatalf("%s shows %d files and %d commands, want 2 and 2", page, len(files)-1, len(commands))
	}
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -v "+overlay(t, files)))
	for _, c := range commands {
		out := output(t, page, exec.Command("bash", "-ec", c))
		if !strings.Contains(out, "--- PASS: ") || !strings.Contains(out, "AbsDiff") {
			t.Errorf("%s: %s ran no test of AbsDiff:\n%s", page, c, out)
		}
	}
}
