package judge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// MaxThreads bounds the threads of an Access.
const MaxThreads = 1024

// An Access gives the coordinates that each thread touches in each step. In a step, each
// thread touches a vector of consecutive elements.
type Access struct {
	kind            accessKind
	threads, vector int
	tv              layout.Layout
	lds             bool // the lanes are served in the order of ds_read_b128
}

type accessKind uint8

const (
	rowAccess accessKind = iota
	columnAccess
	matrixAccess
	ownAccess
)

// Rows is the access along rows. In row-major order, the last mode fastest, the elements
// form vectors. Thread t takes vector t of each step; the steps follow each other.
func Rows(threads, vector int) Access {
	return Access{kind: rowAccess, threads: threads, vector: vector}
}

// Columns is the access along columns: the last mode but one is fastest, then the last,
// then the modes before them.
func Columns(threads, vector int) Access {
	return Access{kind: columnAccess, threads: threads, vector: vector}
}

// Matrices is the access of ldmatrix: in a step, each of 8 threads reads one row of 16
// bytes. The steps go along the rows. Source: PTX ISA, ldmatrix.
func Matrices() Access { return Access{kind: matrixAccess, threads: 8} }

// ThreadValues is the access of a thread–value layout: its first mode counts threads, its
// second the values of a thread, and its offsets are linear coordinates of the tile, the
// first mode fastest, as in CuTe. A step takes the next vector of values of each thread.
func ThreadValues(tv layout.Layout, vector int) Access {
	return Access{kind: ownAccess, threads: 1, vector: vector, tv: tv}
}

// WideReads is ThreadValues for ds_read_b128 of AMD's CDNA 3, in vectors of 16 bytes. The LDS
// serves eight lanes at a time, and each half of the wave in the same way:
//
//	0–3 with 20–23, 4–7 with 16–19, 8–11 with 28–31, 12–15 with 24–27
//
// Source: AMD, Avoiding LDS bank conflicts on AMD GPUs using
// the CK-Tile framework (rocm.blogs.amd.com).
func WideReads(tv layout.Layout, vector int) Access {
	return Access{kind: ownAccess, threads: 1, vector: vector, tv: tv, lds: true}
}

// ParseAccess reads an access as String writes it:
//
//	row, column            Rows or Columns of 32 threads, which take single elements
//	row:8, column:8        the same in vectors of 8 elements
//	row:8/16, column:8/16  the same by 16 threads
//	ldmatrix               Matrices
//	tv:LAYOUT              ThreadValues in vectors of one value, as in tv:(32,4):(4,1)
//	tv:2:LAYOUT            the same in vectors of 2 values
//	lds:8:LAYOUT           WideReads in vectors of 8 values
func ParseAccess(text string) (Access, error) {
	const op = "ParseAccess"
	wrong := func() (Access, error) {
		return Access{}, fail(op, layout.ErrSyntax, "%q: want row, column, row:VECTOR, row:VECTOR/THREADS, ldmatrix, tv:LAYOUT, tv:VECTOR:LAYOUT or lds:VECTOR:LAYOUT", clip(text))
	}
	name, rest, more := strings.Cut(strings.TrimSpace(text), ":")
	switch name {
	case "ldmatrix":
		if more {
			return wrong()
		}
		return Matrices(), nil
	case "tv", "lds":
		vector := 1
		if first, after, ok := strings.Cut(rest, ":"); ok && strings.Contains(after, ":") {
			n, err := strconv.Atoi(first)
			if err != nil {
				return wrong()
			}
			vector, rest = n, after
		}
		tv, err := layout.Parse(rest)
		if err != nil {
			return Access{}, err
		}
		a := ThreadValues(tv, vector)
		a.lds = name == "lds"
		return a, a.check(op)
	case "row", "column":
		a := Rows(32, 1)
		if name == "column" {
			a = Columns(32, 1)
		}
		if more {
			vector, threads, ok := strings.Cut(rest, "/")
			var err error
			if a.vector, err = strconv.Atoi(vector); err == nil && ok {
				a.threads, err = strconv.Atoi(threads)
			}
			if err != nil {
				return wrong()
			}
		}
		return a, a.check(op)
	}
	return wrong()
}

// String writes the access as ParseAccess reads it.
func (a Access) String() string {
	switch a.kind {
	case matrixAccess:
		return "ldmatrix"
	case ownAccess:
		if a.lds {
			return fmt.Sprintf("lds:%d:%v", a.vector, a.tv)
		}
		if a.vector == 1 {
			return "tv:" + a.tv.String()
		}
		return fmt.Sprintf("tv:%d:%v", a.vector, a.tv)
	}
	name := "row"
	if a.kind == columnAccess {
		name = "column"
	}
	switch {
	case a.threads != 32:
		return fmt.Sprintf("%s:%d/%d", name, a.vector, a.threads)
	case a.vector != 1:
		return fmt.Sprintf("%s:%d", name, a.vector)
	}
	return name
}

