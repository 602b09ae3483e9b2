package main

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/spf13/cobra"
)

func (p *program) checkCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check MODEL...",
		Short: "Say whether models can be run",
		Long: `Check says of each model whether ashlar can run it. It reads the graph and the
graphs inside its nodes, and looks for every operator, attribute and element
type. It lists all that it doesn't find.

Sizes are checked as far as the model fixes them. The inputs of a run decide
the rest.

It exits with 0 if all models can be run, and with 1 if not. It exits with 1 where
a file can't be read, and with 2 when the command line makes no sense.

With --json each model is an object on a line: file, runs (true or false), and
unsupported, a list of texts, or error.`,
		Example: `  ashlar check testdata/digits.onnx
  ashlar check models/*.onnx && echo all of them run
  ashlar check --json models/*.onnx > models.jsonl`,
		Args: arguments(1, -1, "at least one model"),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each model instead")
	c.RunE = func(_ *cobra.Command, args []string) error {
		var failed failures
		for _, arg := range args {
			line, err := p.check(arg)
			if err != nil {
				failed = append(failed, err)
			}
			if asJSON {
				if err := p.printLine(line); err != nil {
					return err
				}
				continue
			}
			line.print(p)
		}
		switch {
		case len(failed) == 0:
			return nil
		case asJSON:
			return fmt.Errorf("%d of %d models can't be run; their lines say why", len(failed), len(args))
		}
		return failed
	}
	return c
}

// A checkLine is the line of JSON about one model.
type checkLine struct {
	File        string   `json:"file"`
	Runs        bool     `json:"runs"`
	Unsupported []string `json:"unsupported,omitempty"`
	Error       string   `json:"error,omitempty"`
}

// check says whether a model can be run.
func (p *program) check(arg string) (checkLine, error) {
	line := checkLine{File: arg}
	s, m, err := p.openModel(arg)
	if err == nil {
		line.File = s.name
		_, err = m.Cost(nil) // checks, and follows the declared shapes
		err = s.in(err)
	}
	var missing *onnx.UnsupportedError
	switch {
	case err == nil:
		line.Runs = true
	case errors.As(err, &missing):
		line.Unsupported = unsupported(missing)
		err = fmt.Errorf("%s: it can't be run; %d of its parts are unsupported", s.name, len(missing.List))
	default:
		line.Error = printable(err.Error())
	}
	return line, err
}

// print prints a line about a model that can be run, or lines about the parts that are missing.
func (l *checkLine) print(p *program) {
	if l.Runs {
		fmt.Fprintf(p.out, "%s: it can be run\n", label(l.File))
	} else if l.Unsupported != nil {
		fmt.Fprintf(p.out, "%s: ", label(l.File))
		p.printMissing(l.Unsupported, "")
	}
}

// unsupported are the parts of a model that an error names.
func unsupported(err *onnx.UnsupportedError) (list []string) {
	for _, u := range err.List {
		list = append(list, u.String())
	}
	return list
}

// printMissing lists the parts of a model that this program can't run.
func (p *program) printMissing(list []string, indent string) {
	fmt.Fprintf(p.out, "unsupported, %d:\n", len(list))
	for _, text := range list {
		fmt.Fprintf(p.out, "%s  %s\n", indent, oneLine(text, 500))
	}
}
