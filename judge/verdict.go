package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/layout"
)

// Ops are the operations that Judge knows.
var Ops = []string{"compose", "complement", "coalesce", "left_inverse", "right_inverse",
	"logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
	"logical_product", "zipped_product", "tiled_product", "flat_product", "product_by"}

// A Verdict is the exact result of an operation beside the results of the published rules.
type Verdict struct {
	Op    string         `json:"op"`
	Args  []string       `json:"args"`
	Exact *layout.Layout `json:"-"` // nil: there is none, or none was found
	Text  string         `json:"exact,omitempty"`
	// Enumerated tells that the exact layout was found by evaluating its function, since the
	// rules of package layout refuse.
	Enumerated bool      `json:"enumerated,omitempty"`
	Missing    *Mismatch `json:"missing,omitempty"` // the first coordinate at which no layout fits
	Refused    string    `json:"refused,omitempty"` // the reason why the operation has no meaning, or wasn't decided
	Published  []Answer  `json:"published"`
}

// An Answer is the result of published rules.
type Answer struct {
	Rules  string    `json:"rules"` // pycute or cutegen
	Layout string    `json:"layout,omitempty"`
	Kind   string    `json:"kind"` // right, refused, malformed, smaller, larger, other or unchecked
	Wrong  *Mismatch `json:"wrong,omitempty"`
}

// Silent reports whether the rules give a wrong layout without an error.
func (a *Answer) Silent() bool { return a.Kind == "smaller" || a.Kind == "larger" || a.Kind == "other" }

// String writes the verdict as lines of text.
func (v *Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", v.Op, strings.Join(v.Args, " "))
	switch {
	case v.Exact != nil && v.Enumerated:
		fmt.Fprintf(&b, "exact    %v, found by trying every coordinate\n", *v.Exact)
	case v.Exact != nil:
		fmt.Fprintf(&b, "exact    %v\n", *v.Exact)
	case v.Missing != nil:
		fmt.Fprintf(&b, "exact    none: %s\n", v.Missing.Text())
	default:
		fmt.Fprintf(&b, "exact    none: %s\n", v.Refused)
	}
	for _, a := range v.Published {
		switch {
		case a.Kind == "refused":
			fmt.Fprintf(&b, "%-8s refuses\n", a.Rules)
		case a.Kind == "malformed":
			fmt.Fprintf(&b, "%-8s gives no layout: an extent is below 1\n", a.Rules)
		case a.Kind == "unchecked":
			fmt.Fprintf(&b, "%-8s not checked, too large\n", a.Rules)
		case a.Wrong != nil:
			fmt.Fprintf(&b, "%-8s %s, wrong %s\n", a.Rules, a.Layout, a.Wrong.Text())
		default:
			fmt.Fprintf(&b, "%-8s %s, right\n", a.Rules, a.Layout)
		}
	}
	return b.String()
}

// Judge applies an operation to layouts. b is the second layout of operations that take
// two; n is the reach of complement, or the number of copies of product_by. The verdict has
// the exact layout, or the first coordinate for which there is none: no layout with the
// shape of the result agrees with the operation's defining function from 0 to there. It
// also has the answers of the published rules, each with the first coordinate at which it
// is wrong.
//
// Package layout defines the operations:
//
//	compose        A(B(c))
//	division       A ∘ (B, B*)
//	product        (A, A* ∘ B)
//	left inverse   R(A(i)) = i, or A(R(A(i))) = A(i) if A repeats offsets
//	right inverse  A(R(i)) = i for the longest R
//	complement     its offsets plus the offsets of A reach each number at most once
//
// An operation on more than MaxElements coordinates is answered by the rules of package
// layout, and the published answers aren't checked.
func Judge(op string, a, b layout.Layout, n int) (*Verdict, error) {
	v := &Verdict{Op: op, Args: []string{a.String()}}
	var c subject
	switch {
	case op == "compose":
		c = composition(a, b)
	case op == "complement":
		c = complement(a, n)
	case op == "coalesce":
		c = coalesced(a)
	case op == "left_inverse":
		c = leftInverse(a)
	case op == "right_inverse":
		c = rightInverse(a)
	case strings.HasSuffix(op, "_divide") && slices.Contains(Ops, op):
		c = division(op, a, b)
	case op == "product_by":
		by, err := layout.New([]int{n}, []int{1})
		if err != nil {
			return nil, err
		}
		b = by
		c = product("logical_product", a, b)
		c.rules = func(r published.Rules) (layout.Layout, error) { return r.ProductBy(a, n) }
	case strings.HasSuffix(op, "_product") && slices.Contains(Ops, op):
		c = product(op, a, b)
	default:
		return nil, fail("Judge", layout.ErrSyntax, "no operation %q; there are %s", clip(op), strings.Join(Ops, ", "))
	}
	switch op {
	case "complement", "product_by":
		v.Args = append(v.Args, fmt.Sprint(n))
	case "coalesce", "left_inverse", "right_inverse":
	default:
		v.Args = append(v.Args, b.String())
	}
	exact, err := c.exact()
	if err == nil {
		v.Exact = &exact
	} else {
		v.Refused = err.Error()
		if c.defined && c.size() <= MaxElements {
			l, _, err := Fit(c.shape, c.at)
			var bad *Mismatch
			switch {
			case err == nil:
				v.Exact, v.Enumerated, v.Refused = &l, true, ""
			case errors.As(err, &bad):
				v.Missing, v.Refused = bad, ""
			}
		}
	}
	if v.Exact != nil {
		v.Text = v.Exact.String()
	}
	for _, r := range []published.Rules{published.PyCute, published.CuteGen} {
		v.Published = append(v.Published, c.judge(r))
	}
	return v, nil
}

