package tensor_test

import (
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// Where results go, so that no call is left out.
var (
	sink float32
	n    int
	y    tensor.Tensor[float32]
)

// calls are the calls that programs make per element or per row: none may allocate.
func calls() map[string]func() {
	x := tensor.Arange[float32](0, 120, 1).View(4, 5, 6)
	turned := x.Transpose()
	nested := tensor.FromLayout(make([]float32, 16), layout.MustParse("((2,2),4):((1,8),2)"))
	large := tensor.New[float32](1<<19, 2)
	row := tensor.New[float32](6)
	scalar := tensor.Scalar[float32](1)
	a := x.Any()
	return map[string]func(){
		"At":          func() { sink = x.At(1, 2, 3) },
		"At, nested":  func() { sink = nested.At(3, 2) },
		"At, large":   func() { sink = large.At(3, 1) },
		"AtOr":        func() { sink = tensor.AtOr(x, 0, 1, 2, 9) },
		"Set":         func() { x.Set(2, 1, 2, 3) },
		"Item":        func() { sink = scalar.Item() },
		"Data":        func() { _, n = turned.Data() },
		"Mutable":     func() { _, n = tensor.Mutable(turned) },
		"Elems":       func() { n = len(x.Elems()) },
		"Run":         func() { n = len(reach.Run[float32](&a, a.LayoutRef())) },
		"Dim":         func() { n = x.Dim(-1) },
		"Len":         func() { n = x.Len() },
		"Slice":       func() { y = x.Slice(tensor.I(1), tensor.R(1, -1), tensor.R(tensor.None, tensor.None, -1)) },
		"Permute":     func() { y = x.Permute(2, 0, 1) },
		"Transpose":   func() { y = x.Transpose() },
		"SwapAxes":    func() { y = tensor.SwapAxes(x, 0, -1) },
		"MoveAxis":    func() { y = tensor.MoveAxis(x, 0, -1) },
		"View":        func() { y = x.View(20, 6) },
		"View, -1":    func() { y = x.View(-1, 6) },
		"View, split": func() { y = turned.View(2, 3, 5, 4) },
		"CanView":     func() { _ = x.Any().CanView(2, 60) },
		"Reshape":     func() { y = x.Reshape(6, 20) },
		"Squeeze":     func() { y = row.Unsqueeze(0).Squeeze() },
		"Flip":        func() { y = x.Flip(0, -1) },
		"BroadcastTo": func() { y = row.BroadcastTo(4, 6) },
		"ReadOnly":    func() { y = x.ReadOnly() },
		"Detach":      func() { y = tensor.Detach(x) },
		"Contiguous":  func() { y = x.Contiguous() },
		"CopyFrom":    func() { row.CopyFrom(x.Slice(tensor.I(0), tensor.I(0))) },
		"Overlaps":    func() { _ = x.Slice(tensor.R(0, 2)).Any().Overlaps(x.Slice(tensor.Colon, tensor.R(1, 3)).Any()) },
		"SameData":    func() { _ = x.Any().SameData(turned.Any()) },
	}
}

func TestAllocs(t *testing.T) {
	for name, f := range calls() {
		if c := testing.AllocsPerRun(100, f); c != 0 {
			t.Errorf("%s: %v allocations", name, c)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	for name, f := range calls() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
