package op

import (
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/conv"
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
func (r *reducing[T, R]) byRows(j *job) bool {
	wide := r.kept.few[0].ext
	if r.gone.n < 2 || r.gone.few[0].str == 1 || r.kept.few[0].str != 1 || wide < fewOuts || !r.by.rows(nil, nil, 0, sequence{}) {
		return false
	}
	strips, cost := r.kept.n/wide*((wide+stripLen-1)/stripLen), r.gone.n*min(wide, stripLen)*j.cost
	if j.little(strips, cost) {
		r.strips(0, strips)
	} else {
		c := *r // here, and nowhere else, it moves to the heap
		split(j.name, j.ctx, strips, cost, c.strips)
	}
	return true
}

func (r *reducing[T, R]) strips(from, till int) {
	var tile []R
	if !r.to.run() {
		sc := scratch.Get().(*scratchpad)
		defer scratch.Put(sc)
		rest := sc.bytes[:]
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

// extremeRows stores the largest or smallest elements by the rows of Max or Min.
func extremeRows[T num.Elem](o *op2, out, x []T, from int, down sequence) bool {
	two := row2Of[T](&o.rows)
	if r := fastest(o.fast); r != nil {
		if f := row2Of[T](r); f != nil {
			two = f
		}
	}
	if two == nil {
		return false
	}
	if len(out) == 0 {
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
	sc := scratch.Get().(*scratchpad)
	defer scratch.Put(sc)
	rest := sc.bytes[:]
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

// sumRows is sumLines for rows.
func sumRows[T num.Elem](out, x []T, from int, down sequence, mean bool) bool {
	switch any((*T)(nil)).(type) {
	case *float32:
		sumTile(conv.As[float32](out), conv.As[float32](x), from, &down, simd.TrySumRows32, mean)
		return true
	case *float64:
		sumTile(conv.As[float64](out), conv.As[float64](x), from, &down, simd.TrySumRows64, mean)
		return true
	}
	return false
}

// summers is a summer for each output of a tile.
type summers struct {
	lane  [sumLanes * stripLen]float64 // the outputs' lanes 0, then their lanes 1, and so on
	block [][]float64                  // block[k] has the sums of 2^k blocks where bit k of count is set
	count uint64
}

var tileSummers = sync.Pool{New: func() any { return new(summers) }}

// sumTile adds rows up; four adds four of them to dst, in their order, if it can.
func sumTile[T num.Float](out, x []T, from int, down *sequence, four func(dst []float64, a, b, c, d []T) bool, mean bool) {
	w, n := len(out), down.n
	if w == 0 {
		return
	}
	row := func(i int) []T {
		at := from + down.offset(i)
		return x[at : at+w]
	}
	s := tileSummers.Get().(*summers)
	defer tileSummers.Put(s)
	s.count = 0
	for start := 0; start < n; start += sumBlock {
		end := min(start+sumBlock, n)
		lanes := min(sumLanes, end-start)
		all := s.lane[:lanes*w]
		for i := range all {
			all[i] = math.Copysign(0, -1)
		}
		for l := range lanes {
			lane, i := all[l*w:(l+1)*w], start+l
			for ; i+3*sumLanes < end; i += 4 * sumLanes {
				a, b, c, d := row(i), row(i+sumLanes), row(i+2*sumLanes), row(i+3*sumLanes)
				if !four(lane, a, b, c, d) {
					for k := range lane {
						lane[k] = lane[k] + float64(a[k]) + float64(b[k]) + float64(c[k]) + float64(d[k])
					}
				}
			}
			for ; i < end; i += sumLanes {
				for k, v := range row(i) {
					lane[k] += float64(v)
				}
			}
		}
		for h := sumLanes / 2; h > 0; h /= 2 {
			if lanes > h { // absent lanes are −0 and may be skipped
				addTo(all[:(lanes-h)*w], all[h*w:lanes*w])
				lanes = h
			}
		}
		sum, k := all[:w], 0
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
