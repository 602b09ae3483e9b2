package tensor

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/walk"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// New returns a tensor of zeros (false for bool). It panics when an extent is
// negative or the memory isn't to be had.
func New[T num.Elem](shape ...int) Tensor[T] {
	return Tensor[T]{a: create("tensor.New", dtype.Of[T](), shape, false)}
}

// Empty returns a tensor whose elements are unspecified: for results that are
// about to be written in full.
func Empty[T num.Elem](shape ...int) Tensor[T] {
	return Tensor[T]{a: create("tensor.Empty", dtype.Of[T](), shape, true)}
}

// NewIn is New with the memory of a scratch: closing that closes the tensor.
func NewIn[T num.Elem](s *mem.Scratch, shape ...int) Tensor[T] {
	return Tensor[T]{a: createIn("tensor.NewIn", dtype.Of[T](), s, shape)}
}

func createIn(op string, d dtype.DType, s *mem.Scratch, shape []int) Any {
	if s == nil {
		panic(&Error{op, "there is no scratch: it is nil; new(mem.Scratch) is one", ErrClosed})
	}
	lay := rowMajor(op, shape)
	var buf *mem.Buffer
	err := mem.ErrSize
	if n, size := lay.Size(), d.Size(); n <= maxInt/size {
		buf, err = s.Alloc(n * size)
	}
	if err != nil {
		panic(noMemory(op, &lay, d, err))
	}
	return Any{st: fromBuffer(d, buf, buf.Bytes()), where: where{lay: lay}}
}

func create(op string, d dtype.DType, shape []int, dirty bool) Any {
	a := Any{where: where{lay: rowMajor(op, shape)}}
	var err error
	if a.st, err = allocate(d, walk.Ref(&a.lay).Size(), dirty); err != nil {
		panic(noMemory(op, &a.lay, d, err))
	}
	return a
}

// made is create of a Tensor[T], and its elements.
func made[T num.Elem](op string, shape []int) (Tensor[T], []T) {
	t := Tensor[T]{a: create(op, dtype.Of[T](), shape, true)}
	return t, elems[T](t.a.st)
}

func rowMajor(op string, shape []int) layout.Layout {
	lay, err := layout.RowMajor(shape...)
	if err != nil {
		panic(Wrap(op, err))
	}
	return lay
}

func noMemory(op string, lay *layout.Layout, d dtype.DType, err error) *Error {
	return &Error{op, sprintf("%s of %v: %v", lay.ShapeString(), d, err), ErrMemory}
}

// FromSlice returns a row-major tensor over data itself: both see each other's
// writes. Without a shape it has rank 1; an empty shape, []int{}..., is rank 0.
// It panics when len(data) isn't the product of the extents.
func FromSlice[T num.Elem](data []T, shape ...int) Tensor[T] {
	if shape == nil {
		shape = []int{len(data)}
	}
	lay := filled("tensor.FromSlice", shape, len(data))
	return Tensor[T]{a: Any{st: borrow(data), where: where{lay: lay}}}
}

// filled returns the row-major layout of a shape that n elements fill.
func filled(op string, shape []int, n int) layout.Layout {
	lay := rowMajor(op, shape)
	if lay.Size() != n {
		panic(&Error{op, sprintf("%d elements don't fill shape %s of %d", n, lay.ShapeString(), lay.Size()), ErrShape})
	}
	return lay
}

// FromLayout returns a tensor over data itself with any layout, whose smallest
// offset counts from data[0]: with negative strides element 0 is further on. It
// panics when the layout reaches beyond data.
func FromLayout[T num.Elem](data []T, lay layout.Layout) Tensor[T] {
	return fromLayout("tensor.FromLayout", data, lay)
}

func fromLayout[T num.Elem](op string, data []T, lay layout.Layout) Tensor[T] {
	w := fit(op, &lay, len(data))
	return Tensor[T]{a: Any{st: borrow(data), where: w}}
}

// borrow makes a storage of a slice of the caller's.
func borrow[T num.Elem](data []T) *storage {
	st := newStorage(data)
	st.borrowed = true
	return st
}

// fit returns where a layout is in a storage that begins with its smallest offset and
// has n elements.
func fit(op string, lay *layout.Layout, n int) where {
	lo, hi := lay.Span()
	if hi-lo >= n {
		panic(&Error{op, sprintf("%v reaches over %d elements, the data has %d", *lay, hi-lo+1, n), ErrShape})
	}
	return where{-lo, *lay}
}

// EmptyLayout returns a tensor of that layout with unspecified elements, whose smallest
// offset is at an address that is a multiple of align bytes. It has room for the
// whole span of the layout, holes included. It panics when align isn't a power of
// two up to 1 GiB, or the memory isn't to be had.
func EmptyLayout[T num.Elem](lay layout.Layout, align int) Tensor[T] {
	return Tensor[T]{a: emptyLayout("tensor.EmptyLayout", dtype.Of[T](), lay, align)}
}

func emptyLayout(op string, d dtype.DType, lay layout.Layout, align int) Any {
	size := d.Size()
	w, room, spare := aligned(op, &lay, align, size)
	st, err := allocate(d, room+spare, true)
	if err != nil {
		panic(&Error{op, sprintf("%v of %v: %v", lay, d, err), ErrMemory})
	}
	if spare > 0 {
		b := st.bytes()
		past := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
		st.set(b[(align-past)&(align-1):][:room*size])
	}
	return Any{st: st, where: w}
}

