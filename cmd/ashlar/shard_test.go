package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShard writes the pictures to files and to standard output, which hold the same.
func TestShard(t *testing.T) {
	dir := t.TempDir()
	line := []string{"shard", "(1024,1024)", "--dtype", "bf16", "--config", "block", "--grid", "8x8"}
	for flag, file := range map[string]string{"--svg": "a.svg", "--png": "a.png"} {
		file = filepath.Join(dir, file)
		c := newCall(nil).with(append(line, flag, file)...)
		if c.code != 0 || !strings.Contains(c.out.String(), "[128:256, 0:128]") || strings.Count(c.out.String(), "32768") != 65 {
			t.Fatalf("exit %d: %s%s", c.code, c.out.String(), c.err.String())
		}
		b, err := os.ReadFile(file)
		if c := newCall(nil).with(append(line, flag, "-")...); err != nil || !bytes.Equal(b, c.out.Bytes()) {
			t.Errorf("%s: %v, the file has %d bytes, standard output %d", flag, err, len(b), c.out.Len())
		}
	}
}

// FuzzShard wants of every command line an answer or a message.
func FuzzShard(f *testing.F) {
	f.Add("(1024,1024)", "bf16", "tile", "block", "", "8x8", "", "rows", "sim:wormhole", false)
	f.Add("(160,64)", "bfp8", "16x32", "height", "64,64", "3x1", "l1", "columns", "sim:blackhole", false)
	f.Add("(5,3)", "u8", "rows", "interleaved", "", "", "dram", "rows", "sim:1x1", false)
	f.Add("(4,4,3)", "f32", "rows", "nd", "2,2,3", "2x2", "dram", "columns", "sim:4x2", true)
	f.Add("()", "f32", "tile", "width", "1", "", "", "rows", "sim:4096x1", false)
	f.Add("(0,7)", "f32", "rows", "width", "(1,7)", "4x4", "", "rows", "sim:8x8", false)
	f.Add("(9223372036854775807,2)", "f32", "rows", "nd", "9223372036854775807,1", "1x1", "", "rows", "sim:8x8", true)
	f.Fuzz(func(t *testing.T, shape, dtype, layout, config, shard, grid, memory, order, device string, byGrid bool) {
		line := []string{"shard", "--dtype=" + dtype, "--layout=" + layout, "--config=" + config, "--shard=" + shard,
			"--grid=" + grid, "--memory=" + memory, "--order=" + order, "--device=" + device}
		if byGrid {
			line = append(line, "--by-grid")
		}
		for _, more := range [][]string{nil, {"--svg=-"}} {
			c := newCall(nil).with(append(append(line, more...), "--", shape)...)
			if said := c.err.Len() > 0; c.code != 0 != said || c.code > 2 || c.code == 0 && c.out.Len() == 0 {
				t.Fatalf("%q: exit %d, %q, %d bytes of output", append(line, shape), c.code, c.err.String(), c.out.Len())
			}
			if c.out.Len() > 32<<20 {
				t.Fatalf("%q: %d bytes of output", append(line, shape), c.out.Len())
			}
		}
	})
}

// A shape reads the same in every spelling. Shards end where the tensor does, and say that padding follows.
func TestShardSpellings(t *testing.T) {
	first := ""
	for _, shape := range []string{"1x1x1000x512", "1,1,1000,512", "(1,1,1000,512)", "(1, 1, 1000, 512,)", "[1,1,1000,512]"} {
		for _, grid := range []string{"8x1", "8,1", "(8,1)"} {
			c := newCall(nil).with("shard", shape, "--config", "height", "--grid", grid)
			out := c.out.String()
			if first == "" {
				first = out
			}
			if c.code != 0 || out != first || !strings.Contains(out, "[896:1000, 0:512] and padding") || !strings.Contains(out, "12288 of 524288 elements") {
				t.Errorf("%s, %s: exit %d: %s%s", shape, grid, c.code, out, c.err.String())
			}
		}
	}
	for _, shape := range []string{"1x", "x", "2,,3", "2x-3", "2.5", "(2,3", "99999999999999999999", "2 3"} {
		if c := newCall(nil).with("shard", shape); c.code != 2 || !strings.Contains(c.err.String(), "is no size: want a shape, as 2x3, 2,3 or (2,3)") {
			t.Errorf("%s: exit %d: %s", shape, c.code, c.err.String())
		}
	}
}
