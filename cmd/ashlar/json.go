package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// mostValues is how many values of an output, and rows of classes, a report holds.
const mostValues = 10000

// values returns the first elements of a tensor, at most most, as values that encoding/json writes in full: integers as they are,
// floats in the fewest digits that give them back.
func values(t tensor.Any, most int) []any {
	list := []any{}
	if t.IsSpec() || t.Foreign() != nil {
		return list
	}
	for v := range t.Values() {
		if len(list) == most {
			break
		}
		list = append(list, jsonValue(v))
	}
	return list
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case float32:
		return jsonFloat(v)
	case float64:
		return jsonFloat(v)
	case complex64:
		return []any{jsonFloat(real(v)), jsonFloat(imag(v))}
	case complex128:
		return []any{jsonFloat(real(v)), jsonFloat(imag(v))}
	case fixed.FP8x23, fixed.FP16x16, fixed.FP32x32, fixed.FP64x64:
		return json.Number(fmt.Sprint(v))
	case interface{ Int64() int64 }:
		return v.Int64()
	case interface{ Float32() float32 }:
		return jsonFloat(v.Float32())
	}
	return v
}

// jsonFloat is v, or the name of a value that JSON has no number for.
func jsonFloat[T float32 | float64](v T) any {
	switch f := float64(v); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	return v
}

// printLine writes a value as a line of JSON.
func (p *program) printLine(v any) error {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// list is n, or an empty list for JSON.
func list(n []int) []int { return append([]int{}, n...) }
