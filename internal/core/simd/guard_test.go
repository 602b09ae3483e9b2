//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// levels calls f for each instruction set that the processor has; rows are taken from the tables directly.
func levels(t *testing.T, f func(t *testing.T, level cpu.Level)) {
	if cpu.Detect() == cpu.Generic {
		t.Skip("this processor has no instruction set with kernels")
	}
	for l := cpu.Generic + 1; l <= min(cpu.Detect(), Top); l++ {
		t.Run(l.String(), func(t *testing.T) {
			level = l
			f(t, l)
		})
	}
}

var (
	level cpu.Level // of the rows that are tested
	ahead *Prefetch // of the call at hand, if that streams
)

// streamOf returns the second entry of a row by the name that checks have for it, as addF32; nil if it has none.
func streamOf(name string) Stream {
	for table, of := range map[string]any{"abs": Abs, "neg": Neg, "relu": Relu, "sqrt": Sqrt, "reciprocal": Reciprocal, "square": Square,
		"round": Round, "floor": Floor, "ceil": Ceil, "trunc": Trunc, "hardSwish": HardSwish,
		"exp": Exp, "log": Log, "tanh": Tanh, "sigmoid": Sigmoid, "fastExp": FastExp, "fastLog": FastLog, "fastTanh": FastTanh, "fastSigmoid": FastSigmoid,
		"add": Add, "sub": Sub, "mul": Mul, "div": Div, "max": Max, "min": Min, "mulAdd": MulAdd, "where": Where,
		"equal": Equal, "notEqual": NotEqual, "less": Less, "lessOrEqual": LessOrEqual, "greater": Greater, "greaterOrEqual": GreaterOrEqual} {
		field, ok := strings.CutPrefix(name, table)
		if !ok {
			continue
		}
		rows := reflect.ValueOf(of).Index(int(level)).Elem()
		if f := rows.FieldByName("Stream" + field); f.IsValid() {
			return f.Interface().(Stream)
		}
		if f := rows.FieldByName("Stream").Elem().FieldByName(field); f.IsValid() {
			return f.Interface().(Stream)
		}
	}
	return nil
}

