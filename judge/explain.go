package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/layout"
)

// An Explanation has the steps from an expression to its value.
type Explanation struct {
	Text   string `json:"text"`
	Steps  []Step `json:"steps"`
	Answer string `json:"answer,omitempty"`
	// Why is the condition that failed, if there is no answer, and Missing the first
	// coordinate that shows it, where one does.
	Why     string    `json:"why,omitempty"`
	Missing *Mismatch `json:"missing,omitempty"`
}

// A Step is the use of one rule. Most rules claim that two layouts are the same function.
type Step struct {
	Rule      string   `json:"rule"`
	Text      string   `json:"text"`
	Left      string   `json:"left,omitempty"` // the claim is Left = Right, by the meaning of Rule
	Right     string   `json:"right,omitempty"`
	Numbers   []int    `json:"numbers,omitempty"`   // those of the rule
	Published []Answer `json:"published,omitempty"` // wrong answers of published rules that begin here
}

// maxSteps bounds the steps of an explanation, and maxShort the coordinates of what Explain
// compares with published rules and enumerates.
const (
	maxSteps    = 512
	maxShort    = 1 << 12
	maxArgument = 1 << 13 // bytes that Eval reads
)

// Explain evaluates an expression as [layout.Eval] does, and gives the rules that lead to its
// value, with their numbers. It explains compose, with layouts, tilers and swizzles; coalesce;
// complement; the divisions and products; and the inverses. Other functions are one step each.
// Where a rule fails, the explanation ends with the condition, and with the first coordinate
// that has no answer. Where the published rules of pycute or cutegen give another answer, the
// step at which they go wrong has it; these are compared up to 4096 coordinates. The first
// coordinate without an answer is sought up to 2^18.
//
// These are the rules and their claims. Offsets are those of all linear coordinates:
//
//	coalesce    Left and Right have the same offsets
//	extend      the same, and Right goes on to the number
//	leaf        Right(j) = A(j·s) for Left A ∘ e:s; the numbers are e and s
//	carry       the largest remainders of B's leaves by the end of a leaf of A add up to less;
//	            the numbers are the end and the sum
//	compose     Left and Right have the same offsets, and Right has the modes of B
//	gap         offsets of Left and of Right, added, are all different
//	complement  the same for the whole layout
//	chain       Left(Right(i)) = i
//	place       Right takes an offset of Left to its coordinate times the numbers
//	inverse     Right inverts Left
//	swizzle     Right is Left with bits flipped; the numbers are the first bit, its source and their count
//	join, regroup, function  Left and Right have the same offsets
//
// Explain fails as Eval does on text that it can't read or that has no function. It fails with
// layout.ErrLimit for more than 512 steps, and for a layout of more than 8192 bytes on the way.
func Explain(expr string) (*Explanation, error) {
	const op = "Explain"
	x := &explainer{Explanation: Explanation{Text: expr}}
	c, err := layout.EvalEach(expr, x.call)
	switch {
	case errors.Is(err, layout.ErrSyntax):
		return nil, err
	case x.calls == 0 && err != nil:
		return nil, err
	case x.calls == 0:
		return nil, fail(op, layout.ErrSyntax, "%q has no operator and no function to explain; want an expression as in (6,2):(8,2) o (4,3):(3,1)", clip(expr))
	case x.tooLong > 0:
		return nil, fail(op, layout.ErrLimit, "an argument of a function is a layout of %d bytes, more than %d; explain a part of the expression", x.tooLong, maxArgument)
	case len(x.Steps) > maxSteps:
		return nil, fail(op, layout.ErrLimit, "more than %d steps; explain a part of the expression", maxSteps)
	case err != nil:
		var at *layout.EvalError
		if x.Why = err.Error(); errors.As(err, &at) && at.Err != nil {
			x.Why = at.Err.Error()
		}
		_, x.Why, _ = strings.Cut(x.Why, ": ")
	default:
		x.Answer = text(c)
	}
	return &x.Explanation, nil
}

