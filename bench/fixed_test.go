package bench

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/shopspring/decimal"
)

// places is how many digits after the point the decimals are computed to: as many as FP32x32 has.
const places = 10

// A rival computes with numbers of its own: call returns what does an operation with the i-th pair of arguments, or nil, if it has no such operation,
// and value the last result.
type rival struct {
	name  string
	call  func(op string) func(i int)
	value func() float64
}

// pairs are arguments between 1/16 and 4.
func pairs() (x, y []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y = make([]float64, 256), make([]float64, 256)
	for i := range x {
		x[i], y[i] = float64(1+r.IntN(64))/16, float64(1+r.IntN(64))/16
	}
	return x, y
}

var operations = []string{"add", "mul", "div", "sqrt", "exp", "log", "sin", "pow"}

// floats is what the others are compared with.
func floats(x, y float64, op string) float64 {
	switch op {
	case "add":
		return x + y
	case "mul":
		return x * y
	case "div":
		return x / y
	case "sqrt":
		return math.Sqrt(x)
	case "exp":
		return math.Exp(x)
	case "log":
		return math.Log(x)
	case "sin":
		return math.Sin(x)
	}
	return math.Pow(x, y)
}

func rivals() []rival {
	x, y := pairs()
	return []rival{doubles(x, y), ashlar[fixed.FP16x16]("FP16x16", x, y), ashlar[fixed.FP32x32]("FP32x32", x, y), ashlar[fixed.FP64x64]("FP64x64", x, y), decimals(x, y), integers(x, y)}
}

func doubles(x, y []float64) rival {
	var z float64
	one := func(f func(x float64) float64) func(i int) { return func(i int) { z = f(x[i]) } }
	return rival{"float64", func(op string) func(i int) {
		switch op {
		case "add":
			return func(i int) { z = x[i] + y[i] }
		case "mul":
			return func(i int) { z = x[i] * y[i] }
		case "div":
			return func(i int) { z = x[i] / y[i] }
		case "sqrt":
			return one(math.Sqrt)
		case "exp":
			return one(math.Exp)
		case "log":
			return one(math.Log)
		case "sin":
			return one(math.Sin)
		}
		return func(i int) { z = math.Pow(x[i], y[i]) }
	}, func() float64 { return z }}
}

func ashlar[T interface {
	num.Fixed
	Float64() float64
}](name string, x, y []float64) rival {
	a, b := make([]T, len(x)), make([]T, len(y))
	for i := range x {
		a[i], _ = fixed.FromFloat64[T](x[i])
		b[i], _ = fixed.FromFloat64[T](y[i])
	}
	var z T
	one := func(f func(T, ...fixed.Mode) (T, error)) func(i int) { return func(i int) { z, _ = f(a[i]) } }
	two := func(f func(T, T, ...fixed.Mode) (T, error)) func(i int) {
		return func(i int) { z, _ = f(a[i], b[i]) }
	}
	return rival{name, func(op string) func(i int) {
		switch op {
		case "add":
			return two(fixed.Add[T])
		case "mul":
			return two(fixed.Mul[T])
		case "div":
			return two(fixed.Div[T])
		case "sqrt":
			return one(fixed.Sqrt[T])
		case "exp":
			return one(fixed.Exp[T])
		case "log":
			return one(fixed.Log[T])
		case "sin":
			return one(fixed.Sin[T])
		}
		return two(fixed.Pow[T])
	}, func() float64 { return z.Float64() }}
}

func decimals(x, y []float64) rival {
	a, b := make([]decimal.Decimal, len(x)), make([]decimal.Decimal, len(y))
	for i := range x {
		a[i], b[i] = decimal.NewFromFloat(x[i]), decimal.NewFromFloat(y[i])
	}
	half := decimal.NewFromFloat(0.5)
	var z decimal.Decimal
	return rival{"decimal", func(op string) func(i int) {
		switch op {
		case "add":
			return func(i int) { z = a[i].Add(b[i]) }
		case "mul":
			return func(i int) { z = a[i].Mul(b[i]).Round(places) }
		case "div":
			return func(i int) { z = a[i].DivRound(b[i], places) }
		case "sqrt": // there is no other root
			return func(i int) { z, _ = a[i].PowWithPrecision(half, places) }
		case "exp":
			return func(i int) { z, _ = a[i].ExpTaylor(places) }
		case "log":
			return func(i int) { z, _ = a[i].Ln(places) }
		case "sin":
			return func(i int) { z = a[i].Sin() }
		}
		return func(i int) { z, _ = a[i].PowWithPrecision(b[i], places) }
	}, func() float64 { return z.InexactFloat64() }}
}

// integers is what one writes first with math/big: integers in units of 2^-32. There are no functions.
func integers(x, y []float64) rival {
	a, b := make([]*big.Int, len(x)), make([]*big.Int, len(y))
	for i := range x {
		a[i], b[i] = big.NewInt(int64(x[i]*0x1p32)), big.NewInt(int64(y[i]*0x1p32))
	}
	var z *big.Int
	return rival{"big.Int", func(op string) func(i int) {
		switch op {
		case "add":
			return func(i int) { z = new(big.Int).Add(a[i], b[i]) }
		case "mul":
			return func(i int) { z = new(big.Int).Mul(a[i], b[i]); z.Rsh(z, 32) }
		case "div":
			return func(i int) { z = new(big.Int).Lsh(a[i], 32); z.Quo(z, b[i]) }
		case "sqrt":
			return func(i int) { z = new(big.Int).Lsh(a[i], 32); z.Sqrt(z) }
		}
		return nil
	}, func() float64 { return float64(z.Int64()) * 0x1p-32 }}
}

// All compute the same.
func TestFixed(t *testing.T) {
	x, y := pairs()
	for _, r := range rivals() {
		for _, op := range operations {
			f := r.call(op)
			if f == nil {
				continue
			}
			bound := 1e-8
			if r.name == "FP16x16" {
				bound = 0x1p-17
			}
			for i := range x {
				f(i)
				if got, want := r.value(), floats(x[i], y[i], op); math.Abs(got-want) > bound*max(1, want) {
					t.Errorf("%s of %s of %v, %v is %v, want %v", op, r.name, x[i], y[i], got, want)
					break
				}
			}
		}
	}
}

func BenchmarkFixed(b *testing.B) {
	for _, op := range operations {
		for _, r := range rivals() {
			f := r.call(op)
			if f == nil {
				continue
			}
			b.Run(op+"/"+r.name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					f(i & 255)
				}
			})
		}
	}
}
