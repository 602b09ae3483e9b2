package float

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA returns a*b + c without rounding, for finite operands. ok is false where the result is a zero, whose sign big.Float doesn't keep
// by the same rule.
func exactFMA(a, b, c float64) (sum *big.Float, ok bool) {
	prod := new(big.Float).SetPrec(120).Mul(big.NewFloat(a), big.NewFloat(b))
	sum = new(big.Float).SetPrec(5000).Add(prod, big.NewFloat(c))
	return sum, sum.Sign() != 0
}

// fmaCase returns operands of a fused step that are hard to round: b is near 1, a*b is near half a unit in the last place of c or a
// multiple, which the parameters of the format place. Every second one is drawn from all bits or small integers.
func fmaCase(r *rand.Rand, bits, minExp, maxExp int) (a, b, c float64) {
	switch r.IntN(8) {
	case 0, 1:
		all := func() float64 {
			x := math.Ldexp(1+math.Ldexp(float64(r.Uint64()>>(65-bits)), 1-bits), minExp+r.IntN(maxExp-minExp))
			if r.IntN(2) == 0 {
				return -x
			}
			return x
		}
		return all(), all(), all()
	case 2:
		return float64(r.IntN(200) - 100), float64(r.IntN(200) - 100), float64(r.IntN(2000) - 1000)
	case 3: // subnormal results, and sums that cancel
		e := minExp/2 - r.IntN(bits)
		a = math.Ldexp(float64(r.IntN(1<<20)-1<<19), e)
		b = math.Ldexp(float64(r.IntN(1<<20)-1<<19), minExp-e-r.IntN(40))
		return a, b, math.Ldexp(float64(r.IntN(64)-32), minExp-bits+1+r.IntN(4))
	}
	// (1 + i u) (1 - j u) with small i, j is near 1 and on either side, u being the unit in the last place of 1.
	u := math.Ldexp(1, 1-bits)
	a, b = 1+float64(r.IntN(4))*u, 1-float64(r.IntN(4))*u/2
	m := math.Ldexp(1, bits-1) + float64(r.IntN(5))
	if r.IntN(2) == 0 {
		m = math.Ldexp(1, bits) - 1 - float64(r.IntN(3))
	}
	c = m * math.Ldexp(1, 1-r.IntN(3)) // an integer of full length, so that a*b is 1/4, 1/2, 1 ... of its last unit
	e := r.IntN(maxExp/2-minExp/2) + minExp/2
	if r.IntN(3) == 0 {
		e = minExp - bits - r.IntN(bits/2) + 4 // c is subnormal, or nearly
	}
	a, c = math.Ldexp(a, e/2), math.Ldexp(c, e)
	b = math.Ldexp(b, e-e/2)
	if r.IntN(2) == 0 {
		a = -a
	}
	if r.IntN(2) == 0 {
		c = -c
	}
	return a, b, c
}

func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	differ := 0 // cases in which rounding twice goes wrong: the test aims at them
	for range 300_000 {
		a, b, c := fmaCase(r, 24, -126, 127)
		x, y, z := float32(a), float32(b), float32(c)
		sum, ok := exactFMA(float64(x), float64(y), float64(z))
		want, _ := sum.Float32()
		if !ok {
			want = float32(float64(float64(x)*float64(y)) + float64(z)) // exact: zero, with the sign IEEE 754 gives
		}
		if got := FMA32(x, y, z); math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("FMA32(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
		if float32(float64(float64(x)*float64(y))+float64(z)) != want {
			differ++
		}
	}
	if differ < 1000 {
		t.Errorf("only %d of the cases are hard", differ)
	}
}

// Both forms of FMA64, of which the machine uses one.
func TestFMA64(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 150_000 {
		a, b, c := fmaCase(r, 53, -1022, 1023)
		if r.IntN(2) == 0 { // exponents that softFMA64 computes itself
			a, b, c = fmaCase(r, 53, -400, 400)
		}
		sum, ok := exactFMA(a, b, c)
		want, _ := sum.Float64()
		if !ok {
			want = float64(a*b) + c
		}
		if got := FMA64(a, b, c); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("FMA64(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if got := softFMA64(a, b, c); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("softFMA64(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
}

func TestFMASpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	specials := []float64{0, math.Copysign(0, -1), 1, -1, 3, inf, -inf, nan, 5e-324, math.SmallestNonzeroFloat32, -math.MaxFloat32, math.MaxFloat64}
	for _, a := range specials {
		for _, b := range specials {
			for _, c := range specials {
				if got, want := softFMA64(a, b, c), math.FMA(a, b, c); math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Errorf("softFMA64(%v, %v, %v) = %v, want %v", a, b, c, got, want)
				}
				x, y, z := float32(a), float32(b), float32(c)
				// The products and sums of these are exact in float64, or so far from halfway that rounding twice does no harm.
				want := float32(float64(float64(x)*float64(y)) + float64(z))
				if got := FMA32(x, y, z); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Errorf("FMA32(%v, %v, %v) = %v, want %v", x, y, z, got, want)
				}
			}
		}
	}
}

// operand fills a slice with one of the kinds of data that take different ways through the rows.
func operand(r *rand.Rand, kind, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch kind {
		case 0:
			x[i] = float32(r.NormFloat64())
		case 1:
			x[i] = float32(r.IntN(9) - 4)
		case 2:
			a, b, _ := fmaCase(r, 24, -40, 40)
			x[i] = float32([]float64{a, b}[r.IntN(2)])
		case 3:
			x[i] = math.Float32frombits(r.Uint32())
		}
	}
	return x
}

func sameBits32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func sameBits64(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestFMABlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 1500 {
		m, n, k := r.IntN(11), r.IntN(11), r.IntN(20)
		aRow, aCol := k+r.IntN(3), 1
		if r.IntN(2) == 0 {
			aRow, aCol = 1, m+r.IntN(3)
		}
		ldb, ldc := n+r.IntN(3), n+r.IntN(3)
		kind := r.IntN(4)
		a, b := operand(r, kind, m*k+20*25), operand(r, kind, k*(n+3))
		c, c64 := make([]float32, m*ldc+8), make([]float64, m*ldc+8)
		for i := range c {
			c[i], c64[i] = 99, 99
		}
		a64, b64 := make([]float64, len(a)), make([]float64, len(b))
		for i, x := range a {
			a64[i] = float64(x) / 3
		}
		for i, x := range b {
			b64[i] = float64(x) / 3
		}
		FMABlock32(c, ldc, a, aRow, aCol, b, ldb, m, n, k)
		FMABlock64(c64, ldc, a64, aRow, aCol, b64, ldb, m, n, k)
		for i := range m {
			for j := range ldc {
				want, want64 := float32(0), 0.0
				for l := range k {
					if j < n {
						want = FMA32(a[i*aRow+l*aCol], b[l*ldb+j], want)
						want64 = FMA64(a64[i*aRow+l*aCol], b64[l*ldb+j], want64)
					}
				}
				if j >= n { // between the rows of the block
					want, want64 = 99, 99
				}
				if at := i*ldc + j; !sameBits32(c[at], want) || !sameBits64(c64[at], want64) {
					t.Fatalf("m %d n %d k %d: c[%d,%d] = %v and %v, want %v and %v", m, n, k, i, j, c[at], c64[at], want, want64)
				}
			}
		}
		for at := m * ldc; at < len(c); at++ {
			if c[at] != 99 || c64[at] != 99 {
				t.Fatalf("m %d n %d k %d: element %d past the block was written", m, n, k, at)
			}
		}
	}
}
