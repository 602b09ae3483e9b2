package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
)

// conform calls the program on the data in a folder, in a checkout of its own.
func conform(t *testing.T, dir string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(append([]string{"-dir", dir}, args...), &out, &errs)
	return status, out.String(), errs.String()
}

// checkout makes an empty checkout the working directory, with these files of the
// runner, and returns the runner's folder there.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "conformance")
	write(t, filepath.Join(root, "go.work"), "go 1.26.0\n")
	write(t, filepath.Join(folder, "skip.txt"), "")
	for name, text := range files {
		write(t, filepath.Join(folder, name), text)
	}
	t.Chdir(root)
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// last returns the last line.
func last(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestCalls(t *testing.T) {
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{nil, 2, "usage"},
		{[]string{"nope"}, 2, `no suite is called "nope"`},
		{[]string{"layout", "nope/x"}, 2, `no suite is called "nope"`},
		{[]string{"-nope"}, 2, "nope"},
		{[]string{"-h"}, 0, "usage"},
		{[]string{"-update", "-long", "layout"}, 2, "-long"},
	} {
		var out, errs bytes.Buffer
		if got := run(tc.args, &out, &errs); got != tc.status || !strings.Contains(errs.String(), tc.says) || out.Len() > 0 {
			t.Errorf("%q: status %d, want %d; it says %q, %q", tc.args, got, tc.status, out.String(), errs.String())
		}
	}
}

// A root without data is an error of every suite, and so is a suite without cases.
func TestNoData(t *testing.T) {
	checkout(t, nil)
	dir := t.TempDir()
	for _, s := range suites {
		if s.name == "proofs" || s.name == "quantized" { // their models are built, or come from packages
			continue
		}
		status, out, errs := conform(t, dir, s.name)
		if status != 1 || !strings.Contains(errs, filepath.Join(dir, s.name)) || out != "" {
			t.Errorf("%s: status %d, %q, %q", s.name, status, out, errs)
		}
	}
	write(t, filepath.Join(dir, "layout", "filter.json"), `{"cases":[]}`)
	if status, _, errs := conform(t, dir, "layout"); status != 1 || !strings.Contains(errs, "no cases") {
		t.Errorf("without cases: status %d, %q", status, errs)
	}
	write(t, filepath.Join(dir, "ttnn", "add.json"), `{"cases":[{},{}]}`)
	if status, _, errs := conform(t, dir, "ttnn/sub"); status != 1 || !strings.Contains(errs, `no operation "sub"`) {
		t.Errorf("an operation that isn't there: status %d, %q", status, errs)
	}
	status, out, _ := conform(t, dir, "ttnn/add")
	if status != 1 || last(out) != "0 passed, 0 failed, 2 unsupported, 0 skipped" {
		t.Errorf("a suite without runner: status %d, %q", status, out)
	}
	if status, _, _ := conform(t, dir, "-allow-unsupported", "ttnn"); status != 0 {
		t.Errorf("-allow-unsupported: status %d", status)
	}
}

const (
	filterRight = `{"id":"a","op":"filter","verdict":"must","args":{"layout":"(2,4):(1,0)"},"expect":{"table":[0,1],"modes":[2]}}`
	filterWrong = `{"id":"b","op":"filter","verdict":"must","args":{"layout":"(2,4):(1,0)"},"expect":{"table":[0,2],"modes":[2]}}`
	upcastRight = `{"id":"c","op":"upcast","verdict":"must","args":{"layout":"4:2","n":2},"expect":{"table":[0,1,2,3],"modes":[4]}}`
)

