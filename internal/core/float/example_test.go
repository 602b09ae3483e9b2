package float_test

import (
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/float"
)

func ExampleFMA32() {
	// The product is 1 - 2^-46, no float32; rounded on its own it is 1, and the difference is lost.
	a, b := float32(1+0x1p-23), float32(1-0x1p-23)
	fmt.Println(float32(a*b)-1, float.FMA32(a, b, -1))
	// Output: 0 -1.4210855e-14
}

func ExampleFMABlock32() {
	a := []float32{1, 2, 3, 4, 5, 6}    // 2 by 3
	b := []float32{1, 0, 0, 1, 10, 100} // 3 by 2
	c := make([]float32, 4)
	float.FMABlock32(c, 2, a, 3, 1, b, 2, 2, 2, 3)
	fmt.Println(c)
	// Output: [31 302 64 605]
}

func ExampleExp32() {
	fmt.Println(float.Exp32(1), float.Exp32(-103.97208), float.Exp32(89))
	// Output: 2.7182817 1e-45 +Inf
}

func ExamplePow64() {
	fmt.Println(float.Pow64(2, 0.5), float.Pow64(-8, 3), float.Pow64(-8, 1.0/3))
	// Output: 1.4142135623730951 -512 NaN
}
