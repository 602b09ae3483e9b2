package job

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

var cases = flag.Int("cases", 6, "how many histories TestChanges makes")

// A history is a folder in which inputs change and computations come and go.
type history struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	value [2]float32 // of all elements of the inputs of folders A and B
	clock time.Time  // of the written files, so that no two times are one
	log   []string
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// input writes an input anew: in A an npy file or a Zarr folder by kind, likewise in B.
func (h *history) input(i, kind int) {
	h.value[i]++
	x := tensor.Full(h.value[i], 8, 6).Any()
	path := filepath.Join(h.dir, string("AB"[i]), "in")
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o777)); err != nil {
		h.t.Fatal(err)
	}
	if kind == 0 {
		writeNpy(h.t, path, x)
	} else {
		err := os.Mkdir(path, 0o777)
		var s zarr.Store
		if err == nil {
			s, err = zarr.Dir(path)
		}
		var a *zarr.Array
		if err == nil {
			a, err = zarr.Create(h.t.Context(), s, "", zarr.Metadata{DType: dtype.Float32, Shape: []int{8, 6}, Chunks: []int{2, 3}, Version: 2 + kind%2}, nil)
		}
		if err == nil {
			err = a.Write(h.t.Context(), []int{0, 0}, x)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	h.clock = h.clock.Add(time.Second)
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chtimes(p, h.clock, h.clock)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.note("input %d is %v", i, h.value[i])
}

// compute runs the computation of a folder's input, and stops it after some tasks. It reports whether it came to its end.
func (h *history) compute(i int, out string, resume bool, tasks int) bool {
	j := Job{Expr: "x - mean(x, axis=0) + x", Inputs: map[string]string{"x": "in"}, Out: out, Work: filepath.Join(h.dir, "work"), Codec: []string{"", "gzip", "zstd:1"}[i]}
	wd, err := os.Getwd()
	if err == nil {
		err = os.Chdir(filepath.Join(h.dir, string("AB"[i])))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	p, err := j.Plan(h.t.Context())
	if e := os.Chdir(wd); e != nil {
		h.t.Fatal(e)
	}
	if err == nil {
		ctx, cancel := context.WithCancel(h.t.Context())
		defer cancel()
		err = p.Run(ctx, &chunk.RunOptions{Resume: resume, Workers: 1, Progress: func(at chunk.Progress) {
			if at.Done == tasks {
				cancel()
			}
		}})
	}
	h.note("%s from input %d, resume %v, at most %d tasks: %v", filepath.Base(out), i, resume, tasks, err)
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, fs.ErrExist):
	default:
		h.t.Fatalf("%v\n%s", err, strings.Join(h.log, "\n"))
	}
	return err == nil
}

// read returns the one element of a result, and false where it is refused.
func (h *history) read(out string) (float32, bool) {
	s, err := zarr.Dir(out)
	var a *zarr.Array
	if err == nil {
		a, err = zarr.Open(h.t.Context(), s, "", nil)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, zarr.ErrUnfinished) {
		return 0, false
	}
	var x tensor.Any
	if err == nil {
		x, err = a.Read(h.t.Context())
	}
	if err != nil {
		h.t.Fatalf("%v\n%s", err, strings.Join(h.log, "\n"))
	}
	v, _ := tensor.As[float32](x)
	for e := range v.Values() {
		if e != v.At(0, 0) {
			h.t.Fatalf("%s holds %v\n%s", filepath.Base(out), x, strings.Join(h.log, "\n"))
		}
	}
	return v.At(0, 0), true
}

// damage changes a byte of a chunk of a result, or cuts it.
func (h *history) damage(out string) {
	var chunks []string
	filepath.WalkDir(filepath.Join(out, "c"), func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			chunks = append(chunks, p)
		}
		return nil
	})
	if len(chunks) == 0 {
		return
	}
	path := chunks[h.r.IntN(len(chunks))]
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		h.t.Fatal(err, len(b))
	}
	was := bytes.Clone(b)
	if at := h.r.IntN(len(b)); h.r.IntN(2) == 0 {
		b[at] ^= 1 << h.r.IntN(8)
	} else {
		b = b[:at]
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		h.t.Fatal(err)
	}
	h.note("%s of %s, %x, becomes %x", filepath.Base(path), filepath.Base(out), was, b)
}

