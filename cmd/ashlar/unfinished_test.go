package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
)

// A result that isn't finished is shown by info as such. No command reads it without --unfinished, as a folder, in a group, or as a zip
// file. The error names the plan and the way out. Finished by --resume, it is read as any other.
func TestUnfinished(t *testing.T) {
	t.Chdir(t.TempDir())
	ashlar := func(want int, line string) string {
		t.Helper()
		c := newCall(nil).with(words(line)...)
		if c.code != want {
			t.Fatalf("%s: exit code %d\n%s%s", line, c.code, c.out.String(), c.err.String())
		}
		return c.out.String() + c.err.String()
	}
	stop := func(line string) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		c := newCall(nil)
		c.patience, c.stderr = 0, &canceler{&c.err, cancel}
		c.terminal = func(stream any) bool { return stream == c.stderr }
		if c.code = c.run(ctx, words(line)); c.code != interrupted {
			t.Fatalf("%s: exit code %d\n%s", line, c.code, c.err.String())
		}
	}
	grid(t, "x.npy", 40, 30)
	ashlar(0, "rechunk x.npy x.zarr --chunks 4,4")
	ashlar(0, "compute x+0 -i x=x.npy -o g.zarr#whole")
	alone, grouped, copied := "compute x+1 -i x=x.zarr -o r.zarr --workers 1", "compute x+1 -i x=x.zarr -o g.zarr#r --workers 1", "rechunk x.zarr d.zarr --chunks 5,5 --workers 1"
	stop(alone)
	stop(grouped)
	stop(copied)
	store, err := zarr.Dir("r.zarr")
	f, ferr := os.Create("r.zarr.zip")
	if err == nil && ferr == nil {
		err = zarr.WriteZip(t.Context(), f, store)
		f.Close()
	}
	if err != nil || ferr != nil {
		t.Fatal(err, ferr)
	}
	for _, file := range []string{"r.zarr", "g.zarr#r", "r.zarr.zip", "d.zarr"} {
		name, _, _ := strings.Cut(file, "#")
		if out := ashlar(0, "info "+name); !strings.Contains(out, "unfinished: plan ") {
			t.Errorf("info of %s: %s", name, out)
		}
		if out := ashlar(0, "info --json "+name); !strings.Contains(out, `"unfinished":"plan `) {
			t.Errorf("info of %s: %s", name, out)
		}
		for i, line := range []string{"show " + file, "show --slice 0 " + file, "convert " + file + " out.npy", "diff " + file + " x.npy", "compute min(x) -i x=" + file, "rechunk " + file + " out.zarr --chunks 40,1", "plan x+1 -i x=" + file} {
			out := ashlar(1, line)
			for _, part := range []string{`isn't finished: "plan `, "--resume", "--unfinished"} {
				if !strings.Contains(out, part) || strings.Count(out, "\n") != 1 {
					t.Errorf("%s: %s", line, out)
				}
			}
			want := 0
			if i == 3 {
				want = 1 // there are differences
			}
			if out := ashlar(want, line+" --unfinished"); strings.Contains(out, "isn't finished") {
				t.Errorf("%s --unfinished: %s", line, out)
			}
			os.Remove("out.npy")
			os.RemoveAll("out.zarr")
		}
	}
	ashlar(0, "show g.zarr#whole") // which is beside one that isn't finished
	ashlar(1, "convert g.zarr g.npz")
	for _, line := range []string{alone, grouped, copied} {
		ashlar(0, line+" --resume")
	}
	for _, file := range []string{"r.zarr", "g.zarr#r", "d.zarr"} {
		name, _, _ := strings.Cut(file, "#")
		if out := ashlar(0, "info "+name); strings.Contains(out, "unfinished") {
			t.Errorf("info of %s: %s", file, out)
		}
		ashlar(0, "show "+file)
	}
	ashlar(0, "diff r.zarr g.zarr#r")
	ashlar(0, "diff d.zarr x.npy")
	if keys, err := filepath.Glob("*/*ashlar*"); err != nil || len(keys) > 0 {
		t.Errorf("left behind: %v, %v", keys, err)
	}
}
