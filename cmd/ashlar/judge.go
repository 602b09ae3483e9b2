package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/spf13/cobra"
)

// judgeCommands are the commands below layout.
func (p *program) judgeCommands() []*cobra.Command {
	return []*cobra.Command{p.checkLayoutCommand(), p.solveCommand(), p.spellCommand(), p.inferCommand(), p.relayoutCommand(), p.verdictCommand(), p.explainCommand(), p.axesCommand()}
}

// unread is an error about a layout that can't be read, with a caret under the fault.
func unread(err error) error {
	err = marked(err)
	if errors.Is(err, layout.ErrSyntax) {
		err = &usageError{err.Error()}
	}
	return err
}

// readLayout reads an expression, or another notation's spelling.
func readLayout(text string) (layout.Composed, error) {
	c, err := judge.Parse(text)
	if err != nil {
		err = unread(err)
	}
	return c, err
}

// faulty is an error of package ask in the words of a command's flags.
func faulty(c *cobra.Command, q *ask.Question, err error) error {
	var f *ask.Fault
	if !errors.As(err, &f) {
		return err
	}
	switch field := strings.TrimRight(f.Field, "0123456789"); {
	case !f.Typed:
		return f.Err
	case f.Err != nil && (field == "a" || field == "b"):
		return unread(f.Err)
	case field == "what":
		return usagef(c, "--instruction: %v", f.Err)
	case field == "by" && c.Name() == "load":
		return usagef(c, "--operand: %v", f.Err)
	case c.Name() == "relayout":
		return usagef(c, "--elem %s --vector %s: want bytes, a vector of whole elements", q.Elem, q.Vector)
	case c.Name() == "convert":
		return usagef(c, "--elem %s: want bytes", q.Elem)
	case field == "elem":
		return usagef(c, "--elem %s: %v", q.Elem, f)
	case field == "b":
		return usagef(c, "%v", f)
	case field == "find":
		return usagef(c, "--at: %v", cmp.Or(f.Err, error(f)))
	default:
		return usagef(c, "--%s: %v", field, cmp.Or(f.Err, error(f)))
	}
}

// asks completes a command that asks about one layout, or two: with --json its answer is printed as such, else by print, as
// columns. It exits with 1 where good says so.
func asks[T any](p *program, c *cobra.Command, q *ask.Question, asJSON *bool, answer func(context.Context, *ask.Question) (T, error), print func(io.Writer, T), good func(T) bool) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) error {
		if q.A = args[0]; len(args) > 1 {
			q.B = args[1]
		}
		t, err := answer(c.Context(), q)
		if err != nil {
			return faulty(c, q, err)
		}
		if *asJSON {
			err = json.NewEncoder(p.out).Encode(t)
		} else {
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			print(w, t)
			err = w.Flush()
		}
		if err == nil && !good(t) {
			err = failures{}
		}
		return err
	}
	return c
}

const oneLayout = "one layout, in quotes"

// jsonFlag adds --json to a command that prints text.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print one JSON object instead of the text")
}

// bankFlags say which memory is meant, of which elements, and how it is touched.
func bankFlags(c *cobra.Command, q *ask.Question) *bool {
	flags := c.Flags()
	flags.StringVar(&q.Banks, "banks", "32x4", "`banks` × bytes of a word, nvidia, amd or tensix; 8x16single doesn't share words")
	flags.StringVar(&q.Elem, "elem", "4", "`bytes` of an element, or bits, as in 4b")
	flags.StringArrayVar(&q.Access, "access", nil, "row, column, row:8, row:8/16, ldmatrix or tv:`LAYOUT`; may be repeated (default row, column)")
	c.PreRun = func(*cobra.Command, []string) {
		if len(q.Access) == 0 {
			q.Access = []string{"row", "column"}
		}
	}
	return jsonFlag(c)
}

