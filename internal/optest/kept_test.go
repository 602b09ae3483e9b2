package optest

import (
	"bytes"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// TestWithWeights compares forms that keep weights with Run: in the first call, in a later one, and with other weights.
func TestWithWeights(t *testing.T) {
	kept := make(map[string]bool)
	for _, o := range all.Operators() {
		cs := casesOf(o)
		if c, ok := largest(o); ok {
			cs = append(cs, c)
		}
		for i, c := range cs {
			for k, d := range []dtype.DType{dtype.Float32, dtype.Float64, dtype.Float16} {
				if !turn(i+k, 2) {
					continue
				}
				if !o.Supports(d) || c.only != nil && !c.only(d) {
					continue
				}
				r := newRun(o, i, c, d)
				given := r.call(make([]tensor.Any, len(r.in)))
				for _, k := range []int{1, 2} {
					if k < len(r.in) {
						given.Inputs[k] = r.in[k]
					}
				}
				form, size := withWeights(o, given)
				if size == 0 {
					continue
				}
				kept[o.Name()] = true
				if own := r.in[1].Len() + r.in[2].Len(); size != int64(own*d.Size()) {
					t.Errorf("%s, %s: %d bytes are kept, want %d elements", o.Name(), r.name, size, own)
				}
				check := func(what string, in []tensor.Any) {
					t.Helper()
					want, err := o.Run(r.call(in))
					if err != nil {
						t.Fatal(err)
					}
					got, err := form.Run(r.call(in))
					if err != nil {
						t.Fatalf("%s, %s: %s: %v", o.Name(), r.name, what, err)
					}
					for k := range want {
						if !bytes.Equal(content(got[k]), content(want[k])) {
							t.Errorf("%s, %s: %s: output %d has other bits than Run", o.Name(), r.name, what, k)
						}
					}
				}
				check("first", r.in)
				check("again", r.in)
				others := append([]tensor.Any(nil), r.in...)
				for _, k := range []int{1, 2} {
					a, err := tensor.Clone(r.in[k])
					if err != nil {
						t.Fatal(err)
					}
					if b, ok := tensor.Bytes(a); ok {
						n := d.Size()
						copy(b, append(bytes.Clone(b[n:]), b[:n]...))
					}
					others[k] = a
					check("other weights", others)
				}
			}
		}
	}
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		if !kept[name] {
			t.Errorf("no case of %s keeps its weights", name)
		}
	}
}

// withWeights is plan.WithWeights for operators and calls as programs see them.
func withWeights(o *op.Op, c *op.Call) (form *op.Op, bytes int64) {
	in, bytes := plan.WithWeights((*plan.Op)(o), (*plan.Call)(c))
	return (*op.Op)(in), bytes
}
