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
fastest. With the beginning of a name it lists the names, without one the families.`,
		Example: `  ashlar layout instruction sm80.mma.m16n8k16.f16
  ashlar layout instruction sm80.mma`,
		Args: arguments(0, 1, "one name"),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return p.printFamilies(*asJSON)
		}
		out, err := ask.Instruction(c.Context(), &ask.Question{A: args[0]})
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

// printFamilies counts the instructions by the first two parts of their names.
func (p *program) printFamilies(asJSON bool) error {
	type family struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	}
	var list []family
	for _, name := range judge.Instructions("") {
		parts := strings.SplitN(name, ".", 3)
		name = strings.Join(parts[:min(2, len(parts))], ".")
		if n := len(list); n == 0 || list[n-1].Name != name {
			list = append(list, family{Name: name})
		}
		list[len(list)-1].Count++
	}
	if asJSON {
		return json.NewEncoder(p.out).Encode(list)
	}
	for _, f := range list {
		fmt.Fprintf(p.out, "%-24s %d\n", f.Name, f.Count)
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
conflicts, and finds the smallest swizzle without. It exits with 1 when there are any.

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
	fmt.Fprintf(w, "layout\t%s\noperand\t%s of %s, %s\n", l.Layout, l.Operand.Name, l.Instruction, counted(l.Tiles, "tile"))
	fmt.Fprintf(w, "loads\t%s, in %s\n", l.With, counted(l.Report.Phases, "phase"))
	for _, r := range l.Refused {
		fmt.Fprintf(w, "not\t%s: %s\n", r.With, r.Reason)
	}
	fmt.Fprintf(w, "access\t%s\n", l.Report.Access)
	if n := l.Report.Conflicts(); n > 0 {
		fmt.Fprintf(w, "conflicts\t%d; %d cycles instead of %d\n", n, l.Report.Cycles, l.Report.Phases)
	} else {
		fmt.Fprintln(w, "conflicts\tnone")
	}
	if l.Swizzle != nil {
		answer := l.Answer
		if answer == "" {
			answer = "none"
		}
		fmt.Fprintf(w, "swizzle\t%s\nsearch\t%s\n", answer, l.Why)
	}
}
