package chunk

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	kills = flag.Int("kills", 20, "how often TestKilled kills the process")
	seed  = flag.Uint64("seed", 1, "of the places at which TestKilled kills it")
)

// killable names the environment variable that makes the test program run the plan of TestKilled, in the folder that it holds.
const killable = "ASHLAR_KILLABLE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killable); dir != "" {
		if err := runKillable(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killablePlan has a reduction in a tree, a chain that reads it, and a rechunk.
func killablePlan(s zarr.Store) (*Plan, error) {
	z, err := zarr.Open(context.Background(), s, "x", nil)
	if err != nil {
		return nil, err
	}
	x := From("x", z)
	centred := Map("Sub", nil, x, Reduce("ReduceMean", x, Reducing{Axes: []int{0}}))
	squares := Rechunk(Map("Mul", nil, centred, centred), 10, 90)
	return NewPlan(nil, Target{Array: squares, Store: s, Path: "r"}, Target{Array: Reduce("Var", x, Reducing{Axes: []int{1}}), Store: s, Path: "v"})
}

// runKillable runs the plan and prints a line for each task that is done.
func runKillable(dir string) error {
	s, err := zarr.Dir(dir)
	if err != nil {
		return err
	}
	p, err := killablePlan(s)
	if err != nil {
		return err
	}
	workers, err := strconv.Atoi(os.Getenv(killable + "_WORKERS"))
	if err != nil {
		return err
	}
	return p.Run(context.Background(), &RunOptions{Workers: workers, Resume: true, Progress: func(Progress) { fmt.Println() }})
}

// killableStore is a folder with the array x.
func killableStore(t *testing.T) (zarr.Store, string) {
	dir := t.TempDir()
	s, err := zarr.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := zarr.Create(t.Context(), s, "x", zarr.Metadata{DType: dtype.Float32, Shape: []int{120, 90}, Chunks: []int{10, 20}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, 120*90)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	if err := a.Write(t.Context(), []int{0, 0}, tensor.FromSlice(x, 120, 90).Any()); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// digest is of the names and bytes of all that a folder holds besides files whose name begins with a dot.
func digest(t *testing.T, dir string) string {
	h := sha256.New()
	var files int
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), len(b))
		h.Write(b)
		files++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d files, %s", files, hex.EncodeToString(h.Sum(nil)))
}

// elements is a digest of an array, or "" where it is refused as unfinished or isn't there.
func elements(t *testing.T, s zarr.Store, path string) string {
	t.Helper()
	a, err := zarr.Open(t.Context(), s, path, nil)
	var x tensor.Any
	if err == nil {
		x, err = a.Read(t.Context())
	}
	if errors.Is(err, zarr.ErrUnfinished) || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	b, _ := tensor.Bytes(x)
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// targets are the targets of killablePlan.
var targets = []string{"r", "v"}

// TestKilled computes with 1, 2 and 7 workers, and in a process that is killed again and again, at random times, and
// resumed. Files and bytes are the same. After each kill the targets are refused, or they are finished.
func TestKilled(t *testing.T) {
	want, tasks := "", 0
	finished := map[string]string{}
	for _, workers := range []int{1, 2, 7} {
		s, dir := killableStore(t)
		p, err := killablePlan(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), &RunOptions{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		tasks = p.Tasks()
		if got := digest(t, dir); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%d workers: %s; 1 worker: %s", workers, got, want)
		}
		for _, path := range targets {
			finished[path] = elements(t, s, path)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(*seed, 5))
	var s zarr.Store
	var dir string
	done, killed, starts, refused := tasks, 0, 0, 0
	for killed < *kills || done < tasks {
		if starts++; starts > 20**kills+20 {
			t.Fatalf("%d starts of the process, %d kills: it makes no progress", starts, killed)
		}
		if done == tasks { // the first time, and where the process came to its end before it was killed often enough
			s, dir = killableStore(t)
			done = 0
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), killable+"="+dir, fmt.Sprintf("%s_WORKERS=%d", killable, 1+r.IntN(7)))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It runs until some more tasks are done, and then for a random time, which ends within a task. With no more
		// task it ends before the first.
		after := done + r.IntN(2 + 2*tasks / *kills)
		if killed == *kills {
			after = tasks + 1
		}
		n := 0
		for lines := bufio.NewScanner(out); n < after && lines.Scan(); {
			n++
		}
		done = max(done, n)
		shot := n == after
		if shot {
			time.Sleep(time.Duration(r.IntN(5000)) * time.Microsecond)
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		err = cmd.Wait()
		for _, path := range targets {
			if got := elements(t, s, path); got == "" {
				refused++
			} else if got != finished[path] {
				t.Fatalf("killed %d times: %s can be read, and isn't finished", killed, path)
			}
		}
		switch err := err.(type) {
		case nil:
			done = tasks
			if got := digest(t, dir); got != want {
				t.Fatalf("killed %d times: %s; never killed: %s", killed, got, want)
			}
		case *exec.ExitError:
			if !shot {
				t.Fatalf("the process ended by itself: %v", err)
			}
			killed++
		default:
			t.Fatal(err)
		}
	}
	t.Logf("%d tasks; killed %d times in %d starts; targets refused %d times; %s", tasks, killed, starts, refused, want)
}