// String writes the steps as lines.
func (e *Explanation) String() string {
	var b strings.Builder
	for _, s := range e.Steps {
		fmt.Fprintf(&b, "%-10s  %s\n", s.Rule, s.Text)
		for _, a := range s.Published {
			fmt.Fprintf(&b, "%-10s  %s goes wrong here: %s", "", a.Rules, a.Layout)
			if a.Wrong != nil {
				fmt.Fprintf(&b, ", %s", a.Wrong.Text())
			}
			b.WriteByte('\n')
		}
	}
	switch {
	case e.Missing != nil:
		fmt.Fprintf(&b, "%-10s  none: %s; %s\n", "answer", e.Why, e.Missing.Text())
	case e.Why != "":
		fmt.Fprintf(&b, "%-10s  none: %s\n", "answer", e.Why)
	default:
		fmt.Fprintf(&b, "%-10s  %s\n", "answer", e.Answer)
	}
	return b.String()
}

// An explainer adds steps as functions are called.
type explainer struct {
	Explanation
	calls   int
	tooLong int             // the bytes of an argument that Eval doesn't read
	known   map[string]bool // published rules whose fault has its step in the current call
}

func (x *explainer) add(rule, left, right string, numbers []int, format string, args ...any) {
	if len(x.Steps) <= maxSteps {
		x.Steps = append(x.Steps, Step{Rule: rule, Text: fmt.Sprintf(format, args...), Left: left, Right: right, Numbers: numbers})
	}
}

// blame notes the wrong answers of published rules at the last step. An answer is checked at the coordinates of the layouts.
func (x *explainer) blame(c subject, checked ...layout.Layout) {
	n := 1
	for _, l := range checked {
		n *= min(l.Size(), maxShort+1)
	}
	if len(x.Steps) > maxSteps || n > maxShort || c.promise == nil && (!c.defined || c.size() > maxShort) {
		return
	}
	for _, r := range []published.Rules{published.PyCute, published.CuteGen} {
		if a := c.judge(r); a.Silent() && !x.known[r.Name] {
			x.known[r.Name] = true
			s := &x.Steps[len(x.Steps)-1]
			s.Published = append(s.Published, a)
		}
	}
}

// call explains a function that is about to be called.
func (x *explainer) call(name string, args ...string) {
	if x.calls++; len(x.Steps) > maxSteps {
		return
	}
	x.known, x.Missing = map[string]bool{}, nil
	whole := name + " " + strings.Join(args, " ")
	list := make([]layout.Composed, len(args))
	function := false // whether the first argument is a layout
	for i, a := range args {
		c, err := layout.Eval(a)
		var bad *layout.EvalError
		if errors.As(err, &bad) && len(a) > maxArgument {
			x.tooLong = len(a)
			return
		}
		list[i] = c // of a tuple or a tiler empty
		function = function || i == 0 && err == nil
	}
	if name == "compose" && strings.HasPrefix(args[0], "Sw<") && !strings.Contains(args[0], ":") {
		x.swizzle(args[0], args[1])
		return
	}
	a := list[0].Inner()
	if _, plain := list[0].Plain(); function && !plain && name != "coalesce" && !strings.HasSuffix(name, "_inverse") {
		x.add("inner", "", "", nil, "%s rearranges the inner layout of %v, %v", name, list[0], a)
	}
	divides, multiplies := strings.HasSuffix(name, "_divide"), strings.HasSuffix(name, "_product") && slices.Contains(Ops, name)
	_, plain := list[0].Plain()
	switch {
	case (name == "compose" || divides || name == "logical_product") && strings.HasPrefix(args[1], "<"):
		x.byMode(name, a, args[1])
		return
	case name == "coalesce" && len(args) == 1:
		x.coalesce(a)
		return
	case name == "compose":
		b := list[1].Inner()
		x.compose(a, b)
		x.missing(composition(a, b))
		return
	case name == "complement":
		if n, err := strconv.Atoi(args[1]); err == nil {
			x.complement(a, n)
			return
		}
	case divides:
		x.divide(name, a, list[1].Inner())
		return
	case multiplies:
		x.product(name, a, list[1].Inner())
		return
	case name == "right_inverse" && plain:
		x.rightInverse(a)
		return
	case name == "left_inverse" && plain:
		x.leftInverse(a)
		return
	}
	if c, err := layout.Eval(whole); err == nil {
		x.add("function", whole, text(c), nil, "%s is %s", whole, text(c))
	}
}

