package conv

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/ashlar-go/ashlar/num"
)

// Every kernel does with elements of each size what a loop over them does.
func TestSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 4, 8, 16} {
		for range 200 {
			n := 1 + r.IntN(70)
			src := make([]byte, n*size)
			for i := range src {
				src[i] = byte(r.Uint32())
			}
			elem := func(i int) []byte { return src[i*size : (i+1)*size] }

			at := make([]int64, r.IntN(40))
			for i := range at {
				at[i] = int64(r.IntN(2*n) - n)
			}
			entry := func(v int64) int { return int(v+int64(n)) % n }
			want, got := []byte{}, make([]byte, len(at)*size)
			for _, v := range at {
				want = append(want, elem(entry(v))...)
			}
			if Take(got, src, size, at, Axis{N: n, Stride: 1}); !bytes.Equal(got, want) {
				t.Fatalf("Take of size %d differs", size)
			}
			for _, step := range []int{0, 1} {
				put, by := slices.Clone(src), slices.Clone(src)
				for i, v := range at {
					copy(put[entry(v)*size:][:size], got[i*step*size:(i*step+1)*size])
				}
				if Put(by, got, size, at, Axis{N: n, Stride: 1}, step); !bytes.Equal(put, by) {
					t.Fatalf("Put of size %d differs", size)
				}
			}

			mask, places := make([]byte, n), []int64{}
			dense := r.IntN(20)
			want = want[:0]
			for i := range mask {
				if r.IntN(20) <= dense {
					mask[i] = 1
					places = append(places, int64(i+5))
					want = append(want, elem(i)...)
				}
			}
			if True(mask) != len(places) {
				t.Fatalf("True is %d, want %d", True(mask), len(places))
			}
			got = make([]byte, len(want))
			if k := Filter(got, src, size, mask); k != len(places) || !bytes.Equal(got, want) {
				t.Fatalf("Filter of size %d differs", size)
			}
			where := make([]int64, len(places))
			if k := Places(where, mask, 5); k != len(places) || !slices.Equal(where, places) {
				t.Fatalf("Places are %v, want %v", where, places)
			}
			if back := make([]byte, len(src)); len(places) > 0 {
				Replace(back, got, size, mask, 1)
				again := make([]byte, len(want))
				if Filter(again, back, size, mask); !bytes.Equal(again, want) {
					t.Fatalf("Replace of size %d differs", size)
				}
			}

			count := 1 + r.IntN(20)
			want, got = want[:0], make([]byte, len(src)*count)
			for i := range n {
				want = append(want, bytes.Repeat(elem(i), count)...)
			}
			if Each(got, src, size, count); !bytes.Equal(got, want) {
				t.Fatalf("Each of size %d differs", size)
			}
			want, got = want[:0], make([]byte, 2*len(src))
			back := make([]byte, 0, len(src))
			for i := range n {
				want = append(append(want, elem(i)...), elem(n-1-i)...)
				back = append(back, elem(n-1-i)...)
			}
			if Pairs(got, src, back, size); !bytes.Equal(got, want) {
				t.Fatalf("Pairs of size %d differs", size)
			}
			want, got = want[:0], make([]byte, len(src))
			for i := range n {
				want = append(want, elem(n-1-i)...)
			}
			if Backward(got, src, size); !bytes.Equal(got, want) {
				t.Fatalf("Backward of size %d differs", size)
			}
		}
	}
}

// Outside finds the first index that an axis hasn't, also where the sum of index and extent overflows.
func TestOutside(t *testing.T) {
	const large = math.MaxInt/2 + 1
	for _, c := range []struct {
		at   []int64
		n    int
		want int
	}{{nil, 0, -1}, {[]int64{0}, 0, 0}, {[]int64{-3, 2}, 3, -1}, {[]int64{0, 3, -4}, 3, 1}, {[]int64{0, -4}, 3, 1},
		{[]int64{-1 << 63}, 3, 0}, {[]int64{1<<63 - 1}, large, 0}, {[]int64{-large}, large, -1}} {
		if got := Outside(c.at, c.n); got != c.want {
			t.Errorf("Outside(%v, %d) = %d, want %d", c.at, c.n, got, c.want)
		}
	}
}

// A mask longer than what a byte of the sum holds, all true, and what begins anywhere.
func TestTrue(t *testing.T) {
	mask := bytes.Repeat([]byte{1}, 5000)
	for from := range 9 {
		if n := True(mask[from:]); n != 5000-from {
			t.Errorf("True is %d, want %d", n, 5000-from)
		}
	}
}

// Nonzero knows NaN, both zeros and the smallest numbers, at every place of a line.
func TestNonzero(t *testing.T) {
	for n := range 70 {
		checkNonzero(t, n, []float32{0, 1, float32(math.Copysign(0, -1)), 1e-45, -1e-45, float32(math.NaN()), float32(math.Inf(-1))}, true)
		checkNonzero(t, n, []float64{0, 1, math.Copysign(0, -1), 5e-324, math.NaN(), math.Inf(1)}, true)
		checkNonzero(t, n*30, []uint8{0, 1, 128, 255, 0}, false)
		checkNonzero(t, n, []int16{0, 1, math.MinInt16}, false)
		checkNonzero(t, n*30, []int32{0, math.MinInt32, -1, 1 << 16}, false)
		checkNonzero(t, n, []int64{0, math.MinInt64, -1, 1 << 32}, false)
	}
}

func checkNonzero[T num.Native](t *testing.T, n int, some []T, float bool) {
	x := make([]T, n)
	for i := range x {
		x[i] = some[i%len(some)]
	}
	size := int(unsafe.Sizeof(some[0]))
	got := make([]byte, n)
	Nonzero(got, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), n*size), size, float, false)
	for i, v := range x {
		if (got[i] == 1) != (v != 0) || got[i] > 1 {
			t.Fatalf("Nonzero of %v at %d of %d is %d", v, i, n, got[i])
		}
	}
}