// linesFlags say which memory moves the elements, and where they may begin.
func linesFlags(c *cobra.Command, q *ask.Question, name string) {
	c.Flags().StringVar(&q.Lines, "lines", name, "`memory` whose transactions are counted: nvidia, amd, cpu, or SECTOR/LINE/THREADS/VECTOR in bytes, as in 32/128/32/16")
	c.Flags().StringVar(&q.Align, "align", "256", "`bytes` that the address of offset 0 is a multiple of, with --lines")
}

func (p *program) checkLayoutCommand() *cobra.Command {
	var q ask.Question
	var swizzle string
	c := &cobra.Command{
		Use:   "check LAYOUT",
		Short: "Count the bank conflicts of accesses through a layout",
		Long: `Check counts the bank conflicts of each access. It exits with 1 when there are any,
or when the elements of a vector aren't one aligned run of memory.

  --access   row, column     32 threads take the next elements along rows, columns
             row:8, row:8/16 in vectors of 8 elements, by 16 threads
             ldmatrix        8 threads take a row of 16 bytes each
             tv:LAYOUT       a thread–value layout: (thread, value) to a coordinate,
                             the first mode fastest; tv:4:LAYOUT in vectors of 4

A step goes in phases of at most banks × bytes of the threads' requests. In a
phase the conflicts are the words of the fullest bank, minus one. Threads that want
one word share it, but in tensix's memory. "31 in each step" counts these conflicts.`,
		Example: `  ashlar layout check "(32,32):(32,1)" --access column
  ashlar layout check "(32,32):(32,1)" --swizzle 5,0,5
  ashlar layout check "Sw<3,3,3> o (64,64):(64,1)" --elem 2 --access row:8 --access ldmatrix
  ashlar layout check "(128,128):(128,1)" --access row:4/256 --lines nvidia --align 16`,
		Args: arguments(1, 1, oneLayout),
	}
	swizzleFlag(c, &swizzle)
	linesFlags(c, &q, "")
	count := func(ctx context.Context, q *ask.Question) (*ask.Counts, error) {
		if swizzle != "" {
			lay, err := readLayout(q.A)
			if err == nil {
				lay, err = swizzled(c, lay, swizzle)
			}
			if err != nil {
				return nil, err
			}
			q.A = lay.String()
		}
		return ask.Banks(ctx, q)
	}
	return asks(p, c, &q, bankFlags(c, &q), count, printCounts, func(r *ask.Counts) bool { return r.Clean })
}

func printCounts(t io.Writer, out *ask.Counts) {
	fmt.Fprintf(t, "layout\t%s\n", out.Layout)
	how := ""
	if out.Memory.Single {
		how = ", one thread at a time"
	}
	fmt.Fprintf(t, "memory\t%d banks of %d bytes%s, elements of %s\n", out.Memory.Count, out.Memory.Width, how, sized(out.Bits))
	for _, r := range out.Accesses {
		fmt.Fprintf(t, "\naccess\t%s, %s in %s\n", r.Access, counted(r.Steps, "step"), counted(r.Phases, "phase"))
		if r.Conflicts == 0 {
			fmt.Fprintln(t, "conflicts\tnone")
		} else {
			each := fmt.Sprintf("%d in each step", slices.Min(r.PerStep))
			if most := slices.Max(r.PerStep); most > slices.Min(r.PerStep) {
				each = fmt.Sprintf("from %d to %d in a step", slices.Min(r.PerStep), most)
			}
			fmt.Fprintf(t, "conflicts\t%d, %s; %d cycles instead of %d\n", r.Conflicts, each, r.Cycles, r.Phases)
		}
		if p := r.Worst; p != nil {
			fullest := slices.Max(p.PerBank)
			fmt.Fprintf(t, "worst\tstep %d, from thread %d on: %d words in bank %d\n", p.Step, p.Thread, fullest, slices.Index(p.PerBank, fullest))
		}
		if p := r.Broken; p != nil {
			fmt.Fprintf(t, "split\t%s; in step %d, thread %d has the offsets %s\n", counted(r.Split, "vector"), p.Step, p.Thread, spacedOut(p.Offsets))
		}
		fmt.Fprintf(t, "words\t%s\n", perBank(r.PerBank))
		if r.Traffic != nil {
			printTraffic(t, r.Traffic)
		}
	}
}

