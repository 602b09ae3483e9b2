package fixed

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSum(t *testing.T) {
	forFormats(t, testSum[FP8x23], testSum[FP16x16], testSum[FP32x32], testSum[FP64x64])
}

// row returns some numbers, sometimes the least alone, whose sums and products are the largest.
func (c calls[T]) row(t *rapid.T, n int, label string) []T {
	f, r := formatOf[T](), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 2))
	row := make([]T, n)
	least := r.UintN(4) == 0
	small := r.UintN(f.width) // so that sums of numbers fit
	for i := range row {
		row[i] = fromWord[T](someWord(r, f))
		if least {
			row[i] = fromWord[T](f.last(true))
		} else if r.UintN(2) == 0 {
			row[i] = fromWord[T](int128(int64(r.Uint64()) >> (small % 64)))
		}
	}
	return row
}

func testSum[T Number](t *testing.T, c calls[T]) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		a, b, terms := c.row(t, n, "a"), c.row(t, n, "b"), c.row(t, rapid.IntRange(0, 40).Draw(t, "terms"), "terms")
		sum := new(big.Rat)
		for i := range a {
			sum.Add(sum, new(big.Rat).Mul(c.value(a[i]), c.value(b[i])))
		}
		for _, x := range terms {
			sum.Add(sum, c.value(x))
		}
		var rows, single, parts Sum[T]
		rows.AddProducts(a, b)
		rows.AddRow(terms)
		for i := n - 1; i >= 0; i-- {
			single.AddProduct(b[i], a[i])
		}
		for _, x := range terms {
			single.Add(x)
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		parts.AddProducts(a[cut:], b[cut:])
		parts.AddProducts(a[:cut], b) // b may be longer
		parts.AddRow(terms)
		if rows != single || rows != parts {
			t.Fatalf("by rows %v, one by one %v, by parts %v", rows, single, parts)
		}
		c.check(t, "sum", rows.Sum, sum)
		factors := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64(), rapid.Just(0.0), rapid.Map(rapid.Float32(), func(v float32) float64 { return float64(v) }))
		alpha, beta, plus := factors.Draw(t, "alpha"), factors.Draw(t, "beta"), c.row(t, 1, "plus")[0]
		scaled := new(big.Rat).Mul(new(big.Rat).SetFloat64(alpha), sum)
		scaled.Add(scaled, new(big.Rat).Mul(new(big.Rat).SetFloat64(beta), c.value(plus)))
		c.check(t, "scaled", func(mode ...Mode) (T, error) { return rows.Scaled(alpha, plus, beta, mode...) }, scaled)
		count := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<30)).Draw(t, "count")
		c.check(t, "mean", func(mode ...Mode) (T, error) { return rows.Mean(count, mode...) }, sum.Mul(sum, new(big.Rat).SetFrac64(1, int64(count))))
	})
	var s Sum[T]
	var zero T
	if _, err := s.Mean(0, Wrap, Saturate); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		_, err := s.Scaled(bad, zero, 1)
		_, err2 := s.Scaled(1, zero, bad, Wrap, Saturate)
		if !errors.Is(err, ErrDomain) || !errors.Is(err2, ErrDomain) {
			t.Error(err, err2)
		}
	}
	// 2^40 times the largest product, and back.
	least := fromWord[T](formatOf[T]().last(true))
	s.AddProduct(least, least)
	for range 40 {
		s.acc.add(&s.acc)
	}
	want := new(big.Int).Mul(wordOf(least).Big(), wordOf(least).Big())
	if got := s.acc.big(); got.Cmp(want.Lsh(want, 40)) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
	if n := testing.AllocsPerRun(100, func() {
		row := []T{least, least}
		var s Sum[T]
		s.AddRow(row)
		s.AddProducts(row, row)
		s.Add(least)
		s.AddProduct(least, least)
		s.Sum(Saturate)
		s.Mean(7, Saturate)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSum(b *testing.B) {
	benchmarkSum[FP16x16](b)
	benchmarkSum[FP32x32](b)
	benchmarkSum[FP64x64](b)
}

func benchmarkSum[T Number](b *testing.B) {
	f, r := formatOf[T](), rand.New(rand.NewPCG(1, 2))
	rows := [2][]T{make([]T, 1024), make([]T, 1024)}
	for i := range rows[0] {
		rows[0][i], rows[1][i] = fromWord[T](someWord(r, f)), fromWord[T](someWord(r, f))
	}
	var s Sum[T]
	perTerm := func(name string, call func()) {
		b.Run(fmt.Sprintf("%s/%s", name, f.name), func(b *testing.B) {
			for b.Loop() {
				call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/term")
		})
	}
	perTerm("AddRow", func() { s.AddRow(rows[0]) })
	perTerm("AddProducts", func() { s.AddProducts(rows[0], rows[1]) })
	perTerm("AddProduct", func() {
		for i := range rows[0] {
			s.AddProduct(rows[0][i], rows[1][i])
		}
	})
}
