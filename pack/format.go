package pack

import (
	"fmt"
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
	if _, whole := f.(*bfp); whole && n%group != 0 {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d elements; %s has them in groups of %d", n, f.Name(), group))
	}
	if want := f.Size(n); size < want {
		panic(fail("pack.Format."+what, tensor.ErrShape, "%d bytes for %d elements of %s; they take %d", size, n, f.Name(), want))
	}
}

// formats are those that a name alone tells.
var formats = []Format{BFP8, BFP4}

// FormatNamed returns BFP8 for bfloat8_b or bfp8, and BFP4 for bfloat4_b or bfp4.
func FormatNamed(name string) (Format, error) {
	var names []string
	for _, f := range formats {
		short := strings.TrimSuffix(strings.Replace(f.Name(), "bfloat", "bfp", 1), "_b")
		if name == f.Name() || name == short {
			return f, nil
		}
		names = append(names, f.Name())
	}
	return nil, &tensor.Error{Op: "pack.FormatNamed", Text: fmt.Sprintf("no format is called %q; there are %s", name, strings.Join(names, ", ")), Err: tensor.ErrDType}
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
