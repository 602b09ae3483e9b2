package judge

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A Fault is an input for which published rules give a wrong layout without a word.
type Fault struct {
	Rules   string   `json:"rules"`
	Op      string   `json:"op"`
	Kind    string   `json:"kind"`
	Verdict *Verdict `json:"verdict"`
}

// FindFaults looks for inputs of its own: random small layouts, tries of each operation.
// Of each kind of silent error, which is rules × operation × how it is wrong, it returns
// the smallest input that it saw, by the number of characters. The same seed and tries give
// the same list.
func FindFaults(ctx context.Context, seed uint64, tries int) ([]Fault, error) {
	if tries < 0 || tries > 1<<24 {
		return nil, fail("FindFaults", layout.ErrLimit, "%d tries; want 0 to %d", tries, 1<<24)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	best := map[string]Fault{}
	length := func(v *Verdict) int { return len(strings.Join(v.Args, " ")) }
	for range tries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, b := draw(r), draw(r)
		for _, op := range []string{"compose", "complement", "coalesce", "left_inverse", "right_inverse", "logical_divide", "logical_product", "product_by"} {
			v, err := Judge(op, a, b, 1+r.IntN(6))
			if err != nil {
				return nil, err
			}
			for _, p := range v.Published {
				if !p.Silent() {
					continue
				}
				key := fmt.Sprint(p.Rules, op, p.Kind)
				if old, ok := best[key]; !ok || length(v) < length(old.Verdict) {
					best[key] = Fault{p.Rules, op, p.Kind, v}
				}
			}
		}
	}
	list := make([]Fault, 0, len(best))
	for _, f := range best {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.Rules != b.Rules {
			return a.Rules < b.Rules
		}
		if a.Op != b.Op {
			return a.Op < b.Op
		}
		return a.Kind < b.Kind
	})
	return list, nil
}

// draw makes a small layout.
func draw(r *rand.Rand) layout.Layout {
	n := 1 + r.IntN(3)
	ext, str := make([]int, n), make([]int, n)
	next := 1
	for k := range n {
		ext[k] = 1 + r.IntN(6)
		switch str[k] = r.IntN(8); r.IntN(3) {
		case 0:
			str[k] = next
		case 1:
			str[k] = next * (1 + r.IntN(3))
		}
		next = max(1, ext[k]*str[k])
	}
	if r.IntN(2) == 0 && n > 1 {
		k := r.IntN(n)
		ext[0], ext[k], str[0], str[k] = ext[k], ext[0], str[k], str[0]
	}
	l, err := layout.New(ext, str)
	if err != nil {
		return layout.Layout{}
	}
	return l
}
