package main

import (
	"math"
	"math/big"
	"sync"

	"github.com/ashlar-go/ashlar/internal/exact"
)

// These functions use the standard library's functions where their error is a few u. TestApprox checks that.

func approxExp2(x float64) float64 {
	k := math.Floor(x + 0.5)
	return scaled(1+approxExpm1Small(float64((x-k)*math.Ln2)), int(k))
}

func approxLog2(x float64) float64  { return approxLog(x) / math.Ln2 }
func approxLog10(x float64) float64 { return approxLog(x) / math.Ln10 }

func approxAsin(x float64) float64 { return math.Atan2(x, math.Sqrt(float64((1-x)*(1+x)))) }
func approxAcos(x float64) float64 { return math.Atan2(math.Sqrt(float64((1-x)*(1+x))), x) }

func approxSinh(x float64) float64 {
	m := approxExpm1(math.Abs(x))
	return math.Copysign((m+m/(1+m))/2, x)
}

func approxCosh(x float64) float64 { return (approxExp(x) + approxExp(-x)) / 2 }

// approxAsinh sums positive terms.
func approxAsinh(x float64) float64 {
	a := math.Abs(x)
	q := float64(a * a)
	return math.Copysign(math.Log1p(a+q/(1+math.Sqrt(1+q))), x)
}

func approxAcosh(x float64) float64 {
	return math.Log1p((x - 1) + math.Sqrt(float64((x-1)*(x+1))))
}

func approxAtanh(x float64) float64 {
	a := math.Abs(x)
	return math.Copysign(math.Log1p(2*a/(1-a))/2, x)
}

func approxRsqrt(x float64) float64 { return math.Sqrt(1 / x) }

func approxSoftplus(x float64) float64 {
	return max(x, 0) + math.Log1p(approxExp(-math.Abs(x)))
}

func approxMish(x float64) float64 {
	e := approxExp(min(x, 100))
	w := float64(e * (e + 2))
	return x * (w / (w + 2))
}

// approxGelu calls erfc(z) for z = |x|/√2, which magnifies the error of z by 2z². x²/2 is exact for a float32. A factor corrects the
// difference between it and the square of z.
func approxGelu(x float64) float64 {
	a := math.Abs(x)
	z := a / math.Sqrt2
	h := math.Float64frombits(math.Float64bits(z) &^ (1<<27 - 1))
	l := z - h
	d := ((float64(a*a/2) - float64(h*h)) - float64(2*h*l)) - float64(l*l)
	tail := float64(math.Erfc(z) / 2 * (1 - d))
	if x > 0 {
		return x * (1 - tail)
	}
	return x * tail
}

// approxGeluTanh calls exp(-v), which magnifies the error of v, up to 105. So v = x w comes in parts: x² is exact, and so are products of
// parts of 26 bits.
func approxGeluTanh(x float64) float64 {
	const (
		lin, linLow = 0x1.9884533d43651p0, -0x1.cbc0d30ebfd15p-54 // 2 √(2/π)
		cub, cubLow = 0x1.2444f28p-4, 0x1.26c5a57a4def1p-31       // that times 0.044715
	)
	s := float64(x * x)
	sh := math.Float64frombits(math.Float64bits(s) &^ (1<<27 - 1))
	p := float64(cub * sh)
	w := lin + p
	wl := (max(lin, p) - w) + min(lin, p)
	wl += float64(cub*(s-sh)) + float64(cubLow*s) + linLow
	top := math.Float64frombits(math.Float64bits(w) &^ (1<<26 - 1)) // 27 bits
	wl += w - top
	return x / (1 + float64(approxExp(-float64(x*top))*approxExp(-float64(x*wl))))
}

// An angle is a float32 without its multiple of π/2. quadrant has the last two bits of that multiple.
type angle struct {
	r, rl    float64
	quadrant int
}

// turns has 2^e mod 2π for e from -24 on, and π/2, each in three parts. The first two parts have so few bits that products with 24 bits are
// exact.
var turns = sync.OnceValue(func() *struct {
	power [24 + 105][3]float64
	right [3]float64
} {
	var t struct {
		power [24 + 105][3]float64
		right [3]float64
	}
	split := func(x *big.Float) (p [3]float64) {
		rest := new(big.Float).Set(x)
		for i, unit := range []int{27, 54} {
			f, _ := new(big.Float).SetMantExp(rest, unit).Float64()
			p[i] = math.Ldexp(math.Round(f), -unit)
			rest.Sub(rest, exact.New(p[i]))
		}
		p[2], _ = rest.Float64()
		return p
	}
	turn := exact.New(0).SetMantExp(exact.Pi(), 1)
	for i := range t.power {
		x := exact.New(0).SetMantExp(exact.New(1), i-24)
		n := new(big.Int)
		q := exact.New(0).Quo(x, turn)
		q.Add(q, exact.New(0.5)).Int(n)
		t.power[i] = split(x.Sub(x, q.Mul(q.SetInt(n), turn)))
	}
	t.right = split(exact.New(0).SetMantExp(exact.Pi(), -1))
	return &t
})

// approxAngle reduces a float32. r + rl is right to 2^-80.
func approxAngle(x float64) angle {
	if math.Abs(x) < 0.75 {
		return angle{r: x}
	}
	t := turns()
	m, e := math.Frexp(x)
	m *= 1 << 24
	p := &t.power[e]
	k := math.Round((float64(m*p[0]) + float64(m*p[1])) / t.right[0])
	a := float64(m*p[0]) - float64(k*t.right[0]) // exact
	b := float64(m*p[1]) - float64(k*t.right[1]) // exact
	c := float64(m*p[2]) - float64(k*t.right[2])
	r := a + b
	d := r - a
	l := ((a - (r - d)) + (b - d)) + c
	return angle{r + l, r - (r + l) + l, int(int64(k) & 3)}
}

func (a angle) sin() float64 {
	var y float64
	if a.quadrant&1 == 0 {
		y = math.Sin(a.r) + float64(a.rl*math.Cos(a.r))
	} else {
		y = math.Cos(a.r) - float64(a.rl*math.Sin(a.r))
	}
	if a.quadrant&2 != 0 {
		return -y
	}
	return y
}

func approxSin(x float64) float64 { return approxAngle(x).sin() }

func approxCos(x float64) float64 {
	a := approxAngle(x)
	a.quadrant++
	return a.sin()
}

func approxTan(x float64) float64 {
	a := approxAngle(x)
	s, c := math.Sin(a.r), math.Cos(a.r)
	y, z := s+float64(a.rl*c), c-float64(a.rl*s)
	if a.quadrant&1 != 0 {
		return -z / y
	}
	return y / z
}
