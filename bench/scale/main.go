// Command scale measures package chunk on arrays that are larger than the memory it may use:
//
//	go run ./scale -dir /tmp/scale make          the arrays: 4 GiB of random float32, zstd, and 64 GiB of which most is absent
//	go run ./scale -dir /tmp/scale read           the first one read with as many workers, for comparison
//	go run ./scale -dir /tmp/scale mean-rows      one computation: time, and the most memory that the process held
//
//	go run ./scale -dir /tmp/scale all            all of them as a Markdown table, each by a process of its own
//
// Each computation is a separate process, so that the peak of memory is its own. The base is the
// memory of the process before the plan runs.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/chunk/job"
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	side  = 32768 // of the 4 GiB
	huge  = 131072
	block = 2048
)

var (
	dir     = flag.String("dir", "", "the folder of the arrays")
	workers = flag.Int("workers", 2, "how many tasks run at once")
	memory  = flag.Int64("memory", 100<<20, "the most bytes that a task may hold")
	profile = flag.String("profile", "", "the file of a processor profile")
	bound   = flag.Int("bound", -1, "the most bytes that package mem keeps for reuse; -1: its own")
	cut     = flag.Int("side", side, "rows and columns of the dense array")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if *dir == "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := do(flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func do(what string) error {
	ctx := context.Background()
	store, err := zarr.Dir(*dir)
	if err != nil {
		return err
	}
	switch what {
	case "make":
		return makeArrays(ctx, store)
	case "all":
		return table()
	}
	if name, ok := strings.CutPrefix(what, "npy-"); ok {
		x, err := job.Job{Expr: "x", Inputs: map[string]string{"x": filepath.Join(*dir, "dense.npy")}}.Array(ctx)
		if err != nil {
			return err
		}
		return compute(ctx, store, what, reductions(x)[name])
	}
	if what == "read" {
		return read(ctx, store)
	}
	open := func(name string) (chunk.Array, error) {
		a, err := zarr.Open(ctx, store, name, &zarr.Options{Workers: 1})
		if err != nil {
			return chunk.Array{}, err
		}
		return chunk.From(name, a), nil
	}
	x, err := open("dense")
	if err != nil {
		return err
	}
	sparse, err := open("sparse")
	if err != nil {
		return err
	}
	half := chunk.Slice(x, tensor.R(0, *cut/2), tensor.R(0, *cut/2))
	cases := reductions(x)
	cases["max"] = chunk.Reduce("ReduceMax", x, chunk.Reducing{})
	cases["sparse-mean"] = chunk.Reduce("ReduceMean", sparse, chunk.Reducing{Axes: []int{0}})
	cases["sparse-var"] = chunk.Reduce("Var", sparse, chunk.Reducing{Axes: []int{1}})
	cases["columns"] = chunk.Rechunk(x, *cut, 128)
	cases["rows-columns"] = chunk.Rechunk(chunk.Rechunk(x, 128, *cut), *cut, 128)
	cases["product"] = chunk.MatMul(half, half)
	return compute(ctx, store, what, cases[what])
}

// reductions is the cases of an array.
func reductions(x chunk.Array) map[string]chunk.Array {
	return map[string]chunk.Array{
		"mean-rows":    chunk.Reduce("ReduceMean", x, chunk.Reducing{Axes: []int{0}}),
		"mean-columns": chunk.Reduce("ReduceMean", x, chunk.Reducing{Axes: []int{1}}),
		"var-rows":     chunk.Reduce("Var", x, chunk.Reducing{Axes: []int{0}}),
		"var-columns":  chunk.Reduce("Var", x, chunk.Reducing{Axes: []int{1}}),
	}
}

// compute runs one case, and prints its stages, its time and the most memory that the process held.
func compute(ctx context.Context, store zarr.Store, what string, r chunk.Array) error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("case %q: %w", what, err)
	}
	out := "out-" + what
	os.RemoveAll(filepath.Join(*dir, out))
	p, err := chunk.NewPlan(&chunk.Options{Memory: *memory}, chunk.Target{Array: r, Store: store, Path: out, Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian)}})
	if err != nil {
		return err
	}
	for _, s := range p.Stages() {
		fmt.Printf("%-28s %7d tasks of %v, peak %4d MiB, reads %6d MiB, writes %6d MiB\n", s.Name, s.Tasks, s.Region, s.Peak>>20, s.Read>>20, s.Write>>20)
	}
	if *bound >= 0 {
		mem.SetBound(*bound)
	}
	base := held("VmHWM")
	debug.SetMemoryLimit(int64(base)<<10 + int64(*workers)*p.Peak()) // as ashlar compute does
	debug.SetGCPercent(25)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	start := time.Now()
	if err := p.Run(ctx, &chunk.RunOptions{Workers: *workers, Progress: func(at chunk.Progress) {
		if os.Getenv("TRACE") != "" && at.Done%16 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			fmt.Printf("%+v heap inuse %d sys %d released %d next %d\n", mem.Stats(), m.HeapInuse>>20, m.HeapSys>>20, m.HeapReleased>>20, m.NextGC>>20)
		}
	}}); err != nil {
		return err
	}
	fmt.Printf("%s: %.1f s, base %d MiB, most %d MiB, planned %d MiB\n", what, time.Since(start).Seconds(), base>>10, held("VmHWM")>>10, int64(*workers)*p.Peak()>>20)
	return nil
}

