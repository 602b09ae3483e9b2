package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/draw"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/spf13/cobra"
)

func (p *program) planCommand() *cobra.Command {
	v := &computation{p: p}
	c := &cobra.Command{
		Use:   "plan EXPRESSION -i NAME=FILE",
		Short: "Show the stages, tasks, memory and bytes of a computation, and run nothing",
		Long: `Plan shows the stages of a computation, as ashlar compute would run them, and runs
nothing. A stage makes one array, by tasks that each read parts of arrays and write
chunks; it begins when the stages under after are done. Peak is the most memory of a
task, reads and writes are bytes of elements, of whole chunks and before compression.`,
		Example: `  ashlar plan "mean(x, axis=0)" -i x=testdata/digits-test.npy
  ashlar plan "x.T @ x" -i x=big.zarr --memory 256MiB --svg plan.svg`,
		Args: arguments(1, 1, oneExpression),
	}
	v.flags(c)
	c.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&v.svg, "svg", "", "draw the stages to `FILE`; - is standard output")
	p.quietFlag(c, "table")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if v.json && v.svg == "-" {
			return usagef(c, "--json and --svg - both want standard output")
		}
		v.job.Expr = args[0]
		if err := v.read(c); err != nil {
			return err
		}
		plan, err := v.job.To(c.Context(), zarr.Memory(), "")
		if err != nil {
			return markedExpr(v.memoryAdvice(err))
		}
		if v.svg != "" {
			if err := p.writeTo(v.svg, func(w io.Writer) error { return planGraph(plan, v.job.Expr).WriteSVG(w) }); err != nil || v.svg == "-" {
				return err
			}
		}
		if v.json {
			return p.planJSON(plan)
		}
		if !p.quiet {
			p.planTable(plan)
		}
		return nil
	}
	return c
}

// planTable prints the stages.
func (p *program) planTable(plan *chunk.Plan) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "stage\tmakes\tarray\tchunks\ttasks\tpeak\treads\twrites\tafter")
	var read, written int64
	for i, s := range plan.Stages() {
		after := cmp.Or(strings.Trim(strings.ReplaceAll(fmt.Sprint(s.After), " ", ", "), "[]"), "-")
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", i, label(s.Name), formats.Typed(s.DType.String(), s.Shape), formats.Typed("", s.Chunks),
			s.Tasks, amount(s.Peak), amount(s.Read), amount(s.Write), after)
		read, written = read+s.Read, written+s.Write
	}
	fmt.Fprintf(w, "all\t\t\t\t%d\t%s\t%s\t%s\t-\n", plan.Tasks(), amount(plan.Peak()), amount(read), amount(written))
	w.Flush()
}

// planStage is a stage as --json prints it.
type planStage struct {
	Makes  string `json:"makes"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Chunks []int  `json:"chunks"`
	Region []int  `json:"region"` // of a task
	Tasks  int    `json:"tasks"`
	Peak   int64  `json:"peak_bytes"`
	Read   int64  `json:"read_bytes"`
	Write  int64  `json:"written_bytes"`
	After  []int  `json:"after"`
}

func (p *program) planJSON(plan *chunk.Plan) error {
	out := struct {
		Tasks  int         `json:"tasks"`
		Peak   int64       `json:"peak_bytes"`
		Stages []planStage `json:"stages"`
	}{Tasks: plan.Tasks(), Peak: plan.Peak()}
	for _, s := range plan.Stages() {
		out.Stages = append(out.Stages, planStage{s.Name, s.DType.String(), list(s.Shape), list(s.Chunks), list(s.Region), s.Tasks, s.Peak, s.Read, s.Write, list(s.After)})
	}
	return json.NewEncoder(p.out).Encode(&out)
}

// planGraph draws the stages, each with an arrow from those it comes after.
func planGraph(plan *chunk.Plan, expr string) *draw.Graph {
	g := &draw.Graph{Title: oneLine(expr, 60)}
	for i, s := range plan.Stages() {
		group := 0
		if s.Target {
			group = 1
		}
		g.Nodes = append(g.Nodes, draw.Node{Label: fmt.Sprintf("%d %s %s", i, label(s.Name), formats.Typed(s.DType.String(), s.Shape)),
			Detail: counted(s.Tasks, "task") + ", " + amount(s.Peak) + " each", Group: group})
		for _, a := range s.After {
			g.Edges = append(g.Edges, draw.Edge{From: a, To: i, Label: amount(plan.Stages()[a].Write)})
		}
	}
	return g
}
