package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An early reader looks at the first bytes for the files that should be there by then.
type early struct {
	bytes.Buffer
	files, late []string
}

func (e *early) Write(b []byte) (int, error) {
	for _, file := range e.files {
		if _, err := os.Stat(file); err != nil && e.Len() == 0 {
			e.late = append(e.late, file)
		}
	}
	return e.Buffer.Write(b)
}

// A command writes its files before it prints: a reader that leaves after the first line ends the program. Each command that can write files
// is in the list. TMP is a new folder.
func TestFilesComeBeforeText(t *testing.T) {
	inRoot(t)
	tested := map[string]bool{}
	for _, line := range []string{
		`layout (8,8):(8,1) --svg TMP/a.svg --png TMP/b.png`,
		`layout (8,8):(8,1) --svg - --png TMP/b.png`,
		`layout (8,8):(8,1) --json --svg TMP/a.svg`,
		`shard (64,64) --svg TMP/a.svg --png TMP/b.png`,
		`shard (64,64) --svg - --png TMP/b.png`,
		`info testdata/digits.onnx --svg TMP/a.svg`,
		`info testdata/digits.onnx --json --svg TMP/a.svg`,
		`info testdata/digits.onnx --shape image=1x1x8x8 --plan --svg TMP/a.svg`,
		`show testdata/digits-test.npy --slice 0 --heatmap --png TMP/a.png`,
		`stats testdata/digits.onnx --png TMP/a.png`,
		`stats testdata/digits.onnx --json --png TMP/a.png`,
		`convert testdata/digits.onnx TMP/a.npz --digest`,
		`quantize testdata/digits.onnx -o TMP/a.onnx --bits 4`,
		`quantize testdata/digits.onnx -o TMP/a.onnx --bits 4 --json`,
		`plan mean(x) -i x=testdata/digits-test.npy --svg TMP/a.svg`,
		`plan mean(x) -i x=testdata/digits-test.npy --json --svg TMP/a.svg`,
		`embed examples/embeddings/encoder red --json -o TMP/a.npy`,
		`compute mean(x) -i x=testdata/digits-test.npy --receipt TMP/a.json`,
		`compute mean(x) -i x=testdata/digits-test.npy -o TMP/a.zarr --receipt TMP/a.json`,
		`rechunk testdata/digits-test.npy TMP/a.zarr --chunks 100,8,8 --receipt TMP/a.json`,
		`run testdata/digits.onnx testdata/seven.png --all TMP/a.npz --trace TMP/b.json --receipt TMP/c.json`,
		`run testdata/digits.onnx testdata/seven.png --json --all TMP/a.npz -o TMP/b.npy`,
		`run testdata/digits.onnx testdata/seven.png -o - -o TMP/b.npy --all TMP/a.npz --trace TMP/b.json --receipt TMP/c.json`,
	} {
		tmp := t.TempDir()
		e := &early{}
		args := words(strings.ReplaceAll(line, "TMP", tmp))
		for _, a := range args {
			if strings.HasPrefix(a, tmp) {
				e.files = append(e.files, a)
			}
		}
		tested[args[0]] = true
		c := newCall(nil)
		c.program.out = bufio.NewWriterSize(e, 16)
		code := c.run(context.Background(), args)
		if code != 0 || e.late != nil || e.Len() == 0 || len(e.files) == 0 {
			t.Errorf("%s: exit %d, %d bytes are printed, these files come later: %v\n%s", line, code, e.Len(), e.late, c.err.String())
		}
	}
	for _, command := range newCall(nil).root().Commands() {
		if writes := command.Flag("force") != nil || command.Flag("output") != nil || command.Flag("receipt") != nil; writes != tested[command.Name()] {
			t.Errorf("%s writes files: %t, and is in the list: %t", command.Name(), writes, tested[command.Name()])
		}
	}
}

// An output that goes to a file isn't printed, and --quiet prints none.
func TestQuiet(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"run testdata/digits.onnx testdata/seven.png", "seven (100.00 %)\n", 0},
		{"run testdata/digits.onnx testdata/seven.png -o TMP/p.npy", "", 0},
		{"run testdata/digits.onnx testdata/seven.png -o TMP/p.npz --receipt TMP/r.json --top 0", "", 0},
		{"run testdata/digits.onnx testdata/seven.png -q", "", 0},
		{"run testdata/digits.onnx testdata/seven.png -o TMP/p.npy --repeat 2", "2 runs: median ", 0},
		{"run testdata/digits.onnx testdata/seven.png -o TMP/p.npy --profile", "time ", 0},
		{"run testdata/digits.onnx testdata/seven.png -o TMP/p.npy --json", "{", 0},
		{"run testdata/digits.onnx testdata --quiet", "", 2},
		{"run testdata/digits.onnx testdata/seven.png --json --quiet", "", 2},
		{"layout (8,8):(8,1) -q --svg TMP/a.svg", "", 0},
		{"layout (8,8):(8,1) -q --svg -", "<svg", 0},
		{"shard (64,64) -q --svg TMP/a.svg", "", 0},
		{"info testdata/digits.onnx -q --svg TMP/a.svg", "", 0},
		{"stats testdata/digits.onnx -q --png TMP/a.png", "", 0},
		{"plan mean(x) -q -i x=testdata/digits-test.npy --svg TMP/a.svg", "", 0},
		{"compute mean(x) -q -i x=testdata/digits-test.npy -o TMP/mean.zarr", "", 0},
		{"compute mean(x) -q -i x=testdata/digits-test.npy", "", 2},
		{"rechunk testdata/digits-test.npy TMP/rows.zarr -q --chunks 100,8,8", "", 0},
	} {
		got := newCall(nil).with(words(strings.ReplaceAll(c.line, "TMP", tmp))...)
		out := strings.TrimLeft(got.out.String(), " ")
		if got.code != c.code || !strings.HasPrefix(out, c.want) || c.want == "" && out != "" || c.code == 0 && got.err.Len() > 0 {
			t.Errorf("%s: exit %d\n%s%s", c.line, got.code, out, got.err.String())
		}
	}
	// Of two outputs one goes to a file, and the other keeps its name.
	two := filepath.Join(tmp, "a.npy")
	got := newCall(nil).with("run", filepath.Join(tmp, "add.onnx"), two, two, "-o", "sum="+filepath.Join(tmp, "sum.npy"))
	if want := "difference float32[2]\n[0. 0.]\n"; got.code != 0 || got.out.String() != want {
		t.Errorf("exit %d: %q, want %q%s", got.code, got.out.String(), want, got.err.String())
	}
}
