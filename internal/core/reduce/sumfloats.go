package reduce

import (
	"math"
	"math/bits"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/conv"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// The sum of a sequence, for every operator that adds up elements of a float type. Its accumulators are float64, and the sequence alone decides
// the order. So a result has the same bits for any memory, threads and instruction set.
//
//   - The sequence is cut into blocks of 4096. Element i of a block goes to lane i mod 32.
//   - Each lane starts at −0 and adds in increasing i.
//   - Then lane j += lane j+h for h = 16, and for each half of h down to 1.
//   - Block sums are added pairwise, level by level. An odd last one moves up unchanged.
//   - The empty sum is +0.

// The rule of sums, in elements.
const (
	SumLanes = 32
	sumBlock = 4096
)

// Summer adds a sequence. Its take needs multiples of 32 elements, except at the end of a block.
type Summer struct {
	lane  [SumLanes]float64
	n     int         // elements in the block so far
	block [52]float64 // block[k] is the sum of 2^k blocks where bit k of count is set
	count uint64
}

func (s *Summer) Begin() {
	s.n, s.count = 0, 0
	s.clear()
}

func (s *Summer) clear() {
	negZero := math.Copysign(0, -1)
	for i := range s.lane {
		s.lane[i] = negZero
	}
}

// added counts n elements that went into the lanes, and closes a full block.
func (s *Summer) added(n int) {
	if s.n += n; s.n == sumBlock {
		s.close()
	}
}

// close folds the lanes and puts the block's sum in its place.
func (s *Summer) close() {
	for h := SumLanes / 2; h > 0; h /= 2 {
		for j := range h {
			s.lane[j] += s.lane[j+h]
		}
	}
	s.put(s.lane[0])
	s.n = 0
	s.clear()
}

// put puts the sum of the next block in its place.
func (s *Summer) put(sum float64) {
	k := 0
	for ; s.count>>k&1 == 1; k++ {
		sum = s.block[k] + sum
	}
	s.block[k] = sum
	s.count++
}

// Total returns the sum of all elements taken since start.
func (s *Summer) Total() float64 {
	if s.n > 0 {
		s.close()
	}
	if s.count == 0 {
		return 0
	}
	var sum float64
	first := true
	for c := s.count; c != 0; c &= c - 1 { // the smallest, rightmost group moves up until it meets its left neighbour
		k := bits.TrailingZeros64(c)
		if first {
			sum, first = s.block[k], false
			continue
		}
		sum = s.block[k] + sum
	}
	return sum
}

// AddTerms adds the elements of x.
func AddTerms[T num.Float](s *Summer, x []T) {
	for len(x) > 0 {
		m := min(len(x), sumBlock-s.n)
		addLanes(&s.lane, x[:m])
		s.added(m)
		x = x[m:]
	}
}

// addLanes adds x[i] to lane i mod 32, eight lanes in registers at a time.
func addLanes[T num.Float](lane *[SumLanes]float64, x []T) {
	whole := len(x) &^ (SumLanes - 1)
	if whole > 0 && !tryLanes(lane, x[:whole]) {
		for l := 0; l < SumLanes; l += 8 {
			a0, a1, a2, a3 := lane[l], lane[l+1], lane[l+2], lane[l+3]
			a4, a5, a6, a7 := lane[l+4], lane[l+5], lane[l+6], lane[l+7]
			for i := l; i+8 <= whole; i += SumLanes {
				v := x[i : i+8 : i+8]
				a0 += float64(v[0])
				a1 += float64(v[1])
				a2 += float64(v[2])
				a3 += float64(v[3])
				a4 += float64(v[4])
				a5 += float64(v[5])
				a6 += float64(v[6])
				a7 += float64(v[7])
			}
			lane[l], lane[l+1], lane[l+2], lane[l+3] = a0, a1, a2, a3
			lane[l+4], lane[l+5], lane[l+6], lane[l+7] = a4, a5, a6, a7
		}
	}
	for i, v := range x[whole:] {
		lane[i] += float64(v)
	}
}

// tryLanes is addLanes with an instruction set. It reports whether there is a kernel.
func tryLanes[T num.Float](lane *[SumLanes]float64, x []T) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumLanes32(lane, conv.As[float32](x))
	default:
		return simd.TrySumLanes64(lane, conv.As[float64](x))
	}
}

