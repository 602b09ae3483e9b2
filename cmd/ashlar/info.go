package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/picture"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/spf13/cobra"
)

func (p *program) infoCommand() *cobra.Command {
	var f infoFlags
	c := &cobra.Command{
		Use:   "info FILE...",
		Short: "Print the contents of files, from their headers",
		Long: `Info prints the names, element types, shapes and sizes of the arrays in npy, npz,
safetensors, GGUF, PyTorch, Zarr and pb files and of pictures. Of an ONNX model it
prints the inputs, outputs, weights, parameters and operators. Bytes of weights are
used in place or copied. Parameters include the tensors in Constant nodes. Parts that
this program can't run are listed, also in graphs inside nodes. Elements aren't read,
but for small weights that shapes may depend on.

A model that can be run has the cost of a run, if its inputs have sizes or --shape
gives them. FLOPs count a product that is added as two. Memory is the most that
results and scratch take at one time, with as many threads as there are. A plus
sign follows a sum that lacks something: operators without a rule, nodes in loops,
and nodes in branches that may not be taken. -i gives the value of an input on
which sizes or branches depend. The documentation of onnx.Cost has the rules.

With --json each file is an object on a line: file, kind, bytes, and arrays (name,
dtype, shape, bytes), or of a model all that the text has, and each node.

--digest prints the SHA-256 of each tensor instead, with its type, shape and name.
It is that of tensor.Digest: the same for equal elements in any layout and format.
A model's own line covers its graph and weights, as receipts have it.

--plan lists the steps that a session makes of the nodes of a model. A step has the
nodes that are one, the way it runs (constant, view, planned, plain or branch), and
its instructions. The documentation of onnx.Session.Steps says more. Each result has
its type, its layout or shape, and its bytes. It also has its place in the memory
that results have in common, or the value that it is a part of. Lines after the steps say
which results lie channels last, by regions and their costs in moved elements, and why
convolutions stay in planes. The variable ASHLAR_PASSES leaves
passes out: all, none, or names as in -follow,-join; an unknown one lists them.
With check, runs are compared with runs without passes. --integers lists the steps
of ashlar run --integers, and says of each whether it runs on integers. A last line
has the share of the operations of Conv, Gemm and MatMul that do.

--svg draws the graph of a model, with --plan the steps in place of the nodes. - is
standard output, and then the text is left out. A file that fails doesn't end the
others, but makes the exit status 1.` + zarrHelp,
		Example: `  ashlar info testdata/digits.onnx
  ashlar info testdata/digits.onnx --shape image=8x1x8x8
  ashlar info model.onnx --weights
  ashlar info model.onnx -i rate=rate.npy
  ashlar info testdata/digits.onnx --svg digits.svg
  ashlar info testdata/digits.onnx --shape image=1x1x8x8 --plan
  ashlar info testdata/digits.onnx --shape image=1x1x8x8 --plan --svg steps.svg
  ashlar info s3://bucket/era5.zarr --cf
  ashlar info --digest testdata/digits-test.npy
  ashlar info --json weights.npz testdata/*.png`,
		Args: arguments(1, -1, "at least one file"),
	}
	c.Flags().BoolVar(&f.weights, "weights", false, "list each weight of a model")
	c.Flags().StringArrayVar(&f.shapes, "shape", nil, "the sizes of an input of a model: `name=1x3x224x224`")
	c.Flags().StringArrayVarP(&f.inputs, "input", "i", nil, "the value of an input, on which sizes or branches may depend: `name=file`")
	c.Flags().StringVar(&f.picture, "svg", "", "write the picture of a model's graph to `FILE`")
	c.Flags().BoolVar(&f.plan, "plan", false, "list the steps of a prepared run of a model")
	c.Flags().BoolVar(&f.integers, "integers", false, "with --plan: of a run on integers, as ashlar run --integers makes it")
	c.Flags().BoolVar(&f.digest, "digest", false, "print the SHA-256 of each tensor instead")
	c.Flags().BoolVar(&f.json, "json", false, "print a line of JSON for each file instead")
	p.cfFlag(c)
	p.mxFlag(c)
	p.quietFlag(c, "text beside a picture")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.picture != "" && len(args) != 1 {
			return usagef(c, "--svg draws one model")
		}
		if f.integers && !f.plan {
			return usagef(c, "--integers is about the steps of a run: give --plan")
		}
		if f.digest && (f.json || f.picture != "") {
			return usagef(c, "--digest prints lines of its own: leave --json and --svg out")
		}
		if f.picture == "-" && f.json {
			return usagef(c, "--json and --svg - both want standard output")
		}
		if c.Flags().Changed("svg") && f.picture != "-" {
			if err := p.endsIn(".svg", "svg", f.picture); err != nil {
				return err
			}
		}
		var failed failures
		for _, arg := range args {
			s, err := p.open(arg)
			if err == nil && f.picture != "" {
				if !s.isModel() {
					return usagef(c, "--svg draws a model; %s is none", arg)
				}
				if err = p.drawModel(s, &f); err != nil || f.picture == "-" || p.quiet {
					return err
				}
			}
			if err == nil && s.array != "" {
				err = fmt.Errorf("%s: info is about whole files; ashlar show %s prints one array", arg, arg)
			} else if err == nil {
				err = p.describe(s, &f)
			}
			if err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) > 0 {
			return failed
		}
		return nil
	}
	return c
}

