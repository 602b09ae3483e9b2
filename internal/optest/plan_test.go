package optest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestSteady runs plans twice, on the operands of the case and then on those rolled by one element, and compares
// with Run.
func TestSteady(t *testing.T) {
	prepared := make(map[string]bool)
	for _, o := range all.Operators() {
		cs := casesOf(o)
		if c, ok := largest(o); ok {
			cs = append(cs, c)
		}
		for i, c := range cs {
			for k, d := range []dtype.DType{dtype.Float32, dtype.Float16, dtype.Int32, dtype.Int64, dtype.Bool, dtype.FP16x16} {
				if !turn(i+k, 3) {
					continue
				}
				if !o.Supports(d) || c.only != nil && !c.only(d) || c.outputs > 1 {
					continue
				}
				r := newRun(o, i, c, d)
				want, err := o.Run(r.call(r.in))
				if err != nil || len(want) != 1 {
					continue // a plan needn't find every mistake before the run
				}
				out, err := tensor.Make(want[0].DType(), want[0].Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				fixed := r.fixed()
				call := r.call(r.in)
				call.Fixed = fixed
				p, err := o.Plan(call)
				if err != nil && !errors.Is(err, op.ErrUnknown) {
					t.Fatalf("%s, %s: %v", o.Name(), r.name, err)
				}
				if err != nil || !p.Steady() {
					continue
				}
				prepared[o.Name()] = true
				p.Into(out)
				p.Under(context.Background())
				if !bytes.Equal(content(p.Do()[0]), content(want[0])) {
					t.Errorf("%s, %s: other bits than Run", o.Name(), r.name)
				}
				for k, a := range r.in {
					if fixed[k] {
						continue
					}
					if b, ok := tensor.Bytes(a); ok && len(b) > 0 {
						n := a.DType().Size()
						copy(b, append(bytes.Clone(b[n:]), b[:n]...))
					}
				}
				want, err = o.Run(r.call(r.in))
				if err != nil || !sameShape(want[0], out) {
					continue
				}
				if !bytes.Equal(content(p.Do()[0]), content(want[0])) {
					t.Errorf("%s, %s: other bits than Run the second time", o.Name(), r.name)
				}
			}
		}
	}
	for _, name := range []string{"Add", "Relu", "MatMul", "Gemm", "Conv", "Softmax", "Concat", "Gather", "Transpose", "ReduceMean", "Clip"} {
		t.Logf("%s: %v", name, prepared[name])
	}
	if len(prepared) < 100 {
		t.Errorf("%d operators have such plans, want 100 or more", len(prepared))
	}
}

// fixed says which operands stay as they are where a graph would say so: those of integers, but for the first.
func (r *run) fixed() []bool {
	fixed := make([]bool, len(r.in))
	for k, a := range r.in {
		fixed[k] = k > 0 && (a.IsZero() || a.DType() == dtype.Int64)
	}
	return fixed
}

func sameShape(a, b tensor.Any) bool { return tensor.Describe(a) == tensor.Describe(b) }
