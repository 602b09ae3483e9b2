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

// FuzzLayout wants of every command line an answer or a message, and a picture that is made of the same text again.
func FuzzLayout(f *testing.F) {
	f.Add("(8,8):(8,1) / <2,4>", "", "", "")
	f.Add("(4,4):(4,1)", "(2,2):(2,1)", "", "")
	f.Add("(5,7):(7,1)", "", "2,4", "")
	f.Add("(8,8):(8,1)", "", "", "2,0,3")
	f.Add("(0,4):(4,1)[::-1]", "(1,2):(0,5)", "", "0,0,0")
	f.Add("row_major (2,3,(4,5))", "", "(1,2,3)", "1,2,-3")
	f.Fuzz(func(t *testing.T, expr, threads, tile, swizzle string) {
		var args []string
		for flag, v := range map[string]string{"--threads=": threads, "--tile=": tile, "--swizzle=": swizzle} {
			if v != "" {
				args = append(args, flag+v)
			}
		}
		for _, more := range [][]string{nil, {"--json"}, {"--svg=-"}} {
			line := append(append([]string{"layout"}, args...), more...)
			c := newCall(nil).with(append(line, "--", expr)...)
			if said := c.err.Len() > 0; c.code != 0 != said || c.code > 2 || c.code == 0 && c.out.Len() == 0 {
				t.Fatalf("%q: exit %d, %q, %d bytes of output", line, c.code, c.err.String(), c.out.Len())
			}
			if c.out.Len() > 4<<20 {
				t.Fatalf("%q: %d bytes of output", line, c.out.Len())
			}
		}
	})
}
