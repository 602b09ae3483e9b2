package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// mostThreads is more than machines have; the time and memory that Go takes for them grow with their number.
const mostThreads = 1024

func (p *program) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run MODEL [INPUT|FOLDER...]",
		Short: "Run an ONNX model on tensors or pictures",
		Long: `Run runs an ONNX model and prints its outputs.

Inputs go to the inputs of the graph in order, or by name with -i. MODEL or one
of the inputs may be -, standard input. An input is one of:

  x.npy                 a tensor
  x.pb                  a tensor of ONNX, as in the folders beside its models
  x.npz#NAME            an array of an npz or safetensors file
  x.npz                 all its arrays, each to the input of its name
  x.png, x.jpg          a picture; several for one input make a batch
  x.wav                 a recording
  x.json                strings, or lists of them by the input's shape; or a map
  FOLDER                each file in it, one run after the other

Give the tensors of a sequence one by one: -i NAME=FILE for each. The tensors of an
output NAME that is a sequence are NAME.0, NAME.1 and so on. An input of an
optional type may be left out.

Pictures. A picture is resized to the height and width of the input, whatever its
proportions. Where the input leaves them open, --size gives them. --bgr turns the
order of red, green and blue around, before --mean and --std. It becomes grey, RGB or RGBA by the input's channels, an axis of 1, 3
or 4 before or after height and width. Where both could be, --layout decides. For
an input of floats a sample v of 0 to 255 becomes (v * scale - mean) / std. The
scale is 1/255 unless --scale is given. An input of uint8 gets v. A transparent picture
is laid on white, or on --background, unless the input has four channels.

Sound. --sound says which numbers a recording becomes. They are its samples, from -1
to 1, if it names a rate, or mel rows by the convention that it names:
` + conventions() + `.
Without the flag, the model's metadata "sound" says it. A file of another rate, or of
several channels, needs --resample. Axes of 1 come before, as many as the input has.

Answers. An output of one row of floats is taken for scores of classes. Run prints
the best class, and a bar for each of the --top best: probabilities if they sum to
1, else scores as the model gave them. Several rows get a line each. They get bars
with --top, if they are probabilities or come from pictures, or --top or --labels
is given. The names of classes come from --labels, one a line. Without it they
come from the file beside MODEL with its name and the end .txt, if that has a line
for each class. Other outputs are printed as tensors, shortened beyond 1000
elements. Strings and maps are printed as JSON.

Files. -o NAME=FILE writes one output, -o FILE all. FILE ends in .npy, for one
tensor, or .npz, or is -, standard output, and nothing else is printed there. An
output that goes to a file isn't printed, and --quiet prints none. A file is there
in full or not at all. --all writes the results of all nodes of the
model's graph to an npz file, under their names. Sequences, strings and maps
aren't among them.

Folders. The files of FOLDER, or of -i NAME=FOLDER, are taken in the order of
their names. Other inputs are the same in all runs. Hidden files, and folders
inside, are passed by. Each run prints a line of JSON when it ends: file, outputs
and seconds, or error. A file that fails doesn't end the others, but makes the
exit status 1.

Times. --repeat runs the model several times and prints the times. --profile
prints the time by operator and by node, and how large the results are. Of several
runs it is the mean without the first. --trace writes the last run for the viewers
of Chrome's trace format. Nodes that are one step share the line of its first node,
and the results between them aren't there: ashlar info --plan lists the steps.

Receipts. --receipt writes the digests of the model, of its inputs and of its outputs
to a file. --receipt-nodes adds the results of all nodes. ashlar verify runs the
model again and compares; ashlar diff compares two receipts.

Fixed point. --fixed rounds every float of the model and its inputs once to that
format. Integers stay, and the outputs are fixed point. Operators that don't take
FP8x23 or FP16x16 compute in float64 and round once. A number that the format has
no room for ends the run. ashlar diff compares with a run in floats.

Integers. --integers runs the operators of a quantized model that stand between
DequantizeLinear and QuantizeLinear nodes on the integers, where the rule of
onnx.NewIntegerSession allows it. Other nodes run as without it. The outputs have
other bits, the same on every processor. A receipt says so, and ashlar verify runs
it so. ashlar info --plan --integers lists the steps. ashlar diff compares the
file of --all with the model.

JSON. --json prints one object: model, inputs, outputs, seconds, memory, and profile
with --profile. An output has name, dtype, shape, the first 10000 values in row-major
order, and the number of values left out. It has the best classes of each row. Memory is in
bytes: weights, used in place or copied; live, the most that results take at one
time; peak of the process, where the system tells. NaN, +Inf and -Inf are strings, complex values
are pairs. A folder's lines have runs, all times, with --repeat.`,
		Example: `  ashlar run testdata/digits.onnx testdata/seven.png
  ashlar run testdata/digits.onnx testdata/*.png
  ashlar run model.onnx pictures/ > answers.jsonl
  ashlar run model.onnx test_data_set_0/input_0.pb
  ashlar run model.onnx -i pixels=photo.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
  ashlar run model.onnx inputs.npz -o scores=scores.npy
  ashlar run model.onnx inputs.npz --all results.npz
  ashlar run model.onnx speech.wav --sound whisper --resample
  ashlar run --repeat 100 --profile testdata/digits.onnx testdata/seven.png
  ashlar run --trace trace.json testdata/digits.onnx testdata/seven.png
  ashlar run --receipt r.json testdata/digits.onnx testdata/seven.png
  ashlar run --fixed FP16x16 testdata/digits.onnx testdata/seven.png
  ashlar run --integers quantized.onnx testdata/seven.png
  convert drawing.svg png:- | ashlar run testdata/digits.onnx - --invert --json`,
		Args: arguments(1, -1, "a model and its inputs"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"onnx"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&f.inputs, "input", "i", nil, "give an input by name: `name=file`")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write an output: `name=file.npy`, or all: file.npz")
	f.pics.register(c)
	p.soundFlags(c)
	flags.IntVar(&f.top, "top", 10, "show the `N` best classes")
	flags.StringVar(&f.labels, "labels", "", "`file` with the names of the classes, one per line")
	flags.BoolVar(&f.json, "json", false, "print one JSON object instead")
	flags.StringVar(&f.fixed, "fixed", "", "run in a fixed-point `format`: FP8x23, FP16x16, FP32x32 or FP64x64")
	flags.StringVar(&f.certificate, "certificate", "", "run only if the certificate in a `file` holds on this machine")
	flags.BoolVar(&f.integers, "integers", false, "run operators between DequantizeLinear and QuantizeLinear nodes on the integers")
	flags.IntVar(&f.repeat, "repeat", 1, "run `N` times")
	flags.BoolVar(&f.profile, "profile", false, "print where the time goes")
	flags.StringVar(&f.trace, "trace", "", "write the nodes of the last run to `file.json`, as Chrome's viewer reads them")
	flags.StringVar(&f.all, "all", "", "write the results of all nodes to `file.npz`")
	flags.StringVar(&f.receipt, "receipt", "", "write a receipt of the last run to `file.json`")
	flags.BoolVar(&f.receiptNodes, "receipt-nodes", false, "add the results of all nodes to the receipt")
	flags.Var(&p.limit, "max-memory", "refuse a run that needs more memory for weights and results: 2GiB, 500MB or none (default 4GiB)")
	flags.IntVar(&f.threads, "threads", 0, "compute with `N` threads (default: all)")
	p.quietFlag(c, "outputs")
	p.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		f.topGiven, f.fixedGiven = c.Flags().Changed("top"), c.Flags().Changed("fixed")
		switch {
		case f.top < 0:
			return usagef(c, "--top can't be %d", f.top)
		case f.threads < 0:
			return usagef(c, "--threads can't be %d", f.threads)
		case f.threads > mostThreads:
			return usagef(c, "--threads can't be %d; the most is %d", f.threads, mostThreads)
		case f.repeat < 1:
			return usagef(c, "--repeat can't be %d", f.repeat)
		}
		for _, x := range [][3]string{{".npz", "all", f.all}, {".json", "trace", f.trace}, {".json", "receipt", f.receipt}} {
			if c.Flags().Changed(x[1]) {
				if err := p.endsIn(x[0], x[1], x[2]); err != nil {
					return err
				}
			}
		}
		if f.integers && f.fixedGiven {
			return usagef(c, "--integers and --fixed are two ways to run a model: leave one out")
		}
		if f.receiptNodes && f.receipt == "" {
			return usagef(c, "--receipt-nodes is about a receipt: give --receipt")
		}
		if err := f.pics.check(p); err != nil {
			return err
		}
		u, d, targets, err := p.prepare(c.Context(), &f, args[0], args[1:])
		if err != nil {
			return err
		}
		if d != nil {
			return u.all(c.Context(), d)
		}
		r, err := u.once(c.Context(), args[1:], f.inputs, p.progress)
		if err != nil {
			return err
		}
		return r.put(targets)
	}
	return c
}

