package op

import (
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

func TestNamesOfScratch(t *testing.T) {
	for _, name := range slices.Concat(inProducts, inWhole, inHeads, inSearch, inSteps) {
		if !slices.ContainsFunc(All(), func(o *Op) bool { return o.Name() == name }) {
			t.Errorf("there is no operator %s", name)
		}
	}
}

// A Conv copies an operand that isn't contiguous, also with the Relu after it.
func TestScratchOfCopies(t *testing.T) {
	x, w := tensor.New[float32](1, 8, 16, 4).Permute(0, 3, 1, 2).Any(), tensor.New[float32](4, 4, 1, 1).Any()
	c := &Call{Inputs: []tensor.Any{x, w}}
	conv := opOf(&convOp)
	plain := Scratch(conv, &Call{Inputs: []tensor.Any{x.Contiguous(), w}}, nil)
	rectified, _ := Rectified(conv)
	for _, o := range []*Op{conv, rectified} {
		if got := Scratch(o, c, nil); got != plain+4*8*16*4 {
			t.Errorf("%d bytes, want %d and those of the copy", got, plain)
		}
	}
	if got := Scratch(opOf(&add), &Call{Inputs: []tensor.Any{x, x}}, nil); got != 0 {
		t.Errorf("Add takes %d bytes", got)
	}
}
