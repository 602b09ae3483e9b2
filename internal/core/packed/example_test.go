package packed_test

import (
	"context"
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/packed"
)

// Two rows of four elements, each a byte with a scale of ½: a block has two.
func Example() {
	bytes := []byte{2, 4, 6, 8, 1, 1, 1, 1}
	m := packed.Matrix{N: 2, K: 4, Len: 2, Size: 2, Stride: 4, Bytes: bytes, Decode: func(dst []float32, row, block int) {
		for i := range dst {
			dst[i] = float32(bytes[4*row+2*block+i]) / 2
		}
	}}
	y := make([]float32, 2)
	packed.Product(context.Background(), y, []float32{1, 1, 1, 10}, m)
	fmt.Println(y)
	// Output: [46 6.5]
}