// prepare opens the model, and refuses before a run the targets that would fail after it. The folders are nil for one run.
func (p *program) prepare(ctx context.Context, f *runFlags, model string, files []string) (u *runner, d *folders, targets []target, err error) {
	start := time.Now()
	u = &runner{program: p, f: f}
	if u.src, u.m, err = p.openModel(model); err != nil {
		return nil, nil, nil, err
	}
	if d, err = p.foldersOf(u.m, f, files); err == nil && d != nil {
		err = f.several(p)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if targets, err = p.targetsOf(u.m, u.src.name, f.outputs); err != nil {
		return nil, nil, nil, err
	}
	for _, file := range []string{f.trace, f.all, f.receipt} {
		if err := folderOf(file); err != nil && file != "" {
			return nil, nil, nil, err
		}
	}
	if f.json && targetsStdout(targets) {
		return nil, nil, nil, p.usagef("--json and an output to - both want standard output")
	}
	if u.s, err = p.session(u.m, f); err != nil {
		return nil, nil, nil, u.src.in(err)
	}
	if err = p.certified(ctx, u.s, f.certificate); err != nil {
		return nil, nil, nil, err
	}
	if u.labels, err = findLabels(f.labels, u.src); err != nil {
		return nil, nil, nil, err
	}
	u.load = time.Since(start)
	return u, d, targets, nil
}

// put writes and prints the results of a run.
func (r *result) put(targets []target) error {
	p, f := r.program, r.f
	write := func(stdout bool) error {
		for _, t := range targets {
			if (t.file == "-") != stdout {
				continue
			}
			if err := p.write(t, r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(false); err != nil {
		return err
	}
	if f.trace != "" {
		if err := p.writeTo(f.trace, r.profile.writeTrace); err != nil {
			return err
		}
	}
	if f.all != "" {
		if err := p.writeAll(f.all, r.profile); err != nil {
			return err
		}
	}
	if f.receipt != "" {
		if err := p.writeReceipt(f.receipt, r.receipt); err != nil {
			return err
		}
	}
	switch {
	case targetsStdout(targets):
		return write(true)
	case f.json:
		return p.printJSON(r)
	}
	printed := !p.quiet && p.print(r, f, targets)
	apart := func() {
		if printed {
			fmt.Fprintln(p.out)
		}
		printed = true
	}
	if f.repeat > 1 {
		apart()
		p.printTimes(r.spent)
	}
	if f.profile {
		apart()
		p.printProfile(r.profile)
	}
	return nil
}
