package tensor

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
)

// WriteTo writes the elements as Mojo's LayoutTensor prints them. If the layout is flat
// and of rank 2, or coalesces to that, each element is followed by a space, and rows are
// separated by newlines; else the elements follow in colexicographic order, the first
// axis fastest, separated by spaces. Nothing is left out, and of no elements nothing is written. Numbers are
// written as Sprint writes one alone: floats with the fewest digits that tell them
// from their neighbours, and always a point or an exponent. It fails as w fails.
func (a Any) WriteTo(w io.Writer) (int64, error) {
	const op = "tensor.WriteTo"
	a.pointer(op)
	all := a.st.boxed()
	defer runtime.KeepAlive(a.st)
	return writeGrid(op, w, &a.lay, func(b *strings.Builder, off int, _ []int) { b.WriteString(alone(a.DType(), all.at(a.origin()+off))) })
}

// WriteNested writes the elements in brackets, one pair per axis, in row-major order, on
// one line, as Mojo's newer TileTensor:
//
//	[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
//
// Rank 0 has no brackets, and an axis without elements is []. Numbers are as WriteTo writes
// them. It fails as w fails, and panics when extents before one that is 0 ask for more than
// 2^20 brackets.
func (a Any) WriteNested(w io.Writer) (int64, error) {
	const op = "tensor.WriteNested"
	a.pointer(op)
	lay, all := &a.lay, a.st.boxed()
	checkLists(op, lay)
	defer runtime.KeepAlive(a.st)
	var b strings.Builder
	at := make([]int, walk.Ref(lay).Rank())
	var nest func(axis int)
	nest = func(axis int) {
		if axis == len(at) {
			b.WriteString(alone(a.DType(), all.at(offsetAt(op, &a.where, at))))
			return
		}
		b.WriteByte('[')
		for i := range walk.Ref(lay).Dim(axis) {
			if i > 0 {
				b.WriteString(", ")
			}
			at[axis] = i
			nest(axis + 1)
		}
		b.WriteByte(']')
	}
	nest(0)
	if w == nil {
		return 0, noWriter(op)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// WriteTo writes the vectors as Any.WriteTo writes elements, each as its lanes in
// brackets: [0.0, 1.0]. Missing lanes are 0.
func (v Vectors[T]) WriteTo(w io.Writer) (int64, error) {
	const op = "tensor.Vectors.WriteTo"
	v.grid.a.pointer(op)
	return writeGrid(op, w, &v.grid.a.lay, func(b *strings.Builder, _ int, idx []int) {
		lanes := v.At(idx...)
		writeLanes(b, dtype.Of[T](), len(lanes), func(i int) any { return lanes[i] })
	})
}

func writeLanes(b *strings.Builder, d dtype.DType, n int, lane func(i int) any) {
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(alone(d, lane(i)))
	}
	b.WriteByte(']')
}

// String returns the text that WriteTo writes.
func (v Vectors[T]) String() string {
	if text, none := newPrinter(&v.grid.a, dtype.Of[T]()).nothing(); none {
		return text
	}
	var b strings.Builder
	v.WriteTo(&b)
	return b.String()
}

// writeGrid writes the text that put makes of the element at an index.
func writeGrid(op string, w io.Writer, lay *layout.Layout, put func(b *strings.Builder, off int, idx []int)) (int64, error) {
	var b strings.Builder
	element := func(i int) {
		idx, _ := lay.Coord(i)
		off, _ := lay.At(idx)
		put(&b, off, idx)
	}
	rows := *lay
	if !walk.Ref(lay).Flat() || walk.Ref(lay).Rank() != 2 {
		rows = lay.Coalesce()
	}
	switch {
	case walk.Ref(lay).Size() == 0:
	case rows.Rank() == 2:
		for i := range rows.Dim(0) {
			if i > 0 {
				b.WriteByte('\n')
			}
			for j := range rows.Dim(1) {
				element(i + j*rows.Dim(0))
				b.WriteByte(' ')
			}
		}
	default:
		for i := range walk.Ref(lay).Size() {
			if i > 0 {
				b.WriteByte(' ')
			}
			element(i)
		}
	}
	if w == nil {
		return 0, noWriter(op)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// alone writes one element.
func alone(d dtype.DType, v any) string {
	if b, ok := v.(bool); ok {
		if b {
			return "True"
		}
		return "False"
	}
	if text, ok := scalarText(d, v); ok {
		return text
	}
	return fmt.Sprint(v)
}
