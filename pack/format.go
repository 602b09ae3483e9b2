package pack

import (
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// A Format encodes float32 values as bytes. Elements are counted in the order of the
// storage. In tiles, each tile is encoded separately, one after the other. In rows, all
// elements are one run, which may be encoded and decoded in parts that begin at a multiple
// of Group.
type Format interface {
	// Name returns the name of the format, such as bfloat8_b. Formats with the same name
	// are the same, except formats of NewIntegers, whose scales count too.
	Name() string
	// Group returns the number of neighbours in storage that are encoded together.
	Group() int
	// Check returns an error if the format can't hold tensors of a Spec.
	Check(s *Spec) error
	// Size returns the bytes of n elements: of a tile, or in rows from the beginning to
	// element n.
	Size(n int) int
	// Encode writes src, the elements from number first of the storage on, to the
	// Size(len(src)) bytes of dst. dst doesn't overlap src.
	Encode(dst []byte, src []float32, first int)
	// Decode writes len(dst) elements to dst. src holds them, from number first of the
	// storage on. dst doesn't overlap src.
	Decode(dst []float32, src []byte, first int)
}

func noSpec() error {
	return fail("pack.Format.Check", tensor.ErrValue, "there is no description: it is nil")
}

// fits panics unless size bytes hold n elements, in whole groups if the format has exponents.
func fits(f Format, what string, size, n int) {
	if _, any := f.(*integers); !any && n%f.Group() != 0 {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d elements; %s has them in groups of %d", n, f.Name(), f.Group()))
	}
	if want := f.Size(n); size < want {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d bytes for %d elements of %s; they take %d", size, n, f.Name(), want))
	}
}

// formats are the formats that are defined by their names.
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

// FormatNamed returns the format of a name in upper or lower case. BFP8 is bfloat8_b or bfp8, and BFP4 is bfloat4_b or bfp4.
// The other formats are in rows, made of whole blocks of neighbours:
//
//	OCP MX    mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4 mxint8    32 elements, scale E8M0
//	NVIDIA    nvfp4                                                       16 elements, scale E4M3
//	plain     float6_e2m3 float6_e3m2                                      4 elements, no scale
//	GGUF      q4_0 q4_1 q5_0 q5_1 q8_0  q2_k … q6_k q8_k  iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s
//	          iq4_nl iq4_xs  tq1_0 tq2_0  q1_0 q2_0  ggml_mxfp4 ggml_nvfp4
//
// A block of OCP MX or nvfp4 is its scale and then its codes, the first in the low bits. Elements are rounded to nearest, ties
// to even; larger ones become the largest. A scale of E8M0 is the largest power of two not above the block's largest element,
// divided by the power of two of the largest code. A scale of E4M3 is the nearest to the largest element divided by 6. A
// block with a NaN or an infinity has the scale NaN, and all its elements are NaN. The caller keeps the scale that NVFP4 has for
// a whole tensor. Blocks without a scale may continue in the next row; NaN becomes 0, and an infinity the largest element.
//
// The blocks of GGUF files are decoded bit for bit as ggml does on a machine without fused products. ggml_mxfp4 and ggml_nvfp4
// order the codes of mxfp4 and nvfp4 in another way. Pack encodes q4_0, q8_0, q4_k and q6_k; for the other GGUF types it
// returns an error.
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

// sameFormat reports whether equal bytes of the formats are equal values.
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
