package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestShowReadsOnlyWhatIsAsked shows parts of files of 20 GiB, which are holes but for a header and a row, each in a process
// of its own, and compares its memory with that of a small file.
func TestShowReadsOnlyWhatIsAsked(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("a file of 20 GiB can't be mapped into an address space of 32 bits")
	}
	const columns, most = 5120, 64 << 20
	rows := map[string]int64{"small": 8, "large": 1 << 20}
	dir := t.TempDir()
	headers := map[string]func(rows int64) string{
		"npy": func(rows int64) string {
			dict := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns)
			return "\x93NUMPY\x01\x00\x76\x00" + dict + strings.Repeat(" ", 117-len(dict)) + "\n"
		},
		"safetensors": func(rows int64) string {
			text := fmt.Sprintf(`{"w":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}`, rows, columns, 4*rows*columns)
			text += strings.Repeat(" ", 120-len(text))
			return string(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) + text
		},
		"bin": func(int64) string { return "" },
	}
	peaks := map[string]int64{}
	for size, n := range rows {
		for kind, header := range headers {
			path := filepath.Join(dir, size+"."+kind)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			head := header(n)
			if err := f.Truncate(int64(len(head)) + 4*n*columns); err != nil {
				t.Skipf("this file system has no files of 20 GiB: %v", err)
			}
			row := binary.LittleEndian.AppendUint32(nil, math.Float32bits(2.5))
			if _, err := f.WriteAt(row, int64(len(head))+4*(n-2)*columns); err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte(head), 0); err != nil {
				t.Fatal(err)
			}
			var st syscall.Stat_t
			if err := syscall.Fstat(int(f.Fd()), &st); err != nil || st.Blocks*512 > most {
				t.Skipf("this file system stores the holes of files: %d blocks, %v", st.Blocks, err)
			}
			f.Close()
			args := []string{"show", path, "--slice", "-2:, :2"}
			if kind == "bin" {
				args = append(args, "--dtype", "float32", "--shape", fmt.Sprintf("%d,%d", n, columns))
			}
			out, peak := peakOf(t, args)
			if want := "float32[2,2]\n[[2.5 0. ]\n [0.  0. ]]\n"; out != want {
				t.Errorf("%s of %s: %q, want %q", kind, size, out, want)
			}
			peaks[size+kind] = peak
		}
	}
	for kind := range headers {
		small, large := peaks["small"+kind], peaks["large"+kind]
		t.Logf("%s: a peak of %s for a small file, %s for one of 20 GiB", kind, amount(small), amount(large))
		if small == 0 || large-small > most {
			t.Errorf("%s: memory grows from %s to %s", kind, amount(small), amount(large))
		}
	}
}

// peakOf runs the command in a process of its own and returns what it prints and the most memory it had.
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

// TestOtherProcess is what peakOf runs; there is nothing to test without its variable.
func TestOtherProcess(t *testing.T) {
	args := os.Getenv("ASHLAR_TEST_ARGS")
	if args == "" {
		return
	}
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, terminal: isTerminal, patience: time.Second}
	if code := p.run(context.Background(), strings.Split(args, "\x1f")); code != 0 {
		os.Exit(code)
	}
	fmt.Printf("\x1epeak %d\n", peakMemory())
}
