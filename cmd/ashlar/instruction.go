package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/spf13/cobra"
)

func (p *program) instructionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "instruction [NAME]",
		Short: "Show which thread of a matrix instruction holds which element",
		Long: `Instruction draws the operands of a matrix instruction: A is m × k, B is k × n, and C
is m × n. In the grid, t5 v1 is element 1 of thread 5, in the order of its registers.
The thread–value layout takes (thread, value) to a coordinate, the first mode
fastest. With the beginning of a name it lists the names, without one the generations.`,
		Example: `  ashlar layout instruction sm80.mma.m16n8k16.f16
  ashlar layout instruction sm80.mma`,
		Args: arguments(0, 1, "one name"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return p.printFamilies(*asJSON)
		}
		out, err := ask.Instruction(c.Context(), &ask.Question{What: args[0]})
		switch {
		case err != nil:
			return faulty(c, nil, err)
		case *asJSON:
			return json.NewEncoder(p.out).Encode(out)
		}
		for _, name := range out.Names {
			fmt.Fprintln(p.out, name)
		}
		if out.MatrixInstruction == nil {
			return nil
		}
		fmt.Fprintf(p.out, "%s\nsource: %s\n", out.Name, out.Source)
		if out.Note != "" {
			fmt.Fprintln(p.out, out.Note)
		}
		for i := range out.Operands {
			if err := p.printOperand(&out.Operands[i], out.Thread); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// printFamilies counts the instructions by the first part of their names.
func (p *program) printFamilies(asJSON bool) error {
	type family struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	var list []family
	for _, name := range judge.Instructions("") {
		name, _, _ = strings.Cut(name, ".")
		if n := len(list); n == 0 || list[n-1].Name != name {
			list = append(list, family{Name: name})
		}
		list[len(list)-1].Count++
	}
	if asJSON {
		return json.NewEncoder(p.out).Encode(list)
	}
	for _, f := range list {
		fmt.Fprintf(p.out, "%-8s %d\n", f.Name, f.Count)
	}
	return nil
}

// printOperand draws an operand.
func (p *program) printOperand(o *ask.Operand, thread string) error {
	var axes []string
	for _, a := range o.Axes {
		axes = append(axes, fmt.Sprintf("%s %d", a.Name, a.Size))
	}
	fmt.Fprintf(p.out, "\n%s  %s, elements of %s\n%s of %s each: %s\n", o.Name, strings.Join(axes, " × "), sized(o.Bits), counted(o.Threads, thread), counted(o.Values, "value"), o.Layout)
	matrix, err := o.Matrix()
	if err != nil {
		return err
	}
	m, err := draw.NewMap(matrix, &draw.MapOptions{Values: &o.TV})
	if errors.Is(err, layout.ErrLimit) {
		fmt.Fprintf(p.out, "not drawn: more than %d elements, or %d rows or columns\n", draw.MaxCells, draw.MaxSide)
		return nil
	}
	if err != nil {
		return err
	}
	return m.WriteText(p.out, &draw.TextOptions{Colour: p.colour(), Owners: true})
}

func (p *program) loadCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "load LAYOUT",
		Short: "Say how a matrix instruction's operand comes from shared memory",
		Long: `Load tells which instruction brings an operand from LAYOUT, in shared memory, to the
threads that want it: ldmatrix, ldmatrix.trans, or the widest vector. It counts the bank
conflicts, and finds the smallest swizzle without. Of wgmma it tells the descriptor:
the canonical layout with its numbers. It exits with 1 when there are conflicts or
there is no descriptor.

The modes of LAYOUT are the axes of the operand: A is m × k, B is k × n. Several
operands may lie side by side. --access adds another access for the swizzle, such as
the copy that fills the memory.`,
		Example: `  ashlar layout load "(64,64):(64,1)" --instruction sm80.mma.m16n8k16.f16
  ashlar layout load "(64,128):(128,1)" --instruction sm80.mma.m16n8k16.f16 --operand B --access row:8`,
		Args: arguments(1, 1, oneLayout),
	}
	flags := c.Flags()
	flags.StringVar(&q.What, "instruction", "", "the `name` of a matrix instruction")
	flags.StringVar(&q.By, "operand", "A", "the `operand`: A, B or C")
	flags.StringVar(&q.Banks, "banks", "32x4", "`banks` × bytes of a word, nvidia, amd or tensix")
	flags.StringArrayVar(&q.Access, "access", nil, "another `access` for the swizzle, as for check; may be repeated")
	return asks(p, c, &q, jsonFlag(c), ask.Load, printLoad, func(l *ask.Loaded) bool { return l.Clean })
}

