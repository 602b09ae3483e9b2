// Package published computes layouts by the published rules of NVIDIA's pycute and cutegen,
// faults included. So their answers can be compared with exact ones. The code is its own.
// The rules are from NVIDIA/cutlass at 7107b055: python/pycute/layout.py and the run-time
// C++ library cutegen.
package published

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// ErrRefused is the error of input that the rules refuse.
var ErrRefused = errors.New("refused")

// ErrMalformed is the error of a result of the rules that is no layout: an extent below 1.
var ErrMalformed = errors.New("malformed: an extent below 1")

// Rules are the rules of one project.
type Rules struct {
	Name    string
	cutegen bool
}

// The two sets of rules.
var (
	PyCute  = Rules{"pycute", false}
	CuteGen = Rules{"cutegen", true}
)

// ErrLimit is the error of sizes or strides that are too large for this package.
var ErrLimit = errors.New("sizes or strides of 2^30 and more, or of 2^14 where an int has 32 bits")

// A node is a shape with its strides: a leaf, or a list.
type node struct {
	ext, str int
	kids     []node
	list     bool
}

func nodeOf(shape, stride layout.Tuple) node {
	if e, ok := shape.Int(); ok {
		s, _ := stride.Int()
		return node{ext: e, str: s}
	}
	n := node{list: true}
	for i := range shape.Rank() {
		n.kids = append(n.kids, nodeOf(shape.Entry(i), stride.Entry(i)))
	}
	return n
}

func leaf(e, s int) node          { return node{ext: e, str: s} }
func list(kids ...node) node      { return node{list: true, kids: kids} }
func of(l layout.Layout) node     { return nodeOf(l.Extents(), l.Strides()) }
func (n node) flat() (all []node) { return n.leaves(nil) }

func (n node) leaves(all []node) []node {
	if !n.list {
		return append(all, n)
	}
	for _, k := range n.kids {
		all = k.leaves(all)
	}
	return all
}

// most bounds sizes and strides, so that products of two fit an int.
const most = 1 << (bits.UintSize/2 - 2)

func (n node) size() int {
	size := 1
	for _, l := range n.flat() {
		if size *= l.ext; size > most {
			return most
		}
	}
	return size
}

// layout returns the node as a layout.
func (n node) layout() (layout.Layout, error) {
	for _, l := range n.flat() {
		if l.ext < 1 {
			return layout.Layout{}, ErrMalformed
		}
		if l.ext >= most || abs(l.str) >= math.MaxInt/4 {
			return layout.Layout{}, ErrLimit
		}
	}
	var tuples func(n node) (layout.Tuple, layout.Tuple)
	tuples = func(n node) (layout.Tuple, layout.Tuple) {
		if !n.list {
			return layout.Int(n.ext), layout.Int(n.str)
		}
		var s, d []layout.Tuple
		for _, k := range n.kids {
			a, b := tuples(k)
			s, d = append(s, a), append(d, b)
		}
		return layout.List(s...), layout.List(d...)
	}
	s, d := tuples(n)
	return layout.Of(s, d)
}

func unwrap(parts []node) node {
	if len(parts) == 1 {
		return parts[0]
	}
	return list(parts...)
}

// coalesce merges neighbours. A single element is 1:0.
func coalesce(leaves []node) []node {
	out := []node{leaf(1, 0)}
	for _, l := range leaves {
		last := &out[len(out)-1]
		switch {
		case l.ext == 1:
		case last.ext == 1:
			*last = l
		case last.ext*last.str == l.str:
			last.ext *= l.ext
		default:
			out = append(out, l)
		}
	}
	return out
}

// tail is coalesce, but keeps an extent of 1 at the end. Its stride applies past the end.
func tail(leaves []node) []node {
	out := coalesce(leaves)
	if n := len(leaves); n > 0 && leaves[n-1].ext == 1 {
		last := out[len(out)-1]
		if l := leaves[n-1]; last.ext != 1 && last.ext*last.str != l.str {
			out = append(out, l)
		} else if last.ext == 1 {
			out[len(out)-1] = l
		}
	}
	return out
}

func ceil(a, b int) int { return (a + b - 1) / b }

func abs(a int) int { return max(a, -a) }

func sign(a int) int {
	if a < 0 {
		return -1
	}
	return 1
}

