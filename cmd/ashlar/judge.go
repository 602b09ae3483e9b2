package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/spf13/cobra"
)

// judgeCommands are the commands below layout.
func (p *program) judgeCommands() []*cobra.Command {
	return []*cobra.Command{p.checkLayoutCommand(), p.solveCommand(), p.spellCommand(), p.inferCommand(), p.relayoutCommand(), p.verdictCommand()}
}

// readLayout reads an expression, or another notation's spelling.
func readLayout(text string) (layout.Composed, error) {
	c, err := judge.Parse(text)
	if err != nil {
		err = marked(err)
	}
	if errors.Is(err, layout.ErrSyntax) {
		err = &usageError{err.Error()}
	}
	return c, err
}

// readPlain is a layout without a swizzle and an offset.
func readPlain(text string) (layout.Layout, error) {
	c, err := readLayout(text)
	if err != nil {
		return layout.Layout{}, err
	}
	l, ok := c.Plain()
	if !ok {
		return l, &usageError{fmt.Sprintf("%v: a layout without a swizzle and an offset is wanted", c)}
	}
	return l, nil
}

// bankFlags say which memory is meant, of which elements, and how it is touched.
type bankFlags struct {
	banks, elem string
	access      []string
	asJSON      bool
}

func (f *bankFlags) on(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.banks, "banks", "32x4", "`banks` × bytes of a word, nvidia, amd or tensix; 8x16single doesn't share words")
	flags.StringVar(&f.elem, "elem", "4", "`bytes` of an element, or bits, as in 4b")
	flags.StringArrayVar(&f.access, "access", nil, "row, column, row:8, row:8/16, ldmatrix or tv:`LAYOUT`; may be repeated (default row, column)")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object instead of the text")
}

// read reads the flags, and the layout that they are about.
func (f *bankFlags) read(c *cobra.Command, text string) (lay layout.Composed, b judge.Banks, bits int, list []judge.Access, err error) {
	if b, err = judge.ParseBanks(f.banks); err != nil {
		return lay, b, 0, nil, usagef(c, "--banks: %v", err)
	}
	if bits, err = elementBits(f.elem); err != nil {
		return lay, b, 0, nil, usagef(c, "--elem %s: want bytes, as in 2, or bits, as in 4b", f.elem)
	}
	names := f.access
	if len(names) == 0 {
		names = []string{"row", "column"}
	}
	for _, name := range names {
		a, err := judge.ParseAccess(name)
		if err != nil {
			return lay, b, 0, nil, usagef(c, "--access: %v", err)
		}
		list = append(list, a)
	}
	lay, err = readLayout(text)
	return lay, b, bits, list, err
}

func elementBits(text string) (int, error) {
	number, isBits := strings.CutSuffix(text, "b")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1<<10 {
		return 0, fmt.Errorf("no size %q", text)
	}
	if isBits {
		return n, nil
	}
	return 8 * n, nil
}

func (p *program) checkLayoutCommand() *cobra.Command {
	var f bankFlags
	c := &cobra.Command{
		Use:   "check LAYOUT",
		Short: "Count the bank conflicts of accesses through a layout",
		Long: `Check counts the bank conflicts of each access, and exits with 1 when there are
any, or when the elements of a vector aren't one aligned run of memory.

  --access   row, column     32 threads take the next elements along rows, columns
             row:8, row:8/16 in vectors of 8 elements, by 16 threads
             ldmatrix        8 threads take a row of 16 bytes each
             tv:LAYOUT       a thread–value layout: (thread, value) to a coordinate,
                             the first mode fastest; tv:4:LAYOUT in vectors of 4

A step goes in phases of at most banks × bytes of the threads' requests. In a
phase the conflicts are the words of the fullest bank, minus one; threads that
want one word share it, but in tensix's memory.`,
		Example: `  ashlar layout check "(32,32):(32,1)" --access column
  ashlar layout check "Sw<3,3,3> o (64,64):(64,1)" --elem 2 --access row:8 --access ldmatrix`,
		Args: arguments(1, 1, "one layout, in quotes"),
	}
	f.on(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		lay, banks, bits, list, err := f.read(c, args[0])
		if err != nil {
			return err
		}
		var reports []*judge.Report
		clean := true
		for _, a := range list {
			r, err := judge.Conflicts(lay, banks, bits, a)
			if err != nil {
				return err
			}
			clean = clean && r.Clean()
			reports = append(reports, r)
		}
		if f.asJSON {
			type counted struct {
				*judge.Report
				Conflicts int `json:"conflicts"`
			}
			out := struct {
				Layout   string    `json:"layout"`
				Banks    string    `json:"banks"`
				Bits     int       `json:"bits"`
				Clean    bool      `json:"clean"`
				Accesses []counted `json:"accesses"`
			}{Layout: spelled(lay), Banks: banks.String(), Bits: bits, Clean: clean}
			for _, r := range reports {
				out.Accesses = append(out.Accesses, counted{r, r.Conflicts()})
			}
			err = json.NewEncoder(p.out).Encode(&out)
		} else {
			printReports(p.out, lay, banks, bits, reports)
		}
		if err == nil && !clean {
			err = failures{}
		}
		return err
	}
	return c
}