func TestFloors(t *testing.T) {
	cases := func(dir string, list ...string) {
		write(t, filepath.Join(dir, "layout", "x.json"), `{"cases":[`+strings.Join(list, ",")+`]}`)
	}
	dir := t.TempDir()
	folder := checkout(t, map[string]string{"floor.txt": "layout filter 7\nlayout gone 1\nonnx Add 3 4\n"})
	cases(dir, filterRight, upcastRight)
	status, out, _ := conform(t, dir, "-floor", "layout")
	if status != 1 || strings.Count(out, "below the floor") != 2 {
		t.Errorf("below two floors: status %d\n%s", status, out)
	}
	if status, out, _ = conform(t, dir, "-floor", "layout/upcast"); status != 0 {
		t.Errorf("one operation: status %d\n%s", status, out)
	}
	if status, _, errs := conform(t, dir, "-update", "layout"); status != 0 {
		t.Fatalf("-update: status %d, %s", status, errs)
	}
	got, err := os.ReadFile(filepath.Join(folder, "floor.txt"))
	if want := "layout filter 1\nlayout upcast 1\nonnx Add 3 4\n"; err != nil || string(got) != want {
		t.Errorf("the floors are %q, want %q (%v)", got, want, err)
	}
	if status, out, _ = conform(t, dir, "-floor", "layout"); status != 0 {
		t.Errorf("on the floor: status %d\n%s", status, out)
	}
	cases(dir, filterRight, filterWrong, upcastRight)
	if status, out, _ = conform(t, dir, "-floor", "layout"); status != 1 || !strings.Contains(out, "all of layout/filter is supported, but 1 failed") {
		t.Errorf("a failure where all is supported: status %d\n%s", status, out)
	}
	write(t, filepath.Join(folder, "floor.txt"), "layout filter\n")
	if status, _, errs := conform(t, dir, "layout"); status != 1 || !strings.Contains(errs, "is not SUITE OPERATION PASSED") {
		t.Errorf("a broken floor: status %d, %q", status, errs)
	}
}

func TestSkips(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "layout", "x.json"), `{"cases":[`+filterRight+","+filterWrong+`]}`)
	folder := checkout(t, map[string]string{"skip.txt": "# a comment\n\nlayout/filter/b the data is wrong\n"})
	status, out, _ := conform(t, dir, "-v", "layout")
	if status != 0 || last(out) != "1 passed, 0 failed, 0 unsupported, 1 skipped" || !strings.Contains(out, "the data is wrong") {
		t.Errorf("status %d\n%s", status, out)
	}
	write(t, filepath.Join(folder, "skip.txt"), "layout/filter/b\n")
	if status, _, errs := conform(t, dir, "layout"); status != 1 || !strings.Contains(errs, "has no reason") {
		t.Errorf("a skip without a reason: status %d, %q", status, errs)
	}
}

// A panic is a failure, also where an error would be right.
func TestPanics(t *testing.T) {
	if err := caught(func() error { panic("oh") }); err == nil || !strings.HasPrefix(err.Error(), "panic: oh") {
		t.Errorf("got %v", err)
	}
	layoutOps["panics"] = func(*layoutCase) (answer, error) { panic("oh") }
	defer delete(layoutOps, "panics")
	dir := t.TempDir()
	checkout(t, nil)
	write(t, filepath.Join(dir, "layout", "x.json"), `{"cases":[{"id":"a","op":"panics","verdict":"reject","args":{},"expect":{"error":true}}]}`)
	if _, out, _ := conform(t, dir, "layout"); last(out) != "0 passed, 1 failed, 0 unsupported, 0 skipped" {
		t.Error(out)
	}
}

func TestMemory(t *testing.T) {
	plan := &onnx.Plan{Weights: 10 << 20, Live: 20 << 20} // 1.3 times 30 MiB and 16 MiB
	for mib, over := range map[int64]bool{0: false, 54: false, 56: true} {
		if err := overBound(mib<<20, plan); (err != nil) != over {
			t.Errorf("%d MiB: %v", mib, err)
		}
	}
	var m memory
	m.start()
	if !m.known {
		t.Skip("this platform doesn't reset the high-water mark")
	}
	if before := m.peak(); before > 16<<20 {
		t.Errorf("%.1f MiB at the start", mib(before))
	}
	b, err := mem.Alloc(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < b.Len(); i += 4096 {
		b.Bytes()[i] = 1
	}
	b.Close()
	if got := m.peak(); got < 64<<20 || got > 96<<20 {
		t.Errorf("a peak of %.1f MiB after holding 64", mib(got))
	}
	runtime.KeepAlive(b)
}

// The suites themselves, against the floor that is checked in. ASHLAR_SUITES=required
// makes missing data a failure.
func TestSuites(t *testing.T) {
	missing := t.Skipf
	if os.Getenv("ASHLAR_SUITES") == "required" {
		missing = t.Fatalf
	}
	root, err := checkoutRoot()
	if err != nil {
		t.Fatal(err)
	}
	r := &report{root: root}
	for _, folder := range []string{r.path("conformance/layout"), r.path("conformance/onnx"), r.path("models"), debianONNX} {
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			missing("the conformance data isn't here: %v", err)
		}
	}
	var out, errs bytes.Buffer
	if status := run([]string{"-floor", "layout", "onnx", "models/mnist-8"}, &out, &errs); status != 0 {
		t.Errorf("status %d\n%s%s", status, out.String(), errs.String())
	}
	t.Log(last(out.String()))
}
