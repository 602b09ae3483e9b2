package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/exact"
	"github.com/ashlar-go/ashlar/num/fixed"
)

// The inputs that are hardest to round have results next to halfway between two numbers or, toward zero, next to a number. Random inputs come as
// near as the inverse of their count. But among some thousand or million neighbours a smooth function is a straight line. Steps of Euclid's
// algorithm then find the nearest, without a look at the others: V. Lefèvre, "Moyens arithmétiques pour un calcul fiable" (2000), chapter 3.

const hardFile = "conformance/verify/hard.txt"

// A hardCase is an input, and the distance of its result from the nearest point where rounding changes, in units.
type hardCase struct {
	word  *big.Int
	zero  bool // next to a number, not to halfway
	near  float64
	wrong string
}

func (h hardCase) String() string {
	side := "half"
	if h.zero {
		side = "whole"
	}
	return fmt.Sprintf("%v %s 2^%.1f", h.word, side, math.Log2(h.near))
}

// hardest looks for hard inputs among the neighbours of n random ones. It returns the hardest inputs, three of each kind, the wrong inputs, and
// the number of inputs it looked among.
func (f *fixedFunction) hardest(format string, n int, seed uint64) (hard, wrong []hardCase, among float64) {
	w := wideFormats[format]
	rnd := rand.New(rand.NewPCG(seed, 11))
	call, oracle := w.call(f.name), exact.Fixed[f.name]
	var found [2][]hardCase
	for range n {
		x := f.someDefined(&w, rnd)
		v := [3]*big.Float{}
		for i := range v {
			v[i] = f.unitsAt(&w, oracle, new(big.Int).Add(x, big.NewInt(int64(i-1))))
		}
		if v[0] == nil || v[1] == nil || v[2] == nil {
			continue
		}
		slope := exact.New(0).Sub(v[2], v[0])
		slope.SetMantExp(slope, -1)
		bend, _ := exact.New(0).Sub(exact.New(0).Add(v[0], v[2]), exact.New(0).Add(v[1], v[1])).Float64()
		reach := int64(min(1<<18, math.Cbrt(1/math.Abs(bend)))) // up to there the error of the line is smaller than the distances looked for
		if reach < 2 {
			continue
		}
		among += float64(2 * reach)
		start := exact.New(0).Sub(v[1], exact.New(0).Mul(slope, exact.New(float64(reach))))
		for kind := range found {
			t, ok := nearest(fraction(start), fraction(slope), uint64(kind)<<(fractionBits-1), 2*reach)
			at := new(big.Int).Add(x, big.NewInt(t-reach))
			u := f.unitsAt(&w, oracle, at)
			if !ok || u == nil || u.MantExp(nil) < 3 { // numbers below a few units aren't on lines
				continue
			}
			if h, ok := judgeHard(call, at, u, kind == 0); ok {
				found[kind] = append(found[kind], h)
				if h.wrong != "" {
					wrong = append(wrong, h)
				}
			}
		}
	}
	for _, list := range found {
		slices.SortFunc(list, func(a, b hardCase) int { return cmp.Or(cmp.Compare(a.near, b.near), a.word.Cmp(b.word)) })
		list = slices.CompactFunc(list, func(a, b hardCase) bool { return a.word.Cmp(b.word) == 0 })
		hard = append(hard, list[:min(3, len(list))]...)
	}
	return hard, wrong, among
}

// someDefined returns a random word in the domain.
func (f *fixedFunction) someDefined(w *wideFormat, rnd *rand.Rand) *big.Int {
	for {
		x := w.some(rnd)
		if v := w.value(x); f.definedAt(v, float64Of(v)) {
			return x
		}
	}
}

func float64Of(v *big.Float) float64 {
	x, _ := v.Float64()
	return x
}

// unitsAt returns the value of a word in units, or nil if there is none or it is beyond the format.
func (f *fixedFunction) unitsAt(w *wideFormat, oracle func(*big.Float) *big.Float, x *big.Int) *big.Float {
	v := w.value(x)
	if !w.fits(x) || !f.definedAt(v, float64Of(v)) {
		return nil
	}
	u := oracle(v)
	u = new(big.Float).SetPrec(exact.Prec).SetMantExp(u, int(w.frac))
	if u.MantExp(nil) >= int(w.width) {
		return nil
	}
	return u
}

