package main

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// TestShowReadsOnlyWhatIsAsked shows parts of files of 20 GiB, which are holes but for a header and a row, each in a process
// of its own, and compares its memory with that of a small file.
func TestShowReadsOnlyWhatIsAsked(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a file of 20 GiB can't be mapped into an address space of 32 bits")
	}
	const columns, most = 5120, 64 << 20
	rows := map[string]int64{"small": 8, "large": 1 << 20} // of float32; of bool four times as many
	dir := t.TempDir()
	kinds := []struct {
		name, ext, dtype string
		header           func(rows int64) string
	}{
		{"npy", "npy", "float32", func(rows int64) string { return npyHeader("<f4", rows, columns) }},
		{"npy of bool", "npy", "bool", func(rows int64) string { return npyHeader("|b1", rows, columns) }},
		{"npy, other byte order", "npy", "float32", func(rows int64) string { return npyHeader(">f4", rows, columns) }},
		{"npz", "npz", "float32", func(rows int64) string { return npyHeader("<f4", rows, columns) }},
		{"safetensors", "safetensors", "float32", func(rows int64) string { return safetensorsHeader("F32", rows, columns, 4) }},
		{"safetensors of bool", "safetensors", "bool", func(rows int64) string { return safetensorsHeader("BOOL", rows, columns, 1) }},
		{"raw", "bin", "float32", func(int64) string { return "" }},
		{"raw of bool", "bin", "bool", func(int64) string { return "" }},
	}
	for _, k := range kinds {
		peaks := map[string]int64{}
		for size, n := range rows {
			wide := int64(4)
			if k.dtype == "bool" {
				wide, n = 1, 4*n
			}
			path := filepath.Join(dir, "x."+k.ext)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			last := make([]byte, 2*columns*wide)
			switch {
			case k.dtype == "bool":
				last[0] = 7 // no bool of Go, so it is copied
			case k.name == "npy, other byte order":
				copy(last, "\x40\x20")
			default:
				copy(last[2:], "\x20\x40")
			}
			if err := writeSparse(f, k.ext, k.header(n), wide*n*columns, last); err != nil {
				t.Skipf("this file system has no files of 20 GiB: %v", err)
			}
			var st syscall.Stat_t
			if err := syscall.Fstat(int(f.Fd()), &st); err != nil || st.Blocks*512 > most {
				t.Skipf("this file system stores the holes of files: %d blocks, %v", st.Blocks, err)
			}
			f.Close()
			args := []string{"show", path, "--slice", "-2:, :2"}
			if k.ext == "bin" {
				args = append(args, "--dtype", k.dtype, "--shape", fmt.Sprintf("%d,%d", n, columns))
			}
			out, peak := peakOf(t, args)
			want := "float32[2,2]\n[[2.5 0. ]\n [0.  0. ]]\n"
			if k.dtype == "bool" {
				want = "bool[2,2]\n[[ True False]\n [False False]]\n"
			}
			if out != want {
				t.Errorf("%s, %s: %q, want %q", k.name, size, out, want)
			}
			peaks[size] = peak
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: a peak of %s for a small file, %s for one of 20 GiB", k.name, amount(peaks["small"]), amount(peaks["large"]))
		if peaks["small"] == 0 || peaks["large"]-peaks["small"] > most {
			t.Errorf("%s: memory grows from %s to %s", k.name, amount(peaks["small"]), amount(peaks["large"]))
		}
	}
}

func safetensorsHeader(typ string, rows, columns, size int64) string {
	text := fmt.Sprintf(`{"w":{"dtype":"%s","shape":[%d,%d],"data_offsets":[0,%d]}}`, typ, rows, columns, size*rows*columns)
	text += strings.Repeat(" ", 120-len(text))
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) + text
}

// writeSparse writes head and n bytes that end in last and are a hole before.
func writeSparse(f *os.File, ext, head string, n int64, last []byte) error {
	if ext != "npz" {
		if err := f.Truncate(int64(len(head)) + n); err != nil {
			return err
		}
		if _, err := f.WriteAt(last, int64(len(head))+n-int64(len(last))); err != nil {
			return err
		}
		_, err := f.WriteAt([]byte(head), 0)
		return err
	}
	// A part of an entry isn't compared with the entry's checksum.
	size := uint64(len(head)) + uint64(n)
	z := zip.NewWriter(holes{f})
	w, err := z.CreateRaw(&zip.FileHeader{Name: "w.npy", Method: zip.Store, CompressedSize64: size, UncompressedSize64: size})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	zeros := make([]byte, 16<<20)
	for left := n - int64(len(last)); left > 0; left -= int64(len(zeros)) {
		if _, err := w.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	if _, err := w.Write(last); err != nil {
		return err
	}
	return z.Close()
}

// holes skips long writes, which are zeros.
type holes struct{ f *os.File }

func (h holes) Write(b []byte) (int, error) {
	if len(b) < 1<<20 {
		return h.f.Write(b)
	}
	_, err := h.f.Seek(int64(len(b)), io.SeekCurrent)
	return len(b), err
}

// peakOf runs the command in a process of its own and returns its output and its peak memory.
func peakOf(t *testing.T, args []string) (out string, peak int64) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "-test.run=^TestOtherProcess$")
	c.Env = append(os.Environ(), "ASHLAR_TEST_ARGS="+strings.Join(args, "\x1f"))
	b, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b)
	}
	text, rest, _ := strings.Cut(string(b), "\x1epeak ")
	figure, _, _ := strings.Cut(rest, "\n")
	peak, err = strconv.ParseInt(figure, 10, 64)
	if err != nil {
		t.Fatalf("%v: no peak in %q", args, b)
	}
	return text, peak
}

// TestOtherProcess is the process that peakOf runs; there is nothing to test without its variable.
func TestOtherProcess(t *testing.T) {
	args := os.Getenv("ASHLAR_TEST_ARGS")
	if args == "" {
		return
	}
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, terminal: isTerminal, cpuErr: cpu.Err, patience: time.Second}
	if code := p.run(context.Background(), strings.Split(args, "\x1f")); code != 0 {
		os.Exit(code)
	}
	fmt.Printf("\x1epeak %d\n", peakMemory())
}
