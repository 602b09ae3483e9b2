package judge

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// An XOR is an invertible matrix over F2 that permutes the offsets of a tile: bit i of the
// result is the sum modulo 2 of the bits of x that Rows[i] marks. Higher bits of x stay.
type XOR struct{ Rows []uint64 }

// At returns the offset to which x moves.
func (m XOR) At(x int) int {
	y := x &^ (1<<len(m.Rows) - 1)
	for i, row := range m.Rows {
		y |= bits.OnesCount64(row&uint64(x)) & 1 << i
	}
	return y
}

// Terms returns the number of bits that are added to other bits.
func (m XOR) Terms() (n int) {
	for i, row := range m.Rows {
		n += bits.OnesCount64(row &^ (1 << i))
	}
	return n
}

// String lists the bits that change, as in y3 = x3 ^ x6.
func (m XOR) String() string {
	var list []string
	for i, row := range m.Rows {
		if row == 1<<i {
			continue
		}
		var terms []string
		for k := range 64 {
			if row>>k&1 == 1 {
				terms = append(terms, fmt.Sprintf("x%d", k))
			}
		}
		list = append(list, fmt.Sprintf("y%d = %s", i, strings.Join(terms, " ^ ")))
	}
	if len(list) == 0 {
		return "identity"
	}
	return strings.Join(list, ", ")
}

// An XORResult is the answer of SolveXOR.
type XORResult struct {
	Found   bool   `json:"found"`
	Decided bool   `json:"decided"` // found, or known not to exist
	Fewest  bool   `json:"fewest"`  // no matrix with fewer terms is without conflicts
	Matrix  XOR    `json:"matrix"`
	Why     string `json:"why"` // the reason of the answer, with the space that was searched completely
	// Spaces is the number of difference spaces of the phases, when the words of each phase
	// are a coset of a linear space over F2; else 0.
	Spaces int `json:"spaces"`
}

// searchNodes bounds the matrices or vectors of each of SolveXOR's two searches, and
// searchWork the differences looked at.
const (
	searchNodes = 1 << 20
	searchWork  = 1 << 30
)

// SolveXOR returns an XOR matrix of the offsets of the tile with which none of the accesses
// has a bank conflict, or says that none exists. The matrix has as few terms as SolveXOR can
// prove.
//
// The matrices move whole words, and whole vectors of the widest access: they keep the low
// bits, and no other bit depends on the low bits. Let h be the remaining bits of an offset.
// A linear map H takes h to the bits of the bank's number. An access has no conflicts if and
// only if H(h ^ h') ≠ 0 for any two words h ≠ h' of a phase whose low bits are equal. So
// only the differences matter. If the words of a phase are a coset of a linear space V, the
// condition is that H has full rank on V.
//
//  1. If a phase has more words than there are banks, no map helps. If it has more words at
//     one place in a vector than the banks have places for vectors, no map that keeps
//     vectors whole helps.
//  2. Matrices that add other bits to the bits of the bank's number are searched by their
//     number of terms. Each word that still collides must be moved by a term of its
//     difference. So the search visits every matrix that could work, and the first one that
//     works has the fewest terms.
//  3. If this search finds none within its bound, or none at all, the kernel of H is built
//     vector by vector. With at most two difference spaces, none larger than the banks, there
//     is always a kernel: a space isn't the union of two smaller ones. With more, all kernels
//     are searched in echelon form, up to a bound. If it is reached, Decided is false.
//
// The number of banks, the word, the elements and the vectors must be powers of two.
// SolveXOR fails as SolveSwizzle does, and if vectors are split, which no such matrix can
// change.
func SolveXOR(ctx context.Context, l layout.Composed, b Banks, elemBits int, accesses ...Access) (XORResult, error) {
	const op = "SolveXOR"
	m, err := solvable(ctx, op, l, b, elemBits, accesses)
	if err != nil {
		return XORResult{}, err
	}
	x := xorSearch{ctx: ctx}
	if err := x.prepare(op, m); err != nil || x.out.Decided {
		return x.out, err
	}
	x.fewest()
	if !x.out.Found {
		x.kernels()
	}
	if err := ctx.Err(); err != nil {
		return x.out, err
	}
	if x.out.Found {
		count := make([]int, b.Count)
		for i := range m.phases {
			if !m.clean(&m.phases[i], x.out.Matrix.At, count) {
				return x.out, fail(op, ErrNone, "the matrix %v has a conflict: a fault of this package", x.out.Matrix)
			}
		}
	}
	return x.out, nil
}