// TrySums sums lines of at most a block each with an instruction set. It reports whether there is a kernel.
func TrySums[T num.Float](dst []float64, x []T, step, n int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumLines32(dst, conv.As[float32](x), step, n)
	default:
		return simd.TrySumLines64(dst, conv.As[float64](x), step, n)
	}
}

// AddSquares adds (x−shift)². Each square enters the sum with one rounding.
func AddSquares[T num.Float](s *Summer, x []T, shift float64) {
	for len(x) > 0 {
		m := min(len(x), sumBlock-s.n)
		whole := 0
		if trySquares(&s.lane, x[:m], shift) {
			whole = m &^ (SumLanes - 1)
		}
		for i, v := range x[whole:m] {
			d := float64(v) - shift
			s.lane[i%SumLanes] = float.FMA64(d, d, s.lane[i%SumLanes])
		}
		s.added(m)
		x = x[m:]
	}
}

// trySquares is AddSquares with an instruction set, for the largest multiple of 32 elements. It reports whether there is a kernel.
func trySquares[T num.Float](lane *[SumLanes]float64, x []T, shift float64) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySquareLanes32(lane, conv.As[float32](x), shift)
	default:
		return simd.TrySquareLanes64(lane, conv.As[float64](x), shift)
	}
}

// SumSquares returns the sum of (x−shift)², as AddSquares adds it.
func SumSquares[T num.Float](x []T, shift float64) float64 {
	if n := len(x); n > 0 && n <= sumBlock {
		var sum [1]float64
		switch v := any(x).(type) {
		case []float32:
			if simd.TrySquareLines32(sum[:], v, shift, 0, n) {
				return sum[0]
			}
		case []float64:
			if simd.TrySquareLines64(sum[:], v, shift, 0, n) {
				return sum[0]
			}
		}
	}
	var s Summer
	s.Begin()
	AddSquares(&s, x, shift)
	return s.Total()
}

// SumLines stores the sums of lines, in the order above. It is for float32 and float64 with an instruction set.
func SumLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return sumOrMeanLines(d, out, x, step, n, false)
}

// MeanLines is SumLines for means.
func MeanLines(d dtype.DType, out, x exec.Run, step, n int) bool {
	return sumOrMeanLines(d, out, x, step, n, true)
}

func sumOrMeanLines(d dtype.DType, out, x exec.Run, step, n int, mean bool) bool {
	switch d {
	case dtype.Float32:
		return sumFloatLines(exec.Of[float32](out), exec.Of[float32](x), step, n, mean)
	case dtype.Float64:
		return sumFloatLines(exec.Of[float64](out), exec.Of[float64](x), step, n, mean)
	}
	return false
}

// The numbers of lines that are summed side by side, in elements.
const (
	LinesAtOnce = 128
	sumsAtOnce  = 64
	fewLines    = 16
)

func sumFloatLines[T num.Float](out, x []T, step, n int, mean bool) bool {
	if !TrySums[T](nil, nil, 0, 0) {
		return false
	}
	switch sums, ok := any(out).([]float64); {
	case ok:
		SumEach(sums, x, step, n)
		roundSums(out, sums, n, mean)
	case len(out) <= fewLines:
		var sums [fewLines]float64
		SumEach(sums[:len(out)], x, step, n)
		roundSums(out, sums[:len(out)], n, mean)
	default:
		sumManyLines(out, x, step, n, mean)
	}
	return true
}

// sumManyLines is sumFloatLines with a larger array. For few lines its clearing would take longer than the sums, and for many lines a still larger
// one costs more than the calls that it saves.
//
//go:noinline
func sumManyLines[T num.Float](out, x []T, step, n int, mean bool) {
	var sums [sumsAtOnce]float64
	for i := 0; i < len(out); i += sumsAtOnce {
		m := min(len(out)-i, sumsAtOnce)
		SumEach(sums[:m], x[i*step:], step, n)
		roundSums(out[i:i+m], sums[:m], n, mean)
	}
}

