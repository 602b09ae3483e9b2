package steps

import (
	"math"
	"math/big"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
)

func positive(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

func truth(yes bool) []byte {
	if yes {
		return []byte{1}
	}
	return []byte{0}
}

// zero reports whether an element is one of the zeros.
func zero(d dtype.DType, b []byte) bool {
	if d.IsComplex() {
		half := map[int]dtype.DType{8: dtype.Float32, 16: dtype.Float64}[len(b)]
		return zero(half, b[:len(b)/2]) && zero(half, b[len(b)/2:])
	}
	x := decode(d, b)
	return x.z == nil && x.f == 0 || x.z != nil && x.z.Sign() == 0
}

// order compares two numbers: -1, 0, 1, or 2 where one is NaN. The two zeros are equal.
func order(x, y number) int {
	switch {
	case x.z != nil:
		return x.z.Cmp(y.z)
	case x.f < y.f:
		return -1
	case x.f > y.f:
		return 1
	case x.f == y.f:
		return 0
	}
	return 2
}

// below is order, in which -0 is below +0.
func below(x, y number) bool {
	if x.z == nil && x.f == 0 && y.f == 0 {
		return math.Signbit(x.f) && !math.Signbit(y.f)
	}
	return order(x, y) == -1
}

// step is a result of float64 as an operation of a type gives it: of float64, or of float32.
func step(d dtype.DType, f float64) (number, bool) {
	if d != dtype.Float64 {
		f = float64(float32(f))
	}
	return number{f: f}, true
}

func times(d dtype.DType, x, y number) (number, bool) {
	if x.z == nil {
		return step(d, x.f*y.f)
	}
	return number{z: shifted(new(big.Int).Mul(x.z, y.z), fraction(d))}, true
}

// shifted is z / 2^n to nearest, ties to even.
func shifted(z *big.Int, n uint) *big.Int {
	if n == 0 {
		return z
	}
	v := new(big.Float).SetPrec(2200).SetInt(z)
	return even(v.SetMantExp(v, -int(n)))
}

// moved makes an answer of elements.
func moved(d dtype.DType, shape []int, f func(c []int) []byte) *answer {
	return &answer{array: build(d, shape, f)}
}

// along takes positions along an axis.
func along(d dtype.DType, a array, axis int, from []int) *answer {
	shape := slices.Clone(a.shape)
	shape[axis] = len(from)
	return moved(d, shape, func(c []int) []byte {
		c = slices.Clone(c)
		c[axis] = from[c[axis]]
		return a.at(c)
	})
}

func triangle(d dtype.DType, a array, keep func(i, j int) bool) *answer {
	return moved(d, a.shape, func(c []int) []byte {
		if keep(c[len(c)-2], c[len(c)-1]) {
			return a.at(c)
		}
		return make([]byte, d.Size())
	})
}

func gather(d dtype.DType, c *call, in []array) *answer {
	axis := positive(c.ints[0], len(in[0].shape))
	n := len(in[1].shape)
	return moved(d, slices.Concat(in[0].shape[:axis], in[1].shape, in[0].shape[axis+1:]), func(c []int) []byte {
		i := indexAt(in[1], c[axis:axis+n], in[0].shape[axis])
		return in[0].at(slices.Concat(c[:axis], []int{i}, c[axis+n:]))
	})
}

// numbered makes an answer of numbers. There is none for complex types, and one that fails where fixed point lacks a number.
func numbered(d dtype.DType, shape []int, f func(c []int) (number, bool)) *answer {
	if d.IsComplex() {
		return nil
	}
	failed := false
	out := moved(d, shape, func(c []int) []byte {
		x, ok := f(c)
		if !ok {
			failed = true
			return make([]byte, d.Size())
		}
		b, ok := encode(d, x)
		failed = failed || !ok
		return b
	})
	out.failed = failed
	return out
}

func each(f func(d dtype.DType, x number) (number, bool)) func(d dtype.DType, c *call, in []array) *answer {
	return func(d dtype.DType, _ *call, in []array) *answer {
		return numbered(d, in[0].shape, func(c []int) (number, bool) { return f(d, decode(d, in[0].at(c))) })
	}
}

func both(f func(d dtype.DType, x, y number) (number, bool)) func(d dtype.DType, c *call, in []array) *answer {
	return func(d dtype.DType, _ *call, in []array) *answer {
		shape, _ := broadcast(in[0].shape, in[1].shape)
		return numbered(d, shape, func(c []int) (number, bool) {
			return f(d, decode(d, in[0].at(stretched(in[0].shape, c))), decode(d, in[1].at(stretched(in[1].shape, c))))
		})
	}
}

func compared(f func(x, y number) bool) func(d dtype.DType, c *call, in []array) *answer {
	return func(d dtype.DType, _ *call, in []array) *answer {
		if d.IsComplex() {
			return nil
		}
		shape, _ := broadcast(in[0].shape, in[1].shape)
		return moved(dtype.Bool, shape, func(c []int) []byte {
			return truth(f(decode(d, in[0].at(stretched(in[0].shape, c))), decode(d, in[1].at(stretched(in[1].shape, c)))))
		})
	}
}

// whole rounds floats to integers.
func whole(f func(float64) float64) func(d dtype.DType, c *call, in []array) *answer {
	g := each(func(d dtype.DType, x number) (number, bool) { return number{f: f(x.f)}, true })
	return func(d dtype.DType, c *call, in []array) *answer {
		if d.IsFixed() {
			return nil
		}
		return g(d, c, in)
	}
}

// signed changes the sign of numbers, and the bit of floats alone.
func signed(neg func(neg bool) bool, f func(z *big.Int) *big.Int) func(d dtype.DType, c *call, in []array) *answer {
	integers := each(func(d dtype.DType, x number) (number, bool) { return number{z: f(x.z)}, true })
	return func(d dtype.DType, c *call, in []array) *answer {
		if !d.IsFloat() {
			return integers(d, c, in)
		}
		bit := uint64(1) << (8*d.Size() - 1)
		return moved(d, in[0].shape, func(c []int) []byte {
			w := word(in[0].at(c))
			if yes := neg(w&bit != 0); yes {
				return unword(w|bit, d.Size())
			}
			return unword(w&^bit, d.Size())
		})
	}
}

// folded makes an element of all elements along axes, nil meaning all.
func folded(to dtype.DType, a array, axes []int, f func(line [][]byte) (b []byte, ok, known bool)) *answer {
	gone := make([]bool, len(a.shape))
	for k := range gone {
		gone[k] = axes == nil || slices.Contains(axes, k) || slices.Contains(axes, k-len(a.shape))
	}
	var shape []int
	for k, e := range a.shape {
		if !gone[k] {
			shape = append(shape, e)
		}
	}
	lines := make([][][]byte, size(shape))
	for i, c := range coords(a.shape) {
		var kept []int
		for k, x := range c {
			if !gone[k] {
				kept = append(kept, x)
			}
		}
		at := place(shape, kept)
		lines[at] = append(lines[at], a.elem(i))
	}
	out, known := &answer{array: array{d: to, shape: shape}}, true
	for _, line := range lines {
		b, ok, k := f(line)
		out.b = append(out.b, b...)
		out.failed, known = out.failed || !ok, known && k
	}
	if !known {
		return nil
	}
	return out
}

func numbersOf(d dtype.DType, line [][]byte) (list []number, nan bool) {
	for _, b := range line {
		x := decode(d, b)
		list, nan = append(list, x), nan || x.z == nil && x.f != x.f
	}
	return list, nan
}

// extreme is the largest element, or with a negative sign the smallest.
func extreme(sign int) func(d dtype.DType, c *call, in []array) *answer {
	return func(d dtype.DType, c *call, in []array) *answer {
		return folded(d, in[0], c.ints, func(line [][]byte) ([]byte, bool, bool) {
			list, nan := numbersOf(d, line)
			if nan {
				b, _ := encode(d, number{f: math.NaN()})
				return b, true, true
			}
			if len(list) == 0 {
				return nil, true, false
			}
			best := 0
			for i, x := range list {
				if sign > 0 && below(list[best], x) || sign < 0 && below(x, list[best]) {
					best = i
				}
			}
			return line[best], true, true
		})
	}
}

// exactly reports whether floats can be added in any order without rounding, with bits bits and exponents from least on, and the sum.
func exactly(list []float64, bits, least int) (sum float64, ok bool) {
	total, all := new(big.Float).SetPrec(2200), new(big.Float).SetPrec(2200)
	low, negative := math.MaxInt, false
	for _, f := range list {
		if f-f != 0 {
			return 0, false
		}
		if f == 0 {
			negative = negative || math.Signbit(f)
			continue
		}
		v := new(big.Float).SetPrec(2200).SetFloat64(f)
		low = min(low, v.MantExp(nil)-int(v.MinPrec()))
		total.Add(total, v)
		all.Add(all, v.Abs(v))
	}
	if total.Sign() == 0 {
		return 0, !negative && low > math.MinInt && (all.Sign() == 0 || all.MantExp(nil)-low <= bits && low >= least)
	}
	sum, _ = total.Float64()
	return sum, all.MantExp(nil)-low <= bits && low >= least
}

// total is the sum. That of floats is known where no order rounds.
func total(d dtype.DType, c *call, in []array) *answer {
	if d.IsComplex() {
		return nil
	}
	return folded(d, in[0], c.ints, func(line [][]byte) ([]byte, bool, bool) {
		list, _ := numbersOf(d, line)
		if !d.IsFloat() {
			z := new(big.Int)
			for _, x := range list {
				z.Add(z, x.z)
			}
			b, ok := encode(d, number{z: z})
			return b, ok, true
		}
		fs := make([]float64, len(list))
		for i, x := range list {
			fs[i] = x.f
		}
		sum, known := exactly(fs, 53, -1074)
		b, _ := encode(d, number{f: sum})
		return b, true, known
	})
}

func matmul(d dtype.DType, _ *call, in []array) *answer {
	a, b := in[0], in[1]
	row, column := len(a.shape) == 1, len(b.shape) == 1
	if row {
		a.shape = []int{1, a.shape[0]}
	}
	if column {
		b.shape = []int{b.shape[0], 1}
	}
	batch, _ := broadcast(a.shape[:len(a.shape)-2], b.shape[:len(b.shape)-2])
	n := len(batch)
	known := true
	out := numbered(d, slices.Concat(batch, a.shape[len(a.shape)-2:len(a.shape)-1], b.shape[len(b.shape)-1:]), func(c []int) (number, bool) {
		z := new(big.Int)
		var terms []float64
		for k := range a.shape[len(a.shape)-1] {
			x := decode(d, a.at(slices.Concat(stretched(a.shape[:len(a.shape)-2], c[:n]), []int{c[n], k})))
			y := decode(d, b.at(slices.Concat(stretched(b.shape[:len(b.shape)-2], c[:n]), []int{k, c[n+1]})))
			if x.z != nil {
				z.Add(z, x.z.Mul(x.z, y.z))
				continue
			}
			p := x.f * y.f
			exact := new(big.Float).SetPrec(2200).Mul(bigOf(d, number{f: finite(x.f)}), bigOf(d, number{f: finite(y.f)}))
			known = known && exact.Cmp(bigOf(d, number{f: finite(p)})) == 0
			terms = append(terms, p)
		}
		switch {
		case d == dtype.Bool:
			return number{z: big.NewInt(int64(z.Sign()))}, true
		case !d.IsFloat():
			return number{z: shifted(z, fraction(d))}, true
		}
		bits, least := 24, -149
		if d == dtype.Float64 {
			bits, least = 53, -1074
		}
		f, ok := exactly(terms, bits, least)
		known = known && ok && math.Abs(f) < 1<<100
		return number{f: f}, true
	})
	if out == nil || !known {
		return nil
	}
	shape := slices.Clone(batch)
	if !row {
		shape = append(shape, a.shape[len(a.shape)-2])
	}
	if !column {
		shape = append(shape, b.shape[len(b.shape)-1])
	}
	out.shape = shape
	return out
}

// finite is f, and 0 for what isn't finite.
func finite(f float64) float64 {
	if f-f != 0 {
		return 0
	}
	return f
}

// lined makes an element for each one of each line along an axis.
func lined(to dtype.DType, a array, axis int, f func(line [][]byte, i int) []byte) *answer {
	axis = positive(axis, len(a.shape))
	return moved(to, a.shape, func(c []int) []byte {
		line := make([][]byte, a.shape[axis])
		for i := range line {
			at := slices.Clone(c)
			at[axis] = i
			line[i] = a.at(at)
		}
		return f(line, c[axis])
	})
}

// ascending is the stable order of a line, NaNs last.
func ascending(d dtype.DType, line [][]byte) []int {
	list, _ := numbersOf(d, line)
	at := seq(len(line))
	slices.SortStableFunc(at, func(i, j int) int {
		x, y := list[i], list[j]
		switch nx, ny := x.z == nil && x.f != x.f, y.z == nil && y.f != y.f; {
		case nx && ny:
			return 0
		case nx:
			return 1
		case ny:
			return -1
		}
		return order(x, y)
	})
	return at
}

// argument is the place of the extreme along an axis.
func argument(sign int) func(d dtype.DType, c *call, in []array) *answer {
	return func(d dtype.DType, c *call, in []array) *answer {
		axis := positive(c.ints[0], len(in[0].shape))
		if in[0].shape[axis] == 0 {
			return nil
		}
		return folded(dtype.Int64, in[0], []int{axis}, func(line [][]byte) ([]byte, bool, bool) {
			list, nan := numbersOf(d, line)
			best := 0
			for i, x := range list {
				better := sign > 0 && below(list[best], x) || sign < 0 && below(x, list[best])
				if better || c.flag && !below(x, list[best]) && !below(list[best], x) {
					best = i
				}
			}
			if nan {
				best = slices.IndexFunc(list, func(x number) bool { return x.f != x.f })
			}
			return unword(uint64(best), 8), true, !nan || !c.flag
		})
	}
}
