package conv

import (
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/simd"
	"github.com/ashlar-go/ashlar/num"
)

// Elements are selected by their bytes in memory. Their sizes are the powers of two up to 16. Elements of 8 and 16 bytes may stand at
// multiples of 4. Every function is written once for all sizes, and called with the size of an element.

type (
	word8  = [2]uint32
	word16 = [4]uint32
)

func elems[W any](mem []byte) []W {
	var w W
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(w)))
}

// aligned8 reports whether elements of 8 bytes are words of the processor.
func aligned8(dst, src []byte) bool {
	return (uintptr(unsafe.Pointer(unsafe.SliceData(dst)))|uintptr(unsafe.Pointer(unsafe.SliceData(src))))%8 == 0
}

// Outside returns the place of the first index outside an axis of n entries, or -1. Negative indices count from the end.
func Outside(at []int64, n int) int {
	extent := uint64(n)
	all, done := simd.TryWithin(at, n)
	bad := !all
	for _, v := range at[done:] {
		bad = bad || uint64(v)+extent >= 2*extent // v is from -n to n-1, as n is below 2^62
	}
	if !bad {
		return -1
	}
	for i, v := range at {
		if v < -int64(n) || v >= int64(n) {
			return i
		}
	}
	return -1
}

// An Axis leads from an index to an element. Index v in place i leads to the element at First + v·Stride + i·Step. A negative index
// counts from the end, N.
type Axis struct{ First, N, Stride, Step int }

// Take sets element i of dst to the element of src that index i leads to.
func Take(dst, src []byte, size int, at []int64, x Axis) {
	switch size {
	case 1:
		take(dst, src, at, x)
	case 2:
		take(elems[uint16](dst), elems[uint16](src), at, x)
	case 4:
		take(elems[uint32](dst), elems[uint32](src), at, x)
	case 8:
		if aligned8(dst, src) {
			take(elems[uint64](dst), elems[uint64](src), at, x)
		} else {
			take(elems[word8](dst), elems[word8](src), at, x)
		}
	default:
		take(elems[word16](dst), elems[word16](src), at, x)
	}
}

func take[W any](dst, src []W, at []int64, x Axis) {
	dst = dst[:len(at)]
	n := int64(x.N)
	if x.Stride == 1 && x.Step == 0 {
		src = src[x.First:]
		for i, v := range at {
			dst[i] = src[v+n&(v>>63)]
		}
		return
	}
	first := x.First
	for i, v := range at {
		dst[i] = src[first+int(v+n&(v>>63))*x.Stride]
		first += x.Step
	}
}

// TakeWithin is Take with a check of the indices on the way. It returns the place of an index outside the axis, or -1. If there is one,
// dst is undefined.
func TakeWithin(dst, src []byte, size int, at []int64, x Axis) int {
	const some = 1024 // indices that stay in a first-level cache
	for i := 0; i < len(at); i += some {
		part := at[i:min(i+some, len(at))]
		if bad := Outside(part, x.N); bad >= 0 {
			return i + bad
		}
		Take(dst[i*size:], src, size, part, x)
	}
	return -1
}

// Put sets the element of dst that index i leads to to element i·step of src. Where indices repeat, the last one counts.
func Put(dst, src []byte, size int, at []int64, x Axis, step int) {
	switch size {
	case 1:
		put(dst, src, at, x, step)
	case 2:
		put(elems[uint16](dst), elems[uint16](src), at, x, step)
	case 4:
		put(elems[uint32](dst), elems[uint32](src), at, x, step)
	case 8:
		if aligned8(dst, src) {
			put(elems[uint64](dst), elems[uint64](src), at, x, step)
		} else {
			put(elems[word8](dst), elems[word8](src), at, x, step)
		}
	default:
		put(elems[word16](dst), elems[word16](src), at, x, step)
	}
}

func put[W any](dst, src []W, at []int64, x Axis, step int) {
	n := int64(x.N)
	if x.Stride == 1 && x.Step == 0 && step == 1 {
		dst, src = dst[x.First:], src[:len(at)]
		for i, v := range at {
			dst[v+n&(v>>63)] = src[i]
		}
		return
	}
	first, from := x.First, 0
	for _, v := range at {
		dst[first+int(v+n&(v>>63))*x.Stride] = src[from]
		first += x.Step
		from += step
	}
}

