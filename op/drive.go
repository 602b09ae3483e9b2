package op

import (
	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// broadcastShape appends the shape that operands stretch to together.
func broadcastShape(name string, shape []int, ls ...*layout.Layout) []int {
	return broadcastLeading(name, shape, 0, ls...)
}

// broadcastLeading is broadcastShape for all axes but the last few.
func broadcastLeading(name string, shape []int, last int, ls ...*layout.Layout) []int {
	rank := 0
	for _, l := range ls {
		rank = max(rank, l.Rank()-last)
	}
	for i := range rank {
		dim := 1
		for _, l := range ls {
			axis := i - (rank - (l.Rank() - last))
			if axis < 0 {
				continue
			}
			switch e := l.Dim(axis); {
			case e == dim || e == 1:
			case dim == 1:
				dim = e
			default:
				panic(noBroadcast(name, i, dim, e, ls))
			}
		}
		shape = append(shape, dim)
	}
	return shape
}

func noBroadcast(name string, axis, a, b int, ls []*layout.Layout) *tensor.Error {
	text := "shapes "
	for i, l := range ls {
		if i > 0 && i == len(ls)-1 {
			text += " and "
		} else if i > 0 {
			text += ", "
		}
		text += l.ShapeString()
	}
	return fail(name, tensor.ErrShape, "%s don't broadcast: axis %d is %d and %d", text, axis, a, b)
}

// elements returns how many there are of a shape.
func elements(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

// roomFor returns scratch for a product of extents, which may be beyond any memory: then the
// error says so.
func roomFor[T num.Elem](name string, shape ...int) []T {
	n := 1
	for i, e := range shape {
		n = extent(name, i, n, e)
	}
	return make([]T, fits(name, n, dtype.Of[T]().Size()))
}

// fits returns n, if there is memory for n elements of a size.
func fits(name string, n, size int) int {
	if n > mostScratch/size { // the Go heap would end the program: memory that can be refused is asked for first
		b, err := mem.AllocDirty(extent(name, 0, n, size))
		if err != nil {
			panic(fail(name, tensor.ErrMemory, "it needs room for %d numbers of %d bytes: %v", n, size, err))
		}
		b.Close()
	}
	return n
}

// mostScratch is the largest scratch in bytes that is taken unasked.
const mostScratch = 1 << 20

func appendShape(shape []int, l *layout.Layout) []int {
	for i := range l.Rank() {
		shape = append(shape, l.Dim(i))
	}
	return shape
}

func sameShape(l *layout.Layout, shape []int) bool {
	if l.Rank() != len(shape) {
		return false
	}
	for i, e := range shape {
		if l.Dim(i) != e {
			return false
		}
	}
	return true
}

// shapeText writes (2,3).
func shapeText(shape []int) string {
	l, err := layout.RowMajor(shape...)
	if err != nil {
		return err.Error()
	}
	return l.ShapeString()
}
