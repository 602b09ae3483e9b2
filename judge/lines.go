package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// Lines is a memory that moves whole sectors of lines. All sizes except Threads are bytes,
// powers of two from 1 to 4096. Threads is 1 to MaxThreads.
type Lines struct {
	Sector  int `json:"sector"`  // the smallest part that moves
	Line    int `json:"line"`    // at least Sector
	Threads int `json:"threads"` // threads whose accesses in a step are one request: a warp, a wavefront, or 1
	Vector  int `json:"vector"`  // the widest load of a thread
}

// lineNames are the memories with names. NVIDIA's is that of the CUDA C++ best practices guide,
// with the lines of Nsight Compute's documentation. AMD's is from ROCm's performance counters of
// MI200: the lines of the L2, and half a line as the part that it reads. A CPU has x86's lines
// and the loads of AVX-512.
var lineNames = map[string]Lines{
	"nvidia": {32, 128, 32, 16},
	"amd":    {64, 128, 64, 16},
	"cpu":    {64, 64, 1, 64},
}

// ParseLines reads nvidia, amd, cpu, or SECTOR/LINE/THREADS/VECTOR:
//
//	32/128/32/16
func ParseLines(text string) (Lines, error) {
	const op = "ParseLines"
	s := strings.ToLower(strings.TrimSpace(text))
	if m, ok := lineNames[s]; ok {
		return m, nil
	}
	parts := strings.Split(s, "/")
	var n [4]int
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil || len(parts) != len(n) {
			return Lines{}, fail(op, layout.ErrSyntax, "%q: want nvidia, amd, cpu or SECTOR/LINE/THREADS/VECTOR in bytes, as in 32/128/32/16", clip(text))
		}
		n[i] = v
	}
	m := Lines{n[0], n[1], n[2], n[3]}
	return m, m.check(op)
}

// String writes the memory in numbers, as ParseLines reads it.
func (m Lines) String() string {
	return fmt.Sprintf("%d/%d/%d/%d", m.Sector, m.Line, m.Threads, m.Vector)
}

func (m Lines) check(op string) error {
	const most = 1 << 12
	if !isPower(m.Sector) || !isPower(m.Line) || !isPower(m.Vector) || m.Sector > m.Line || m.Line > most || m.Vector > most || m.Threads < 1 || m.Threads > MaxThreads {
		return fail(op, layout.ErrRange, "%v: want sectors, lines and loads of a power of two of bytes up to %d, no line shorter than a sector, and 1 to %d threads", m, most, MaxThreads)
	}
	return nil
}

// trafficWork bounds the elements times bases that are looked at. A test lowers it.
var trafficWork int64 = 1 << 30

// Traffic counts the transactions of an access, for the base at which most sectors move.
type Traffic struct {
	Access   string   `json:"access"`
	Steps    int      `json:"steps"`
	Requests int      `json:"requests"`
	Useful   int      `json:"useful_bits"` // the bits that the requests want, each once in a request
	Sectors  int      `json:"sectors"`     // the sectors that the requests touch, at Base
	Lines    int      `json:"lines"`
	Moved    int      `json:"moved_bytes"` // Sectors times their bytes
	Base     int      `json:"base"`        // the smallest such base, in bytes from the start of a line
	Fewest   int      `json:"fewest"`      // the sectors at the best base
	Needed   int      `json:"needed"`      // the sectors that the wanted bits of each request fill
	PerStep  []int    `json:"per_step"`    // sectors
	Widest   int      `json:"widest"`      // elements of the widest load; 0: a load takes no whole element
	Narrow   string   `json:"narrow"`      // why no wider load works
	Strides  []Stride `json:"strides"`     // between neighbours, the most frequent first; at most 16
	Worst    *Request `json:"worst"`       // nil: no request touches more sectors than it fills
	Bits     int      `json:"bits"`        // of an element
	Memory   Lines    `json:"memory"`
}

// A Stride is a distance in elements from a thread's first element in a step to that of the
// next thread.
type Stride struct {
	Elements int `json:"elements"`
	Count    int `json:"count"`
}

// A Request is the part of a step that one group of threads makes.
type Request struct {
	Step    int     `json:"step"`
	Thread  int     `json:"thread"` // the first thread
	Sectors int     `json:"sectors"`
	Needed  int     `json:"needed"`
	From    []int   `json:"from"` // two elements in a row that are farthest apart
	To      []int   `json:"to"`
	Apart   int     `json:"apart"`   // their distance in elements
	Coords  [][]int `json:"coords"`  // of the first elements, at most 4096, and fewer of many modes
	Offsets []int   `json:"offsets"` // of the same
}

// String tells the request and its two elements that are farthest apart.
func (w *Request) String() string {
	s := fmt.Sprintf("step %d, from thread %d on: %d sectors for the bits of %d", w.Step, w.Thread, w.Sectors, w.Needed)
	if max(w.Apart, -w.Apart) < 2 {
		return s
	}
	along := ""
	for k := range w.From {
		if w.From[k] != w.To[k] && slices.Equal(w.From[k+1:], w.To[k+1:]) {
			along = fmt.Sprintf(", along mode %d", k)
		} else if w.From[k] != w.To[k] {
			break
		}
	}
	return fmt.Sprintf("%s; coordinates %s and %s, in a row%s, are %d elements apart", s, tupleText(w.From), tupleText(w.To), along, max(w.Apart, -w.Apart))
}

