// Package order puts the elements of a line into order. It sorts them, gives their positions in the order, and finds the elements of
// a rank. It works on keys, which are unsigned integers.
package order

import (
	"bytes"
	"cmp"
	mathbits "math/bits"
	"slices"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
)

// A Form is the way from the bits of an element to its place in the order.
type Form struct {
	Size    int    // of an element, in bytes: a power of two up to 8
	Signed  bool   // an integer in two's complement
	Largest uint64 // of a float, the bits of the largest number, which NaNs are above; 0 otherwise
}

// A Key has the order of an element. It is uint32 for elements of up to 4 bytes, and uint64 for 8.
type Key interface{ uint32 | uint64 }

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// Keys sets dst to the keys of the elements in mem. Smaller elements have smaller keys. The two zeros of a float have one key. All
// its NaNs have the largest key, which no number has. With down, larger elements have smaller keys. blurred reports whether there are
// NaNs or negative zeros, which have the same keys as others.
func Keys[K Key](dst []K, mem []byte, f *Form, down bool) (blurred bool) {
	switch f.Size {
	case 1:
		return keys(dst, words[uint8](mem), f, down)
	case 2:
		return keys(dst, words[uint16](mem), f, down)
	case 4:
		src, done := words[uint32](mem), 0
		if f.Largest == infinity32 && unsafe.Sizeof(K(0)) == 4 {
			turn := uint32(0)
			if down {
				turn = ^turn
			}
			blurred, done = simd.TryKeys32(same32(dst[:len(src)]), src, turn)
		}
		return keys(dst[done:], src[done:], f, down) || blurred
	}
	return keys(dst, words[uint64](mem), f, down)
}

func keys[K Key, W word](dst []K, src []W, f *Form, down bool) (blurred bool) {
	all := ^W(0)
	sign := all ^ all>>1
	dst = dst[:len(src)]
	var turn W
	if down {
		turn = all
	}
	if f.Largest == 0 {
		if f.Signed {
			turn ^= sign
		}
		for i, x := range src {
			dst[i] = K(x ^ turn)
		}
		return false
	}
	top, largest := uint(8*f.Size-1), W(f.Largest)
	for i, x := range src {
		if mag := x &^ sign; mag-1 >= largest { // zero, or NaN
			blurred = blurred || x != 0
			if x = sign; mag != 0 {
				x = all
			}
		} else {
			x ^= -(x >> top) | sign
		}
		dst[i] = K(x ^ turn)
	}
	return blurred
}

// Elements is the inverse of Keys without down. NaNs become one, and zeros +0.
func Elements[K Key](mem []byte, src []K, f *Form) {
	switch f.Size {
	case 1:
		elements(words[uint8](mem), src, f)
	case 2:
		elements(words[uint16](mem), src, f)
	case 4:
		dst, done := words[uint32](mem), 0
		if f.Largest == infinity32 && unsafe.Sizeof(K(0)) == 4 {
			done = simd.TryElements32(dst, same32(src))
		}
		elements(dst[done:], src[done:], f)
	default:
		elements(words[uint64](mem), src, f)
	}
}

func elements[K Key, W word](dst []W, src []K, f *Form) {
	all := ^W(0)
	sign := all ^ all>>1
	dst = dst[:len(src)]
	top := uint(8*f.Size - 1)
	switch {
	case f.Largest != 0:
		for i, k := range src {
			x := W(k)
			dst[i] = x ^ (x>>top - 1) ^ (x >> top << top) // a negative number complemented, or the sign removed
		}
	case f.Signed:
		for i, k := range src {
			dst[i] = W(k) ^ sign
		}
	default:
		for i, k := range src {
			dst[i] = W(k)
		}
	}
}

// Zero returns the key of a float's zeros.
func (f *Form) Zero() uint64 { return 1 << (8*f.Size - 1) }

// NaN returns the key of a float's NaNs.
func (f *Form) NaN() uint64 { return 2*f.Zero() - 1 }

