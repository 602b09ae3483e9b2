package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// A wideFormat is a format of 64 or 128 bits. Its functions take and return words.
type wideFormat struct {
	width, frac uint
	call        func(name string) func(x *big.Int, mode ...fixed.Mode) (*big.Int, error)
	pow         func(x, y *big.Int) (*big.Int, error)
}

var wideFormats = map[string]wideFormat{
	"FP8x23": wideFormatOf(32, 23, func(b *big.Int) fixed.FP8x23 { return fixed.FP8x23FromBits(int32(b.Int64())) },
		func(x fixed.FP8x23) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP16x16": wideFormatOf(32, 16, func(b *big.Int) fixed.FP16x16 { return fixed.FP16x16FromBits(int32(b.Int64())) },
		func(x fixed.FP16x16) *big.Int { return big.NewInt(int64(x.Bits())) }),
	"FP32x32": wideFormatOf(64, 32, func(b *big.Int) fixed.FP32x32 { return fixed.FP32x32FromBits(b.Int64()) },
		func(x fixed.FP32x32) *big.Int { return big.NewInt(x.Bits()) }),
	"FP64x64": wideFormatOf(128, 64, func(b *big.Int) fixed.FP64x64 {
		w, _ := fixed.Int128FromBig(b)
		return fixed.FP64x64FromBits(w)
	}, func(x fixed.FP64x64) *big.Int { return x.Bits().Big() }),
}

func wideFormatOf[T num.Fixed](width, frac uint, of func(*big.Int) T, word func(T) *big.Int) wideFormat {
	return wideFormat{width, frac, func(name string) func(x *big.Int, mode ...fixed.Mode) (*big.Int, error) {
		f := fixedCalls[T]()[name]
		return func(x *big.Int, mode ...fixed.Mode) (*big.Int, error) {
			y, err := f(of(x), mode...)
			return word(y), err
		}
	}, func(x, y *big.Int) (*big.Int, error) {
		z, err := fixed.Pow(of(x), of(y))
		return word(z), err
	}}
}

// some returns a random word. All magnitudes are equally likely. One word in eight is within 3 of a power of two.
func (f *wideFormat) some(r *rand.Rand) *big.Int {
	b := new(big.Int).SetUint64(r.Uint64())
	b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(r.Uint64()))
	b.Rsh(b, 129-f.width+r.UintN(f.width-1))
	if r.UintN(8) == 0 {
		b = powerOfTwo(r.UintN(f.width-2), r.Int64N(7)-3)
	}
	if r.UintN(2) == 0 {
		b.Neg(b)
	}
	return b
}

func powerOfTwo(n uint, d int64) *big.Int {
	b := big.NewInt(1)
	return b.Add(b.Lsh(b, n), big.NewInt(d))
}

// value returns the number of a word.
func (f *wideFormat) value(w *big.Int) *big.Float {
	x := new(big.Float).SetPrec(exact.Prec).SetInt(w)
	return x.SetMantExp(x, -int(f.frac))
}

// fits reports whether x is a word of the format.
func (f *wideFormat) fits(w *big.Int) bool {
	last := powerOfTwo(f.width-1, 0)
	return w.Cmp(last) < 0 && w.Cmp(last.Neg(last)) >= 0
}

// wideResult counts the inputs with a result and the results that aren't the nearest. It also has the largest error
// in units.
type wideResult struct {
	inputs, errors, wrong int
	worst                 float64
	digest                uint64 // of the lower halves of the results
	example               string
}

// judge compares a result with the true value and counts it.
func (r *wideResult) judge(f *wideFormat, what string, got *big.Int, err error, v *big.Float) {
	want := roundUnits(v, f.frac)
	r.inputs++
	low, _ := fixed.Int128FromBig(got)
	r.digest = fnv(r.digest, low.Lo)
	if !f.fits(want) {
		r.errors++
		if !errors.Is(err, fixed.ErrOverflow) {
			r.fail(fmt.Sprintf("%s: %v, %v, want an overflow", what, got, err))
		}
		return
	}
	if err != nil {
		r.fail(fmt.Sprintf("%s: %v, want %v", what, err, want))
		return
	}
	units := new(big.Float).SetPrec(exact.Prec).Set(v)
	units.SetMantExp(units, int(f.frac))
	d, _ := units.Sub(units, new(big.Float).SetPrec(exact.Prec).SetInt(got)).Float64()
	r.worst = max(r.worst, math.Abs(d))
	if got.Cmp(want) != 0 {
		r.fail(fmt.Sprintf("%s: got %v, want %v", what, got, want))
	}
}

func (r *wideResult) fail(example string) {
	r.wrong++
	if r.example == "" {
		r.example = example
	}
}

// measured checks a function on n random words and all words within 1 of a power of two.
func (f *fixedFunction) measured(format string, n int, seed uint64) wideResult {
	w := wideFormats[format]
	call, oracle := w.call(f.name), exact.Fixed[f.name]
	rnd := rand.New(rand.NewPCG(seed, 3))
	var r wideResult
	check := func(x *big.Int) {
		got, err := call(x)
		v := w.value(x)
		if x64, _ := v.Float64(); !f.definedAt(v, x64) {
			r.inputs++
			r.errors++
			if !errors.Is(err, fixed.ErrDomain) {
				r.fail(fmt.Sprintf("%v: %v, %v, want no value", x, got, err))
			}
			return
		}
		r.judge(&w, x.String(), got, err, oracle(v))
	}
	for k := range w.width - 1 {
		for d := int64(-1); d <= 1; d++ {
			b := powerOfTwo(k, d)
			check(b)
			check(new(big.Int).Neg(b))
		}
	}
	for range n {
		x := w.some(rnd)
		if f.defined != nil && rnd.UintN(4) != 0 { // moves the word into the domain, most of the time
			x.Abs(x)
			if f.name[0] == 'a' && f.name != "acosh" {
				x.Mod(x, powerOfTwo(w.frac, 0))
			}
		}
		check(x)
	}
	return r
}

// definedAt reports whether there is a value at x. x64 is the float64 nearest to x; it may lie on the other side of
// ±1.
func (f *fixedFunction) definedAt(x *big.Float, x64 float64) bool {
	if f.defined == nil {
		return true
	}
	if math.Abs(x64) == 1 {
		x64 += float64(0.25 * float64(x.Cmp(big.NewFloat(x64))))
	}
	return f.defined(x64)
}
