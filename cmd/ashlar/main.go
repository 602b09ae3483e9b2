// Ashlar runs neural networks, and shows what is in the files that hold them and their data.
//
//	ashlar run digits.onnx seven.png         the answer of a model
//	ashlar run digits.onnx pictures/         its answers about the files of a folder, as lines of JSON
//	ashlar info model.onnx weights.npz       the contents of files, and the cost of a model
//	ashlar check model.onnx                  whether a model can be run
//	ashlar show weights.npz#bias             the elements of a tensor
//	ashlar convert weights.npz w.safetensors tensors in another format, parts of models, other weights in them
//	ashlar diff weights.npz w.safetensors    where tensors differ, or the results of models
//	ashlar compute "mean(x, axis=0)" -i x=big.zarr -o mean.zarr   arrays that are larger than memory; plan, rechunk
//	ashlar layout "(8,8):(8,1) / <2,4>"      a layout, computed and drawn
//	ashlar layout check "(32,32):(32,1)"     its bank conflicts; solve, convert, infer, relayout, verdict
//	ashlar shard "(64,64)" --config block    which core of an accelerator has what, drawn
//	ashlar ops                               the operators and the element types they take
//	ashlar serve digits.onnx                 answers inference requests over HTTP
//	ashlar version                           the build, the processor, the kernels in use
//
// ONNX models, npy, npz, safetensors, PNG and JPEG are told apart by their contents, CSV, TSV, raw, Zarr and pb files by their
// names; - is standard input. The exit status is 0, 1 when something failed or diff found a difference, and 2 when the command
// line makes no sense. It is 130 or 143 after a signal. Errors go to standard error. Colour and the progress bar appear on
// terminals alone, colour only while NO_COLOR isn't set.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/spf13/cobra"
)

func main() {
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, terminal: isTerminal,
		cpuErr: cpu.Err, patience: time.Second}
	os.Exit(p.run(context.Background(), os.Args[1:]))
}

// A program is one run of the command: the world as it sees it, and what is open.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	terminal       func(stream any) bool
	cpuErr         func() error
	patience       time.Duration // from which work is worth a progress bar

	command *cobra.Command // that runs
	out     *bufio.Writer  // to stdout
	limit   memoryLimit
	force   bool // --force
	partly  bool // --unfinished
	reading reading
	stdinBy string   // the argument that reads standard input
	args    []string // the command line
	titled  bool     // info has printed about a file
	closers []io.Closer
}

// run runs one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	p.out, p.args = bufio.NewWriter(p.stdout), args
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // never nil, which would be os.Args
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.stderr)
	err := mem.Guard(func() error { return root.ExecuteContext(ctx) }) // files are mapped, and may become shorter
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
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.Is(err, context.Canceled):
		return interrupted
	}
	return 1
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlar",
		Short: "Run neural networks, and show what is in the files that hold them and their data",
		Long: `Ashlar runs neural networks, and shows what is in the files that hold them and
their data. It knows ONNX models, npy, npz, safetensors, PNG and JPEG by their
contents, and CSV, TSV, raw, Zarr and pb files by their names.

  FILE#NAME   one array of an npz, safetensors or Zarr file, or of a model
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
			hint := ""
			if s := c.SuggestionsFor(args[0]); len(s) > 0 {
				i := slices.IndexFunc(s, func(name string) bool { return strings.HasPrefix(name, args[0]) })
				hint = fmt.Sprintf("; did you mean %q?", s[max(i, 0)])
			}
			return usagef(c, "unknown command %q%s", args[0], hint)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(p.stderr, c.UsageString())
			return usagef(c, "no command is given")
		},
		PersistentPreRun: func(c *cobra.Command, _ []string) { p.command = c },
		Version:          buildVersion(),
	}
	root.SetVersionTemplate("ashlar {{.Version}}\n")
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := strings.Replace(err.Error(), "flag: must be an integer", "flag: want a whole number", 1)
		if strings.Contains(c.Use, "EXPRESSION") {
			text += "; an expression that begins with - goes behind --, after the flags"
		}
		return usagef(c, "%s", text)
	})
	root.AddCommand(p.runCommand(), p.infoCommand(), p.checkCommand(), p.showCommand(), p.convertCommand(), p.diffCommand(), p.layoutCommand(), p.shardCommand(), p.opsCommand(), p.serveCommand(), p.viewCommand(), p.computeCommand(), p.rechunkCommand(), p.planCommand(), p.versionCommand())
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
	for _, c := range root.Commands() { // what cobra adds has no examples, and lets wrong arguments pass
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
			c.Args = arguments(0, 0, "the name of a shell")
			c.RunE = func(c *cobra.Command, _ []string) error { return usagef(c, "no shell is named") }
			for _, shell := range c.Commands() {
				shell.Example = examples[shell.Name()]
				shell.Args = arguments(0, 0, "no arguments")
			}
		}
	}
	return root
}

// failures is an error about several files, each of which gets a line.
type failures []error

func (f failures) Error() string { return errors.Join(f...).Error() }

func (f failures) Unwrap() []error { return f }

// each lists the errors that get a line.
func each(err error) (list []error) {
	var all failures
	if !errors.As(err, &all) {
		if err != nil {
			list = append(list, err)
		}
		return list
	}
	for _, e := range all {
		list = append(list, each(e)...)
	}
	return list
}

// A usageError is a command line that makes no sense, whatever the files hold.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(c *cobra.Command, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if c.HasParent() {
		text = c.Name() + ": " + text
	}
	return &usageError{text + "; see " + c.CommandPath() + " --help"}
}

// usagef is an error about the command that runs.
func (p *program) usagef(format string, args ...any) error { return usagef(p.command, format, args...) }

// arguments checks how many arguments there are; most < 0 is any number.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usagef(c, "it takes %s, %d given", what, len(args))
		}
		return nil
	}
}

// wayOut says which flag does what an error of a package suggests.
func wayOut(err error) string {
	var need *onnx.MemoryError
	ofSize := errors.Is(err, npy.ErrLimit) && strings.Contains(err.Error(), "the option MaxBytes") // others can't be raised
	if errors.As(err, &need) || errors.Is(err, image.ErrTooLarge) || ofSize {
		return "; on the command line that is --max-memory"
	}
	if errors.Is(err, image.ErrOption) && strings.Contains(err.Error(), "with Axes") {
		return "; on the command line that is --axes"
	}
	if errors.Is(err, csv.ErrShape) && strings.Contains(err.Error(), "a row of names alone") {
		return "; on the command line --header gives one"
	}
	if errors.Is(err, zarr.ErrUnfinished) {
		return "; on the command line that is --resume of the command that writes it, or --unfinished of show, convert, diff, compute, rechunk and plan"
	}
	return ""
}

// isTerminal reports whether a stream is a terminal: a character device other than the null device.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// colour reports whether standard output takes colour.
func (p *program) colour() bool {
	return p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb" && p.terminal(p.stdout)
}

// bold marks text where colour is wanted.
func (p *program) bold(text string) string {
	if !p.colour() {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// printable replaces what a file could do to a terminal: control characters and bytes that aren't UTF-8.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// label is a name from a file, on one line and not longer than a wide screen.
func label(text string) string { return oneLine(text, 100) }

// oneLine is text from a file on one line of at most most characters.
func oneLine(text string, most int) string {
	text = strings.ReplaceAll(printable(text), "\n", " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}
