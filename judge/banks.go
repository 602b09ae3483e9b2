package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// Banks is a memory in banks. Word w, of Width bytes, lies in bank w mod Count. In a
// phase, a bank serves one word: threads that ask for the same word share it, unless the
// memory is Single.
type Banks struct {
	Count, Width int
	Single       bool // threads don't share words: each request is served by itself
}

// Memories with names. NVIDIA's shared memory has 32 banks of 4 bytes (CUDA C++
// programming guide). The LDS of AMD's GPUs has 32 or 64 (ROCm, Composable Kernel: LDS and
// bank conflicts); AMD has 64. The L1 of a Tensix tile has 16 banks of 16 bytes. There
// two ports that access one bank wait for each other, even for the same word
// (tenstorrent/tt-isa-documentation, WormholeB0/TensixTile/L1.md).
var (
	NVIDIA = Banks{Count: 32, Width: 4}
	AMD    = Banks{Count: 64, Width: 4}
	Tensix = Banks{Count: 16, Width: 16, Single: true}
)

// ParseBanks reads nvidia, amd, tensix, or COUNTxWIDTH as in 32x4, followed by "single" if
// threads don't share words.
func ParseBanks(text string) (Banks, error) {
	switch s := strings.ToLower(strings.TrimSpace(text)); s {
	case "nvidia":
		return NVIDIA, nil
	case "amd":
		return AMD, nil
	case "tensix":
		return Tensix, nil
	default:
		rest, single := strings.CutSuffix(s, "single")
		count, width, ok := strings.Cut(strings.TrimSpace(rest), "x")
		n, err := strconv.Atoi(count)
		w, err2 := strconv.Atoi(width)
		if !ok || err != nil || err2 != nil {
			return Banks{}, fail("ParseBanks", layout.ErrSyntax, "%q: want COUNTxBYTES, as in 32x4, nvidia, amd or tensix", clip(text))
		}
		b := Banks{n, w, single}
		return b, b.check("ParseBanks")
	}
}

// String writes 32x4, or 16x16 single.
func (b Banks) String() string {
	s := strconv.Itoa(b.Count) + "x" + strconv.Itoa(b.Width)
	if b.Single {
		s += " single"
	}
	return s
}

func (b Banks) check(op string) error {
	if b.Count < 1 || b.Count > 1<<12 || b.Width < 1 || b.Width > 1<<12 {
		return fail(op, layout.ErrRange, "%v: want 1 to %d banks of 1 to %d bytes", b, 1<<12, 1<<12)
	}
	return nil
}

// A Report counts the conflicts of an access.
type Report struct {
	Access  string `json:"access"`
	Steps   int    `json:"steps"`
	Phases  int    `json:"phases"` // of all steps
	Cycles  int    `json:"cycles"` // the sum over the phases of the words of the fullest bank
	Split   int    `json:"split"`  // vectors that aren't one aligned run of memory
	PerStep []int  `json:"per_step"`
	PerBank []int  `json:"per_bank"` // the words that each bank served, in all phases
	Worst   *Phase `json:"worst,omitempty"`
	Broken  *Phase `json:"broken,omitempty"` // the first split vector
}

// A Phase is the part of a step that the memory serves at once.
type Phase struct {
	Step     int     `json:"step"`
	Thread   int     `json:"thread"` // the first thread
	Offsets  []int   `json:"offsets"`
	PerBank  []int   `json:"per_bank,omitempty"` // the words requested of each bank
	Elements [][]int `json:"coords,omitempty"`   // the coordinates, per mode
}

// Conflicts returns the number of cycles beyond the first of each phase, over all phases.
func (r *Report) Conflicts() int { return r.Cycles - r.Phases }

// Clean reports whether there is neither a conflict nor a split vector.
func (r *Report) Clean() bool { return r.Conflicts() == 0 && r.Split == 0 }

// Conflicts counts the bank conflicts of an access through a layout of elements of the
// given bits. Offset 0 lies at the beginning of bank 0.
//
// A step is served in phases. A phase moves at most Count·Width bytes; shared words count
// for each thread. It has as many of the next threads as request that much, and at least
// one. A thread that requests more by itself takes several phases, each of the largest
// power of two of elements that fits. Within a phase, the conflicts are the number of
// different words in the fullest bank, minus one. An element that lies across words
// requests all of them. For example, 32 threads access 32 banks of 4 bytes:
//
//	4 bytes each     1 phase of 32 threads
//	16 bytes each    4 phases of 8 threads
//
// Conflicts fails with layout.ErrLimit on more than MaxElements elements. It also fails if
// an offset is negative or the access doesn't fit the shape.
func Conflicts(l layout.Composed, b Banks, bits int, a Access) (*Report, error) {
	m, err := newModel("Conflicts", l, b, bits, []Access{a})
	if err != nil {
		return nil, err
	}
	return m.report(0, func(x int) int { return x }), nil
}

// A model is a list of accesses as phases of offsets.
type model struct {
	banks  Banks
	bits   int
	shape  []int
	offs   []int
	names  []string
	phases []phase
	words  []int // for reuse
	most   int   // the largest offset
}

