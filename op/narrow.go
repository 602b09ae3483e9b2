package op

import (
	"math"
	"sync"

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

// settled computes a function in float32 so that rounding the result again, to a
// narrow float, gives what rounding the true value gives. That could go wrong only
// where the float32 lies exactly between two narrow floats, so that its low 12 bits
// are 0, while the true value doesn't: float64 says on which side that is, and the
// result moves there by one unit.
type settled op1

// doubts holds the elements that a row of settled looks at again.
type doubts struct {
	x    [256]float32
	a, y [1]float64
}

var doubtsPool = sync.Pool{New: func() any { return new(doubts) }}

func (o *settled) row(dst, a []float32) {
	row := (*op1)(o).row32()
	d := doubtsPool.Get().(*doubts)
	for len(dst) > 0 {
		n := copy(d.x[:], a[:len(dst)]) // dst may be a
		row(dst[:n], a[:n])
		for i, y := range dst[:n] {
			if b := math.Float32bits(y); b&0xfff != 0 || b&^(1<<31) == 0 || b&0x7f800000 == 0x7f800000 {
				continue
			}
			d.a[0] = float64(d.x[i])
			o.rows.F64(d.y[:], d.a[:])
			switch side := d.y[0] - float64(y); {
			case side != 0:
				dst[i] = math.Nextafter32(y, float32(math.Copysign(math.Inf(1), side)))
			case y == d.x[i]/2 && math.Abs(d.a[0]) < 0x1p-60: // a Gelu: x/2 + 0.4x², which float64 can't tell from x/2
				dst[i] = math.Nextafter32(y, float32(math.Inf(1)))
			}
		}
		dst, a = dst[n:], a[n:]
	}
	doubtsPool.Put(d)
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