func (p *program) describe(s *source, f *infoFlags) error {
	if (f.shapes != nil || f.inputs != nil || f.plan) && !s.isModel() {
		return p.usagef("--shape, -i and --plan are about models; %s is none", s.name)
	}
	if f.digest {
		return p.printDigests(s)
	}
	if f.json {
		return p.describeJSON(s, f)
	}
	switch {
	case s.isModel():
		return p.describeModel(s, f)
	case s.several():
		return p.describeArrays(s)
	}
	return p.describeOne(s)
}

// title is the first line about a file, with an empty one between files.
func (p *program) title(s *source, form string, args ...any) {
	if p.titled {
		fmt.Fprintln(p.out)
	}
	p.titled = true
	size := ""
	if s.Path != "" && s.Size > 0 {
		size = ", " + amount(s.Size)
	}
	fmt.Fprintf(p.out, "%s: %s%s\n", p.bold(label(s.name)), fmt.Sprintf(form, args...), size)
}

// describeOne describes a file of one array.
func (p *program) describeOne(s *source) error {
	f, i, err := p.headerOf(s)
	if err != nil {
		return err
	}
	if s.is("pb") {
		p.title(s, "%s, %v", f.About(), i)
		return nil
	}
	p.title(s, "%s", f.About())
	if s.isPicture() || s.is("wav") {
		fmt.Fprintf(p.out, "  %v\n", i)
		return nil
	}
	fmt.Fprintf(p.out, "  %v, %s\n", i, amount(i.Bytes))
	if have := s.Size - i.Offset; s.Path != "" && have < i.Bytes {
		return fmt.Errorf("%s: the file ends after %d of the %d bytes of elements that its header declares", s.name, have, i.Bytes)
	}
	return nil
}

