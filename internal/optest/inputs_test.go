package optest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

// Inputs beyond the most that an operator takes are an error in every version of it, also where they are absent; so
// are those that it only takes in a later one.
func TestInputsBeyond(t *testing.T) {
	for _, o := range all.Operators() {
		for i, c := range boundsOf(o) {
			for _, d := range boundTypes(o, c)[:1] {
				r := newRun(o, i, c, d)
				for _, opset := range append([]int{r.call(nil).Opset}, o.Versions()...) {
					for _, more := range []int{1, 2, 6, 40} {
						for _, f := range []func(*op.Call) ([]tensor.Any, error){o.Infer, o.Run} {
							call := r.call(append(r.in[:len(r.in):len(r.in)], make([]tensor.Any, more)...))
							call.Opset = opset
							var err error
							fault := tensor.Try(func() { _, err = f(call) })
							what := fmt.Sprintf("%s, opset %d, %s with %d absent inputs more", o.Name(), opset, r.name, more)
							var known *tensor.Error
							switch {
							case fault != nil:
								t.Fatalf("%s: %v", what, fault)
							case more == 40 && !errors.As(err, &known):
								t.Errorf("%s: %v, want an error", what, err)
							}
						}
					}
				}
			}
		}
	}
	long := []tensor.Any{tensor.New[float32](2, 3).Any(), tensor.FromSlice([]int64{1}).Any(), {}, {}, {}}
	for name, opset := range map[string]int{"Clip": 6, "Dropout": 10, "Pad": 2, "ReduceSum": 11, "Slice": 9, "Split": 11, "Squeeze": 11, "TopK": 1, "Unsqueeze": 11, "Upsample": 7} {
		o, _ := all.Lookup(name)
		for n := 2; n <= len(long); n++ {
			call := &op.Call{Inputs: long[:n], Opset: opset, Attrs: op.AttrMap{"axes": []int64{0}, "starts": []int64{0}, "ends": []int64{1}, "k": int64(1), "pads": make([]int64, 4), "scales": []float32{1, 1}}}
			if _, err := o.Run(call); !errors.Is(err, tensor.ErrShape) {
				t.Errorf("%s, opset %d, with %d inputs: %v", name, opset, n, err)
			}
		}
	}
}

// TestClosed: the error of an input whose memory is given back names the operator and the input.
func TestClosed(t *testing.T) {
	for _, o := range all.Operators() {
		for i, c := range boundsOf(o) {
			for _, d := range boundTypes(o, c)[:1] {
				for k := range c.in {
					r := newRun(o, i, c, d)
					if r.in[k].IsZero() {
						continue
					}
					r.in[k] = r.in[k].Clone()
					r.in[k].Close()
					_, err := o.Run(r.call(r.in))
					if want := fmt.Sprintf("op.%s: input %d is closed", o.Name(), k); !errors.Is(err, tensor.ErrClosed) || !strings.HasPrefix(err.Error(), want) {
						t.Errorf("%s: %v, want %s", r.name, err, want)
					}
				}
			}
		}
	}
}
