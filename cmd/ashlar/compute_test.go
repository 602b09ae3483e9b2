package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/tensor"
)

// grid writes an npy file of float32 that counts.
func grid(t testing.TB, path string, shape ...int) {
	t.Helper()
	n := 1
	for _, e := range shape {
		n *= e
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%1009) / 1009
	}
	f, err := os.Create(path)
	if err == nil {
		err = npy.Write(f, tensor.FromSlice(x, shape...).Any(), nil)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A canceler ends a context when something is written to it.
type canceler struct {
	io.Writer
	cancel context.CancelFunc
}

func (c *canceler) Write(b []byte) (int, error) {
	c.cancel()
	return c.Writer.Write(b)
}

// An interrupted run says how to go on, and the result is that of a run in one go. The bar shows tasks and the time
// that is left.
func TestComputeInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	grid(t, "x.npy", 40, 30)
	if c := newCall(nil).with("rechunk", "x.npy", "x.zarr", "--chunks", "4,4"); c.code != 0 {
		t.Fatal(c.err.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := newCall(nil)
	c.patience, c.stderr = 0, &canceler{&c.err, cancel}
	c.terminal = func(stream any) bool { return stream == c.stderr }
	line := "compute x+2 -i x=x.zarr -o two.zarr --workers 1"
	c.code = c.run(ctx, words(line))
	text := c.err.String()
	if c.code != interrupted || !regexp.MustCompile(`interrupted after [1-9]\d? of 80 tasks; to go on: ashlar `+regexp.QuoteMeta(line)+" --resume").MatchString(text) {
		t.Fatalf("exit %d: %q", c.code, text)
	}
	if !regexp.MustCompile(`1 of 80 tasks, [1-9]\d*s left`).MatchString(text) || strings.Contains(text, "canceled") {
		t.Errorf("the bar is %q", text)
	}
	for _, next := range []string{line + " --resume", "compute x+2 -i x=x.npy -o once.zarr --workers 3 --chunks 4,4", "diff two.zarr once.zarr"} {
		if c := newCall(nil).with(words(next)...); c.code != 0 {
			t.Fatalf("%s: exit %d: %s%s", next, c.code, c.out.String(), c.err.String())
		}
	}
	if c := newCall(nil).with("compute", "x*3", "-i", "x=x.zarr", "-o", "two.zarr", "--resume"); c.code != 1 || !strings.Contains(c.err.String(), "two.zarr: ") || !strings.Contains(c.err.String(), "another plan") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
	if list, err := os.ReadDir("two.zarr"); err != nil || len(list) != 2 { // c and zarr.json
		t.Errorf("%v, %v", list, err)
	}
}

// The time that is left follows from the work of the last seconds: 10 seconds for a tenth, and after tasks that are passed
// over, which take no time, the rest at the rate since.
func TestEstimate(t *testing.T) {
	start := time.Unix(0, 0)
	e := estimate{marks: [2]mark{{at: start}, {at: start}}}
	for _, c := range []struct {
		second, done float64
		want         time.Duration
	}{
		{0, 0, 0}, {1, 1, 99 * time.Second}, {4, 2, 196 * time.Second}, // 1 in 2 seconds
		{5.5, 52, 6 * time.Second},               // 50 passed over
		{11, 53, time.Minute*4 + 19*time.Second}, // 1 in 5.5 seconds since
	} {
		at := start.Add(time.Duration(c.second * float64(time.Second)))
		if got := e.after(at, c.done, 100); got != c.want {
			t.Errorf("after %v s, %v of 100: %v, want %v", c.second, c.done, got, c.want)
		}
	}
}

// A stage that reads much and writes little has its share of the work.
func TestWork(t *testing.T) {
	if got := work(chunk.Stage{Tasks: 10, Read: 1000, Write: 8}); got != 1018 {
		t.Errorf("%v, want 1018", got)
	}
}

func TestAgain(t *testing.T) {
	p := program{args: []string{"compute", "mean(x, axis=0)", "-i", "x=it's.zarr"}}
	if got, want := p.again(), `ashlar compute 'mean(x, axis=0)' -i 'x=it'\''s.zarr' --resume`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestComputeJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	grid(t, "x.npy", 40, 30)
	c := newCall(nil).with("compute", "ptp(x > 2)", "-i", "x=x.npy", "--json")
	if c.code != 1 { // truth values have no difference
		t.Error(c.out.String())
	}
	for _, text := range []string{"-x", "-inf*x", "-o*x"} {
		if c := newCall(nil).with("compute", text, "-i", "x=x.npy"); c.code != 2 || !strings.Contains(c.err.String(), "behind --") {
			t.Errorf("%s: exit %d: %s", text, c.code, c.err.String())
		}
		if c := newCall(nil).with("compute", "-i", "x=x.npy", "--", "-x"); c.code != 0 {
			t.Errorf("exit %d: %s", c.code, c.err.String())
		}
	}
	c = newCall(nil).with("compute", "count_nonzero(x < 2)", "-i", "x=x.npy", "--json", "--workers", "2")
	var r computeReport
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil || c.code != 0 {
		t.Fatal(err, c.err.String())
	}
	if r.Data != "1200" || r.DType != "int64" || r.Shape == nil || r.Workers != 2 || r.Tasks != 1 || r.Read != 4800 || len(r.Plan) != 32 {
		t.Errorf("%+v", r)
	}
}

// The commands of docs/scale.md run on a small array.
func TestScalePage(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../docs/scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	grid(t, "big.npy", 100, 50, 40)
	_, text1, _ := strings.Cut(string(text), "```sh\n")
	block, _, ok := strings.Cut(text1, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if !ok || len(lines) != 10 {
		t.Fatalf("%d commands, 10 are promised", len(lines))
	}
	for _, line := range lines {
		c := newCall(nil).with(words(strings.TrimPrefix(line, "ashlar "))...)
		if c.code != 0 {
			t.Fatalf("%s: exit %d: %s", line, c.code, c.err.String())
		}
	}
	for _, name := range []string{"plan.svg", "mean.png", "scaled.zarr"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
