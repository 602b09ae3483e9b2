package dtype

// Files hold elements of 2 and 4 bits packed: the first one in the low bits of a byte, and
// zeros after the last. In memory each is a byte: an int8 or a uint8 for an integer, and
// the code of a float4_e2m1.

// Packed returns the bytes of n elements in a file.
func (d DType) Packed(n int) int {
	if per := d.PerByte(); per > 1 {
		return n/per + (n%per+per-1)/per
	}
	return n * d.Size()
}

// PerByte returns the number of elements in a byte of a file; 1 for types of whole bytes.
func (d DType) PerByte() int {
	if bits := d.Bits(); bits > 0 && bits < 8 {
		return 8 / bits
	}
	return 1
}

// Pack packs n elements for a file. src has their bytes in memory, and dst Packed(n) bytes.
// Bits of src that belong to no element don't count.
func (d DType) Pack(dst, src []byte) {
	per, bits := d.PerByte(), d.Bits()
	if per == 1 {
		copy(dst, src)
		return
	}
	for i := range dst {
		var b byte
		for k, v := range src[i*per : min(i*per+per, len(src))] {
			b |= v & (1<<bits - 1) << (k * bits)
		}
		dst[i] = b
	}
}

// Unpack is the inverse of Pack. If elements are smaller than a byte, src has
// Packed(len(dst)) bytes; the bits after the last element don't count.
func (d DType) Unpack(dst, src []byte) {
	per, bits := d.PerByte(), d.Bits()
	if per == 1 {
		copy(dst, src)
		return
	}
	for i := range dst {
		dst[i] = src[i/per] >> (i % per * bits)
	}
	d.Mend(dst)
}

// IsPartial reports whether some values of a byte in memory are no element: it is true for
// bool, and for types of 2 and 4 bits.
func (d DType) IsPartial() bool { return d == Bool || d.PerByte() > 1 }

// Misfit returns the index of the first byte that is no element, -1 if there is none.
func (d DType) Misfit(b []byte) int {
	if d.IsPartial() {
		for i, v := range b {
			if d.mended(v) != v {
				return i
			}
		}
	}
	return -1
}

// Mend makes all bytes valid elements. A bool other than 0 and 1 becomes 1. For types
// smaller than a byte, the low bits count.
func (d DType) Mend(b []byte) {
	if d.IsPartial() {
		for i, v := range b {
			b[i] = d.mended(v)
		}
	}
}

// mended shifts no int8: for mips, Go 1.26 doesn't extend the sign of one before a shift to the right by a variable.
func (d DType) mended(v byte) byte {
	if d == Bool {
		return min(v, 1)
	}
	up := 8 - d.Bits()
	v = v << up >> up
	if d.IsInteger() && d.IsSigned() {
		half := byte(0x80) >> up
		return v ^ half - half
	}
	return v
}