// printTraffic writes the transactions of an access.
func printTraffic(t io.Writer, r *judge.Traffic) {
	bytes := func(bits int) string { return strconv.FormatFloat(float64(bits)/8, 'f', -1, 64) }
	fmt.Fprintf(t, "sectors\t%d of %s in %s of %s", r.Sectors, sized(8*r.Memory.Sector), counted(r.Lines, "line"), sized(8*r.Memory.Line))
	if r.Sectors > r.Fewest {
		fmt.Fprintf(t, ", from byte %d of a line on; %d at the best place", r.Base, r.Fewest)
	}
	fmt.Fprintf(t, "\nuseful\t%s of %d bytes, %.1f %%, in %s\n", bytes(r.Useful), r.Moved, 12.5*float64(r.Useful)/float64(max(1, r.Moved)), counted(r.Requests, "request"))
	if r.Worst != nil {
		fmt.Fprintf(t, "\t%v\n", r.Worst)
	}
	width := "none"
	if r.Widest > 0 {
		width = fmt.Sprintf("%s, %s", counted(r.Widest, "element"), sized(r.Widest*r.Bits))
	}
	fmt.Fprintf(t, "widest\t%s: %s\n", width, r.Narrow)
	var parts []string
	for _, s := range r.Strides[:min(len(r.Strides), 4)] {
		parts = append(parts, fmt.Sprintf("%s in %s", counted(s.Elements, "element"), counted(s.Count, "pair")))
	}
	if len(r.Strides) > 4 {
		parts = append(parts, "…")
	}
	if parts != nil {
		fmt.Fprintf(t, "neighbours\t%s\n", strings.Join(parts, ", "))
	}
}

func sized(bits int) string {
	if bits%8 == 0 {
		return counted(bits/8, "byte")
	}
	return counted(bits, "bit")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func spacedOut(v []int) string { return strings.Trim(fmt.Sprint(v), "[]") }

// perBank writes the words of each bank, runs of equal ones together.
func perBank(v []int) string {
	var parts []string
	for from := 0; from < len(v); {
		to := from
		for to+1 < len(v) && v[to+1] == v[from] {
			to++
		}
		banks := fmt.Sprint(from)
		if to > from {
			banks = fmt.Sprintf("%d–%d", from, to)
		}
		parts = append(parts, fmt.Sprintf("%d in bank %s", v[from], banks))
		from = to + 1
	}
	if len(parts) > 16 {
		parts = append(parts[:16], "…")
	}
	return strings.Join(parts, ", ")
}

func (p *program) solveCommand() *cobra.Command {
	var q ask.Question
	var xor, order bool
	c := &cobra.Command{
		Use:   "solve LAYOUT",
		Short: "Find the smallest swizzle without bank conflicts",
		Long: `Solve finds the smallest swizzle of a layout's offsets with which no access has a
bank conflict, or says that there is none. Fewer bits are smaller; then fewer offsets permuted among each other; then a positive
shift; then a smaller base. The search is over all swizzles of the tile.

With --xor it finds a matrix over F2 instead, which adds bits of the offset to the
bits of the bank's number. It exits with 1 when there is none, and when the
search of the matrices reached its bound.

With --order it finds the order in which threads take all elements with the fewest
sectors of --lines, and the vector of each. The answer is an access for check. It exits
with 1 when an order of another kind could be better.`,
		Example: `  ashlar layout solve "(32,32):(32,1)"
  ashlar layout solve "(128,128):(1,128)" --order --threads 256 --align 16
  ashlar layout solve "(64,64):(64,1)" --elem 2 --access row:8 --access ldmatrix`,
		Args: arguments(1, 1, oneLayout),
	}
	c.Flags().BoolVar(&xor, "xor", false, "find an XOR matrix instead of a swizzle")
	c.Flags().BoolVar(&order, "order", false, "find the order of threads that touches the fewest sectors")
	c.Flags().StringVar(&q.Thread, "threads", "32", "the `number` of threads of --order")
	linesFlags(c, &q, "nvidia")
	c.MarkFlagsMutuallyExclusive("xor", "order")
	solve := func(ctx context.Context, q *ask.Question) (*ask.Solution, error) {
		if xor {
			q.What = "xor"
		}
		return ask.Solve(ctx, q)
	}
	asJSON := bankFlags(c, &q)
	best := asks(p, c, &q, asJSON, ask.Order, printOrder, (*judge.Order).Proven).RunE
	swizzle := asks(p, c, &q, asJSON, solve, func(w io.Writer, s *ask.Solution) {
		answer := s.Answer
		switch {
		case s.XOR != nil && !s.XOR.Decided:
			answer = "not decided"
		case !s.Found:
			answer = "none"
		}
		fmt.Fprintf(w, "layout\t%s\nanswer\t%s\nsearch\t%s\n", s.Layout, answer, s.Why)
	}, func(s *ask.Solution) bool { return s.Found }).RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if order {
			return best(c, args)
		}
		return swizzle(c, args)
	}
	return c
}

