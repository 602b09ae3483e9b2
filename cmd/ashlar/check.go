package main

import (
	"errors"
	"fmt"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/spf13/cobra"
)

func (p *program) checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check MODEL...",
		Short: "Say whether models can be run",
		Long: `Check reads ONNX models and says of each whether run can run it: whether the graph
makes sense, also in graphs inside nodes, and whether every operator, attribute
and element type in it is there. It exits with 1 if one of them can't be run, and
lists everything that keeps it.

Sizes are checked as far as the model fixes them; the inputs of a run decide the
rest.`,
		Example: `  ashlar check testdata/digits.onnx
  ashlar check models/*.onnx && echo all of them run`,
		Args: arguments(1, -1, "at least one model"),
	}
	c.RunE = func(_ *cobra.Command, args []string) error {
		var failed failures
		for _, arg := range args {
			if err := p.check(arg); err != nil {
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

// check prints a line about a model that can be run, or lines about what keeps it.
func (p *program) check(arg string) error {
	s, m, err := p.openModel(arg)
	if err != nil {
		return err
	}
	err = m.Check()
	var missing *onnx.UnsupportedError
	switch {
	case err == nil:
		fmt.Fprintf(p.out, "%s: it can be run\n", label(s.name))
		return nil
	case !errors.As(err, &missing):
		return s.in(err)
	}
	fmt.Fprintf(p.out, "%s: ", label(s.name))
	p.printMissing(missing, "")
	return fmt.Errorf("%s: it can't be run; %d of its parts are unsupported", s.name, len(missing.List))
}

// printMissing lists the parts of a model that this program can't run.
func (p *program) printMissing(missing *onnx.UnsupportedError, indent string) {
	fmt.Fprintf(p.out, "unsupported, %d:\n", len(missing.List))
	for _, u := range missing.List {
		fmt.Fprintf(p.out, "%s  %s\n", indent, oneLine(u.String(), 500))
	}
}