func spelled(c layout.Composed) string {
	if l, ok := c.Plain(); ok {
		return l.String()
	}
	return c.String()
}

func printReports(w io.Writer, lay layout.Composed, b judge.Banks, bits int, reports []*judge.Report) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer t.Flush()
	fmt.Fprintf(t, "layout\t%s\n", spelled(lay))
	how := ""
	if b.Single {
		how = ", one thread at a time"
	}
	fmt.Fprintf(t, "memory\t%d banks of %d bytes%s, elements of %s\n", b.Count, b.Width, how, sized(bits))
	for _, r := range reports {
		fmt.Fprintf(t, "\naccess\t%s, %s in %s\n", r.Access, counted(r.Steps, "step"), counted(r.Phases, "phase"))
		if r.Conflicts() == 0 {
			fmt.Fprintln(t, "conflicts\tnone")
		} else {
			fmt.Fprintf(t, "conflicts\t%d, %d to %d in a step; %d cycles instead of %d\n", r.Conflicts(), slices.Min(r.PerStep), slices.Max(r.PerStep), r.Cycles, r.Phases)
		}
		if p := r.Worst; p != nil {
			fullest := slices.Max(p.PerBank)
			fmt.Fprintf(t, "worst\tstep %d, from thread %d on: %d words in bank %d\n", p.Step, p.Thread, fullest, slices.Index(p.PerBank, fullest))
		}
		if p := r.Broken; p != nil {
			fmt.Fprintf(t, "split\t%s; in step %d, thread %d has the offsets %s\n", counted(r.Split, "vector"), p.Step, p.Thread, spacedOut(p.Offsets))
		}
		fmt.Fprintf(t, "words\t%s\n", perBank(r.PerBank))
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
	var f bankFlags
	var xor bool
	c := &cobra.Command{
		Use:   "solve LAYOUT",
		Short: "Find the smallest swizzle without bank conflicts",
		Long: `Solve finds the smallest swizzle of a layout's offsets with which none of the
accesses has a bank conflict, together, or says that there is none. Fewer bits
are smaller; then fewer offsets permuted among each other; then a positive
shift; then a smaller base. The search is over all swizzles of the tile.

With --xor it finds a matrix over F2 instead, which adds bits of the offset to
those that number the bank. It exits with 1 when there is none, and when the
search of the matrices reached its bound.`,
		Example: `  ashlar layout solve "(32,32):(32,1)"
  ashlar layout solve "(64,64):(64,1)" --elem 2 --access row:8 --access ldmatrix`,
		Args: arguments(1, 1, "one layout, in quotes"),
	}
	f.on(c)
	c.Flags().BoolVar(&xor, "xor", false, "find an XOR matrix instead of a swizzle")
	c.RunE = func(c *cobra.Command, args []string) error {
		lay, banks, bits, list, err := f.read(c, args[0])
		if err != nil {
			return err
		}
		var out struct {
			Layout string               `json:"layout"`
			Found  bool                 `json:"found"`
			Answer string               `json:"answer,omitempty"` // the swizzle, or the matrix
			Why    string               `json:"why"`
			XOR    *judge.XORResult     `json:"xor,omitempty"`
			Search *judge.SwizzleResult `json:"swizzle,omitempty"`
		}
		out.Layout = spelled(lay)
		if xor {
			r, err := judge.SolveXOR(c.Context(), lay, banks, bits, list...)
			if err != nil {
				return err
			}
			out.Found, out.Why, out.XOR = r.Found, r.Why, &r
			if r.Found {
				out.Answer = r.Matrix.String()
			}
		} else {
			r, err := judge.SolveSwizzle(c.Context(), lay, banks, bits, list...)
			if err != nil {
				return err
			}
			out.Found, out.Search, out.Why = r.Found, &r, r.Why()
			if r.Found {
				out.Answer = r.Swizzle.String()
			}
		}
		if f.asJSON {
			err = json.NewEncoder(p.out).Encode(&out)
		} else {
			answer := out.Answer
			switch {
			case out.XOR != nil && !out.XOR.Decided:
				answer = "not decided"
			case !out.Found:
				answer = "none"
			}
			t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintf(t, "layout\t%s\nanswer\t%s\nsearch\t%s\n", out.Layout, answer, out.Why)
			t.Flush()
		}
		if err == nil && !out.Found {
			err = failures{}
		}
		return err
	}
	return c
}

