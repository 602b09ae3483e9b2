package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLayoutPictures writes both pictures to files and to standard output, which hold the same.
func TestLayoutPictures(t *testing.T) {
	dir := t.TempDir()
	svg, grid := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.png")
	c := newCall(nil).with("layout", "(4,6):(6,1)", "--svg", svg, "--png", grid)
	if c.code != 0 || !strings.Contains(c.out.String(), "\nmemory\n") || c.err.Len() > 0 {
		t.Fatalf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
	}
	for flag, file := range map[string]string{"--svg": svg, "--png": grid} {
		c := newCall(nil).with("layout", "(4,6):(6,1)", flag, "-")
		b, err := os.ReadFile(file)
		if err != nil || c.code != 0 || !bytes.Equal(b, c.out.Bytes()) {
			t.Errorf("%s: %v, exit %d, the file has %d bytes, standard output %d", flag, err, c.code, len(b), c.out.Len())
		}
		if flag == "--png" {
			if _, err := png.Decode(bytes.NewReader(b)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLayoutColour(t *testing.T) {
	for _, tc := range []struct {
		terminal bool
		noColor  string
		want     bool
	}{{false, "", false}, {true, "", true}, {true, "1", false}} {
		c := newCall(nil)
		c.terminal = func(any) bool { return tc.terminal }
		c.getenv = func(key string) string { return map[string]string{"NO_COLOR": tc.noColor}[key] }
		c.with("layout", "(4,6):(6,1)")
		if got := strings.Contains(c.out.String(), "\x1b["); got != tc.want || c.code != 0 {
			t.Errorf("terminal %v, NO_COLOR=%q: colour %v, exit %d", tc.terminal, tc.noColor, got, c.code)
		}
	}
}