// aligned returns where a layout is in memory that begins with its smallest offset, how
// many elements it reaches over, and how many more are needed for the alignment.
func aligned(op string, lay *layout.Layout, align, size int) (w where, room, spare int) {
	if align <= 0 || align > mostAlign || align&(align-1) != 0 {
		panic(&Error{op, sprintf("alignment %d; want a power of two up to %d", align, mostAlign), ErrAlign})
	}
	lo, hi := lay.Span()
	room = hi - lo + 1
	if align > leastAlign {
		spare = align / size // memory begins at a multiple of 64
	}
	if room > maxInt-spare {
		panic(&Error{op, sprintf("%v reaches over %d elements, which with the alignment don't fit an int", *lay, room), ErrOverflow})
	}
	return where{-lo, *lay}, room, spare
}

// leastAlign is where every storage of package mem begins.
const leastAlign = 64

// mostAlign is the size of the largest page of processors.
const mostAlign = 1 << 30

// Full returns a tensor with every element v.
func Full[T num.Elem](v T, shape ...int) Tensor[T] {
	t := Tensor[T]{a: create("tensor.Full", dtype.Of[T](), shape, true)}
	return t.Fill(v)
}

// Scalar returns a tensor of rank 0 that holds v.
func Scalar[T num.Elem](v T) Tensor[T] {
	t, data := made[T]("tensor.Scalar", nil)
	data[0] = v
	return t
}

// Scalar returns a tensor of rank 0 that holds v, of t's element type: op.Mul(t, t.Scalar(2))
// doubles t. It doesn't read t, which may be the zero Tensor.
func (t Tensor[T]) Scalar(v T) Tensor[T] { return Scalar(v) }

// Eye returns the n×n matrix with ones on the diagonal and zeros elsewhere.
func Eye[T num.Number](n int) Tensor[T] {
	t := Tensor[T]{a: create("tensor.Eye", dtype.Of[T](), []int{n, n}, false)}
	data := elems[T](t.a.st)
	one, zero, _ := exactly(1)
	for i := range n {
		setNumber(&data[i*n+i], &one, &zero)
	}
	return t
}

// Arange returns start, start+step, … before stop as a tensor of rank 1: as many
// as (stop-start)/step rounded up, none when the step leads away. Element i is
// start + i·step, so errors of rounding don't add up; with floats rounding may
// make the last one reach stop, and Linspace doesn't have that. Fixed point is
// exact. It panics when step is 0, or start, stop or step is not finite.
func Arange[T num.Native | num.Fixed](start, stop, step T) Tensor[T] {
	const op = "tensor.Arange"
	count, fill := ranger(start, stop, step)
	n, ok := count()
	if !ok {
		panic(noRange(start, stop, step))
	}
	t, all := made[T](op, []int{n})
	fill(all)
	return t
}

// ranger returns the length of a range, and a function that sets a slice of that many elements to it.
func ranger(start, stop, step any) (count func() (int, bool), fill func(data any)) {
	switch start := start.(type) {
	case int8:
		return rangerOf(start, stop, step)
	case int16:
		return rangerOf(start, stop, step)
	case int32:
		return rangerOf(start, stop, step)
	case int64:
		return rangerOf(start, stop, step)
	case uint8:
		return rangerOf(start, stop, step)
	case uint16:
		return rangerOf(start, stop, step)
	case uint32:
		return rangerOf(start, stop, step)
	case uint64:
		return rangerOf(start, stop, step)
	case float32:
		return rangerOf(start, stop, step)
	case float64:
		return rangerOf(start, stop, step)
	}
	at, to, by := word(start), word(stop), word(step)
	return func() (int, bool) { return countTo(at, to, by) }, func(data any) {
		setWords(data, func(int) fixed.Int128 {
			v := at
			at = sum(at, by)
			return v
		})
	}
}

func rangerOf[T num.Native](start T, stop, step any) (count func() (int, bool), fill func(data any)) {
	by := step.(T)
	return func() (int, bool) { return conv.RangeCount(start, stop.(T), by) }, func(data any) { conv.Range(data.([]T), start, by) }
}

func noRange(start, stop, step any) *Error {
	return &Error{"tensor.Arange", sprintf("no range from %v to %v by %v; the step must not be 0, all three must be finite, and the count must fit an int", start, stop, step), ErrValue}
}

// Linspace returns n numbers from start to stop, both included, at equal
// distances, as a tensor of rank 1: element i is start + i·(stop-start)/(n-1),
// computed in float64 and rounded to T, of fixed point exactly and rounded once, and
// the last one is stop itself. A single number is start. It panics when n is negative,
// or start, stop or their difference is not finite.
func Linspace[T num.Float | num.Fixed](start, stop T, n int) Tensor[T] {
	const op = "tensor.Linspace"
	a, d := floatOf(start), floatOf(stop)-floatOf(start)
	if d-d != 0 {
		panic(&Error{op, sprintf("from %v to %v is no finite distance", start, stop), ErrValue})
	}
	if n < 0 {
		panic(&Error{op, sprintf("%d numbers; the count is at least 0", n), ErrShape})
	}
	t, all := made[T](op, []int{n})
	step := d / float64(max(n-1, 1))
	switch data := any(all).(type) {
	case []float32:
		for i := range data {
			data[i] = float32(a + float64(float64(i)*step))
		}
	case []float64:
		for i := range data {
			data[i] = a + float64(float64(i)*step)
		}
	default:
		setWords(data, line(word(start), word(stop), max(n-1, 1)))
	}
	if n > 1 {
		all[n-1] = stop
	}
	return t
}
