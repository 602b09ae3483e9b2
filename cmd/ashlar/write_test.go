package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/tensor"
)

// onlyFiles fails unless dir has just these files, so that nothing begun is left.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}

// TestSignals ends a process in the middle of writing: the old file stays, and nothing else.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOARCH == "wasm" {
		t.Skip("no signals to other processes here")
	}
	for sig, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(exe, "-test.run=^TestSlowWriter$")
		c.Env = append(os.Environ(), "ASHLAR_TEST_WRITE="+file)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("%v: exit code %d, want %d", sig, got, code)
		}
		onlyFiles(t, dir, "file")
		if b, _ := os.ReadFile(file); string(b) != "old" {
			t.Errorf("%v: the file became %q", sig, b)
		}
	}
}

// TestSlowWriter is the process that TestSignals runs; there is nothing to test without its variable.
func TestSlowWriter(t *testing.T) {
	file := os.Getenv("ASHLAR_TEST_WRITE")
	if file == "" {
		return
	}
	new(program).atomic().File(file, func(w io.Writer) error {
		fmt.Println("begun")
		time.Sleep(time.Hour)
		return nil
	})
	os.Exit(3)
}

// TestManyArraysTogether: each array of a small npz is within the bound, all of them aren't.
func TestManyArraysTogether(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "x.npz"), filepath.Join(dir, "out.safetensors")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	const rows, columns = 30, 1 << 18
	for _, name := range []string{"a.npy", "b.npy"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, npyHeader("<f4", rows, columns)+strings.Repeat("\x00", 4*rows*columns))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		want string // of the error, "" for none
	}{
		{"info " + path, ""},
		{"show " + path + "#a", ""},
		{"diff " + path + " " + path, ""},
		{"convert " + path + " " + out, "its 2 arrays have more than the 48.0 MiB that are accepted together: name one, or raise --max-memory"},
		{"convert " + path + " " + out + " --max-memory 100MB", ""},
		{"convert " + path + " " + out + " --max-memory none", ""},
		{"convert " + path + " " + out + " --name b", ""},
		{"convert " + path + " " + out + " --slice 3:5", ""},
	} {
		c := newCall(nil).with(strings.Fields(tc.args)...)
		if (c.code != 0) != (tc.want != "") || !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%s: exit %d, %s", tc.args, c.code, c.err.String())
		}
	}
}

// endless gives the same text again and again.
type endless string

func (e endless) Read(b []byte) (int, error) {
	n := 0
	for n+len(e) <= len(b) {
		n += copy(b[n:], e)
	}
	if n == 0 {
		n = copy(b, e)
	}
	return n, nil
}

// TestEndlessInput reads streams that don't end.
func TestEndlessInput(t *testing.T) {
	for _, tc := range []struct{ text, args string }{
		{"1\n", "show - --from csv --max-memory 64MiB"},
		{"PK\x03\x04", "show - --max-memory 64MiB"},
		{"\x08", "run - --max-memory 64MiB"},
		{"\x00", "run - --max-memory 64MiB"},
	} {
		c := newCall(endless(tc.text)).with(strings.Fields(tc.args)...)
		if c.code != 1 || !strings.Contains(c.err.String(), "more than 64.0 MiB come; save them to a file, and give its name") {
			t.Errorf("%s of %q: exit %d, %s", tc.args, tc.text, c.code, c.err.String())
		}
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero")
	}
	for _, args := range []string{"run /dev/zero", "info /dev/zero", "show /dev/zero --from csv", "diff /dev/zero /dev/zero", "convert /dev/zero x.npy"} {
		if c := newCall(nil).with(strings.Fields(args)...); c.code != 1 || !strings.Contains(c.err.String(), "/dev/zero: it is a device, not a file or a pipe") {
			t.Errorf("%s: exit %d, %s", args, c.code, c.err.String())
		}
	}
}

func npyHeader(descr string, rows, columns int64) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, columns)
	return "\x93NUMPY\x01\x00\x76\x00" + dict + strings.Repeat(" ", 117-len(dict)) + "\n"
}

