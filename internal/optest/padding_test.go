package optest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// poisons are what stands in the padding.
var poisons = map[dtype.DType][]tensor.Any{
	dtype.Float32:  {tensor.Scalar(float32(math.NaN())), tensor.Scalar(float32(-42))},
	dtype.BFloat16: {tensor.Scalar(num.BF16FromFloat32(float32(math.NaN()))), tensor.Scalar(num.BF16FromFloat32(-42))},
	dtype.Int32:    {tensor.Scalar(int32(-42))},
	dtype.Uint8:    {tensor.Scalar(uint8(214))},
	dtype.Bool:     {tensor.Scalar(true)},
}

// inPadding returns a as the beginning of a tensor padded to multiples of 32.
func inPadding(a, poison tensor.Any) (tensor.Any, error) {
	p, err := pack.PackPadded(a, pack.Options{Align: []int{32, 32}}, poison)
	if err != nil {
		return nil, err
	}
	v, err := p.View()
	if err != nil {
		return nil, err
	}
	var idx []tensor.Index
	for i := range v.Rank() {
		if k := i - (v.Rank() - a.Rank()); k < 0 {
			idx = append(idx, tensor.I(0))
		} else {
			idx = append(idx, tensor.R(0, a.Dim(k)))
		}
	}
	return tensor.Slice(v, idx...)
}

// No operator reads padding: whatever stands there, the bits of the result are those
// of operands without.
func TestPadding(t *testing.T) {
	for _, o := range op.All() {
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			for i, c := range casesOf(o) {
				for d := range poisons {
					if !o.Supports(d) || c.only != nil && !c.only(d) {
						continue
					}
					r := newRun(o, i, c, d)
					if err := r.checkPadding(t); err != nil {
						t.Fatalf("%s: %v", r.name, err)
					}
					if alone(c) && len(c.in[0].shape) == 2 { // the shape may not suit its other operands
						c := c
						c.in = slices.Clone(c.in)
						c.in[0].shape = []int{14, 28}
						newRun(o, i, c, d).checkPadding(t)
					}
				}
			}
		})
	}
}

// alone says that a case has one operand besides lists of numbers.
func alone(c testCase) bool {
	is := func(in input) bool { return in.values == nil && !in.absent }
	return len(c.in) > 0 && is(c.in[0]) && !slices.ContainsFunc(c.in[1:], is)
}

// checkPadding fails the test where padding shows, and returns the error of a call
// without.
func (r *run) checkPadding(t *testing.T) error {
	want, wantBits, err := r.result(r.in)
	if err != nil {
		return err
	}
	for n := range 2 {
		in := slices.Clone(r.in)
		for _, i := range r.moved {
			list := poisons[in[i].DType()]
			if list == nil {
				continue
			}
			if in[i], err = inPadding(in[i], list[n%len(list)]); err != nil {
				t.Fatal(err)
			}
		}
		got, bits, err := r.result(in)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		same(t, fmt.Sprintf("%s, poison %d", r.name, n), got, want, bits, wantBits)
	}
	return nil
}
