package judge

import (
	"fmt"

	"github.com/ashlar-go/ashlar/layout"
)

// Fit returns the layout of a shape whose function is f, and the offset of its first
// element. f takes linear coordinates, the first mode fastest. Modes may split into nested
// ones; except for nesting there is at most one such layout. If there is none, the error is
// a *Mismatch with the smallest coordinate i such that no layout of the shape agrees with f
// from 0 to i.
//
// Fit fails with layout.ErrLimit on more than MaxElements coordinates.
func Fit(shape layout.Tuple, f func(i int) int) (layout.Layout, int, error) {
	const op = "Fit"
	ft, err := newFitter(op, shape)
	if err != nil || ft.size == 0 {
		l, _ := layout.ColMajorOf(shape)
		return l, 0, err
	}
	origin := f(0)
	ft.accepts = func(i, x int) bool { return x == f(i)-origin }
	var one [1]int
	ft.choices = func(i int) []int { one[0] = f(i) - origin; return one[:] }
	if !ft.from(1) {
		i := ft.bad
		return layout.Layout{}, 0, &Mismatch{op, i, ft.coord(i), ft.nearest, f(i) - origin,
			fmt.Sprintf("no layout of shape %v agrees up to here: %s", shape, ft.why)}
	}
	l, err := ft.layout()
	return l, origin, err
}

// MaxChoices bounds the coordinates that Infer tries if A has an offset more than once.
const MaxChoices = 1 << 18

// Infer returns a layout B of the shape of C with C = A ∘ B. The offsets of B are
// coordinates of A, below its size. If there is none, the error is a *Mismatch with the
// smallest coordinate i such that no B agrees from 0 to i. Either A doesn't have the
// offset, or the coordinates of A that have it don't form a layout.
//
// If A has each offset once, there is at most one B. Otherwise Infer tries all coordinates
// that have an offset, and fails with layout.ErrLimit if they are too many. For layouts of
// more than MaxElements elements, it returns a B if LeftInverse(a) leads to one, and
// layout.ErrLimit otherwise.
func Infer(c, a layout.Layout) (layout.Layout, error) {
	const op = "Infer"
	if inverse, err := layout.LeftInverse(a); err == nil && c.Size() > 0 {
		if lo, _ := c.Span(); lo >= 0 {
			if b, err := layout.Compose(inverse, c); err == nil {
				if _, hi := b.Span(); hi < a.Size() {
					if again, err := layout.Compose(a, b); err == nil && again.Coalesce().Equal(c.Coalesce()) {
						return b, nil
					}
				}
			}
		}
	}
	if a.Size() > MaxElements {
		return layout.Layout{}, fail(op, layout.ErrLimit, "%v has more than %d elements, and no inverse leads to the layout", a, MaxElements)
	}
	ft, err := newFitter(op, c.Extents())
	if err != nil || ft.size == 0 {
		return c, err
	}
	places := make(map[int][]int, a.Size())
	for x := range a.Size() {
		off, err := a.Offset(x)
		if err != nil {
			return layout.Layout{}, err
		}
		places[off] = append(places[off], x)
	}
	want := make([]int, ft.size)
	for i := range want {
		if want[i], err = c.Offset(i); err != nil {
			return layout.Layout{}, err
		}
	}
	if a.Size() == 0 {
		return layout.Layout{}, &Mismatch{op, 0, ft.coord(0), 0, want[0], fmt.Sprintf("no B gives this offset: %v is empty", a)}
	}
	ft.accepts = func(i, x int) bool {
		if x < 0 || x >= a.Size() {
			return false
		}
		off, err := a.Offset(x)
		return err == nil && off == want[i]
	}
	ft.choices = func(i int) []int { return places[want[i]] }
	if !ft.from(1) {
		if ft.tried > MaxChoices {
			return layout.Layout{}, fail(op, layout.ErrLimit, "more than %d places of %v were tried", MaxChoices, a)
		}
		i := ft.bad
		why := ft.why
		if len(places[want[i]]) == 0 {
			why = fmt.Sprintf("%v has no offset %d", a, want[i])
		}
		return layout.Layout{}, &Mismatch{op, i, ft.coord(i), ft.nearest, want[i], "no B gives this offset: " + why}
	}
	return ft.layout()
}

