package onnx

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

var costs = flag.Int("costs", 0, "print what receipts cost, measured in so many turns")

// resnet18 is the network of that name for pictures of side by side, with random weights, its normalizations part of the convolutions.
func resnet18(t testing.TB, side int) (*Model, map[string]Value) {
	t.Helper()
	b := NewBuilder("resnet18")
	seed := uint64(0)
	weight := func(shape ...int) string {
		seed++
		return b.Weight(fmt.Sprint("w", seed), tensor.RandomNormal[float32](seed, 0, 0.05, shape...).Any())
	}
	conv := func(x string, in, out, k, stride int) string {
		p := int64(k / 2)
		return b.Node("Conv", []string{x, weight(out, in, k, k), weight(out)}, IntsAttr("strides", int64(stride), int64(stride)), IntsAttr("pads", p, p, p, p))
	}
	x := b.Input("x", dtype.Float32, 1, 3, side, side)
	y := b.Node("Relu", []string{conv(x, 3, 64, 7, 2)})
	y = b.Node("MaxPool", []string{y}, IntsAttr("kernel_shape", 3, 3), IntsAttr("strides", 2, 2), IntsAttr("pads", 1, 1, 1, 1))
	in := 64
	for _, out := range []int{64, 128, 256, 512} {
		for block := range 2 {
			stride, short := 1, y
			if block == 0 && out > 64 {
				stride = 2
				short = conv(y, in, out, 1, 2)
			}
			z := b.Node("Relu", []string{conv(y, in, out, 3, stride)})
			y = b.Node("Relu", []string{b.Node("Add", []string{conv(z, out, out, 3, 1), short})})
			in = out
		}
	}
	y = b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{y})})
	b.Output(b.Node("Gemm", []string{y, weight(512, 1000), weight(1000)}), dtype.Float32, 1, 1000)
	m, err := b.Model(18)
	if err != nil {
		t.Fatal(err)
	}
	return m, map[string]Value{"x": TensorValue(tensor.RandomNormal[float32](1, 0, 1, 1, 3, side, side).Any())}
}

// encoder6 is an encoder of 6 layers: width 384, 12 heads, 1536 between, a sequence of 128.
func encoder6(t testing.TB) (*Model, map[string]Value) {
	t.Helper()
	b := NewBuilder("encoder6")
	seed := uint64(0)
	weight := func(shape ...int) string {
		seed++
		return b.Weight(fmt.Sprint("w", seed), tensor.RandomNormal[float32](seed, 0, 0.05, shape...).Any())
	}
	dense := func(x string, in, out int) string {
		return b.Node("Add", []string{b.Node("MatMul", []string{x, weight(in, out)}), weight(out)})
	}
	apart := b.Weight("apart", tensor.FromSlice([]int64{1, 128, 12, 32}, 4).Any())
	joined := b.Weight("joined", tensor.FromSlice([]int64{1, 128, 384}, 3).Any())
	scale := b.Weight("scale", tensor.Scalar[float32](0.17677669).Any())
	x := b.Input("x", dtype.Float32, 1, 128, 384)
	y := x
	for range 6 {
		heads := func(perm ...int64) string {
			return b.Node("Transpose", []string{b.Node("Reshape", []string{dense(y, 384, 384), apart})}, IntsAttr("perm", perm...))
		}
		q, k, v := heads(0, 2, 1, 3), heads(0, 2, 3, 1), heads(0, 2, 1, 3)
		p := b.Node("Softmax", []string{b.Node("Mul", []string{b.Node("MatMul", []string{q, k}), scale})}, IntAttr("axis", -1))
		a := b.Node("Reshape", []string{b.Node("Transpose", []string{b.Node("MatMul", []string{p, v})}, IntsAttr("perm", 0, 2, 1, 3)), joined})
		y = b.Node("LayerNormalization", []string{b.Node("Add", []string{y, dense(a, 384, 384)}), weight(384), weight(384)})
		h := dense(b.Node("Gelu", []string{dense(y, 384, 1536)}), 1536, 384)
		y = b.Node("LayerNormalization", []string{b.Node("Add", []string{y, h}), weight(384), weight(384)})
	}
	b.Output(y, dtype.Float32, 1, 128, 384)
	m, err := b.Model(20)
	if err != nil {
		t.Fatal(err)
	}
	return m, map[string]Value{"x": TensorValue(tensor.RandomNormal[float32](1, 0, 1, 1, 128, 384).Any())}
}