type xorSearch struct {
	ctx    context.Context
	out    XORResult
	low    int   // bits of an offset that stay
	bank   int   // bits of the bank's number above these
	n      int   // bits of h
	differ []int // the differences that H must not send to 0
	nodes  int
	work   int
	cut    bool // the depth ended the search
}

// prepare collects the differences, and decides the cases that need no search.
func (x *xorSearch) prepare(op string, m *model) error {
	word := 8 * m.banks.Width
	wide := max(word, m.bits)
	for i := range m.phases {
		wide = max(wide, m.phases[i].n*m.bits)
	}
	room := m.banks.Count * word
	for _, n := range []int{m.banks.Count, m.banks.Width, m.bits, wide} {
		if !isPower(n) {
			return fail(op, layout.ErrDivide, "%v, elements of %d bits, vectors of %d: XOR matrices want powers of two", m.banks, m.bits, wide)
		}
	}
	if wide > room {
		x.decide("an element of %d bits is larger than a word of each bank", m.bits)
		return nil
	}
	same := func(v int) int { return v }
	x.low = log2(wide / m.bits)
	x.bank = max(0, log2(room)-log2(wide))
	x.n = max(0, bits.Len(uint(m.most))-x.low)
	per := max(1, word/m.bits) // elements of a word
	seen := map[int]bool{}
	spaces, linear := map[string]bool{}, true
	pairs, known, key := 0, map[string]bool{}, []byte(nil)
	for i := range m.phases {
		p := &m.phases[i]
		if err := x.ctx.Err(); err != nil {
			return err
		}
		groups := map[int][]int{} // the words by their low bits
		for from := 0; from < len(p.coords); from += p.n {
			vector := p.coords[from : from+p.n]
			if p.n > 1 && m.split(vector, same) {
				return fail(op, layout.ErrDivide, "%s: the vector from coordinate %s on isn't one aligned run of memory, and a matrix that moves whole vectors keeps it so", m.names[p.access], tupleText(coordOf(m.shape, vector[0])))
			}
			for v := 0; v < p.n; v += per {
				off := m.offs[vector[v]]
				place := off & (1<<x.low - 1) / per
				groups[place] = append(groups[place], off>>x.low)
			}
		}
		for _, h := range groups {
			slices.Sort(h)
			asked := len(h)
			if h = slices.Compact(h); m.banks.Single && len(h) < asked {
				x.decide("a phase of %s has two threads that want one word, and the memory doesn't share words; no map of offsets helps", m.names[p.access])
				return nil
			}
			if len(h) > 1<<x.bank {
				if wide == word {
					x.decide("a phase of %s has %d words for %d banks; no map of offsets helps", m.names[p.access], len(h), 1<<x.bank)
				} else {
					x.decide("a phase of %s has %d words at one place in vectors of %d bytes, which have %d places in the banks; no map that keeps vectors whole helps", m.names[p.access], len(h), wide/8, 1<<x.bank)
				}
				return nil
			}
			// A phase that is another one moved has the same differences.
			key = key[:0]
			first := h[0]
			for i := range h {
				h[i] ^= first
			}
			slices.Sort(h)
			for _, v := range h {
				key = binary.AppendUvarint(key, uint64(v))
			}
			if known[string(key)] {
				continue
			}
			known[string(key)] = true
			if pairs += len(h) * len(h); pairs > 16*MaxElements {
				return fail(op, layout.ErrLimit, "more than %d pairs of words in phases of different forms", 16*MaxElements)
			}
			for i, a := range h {
				for _, b := range h[:i] {
					seen[a^b] = true
				}
			}
			if len(h) > 1 {
				basis := spanOf(h)
				linear = linear && len(h) == 1<<len(basis)
				spaces[fmt.Sprint(basis)] = true
			}
		}
	}
	for d := range seen {
		x.differ = append(x.differ, d)
	}
	slices.Sort(x.differ)
	if linear {
		x.out.Spaces = len(spaces)
	}
	return nil
}