// read reads all chunks of the dense array, and does nothing with them.
func read(ctx context.Context, store zarr.Store) error {
	a, err := zarr.Open(ctx, store, "dense", &zarr.Options{Workers: 1})
	if err != nil {
		return err
	}
	n := *cut / block
	start := time.Now()
	ends := make(chan error)
	for w := range *workers {
		go func() {
			var err error
			into := tensor.EmptyOf(dtype.Float32, block, block)
			for i := w; i < n*n && err == nil; i += *workers {
				err = a.ReadInto(ctx, []int{i / n * block, i % n * block}, into)
			}
			ends <- err
		}()
	}
	for range *workers {
		if e := <-ends; e != nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	fmt.Printf("read: %.1f s\n", time.Since(start).Seconds())
	return nil
}

// table runs all cases, and prints a Markdown table.
func table() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("| Case | Workers | Seconds | beside reading | Most MiB | base + workers × peak |")
	fmt.Println("|---|---|---|---|---|---|")
	reading := 1.0
	for _, c := range []string{"read", "mean-rows", "mean-columns", "var-rows", "var-columns", "max", "sparse-mean", "sparse-var", "columns", "product"} {
		n, m := *workers, *memory
		if c == "product" {
			n, m = 1, 2**memory
		}
		out, err := exec.Command(program, "-dir", *dir, "-workers", strconv.Itoa(n), "-memory", strconv.FormatInt(m, 10), c).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		last := strings.TrimPrefix(lines[len(lines)-1], c+": ")
		var seconds float64
		var base, most, planned int
		if c == "read" {
			fmt.Sscanf(last, "%f s", &reading)
			fmt.Printf("| read | %d | %.1f | 1.0 | | |\n", n, reading)
			continue
		}
		if _, err := fmt.Sscanf(last, "%f s, base %d MiB, most %d MiB, planned %d MiB", &seconds, &base, &most, &planned); err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, last)
		}
		fmt.Printf("| %s | %d | %.1f | %.1f | %d | %d |\n", c, n, seconds, seconds/reading, most, base+planned)
	}
	return nil
}

// held returns a line of /proc/self/status, in KiB.
func held(name string) int {
	b, _ := os.ReadFile("/proc/self/status")
	for _, line := range bytes.Split(b, []byte("\n")) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == name+":" {
			n, _ := strconv.Atoi(string(f[1]))
			return n
		}
	}
	return 0
}

func makeArrays(ctx context.Context, store zarr.Store) error {
	dense, err := zarr.Create(ctx, store, "dense", zarr.Metadata{DType: dtype.Float32, Shape: []int{*cut, *cut}, Chunks: []int{block, block}, Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian), zarr.Zstd(1)}}, nil)
	if err != nil {
		return err
	}
	if _, err := zarr.Create(ctx, store, "sparse", zarr.Metadata{DType: dtype.Float32, Shape: []int{huge, huge}, Chunks: []int{block, block}}, nil); err != nil {
		return err
	}
	f := func(_ context.Context, at chunk.Block, _ []tensor.Any) (tensor.Any, error) {
		r := rand.New(rand.NewPCG(uint64(at.Index[0]), uint64(at.Index[1])))
		x := make([]float32, at.Shape[0]*at.Shape[1])
		for i := range x {
			x[i] = float32(r.IntN(4096)) / 256
		}
		return tensor.FromSlice(x, at.Shape...).Any(), nil
	}
	for i := range *cut / block {
		for j := range *cut / block {
			t, err := f(ctx, chunk.Block{Index: []int{i, j}, Shape: []int{block, block}}, nil)
			if err == nil {
				err = dense.WriteChunk(ctx, t, i, j)
			}
			if err != nil {
				return err
			}
		}
	}
	sparse, err := zarr.Open(ctx, store, "sparse", nil)
	if err != nil {
		return err
	}
	for i := range 8 {
		t, _ := f(ctx, chunk.Block{Index: []int{i, i}, Shape: []int{block, block}}, nil)
		if err := sparse.WriteChunk(ctx, t, 7*i, 5*i); err != nil {
			return err
		}
	}
	return nil
}