// erase returns a slice as a Run.
func erase[T any](s []T) Run {
	return unsafe.Slice((*struct{})(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// at returns the kernel of a level, of those for each.
func at[F any](l cpu.Level, kernels []F) F { return kernels[l-1] }

func each[F any](kernels ...F) []F { return kernels }

// A guarded is memory between two pages that can't be touched.
type guarded struct{ bytes []byte }

func guard(t *testing.T, size int) guarded {
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	for _, p := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return guarded{all[page : page+size]}
}

// elements returns n elements: the last of the memory for at = 0, the first for at < 0, else those that begin at byte at.
func elements[T any](g guarded, n, at int) []T {
	var v T
	size := int(unsafe.Sizeof(v))
	if n == 0 {
		return nil
	}
	off := at
	switch {
	case at == 0:
		off = len(g.bytes) - n*size
	case at < 0:
		off = 0
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&g.bytes[off])), n)
}

// bits returns the bits of an element.
func bits[T any](v T) uint64 {
	p := unsafe.Pointer(&v)
	switch unsafe.Sizeof(v) {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func fromBits[T any](b uint64) (v T) {
	p := unsafe.Pointer(&v)
	switch any(v).(type) {
	case bool:
		*(*uint8)(p) = uint8(b & 1)
		return
	}
	switch unsafe.Sizeof(v) {
	case 1:
		*(*uint8)(p) = uint8(b)
	case 2:
		*(*uint16)(p) = uint16(b)
	case 4:
		*(*uint32)(p) = uint32(b)
	default:
		*(*uint64)(p) = b
	}
	return
}

// edges are bits of float16, float32 and float64 that rules are about, with either sign: zeros, subnormals, the
// smallest and largest numbers, infinities, quiet and signalling NaNs with payloads, numbers around 1.
var edges = []uint64{0, 1, 2, 0x7fffff, 0x800000, 0x3f800000, 0x3f800001, 0x40000000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001,
	0x387fc000, 0x387fe000, 0x3f808000, 0x3f818000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc12345, 0x7fffffff,
	0xfffffffffffff, 0x10000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x4000000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
	0x7ff0000000000001, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7ff8000000012345, 0x7fffffffffffffff, 0x7c00, 0x7c01, 0x7e00, 0x3c00}

// random returns an edge, or any bits, or a number near 1, or a small integer.
func random[T any](r *rand.Rand) T {
	var v T
	size := uint(unsafe.Sizeof(v))
	b := r.Uint64()
	switch r.IntN(4) {
	case 0:
		b = edges[r.IntN(len(edges))] | r.Uint64()&1<<(8*size-1)
	case 1:
		x := r.NormFloat64() * 4
		b = math.Float64bits(x)
		if size == 4 {
			b = uint64(math.Float32bits(float32(x)))
		}
	case 2:
		b = uint64(r.IntN(9) - 4)
	}
	return fromBits[T](b)
}

func fill[T any](r *rand.Rand, s []T) {
	for i := range s {
		s[i] = random[T](r)
	}
}

// tame puts ordinary numbers in the place of floats, of any sign or positive, but for one of them: what a row does where nothing is
// special, and where something is in the midst of that.
func tame[T any](r *rand.Rand, s []T, all, positive bool) {
	if k := reflect.TypeFor[T]().Kind(); k != reflect.Float32 && k != reflect.Float64 || len(s) == 0 {
		return
	}
	but := r.IntN(len(s))
	for i := range s {
		if all || i != but {
			s[i] = plain[T](r)
			if positive {
				s[i] = fromBits[T](bits(s[i]) &^ (1 << (8*unsafe.Sizeof(s[i]) - 1)))
			}
		}
	}
}

// places are where operands of n elements lie: at the end of the memory, at its start, and at every distance from a
// multiple of 64 bytes that the element size allows, none first.
func places(size int) []int {
	at := []int{0, -1}
	for o := 0; o < 64; o += size {
		at = append(at, 1024+o)
	}
	return at
}

// A row is called with its result and its operands, all of one length.
type row[R, T any] func(dst []R, in [3][]T)

// compare runs a row of n operands at each place and length, apart and in place, by usual stores and as a stream, and wants each element to be what
// want makes of the operands' elements, and the bytes around dst untouched.
func compare[R, T any](t *testing.T, n int, call row[R, T], want func(in [3]T) R) {
	t.Helper()
	var rv R
	var tv T
	rsize, tsize := int(unsafe.Sizeof(rv)), int(unsafe.Sizeof(tv))
	const most = 200
	var mem [4]guarded
	for i := range mem {
		mem[i] = guard(t, 4096)
	}
	var beyond Prefetch
	beyond.After(mem[0].bytes, mem[1].bytes) // memory that can't be touched
	r := rand.New(rand.NewPCG(1, 2))
	expect := make([]R, most)
	for length := 0; length <= most; length++ {
		for p, at := range places(rsize) {
			if length > 70 && p > 2 && p%5 != length%5 {
				continue // the ends of longer rows are as those of shorter ones
			}
			in := [3][]T{}
			dst := elements[R](mem[0], length, at)
			for i := range n {
				where := places(tsize)
				k := where[0]
				if at != 0 {
					k = where[(p+i*5)%len(where)]
				}
				in[i] = elements[T](mem[i+1], length, k)
			}
			same := -1 // the operand that dst is
			if rsize == tsize && p%3 > 0 && p%3 <= n {
				same = p%3 - 1
				in[same] = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(dst))), length)
			}
			first, lo, hi := 0, 0, 0 // of dst, and the bytes around it that are watched
			if length > 0 {
				first = int(uintptr(unsafe.Pointer(&dst[0])) - uintptr(unsafe.Pointer(&mem[0].bytes[0])))
				lo, hi = max(first-128, 0), min(first+length*rsize+128, len(mem[0].bytes))
				for i := lo; i < hi; i++ {
					mem[0].bytes[i] = 0xa5
				}
			}
			for i := range n {
				fill(r, in[i])
				if (length+p)%2 == 0 {
					tame(r, in[i], (length+p)%4 == 0, p%3 == 0)
				}
			}
			for i := range length {
				var e [3]T
				for j := range n {
					e[j] = in[j][i]
				}
				expect[i] = want(e)
			}
			var old [3][]T
			for j := range n {
				old[j] = append([]T(nil), in[j]...)
			}
			ahead = [...]*Prefetch{nil, new(Prefetch), &beyond}[(length+p)%3]
			call(dst, in)
			ahead = nil
			for i := range length {
				if bits(dst[i]) != bits(expect[i]) {
					var e []uint64
					for j := range n {
						e = append(e, bits(old[j][i]))
					}
					t.Fatalf("element %d of %d at %d (operand %d in place): got %#x, want %#x, of %#x", i, length, at, same, bits(dst[i]), bits(expect[i]), e)
				}
			}
			for i := lo; i < hi; i++ {
				if in := i >= first && i < first+length*rsize; !in && mem[0].bytes[i] != 0xa5 {
					t.Fatalf("length %d at %d: the byte %d from the row's first was written", length, at, i-first)
				}
			}
		}
	}
}
