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

// A Box is the part of a tensor that TMA copies at once.
type Box struct {
	Inner   int `json:"inner"`   // elements of the axis that is contiguous
	Outer   int `json:"outer"`   // rows of that many elements
	Axis    int `json:"axis"`    // the mode that is contiguous
	Swizzle int `json:"swizzle"` // bytes; 0: none
	Count   int `json:"count"`   // boxes that fill the tile
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
// TMA copies a box of a tensor. Along its contiguous axis it takes a run with the bytes of the
// swizzle, or of up to 256 elements without one. In shared memory, these runs follow each other,
// under the swizzle of the address: 16-byte unit u of a swizzle of 16·w bytes goes to
// u ^ (u/8 mod w). A box has at most 256 elements along each axis. It begins at a multiple of
// 128 bytes, or under a swizzle of 128·w bytes. The strides of global memory are multiples of 16
// bytes below 2^40. Elements follow each other, with element strides of 1. Sources: PTX ISA 9.2,
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
	global, base := from.Inner(), from.Base()
	shape := global.Shape()
	if w, ok := from.Outer().(layout.Swizzle); !ok || w.Bits() > 0 || len(shape) != 2 || !global.Flat() {
		return nil, "global memory is two plain axes for this package", nil
	}
	if bits < 8 {
		return nil, fmt.Sprintf("an element has %d bits, and TMA's have at least 8", bits), nil
	}
	axis := -1
	for i := range shape {
		switch s, _ := global.Stride(i); {
		case s == 1:
			axis = i
		case int64(s)*int64(bits)%128 != 0 || s < 0 || int64(s) > 1<<40*8/int64(bits)-1:
			return nil, fmt.Sprintf("a stride of global memory is %d elements, and must be a multiple of 16 bytes below 2^40", s), nil
		}
	}
	if axis < 0 {
		return nil, "no axis of global memory is contiguous", nil
	}
	if base*bits%128 != 0 {
		return nil, fmt.Sprintf("the tile begins at offset %d of global memory, which isn't a multiple of 16 bytes", base), nil
	}
	offs, err := offsets(op, to)
	if err != nil {
		return nil, "", err
	}
	extent, rows := shape[axis], shape[1-axis]
	reason := ""
	for _, w := range []int{8, 4, 2, 1} {
		inner := 16 * 8 * w / bits
		if w == 1 {
			inner = min(extent, 256)
			for extent%inner != 0 || inner*bits%128 != 0 {
				if inner--; inner == 0 {
					return nil, fmt.Sprintf("%d elements have no whole runs of 16 bytes", extent), nil
				}
			}
		}
		if extent%inner != 0 || inner > 256 {
			continue
		}
		outer := min(rows, 256)
		for rows%outer != 0 {
			outer--
		}
		why := ""
		at := func(r, c int) int { // in elements, before the swizzle of 16-byte units
			x := r + shape[0]*c
			if axis == 0 {
				x = c + shape[0]*r
			}
			u := offs[x] * bits / 128
			return (u^u>>3&(w-1))*128/bits + offs[x]%(128/bits)
		}
		align := 8 * w * 128 / bits // elements
	boxes:
		for r0 := 0; r0 < rows; r0 += outer {
			for c0 := 0; c0 < extent; c0 += inner {
				begin := at(r0, c0)
				if begin%align != 0 {
					why = fmt.Sprintf("a box begins at offset %d, which isn't a multiple of %d", begin, align)
					break boxes
				}
				for r := range outer {
					for c := range inner {
						if got, want := at(r0+r, c0+c)-begin, r*inner+c; got != want {
							why = fmt.Sprintf("row %d, element %d of a box lies %d elements from its start, not %d", r, c, got, want)
							break boxes
						}
					}
				}
			}
		}
		swizzle := 16 * w
		if w == 1 {
			swizzle = 0
		}
		if why == "" {
			return &Box{Inner: inner, Outer: outer, Axis: axis, Swizzle: swizzle, Count: extent / inner * (rows / outer)}, "", nil
		}
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("swizzle %d: %s", swizzle, why)
	}
	return nil, reason, nil
}
