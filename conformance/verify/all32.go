package main

import (
	"fmt"
	"math"
	"math/big"
	"sync"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num"
)

// A function32 is a function of package float to check on all float32.
type function32 struct {
	name   string
	f      func(float32) float32
	fixed  func(x float32) (float32, bool) // the values that aren't computed: limits, poles, results outside the domain, exact results
	approx func(float64) float64           // relative error below slack wherever fixed doesn't answer
	exact  func(float64) *big.Float
}

var nan, inf = num.NaN32(), float32(math.Inf(1))

var functions32 = []function32{
	{"exp32", float.Exp32, func(x float32) (float32, bool) {
		switch {
		case x == 0:
			return 1, true
		case x > 700:
			return inf, true
		case x < -700:
			return 0, true
		}
		return 0, false
	}, approxExp, func(x float64) *big.Float { return exact.Exp(exact.New(x)) }},
	{"log32", float.Log32, logarithm, approxLog, exact.Log},
	{"tanh32", float.Tanh32, odd, approxTanh, exact.Tanh},
	{"sigmoid32", float.Sigmoid32, func(x float32) (float32, bool) {
		switch {
		case x == 0:
			return 0.5, true
		case x > 700:
			return 1, true
		case x < -700:
			return 0, true
		}
		return 0, false
	}, approxSigmoid, exact.Sigmoid},
	{"erf32", float.Erf32, odd, approxErf, exact.Erf},
	{"sqrt32", float.Sqrt32, func(x float32) (float32, bool) {
		if x < 0 {
			return nan, true
		}
		return x, x == 0 || x == inf
	}, math.Sqrt, func(x float64) *big.Float { return new(big.Float).Sqrt(exact.New(x)) }},
	{"exp2x32", float.Exp2x32, func(x float32) (float32, bool) {
		switch {
		case x > 1000:
			return inf, true
		case x < -1000:
			return 0, true
		}
		return 1, x == 0
	}, approxExp2, exact.Exp2},
	{"expm1x32", float.Expm1x32, func(x float32) (float32, bool) {
		switch {
		case x > 700:
			return inf, true
		case x < -700:
			return -1, true
		}
		return x, x == 0
	}, approxExpm1, exact.Expm1},
	{"log2x32", float.Log2x32, logarithm, approxLog2, exact.Log2},
	{"log10x32", float.Log10x32, logarithm, approxLog10, exact.Log10},
	{"log1p32", float.Log1p32, func(x float32) (float32, bool) {
		switch {
		case x == -1:
			return -inf, true
		case x < -1:
			return nan, true
		}
		return x, x == 0 || x == inf
	}, math.Log1p, exact.Log1p},
	{"sin32", float.Sin32, trigonometric, approxSin, exact.Sin},
	{"cos32", float.Cos32, func(x float32) (float32, bool) {
		if x == 0 {
			return 1, true
		}
		return trigonometric(x)
	}, approxCos, exact.Cos},
	{"tan32", float.Tan32, trigonometric, approxTan, exact.Tan},
	{"asin32", float.Asin32, func(x float32) (float32, bool) {
		if x == 1 || x == -1 {
			return float32(math.Copysign(math.Pi/2, float64(x))), true
		}
		return unit(x)
	}, approxAsin, exact.Asin},
	{"acos32", float.Acos32, func(x float32) (float32, bool) {
		switch x {
		case 0:
			return math.Pi / 2, true
		case 1:
			return 0, true
		case -1:
			return math.Pi, true
		}
		return unit(x)
	}, approxAcos, exact.Acos},
	{"atan32", float.Atan32, func(x float32) (float32, bool) {
		if math.IsInf(float64(x), 0) {
			return float32(math.Copysign(math.Pi/2, float64(x))), true
		}
		return x, x == 0
	}, math.Atan, exact.Atan},
	{"sinh32", float.Sinh32, func(x float32) (float32, bool) {
		if math.Abs(float64(x)) > 700 {
			return float32(math.Copysign(math.Inf(1), float64(x))), true
		}
		return x, x == 0
	}, approxSinh, exact.Sinh},
	{"cosh32", float.Cosh32, func(x float32) (float32, bool) {
		if math.Abs(float64(x)) > 700 {
			return inf, true
		}
		return 1, x == 0
	}, approxCosh, exact.Cosh},
	{"asinh32", float.Asinh32, ends, approxAsinh, exact.Asinh},
	{"acosh32", float.Acosh32, func(x float32) (float32, bool) {
		if x < 1 {
			return nan, true
		}
		return x - 1, x == 1 || x == inf
	}, approxAcosh, exact.Acosh},
	{"atanh32", float.Atanh32, func(x float32) (float32, bool) {
		if x == 1 || x == -1 {
			return x * inf, true
		}
		return unit(x)
	}, approxAtanh, exact.Atanh},
	{"cbrt32", float.Cbrt32, ends, math.Cbrt, exact.Cbrt},
	{"rsqrt32", float.Rsqrt32, func(x float32) (float32, bool) {
		if x < 0 {
			return nan, true
		}
		return 1 / x, x == 0 || x == inf
	}, approxRsqrt, exact.Rsqrt},
	{"softplus32", float.Softplus32, func(x float32) (float32, bool) {
		if x < -700 {
			return 0, true
		}
		return x, x > 700
	}, approxSoftplus, exact.Softplus},
	{"mish32", float.Mish32, gate, approxMish, exact.Mish},
	{"gelu32", float.Gelu32, func(x float32) (float32, bool) {
		if x < -30 {
			return -1 / inf, true
		}
		return gate(x)
	}, approxGelu, exact.Gelu},
	{"gelutanh32", float.GeluTanh32, func(x float32) (float32, bool) {
		if x < -20 {
			return -1 / inf, true
		}
		return gate(x)
	}, approxGeluTanh, exact.GeluTanh},
}

