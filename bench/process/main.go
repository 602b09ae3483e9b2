//go:build linux

// Command process looks at a process that loads models for months: each round opens a model, makes a session, runs it and closes
// both. It prints the resident memory after each tenth of the rounds. On Linux, where it takes no huge pages, whose 2 MiB would hide
// a small leak:
//
//	go run ./process [-rounds 1000] [-library libonnxruntime.so.1] [MODEL]
//
// With -library, each round then runs the model through ONNX Runtime, too, which the process has loaded: from npm's package
// onnxruntime-node, for one. Its outputs must be near ours, and ours must be the same bits in all rounds. That wants cgo.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// readings is how often the memory is read.
const readings = 10

func main() {
	log.SetFlags(0)
	count := flag.Int("rounds", 1000, "rounds; at least 10")
	library := flag.String("library", "", "the file of ONNX Runtime's library")
	flag.Parse()
	file := "../testdata/digits.onnx"
	if flag.NArg() > 0 {
		file = flag.Arg(0)
	}
	if *count < readings || flag.NArg() > 1 {
		log.Fatal("usage: go run ./process [-rounds 1000] [-library libonnxruntime.so.1] [MODEL]")
	}
	list, err := rounds(*count, func() error {
		_, err := load(file)
		return err
	})
	report("Ashlar", *count, list, err)
	if *library != "" {
		list, err = turns(*count, *library, file)
		report("Ashlar and ONNX Runtime in turns", *count, list, err)
	}
}

func report(title string, count int, list []float64, err error) {
	if err != nil {
		log.Fatalf("%s: %v", title, err)
	}
	fmt.Println(title)
	for i, m := range list {
		fmt.Printf("after round %d: %.1f MiB\n", (i+1)*(count/readings), m)
	}
}

// rounds calls f, and returns the resident memory in MiB after each tenth of the rounds. Half as many rounds precede them, until the
// collector and the kept memory know how much there is.
func rounds(count int, f func() error) (list []float64, err error) {
	const disableHugePages = 41 // PR_SET_THP_DISABLE; where it fails, the readings vary by 2 MiB
	syscall.RawSyscall(syscall.SYS_PRCTL, disableHugePages, 1, 0)
	each := count / readings
	for i := -each * readings / 2; i < each*readings; i++ {
		if err := f(); err != nil {
			return nil, err
		}
		if i >= 0 && (i+1)%each == 0 {
			debug.FreeOSMemory() // the heap's garbage isn't kept by anyone
			list = append(list, resident())
		}
	}
	return list, nil
}

// resident returns how many MiB of the process are in memory, 0 where /proc doesn't say it.
func resident() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, pages float64
	if err == nil {
		fmt.Fscan(bytes.NewReader(b), &size, &pages)
	}
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

// A result has the elements of the outputs that are float32, in the order of the model.
type result struct {
	inputs, outputs []string
	shapes          [][]int // of the inputs, and zeros where the model says none
	elements        [][]float32
}

// load opens a model, runs it on inputs of 0.5, and closes it.
func load(file string) (r result, err error) {
	m, err := onnx.Open(file)
	if err != nil {
		return r, err
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		return r, err
	}
	in := map[string]tensor.Any{}
	for _, v := range s.Inputs() {
		var shape []int
		for _, d := range v.Type.Shape {
			shape = append(shape, max(int(d.Value), 1))
		}
		in[v.Name] = tensor.Full[float32](0.5, shape...).Any()
		r.inputs, r.shapes = append(r.inputs, v.Name), append(r.shapes, shape)
	}
	out, err := s.Run(op.WithThreads(context.Background(), 1), in, nil)
	if err != nil {
		return r, err
	}
	for _, v := range s.Outputs() {
		a, err := tensor.Contiguous(out[v.Name])
		if err != nil {
			return r, err
		}
		t, ok := tensor.As[float32](a)
		if !ok {
			return r, fmt.Errorf("output %q is %v, not of float32", v.Name, out[v.Name].DType())
		}
		r.outputs, r.elements = append(r.outputs, v.Name), append(r.elements, t.Elems())
	}
	return r, nil
}

// far returns an error where b isn't near a; nearest is 0 for equal bits.
func far(a, b [][]float32, nearest float64) error {
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return fmt.Errorf("output %d has %d elements, not %d", i, len(b[i]), len(a[i]))
		}
		for j, v := range a[i] {
			if w := b[i][j]; !(math.Abs(float64(v)-float64(w)) <= nearest) {
				return fmt.Errorf("element %d of output %d is %v, not %v", j, i, w, v)
			}
		}
	}
	return nil
}
