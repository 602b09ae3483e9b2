package exact

import (
	"math"
	"math/big"
	"testing"
)

// The digits are those of the constants themselves, by mpmath 1.3.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *big.Float
		want string
	}{
		{"e", Exp(New(1)), "2.71828182845904523536028747135266249775724709369995957496696762772407663"},
		{"ln 10", Log(10), "2.30258509299404568401799145468436420760110148862877297603332790096757260"},
		{"π", Pi(), "3.14159265358979323846264338327950288419716939937510582097494459230781640"},
		{"ln 2", Ln2(), "0.69314718055994530941723212145817656807550013436025525412068000949339362"},
		{"√2", Pow(2, 0.5), "1.41421356237309504880168872420969807856967187537694807317667973799073247"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, Prec, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		d := zero().Sub(c.got, want)
		if d.Sign() != 0 && d.MantExp(nil) > -Bits {
			t.Errorf("%s: got %.75g", c.name, c.got)
		}
	}
}

// The standard library's functions are within a few units in the last place here, by other methods.
func TestAgainstMath(t *testing.T) {
	for _, x := range []float64{1e-9, 0.001, 0.0217, 0.1, 0.5, 0.7, 0.99999999, 1, 1.0000001, 1.5, 2, 3, 5.5, 10, 30, 300, 700} {
		for _, sign := range []float64{1, -1} {
			for _, c := range []struct {
				name string
				got  *big.Float
				want float64
			}{
				{"exp", Exp(New(sign * x)), math.Exp(sign * x)},
				{"log", Log(x), math.Log(x)},
				{"tanh", Tanh(sign * x), math.Tanh(sign * x)},
				{"sigmoid", Sigmoid(sign * x), 1 / (1 + math.Exp(-sign*x))},
				{"erf", Erf(sign * x), math.Erf(sign * x)},
				{"pow", Pow(x, sign/3), math.Pow(x, sign/3)},
			} {
				if u := ULP(c.want, c.got, 53, -1074); u > 3 {
					t.Errorf("%s(%g): %g, the standard library has %g (%.2g ulp)", c.name, sign*x, c.got, c.want, u)
				}
			}
		}
	}
}

func BenchmarkErf(b *testing.B) {
	for b.Loop() {
		Erf(2.5)
	}
}
func BenchmarkExp(b *testing.B) {
	x := New(2.5)
	for b.Loop() {
		Exp(x)
	}
}
func BenchmarkLog(b *testing.B) {
	for b.Loop() {
		Log(2.5)
	}
}

// Values at the ends of the range, to 45 digits by mpmath 1.3.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *big.Float
		want string
	}{
		{"log of the smallest number", Log(0x1p-1074), "-744.440071921381262314107298446081634113087144"},
		{"log(1 + 2^-52)", Log(1 + 0x1p-52), "2.22044604925031283432823045461548792598233181e-16"},
		{"exp(-745)", Exp(New(-745)), "2.82235073047193707635344008205978262082436306e-324"},
		{"tanh(2^-100)", Tanh(0x1p-100), "7.88860905221011805411728565282786229673206435e-31"},
		{"tanh(20)", Tanh(20), "0.999999999999999991503291489416822045438558191"},
		{"sigmoid(-700)", Sigmoid(-700), "9.85967654375977085670537294784946510511560018e-305"},
		{"erf of the smallest number", Erf(0x1p-1074), "5.57493381944852271267550929623630733570012744e-324"},
		{"erf(6)", Erf(6), "0.999999999999999978480263287501086883406649601"},
		{"1e-300 to the 0.3", Pow(1e-300, 0.3), "1.00000000000000767666668675253232535437331463e-90"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, Prec, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		d := zero().Sub(c.got, want)
		if d.Sign() != 0 && d.MantExp(nil) > want.MantExp(nil)-Bits {
			t.Errorf("%s: got %.45g, want %s", c.name, c.got, c.want)
		}
	}
}