// compose walks the leaves of a for each leaf of b.
func (r Rules) compose(a, b node) (node, error) {
	if b.list {
		var kids []node
		for _, k := range b.kids {
			c, err := r.compose(a, k)
			if err != nil {
				return node{}, err
			}
			kids = append(kids, c)
		}
		return list(kids...), nil
	}
	if b.str == 0 {
		return b, nil
	}
	walked := coalesce(a.flat())
	if r.cutegen {
		walked = tail(a.flat())
	}
	for _, l := range append(walked, b) {
		if l.ext < 1 {
			return node{}, ErrMalformed
		}
	}
	var out []node
	n, step := b.ext, b.str
	for _, l := range walked[:len(walked)-1] {
		if r.cutegen {
			if step%l.ext != 0 && step >= l.ext {
				return node{}, ErrRefused
			}
			next := ceil(l.ext, abs(step))
			if next > 1 && n > 1 {
				take := min(next, n)
				if n%take != 0 {
					return node{}, ErrRefused
				}
				out = append(out, leaf(take, step*l.str))
				n /= take
			}
			step = ceil(abs(step), l.ext) * sign(step)
			continue
		}
		if l.ext%step != 0 && step%l.ext != 0 {
			return node{}, ErrRefused
		}
		take := min(max(1, l.ext/step), n)
		if take != 1 {
			out = append(out, leaf(take, step*l.str))
		}
		if take <= 0 {
			return node{}, ErrRefused
		}
		n /= take // rounded down, which loses elements
		step = ceil(abs(step), l.ext) * sign(step)
	}
	last := walked[len(walked)-1]
	if n != 1 || len(out) == 0 {
		out = append(out, leaf(n, step*last.str))
	}
	if r.cutegen {
		out = coalesce(out)
	}
	return unwrap(out), nil
}

// complement fills the gaps between the leaves, by falling stride. n is the size to reach.
func (r Rules) complement(a node, n int) (node, error) {
	leaves := slices.Clone(a.flat())
	slices.SortStableFunc(leaves, func(x, y node) int {
		if x.str != y.str {
			return x.str - y.str
		}
		if r.cutegen {
			return 0
		}
		return x.ext - y.ext
	})
	at := 1
	var out []node
	for _, l := range leaves {
		if l.str == 0 || l.ext == 1 {
			continue
		}
		if l.ext < 1 || l.str < 0 || !r.cutegen && at > l.ext*l.str || r.cutegen && l.str < at {
			return node{}, ErrRefused
		}
		out = append(out, leaf(l.str/at, at))
		if at = l.ext * l.str; at > math.MaxInt/4 {
			return node{}, ErrRefused
		}
	}
	if n == open {
		if out = coalesce(out); len(out) == 1 && out[0].ext == 1 {
			out = nil
		}
		return unwrap(append(out, leaf(1, at))), nil
	}
	out = append(out, leaf(ceil(n, at), at))
	return unwrap(coalesce(out)), nil
}

// open asks for a complement with an extent of 1 at its end, as cutegen's.
const open = math.MinInt

// A placed leaf has its linear coordinate: the product of the extents before it.
type placed struct{ ext, str, at int }

func places(leaves []node) (all []placed) {
	at := 1
	for _, l := range leaves {
		all = append(all, placed{l.ext, l.str, at})
		at *= l.ext
	}
	return all
}

// rightInverse takes the leaves by stride as long as each follows the one before.
func (r Rules) rightInverse(a node) node {
	leaves := a.flat()
	if r.cutegen {
		leaves = coalesce(leaves)
	}
	all := places(leaves)
	slices.SortStableFunc(all, func(x, y placed) int {
		if x.str != y.str {
			return x.str - y.str
		}
		switch {
		case r.cutegen:
			return 0
		case x.ext != y.ext:
			return x.ext - y.ext
		}
		return x.at - y.at
	})
	at := 1
	var out []node
	for _, l := range all {
		switch {
		case l.ext == 1, r.cutegen && l.str == 0:
			continue
		case l.str != at && r.cutegen:
			continue
		case l.str != at:
			return unwrap(coalesce(out))
		}
		out = append(out, leaf(l.ext, l.at))
		at = l.ext * l.str
	}
	return unwrap(coalesce(out))
}