// Float returns the float with a key, in its own type. A NaN is some NaN.
func Float[T float32 | float64, K Key](f *Form, key K) (v T) {
	Elements(unsafe.Slice((*byte)(unsafe.Pointer(&v)), f.Size), []K{key}, f)
	return v
}

// Positions returns memory as int64.
func Positions(mem []byte) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}

// words returns memory as words.
func words[W word | int32 | int64 | float32 | float64](mem []byte) []W {
	var w W
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(w)))
}

// The largest float32 and float64.
const (
	infinity32 = 0x7f800000
	infinity64 = 0x7ff << 52
)

const (
	few  = 24  // keys that are inserted one after the other
	some = 512 // keys that are sorted by comparing them
)

// Sort stores the elements in mem in ascending order in dst, which is as long and doesn't overlap it. It is stable: equal elements
// keep their order. So do the two zeros, and NaNs, which are last. keys and spare have room for as many keys.
func Sort[K Key](dst, mem []byte, f *Form, keys, spare []K) {
	if Rises(mem, f, keys) {
		copy(dst, mem)
		return
	}
	blurred := Keys(keys, mem, f, false)
	up, down := trend(keys)
	if up {
		copy(dst, mem)
		return
	}
	if down {
		slices.Reverse(keys)
	} else if vectors(keys, spare) {
	} else if len(keys) <= some {
		slices.Sort(keys)
	} else {
		keys, spare = radix(keys, spare, 0, 8*f.Size)
	}
	Elements(dst, keys, f)
	if !blurred {
		return
	}
	zero, nan := K(f.Zero()), K(f.NaN())
	zeros, _ := slices.BinarySearch(keys, zero)
	nans, _ := slices.BinarySearch(keys, nan)
	Keys(spare, mem, f, false)
	for i, k := range spare[:len(keys)] { // elements whose keys don't give them back
		switch k {
		case zero:
			copy(dst[zeros*f.Size:], mem[i*f.Size:(i+1)*f.Size])
			zeros++
		case nan:
			copy(dst[nans*f.Size:], mem[i*f.Size:(i+1)*f.Size])
			nans++
		}
	}
}

// Rises reports whether kernels that compare neighbours find that the elements in mem never fall, and that none is a NaN. It ends at
// the first block that doesn't rise. room is scratch, with a key for each element.
func Rises[K Key](mem []byte, f *Form, room []K) bool {
	le := simd.LessOrEqual.Best()
	if le == nil || len(mem) < 128*f.Size {
		return false
	}
	mask := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(room))), len(room))
	switch {
	case f.Largest == infinity32 && f.Size == 4:
		return rises(words[float32](mem), le.F32, mask)
	case f.Largest == infinity64 && f.Size == 8:
		return rises(words[float64](mem), le.F64, mask)
	case f.Largest == 0 && f.Signed && f.Size == 4:
		return rises(words[int32](mem), le.I32, mask)
	case f.Largest == 0 && f.Signed && f.Size == 8:
		return rises(words[int64](mem), le.I64, mask)
	}
	return false
}

func rises[T int32 | int64 | float32 | float64](v []T, le func(dst []bool, a, b []T), mask []byte) bool {
	for n := 64; len(v) > 1; n = 1024 { // few first, as most lines have no order
		n = min(n, len(v)-1)
		le(unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(mask))), n), v[:n], v[1:])
		if bytes.IndexByte(mask[:n], 0) >= 0 {
			return false
		}
		v = v[n:]
	}
	return true
}

// trend reports whether keys never fall, and whether they never rise. It ends where both are settled, so for keys in no order it
// takes a few steps only.
func trend[K Key](keys []K) (up, down bool) {
	if len(keys) == 0 {
		return true, false
	}
	first := keys[0]
	last := first
	for i, k := range keys {
		if k < last {
			return false, last == first && falls(keys[i:])
		}
		last = k
	}
	return true, false
}

// falls reports whether keys never rise.
func falls[K Key](keys []K) bool {
	last := keys[0]
	for _, k := range keys {
		if k > last {
			return false
		}
		last = k
	}
	return true
}

