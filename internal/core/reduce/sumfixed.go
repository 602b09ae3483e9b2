package reduce

import (
	"math/big"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Folders of fixed point. They add numbers exactly and round once, so the order of a
// sequence doesn't matter.

// fixedTerms is the folder of sums.
type fixedTerms[T num.Fixed] struct {
	kind  Term
	modes []fixed.Mode
	sum   fixed.Sum[T]
	n     int
}

// FixedFolder makes the folder of a sum of fixed point.
func FixedFolder(r *exec.Reducer, kind Term) exec.Folder {
	switch r.DType {
	case dtype.FP8x23:
		return &fixedTerms[fixed.FP8x23]{kind: kind, modes: r.Modes}
	case dtype.FP16x16:
		return &fixedTerms[fixed.FP16x16]{kind: kind, modes: r.Modes}
	case dtype.FP32x32:
		return &fixedTerms[fixed.FP32x32]{kind: kind, modes: r.Modes}
	}
	return &fixedTerms[fixed.FP64x64]{kind: kind, modes: r.Modes}
}

func (f *fixedTerms[T]) Start() { f.sum, f.n = fixed.Sum[T]{}, 0 }

func (f *fixedTerms[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	switch f.n += len(x); f.kind {
	case Magnitudes:
		f.sum.AddAbs(x)
	case Squares, Roots:
		f.sum.AddProducts(x, x)
	default:
		f.sum.AddRow(x)
	}
}

func (f *fixedTerms[T]) Result(out exec.Run) (err error) {
	v := &exec.Of[T](out)[0]
	switch f.kind {
	case Averages:
		*v, err = f.sum.Mean(f.n, f.modes...)
	case Roots:
		*v, err = f.sum.Sqrt(f.modes...)
	case Logarithms:
		*v, err = f.sum.Log(f.modes...)
	default:
		*v, err = f.sum.Sum(f.modes...)
	}
	return err
}

// FixedProd is the folder of products.
type FixedProd[T num.Fixed] struct {
	Modes []fixed.Mode
	prod  big.Int
	n     int
}

func (f *FixedProd[T]) Start() {
	f.prod.SetInt64(1)
	f.n = 0
}

func (f *FixedProd[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	f.n += len(x)
	for _, v := range x {
		if f.prod.Sign() == 0 {
			return
		}
		f.prod.Mul(&f.prod, fixed.Bits(v).Big())
	}
}

func (f *FixedProd[T]) Result(out exec.Run) (err error) {
	exec.Of[T](out)[0], err = fixed.FromBig[T](&f.prod, cast.FracOf(dtype.Of[T]())*uint(f.n), f.Modes...)
	return err
}

// FixedLogSumExp is the folder of LogSumExp. It keeps the sequence.
type FixedLogSumExp[T num.Fixed] struct {
	Modes []fixed.Mode
	all   []T
}

func (f *FixedLogSumExp[T]) Start()          { f.all = f.all[:0] }
func (f *FixedLogSumExp[T]) Take(x exec.Run) { f.all = append(f.all, exec.Of[T](x)...) }

func (f *FixedLogSumExp[T]) Result(out exec.Run) (err error) {
	exec.Of[T](out)[0], err = fixed.LogSumExp(f.all, f.Modes...)
	return err
}

// FixedDeviation is the folder of Var and Std.
type FixedDeviation[T num.Fixed] struct {
	Modes []fixed.Mode
	Ddof  int
	Root  bool
	fixed.Moments[T]
}

func (f *FixedDeviation[T]) Start()          { f.Moments = fixed.Moments[T]{} }
func (f *FixedDeviation[T]) Take(x exec.Run) { f.AddRow(exec.Of[T](x)) }

func (f *FixedDeviation[T]) Result(out exec.Run) (err error) {
	if v := &exec.Of[T](out)[0]; f.Root {
		*v, err = f.StdDev(f.Ddof, f.Modes...)
	} else {
		*v, err = f.Variance(f.Ddof, f.Modes...)
	}
	return err
}
