package ashlar_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

const layoutsPage = "docs/layouts.md"

// TestLayouts runs the page, and draws its pictures anew.
func TestLayouts(t *testing.T) { drawnPage(t, layoutsPage, 20, 8) }

// TestTiles does the same with the page on tiles.
func TestTiles(t *testing.T) { drawnPage(t, "docs/tiles.md", 8, 4) }

// TestDevices does the same with the page on devices.
func TestDevices(t *testing.T) { drawnPage(t, "docs/devices.md", 6, 6) }

// TestBanks runs the page on banks, notations and verdicts, which has no pictures.
func TestBanks(t *testing.T) { plainPage(t, "docs/banks.md", 15, 1) }

// TestFragments runs the page on fragments, which has neither pictures nor a program.
func TestFragments(t *testing.T) { plainPage(t, "docs/fragments.md", 20, 0) }

// plainPage runs the commands and the programs of a page.
func plainPage(t *testing.T, page string, least, want int) {
	compiles(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "ashlar"), "./cmd/ashlar").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if commands, programs := runPage(t, filepath.FromSlash(page)); commands < least || programs != want {
		t.Errorf("ran %d commands and %d programs, want at least %d and %d", commands, programs, least, want)
	}
}

// drawnPage runs a page of commands and a program; its pictures, in the folder of its name, are each made by a command
// that it shows.
func drawnPage(t *testing.T, page string, leastCommands, leastPictures int) {
	compiles(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "ashlar"), "./cmd/ashlar").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands, programs := runPage(t, filepath.FromSlash(page))
	if commands < leastCommands || programs != 1 {
		t.Errorf("ran %d commands and %d programs, want at least %d and 1", commands, programs, leastCommands)
	}
	text, err := os.ReadFile(filepath.FromSlash(page))
	if err != nil {
		t.Fatal(err)
	}
	folder := strings.TrimSuffix(filepath.Base(page), ".md")
	var drawn, shown []string
	for _, m := range regexp.MustCompile(`(?m)^\$ (ashlar (?:layout|shard) .*|go run \./examples/sharding) --svg /tmp/([a-z-]+)\.svg`).FindAllStringSubmatch(string(text), -1) {
		got := output(t, page, exec.Command("bash", "-ec", m[1]+" --svg -"))
		file := filepath.Join("docs", folder, m[2]+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != got {
			t.Errorf("%s isn't what %s draws; go test -run %s -update . writes it: %v", file, m[1], t.Name(), err)
		}
		drawn = append(drawn, m[2])
	}
	for _, m := range regexp.MustCompile(`!\[[^\]]+\]\(`+folder+`/([a-z-]+)\.svg\)`).FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, m[1])
	}
	files, err := filepath.Glob(filepath.Join("docs", folder, "*"))
	if err != nil || len(drawn) < leastPictures || len(files) != len(drawn) || !slices.Equal(drawn, shown) {
		t.Errorf("%v: the page draws %v and shows %v, %d files are there", err, drawn, shown, len(files))
	}
}

