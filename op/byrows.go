package op

import (
	"math"
	"math/bits"
	"sync"

	"github.com/ashlar-go/ashlar/internal/conv"
	"github.com/ashlar-go/ashlar/internal/exec"
	"github.com/ashlar-go/ashlar/internal/simd"
	"github.com/ashlar-go/ashlar/num"
)

// A reduction over an axis whose neighbouring elements are far apart, while those
// of neighbouring outputs lie side by side, such as over the first axis of a
// row-major matrix: it takes whole stretches of rows at a time. Which elements are
// added to which, in what order, is what summation.go says.

const (
	stripLen = 1024 // outputs side by side
	fewOuts  = 16   // outputs for which that pays
)

// byRows gives the reducer rows, where those of outputs lie side by side.
func (r *reducing[T, R]) byRows(j *exec.Job) bool {
	wide := r.kept.few[0].ext
	if r.gone.n > len(r.data) { // of elements that repeat there may be any number: folders look at the context
		return false
	}
	if r.gone.n < 2 || r.gone.few[0].str == 1 || r.kept.few[0].str != 1 || wide < fewOuts || !r.by.rows(nil, nil, 0, sequence{}) {
		return false
	}
	strips, cost := r.kept.n/wide*((wide+stripLen-1)/stripLen), r.gone.n*min(wide, stripLen)*j.Cost
	if j.Little(strips, cost) {
		r.strips(0, strips)
	} else {
		c := *r // here, and nowhere else, it moves to the heap
		exec.Split(j.Name, j.Ctx, strips, cost, c.strips)
	}
	return true
}

func (r *reducing[T, R]) strips(from, till int) {
	var tile []R
	if !r.to.run() {
		sc := exec.Scratch.Get().(*exec.Scratchpad)
		defer exec.Scratch.Put(sc)
		rest := sc.Bytes[:]
		tile = conv.Carve[R](&rest, stripLen)
	}
	wide := r.kept.few[0].ext
	across := (wide + stripLen - 1) / stripLen
	for s := from; s < till; s++ {
		o, w := s/across*wide+s%across*stripLen, min(stripLen, wide-s%across*stripLen)
		out := tile
		if tile == nil {
			out = r.out[r.at+o:]
		}
		r.by.rows(out[:w], r.data, r.base+r.kept.offset(o), r.gone)
		if tile != nil {
			scatter(&r.to, r.out, tile[:w], r.at, o)
		}
	}
}

// extremeRows stores the largest or smallest elements: columns of floats by kernels, others by the rows of Max or Min.
func extremeRows[T num.Elem](o *op2, out, x []T, from int, down sequence, smallest bool) bool {
	two := row2Of[T](&o.rows)
	if r := fastest(o.fast); r != nil {
		if f := row2Of[T](r); f != nil {
			two = f
		}
	}
	if two == nil {
		return false
	}
	switch {
	case len(out) == 0:
		return true
	case bestColumns[T](nil, nil, nil, smallest):
		bestTile(two, out, x, from, &down, smallest)
		return true
	}
	for i := range down.n {
		at := from + down.offset(i)
		if row := x[at : at+len(out)]; i == 0 {
			copy(out, row)
		} else {
			two(out, out, row)
		}
	}
	canonicalRow(out)
	return true
}

// bestTile goes down as many rows at a time as there is room for their list, and joins what they come to by two.
func bestTile[T num.Elem](two func(dst, a, b []T), out, x []T, from int, down *sequence, smallest bool) {
	sc := exec.Scratch.Get().(*exec.Scratchpad)
	defer exec.Scratch.Put(sc)
	rest := sc.Bytes[:]
	rows, part := conv.Carve[int64](&rest, sumBlock), conv.Carve[T](&rest, len(out))
	for i := 0; i < down.n; i += len(rows) {
		rows = rows[:min(len(rows), down.n-i)]
		for k := range rows {
			rows[k] = int64(from + down.offset(i+k))
		}
		if i == 0 {
			bestColumns(out, x, rows, smallest)
		} else {
			bestColumns(part, x, rows, smallest)
			two(out, out, part)
		}
	}
	canonicalRow(out)
}

// bestColumns stores the largest or the smallest of each column of some rows. It is for float32 and float64 with an instruction set.
func bestColumns[T num.Elem](dst, x []T, rows []int64, smallest bool) bool {
	end := [1]int64{int64(len(rows))}
	switch any((*T)(nil)).(type) {
	case *float32:
		dst, x := conv.As[float32](dst), conv.As[float32](x)
		if smallest {
			return simd.TryMinColumns32(dst, x, rows, end[:], len(dst))
		}
		return simd.TryMaxColumns32(dst, x, rows, end[:], len(dst))
	case *float64:
		dst, x := conv.As[float64](dst), conv.As[float64](x)
		if smallest {
			return simd.TryMinColumns64(dst, x, rows, end[:], len(dst))
		}
		return simd.TryMaxColumns64(dst, x, rows, end[:], len(dst))
	}
	return false
}

