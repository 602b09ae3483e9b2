package fixed_test

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/num/fixed"
)

// parse is for examples, whose numbers are right.
func parse[T fixed.Number](s string) T {
	x, err := fixed.Parse[T](s)
	if err != nil {
		panic(err)
	}
	return x
}

func ExampleFP16x16() {
	x := fixed.FP16x16FromBits(1<<16 | 1<<15)
	fmt.Println(x, x.Bits(), x.Float64())
	fmt.Println(fixed.FP16x16FromBits(-1 << 31))
	// Output:
	// 1.5 98304 1.5
	// -32768
}

func ExampleFP8x23() {
	x := parse[fixed.FP8x23]("0.1")
	fmt.Println(x, x.Bits(), fixed.Format(x, 23))
	// Output: 0.1 838861 0.10000002384185791015625
}

func ExampleFP32x32() {
	x := parse[fixed.FP32x32]("-0.25")
	fmt.Println(x, x.Bits())
	// Output: -0.25 -1073741824
}

func ExampleFP64x64() {
	x := parse[fixed.FP64x64]("3.14159265358979323846")
	fmt.Println(x, x.Bits(), x.Float64())
	// Output: 3.14159265358979323846 57952155664616982739 3.141592653589793
}

func ExampleInt128() {
	fmt.Println(fixed.Int128{Hi: 1}, fixed.Int128{Hi: -1, Lo: 1<<64 - 1})
	// Output: 18446744073709551616 -1
}

func ExampleMode() {
	x := parse[fixed.FP8x23]("200")
	_, err := fixed.Add(x, x)
	fmt.Println(err)
	high, _ := fixed.Add(x, x, fixed.Saturate)
	low, _ := fixed.Add(x, x, fixed.Wrap)
	fmt.Println(high, low)
	// Output:
	// fixed.Add(200, 200) in FP8x23: overflow: the numbers end at -256 and 255.9999999
	// 255.9999999 -112
}

func ExampleError() {
	_, err := fixed.Log(parse[fixed.FP16x16]("-2"))
	fmt.Println(err, errors.Is(err, fixed.ErrDomain))
	_, err = fixed.Parse[fixed.FP16x16]("1,5")
	fmt.Println(err, errors.Is(err, fixed.ErrSyntax))
	// Output:
	// fixed.Log(-2) in FP16x16: no value: it wants a number above 0 true
	// fixed.Parse("1,5") in FP16x16: syntax: it wants a decimal number such as -12.5 or 1e-3 true
}

func ExampleSum() {
	// The inner product of two rows: 200·200 doesn't fit, the sum does.
	a := []fixed.FP16x16{parse[fixed.FP16x16]("200"), parse[fixed.FP16x16]("-199.5"), parse[fixed.FP16x16]("0.1")}
	b := []fixed.FP16x16{parse[fixed.FP16x16]("200"), parse[fixed.FP16x16]("200"), parse[fixed.FP16x16]("0.1")}
	var sum fixed.Sum[fixed.FP16x16]
	sum.AddProducts(a, b)
	fmt.Println(sum.Sum())
	fmt.Println(sum.Mean(3))
	fmt.Println(sum.Scaled(0.5, parse[fixed.FP16x16]("1"), -2))

	sum.AddProduct(a[0], b[0])
	_, err := sum.Sum()
	fmt.Println(err)
	// Output:
	// 100.01 <nil>
	// 33.33667 <nil>
	// 48.005 <nil>
	// fixed.Sum.Sum(a sum of 40100) in FP16x16: overflow: the numbers end at -32768 and 32767.99998
}

func ExampleSoftmax() {
	x := []fixed.FP16x16{parse[fixed.FP16x16]("20"), parse[fixed.FP16x16]("15")}
	y := make([]fixed.FP16x16, 2)
	fixed.Softmax(y, x)
	fmt.Println(y)
	err := fixed.LogSoftmax(y, x)
	fmt.Println(y, err)
	fmt.Println(fixed.LogSumExp(x))
	// Output:
	// [0.9933 0.0067]
	// [-0.00671 -5.00671] <nil>
	// 20.00671 <nil>
}

