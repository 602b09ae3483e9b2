package plan

import (
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

// Laid returns the layouts of the results of a plan that Views, if its first input has layout l: nil where they are copies.
func Laid(p *Plan, l *layout.Layout) []layout.Layout {
	if !p.draft.Views {
		return nil
	}
	if p.draft.Lay == nil {
		return []layout.Layout{*l}
	}
	list, err := p.draft.Lay(l)
	if err != nil {
		return nil
	}
	return list
}

// ScratchOf is Plan.Scratch where inputs that are Specs stand for tensors that may not be contiguous.
func ScratchOf(p *Plan, strided []bool) int64 {
	p.draft.Call.strided = strided
	return p.Scratch()
}
