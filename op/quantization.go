package op

import (
	"math"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// Quantized is the element types that stand for real numbers by a scale and a zero
// point.
type Quantized interface {
	int8 | uint8 | int16 | uint16 | int32 | num.F8E4M3 | num.F8E5M2 |
		num.Int2 | num.Int4 | num.Uint2 | num.Uint4 | num.F4E2M1 | num.F8E4M3FNUZ | num.F8E5M2FNUZ
}

// Quantization says which real number an element q stands for: (q − Zero)·Scale. Zero
// has Scale's shape, or is the zero Tensor for 0. Scale is
//
//   - one number, for all elements;
//   - a vector, with one for each index along Axis;
//   - if Block isn't 0, of the rank of the tensor and its shape but along Axis, where
//     one stands for Block elements, the last for the rest.
type Quantization[S num.Native | num.Narrow, Q Quantized] struct {
	Scale tensor.Tensor[S]
	Zero  tensor.Tensor[Q]
	Axis  int
	Block int
}

// inFloat has f compute a transfer in float64 for float64, and else in float32, rounded once.
// Operands are contiguous for f, and nil where they are absent.
func inFloat(name string, dst move.Words, in []move.Words, f func(dst *tensor.Any, in []*tensor.Any)) {
	ins := make([]*tensor.Any, len(in))
	for i, w := range in {
		if w.Absent() {
			continue
		}
		if ins[i] = w.Of; w.Of.DType().IsNarrow() {
			wide := inSingle(name, w.Of)
			ins[i] = &wide
			defer wide.Close()
		}
	}
	if !dst.Of.DType().IsNarrow() {
		f(dst.Of, ins)
		return
	}
	wide := tensor.EmptyOf(dtype.Float32, dst.Of.Shape()...)
	f(&wide, ins)
	narrowInto(name, dst.Of, &wide)
}

// steady returns f, which is called once for operands whose elements are known when a call is planned: they stay as they are.
func steady[T any](f func(in []move.Words) T, operands ...tensor.Any) func(in ...move.Words) T {
	known := !slices.ContainsFunc(operands, tensor.Any.IsSpec)
	var once *T
	return func(in ...move.Words) T {
		if once != nil {
			return *once
		}
		v := f(in)
		if known {
			once = &v
		}
		return v
	}
}

// sideOf returns a function that makes an operand of a product of bytes, with its zero points. f is its packed weights, or nil.
func sideOf(zero tensor.Any, f *contract.Filter) func(a, zero move.Words) contract.ByteSide {
	zeros := steady(func(in []move.Words) []int32 { return zerosOf(in[0]) }, zero)
	return func(a, zero move.Words) contract.ByteSide {
		return contract.ByteSide{Mem: a.Mem, Signed: a.Of.DType().IsSigned(), Zero: zeros(zero), Filter: f}
	}
}

// zerosOf returns zero points, none if they are absent.
func zerosOf(w move.Words) (v []int32) {
	if w.Absent() {
		return nil
	}
	z := move.NumericOf(w)
	for i := range z.Len() {
		v = append(v, int32(z.Whole(i)))
	}
	return v
}

// scalesOf returns the elements of a real type.
func scalesOf(w move.Words) []float64 {
	v, n := make([]float64, w.Len()), move.NumericOf(w)
	for i := range v {
		v[i] = n.Real(i)
	}
	return v
}

// A scaling turns exact sums of products of bytes into numbers: (sum + bias)·(row scale·column scale). There is one row scale or one for each row,
// and the same holds for columns. Each row has a bias. See QLinearMatMul.
type scaling struct {
	rows, cols []float64
	bias       []float64           // of each row; may be nil
	factors    []float64           // of each column, where there is one row scale; may be nil
	addends    []float64           // of each column; may be nil
	plus       func(i int) float64 // of an element of the result; may be nil
	before     []float64           // the sum so far of each element of the result, where it comes in parts
}

// scaledBlock is how many elements take their factors at a time.
const scaledBlock = 256

// scaledRoom keeps the factors and addends of a block from one row to the next.
var scaledRoom = sync.Pool{New: func() any { return new([2][scaledBlock]float64) }}

// byColumn sets the factors of n columns, if each row has the same ones.
func (s *scaling) byColumn(n int) {
	if len(s.rows) > 1 {
		return
	}
	s.factors = make([]float64, n)
	for j := range s.factors {
		s.factors[j] = float64(s.rows[0] * s.cols[j%len(s.cols)])
	}
}

// begun returns the scaling for a run of sums of k products, and for a number of elements of the result.
func (s scaling) begun(k, result int) *scaling {
	if k > contract.ByteExact {
		s.before = make([]float64, result)
	}
	return &s
}

// each takes sums of row i from column at on, the first of which is element to of the result. Parts of sums are kept. For whole sums it calls f, a
// block at a time, with the factor and the addend of each.
func (s *scaling) each(i, at, to int, sums []int32, last bool, f func(to int, sums []int32, factor, plus []float64)) {
	if !last {
		for j, v := range sums {
			s.before[to+j] += float64(v)
		}
		return
	}
	room := scaledRoom.Get().(*[2][scaledBlock]float64)
	defer scaledRoom.Put(room)
	factor, plus := room[0][:], room[1][:]
	by, one, bias := s.rows[i%len(s.rows)], 0.0, 0.0
	if one = float64(by * s.cols[0]); s.bias != nil {
		bias = s.bias[i]
	}
	if s.factors == nil {
		fill(factor[:min(len(sums), scaledBlock)], one)
	}
	if s.addends == nil {
		fill(plus[:min(len(sums), scaledBlock)], bias)
	}
	for len(sums) > 0 {
		n := min(len(sums), scaledBlock)
		if s.factors != nil {
			factor = s.factors[at : at+n]
		} else if len(s.cols) > 1 {
			for j, c := range s.cols[at : at+n] {
				factor[j] = float64(by * c)
			}
		}
		switch {
		case s.addends != nil && s.before == nil:
			plus = s.addends[at : at+n]
		case s.addends != nil:
			copy(plus, s.addends[at:at+n])
		case s.plus != nil:
			for j := range n {
				plus[j] = s.plus(to + j)
			}
		case s.before != nil:
			fill(plus[:n], bias)
		}
		if s.before != nil {
			for j, v := range s.before[to : to+n] {
				plus[j] += v
			}
		}
		f(to, sums[:n], factor[:n], plus[:n])
		sums, at, to = sums[n:], at+n, to+n
	}
}

// requantize writes sums as the bytes of a result.
func (s *scaling) requantize(dst move.Words, y quantum, i, at, to int, sums []int32, last bool) {
	s.each(i, at, to, sums, last, func(to int, sums []int32, factor, plus []float64) { y.requantize(dst, to, sums, factor, plus) })
}

// requantize writes (sums + plus)·factor as the bytes of a result, from element to on.
func (q *quantum) requantize(dst move.Words, to int, sums []int32, factor, plus []float64) {
	switch row := dst.Mem[to : to+len(sums)]; {
	case dst.Orion:
		n := move.NumericOf(dst)
		for j, v := range sums {
			n.SetQuantized(to+j, float64((float64(v)+plus[j])*factor[j])/q.scale, q.zero, true)
		}
	case dst.Of.DType() == dtype.Int8:
		cast.Requantize(move.ElemsOf[int8](dst.Of)[to:to+len(sums)], sums, factor, plus, q.scale, q.zero)
	default:
		cast.Requantize(row, sums, factor, plus, q.scale, q.zero)
	}
}

// quantize writes n numbers, of which v sets some from one on, times factor as the bytes of a result, from element to on.
func (q *quantum) quantize(dst move.Words, to, n int, factor float64, v func(dst []float64, from int)) {
	var none [scaledBlock]int32
	var by, some [scaledBlock]float64
	for i := range by {
		by[i] = factor
	}
	for from := 0; from < n; from += scaledBlock {
		m := min(scaledBlock, n-from)
		v(some[:m], from)
		q.requantize(dst, to+from, none[:m], by[:m], some[:m])
	}
}

// reals returns the numbers that all bytes of a type stand for.
func (q *quantum) reals(d dtype.DType) (t [256]float64) {
	all := everyByte(d)
	for i := range t {
		t[i] = q.real(all, i)
	}
	return t
}

// everyByte returns the elements of 0 to 255 as they are in memory.
func everyByte(d dtype.DType) move.Numeric {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return move.Numeric{Words: move.Words{Mem: all, Size: 1}, D: d}
}

// table returns for every byte of x's type the result of f for its number, as a byte of dst.
func (q *quantum) table(dst move.Words, x dtype.DType, to quantum, f func(v float64) float64) (t [256]byte) {
	n, all := move.NumericOf(dst), everyByte(x)
	n.Mem = t[:]
	for i := range t {
		n.SetQuantized(i, f(q.real(all, i))/to.scale, to.zero, true)
	}
	return t
}

// unchanged is the number itself.
func unchanged(v float64) float64 { return v }

// looked sets dst to the entries of a table.
func looked(dst, src []byte, t *[256]byte) {
	for i, v := range src[:len(dst)] {
		dst[i] = t[v]
	}
}

// A grain finds the scale of an element.
type grain struct{ n, after, block, blocks int }

// grainOf checks the scale and the zero point of a.
func grainOf(name string, a, scale, zero tensor.Any, axis, block int) grain {
	if !zero.IsZero() && !(scale.Len() == 1 && zero.Len() == 1) { // one number is one number, of any rank
		if ls, lz := scale.Layout(), zero.Layout(); !ls.Equal(lz) && !plan.SameShape(&ls, lz.Shape()) {
			panic(plan.Fail(name, tensor.ErrShape, "the scale has shape %s, the zero point %s", ls.ShapeString(), lz.ShapeString()))
		}
	}
	if d := scale.DType(); !plan.Reals.Has(d) && d != dtype.Float8E8M0 {
		panic(plan.Fail(name, tensor.ErrDType, "the scale holds %v; want numbers", scale.DType()))
	}
	if block < 0 {
		panic(plan.Fail(name, tensor.ErrValue, "a block of %d elements; want 1 or more, or 0 for none", block))
	}
	if block == 0 && scale.Len() == 1 {
		return grain{1, 1, 1, 0}
	}
	axis = plan.AxisOf(name, axis, a.Rank())
	shape := a.Shape()
	_, n, after := move.Around(shape, axis)
	if block == 0 {
		if scale.Rank() != 1 || scale.Dim(0) != n {
			panic(plan.Fail(name, tensor.ErrShape, "the scale is %s; want one number, or %d, one for each index along axis %d of %s", tensor.Describe(scale), n, axis, tensor.Describe(a)))
		}
		return grain{n, after, 1, 0}
	}
	want := append([]int{}, shape...)
	want[axis] = (n-1)/block + 1
	if n == 0 {
		want[axis] = 0
	}
	if lay := scale.Layout(); !plan.SameShape(&lay, want) {
		panic(plan.Fail(name, tensor.ErrShape, "the scale has shape %s; blocks of %d along axis %d of %s want %s", lay.ShapeString(), block, axis, tensor.Describe(a), plan.ShapeText(want)))
	}
	return grain{n, after, block, want[axis]}
}

// lies says that operands of one scale may lie channels last.
func (g *grain) lies() move.Lies {
	if *g == (grain{1, 1, 1, 0}) {
		return move.AlikeLast
	}
	return move.RowMajor
}

// at returns the index of the scale of element i. Divisions are unsigned: for ppc64le, Go 1.26 keeps a condition over signed ones, which change it.
func (g *grain) at(i int) int {
	after, n := uint(g.after), uint(g.n)
	line, j := uint(i)/after/n, uint(i)/after%n
	if g.blocks == 0 {
		return int(j)
	}
	return int((line*uint(g.blocks)+j/uint(g.block))*after + uint(i)%after)
}

// run maps element i to the index at of its scale. It and the next n - 1 elements follow with a step of 0 or 1.
func (g *grain) run(i int) (at, step, n int) {
	switch j := int(uint(i) / uint(g.after) % uint(g.n)); {
	case g.n == 1 && g.blocks == 0:
		return 0, 0, math.MaxInt
	case g.blocks > 0 && g.after == 1:
		return g.at(i), 0, min(g.block-j%g.block, g.n-j)
	case g.blocks > 0:
		return g.at(i), 1, g.after - i%g.after
	case g.after == 1:
		return j, 1, g.n - j
	default:
		return j, 0, g.after - i%g.after
	}
}

// next returns the length of the run of the scale at an index, all of whose elements follow each other.
func (g *grain) next(at int) int {
	if g.blocks > 0 {
		return min(g.block, g.n-at%g.blocks*g.block)
	}
	return g.after
}

// grains has scales and zero points of elements.
type grains[F num.Float] struct{ scales, zeros [scaledBlock]F }

// grainsRoom keeps grains of float32 and of float64 from one call to the next.
var grainsRoom = [2]sync.Pool{{New: func() any { return new(grains[float32]) }}, {New: func() any { return new(grains[float64]) }}}

// shortGrain is the number of elements up to which runs are put together.
const shortGrain = 16

// grained calls f for parts of the elements from element from to element to: n elements from element at on have the scales and zero points in
// two lists, or in lists of one all the same.
func grained[F num.Float](g *grain, scale, zero move.Words, from, to int, f func(at, n int, scale, zero []F)) {
	pool := &grainsRoom[0]
	if _, double := any(F(0)).(float64); double {
		pool = &grainsRoom[1]
	}
	b := pool.Get().(*grains[F])
	defer pool.Put(b)
	if zero.Absent() {
		clear(b.zeros[:])
	}
	lines := 0 // as many elements have their grains in b: whole lines of an axis
	for from < to {
		at, step, run := g.run(from)
		n := min(run, to-from, scaledBlock)
		switch {
		case step == 0 && run >= shortGrain:
			m := min(scaledBlock, scale.Len()-at, (to-from-1)/run+1) // runs one after the other have scales one after the other
			load(b.scales[:m], scale, at)
			load(b.zeros[:m], zero, at)
			for k := 0; k < m && from < to; k++ {
				n := min(run, to-from)
				f(from, n, b.scales[k:k+1], b.zeros[k:k+1])
				from, run = from+n, g.next(at+k+1)
			}
			continue
		case step == 1 && at == 0 && g.blocks == 0 && g.n < scaledBlock:
			if n = min(to-from, scaledBlock/g.n*g.n); lines < n {
				fillGrains(g, b.scales[:n], scale, from)
				fillGrains(g, b.zeros[:n], zero, from)
				lines = n
			}
		default:
			if lines = 0; run < shortGrain {
				n = min(to-from, scaledBlock)
			}
			fillGrains(g, b.scales[:n], scale, from)
			fillGrains(g, b.zeros[:n], zero, from)
		}
		f(from, n, b.scales[:n], b.zeros[:n])
		from += n
	}
}

// fillGrains sets the scales or zero points of the elements from element from on; absent ones stay.
func fillGrains[F num.Float](g *grain, dst []F, of move.Words, from int) {
	if of.Absent() {
		return
	}
	for len(dst) > 0 {
		at, step, run := g.run(from)
		run = min(run, len(dst))
		load(dst[:max(1, run*step)], of, at)
		if step == 0 {
			for i := 1; i < run; i++ {
				dst[i] = dst[0]
			}
		}
		dst, from = dst[run:], from+run
	}
}

// load sets dst to scales or zero points from element at on; absent ones stay.
func load[F num.Float](dst []F, of move.Words, at int) {
	if of.Absent() {
		return
	}
	switch dst := any(dst).(type) {
	case []float32:
		move.NumericOf(of).Singles(dst, at)
	case []float64:
		move.NumericOf(of).Reals(dst, at)
	}
}

// listed returns a list of n numbers, or the one number of a list n times, in room.
func listed(room, list []float64, n int) []float64 {
	if len(list) == n {
		return list
	}
	conv.Fill(room[:n], list[0])
	return room[:n]
}

// A quantum is the one scale and zero point of a whole operand.
type quantum struct{ scale, zero float64 }

func (q *quantum) pair() cast.Quantum { return cast.Quantum{Scale: q.scale, Zero: q.zero} }

// quantumIn is quantumOf for the operands of steady.
func quantumIn(in []move.Words) quantum { return quantumOf(in[0], in[1]) }

func quantumOf(scale, zero move.Words) quantum {
	q := quantum{scale: move.NumericOf(scale).Real(0)}
	if !zero.Absent() {
		q.zero = move.NumericOf(zero).Real(0)
	}
	return q
}

// checkQuantum panics unless input i is one scale and the next, which may be absent, one
// zero point of type d.
func checkQuantum(name string, i int, scale, zero tensor.Any, d dtype.DType) {
	plan.PresentAt(name, i, &scale)
	switch {
	case scale.Len() != 1 || !plan.Reals.Has(scale.DType()):
		panic(plan.Fail(name, tensor.ErrShape, "the scale, input %d, is %s; want one number", i, tensor.Describe(scale)))
	case !zero.IsZero() && (zero.Len() != 1 || zero.DType() != d):
		panic(plan.Fail(name, tensor.ErrShape, "the zero point, input %d, is %s; want one number of %v", i+1, tensor.Describe(zero), d))
	}
}

// real returns the number that element i of w stands for: the difference is exact, the
// product rounded to float64.
func (q *quantum) real(w move.Numeric, i int) float64 { return float64((w.Real(i) - q.zero) * q.scale) }
