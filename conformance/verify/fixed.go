package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// A fixedFunction is a function of package fixed, with the function that it is compared with.
type fixedFunction struct {
	name    string
	defined func(x float64) bool    // nil: everywhere
	approx  func(x float64) float64 // relative error below slack where the result fits 32 bits; nil: results aren't compared
}

type fixedCall[T num.Fixed] = func(T, ...fixed.Mode) (T, error)

// fixedCalls returns the functions of a format by name.
func fixedCalls[T num.Fixed]() map[string]fixedCall[T] {
	return map[string]fixedCall[T]{
		"exp": fixed.Exp[T], "exp2": fixed.Exp2[T], "log": fixed.Log[T], "log2": fixed.Log2[T], "log10": fixed.Log10[T], "sqrt": fixed.Sqrt[T],
		"reciprocal": fixed.Reciprocal[T], "sin": fixed.Sin[T], "cos": fixed.Cos[T], "tan": fixed.Tan[T], "asin": fixed.Asin[T], "acos": fixed.Acos[T],
		"atan": fixed.Atan[T], "sinh": fixed.Sinh[T], "cosh": fixed.Cosh[T], "tanh": fixed.Tanh[T], "asinh": fixed.Asinh[T], "acosh": fixed.Acosh[T],
		"atanh": fixed.Atanh[T], "erf": fixed.Erf[T], "sigmoid": fixed.Sigmoid[T], "softplus": fixed.Softplus[T],
	}
}

// clampExp keeps exponentials of large numbers from becoming infinite, as their difference would be NaN.
func clampExp(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 { return f(max(-600, min(x, 600))) }
}

func above0(x float64) bool  { return x > 0 }
func within1(x float64) bool { return x >= -1 && x <= 1 }

var fixedFunctions = []fixedFunction{
	{"exp", nil, clampExp(approxExp)},
	{"exp2", nil, clampExp(approxExp2)},
	{"log", above0, approxLog},
	{"log2", above0, approxLog2},
	{"log10", above0, approxLog10},
	{"sqrt", func(x float64) bool { return x >= 0 }, math.Sqrt},
	{"reciprocal", func(x float64) bool { return x != 0 }, func(x float64) float64 { return 1 / x }},
	{"sin", nil, approxSin},
	{"cos", nil, approxCos},
	{"tan", nil, approxTan},
	{"asin", within1, approxAsin},
	{"acos", within1, approxAcos},
	{"atan", nil, math.Atan},
	{"sinh", nil, clampExp(approxSinh)},
	{"cosh", nil, clampExp(approxCosh)},
	{"tanh", nil, approxTanh},
	{"asinh", nil, approxAsinh},
	{"acosh", func(x float64) bool { return x >= 1 }, approxAcosh},
	{"atanh", func(x float64) bool { return x > -1 && x < 1 }, approxAtanh},
	{"erf", nil, approxErf},
	{"sigmoid", nil, clampExp(approxSigmoid)},
	{"softplus", nil, approxSoftplus},
}

// fixedNames has the formats, and the bits of each after the point.
var fixedNames = map[string]uint{"FP8x23": 23, "FP16x16": 16, "FP32x32": 32, "FP64x64": 64}

// Results that are no numbers. They are outside the range of words.
const (
	tooLarge = 1 << 40
	tooSmall = -1 << 40
	noValue  = 1 << 41
)

// words32 returns the function on words, for a format of 32 bits.
func (f *fixedFunction) words32(format string) func(w int32) int64 {
	if format == "FP8x23" {
		call := fixedCalls[fixed.FP8x23]()[f.name]
		return func(w int32) int64 {
			x := fixed.FP8x23FromBits(w)
			return resultWord(func(mode ...fixed.Mode) (fixed.FP8x23, error) { return call(x, mode...) }, fixed.FP8x23.Bits)
		}
	}
	call := fixedCalls[fixed.FP16x16]()[f.name]
	return func(w int32) int64 {
		x := fixed.FP16x16FromBits(w)
		return resultWord(func(mode ...fixed.Mode) (fixed.FP16x16, error) { return call(x, mode...) }, fixed.FP16x16.Bits)
	}
}

// resultWord returns the word of a result, or one of the results above. It tells an overflow from other errors. The saturated result gives
// the sign of an overflow.
func resultWord[T num.Fixed](f func(...fixed.Mode) (T, error), word func(T) int32) int64 {
	y, err := f(fixed.Saturate)
	r := int64(word(y))
	switch {
	case errors.Is(err, fixed.ErrDomain):
		return noValue
	case err != nil:
		return noValue + 1
	case r == math.MaxInt32 || r == math.MinInt32: // or the number itself
		if _, err := f(); errors.Is(err, fixed.ErrOverflow) {
			if r > 0 {
				return tooLarge
			}
			return tooSmall
		}
	}
	return r
}