// judgeHard compares the result for a word with its value in units. The mode is toward zero if zero is true, else to nearest. ok is false for
// numbers and ties, which aren't hard.
func judgeHard(call func(*big.Int, ...fixed.Mode) (*big.Int, error), x *big.Int, u *big.Float, zero bool) (h hardCase, ok bool) {
	want, _ := u.Int(nil) // toward zero
	part := new(big.Float).SetPrec(exact.Prec).SetInt(want)
	part.Abs(part.Sub(u, part))
	from := func(x float64) float64 {
		d := exact.New(x)
		return math.Abs(float64Of(d.Sub(part, d)))
	}
	mode := []fixed.Mode{fixed.TowardZero}
	if h = (hardCase{word: x, zero: zero, near: min(from(0), from(1))}); !zero {
		mode = nil
		h.near = from(0.5)
		if part.Cmp(big.NewFloat(0.5)) > 0 {
			want.Add(want, big.NewInt(int64(u.Sign())))
		}
	}
	if h.near < 0x1p-200 {
		return h, false
	}
	if got, err := call(x, mode...); err != nil || got.Cmp(want) != 0 {
		h.wrong = fmt.Sprintf("%v: got %v, %v, want %v", x, got, err, want)
	}
	return h, true
}

const fractionBits = 44

// fraction returns x modulo 1, in units of 2^-fractionBits.
func fraction(x *big.Float) uint64 {
	n, _ := new(big.Float).SetPrec(exact.Prec+64).SetMantExp(x, fractionBits).Int(nil)
	return n.And(n, big.NewInt(1<<fractionBits-1)).Uint64()
}

// nearest returns the t below n for which a + b t, modulo 1, is nearest to goal, or one nearly as near.
func nearest(a, b, goal uint64, n int64) (t int64, ok bool) {
	const one = 1 << fractionBits
	for width := uint64(one / 4); width > 0; width /= 2 {
		low := (goal - a - width) % one
		high := low + 2*width
		next, found := int64(0), true
		if high < one {
			if low > 0 {
				next, found = firstWithin(b, one, low, high, uint64(n))
			}
		}
		if !found {
			break
		}
		t, ok = next, true
	}
	return t, ok
}

// firstWithin returns the first t, up to most, for which low ≤ a t mod m ≤ high. It needs 0 < low ≤ high < m, a < m, and most·m below 2^63.
func firstWithin(a, m, low, high, most uint64) (t int64, ok bool) {
	if a == 0 {
		return 0, false
	}
	if 2*a > m {
		a, low, high = m-a, m-high, m-low
	}
	if q := (low + a - 1) / a; q*a <= high {
		return int64(q), q <= most
	}
	// Write a t = m y + r, with r within low and high. Then m y mod a is within -high and -low, modulo a.
	y, ok := firstWithin(m%a, a, (a-high%a)%a, (a-low%a)%a, most*a/m+1)
	if !ok {
		return 0, false
	}
	q := (low + m*uint64(y) + a - 1) / a
	return int64(q), q <= most
}

// checkHard looks for hard inputs for main. It returns the exit status.
func checkHard(name, format string, n int, update bool) int {
	w, ok := wideFormats[format]
	if !ok || w.width < 64 {
		fmt.Fprintf(os.Stderr, "verify: -hard is for FP32x32 and FP64x64; %s is checked on all inputs\n", format)
		return 2
	}
	status := 2
	for _, f := range fixedFunctions {
		if name != "all" && name != f.name {
			continue
		}
		hard, wrong, among := f.hardest(format, n, 1)
		status = min(status, 0)
		fmt.Printf("%s.%s: among 2^%.1f inputs the hardest are", f.name, format, math.Log2(among))
		for _, h := range hard {
			fmt.Printf(" %v", h)
		}
		fmt.Printf("; %d wrong\n", len(wrong))
		if len(wrong) > 0 {
			fmt.Println("  ", wrong[0].wrong)
			return 1
		}
		if update {
			if err := updateHard(hardFile, f.name+" "+format, hard); err != nil {
				fmt.Fprintln(os.Stderr, "verify:", err)
				return 2
			}
		}
	}
	if status == 2 {
		fmt.Fprintf(os.Stderr, "verify: no function %q of fixed point that hard inputs are known of\n", name)
	}
	return status
}

// updateHard puts a function's cases into the file in place of its old ones.
func updateHard(path, key string, hard []hardCase) error {
	const head = "# The hardest inputs that go run ./conformance/verify -hard -update has found: words, what their results are next to, and how near, in units."
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var lines []string
	for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
		if !strings.HasPrefix(s.Text(), "#") && !strings.HasPrefix(s.Text(), key+" ") {
			lines = append(lines, s.Text())
		}
	}
	for _, h := range hard {
		lines = append(lines, key+" "+h.String())
	}
	slices.Sort(lines)
	return os.WriteFile(path, []byte(head+"\n"+strings.Join(lines, "\n")+"\n"), 0o644)
}
