package reduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// The largest and the smallest element of a sequence, and its place, in the order of order.go.

// A choice is the element of a sequence that a folder looks for, or its place.
type choice struct {
	smallest bool
	place    bool // its place instead of the element
	sighted  bool // NaN is passed over
}

// folder makes the folder of a choice. With a parameter it takes the last of equal elements.
func (c choice) folder(r *exec.Reducer) exec.Folder {
	switch r.DType {
	case dtype.Int8:
		return wholeFolder[int8](c, r)
	case dtype.Int16:
		return wholeFolder[int16](c, r)
	case dtype.Int32, dtype.FP8x23, dtype.FP16x16:
		return wholeFolder[int32](c, r)
	case dtype.Int64, dtype.FP32x32:
		return wholeFolder[int64](c, r)
	case dtype.Uint8, dtype.Bool:
		return wholeFolder[uint8](c, r)
	case dtype.Uint16:
		return wholeFolder[uint16](c, r)
	case dtype.Uint32:
		return wholeFolder[uint32](c, r)
	case dtype.Uint64:
		return wholeFolder[uint64](c, r)
	case dtype.FP64x64:
		if c.smallest {
			return chosen(c, r, move.LessFixed[fixed.FP64x64])
		}
		return chosen(c, r, move.GreaterFixed[fixed.FP64x64])
	case dtype.Float64:
		return realFolder[float64](c, r)
	case dtype.Float32:
		return realFolder[float32](c, r)
	}
	f := &inSingles{wide: make([]float32, 1), widen: cast.WidenOf(r.DType), narrow: cast.NarrowOf(r.DType)}
	w := *r
	w.DType = dtype.Float32
	f.Folder = realFolder[float32](c, &w)
	if c.place {
		f.narrow = nil
		return f
	}
	f.widen(exec.RunOf(f.wide[:1]), c.none(r.DType).Run()) // the result may be finite
	switch p := f.Folder.(type) {
	case *extreme[float32]:
		p.none = f.wide[0]
	case *sighted[float32]:
		p.none = f.wide[0]
	}
	return f
}

// The folders of operators, without a closure so that their tables are static.

func MaxFolder(r *exec.Reducer) exec.Folder    { return choice{}.folder(r) }
func MinFolder(r *exec.Reducer) exec.Folder    { return choice{smallest: true}.folder(r) }
func ArgMaxFolder(r *exec.Reducer) exec.Folder { return choice{place: true}.folder(r) }
func ArgMinFolder(r *exec.Reducer) exec.Folder { return choice{place: true, smallest: true}.folder(r) }
func NanMaxFolder(r *exec.Reducer) exec.Folder { return choice{sighted: true}.folder(r) }
func NanMinFolder(r *exec.Reducer) exec.Folder {
	return choice{sighted: true, smallest: true}.folder(r)
}
func NanArgMaxFolder(r *exec.Reducer) exec.Folder {
	return choice{sighted: true, place: true}.folder(r)
}
func NanArgMinFolder(r *exec.Reducer) exec.Folder {
	return choice{sighted: true, place: true, smallest: true}.folder(r)
}

// none is the result for no elements.
func (c choice) none(d dtype.DType) *exec.Word {
	lo, hi := move.EndsOf(d)
	if c.smallest {
		lo = hi
	}
	return &lo
}

func wholeFolder[T num.Integer](c choice, r *exec.Reducer) exec.Folder {
	if c.smallest {
		return chosen(c, r, move.Less[T])
	}
	return chosen(c, r, move.Greater[T])
}

func realFolder[T num.Float](c choice, r *exec.Reducer) exec.Folder {
	better := move.GreaterFloat[T]
	if c.smallest {
		better = move.LessFloat[T]
	}
	switch {
	case c.place && c.sighted:
		return chosen(c, r, func(v, best T) bool { return v == v && (best != best || better(v, best)) })
	case c.sighted:
		return &sighted[T]{extreme: *chosen(c, r, better).(*extreme[T])}
	}
	return chosen(c, r, better)
}

func chosen[T comparable](c choice, r *exec.Reducer, better func(v, best T) bool) exec.Folder {
	if c.place {
		f := &position[T]{better: better, last: r.P != 0}
		if !f.last && !c.sighted {
			f.whole = wholeOf[T](c.smallest)
		}
		return f
	}
	return &extreme[T]{better: better, none: exec.Number[T](c.none(r.DType)), whole: wholeOf[T](c.smallest)}
}

// extreme is the folder of the largest or the smallest element.
type extreme[T comparable] struct {
	better     func(v, best T) bool
	whole      func(x []T) (best T, ok bool) // of many elements, with an instruction set; may be nil
	none, best T
	any        bool
}

