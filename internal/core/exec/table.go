package exec

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// Rows are the rows of an operator for each element type: plain Go, which defines it, and the rows of package simd,
// which give the same bits, NaNs canonical already. The zero Rows has none.
type Rows struct {
	form  form
	plain unsafe.Pointer // a table of package simd
	fast  unsafe.Pointer // a *levels, or nil. Programs compile the methods of generic types that they see here.
}

type levels = simd.Levels[unsafe.Pointer]

// One returns the rows of an operator of one operand. Like the others it is for a variable's initial value, which
// the compiler works out: nothing runs at start.
func One(fast *simd.Levels[*simd.Rows1], plain *simd.Rows1) Rows {
	return Rows{one, unsafe.Pointer(plain), unsafe.Pointer(fast)}
}

// Two is One for two operands.
func Two(fast *simd.Levels[*simd.Rows2], plain *simd.Rows2) Rows {
	return Rows{two, unsafe.Pointer(plain), unsafe.Pointer(fast)}
}

// With is One for an operand and two numbers.
func With(fast *simd.Levels[*simd.RowsP], plain *simd.RowsP) Rows {
	return Rows{numbers, unsafe.Pointer(plain), unsafe.Pointer(fast)}
}

// Test is One for a result of bool.
func Test(plain *simd.RowsTest) Rows { return Rows{form: test, plain: unsafe.Pointer(plain)} }

// Compare is Two for a result of bool.
func Compare(fast *simd.Levels[*simd.RowsCmp], plain *simd.RowsCmp) Rows {
	return Rows{compare, unsafe.Pointer(plain), unsafe.Pointer(fast)}
}

// Choose is One for an operand of bool and two of any type, whose elements move.
func Choose(fast *simd.Levels[*simd.RowsWhere], plain *simd.RowsWhere) Rows {
	return Rows{choose, unsafe.Pointer(plain), unsafe.Pointer(fast)}
}

// A form is the kind of function that rows are.
type form uint8

const (
	none form = iota
	one
	two
	three
	numbers
	test
	compare
	choose
)

// forms describes them: the form that a driver calls, the operands, and of a table the slot of its first field and how many
// element types it has.
var forms = [...]struct {
	row      form
	operands uint8
	first, n uint8
}{one: {one, 1, 1, 13}, two: {two, 2, 1, 13}, numbers: {numbers, 1, 2, 10}, test: {one, 1, 10, 2}, compare: {two, 2, 1, 13}, choose: {three, 3, 0, 5}}

// slots has the field of a table of package simd that each element type uses, counted from 1 on; 0 is none. All its first
// fields are functions, in this order.
var slots = [dtype.Count]uint8{dtype.Bool: 1, dtype.Int8: 2, dtype.Int16: 3, dtype.Int32: 4, dtype.Int64: 5,
	dtype.Uint8: 6, dtype.Uint16: 7, dtype.Uint32: 8, dtype.Uint64: 9, dtype.Float32: 10, dtype.Float64: 11,
	dtype.Complex64: 12, dtype.Complex128: 13}

// in returns the row of an element type in a table; none when that is nil.
func (r *Rows) in(table unsafe.Pointer, d dtype.DType) (row Row) {
	if f, at := &forms[r.form], r.slot(d); table != nil && at < f.n {
		row = rowAt(table, at, howOf(f.row, r.form, at, d))
	}
	return row
}

// slot returns the field of an element type in the tables; too large a one if there is none.
func (r *Rows) slot(d dtype.DType) uint8 {
	switch {
	case d == dtype.Invalid || int(d) >= dtype.Count:
		return 255
	case r.form == choose:
		return shifts[d]
	}
	return slots[d] - forms[r.form].first
}

func rowAt(table unsafe.Pointer, at uint8, how how) (row Row) {
	if f := *(*unsafe.Pointer)(unsafe.Add(table, uintptr(at)*unsafe.Sizeof(table))); f != nil {
		row = Row{f: f, how: how}
	}
	return row
}

// Plain returns the row that defines an operator for an element type.
func (r *Rows) Plain(d dtype.DType) Row { return r.in(r.plain, d) }

// Of returns the row of an element type, and whether it is one of the instruction set in use; else it is the plain one.
func (r *Rows) Of(d dtype.DType) (row Row, fast bool) {
	f, at := &forms[r.form], r.slot(d)
	if at >= f.n {
		return Row{}, false
	}
	how := howOf(f.row, r.form, at, d)
	if t := r.best(); t != nil {
		if row = rowAt(t, at, how); !row.None() {
			row.table = t
			return row, true
		}
	}
	if r.plain != nil {
		row = rowAt(r.plain, at, how)
	}
	return row, false
}

// best returns the table of the instruction set in use, nil if there is none.
func (r *Rows) best() unsafe.Pointer {
	if r.fast == nil {
		return nil
	}
	return (*levels)(r.fast).Best()
}

// Fast reports whether the instruction set in use has rows.
func (r *Rows) Fast() bool { return r.best() != nil }

// Has reports whether the level has a row.
func (r *Rows) Has(d dtype.DType, l cpu.Level) bool {
	return r.fast != nil && !r.in((*levels)(r.fast).At(l), d).None()
}