// net is resnet18, for pictures of side by side, or encoder6, or the digits model.
func net(t testing.TB, name string, side int) (*Model, map[string]Value) {
	t.Helper()
	switch name {
	case "resnet18":
		return resnet18(t, side)
	case "encoder6":
		return encoder6(t)
	}
	m, err := Open(filepath.FromSlash("../testdata/digits.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	return m, map[string]Value{"image": TensorValue(tensor.RandomUniform[float32](1, 0, 1, 1, 1, 8, 8).Any())}
}

// BenchmarkNets runs whole models, which are there and prepared before the first run that counts.
func BenchmarkNets(b *testing.B) {
	for _, name := range []string{"digits", "resnet18", "encoder6"} {
		var run func()
		b.Run(name, func(b *testing.B) {
			if run == nil {
				m, in := net(b, name, 64)
				s, err := NewSession(m)
				if err != nil {
					b.Fatal(err)
				}
				run = func() {
					if _, err := s.RunValues(context.Background(), in, nil); err != nil {
						b.Fatal(err)
					}
				}
				run()
				b.ResetTimer()
			}
			for range b.N {
				run()
			}
		})
	}
}

// TestReceiptCost prints the cost of receipts: go test ./onnx -run TestReceiptCost -v -costs 50.
func TestReceiptCost(t *testing.T) {
	if *costs == 0 {
		t.Skip("it measures: -costs 50 prints the cost of receipts")
	}
	block := make([]byte, 64<<20)
	var rate float64
	for range 5 {
		start := time.Now()
		sha256.Sum256(block)
		rate = max(rate, float64(len(block))/time.Since(start).Seconds())
	}
	t.Logf("SHA-256 on one core: %.2f GB/s", rate/1e9)
	for _, name := range []string{"resnet18", "encoder6"} {
		m, in := net(t, name, 224)
		s, err := NewSession(m)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := m.Digests(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: weights %v, once", name, time.Since(start).Round(time.Millisecond/10))
		var r receipt.Receipt
		ctx := context.Background()
		if _, err := s.RunValues(ctx, in, &Options{Receipt: &r, ReceiptNodes: true}); err != nil {
			t.Fatal(err)
		}
		bytes := int64(0)
		if _, err := s.whole.RunValues(ctx, in, &Options{Observe: func(n *NodeRun) { bytes += n.Bytes }}); err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			ways := []struct {
				s *Session
				o Options
			}{{s, Options{}}, {s, Options{Receipt: &r}}, {s.whole, Options{}}, {s, Options{Receipt: &r, ReceiptNodes: true}}}
			times := make([][]float64, len(ways))
			for range *costs {
				for i, w := range ways {
					w.o.Threads = threads
					start := time.Now()
					if _, err := w.s.RunValues(ctx, in, &w.o); err != nil {
						t.Fatal(err)
					}
					times[i] = append(times[i], time.Since(start).Seconds())
				}
			}
			least := make([]float64, len(ways))
			for i := range ways {
				least[i] = slices.Min(times[i])
			}
			more := func(a, b int) float64 { // the median of the ratios, in turns
				list := make([]float64, len(times[a]))
				for i := range list {
					list[i] = times[a][i] / times[b][i]
				}
				slices.Sort(list)
				return 100 * (list[len(list)/2] - 1)
			}
			alone := float64(bytes) / rate
			t.Logf("%s, %d threads: run %.2f ms; receipt %+.2f %% (least times %+.2f %%); whole run %.2f ms; all nodes, %.1f MB, %+.1f %% (least %+.1f %%, %.2f GB/s); hashing alone %.2f ms, %+.1f %%",
				name, threads, 1e3*least[0], more(1, 0), 100*(least[1]/least[0]-1), 1e3*least[2], float64(bytes)/1e6, more(3, 2), 100*(least[3]/least[2]-1), float64(bytes)/(least[3]-least[2])/1e9, 1e3*alone, 100*alone/least[2])
		}
	}
}
