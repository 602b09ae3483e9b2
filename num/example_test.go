package num_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/num"
)

func Example() {
	a, b := num.FromFloat64[num.BF16](1), num.FromFloat64[num.BF16](0.0078125)
	sum := num.FromFloat64[num.BF16](float64(a.Float32() + b.Float32()))
	fmt.Println(sum, sum.Bits())
	fmt.Println(num.FromFloat64[num.F8E4M3](500), num.Saturate[num.F8E4M3](500), num.FromFloat64[num.F8E5M2](70000))
	// Output:
	// 1.01 16257
	// NaN 448 +Inf
}

func ExampleBF16() {
	x := num.FromFloat64[num.BF16](3.14159)
	fmt.Printf("%v is %.7f\n", x, x.Float32())
	// Output: 3.14 is 3.1406250
}

func ExampleF16() {
	fmt.Println(num.FromFloat64[num.F16](65519.9).Float32(), num.FromFloat64[num.F16](65520))
	// Output: 65504 +Inf
}

func ExampleFormat() {
	f := num.FormatF8E4M3FNUZ
	bits := f.Round(0.3)
	fmt.Printf("%#x is %v; of %d bits\n", bits, f.Value(bits), f.Bits())
	fmt.Println(f.Value(f.Saturate(1e9)), f.Value(f.Round(1e9)))
	// Output:
	// 0x32 is 0.3125; of 8 bits
	// 240 NaN
}

func ExampleInt4() {
	fmt.Println(num.FromBits[num.Int4](7), num.FromBits[num.Int4](8), num.FromBits[num.Int4](0xff))
	// Output: 7 -8 -1
}

func ExampleF4E2M1() {
	for b := range uint16(8) {
		fmt.Print(num.FromBits[num.F4E2M1](b), " ")
	}
	fmt.Println(num.FromFloat64[num.F4E2M1](-100))
	// Output: 0 0.5 1 1.5 2 3 4 6 -6
}

func ExampleF8E8M0() {
	fmt.Println(num.F8E8M0FromFloat64(3, num.Up, false), num.F8E8M0FromFloat64(3, num.Down, false), num.F8E8M0FromFloat64(0, num.Up, false), num.F8E8M0FromFloat64(1e99, num.Up, true))
	// Output: 4 2 NaN 1.7014118e+38
}
