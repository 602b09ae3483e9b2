package layout

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// canonical removes brackets around a single entry, the outermost pair excepted
// when its entry is a tuple.
func (n node) canonical() node {
	if n.isLeaf() {
		return n
	}
	if len(n.kids) == 1 {
		return n.kids[0].canonical()
	}
	c := node{kids: []node{}}
	for _, k := range n.kids {
		c.kids = append(c.kids, k.canonical())
	}
	return c
}

// TestText prints and parses: any nesting prints in its canonical form, and that
// form parses to an equal layout.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := nodes(rapid.IntRange(1, 5).Draw(t, "depth"), 1000).Draw(t, "layout")
		want := n.canonical()
		if len(n.kids) == 1 && !want.isLeaf() {
			want = node{kids: []node{want}}
		}
		text := n.String()
		if rapid.Bool().Draw(t, "spaces") {
			text = strings.NewReplacer("(", " ( ", ",", "\t, ", ":", " : ").Replace(text)
		}
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if l.String() != want.String() {
			t.Fatalf("%s prints as %v, want %s", text, l, want)
		}
		if shape, _, _ := strings.Cut(want.String(), ":"); l.ShapeString() != shape && "("+shape+")" != l.ShapeString() {
			t.Fatalf("%s has shape %s", text, l.ShapeString())
		}
		if m := MustParse(l.String()); !m.Equal(l) || !l.Equal(m) {
			t.Fatalf("%v parses as %v", l, m)
		}
	})
}

func TestParseLimits(t *testing.T) {
	deep := func(n int) string {
		s := strings.Repeat("(2,", n-1) + "(2" + strings.Repeat(")", n)
		return s + ":" + strings.ReplaceAll(s, "2", "0")
	}
	wide := func(n int) string {
		return "(1" + strings.Repeat(",1", n-1) + "):(0" + strings.Repeat(",0", n-1) + ")"
	}
	if l, err := Parse(deep(30)); err != nil || l.Leaves() != 30 || l.Size() != 1<<30 {
		t.Errorf("%v, %v", l, err)
	}
	ones := strings.ReplaceAll(deep(maxDepth), "2", "1")
	if l, err := Parse(ones); err != nil || l.Leaves() != maxDepth {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := Parse(wide(maxRank)); err != nil || l.Rank() != maxRank {
		t.Error(err)
	}
	for _, s := range []string{deep(maxDepth + 1), wide(maxRank + 1), strings.Repeat("(", 1<<20), strings.Repeat("(1,", 1<<20),
		strings.Repeat("9", 1<<20), "(" + strings.Repeat("1,", 1<<21)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(s)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrSyntax) {
			t.Errorf("%.20s…: %v", s, err)
			continue
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 128*maxRank {
			t.Errorf("%.20s…: %d bytes allocated", s, got)
		}
		if len(err.Error()) > 600 {
			t.Errorf("%.20s…: an error of %d bytes", s, len(err.Error()))
		}
	}
	if _, err := ParseSlice(strings.Repeat("1,", maxRank+1)); !errors.Is(err, ErrSyntax) {
		t.Error(err)
	}
}

func TestMustParse(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, ErrSyntax) {
			t.Errorf("panic with %v", err)
		}
	}()
	MustParse("(2")
}

func TestParseSlice(t *testing.T) {
	for text, want := range map[string][]Index{
		"":                   nil,
		"  ":                 nil,
		"2":                  {Point(2)},
		"-1,":                {Point(-1)},
		":":                  {Range(None, None, 1)},
		"::":                 {Range(None, None, 1)},
		" 1 : 3 , :: -1 ":    {Range(1, 3, 1), Range(None, None, -1)},
		"1:3, ::-1, ..., 2":  {Range(1, 3, 1), Range(None, None, -1), Ellipsis(), Point(2)},
		"None,newaxis , ...": {NewAxis(), NewAxis(), Ellipsis()},
		"None:None:None":     {Range(None, None, 1)},
		"None:+2:-2":         {Range(None, 2, -2)},
		"5::2":               {Range(5, None, 2)},
	} {
		idx, err := ParseSlice(text)
		if err != nil || !slices.Equal(idx, want) {
			t.Errorf("%q: %v, %v; want %v", text, idx, err, want)
		}
	}
	// The smallest int is a bound, far beyond every axis, and not an omitted one.
	idx, err := ParseSlice(":" + Point(math.MinInt).String())
	if err != nil || idx[0].stop == None {
		t.Errorf("%v, %v", idx, err)
	}
}

func join(idx []Index) string {
	var s []string
	for _, x := range idx {
		s = append(s, x.String())
	}
	return strings.Join(s, ", ")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"():()", "12:1", "(4):(1)", "(4,6):(6,1)", "((2,2),4):((1,8),2)", " ( (3) , 4 ) : ( ( -1 ) , 3 ) ", "(0,5):(1,0)",
		"(1,1,1,1,1,1,1,1,(2,2)):(0,0,0,0,0,0,0,0,(1,2))", "((((((((1,1),1),1),1),1),1),1)):((((((((1,1),1),1),1),1),1),1))",
		"4", "4:", "(4,:1", "(2,3):(1,(2))", "(-1):(1)", "9223372036854775807:2", "99999999999999999999:1", "((),2):((),1)", "4:1)", "(+2,-0):(-0,+1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			checkError(t, err, ErrSyntax, ErrShape, ErrOverflow)
			return
		}
		if l.Leaves() > len(s) {
			t.Fatalf("%d leaves from %d bytes", l.Leaves(), len(s))
		}
		m, err := Parse(l.String())
		if err != nil || !m.Equal(l) || m.String() != l.String() {
			t.Fatalf("%q parses as %v, that as %v (%v)", s, l, m, err)
		}
	})
}

func FuzzParseSlice(f *testing.F) {
	for _, s := range []string{"", "1:3, ::-1, ..., 2", "None, newaxis", ":", "::", "-1,", ",", "1 2", "::0", "..., ...", "None:None:None", "....", "1:2:3:4",
		"99999999999999999999", ":-9223372036854775808", "x", "+1:-2:+3", "newaxi", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		idx, err := ParseSlice(s)
		if err != nil {
			checkError(t, err, ErrSyntax)
			return
		}
		if len(idx) > len(s) {
			t.Fatalf("%d indices from %d bytes", len(idx), len(s))
		}
		again, err := ParseSlice(join(idx))
		if err != nil || !slices.Equal(again, idx) {
			t.Fatalf("%q parses as %v, that as %v (%v)", s, idx, again, err)
		}
		l, err := RowMajor(3, 4, 5)
		if err != nil {
			t.Fatal(err)
		}
		if m, off, err := l.Slice(idx...); err == nil && m.Size() > 0 {
			if lo, hi := m.Span(); off+lo < 0 || off+hi >= l.Size() {
				t.Fatalf("%q reaches from %d to %d", s, off+lo, off+hi)
			}
		}
	})
}

// checkError wants a typed error with one of the sentinels and a text of bounded size.
func checkError(t *testing.T, err error, sentinels ...error) {
	t.Helper()
	var typed *Error
	if !errors.As(err, &typed) || !slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) }) {
		t.Fatalf("%v is not one of %v", err, sentinels)
	}
	if len(err.Error()) > 1500 {
		t.Fatalf("an error of %d bytes: %v", len(err.Error()), err)
	}
}
