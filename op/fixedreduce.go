package op

import (
	"math/big"
	"runtime"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

var (
	fixedSum       = fixedLine{sumLine[num.FP8x23], sumLine[num.FP16x16], sumLine[num.FP32x32], sumLine[num.FP64x64]}
	fixedMean      = fixedLine{meanLine[num.FP8x23], meanLine[num.FP16x16], meanLine[num.FP32x32], meanLine[num.FP64x64]}
	fixedL1        = fixedLine{l1Line[num.FP8x23], l1Line[num.FP16x16], l1Line[num.FP32x32], l1Line[num.FP64x64]}
	fixedL2        = fixedLine{l2Line[num.FP8x23], l2Line[num.FP16x16], l2Line[num.FP32x32], l2Line[num.FP64x64]}
	fixedSumSquare = fixedLine{sumSquareLine[num.FP8x23], sumSquareLine[num.FP16x16], sumSquareLine[num.FP32x32], sumSquareLine[num.FP64x64]}
	fixedLogSum    = fixedLine{logSumLine[num.FP8x23], logSumLine[num.FP16x16], logSumLine[num.FP32x32], logSumLine[num.FP64x64]}
	fixedLogSumExp = fixedLine{logSumExpLine[num.FP8x23], logSumExpLine[num.FP16x16], logSumExpLine[num.FP32x32], logSumExpLine[num.FP64x64]}
	fixedProd      = fixedLine{prodLine[num.FP8x23], prodLine[num.FP16x16], prodLine[num.FP32x32], prodLine[num.FP64x64]}
)

func sumLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddRow(x)
	return s.Sum(mode...)
}

func meanLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddRow(x)
	return s.Mean(len(x), mode...)
}

func l1Line[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddAbs(x)
	return s.Sum(mode...)
}

func l2Line[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddProducts(x, x)
	return s.Sqrt(mode...)
}

func sumSquareLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddProducts(x, x)
	return s.Sum(mode...)
}

func logSumLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	var s num.FixedSum[T]
	s.AddRow(x)
	return s.Log(mode...)
}

func logSumExpLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	return num.LogSumExpFixed(x, mode...)
}

// prodLine multiplies exactly and rounds once.
func prodLine[T num.Fixed](x []T, mode []num.FixedMode) (T, error) {
	p := big.NewInt(1)
	for _, v := range x {
		if p.Mul(p, num.FixedBits(v).Big()); p.Sign() == 0 {
			break
		}
	}
	return num.FixedFromBig[T](p, fracOf(dtype.Of[T]())*uint(len(x)), mode...)
}

// fixedProduct is matmul for fixed point: each element is an exact sum of products, rounded
// once with what is to be added, if plus isn't the zero Tensor.
func fixedProduct[T num.Fixed](name string, a, b, plus tensor.Tensor[T], opts []Option) tensor.Tensor[T] {
	s := read(opts)
	x := productOf(name, a.LayoutRef(), b.LayoutRef())
	if s.orion && a.Rank() == 1 && b.Rank() == 1 {
		x.shape = []int{1}
	}
	dst := target[T](name, &s, x.shape)
	out := tensor.Empty[T](x.shape...)
	la, lb := matrix(a, x.batch, true), matrix(b, x.batch, false)
	ad, a0 := la.Data()
	bd, b0 := lb.Data()
	cd, c0 := out.Mutable()
	rank := len(x.batch)
	stride := func(t *tensor.Tensor[T], axis int) int {
		n, _ := t.LayoutRef().Stride(axis)
		return n
	}
	aAt, bAt := entries{origin: a0, ext: x.batch}, entries{origin: b0, ext: x.batch}
	for k := range rank {
		aAt.str, bAt.str = append(aAt.str, stride(&la, k)), append(bAt.str, stride(&lb, k))
	}
	var add []T
	if !plus.IsZero() {
		plus = plus.BroadcastTo(x.shape...).Contiguous()
		add = plus.Run(plus.LayoutRef())
	}
	modes := stateOf(&s, dtype.Of[T]()).modes
	var bad misfit
	rows, cols := make([]T, x.m*x.k), make([]T, x.n*x.k)
	for e := range elements(x.batch) {
		if x.m*x.n == 0 {
			break
		}
		if x.k > 0 {
			conv.Pack(rows, ad, conv.Block{Off: aAt.at(e), Rows: x.m, Row: stride(&la, rank), Cols: x.k, Col: stride(&la, rank+1)})
			conv.Pack(cols, bd, conv.Block{Off: bAt.at(e), Rows: x.n, Row: stride(&lb, rank+1), Cols: x.k, Col: stride(&lb, rank)})
		}
		split(name, s.ctx(), x.m, 2*x.n*max(x.k, 1), func(from, till int) {
			for i := from; i < till; i++ {
				for j := range x.n {
					var sum num.FixedSum[T]
					sum.AddProducts(rows[i*x.k:(i+1)*x.k], cols[j*x.k:(j+1)*x.k])
					at := (e*x.m+i)*x.n + j
					if add != nil {
						sum.Add(add[at])
					}
					v, err := sum.Sum(modes...)
					bad.note(at, err)
					cd[c0+at] = v
				}
			}
		})
	}
	runtime.KeepAlive(la)
	runtime.KeepAlive(lb)
	runtime.KeepAlive(plus)
	bad.check(name, x.shape)
	if s.into == nil {
		return out
	}
	dst.CopyFrom(out)
	return dst
}