// An array that a format can't hold is refused with the flag that helps.
func TestConvertHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, x := range map[string]tensor.Any{"rows.npy": tensor.New[float64](0, 3).Any(), "columns.npy": tensor.New[float64](3, 0).Any(), "one.npy": tensor.New[float64](0).Any(),
		"wide.npy": tensor.New[uint8](3, 5, 4).Any()} {
		var b bytes.Buffer
		if err := errors.Join(npy.Write(&b, x, nil), os.WriteFile(name, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	err := npy.WriteZip(&b, []string{"w#1", "v"}, []tensor.Any{tensor.Arange[int8](0, 3, 1).Any(), tensor.New[int8](1).Any()}, nil)
	if err := errors.Join(err, os.WriteFile("a#b.npz", b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"convert rows.npy rows.csv": "--header", "convert one.npy one.tsv": "--header", "convert columns.npy columns.csv": "can't show", "convert rows.npy rows.csv --header": "",
		"convert wide.npy wide.png": "--axes", "convert wide.npy wide.png --axes CHW": "", "convert wide.npy wide.jpg --axes NHWC": "want HW", "convert wide.npy wide.csv --axes CHW": "of a PNG",
		"show a#b.npz#w#1": "", "convert a#b.npz#w#1 w.npy": "", "show a#b.npz#u#1": `no array "u#1"`,
	} {
		c := newCall(nil).with(words(line)...)
		if got := c.err.String(); (c.code == 0) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: exit %d: %s", line, c.code, got)
		}
	}
	if c := newCall(nil).with("convert", "rows.csv", "back.npy", "--header"); c.code != 0 {
		t.Error(c.err.String())
	}
	if x, err := npy.Open("back.npy", nil); err != nil || fmt.Sprint(x.Shape()) != "[0 3]" {
		t.Errorf("a table of no rows comes back as %v, %v", x, err)
	}
}

// TestSplit writes a model in several files, and reads it as it was.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const model = "../../testdata/digits.onnx"
	for _, c := range []struct {
		split, last string
	}{{"3", "m-00003-of-00003.gguf"}, {"10KB", "m-00005-of-00005.gguf"}} {
		if got := newCall(nil).with("convert", model, at("m.gguf"), "--split", c.split); got.code != 0 || got.err.Len() > 0 {
			t.Fatal(got.err.String())
		}
		if got := newCall(nil).with("diff", at(c.last), model); got.code != 0 || !strings.Contains(got.out.String(), "8 tensors, the same") {
			t.Errorf("%s: %s%s", c.split, got.out.String(), got.err.String())
		}
	}
	for _, args := range []string{"m.npz --split 2", "- --to gguf --split 2", "m.gguf --split 0", "m.gguf --split=-1", "m.gguf --split none", "m.gguf --split x", "m.gguf --split 0B"} {
		if got := newCall(nil).with(append([]string{"convert", model}, strings.Fields(args)...)...); got.code != 2 {
			t.Errorf("%s: %d %s", args, got.code, got.err.String())
		}
	}
}

// TestURLs refuses URLs that convert doesn't write.
func TestURLs(t *testing.T) {
	for _, c := range []struct {
		out, want string
		flags     []string
	}{
		{"https://example.org/x.zarr", "a URL of https is read only", nil},
		{"s3://bucket/x.npz", "Zarr folders", nil},
		{"s3://bucket/x.zarr.zip", "Zarr folders", nil},
		{"s3://bucket/x", "Zarr folders", []string{"--to", "npz"}},
		{"s3://bucket/x.onnx", "Zarr folders", nil},
		{"s3://bucket/x", "one order, C", []string{"--order", "F"}},
		{"s3://bucket/x", "Zarr folders", []string{"--to", "nothing"}},
	} {
		got := newCall(nil).with(append([]string{"convert", "../../testdata/digits-test.npy", c.out}, c.flags...)...)
		if got.code != 2 || !strings.Contains(got.err.String(), c.want) {
			t.Errorf("%s: %d %s", c.out, got.code, got.err.String())
		}
	}
}
