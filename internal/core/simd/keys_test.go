//go:build linux && amd64 && !purego

package simd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

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
	levels(t, func(t *testing.T, level cpu.Level) {
		if level != cpu.AVX512 {
			t.Skip("no kernel at this level")
		}
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
	levels(t, func(t *testing.T, level cpu.Level) {
		if level != cpu.AVX512 {
			t.Skip("no kernel at this level")
		}
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
