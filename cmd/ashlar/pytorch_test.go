package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPyTorch shows, converts and compares a file of PyTorch: the legacy form of {"w": tensor([1., 2.]), "epoch": 3}.
func TestPyTorch(t *testing.T) {
	const file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + "\x80\x02M\xe9\x03." + "\x80\x02}." +
		"\x80\x02}(U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01kU\x03cpuK\x02NtQ" +
		"K\x00K\x02\x85K\x01\x85\x89}tRU\x05epochK\x03u." + "\x80\x02]U\x01ka." + "\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\x40"
	dir := t.TempDir()
	pt, out := filepath.Join(dir, "a.pt"), filepath.Join(dir, "a.safetensors")
	if err := os.WriteFile(pt, []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"info", pt}, "PyTorch, legacy, 1 array"},
		{[]string{"show", pt}, "float32[2]\n[1. 2.]\n"},
		{[]string{"stats", pt}, "1.5"},
		{[]string{"convert", pt, out}, ""},
		{[]string{"diff", pt, out}, "the same"},
		{[]string{"info", out}, "epoch: 3"},
	} {
		if c := newCall(nil).with(x.args...); c.code != 0 || !strings.Contains(c.out.String(), x.want) {
			t.Errorf("%q: exit %d: %s%s, want %s", x.args, c.code, c.out.String(), c.err.String(), x.want)
		}
	}
}
