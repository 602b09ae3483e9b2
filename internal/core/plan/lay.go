package plan

import (
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Lay gives the layouts of views of a tensor from its own. It fails where the tensor has no such views.
type Lay func(l *layout.Layout) ([]layout.Layout, error)

// OneLay is the Lay of a single view.
func OneLay(f func(l *layout.Layout) (layout.Layout, error)) Lay {
	return func(l *layout.Layout) ([]layout.Layout, error) {
		one, err := f(l)
		return []layout.Layout{one}, err
	}
}

// Sliced is the Lay of a slice.
func Sliced(idx []tensor.Index) Lay {
	return OneLay(func(l *layout.Layout) (layout.Layout, error) {
		one, _, err := l.Slice(idx...)
		return one, err
	})
}

// Reshaped is the Lay of another shape.
func Reshaped(shape []int) Lay {
	return OneLay(func(l *layout.Layout) (layout.Layout, error) { return l.View(shape...) })
}

// LiesLast reports whether a tensor [N, C, D1, …] lies channels last, and not row-major: its elements have the order of [N, D1, …, C], where
// the channels may be some of more.
func LiesLast(a *tensor.Any) bool {
	return !a.IsZero() && LaidLast(a.LayoutRef())
}

// LaidLast is LiesLast for a layout.
func LaidLast(lay *layout.Layout) bool {
	r := walk.Ref(lay)
	if r.Rank() < 3 || r.IsRowMajor() {
		return false
	}
	next, channels := 0, r.Dim(1) // next is the stride of the next axis but of one element, 0 until the first
	if s, _ := r.Stride(1); s != 1 && channels > 1 {
		return false
	}
	for _, axis := range lastAxes(r.Rank()) {
		n := r.Dim(axis)
		s, _ := r.Stride(axis)
		switch {
		case axis == 1 || n == 1:
			continue
		case next == 0 && s < channels, next > 0 && s != next:
			return false
		}
		next = s * n
	}
	return true
}

// lastAxes returns the axes of a tensor from the fastest on, if it lies channels last.
func lastAxes(rank int) []int {
	axes := make([]int, 0, rank)
	axes = append(axes, 1)
	for i := rank - 1; i > 1; i-- {
		axes = append(axes, i)
	}
	return append(axes, 0)
}

// LastShape returns a shape [N, C, D1, …] as [N, D1, …, C].
func LastShape(shape []int) []int {
	return append(append(slices.Clone(shape[:1]), shape[2:]...), shape[1])
}

// Last returns a tensor that stretches to one of a rank as [N, D1, …, C], a view.
func Last(a tensor.Any, rank int) tensor.Any {
	shape := make([]int, rank)
	for i := range shape {
		if shape[i] = 1; i >= rank-a.Rank() {
			shape[i] = a.Dim(i - rank + a.Rank())
		}
	}
	axes := lastAxes(rank)
	slices.Reverse(axes)
	return a.Reshape(shape...).Permute(axes...)
}

// KeepsAs is Keeps where the first input or the result lies channels last, or neither.
func (p *Draft) KeepsAs(last bool) int64 {
	if p.Last && p.ByInput && !last {
		return p.Planes
	}
	return p.Keeps
}

// Laid returns the layouts of the results of a plan that Views, if its first input has layout l: nil where they are copies.
func (p *Draft) Laid(l *layout.Layout) []layout.Layout {
	if !p.Views {
		return nil
	}
	if p.Lay == nil {
		return []layout.Layout{*l}
	}
	list, err := p.Lay(l)
	if err != nil {
		return nil
	}
	return list
}
