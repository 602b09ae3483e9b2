package main

import (
	"fmt"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// numpyTyped are the operators that have a typed form alone, for one element type.
type numpyTyped interface {
	mod(a, b tensor.Any) tensor.Any
	fMod(a, b tensor.Any) tensor.Any
	shift(a, b tensor.Any, to op.ShiftDirection) tensor.Any
	ptp(a tensor.Any, axes []int, opts []op.Option) tensor.Any
	any(a tensor.Any, axes []int, opts []op.Option) tensor.Any
	all(a tensor.Any, axes []int, opts []op.Option) tensor.Any
	countNonzero(a tensor.Any, axes []int, opts []op.Option) tensor.Any
	sort(a tensor.Any, axis int) tensor.Any
	argSort(a tensor.Any, axis int) tensor.Any
	take(a tensor.Any, at tensor.Tensor[int64], axis int, mode op.TakeMode) tensor.Any
	takeAlongAxis(a tensor.Any, at tensor.Tensor[int64], axis int) tensor.Any
	stack(axis int, list []tensor.Any) tensor.Any
	repeat(a tensor.Any, counts []int, axis int) tensor.Any
	roll(a tensor.Any, shift, axis int) tensor.Any
	arraySplit(a tensor.Any, axis, n int) []tensor.Any
	trace(a tensor.Any, offset int) tensor.Any
}

var typedOps = map[dtype.DType]numpyTyped{
	dtype.Bool: anyElem[bool]{},
	dtype.Int8: integer[int8]{}, dtype.Int16: integer[int16]{}, dtype.Int32: integer[int32]{}, dtype.Int64: integer[int64]{},
	dtype.Uint8: integer[uint8]{}, dtype.Uint16: integer[uint16]{}, dtype.Uint32: integer[uint32]{}, dtype.Uint64: integer[uint64]{},
	dtype.Float16: anyNumber[num.F16]{}, dtype.Float32: anyNumber[float32]{}, dtype.Float64: anyNumber[float64]{},
}

// typedOf runs f with the operators for a's element type.
func typedOf(a tensor.Any, f func(t numpyTyped) []tensor.Any) (out []tensor.Any, err error) {
	t := typedOps[a.DType()]
	if t == nil {
		return nil, unsupported{fmt.Sprintf("no typed operators for %v here", a.DType())}
	}
	var lacking error
	err = tensor.Try(func() {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case unsupported:
				lacking = p
			default:
				panic(p)
			}
		}()
		out = f(t)
	})
	if lacking != nil {
		return nil, lacking
	}
	return out, err
}

// anyElem has the functions of every element type.
type anyElem[T bool | num.Native | num.Narrow] struct{}

func as[T num.Elem](a tensor.Any) tensor.Tensor[T] { return typed[T](a) }

func (anyElem[T]) mod(_, _ tensor.Any) tensor.Any  { panic(unsupported{"Mod"}) }
func (anyElem[T]) fMod(_, _ tensor.Any) tensor.Any { panic(unsupported{"FMod"}) }
func (anyElem[T]) shift(_, _ tensor.Any, _ op.ShiftDirection) tensor.Any {
	panic(unsupported{"BitShift"})
}
func (anyElem[T]) trace(tensor.Any, int) tensor.Any { panic(unsupported{"Trace"}) }

func (anyElem[T]) ptp(tensor.Any, []int, []op.Option) tensor.Any { panic(unsupported{"Ptp"}) }

func (anyElem[T]) any(a tensor.Any, axes []int, opts []op.Option) tensor.Any {
	return op.Any(as[T](a), axes, opts...).Any()
}

func (anyElem[T]) all(a tensor.Any, axes []int, opts []op.Option) tensor.Any {
	return op.All(as[T](a), axes, opts...).Any()
}

func (anyElem[T]) countNonzero(a tensor.Any, axes []int, opts []op.Option) tensor.Any {
	return op.CountNonZero(as[T](a), axes, opts...).Any()
}

func (anyElem[T]) sort(a tensor.Any, axis int) tensor.Any    { return op.Sort(as[T](a), axis).Any() }
func (anyElem[T]) argSort(a tensor.Any, axis int) tensor.Any { return op.ArgSort(as[T](a), axis).Any() }

func (anyElem[T]) take(a tensor.Any, at tensor.Tensor[int64], axis int, mode op.TakeMode) tensor.Any {
	return op.Take(as[T](a), at, axis, mode).Any()
}

func (anyElem[T]) takeAlongAxis(a tensor.Any, at tensor.Tensor[int64], axis int) tensor.Any {
	return op.TakeAlongAxis(as[T](a), at, axis).Any()
}

func (anyElem[T]) stack(axis int, list []tensor.Any) tensor.Any {
	ts := make([]tensor.Tensor[T], len(list))
	for i, a := range list {
		ts[i] = as[T](a)
	}
	return op.Stack(ts, axis).Any()
}

func (anyElem[T]) repeat(a tensor.Any, counts []int, axis int) tensor.Any {
	return op.Repeat(as[T](a), counts, axis).Any()
}

func (anyElem[T]) roll(a tensor.Any, shift, axis int) tensor.Any {
	return op.Roll(as[T](a), shift, axis).Any()
}

func (anyElem[T]) arraySplit(a tensor.Any, axis, n int) (parts []tensor.Any) {
	for _, p := range op.ArraySplit(as[T](a), n, axis) {
		parts = append(parts, p.Any())
	}
	return parts
}

// anyNumber has the functions of every number type.
type anyNumber[T num.Native | num.Narrow] struct{ anyElem[T] }

func (anyNumber[T]) mod(a, b tensor.Any) tensor.Any  { return op.Mod(as[T](a), as[T](b)).Any() }
func (anyNumber[T]) fMod(a, b tensor.Any) tensor.Any { return op.FMod(as[T](a), as[T](b)).Any() }

func (anyNumber[T]) ptp(a tensor.Any, axes []int, opts []op.Option) tensor.Any {
	return op.Ptp(as[T](a), axes, opts...).Any()
}

func (anyNumber[T]) trace(a tensor.Any, offset int) tensor.Any {
	return op.Trace(as[T](a), offset, 0, 1).Any()
}

type integer[T num.Integer] struct{ anyNumber[T] }

func (integer[T]) shift(a, b tensor.Any, to op.ShiftDirection) tensor.Any {
	return op.BitShift(as[T](a), as[T](b), to).Any()
}
