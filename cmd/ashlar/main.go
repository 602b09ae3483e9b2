// Ashlar runs neural networks, and reads the files of models and tensors.
//
//	ashlar run digits.onnx seven.png         the answer of a model
//	ashlar run digits.onnx pictures/         its answers about the files of a folder, as lines of JSON
//	ashlar info model.onnx weights.npz       the contents of files, and the cost of a model
//	ashlar check model.onnx                  whether a model can be run
//	ashlar show weights.npz#bias             the elements of a tensor
//	ashlar convert weights.npz w.safetensors tensors in another format, parts of models, other weights in them
//	ashlar quantize m.onnx -o q.onnx --calibrate pictures/   a model of integers from one of floats
//	ashlar diff weights.npz w.safetensors    where tensors differ, or the results of models
//	ashlar compute "mean(x, axis=0)" -i x=big.zarr -o mean.zarr   arrays that are larger than memory; plan, rechunk
//	ashlar stats model.safetensors           the distribution of the elements of tensors
//	ashlar layout "(8,8):(8,1) / <2,4>"      a layout, computed and drawn
//	ashlar layout check "(32,32):(32,1)"     its bank conflicts; solve, convert, infer, relayout, verdict
//	ashlar shard "(64,64)" --config block    which core of an accelerator has what, drawn
//	ashlar ops                               the operators and the element types they take
//	ashlar verify r.json --model digits.onnx seven.png   a run again, compared with its receipt
//	ashlar embed all-MiniLM-L6-v2 "a text"   texts into vectors; --lines, --near, --check
//	ashlar serve digits.onnx                 answers inference requests over HTTP
//	ashlar demo                              the commands above, shown in two minutes
//	ashlar version                           the build, the processor, the kernels in use
//
// ONNX models, npy, npz, safetensors, GGUF, PyTorch, PNG and JPEG are told apart by their contents, CSV, TSV, raw, Zarr and pb files by their
// names; - is standard input. The exit status is 0, 1 when something failed or diff or verify found a difference, and 2 when the command
// line makes no sense or verify can't decide. It is 130 or 143 after a signal. Errors go to standard error. Colour and the progress bar appear on
// terminals alone, colour only while NO_COLOR isn't set.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/spf13/cobra"
)

func main() {
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, terminal: isTerminal,
		cpuErr: cpu.Err, patience: time.Second}
	os.Exit(p.run(context.Background(), os.Args[1:]))
}

// run runs one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	p.out, p.args = cmp.Or(p.out, bufio.NewWriter(p.stdout)), args
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // never nil, which would be os.Args
	root.SetIn(p.stdin)
	root.SetErr(p.stderr)
	err := ram.Guard(func() error { return root.ExecuteContext(ctx) }) // files are mapped, and may become shorter
	for _, c := range p.closers {
		c.Close()
	}
	if e := p.out.Flush(); e != nil && err == nil {
		err = fmt.Errorf("writing to standard output: %w", e)
	}
	for _, e := range each(err) {
		fmt.Fprintln(p.stderr, "ashlar: "+printable(e.Error())+wayOut(e))
	}
	var usage *usageError
	var open *undecided
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage), errors.As(err, &open) && !errors.Is(err, context.Canceled):
		return 2
	case errors.Is(err, context.Canceled):
		return interrupted
	}
	return 1
}

// threeThings is the answer to a command line without a command.
const threeThings = `Ashlar runs neural networks and reads the files of models and tensors.

Three things to try:
  ashlar layout "(8,8):(8,1) / <2:1,4:1>"   draw a matrix that is cut into tiles
  ashlar info FILE                          list the tensors of a file, or the inputs of a model
  ashlar run MODEL.onnx PICTURE.png         run a model on a picture

ashlar help lists all commands.
`

// flagInUsage is a line of a flag in the help text.
var flagInUsage = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)

// nearestFlag suggests the flag of a command whose name is nearest to an unknown one, as cobra suggests commands.
func nearestFlag(c *cobra.Command, name string) string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	ends := "" // the flag that ends in the other's name, as --max-memory for --memory
	for _, m := range flagInUsage.FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
		flags.AddCommand(&cobra.Command{Use: m[1], Run: func(*cobra.Command, []string) {}})
		if strings.HasSuffix(m[1], "-"+name) || strings.HasSuffix(name, "-"+m[1]) {
			ends = "; did you mean --" + m[1] + "?"
		}
	}
	return cmp.Or(didYouMean(flags, name, "--%s"), ends)
}

