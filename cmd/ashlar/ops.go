package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/spf13/cobra"
)

func (p *program) opsCommand() *cobra.Command {
	var markdown bool
	var of string
	c := &cobra.Command{
		Use:   "ops",
		Short: "Print the operators, the element types they take, and their kernels",
		Long: `Ops prints every operator that a graph can name, and the opsets of ONNX that define
it. A column for each element type of its deciding operand says the kernel:

  go    plain Go
  avx   also AVX2 and AVX-512
  512   also AVX-512
  neon  also NEON, on arm64
  -     not defined; --dtype says why

With --dtype there is a line for each operator instead: its kernel for that type, or
the reason why it is not defined. The results are the same bits with every kernel.`,
		Example: `  ashlar ops
  ashlar ops --dtype bf16
  ashlar ops --md > operators.md`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case markdown && of != "":
				return p.usagef("--md prints all element types; leave out --dtype")
			case markdown:
				p.opsPage()
				return nil
			case of == "":
				return p.opsGrid()
			}
			d, err := dtype.Parse(of)
			if err != nil {
				return p.usagef("--dtype: %v", err)
			}
			return p.opsOf(d)
		},
	}
	c.Flags().BoolVar(&markdown, "md", false, "print a page of Markdown")
	c.Flags().StringVar(&of, "dtype", "", "one element type")
	return c
}

func opsets(o *op.Op) string {
	v := make([]string, len(o.Versions()))
	for i, n := range o.Versions() {
		v[i] = fmt.Sprint(n)
	}
	return strings.Join(v, ",")
}

func (p *program) opsGrid() error {
	w := tabwriter.NewWriter(p.out, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "operator\topsets")
	for _, d := range dtype.All() {
		fmt.Fprint(w, "\t", d.Short())
	}
	fmt.Fprintln(w)
	for _, o := range all.Operators() {
		fmt.Fprint(w, o.Name(), "\t", opsets(o))
		for _, d := range dtype.All() {
			fmt.Fprint(w, "\t", cell(o, d))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func (p *program) opsOf(d dtype.DType) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, o := range all.Operators() {
		if why := plan.Why((*plan.Op)(o), d); why != "" {
			fmt.Fprintf(w, "%s\t-\t%s\n", o.Name(), why)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", o.Name(), cell(o, d), strings.Join(append([]string{"go"}, plan.Kernels((*plan.Op)(o), d)...), ", "))
	}
	return w.Flush()
}

// opsPage prints docs/operators.md.
func (p *program) opsPage() {
	ops := all.Operators()
	filled := 0
	for _, o := range ops {
		for _, d := range dtype.All() {
			if o.Supports(d) {
				filled++
			}
		}
	}
	fmt.Fprintf(p.out, `# Operators

*Reference.* The element types of each operator, and the kernels that compute them: %d operators, %d of %d cells. `+"`ashlar ops --md`"+` prints this page from the tables of the operators. `+"`ashlar ops --dtype T`"+` says why one isn't defined for a type.

A column is the element type of the deciding operand, with a word for the kernels. Where types of a column differ, each word follows its types. The bits are the same in all of them. The types of the last column are stored, packed or small: no arithmetic has them.

- an empty cell: the operator isn't defined for the type
- *go*: plain Go
- *avx*: also AVX2 and AVX-512 on amd64, and NEON on arm64
- *512*: also AVX-512 on amd64, and NEON on arm64
- *amd*: also AVX-512 on amd64

A test notes which kernels run for each operator and type. Kernels that convert elements count in *Cast* alone, kernels that copy or sort them nowhere.

Opsets are those of ONNX that define the operator. An operator without one is NumPy's, or an extension.

`, len(ops), filled, len(ops)*len(dtype.All()))
	for _, s := range purposes {
		fmt.Fprintf(p.out, "- [%s](#%s)\n", s.title, strings.ReplaceAll(strings.ToLower(s.title), " ", "-"))
	}
	fmt.Fprint(p.out, "- [Why a cell is empty](#why-a-cell-is-empty)\n")
	columns := typeGroups
	columns = append(columns[:len(columns):len(columns)], typeGroup{"stored", storedTypes()})
	for _, s := range purposes {
		fmt.Fprintf(p.out, "\n## %s\n\n| operator | opsets |", s.title)
		for _, g := range columns {
			fmt.Fprintf(p.out, " %s |", g.title)
		}
		fmt.Fprint(p.out, "\n|---|---|", strings.Repeat("---|", len(columns)), "\n")
		for _, name := range strings.Fields(s.names) {
			for _, o := range ops {
				if o.Name() != name {
					continue
				}
				fmt.Fprintf(p.out, "| [%s](%s) | %s |", name, fileOf(o), opsets(o))
				for _, g := range columns {
					fmt.Fprint(p.out, strings.TrimSuffix(" "+groupCell(o, g.of), " "), " |")
				}
				fmt.Fprintln(p.out)
			}
		}
	}
	fmt.Fprint(p.out, "\n## Why a cell is empty\n\n| reason | operators | types |\n|---|---|---|\n")
	type group struct {
		why   string
		names []string
		types []string
	}
	var groups []*group
	for _, o := range ops {
		for _, g := range reasonsOf(o) {
			i := slices.IndexFunc(groups, func(h *group) bool { return h.why == g.why && slices.Equal(h.types, g.types) })
			if i < 0 {
				groups = append(groups, &group{why: g.why, types: g.types})
				i = len(groups) - 1
			}
			groups[i].names = append(groups[i].names, o.Name())
		}
	}
	for _, g := range groups {
		fmt.Fprintf(p.out, "| %s | %s | %s |\n", g.why, strings.Join(g.names, ", "), strings.Join(g.types, ", "))
	}
}

type reason struct {
	why   string
	types []string
}

// reasonsOf returns why an operator's cells are empty, and which.
func reasonsOf(o *op.Op) (rs []reason) {
	for _, d := range dtype.All() {
		why := plan.Why((*plan.Op)(o), d)
		if why == "" {
			continue
		}
		i := slices.IndexFunc(rs, func(r reason) bool { return r.why == why })
		if i < 0 {
			rs = append(rs, reason{why: why})
			i = len(rs) - 1
		}
		rs[i].types = append(rs[i].types, d.Short())
	}
	return rs
}