// missing finds the first coordinate that has no answer, of an operation that fails.
func (x *explainer) missing(c subject) {
	if _, err := c.exact(); err == nil || !c.defined || c.size() > 1<<18 {
		return
	}
	var bad *Mismatch
	if _, _, err := Fit(c.shape, c.at); errors.As(err, &bad) {
		x.Missing = bad
	}
}

// byMode explains a function with a tiler mode by mode.
func (x *explainer) byMode(name string, a layout.Layout, tiler string) {
	parts := strings.Split(strings.Trim(tiler, "<>"), ",")
	k := 0
	for from := 0; from < len(parts) && k < a.Rank(); k++ {
		to := from + 1 // an entry has as many brackets opened as closed
		for strings.Count(strings.Join(parts[from:to], ","), "(") > strings.Count(strings.Join(parts[from:to], ","), ")") {
			to++
		}
		c, err := layout.Eval(strings.Join(parts[from:to], ","))
		from = to
		if err != nil {
			return
		}
		mode, tile := a.Mode(k), c.Inner()
		x.add("mode", "", "", nil, "mode %d: %s of %v by %v", k, name, mode, tile)
		ok := false
		switch name {
		case "compose":
			if ok = x.compose(mode, tile); !ok {
				x.missing(composition(mode, tile))
			}
		case "logical_product":
			ok = x.product(name, mode, tile)
		default:
			ok = x.divide("logical_divide", mode, tile)
		}
		if !ok {
			return
		}
	}
	if k < a.Rank() {
		x.add("mode", "", "", nil, "the modes from %d on are kept", k)
	}
}

// coalesce explains the merging of leaves.
func (x *explainer) coalesce(a layout.Layout) {
	var merged []string
	whole := 1
	last := [2]int{1, 0}
	for k := range a.Leaves() {
		e, s := a.Leaf(k)
		switch {
		case e == 1:
			merged = append(merged, fmt.Sprintf("%d:%d goes", e, s))
			continue
		case whole > 1 && last[0]*last[1] == s:
			merged = append(merged, fmt.Sprintf("%d:%d and %d:%d are %d:%d, since %d·%d = %d", last[0], last[1], e, s, last[0]*e, last[1], last[0], last[1], s))
			last[0] *= e
		default:
			last = [2]int{e, s}
		}
		whole *= e
	}
	c := a.Coalesce()
	how := "no two leaves merge"
	if merged != nil {
		how = strings.Join(merged[:min(len(merged), 8)], "; ")
	}
	x.add("coalesce", a.String(), c.String(), nil, "%v is %v: %s", a, c, how)
	x.blame(coalesced(a))
}

// values lists the first values of a function.
func values(n int, f func(int) int) string {
	var parts []string
	for j := range min(n, 8) {
		parts = append(parts, strconv.Itoa(f(j)))
	}
	if n > 8 {
		parts = append(parts, "…")
	}
	return strings.Join(parts, " ")
}

