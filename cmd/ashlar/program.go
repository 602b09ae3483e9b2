package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/format/csv"
	"github.com/ashlar-go/ashlar/format/image"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/spf13/cobra"
)

// A program is one run of the command: the world as it sees it, and the open files.
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
	force   bool     // --force
	quiet   bool     // --quiet
	partly  bool     // --unfinished
	cf      bool     // --cf
	mx      bool     // --mx
	hosts   []string // --allow-host
	reading reading
	front   string   // --sound: a rate, or the name of a convention
	remix   bool     // --resample
	stdinBy string   // the argument that reads standard input
	args    []string // the command line
	titled  bool     // info has printed about a file
	closers []io.Closer
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

// wayOut names the flag that follows the advice in an error of a package.
func wayOut(err error) string {
	if _, rest, ok := strings.Cut(err.Error(), ": wants "); ok && strings.Contains(rest, "convert it with op.Cast") {
		wanted, _, _ := strings.Cut(rest, "[")
		return "; on the command line that is ashlar convert IN OUT --dtype " + wanted
	}
	var need *onnx.MemoryError
	ofSize := errors.Is(err, format.ErrLimit) && strings.Contains(err.Error(), "the option MaxBytes") // others can't be raised
	if errors.As(err, &need) && need.Alone > 0 {
		return "; on the command line that is --max-memory or --threads 1"
	}
	if need != nil || errors.Is(err, image.ErrTooLarge) || ofSize {
		return "; on the command line that is --max-memory"
	}
	if errors.Is(err, image.ErrOption) && strings.Contains(err.Error(), "with Axes") {
		return "; on the command line that is --axes"
	}
	if errors.Is(err, csv.ErrShape) && strings.Contains(err.Error(), "a row of names alone") {
		return "; on the command line --header gives one"
	}
	if errors.Is(err, format.ErrProtected) {
		return "; --force replaces it"
	}
	if errors.Is(err, format.ErrNoHeader) {
		return "; ashlar show reads it"
	}
	if errors.Is(err, zarr.ErrOutside) && strings.Contains(err.Error(), "allow the host") {
		return "; on the command line that is --allow-host"
	}
	if errors.Is(err, layout.ErrLimit) && strings.Contains(err.Error(), "for a picture") {
		return "; ashlar convert --inputs and --outputs takes a part of a model"
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

// printable replaces the characters of a file that could harm a terminal: control characters and bytes that aren't UTF-8.
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

// reading is the command line's facts about files whose contents don't state them.
type reading struct {
	from, dtype, shape, delimiter string // the flags as they are given
	header                        bool

	format *format.Format // --from, nil if it isn't given
	as     dtype.DType    // --dtype, Invalid if it isn't
	layout layout.Layout
	comma  rune // 0: by the kind of file
}
