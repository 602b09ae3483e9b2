package op_test

import (
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// Scales and zero points for rows and columns, as vectors and of the operand's rank, give the result of the formula on stretched
// operands.
func TestBytesPerRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(what string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		seed := uint64(n("seed", 0, 1<<30))
		numbers := func(shape []int, low, high float32) tensor.Tensor[float32] {
			seed++
			return tensor.RandomUniform(seed, low, high, shape...)
		}
		bytes := func(shape []int) tensor.Tensor[uint8] { return op.Cast[uint8](numbers(shape, 0, 255)) }
		lead := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 2).Draw(t, "batch")
		part := func(what string) []int { // of the batch
			p := slices.Clone(lead[n(what, 0, len(lead)):])
			for i := range p {
				if rapid.Bool().Draw(t, what) {
					p[i] = 1
				}
			}
			return p
		}
		m, k, w := n("m", 0, 4), n("k", 0, 5), n("n", 0, 4)
		as, bs := append(part("a"), m, k), append(part("b"), k, w)
		// form returns the shape of a parameter and the shape that stretches to the operand
		form := func(what string, of []int, axis int) (shape, full []int) {
			one := len(of) - 1
			if axis == one {
				one--
			}
			switch n(what, 0, 2) {
			case 1:
				full = []int{1, 1}
				full[2+axis-len(of)] = of[axis]
				return of[axis : axis+1], full
			case 2:
				full = slices.Clone(of)
				full[one] = 1
				for i := range full {
					if rapid.IntRange(0, 3).Draw(t, what) == 0 {
						full[i] = 1
					}
				}
				return full, full
			}
			return nil, nil
		}
		a, b := bytes(as), bytes(bs)
		zs, zf := form("zero of a", as, len(as)-2)
		za := bytes(zs)
		ys, yf := form("zero of b", bs, len(bs)-1)
		zb := bytes(ys)
		less := func(x, zero tensor.Tensor[uint8], full []int) tensor.Tensor[float64] {
			return op.Sub(op.Cast[float64](x), op.Cast[float64](zero.Reshape(full...)))
		}
		sums := op.MatMul(less(a, za, zf), less(b, zb, yf))
		agree(t, op.MatMulInteger(a, b, za, zb), op.Cast[int32](sums))

		ss, sf := form("scale of a", as, len(as)-2)
		rs, rf := form("scale of b", bs, len(bs)-1)
		sa, sb := numbers(ss, 0.01, 0.1), numbers(rs, 0.01, 0.1)
		factor := op.Mul(op.Cast[float64](sa.Reshape(sf...)), op.Cast[float64](sb.Reshape(rf...)))
		want := op.Add(op.Round(op.Div(op.Mul(sums, factor), tensor.Scalar(0.5))), tensor.Scalar(128.0))
		got := op.QLinearMatMul(a, op.Quantization[float32, uint8]{Scale: sa, Zero: za}, b, op.Quantization[float32, uint8]{Scale: sb, Zero: zb},
			op.Quantization[float32, uint8]{Scale: tensor.Scalar[float32](0.5), Zero: tensor.Scalar[uint8](128)})
		agree(t, got, op.Cast[uint8](op.Clip(want, 0, 255)))
	})
}