// compose explains A ∘ B leaf by leaf of B. It reports whether there is a layout.
func (x *explainer) compose(a, b layout.Layout) bool {
	lo, hi := b.Span()
	if b.Size() == 0 || a.Size() == 0 || lo < 0 {
		return false // the condition says everything
	}
	x.coalesce(a)
	flat := a.Coalesce()
	if hi >= a.Size() {
		k := flat.Leaves() - 1
		if n := a.Leaves() - 1; n >= 0 { // a last leaf of extent 1 goes on with its own stride
			if e, s := a.Leaf(n); e == 1 {
				if f, d := flat.Leaf(k); a.Size() > 1 && f*d != s {
					flat = joinedFlat(flat, 1, s)
				} else if a.Size() == 1 {
					flat, _ = layout.New([]int{1}, []int{s})
				}
				k = flat.Leaves() - 1
			}
		}
		e, s := flat.Leaf(k)
		more := hi/(flat.Size()/e) + 1
		if long, err := withLast(flat, more); err == nil {
			x.add("extend", a.String(), long.String(), []int{hi}, "%v reaches %d, past the end %d of %v: its last leaf %d:%d goes on as %d:%d", b, hi, a.Size(), a, e, s, more, s)
			flat = long
		}
	}
	ends := []int{}
	for k, n := 0, 1; k+1 < flat.Leaves(); k++ {
		e, _ := flat.Leaf(k)
		n *= e
		ends = append(ends, n)
	}
	sums := make([]int, len(ends))
	for k := range b.Leaves() {
		e, s := b.Leaf(k)
		if e == 1 || s == 0 {
			x.add("leaf", fmt.Sprintf("%v o %d:%d", a, e, s), fmt.Sprintf("%d:0", e), []int{e, s}, "leaf %d:%d stays at offset 0: it is %d:0", e, s, e)
			continue
		}
		leaf, err := layout.New([]int{e}, []int{s})
		if err != nil {
			return false
		}
		whole, err := layout.NewComposed(a, 0, leaf)
		if err != nil {
			return false
		}
		f := offsetOf(&whole)
		part, err := layout.Compose(a, leaf)
		at := func(j int) int { return j * s }
		if err != nil {
			x.add("leaf", "", "", []int{e, s}, "leaf %d:%d takes %s of the first to %s, which is no layout: it crosses the end of a leaf unevenly", e, s, values(e, at), values(e, f))
			return false
		}
		x.add("leaf", fmt.Sprintf("%v o %v", a, leaf), part.String(), []int{e, s}, "leaf %d:%d takes %s of the first to %s, which is %v", e, s, values(e, at), values(e, f), part.Mode(0))
		x.blame(composition(a, leaf))
		for i, end := range ends {
			sums[i] += remainder(e, s, end)
		}
	}
	for i, end := range ends {
		if sums[i] < 0 || b.Leaves() < 2 {
			continue
		}
		e, s := flat.Leaf(i)
		if sums[i] < end {
			x.add("carry", "", "", []int{end, sums[i]}, "the remainders by %d, the end of leaf %d:%d, add up to %d at most: no carry", end, e, s, sums[i])
		} else {
			x.add("carry", "", "", []int{end, sums[i]}, "the remainders by %d, the end of leaf %d:%d, add up to %d: a carry, which no leaf has alone", end, e, s, sums[i])
			x.blame(composition(a, b))
		}
	}
	r, err := layout.Compose(a, b)
	if err != nil {
		return false
	}
	x.add("compose", fmt.Sprintf("%v o %v", a, b), r.String(), nil, "the parts in the place of the leaves of %v are %v", b, r)
	x.blame(composition(a, b))
	return true
}

// joinedFlat appends a leaf to a layout of leaves.
func joinedFlat(l layout.Layout, e, s int) layout.Layout {
	leaf, err := layout.New([]int{e}, []int{s})
	if err == nil {
		if all, err := layout.Join(l, leaf); err == nil {
			return all.Flatten()
		}
	}
	return l
}

// withLast changes the last extent of a flat layout.
func withLast(l layout.Layout, n int) (layout.Layout, error) {
	var ext, str []int
	for k := range l.Leaves() {
		e, s := l.Leaf(k)
		ext, str = append(ext, e), append(str, s)
	}
	ext[len(ext)-1] = n
	return layout.New(ext, str)
}