func (a Access) check(op string) error {
	if a.kind == matrixAccess {
		return nil
	}
	if a.vector < 1 || a.vector > 1<<12 || a.threads < 1 || a.threads > MaxThreads {
		return fail(op, layout.ErrRange, "%v: want 1 to %d threads and vectors of 1 to %d elements", a, MaxThreads, 1<<12)
	}
	if a.kind == ownAccess {
		if a.tv.Rank() != 2 || a.tv.Dim(0) < 1 || a.tv.Dim(0) > MaxThreads || a.tv.Dim(1)%a.vector != 0 {
			return fail(op, layout.ErrShape, "%v: a thread–value layout has two modes: 1 to %d threads, and values in whole vectors of %d", a, MaxThreads, a.vector)
		}
		if a.lds && a.tv.Dim(0)%32 != 0 {
			return fail(op, layout.ErrShape, "%v: the LDS serves whole groups of 32 lanes, not %d", a, a.tv.Dim(0))
		}
	}
	return nil
}

// A plan is an access over a shape: the coordinates of the vectors, step by step. If a
// step has fewer vectors than threads, its last threads are left out.
type plan struct {
	threads, vector int
	coords          []int // linear coordinates: vector by vector
}

// over lays the access over a shape of elements of some bits.
func (a Access) over(op string, shape []int, bits int) (p plan, err error) {
	if err := a.check(op); err != nil {
		return p, err
	}
	size := 1
	for _, e := range shape {
		size *= e
	}
	p.threads, p.vector = a.threads, a.vector
	weight := make([]int, len(shape)) // of a mode in the linear coordinate
	for k, w := 0, 1; k < len(shape); k++ {
		weight[k] = w
		w *= shape[k]
	}
	last := len(shape) - 1
	if last < 1 && (a.kind == columnAccess || a.kind == matrixAccess) {
		return p, fail(op, layout.ErrShape, "%v wants two modes, the shape is %s", a, tupleText(shape))
	}
	// The order maps vector after vector to coordinates, or to the coordinates of a thread–value layout.
	var ext, str []int
	then := func(e, s int) { ext, str = append(ext, e), append(str, s) }
	switch a.kind {
	case ownAccess:
		n := a.tv.Size()
		if n > MaxElements {
			return p, fail(op, layout.ErrLimit, "%v touches %d elements, more than %d", a, n, MaxElements)
		}
		p.threads = a.tv.Dim(0)
		if lo, hi := a.tv.Span(); n > 0 && (lo < 0 || hi >= size) {
			return p, fail(op, layout.ErrRange, "%v: its coordinates are %d to %d, those of the tile 0 to %d", a, lo, hi, size-1)
		}
		then(p.vector, p.threads)
		then(p.threads, 1)
		then(a.tv.Dim(1)/p.vector, p.threads*p.vector)
	case matrixAccess:
		if bits > 128 || 128%bits != 0 {
			return p, fail(op, layout.ErrShape, "ldmatrix reads rows of 16 bytes; elements of %d bits don't fill them", bits)
		}
		p.vector = 128 / bits
		rows, cols := shape[last-1], shape[last]
		if cols%p.vector != 0 {
			return p, fail(op, layout.ErrShape, "%v: vectors of %d elements don't fill an axis of %d", a, p.vector, cols)
		}
		if rows%8 != 0 {
			return p, fail(op, layout.ErrShape, "ldmatrix reads 8 rows, there are %d", rows)
		}
		then(p.vector, weight[last])
		then(8, weight[last-1])
		then(cols/p.vector, weight[last]*p.vector)
		then(rows/8, weight[last-1]*8)
		for k := last - 2; k >= 0; k-- {
			then(shape[k], weight[k])
		}
	default:
		for k := last; k >= 0; k-- {
			then(shape[k], weight[k])
		}
		if a.kind == columnAccess {
			ext[0], ext[1], str[0], str[1] = ext[1], ext[0], str[1], str[0]
		}
		run := 1
		if last >= 0 {
			run = ext[0]
		}
		if run%p.vector != 0 {
			return p, fail(op, layout.ErrShape, "%v: vectors of %d elements don't fill an axis of %d", a, p.vector, run)
		}
	}
	order, err := layout.New(ext, str)
	if err != nil {
		return p, err
	}
	all := Plain(order)
	if a.kind == ownAccess {
		if all, err = layout.NewComposed(a.tv.Coalesce(), 0, order); err != nil {
			return p, err
		}
	}
	if p.coords, err = offsets(op, all); err == nil && a.lds {
		if p.vector*bits != 128 {
			return p, fail(op, layout.ErrShape, "%v: ds_read_b128 reads 16 bytes, not %d elements of %d bits", a, p.vector, bits)
		}
		served := make([]int, 0, len(p.coords))
		for from := 0; from < len(p.coords); from += 32 * p.vector {
			for i := range 32 { // the other half of eight lanes is 16 lanes further, and exchanged with its neighbour
				lane := i&3 | (i>>3&3^i>>2&1)<<2 | i>>2&1<<4
				served = append(served, p.coords[from+lane*p.vector:][:p.vector]...)
			}
		}
		p.coords = served
	}
	return p, err
}
