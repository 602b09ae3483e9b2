package plan

import (
	"strconv"

	"math/bits"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// BroadcastShape appends the shape that operands stretch to together.
func BroadcastShape(name string, shape []int, ls ...*layout.Layout) []int {
	return BroadcastLeading(name, shape, 0, ls...)
}

// BroadcastLeading is BroadcastShape for all axes but the last few.
func BroadcastLeading(name string, shape []int, last int, ls ...*layout.Layout) []int {
	rank := 0
	for _, l := range ls {
		rank = max(rank, walk.Ref(l).Rank()-last)
	}
	for i := range rank {
		dim := 1
		for _, l := range ls {
			axis := i - (rank - (walk.Ref(l).Rank() - last))
			if axis < 0 {
				continue
			}
			switch e := walk.Ref(l).Dim(axis); {
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
	return Fail(name, tensor.ErrShape, "%s don't broadcast: axis %d is %d and %d", text, axis, a, b)
}

// Elements returns how many there are of a shape.
func Elements(shape []int) int {
	n := 1
	for _, e := range shape {
		n *= e
	}
	return n
}

// RoomFor returns scratch for a product of extents, which may be beyond any memory: then the
// error says so.
func RoomFor[T num.Elem](name string, shape ...int) []T {
	n := 1
	for i, e := range shape {
		n = Extent(name, i, n, e)
	}
	return make([]T, Fits(name, n, dtype.Of[T]().Size()))
}

// Fits returns n, if there is memory for n elements of a size.
func Fits(name string, n, size int) int {
	if n > MostScratch/size { // the Go heap would end the program: memory that can be refused is asked for first
		b, err := mem.AllocDirty(Extent(name, 0, n, size))
		if err != nil {
			panic(Fail(name, tensor.ErrMemory, "it needs room for %d numbers of %d bytes: %v", n, size, err))
		}
		b.Close()
	}
	return n
}

// MostScratch is the largest scratch in bytes that is taken unasked.
const MostScratch = 1 << 20

// AppendShape appends the extents of a layout.
func AppendShape(shape []int, l *layout.Layout) []int {
	for i := range walk.Ref(l).Rank() {
		shape = append(shape, walk.Ref(l).Dim(i))
	}
	return shape
}

// SameShape reports whether a layout has a shape.
func SameShape(l *layout.Layout, shape []int) bool {
	if walk.Ref(l).Rank() != len(shape) {
		return false
	}
	for i, e := range shape {
		if walk.Ref(l).Dim(i) != e {
			return false
		}
	}
	return true
}

// ShapeText writes (2,3).
func ShapeText(shape []int) string {
	l, err := layout.RowMajor(shape...)
	if err != nil {
		return err.Error()
	}
	return l.ShapeString()
}

// Extent multiplies two extents.
func Extent(name string, axis, a, b int) int {
	hi, lo := bits.Mul(uint(a), uint(b))
	if hi != 0 || int(lo) < 0 {
		panic(Fail(name, tensor.ErrOverflow, "%d times %d elements on axis %d don't fit an int", a, b, axis))
	}
	return int(lo)
}

// ListText writes (2,-1), and of a long list where it begins and how long it is.
func ListText(v []int) string {
	const most = 16
	text := "("
	for i, x := range v[:min(len(v), most)] {
		if i > 0 {
			text += ","
		}
		text += strconv.Itoa(x)
	}
	if len(v) > most {
		text += ",… of " + strconv.Itoa(len(v))
	}
	return text + ")"
}

// Spatial returns the extents after the first two axes, and panics when there
// are none.
func Spatial(name string, l *layout.Layout) []int {
	if walk.Ref(l).Rank() < 3 {
		panic(Fail(name, tensor.ErrShape, "the input has shape %s; want [N, C] and at least one spatial axis", l.ShapeString()))
	}
	return l.Shape()[2:]
}
