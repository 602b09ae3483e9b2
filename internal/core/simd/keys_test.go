//go:build linux && (amd64 || arm64) && !purego

package simd

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

// highest calls f where the kernels of this file are in use.
func highest(t *testing.T, f func(t *testing.T)) {
	levels(t, func(t *testing.T, level cpu.Level) {
		if level != cpu.Detect() || cpu.Current() != level || runtime.GOARCH == "amd64" && level != cpu.AVX512 {
			t.Skip("no kernel at this level")
		}
		f(t)
	})
}

// current calls f where a level with kernels is in use.
func current(t *testing.T, f func(t *testing.T)) {
	if cpu.Current() == cpu.Generic {
		t.Skip("no kernels at this level")
	}
	f(t)
}

// again runs tests of this program with AVX2, where a higher level is in use. The level is chosen when a program begins.
func again(t *testing.T, tests string) {
	if runtime.GOARCH != "amd64" || cpu.Current() != cpu.AVX512 {
		return
	}
	self := exec.Command(os.Args[0], "-test.v", "-test.run", tests)
	self.Env = append(os.Environ(), "ASHLAR_CPU=avx2")
	if out, err := self.CombinedOutput(); err != nil || bytes.Contains(out, []byte("SKIP")) {
		t.Errorf("with AVX2: %v\n%s", err, out)
	}
}

// someKeys draws n keys that end at a wall: many different ones, or few.
func someKeys(t *testing.T, r *rand.Rand, n int) []uint32 {
	keys, bits := atEnd(t, make([]uint32, n)), r.IntN(33)
	for i := range keys {
		keys[i] = uint32(uint64(1)<<bits-1) & r.Uint32()
		if r.IntN(10) == 0 {
			keys[i] = ^keys[i]
		}
	}
	return keys
}

func TestSortFew(t *testing.T) {
	if !Sorts() {
		t.Skip("there are no kernels")
	}
	highest(t, func(t *testing.T) {
		for _, name := range []string{"network32x1_", "network32x2_", "network32x4_", "network32x8_", "network32x16_"} {
			checked[name] = true
		}
		r := rand.New(rand.NewPCG(1, 1))
		for n := range FewKeys + 1 {
			for range 4 {
				keys := someKeys(t, r, n)
				want := slices.Clone(keys)
				slices.Sort(want)
				SortFew(keys)
				if !slices.Equal(keys, want) {
					t.Fatalf("%d keys aren't in order", n)
				}
			}
		}
	})
}

func TestPartition(t *testing.T) {
	if !Sorts() {
		t.Skip("there are no kernels")
	}
	highest(t, func(t *testing.T) {
		checked["partition32_"] = true
		r := rand.New(rand.NewPCG(2, 2))
		for n := range 150 {
			for range 4 {
				keys := someKeys(t, r, n)
				spare := atEnd(t, make([]uint32, n))
				pivot := r.Uint32()
				if n > 0 && r.IntN(2) == 0 {
					pivot = keys[r.IntN(n)]
				}
				var below, others []uint32
				for _, x := range keys {
					if x < pivot {
						below = append(below, x)
					} else {
						others = append(others, x)
					}
				}
				k := Partition(keys, spare, pivot)
				if k != len(below) || !slices.Equal(keys[:k], below) || !slices.Equal(spare[:n-k], others) {
					t.Fatalf("%d keys, pivot %d: %d below; want %d", n, pivot, k, len(below))
				}
			}
		}
	})
}

// A mask of n bytes, none, few, many or all of which are 1, at a wall, and the places of these.
func someMask(t *testing.T, r *rand.Rand, n int) (mask []byte, places []int64) {
	mask = atEnd(t, make([]byte, n))
	dense := r.IntN(21)
	for i := range mask {
		if r.IntN(20) < dense {
			mask[i] = 1
			places = append(places, int64(i))
		}
	}
	return mask, places
}

func TestPlaces(t *testing.T) {
	highest(t, func(t *testing.T) {
		checked["places_"] = true
		r := rand.New(rand.NewPCG(3, 3))
		for n := range 300 {
			mask, want := someMask(t, r, n)
			for i := range want {
				want[i] += 7
			}
			dst := atEnd(t, make([]int64, len(want)))
			k, done := TryPlaces(dst, mask, 7)
			if k > len(want) || !slices.Equal(dst[:k], want[:k]) || k < len(want) && want[k]-7 < int64(done) || k > 0 && want[k-1]-7 >= int64(done) {
				t.Fatalf("%d bytes: the first %d places of %d, until %d, are %v, want %v", n, k, len(want), done, dst[:k], want)
			}
		}
	})
}

func testReplace[T uint32 | uint64](t *testing.T, f func(dst, src []T, mask []byte, step int) (places, done int)) {
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 150 {
		for step := range 2 {
			mask, places := someMask(t, r, n)
			src, dst := atEnd(t, make([]T, len(places)*step+1-step)), atEnd(t, make([]T, n))
			for i := range src {
				src[i] = T(r.Uint64())
			}
			for i := range dst {
				dst[i] = T(r.Uint64())
			}
			want := slices.Clone(dst)
			k, done := f(dst, src, mask, step)
			n := 0
			for i, at := range places {
				if at < int64(done) {
					want[at] = src[i*step]
					n++
				}
			}
			if k != n || !slices.Equal(dst, want) {
				t.Fatalf("%d bytes, %d true, step %d: %d places, want %d; %v, want %v", len(mask), len(places), step, k, n, dst, want)
			}
		}
	}
}