func ExampleMoments() {
	var m fixed.Moments[fixed.FP16x16]
	m.AddRow([]fixed.FP16x16{parse[fixed.FP16x16]("30000"), parse[fixed.FP16x16]("30001"), parse[fixed.FP16x16]("30005")})
	fmt.Println(m.Mean())
	fmt.Println(m.Variance(0))
	fmt.Println(m.StdDev(1))
	// Output:
	// 30002 <nil>
	// 4.66667 <nil>
	// 2.64575 <nil>
}

func ExampleNorm() {
	x := []fixed.FP16x16{parse[fixed.FP16x16]("30000"), parse[fixed.FP16x16]("30001"), parse[fixed.FP16x16]("30005")}
	var m fixed.Moments[fixed.FP16x16]
	m.AddRow(x)
	norm, err := m.Norm(1e-5)
	if err != nil {
		panic(err)
	}
	two := []fixed.FP16x16{parse[fixed.FP16x16]("2")}
	err = norm.Apply(x, x, two, nil)
	fmt.Println(x, err)
	// Output: [-1.85164 -0.92581 2.77745] <nil>
}

func ExampleDiv() {
	a, b := parse[fixed.FP16x16]("2"), parse[fixed.FP16x16]("3")
	near, _ := fixed.Div(a, b)
	down, _ := fixed.Div(a, b, fixed.TowardZero)
	fmt.Println(near.Bits(), down.Bits())
	// Output: 43691 43690
}

func ExampleRem() {
	r, _ := fixed.Rem(parse[fixed.FP16x16]("-7.5"), parse[fixed.FP16x16]("2"))
	fmt.Println(r)
	// Output: -1.5
}

func ExampleConvert() {
	x, err := fixed.Convert[fixed.FP8x23](parse[fixed.FP16x16]("300"))
	fmt.Println(x, err)
	y, _ := fixed.Convert[fixed.FP64x64](parse[fixed.FP16x16]("300.5"))
	fmt.Println(y)
	// Output:
	// 0 fixed.Convert(300) in FP8x23: overflow: the numbers end at -256 and 255.9999999
	// 300.5
}

func ExampleFromFloat64() {
	x, _ := fixed.FromFloat64[fixed.FP16x16](2.718281828)
	n, _ := fixed.ToInt64(x)
	fmt.Println(x, n)
	// Output: 2.71828 3
}

func ExampleFromInt64() {
	x, _ := fixed.FromInt64[fixed.FP32x32](-7)
	fmt.Println(x, x.Bits())
	// Output: -7 -30064771072
}

func ExampleParse() {
	x, _ := fixed.Parse[fixed.FP16x16]("-12.5e-3")
	fmt.Println(x, fixed.Format(x, 16))
	// Output: -0.0125 -0.0124969482421875
}

func ExampleExp() {
	for _, s := range []string{"1", "-12", "10.4"} {
		y, err := fixed.Exp(parse[fixed.FP16x16](s))
		fmt.Println(y, err)
	}
	// Output:
	// 2.71828 <nil>
	// 0 <nil>
	// 0 fixed.Exp(10.4) in FP16x16: overflow: the numbers end at -32768 and 32767.99998
}

func ExampleSin() {
	x := parse[fixed.FP64x64]("1000000000000000000")
	sin, _ := fixed.Sin(x)
	fmt.Println(sin)
	// Output: -0.9929693207404050762
}

func ExamplePow() {
	y, _ := fixed.Pow(parse[fixed.FP32x32]("2"), parse[fixed.FP32x32]("0.5"))
	z, _ := fixed.Pow(parse[fixed.FP32x32]("-1.5"), parse[fixed.FP32x32]("3"))
	fmt.Println(y, z)
	// Output: 1.4142135624 -3.375
}
