package steps

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/tensor"
)

var (
	seeds  = flag.Int("seeds", 200, "how many sequences TestSteps draws")
	from   = flag.Uint64("from", 0, "the first seed of TestSteps")
	replay = flag.String("replay", "", "a sequence that TestSteps runs alone")
	keep   = flag.Int("faults", 1, "how many failures TestSteps cuts down and prints")
)

// TestSteps runs random sequences of steps.
func TestSteps(t *testing.T) {
	if *replay != "" {
		q, err := parse(*replay)
		if err != nil {
			t.Fatal(err)
		}
		r, text := play(q)
		if t.Logf("%s", strings.Join(r.text, "\n")); text != "" {
			t.Error(text)
		}
		return
	}
	count, failed := map[string]int{}, 0
	for i := range uint64(*seeds) {
		q, _, text := draw(*from+i, count)
		if text == "" {
			continue
		}
		q, r, text := cut(q, text)
		t.Errorf("seed %d:\n%s\n%s\nrepeat it with: go test ./internal/steps -run TestSteps -replay '%s'", *from+i, strings.Join(r.text, "\n"), text, q)
		if failed++; failed == *keep {
			break
		}
	}
	if testing.Verbose() {
		for _, name := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%8d %s", count[name], name)
		}
	}
}

// Functions that are wrong are found, and few steps are left of the sequences.
func TestFinds(t *testing.T) {
	right := erasedOf
	reductions, sums := strings.Fields("ReduceSum ReduceMax ReduceMin CountNonZero Any All"), map[string]func(c *call) tensor.Any{}
	for _, name := range reductions {
		sums[name] = table[name].do
	}
	mend := func() {
		erasedOf = right
		for name, f := range sums {
			table[name].do = f
		}
	}
	defer mend()
	for name, plant := range map[string]func(){
		"a view that copies": func() {
			erasedOf.transpose = func(a tensor.Any) tensor.Any { return right.transpose(a).Clone() }
		},
		"a copy that reads its own writes": func() {
			erasedOf.copy = func(a, src tensor.Any) {
				la, ls := a.Layout(), src.Layout()
				if !la.Flat() || !ls.Flat() || a.Rank() == 0 || a.Dim(0) < 2 || !slices.Equal(a.Shape(), src.Shape()) {
					right.copy(a, src)
					return
				}
				right.copy(a.Slice(tensor.R(0, 1)), src.Slice(tensor.R(0, 1)))
				right.copy(a.Slice(tensor.R(1, tensor.None)), src.Slice(tensor.R(1, tensor.None)))
			}
		},
		"a sum that is wrong where an axis is broadcast": func() {
			for _, name := range reductions {
				table[name].do = func(c *call) tensor.Any {
					if a := c.in[0]; a.Rank() > 0 && a.Dim(0) > 1 && a.Len() > 0 {
						if lay := a.Layout(); lay.Flat() && a.Stride(0) == 0 {
							c.in[0] = a.Slice(tensor.R(0, 1))
						}
					}
					return sums[name](c)
				}
			}
		},
		"a write that is lost": func() { erasedOf.setTake = func(a, src tensor.Any, axis int, at ...int) {} },
	} {
		mend()
		plant()
		seed := uint64(0)
		q, _, text := draw(seed, nil)
		for ; text == "" && seed < 5000; seed++ {
			q, _, text = draw(seed, nil)
		}
		if text == "" {
			t.Errorf("%s: not found", name)
			continue
		}
		q, r, text := cut(q, text)
		steps := 0
		for _, s := range q {
			if s != nil {
				steps++
			}
		}
		if t.Logf("%s: seed %d, %d steps:\n%s\n%s", name, seed, steps, strings.Join(r.text, "\n"), text); steps > 4 {
			t.Errorf("%s: %d steps are left", name, steps)
		}
	}
}

// A sequence is its text.
func TestParse(t *testing.T) {
	q, r, text := draw(1, nil)
	if text != "" {
		t.Fatal(text)
	}
	p, err := parse(q.String())
	if err != nil {
		t.Fatal(err)
	}
	if again, text := play(p); text != "" || !slices.Equal(again.text, r.text) {
		t.Errorf("%s: other steps: %s", text, strings.Join(again.text, "\n"))
	}
	for _, text := range []string{"1,x", "-1"} {
		if q, err := parse(text); err == nil {
			t.Errorf("%s is %v", text, q)
		}
	}
}