func TestReplace(t *testing.T) {
	highest(t, func(t *testing.T) {
		checked["replace32_"], checked["replace64_"] = true, true
		testReplace(t, TryReplace32)
		testReplace(t, TryReplace64)
	})
}

func testFilter[T uint32 | uint64](t *testing.T, f func(dst, src []T, mask []byte) (places, done int)) {
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 150 {
		for more := range 4 {
			mask, places := someMask(t, r, n)
			src, dst := atEnd(t, make([]T, n)), atEnd(t, make([]T, len(places)+5*more))
			for i := range src {
				src[i] = T(r.Uint64())
			}
			k, done := f(dst, src, mask)
			var want []T
			for _, at := range places {
				if at < int64(done) {
					want = append(want, src[at])
				}
			}
			if k != len(want) || !slices.Equal(dst[:k], want) {
				t.Fatalf("%d bytes, %d true: %d places, want %d; %v, want %v", n, len(places), k, len(want), dst[:k], want)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	highest(t, func(t *testing.T) {
		checked["filter32_"], checked["filter64_"] = true, true
		testFilter(t, TryFilter32)
		testFilter(t, TryFilter64)
	})
}

func TestWithin(t *testing.T) {
	highest(t, func(t *testing.T) {
		checked["within_"] = true
		for n := range 100 {
			for _, extent := range []int{0, 1, 5, 1 << 40} {
				at := atEnd(t, make([]int64, n))
				for i := range at {
					at[i] = int64(i)%int64(2*extent+1) - int64(extent)
					if at[i] == int64(extent) {
						at[i] = -int64(extent)
					}
				}
				all, done := TryWithin(at, extent)
				if done > n || all != (done == 0 || extent > 0) {
					t.Fatalf("%d indices within %d: %t of %d", n, extent, all, done)
				}
				for i := range done {
					for _, bad := range []int{extent, -extent - 1, math.MinInt64, math.MaxInt64} {
						old := at[i]
						at[i] = int64(bad)
						if all, _ := TryWithin(at, extent); all {
							t.Fatalf("%d is within %d", bad, extent)
						}
						at[i] = old
					}
				}
			}
		}
	})
}

// The definitions are those of package order, whose test compares elements of all kinds.
func TestKeys(t *testing.T) {
	again(t, "^TestKeys$")
	current(t, func(t *testing.T) {
		checked["keys32_"], checked["elements32_"] = true, true
		r := rand.New(rand.NewPCG(5, 5))
		special := []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x7f800000, 0xff800000, 0x7f800001, 0xffffffff, 0x7fc00000, 0x7f7fffff}
		for n := range 70 {
			for _, turn := range []uint32{0, 1<<32 - 1} {
				src, dst := atEnd(t, make([]uint32, n)), atEnd(t, make([]uint32, n))
				some := r.IntN(3)
				for i := range src {
					src[i] = r.Uint32()
					if r.IntN(3) < some {
						src[i] = special[r.IntN(len(special))]
					}
				}
				blurred, done := TryKeys32(dst, src, turn)
				want := false
				for i, x := range src[:done] {
					key := x | 1<<31
					if x>>31 == 1 {
						key = ^x
					}
					f := math.Float32frombits(x)
					switch {
					case f != f:
						key, want = 1<<32-1, true
					case f == 0:
						key, want = 1<<31, want || x != 0
					}
					if dst[i] != key^turn {
						t.Fatalf("the key of %v is %#x, want %#x", f, dst[i], key^turn)
					}
					dst[i] = key
				}
				if blurred != want {
					t.Fatalf("blurred is %t, want %t", blurred, want)
				}
				back := atEnd(t, make([]uint32, n))
				for i, x := range back[:TryElements32(back, dst)] {
					if f := math.Float32frombits(src[i]); f == f && math.Float32frombits(x) != f || f != f && x != 1<<31-1 || x == 1<<31 {
						t.Fatalf("the element of key %#x is %#x, want %v", dst[i], x, f)
					}
				}
			}
		}
	})
}

func testReverse[T uint32 | uint64](t *testing.T, f func(dst, src []T) int) {
	r := rand.New(rand.NewPCG(6, 7))
	for n := range 70 {
		src, dst := atEnd(t, make([]T, n)), atEnd(t, make([]T, n))
		for i := range src {
			src[i] = T(r.Uint64())
		}
		want := slices.Clone(src)
		slices.Reverse(want)
		if done := f(dst, src); !slices.Equal(dst[:done], want[:done]) {
			t.Fatalf("%d elements: %v, want %v", n, dst[:done], want[:done])
		}
	}
}

func TestReverse(t *testing.T) {
	again(t, "^TestReverse$")
	current(t, func(t *testing.T) {
		checked["reverse32_"], checked["reverse64_"] = true, true
		testReverse(t, TryReverse32)
		testReverse(t, TryReverse64)
	})
}
