package op

import (
	"math/big"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// Folders of fixed point: they take numbers in exactly and round once, so that the order of
// a sequence doesn't matter.

// fixedTerms is the folder of sums.
type fixedTerms[T num.Fixed] struct {
	kind  termKind
	modes []fixed.Mode
	sum   fixed.Sum[T]
	n     int
}

// fixedFolder makes the folder of a sum of fixed point.
func fixedFolder(r *exec.Reducer, kind termKind) exec.Folder {
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
	case magnitudes:
		f.sum.AddAbs(x)
	case squares, roots:
		f.sum.AddProducts(x, x)
	default:
		f.sum.AddRow(x)
	}
}

func (f *fixedTerms[T]) Result(out exec.Run) (err error) {
	v := &exec.Of[T](out)[0]
	switch f.kind {
	case averages:
		*v, err = f.sum.Mean(f.n, f.modes...)
	case roots:
		*v, err = f.sum.Sqrt(f.modes...)
	case logarithms:
		*v, err = f.sum.Log(f.modes...)
	default:
		*v, err = f.sum.Sum(f.modes...)
	}
	return err
}

// fixedProd is the folder of products.
type fixedProd[T num.Fixed] struct {
	modes []fixed.Mode
	prod  big.Int
	n     int
}

func (f *fixedProd[T]) Start() {
	f.prod.SetInt64(1)
	f.n = 0
}

func (f *fixedProd[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	f.n += len(x)
	for _, v := range x {
		if f.prod.Sign() == 0 {
			return
		}
		f.prod.Mul(&f.prod, fixed.Bits(v).Big())
	}
}

func (f *fixedProd[T]) Result(out exec.Run) (err error) {
	exec.Of[T](out)[0], err = fixed.FromBig[T](&f.prod, fracOf(dtype.Of[T]())*uint(f.n), f.modes...)
	return err
}

// fixedLogSumExp keeps the sequence.
type fixedLogSumExp[T num.Fixed] struct {
	modes []fixed.Mode
	all   []T
}

func (f *fixedLogSumExp[T]) Start()          { f.all = f.all[:0] }
func (f *fixedLogSumExp[T]) Take(x exec.Run) { f.all = append(f.all, exec.Of[T](x)...) }

func (f *fixedLogSumExp[T]) Result(out exec.Run) (err error) {
	exec.Of[T](out)[0], err = fixed.LogSumExp(f.all, f.modes...)
	return err
}

// fixedDeviation is the folder of Var and Std.
type fixedDeviation[T num.Fixed] struct {
	modes []fixed.Mode
	ddof  int
	root  bool
	fixed.Moments[T]
}

func (f *fixedDeviation[T]) Start()          { f.Moments = fixed.Moments[T]{} }
func (f *fixedDeviation[T]) Take(x exec.Run) { f.AddRow(exec.Of[T](x)) }

func (f *fixedDeviation[T]) Result(out exec.Run) (err error) {
	if v := &exec.Of[T](out)[0]; f.root {
		*v, err = f.StdDev(f.ddof, f.modes...)
	} else {
		*v, err = f.Variance(f.ddof, f.modes...)
	}
	return err
}