// True returns the number of bytes of a mask that aren't 0. They are 0 or 1.
func True(mask []byte) (n int) {
	for len(mask) >= 8 {
		words := elemsOf8(mask)
		words = words[:min(len(words), 255)] // so that no byte of the sum overflows
		var sums [4]uint64                   // one sum alone waits for itself
		i := 0
		for ; i+4 <= len(words); i += 4 {
			sums[0] += words[i]
			sums[1] += words[i+1]
			sums[2] += words[i+2]
			sums[3] += words[i+3]
		}
		for _, w := range words[i:] {
			sums[0] += w
		}
		sum := sums[0] + sums[1] + sums[2] + sums[3]
		mask = mask[8*len(words):]
		const low = 0x00ff00ff00ff00ff
		sum = sum&low + sum>>8&low
		n += int(sum * 0x0001000100010001 >> 48)
	}
	for _, b := range mask {
		n += int(b)
	}
	return n
}

// elemsOf8 returns the whole words of 8 bytes in mem, which may begin anywhere.
func elemsOf8(mem []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}

// Filter copies the elements of src whose byte in mask is 1 to dst, one after the other, and returns their number. dst has room for one
// element more, or for all of them.
func Filter(dst, src []byte, size int, mask []byte) int {
	switch size {
	case 1:
		return filter(dst, src, mask)
	case 2:
		return filter(elems[uint16](dst), elems[uint16](src), mask)
	case 4:
		to, from := elems[uint32](dst), elems[uint32](src)
		k, i := simd.TryFilter32(to, from, mask)
		return k + filter(to[k:], from[i:], mask[i:])
	case 8:
		k, i := simd.TryFilter64(elemsOf8(dst), elemsOf8(src), mask)
		return k + filter(elems[word8](dst)[k:], elems[word8](src)[i:], mask[i:])
	}
	return filter(elems[word16](dst), elems[word16](src), mask)
}

func filter[W any](dst, src []W, mask []byte) int {
	k, i := 0, 0
	src = src[:len(mask)]
	for ; i+8 <= len(mask) && k+8 <= len(dst); i += 8 { // it stores too many, so that there are no branches
		to, from, m := (*[8]W)(dst[k:]), (*[8]W)(src[i:]), (*[8]byte)(mask[i:])
		n := 0
		for j := range from {
			to[n&7] = from[j]
			n += int(m[j])
		}
		k += n
	}
	for ; i < len(mask) && k < len(dst); i++ {
		dst[k] = src[i]
		k += int(mask[i])
	}
	return k
}

// Replace sets the elements of dst whose byte in mask is 1 to elements of src. step, 0 or 1, is the distance from one element of src to
// the next.
func Replace(dst, src []byte, size int, mask []byte, step int) {
	switch size {
	case 1:
		replace(dst, src, mask, step)
	case 2:
		replace(elems[uint16](dst), elems[uint16](src), mask, step)
	case 4:
		to, from := elems[uint32](dst), elems[uint32](src)
		k, i := simd.TryReplace32(to, from, mask, step)
		replace(to[i:], from[k*step:], mask[i:], step)
	case 8:
		if aligned8(dst, src) {
			to, from := elems[uint64](dst), elems[uint64](src)
			k, i := simd.TryReplace64(to, from, mask, step)
			replace(to[i:], from[k*step:], mask[i:], step)
		} else {
			replace(elems[word8](dst), elems[word8](src), mask, step)
		}
	default:
		replace(elems[word16](dst), elems[word16](src), mask, step)
	}
}

func replace[W any](dst, src []W, mask []byte, step int) {
	k := 0
	dst = dst[:len(mask)]
	for i := 0; i < len(mask); i++ {
		if i+8 <= len(mask) && *(*[8]byte)(mask[i:]) == [8]byte{} {
			i += 7
			continue
		}
		if mask[i] != 0 { // other elements aren't written, as others may use them
			dst[i] = src[k]
			k += step
		}
	}
}

// Places sets dst to the places of the bytes of mask that are 1, counted from first on, and returns their number. dst has room for one
// place more, or for all of them.
func Places(dst []int64, mask []byte, first int) int {
	k, i := simd.TryPlaces(dst, mask, first)
	for ; i+8 <= len(mask) && k+8 <= len(dst); i += 8 { // it stores too many, so that there are no branches
		m := (*[8]byte)(mask[i:])
		if *m == [8]byte{} {
			continue
		}
		to, n := (*[8]int64)(dst[k:]), 0
		for j := range m {
			to[n&7] = int64(first + i + j)
			n += int(m[j])
		}
		k += n
	}
	for ; i < len(mask) && k < len(dst); i++ {
		dst[k] = int64(first + i)
		k += int(mask[i])
	}
	return k
}

// Each sets n elements of dst to each element of src in turn.
func Each(dst, src []byte, size, n int) {
	switch size {
	case 1:
		each(dst, src, n)
	case 2:
		each(elems[uint16](dst), elems[uint16](src), n)
	case 4:
		each(elems[uint32](dst), elems[uint32](src), n)
	case 8:
		each(elems[word8](dst), elems[word8](src), n)
	default:
		each(elems[word16](dst), elems[word16](src), n)
	}
}