// didYouMean suggests the command below c with a similar name, best one that begins with the name.
func didYouMean(c *cobra.Command, name, form string) string {
	s := c.SuggestionsFor(name)
	if len(s) == 0 {
		return ""
	}
	i := slices.IndexFunc(s, func(other string) bool { return strings.HasPrefix(other, name) })
	return "; did you mean " + fmt.Sprintf(form, s[max(i, 0)]) + "?"
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlar",
		Short: "Run neural networks, and read the files of models and tensors",
		Long: `Ashlar runs neural networks and reads the files of models and tensors. It knows
ONNX models, npy, npz, safetensors, GGUF, PyTorch, PNG and JPEG by their contents.
It knows CSV, TSV, raw, Zarr and pb files by their names.

  FILE#NAME   one array of an npz, safetensors, GGUF, PyTorch or Zarr file, or of a model
  -           standard input, or standard output

The exit status is 0, 1 when something failed, or diff found a difference, and 2
when the command line makes no sense. It is 130 or 143 after a signal.`,
		Example: `  ashlar run testdata/digits.onnx testdata/seven.png
  ashlar info testdata/digits.onnx
  ashlar show testdata/digits-test.npy --slice "0"
  ashlar help run`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef(c, "unknown command %q%s", args[0], didYouMean(c, args[0], "%q"))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(p.stderr, threeThings)
			return usagef(c, "no command is given")
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			p.command = c
			if f := c.Flag("json"); p.quiet && f != nil && f.Value.String() == "true" {
				return usagef(c, "--json and --quiet want opposite things: leave one out")
			}
			return p.cpuErr()
		},
		Version: buildVersion(),
	}
	cobra.AddTemplateFunc("brief", func(flags string) string { return strings.ReplaceAll(flags, "[=true|false]", "             ") })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages |", "Flags.FlagUsages | brief |"))
	root.SetVersionTemplate("ashlar {{.Version}}\n")
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := strings.Replace(err.Error(), "flag: must be an integer", "flag: want a whole number", 1)
		if name, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
			text += nearestFlag(c, name)
		}
		if strings.Contains(c.Use, "EXPRESSION") {
			text += "; an expression that begins with - goes behind --, after the flags"
		}
		return usagef(c, "%s", text)
	})
	root.AddCommand(p.runCommand(), p.infoCommand(), p.checkCommand(), p.showCommand(), p.convertCommand(), p.quantizeCommand(), p.diffCommand(), p.statsCommand(), p.layoutCommand(), p.shardCommand(), p.opsCommand(), p.serveCommand(), p.embedCommand(), p.viewCommand(), p.computeCommand(), p.rechunkCommand(), p.planCommand(), p.verifyCommand(), p.certifyCommand(), p.demoCommand(), p.versionCommand())
	complete(root, choices())
	root.SetOut(p.out) // before the command completion, which keeps it
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	examples := map[string]string{
		"help":       "  ashlar help run",
		"completion": "  ashlar completion bash > /etc/bash_completion.d/ashlar",
		"bash":       "  source <(ashlar completion bash)",
		"zsh":        "  ashlar completion zsh > \"${fpath[1]}/_ashlar\"",
		"fish":       "  ashlar completion fish > ~/.config/fish/completions/ashlar.fish",
		"powershell": "  ashlar completion powershell | Out-String | Invoke-Expression",
	}
	for _, c := range root.Commands() { // the commands that cobra adds have no examples, and let wrong arguments pass
		switch c.Name() {
		case "help":
			c.Example = examples["help"]
			c.Args = func(c *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return usagef(c, "there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			c.Example = examples["completion"]
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return nil
				}
				var shells []string
				for _, shell := range c.Commands() {
					shells = append(shells, shell.Name())
				}
				return usagef(c, "there are no completions for %q; there are some for %s", args[0], strings.Join(shells, ", "))
			}
			c.RunE = func(c *cobra.Command, _ []string) error { return usagef(c, "no shell is named") }
			for _, shell := range c.Commands() {
				shell.Example = examples[shell.Name()]
				shell.Args = arguments(0, 0, "no arguments")
			}
		}
	}
	return root
}