// SumEach stores the sum of each line.
func SumEach[T num.Float](sums []float64, x []T, step, n int) {
	if n <= sumBlock && TrySums(sums, x, step, n) {
		return
	}
	sum := sumOf[T]
	if !TrySums[T](nil, nil, 0, 0) {
		sum = SumRow[T]
	}
	for i := range sums {
		sums[i] = sum(x[i*step : i*step+n])
	}
}

// sumOf returns the sum of x, blocks at a time, with an instruction set.
func sumOf[T num.Float](x []T) float64 {
	var sums [sumGroup]float64
	if len(x) <= sumGroup*sumBlock {
		return sumOfGroup(&sums, x)
	}
	var s Summer
	for len(x) > 0 {
		m := min(len(x), sumGroup*sumBlock)
		s.put(sumOfGroup(&sums, x[:m]))
		x = x[m:]
	}
	return s.Total()
}

// sumGroup is the number of blocks that sumOf adds up at a time. It is a power of two, so the pairs of groups are pairs of blocks.
const sumGroup = 16

// sumOfGroup returns the sum of a group of blocks. The last block may be shorter.
func sumOfGroup[T num.Float](sums *[sumGroup]float64, x []T) float64 {
	n := len(x) / sumBlock
	TrySums(sums[:n], x, sumBlock, sumBlock)
	if rest := x[n*sumBlock:]; len(rest) > 0 {
		TrySums(sums[n:n+1], rest, len(rest), len(rest))
		n++
	}
	for ; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			sums[i] = sums[2*i] + sums[2*i+1]
		}
		sums[n/2] = sums[n-1] // moves up where n is odd
	}
	return sums[0]
}

// roundSums rounds sums of n elements, or their means. dst may be sums.
func roundSums[T num.Float](dst []T, sums []float64, n int, mean bool) {
	if mean && !simd.TryDivNumber64(sums, sums, float64(n), false) {
		for i := range sums {
			sums[i] /= float64(n)
		}
	}
	switch dst := any(dst).(type) {
	case []float32:
		if simd.TryNarrowF64(dst, sums, false) {
			return
		}
		for i, v := range sums {
			dst[i] = float32(v)
		}
	case []float64:
		copy(dst, sums)
	}
	cast.CanonicalRow(dst)
}

// SumRows is SumLines for rows. It needs no instruction set.
func SumRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return sumOrMeanRows(d, out, x, from, &down, false)
}

// MeanRows is SumRows for means.
func MeanRows(d dtype.DType, out, x exec.Run, from int, down exec.Sequence) bool {
	return sumOrMeanRows(d, out, x, from, &down, true)
}

func sumOrMeanRows(d dtype.DType, out, x exec.Run, from int, down *exec.Sequence, mean bool) bool {
	switch d {
	case dtype.Float32:
		SumDown(exec.Of[float32](out), exec.Of[float32](x), from, down, mean)
	case dtype.Float64:
		SumDown(exec.Of[float64](out), exec.Of[float64](x), from, down, mean)
	default:
		return false
	}
	return true
}

// summers adds the columns of some rows.
type summers struct {
	rows  [sumBlock]int64 // the first elements of the rows of a block, lane by lane
	ends  [SumLanes]int64 // the ends of the lanes in rows
	sums  [6 * exec.StripLen]float64
	block [][]float64 // block[k] has the sums of 2^k blocks where bit k of count is set
	count uint64
}

var downSummers = sync.Pool{New: func() any { return new(summers) }}

