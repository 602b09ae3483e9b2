package judge

import (
	"math/bits"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// Moves counts the moves that bring elements from one layout to another.
type Moves struct {
	Elements int     `json:"elements"`
	Moves    int     `json:"moves"` // the fewest possible
	ByWidth  []Width `json:"by_width"`
	Widest   int     `json:"widest"`  // the widest move
	Uniform  int     `json:"uniform"` // the widest vector with which all elements can be moved
	Runs     int     `json:"runs"`    // longest pieces that are one run in both memories
}

// A Width counts the moves of a width.
type Width struct {
	Elements int `json:"elements"`
	Moves    int `json:"moves"`
}

// Relay returns the fewest moves that bring every element from its offset in one layout to
// its offset in another. Element i is linear coordinate i of both, the first mode fastest.
//
// The cost model: a move takes w elements that are one run in both memories and begin at a
// multiple of w in both. w is a power of two, at most most. Every move costs one, for any
// width, and an element is moved once. So each longest common run is cut into the largest
// aligned pieces. That is the fewest, since aligned pieces contain each other or are
// disjoint.
//
// Relay fails if the sizes differ, if two elements go to one place, if most isn't a power
// of two, and with layout.ErrLimit on more than MaxElements elements.
func Relay(from, to layout.Composed, most int) (*Moves, error) {
	const op = "Relay"
	if !isPower(most) {
		return nil, fail(op, layout.ErrDivide, "vectors of %d elements: want a power of two", most)
	}
	if from.Size() != to.Size() {
		return nil, fail(op, layout.ErrShape, "%s has %d elements, %s has %d", text(from), from.Size(), text(to), to.Size())
	}
	source, err := offsets(op, from)
	if err != nil {
		return nil, err
	}
	target, err := offsets(op, to)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(source))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if target[a] != target[b] {
			return target[a] - target[b]
		}
		return a - b
	})
	in := to.Inner()
	shape := in.Shape()
	m := &Moves{Elements: len(source)}
	counts := make([]int, 64)
	for at := 0; at < len(order); {
		s, d, n := source[order[at]], target[order[at]], 1
		for at+n < len(order) && target[order[at+n]] == d+n && source[order[at+n]] == s+n {
			n++
		}
		if at+n < len(order) && target[order[at+n]] == d+n-1 {
			i := order[at+n]
			return nil, &Mismatch{op, i, coordOf(shape, i), d + n - 1, d + n - 1, "another element goes to the same place"}
		}
		m.Runs++
		for k := 0; k < n; {
			w := most
			if low := uint(s+k) | uint(d+k); low != 0 {
				w = min(w, int(low&-low))
			}
			w = min(w, 1<<(bits.Len(uint(n-k))-1))
			counts[log2(w)]++
			k += w
		}
		at += n
	}
	for k := len(counts) - 1; k >= 0; k-- {
		if counts[k] == 0 {
			continue
		}
		m.Moves += counts[k]
		m.ByWidth = append(m.ByWidth, Width{1 << k, counts[k]})
		m.Widest = max(m.Widest, 1<<k)
		m.Uniform = 1 << k
	}
	return m, nil
}
