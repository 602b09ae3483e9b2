package fixed

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// root returns √(r) for r >= 0, exactly if that is rational, else to 700 bits.
func rootRat(r *big.Rat) *big.Rat {
	a, b := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
	root := new(big.Rat).SetFrac(a, b)
	if new(big.Rat).Mul(root, root).Cmp(r) == 0 {
		return root
	}
	x := new(big.Float).SetPrec(700).SetRat(r)
	root, _ = x.Sqrt(x).Rat(nil)
	return root
}

func TestNorm(t *testing.T) {
	forFormats(t, testNorm[FP8x23], testNorm[FP16x16], testNorm[FP32x32], testNorm[FP64x64])
}

func testNorm[T Number](t *testing.T, c calls[T]) {
	ratOf := func(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		x := c.row(t, n, "x")
		if rapid.IntRange(0, 3).Draw(t, "equal") == 0 {
			for i := range x {
				x[i] = x[0]
			}
		}
		scale, bias := c.row(t, rapid.SampledFrom([]int{0, 1, n}).Draw(t, "scales"), "scale"), c.row(t, rapid.SampledFrom([]int{0, 1, n}).Draw(t, "biases"), "bias")
		epsilon := rapid.SampledFrom([]float64{0, 1e-5, float64(float32(1e-5)), 0.5, 1e-12, 1e-60, 1e300, 0x1p-32, 3}).Draw(t, "epsilon")
		eps := new(big.Rat).SetFloat64(epsilon)

		m := Moments[T]{}
		k := rapid.IntRange(0, n).Draw(t, "cut")
		m.AddRow(x[k:])
		m.AddRow(x[:k])
		mean, squares, abs := new(big.Rat), new(big.Rat), new(big.Rat)
		for _, x := range x {
			v := c.value(x)
			mean.Add(mean, v)
			abs.Add(abs, new(big.Rat).Abs(v))
			squares.Add(squares, v.Mul(v, v))
		}
		mean.Quo(mean, ratOf(n))
		sumOfD := new(big.Rat)
		for _, x := range x {
			d := c.value(x)
			d.Sub(d, mean)
			sumOfD.Add(sumOfD, d.Mul(d, d))
		}
		c.check(t, "mean", m.Mean, mean)
		for ddof := range 3 {
			v := func(mode ...Mode) (T, error) { return m.Variance(ddof, mode...) }
			s := func(mode ...Mode) (T, error) { return m.StdDev(ddof, mode...) }
			if n <= ddof {
				if _, err := v(Saturate, Wrap); !errors.Is(err, ErrDomain) {
					t.Fatal(err)
				}
				continue
			}
			want := new(big.Rat).Quo(sumOfD, ratOf(n-ddof))
			c.check(t, "variance", v, want)
			c.check(t, "standard deviation", s, rootRat(want))
		}
		variance := sumOfD.Quo(sumOfD, ratOf(n))
		var ofAbs, ofSquares Sum[T]
		ofAbs.AddAbs(x)
		ofSquares.AddProducts(x, x)
		c.check(t, "norm of absolute values", ofAbs.Sum, abs)
		c.check(t, "norm", ofSquares.Sqrt, rootRat(squares))

		given := c.row(t, 2, "given")
		givenVariance := new(big.Rat).Add(c.value(given[1]), eps)
		for _, step := range []struct {
			name   string
			make   func() (Norm[T], error)
			c, v   *big.Rat
			finite bool
		}{
			{"layer", func() (Norm[T], error) { return m.Norm(epsilon) }, mean, new(big.Rat).Add(variance, eps), true},
			{"batch", func() (Norm[T], error) { return NormOf(given[0], given[1], epsilon) }, c.value(given[0]), givenVariance, givenVariance.Sign() >= 0},
			{"length 1", func() (Norm[T], error) { return ofAbs.Norm() }, new(big.Rat), new(big.Rat).Mul(abs, abs), true},
			{"length 2", func() (Norm[T], error) { return ofSquares.RootNorm(1, 0) }, new(big.Rat), squares, true},
			{"root mean square", func() (Norm[T], error) { return ofSquares.RootNorm(n, epsilon) }, new(big.Rat), new(big.Rat).Add(new(big.Rat).Quo(squares, ratOf(n)), eps), true},
		} {
			norm, err := step.make()
			if step.finite == (err != nil) || err != nil && !errors.Is(err, ErrDomain) {
				t.Fatalf("%s: %v", step.name, err)
			}
			if err != nil {
				continue
			}
			if step.v.Sign() != 0 {
				c.check(t, step.name+", 1 / √variance", norm.InvStdDev, new(big.Rat).Inv(rootRat(step.v)))
			} else if _, err := norm.InvStdDev(); !errors.Is(err, ErrDomain) {
				t.Fatal(err)
			}
			for i := range x {
				at := func(row []T) []T { return row[min(i, max(0, len(row)-1)):min(len(row), i+1, max(1, len(row)))] }
				one := func(mode ...Mode) (T, error) {
					y := make([]T, 1)
					by, plus := scale, bias
					if len(scale) > 1 {
						by = at(scale)
					}
					if len(bias) > 1 {
						plus = at(bias)
					}
					err := norm.Apply(y, x[i:i+1], by, plus, mode...)
					return y[0], err
				}
				d := new(big.Rat).Sub(c.value(x[i]), step.c)
				if step.v.Sign() == 0 && d.Sign() != 0 {
					if _, err := one(Saturate, Wrap); !errors.Is(err, ErrDomain) {
						t.Fatalf("%s: %v", step.name, err)
					}
					continue
				}
				if step.v.Sign() != 0 {
					d.Quo(d, rootRat(step.v))
				}
				switch len(scale) {
				case 0:
				case 1:
					d.Mul(d, c.value(scale[0]))
				default:
					d.Mul(d, c.value(scale[i]))
				}
				switch len(bias) {
				case 0:
				case 1:
					d.Add(d, c.value(bias[0]))
				default:
					d.Add(d, c.value(bias[i]))
				}
				c.check(t, step.name, one, d)
			}
		}

		// Rows are their numbers one by one, in place too; a failed call changes nothing.
		norm, err := m.Norm(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		y, was := append([]T(nil), x...), append([]T(nil), x...)
		if err := norm.Apply(y, y, scale, bias); err != nil {
			bad := err.(*Error).Index
			for i := range y {
				if y[i] != was[i] {
					t.Fatalf("a failed call changed element %d", i)
				}
			}
			part := func(row []T) []T {
				if len(row) > 1 {
					return row[:bad]
				}
				return row
			}
			if err := norm.Apply(y, y[:bad], part(scale), part(bias)); err != nil {
				t.Fatalf("element %d isn't the first: %v", bad, err)
			}
		}
	})
}

