package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
)

// A Stage tells how a tile comes from global to shared memory.
type Stage struct {
	Width   int            `json:"width"` // bytes of each asynchronous copy: 16, 8 or 4; 0: there is none
	Narrow  string         `json:"narrow,omitempty"`
	Access  Access         `json:"-"`
	Traffic *Traffic       `json:"traffic,omitempty"` // of global memory
	Report  *Report        `json:"report,omitempty"`  // of shared memory
	Swizzle *SwizzleResult `json:"swizzle,omitempty"` // if shared memory has conflicts
	Box     *Box           `json:"box,omitempty"`     // nil: TMA can't, see NoBox
	NoBox   string         `json:"no_box,omitempty"`
}

// A Box is the part of a tensor that TMA copies at once. The axes of the tensor are the modes of
// global memory without brackets.
type Box struct {
	Extents []int `json:"extents"` // elements along each axis
	Order   []int `json:"order"`   // the axes of more than one element; the first is contiguous, and in shared memory it varies fastest
	Swizzle int   `json:"swizzle"` // bytes; 0: none
	Count   int   `json:"count"`   // boxes that fill the tile
}

// SolveStage tells how a tile of elements comes from one layout, in global memory, to another, in
// shared memory. Both have one shape.
//
// An asynchronous copy of NVIDIA (cp.async) moves 4, 8 or 16 bytes, which are aligned runs in both
// memories. Width is the widest that moves all elements; the tile begins at a multiple of align
// bytes. Threads take the copies in the order of global memory. Traffic counts its sectors,
// Report the bank conflicts of shared memory, and Swizzle is the smallest swizzle of the inner
// layout without conflicts, if there are any.
//
// TMA copies a box of a tensor with one to five axes. Along its contiguous axis it takes a run with
// the bytes of the swizzle, or of up to 256 elements without one. In shared memory, these runs
// follow each other, under the swizzle of the address: 16-byte unit u of a swizzle of 16·w bytes
// goes to u ^ (u/8 mod w). The other axes may have any order there. A box has at most 256 elements
// along each axis. It begins at a multiple of 128 bytes, or under a swizzle of 128·w bytes. The
// strides of global memory are multiples of 16 bytes below 2^40. Element strides are 1: each s-th
// row of a tensor is a tensor of its own, whose stride is s times as long. Sources: PTX ISA 9.2,
// cp.async and tensors; CUDA driver API, cuTensorMapEncodeTiled.
//
// SolveStage fails with layout.ErrShape if the shapes differ, and with layout.ErrDivide if the
// threads don't take all copies in whole steps. It also fails as Relay, Transactions and
// Conflicts do.
func SolveStage(ctx context.Context, from, to layout.Composed, m Lines, b Banks, align, bits, threads int) (*Stage, error) {
	const op = "SolveStage"
	if err := needContext(ctx, op); err != nil {
		return nil, err
	}
	in, shared := from.Inner(), to.Inner()
	shape := in.Shape()
	if !slices.Equal(shape, shared.Shape()) {
		return nil, fail(op, layout.ErrShape, "%s and %s have different shapes", text(from), text(to))
	}
	if bits < 1 || bits > 128 || 128%bits != 0 {
		return nil, fail(op, layout.ErrRange, "elements of %d bits; want a power of two up to 128", bits)
	}
	if threads < 1 || threads > MaxThreads {
		return nil, fail(op, layout.ErrRange, "%d threads; want 1 to %d", threads, MaxThreads)
	}
	moves, err := Relay(from, to, 128/bits)
	if err != nil {
		return nil, err
	}
	out := &Stage{}
	vector := moves.Uniform
	for vector*bits > 8*align {
		vector /= 2
		out.Narrow = fmt.Sprintf("the tile begins at a multiple of %d bytes", align)
	}
	if vector*bits < 128 && out.Narrow == "" {
		out.Narrow = fmt.Sprintf("aligned runs of both memories have %d elements", vector)
	}
	if vector*bits >= 32 {
		out.Width = vector * bits / 8
		if err := out.copies(ctx, op, from, to, m, b, align, bits, threads, vector); err != nil {
			return nil, err
		}
	} else {
		out.Narrow += "; a copy has at least 4 bytes"
	}
	var reasons string
	if out.Box, reasons, err = box(op, from, to, bits); err != nil {
		return nil, err
	}
	out.NoBox = reasons
	return out, nil
}

// copies counts the asynchronous copies of a vector each.
func (s *Stage) copies(ctx context.Context, op string, from, to layout.Composed, m Lines, b Banks, align, bits, threads, vector int) error {
	offs, err := offsets(op, from)
	if err != nil {
		return err
	}
	if len(offs)%(threads*vector) != 0 {
		return fail(op, layout.ErrDivide, "%d threads with copies of %d elements don't take %d elements in whole steps", threads, vector, len(offs))
	}
	order := make([]int, len(offs)) // coordinates in the order of global memory
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(offs[i], offs[j]) })
	tv, _, err := Fit(layout.Ints(threads, len(offs)/threads), func(i int) int {
		t, v := i%threads, i/threads
		return order[(v/vector*threads+t)*vector+v%vector]
	})
	if err != nil {
		return err
	}
	s.Access = ThreadValues(tv, vector)
	if s.Traffic, err = Transactions(from, m, align, bits, s.Access); err != nil {
		return err
	}
	if s.Report, err = Conflicts(to, b, bits, s.Access); err != nil || s.Report.Clean() {
		return err
	}
	plain, err := layout.NewComposed(layout.Swizzle{}, to.Base(), to.Inner())
	if err != nil {
		return err
	}
	r, err := SolveSwizzle(ctx, plain, b, bits, s.Access)
	s.Swizzle = &r
	return err
}