// Inputs change, results are stopped, resumed from one folder or another, damaged, deleted and begun again, all with one folder for the arrays that
// stand between the stages. Whatever can be read is the result of an input as it was while the result was computed.
func TestChanges(t *testing.T) {
	for n := range *cases {
		h := &history{t: t, r: rand.New(rand.NewPCG(uint64(n), 7)), dir: t.TempDir(), value: [2]float32{10, 20}, clock: time.Unix(1e9, 0)}
		kind := h.r.IntN(3)
		h.input(0, kind)
		h.input(1, kind)
		want := map[string]float32{}
		for range 12 {
			i := h.r.IntN(2)
			out := filepath.Join(h.dir, []string{"r", "q"}[h.r.IntN(2)])
			switch k := h.r.IntN(10); {
			case k < 5:
				if h.compute(i, out, k%2 == 0, []int{1, 3, 5, 1000}[h.r.IntN(4)]) {
					want[out] = h.value[i]
				}
			case k < 7:
				h.input(i, kind)
			case k < 8:
				if err := os.RemoveAll(out); err != nil {
					t.Fatal(err)
				}
				h.note("%s is deleted", filepath.Base(out))
			default:
				h.damage(out)
				if !h.compute(i, out, true, 1000) { // another plan, as an input has changed since
					if err := os.RemoveAll(out); err != nil {
						t.Fatal(err)
					}
					h.note("%s is deleted", filepath.Base(out))
				} else {
					want[out] = h.value[i]
				}
			}
			for _, out := range []string{filepath.Join(h.dir, "r"), filepath.Join(h.dir, "q")} {
				if got, ok := h.read(out); ok && got != want[out] {
					t.Fatalf("%s holds %v, want %v\n%s", filepath.Base(out), got, want[out], strings.Join(h.log, "\n"))
				}
			}
		}
	}
}

// Computations at a time with one folder for the arrays between the stages are right or refused.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "x.npy")
	writeNpy(t, in, tensor.Full[float32](3, 40, 30).Any())
	for round := range 5 {
		var wg sync.WaitGroup
		for k := range 3 {
			j := Job{Expr: "x - mean(x, axis=0)", Inputs: map[string]string{"x": in}, Out: filepath.Join(dir, fmt.Sprint(round, k)), Work: filepath.Join(dir, "work"), Chunks: []int{10, 10}}
			wg.Go(func() {
				time.Sleep(time.Duration(k*round) * time.Millisecond)
				p, err := j.Plan(context.Background())
				if err == nil {
					err = p.Run(context.Background(), &chunk.RunOptions{Workers: 1})
				}
				if errors.Is(err, zarr.ErrLocked) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				equal(t, result(t, Job{Expr: "max(abs(x))", Inputs: map[string]string{"x": j.Out}}), tensor.Scalar[float32](0).Any())
			})
		}
		wg.Wait()
	}
	if list, err := os.ReadDir(filepath.Join(dir, "work")); err != nil || len(list) > 0 {
		t.Errorf("left in the folder of work: %v, %v", list, err)
	}
}

// A plan knows its inputs by where they lie and by their state: whatever the working folder, by links too, and under several names.
func TestIdentity(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("sub"), 0o777), os.Symlink("x.npy", at("link"))); err != nil {
		t.Skip(err)
	}
	writeNpy(t, at("x.npy"), counted(4, 3))
	id := func(j Job) string {
		t.Helper()
		p, err := j.To(ctx, zarr.Memory(), "r")
		if err != nil {
			t.Fatal(err)
		}
		return p.ID()
	}
	of := func(address string) Job { return Job{Expr: "x + 1", Inputs: map[string]string{"x": address}} }
	want := id(of(at("x.npy")))
	t.Chdir(dir)
	for _, address := range []string{"x.npy", "./x.npy", "link", at("sub/../x.npy")} {
		if got := id(of(address)); got != want {
			t.Errorf("%s: another plan", address)
		}
	}
	t.Chdir(at("sub"))
	if got := id(of("../x.npy")); got != want {
		t.Error("another plan in another folder")
	}
	writeNpy(t, "x.npy", counted(4, 3))
	if got := id(of("x.npy")); got == want {
		t.Error("the same plan for another file")
	}
	twice := Job{Expr: "x + y", Inputs: map[string]string{"x": "x.npy", "y": at("sub/x.npy")}}
	equal(t, result(t, twice), result(t, Job{Expr: "x * 2", Inputs: map[string]string{"x": "x.npy"}}))
}