// placeReducer finds the first largest elements, or the first smallest where it is true.
type placeReducer[T num.Elem] bool

func (p placeReducer[T]) folder() folder[T, int64] {
	if p {
		return &position[T]{better: lessOf[T](), whole: minOf[T]}
	}
	return &position[T]{better: greaterOf[T](), whole: maxOf[T]}
}

func (p placeReducer[T]) lines(out []int64, x []T, step, n int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return positionLines(out, conv.As[float32](x), step, n, bool(p))
	case *float64:
		return positionLines(out, conv.As[float64](x), step, n, bool(p))
	}
	return false
}

func (p placeReducer[T]) rows(out []int64, x []T, from int, down sequence) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		try := simd.TryArgMaxRow32
		if p {
			try = simd.TryArgMinRow32
		}
		return down.n <= math.MaxInt32 && positionRows(out, conv.As[float32](x), from, down, math.MinInt32, try)
	case *float64:
		try := simd.TryArgMaxRow64
		if p {
			try = simd.TryArgMinRow64
		}
		return positionRows(out, conv.As[float64](x), from, down, math.MinInt64, try)
	}
	return false
}

// positionRows runs try over rows, with a key below all others to begin with.
func positionRows[I int32 | int64, T num.Float](out []int64, x []T, from int, down sequence, least I, try func(key, at []I, a []T, i I) bool) bool {
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
	for i := range down.n {
		at := from + down.offset(i)
		try(key, place, x[at:at+len(out)], I(i))
	}
	for i, p := range place {
		out[i] = int64(p)
	}
	return true
}

// sumRows is sumLines for rows; it needs no instruction set.
func sumRows[T num.Elem](out, x []T, from int, down sequence, mean bool) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		sumTile(conv.As[float32](out), conv.As[float32](x), from, &down, mean)
		return true
	case *float64:
		sumTile(conv.As[float64](out), conv.As[float64](x), from, &down, mean)
		return true
	}
	return false
}

// summers adds the columns of a tile.
type summers struct {
	rows  [sumBlock]int64 // where those of a block begin, lane by lane
	ends  [sumLanes]int64 // of the lanes among them
	sums  [6 * stripLen]float64
	block [][]float64 // block[k] has the sums of 2^k blocks where bit k of count is set
	count uint64
}

var tileSummers = sync.Pool{New: func() any { return new(summers) }}

// sumTile adds rows up.
func sumTile[T num.Float](out, x []T, from int, down *sequence, mean bool) {
	w, n := len(out), down.n
	if w == 0 {
		return
	}
	s := tileSummers.Get().(*summers)
	defer tileSummers.Put(s)
	s.count = 0
	for start := 0; start < n; start += sumBlock {
		sum := sumColumns(s, x, from, down, start, min(start+sumBlock, n), w)
		k := 0
		for ; s.count>>k&1 == 1; k++ {
			addTo(sum, s.block[k][:w])
		}
		if k == len(s.block) {
			s.block = append(s.block, make([]float64, stripLen))
		}
		copy(s.block[k], sum)
		s.count++
	}
	var sum []float64
	for k := range s.block { // as in total of summer
		switch {
		case s.count>>k&1 == 0:
		case sum == nil:
			sum = s.block[k][:w]
		default:
			addTo(sum, s.block[k][:w])
		}
	}
	settle(out, sum, n, mean)
}

// sumColumns returns the sums of rows [start, end), a block. Lanes go in the order in
// which each joins those that folding halves joins it to, so that the sums of finished
// ones are few: those of the last 2^k of them are the columns of s.sums from k·w on.
// Lanes without rows are −0, and a half of nothing else is left out.
func sumColumns[T num.Float](s *summers, x []T, from int, down *sequence, start, end, w int) []float64 {
	levels := min(bits.Len(uint(end-start-1)), 5)
	rows, ends := s.rows[:end-start], s.ends[:1<<levels]
	n, step := 0, down.offset(sumLanes)
	for l := range ends {
		i := start + int(bits.Reverse8(uint8(l))>>(8-levels))
		for at := from + down.offset(i); i < end; n++ {
			rows[n] = int64(at)
			if i, at = i+sumLanes, at+step; down.rank > 1 { // the rows aren't one step apart
				at = from + down.offset(i)
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
			addTo(lane, sums[i*w:(i+1)*w])
		}
	}
	return sums[levels*w:]
}

// tryColumns does it with an instruction set, if there is one.
func tryColumns[T num.Float](sums []float64, x []T, rows, ends []int64, w int) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		return simd.TrySumColumns32(sums, conv.As[float32](x), rows, ends, w)
	default:
		return simd.TrySumColumns64(sums, conv.As[float64](x), rows, ends, w)
	}
}

// addTo adds x to dst. It may make NaNs canonical.
func addTo(dst, x []float64) {
	if r := simd.Add.Best(); r != nil {
		r.F64(dst, dst, x)
		return
	}
	for i, v := range x[:len(dst)] {
		dst[i] += v
	}
}