// A fitter builds a layout of a shape from its values, coordinate by coordinate. Each leaf
// of the shape is a separate mode, which splits if its values require it.
type fitter struct {
	op      string
	shape   layout.Tuple
	dims    []int
	leaves  []fitLeaf
	size    int
	accepts func(i, x int) bool // whether x is a value for coordinate i
	choices func(i int) []int   // the values for coordinate i

	tried   int
	bad     int // the farthest coordinate that failed
	nearest int
	why     string
}

// A fitLeaf has closed parts, whose extents are known, and an open one.
type fitLeaf struct {
	ext, before int // before: the product of the extents of the leaves before
	closed      [][2]int
	done        int // the product of the closed extents
	step        int // the stride of the open part
}

func newFitter(op string, shape layout.Tuple) (*fitter, error) {
	ext, err := shape.Flatten()
	if err != nil {
		return nil, err
	}
	dense, err := layout.ColMajorOf(shape) // also checks the extents and their product
	if err != nil {
		return nil, err
	}
	ft := &fitter{op: op, shape: shape, dims: dense.Shape(), size: dense.Size(), bad: -1}
	if ft.size > MaxElements {
		return nil, fail(op, layout.ErrLimit, "%d coordinates, more than %d", ft.size, MaxElements)
	}
	n := 1
	for _, e := range ext {
		ft.leaves = append(ft.leaves, fitLeaf{ext: e, before: n, done: 1})
		n *= e
	}
	return ft, nil
}

func (ft *fitter) coord(i int) []int { return coordOf(ft.dims, i) }

func (l *fitLeaf) at(c int) (x int) {
	for _, p := range l.closed {
		x += c % p[0] * p[1]
		c /= p[0]
	}
	return x + c*l.step
}

// from continues at coordinate i; the values before it are settled.
func (ft *fitter) from(i int) bool {
	for ; i < ft.size; i++ {
		sum, leaf, several := 0, -1, false
		for k := range ft.leaves {
			l := &ft.leaves[k]
			if c := i / l.before % l.ext; c != 0 {
				several = several || leaf >= 0
				leaf = k
				sum += l.at(c)
			}
		}
		l := &ft.leaves[leaf]
		c := i / l.before % l.ext
		if several || c%l.done != 0 {
			if !ft.accepts(i, sum) {
				ft.failed(i, sum, fmt.Sprintf("its parts add up to %d", sum))
				return false
			}
			continue
		}
		t := c / l.done
		if t > 1 && ft.accepts(i, sum) {
			// If no other value is possible here, there is no need to come back.
			if len(ft.choices(i)) == 1 {
				continue
			}
			if ft.tried++; ft.tried > MaxChoices {
				return false
			}
			if ft.from(i + 1) {
				return true
			}
		}
		if t > 1 && l.ext%(l.done*t) != 0 {
			ft.failed(i, sum, fmt.Sprintf("the progression of %d breaks after %d of %d coordinates, which it doesn't divide", l.step, l.done*t, l.ext))
			return false
		}
		before := *l
		for _, x := range ft.choices(i) {
			if t > 1 && x == sum {
				continue
			}
			if ft.tried++; ft.tried > MaxChoices {
				return false
			}
			*l = before
			if t > 1 {
				l.closed = append(before.closed[:len(before.closed):len(before.closed)], [2]int{t, before.step})
				l.done = before.done * t
			}
			l.step = x
			if ft.from(i + 1) {
				return true
			}
		}
		*l = before
		ft.failed(i, sum, "no value goes on as a layout")
		return false
	}
	return true
}

func (ft *fitter) failed(i, got int, why string) {
	if i > ft.bad {
		ft.bad, ft.nearest, ft.why = i, got, why
	}
}

// layout returns the layout that was built, nested like the shape.
func (ft *fitter) layout() (layout.Layout, error) {
	k := 0
	var build func(t layout.Tuple) (shape, stride layout.Tuple)
	build = func(t layout.Tuple) (shape, stride layout.Tuple) {
		if !t.IsList() {
			l := ft.leaves[k]
			k++
			if len(l.closed) == 0 {
				return layout.Int(l.ext), layout.Int(l.step)
			}
			var s, d []int
			for _, p := range l.closed {
				s, d = append(s, p[0]), append(d, p[1])
			}
			return layout.Ints(append(s, l.ext/l.done)...), layout.Ints(append(d, l.step)...)
		}
		var s, d []layout.Tuple
		for i := range t.Rank() {
			a, b := build(t.Entry(i))
			s, d = append(s, a), append(d, b)
		}
		return layout.List(s...), layout.List(d...)
	}
	shape, stride := build(ft.shape)
	return layout.Of(shape, stride)
}