// The page, the help of the command and the comment of layout.Eval give one grammar and name every function.
func TestLayoutGrammar(t *testing.T) {
	read := func(file string) string {
		b, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	comment := regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(read("layout/eval.go"), "")
	grammar := ""
	for _, f := range fences(t, layoutsPage) {
		if f.lang == "text grammar" {
			grammar = f.text
		}
	}
	if grammar == "" || !strings.Contains(comment, grammar) {
		t.Errorf("the comment of layout.Eval has another grammar than %s:\n%s", layoutsPage, grammar)
	}
	functions := regexp.MustCompile(`(?m)^\s+\{"(\w+)", "[ATBn?+]+", `).FindAllStringSubmatch(read("layout/functions.go"), -1)
	if len(functions) < 30 {
		t.Errorf("found %d functions", len(functions))
	}
	for _, m := range functions {
		for _, file := range []string{layoutsPage, "cmd/ashlar/layout.go", "layout/eval.go"} {
			if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(read(file)) {
				t.Errorf("%s doesn't name %s", file, m[1])
			}
		}
	}
}

// The bytes of a BFP8 tile are where the layouts of docs/tiles.md say: another value of an element changes its code alone,
// and a large one its exponent, and the codes that share it.
func TestTileBytes(t *testing.T) {
	exponents, err := layout.Eval("((16,2),(16,2)):((1,32),(0,16))")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := layout.Eval("tile_to_shape (16,16):(16,1) (32,32) (1,0)")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Full[float32](1, 32, 32)
	bytesOf := func() []byte {
		p, err := pack.Pack(x.Any(), &pack.Options{Tile: pack.TileOf(32, 32), Format: pack.BFP8})
		if err != nil {
			t.Fatal(err)
		}
		data, err := p.Data()
		if err != nil {
			t.Fatal(err)
		}
		codes, ok := tensor.As[uint8](data)
		if !ok {
			t.Fatalf("the storage is %s", tensor.Describe(data))
		}
		return codes.Elems()
	}
	before := bytesOf()
	for r := range 32 {
		for c := range 32 {
			e, _ := exponents.OffsetAt(layout.Ints(r, c))
			k, _ := codes.OffsetAt(layout.Ints(r, c))
			for v, want := range map[float32][]int{0.5: {64 + k}, 2: {e}} {
				x.Set(v, r, c)
				var changed []int
				for i, b := range bytesOf() {
					if b != before[i] && (v < 1 || i < 64) {
						changed = append(changed, i)
					}
				}
				if !slices.Equal(changed, want) {
					t.Fatalf("%v at (%d,%d) changes the bytes %v, want %v", v, r, c, changed, want)
				}
			}
			x.Set(1, r, c)
		}
	}
}

// The page's layout of a matrix in TT-NN's tiles is the formula that the page gives for it, on every element.
func TestTTNNTiles(t *testing.T) {
	for _, c := range []struct {
		expr         string
		rows, across int
	}{
		{"tile_to_shape (16,16):(16,1) (32,32) (1,0)", 32, 32},
		{"tile_to_shape (tile_to_shape (16,16):(16,1) (32,32) (1,0)) (64,96) (1,0)", 64, 96},
	} {
		l, err := layout.Eval(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		for r := range c.rows {
			for col := range c.across {
				tile, face := r/32*(c.across/32)+col/32, r%32/16*2+col%32/16
				want := tile*1024 + face*256 + r%16*16 + col%16
				if got, err := l.OffsetAt(layout.Ints(r, col)); err != nil || got != want {
					t.Fatalf("%s: (%d,%d) lies at %d, %v; the formula says %d", c.expr, r, col, got, err, want)
				}
			}
		}
	}
}

// The cells of the page beside other tools that say run are run: of the twenty inputs each answer, and of the questions each command.
func TestBesideOtherTools(t *testing.T) {
	compiles(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "ashlar"), "./cmd/ashlar").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	text, err := os.ReadFile(filepath.FromSlash(layoutsPage))
	if err != nil {
		t.Fatal(err)
	}
	inputs, questions, answered := 0, 0, ""
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) == 5 && (cells[0] == "input" || cells[0] == "question") || len(cells) == 6 && cells[0] == "question":
			answered = cells[0]
			continue
		case !strings.HasPrefix(line, "|"):
			answered = ""
		case strings.HasPrefix(line, "|---"):
			continue
		}
		switch answered {
		case "input":
			inputs++
			input := strings.Trim(cells[0], "`")
			out, _ := exec.Command("ashlar", append([]string{"layout", "verdict"}, strings.Fields(input)...)...).Output() // exit 1: a rule is wrong
			got := map[string]string{}
			for l := range strings.Lines(string(out)) {
				who, what, _ := strings.Cut(strings.TrimSpace(l), " ")
				got[who] = cell(strings.TrimSpace(what))
			}
			for i, who := range []string{"exact", "pycute", "cutegen"} {
				if got[who] != cells[i+1] {
					t.Errorf("%s: %s says %q, the page %q", input, who, got[who], cells[i+1])
				}
			}
		case "question":
			questions++
			command := strings.Split(cells[1], "`")
			if strings.HasPrefix(cells[1], "not to be had") {
				continue
			}
			if len(command) != 3 || command[0] != "run: " {
				t.Errorf("%s: %q names no command", cells[0], cells[1])
				continue
			}
			out, err := exec.Command("bash", "-ec", command[1]).CombinedOutput()
			var exit *exec.ExitError
			if len(out) == 0 || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || strings.HasPrefix(string(out), "ashlar:")) {
				t.Errorf("%s: %v\n%s", command[1], err, out)
			}
		}
	}
	if inputs != 20 || questions < 10 {
		t.Errorf("%d inputs and %d questions", inputs, questions)
	}
}

// cell writes an answer of the command as the page does.
func cell(answer string) string {
	for _, word := range []string{"none", "refuses"} {
		if strings.HasPrefix(answer, word) {
			return word
		}
	}
	if layout, _, wrong := strings.Cut(answer, ", wrong"); wrong {
		return "`" + layout + "`, wrong"
	}
	return "`" + strings.TrimSuffix(answer, ", right") + "`"
}
