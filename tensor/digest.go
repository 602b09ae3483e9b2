package tensor

import "crypto/sha256"

// Digest returns the SHA-256 of a's element type, shape and elements, whatever its
// layout: of the bytes that MarshalBinary writes. Views that have the same elements in
// the same shape have the same digest, on every machine. Elements count by their bits: -0
// differs from 0, and a NaN from one with other bits. Elements of 2 and 4 bits count as
// a byte each. A view that isn't contiguous is gathered in pieces of about 1 MiB. It fails
// when a is closed, and when it has no elements.
func Digest(a Any) (d [sha256.Size]byte, err error) {
	const op = "tensor.Digest"
	if err := Try(func() { a.pointer(op) }); err != nil {
		return d, err
	}
	h := sha256.New()
	if err := a.writeBinary(h); err != nil {
		return d, err
	}
	h.Sum(d[:0])
	return d, nil
}