func (f *extreme[T]) Start() { f.best, f.any = f.none, false }

func (f *extreme[T]) Take(r exec.Run) { f.Add(exec.Of[T](r)) }

func (f *extreme[T]) Add(x []T) {
	if !f.any && len(x) > 0 {
		f.best, f.any, x = x[0], true, x[1:]
	}
	if f.whole != nil {
		if v, ok := f.whole(x); ok {
			if f.better(v, f.best) {
				f.best = v
			}
			return
		}
	}
	for _, v := range x {
		if f.better(v, f.best) {
			f.best = v
		}
	}
}

func (f *extreme[T]) Result(out exec.Run) error {
	if to := exec.Of[T](out); f.best != f.best {
		to[0] = cast.NanOf[T]()
	} else {
		to[0] = f.best
	}
	return nil
}

// position is the folder of the place of an extreme.
type position[T comparable] struct {
	better func(v, best T) bool
	whole  func(x []T) (best T, ok bool) // as in extreme
	last   bool                          // of equal elements
	best   T
	at     int64
	n      int64
}

func (f *position[T]) Start() { f.n, f.at = 0, 0 }

func (f *position[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	for f.whole != nil && len(x) > 0 { // in parts, as the place of the best must be found in one
		part := x[:min(len(x), 1024)]
		v, ok := f.whole(part)
		if !ok {
			break
		}
		if f.n == 0 || f.better(v, f.best) {
			f.best, f.at = v, f.n+int64(indexOf(part, v))
		}
		f.n += int64(len(part))
		x = x[len(part):]
	}
	for _, v := range x {
		if f.n == 0 || f.better(v, f.best) || f.last && !f.better(f.best, v) && v == v {
			f.best, f.at = v, f.n
		}
		f.n++
	}
}

func (f *position[T]) Result(out exec.Run) error {
	exec.Of[int64](out)[0] = f.at
	return nil
}

// sighted is the folder of NanMax and NanMin. It passes on the numbers, or the first NaN if there was no number.
type sighted[T num.Float] struct {
	extreme[T]
	nans, numbers bool
	copy          []T
}

func (f *sighted[T]) Start() {
	f.extreme.Start()
	f.nans, f.numbers = false, false
}

func (f *sighted[T]) Take(r exec.Run) {
	x := exec.Of[T](r)
	if f.whole != nil {
		if v, ok := f.whole(x); ok && v == v { // there is no NaN
			f.numbers = true
			one := [1]T{v}
			f.Add(one[:])
			return
		}
	}
	f.copy = append(f.copy[:0], x...)
	nans := 0
	for i, v := range f.copy {
		if v != v {
			f.copy[i] = f.none
			nans++
		}
	}
	f.nans = f.nans || nans > 0
	f.numbers = f.numbers || nans < len(x)
	f.Add(f.copy)
}

func (f *sighted[T]) Result(out exec.Run) error {
	if !f.numbers && f.nans {
		f.best = cast.NanOf[T]()
	}
	return f.extreme.Result(out)
}

// inSingles passes narrow floats on as float32, and makes its result narrow if it is a float.
type inSingles struct {
	exec.Folder
	widen, narrow exec.Row1
	wide          []float32
}

func (f *inSingles) Take(x exec.Run) {
	if len(f.wide) < len(x) {
		f.wide = make([]float32, len(x))
	}
	wide := exec.RunOf(f.wide[:len(x)])
	f.widen(wide, x)
	f.Folder.Take(wide)
}

func (f *inSingles) Result(out exec.Run) error {
	if f.narrow == nil {
		return f.Folder.Result(out)
	}
	wide := exec.RunOf(f.wide[:1])
	err := f.Folder.Result(wide)
	f.narrow(out, wide)
	return err
}

// wholeOf returns the function that finds the largest or the smallest of many elements with an instruction set. It has
// one for float32 and float64, and nil for other types.
func wholeOf[T any](smallest bool) func(x []T) (best T, ok bool) {
	var f any
	switch any((*T)(nil)).(type) {
	case *float32:
		if f = maxOf[float32]; smallest {
			f = minOf[float32]
		}
	case *float64:
		if f = maxOf[float64]; smallest {
			f = minOf[float64]
		}
	}
	g, _ := f.(func(x []T) (best T, ok bool))
	return g
}

// maxOf returns the largest of x. It reports false where there is no kernel.
func maxOf[T num.Float](x []T) (T, bool) {
	var v [1]T
	ok := len(x) > 0 && BestLines(v[:], x, 0, len(x), false)
	return v[0], ok
}

// minOf is maxOf for the smallest.
func minOf[T num.Float](x []T) (T, bool) {
	var v [1]T
	ok := len(x) > 0 && BestLines(v[:], x, 0, len(x), true)
	return v[0], ok
}

// indexOf returns the first place of v, which x has: the same zero, or any NaN for a NaN. x is of float32 or float64.
func indexOf[T any](x []T, v T) int {
	switch x := any(x).(type) {
	case []float32:
		v := any(v).(float32)
		if v != v {
			return slices.IndexFunc(x, func(e float32) bool { return e != e })
		}
		return slices.Index(conv.As[uint32](x), math.Float32bits(v))
	case []float64:
		v := any(v).(float64)
		if v != v {
			return slices.IndexFunc(x, func(e float64) bool { return e != e })
		}
		return slices.Index(conv.As[uint64](x), math.Float64bits(v))
	}
	panic(fmt.Sprintf("reduce: the best of a %T is no float", x))
}

// BestLines stores the largest or the smallest of each line, with an instruction set. The order in which elements are
// looked at matters only for a NaN's payload. So a long line goes in parts, and a kernel takes several of them at a
// time where that is faster.
func BestLines[T num.Float](dst, x []T, step, n int, smallest bool) bool {
	const parts = 4
	if len(dst) == 1 && n >= parts*1024 {
		var few [2 * parts]T
		if !BestLines(few[:parts], x, n/parts, n/parts, smallest) {
			return false
		}
		rest := copy(few[parts:], x[n/parts*parts:n])
		x, step, n = few[:parts+rest], 0, parts+rest
	}
	switch dst := any(dst).(type) {
	case []float32:
		x := conv.As[float32](x)
		if smallest {
			return simd.TryMinLines32(dst, x, step, n)
		}
		return simd.TryMaxLines32(dst, x, step, n)
	case []float64:
		x := conv.As[float64](x)
		if smallest {
			return simd.TryMinLines64(dst, x, step, n)
		}
		return simd.TryMaxLines64(dst, x, step, n)
	}
	return false
}

// ExtremeLines stores the largest or the smallest of each line, NaNs canonical. It is for float32 and float64 with an
// instruction set.
func ExtremeLines(d dtype.DType, out, x exec.Run, step, n int, smallest bool) bool {
	switch {
	case d == dtype.Float32 && BestLines(exec.Of[float32](out), exec.Of[float32](x), step, n, smallest):
	case d == dtype.Float64 && BestLines(exec.Of[float64](out), exec.Of[float64](x), step, n, smallest):
	default:
		return false
	}
	cast.CanonOf(d)(out)
	return true
}

// firstLines stores the first place of the best element of each line.
func firstLines[T num.Float](dst []int64, best, x []T, step, n int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TryFirstLines32(dst, conv.As[float32](best), conv.As[float32](x), step, n)
	default:
		return simd.TryFirstLines64(dst, conv.As[float64](best), conv.As[float64](x), step, n)
	}
}

