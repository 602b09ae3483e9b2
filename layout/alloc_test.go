package layout

import "testing"

// flatCalls are the operations on which every view of a tensor rests.
func flatCalls(fail func(...any)) map[string]func() {
	l := MustParse("(4,6,8):(48,8,1)")
	p := MustParse("(4,6,8):(1,4,24)")
	one := MustParse("(6,1):(1,9)")
	nested := MustParse("((2,2),(4,3)):((1,8),(2,16))")
	check := func(_ Layout, err error) {
		if err != nil {
			fail(err)
		}
	}
	return map[string]func(){
		"Slice": func() {
			_, _, err := l.Slice(Range(1, None, 2), Point(2), Range(None, None, -1))
			check(Layout{}, err)
		},
		"Permute":     func() { check(l.Permute(2, 0, 1)) },
		"View":        func() { check(l.View(24, 2, 4)) },
		"ViewStrided": func() { check(p.View(2, 2, 6, 8)) },
		"BroadcastTo": func() { check(one.BroadcastTo(3, 6, 5)) },
		"RowMajor":    func() { check(RowMajor(3, 4, 5)) },
		"At": func() {
			if off, axis := l.At([]int{1, 2, 3}); axis != -1 || off != 67 {
				fail(off, axis)
			}
		},
		"AtNested": func() {
			if off, axis := nested.At([]int{3, 5}); axis != -1 || off != 27 {
				fail(off, axis)
			}
		},
		"Offset": func() {
			if off, err := nested.Offset(47); err != nil || off != 47 {
				fail(off, err)
			}
		},
		"Equal": func() {
			if l.Equal(p) {
				fail("equal")
			}
		},
	}
}

func TestAllocs(t *testing.T) {
	for name, call := range flatCalls(t.Fatal) {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkFlat(b *testing.B) {
	for name, call := range flatCalls(b.Fatal) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// algebraCalls are the operations of the algebra on layouts of rank up to 4.
func algebraCalls(fail func(...any)) map[string]func() {
	a, b := MustParse("(4,6,8,10):(480,80,10,1)"), MustParse("(8,12,4):(1,8,480)")
	tile := MustParse("(2,3):(1,4)")
	check := func(_ Layout, err error) {
		if err != nil {
			fail(err)
		}
	}
	return map[string]func(){
		"Compose":        func() { check(Compose(a, b)) },
		"Complement":     func() { check(Complement(tile, 96)) },
		"LogicalDivide":  func() { check(LogicalDivide(a, tile)) },
		"LogicalProduct": func() { check(LogicalProduct(tile, b)) },
		"LeftInverse":    func() { check(LeftInverse(a)) },
		"Coalesce":       func() { a.Coalesce() },
		"RightInverse":   func() { RightInverse(a) },
	}
}

func TestAlgebraAllocs(t *testing.T) {
	for _, name := range []string{"Compose", "Complement", "LogicalDivide"} {
		if n := testing.AllocsPerRun(100, algebraCalls(t.Fatal)[name]); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkAlgebra(b *testing.B) {
	for name, call := range algebraCalls(b.Fatal) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}