func printOrder(w io.Writer, o *judge.Order) {
	fmt.Fprintf(w, "answer\t%s\n", o.Text)
	printTraffic(w, o.Traffic)
	fmt.Fprintf(w, "search\t%s\n", o.Why)
}

func (p *program) spellCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "convert LAYOUT",
		Short: "Write a layout in other notations",
		Long: `Convert reads a layout, as an expression or in the spelling of CuTe, CuTe's Python
DSL, NumPy, Mojo, Triton or Go. It writes the layout in all of these, in TT-NN's
tiles and shards, and as a matrix over F2. A notation that has no spelling for the
layout gets the reason, and the first coordinate. With --to it writes one of them,
and exits with 1 when it can't.`,
		Example: `  ashlar layout convert "Sw<2,0,3> o (8,8):(8,1)"
  ashlar layout convert "make_layout(make_shape(4, 5), LayoutRight{})" --to numpy
  ashlar layout convert "{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}" --to layout`,
		Args: arguments(1, 1, oneLayout),
	}
	c.Flags().StringVar(&q.What, "to", "", "one `notation`: "+strings.Join(judge.Spellings, ", "))
	c.Flags().StringVar(&q.Elem, "elem", "4", "`bytes` of an element, for NumPy's strides")
	spell := func(ctx context.Context, q *ask.Question) ([]ask.Spelling, error) {
		if q.What != "" && !slices.Contains(judge.Spellings, q.What) {
			return nil, usagef(c, "--to %s: there are %s", q.What, strings.Join(judge.Spellings, ", "))
		}
		list, err := ask.Spell(ctx, q)
		if err == nil && q.What != "" {
			err = list[0].Err
		}
		return list, err
	}
	return asks(p, c, &q, new(bool), spell, func(w io.Writer, list []ask.Spelling) {
		for _, s := range list {
			switch {
			case q.What != "":
				fmt.Fprintln(p.out, s.Text)
				continue
			case s.Err != nil:
				s.Text = "none: " + s.Reason
			}
			for line := range strings.SplitSeq(s.Text, "\n") {
				fmt.Fprintf(w, "%s\t%s\n", s.Name, line)
				s.Name = ""
			}
		}
	}, func([]ask.Spelling) bool { return true })
}

func (p *program) inferCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "infer C A",
		Short: "Find the layout B with C = A ∘ B",
		Long: `Infer finds a layout B, of the shape of C, whose composition with A is C, and
exits with 1 when there is none: then it names the first coordinate of C for
which there is none.`,
		Example: `  ashlar layout infer "(2,2):(24,2)" "(6,2):(8,2)"
  ashlar layout infer "(4,8):(8,1)" "(4,8):(1,4)"`,
		Args: arguments(2, 2, "two layouts, in quotes"),
	}
	return asks(p, c, new(ask.Question), new(bool), ask.Infer, func(w io.Writer, b layout.Layout) { fmt.Fprintln(w, b) }, func(layout.Layout) bool { return true })
}