// spent reports whether the search has reached a bound.
func (x *xorSearch) spent() bool {
	return x.nodes > searchNodes || x.work > searchWork || x.nodes&1023 == 0 && x.ctx.Err() != nil
}

func (x *xorSearch) decide(format string, args ...any) {
	x.out.Decided, x.out.Why = true, fmt.Sprintf(format, args...)
}

// spanOf returns the reduced basis of the differences of some numbers.
func spanOf(h []int) (basis []int) {
	for _, v := range h[1:] {
		d := v ^ h[0]
		for _, b := range basis {
			d = min(d, d^b)
		}
		if d == 0 {
			continue
		}
		for i, b := range basis {
			basis[i] = min(b, b^d)
		}
		basis = append(basis, d)
		slices.Sort(basis)
		slices.Reverse(basis)
	}
	return basis
}

// A term adds bit from of h to bit to of the bank's number.
type term struct{ to, from int }

// fewest searches the matrices that add bits to the bits of the bank's number.
func (x *xorSearch) fewest() {
	all := x.bank * max(0, x.n-x.bank)
	for depth := 0; depth <= all; depth++ {
		var rows [64]int
		for i := range min(x.bank, x.n) {
			rows[i] = 1 << i
		}
		x.cut = false
		if x.add(&rows, map[term]bool{}, depth) {
			x.out.Found, x.out.Decided, x.out.Fewest = true, true, true
			x.out.Matrix = x.matrix(rows[:min(x.bank, x.n)])
			x.out.Why = fmt.Sprintf("no matrix that adds fewer than %d bits to those of the bank's number is without conflicts", depth)
			return
		}
		if x.spent() || x.ctx.Err() != nil {
			return
		}
		if !x.cut { // all matrices were visited
			return
		}
	}
}

// add adds up to depth terms. A difference that H sends to 0 needs a term from one of its
// bits. A term that was tried is forbidden with the next ones.
func (x *xorSearch) add(rows *[64]int, forbidden map[term]bool, depth int) bool {
	x.nodes++
	bad := -1
	for _, d := range x.differ {
		x.work++
		if image(rows[:x.bank], d) == 0 {
			bad = d
			break
		}
	}
	if bad < 0 {
		return true
	}
	if depth == 0 || x.spent() {
		x.cut = true
		return false
	}
	var tried []term
	defer func() {
		for _, t := range tried {
			delete(forbidden, t)
		}
	}()
	for from := x.bank; from < x.n; from++ {
		if bad>>from&1 == 0 {
			continue
		}
		for to := range x.bank {
			t := term{to, from}
			if forbidden[t] || rows[to]>>from&1 == 1 {
				continue
			}
			rows[to] |= 1 << from
			if x.add(rows, forbidden, depth-1) {
				return true
			}
			rows[to] &^= 1 << from
			forbidden[t] = true
			tried = append(tried, t)
		}
	}
	return false
}

func image(rows []int, d int) (y int) {
	for i, row := range rows {
		y |= bits.OnesCount64(uint64(row&d)) & 1 << i
	}
	return y
}

