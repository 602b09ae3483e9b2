package main

import (
	"strings"
	"testing"
)

// A shell completes the values of flags. Each value is one that the command takes: what it refuses is something else.
func TestCompletion(t *testing.T) {
	inRoot(t)
	for line, want := range map[string]string{
		"show --dtype": "bfloat16", "convert --dtype": "mxfp4", "convert --to": "safetensors", "convert --layout": "tile", "shard --layout": "16x32", "run --layout": "NCHW",
		"run --fixed": "fp16x16", "layout check --banks": "tensix", "layout convert --to": "numpy", "compute --codec": "zstd", "rechunk --codec": "none", "shard --memory": "l1",
	} {
		args := strings.Fields(line)
		c := newCall(nil).with(append(append([]string{"__complete"}, args...), "")...)
		list := strings.Fields(strings.Split(c.out.String(), "\n:")[0])
		found := false
		for _, value := range list {
			found = found || value == want
			full := append(append([]string{}, args...), value, "testdata/digits.onnx")
			switch {
			case strings.HasPrefix(line, "layout"):
				full[len(full)-1] = "(8,8):(8,1)"
			case args[0] == "shard":
				full[len(full)-1] = "64x64"
			}
			if got := newCall(nil).with(full...); strings.Contains(got.err.String(), args[len(args)-1]+" "+value+":") {
				t.Errorf("%s %s: %s", line, value, got.err.String())
			}
		}
		if c.code != 0 || !found {
			t.Errorf("%s: exit %d, %q, want %s among them", line, c.code, list, want)
		}
	}
}