// turned sets at to the positions of keys that never rise in ascending order.
func turned[K Key](at []int64, keys []K) {
	last := len(keys) - 1
	for i := range at {
		at[i] = int64(last - i)
	}
	for from := 0; from < last; from++ {
		till := from
		for till < last && keys[till+1] == keys[from] {
			till++
		}
		if till > from { // equal ones keep their order
			slices.Reverse(at[last-till : last-from+1])
			from = till
		}
	}
}

// radix sorts keys by their bits, those from up to below to; keys with equal bits keep their order. It returns the sorted keys and
// the other memory.
func radix[K Key](keys, spare []K, from, to int) (sorted, rest []K) {
	spare = spare[:len(keys)]
	digits := (to - from + 7) / 8
	var counts [8][256]int
	for d := 0; d < digits; d += 4 {
		c, shift := (*[4][256]int)(counts[d:]), uint(from+8*d)
		for _, x := range keys { // also of digits after to, which have room
			y := uint32(x >> shift)
			c[0][uint8(y)]++
			c[1][uint8(y>>8)]++
			c[2][uint8(y>>16)]++
			c[3][y>>24]++
		}
	}
	for d := range digits {
		c, shift := &counts[d], uint(from+8*d)
		if c[uint8(keys[0]>>shift)] == len(keys) {
			continue // all keys have this digit
		}
		sum := 0
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, x := range keys {
			p := &c[uint8(x>>shift)]
			spare[*p] = x
			*p++
		}
		keys, spare = spare, keys
	}
	return keys, spare
}

// Ascend sets at to the positions of elements that are in order.
func Ascend(at []int64) {
	for i := range at {
		at[i] = int64(i)
	}
}

// Arrange sets at to the positions of keys in ascending order. Of equal keys the first comes first. Keys differ only in
// their lowest bits, bits in number. room is scratch, which Arrange may replace by longer one.
func Arrange[K Key](at []int64, keys []K, bits int, room *[]uint64) {
	n := len(keys)
	at = at[:n]
	switch up, down := trend(keys); {
	case up:
		Ascend(at)
		return
	case down:
		turned(at, keys)
		return
	}
	if uint64(n) >= 1<<32 || bits > 32 && n <= some {
		arrangeBy(at, keys)
		return
	}
	if len(*room) < 2*n {
		*room = make([]uint64, 2*n)
	}
	a, b := (*room)[:n], (*room)[n:2*n]
	for i, k := range keys {
		a[i] = uint64(k)<<32 | uint64(i)
	}
	if n <= some { // bits are at most 32
		slices.Sort(a)
	} else if a, b = radix(a, b, 32, min(64, 32+bits)); bits > 32 {
		for i, x := range a {
			b[i] = uint64(keys[uint32(x)])&^(1<<32-1) | x&(1<<32-1)
		}
		a, _ = radix(b, a, 32, bits)
	}
	for i, x := range a {
		at[i] = int64(uint32(x))
	}
}

// arrangeBy is Arrange by comparisons of keys.
func arrangeBy[K Key](at []int64, keys []K) {
	Ascend(at)
	slices.SortFunc(at, func(i, j int64) int {
		if x, y := keys[i], keys[j]; x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(i, j)
	})
}

// Rank returns the key of rank k in ascending order, the number of smaller keys, and the number of keys that aren't larger. Keys
// differ only in their lowest bits, bits in number. keys stay as they are, and spare is as long.
func Rank[K Key](keys, spare []K, k, bits int) (key K, smaller, upto int) {
	var counts [1 << 11]int
	rest := keys // the keys whose upper bits are those in key
	for bits > 0 {
		if len(rest) <= few {
			rest = spare[:copy(spare, rest)]
			slices.Sort(rest)
			key = rest[k-smaller]
			first, _ := slices.BinarySearch(rest, key)
			last := first
			for last < len(rest) && rest[last] == key {
				last++
			}
			return key, smaller + first, smaller + last
		}
		digit := min(bits, 8)
		if len(rest) >= 1<<13 {
			digit = min(bits, 11)
		}
		bits -= digit
		c, shift, mask := counts[:1<<digit], uint(bits), K(1)<<digit-1
		clear(c)
		for _, x := range rest {
			c[x>>shift&mask]++
		}
		d := 0
		for smaller+c[d] <= k {
			smaller += c[d]
			d++
		}
		if n := c[d]; n < len(rest) {
			j := 0
			for _, x := range rest {
				spare[j] = x // in place, where rest is spare's
				if x>>shift&mask == K(d) {
					if j++; j == n {
						break
					}
				}
			}
			rest = spare[:n]
		}
	}
	return rest[0], smaller, smaller + len(rest)
}