// kernels builds the kernel of H: greedily first, then all of them.
func (x *xorSearch) kernels() {
	if x.n > 20 {
		x.out.Why = fmt.Sprintf("the tile has %d bits of words, more than the 20 that are searched", x.n)
		return
	}
	whole := x.n - x.bank
	if whole < 0 {
		whole = 0
	}
	left := slices.Clone(x.differ)
	var kernel []int
	for len(kernel) < whole {
		v := 1
		taken := make(map[int]bool, len(left))
		for _, d := range left {
			taken[d] = true
		}
		for v < 1<<x.n && (taken[v] || reduced(kernel, v) != v) {
			v++
		}
		if v == 1<<x.n {
			break
		}
		kernel = append(kernel, v)
		for i, d := range left {
			left[i] = reduced(kernel, d)
		}
	}
	x.nodes, x.work = 0, 0
	if len(kernel) < whole {
		kernel = x.search(nil, slices.Clone(x.differ), x.n, whole)
	}
	switch {
	case kernel != nil || whole == 0:
		x.out.Found, x.out.Decided = true, true
		x.out.Matrix = x.matrix(annihilator(kernel, x.n))
		x.out.Why = "a map from all words onto the banks whose kernel has no difference of a phase"
	case x.spent() || x.ctx.Err() != nil:
		x.out.Why = fmt.Sprintf("the search of the maps from %d bits of words to %d bits of banks ended after %d vectors of their kernels", x.n, x.bank, x.nodes)
	default:
		x.decide("every linear map from the %d bits of words to the %d bits of banks sends a difference of a phase to 0: all kernels were searched", x.n, x.bank)
	}
}

// reduced clears the leading bits of the kernel's vectors in v.
func reduced(kernel []int, v int) int {
	for _, k := range kernel {
		if v>>log2(k)&1 == 1 {
			v ^= k
		}
	}
	return v
}

// search extends a kernel in echelon form, with descending leading bits, by more vectors.
func (x *xorSearch) search(kernel, left []int, below, more int) []int {
	if more == 0 {
		return kernel
	}
	taken := make(map[int]bool, len(left))
	for _, d := range left {
		taken[d] = true
	}
	for lead := below - 1; lead >= more-1; lead-- {
		if slices.ContainsFunc(kernel, func(k int) bool { return k>>lead&1 == 1 }) {
			continue // echelon form has 0 there
		}
		for v := 1 << lead; v < 2<<lead; v++ {
			if x.nodes++; x.spent() {
				return nil
			}
			if taken[v] {
				continue
			}
			x.work += 16 * len(left)
			next := make([]int, 0, len(left))
			for _, d := range left {
				if d>>lead&1 == 1 {
					d ^= v
				}
				next = append(next, d)
			}
			slices.Sort(next)
			if k := x.search(append(slices.Clone(kernel), v), slices.Compact(next), lead, more-1); k != nil {
				return k
			}
		}
	}
	return nil
}

// annihilator returns n - len(kernel) independent rows that send the kernel to 0.
func annihilator(kernel []int, n int) (rows []int) {
	// Reduced, each vector is the only one with its leading bit.
	k := slices.Clone(kernel)
	for i := range k {
		for j := range k {
			if i != j && k[j]>>log2(k[i])&1 == 1 {
				k[j] ^= k[i]
			}
		}
	}
	lead := 0
	for _, v := range k {
		lead |= 1 << log2(v)
	}
	for free := range n {
		if lead>>free&1 == 1 {
			continue
		}
		row := 1 << free
		for _, v := range k {
			if v>>free&1 == 1 {
				row |= 1 << log2(v)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// matrix completes the rows of the bank's number, on words, to a matrix on offsets.
func (x *xorSearch) matrix(rows []int) XOR {
	var done []int // reduced rows, for the test of independence
	independent := func(row int) bool {
		for _, d := range done {
			row = min(row, row^d)
		}
		if row == 0 {
			return false
		}
		done = append(done, row)
		slices.Sort(done)
		slices.Reverse(done)
		return true
	}
	place := make([]int, x.n)
	for i, row := range rows {
		place[i] = row
		independent(row)
	}
	at := len(rows)
	for _, pass := range [2]int{at, 0} { // a bit stays in its own place if it can
		for i := pass; i < x.n; i++ {
			if pass == at && i >= at && place[i] == 0 && independent(1<<i) {
				place[i] = 1 << i
			} else if pass == 0 && independent(1<<i) {
				place[slices.Index(place, 0)] = 1 << i
			}
		}
	}
	m := XOR{Rows: make([]uint64, x.low+x.n)}
	for i := range m.Rows {
		if m.Rows[i] = 1 << i; i >= x.low {
			m.Rows[i] = uint64(place[i-x.low]) << x.low
		}
	}
	return m
}
