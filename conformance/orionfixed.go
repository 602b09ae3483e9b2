package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// fixedRows is a table of Orion's fixed-point numbers: words of arguments, of the nearest results and of those next below.
type fixedRows struct {
	Fn, Format string
	Rows       [][3]json.RawMessage
}

// runFixed runs fixedpoint_exact.json, which has a table per function and format.
func (r *report) runFixed(file, op string, text []byte) error {
	var data struct{ Tables []fixedRows }
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("%s: %v", file, err)
	}
	if !r.wants(op) {
		return nil
	}
	for _, t := range data.Tables {
		for _, row := range t.Rows {
			var words [3]*big.Int
			for i, raw := range row {
				n, ok := new(big.Int).SetString(strings.Trim(string(raw), `"`), 10)
				if !ok {
					return fmt.Errorf("%s: %s is no integer", file, raw)
				}
				words[i] = n
			}
			r.judge(op, fmt.Sprintf("%s %s %v", t.Fn, t.Format, words[0]), func() error { return fixedRow(t.Fn, t.Format, words) })
		}
	}
	return nil
}

// fixedRow checks a row: the nearest result, and, where it is positive, the one that toward zero gives.
func fixedRow(fn, format string, words [3]*big.Int) error {
	call := fixedCalls[format]
	if call == nil {
		return unsupported{"no format of that name"}
	}
	for _, mode := range []fixed.Mode{0, fixed.TowardZero} {
		want := words[1]
		if mode == fixed.TowardZero {
			if want = words[2]; want.Sign() < 0 {
				continue
			}
		}
		got, err := call(fn, words[0], mode)
		if err != nil {
			return err
		}
		if got.Cmp(want) != 0 {
			return fmt.Errorf("mode %d: got %v, want %v", mode, got, want)
		}
	}
	return nil
}

// fixedCalls call a function by its name in the data, words for numbers.
var fixedCalls = map[string]func(fn string, x *big.Int, mode fixed.Mode) (*big.Int, error){
	"FP8x23": fixedCall(func(b *big.Int) fixed.FP8x23 { return fixed.FP8x23FromBits(int32(b.Int64())) },
		func(x fixed.FP8x23) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP16x16": fixedCall(func(b *big.Int) fixed.FP16x16 { return fixed.FP16x16FromBits(int32(b.Int64())) },
		func(x fixed.FP16x16) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP32x32": fixedCall(func(b *big.Int) fixed.FP32x32 { return fixed.FP32x32FromBits(b.Int64()) },
		func(x fixed.FP32x32) *big.Int { return big.NewInt(x.Bits()) }),
	"FP64x64": fixedCall(func(b *big.Int) fixed.FP64x64 {
		w, _ := fixed.Int128FromBig(b)
		return fixed.FP64x64FromBits(w)
	}, func(x fixed.FP64x64) *big.Int { return x.Bits().Big() }),
}

func fixedCall[T num.Fixed](of func(*big.Int) T, word func(T) *big.Int) func(string, *big.Int, fixed.Mode) (*big.Int, error) {
	functions := map[string]func(T, ...fixed.Mode) (T, error){
		"exp": fixed.Exp[T], "exp2": fixed.Exp2[T], "ln": fixed.Log[T], "log2": fixed.Log2[T], "log10": fixed.Log10[T], "sqrt": fixed.Sqrt[T],
		"sin": fixed.Sin[T], "cos": fixed.Cos[T], "tan": fixed.Tan[T], "asin": fixed.Asin[T], "acos": fixed.Acos[T], "atan": fixed.Atan[T],
		"sinh": fixed.Sinh[T], "cosh": fixed.Cosh[T], "tanh": fixed.Tanh[T], "asinh": fixed.Asinh[T], "acosh": fixed.Acosh[T], "atanh": fixed.Atanh[T],
		"erf": fixed.Erf[T], "sigmoid": fixed.Sigmoid[T], "softplus": fixed.Softplus[T], "recip": fixed.Reciprocal[T],
	}
	return func(fn string, x *big.Int, mode fixed.Mode) (*big.Int, error) {
		f := functions[fn]
		if f == nil {
			return nil, unsupported{"no function of that name"}
		}
		y, err := f(of(x), mode)
		if err != nil {
			return nil, err
		}
		return word(y), nil
	}
}
