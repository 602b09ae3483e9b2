package tensor_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

func ExampleDigest() {
	a := tensor.Arange[float32](0, 6, 1).View(2, 3)
	d, err := tensor.Digest(a.Any())
	same, _ := tensor.Digest(a.Transpose().Transpose().Any())
	other, _ := tensor.Digest(a.Transpose().Any())
	fmt.Printf("%x %v\n", d, err)
	fmt.Println(d == same, d == other)
	// Output:
	// 00f8acf6823e57cc6a4e4661d7a8e3189eea47e388ef627209d7f76426c02058 <nil>
	// true false
}

// The digests are the results of Python's hashlib and struct of the bytes that the documentation of MarshalBinary names.
func TestDigest(t *testing.T) {
	for want, a := range map[string]tensor.Any{
		"9022b005076e51564064553b532b0d8da0435172892374f9844049ccb2e50fb1": tensor.Scalar[int64](-7).Any(),
		"601acb61226c07574675c59f94cf699a01962a6f7bf31e2e650b79573e1eaf85": tensor.New[uint8](0, 3).Any(),
		"8b25c7f7aef0c7fe8a38132b6d7d2c8e7cc23b03e703e905f2daf88f2af3c5da": tensor.FromSlice([]bool{true, false}, 2).Any(),
		"c6232d91a67c35830ef3f5559c604ce50287d37d9eaee89d569bde7236d5529e": tensor.FromSlice([]num.F16{num.FromBits[num.F16](0x7e01), num.FromBits[num.F16](0x8000)}, 2).Any(),
		"535ad85ea78fad6bc58e8821abea9d33bc639cbc8cbfd9b42e7138c60758c219": tensor.FromSlice([]complex64{1 - 1i}, 1).Any(),
		"b85082b439012cd5a59ff9f4e72df27da7db7671e4ab2ec968718423613723dc": tensor.FromSlice([]num.Int4{num.FromBits[num.Int4](0xf), num.FromBits[num.Int4](1), num.FromBits[num.Int4](7)}, 3).Any(),
	} {
		if d, err := tensor.Digest(a); err != nil || fmt.Sprintf("%x", d) != want {
			t.Errorf("%s: %x, %v; want %s", tensor.Describe(a), d, err, want)
		}
	}
}

// Type, shape and every bit of an element count.
func TestDigestTellsApart(t *testing.T) {
	seen := make(map[[sha256.Size]byte]string)
	add := func(what string, a tensor.Any) {
		d, err := tensor.Digest(a)
		if err != nil || seen[d] != "" {
			t.Errorf("%s: %v, the same as %s", what, err, seen[d])
		}
		seen[d] = what
	}
	for _, bits := range []uint32{0, 1 << 31, 0x7fc00000, 0x7fc00001, 0x7f800001, 0xffc00000, 1} {
		add(fmt.Sprintf("float32 %#x", bits), tensor.FromSlice([]float32{math.Float32frombits(bits)}, 1).Any())
	}
	for _, shape := range [][]int{{}, {1, 1}, {1, 1, 1}, {0}, {0, 1}, {1, 0}} {
		for _, d := range dtype.All() {
			a, err := tensor.Make(d, shape...)
			if err != nil {
				t.Fatal(err)
			}
			add(tensor.Describe(a), a)
		}
	}
}

// A view has the digest of its copy.
func TestDigestOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRoot(t)
		for range rapid.IntRange(0, 3).Draw(t, "views") {
			p = view(t, p)
		}
		got, err := tensor.Digest(p.t.Any())
		b, other := p.t.MarshalBinary()
		if err != nil || other != nil || got != sha256.Sum256(b) {
			t.Fatalf("%v: %x, %v; the bytes of MarshalBinary have %x, %v", p.t.Layout(), got, err, sha256.Sum256(b), other)
		}
	})
	x := tensor.Arange[int32](0, 720*1000, 1).View(720, 1000)
	want, err := tensor.Digest(x.Transpose().Clone().Any())
	if got, other := tensor.Digest(x.Transpose().Any()); got != want || err != nil || other != nil {
		t.Errorf("a view in pieces: %x, %v; its copy has %x, %v", got, other, want, err)
	}
}

func TestDigestErrors(t *testing.T) {
	spec, err := tensor.NewSpec(dtype.Int32, 2)
	if err != nil {
		t.Fatal(err)
	}
	closed := tensor.New[float32](3)
	closed.Close()
	for what, c := range map[string]struct {
		a    tensor.Any
		want error
	}{"nothing": {tensor.Any{}, tensor.ErrClosed}, "a description": {spec.Any(), tensor.ErrDType}, "a closed tensor": {closed.Any(), tensor.ErrClosed}} {
		if d, err := tensor.Digest(c.a); !errors.Is(err, c.want) || d != [sha256.Size]byte{} {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}
