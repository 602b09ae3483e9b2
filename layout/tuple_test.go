package layout

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/modes"
	"pgregory.net/rapid"
)

func tuples(depth int, leaf *rapid.Generator[Tuple]) *rapid.Generator[Tuple] {
	return rapid.Custom(func(t *rapid.T) Tuple {
		if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
			return leaf.Draw(t, "value")
		}
		return List(rapid.SliceOfN(tuples(depth-1, leaf), 0, 3).Draw(t, "entries")...)
	})
}

func ints(lo, hi int) *rapid.Generator[Tuple] { return rapid.Map(rapid.IntRange(lo, hi), Int) }

func TestTupleText(t *testing.T) {
	leaf := rapid.OneOf(ints(-20, 20), rapid.Just(Hole()))
	rapid.Check(t, func(t *rapid.T) {
		a := tuples(4, leaf).Draw(t, "tuple")
		b, err := ParseTuple(" " + strings.ReplaceAll(a.String(), ",", " ,\t"))
		if err != nil || !a.Equal(b) || !Congruent(a, b) {
			t.Fatalf("%v parses as %v, %v", a, b, err)
		}
		if c := List(a, b); c.Equal(a) || Congruent(c, a) || c.Depth() != a.Depth()+1 || c.Rank() != 2 || !c.Entry(1).Equal(b) {
			t.Fatalf("%v in a list: %v", a, c)
		}
	})
}

// TestPrefixProduct has as strides those of the dense layout, first mode fastest.
func TestPrefixProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := tuples(3, ints(1, 4)).Draw(t, "tuple")
		p, err := PrefixProduct(a)
		if err != nil || !Congruent(a, p) {
			t.Fatalf("%v: %v, %v", a, p, err)
		}
		n, err := a.Product()
		if err != nil {
			t.Fatal(err)
		}
		ext, err := a.Flatten()
		if err != nil {
			t.Fatal(err)
		}
		str, err := p.Flatten()
		if err != nil {
			t.Fatal(err)
		}
		l, err := New(ext, str)
		if err != nil || l.Size() != n || n < 2000 && !isIota(colexOf(t, l)) {
			t.Fatalf("%v: %v, %v", a, l, err)
		}
		sum := 0
		for i := range ext {
			sum += ext[i] * str[i]
		}
		if got, err := InnerProduct(a, p); err != nil || got != sum {
			t.Fatalf("%v · %v = %d, %v", a, p, got, err)
		}
	})
}

// TestCompatible finds a coarser tuple by replacing parts by their product.
func TestCompatible(t *testing.T) {
	var coarsen func(t *rapid.T, a Tuple) Tuple
	coarsen = func(t *rapid.T, a Tuple) Tuple {
		if !a.IsList() || rapid.IntRange(0, 2).Draw(t, "coarsen") == 0 {
			n, err := a.Product()
			if err != nil {
				t.Fatal(err)
			}
			return Int(n)
		}
		var e []Tuple
		for i := range a.Rank() {
			e = append(e, coarsen(t, a.Entry(i)))
		}
		return List(e...)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := tuples(3, ints(1, 4)).Draw(t, "tuple")
		a := coarsen(t, b)
		if !Compatible(a, b) || !WeaklyCompatible(a, b) {
			t.Fatalf("%v is coarser than %v", a, b)
		}
		if Compatible(b, a) != a.Equal(b) && a.Depth() != b.Depth() {
			t.Fatalf("%v isn't coarser than %v", b, a)
		}
	})
	for _, c := range []struct {
		a, b       string
		full, weak bool
	}{
		{"24", "(4,6)", true, true}, {"(4,6)", "24", false, false}, {"(24)", "24", false, false}, {"(24)", "(24)", true, true}, {"24", "(24)", true, true},
		{"(4,6)", "((2,2),6)", true, true}, {"(2,6)", "((2,2),6)", false, true}, {"(3,6)", "((2,2),6)", false, false}, {"_", "4", false, false}, {"4", "_", false, false},
		{"0", "(0,3)", true, true}, {"3", "0", false, true}, {"()", "()", true, true}, {"1", "()", true, true},
	} {
		a, b := MustParseTuple(c.a), MustParseTuple(c.b)
		if Compatible(a, b) != c.full || WeaklyCompatible(a, b) != c.weak {
			t.Errorf("%s and %s: %v, %v", c.a, c.b, Compatible(a, b), WeaklyCompatible(a, b))
		}
	}
}

func TestShapeDiv(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"12", "4", "3"}, {"4", "12", "1"}, {"12", "5", ""}, {"(3,4)", "6", "(1,2)"}, {"((3,4),6)", "36", "((1,1),2)"}, {"(6,4)", "(3,2)", "(2,2)"},
		{"12", "(2,3)", "2"}, {"(6,4)", "(3,2,1)", ""}, {"(6,4)", "0", ""}, {"(6,-4)", "2", ""}, {"_", "2", ""}, {"(2,3)", "4", ""}, {"()", "4", "()"}, {"0", "2", ""},
	} {
		got, err := ShapeDiv(MustParseTuple(c.a), MustParseTuple(c.b))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s / %s = %v", c.a, c.b, got)
			}
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%s / %s = %v, %v; want %s", c.a, c.b, got, err, c.want)
		}
	}
	// Dividing a shape by the size of its first k leaves leaves 1s and the others.
	rapid.Check(t, func(t *rapid.T) {
		ext := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 6).Draw(t, "extents")
		k := rapid.IntRange(0, len(ext)).Draw(t, "k")
		got, err := ShapeDiv(Ints(ext...), Int(modes.Product(ext[:k])))
		want := slices.Clone(ext)
		for i := range k {
			want[i] = 1
		}
		if err != nil || !got.Equal(Ints(want...)) {
			t.Fatalf("%v without %d: %v, %v", ext, k, got, err)
		}
	})
}

func TestTupleOverflow(t *testing.T) {
	const top = math.MaxInt
	big := Ints(top, 2)
	if _, err := big.Product(); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	if n, err := Ints(top, 2, 0).Product(); err != nil || n != 0 {
		t.Error(n, err)
	}
	if p, err := PrefixProduct(big); err != nil || !p.Equal(Ints(1, top)) {
		t.Error(p, err)
	}
	if p, err := PrefixProduct(List(big, Int(1))); !errors.Is(err, ErrOverflow) {
		t.Error(p, err)
	}
	if n, err := InnerProduct(Ints(math.MinInt/2), Ints(2)); err != nil || n != math.MinInt {
		t.Error(n, err)
	}
	if n, err := InnerProduct(big, big); !errors.Is(err, ErrOverflow) {
		t.Error(n, err)
	}
	if n, err := InnerProduct(Ints(top, top), Ints(1, 1)); !errors.Is(err, ErrOverflow) {
		t.Error(n, err)
	}
}

func FuzzParseTuple(f *testing.F) {
	for _, s := range []string{"0", "()", "(1,(2,_),())", " ( -3 , +4 ) ", "(", "(1", "(1,)", "1)", "__", "((((((((1))))))))", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseTuple(s)
		if err != nil {
			checkError(t, err, ErrSyntax)
			return
		}
		b, err := ParseTuple(a.String())
		if err != nil || !b.Equal(a) || b.String() != a.String() {
			t.Fatalf("%q parses as %v, that as %v (%v)", s, a, b, err)
		}
	})
}