// SumDown adds rows up.
func SumDown[R, T num.Float](out []R, x []T, from int, down *exec.Sequence, mean bool) {
	w, n := len(out), down.N
	if w == 0 {
		return
	}
	s := downSummers.Get().(*summers)
	defer downSummers.Put(s)
	s.count = 0
	for start := 0; start < n; start += sumBlock {
		sum := sumColumns(s, x, from, down, start, min(start+sumBlock, n), w)
		k := 0
		for ; s.count>>k&1 == 1; k++ {
			AddRows(sum, sum, s.block[k][:w])
		}
		if k == len(s.block) {
			s.block = append(s.block, make([]float64, exec.StripLen))
		}
		copy(s.block[k], sum)
		s.count++
	}
	var sum []float64
	for k := range s.block { // as in Total of Summer
		switch {
		case s.count>>k&1 == 0:
		case sum == nil:
			sum = s.block[k][:w]
		default:
			AddRows(sum, sum, s.block[k][:w])
		}
	}
	roundSums(out, sum, n, mean)
}

// sumColumns returns the sums of rows [start, end), a block. A finished lane is added at once to its partner in the fold by halves. So there are
// few sums at a time: the columns of s.sums from k·w on have the sums of the last 2^k lanes. A lane without rows is −0, and a half of such lanes is
// left out.
func sumColumns[T num.Float](s *summers, x []T, from int, down *exec.Sequence, start, end, w int) []float64 {
	levels := min(bits.Len(uint(end-start-1)), 5)
	rows, ends := s.rows[:end-start], s.ends[:1<<levels]
	n, step := 0, down.Offset(SumLanes)
	for l := range ends {
		i := start + int(bits.Reverse8(uint8(l))>>(8-levels))
		for at := from + down.Offset(i); i < end; n++ {
			rows[n] = int64(at)
			if i, at = i+SumLanes, at+step; !down.Single() { // the rows aren't one step apart
				at = from + down.Offset(i)
			}
		}
		ends[l] = int64(n)
	}
	sums := s.sums[:(levels+1)*w]
	if tryColumns(sums, x, rows, ends, w) {
		return sums[levels*w:]
	}
	n = 0
	for l, e := range ends {
		k := bits.TrailingZeros(^uint(l))
		lane := sums[k*w : (k+1)*w]
		for i := range lane {
			lane[i] = math.Copysign(0, -1)
		}
		for ; n+4 <= int(e); n += 4 {
			a, b, c, d := x[rows[n]:][:w], x[rows[n+1]:][:w], x[rows[n+2]:][:w], x[rows[n+3]:][:w]
			for i := range lane {
				lane[i] = lane[i] + float64(a[i]) + float64(b[i]) + float64(c[i]) + float64(d[i])
			}
		}
		for ; n < int(e); n++ {
			for i, v := range x[rows[n]:][:w] {
				lane[i] += float64(v)
			}
		}
		for i := range k {
			AddRows(lane, lane, sums[i*w:(i+1)*w])
		}
	}
	return sums[levels*w:]
}

// tryColumns adds the columns with an instruction set. It reports whether there is a kernel.
func tryColumns[T num.Float](sums []float64, x []T, rows, ends []int64, w int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumColumns32(sums, conv.As[float32](x), rows, ends, w)
	default:
		return simd.TrySumColumns64(sums, conv.As[float64](x), rows, ends, w)
	}
}

// AddRows sets dst to the sums of a and b. It may make NaNs canonical.
func AddRows(dst, a, b []float64) {
	if r := simd.Add.Best(); r != nil {
		r.F64(dst, a, b)
		return
	}
	for i, v := range a[:len(dst)] {
		dst[i] = v + b[i]
	}
}

// SumRow returns the sum of a row in float64, in the fixed order. Up to 32 elements each have a lane of their own.
func SumRow[T num.Float](x []T) float64 {
	if len(x) > SumLanes {
		if len(x) <= sumBlock {
			var sum [1]float64
			if TrySums(sum[:], x, 0, len(x)) {
				return sum[0]
			}
		}
		var s Summer
		s.Begin()
		AddTerms(&s, x)
		return s.Total()
	}
	if len(x) == 0 {
		return 0
	}
	var lane [SumLanes]float64
	for i, v := range x {
		lane[i] = float64(v)
	}
	for h, n := SumLanes/2, len(x); h > 0; h /= 2 { // absent lanes are −0 and may be skipped
		for i := h; i < n; i++ {
			lane[i-h] += lane[i]
		}
		n = min(n, h)
	}
	return lane[0]
}
