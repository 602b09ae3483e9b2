package op

import (
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// widenOf returns the conversion of a row of narrow floats to float32.
func widenOf[T num.Elem]() func(dst []float32, src []T) {
	var p any
	switch any((*T)(nil)).(type) {
	case *num.F16:
		p = conv.WidenF16
	case *num.BF16:
		p = conv.WidenBF16
	case *num.F8E4M3:
		p = num.WidenF8E4M3
	case *num.F8E5M2:
		p = num.WidenF8E5M2
	}
	f, _ := p.(func(dst []float32, src []T))
	return f
}

// narrowOf returns the conversion of a row of float32 to narrow floats: rounded
// to nearest even, NaNs canonical.
func narrowOf[T num.Elem]() func(dst []T, src []float32) {
	var p any
	switch any((*T)(nil)).(type) {
	case *num.F16:
		p = conv.NarrowF16
	case *num.BF16:
		p = conv.NarrowBF16
	case *num.F8E4M3:
		p = num.NarrowF8E4M3
	case *num.F8E5M2:
		p = num.NarrowF8E5M2
	}
	f, _ := p.(func(dst []T, src []float32))
	return f
}

// canonOf returns what makes the NaNs of a computed row of T canonical; nil when
// T has none.
func canonOf[T num.Elem]() func(row []T) {
	var p any
	switch any((*T)(nil)).(type) {
	case *float32:
		p = conv.Canon32
	case *float64:
		p = conv.Canon64
	}
	f, _ := p.(func(row []T))
	return f
}

// inFloat32 is elementwise for narrow floats: computed in float32, rounded once.
// The four types are spelled out so that the driver isn't compiled with float32
// rows for every type there is.
func inFloat32[T num.Elem](j job, dst *tensor.Tensor[T], ins *[3]*tensor.Tensor[T], n int, k *kernel[float32, float32]) {
	switch x := any(ins).(type) {
	case *[3]*tensor.Tensor[num.F16]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F16]), x, n, k, conv.WidenF16, conv.NarrowF16)
	case *[3]*tensor.Tensor[num.BF16]:
		elementwise(j, any(dst).(*tensor.Tensor[num.BF16]), x, n, k, conv.WidenBF16, conv.NarrowBF16)
	case *[3]*tensor.Tensor[num.F8E4M3]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F8E4M3]), x, n, k, num.WidenF8E4M3, num.NarrowF8E4M3)
	case *[3]*tensor.Tensor[num.F8E5M2]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F8E5M2]), x, n, k, num.WidenF8E5M2, num.NarrowF8E5M2)
	}
}

// asFloat32 is inFloat32 for results of bool.
func asFloat32[T num.Elem](j job, dst *tensor.Tensor[bool], ins *[3]*tensor.Tensor[T], n int, k *kernel[float32, bool]) {
	switch x := any(ins).(type) {
	case *[3]*tensor.Tensor[num.F16]:
		elementwise(j, dst, x, n, k, conv.WidenF16, nil)
	case *[3]*tensor.Tensor[num.BF16]:
		elementwise(j, dst, x, n, k, conv.WidenBF16, nil)
	case *[3]*tensor.Tensor[num.F8E4M3]:
		elementwise(j, dst, x, n, k, num.WidenF8E4M3, nil)
	case *[3]*tensor.Tensor[num.F8E5M2]:
		elementwise(j, dst, x, n, k, num.WidenF8E5M2, nil)
	}
}

// inWords is elementwise for operators that only touch the sign bits of narrow
// floats.
func inWords[T num.Elem](j job, dst *tensor.Tensor[T], ins *[3]*tensor.Tensor[T], n int, k16 *kernel[uint16, uint16], k8 *kernel[uint8, uint8]) {
	switch x := any(ins).(type) {
	case *[3]*tensor.Tensor[num.F16]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F16]), x, n, k16, nil, nil)
	case *[3]*tensor.Tensor[num.BF16]:
		elementwise(j, any(dst).(*tensor.Tensor[num.BF16]), x, n, k16, nil, nil)
	case *[3]*tensor.Tensor[num.F8E4M3]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F8E4M3]), x, n, k8, nil, nil)
	case *[3]*tensor.Tensor[num.F8E5M2]:
		elementwise(j, any(dst).(*tensor.Tensor[num.F8E5M2]), x, n, k8, nil, nil)
	}
}
