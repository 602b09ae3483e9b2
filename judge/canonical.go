package judge

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A Canonical is the layout of an operand in shared memory as the descriptor of wgmma tells it.
type Canonical struct {
	Instruction string         `json:"instruction"`
	Operand     string         `json:"operand"`
	Tiles       int            `json:"tiles"` // operands that the layout holds
	Found       bool           `json:"found"`
	Major       string         `json:"major,omitempty"` // the axis whose neighbours are neighbours in memory: k, or mn for m or n
	Swizzle     int            `json:"swizzle"`         // bytes; 0: none
	Leading     int            `json:"leading"`         // bytes; 0 where the descriptor doesn't use it
	Stride      int            `json:"stride"`          // bytes
	Report      *Report        `json:"report,omitempty"`
	Refused     []Refusal      `json:"refused,omitempty"` // if none is found
	Mend        layout.Swizzle `json:"-"`                 // if none is found: the swizzle of the inner layout that leads to one
	Mends       bool           `json:"mends"`
}

// SolveCanonical tells which of the eight canonical layouts of wgmma's descriptors an operand in
// shared memory has: k-major or mn-major, without a swizzle or with one of 32, 64 or 128 bytes.
// The modes of the layout are m × k for A and k × n for B; several operands may lie side by side.
// Each of them must have the layout from its own start on, and all with the same numbers.
//
// In units of 16 bytes, T elements, these are the offsets before the swizzle. An operand has 2
// units along k. A swizzle of 16·w bytes takes unit u to u ^ (u/8 mod w).
//
//	k-major    row r, unit j      (r mod 8)·w + (r/8)·stride + j·leading; swizzled, leading is one unit
//	mn-major   unit i, column k   (i mod w) + (i/w)·leading + (k mod 8)·w + (k/8)·stride
//	mn-major without a swizzle    i·stride + (k mod 8) + (k/8)·leading
//
// Only 16-bit floats may be mn-major. Report counts the conflicts if eight rows of 16 bytes are
// read at once, as ldmatrix reads them. NVIDIA doesn't publish how wgmma reads. If no canonical
// layout is found, Mend is the swizzle, if any, with which the inner layout has one. The widest
// is tried first.
//
// Sources: PTX ISA 9.2, asynchronous warpgroup-level matrix shared memory layout; CUTLASS,
// mma_traits_sm90_gmma.hpp. SolveCanonical fails with ErrNone for another instruction. It fails
// with layout.ErrDivide if the operand doesn't fill the layout in whole tiles, and with
// layout.ErrLimit on more than MaxElements elements.
func SolveCanonical(l layout.Composed, m *MatrixInstruction, operand string) (*Canonical, error) {
	const op = "SolveCanonical"
	if m == nil || !strings.HasPrefix(m.Name, "sm90.wgmma.") || operand != "A" && operand != "B" {
		name := "nil"
		if m != nil {
			name = m.Name
		}
		return nil, fail(op, ErrNone, "%s of %s: only wgmma's A and B have descriptors", clip(operand), clip(name))
	}
	a, err := m.Fragment("A")
	if err != nil {
		return nil, err
	}
	c, err := m.Fragment("C")
	if err != nil {
		return nil, err
	}
	for _, f := range []Fragment{a, c} {
		if err := f.check(op); err != nil {
			return nil, err
		}
		if len(f.Axes) != 2 || a.Bits*a.Axes[1].Size != 256 {
			return nil, fail(op, layout.ErrShape, "%v isn't an operand of wgmma, with 32 bytes along k", f)
		}
	}
	s := stage{bits: a.Bits, unit: 128 / a.Bits, part: [2]int{64, a.Axes[1].Size}, floats: a.Bits == 16}
	if operand == "B" {
		s.part[0], s.swap = c.Axes[1].Size, true
	}
	out := &Canonical{Instruction: m.Name, Operand: operand}
	if err := s.load(op, l); err != nil {
		return nil, err
	}
	out.Tiles = s.shape[0] / s.part[0] * (s.shape[1] / s.part[1])
	if s.solve(out); out.Found {
		cores, err := s.cores(out.Major)
		if err == nil {
			out.Report, err = Conflicts(l, NVIDIA, s.bits, cores)
		}
		return out, err
	}
	if w, ok := l.Outer().(layout.Swizzle); ok {
		for b := 3; b >= 0 && !out.Mends; b-- {
			try, err := layout.NewSwizzle(b, log2(s.unit), 3)
			if err != nil || b == 0 && w.Bits() == 0 {
				continue
			}
			mended, err := layout.NewComposed(try, l.Base(), l.Inner())
			if err != nil {
				continue
			}
			var again Canonical
			if err := s.load(op, mended); err != nil {
				return nil, err
			}
			s.solve(&again)
			if out.Mends = again.Found; out.Mends {
				out.Mend = try
			}
		}
	}
	return out, nil
}

// A stage is an operand of wgmma in shared memory, by its coordinates along m or n, and along k.
type stage struct {
	bits, unit  int // of an element; elements of 16 bytes
	part, shape [2]int
	swap        bool // the layout is k × n
	floats      bool // of 16 bits, which may be mn-major
	offs        []int
}

