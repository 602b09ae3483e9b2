package op

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// Long is for tests that take all of some pairs, which take some in turn without it.
var Long = flag.Bool("long", false, "run more cases and pairs of types, and check the types of the package")

// turn reports whether the i-th of several runs has its turn: every n-th has, and all have with -long.
func turn(i, n int) bool { return *Long || i%n == 0 }

var looks = flag.Int("looks", 6, "how many ends of the context TestEnded tries of each call")

// Typed calls of sizes at which drivers split run under a context that ends after a number of looks. They give an error that says so, or
// the bits that they give otherwise, in a target that had others. The operators of graphs are tested so in internal/optest.
func TestEnded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(43, 1))
	real := func(shape ...int) tensor.Tensor[float32] {
		a := tensor.New[float32](shape...)
		for i := range a.Elems() {
			a.Elems()[i] = float32(r.NormFloat64())
		}
		return a
	}
	list := func(of ...tensor.Tensor[float32]) []tensor.Tensor[float32] { return of }
	index := func(n, most int) tensor.Tensor[int64] {
		a := tensor.New[int64](n)
		for i := range a.Elems() {
			a.Elems()[i] = r.Int64N(int64(most))
		}
		return a
	}
	a, b, turned, none := real(4, 3000), real(3000, 4), real(3000, 4).Transpose(), tensor.Tensor[float32]{}
	v, w, wide, plane := real(30000), real(30000), real(130, 900), real(1, 2, 90, 90)
	bytesA, bytesB := Cast[uint8](real(4, 3000)), Cast[uint8](real(3000, 4))
	units, half := Cast[fixed.FP16x16](Mul(wide, tensor.Scalar[float32](0.01))), Cast[num.F16](wide)
	step, unit := Quantization[float32, uint8]{Scale: tensor.Scalar[float32](0.5)}, LinearAttentionOptions[float32]{Heads: 1, KVHeads: 1}
	sums, kernel, deep, places, state := real(4), real(3, 2, 3, 3), real(3, 900, 2), index(500, 130), real(1, 16, 4)
	steps := b.Reshape(1, 3000, 4).Slice(tensor.Colon, tensor.R(0, 40))
	gates := wide.Reshape(1, 13, 9000).Slice(tensor.Colon, tensor.R(0, 1), tensor.R(0, 4800)).Reshape(1, 16, 300)
	calls, stopped := 0, 0
	for name, f := range map[string]func(o ...Option) any{
		"MatMul":              func(o ...Option) any { return MatMul(a, b, o...) },
		"MatMul transposed":   func(o ...Option) any { return MatMul(b, a, o...) },
		"MatMul of views":     func(o ...Option) any { return MatMul(turned, turned.Transpose(), o...) },
		"MatMul of float64":   func(o ...Option) any { return MatMul(Cast[float64](a), Cast[float64](b), o...) },
		"MatMul of float16":   func(o ...Option) any { return MatMul(half, half.Transpose(), o...) },
		"MatMul of int64":     func(o ...Option) any { return MatMul(Cast[int64](a), Cast[int64](b), o...) },
		"MatMul of complex64": func(o ...Option) any { return MatMul(Cast[complex64](a), Cast[complex64](b), o...) },
		"MatMul of bool":      func(o ...Option) any { return MatMul(Cast[bool](a), Cast[bool](b), o...) },
		"MatMul, skinny":      func(o ...Option) any { return MatMul(wide.Slice(tensor.R(0, 2), tensor.R(0, 130)), wide, o...) },
		"MatMul of fixed":     func(o ...Option) any { return MatMul(units, units.Transpose(), append(o, Saturate())...) },
		"MatMulInteger": func(o ...Option) any {
			return MatMulInteger(bytesA, bytesB, tensor.Tensor[uint8]{}, tensor.Tensor[uint8]{}, o...)
		},
		"QLinearMatMul":      func(o ...Option) any { return QLinearMatMul(bytesA, step, bytesB, step, step, o...) },
		"Gemm":               func(o ...Option) any { return Gemm(a, b, sums, 0.5, 2, GemmOptions{}, o...) },
		"Inner":              func(o ...Option) any { return Inner(a, turned, o...) },
		"Inner of vectors":   func(o ...Option) any { return Inner(v, w, o...) },
		"TensorDot":          func(o ...Option) any { return TensorDot(a, b, []int{1}, []int{0}, o...) },
		"TensorDot of all":   func(o ...Option) any { return TensorDot(a, turned, []int{0, 1}, []int{0, 1}, o...) },
		"Einsum":             func(o ...Option) any { return Einsum("ik,kj->ij", list(a, b), o...) },
		"Einsum of a vector": func(o ...Option) any { return Einsum("i,i->", list(v, w), o...) },
		"Einsum of three":    func(o ...Option) any { return Einsum("ik,kj,jl->il", list(a, b, a), o...) },
		"LinearAttention": func(o ...Option) any {
			y, s := LinearAttention(steps, steps, steps, unit, o...)
			return []tensor.Any{y.Any(), s.Any()}
		},
		"Attention": func(o ...Option) any {
			x := wide.Reshape(1, 3, 390, 100)
			y, _, _ := Attention(x, x, x, AttentionOptions[float32]{Causal: true}, o...)
			return y
		},
		"LSTM": func(o ...Option) any {
			y, h, c := LSTM(wide.Reshape(130, 3, 300), gates, state, RecurrentOptions[float32]{}, o...)
			return []tensor.Any{y.Any(), h.Any(), c.Any()}
		},
		"ReduceSum":          func(o ...Option) any { return ReduceSum(wide, nil, o...) },
		"ReduceSum of rows":  func(o ...Option) any { return ReduceSum(wide, []int{0}, o...) },
		"ReduceLogSumExp":    func(o ...Option) any { return ReduceLogSumExp(wide.Transpose(), []int{0}, o...) },
		"SumAs":              func(o ...Option) any { return SumAs[float64](wide, nil, o...) },
		"Std":                func(o ...Option) any { return Std(wide, nil, 0, o...) },
		"Var of fixed":       func(o ...Option) any { return Var(units, []int{0}, 0, o...) },
		"Ptp":                func(o ...Option) any { return Ptp(wide, []int{0}, o...) },
		"Median":             func(o ...Option) any { return Median(wide, []int{0}, o...) },
		"Quantile":           func(o ...Option) any { return Quantile(wide, 0.3, nil, o...) },
		"NanMean":            func(o ...Option) any { return NanMean(wide, []int{1}, o...) },
		"NanArgMax":          func(o ...Option) any { return NanArgMax(wide, 0, o...) },
		"CountNonZero":       func(o ...Option) any { return CountNonZero(wide, []int{0}, o...) },
		"CumProd":            func(o ...Option) any { return CumProd(wide, 1, CumOptions{Reverse: true}, o...) },
		"Sort":               func(o ...Option) any { return Sort(wide, 0, o...) },
		"ArgSort":            func(o ...Option) any { return ArgSort(wide, 1, o...) },
		"Take":               func(o ...Option) any { return Take(wide, places, 0, TakeRaise, o...) },
		"Roll":               func(o ...Option) any { return Roll(wide, 77, 1, o...) },
		"Repeat":             func(o ...Option) any { return Repeat(wide, []int{3}, 1, o...) },
		"Stack":              func(o ...Option) any { return Stack(list(wide, wide), 1, o...) },
		"Concat":             func(o ...Option) any { return Concat(list(wide, wide), 0, o...) },
		"Cast":               func(o ...Option) any { return Cast[num.BF16](wide, o...) },
		"Cast of a view":     func(o ...Option) any { return Cast[int32](wide.Transpose(), o...) },
		"Add of a view":      func(o ...Option) any { return Add(wide.Transpose(), wide.Reshape(900, 130), o...) },
		"Exp of float16":     func(o ...Option) any { return Exp(half, o...) },
		"Softmax":            func(o ...Option) any { return Softmax(wide, 0, o...) },
		"LayerNormalization": func(o ...Option) any { return LayerNormalization(wide, wide.Slice(tensor.I(0)), none, 1, 1e-5, o...) },
		"Conv":               func(o ...Option) any { return Conv(plane, kernel, none, Window{}, 1, o...) },
		"Conv, deep":         func(o ...Option) any { return Conv(wide.Reshape(1, 900, 130), deep, none, Window{}, 1, o...) },
		"ConvTranspose": func(o ...Option) any {
			return ConvTranspose(plane, kernel.Permute(1, 0, 2, 3), none, ConvTransposeWindow{}, 1, o...)
		},
		"MaxPool": func(o ...Option) any { return MaxPool(plane, Window{Kernel: []int{5, 5}}, o...) },
		"AveragePool": func(o ...Option) any {
			return AveragePool(plane, Window{Kernel: []int{5, 5}}, AveragePoolOptions{CountIncludePad: true}, o...)
		},
		"DFT":             func(o ...Option) any { return DFT(wide.Reshape(130, 900, 1), 1, DFTOptions{}, o...) },
		"Fuse":            func(o ...Option) any { return Fuse(Add(Exp(Lazy(wide)), wide), o...) },
		"Fuse with a sum": func(o ...Option) any { return Fuse(Sub(Lazy(wide), Exp(Lazy(wide.Slice(tensor.R(0, 1))))), o...) },
	} {
		for _, threads := range []int{1, 3} {
			runtime.GOMAXPROCS(threads)
			want := resultsOf(f())
			check := func(target *tensor.Any) {
				after := func(k int) int {
					ctx := ended.After(k)
					opts := []Option{Context(ctx)}
					if target != nil {
						b, _ := tensor.Bytes(*target)
						for i := range b {
							b[i] = 0x7f
						}
						if target.DType() == dtype.Bool {
							clear(b)
						}
						opts = append(opts, plan.WriteTo(target))
					}
					var got []tensor.Any
					calls++
					switch err := tensor.Try(func() { got = resultsOf(f(opts...)) }); {
					case errors.Is(err, context.Canceled):
						stopped++
					case err != nil:
						t.Fatalf("%s, ended after %d looks: %v", name, k, err)
					default:
						for i := range want {
							x, _ := tensor.Bytes(want[i])
							y, _ := tensor.Bytes(got[i])
							if !bytes.Equal(x, y) {
								t.Fatalf("%s, ended after %d looks: other elements in result %d, and no error", name, k, i)
							}
						}
					}
					return ctx.Looks()
				}
				all := after(math.MaxInt)
				for i := range min(all, *looks) {
					after(i * max(all, *looks) / *looks)
				}
			}
			check(nil)
			dst := tensor.EmptyOf(want[0].DType(), want[0].Shape()...)
			check(&dst)
		}
	}
	if t.Logf("%d calls, of which %d were stopped", calls, stopped); stopped < calls/2 {
		t.Error("too few calls were stopped: the operands are too small")
	}
}

// resultsOf returns the results of a call, contiguous.
func resultsOf(of any) []tensor.Any {
	list, ok := of.([]tensor.Any)
	if !ok {
		list = []tensor.Any{of.(interface{ Any() tensor.Any }).Any()}
	}
	for i := range list {
		list[i] = list[i].Contiguous()
	}
	return list
}