func (p *program) relayoutCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "relayout FROM TO",
		Short: "Count the moves from one layout to another",
		Long: `Relayout counts the fewest moves that take every element from one layout to
another; element i is coordinate i of both, the first mode fastest. A move takes
a power of two of elements, at most --vector bytes. They are one run in both
memories, and begin at a multiple of their length in both. Each move costs one.`,
		Example: `  ashlar layout relayout "(8,64):(64,1)" "(8,64):(80,1)" --elem 2
  ashlar layout relayout "(8,8):(8,1)" "(8,8):(1,8)"`,
		Args: arguments(2, 2, "two layouts, in quotes"),
	}
	c.Flags().StringVar(&q.Elem, "elem", "4", "`bytes` of an element")
	c.Flags().StringVar(&q.Vector, "vector", "16", "`bytes` of the widest move")
	return asks(p, c, &q, jsonFlag(c), ask.Relay, func(t io.Writer, m *judge.Moves) {
		fmt.Fprintf(t, "elements\t%d, in %s that are one in both memories\nmoves\t%d\n", m.Elements, counted(m.Runs, "run"), m.Moves)
		for _, w := range m.ByWidth {
			fmt.Fprintf(t, "\t%d of %s\n", w.Moves, counted(w.Elements, "element"))
		}
		fmt.Fprintf(t, "everywhere\tvectors of %s\n", counted(m.Uniform, "element"))
	}, func(*judge.Moves) bool { return true })
}

func (p *program) verdictCommand() *cobra.Command {
	var q ask.Question
	var find int
	c := &cobra.Command{
		Use:   "verdict OPERATION A [B]",
		Short: "Judge an operation, and the published rules for it",
		Long: `Verdict gives the exact layout of an operation, or the first coordinate for which
there is none. Beside it stand the results of the published rules of NVIDIA's pycute
and cutegen. It exits with 1 when there is no layout.

  OPERATION  ` + strings.Join(judge.Ops[:5], ", ") + `,
             ` + strings.Join(judge.Ops[5:9], ", ") + `,
             ` + strings.Join(judge.Ops[9:], ", ") + `
  B          a layout; of complement and product_by a number

With --find it looks for inputs of its own: for each set of rules, operation and
kind of silent error, the smallest of so many random tries.`,
		Example: `  ashlar layout verdict compose "(6,2):(1,7)" "(3,2):(2,3)"
  ashlar layout verdict --find 2000`,
		Args: func(c *cobra.Command, args []string) error {
			if find > 0 {
				return arguments(0, 0, "no arguments with --find")(c, args)
			}
			return arguments(2, 3, "an operation, and one or two layouts in quotes")(c, args)
		},
	}
	c.Flags().IntVar(&find, "find", 0, "look for inputs in so many `tries`")
	c.Flags().Uint64Var(&q.Seed, "seed", 1, "where the random tries begin")
	asJSON := jsonFlag(c)
	verdict := asks(p, c, &q, asJSON, ask.Verdict, func(_ io.Writer, v *judge.Verdict) { fmt.Fprint(p.out, v) }, func(v *judge.Verdict) bool { return v.Exact != nil }).RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if find == 0 {
			if q.What = args[0]; !slices.Contains(judge.Ops, q.What) {
				return usagef(c, "no operation %q; there are %s", q.What, strings.Join(judge.Ops, ", "))
			}
			if n := ask.Arguments(q.What); n != len(args)-1 {
				return usagef(c, "%s takes %s", q.What, []string{"one layout", "two arguments"}[n-1])
			}
			return verdict(c, args[1:])
		}
		list, err := judge.FindFaults(c.Context(), q.Seed, find)
		if err != nil {
			return err
		}
		if *asJSON {
			return json.NewEncoder(p.out).Encode(list)
		}
		for _, f := range list {
			fmt.Fprintf(p.out, "%s %s, %s\n%s\n", f.Rules, f.Op, f.Kind, f.Verdict)
		}
		return nil
	}
	return c
}