// A subject is an operation with its arguments: its definition, and the check of an answer.
type subject struct {
	exact   func() (layout.Layout, error)
	rules   func(published.Rules) (layout.Layout, error)
	defined bool // whether shape and at are known
	shape   layout.Tuple
	at      func(i int) int
	// promise judges an answer if there is no function to compare with. It returns the kind
	// of the answer, and its first mistake.
	promise func(l layout.Layout) (kind string, wrong *Mismatch)
}

func (c *subject) size() int {
	n, err := c.shape.Product()
	if err != nil {
		return MaxElements + 1
	}
	return n
}

func (c *subject) judge(r published.Rules) Answer {
	l, err := c.rules(r)
	a := Answer{Rules: r.Name}
	switch {
	case errors.Is(err, published.ErrMalformed):
		a.Kind = "malformed"
		return a
	case errors.Is(err, published.ErrLimit), errors.Is(err, layout.ErrOverflow):
		a.Kind = "unchecked"
		return a
	case err != nil:
		a.Kind = "refused"
		return a
	}
	a.Layout, a.Kind = l.String(), "right"
	if c.promise != nil {
		if a.Kind = "unchecked"; l.Size() <= MaxElements {
			a.Kind, a.Wrong = c.promise(l)
		}
		return a
	}
	if !c.defined || c.size() > MaxElements {
		a.Kind = "unchecked"
		return a
	}
	n, size := c.size(), l.Size()
	for i := range min(n, size) {
		got, err := l.Offset(i)
		if want := c.at(i); err != nil || got != want {
			a.Kind = "other"
			a.Wrong = &Mismatch{"Judge", i, c.coord(i), got, want, fmt.Sprintf("it gives %d, right is %d", got, want)}
			break
		}
	}
	switch {
	case size < n:
		a.Kind = "smaller"
		if a.Wrong == nil {
			a.Wrong = &Mismatch{"Judge", size, c.coord(size), 0, c.at(size), fmt.Sprintf("it has %d coordinates instead of %d, and this one is missing", size, n)}
		}
	case size > n:
		a.Kind = "larger"
		if a.Wrong == nil {
			got, _ := l.Offset(n)
			a.Wrong = &Mismatch{"Judge", n, nil, got, 0, fmt.Sprintf("it has %d coordinates instead of %d", size, n)}
		}
	}
	return a
}

func (c *subject) coord(i int) []int {
	if l, err := layout.ColMajorOf(c.shape); err == nil {
		return coordOf(l.Shape(), i)
	}
	return nil
}

// composed sets the function x → A(B(x)), which continues past the end of A. It is undefined
// at negative offsets of B.
func composed(c *subject, a, b layout.Layout) {
	ab, err := layout.NewComposed(a, 0, b)
	if err != nil || a.Size() == 0 || b.Size() == 0 || b.Size() > MaxElements {
		return
	}
	c.defined, c.shape, c.at = true, b.Extents(), offsetOf(&ab)
}

// offsetOf returns the offset as a function of a coordinate in range.
func offsetOf(l interface{ Offset(int) (int, error) }) func(i int) int {
	return func(i int) int { off, _ := l.Offset(i); return off }
}

func composition(a, b layout.Layout) (c subject) {
	c.exact = func() (layout.Layout, error) { return layout.Compose(a, b) }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.Compose(a, b) }
	composed(&c, a, b)
	return c
}

func division(op string, a, b layout.Layout) (c subject) {
	f := map[string]func(a, b layout.Layout) (layout.Layout, error){"logical_divide": layout.LogicalDivide,
		"zipped_divide": layout.ZippedDivide, "tiled_divide": layout.TiledDivide, "flat_divide": layout.FlatDivide}[op]
	c.exact = func() (layout.Layout, error) { return f(a, b) }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.Divide(a, b) } // regrouping keeps the function
	if rest, err := layout.Complement(b, a.Size()); err == nil && b.Rank() > 0 {
		if both, err := layout.Join(b, rest); err == nil {
			composed(&c, a, both)
		}
	}
	return c
}