// A Topper has the scratch of Top.
type Topper[K Key] struct {
	Spare       []K // if it is as long as the keys, Top ranks all of them: for a large k
	keys, spare []K
	at          []int64
	room        []uint64
}

// Top sets at to the positions of the k smallest keys in ascending order. Of equal keys the first comes first. Keys differ only in
// their lowest bits, bits in number. It keeps some candidates. When there is no room for another, only the k smallest stay. From then
// on a key must be smaller than these to be a candidate.
func (t *Topper[K]) Top(at []int64, keys []K, k, bits int) {
	n := len(keys)
	if k == 0 {
		return
	}
	if len(t.Spare) >= n {
		t.pick(keys, k, bits)
		t.arrange(at, k, bits)
		return
	}
	room := min(n, max(4*k, 1024))
	if len(t.keys) < room {
		t.keys, t.spare, t.at = make([]K, room), make([]K, room), make([]int64, room)
	}
	have, bound := 0, ^K(0)
	full := false // there are k candidates, and others must be below bound
	for i := 0; i < n; {
		block := keys[i:min(n, i+room-have)]
		if !full {
			copy(t.keys[have:], block)
			for j := range block {
				t.at[have+j] = int64(i + j)
			}
			have += len(block)
			i += len(block)
		} else {
			for ; i < n && have < room; i++ {
				if x := keys[i]; x < bound {
					t.keys[have], t.at[have] = x, int64(i)
					have++
				}
			}
		}
		if have == room && i < n {
			bound = t.reduce(have, k, bits)
			have, full = k, true
		}
	}
	if have > k {
		t.reduce(have, k, bits)
	}
	t.arrange(at, k, bits)
}

// arrange sets at to the positions of the k candidates in ascending order.
func (t *Topper[K]) arrange(at []int64, k, bits int) {
	Arrange(at[:k], t.keys[:k], bits, &t.room)
	for i, p := range at[:k] {
		at[i] = t.at[p]
	}
}

// pick makes the k smallest keys the candidates, in the order of their positions.
func (t *Topper[K]) pick(keys []K, k, bits int) {
	if len(t.keys) <= k {
		t.keys, t.at = make([]K, k+1), make([]int64, k+1)
	}
	key, smaller, _ := Rank(keys, t.Spare, k-1, bits)
	equal := k - smaller // this number of keys equal to key stays
	to, at := t.keys[:k+1], t.at[:k+1]
	j := 0
	for i, x := range keys { // without branches that can't be predicted
		to[j], at[j] = x, int64(i)
		_, larger := mathbits.Sub64(uint64(key), uint64(x), 0)
		if x == key {
			if equal == 0 {
				continue
			}
			equal--
		}
		j += 1 - int(larger)
	}
}

// reduce keeps the k smallest of n candidates in the order of their positions, and returns the largest of them.
func (t *Topper[K]) reduce(n, k, bits int) K {
	key, smaller, _ := Rank(t.keys[:n], t.spare, k-1, bits)
	equal := k - smaller // this number of keys equal to key stays
	j := 0
	for i, x := range t.keys[:n] {
		if x > key || x == key && equal == 0 {
			continue
		}
		if x == key {
			equal--
		}
		t.keys[j], t.at[j] = x, t.at[i]
		j++
	}
	return key
}
