package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/layout"
)

// A MatrixInstruction is an instruction that multiplies or moves small matrices. Its fragments
// say where each element is.
type MatrixInstruction struct {
	Name      string     `json:"name"`
	Thread    string     `json:"thread"` // a thread of the fragments: a lane, or a row of a tile
	Source    string     `json:"source"`
	Note      string     `json:"note,omitempty"`
	Fragments []Fragment `json:"-"`
}

// A Fragment is an operand of a MatrixInstruction: a thread–value layout. Its first mode counts
// threads, its second the elements of a thread in the order of its registers, low bits first.
// It takes them to linear coordinates of the matrix, the first axis fastest.
//
// A is the matrix m × k, B is k × n, and C is m × n, as the documents write rows and columns. C
// stands for the accumulators and for the result. Before them comes the axis of an instruction
// that multiplies several pairs of matrices.
type Fragment struct {
	Name string        `json:"name"`
	Axes []Extent      `json:"axes"`
	Bits int           `json:"bits"` // of an element
	TV   layout.Layout `json:"-"`
}

// Shape returns the extents of the matrix.
func (f Fragment) Shape() []int {
	shape := make([]int, len(f.Axes))
	for i, a := range f.Axes {
		shape[i] = a.Size
	}
	return shape
}

// check tells why a Fragment that a caller made is none.
func (f Fragment) check(op string) error {
	size := 1
	for _, a := range f.Axes {
		if a.Size < 1 || a.Size > MaxElements/size {
			return fail(op, layout.ErrShape, "%s has an axis of %d elements, or more than %d in all", clip(f.Name), a.Size, MaxElements)
		}
		size *= a.Size
	}
	if f.TV.Rank() != 2 || f.TV.Size() == 0 || f.TV.Size() > MaxElements || f.TV.Dim(0) > MaxThreads {
		return fail(op, layout.ErrShape, "%s: %v isn't a thread–value layout of 1 to %d threads", clip(f.Name), f.TV, MaxThreads)
	}
	if lo, hi := f.TV.Span(); lo < 0 || hi >= size {
		return fail(op, layout.ErrRange, "%s: %v reaches from %d to %d, and the matrix has %d elements", clip(f.Name), f.TV, lo, hi, size)
	}
	if f.Bits < 1 || f.Bits > 128 || !isPower(f.Bits) {
		return fail(op, layout.ErrRange, "%s has elements of %d bits; want a power of two up to 128", clip(f.Name), f.Bits)
	}
	return nil
}

// Element returns the coordinate of an element of a thread. It fails with layout.ErrRange if there
// is no such thread or value.
func (f Fragment) Element(thread, value int) ([]int, error) {
	if err := f.check("Fragment.Element"); err != nil {
		return nil, err
	}
	if thread < 0 || thread >= f.TV.Dim(0) || value < 0 || value >= f.TV.Dim(1) {
		return nil, fail("Fragment.Element", layout.ErrRange, "%s has %d threads with %d values; there is no thread %d with value %d", f.Name, f.TV.Dim(0), f.TV.Dim(1), thread, value)
	}
	at, err := f.TV.Offset(thread + value*f.TV.Dim(0))
	return coordOf(f.Shape(), at), err
}

// String writes the matrix and the thread–value layout.
func (f Fragment) String() string {
	parts := make([]string, len(f.Axes))
	for i, a := range f.Axes {
		parts[i] = a.Name + strconv.Itoa(a.Size)
	}
	return fmt.Sprintf("%s %s of %d bits: %v", f.Name, strings.Join(parts, " × "), f.Bits, f.TV)
}