// Transactions counts the sectors and lines that an access touches through a layout of
// elements of the given bits. Offset 0 lies at an address that is a multiple of align, a power
// of two of bytes. That leaves several places in a line. The count is exact for each of them,
// and the result is the one with most sectors.
//
// A request is a step of up to m.Threads threads in a row. It touches each sector that has a
// bit of its elements, and counts it once. Needed is the number of sectors that as many bits
// fill at least.
//
// Widest is the largest power of two w such that each thread can load w elements at a time, for
// every base. The elements of a thread follow each other step by
// step. Each w of them are one run, which begins at an offset that is a multiple of w. Their
// bytes are a power of two, at most m.Vector, and divide align. All of this is necessary: the
// base may be 0 or align itself.
//
// Transactions fails as [Conflicts] does. It fails with layout.ErrLimit if elements times
// bases exceed 2^30.
func Transactions(l layout.Composed, m Lines, align, bits int, a Access) (*Traffic, error) {
	const op = "Transactions"
	offs, err := movable(op, l, m, align, bits)
	if err != nil {
		return nil, err
	}
	in := l.Inner()
	shape := in.Shape()
	p, err := a.over(op, shape, bits)
	if err != nil {
		return nil, err
	}
	c := newCounter(m, align, bits)
	if err := affordable(op, len(p.coords), len(c.bases)); err != nil {
		return nil, err
	}
	t := &Traffic{Access: a.String(), Bits: bits, Memory: m}
	mem := make([]int, len(p.coords))
	for i, x := range p.coords {
		mem[i] = offs[x]
	}
	p.requests(m, mem, func(_, _, _ int, offs []int) {
		useful := c.add(offs)
		t.Requests++
		t.Useful += useful
		t.Needed += c.needed(useful)
	})
	worst := c.worst()
	t.Base, t.Sectors, t.Lines, t.Fewest = c.bases[worst], c.sectors[worst], c.lines[worst], slices.Min(c.sectors)
	t.Moved = t.Sectors * m.Sector
	one := counter{m: m, bits: bits, bases: []int{t.Base}, sectors: []int{0}, lines: []int{0}}
	p.requests(m, mem, func(step, thread, at int, offs []int) {
		before := one.sectors[0]
		needed := one.needed(one.add(offs))
		n := one.sectors[0] - before
		if step >= t.Steps {
			t.Steps = step + 1
			t.PerStep = append(t.PerStep, 0)
		}
		t.PerStep[step] += n
		if n > needed && (t.Worst == nil || n-needed > t.Worst.Sectors-t.Worst.Needed) {
			t.Worst = &Request{Step: step, Thread: thread, Sectors: n, Needed: needed, Apart: at}
		}
	})
	if w := t.Worst; w != nil {
		from := w.Apart // where the request begins
		w.shown(shape, p.coords[from:min(from+m.Threads*p.vector, (w.Step+1)*p.threads*p.vector, len(p.coords))], mem[from:])
	}
	t.Strides = p.strides(mem)
	t.Widest, t.Narrow = p.widest(mem, m, align, bits)
	return t, nil
}

// affordable checks the work of a count at every base.
func affordable(op string, elements, bases int) error {
	if int64(elements)*int64(bases) > trafficWork {
		return fail(op, layout.ErrLimit, "%d elements at each of %d bases of a line, more than %d; a larger alignment leaves fewer", elements, bases, trafficWork)
	}
	return nil
}

// movable checks the arguments, and returns the offset of each coordinate.
func movable(op string, l layout.Composed, m Lines, align, bits int) ([]int, error) {
	if err := m.check(op); err != nil {
		return nil, err
	}
	if !isPower(align) {
		return nil, fail(op, layout.ErrRange, "an alignment of %d bytes; want a power of two", align)
	}
	if bits < 1 || bits > 1<<12 {
		return nil, fail(op, layout.ErrRange, "elements of %d bits; want 1 to %d", bits, 1<<12)
	}
	offs, err := offsets(op, l)
	if err != nil {
		return nil, err
	}
	for _, off := range offs {
		if off > math.MaxInt/2/bits {
			return nil, fail(op, layout.ErrOverflow, "%s reaches offset %d, whose bits don't fit an int", text(l), off)
		}
	}
	return offs, nil
}

// requests calls f for each request: its step, its first thread, the place of its first
// element, and its offsets.
func (p *plan) requests(m Lines, mem []int, f func(step, thread, at int, offs []int)) {
	perStep, group := p.threads*p.vector, m.Threads*p.vector
	for from := 0; from < len(mem); from += perStep {
		to := min(from+perStep, len(mem))
		for at := from; at < to; at += group {
			f(from/perStep, (at-from)/p.vector, at, mem[at:min(at+group, to)])
		}
	}
}

