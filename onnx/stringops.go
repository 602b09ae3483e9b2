package onnx

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx/internal/text"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Operators that make or read strings. Source: docs/Operators.md of github.com/onnx/onnx; where that leaves something open,
// onnx/reference/ops there.

func normalizeStrings(k *valueCall) (Value, error) {
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

func concatStrings(k *valueCall) (Value, error) {
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
	if err := k.fr.room(times(n, 12)); err != nil {
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
func splitStrings(k *valueCall) ([]Value, error) {
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

func matchStrings(k *valueCall) (Value, error) {
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