func TestNormErrors(t *testing.T) {
	var m Moments[FP16x16]
	for _, epsilon := range []float64{math.NaN(), math.Inf(1), -1} {
		m.AddRow([]FP16x16{{1}, {2}})
		if _, err := m.Norm(epsilon); !errors.Is(err, ErrDomain) {
			t.Errorf("epsilon %v: %v", epsilon, err)
		}
	}
	var none Moments[FP16x16]
	if _, err := none.Norm(1); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	if _, err := none.Mean(); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	var sum Sum[FP16x16]
	if _, err := sum.RootNorm(0, 0); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	sum.Add(FP16x16{-1})
	if _, err := sum.Sqrt(Saturate, Wrap); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	if _, err := sum.RootNorm(1, 0); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	// x / √(x² + 2^-1074) is below 1.
	var square Sum[FP16x16]
	square.AddProduct(FP16x16{5}, FP16x16{5})
	norm, err := square.RootNorm(1, 5e-324)
	y := []FP16x16{{5}}
	if err2 := norm.Apply(y, y, nil, nil, TowardZero); err != nil || err2 != nil || y[0].bits != 1<<16-1 {
		t.Error(y, err, err2)
	}
	var zero Norm[FP16x16]
	if err := zero.Apply(make([]FP16x16, 1), make([]FP16x16, 1), nil, nil); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
}

// What 64 bits give settles nearly all results.
func TestNormFast(t *testing.T) {
	var m Moments[FP8x23]
	x := make([]FP8x23, 5000)
	for i := range x {
		x[i].bits = int32(i*i*7919) >> 3
	}
	m.AddRow(x)
	s, err := m.Norm(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	slow := 0
	for i := range x {
		by, plus := wordOf(x[(i+17)%len(x)]), wordOf(x[(i+1700)%len(x)])
		fast, ok := s.fast(int64(x[i].bits), int64(by.Lo), int64(plus.Lo), 0)
		if !ok {
			slow++
		} else if want, _ := s.wide(wordOf(x[i]), by, plus, 0); fast != want && fast.hi|fast.lo|want.hi|want.lo != 0 {
			t.Fatalf("element %d: %v, want %v", i, fast, want)
		}
	}
	if slow > 2 {
		t.Errorf("%d of %d not settled", slow, len(x))
	}
}

// What two words give settles nearly all results of the wide formats.
func TestLimbRows(t *testing.T) {
	x := make([]FP64x64, 300)
	for i := range x {
		x[i].bits = int128(int64(i * i * 7919)).shl(47).plus(int128(int64(i) * 0x1234567 << 20))
	}
	var m Moments[FP64x64]
	m.AddRow(x)
	s, err := m.Norm(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	e := newExpRow(x)
	slow := 0
	for i := range x {
		by, plus := x[(i+17)%len(x)].bits, x[(i+170)%len(x)].bits
		if fast, ok := s.limbs(x[i].bits, by, plus).settle(0); !ok {
			slow++
		} else if want, _ := s.wide(x[i].bits, by, plus, 0); fast != want {
			t.Fatalf("element %d: %v, want %v", i, fast, want)
		}
		if part, ok := e.limbPart(i); !ok {
			slow++
		} else if want := e.part(x[i].bits); part != want {
			t.Fatalf("softmax of element %d: %v, want %v", i, part, want)
		}
	}
	if slow > 5 { // a scale of 0 is not computed
		t.Errorf("%d of %d not settled", slow, 2*len(x))
	}
}
