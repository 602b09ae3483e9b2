package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/ashlar-go/ashlar/num"
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
	for _, mode := range []num.FixedMode{0, num.TowardZero} {
		want := words[1]
		if mode == num.TowardZero {
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
var fixedCalls = map[string]func(fn string, x *big.Int, mode num.FixedMode) (*big.Int, error){
	"FP8x23": fixedCall(func(b *big.Int) num.FP8x23 { return num.FP8x23FromBits(int32(b.Int64())) },
		func(x num.FP8x23) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP16x16": fixedCall(func(b *big.Int) num.FP16x16 { return num.FP16x16FromBits(int32(b.Int64())) },
		func(x num.FP16x16) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP32x32": fixedCall(func(b *big.Int) num.FP32x32 { return num.FP32x32FromBits(b.Int64()) },
		func(x num.FP32x32) *big.Int { return big.NewInt(x.Bits()) }),
	"FP64x64": fixedCall(func(b *big.Int) num.FP64x64 {
		w, _ := num.Int128FromBig(b)
		return num.FP64x64FromBits(w)
	}, func(x num.FP64x64) *big.Int { return x.Bits().Big() }),
}

func fixedCall[T num.Fixed](of func(*big.Int) T, word func(T) *big.Int) func(string, *big.Int, num.FixedMode) (*big.Int, error) {
	functions := map[string]func(T, ...num.FixedMode) (T, error){
		"exp": num.ExpFixed[T], "exp2": num.Exp2Fixed[T], "ln": num.LogFixed[T], "log2": num.Log2Fixed[T], "log10": num.Log10Fixed[T], "sqrt": num.SqrtFixed[T],
		"sin": num.SinFixed[T], "cos": num.CosFixed[T], "tan": num.TanFixed[T], "asin": num.AsinFixed[T], "acos": num.AcosFixed[T], "atan": num.AtanFixed[T],
		"sinh": num.SinhFixed[T], "cosh": num.CoshFixed[T], "tanh": num.TanhFixed[T], "asinh": num.AsinhFixed[T], "acosh": num.AcoshFixed[T], "atanh": num.AtanhFixed[T],
		"erf": num.ErfFixed[T], "sigmoid": num.SigmoidFixed[T], "softplus": num.SoftplusFixed[T], "recip": num.ReciprocalFixed[T],
	}
	return func(fn string, x *big.Int, mode num.FixedMode) (*big.Int, error) {
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
