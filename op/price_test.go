package op_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A form of a form keeps the price and the context of a plan.
func TestFormsOfForms(t *testing.T) {
	unique, _ := op.Lookup("Unique")
	x := tensor.New[fixed.FP16x16](1000).Any()
	var want int64
	for i, o := range []*op.Op{unique, op.InFixed(unique, dtype.FP16x16), op.InOrion(unique), op.InOrion(op.InFixed(unique, dtype.FP16x16))} {
		p, err := o.Plan(&op.Call{Inputs: []tensor.Any{x}, Opset: 11})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Scratch(); i == 0 {
			want = got
		} else if got < want {
			t.Errorf("form %d takes %d bytes, the operator %d", i, got, want)
		}
	}
	argMax, _ := op.Lookup("ArgMax")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for i, o := range []*op.Op{op.InFixed(argMax, dtype.FP16x16), op.InOrion(argMax), op.InOrion(op.InFixed(argMax, dtype.FP16x16))} {
		p, err := o.Plan(&op.Call{Inputs: []tensor.Any{tensor.New[fixed.FP16x16](64, 64).Any()}, Opset: 13})
		if err != nil {
			t.Fatal(err)
		}
		p.Under(ended)
		if _, err := p.Run(); !errors.Is(err, context.Canceled) {
			t.Errorf("form %d under a context that has ended: %v", i, err)
		}
	}
}

// A plan of GroupQueryAttention doesn't look at lengths that aren't known.
func TestGroupQueryAttentionUnknownLengths(t *testing.T) {
	o, _ := op.Lookup("GroupQueryAttention")
	spec := func(d dtype.DType, shape ...int) tensor.Any {
		s, err := tensor.NewSpec(d, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return s.Any()
	}
	q, total := spec(dtype.Float32, 1, 4, 64), tensor.FromSlice([]int32{4}, 1).Any()
	for name, lengths := range map[string]tensor.Any{"spec": spec(dtype.Int32, 1), "changes": tensor.FromSlice([]int32{-1}, 1).Any()} {
		for outputs := 1; outputs <= 3; outputs += 2 {
			call := &op.Call{Inputs: []tensor.Any{q, q, q, {}, {}, lengths, total}, Attrs: op.AttrMap{"num_heads": int64(2), "kv_num_heads": int64(2)}, Opset: 1, Outputs: outputs,
				Fixed: []bool{false, false, false, false, false, false, true}}
			p, err := o.Plan(call)
			if outputs == 1 && (err != nil || p.Scratch() < 2*4*4*4) || outputs == 3 && !errors.Is(err, op.ErrUnknown) {
				t.Errorf("%s, %d outputs: %v", name, outputs, err)
			}
		}
	}
}
