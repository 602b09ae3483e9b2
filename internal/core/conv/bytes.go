package conv

import (
	"encoding/binary"

	"github.com/ashlar-go/ashlar/dtype"
)

// BigEndian reports a machine with descending byte order.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Unit returns the bytes that a byte order is about: a complex number has two of
// them, and so has a word of fp64x64, the upper half first.
func Unit(d dtype.DType) int {
	if d.IsComplex() || d == dtype.FP64x64 {
		return d.Size() / 2
	}
	return d.Size()
}

// Reverse turns every group of n bytes around, n a power of two up to 8; len(b)
// is a multiple of n.
func Reverse(b []byte, n int) {
	switch n {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			b[0], b[1] = b[1], b[0]
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.LittleEndian.PutUint32(b, binary.BigEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.LittleEndian.PutUint64(b, binary.BigEndian.Uint64(b))
		}
	}
}
