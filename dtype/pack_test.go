package dtype_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
)

func ExampleDType_Pack() {
	file := make([]byte, dtype.Int4.Packed(3))
	dtype.Int4.Pack(file, []byte{1, 0xff, 7}) // 1, -1 and 7
	memory := make([]byte, 3)
	dtype.Int4.Unpack(memory, file)
	fmt.Printf("% x, % x\n", file, memory)
	// Output: f1 07, 01 ff 07
}

// FuzzPack compares the packed form with one made bit by bit.
func FuzzPack(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(dtype.Int4))
	f.Add([]byte{0xff, 0x80, 3, 2, 1}, uint8(dtype.Uint2))
	f.Add([]byte{}, uint8(dtype.Float4E2M1))
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		d := dtype.All()[int(which)%len(dtype.All())]
		n := len(b) / d.Size()
		b = b[:n*d.Size()]
		file := bytes.Repeat([]byte{0xa5}, d.Packed(n))
		d.Pack(file, b)
		bit := func(b []byte, i int) byte { return b[i/8] >> (i % 8) & 1 }
		width := d.Bits()
		for i := range 8 * len(file) {
			want := byte(0) // the padding
			if k := i / width; k < n {
				want = bit(b, k*8*d.Size()+i%width)
			}
			if bit(file, i) != want {
				t.Fatalf("%v: bit %d of % x is wrong for % x", d, i, file, b)
			}
		}
		back := make([]byte, len(b))
		d.Unpack(back, file)
		want := bytes.Clone(b)
		if d != dtype.Bool {
			d.Mend(want)
		}
		if !bytes.Equal(back, want) || d != dtype.Bool && d.Misfit(back) >= 0 {
			t.Fatalf("%v: % x comes back as % x, want % x", d, b, back, want)
		}
		if at := d.Misfit(b); at >= 0 {
			if bytes.Equal(want, b) && d != dtype.Bool {
				t.Fatalf("%v: byte %d of % x is said to be no element", d, at, b)
			}
		} else if d.Mend(want); !bytes.Equal(want, b) {
			t.Fatalf("%v: Mend changes elements", d)
		}
	})
}

// TestMend takes the low bits of all bytes, as numbers of an int.
func TestMend(t *testing.T) {
	for _, d := range dtype.All() {
		if !d.IsPartial() || d == dtype.Bool {
			continue
		}
		for v := range 256 {
			want := v & (1<<d.Bits() - 1)
			if d.IsInteger() && d.IsSigned() && want >= 1<<(d.Bits()-1) {
				want -= 1 << d.Bits()
			}
			b := []byte{byte(v)}
			if fits := d.Misfit(b) < 0; fits != (v == want&0xff) {
				t.Errorf("%v: Misfit says of %#x that it fits: %v", d, v, fits)
			}
			if d.Mend(b); b[0] != byte(want) {
				t.Errorf("%v: %#x becomes %#x, want %#x", d, v, b[0], byte(want))
			}
		}
	}
}
