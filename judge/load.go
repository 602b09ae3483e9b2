package judge

import (
	"context"
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// A Load tells how an operand comes from shared memory into the registers of an instruction.
type Load struct {
	Instruction string         `json:"instruction"`
	Operand     Fragment       `json:"operand"`
	Tiles       int            `json:"tiles"` // operands that the layout holds
	With        string         `json:"with"`  // ldmatrix.x4, ldmatrix.x4.trans or the widest load of a thread
	Access      Access         `json:"-"`
	Report      *Report        `json:"report"`
	Refused     []Refusal      `json:"refused,omitempty"`
	Swizzle     *SwizzleResult `json:"swizzle,omitempty"` // if the layout has conflicts
}

// A Refusal is an instruction that can't load an operand, with the reason.
type Refusal struct {
	With   string `json:"with"`
	Reason string `json:"reason"`
}

// SolveLoad tells which load brings an operand of an instruction from shared memory into its
// registers, and counts the bank conflicts. The modes of the layout are the axes of the operand,
// A is m × k and B is k × n. The layout may hold several operands side by side.
//
// NVIDIA's instructions from sm75 on are loaded by ldmatrix where its rows are 16 aligned bytes
// of the layout, else by ldmatrix.trans where that holds of its rows. All others are loaded by
// the widest vector of up to 16 bytes. It is one aligned run for each thread and each group of
// registers. If the layout has conflicts, Swizzle is the smallest one without, for this access
// and the others that are given; it replaces the layout's own.
//
// SolveLoad fails with ErrNone if the operand isn't held in registers or no load takes whole
// bytes, and with layout.ErrDivide if the operand doesn't fill the layout in whole tiles. It also
// fails as Conflicts and SolveSwizzle do.
func SolveLoad(ctx context.Context, l layout.Composed, b Banks, m *MatrixInstruction, operand string, others ...Access) (*Load, error) {
	const op = "SolveLoad"
	if err := needContext(ctx, op); err != nil {
		return nil, err
	}
	f, err := m.Fragment(operand)
	if err != nil {
		return nil, err
	}
	if err := f.check(op); err != nil {
		return nil, err
	}
	h, err := newHolding(op, l, f)
	if err != nil {
		return nil, err
	}
	out := &Load{Instruction: m.Name, Operand: f, Tiles: h.tiles}
	var vector int
	if strings.HasPrefix(m.Name, "sm") && !strings.HasPrefix(m.Name, "sm70.") {
		for _, trans := range []string{"", ".trans"} {
			with, tv, reason, err := h.matrices(trans)
			if err != nil {
				return nil, err
			}
			if reason == "" {
				out.With, out.Access = with, ThreadValues(tv, 128/f.Bits)
				break
			}
			out.Refused = append(out.Refused, Refusal{with, reason})
		}
	}
	if out.With == "" {
		if vector = h.widest(); vector == 0 {
			return nil, fail(op, ErrNone, "%s: an element has %d bits, and no run of them in %s fills whole bytes of one thread", m.Name, f.Bits, text(l))
		}
		tv, err := h.tv()
		if err != nil {
			return nil, err
		}
		out.With, out.Access = vectorLoad(m.Name, vector*f.Bits), ThreadValues(tv, vector)
		if strings.HasPrefix(m.Name, "cdna") && vector*f.Bits == 128 {
			out.Access = WideReads(tv, vector)
		}
	}
	if out.Report, err = Conflicts(l, b, f.Bits, out.Access); err != nil || out.Report.Clean() {
		return out, err
	}
	plain, err := layout.NewComposed(layout.Swizzle{}, l.Base(), l.Inner())
	if err != nil {
		return nil, err
	}
	r, err := SolveSwizzle(ctx, plain, b, f.Bits, append([]Access{out.Access}, others...)...)
	out.Swizzle = &r
	return out, err
}

// vectorLoad names the load of a thread.
func vectorLoad(instruction string, bits int) string {
	switch {
	case strings.HasPrefix(instruction, "sm") && bits > 32:
		return fmt.Sprintf("ld.shared.v%d.b32", bits/32)
	case strings.HasPrefix(instruction, "sm"):
		return fmt.Sprintf("ld.shared.b%d", bits)
	case strings.HasPrefix(instruction, "cdna") || strings.HasPrefix(instruction, "rdna"):
		return fmt.Sprintf("ds_read_b%d", bits)
	}
	return fmt.Sprintf("loads of %d bytes", bits/8)
}

// A holding has the coordinates of a layout that threads hold as tiles of a fragment: of thread t
// and value v of tile i at (i·values + v)·threads + t.
type holding struct {
	f                      Fragment
	tiles, threads, values int
	shape                  []int
	coords, offs           []int
}

func newHolding(op string, l layout.Composed, f Fragment) (*holding, error) {
	in := l.Inner()
	h := &holding{f: f, tiles: 1, threads: f.TV.Dim(0), values: f.TV.Dim(1), shape: in.Shape()}
	part := f.Shape()
	if len(h.shape) != len(part) {
		return nil, fail(op, layout.ErrShape, "%s has %d modes; the operand has the axes of %s", text(l), len(h.shape), tupleText(part))
	}
	grid := make([]int, len(part))
	for i, e := range h.shape {
		if grid[i] = e / part[i]; e == 0 || e%part[i] != 0 {
			return nil, fail(op, layout.ErrDivide, "%s of %s doesn't hold whole tiles of %s", text(l), tupleText(h.shape), tupleText(part))
		}
		h.tiles *= grid[i]
	}
	var err error
	if h.offs, err = offsets(op, l); err != nil {
		return nil, err
	}
	if n := h.tiles * f.TV.Size(); n > MaxElements {
		return nil, fail(op, layout.ErrLimit, "the threads hold %d elements of %s, more than %d", n, text(l), MaxElements)
	}
	own, err := offsets(op, Plain(f.TV))
	if err != nil {
		return nil, err
	}
	for i, c := range own { // coordinates of the whole layout
		own[i] = linear(h.shape, coordOf(part, c))
	}
	for t := range h.tiles {
		at := coordOf(grid, t)
		for i := range at {
			at[i] *= part[i]
		}
		first := linear(h.shape, at)
		for _, c := range own {
			h.coords = append(h.coords, first+c)
		}
	}
	return h, nil
}

// linear is the linear coordinate, the first mode fastest.
func linear(shape, coord []int) (x int) {
	for k := len(shape) - 1; k >= 0; k-- {
		x = x*shape[k] + coord[k]
	}
	return x
}

// tv is the thread–value layout of all tiles.
func (h *holding) tv() (layout.Layout, error) {
	return fitted(h.threads, h.values*h.tiles, func(i int) int { return h.coords[i] })
}

// fitted is the layout of threads and values that a function is. There is one for every fragment of the table.
func fitted(threads, values int, f func(i int) int) (layout.Layout, error) {
	l, _, err := Fit(layout.Ints(threads, values), f)
	return l, err
}

// run reports whether coordinates are one run of memory that begins at a multiple of its length.
// If not, it returns the first coordinate that is at fault.
func (h *holding) run(coords []int) (bad int, ok bool) {
	first := h.offs[coords[0]]
	for i, c := range coords {
		if h.offs[c] != first+i {
			return i, false
		}
	}
	return 0, first%len(coords) == 0
}

// widest is the longest power of two of values of up to 16 bytes that each thread finds in one
// aligned run of memory; 0 if there is none of whole bytes.
func (h *holding) widest() int {
	coords := make([]int, 0, h.values)
search:
	for n := max(1, 128/h.f.Bits); n > 0; n /= 2 {
		if h.values%n != 0 || n*h.f.Bits%8 != 0 {
			continue
		}
		for from := 0; from < len(h.coords); from += n * h.threads {
			for t := range h.threads {
				coords = coords[:0]
				for v := range n {
					coords = append(coords, h.coords[from+v*h.threads+t])
				}
				if _, ok := h.run(coords); !ok {
					continue search
				}
			}
		}
		return n
	}
	return 0
}

// matrices returns the access of ldmatrix, or of ldmatrix.trans, with which each thread gets its
// elements, or the reason why there is none. Threads j of the access read the rows j of matrices.
func (h *holding) matrices(trans string) (with string, tv layout.Layout, reason string, err error) {
	bits := h.f.Bits
	with = "ldmatrix" + trans
	warps := h.threads / 32
	switch registers := h.values * bits; {
	case h.threads%32 != 0:
		return with, tv, fmt.Sprintf("it has 32 lanes, the operand %d threads", h.threads), nil
	case bits > 32:
		return with, tv, fmt.Sprintf("it fills registers of 32 bits; an element has %d", bits), nil
	case bits == 32 && trans != "":
		return with, tv, "it exchanges units of 16 bits; an element has 32", nil
	case registers%32 != 0:
		return with, tv, fmt.Sprintf("a thread has %d bits, which aren't whole registers", registers), nil
	}
	matrices := h.values * bits / 32 * warps * h.tiles
	num := 4
	for matrices%num != 0 {
		num /= 2
	}
	with = fmt.Sprintf("ldmatrix.x%d%s", num, trans)
	move, err := Instruction("sm75.ldmatrix.m8n8.x1" + trans + ".b16")
	if err != nil {
		panic(err) // can't happen: it is in the table
	}
	places, err := offsets("SolveLoad", Plain(move.Fragments[1].TV))
	if err != nil {
		panic(err) // can't happen: 64 elements
	}
	per := 128 / bits // elements of a row
	rows := make([]int, 8*per*matrices)
	perRegister, perUnit := 32/bits, max(1, 16/bits)
	for i, place := range places { // the unit half of lane has the place (row, col)
		lane, half, row, col := i%32, i/32, place%8, place/8
		for x := range matrices {
			warp, register := x%warps, x/warps
			for j := range perUnit {
				value := register*perRegister + half*perUnit + j
				at := col*perUnit + j
				if bits == 32 { // both units are halves of one element
					value, at = register, col/2
				}
				rows[row+8*(at+per*x)] = h.coords[value*h.threads+warp*32+lane]
			}
		}
	}
	coords := make([]int, per)
	for x := range matrices {
		for row := range 8 {
			for at := range per {
				coords[at] = rows[row+8*(at+per*x)]
			}
			bad, ok := h.run(coords)
			switch here := tupleText(coordOf(h.shape, coords[bad])); {
			case !ok && bad == 0:
				return with, tv, fmt.Sprintf("a row begins at %s, whose offset %d isn't a multiple of %d", here, h.offs[coords[0]], per), nil
			case !ok:
				return with, tv, fmt.Sprintf("a row is %s and %d more; %s has the offset %d, not %d", tupleText(coordOf(h.shape, coords[0])), per-1, here, h.offs[coords[bad]], h.offs[coords[0]]+bad), nil
			}
		}
	}
	tv, err = fitted(8, per*matrices, func(i int) int { return rows[i] })
	return with, tv, "", err
}
