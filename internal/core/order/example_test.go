package order_test

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-go/ashlar/internal/core/order"
)

// The two smallest of some int16, by their positions, and all in order.
func ExampleArrange() {
	var mem []byte
	for _, v := range []int16{7, -2, 300, -2} {
		mem = binary.NativeEndian.AppendUint16(mem, uint16(v))
	}
	f := &order.Form{Size: 2, Signed: true}
	keys := make([]uint32, 4)
	order.Keys(keys, mem, f, false)

	var t order.Topper[uint32]
	top := make([]int64, 2)
	t.Top(top, keys, 2, 16)

	var room []uint64
	at := make([]int64, 4)
	order.Arrange(at, keys, 16, &room)
	fmt.Println(top, at)
	// Output: [1 3] [1 3 0 2]
}
