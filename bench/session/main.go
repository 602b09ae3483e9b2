// Command session measures a session. It opens a mapped model with 512 MiB of random weights, and times the steps to the end
// of the first run. Then it runs the digits model many times, and prints the memory before and after. From the root of the
// repository, on Linux:
//
//	go run ./bench/session
//
// Each figure is the median of -rounds. The file is written first, so that the system has it in memory.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	side   = 4096
	layers = 8 // of side × side float32, 64 MiB each
)

func main() {
	rounds := flag.Int("rounds", 5, "how often the large model is opened")
	runs := flag.Int("runs", 10000, "runs of the digits model")
	flag.Parse()
	if err := run(*rounds, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
		os.Exit(1)
	}
}

func run(rounds, runs int) error {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "large.onnx")
	if err := write(file); err != nil {
		return err
	}
	debug.FreeOSMemory()
	var opened, first, later []float64
	var took float64
	for range rounds {
		if err := large(file, &opened, &first, &later, &took); err != nil {
			return err
		}
	}
	fmt.Printf("512 MiB of weights: Open and NewSession %.1f ms, first run %.1f ms, later runs %.1f ms: beyond a run %.1f ms\n",
		median(opened), median(first), median(later), median(opened)+median(first)-median(later))
	fmt.Printf("the most memory of a run: %.2f of what its plan says\n", took)
	return steady(runs)
}

// write writes a chain of products with square matrices.
func write(file string) error {
	b := onnx.NewBuilder("large")
	x := b.Input("x", dtype.Float32, 1, side)
	for i := range layers {
		w := tensor.RandomNormal[float32](uint64(i), 0, 1.0/64, side, side)
		x = b.Node("MatMul", []string{x, b.Weight(fmt.Sprint("w", i), w.Any())})
		w.Close()
	}
	b.Output(b.Rename(x, "y"), dtype.Float32, 1, side)
	m, err := b.Model(13)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.WriteExternal(file, 1<<20)
}

// large opens the model and runs it. It adds milliseconds to the lists, and keeps the largest quotient of memory in took.
func large(file string, opened, first, later *[]float64, took *float64) error {
	in := map[string]tensor.Any{"x": tensor.RandomNormal[float32](99, 0, 1, 1, side).Any()}
	begin := time.Now()
	m, err := onnx.Open(file)
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	mark := func(list *[]float64) {
		*list = append(*list, float64(time.Since(begin).Microseconds())/1000)
		begin = time.Now()
	}
	mark(opened)
	for i := range 4 {
		if i == 3 {
			mem.SetBound(mem.SetBound(1 << 40)) // the peak begins anew
		}
		before := mem.Stats().Live
		begin = time.Now()
		out, err := s.Run(context.Background(), in, nil)
		if err != nil {
			return err
		}
		mark(map[bool]*[]float64{true: first, false: later}[i == 0])
		if i == 3 {
			plan, err := s.Plan(in)
			if err != nil {
				return err
			}
			*took = max(*took, float64(plan.Weights+mem.Stats().Peak-before)/float64(plan.Weights+plan.Live))
		}
		out["y"].Close()
	}
	return nil
}

// steady runs the digits model again and again.
func steady(runs int) error {
	m, err := onnx.Open("testdata/digits.onnx")
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	st, err := s.Stream(nil)
	if err != nil {
		return err
	}
	defer st.Close()
	in := map[string]tensor.Any{"image": tensor.Full[float32](0.5, 1, 1, 8, 8).Any()}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, way := range []struct {
		name string
		run  func() error
	}{
		{"Session.Run", func() error { _, err := s.Run(ctx, in, nil); return err }},
		{"Stream.Run", func() error { _, err := st.Run(ctx, in); return err }},
	} {
		for range runs / 10 { // until the collector knows how much there is
			if err := way.run(); err != nil {
				return err
			}
		}
		before, made := resident(), mallocs()
		begin := time.Now()
		for range runs {
			if err := way.run(); err != nil {
				return err
			}
		}
		spent := time.Since(begin)
		after, more := resident(), mallocs()-made
		fmt.Printf("%s of the digits model, %d times: %.1f µs and %.1f allocations each, resident memory %.1f MiB before, %.1f MiB after\n", way.name, runs,
			float64(spent.Nanoseconds())/1000/float64(runs), float64(more)/float64(runs), before, after)
	}
	return nil
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// resident returns how many MiB of the process are in memory, 0 where Linux doesn't say it.
func resident() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, pages float64
	if err == nil {
		fmt.Sscan(string(b), &size, &pages)
	}
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
