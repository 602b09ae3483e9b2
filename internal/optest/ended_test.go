package optest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var looks = flag.Int("looks", 0, "TestEnded runs all cases, the small ones of all types, with one and three threads, and ends them after up to so many looks at the context")

// TestEnded runs operators, also prepared ones and those with kept weights, under a context that ends after a number of looks. A call
// gives an error that says so, or the bits that it gives otherwise.
func TestEnded(t *testing.T) {
	calls, stopped := 0, 0
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for k, o := range all.Operators() {
		cs := casesOf(o)
		if n := len(cs); n > 0 && *looks == 0 {
			cs = cs[n-1:]
		}
		small := len(cs)
		if c, ok := largest(o); ok {
			cs = append(cs, c)
		}
		cs = append(cs, long(key(o))...)
		for i, c := range cs {
			for _, d := range dtype.All() {
				switch {
				case !o.Supports(d), c.only != nil && !c.only(d):
					continue
				case *looks > 0 && (i < small || d == dtype.Float32 || d == dtype.Float16 || d == dtype.Int8 || d == dtype.Bool):
				case d != dtype.Float32 && (o.Supports(dtype.Float32) || d != dtype.Bool && d != dtype.Int64):
					continue
				}
				for _, threads := range []int{1, 3} {
					if *looks == 0 && !turn(k+threads/2, 2) {
						continue
					}
					runtime.GOMAXPROCS(threads)
					n, s := newRun(o, i, c, d).end(t)
					calls, stopped = calls+n, stopped+s
				}
			}
		}
	}
	if t.Logf("%d calls, of which %d were stopped", calls, stopped); stopped < calls/4 {
		t.Error("too few calls were stopped: the cases are too small")
	}
}

// long has calls with so much work in one piece that it is looked at the context in the middle.
func long(name string) (cs []testCase) {
	calm := func(a attrs, in ...input) { cs = append(cs, testCase{in: in, attrs: a, calm: true}) }
	switch name {
	case "MatMul", "FusedMatMul", "Gemm":
		calm(nil, data(4, 3000), data(3000, 4))
		calm(nil, data(2, 600), data(600, 9000))
		calm(nil, data(30, 600), data(600, 40))
		calm(nil, data(1, 30000), data(30000, 1))
		if name != "Gemm" {
			calm(nil, data(70, 1, 600), data(70, 600, 1))
		}
	case "MatMulInteger":
		calm(nil, data(4, 3000), data(3000, 4))
	case "Einsum":
		calm(attrs{"equation": "i,i->"}, data(30000), data(30000))
		calm(attrs{"equation": "aik,akj->ij"}, data(3, 4, 700), data(3, 700, 5))
	case "Conv", "ConvTranspose":
		calm(nil, data(1, 700, 5), data(700, 3, 2))
		if name == "Conv" {
			cs[0].in[1] = data(3, 700, 2)
		}
	case "LinearAttention":
		calm(attrs{"q_num_heads": int64(1), "kv_num_heads": int64(1), "update_rule": "linear"}, data(1, 40, 4), data(1, 40, 4), data(1, 40, 4))
		cs[0].outputs = 2
	case "Attention":
		calm(nil, data(1, 1, 3, 1), data(1, 1, 1<<20, 1), data(1, 1, 1<<20, 1))
	case "LSTM", "GRU", "RNN":
		gates := map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[name]
		calm(nil, data(50, 6, 3), data(1, gates*4, 3), data(1, gates*4, 4))
	case "ReduceSum", "ReduceL2", "ReduceMax", "ReduceLogSumExp":
		calm(nil, data(300_000))
	case "TopK":
		calm(nil, data(40, 4000), ints(7))
	case "Unique":
		calm(nil, data(9000))
	case "CumSum":
		calm(nil, data(40, 4000), index(nil, 1))
	}
	return cs
}

// end ends a case after 0, 1, 2 and more looks, and later ones if there are many.
func (r *run) end(t *testing.T) (calls, stopped int) {
	want, bits, err := r.result(r.in)
	if err != nil {
		t.Fatalf("%s, %s: %v", r.op.Name(), r.name, err)
	}
	for i := range bits {
		bits[i] = bytes.Clone(bits[i])
	}
	try := func(what string, call func(ctx context.Context) ([]tensor.Any, [][]byte, error)) {
		after := func(k int) (seen int) {
			ctx := ended.After(k)
			got, gotBits, err := call(ctx)
			if err == nil {
				err = differ(got, want, gotBits, bits)
			} else if errors.Is(err, context.Canceled) {
				stopped++
				err = nil
			}
			if err != nil {
				t.Fatalf("%s, %s%s, which ends after %d looks: %v", r.op.Name(), r.name, what, k, err)
			}
			calls++
			return ctx.Looks()
		}
		all, most := after(math.MaxInt), max(*looks, 3)
		for i := range min(all, most) {
			after(i * max(all, most) / most)
		}
	}
	plain := r.op
	defer func() { r.op, r.ctx = plain, nil }()
	try("", func(ctx context.Context) ([]tensor.Any, [][]byte, error) {
		r.op, r.ctx = plain, ctx
		return r.result(r.in)
	})
	if _, n := withWeights(plain, r.call(r.in)); n > 0 {
		try(" with weights", func(ctx context.Context) ([]tensor.Any, [][]byte, error) {
			r.op, _ = withWeights(plain, r.call(r.in))
			r.ctx = ctx
			return r.result(r.in)
		})
	}
	r.op, r.ctx = plain, nil
	if len(want) != 1 || r.unfit {
		return calls, stopped
	}
	out := tensor.EmptyOf(want[0].DType(), want[0].Shape()...)
	call := r.call(r.in)
	call.Fixed = r.fixed()
	if p, err := plain.Plan(call); err == nil && p.Steady() {
		p.Into(out)
		try(" planned", func(ctx context.Context) ([]tensor.Any, [][]byte, error) {
			if b, ok := tensor.Bytes(out); ok {
				poison(b, out.DType())
			}
			p.Under(ctx)
			list, err := p.Run()
			if err != nil {
				return nil, nil, err
			}
			return list, [][]byte{content(list[0])}, err
		})
	}
	return calls, stopped
}