// shown notes the first elements of the request, and the two in a row that are farthest apart.
func (w *Request) shown(shape, coords, offs []int) {
	const most = 1 << 12 // elements, and times 8 the numbers of their coordinates
	w.Apart = 0
	from, to := coords[0], coords[0]
	for i := 1; i < len(coords); i++ {
		if d := offs[i] - offs[i-1]; max(d, -d) > max(w.Apart, -w.Apart) {
			from, to, w.Apart = coords[i-1], coords[i], d
		}
	}
	w.From, w.To = coordOf(shape, from), coordOf(shape, to)
	for i, x := range coords[:min(len(coords), most, max(1, 8*most/max(1, len(shape))))] {
		w.Coords, w.Offsets = append(w.Coords, coordOf(shape, x)), append(w.Offsets, offs[i])
	}
}

// strides counts the distances from each thread to the next.
func (p *plan) strides(mem []int) []Stride {
	const most = 16
	count := map[int]int{}
	perStep := p.threads * p.vector
	for from := 0; from < len(mem); from += perStep {
		for at := from + p.vector; at < min(from+perStep, len(mem)); at += p.vector {
			count[mem[at]-mem[at-p.vector]]++
		}
	}
	list := make([]Stride, 0, len(count))
	for d, n := range count {
		list = append(list, Stride{d, n})
	}
	slices.SortFunc(list, func(a, b Stride) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Elements, b.Elements))
	})
	return list[:min(len(list), most)]
}

// widest returns the elements of the widest load, and the reason that none is wider.
func (p *plan) widest(mem []int, m Lines, align, bits int) (w int, narrow string) {
	if !isPower(bits) {
		return 0, fmt.Sprintf("elements of %d bits aren't 1, 2, 4, … bytes", bits)
	}
	perStep := p.threads * p.vector
	for next := max(1, 8/bits); ; next *= 2 { // w is 0, or next/2
		size := next * bits / 8
		runs := fmt.Sprintf("%d elements are %d bytes", next, size)
		switch {
		case size > m.Vector:
			return w, fmt.Sprintf("%s, and the widest load has %d", runs, m.Vector)
		case size > align:
			return w, fmt.Sprintf("%s, and the base may be a multiple of %d alone", runs, align)
		}
		for t := range min(p.threads, len(mem)/p.vector) {
			// Element k of thread t is element k mod vector of step k / vector.
			at := func(k int) int { return mem[k/p.vector*perStep+t*p.vector+k%p.vector] }
			n := (len(mem) - t*p.vector + perStep - p.vector) / perStep * p.vector
			if n%next != 0 {
				return w, fmt.Sprintf("thread %d has %d elements, no multiple of %d", t, n, next)
			}
			for k := range n {
				first := at(k - k%next)
				switch off := at(k); {
				case k%next == 0 && off%next != 0:
					return w, fmt.Sprintf("a load of %d elements begins at a multiple of them, and element %d of thread %d has offset %d", next, k, t, off)
				case off != first+k%next:
					return w, fmt.Sprintf("a load of %d elements is one run, and element %d of thread %d has offset %d instead of %d", next, k, t, off, first+k%next)
				}
			}
		}
		w = next
	}
}

// A counter counts the sectors and lines of requests, for each base that is possible.
type counter struct {
	m              Lines
	bits           int
	bases          []int // bytes from the start of a line
	sectors, lines []int // of all requests so far, for each base
	sorted         []int // for reuse
	runs           [][2]int
}

func newCounter(m Lines, align, bits int) *counter {
	c := &counter{m: m, bits: bits}
	for base := 0; base < m.Line; base += align {
		c.bases = append(c.bases, base)
	}
	c.sectors, c.lines = make([]int, len(c.bases)), make([]int, len(c.bases))
	return c
}

// add counts a request, and returns the bits that it wants.
func (c *counter) add(offs []int) int {
	c.sorted = append(c.sorted[:0], offs...)
	slices.Sort(c.sorted)
	c.sorted = slices.Compact(c.sorted)
	c.runs = c.runs[:0]
	for i, off := range c.sorted {
		if i > 0 && off == c.sorted[i-1]+1 {
			c.runs[len(c.runs)-1][1] = (off + 1) * c.bits
		} else {
			c.runs = append(c.runs, [2]int{off * c.bits, (off + 1) * c.bits})
		}
	}
	for k, base := range c.bases {
		c.sectors[k] += touched(c.runs, 8*base, 8*c.m.Sector)
		c.lines[k] += touched(c.runs, 8*base, 8*c.m.Line)
	}
	return len(c.sorted) * c.bits
}

// touched counts the parts of some bits that ascending runs of bits touch, which begin base bits later.
func touched(runs [][2]int, base, bits int) (n int) {
	next := 0 // the first part that isn't counted
	for _, r := range runs {
		first, end := max((base+r[0])/bits, next), (base+r[1]-1)/bits+1
		n, next = n+end-first, end
	}
	return n
}

// needed returns the sectors that some bits fill.
func (c *counter) needed(useful int) int { return (useful + 8*c.m.Sector - 1) / (8 * c.m.Sector) }

// worst returns the first base with most sectors.
func (c *counter) worst() int { return slices.Index(c.sectors, slices.Max(c.sectors)) }
