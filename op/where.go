package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Where returns a where cond is true and b elsewhere, bit for bit. The three
// shapes broadcast. It panics if they don't. ONNX Where.
func Where[T num.Elem](cond tensor.Tensor[bool], a, b tensor.Tensor[T], opts ...Option) tensor.Tensor[T] {
	if isLazy(&cond) || isLazy(&a, &b) {
		return noted[T](note{name: "Where", args: []arg{argOf("Where", &cond), argOf("Where", &a), argOf("Where", &b)},
			run: func(in []any, opts []Option) {
				Where(*in[0].(*tensor.Tensor[bool]), *in[1].(*tensor.Tensor[T]), *in[2].(*tensor.Tensor[T]), opts...)
			}}, opts, cond.LayoutRef(), a.LayoutRef(), b.LayoutRef())
	}
	s := read(opts)
	var few [8]int
	dst := target[T]("Where", &s, broadcastShape("Where", few[:0], cond.LayoutRef(), a.LayoutRef(), b.LayoutRef()))
	ins := [3]*tensor.Tensor[T]{&a, &b}
	j := job{name: "Where", ctx: s.ctx(), cost: 1}
	j.heed(opts)
	selected(j, &dst, &cond, &ins, 2, &kernel[T, T]{sel: whereRow[T]{}, past: true}, nil, nil)
	return dst
}

// whereRow defines Where. It chooses between words: between floats it would
// branch, and mispredict.
type whereRow[T num.Elem] struct{}

func (whereRow[T]) row(dst []T, mask []bool, a, b []T) {
	fast := fastest(&simd.Where)
	if fast == nil {
		fast = new(simd.RowsWhere)
	}
	switch dtype.Of[T]().Size() {
	case 1:
		whereWords(fast.U8, conv.As[uint8](dst), mask, conv.As[uint8](a), conv.As[uint8](b))
	case 2:
		whereWords(fast.U16, conv.As[uint16](dst), mask, conv.As[uint16](a), conv.As[uint16](b))
	case 4:
		whereWords(fast.U32, conv.As[uint32](dst), mask, conv.As[uint32](a), conv.As[uint32](b))
	case 8:
		whereWords(fast.U64, conv.As[uint64](dst), mask, conv.As[uint64](a), conv.As[uint64](b))
	default:
		whereWords(nil, dst, mask, a, b)
	}
}

// whereWords runs the row of an instruction set where there is one.
func whereWords[W num.Elem](fast func(dst []W, mask []bool, a, b []W), dst []W, mask []bool, a, b []W) {
	if fast != nil {
		fast(dst, mask, a, b)
		return
	}
	mask, a, b = mask[:len(dst)], a[:len(dst)], b[:len(dst)]
	for i := range dst {
		v := b[i]
		if mask[i] {
			v = a[i]
		}
		dst[i] = v
	}
}

var where = opN{about: about{name: "Where", onnx: []int{9, 16}}, least: 3, fast: whereFast, by: 1,
	run: perType{dtype.Bool: runWhere[bool], dtype.Int8: runWhere[int8], dtype.Int16: runWhere[int16], dtype.Int32: runWhere[int32],
		dtype.Int64: runWhere[int64], dtype.Uint8: runWhere[uint8], dtype.Uint16: runWhere[uint16], dtype.Uint32: runWhere[uint32],
		dtype.Uint64: runWhere[uint64], dtype.Float8E4M3: runWhere[num.F8E4M3], dtype.Float8E5M2: runWhere[num.F8E5M2],
		dtype.Float16: runWhere[num.F16], dtype.BFloat16: runWhere[num.BF16], dtype.Float32: runWhere[float32],
		dtype.Float64: runWhere[float64], dtype.Complex64: runWhere[complex64], dtype.Complex128: runWhere[complex128],
		dtype.FP8x23: runWhere[num.FP8x23], dtype.FP16x16: runWhere[num.FP16x16], dtype.FP32x32: runWhere[num.FP32x32], dtype.FP64x64: runWhere[num.FP64x64]},
	infer: func(c *Call) []tensor.Any {
		oneType("Where", c.Inputs[1:3]...)
		return one(spec("Where", c.in(1).DType(), stretch("Where", c.Inputs[:3]...)...))
	}}

func runWhere[T num.Elem](c *Call) []tensor.Any {
	return one(Where(as[bool]("Where", c, 0), as[T]("Where", c, 1), as[T]("Where", c, 2), options(c)...))
}