func (p *program) describeArrays(s *source) error {
	f, err := p.file(s)
	if err != nil {
		return err
	}
	names := f.Names()
	p.title(s, "%s, %s", f.About(), counted(len(names), "array"))
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	const mostFailures = 100 // an index can name millions of tensors that aren't there
	var failed failures
	listed := 0
	for _, name := range names {
		i, err := f.Info(name)
		if len(failed) == mostFailures {
			return append(failed, fmt.Errorf("%s: more arrays can't be read; the rest isn't listed", s.name))
		}
		if err != nil {
			failed = append(failed, s.in(err))
			continue
		}
		if listed++; listed%aligned == 0 {
			w.Flush()
		}
		text := i.String()
		if i.Unfinished != "" {
			text += ", unfinished: " + label(i.Unfinished)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", label(name), text, amount(i.Bytes))
	}
	w.Flush()
	if f, ok := f.(interface{ Metadata() map[string]string }); ok {
		meta := f.Metadata()
		for _, k := range slices.Sorted(maps.Keys(meta)) {
			if strings.HasPrefix(k, safetensors.PackKey) {
				continue // the tensor's line says it
			}
			fmt.Fprintf(p.out, "  %s: %s\n", label(k), oneLine(meta[k], 500))
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// aligned is how many rows have their columns in line; all of them are held until then.
const aligned = 4096

func (p *program) describeModel(s *source, f *infoFlags) error {
	m, err := p.model(s)
	if err != nil {
		return err
	}
	sizes, err := p.sizes(s, m, f)
	if err != nil {
		return err
	}
	var opsets []string
	for i, o := range m.Opsets {
		if i == 100 {
			opsets = append(opsets, fmt.Sprintf("%d more", len(m.Opsets)-i))
			break
		}
		if o.Domain == "" || o.Domain == "ai.onnx" {
			opsets = append(opsets, fmt.Sprintf("opset %d", o.Version))
		} else {
			opsets = append(opsets, fmt.Sprintf("opset %d of %s", o.Version, label(o.Domain)))
		}
	}
	for _, o := range m.AssumedOpsets() {
		opsets = append(opsets, fmt.Sprintf("opset %d of %s, which isn't imported", o.Version, o.Domain))
	}
	p.title(s, "ONNX, %s, IR version %d", cmp.Or(strings.Join(opsets, ", "), "no opset"), m.IR)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(head, text string) { fmt.Fprintf(w, "  %s\t%s\n", head, text) }
	if m.Producer != "" {
		row("producer", label(strings.TrimSpace(m.Producer+" "+m.ProducerVersion)))
	}
	if m.Doc != "" {
		row("about", oneLine(m.Doc, 500))
	}
	for i, e := range m.Metadata {
		if row(label(e.Key), oneLine(e.Value, 500)); i%aligned == aligned-1 {
			w.Flush()
		}
	}
	cost, err := costOf(s, m, sizes)
	if m.Graph != nil {
		p.describeGraph(m, row, f.weights)
		p.describeCost(cost, row)
	}
	w.Flush()
	var missing *onnx.UnsupportedError
	if !errors.As(err, &missing) {
		if err != nil || !f.plan {
			return err
		}
		steps, err := p.stepsOf(s, m, sizes, f)
		if err != nil {
			return err
		}
		if p.describePlan(steps); f.integers {
			on, all := quantize.Share(steps, cost.Cost)
			fmt.Fprintf(p.out, "\nintegers  %s of the operations of Conv, Gemm and MatMul\n", percent(on, all))
		}
		return nil
	}
	fmt.Fprint(p.out, "  ")
	p.printMissing(unsupported(missing), "  ")
	return nil
}

// describeFiles says which other files the weights of a model lie in.
func describeFiles(m *onnx.Model, row func(head, text string)) {
	const most = 20
	counts := make(map[string]int)
	for g := range m.Graph.All() {
		for i := range g.Initializers {
			if x := g.Initializers[i].External; x != nil {
				counts[x.Location]++
			}
		}
	}
	for k, name := range slices.Sorted(maps.Keys(counts)) {
		if k == most {
			row("", fmt.Sprintf("and %d more files", len(counts)-most))
			return
		}
		row("", fmt.Sprintf("%d in the file %s", counts[name], label(name)))
	}
}

// describeGraph writes a row for each thing about a graph.
func (p *program) describeGraph(m *onnx.Model, row func(head, text string), all bool) {
	for _, v := range m.Inputs() {
		row("input", label(v.String()))
	}
	for _, v := range m.Graph.Outputs {
		row("output", label(v.String()))
	}
	inPlace, copied := m.Weights()
	weights, nodes := 0, 0
	for g := range m.Graph.All() {
		weights += len(g.Initializers)
		nodes += len(g.Nodes)
	}
	row("weights", fmt.Sprintf("%d, %s used in place, %s copied", weights, amount(inPlace), amount(copied)))
	if n, bytes := inConstants(m); n > 0 {
		row("", fmt.Sprintf("%d in Constant nodes, %s", n, amount(bytes)))
	}
	row("parameters", grouped(parameters(m)))
	describeFiles(m, row)
	if all {
		for g := range m.Graph.All() {
			p.describeWeights(g, row)
		}
	}
	text := fmt.Sprintf("%d nodes", nodes)
	if inside := nodes - len(m.Graph.Nodes); inside > 0 {
		text += fmt.Sprintf(", %d of them in graphs inside nodes", inside)
	}
	row("operators", text)
	for _, o := range operatorsOf(m) {
		row("", fmt.Sprintf("%d %s", o.Nodes, label(o.Op)))
	}
}

// describeWeights writes a row for each initializer of a graph, and each tensor of a Constant node.
func (p *program) describeWeights(g *onnx.Graph, row func(head, text string)) {
	describe := func(name string, t *onnx.TensorProto) {
		size := ""
		if d, ok := t.Type.DType(); ok {
			if n, err := t.Len(); err == nil {
				size = fmt.Sprintf(", %s", amount(formats.Bytes(d, n)))
			}
		}
		row("", label(name)+" "+t.String()+size)
	}
	for i := range g.Initializers {
		describe(g.Initializers[i].Name, &g.Initializers[i])
	}
	for name, t := range constants(g) {
		describe(name, t)
	}
}

// drawModel writes the picture of a model's graph to a file, or with --plan that of the steps of a run.
func (p *program) drawModel(s *source, f *infoFlags) error {
	m, err := p.model(s)
	if err != nil {
		return err
	}
	if m.Graph == nil {
		return fmt.Errorf("%s: the model has no graph", s.name)
	}
	title := filepath.Base(s.name)
	if !f.plan {
		return p.writeTo(f.picture, picture.Of(title, m, nil).WriteSVG)
	}
	sizes, err := p.sizes(s, m, f)
	if err != nil {
		return err
	}
	steps, err := p.stepsOf(s, m, sizes, f)
	if err != nil {
		return err
	}
	return p.writeTo(f.picture, picture.OfSteps(title+": the steps of a run", m, sizes, steps).WriteSVG)
}
