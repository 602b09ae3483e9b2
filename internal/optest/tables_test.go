package optest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var shapesEach = flag.Int("cases", 4, "on how many random shapes TestScratchOfShapes runs each operator")

const (
	slack    = 512 << 10 // bytes that Scratch doesn't count; as much again as it does is garbage that the collector hasn't seen
	mostSize = 1 << 20   // elements of an operand or a result
)

// products keep memory for the next one, which Scratch counts only as far as it is used.
var products = []string{"Attention", "CausalConvWithState", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "DynamicQuantizeMatMul", "Einsum", "FusedMatMul", "Gemm", "GroupQueryAttention", "GRU", "Inner",
	"LSTM", "LinearAttention", "MatMul", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits", "MultiHeadAttention", "QGemm", "QLinearConv", "QLinearMatMul", "RNN", "TensorDot"}

// TestScratchOfShapes runs each operator on operands of random shapes, with random numbers for arguments: it takes no more
// memory than its results and what Scratch says, but for a slack.
func TestScratchOfShapes(t *testing.T) {
	defer mem.SetBound(mem.SetBound(0)) // so that the Go heap counts all memory
	for _, o := range all.Operators() {
		cs := boundsOf(o)
		r := rand.New(rand.NewPCG(7, 7))
		ran := 0
		for n := 0; n < *shapesEach && len(cs) > 0; n++ {
			c := other(r, cs[r.IntN(len(cs))])
			ds := boundTypes(o, c)
			if len(ds) == 0 || slices.ContainsFunc(c.in, func(in input) bool { return size(in.shape) > mostSize }) {
				continue
			}
			x := newRun(o, 0, c, ds[r.IntN(len(ds))])
			what := o.Name()
			for k, a := range x.in {
				if !a.IsZero() {
					what += fmt.Sprint(" ", tensor.Describe(a), c.in[k].values)
				}
			}
			spec, err := o.Infer(x.call(specs(x.in)))
			if err != nil || slices.ContainsFunc(spec, func(a tensor.Any) bool { return !a.IsZero() && a.Len() > mostSize }) {
				continue
			}
			p, err := o.Plan(x.call(x.in))
			if err != nil {
				continue
			}
			said := p.Scratch()
			var out []tensor.Any
			took := live(func() { out, err = p.Run() })
			if err != nil {
				continue
			}
			ran++
			for _, a := range out {
				if a.IsZero() {
					continue
				}
				took -= int64(a.Len() * a.DType().Size())
			}
			most := 2*said + slack
			if slices.Contains(products, o.Name()) {
				most += panels * int64(op.Threads(context.Background()))
			}
			if x.in != nil && !x.in[0].IsZero() && x.in[0].DType().IsFixed() {
				most += 2 << 20 // garbage of numbers of any length
			}
			if took > most {
				t.Errorf("%s %v: it took %d bytes besides results, Scratch says %d", what, c.attrs, took, said)
			}
		}
		if ran == 0 && len(cs) > 0 {
			t.Logf("%s ran on no shapes", o.Name())
		}
	}
}

// live runs f and returns how many bytes more than before it there were, as the collector counts them, which runs all
// the time: what is garbage at once isn't among them. Some moments are missed.
func live(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	runtime.GC()
	now := func() int64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	before, most := now(), int64(0)
	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			most = max(most, now())
			select {
			case <-done:
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return most - before
}

func size(shape []int) int {
	n := 1
	for _, e := range shape {
		if n *= e; n > mostSize {
			return n
		}
	}
	return n
}

// other returns a case with other extents, each in all operands that have it, and other numbers for arguments.
func other(r *rand.Rand, c testCase) testCase {
	to := map[int64]int64{}
	number := func(v int64, odds int) int64 {
		if v > 1 && to[v] == 0 {
			to[v] = v
			if r.IntN(2) == 0 {
				to[v] = 1 + r.Int64N(1<<r.IntN(19))
			}
		}
		switch {
		case odds > 0 && r.IntN(odds) == 0:
			return 1 + r.Int64N(1<<r.IntN(19))
		case v > 1:
			return to[v]
		}
		return v
	}
	c.in = slices.Clone(c.in)
	for i := range c.in {
		in := &c.in[i]
		in.shape, in.values = slices.Clone(in.shape), slices.Clone(in.values)
		for k, e := range in.shape {
			if in.values == nil {
				in.shape[k] = int(number(int64(e), 0))
			}
		}
	}
	for i := range c.in {
		for k, v := range c.in[i].values {
			c.in[i].values[k] = number(v, 3)
		}
	}
	c.attrs = maps.Clone(c.attrs)
	for name, a := range c.attrs {
		switch a := a.(type) {
		case int64:
			c.attrs[name] = number(a, 8)
		case []int64:
			list := slices.Clone(a)
			for k := range list {
				list[k] = number(list[k], 8)
			}
			c.attrs[name] = list
		}
	}
	return c
}