// PlaceLines stores the first place of the best element of each line.
func PlaceLines(d dtype.DType, out, x exec.Run, step, n int, smallest bool) bool {
	switch d {
	case dtype.Float32:
		return positionLines(exec.Of[int64](out), exec.Of[float32](x), step, n, smallest)
	case dtype.Float64:
		return positionLines(exec.Of[int64](out), exec.Of[float64](x), step, n, smallest)
	}
	return false
}

// positionLines is PlaceLines. Long lines go in parts, so that at most one part is read a second time.
func positionLines[T num.Float](out []int64, x []T, step, n int, smallest bool) bool {
	if !BestLines[T](nil, nil, 0, 0, smallest) {
		return false
	}
	const part = 1024
	var found [LinesAtOnce]T
	if n < 4*part {
		some := min(LinesAtOnce, 4*part/max(n, 1)) // so few that they are still in the cache
		for i := 0; i < len(out); i += some {
			m := min(len(out)-i, some)
			BestLines(found[:m], x[i*step:], step, n, smallest)
			firstLines(out[i:i+m], found[:m], x[i*step:], step, n)
		}
		return true
	}
	better := move.GreaterFloat[T]
	if smallest {
		better = move.LessFloat[T]
	}
	for i := range out {
		line := x[i*step : i*step+n]
		top, at, length := line[0], 0, 1
		for from := 0; from < n; {
			m, size := min((n-from)/part, LinesAtOnce), part
			if m == 0 {
				m, size = 1, n-from
			}
			BestLines(found[:m], line[from:], size, size, smallest)
			for _, v := range found[:m] {
				if better(v, top) {
					top, at, length = v, from, size
				}
				from += size
			}
		}
		found[0] = top
		firstLines(out[i:i+1], found[:1], line[at:], 0, length)
		out[i] += int64(at)
	}
	return true
}