func (s *stage) load(op string, l layout.Composed) error {
	in := l.Inner()
	shape := in.Shape()
	if len(shape) != 2 {
		return fail(op, layout.ErrShape, "%s has %d modes; an operand has two axes", text(l), len(shape))
	}
	if s.shape = [2]int(shape); s.swap {
		s.shape[0], s.shape[1] = shape[1], shape[0]
	}
	for i, e := range s.shape {
		if e == 0 || e%s.part[i] != 0 {
			return fail(op, layout.ErrDivide, "%s holds no whole operands: %s must be a multiple of %d, not %d", text(l), [2]string{"m or n", "k"}[i], s.part[i], e)
		}
	}
	var err error
	s.offs, err = offsets(op, l)
	return err
}

func (s *stage) linear(mn, k int) int {
	if s.swap {
		return k + s.shape[1]*mn
	}
	return mn + s.shape[0]*k
}

func (s *stage) text(mn, k int) string {
	if s.swap {
		mn, k = k, mn
	}
	return tupleText([]int{mn, k})
}

// solve finds the canonical layout, or the reasons why it is none.
func (s *stage) solve(out *Canonical) {
	for _, major := range []string{"k", "mn"} {
		if why := s.runs(major); why != "" {
			out.Refused = append(out.Refused, Refusal{major + "-major", why})
			continue
		}
		for w := 8; w > 0; w /= 2 {
			bytes := 16 * w
			if w == 1 {
				bytes = 0
			}
			leading, stride, why := s.fits(major, w)
			if why == "" {
				out.Found, out.Major, out.Swizzle, out.Leading, out.Stride, out.Refused = true, major, bytes, 16*leading, 16*stride, nil
				return
			}
			out.Refused = append(out.Refused, Refusal{fmt.Sprintf("%s-major, swizzle %d", major, bytes), why})
		}
	}
}

// runs tells why the units of a major aren't aligned runs of memory.
func (s *stage) runs(major string) string {
	if major == "mn" && !s.floats {
		return "only 16-bit floats may be mn-major"
	}
	for mn := range s.shape[0] {
		for k := range s.shape[1] {
			along := k
			first := s.linear(mn, k-k%s.unit)
			if major == "mn" {
				along, first = mn, s.linear(mn-mn%s.unit, k)
			}
			got, want := s.offs[s.linear(mn, k)], s.offs[first]+along%s.unit
			if got != want {
				return fmt.Sprintf("%s has the offset %d, not %d in a run of 16 bytes", s.text(mn, k), got, want)
			}
			if s.offs[first]%s.unit != 0 {
				return fmt.Sprintf("16 bytes begin at %s, whose offset %d isn't a multiple of %d", s.text(mn, k), got, s.unit)
			}
		}
	}
	return ""
}

// at is the unit of a coordinate before a swizzle of w units.
func (s *stage) at(mn, k, w int) int {
	u := s.offs[s.linear(mn, k)] / s.unit
	return u ^ u>>3&(w-1)
}

// fits finds the numbers of a canonical layout, in units, or the first coordinate that has another place.
func (s *stage) fits(major string, w int) (leading, stride int, why string) {
	// The places of the two numbers: the coordinate where each of them first counts.
	var terms func(mn, k int) (fixed, leadings, strides int)
	switch {
	case major == "k" && w == 1:
		terms = func(mn, k int) (int, int, int) { return mn % 8, k / s.unit, mn / 8 }
	case major == "k":
		terms = func(mn, k int) (int, int, int) { return mn%8*w + k/s.unit, 0, mn / 8 }
	case w == 1:
		terms = func(mn, k int) (int, int, int) { return k % 8, k / 8, mn / s.unit }
	default:
		terms = func(mn, k int) (int, int, int) {
			i := mn / s.unit
			return i%w + k%8*w, i / w, k / 8
		}
	}
	stepMN, stepK := 1, s.unit
	if major == "mn" {
		stepMN, stepK = s.unit, 1
	}
	known := [2]bool{}
	for mn0 := 0; mn0 < s.shape[0]; mn0 += s.part[0] {
		for k0 := 0; k0 < s.shape[1]; k0 += s.part[1] {
			base := s.at(mn0, k0, w)
			for mn := 0; mn < s.part[0]; mn += stepMN {
				for k := 0; k < s.part[1]; k += stepK {
					fixed, n, m := terms(mn, k)
					got := s.at(mn0+mn, k0+k, w) - base
					if n == 1 && m == 0 && !known[0] {
						leading, known[0] = got-fixed, true
					}
					if n == 0 && m == 1 && !known[1] {
						stride, known[1] = got-fixed, true
					}
					if want := fixed + n*leading + m*stride; got != want {
						return 0, 0, fmt.Sprintf("%s is %d units of 16 bytes from the start of its operand, not %d", s.text(mn0+mn, k0+k), got, want)
					}
				}
			}
		}
	}
	for _, x := range []int{leading, stride} {
		if x < 0 || bits.Len(uint(x)) > 14 {
			return 0, 0, fmt.Sprintf("a distance of %d units of 16 bytes doesn't fit the 14 bits of a descriptor", x)
		}
	}
	return leading, stride, ""
}

// cores is the access that reads eight rows of 16 bytes at once.
func (s *stage) cores(major string) (Access, error) {
	units := s.shape[1] / s.unit
	at := func(row, unit, v int) int { return s.linear(row, unit*s.unit+v) }
	if major == "mn" {
		units = s.shape[0] / s.unit
		at = func(row, unit, v int) int { return s.linear(unit*s.unit+v, row) }
	}
	n := s.shape[0] * s.shape[1]
	tv, err := fitted(8, n/8, func(i int) int {
		v := i / 8
		unit := v / s.unit
		return at(unit/units*8+i%8, unit%units, v%s.unit)
	})
	return ThreadValues(tv, s.unit), err
}