// box finds the boxes with which TMA copies a tile, or tells why there are none.
func box(op string, from, to layout.Composed, bits int) (*Box, string, error) {
	global, base := from.Inner().Flatten(), from.Base()
	shape := global.Shape()
	if w, ok := from.Outer().(layout.Swizzle); !ok || w.Bits() > 0 {
		return nil, "global memory is swizzled", nil
	}
	if bits < 8 {
		return nil, fmt.Sprintf("an element has %d bits, and TMA's have at least 8", bits), nil
	}
	axis := -1
	var order []int // the axes of the tensor, the contiguous one first
	for i := range shape {
		switch s, _ := global.Stride(i); {
		case shape[i] == 1:
		case s == 1 && axis < 0:
			axis = i
		case s < 1 || int64(s)*int64(bits)%128 != 0 || int64(s) > 1<<40*8/int64(bits)-1:
			return nil, fmt.Sprintf("a stride of global memory is %d elements, and must be a multiple of 16 bytes below 2^40", s), nil
		default:
			order = append(order, i)
		}
	}
	if axis < 0 {
		return nil, "no axis of global memory is contiguous", nil
	}
	if len(order) > 4 {
		return nil, fmt.Sprintf("global memory has %d axes, and a tensor of TMA has at most 5", len(order)+1), nil
	}
	if base*bits%128 != 0 {
		return nil, fmt.Sprintf("the tile begins at offset %d of global memory, which isn't a multiple of 16 bytes", base), nil
	}
	offs, err := offsets(op, to)
	if err != nil {
		return nil, "", err
	}
	reason := ""
	for _, w := range []int{8, 4, 2, 1} {
		inner, swizzle := 16*8*w/bits, 16*w
		if w == 1 {
			inner, swizzle = 0, 0
		} else if shape[axis]%inner != 0 {
			continue
		}
		b, why := boxOf(shape, axis, order, inner, bits, w, func(x int) int { // in elements, before the swizzle of 16-byte units
			u := offs[x] * bits / 128
			return (u^u>>3&(w-1))*128/bits + offs[x]%(128/bits)
		})
		if why == "" {
			b.Swizzle = swizzle
			return b, "", nil
		}
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("swizzle %d: %s", swizzle, why)
	}
	return nil, reason, nil
}

// boxOf finds the boxes with runs of inner elements along an axis; of 0, with the longest. The
// other axes follow as far as they do in shared memory. It tells the first element that isn't
// where TMA writes it.
func boxOf(shape []int, axis int, order []int, inner, bits, w int, at func(x int) int) (*Box, string) {
	weight := make([]int, len(shape)) // of an axis, in linear coordinates
	extents := make([]int, len(shape))
	size := 1
	for i, n := range shape {
		weight[i], extents[i], size = size, 1, size*n
	}
	order = slices.Clone(order)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at(weight[i]), at(weight[j])) })
	order = slices.Insert(order, 0, axis)
	pitch := 1
	for _, i := range order {
		n := 1
		for n < min(shape[i], 256) && at(n*weight[i])-at(0) == n*pitch {
			n++
		}
		if i == axis && inner > 0 {
			n = inner
		}
		for shape[i]%n != 0 || i == axis && n*bits%128 != 0 {
			if n--; n == 0 {
				return nil, "shared memory has no whole runs of 16 bytes"
			}
		}
		extents[i], pitch = n, pitch*n
	}
	begins := make([]int, len(shape)) // how many boxes along each axis
	for i := range shape {
		begins[i] = shape[i] / extents[i]
	}
	within := make([]int, len(order)) // the extents in the order of shared memory
	for k, i := range order {
		within[k] = extents[i]
	}
	align := 8 * w * 128 / bits // elements
	for box := range size / pitch {
		first := 0
		for i, c := range coordOf(begins, box) {
			first += c * extents[i] * weight[i]
		}
		begin := at(first)
		if begin%align != 0 {
			return nil, fmt.Sprintf("a box begins at offset %d, which isn't a multiple of %d", begin, align)
		}
		for y := range pitch {
			x := first
			for k, c := range coordOf(within, y) {
				x += c * weight[order[k]]
			}
			if got := at(x) - begin; got != y {
				return nil, fmt.Sprintf("row %d, element %d of a box lies %d elements from its start, not %d", y/extents[axis], y%extents[axis], got, y)
			}
		}
	}
	return &Box{Extents: extents, Order: order, Count: size / pitch}, ""
}
