package optest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var shapesEach = flag.Int("cases", 2, "on how many random shapes TestScratchOfShapes runs each operator")

const slack = 512 << 10 // bytes that Scratch doesn't count; as much again as it does is garbage that the collector hasn't seen

// keepers keep memory for the next one, which Scratch counts only as far as it is used: products, and operators that turn planes.
var keepers = []string{"Attention", "AveragePool", "CausalConvWithState", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "DynamicQuantizeMatMul", "Einsum", "FusedMatMul", "Gemm", "GroupQueryAttention", "GRU", "Inner",
	"LRN", "LSTM", "LinearAttention", "MatMul", "MaxPool", "MatMulInteger", "MatMulIntegerToFloat", "MatMulNBits", "MultiHeadAttention", "QGemm", "QLinearAveragePool", "QLinearConv", "QLinearMatMul", "RNN", "TensorDot"}

// greedy are calls that take much besides results, which random shapes seldom do.
var greedy = map[string]testCase{
	"BatchNormalization": {in: []input{data(3, 300000), data(300000), data(300000), data(300000), data(300000)}, attrs: attrs{"training_mode": int64(1)}, outputs: 3, only: dtype.DType.IsFloat},
	"Inner":              {in: []input{bools(89377, 6), bools(8, 6)}},
	"RoiAlign":           {in: []input{data(1, 1, 9, 9), data(2, 4), ints(0, 0)}, attrs: attrs{"sampling_ratio": int64(1000)}},
}

// TestScratchOfShapes runs each operator on operands of random shapes, with random numbers for arguments: it takes no more
// memory than its results and what Scratch says, but for a slack.
func TestScratchOfShapes(t *testing.T) {
	defer mem.SetBound(mem.SetBound(0)) // so that the Go heap counts all memory
	for _, o := range all.Operators() {
		cs := boundsOf(o)
		r := rand.New(rand.NewPCG(7, 7))
		ran := 0
		for n := 0; n < *shapesEach && len(cs) > 0; n++ {
			c, ok := greedy[o.Name()]
			if !ok || n > 0 {
				c = other(r, cs[r.IntN(len(cs))], 19, map[int64]int64{})
			}
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
			most := 2*said + slack
			if slices.Contains(keepers, o.Name()) {
				most += panels * int64(op.Threads(context.Background()))
			}
			if x.in != nil && !x.in[0].IsZero() && x.in[0].DType().IsFixed() {
				most += 2 << 20 // garbage of numbers of any length
			}
			var took int64
			for n := 0; n == 0 || n < 3 && err == nil && took > most; n++ { // memory that is no longer kept may not have gone yet
				if p, err = o.Plan(x.call(x.in)); err == nil {
					took, err = besides(p.Run)
				}
			}
			if err != nil {
				continue
			}
			if ran++; took > most {
				t.Errorf("%s %v: it took %d bytes besides results, Scratch says %d", what, c.attrs, took, said)
			}
		}
		if ran == 0 && len(cs) > 0 {
			t.Logf("%s ran on no shapes", o.Name())
		}
	}
}

// besides returns how many bytes f took besides its results.
func besides(f func() ([]tensor.Any, error)) (took int64, err error) {
	var out []tensor.Any
	took = live(func() { out, err = f() })
	for _, a := range out {
		if !a.IsZero() {
			took -= int64(a.Len() * a.DType().Size())
		}
	}
	return took, err
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
