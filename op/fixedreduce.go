package op

import (
	"math/big"

	"github.com/ashlar-go/ashlar/dtype"
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

// spreadFixed is Var, or Std.
func spreadFixed[T num.Fixed](name string, a tensor.Tensor[T], axes []int, ddof int, opts []Option) tensor.Tensor[T] {
	return reduceLines(name, a, axes, opts, func(x []T, mode []num.FixedMode) (T, error) {
		var m num.FixedMoments[T]
		m.AddRow(x)
		if name == "Std" {
			return m.StdDev(ddof, mode...)
		}
		return m.Variance(ddof, mode...)
	})
}