func (p *program) spellCommand() *cobra.Command {
	var to, elem string
	c := &cobra.Command{
		Use:   "convert LAYOUT",
		Short: "Write a layout in other notations",
		Long: `Convert reads a layout, as an expression or in the spelling of CuTe, CuTe's
Python DSL, NumPy, Mojo, Triton or Go, and writes it in all of these, in TT-NN's
tiles and shards, and as a matrix over F2. What a notation can't say has its
reason beside it, and the first coordinate. With --to it writes one of them, and
exits with 1 when it can't.`,
		Example: `  ashlar layout convert "Sw<2,0,3> o (8,8):(8,1)"
  ashlar layout convert "make_layout(make_shape(4, 5), LayoutRight{})" --to numpy
  ashlar layout convert "{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}" --to layout`,
		Args: arguments(1, 1, "one layout, in quotes"),
	}
	c.Flags().StringVar(&to, "to", "", "one `notation`: "+strings.Join(judge.Spellings, ", "))
	c.Flags().StringVar(&elem, "elem", "4", "`bytes` of an element, for NumPy's strides")
	c.RunE = func(c *cobra.Command, args []string) error {
		if to != "" && !slices.Contains(judge.Spellings, to) {
			return usagef(c, "--to %s: there are %s", to, strings.Join(judge.Spellings, ", "))
		}
		bits, err := elementBits(elem)
		if err != nil || bits%8 != 0 {
			return usagef(c, "--elem %s: want bytes", elem)
		}
		lay, err := readLayout(args[0])
		if err != nil {
			return err
		}
		if to != "" {
			text, err := judge.Print(lay, to, bits/8)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.out, strings.TrimSuffix(text, "\n"))
			return nil
		}
		t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		for _, s := range judge.Spellings {
			text, err := judge.Print(lay, s, bits/8)
			var bad *judge.Mismatch
			var other *judge.Error
			switch {
			case errors.As(err, &bad):
				text = "none: " + bad.Text()
			case errors.As(err, &other):
				text = "none: " + other.Text
			case err != nil:
				text = "none: " + err.Error()
			}
			for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if i > 0 {
					s = ""
				}
				fmt.Fprintf(t, "%s\t%s\n", s, line)
			}
		}
		return t.Flush()
	}
	return c
}

func (p *program) inferCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "infer C A",
		Short: "Find the layout B with C = A ∘ B",
		Long: `Infer finds a layout B, of the shape of C, whose composition with A is C, and
exits with 1 when there is none: then it names the first coordinate of C for
which there is none.`,
		Example: `  ashlar layout infer "(2,2):(24,2)" "(6,2):(8,2)"
  ashlar layout infer "(4,8):(8,1)" "(4,8):(1,4)"`,
		Args: arguments(2, 2, "two layouts, in quotes"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := readPlain(args[0])
			if err != nil {
				return err
			}
			a, err := readPlain(args[1])
			if err != nil {
				return err
			}
			b, err := judge.Infer(c, a)
			if err != nil {
				return err
			}
			fmt.Fprintln(p.out, b)
			return nil
		},
	}
}