// Bits returns the row for the words of floats of 8 and 16 bits, of an operator that looks at signs alone.
func (r *Rows) Bits(d dtype.DType) Row {
	if n := d.Size(); (r.form == one || r.form == two) && n <= 2 {
		return rowAt(r.plain, uint8(15-n), how(r.form))
	}
	return Row{}
}

// OfSum returns the row of the instruction set in use for a float32 a·b + c, each rounded.
func (r *Rows) OfSum() (row Row) {
	if r.form == one && r.Fast() {
		t := (*simd.Rows1)(r.best())
		row = Row{f: *(*unsafe.Pointer)(unsafe.Pointer(&t.MulAddF32)), table: unsafe.Pointer(t), how: howOf(three, three, 0, dtype.Float32)}
	}
	return row
}

// Operands returns how many operands there are.
func (r *Rows) Operands() int { return int(forms[r.form].operands) }

// Numbers reports whether there are two numbers besides.
func (r *Rows) Numbers() bool { return r.form == numbers }

// Tests reports whether results are of bool.
func (r *Rows) Tests() bool { return r.form == test || r.form == compare }

// Chooses reports whether the first operand is of bool and the others are of any type.
func (r *Rows) Chooses() bool { return r.form == choose }

// A Row is a row of any form. The zero Row is none.
type Row struct {
	f     unsafe.Pointer // a func
	table unsafe.Pointer // of package simd, which has its second entry, too; nil for others
	how   how
}

// how describes a row in one word, which moves faster than its bytes. From the lowest on, they are the form of f, the form
// of the table's rows, the slot in the table, and the element type. A form of three for the table is the row of a sum.
type how uint32

func howOf(row, kind form, at uint8, d dtype.DType) how {
	return how(row) | how(kind)<<8 | how(at)<<16 | how(d)<<24
}

func (h how) form() form         { return form(h) }
func (h how) kind() form         { return form(h >> 8) }
func (h how) at() uint8          { return uint8(h >> 16) }
func (h how) dtype() dtype.DType { return dtype.DType(h >> 24) }

// stream returns the second entry, nil if there is none.
func (r Row) stream() simd.Stream {
	var s *simd.Streams
	at := r.how.at()
	switch {
	case r.table == nil:
	case r.how.kind() == one:
		s = (*simd.Rows1)(r.table).Stream
	case r.how.kind() == two:
		s = (*simd.Rows2)(r.table).Stream
	case r.how.kind() == three:
		return (*simd.Rows1)(r.table).StreamMulAddF32
	case r.how.kind() == compare:
		s = (*simd.RowsCmp)(r.table).Stream
	case r.how.kind() == choose:
		s = (*simd.RowsWhere)(r.table).Stream
		at += slots[dtype.Uint8] - 1
	}
	if s == nil {
		return nil
	}
	return (*[13]simd.Stream)(unsafe.Pointer(s))[at]
}

// RowOf returns a row as one of any form.
func RowOf[R Row1 | Row2 | Row3](row R) Row {
	form := one
	switch any(row).(type) {
	case Row2:
		form = two
	case Row3:
		form = three
	}
	return Row{f: *(*unsafe.Pointer)(unsafe.Pointer(&row)), how: how(form)}
}

// As returns a row as the function that it is, nil if it is none.
func As[F any](row Row) F { return *(*F)(unsafe.Pointer(&row.f)) }

// None reports whether there is no row.
func (r Row) None() bool { return r.f == nil }

// compute runs a row with the numbers p and q.
func (r Row) compute(dst, a Run, p, q *Word) {
	switch r.how.dtype() {
	case dtype.Int8:
		compute[int8](r, dst, a, p, q)
	case dtype.Int16:
		compute[int16](r, dst, a, p, q)
	case dtype.Int32:
		compute[int32](r, dst, a, p, q)
	case dtype.Int64:
		compute[int64](r, dst, a, p, q)
	case dtype.Uint8:
		compute[uint8](r, dst, a, p, q)
	case dtype.Uint16:
		compute[uint16](r, dst, a, p, q)
	case dtype.Uint32:
		compute[uint32](r, dst, a, p, q)
	case dtype.Uint64:
		compute[uint64](r, dst, a, p, q)
	case dtype.Float32:
		compute[float32](r, dst, a, p, q)
	case dtype.Float64:
		compute[float64](r, dst, a, p, q)
	}
}

// computeStream is compute by the second entry, if there is one.
func (r Row) computeStream(dst, a Run, p, q *Word, ahead *simd.Prefetch) bool {
	t := (*simd.RowsP)(r.table)
	switch {
	case t == nil:
	case r.how.dtype() == dtype.Float32 && t.StreamF32 != nil:
		t.StreamF32(Of[float32](dst), Of[float32](a), Number[float32](p), Number[float32](q), ahead)
		return true
	case r.how.dtype() == dtype.Float64 && t.StreamF64 != nil:
		t.StreamF64(Of[float64](dst), Of[float64](a), Number[float64](p), Number[float64](q), ahead)
		return true
	}
	return false
}

func compute[T any](r Row, dst, a Run, p, q *Word) {
	As[func(dst, a []T, p, q T)](r)(Of[T](dst), Of[T](a), Number[T](p), Number[T](q))
}