// remainder is the largest remainder of j·s by end, 0 ≤ j < e. If only a long count finds it,
// it is far below 0, and so is each sum with it.
func remainder(e, s, end int) int {
	r := s % end
	period := end / gcd(r, end)
	switch {
	case r == 0:
		return 0
	case e-1 <= (end-1)/r:
		return (e - 1) * r
	case e >= period:
		return end - gcd(r, end)
	case e > maxShort:
		return math.MinInt / 64
	}
	most, at := 0, 0
	for range e {
		most, at = max(most, at), (at+r)%end
	}
	return most
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// ascending lists the leaves of a coalesced layout that move, by stride, each with the linear coordinate of its second element.
func ascending(a layout.Layout) (list [][3]int) {
	c := a.Coalesce()
	place := 1
	for k := range c.Leaves() {
		e, s := c.Leaf(k)
		if e > 1 && s != 0 {
			list = append(list, [3]int{e, s, place})
		}
		place *= e
	}
	slices.SortStableFunc(list, func(a, b [3]int) int { return a[1] - b[1] })
	return list
}

// leavesText writes leaves as a layout.
func leavesText(list [][3]int) string {
	ext, str := []int{}, []int{}
	for _, l := range list {
		ext, str = append(ext, l[0]), append(str, l[1])
	}
	if l, err := layout.New(ext, str); err == nil && len(ext) > 0 {
		return l.String()
	}
	return "1:0"
}

// complement explains which gaps are filled. It reports whether there is a layout.
func (x *explainer) complement(a layout.Layout, n int) bool {
	list := ascending(a)
	if a.Size() == 0 || n < 0 {
		list = nil
	}
	x.add("coalesce", a.String(), a.Coalesce().String(), nil, "%v is %v; the leaves that move are, by stride, %s", a, a.Coalesce(), leavesText(list))
	reach := 1
	var gaps [][3]int
	for k, l := range list {
		e, s := l[0], l[1]
		if s < reach {
			x.add("overlap", "", "", []int{s, reach}, "leaf %d:%d begins at stride %d, below %d, to which the leaves before it reach", e, s, s, reach)
			return false
		}
		if gap := s / reach; gap > 1 {
			gaps = append(gaps, [3]int{gap, reach})
			x.add("gap", leavesText(list[:k+1]), leavesText(gaps), []int{e, s, reach}, "before leaf %d:%d there are %d places of %d: a mode %d:%d", e, s, gap, reach, gap, reach)
		} else {
			x.add("gap", leavesText(list[:k+1]), leavesText(gaps), []int{e, s, reach}, "leaf %d:%d begins where the leaves before it end, at %d: no gap", e, s, reach)
		}
		if e > math.MaxInt/s {
			return false
		}
		reach = e * s
	}
	r, err := layout.Complement(a, n)
	if err != nil {
		return false
	}
	times := n / reach
	if n%reach > 0 {
		times++
	}
	how := fmt.Sprintf("the leaves reach %d, so %d takes %d of them", reach, n, times)
	x.add("complement", a.String(), r.String(), []int{n}, "%s: %v", how, r)
	x.blame(complement(a, n), a.Filter(), r)
	return true
}

// regroup explains the last step of a division or a product, which puts modes side by side.
func (x *explainer) regroup(name string, a, b layout.Layout, c subject) {
	if answer, err := c.exact(); err == nil {
		x.add("regroup", fmt.Sprintf("%s %v %v", name, a, b), answer.String(), nil, "its modes side by side, as %s has them: %v", name, answer)
		x.blame(c)
	}
}

// divide explains A ∘ (B, B*). It reports whether there is a layout.
func (x *explainer) divide(name string, a, b layout.Layout) bool {
	x.add("divide", "", "", nil, "%s is A ∘ (B, B*) with A = %v, B = %v and its complement B* up to %d, the size of A", name, a, b, a.Size())
	if !x.complement(b, a.Size()) {
		return false
	}
	rest, err := layout.Complement(b, a.Size())
	if err != nil {
		return false
	}
	both, err := layout.Join(b, rest)
	if err != nil {
		return false
	}
	x.add("join", fmt.Sprintf("join %v %v", b, rest), both.String(), nil, "(B, B*) is %v", both)
	if x.compose(a, both) {
		x.regroup(name, a, b, division(name, a, b))
		return true
	}
	x.missing(composition(a, both))
	return false
}

// product explains (A, A* ∘ B). It reports whether there is a layout.
func (x *explainer) product(name string, a, b layout.Layout) bool {
	lo, hi := b.Span()
	if lo < 0 || a.Size() > 0 && hi >= math.MaxInt/a.Size() {
		return false
	}
	n := a.Size() * (hi + 1)
	x.add("product", "", "", nil, "%s is (A, A* ∘ B) with A = %v, B = %v, and the complement A* up to %d, %d times the size of A", name, a, b, n, hi+1)
	if !x.complement(a, n) {
		return false
	}
	rest, err := layout.Complement(a, n)
	if err != nil {
		return false
	}
	if x.compose(rest, b) {
		x.regroup(name, a, b, product(name, a, b))
		return true
	}
	x.missing(composition(rest, b))
	return false
}