// A phase of an access: its vectors are n coordinates each.
type phase struct {
	access, step, thread, n int
	coords                  []int
}

func newModel(op string, l layout.Composed, b Banks, bits int, accesses []Access) (*model, error) {
	if err := b.check(op); err != nil {
		return nil, err
	}
	if bits < 1 || bits > 1<<12 {
		return nil, fail(op, layout.ErrRange, "elements of %d bits; want 1 to %d", bits, 1<<12)
	}
	in := l.Inner()
	m := &model{banks: b, bits: bits, shape: in.Shape()}
	var err error
	if m.offs, err = offsets(op, l); err != nil {
		return nil, err
	}
	for _, off := range m.offs {
		m.most = max(m.most, off)
	}
	if m.most > math.MaxInt/2/bits {
		return nil, fail(op, layout.ErrOverflow, "%s reaches offset %d, whose bits don't fit an int", text(l), m.most)
	}
	room := b.Count * b.Width * 8
	for k, a := range accesses {
		p, err := a.over(op, m.shape, bits)
		if err != nil {
			return nil, err
		}
		m.names = append(m.names, a.String())
		n, group := p.vector, room/(p.vector*bits) // elements of a request, requests of a phase
		if group == 0 {
			for group = 1; n > 1 && n*bits > room; n /= 2 {
			}
			for p.vector%n != 0 {
				n /= 2
			}
		}
		perStep := p.threads * p.vector
		for from := 0; from < len(p.coords); from += perStep {
			step := p.coords[from:min(from+perStep, len(p.coords))]
			for at := 0; at < len(step); at += group * n {
				m.phases = append(m.phases, phase{k, from / perStep, at / p.vector, n, step[at:min(at+group*n, len(step))]})
			}
		}
	}
	return m, nil
}

// asked lists the words that a phase requests and the memory serves one by one.
func (m *model) asked(p *phase, move func(int) int) []int {
	words := m.words[:0]
	word := 8 * m.banks.Width
	for from := 0; from < len(p.coords); from += p.n {
		first := len(words)
		for _, c := range p.coords[from : from+p.n] {
			at := move(m.offs[c]) * m.bits
			for w := at / word; w <= (at+m.bits-1)/word; w++ {
				words = append(words, w)
			}
		}
		if m.banks.Single {
			slices.Sort(words[first:])
			words = words[:first+len(slices.Compact(words[first:]))]
		}
	}
	if !m.banks.Single {
		slices.Sort(words)
		words = slices.Compact(words)
	}
	m.words = words
	return words
}

// split reports whether the vector that begins at a coordinate isn't an aligned run.
func (m *model) split(coords []int, move func(int) int) bool {
	x := move(m.offs[coords[0]])
	for i, c := range coords {
		if move(m.offs[c]) != x+i {
			return true
		}
	}
	return x%len(coords) != 0
}

// clean reports whether a phase has no conflict and no split vector.
func (m *model) clean(p *phase, move func(int) int, count []int) bool {
	if p.n > 1 {
		for from := 0; from < len(p.coords); from += p.n {
			if m.split(p.coords[from:from+p.n], move) {
				return false
			}
		}
	}
	clear(count)
	for _, w := range m.asked(p, move) {
		if count[w%m.banks.Count]++; count[w%m.banks.Count] > 1 {
			return false
		}
	}
	return true
}

// report counts the conflicts of one access.
func (m *model) report(access int, move func(int) int) *Report {
	r := &Report{Access: m.names[access], PerBank: make([]int, m.banks.Count)}
	count, worst := make([]int, m.banks.Count), 1
	for i := range m.phases {
		p := &m.phases[i]
		if p.access != access {
			continue
		}
		if p.step >= r.Steps {
			r.Steps = p.step + 1
			r.PerStep = append(r.PerStep, 0)
		}
		r.Phases++
		clear(count)
		for _, w := range m.asked(p, move) {
			count[w%m.banks.Count]++
			r.PerBank[w%m.banks.Count]++
		}
		fullest := slices.Max(count)
		r.Cycles += fullest
		r.PerStep[p.step] += fullest - 1
		if fullest > worst {
			worst, r.Worst = fullest, m.shown(p, p.coords, move)
			r.Worst.PerBank = slices.Clone(count)
		}
		for from := 0; p.n > 1 && from < len(p.coords); from += p.n {
			if m.split(p.coords[from:from+p.n], move) {
				if r.Split++; r.Broken == nil {
					r.Broken = m.shown(p, p.coords[from:from+p.n], move)
					r.Broken.Thread += from / p.n
				}
			}
		}
	}
	return r
}

func (m *model) shown(p *phase, coords []int, move func(int) int) *Phase {
	s := &Phase{Step: p.step, Thread: p.thread}
	for _, c := range coords {
		s.Offsets = append(s.Offsets, move(m.offs[c]))
		s.Elements = append(s.Elements, coordOf(m.shape, c))
	}
	return s
}