// Fragment returns the fragment with a name. It fails with ErrNone if there is none.
func (m *MatrixInstruction) Fragment(name string) (Fragment, error) {
	if m == nil {
		return Fragment{}, fail("Fragment", ErrNone, "the instruction is nil; Instruction returns one")
	}
	var names []string
	for _, f := range m.Fragments {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	why := ""
	if m.Note != "" {
		why = "; " + m.Note
	}
	return Fragment{}, fail("Fragment", ErrNone, "%s has the fragments %s, not %q%s", m.Name, strings.Join(names, ", "), clip(name), why)
}

// Instruction returns the matrix instruction with a name, as in sm80.mma.m16n8k16.f16. If there
// is none, the error has ErrNone and tells a name that begins so, or else the nearest.
//
// The type at the end of a name is that of A and B. Accumulators have 32 bits, with f64 they have
// 64, or they have the type that follows. Left out are instructions whose documents don't publish
// which thread has an element, such as NVIDIA's wmma. Sparse instructions are left out too: the
// places of their A depend on its values, not on a layout alone.
func Instruction(name string) (*MatrixInstruction, error) {
	all := instructions()
	i, ok := slices.BinarySearchFunc(all, name, func(m MatrixInstruction, name string) int { return strings.Compare(m.Name, name) })
	if !ok {
		why := "the nearest is " + nearest(all, name)
		if list := Instructions(name); len(list) > 0 {
			why = fmt.Sprintf("%d names begin so, as does %s", len(list), list[0])
		}
		return nil, fail("Instruction", ErrNone, "there is no %q; %s", clip(name), why)
	}
	m := all[i]
	m.Fragments = slices.Clone(m.Fragments)
	return &m, nil
}

// Instructions returns the names that begin with a prefix, in alphabetical order. All names begin
// with the empty one.
func Instructions(prefix string) []string {
	var names []string
	for _, m := range instructions() {
		if strings.HasPrefix(m.Name, prefix) {
			names = append(names, m.Name)
		}
	}
	return names
}

// instructions is the table, by name.
var instructions = sync.OnceValue(func() []MatrixInstruction {
	all := slices.Concat(nvidiaVolta(), nvidiaMMA(), nvidiaMoves(), nvidiaWgmma(), nvidiaTmem(), amdMFMA(), amdWMMA(), intelAMX(), intelDPAS(), armMatrix(), appleMatrix(), tenstorrentTiles())
	slices.SortFunc(all, func(a, b MatrixInstruction) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// nearest is the name with the fewest changed characters; of several, the first.
func nearest(all []MatrixInstruction, name string) string {
	name = name[:min(len(name), 64)]
	best, least := "", 1<<30
	for _, m := range all {
		if d := changes(name, m.Name); d < least {
			best, least = m.Name, d
		}
	}
	return best
}

// changes is Levenshtein's distance.
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// fragment makes a Fragment. The axes are written as in "m16 k16". The numbers of threads and
// of values are split into parts, the first fastest. A part without an axis has copies. Thread t
// and the parts "4:2k 8:m" go to
//
//	k = 2·(t mod 4), m = t/4
func fragment(name string, bits int, axes, threads, values string) Fragment {
	f := Fragment{Name: name, Bits: bits}
	weight := map[string]int{"": 0}
	size := 1
	for axis := range strings.FieldsSeq(axes) {
		at := strings.IndexAny(axis, "0123456789")
		n := number(axis[at:])
		f.Axes = append(f.Axes, Extent{axis[:at], n})
		weight[axis[:at]] = size
		size *= n
	}
	mode := func(parts string) layout.Layout {
		var ext, str []int
		for part := range strings.FieldsSeq(parts) {
			count, rest, _ := strings.Cut(part, ":")
			axis := strings.TrimLeft(rest, "0123456789")
			by := 1
			if times := rest[:len(rest)-len(axis)]; times != "" {
				by = number(times)
			}
			if n := number(count); n > 1 {
				ext, str = append(ext, n), append(str, by*weight[axis])
			}
		}
		l, err := layout.New(ext, str)
		if err != nil {
			panic(err) // can't happen: a test makes all instructions
		}
		return l.Coalesce()
	}
	tv, err := layout.Join(mode(threads), mode(values))
	if err != nil {
		panic(err) // can't happen: two modes
	}
	f.TV = tv
	return f
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err) // can't happen: a test makes all instructions
	}
	return n
}