// logarithm gives the values of logarithms that aren't computed.
func logarithm(x float32) (float32, bool) {
	switch {
	case x == 0:
		return -inf, true
	case x < 0:
		return nan, true
	}
	return x - 1, x == 1 || x == inf
}

// ends is for functions with f(±0) = ±0 and f(±Inf) = ±Inf.
func ends(x float32) (float32, bool) { return x, x == 0 || math.IsInf(float64(x), 0) }

// trigonometric is for functions without a value at infinity.
func trigonometric(x float32) (float32, bool) {
	if math.IsInf(float64(x), 0) {
		return nan, true
	}
	return x, x == 0
}

// unit is for functions of numbers between -1 and 1.
func unit(x float32) (float32, bool) {
	if x > 1 || x < -1 {
		return nan, true
	}
	return x, x == 0
}

// gate is for functions that are x for large x, and 0 from below for small ones.
func gate(x float32) (float32, bool) {
	if x < -200 {
		return -1 / inf, true
	}
	return x, x == 0 || x > 200
}

// odd is for functions with f(±0) = ±0 and limits ±1.
func odd(x float32) (float32, bool) {
	if math.Abs(float64(x)) > 700 {
		return float32(math.Copysign(1, float64(x))), true
	}
	return x, x == 0
}

// want returns the bits of the correctly rounded value, and whether it took the exact evaluation.
func (f *function32) want(x float32) (bits uint32, close bool) {
	if x != x {
		return num.Canon32, false
	}
	if y, ok := f.fixed(x); ok {
		return math.Float32bits(y), false
	}
	y := f.approx(float64(x))
	d := float64(math.Abs(y) * slack)
	low, high := float32(y-d), float32(y+d)
	if low == high {
		return math.Float32bits(low), false
	}
	r, _ := f.exact(float64(x)).Float32()
	return math.Float32bits(r), true
}

type result32 struct {
	name           string
	count          uint64
	wrong          uint64
	close          uint64
	digest, sample uint64
	examples       []string
}

func (r result32) String() string {
	return fmt.Sprintf("%s inputs %d wrong %d digest %016x sample %016x", r.name, r.count, r.wrong, r.digest, r.sample)
}

const (
	chunk    = 1 << 16 // inputs per digest chunk
	fnvStart = 0xcbf29ce484222325
	fnvPrime = 0x100000001b3
)

// fnv adds a word to an FNV-1a digest, in one step instead of one for each byte.
func fnv(h, word uint64) uint64 { return (h ^ word) * fnvPrime }

// all checks every step-th chunk of inputs. The digest is that of the digests of the chunks, in order. The digest of a chunk is that of
// the bits of its results, in the order of the bits of the inputs.
func (f *function32) all(step int) result32 {
	chunks := 1 << 32 / chunk / step
	r := result32{name: f.name, count: uint64(chunks) * chunk, sample: f.sample()}
	var mu sync.Mutex
	chunkDigest := func(c int) uint64 {
		h := uint64(fnvStart)
		for i := range uint32(chunk) {
			x := math.Float32frombits(uint32(c*step)*chunk + i)
			got := math.Float32bits(f.f(x))
			h = fnv(h, uint64(got))
			want, close := f.want(x)
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
					r.examples = append(r.examples, fmt.Sprintf("%08x %g: got %08x %g, want %08x %g", math.Float32bits(x), x,
						got, math.Float32frombits(got), want, math.Float32frombits(want)))
				}
			}
			mu.Unlock()
		}
		return h
	}
	r.digest = digestOf(chunks, func() func(int) uint64 { return chunkDigest })
	return r
}

// digestOf calls the functions of worker with every number below chunks, on two goroutines with a worker each. It returns the digest of
// their results in order.
func digestOf(chunks int, worker func() func(c int) uint64) uint64 {
	digests := make([]uint64, chunks)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		digest := worker()
		wg.Go(func() {
			for c := int(next.Add(1) - 1); c < chunks; c = int(next.Add(1) - 1) {
				digests[c] = digest(c)
			}
		})
	}
	wg.Wait()
	h := uint64(fnvStart)
	for _, d := range digests {
		h = fnv(h, d)
	}
	return h
}

// sample returns the digest of the results on every 4099th input, from 0 on.
func (f *function32) sample() uint64 {
	h := uint64(fnvStart)
	for i := uint64(0); i < 1<<32; i += 4099 {
		h = fnv(h, uint64(math.Float32bits(f.f(math.Float32frombits(uint32(i))))))
	}
	return h
}