func (r Rules) leftInverse(a node) (node, error) {
	if !r.cutegen {
		rest, err := r.complement(a, 1)
		if err != nil {
			return node{}, err
		}
		return r.rightInverse(list(a, rest)), nil
	}
	all := places(coalesce(a.flat()))
	slices.SortStableFunc(all, func(x, y placed) int { return x.str - y.str })
	out := []node{leaf(1, 0)}
	reach := 1
	for _, l := range all {
		if l.str == 0 || l.ext == 1 {
			continue
		}
		if l.str < 0 || l.str%reach != 0 {
			return node{}, ErrRefused
		}
		out[len(out)-1].ext = l.str / reach
		reach *= l.str / reach
		out = append(out, leaf(l.ext, l.at))
	}
	// The first extent has stride 0. Each of the others has the place of its leaf as stride.
	return unwrap(tail(out)), nil
}

func (r Rules) divide(a, b node) (node, error) {
	if !r.cutegen {
		rest, err := r.complement(b, a.size())
		if err != nil {
			return node{}, err
		}
		return r.compose(a, list(b, rest))
	}
	rest, err := r.complement(b, open)
	if err != nil {
		return node{}, err
	}
	// The tiles are counted leaf by leaf of a, for any strides: that is the fault.
	leaves := rest.flat()
	last := &leaves[len(leaves)-1]
	left := last.str
	for _, l := range a.flat() {
		last.ext *= ceil(l.ext, left)
		left = ceil(left, l.ext)
	}
	return r.compose(a, list(b, unwrap(coalesce(leaves))))
}

func (r Rules) product(a, b node) (node, error) {
	n := open
	if !r.cutegen {
		reach := 0
		for _, l := range b.flat() {
			reach += (l.ext - 1) * l.str
		}
		n = a.size() * (reach + 1)
	}
	rest, err := r.complement(a, n)
	if err != nil {
		return node{}, err
	}
	c, err := r.compose(rest, b)
	if err != nil {
		return node{}, err
	}
	return list(a, c), nil
}

// Compose applies the rules, as the functions after it do. They fail with ErrRefused where the rules do, with ErrMalformed, and with
// ErrLimit.
func (r Rules) Compose(a, b layout.Layout) (layout.Layout, error) {
	return run(a, b, func(x, y node) (node, error) { return r.compose(x, y) })
}

func (r Rules) Coalesce(a layout.Layout) (layout.Layout, error) {
	return run(a, a, func(x, _ node) (node, error) { return unwrap(coalesce(x.flat())), nil })
}

func (r Rules) Complement(a layout.Layout, n int) (layout.Layout, error) {
	if n < 0 || n >= most {
		return layout.Layout{}, ErrLimit
	}
	return run(a, a, func(x, _ node) (node, error) { return r.complement(x, n) })
}

func (r Rules) RightInverse(a layout.Layout) (layout.Layout, error) {
	return run(a, a, func(x, _ node) (node, error) { return r.rightInverse(x), nil })
}

func (r Rules) LeftInverse(a layout.Layout) (layout.Layout, error) {
	return run(a, a, func(x, _ node) (node, error) { return r.leftInverse(x) })
}

func (r Rules) Divide(a, b layout.Layout) (layout.Layout, error) { return run(a, b, r.divide) }

func (r Rules) Product(a, b layout.Layout) (layout.Layout, error) { return run(a, b, r.product) }

// ProductBy is Product by an integer, n copies side by side; pycute divides by it instead.
func (r Rules) ProductBy(a layout.Layout, n int) (layout.Layout, error) {
	if n < 0 || n >= most {
		return layout.Layout{}, ErrLimit
	}
	f := r.divide
	if r.cutegen {
		f = r.product
	}
	return run(a, a, func(x, _ node) (node, error) { return f(x, leaf(n, 1)) })
}

// run applies rules to layouts whose extents are positive and whose numbers are small.
func run(a, b layout.Layout, f func(a, b node) (node, error)) (layout.Layout, error) {
	x, y := of(a), of(b)
	for _, n := range []node{x, y} {
		if n.size() >= most {
			return layout.Layout{}, ErrLimit
		}
		leaves := n.flat()
		if len(leaves) == 0 {
			return layout.Layout{}, ErrRefused
		}
		for _, l := range leaves {
			if abs(l.str) >= most {
				return layout.Layout{}, ErrLimit
			}
			if l.ext < 1 {
				return layout.Layout{}, ErrRefused
			}
		}
	}
	c, err := f(x, y)
	if err != nil {
		return layout.Layout{}, err
	}
	return c.layout()
}
