package main

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
)

// Some results are those that were verified, and others are verified again.
func TestFixedDigests(t *testing.T) {
	lines, err := readDigests("digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for format, frac := range fixedNames {
		for _, f := range fixedFunctions {
			name := f.name + "." + format
			line := lines[name]
			if !strings.HasPrefix(line, name+" inputs ") || !strings.Contains(line, " wrong 0 ") {
				t.Errorf("digests.txt has no line for %s, but %q: go run ./conformance/verify -update %s %s makes it", name, line, f.name, format)
			}
			if want := fmt.Sprintf(" sample %016x", f.sample(format)); !strings.HasSuffix(line, want) {
				t.Errorf("%s: results have changed since they were verified: now%s, then %s", name, want, line)
			}
			if frac <= 23 {
				r := f.words(format, 1<<32/100_003, func(i int) int32 { return int32(uint32(i)*100_003 + 17) })
				if r.wrong != 0 {
					t.Errorf("%s: %d of %d wrong: %q", name, r.wrong, r.count, r.examples)
				}
			}
			if r := f.measured(format, 100, 2); r.wrong != 0 || r.worst > 0.5 || r.worst < 0.4 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		line := lines["pow."+format]
		r := measuredPow(format, 8, 100, 1)
		if !strings.Contains(line, " wrong 0 ") || !strings.HasSuffix(line, fmt.Sprintf(" sample %016x", r.digest)) || r.wrong != 0 {
			t.Errorf("pow.%s: now %+v, then %q", format, r, line)
		}
		if frac <= 23 {
			if r := powers(format, 100, 20_000, 2); r.wrong != 0 || r.close == 0 || r.close > 1000 {
				t.Errorf("pow.%s: %+v", format, r)
			}
		}
	}
}

// A result that is off by one unit, an undue and a missing error must be found out.
func TestFixedFindsWrong(t *testing.T) {
	w := wideFormats["FP64x64"]
	v := w.value(big.NewInt(12345))
	over := w.value(powerOfTwo(127, 0))
	for _, c := range []struct {
		got   *big.Int
		err   error
		v     *big.Float
		wrong int
	}{
		{big.NewInt(12345), nil, v, 0}, {big.NewInt(12346), nil, v, 1}, {big.NewInt(12345), fmt.Errorf("undue"), v, 1}, {big.NewInt(0), nil, over, 1},
	} {
		var r wideResult
		if r.judge(&w, "", c.got, c.err, c.v); r.wrong != c.wrong {
			t.Errorf("%v, %v: %+v", c.got, c.err, r)
		}
	}
	f := fixedFunctions[0]
	f.approx = approxExp2
	if r := f.words("FP16x16", 1000, func(i int) int32 { return int32(i * 100) }); r.wrong < 900 {
		t.Errorf("exp that should be exp2: %d wrong", r.wrong)
	}
	f = fixedFunctions[2]
	f.defined = nil
	if r := f.words("FP16x16", 1, func(int) int32 { return -1 }); r.wrong != 1 {
		t.Errorf("an undue error: %+v", r)
	}
}

// What is done is read from the file, and only the rest computed.
func TestFixedState(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	f := fixedFunctions[5]
	r, err := f.allOf("FP16x16", state, 4, 1<<16)
	if err != nil || r.count != 4<<16 || r.wrong != 0 {
		t.Fatal(r, err)
	}
	f.approx = func(float64) float64 { return 7 } // must not be asked
	again, err := f.allOf("FP16x16", state, 4, 1<<16)
	if err != nil || again.count != r.count || again.wrong != 0 || again.digest != r.digest {
		t.Errorf("%+v, then %+v, %v", r, again, err)
	}
	if more, err := f.allOf("FP16x16", state, 5, 1<<16); err != nil || more.wrong == 0 || more.digest == r.digest {
		t.Errorf("a part more: %+v, %v", more, err)
	}
}
