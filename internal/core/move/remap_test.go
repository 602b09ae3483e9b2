package move

import (
	"testing"

	_ "github.com/ashlar-go/ashlar/internal/seeded"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// Remap places elements as a loop over all places does, whatever the maps: entries that repeat, stand alone, or are missing.
func TestRemapAgainstTheLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 3).Draw(t, "rank")
		shape, out := make([]int, rank), make([]int, rank)
		maps, entries := make([]Mapping, rank), make([][]int, rank)
		for i := range shape {
			shape[i] = rapid.IntRange(1, 5).Draw(t, "extent")
			if rapid.Bool().Draw(t, "same") {
				for e := range shape[i] {
					entries[i] = append(entries[i], e)
				}
			} else {
				entries[i] = rapid.SliceOfN(rapid.IntRange(rapid.IntRange(-1, 0).Draw(t, "least"), shape[i]-1), 1, 40).Draw(t, "entries")
				maps[i] = MappingOf(len(entries[i]), func(place int) int { return entries[i][place] })
			}
			out[i] = len(entries[i])
		}
		src, dst := tensor.New[int32](shape...), tensor.New[int32](out...)
		for i := range src.Elems() {
			src.Elems()[i] = int32(i + 1)
		}
		Remap("Test", nil, WordsOf(dst.Any()), WordsOf(src.Any()), shape, maps, make([]byte, 4))
		for at, got := range dst.All() {
			from, want := make([]int, rank), int32(0)
			for i, x := range at {
				from[i] = entries[i][x]
			}
			if all := func() bool {
				for _, x := range from {
					if x < 0 {
						return false
					}
				}
				return true
			}(); all {
				want = src.At(from...)
			}
			if got != want {
				t.Fatalf("maps %v: %v holds %d, want %d", entries, at, got, want)
			}
		}
	})
}
