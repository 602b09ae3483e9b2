package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// Each file of a folder is a run, in the order of names, and one that fails doesn't end the others.
func TestFolders(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	lines := func(c *call) (list []reportLine) {
		t.Helper()
		d := json.NewDecoder(bytes.NewReader(c.out.Bytes()))
		d.DisallowUnknownFields()
		for {
			var l reportLine
			if err := d.Decode(&l); err == io.EOF {
				return list
			} else if err != nil {
				t.Fatal(err)
			}
			list = append(list, l)
		}
	}
	for _, args := range [][]string{{tmp + "/turns"}, {"-i", "x=" + tmp + "/turns"}, {tmp + "/turns", "--repeat", "3", "--threads", "1"}} {
		c := newCall(nil).with(append([]string{"run", tmp + "/scores.onnx"}, args...)...)
		got := lines(c)
		if c.code != 1 || !strings.Contains(c.err.String(), "2 of 4 files failed; their lines say why") || len(got) != 4 {
			t.Fatalf("%v: exit %d, %d lines: %s%s", args, c.code, len(got), c.out.String(), c.err.String())
		}
		for i, want := range []struct{ file, says string }{{"1.npy", ""}, {"2.npy", ""}, {"notes.txt", "it is none of the files"}, {"short.npy", "short.npy: "}} {
			l := got[i]
			switch {
			case l.File != tmp+"/turns/"+want.file:
				t.Errorf("%v: line %d is about %s, want %s", args, i, l.File, want.file)
			case want.says != "" && (!strings.Contains(l.Error, want.says) || l.Outputs != nil || l.Seconds != 0):
				t.Errorf("%v: %+v", args, l)
			case want.says == "" && (l.Error != "" || len(l.Outputs) != 1 || l.Outputs[0].Values[2] != 2.0 || l.Seconds <= 0):
				t.Errorf("%v: %+v", args, l)
			case want.says == "" && len(l.Runs) != 3*(len(args)/5):
				t.Errorf("%v: %d times", args, len(l.Runs))
			}
		}
		if len(c.closers) > 1 {
			t.Errorf("%v: %d files stay open", args, len(c.closers))
		}
	}
	c := newCall(nil).with("run", tmp+"/scores.onnx", tmp+"/turns/inside", tmp+"/turns/inside")
	if got := lines(c); c.code != 0 || len(got) != 2 || got[0].Outputs[0].Values[0] != 1.0 || got[0].File != got[1].File {
		t.Errorf("two folders: exit %d: %s", c.code, c.err.String())
	}
	// Other inputs are the same in all runs.
	c = newCall(nil).with("run", tmp+"/add.onnx", "-i", "b="+tmp+"/a.npy", "-i", "a="+tmp+"/turns/inside")
	if got := lines(c); c.code != 1 || len(got) != 1 || !strings.Contains(got[0].Error, "wants float32[n], got float32[1,3]") {
		t.Errorf("two inputs: exit %d: %s", c.code, c.out.String())
	}
}

func TestFoldersProgress(t *testing.T) {
	inRoot(t)
	tmp := makeFiles(t)
	for _, screen := range []bool{true, false} {
		c := newCall(nil)
		c.terminal = func(stream any) bool { return stream == io.Writer(&c.err) || screen && stream == io.Writer(&c.out) }
		c.patience = 0
		c.with("run", tmp+"/scores.onnx", tmp+"/turns")
		if got := strings.Contains(c.err.String(), "%"); got == screen {
			t.Errorf("lines on the screen %v: standard error is %q", screen, c.err.String())
		}
	}
}
