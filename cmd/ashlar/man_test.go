package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manual = flag.String("man", "", "write the manual pages, and scripts that complete command lines, to a `folder`")

// TestManual makes a manual page of each command, and the scripts of bash, zsh and fish. Releases hold these:
//
//	go test ./cmd/ashlar -run TestManual -args -man DIR
//
// A test makes them so that the command links no code for it.
func TestManual(t *testing.T) {
	dir := *manual
	if dir == "" {
		dir = t.TempDir()
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c := newCall(nil)
	root := c.root()
	root.DisableAutoGenTag = true // the day on which it was made
	var plain func(c *cobra.Command)
	plain = func(c *cobra.Command) {
		c.Long = markdown(c.Long)
		for _, sub := range c.Commands() {
			plain(sub)
		}
	}
	plain(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Source: "Ashlar", Manual: "Ashlar"}, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"ashlar.1":              {"ashlar-run(1)", "ashlar-serve(1)"},
		"ashlar-run.1":          {`\fB--invert\fP`, "ashlar run testdata/digits.onnx testdata/seven.png", "\nx.npz#NAME            an array of"},
		"ashlar-layout-check.1": {`\fB--swizzle\fP`, "ldmatrix        8 threads take a row"},
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s lacks %q", name, w)
			}
		}
	}
	for shell, name := range map[string]string{"bash": "ashlar.bash", "zsh": "_ashlar", "fish": "ashlar.fish"} {
		c := newCall(nil).with("completion", shell)
		if c.code != 0 || !bytes.Contains(c.out.Bytes(), []byte("ashlar")) {
			t.Errorf("completion %s: exit %d", shell, c.code)
		}
		if err := os.WriteFile(filepath.Join(dir, name), c.out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// markdown is a help text as Markdown: its indented lines are code, and < and * are themselves.
func markdown(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "    " + line[2:]
			if i > 0 && lines[i-1] != "" && !strings.HasPrefix(lines[i-1], "    ") {
				lines[i-1] += "\n"
			}
			continue
		}
		lines[i] = strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(line)
	}
	return strings.Join(lines, "\n")
}
