package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// The hardest inputs that were ever found have the right results, and are as hard as is said.
func TestFixedHard(t *testing.T) {
	text, err := os.ReadFile("hard.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	byName := map[string]int{}
	for _, line := range lines {
		p := strings.Fields(line)
		for _, f := range fixedFunctions {
			if f.name != p[0] {
				continue
			}
			byName[f.name+" "+p[1]]++
			w := wideFormats[p[1]]
			x, _ := new(big.Int).SetString(p[2], 10)
			h, ok := judgeHard(w.call(f.name), x, f.unitsAt(&w, exact.Fixed[f.name], x), p[3] == "whole")
			if got := f.name + " " + p[1] + " " + h.String(); !ok || h.wrong != "" || got != line {
				t.Errorf("%s: %s, now %s", line, h.wrong, got)
			}
		}
	}
	for _, f := range fixedFunctions {
		for _, format := range []string{"FP32x32", "FP64x64"} {
			if byName[f.name+" "+format] < 2 {
				t.Errorf("hard.txt has no cases for %s %s: go run ./conformance/verify -hard -update %s %s finds them", f.name, format, f.name, format)
			}
		}
	}
}

// In each neighbourhood the search finds what looking at every number of it does, or half as near.
func TestFixedNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	const one = 1 << fractionBits
	for range 20_000 {
		n := 1 + r.Int64N(500)
		a, b, goal := r.Uint64N(one), r.Uint64N(one)>>r.UintN(fractionBits), r.Uint64N(2)*one/2
		distance := func(t int64) uint64 {
			d := (a + b*uint64(t) - goal) % one
			return min(d, one-d)
		}
		best := uint64(math.MaxUint64)
		for t := range n + 1 {
			best = min(best, distance(t))
		}
		at, ok := nearest(a, b, goal, n)
		switch {
		case !ok && best < one/4:
			t.Fatalf("%d + %d t near %d for t up to %d: nothing, but there is %d", a, b, goal, n, best)
		case ok && (at < 0 || at > n || distance(at) > 2*best+1):
			t.Fatalf("%d + %d t near %d for t up to %d: t = %d, %d away, and there is %d", a, b, goal, n, at, distance(at), best)
		}
	}
}

// A result that is one off in a hard case is found out.
func TestFixedHardFindsWrong(t *testing.T) {
	f := fixedFunctions[0]
	w := wideFormats["FP32x32"]
	x := big.NewInt(1 << 31)
	off := func(x *big.Int, mode ...fixed.Mode) (*big.Int, error) {
		y, err := w.call("exp")(x, mode...)
		return y.Add(y, big.NewInt(1)), err
	}
	if h, ok := judgeHard(off, x, f.unitsAt(&w, exact.Fixed["exp"], x), false); !ok || h.wrong == "" {
		t.Errorf("%+v", h)
	}
}