func printLoad(w io.Writer, l *ask.Loaded) {
	fmt.Fprintf(w, "layout\t%s\n", l.Layout)
	if c := l.Canonical; c != nil {
		printCanonical(w, c)
	}
	if load := l.Load; load != nil {
		fmt.Fprintf(w, "operand\t%s of %s, %s\n", load.Operand.Name, load.Instruction, counted(load.Tiles, "tile"))
		fmt.Fprintf(w, "loads\t%s, in %s\n", load.With, counted(load.Report.Phases, "phase"))
		printRefusals(w, load.Refused)
		fmt.Fprintf(w, "access\t%s\n", load.Report.Access)
		printConflicts(w, load.Report)
	}
	printSwizzle(w, l.Answer, l.Why)
}

func printCanonical(w io.Writer, c *judge.Canonical) {
	fmt.Fprintf(w, "operand\t%s of %s, %s\n", c.Operand, c.Instruction, counted(c.Tiles, "tile"))
	if !c.Found {
		fmt.Fprintln(w, "descriptor\tnone")
		printRefusals(w, c.Refused)
		return
	}
	leading := "not used"
	if c.Leading > 0 {
		leading = sized(8 * c.Leading)
	}
	swizzle := "no swizzle"
	if c.Swizzle > 0 {
		swizzle = "swizzle of " + sized(8*c.Swizzle)
	}
	fmt.Fprintf(w, "descriptor\t%s-major, %s\nleading\t%s\nstride\t%s\n", c.Major, swizzle, leading, sized(8*c.Stride))
	printConflicts(w, c.Report)
}

func printRefusals(w io.Writer, list []judge.Refusal) {
	for _, r := range list {
		fmt.Fprintf(w, "not\t%s: %s\n", r.With, r.Reason)
	}
}

func printConflicts(w io.Writer, r *judge.Report) {
	if n := r.Conflicts(); n > 0 {
		fmt.Fprintf(w, "conflicts\t%d; %d cycles instead of %d\n", n, r.Cycles, r.Phases)
		return
	}
	fmt.Fprintln(w, "conflicts\tnone")
}

func printSwizzle(w io.Writer, answer, why string) {
	if answer != "" {
		fmt.Fprintf(w, "swizzle\t%s\nsearch\t%s\n", answer, why)
	}
}

func (p *program) stageCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "stage GLOBAL SHARED",
		Short: "Say how a tile comes from global to shared memory",
		Long: `Stage tells how a tile comes from one layout, in global memory, to another of the same
shape, in shared memory. It finds the widest asynchronous copy, of 4, 8 or 16 bytes.
It counts the sectors of one memory and the bank conflicts of the other. It finds the
box and the swizzle with which TMA copies the tile, or tells why there are none.
It exits with 1 when there are conflicts.`,
		Example: `  ashlar layout stage "(64,64):(1024,1)" "Sw<3,3,3> o (64,64):(64,1)" --elem 2 --threads 128`,
		Args:    arguments(2, 2, "two layouts, in quotes"),
	}
	flags := c.Flags()
	flags.StringVar(&q.Elem, "elem", "2", "`bytes` of an element, or bits, as in 4b")
	flags.StringVar(&q.Thread, "threads", "128", "the `number` of threads that copy")
	flags.StringVar(&q.Banks, "banks", "32x4", "`banks` × bytes of a word, nvidia, amd or tensix")
	linesFlags(c, &q, "nvidia")
	return asks(p, c, &q, jsonFlag(c), ask.Stage, printStage, func(s *ask.Staged) bool { return s.Clean })
}

func printStage(w io.Writer, s *ask.Staged) {
	fmt.Fprintf(w, "from\t%s\nto\t%s, elements of %s\n", s.From, s.To, sized(s.Bits))
	switch {
	case s.Width == 16:
		fmt.Fprintln(w, "copies\tof 16 bytes")
	case s.Width > 0:
		fmt.Fprintf(w, "copies\tof %d bytes: %s\n", s.Width, s.Narrow)
	default:
		fmt.Fprintf(w, "copies\tnone: %s\n", s.Narrow)
	}
	if s.Width > 0 {
		fmt.Fprintf(w, "access\t%s\n", s.Report.Access)
		fmt.Fprintf(w, "sectors\t%d, at least %d\n", s.Traffic.Sectors, s.Traffic.Needed)
		printConflicts(w, s.Report)
		printSwizzle(w, s.Answer, s.Why)
	}
	if b := s.Box; b != nil {
		swizzle := "no swizzle"
		if b.Swizzle > 0 {
			swizzle = "swizzle of " + sized(8*b.Swizzle)
		}
		extents := strings.ReplaceAll(strings.Trim(fmt.Sprint(b.Extents), "[]"), " ", " × ")
		fmt.Fprintf(w, "TMA\t%s of %s elements along mode %d, %s\n", boxes(b.Count), extents, b.Order[0], swizzle)
		return
	}
	fmt.Fprintf(w, "TMA\tnone: %s\n", s.NoBox)
}

func boxes(n int) string {
	if n == 1 {
		return "1 box"
	}
	return fmt.Sprintf("%d boxes", n)
}
