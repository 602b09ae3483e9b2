package pack

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Format says how float32 values are encoded as bytes. Elements are counted in the
// order of the storage. In tiles each tile is encoded by itself, and the tiles follow
// each other; else all elements are one run, which may be encoded and decoded in
// parts that begin at a multiple of Group.
type Format interface {
	// Name is what the format is called: bfloat8_b. Two formats of one name are taken
	// for one, but for those of NewIntegers, whose scales count too.
	Name() string
	// Group is how many neighbours in storage are encoded together.
	Group() int
	// Check returns an error where the format can't hold tensors of a Spec.
	Check(s *Spec) error
	// Size returns the bytes of n elements: a tile's, or in rows those from the
	// beginning to element n.
	Size(n int) int
	// Encode writes src, the elements from number first of the storage on, to the
	// Size(len(src)) bytes of dst, which isn't src's memory.
	Encode(dst []byte, src []float32, first int)
	// Decode writes the len(dst) elements from number first on that src holds. dst isn't
	// src's memory.
	Decode(dst []float32, src []byte, first int)
}

func noSpec() error {
	return fail("pack.Format.Check", tensor.ErrValue, "there is no description: it is nil")
}

// fits panics unless size bytes hold n elements, in whole groups where the format has exponents.
func fits(f Format, what string, size, n int) {
	if _, any := f.(*integers); !any && n%f.Group() != 0 {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d elements; %s has them in groups of %d", n, f.Name(), f.Group()))
	}
	if want := f.Size(n); size < want {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d bytes for %d elements of %s; they take %d", size, n, f.Name(), want))
	}
}

// formats are those that a name alone tells.
var formats = named()

func named() (all []Format) {
	all = append(all, BFP8, BFP4)
	for _, m := range micros {
		all = append(all, m.format())
	}
	for _, b := range ggml {
		all = append(all, b)
	}
	return all
}

// FormatNamed returns the format of a name in any case: BFP8 is bfloat8_b or bfp8, and BFP4 is bfloat4_b or bfp4. The others
// are in rows, which are made of whole blocks of neighbours with a scale.
//
// Of OCP MX there are mxfp8_e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, mxfp4 and mxint8. Their blocks have 32 elements and a
// scale of E8M0. The blocks of nvfp4 have 16 and a scale of E4M3. A scale that NVFP4 has for a whole tensor is the caller's.
// float6_e2m3 and float6_e3m2 have no scale, and groups of 4 that may go on in the next row; their NaN becomes 0, an infinity the largest element. A block is its scale and then its codes, the first in the low
// bits. Elements are rounded to nearest, ties to even, and at most the largest. A scale of E8M0 is the largest power of two
// not above that of the block's largest element, divided by the power of two of the largest code; one of E4M3 is the nearest
// to the largest element divided by 6. A block with a NaN or an infinity has the scale NaN, and all of it is NaN.
//
// The block types of GGUF files are q4_0, q4_1, q5_0, q5_1, q8_0, q2_k to q6_k, q8_k, iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s,
// iq3_xxs, iq3_s, iq4_nl, iq4_xs, tq1_0, tq2_0, q1_0, q2_0, and ggml_mxfp4 and ggml_nvfp4, which order the codes of mxfp4 and
// nvfp4 in another way. They are decoded bit for bit as ggml does on a machine without fused products. Pack encodes as q4_0,
// q8_0, q4_k and q6_k, and as the others it is an error.
func FormatNamed(name string) (Format, error) {
	var names []string
	name = strings.ToLower(name)
	for _, f := range formats {
		short := strings.TrimSuffix(strings.Replace(f.Name(), "bfloat", "bfp", 1), "_b")
		if name == f.Name() || name == short {
			return f, nil
		}
		if !slices.ContainsFunc(ggml, func(b *blocks) bool { return b == f }) {
			names = append(names, f.Name())
		}
	}
	return nil, fail("pack.FormatNamed", tensor.ErrDType, "no format is called %q; there are %s, and GGUF's as q4_0 and q4_k", name, strings.Join(names, ", "))
}

// sameFormat says that equal bytes of the formats are equal values.
func sameFormat(a, b Format) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, scaled := a.(*integers)
	if y, too := b.(*integers); scaled || too {
		return scaled && too && x.same(y)
	}
	return a.Name() == b.Name()
}
