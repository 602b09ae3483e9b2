package conv

import (
	"encoding/binary"

	"github.com/ashlar-go/ashlar/dtype"
)

// BigEndian reports whether the machine stores the most significant byte first.
var BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Unit returns the number of bytes that a byte order reverses. A complex number has two
// such units. So has a word of fp64x64, with the upper half first.
func Unit(d dtype.DType) int {
	if d.IsComplex() || d == dtype.FP64x64 {
		return d.Size() / 2
	}
	return d.Size()
}

// Reverse reverses every group of n bytes. n is a power of two up to 8, and len(b) a
// multiple of n.
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