func (p *program) relayoutCommand() *cobra.Command {
	var elem, vector string
	var asJSON bool
	c := &cobra.Command{
		Use:   "relayout FROM TO",
		Short: "Count the moves from one layout to another",
		Long: `Relayout counts the fewest moves that take every element from one layout to
another; element i is coordinate i of both, the first mode fastest. A move takes
a power of two of elements, at most --vector bytes, that are one run in both
memories and begin at a multiple of their length in both. Each move costs one.`,
		Example: `  ashlar layout relayout "(8,64):(64,1)" "(8,64):(80,1)" --elem 2
  ashlar layout relayout "(8,8):(8,1)" "(8,8):(1,8)"`,
		Args: arguments(2, 2, "two layouts, in quotes"),
	}
	c.Flags().StringVar(&elem, "elem", "4", "`bytes` of an element")
	c.Flags().StringVar(&vector, "vector", "16", "`bytes` of the widest move")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of the text")
	c.RunE = func(c *cobra.Command, args []string) error {
		bits, err := elementBits(elem)
		wide, err2 := elementBits(vector)
		if err != nil || err2 != nil || wide < bits || wide%bits != 0 {
			return usagef(c, "--elem %s --vector %s: want bytes, a vector of whole elements", elem, vector)
		}
		from, err := readLayout(args[0])
		if err != nil {
			return err
		}
		to, err := readLayout(args[1])
		if err != nil {
			return err
		}
		m, err := judge.Relay(from, to, wide/bits)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(p.out).Encode(m)
		}
		t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "elements\t%d, in %s that are one in both memories\nmoves\t%d\n", m.Elements, counted(m.Runs, "run"), m.Moves)
		for _, w := range m.ByWidth {
			fmt.Fprintf(t, "\t%d of %s\n", w.Moves, counted(w.Elements, "element"))
		}
		fmt.Fprintf(t, "everywhere\tvectors of %s\n", counted(m.Uniform, "element"))
		return t.Flush()
	}
	return c
}

func (p *program) verdictCommand() *cobra.Command {
	var find int
	var seed uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "verdict OPERATION A [B]",
		Short: "Judge an operation, and the published rules for it",
		Long: `Verdict gives the exact layout of an operation, or the first coordinate for
which there is none, and what the published rules of NVIDIA's pycute and cutegen
give. It exits with 1 when there is no layout.

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
	c.Flags().Uint64Var(&seed, "seed", 1, "where the random tries begin")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of the text")
	c.RunE = func(c *cobra.Command, args []string) error {
		if find > 0 {
			list, err := judge.FindFaults(c.Context(), seed, find)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.out).Encode(list)
			}
			for _, f := range list {
				fmt.Fprintf(p.out, "%s %s, %s\n%s\n", f.Rules, f.Op, f.Kind, f.Verdict)
			}
			return nil
		}
		op := args[0]
		if !slices.Contains(judge.Ops, op) {
			return usagef(c, "no operation %q; there are %s", op, strings.Join(judge.Ops, ", "))
		}
		one := slices.Contains([]string{"coalesce", "left_inverse", "right_inverse"}, op)
		if one != (len(args) == 2) {
			return usagef(c, "%s takes %s", op, map[bool]string{true: "one layout", false: "two arguments"}[one])
		}
		a, err := readPlain(args[1])
		if err != nil {
			return err
		}
		var b layout.Layout
		n := 0
		switch {
		case one:
		case op == "complement" || op == "product_by":
			if n, err = strconv.Atoi(args[2]); err != nil {
				return usagef(c, "%s takes a layout and a number, not %q", op, args[2])
			}
		default:
			if b, err = readPlain(args[2]); err != nil {
				return err
			}
		}
		v, err := judge.Judge(op, a, b, n)
		if err != nil {
			return err
		}
		if asJSON {
			err = json.NewEncoder(p.out).Encode(v)
		} else {
			fmt.Fprint(p.out, v)
		}
		if err == nil && v.Exact == nil {
			err = failures{}
		}
		return err
	}
	return c
}
