package onnx

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that make or read strings. Source: docs/Operators.md of github.com/onnx/onnx; where that leaves something open,
// onnx/reference/ops there.

// castStrings is Cast and CastLike from and to strings.
func castStrings(k *flowCall) (Value, error) {
	e := (&Type{Kind: KindTensor, Elem: ElemType(k.attrs.Int("to", 0))}).elem()
	if k.s.node.Op == "CastLike" {
		if len(k.in) < 2 {
			return Value{}, failf("it needs 2 inputs")
		}
		e = k.in[1].elem()
	}
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
func (k *flowCall) castTo(a tensor.Any) (Value, error) {
	if err := k.fr.room(int64(a.Len()) * 4); err != nil {
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
func (k *flowCall) castFrom(v *Value, d dtype.DType) (Value, error) {
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
		o, node = op.InFixed(o, k.c.fixed), &Node{Attributes: []Attribute{Int("to", int64(ElemFloat32))}}
	}
	outs, err := k.applyAs(o, node, 13, inputs)
	if err != nil {
		return Value{}, err
	}
	return k.fresh(outs[0]), nil
}

// parsed returns a tensor of what f reads from the strings of v, for d.
func parsed[T int64 | float32 | float64 | uint64 | bool](k *flowCall, v *Value, d dtype.DType, f func(s string) (T, error)) (tensor.Any, error) {
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

func normalizeStrings(k *flowCall) (Value, error) {
	v, err := k.strings(0)
	if err != nil {
		return Value{}, err
	}
	shape := v.a.Shape()
	if len(shape) != 1 && (len(shape) != 2 || shape[0] != 1) {
		return Value{}, input(0, failf("%w: it is %v; want [C] or [1,C]", tensor.ErrShape, *v))
	}
	var change func(string) string
	switch how := k.attrs.Str("case_change_action", "NONE"); how {
	case "NONE":
	case "LOWER":
		change = strings.ToLower
	case "UPPER":
		change = strings.ToUpper
	default:
		return Value{}, inAttr("case_change_action", failf("%w: it is %.40q; want NONE, LOWER or UPPER", tensor.ErrValue, how))
	}
	words, _ := k.attrs.Strs("stopwords")
	last := len(shape) - 1
	if k.fr == nil {
		if len(words) > 0 || shape[last] == 0 {
			return Value{}, op.ErrUnknown
		}
		return k.inferred(ofString, shape)
	}
	exact := k.attrs.Int("is_case_sensitive", 0) != 0
	fold := func(s string) string {
		if exact {
			return s
		}
		return text.ChangeCase(s, strings.ToLower)
	}
	stop := make(map[string]bool, len(words))
	for _, w := range words {
		stop[fold(w)] = true
	}
	const gone = -1
	list, err := mapped(k, v, func(s string) (int32, error) {
		if stop[fold(s)] {
			return gone, nil
		}
		if change != nil {
			s = text.ChangeCase(s, change)
		}
		return k.intern(s)
	})
	if err != nil {
		return Value{}, err
	}
	list = slices.DeleteFunc(list, func(i int32) bool { return i == gone })
	if len(list) == 0 {
		list = append(list, 0) // one empty string
	}
	shape[last] = len(list)
	return k.stringsOf(list, shape), nil
}

// stretched returns two tensors as views of one shape.
func stretched(a, b tensor.Any) (x, y tensor.Any, err error) {
	shape := make([]int, max(a.Rank(), b.Rank()))
	for axis := range shape {
		n, m := 1, 1
		if i := axis - len(shape) + a.Rank(); i >= 0 {
			n = a.Dim(i)
		}
		if i := axis - len(shape) + b.Rank(); i >= 0 {
			m = b.Dim(i)
		}
		if shape[axis] = n; n == 1 {
			shape[axis] = m
		}
		if n != m && n != 1 && m != 1 {
			return a, b, failf("%w: shapes %v and %v don't fit each other", tensor.ErrShape, a.Shape(), b.Shape())
		}
	}
	if a.IsSpec() || b.IsSpec() {
		s, err := tensor.NewSpec(a.DType(), shape...)
		return s.Any(), s.Any(), err
	}
	if x, err = tensor.BroadcastTo(a, shape...); err == nil {
		y, err = tensor.BroadcastTo(b, shape...)
	}
	return x, y, err
}

func concatStrings(k *flowCall) (Value, error) {
	for j := range k.in {
		if _, err := k.strings(j); err != nil {
			return Value{}, err
		}
	}
	x, y, err := stretched(k.in[0].a, k.in[1].a)
	if err != nil {
		return Value{}, err
	}
	if k.fr == nil {
		return k.inferred(ofString, x.Shape())
	}
	n := x.Len()
	if err := k.fr.room(12 * int64(n)); err != nil {
		return Value{}, err
	}
	list, ends := numbersIn(x), numbersIn(y)
	known := make(map[[2]int32]int32)
	for i, a := range list {
		pair := [2]int32{a, ends[i]}
		j, ok := known[pair]
		if !ok {
			s, t := k.in[0].text.At(a), k.in[1].text.At(ends[i])
			if err := k.fr.room(add(int64(len(s)), int64(len(t)))); err != nil {
				return Value{}, err
			}
			if j, err = k.intern(s + t); err != nil {
				return Value{}, err
			}
			known[pair] = j
		}
		if list[i] = j; i%often == 0 {
			if err := k.fr.ctx.Err(); err != nil {
				return Value{}, err
			}
		}
	}
	return k.stringsOf(list, x.Shape()), nil
}

// splitStrings cuts strings at a delimiter, without one at runs of space; the shorter lists end in empty strings.
func splitStrings(k *flowCall) ([]Value, error) {
	v, err := k.strings(0)
	if err != nil {
		return nil, err
	}
	shape := v.a.Shape()
	if k.fr == nil {
		counts, err := k.inferred(elem(dtype.Int64), shape)
		return []Value{{}, counts}, err
	}
	delimiter, most := k.attrs.Str("delimiter", ""), k.attrs.Int("maxsplit", -1)
	pieces, err := mapped(k, v, func(s string) ([]int32, error) {
		var list []int32
		for _, part := range text.Split(s, delimiter, most) {
			i, err := k.intern(part)
			if err != nil {
				return nil, err
			}
			list = append(list, i)
		}
		return list, nil
	})
	if err != nil {
		return nil, err
	}
	widest := 0
	counts := make([]int64, len(pieces))
	for i, p := range pieces {
		counts[i], widest = int64(len(p)), max(widest, len(p))
	}
	shapes := append(slices.Clone(shape), widest)
	d, err := tensor.NewSpec(dtype.Int32, shapes...)
	if err != nil {
		return nil, err
	}
	if err := k.fr.room(size(d.Any())); err != nil {
		return nil, err
	}
	list := make([]int32, len(pieces)*widest)
	for i, p := range pieces {
		copy(list[i*widest:], p)
	}
	return []Value{k.stringsOf(list, shapes), k.fresh(shaped(counts, shape))}, nil
}

func matchStrings(k *flowCall) (Value, error) {
	v, err := k.strings(0)
	if err != nil {
		return Value{}, err
	}
	re, err := keep(k, func() (*regexp.Regexp, error) {
		pattern := k.attrs.Str("pattern", "")
		_, err := regexp.Compile(pattern)
		if err != nil {
			return nil, inAttr("pattern", failf("%w: %w", tensor.ErrValue, err))
		}
		return regexp.Compile(`\A(?:` + pattern + `)\z`)
	})
	if err != nil {
		return Value{}, err
	}
	if k.fr == nil {
		return k.inferred(elem(dtype.Bool), v.a.Shape())
	}
	list, err := mapped(k, v, func(s string) (bool, error) { return re.MatchString(s), nil })
	if err != nil {
		return Value{}, err
	}
	return k.fresh(shaped(list, v.a.Shape())), nil
}
