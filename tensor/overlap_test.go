package tensor_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// draw makes a tensor somewhere in data with any strides, equal ones, zeros and
// negative ones too, and the set of the places it has there.
func draw(t *rapid.T, data []int16) (tensor.Tensor[int16], map[int]bool) {
	rank := rapid.IntRange(0, 4).Draw(t, "rank")
	ext, str := make([]int, rank), make([]int, rank)
	for i := range ext {
		ext[i] = rapid.SampledFrom([]int{2, 3, 1, 4, 0}).Draw(t, "extent")
		str[i] = rapid.IntRange(-9, 9).Draw(t, "stride")
	}
	lay, err := layout.New(ext, str)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := lay.Span()
	from := rapid.IntRange(0, len(data)-(hi-lo+1)).Draw(t, "from")
	places := make(map[int]bool)
	for _, c := range coords(ext) {
		off, _ := lay.At(c)
		places[from-lo+off] = true
	}
	return tensor.FromLayout(data[from:from+hi-lo+1], lay), places
}

// Overlaps is exact, for tensors with storages of their own over one slice.
func TestOverlaps(t *testing.T) {
	data := make([]int16, 150)
	rapid.Check(t, func(t *rapid.T) {
		x, in := draw(t, data)
		y, other := draw(t, data)
		want := false
		for p := range other {
			want = want || in[p]
		}
		if x.Any().Overlaps(y.Any()) != want || y.Any().Overlaps(x.Any()) != want {
			t.Fatalf("%v and %v: want %v", x.Layout(), y.Layout(), want)
		}
	})
	// Elements that cut each other.
	b := make([]byte, 9)
	odd := func(i int) tensor.Tensor[uint8] { return tensor.FromSlice(b[i : i+4]) }
	if odd(0).Any().Overlaps(odd(4).Any()) || !odd(0).Any().Overlaps(odd(3).Any()) {
		t.Error("bytes")
	}
	words := unsafe.Slice((*int16)(unsafe.Pointer(&b[0])), 4)
	if x := tensor.FromSlice(words); !x.S(":2").Any().Overlaps(x.S("1:").Any()) || x.S(":2").Any().Overlaps(x.S("2:").Any()) {
		t.Error("words")
	}
}

// Where exactness would take too long the search gives up, and the answer is true, though no element is the same.
func TestOverlapsBounded(t *testing.T) {
	primes := []int{100003, 100019, 100043, 100049, 100057, 100069, 100103, 100109}
	ext := make([]int, len(primes))
	for i := range ext {
		ext[i] = 4
	}
	lay, err := layout.New(ext, primes)
	if err != nil {
		t.Fatal(err)
	}
	other, err := layout.New(ext, []int{100129, 100151, 100153, 100169, 100183, 100189, 100193, 100207})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]int8, 3<<20)
	x := tensor.FromLayout(data, lay)
	x.Fill(1)
	given := 0
	for from := range 50 {
		y := tensor.FromLayout(data[from:], other)
		meet := slices.Contains(y.Contiguous().Elems(), 1)
		switch answer := x.Any().Overlaps(y.Any()); {
		case meet && !answer:
			t.Errorf("from %d on: they meet", from)
		case answer && !meet:
			given++
		}
	}
	if given == 0 {
		t.Error("no search gave up")
	}
	if !x.Any().Overlaps(x.Any()) {
		t.Error("a tensor doesn't overlap itself")
	}
}

// Overlaps is exact for elements of two sizes, too: the units are bytes.
func TestOverlapsOfSizes(t *testing.T) {
	data := make([]int16, 150)
	bytes := unsafe.Slice((*uint8)(unsafe.Pointer(&data[0])), 2*len(data))
	rapid.Check(t, func(t *rapid.T) {
		x, in := draw(t, data)
		lay, err := layout.New([]int{rapid.IntRange(1, 4).Draw(t, "extent"), 2}, []int{rapid.IntRange(3, 40).Draw(t, "stride"), rapid.IntRange(1, 9).Draw(t, "step")})
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.IntRange(0, 100).Draw(t, "byte")
		y := tensor.FromLayout(bytes[from:], lay)
		want := false
		for _, c := range coords(lay.Shape()) {
			off, _ := lay.At(c)
			want = want || in[(from+off)/2]
		}
		if x.Any().Overlaps(y.Any()) != want || y.Any().Overlaps(x.Any()) != want {
			t.Fatalf("%v and %v from byte %d: want %v", x.Layout(), lay, from, want)
		}
	})
}
