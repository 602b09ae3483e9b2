// Command quantize measures onnx/quantize: the time and the peak memory for a model of the size of ResNet-18 with made-up weights and 100 pictures
// of noise, and the times of a run before and after.
//
//	go run ./quantize [-pictures 100] [-range extremes] [-threads 1]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	log.SetFlags(0)
	pictures := flag.Int("pictures", 100, "samples")
	ranges := flag.String("range", "extremes", "extremes, percentile or error")
	threads := flag.Int("threads", 1, "of each run")
	flag.Parse()
	if err := run(*pictures, *ranges, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(pictures int, ranges string, threads int) error {
	m, err := resnet()
	if err != nil {
		return err
	}
	o := quantize.Options{Run: onnx.Options{Threads: threads}}
	for o.Range.String() != ranges {
		if o.Range++; o.Range > quantize.LeastError {
			return fmt.Errorf("there is no range %s", ranges)
		}
	}
	sample := func(i int) map[string]onnx.Value {
		x := tensor.RandomUniform[float32](uint64(i)+1, -2, 2, 1, 3, 224, 224)
		return map[string]onnx.Value{"x": onnx.TensorValue(x.Any())}
	}
	samples := func(f func(string, map[string]onnx.Value) error) error {
		for i := range pictures {
			if err := f(fmt.Sprint("picture ", i), sample(i)); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := context.Background()
	before, start := peak(), time.Now()
	q, r, err := quantize.Static(ctx, m, samples, &o)
	if err != nil {
		return err
	}
	spent, after := time.Since(start), peak()
	fmt.Printf("%d of %d products, %d pictures, range %v, %d threads: %.1f s, peak %d MiB, %d before\n", r.Quantized, r.Products, pictures, o.Range, threads, spent.Seconds(), after>>20, before>>20)
	a, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	b, err := onnx.NewIntegerSession(q)
	if err != nil {
		return err
	}
	least, in := [2]float64{math.Inf(1), math.Inf(1)}, sample(0)
	for range 50 { // in turns, as other programs may run on the machine
		for k, s := range []*onnx.Session{a, b} {
			start := time.Now()
			if _, err := s.RunValues(ctx, in, &o.Run); err != nil {
				return err
			}
			least[k] = min(least[k], time.Since(start).Seconds())
		}
	}
	fmt.Printf("the least time of 50 runs: of floats %.1f ms, on integers %.1f ms\n", 1000*least[0], 1000*least[1])
	return nil
}

// peak is the most bytes that the process has had in memory, 0 where the system doesn't say.
func peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}

// resnet is a model with the shapes of ResNet-18: "Deep residual learning for image recognition", He and others, 2015. Its weights are noise that keeps the size of
// activations, and each Conv has a BatchNormalization.
func resnet() (*onnx.Model, error) {
	b, seed := onnx.NewBuilder("resnet18"), uint64(100)
	weight := func(most float64, plus float32, shape ...int) string {
		seed++
		return b.Weight(fmt.Sprint("w", seed), tensor.RandomUniform[float32](seed, plus-float32(most), plus+float32(most), shape...).Any())
	}
	conv := func(x string, in, out, kernel, stride int) string {
		pad := int64(kernel / 2)
		x = b.Node("Conv", []string{x, weight(math.Sqrt(6/float64(in*kernel*kernel)), 0, out, in, kernel, kernel)}, onnx.IntsAttr("strides", int64(stride), int64(stride)), onnx.IntsAttr("pads", pad, pad, pad, pad))
		return b.Node("BatchNormalization", []string{x, weight(0.1, 1, out), weight(0.1, 0, out), weight(0.1, 0, out), weight(0.1, 1, out)})
	}
	x := b.Node("Relu", []string{conv(b.Input("x", dtype.Float32, "n", 3, 224, 224), 3, 64, 7, 2)})
	x = b.Node("MaxPool", []string{x}, onnx.IntsAttr("kernel_shape", 3, 3), onnx.IntsAttr("strides", 2, 2), onnx.IntsAttr("pads", 1, 1, 1, 1))
	in := 64
	for stage, out := range []int{64, 128, 256, 512} {
		for block := range 2 {
			stride := 1
			if stage > 0 && block == 0 {
				stride = 2
			}
			y := conv(b.Node("Relu", []string{conv(x, in, out, 3, stride)}), out, out, 3, 1)
			if in != out {
				x = conv(x, in, out, 1, stride)
			}
			x, in = b.Node("Relu", []string{b.Node("Add", []string{y, x})}), out
		}
	}
	x = b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{x})})
	b.Output(b.Rename(b.Node("Gemm", []string{x, weight(0.05, 0, 1000, 512), weight(0.05, 0, 1000)}, onnx.IntAttr("transB", 1)), "y"), dtype.Float32, "n", 1000)
	return b.Model(17)
}
