package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/quantize"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// quantizeFlags are the flags of quantize.
type quantizeFlags struct {
	run         runFlags
	out         string
	folder      string
	activations string
	ranges      string
	repeat      int
	dynamic     bool
	bits, block int
	json        bool
	o           quantize.Options
}

func (p *program) quantizeCommand() *cobra.Command {
	var f quantizeFlags
	c := &cobra.Command{
		Use:   "quantize MODEL -o OUT --calibrate FOLDER",
		Short: "Make a model of integers from a model of float32",
		Long: `Quantize writes a model whose Conv, Gemm and MatMul nodes run on integers of 8 bits:
ashlar run --integers and onnx.NewIntegerSession run it so, and ONNX Runtime does.
Between them, QuantizeLinear and DequantizeLinear nodes have the scales.

Samples. --calibrate names a folder. Each file in it is the input of a run, as ashlar
run takes it: npy, npz, a picture or WAV, with the same flags for pictures and sound.
-i NAME=FILE gives an input that is the same in all runs. Samples should be like the
inputs that the model will see. The sizes of a sample are free where the model's are.

Ranges. --range says which numbers of a result have integers of their own: all from
the smallest to the largest (extremes), all but the outermost (percentile, with
--percentile), or as many as give the least squared error (error).

Weights are int8 with a scale for each output channel. BatchNormalization, and
constants for each channel, become part of the Conv before them. --keep leaves a node
in float32, and --keep-error all nodes whose own error is larger. That is the root of the
sum of squared distances over that of squared results, where the node alone is
quantized. --layers prints it for each node.

--dynamic makes MatMulInteger of MatMul and Gemm, with the range of activations in
each run, as suits encoders. --bits 4 or 8 makes MatMulNBits of them, which keeps
weights in blocks with a scale each, and activations in float32. Samples aren't needed
for these two, and the report has no distances without them.

The report has the share of operations on integers, the size, and the time of a run.
It has the distance of each output from the model of floats over all samples. Samples
are read one at a time, and several times. With --json it is one object. OUT is there
in full or not at all.`,
		Example: `  ashlar quantize testdata/digits.onnx -o small.onnx --calibrate pictures
  ashlar quantize model.onnx -o small.onnx --calibrate photos --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  ashlar quantize model.onnx -o small.onnx --calibrate inputs --range error --layers
  ashlar quantize model.onnx -o small.onnx --calibrate inputs --keep-error 0.05 --keep last
  ashlar quantize encoder.onnx -o small.onnx --dynamic
  ashlar quantize encoder.onnx -o small.onnx --bits 4 --block 32`,
		Args: arguments(1, 1, "a model"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return []string{"onnx"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.out, "output", "o", "", "`file` of the model of integers")
	flags.StringVar(&f.folder, "calibrate", "", "`folder` of samples")
	flags.StringArrayVarP(&f.run.inputs, "input", "i", nil, "give an input that is the same in all runs: `name=file`")
	flags.StringVar(&f.activations, "activations", "uint8", "type of activations: uint8 or int8")
	flags.StringVar(&f.ranges, "range", "extremes", "numbers with integers of their own: extremes, percentile or error")
	flags.Float64Var(&f.o.Percentile, "percentile", 99.99, "percentage of the numbers that --range percentile holds")
	flags.StringArrayVar(&f.o.Keep, "keep", nil, "leave the node of this `name`, or with a result of this name, in float32")
	flags.Float64Var(&f.o.KeepError, "keep-error", 0, "leave nodes with a larger error in float32 (default: none)")
	flags.BoolVar(&f.o.Layers, "layers", false, "print the distance of each node that is quantized alone")
	flags.BoolVar(&f.dynamic, "dynamic", false, "take the ranges of activations in each run, of MatMul and Gemm")
	flags.IntVar(&f.bits, "bits", 0, "keep the weights of MatMul and Gemm in blocks of numbers of `N` bits: 4 or 8")
	flags.IntVar(&f.block, "block", 32, "weights in a block of --bits: a power of two from 16 on")
	flags.IntVar(&f.repeat, "repeat", 10, "time `N` runs of each model on the first sample; 0 is none")
	flags.BoolVar(&f.json, "json", false, "print the report as one JSON object")
	f.run.pics.register(c)
	p.soundFlags(c)
	flags.Var(&p.limit, "max-memory", "refuse a run that needs more memory for weights and results: 2GiB, 500MB or none (default 4GiB)")
	flags.IntVar(&f.run.threads, "threads", 0, "compute with `N` threads (default: all)")
	p.quietFlag(c, "report")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(p, c); err != nil {
			return err
		}
		return p.quantize(c.Context(), &f, args[0])
	}
	return c
}

// check refuses flags that make no sense.
func (f *quantizeFlags) check(p *program, c *cobra.Command) error {
	switch {
	case f.out == "":
		return usagef(c, "-o says the file of the model of integers: give it")
	case f.dynamic && f.bits != 0:
		return usagef(c, "--dynamic and --bits are two forms: leave one out")
	case c.Flags().Changed("bits") && f.bits != 4 && f.bits != 8:
		return usagef(c, "--bits can't be %d; want 4 or 8", f.bits)
	case c.Flags().Changed("block") && (f.bits == 0 || f.block < 16 || f.block > 1<<16 || f.block&(f.block-1) != 0):
		return usagef(c, "--block is about --bits, and wants a power of two from 16 to 65536")
	case f.folder == "" && !f.dynamic && f.bits == 0:
		return usagef(c, "--calibrate says the folder of samples: give it; --dynamic and --bits need none")
	case f.repeat < 0:
		return usagef(c, "--repeat can't be %d", f.repeat)
	case f.run.threads < 0 || f.run.threads > mostThreads:
		return usagef(c, "--threads can't be %d; want 0 to %d", f.run.threads, mostThreads)
	case !(f.o.Percentile > 50 && f.o.Percentile <= 100):
		return usagef(c, "--percentile can't be %v; want more than 50, and 100 at most", f.o.Percentile)
	case !(f.o.KeepError >= 0):
		return usagef(c, "--keep-error can't be %v", f.o.KeepError)
	case c.Flags().Changed("percentile") && f.ranges != "percentile":
		return usagef(c, "--percentile is about --range percentile")
	}
	for _, name := range []string{"activations", "range", "percentile", "keep-error", "layers"} {
		if (f.dynamic || f.bits != 0) && c.Flags().Changed(name) {
			return usagef(c, "--%s is about ranges by samples, which --dynamic and --bits don't take: leave it out", name)
		}
	}
	switch f.activations {
	case "uint8":
		f.o.Activations = dtype.Uint8
	case "int8":
		f.o.Activations = dtype.Int8
	default:
		return usagef(c, "--activations %s: want uint8 or int8", f.activations)
	}
	found := false
	for r := quantize.Extremes; r <= quantize.LeastError; r++ {
		if r.String() == f.ranges {
			f.o.Range, found = r, true
		}
	}
	if !found {
		return usagef(c, "--range %s: want extremes, percentile or error", f.ranges)
	}
	if f.out != "-" {
		if err := p.endsIn(".onnx", "output", f.out); err != nil {
			return err
		}
	}
	return f.run.pics.check(p)
}

// quantize writes the model of integers, and reports on it.
func (p *program) quantize(ctx context.Context, f *quantizeFlags, model string) error {
	src, m, err := p.openModel(model)
	if err != nil {
		return err
	}
	if err := folderOf(f.out); err != nil {
		return err
	}
	if own, err := os.Stat(model); err == nil {
		if out, err := os.Stat(f.out); err == nil && os.SameFile(own, out) {
			return fmt.Errorf("%s: it is the model of floats, which would be gone: give -o another file", f.out)
		}
	}
	var samples quantize.Samples
	if f.folder != "" {
		if _, err := os.Stat(f.folder); err != nil {
			return fmt.Errorf("%s: %w", f.folder, disk.Bare(err))
		}
		d, err := p.foldersOf(m, &f.run, []string{f.folder})
		if err != nil {
			return err
		}
		if d == nil {
			return fmt.Errorf("%s: --calibrate wants a folder of samples", f.folder)
		}
		samples = p.samples(src, m, d, &f.run)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	f.o.Run = onnx.Options{MaxMemory: int64(p.limit), Threads: f.run.threads}
	var q *onnx.Model
	var r *quantize.Report
	switch {
	case f.dynamic:
		q, r, err = quantize.Dynamic(m, &f.o)
	case f.bits != 0:
		q, r, err = quantize.Blocks(m, f.bits, f.block, &f.o)
	default:
		q, r, err = quantize.Static(ctx, m, samples, &f.o)
	}
	if err != nil {
		return p.calibrating(src, err)
	}
	if err := (&conversion{p: p, out: f.out}).writeModel(q, inFiles(m)); err != nil {
		return err
	}
	if p.quiet || f.out == "-" {
		return nil
	}
	return p.reportQuantized(ctx, f, src, m, q, samples, r)
}

// calibrating is an error of a run, which names the model unless it names a sample.
func (p *program) calibrating(src *source, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %w", src.in(err))
	}
	return src.in(err)
}

// samples reads the files of a folder, one at a time.
func (p *program) samples(src *source, m *onnx.Model, d *folders, f *runFlags) quantize.Samples {
	return func(use func(string, map[string]onnx.Value) error) error {
		step, done := p.bar("samples", true)
		defer done()
		for i, file := range d.turns {
			open := len(p.closers)
			files, named := d.inputs(file)
			in, err := p.gather(m, src.name, files, named, &f.pics)
			if err == nil {
				err = use(file, in.given())
			}
			for _, c := range p.closers[open:] {
				c.Close()
			}
			p.closers = p.closers[:open]
			if err != nil {
				return err
			}
			step(i+1, len(d.turns))
		}
		return nil
	}
}

// A quantizeReport is the output of --json.
type quantizeReport struct {
	Output     string            `json:"output"`
	Products   int               `json:"products"` // Conv, Gemm and MatMul nodes; Gemm and MatMul with --dynamic and --bits
	Quantized  int               `json:"quantized"`
	Samples    int               `json:"samples"`
	Bytes      int64             `json:"bytes"`
	Floats     int64             `json:"bytes_of_floats"`
	Operations *operationsReport `json:"operations,omitempty"` // of a run on the first sample
	Seconds    *secondsReport    `json:"seconds,omitempty"`    // of such a run, the median of several
	Outputs    []distanceReport  `json:"outputs,omitempty"`
	Layers     []layerReport     `json:"layers,omitempty"`
	Kept       []string          `json:"float32"` // why nodes stay
}

type operationsReport struct {
	Integers int64 `json:"integers"`
	All      int64 `json:"all"` // of Conv, Gemm and MatMul
}

type secondsReport struct {
	Integers float64 `json:"integers"`
	Floats   float64 `json:"floats"`
}

// A distanceReport is a quantize.Distance.
type distanceReport struct {
	Name     string `json:"name"`
	Largest  any    `json:"largest"`
	Mean     any    `json:"mean"`
	Relative any    `json:"relative"`
	Same     int    `json:"same"`
	Rows     int    `json:"rows"`
}

type layerReport struct {
	distanceReport
	Op   string `json:"operator"`
	Kept bool   `json:"kept"`
}

func distanceOf(d quantize.Distance, name string) distanceReport {
	return distanceReport{name, jsonFloat(d.Largest), jsonFloat(d.Mean), jsonFloat(d.Error), d.Same, d.Rows}
}

// reportQuantized prints the report.
func (p *program) reportQuantized(ctx context.Context, f *quantizeFlags, src *source, m, q *onnx.Model, samples quantize.Samples, r *quantize.Report) error {
	all := quantizeReport{Output: f.out, Products: r.Products, Quantized: r.Quantized, Samples: r.Samples, Kept: append([]string{}, r.Floats...)}
	for size, m := range map[*int64]*onnx.Model{&all.Floats: m, &all.Bytes: q} {
		b, err := onnx.Encode(m)
		if err != nil {
			return err
		}
		*size = int64(len(b))
	}
	var outputs []quantize.Distance
	if samples != nil {
		err := p.timeQuantized(ctx, f, m, q, samples, &all)
		if err == nil {
			outputs, err = quantize.Compare(ctx, m, q, samples, &f.o.Run)
		}
		if err != nil {
			return p.calibrating(src, err)
		}
	}
	if f.json {
		for _, d := range outputs {
			all.Outputs = append(all.Outputs, distanceOf(d, d.Name))
		}
		for _, l := range r.Layers {
			all.Layers = append(all.Layers, layerReport{distanceOf(l.Distance, l.Name), l.Op, l.Kept})
		}
		return p.printLine(all)
	}
	what, how := "Conv, Gemm and MatMul node", "on integers"
	if f.dynamic || f.bits != 0 {
		what = "Gemm and MatMul node"
	}
	if f.bits != 0 {
		how = fmt.Sprintf("with weights of %d bits", f.bits)
	}
	fmt.Fprintf(p.out, "%s: %d of %s %s", p.bold(label(f.out)), r.Quantized, counted(r.Products, what), how)
	if r.Samples > 0 {
		fmt.Fprintf(p.out, ", by %s", counted(r.Samples, "sample"))
	}
	fmt.Fprintln(p.out)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(head, form string, args ...any) { fmt.Fprintf(w, "  %s\t%s\n", head, fmt.Sprintf(form, args...)) }
	row("size", "%s, of floats %s", amount(all.Bytes), amount(all.Floats))
	if o := all.Operations; o != nil {
		row("operations", "%s of Conv, Gemm and MatMul are on integers", percent(o.Integers, o.All))
	}
	if s := all.Seconds; s != nil {
		row("run", "%s, of floats %s, %.2f times as fast", span(s.Integers), span(s.Floats), s.Floats/s.Integers)
	}
	for _, d := range outputs {
		same := ""
		if d.Rows > 0 {
			same = fmt.Sprintf(", the largest at the same place in %d of %s", d.Same, counted(d.Rows, "row"))
		}
		row("output "+label(d.Name), "largest distance %.3g, mean %.3g, relative %.3g%s", d.Largest, d.Mean, d.Error, same)
	}
	for _, why := range r.Floats {
		row("float32", "%s", label(why))
	}
	w.Flush()
	if f.o.Layers && r.Layers != nil {
		fmt.Fprint(w, "\nnode\toperator\tlargest distance\tmean\trelative\tkept in float32\n")
		for _, l := range r.Layers {
			kept := ""
			if l.Kept {
				kept = "yes"
			}
			fmt.Fprintf(w, "%s\t%s\t%.3g\t%.3g\t%.3g\t%s\n", label(l.Name), l.Op, l.Largest, l.Mean, l.Error, kept)
		}
		w.Flush()
	}
	return nil
}

// errEnough ends a look at samples.
var errEnough = errors.New("enough")

// timeQuantized finds which share of the operations of a run on the first sample is on integers, and how long the run takes.
func (p *program) timeQuantized(ctx context.Context, f *quantizeFlags, m, q *onnx.Model, samples quantize.Samples, all *quantizeReport) error {
	a, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	b, err := onnx.NewIntegerSession(q)
	if err != nil {
		return err
	}
	err = samples(func(_ string, in map[string]onnx.Value) error {
		if f.bits == 0 {
			all.Operations = sampleShare(q, b, in)
		}
		if f.repeat > 0 {
			floats, err := timed(ctx, a, in, f)
			if err != nil {
				return err
			}
			integers, err := timed(ctx, b, in, f)
			if err != nil {
				return err
			}
			all.Seconds = &secondsReport{integers.Seconds(), floats.Seconds()}
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// timed is the median time of runs, without a first one.
func timed(ctx context.Context, s *onnx.Session, in map[string]onnx.Value, f *quantizeFlags) (time.Duration, error) {
	var spent []time.Duration
	for i := range f.repeat + 1 {
		start := time.Now()
		if _, err := s.RunValues(ctx, in, &f.o.Run); err != nil {
			return 0, err
		}
		if i > 0 {
			spent = append(spent, time.Since(start))
		}
	}
	return median(spent), nil
}

// sampleShare counts the operations on integers for the inputs of a run. It is nil where they aren't known.
func sampleShare(m *onnx.Model, s *onnx.Session, in map[string]onnx.Value) *operationsReport {
	sizes := make(map[string]tensor.Any)
	for name, v := range in {
		if v.Kind() != onnx.KindTensor {
			return nil
		}
		sizes[name] = v.Tensor()
	}
	steps, err := s.Steps(sizes)
	if err != nil {
		return nil
	}
	cost, err := m.Cost(sizes)
	if err != nil {
		return nil
	}
	o := new(operationsReport)
	o.Integers, o.All = quantize.Share(steps, cost)
	return o
}