func each[W any](dst, src []W, n int) {
	switch {
	case n == 2:
		for i, v := range src {
			d := dst[2*i : 2*i+2]
			d[0], d[1] = v, v
		}
	case n < 16:
		for _, v := range src {
			for j := range dst[:n] {
				dst[j] = v
			}
			dst = dst[n:]
		}
	default:
		for i, v := range src {
			Fill(dst[i*n:(i+1)*n], v)
		}
	}
}

// Pairs sets dst to elements of a and b in turns.
func Pairs(dst, a, b []byte, size int) {
	switch size {
	case 1:
		pairs(dst, a, b)
	case 2:
		pairs(elems[uint16](dst), elems[uint16](a), elems[uint16](b))
	case 4:
		pairs(elems[uint32](dst), elems[uint32](a), elems[uint32](b))
	case 8:
		pairs(elems[word8](dst), elems[word8](a), elems[word8](b))
	default:
		pairs(elems[word16](dst), elems[word16](a), elems[word16](b))
	}
}

func pairs[W any](dst, a, b []W) {
	b = b[:len(a)]
	for i, v := range a {
		to := dst[2*i : 2*i+2]
		to[0], to[1] = v, b[i]
	}
}

// Backward copies the elements of src to dst from the last to the first.
func Backward(dst, src []byte, size int) {
	switch size {
	case 1:
		backward(dst, src)
	case 2:
		backward(elems[uint16](dst), elems[uint16](src))
	case 4:
		backward(elems[uint32](dst), elems[uint32](src))
	case 8:
		backward(elems[word8](dst), elems[word8](src))
	default:
		backward(elems[word16](dst), elems[word16](src))
	}
}

func backward[W any](dst, src []W) {
	var w W
	done := 0
	switch {
	case unsafe.Sizeof(w) == 4:
		done = simd.TryReverse32(words[uint32](dst), words[uint32](src))
	case unsafe.Sizeof(w) == 8 && unsafe.Alignof(w) == 8:
		done = simd.TryReverse64(words[uint64](dst), words[uint64](src))
	}
	dst, src = dst[done:len(src)], src[:len(src)-done]
	for i := range dst {
		dst[i] = src[len(src)-1-i]
	}
}

// Nonzero sets dst to 1 where an element of src isn't zero, and to 0 elsewhere. The sign of a float doesn't matter. A pair isn't zero if
// one half isn't.
func Nonzero(dst, src []byte, size int, float, pair bool) {
	if t := simd.NotEqual.Best(); t != nil && !pair { // with an instruction set
		out, done := As[bool](dst), false
		switch {
		case size == 1 && !float:
			done = unlikeZero(out, elems[uint8](src), t.U8)
		case size == 4 && float:
			done = unlikeZero(out, elems[float32](src), t.F32)
		case size == 4:
			done = unlikeZero(out, elems[int32](src), t.I32)
		case size == 8 && float:
			done = unlikeZero(out, elems[float64](src), t.F64)
		case size == 8:
			done = unlikeZero(out, elems[int64](src), t.I64)
		}
		if done {
			return
		}
	}
	if pair {
		size /= 2
	}
	switch size {
	case 1:
		nonzero(dst, src, float, pair)
	case 2:
		nonzero(dst, elems[uint16](src), float, pair)
	case 4:
		nonzero(dst, elems[uint32](src), float, pair)
	case 8:
		nonzero(dst, elems[uint64](src), float, pair)
	default:
		nonzero(dst, elemsOf8(src), float, true) // a number of 16 bytes
	}
}

// unlikeZero compares elements with zeros by a row, a block at a time. It returns false, before it does anything, where there is no row.
func unlikeZero[T num.Native](dst []bool, src []T, row func(dst []bool, a, b []T)) bool {
	if row == nil {
		return false
	}
	zeros := make([]T, min(len(src), 1024))
	for n := 0; len(src) > 0; dst, src = dst[n:], src[n:] {
		n = min(len(src), len(zeros))
		row(dst[:n], src[:n], zeros[:n])
	}
	return true
}

func nonzero[W uint8 | uint16 | uint32 | uint64](dst []byte, src []W, float, pair bool) {
	mask := ^W(0)
	if float {
		mask >>= 1
	}
	if pair {
		for i := range dst {
			dst[i] = truth((src[2*i] | src[2*i+1]) & mask)
		}
		return
	}
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = truth(v & mask)
	}
}

func truth[W uint8 | uint16 | uint32 | uint64](v W) (b byte) {
	if v != 0 {
		b = 1
	}
	return b
}
