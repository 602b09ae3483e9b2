package judge

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/ashlar-go/ashlar/layout"
)

// MaxWork bounds a search: the sum of the elements looked at for all candidates.
const MaxWork int64 = 1 << 33

// A SwizzleResult is the answer of SolveSwizzle.
type SwizzleResult struct {
	Found    bool           `json:"found"`
	Swizzle  layout.Swizzle `json:"-"`
	Bits     int            `json:"tile_bits"` // the bits of an offset in the tile
	Searched int            `json:"searched"`  // candidates looked at, in their order
	Space    int            `json:"space"`     // candidates in all
}

// Why returns a sentence with the result that the search proved.
func (r SwizzleResult) Why() string {
	if !r.Found {
		return fmt.Sprintf("none of the %d swizzles of the tile's %d bits is without conflicts: all were searched", r.Space, r.Bits)
	}
	suffix := "th"
	if n := r.Searched; n%100/10 != 1 && n%10 < 4 {
		suffix = []string{"th", "st", "nd", "rd"}[n%10]
	}
	return fmt.Sprintf("the %d%s of %d swizzles of the tile's %d bits, the smallest first", r.Searched, suffix, r.Space, r.Bits)
}

// SolveSwizzle returns the smallest swizzle of the offsets with which none of the accesses
// has a bank conflict or a split vector. If there is none, it has searched the whole space:
// every Sw<b,m,s>, s of either sign, that permutes the 2^n offsets of the tile among
// themselves. So b+m+|s| ≤ n, where 2^n exceeds the largest offset of the layout. All
// Sw<b,m,s> with b = 0 change nothing and count as one.
//
// The smaller swizzle has, in this order: fewer bits b; fewer offsets 2^(b+m+|s|) permuted
// among each other; a positive shift; a smaller base m. The answer for a layout without
// conflicts is Sw<0,0,0>.
//
// SolveSwizzle fails as Conflicts does, if the layout already has a swizzle (solve for its
// inner layout), if ctx ends, and with layout.ErrLimit after MaxWork elements.
func SolveSwizzle(ctx context.Context, l layout.Composed, b Banks, elemBits int, accesses ...Access) (SwizzleResult, error) {
	const op = "SolveSwizzle"
	m, err := solvable(ctx, op, l, b, elemBits, accesses)
	if err != nil {
		return SwizzleResult{}, err
	}
	r := SwizzleResult{Bits: bits.Len(uint(m.most))}
	list := swizzles(r.Bits)
	r.Space = len(list)
	count := make([]int, b.Count)
	work, hard := int64(0), 0 // hard: the phase that refused the previous candidate
	for i, w := range list {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if work > MaxWork {
			return r, fail(op, layout.ErrLimit, "%d of %d swizzles have conflicts; the others weren't looked at: more than %d elements", i, len(list), MaxWork)
		}
		r.Searched = i + 1
		ok := true
		for k := 0; k < len(m.phases) && ok; k++ {
			at := k
			switch { // the phase that refused the previous candidate comes first
			case k == 0:
				at = hard
			case k <= hard:
				at = k - 1
			}
			work += int64(len(m.phases[at].coords))
			if ok = m.clean(&m.phases[at], w.At, count); !ok {
				hard = at
			}
		}
		if ok {
			r.Found, r.Swizzle = true, w
			return r, nil
		}
	}
	return r, nil
}

// solvable makes the model of a layout that has no swizzle.
func solvable(ctx context.Context, op string, l layout.Composed, b Banks, elemBits int, accesses []Access) (*model, error) {
	if err := needContext(ctx, op); err != nil {
		return nil, err
	}
	if w, ok := l.Outer().(layout.Swizzle); !ok || w.Bits() > 0 {
		return nil, fail(op, layout.ErrShape, "%v has a swizzle or an outer layout already; solve for its inner layout", l)
	}
	if len(accesses) == 0 {
		return nil, fail(op, layout.ErrShape, "no access is given")
	}
	return newModel(op, l, b, elemBits, accesses)
}

// swizzles lists all swizzles of n bits, the smallest first.
func swizzles(n int) []layout.Swizzle {
	list := []layout.Swizzle{{}}
	for b := 1; 2*b <= n; b++ {
		for total := 2 * b; total <= n; total++ {
			for _, sign := range []int{1, -1} {
				for m := 0; total-b-m >= b; m++ {
					if w, err := layout.NewSwizzle(b, m, sign*(total-b-m)); err == nil {
						list = append(list, w)
					}
				}
			}
		}
	}
	return list
}