func (p *program) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain EXPRESSION",
		Short: "Show the rules that lead from an expression to its layout",
		Long: `Explain evaluates an expression over layouts, and shows each rule that it uses, with
its numbers: of compositions, coalesce, complements, divisions, products, inverses
and swizzles. It ends with the layout. If there is none, it ends with the condition
that failed and the first coordinate that shows it, and exits with 1. Where the
published rules of pycute or cutegen give a wrong layout, their answer stands at the
step where they go wrong.`,
		Example: `  ashlar layout explain "(6,2):(8,2) o (4,3):(3,1)"
  ashlar layout explain "(3,12):(1,3) / 4:1"`,
		Args: arguments(1, 1, "one expression, in quotes"),
	}
	return asks(p, c, new(ask.Question), jsonFlag(c), ask.Explain, func(_ io.Writer, e *judge.Explanation) { fmt.Fprint(p.out, e) }, func(e *judge.Explanation) bool { return e.Why == "" })
}

func (p *program) axesCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "axes LAYOUT",
		Short: "Show a layout over named axes: lanes, warps, devices, memory",
		Long: `Axes reads a layout over named axes in the notation of TVM's TIRx, or a distributed
layout of Triton. It prints the numbers on each axis.

  S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@m
      The index of an element, row-major, is split over the extents of S. Each part,
      times its stride, goes to an axis; m is memory. R has the copies, the rest is an
      offset.
  {register = [[0, 1], [8, 0]], lane = [[0, 2]]}, #ttg.blocked<{…}>
  (0,8) o ((64,2),32):((1@0,64@0),1@1)
      CuTe's layout of coordinates, with the axes 0 and 1, also as its DSL prints it.

--at tells all places of an element. --compose takes the elements in another order, or
some of them: rows 2 and 3 of 8 by 8 are (8,8):(8,1)[2:4], an expression, with its
offset. With --shape it prints the layout of threads and values, Triton's layout and
the placement on a mesh, or the reason why there is none.`,
		Example: `  ashlar layout axes "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]" --shape 16,8 --threads laneid --at 3,4
  ashlar layout axes "S[(2,64,64):(1@row,64,1)] + R[4:1@col]" --shape 128,64`,
		Args: arguments(1, 1, "one layout, in quotes"),
	}
	flags := c.Flags()
	flags.StringVar(&q.By, "shape", "", "the `extents` of the tensor, as in 16,8")
	flags.StringVar(&q.Find, "at", "", "the `coordinate` of an element in the shape, or its index")
	flags.StringVar(&q.B, "compose", "", "a `layout` from the new elements to the elements of LAYOUT")
	flags.StringVar(&q.What, "threads", "laneid,warpid", "the `axes` that count threads, the first fastest")
	return asks(p, c, &q, jsonFlag(c), ask.Axes, func(w io.Writer, a *ask.Places) {
		fmt.Fprintf(w, "layout\t%s\nelements\t%d\n", a.Layout, a.Size)
		for _, axis := range a.Axes {
			fmt.Fprintf(w, "axis\t%s\n", axis)
		}
		for _, o := range a.Owners {
			fmt.Fprintf(w, "owner\t%s\n", o)
		}
		for _, f := range a.Forms {
			if f.Reason != "" {
				f.Text = "none: " + f.Reason
			}
			fmt.Fprintf(w, "%s\t%s\n", f.Name, f.Text)
		}
	}, func(*ask.Places) bool { return true })
}

// marked is an error with the expression and a caret under the fault above it.
func marked(err error) error {
	var e *layout.EvalError
	if !errors.As(err, &e) {
		return err
	}
	text := strings.ReplaceAll(e.Mark()+"\n"+e.Err.Error(), "\n", "\n        ") // as wide as the name of the program
	if errors.Is(err, layout.ErrSyntax) {
		return &usageError{text}
	}
	return errors.New(text)
}
