package seeded

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Two checks draw the same, unless new draws are asked for.
func TestSeeded(t *testing.T) {
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		t.Skip("a new seed is asked for")
	}
	draws := func() (list []uint64) {
		rapid.Check(t, func(t *rapid.T) { list = append(list, rapid.Uint64().Draw(t, "x")) })
		return list
	}
	if a, b := draws(), draws(); !slices.Equal(a, b) {
		t.Errorf("%v at first, then %v", a, b)
	}
}