// ExtremeRows stores the largest or smallest elements: of columns of floats by kernels, of others by the rows of Max
// or Min.
func ExtremeRows(o *pointwise.Operator, d dtype.DType, out, x exec.Run, from int, down exec.Sequence, smallest bool) bool {
	two := exec.As[exec.Row2](o.Row(d))
	if two == nil {
		return false
	}
	switch {
	case len(out) == 0:
		return true
	case d == dtype.Float32 && bestColumns[float32](nil, nil, nil, smallest):
		bestDown(two, exec.Of[float32](out), exec.Of[float32](x), from, &down, smallest)
	case d == dtype.Float64 && bestColumns[float64](nil, nil, nil, smallest):
		bestDown(two, exec.Of[float64](out), exec.Of[float64](x), from, &down, smallest)
	default:
		for i := range down.N {
			if row := exec.Part(x, d, from+down.Offset(i), len(out)); i == 0 {
				exec.Move(out, row, d)
			} else {
				two(out, out, row)
			}
		}
	}
	if canon := cast.CanonOf(d); canon != nil {
		canon(out)
	}
	return true
}

// bestDown goes down as many rows at a time as there is room for their list, and joins the results by two.
func bestDown[T num.Float](two exec.Row2, out, x []T, from int, down *exec.Sequence, smallest bool) {
	sc := exec.Scratch.Get().(*exec.Scratchpad)
	defer exec.Scratch.Put(sc)
	rest := sc.Bytes[:]
	rows, part := conv.Carve[int64](&rest, sumBlock), conv.Carve[T](&rest, len(out))
	for i := 0; i < down.N; i += len(rows) {
		rows = rows[:min(len(rows), down.N-i)]
		for k := range rows {
			rows[k] = int64(from + down.Offset(i+k))
		}
		if i == 0 {
			bestColumns(out, x, rows, smallest)
		} else {
			bestColumns(part, x, rows, smallest)
			two(exec.RunOf(out), exec.RunOf(out), exec.RunOf(part))
		}
	}
}

// bestColumns stores the largest or the smallest of each column of some rows, with an instruction set.
func bestColumns[T num.Float](dst, x []T, rows []int64, smallest bool) bool {
	end := [1]int64{int64(len(rows))}
	switch dst := any(dst).(type) {
	case []float32:
		x := conv.As[float32](x)
		if smallest {
			return simd.TryMinColumns32(dst, x, rows, end[:], len(dst))
		}
		return simd.TryMaxColumns32(dst, x, rows, end[:], len(dst))
	case []float64:
		x := conv.As[float64](x)
		if smallest {
			return simd.TryMinColumns64(dst, x, rows, end[:], len(dst))
		}
		return simd.TryMaxColumns64(dst, x, rows, end[:], len(dst))
	}
	return false
}

// PlaceRows stores the rows of the best elements of each column.
func PlaceRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence, smallest bool) bool {
	switch d {
	case dtype.Float32:
		try := simd.TryArgMaxRow32
		if smallest {
			try = simd.TryArgMinRow32
		}
		return down.N <= math.MaxInt32 && positionRows(exec.Of[int64](out), exec.Of[float32](x), from, &down, math.MinInt32, try)
	case dtype.Float64:
		try := simd.TryArgMaxRow64
		if smallest {
			try = simd.TryArgMinRow64
		}
		return positionRows(exec.Of[int64](out), exec.Of[float64](x), from, &down, math.MinInt64, try)
	}
	return false
}

// positionRows runs try over rows. At first the key is below all others.
func positionRows[I int32 | int64, T num.Float](out []int64, x []T, from int, down *exec.Sequence, least I, try func(key, at []I, a []T, i I) bool) bool {
	if !try(nil, nil, nil, 0) {
		return false
	}
	sc := exec.Scratch.Get().(*exec.Scratchpad)
	defer exec.Scratch.Put(sc)
	rest := sc.Bytes[:]
	key, place := conv.Carve[I](&rest, len(out)), conv.Carve[I](&rest, len(out))
	for i := range key {
		key[i], place[i] = least, 0
	}
	for i := range down.N {
		at := from + down.Offset(i)
		try(key, place, x[at:at+len(out)], I(i))
	}
	for i, p := range place {
		out[i] = int64(p)
	}
	return true
}