// want32 returns the word of the correctly rounded value, or one of the results above. It also reports whether it took the exact
// evaluation.
func (f *fixedFunction) want32(w int32, frac uint) (word int64, close bool) {
	x := scaled(float64(w), -int(frac))
	if f.defined != nil && !f.defined(x) {
		return noValue, false
	}
	return rounded32(f.approx(x), frac, func() *big.Float { return exact.Fixed[f.name](exact.New(x)) })
}

// rounded32 returns the word of the number whose value is y, off by slack. Where that isn't enough, it rounds the result of exactly.
func rounded32(y float64, frac uint, exactly func() *big.Float) (word int64, close bool) {
	y = float64(y * float64(uint64(1)<<frac)) // exact
	d := float64(math.Abs(y) * slack)
	low, high := math.RoundToEven(y-d), math.RoundToEven(y+d)
	if low != high && high >= math.MinInt32 && low <= math.MaxInt32 {
		low, _ = new(big.Float).SetInt(roundUnits(exactly(), frac)).Float64()
		close = true
	}
	switch {
	case low > math.MaxInt32:
		return tooLarge, close
	case low < math.MinInt32:
		return tooSmall, close
	}
	return int64(low), close
}

// roundUnits returns v in units of 2^-frac, to nearest, ties to even. It rounds v to 300 bits first. That makes a tie exact if only the
// errors of package exact kept it from being one.
func roundUnits(v *big.Float, frac uint) *big.Int {
	u := new(big.Float).SetPrec(300).Set(v)
	u.SetMantExp(u, int(frac))
	n, _ := u.Int(nil)
	rest := u.Sub(u, new(big.Float).SetPrec(300).SetInt(n))
	cmp := rest.Abs(rest).Cmp(big.NewFloat(0.5))
	if cmp > 0 || cmp == 0 && n.Bit(0) == 1 {
		n.Add(n, big.NewInt(int64(v.Sign())))
	}
	return n
}

// fixedParts is the number of parts of an exhaustive check. A part has 2^26 inputs.
const fixedParts = 64

type fixedResult struct {
	count, wrong, close, digest uint64
	examples                    []string
}

// words checks the inputs at(0), at(1), …, at(n-1) on two goroutines. n is a multiple of chunk or less than chunk. The digest is made as by
// all.
func (f *fixedFunction) words(format string, n int, at func(i int) int32) fixedResult {
	call, frac := f.words32(format), fixedNames[format]
	return judged(n, func(i int) (got, want int64, close bool) {
		w := at(i)
		if got = call(w); f.approx == nil {
			return got, got, false
		}
		want, close = f.want32(w, frac)
		return got, want, close
	}, func(i int) string { return fmt.Sprint(at(i)) })
}

// judged checks n results on two goroutines.
func judged(n int, result func(i int) (got, want int64, close bool), name func(i int) string) fixedResult {
	chunks := (n + chunk - 1) / chunk
	r := fixedResult{count: uint64(n)}
	var mu sync.Mutex
	chunkDigest := func(c int) uint64 {
		h := uint64(fnvStart)
		for i := c * chunk; i < min(n, (c+1)*chunk); i++ {
			got, want, close := result(i)
			h = fnv(h, uint64(got))
			if got == want && !close {
				continue
			}
			mu.Lock()
			if close {
				r.close++
			}
			if got != want {
				r.wrong++
				if len(r.examples) < 10 {
					r.examples = append(r.examples, fmt.Sprintf("%s: got %d, want %d", name(i), got, want))
				}
			}
			mu.Unlock()
		}
		return h
	}
	r.digest = digestOf(chunks, func() func(int) uint64 { return chunkDigest })
	return r
}

// sampleStride gives somewhat more than 2^24 inputs, spread over all.
const sampleStride = 255

// sampled checks every 255th input, and all inputs next to powers of two, to 1, and to the ends.
func (f *fixedFunction) sampled(format string) (spread, edges fixedResult) {
	spread = f.words(format, 1<<32/sampleStride+1, func(i int) int32 { return int32(uint32(i * sampleStride)) })
	var at []int32
	for k := range 33 {
		for d := -100; d <= 100; d++ {
			at = append(at, int32(1<<k+d), int32(-1<<k+d))
		}
	}
	return spread, f.words(format, len(at), func(i int) int32 { return at[i] })
}

// all checks every input, part by part, and writes the results of complete parts to a file. A later run goes on after these.
func (f *fixedFunction) all(format, state string) (fixedResult, error) {
	return f.allOf(format, state, fixedParts, 1<<32/fixedParts)
}