func product(op string, a, b layout.Layout) (c subject) {
	f := map[string]func(a, b layout.Layout) (layout.Layout, error){"logical_product": layout.LogicalProduct,
		"zipped_product": layout.ZippedProduct, "tiled_product": layout.TiledProduct, "flat_product": layout.FlatProduct}[op]
	c.exact = func() (layout.Layout, error) { return f(a, b) }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.Product(a, b) }
	lo, hi := b.Span()
	if a.Size() == 0 || a.Rank() == 0 || b.Rank() == 0 || lo < 0 || hi > 1<<30 || a.Size() > MaxElements || a.Size()*max(1, b.Size()) > MaxElements {
		return c
	}
	rest, err := layout.Complement(a, a.Size()*(hi+1))
	if err != nil {
		return c
	}
	var second subject
	if composed(&second, rest, b); !second.defined {
		return c
	}
	first, n := offsetOf(&a), a.Size()
	c.defined, c.shape = true, layout.List(a.Extents(), b.Extents())
	c.at = func(i int) int { return first(i%n) + second.at(i/n) }
	return c
}

func coalesced(a layout.Layout) (c subject) {
	c.exact = func() (layout.Layout, error) { return a.Coalesce(), nil }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.Coalesce(a) }
	c.defined, c.shape, c.at = true, layout.Int(a.Size()), offsetOf(&a)
	return c
}

func complement(a layout.Layout, n int) (c subject) {
	c.exact = func() (layout.Layout, error) { return layout.Complement(a, n) }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.Complement(a, n) }
	c.promise = func(l layout.Layout) (string, *Mismatch) {
		still := a.Filter()
		if still.Size() > MaxElements/max(1, l.Size()) {
			return "unchecked", nil
		}
		seen := make(map[int]bool)
		last := -1
		for j := range l.Size() {
			y, err := l.Offset(j)
			if err != nil || y <= last {
				return "other", &Mismatch{"Judge", j, nil, y, last + 1, fmt.Sprintf("its offsets don't increase: %d after %d", y, last)}
			}
			last = y
			for i := range still.Size() {
				x, _ := still.Offset(i)
				if seen[x+y] {
					return "other", &Mismatch{"Judge", j, nil, y, y, fmt.Sprintf("its offset %d and offset %d of the layout reach %d, which others reach, too", y, x, x+y)}
				}
				seen[x+y] = true
			}
		}
		return "right", nil
	}
	return c
}

func leftInverse(a layout.Layout) (c subject) {
	c.exact = func() (layout.Layout, error) { return layout.LeftInverse(a) }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.LeftInverse(a) }
	c.promise = func(l layout.Layout) (string, *Mismatch) {
		back, err := layout.NewComposed(l, 0, a)
		if err != nil || a.Size() > MaxElements {
			return "unchecked", nil
		}
		f, r := offsetOf(&a), offsetOf(&back)
		seen := make(map[int]bool, a.Size())
		for i := range a.Size() {
			seen[f(i)] = true
		}
		for i := range a.Size() {
			x, got := f(i), r(i)
			switch {
			case len(seen) == a.Size() && got != i:
				return "other", &Mismatch{"Judge", i, coordOf(a.Shape(), i), got, i, fmt.Sprintf("offset %d goes back to %d instead of %d", x, got, i)}
			case got < 0 || got >= a.Size() || f(got) != x:
				return "other", &Mismatch{"Judge", i, coordOf(a.Shape(), i), got, i, fmt.Sprintf("offset %d goes back to %d, which doesn't have it", x, got)}
			}
		}
		return "right", nil
	}
	return c
}

func rightInverse(a layout.Layout) (c subject) {
	c.exact = func() (layout.Layout, error) { return layout.RightInverse(a), nil }
	c.rules = func(r published.Rules) (layout.Layout, error) { return r.RightInverse(a) }
	longest := layout.RightInverse(a)
	c.promise = func(l layout.Layout) (string, *Mismatch) {
		on, err := layout.NewComposed(a, 0, l)
		if err != nil {
			return "unchecked", nil
		}
		for i := range l.Size() {
			if got, _ := on.Offset(i); got != i {
				x, _ := l.Offset(i)
				return "other", &Mismatch{"Judge", i, nil, got, i, fmt.Sprintf("the layout takes %d to %d instead of %d", x, got, i)}
			}
		}
		if l.Size() < longest.Size() {
			return "smaller", &Mismatch{"Judge", l.Size(), nil, 0, l.Size(), fmt.Sprintf("it ends at %d; the longest goes on to %d", l.Size(), longest.Size())}
		}
		return "right", nil
	}
	return c
}

// A Fault is an input for which published rules give a wrong layout without an error.
type Fault struct {
	Rules   string   `json:"rules"`
	Op      string   `json:"op"`
	Kind    string   `json:"kind"`
	Verdict *Verdict `json:"verdict"`
}

// FindFaults tries each operation on random small layouts, tries times. A kind of silent
// error is a combination of rules, operation and Answer.Kind. For each kind FindFaults
// returns the input with the fewest characters that it saw. The same seed and tries give the
// same list.
func FindFaults(ctx context.Context, seed uint64, tries int) ([]Fault, error) {
	if err := needContext(ctx, "FindFaults"); err != nil {
		return nil, err
	}
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
	slices.SortFunc(list, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Rules, b.Rules), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Kind, b.Kind))
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
