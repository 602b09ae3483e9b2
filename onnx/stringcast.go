package onnx

import (
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// castStrings is Cast from and to strings.
func castStrings(k *valueCall) (Value, error) {
	return k.castAs((&Type{Kind: KindTensor, Elem: ElemType(k.attrs.Int("to", 0))}).elem())
}

// castStringsLike is CastLike from and to strings.
func castStringsLike(k *valueCall) (Value, error) {
	if len(k.in) < 2 {
		return Value{}, failf("it needs 2 inputs")
	}
	return k.castAs(k.in[1].elem())
}

func (k *valueCall) castAs(e elem) (Value, error) {
	a, err := k.tensor(0)
	v := &k.in[0]
	switch {
	case err != nil:
		return Value{}, err
	case e == noElem || e == ofMap:
		return Value{}, inAttr("to", failf("%w: %v", ErrUnsupported, ElemType(k.attrs.Int("to", 0))))
	case v.text != nil && e == ofString:
		return *v, nil
	}
	if k.fr == nil {
		if d := k.c.fixed; d != dtype.Invalid && dtype.DType(e).IsFloat() {
			e = elem(d)
		}
		return k.inferred(e, a.Shape())
	}
	if v.text == nil {
		return k.castTo(a)
	}
	return k.castFrom(v, dtype.DType(e))
}

// castTo writes numbers as strings.
func (k *valueCall) castTo(a tensor.Any) (Value, error) {
	if err := k.fr.room(times(a.Len(), 4)); err != nil {
		return Value{}, err
	}
	list := make([]int32, 0, a.Len())
	for x := range a.Values() {
		i, err := k.intern(text.Number(x))
		if err == nil && len(list)%often == 0 {
			err = k.fr.ctx.Err()
		}
		if err != nil {
			return Value{}, err
		}
		list = append(list, i)
	}
	return k.stringsOf(list, a.Shape()), nil
}

// castFrom reads numbers from strings. The operator of package op converts them where their type isn't one of those read.
func (k *valueCall) castFrom(v *Value, d dtype.DType) (Value, error) {
	var a tensor.Any
	var err error
	switch {
	case d == dtype.Bool:
		a, err = parsed(k, v, d, func(s string) (bool, error) { return strconv.ParseBool(strings.ToLower(s)) })
	case d == dtype.Uint64:
		a, err = parsed(k, v, d, func(s string) (uint64, error) { return strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 64) })
	case d.IsInteger():
		low, high := int64(0), int64(1)<<d.Bits()-1
		if d.IsSigned() {
			low, high = -1<<(d.Bits()-1), 1<<(d.Bits()-1)-1
		}
		a, err = parsed(k, v, d, func(s string) (int64, error) {
			x, err := strconv.ParseInt(s, 10, 64)
			if x < low || x > high {
				err = strconv.ErrRange
			}
			return x, err
		})
	case d == dtype.Float32 && k.c.fixed == dtype.Invalid:
		a, err = parsed(k, v, d, func(s string) (float32, error) {
			x, err := text.ParseFloat(s, 32)
			return float32(x), err
		})
	default:
		a, err = parsed(k, v, d, func(s string) (float64, error) { return text.ParseFloat(s, 64) })
	}
	if err != nil || a.DType() == d && k.c.fixed == dtype.Invalid {
		return k.fresh(a), err
	}
	inputs := []tensor.Any{a}
	if len(k.in) > 1 {
		inputs = append(inputs, k.in[1].a)
	}
	o, node := k.c.ops[k.i], k.s.node
	if o == nil { // of CastMap
		o, _ = op.Lookup("Cast")
		o, node = op.InFixed(o, k.c.fixed), &Node{Attributes: []Attribute{IntAttr("to", int64(ElemFloat32))}}
	}
	outs, err := k.applyAs(o, node, 13, inputs)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(outs[0]), nil
}

// parsed returns a tensor of the values that f reads from the strings of v, for d.
func parsed[T int64 | float32 | float64 | uint64 | bool](k *valueCall, v *Value, d dtype.DType, f func(s string) (T, error)) (tensor.Any, error) {
	list, err := mapped(k, v, func(s string) (T, error) {
		x, err := f(s)
		if err != nil {
			err = failf("%w: %.100q is no %v", tensor.ErrValue, s, d)
		}
		return x, err
	})
	if err != nil {
		return tensor.Any{}, input(0, err)
	}
	return shaped(list, v.a.Shape()), nil
}