// allOf checks a number of parts of n inputs.
func (f *fixedFunction) allOf(format, state string, parts, n int) (fixedResult, error) {
	r := fixedResult{digest: fnvStart}
	text, err := os.ReadFile(state)
	if err != nil && !os.IsNotExist(err) {
		return r, err
	}
	file, err := os.OpenFile(state, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return r, err
	}
	defer file.Close()
	for part := range parts {
		head := fmt.Sprintf("%s %s part %d ", f.name, format, part)
		var p fixedResult
		lines := strings.Split(string(text), "\n")
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, head) }); i >= 0 {
			if _, err := fmt.Sscanf(lines[i][len(head):], "inputs %d wrong %d digest %x", &p.count, &p.wrong, &p.digest); err != nil {
				return r, fmt.Errorf("%s: %q: %v", state, lines[i], err)
			}
		} else {
			p = f.words(format, n, func(i int) int32 { return int32(uint32(part*n + i)) })
			if _, err := fmt.Fprintf(file, "%sinputs %d wrong %d digest %016x\n", head, p.count, p.wrong, p.digest); err != nil {
				return r, err
			}
		}
		r.count += p.count
		r.wrong += p.wrong
		r.close += p.close
		r.digest = fnv(r.digest, p.digest)
		r.examples = append(r.examples, p.examples[:min(len(p.examples), 10-min(10, len(r.examples)))]...)
	}
	return r, nil
}

// sample returns the digest of the results on every 4099th input of 32 bits, or on few inputs of more bits.
func (f *fixedFunction) sample(format string) uint64 {
	if fixedNames[format] > 23 {
		return f.measured(format, 100, 1).digest
	}
	call, h := f.words32(format), uint64(fnvStart)
	for i := uint64(0); i < 1<<32; i += 4099 {
		h = fnv(h, uint64(call(int32(uint32(i)))))
	}
	return h
}

// checkFixed checks functions of a fixed-point format for main. It returns the exit status.
func checkFixed(name, format string, sampled, trust bool, state string, n int, update bool) int {
	status := 0
	report := func(r result32, start time.Time, more string, examples ...string) {
		fmt.Printf("%s (%.0f s, %s)\n", r, time.Since(start).Seconds(), more)
		for _, e := range examples {
			if e != "" {
				fmt.Println("  ", e)
			}
		}
		if r.wrong != 0 {
			status = 1
		} else if update {
			if err := updateDigest(digestFile, r.String()); err != nil {
				fmt.Fprintln(os.Stderr, "verify:", err)
				status = 2
			}
		}
	}
	found := false
	for _, f := range fixedFunctions {
		if name != "all" && name != f.name {
			continue
		}
		if found = true; trust {
			f.approx = nil
		}
		start, line := time.Now(), result32{name: f.name + "." + format, sample: f.sample(format)}
		switch {
		case fixedNames[format] > 23:
			r := f.measured(format, n, 1)
			line.count, line.wrong, line.digest = uint64(r.inputs), uint64(r.wrong), r.digest
			report(line, start, fmt.Sprintf("%d without a result, largest error %.6f", r.errors, r.worst), r.example)
		case sampled:
			r, edges := f.sampled(format)
			line.count, line.wrong, line.digest = r.count+edges.count, r.wrong+edges.wrong, fnv(r.digest, edges.digest)
			report(line, start, fmt.Sprintf("%d decided exactly", r.close+edges.close), append(r.examples, edges.examples...)...)
		default:
			r, err := f.all(format, state)
			if err != nil {
				fmt.Fprintln(os.Stderr, "verify:", err)
				return 2
			}
			line.count, line.wrong, line.digest = r.count, r.wrong, r.digest
			report(line, start, fmt.Sprintf("%d decided exactly", r.close), r.examples...)
		}
	}
	if name == "all" || name == "pow" {
		found = true
		start, line := time.Now(), result32{name: "pow." + format, sample: measuredPow(format, 8, 100, 1).digest}
		if fixedNames[format] > 23 {
			r := measuredPow(format, powEdges, n, 1)
			line.count, line.wrong, line.digest = uint64(r.inputs), uint64(r.wrong), r.digest
			report(line, start, fmt.Sprintf("pairs, %d without a result, largest error %.6f", r.errors, r.worst), r.example)
		} else {
			r := powers(format, powEdges, n, 1)
			line.count, line.wrong, line.digest = r.count, r.wrong, r.digest
			report(line, start, fmt.Sprintf("pairs, %d decided exactly", r.close), r.examples...)
		}
	}
	if !found {
		fmt.Fprintf(os.Stderr, "verify: no function %q of fixed point\n", name)
		return 2
	}
	return status
}
