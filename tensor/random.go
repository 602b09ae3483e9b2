package tensor

import (
	"math"
	"math/bits"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
)

// Random numbers are functions of the seed and of the element's place: the same on every
// machine, for any number of threads, and for ever. Element i is made of word i mod 2 of
// block i/2. A block comes from float.Philox4x32: its key is the seed, and its counter is
// the block's number, the attempt and the kind of numbers.

const (
	kindUniform = iota
	kindNormal
	kindIntegers
	kindPermutation
)

// block returns the two words of a block.
func block(seed, i uint64, attempt, kind uint32) [2]uint64 {
	x := float.Philox4x32([4]uint32{uint32(i), uint32(i >> 32), attempt, kind}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return [2]uint64{uint64(x[1])<<32 | uint64(x[0]), uint64(x[3])<<32 | uint64(x[2])}
}

// unit turns a word into a multiple of 2⁻⁵³ in [0, 1).
func unit(w uint64) float64 { return float64(float64(w>>11) * 0x1p-53) }

// RandomUniform returns numbers of [low, high), all equally likely: low + u·(high-low)
// with u a multiple of 2⁻⁵³, computed in float64 and rounded to T, and where that gives
// high the number before it. Of fixed point each number of [low, high) may come, one as
// likely as another: low + ⌊w·k/2¹²⁸⌋ units for the 128 bits w of block i, where high is
// k units above low. The same seed gives the same numbers always, in any shape
// of as many elements; another seed gives independent ones. It panics unless low is
// less than high and their difference is finite.
func RandomUniform[T num.Float | num.Fixed](seed uint64, low, high T, shape ...int) Tensor[T] {
	const op = "tensor.RandomUniform"
	a, d := floatOf(low), floatOf(high)-floatOf(low)
	from, to, fixed := word(low), word(high), dtype.Of[T]().IsFixed()
	if fixed && distance(from, to).Sign() <= 0 || !fixed && !(d > 0) || d-d != 0 {
		panic(&Error{op, sprintf("nothing lies between %v and %v; low must be less than high, and their difference finite", low, high), ErrValue})
	}
	t, all := made[T](op, shape)
	switch data := any(all).(type) {
	case []float32:
		uniform(data, seed, a, d, any(high).(float32))
	case []float64:
		uniform(data, seed, a, d, any(high).(float64))
	default:
		setWords(data, uniformWords(seed, from, to))
	}
	return t
}

func uniform[T num.Float](data []T, seed uint64, a, d float64, high T) {
	below := high // the largest number below high
	switch p := any(&below).(type) {
	case *float32:
		*p = math.Nextafter32(*p, float32(math.Inf(-1)))
	case *float64:
		*p = math.Nextafter(*p, math.Inf(-1))
	}
	for i := range data {
		w := block(seed, uint64(i)/2, 0, kindUniform)[i&1]
		v := T(a + float64(unit(w)*d))
		if v >= high {
			v = below
		}
		data[i] = v
	}
}

// RandomNormal returns numbers of the normal distribution with that mean and standard
// deviation: mean + sigma·x, computed in float64 and rounded to T. The same seed gives
// the same numbers always, in any shape of as many elements. x comes in pairs from
// Marsaglia's polar method (A convenient method for generating normal variables, SIAM
// Review 6, 1964). It panics when mean is not finite, or sigma negative or not finite,
// and where a number is beyond a fixed-point format.
func RandomNormal[T num.Float | num.Fixed](seed uint64, mean, sigma T, shape ...int) Tensor[T] {
	const op = "tensor.RandomNormal"
	m, s := floatOf(mean), floatOf(sigma)
	if m-m != 0 || s-s != 0 || s < 0 {
		panic(&Error{op, sprintf("mean %v and standard deviation %v; both must be finite, and the second at least 0", mean, sigma), ErrValue})
	}
	t, all := made[T](op, shape)
	var x [2]float64
	next := func(i int) float64 {
		if i&1 == 0 {
			x = normals(seed, uint64(i)/2)
		}
		return m + float64(s*x[i&1])
	}
	switch data := any(all).(type) {
	case []float32:
		for i := range data {
			data[i] = float32(next(i))
		}
	case []float64:
		for i := range data {
			data[i] = next(i)
		}
	default:
		setFixed(op, data, next)
	}
	return t
}

// normals returns the two numbers of a block: a point of the unit disc, evenly
// distributed, moved along its radius.
func normals(seed, i uint64) [2]float64 {
	for attempt := uint32(0); ; attempt++ {
		w := block(seed, i, attempt, kindNormal)
		u, v := 2*unit(w[0])-1, 2*unit(w[1])-1 // exact
		r := float64(u*u) + float64(v*v)
		if r > 0 && r < 1 {
			f := math.Sqrt(float64(-2*float.Log64(r)) / r)
			return [2]float64{u * f, v * f}
		}
	}
}

// RandomIntegers returns integers of [low, high), all exactly equally likely. The same
// seed gives the same numbers always, in any shape of as many elements. It panics
// unless low is less than high.
func RandomIntegers[T num.Integer](seed uint64, low, high T, shape ...int) Tensor[T] {
	const op = "tensor.RandomIntegers"
	if low >= high {
		panic(&Error{op, sprintf("no integer from %d on is below %d", low, high), ErrValue})
	}
	t, data := made[T](op, shape)
	n := uint64(high) - uint64(low)
	for i := range data {
		data[i] = T(uint64(low) + below(seed, uint64(i), n, kindIntegers))
	}
	return t
}

// below returns an integer of [0, n) for place i. The high half of a word times n is
// one; which words would be too many for some of them, and are drawn again, is
// Lemire's rule (Fast random integer generation in an interval, ACM TOMACS 29, 2019).
func below(seed, i, n uint64, kind uint32) uint64 {
	for attempt := uint32(0); ; attempt++ {
		hi, lo := bits.Mul64(block(seed, i/2, attempt, kind)[i&1], n)
		if lo >= n || lo >= -n%n {
			return hi
		}
	}
}

// RandomPermutation returns the integers 0 to n-1 in an order of which all are equally
// likely, as far as 64 bits of seed can tell. Take(t, axis, …) with its elements
// shuffles an axis. It panics when n is negative.
func RandomPermutation(seed uint64, n int) Tensor[int64] {
	t, data := made[int64]("tensor.RandomPermutation", []int{n})
	for i := range data {
		data[i] = int64(i)
	}
	for i := n - 1; i > 0; i-- { // Fisher and Yates
		j := below(seed, uint64(i), uint64(i)+1, kindPermutation)
		data[i], data[j] = data[j], data[i]
	}
	return t
}
