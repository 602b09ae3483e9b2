package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ashlar-go/ashlar/format"
	"github.com/ashlar-go/ashlar/internal/core/disk"
	"github.com/ashlar-go/ashlar/onnx"
)

// folders are the inputs of many runs: files that take turns, and inputs that are the same in all runs.
type folders struct {
	turns []string // the files of the folders
	name  string   // of the input that the files go to, if it is given
	at    int      // else their place among the arguments
	files []string // the other arguments
	named []string // the other values of -i
}

// foldersOf looks for folders among the inputs of a run. It returns nil if there are none.
func (p *program) foldersOf(m *onnx.Model, f *runFlags, files []string) (*folders, error) {
	d := &folders{at: -1}
	isFolder := func(file string) bool {
		info, err := os.Stat(file)
		if err != nil || !info.IsDir() {
			return false
		}
		found, err := (&format.Source{Path: file}).Format()
		return err == nil && found == nil
	}
	isFile := func(file string) bool { // or a link to nothing, whose line says so
		info, err := os.Stat(file)
		return err != nil || info.Mode().IsRegular()
	}
	var where []string
	take := func(folder string) error {
		where = append(where, folder)
		list, err := os.ReadDir(folder) // sorted by name
		if err != nil {
			return fmt.Errorf("%s: %w", folder, disk.Bare(err))
		}
		for _, e := range list {
			if file := filepath.Join(folder, e.Name()); !strings.HasPrefix(e.Name(), ".") && isFile(file) {
				d.turns = append(d.turns, file)
			}
		}
		return nil
	}
	in := &inputs{p: p, m: m}
	for _, arg := range f.inputs {
		name, file, err := in.named(arg)
		if err != nil || !isFolder(file) {
			d.named = append(d.named, arg) // gather names the mistake
			continue
		}
		if where != nil && d.name != name {
			return nil, p.usagef("-i %s: a run takes folders for one input, and %s has one", arg, label(d.name))
		}
		d.name = name
		if err := take(file); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		if !isFolder(file) {
			d.files = append(d.files, file)
			continue
		}
		if d.name != "" {
			return nil, p.usagef("%s: a run takes folders for one input, and %s has one", file, label(d.name))
		}
		if d.at < 0 {
			d.at = len(d.files)
		}
		if err := take(file); err != nil {
			return nil, err
		}
	}
	if where == nil {
		return nil, nil
	}
	for _, arg := range append(d.named, d.files...) {
		if arg == "-" || strings.HasSuffix(arg, "=-") {
			return nil, p.usagef("standard input can be read once, and a folder makes several runs; save it to a file")
		}
	}
	if len(d.turns) == 0 {
		return nil, fmt.Errorf("%s: there are no files in it; hidden ones, and those of folders inside, don't count", strings.Join(where, ", "))
	}
	return d, nil
}

// several refuses the flags that are about one run.
func (f *runFlags) several(p *program) error {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"-o", f.outputs != nil}, {"--profile", f.profile}, {"--trace", f.trace != ""}, {"--all", f.all != ""}, {"--receipt", f.receipt != ""}, {"--quiet", p.quiet}} {
		if flag.given {
			return p.usagef("%s is about one run, and a folder makes several", flag.name)
		}
	}
	return nil
}

// inputs are the arguments of one run.
func (d *folders) inputs(file string) (files, named []string) {
	if d.name != "" {
		return d.files, append([]string{d.name + "=" + file}, d.named...)
	}
	files = append(files, d.files[:d.at]...)
	return append(append(files, file), d.files[d.at:]...), d.named
}

// A reportLine is the line of JSON about one file of a folder.
type reportLine struct {
	File    string         `json:"file"`
	Outputs []reportOutput `json:"outputs,omitempty"`
	Error   string         `json:"error,omitempty"`
	Seconds float64        `json:"seconds,omitempty"` // the median of several runs
	Runs    []float64      `json:"runs,omitempty"`    // with --repeat
}

// all runs the model on each file of the folders.
func (u *runner) all(ctx context.Context, d *folders) error {
	step, done := u.bar("files", !u.terminal(u.stdout)) // lines on the same screen show it, too
	defer done()
	failed := 0
	for i, file := range d.turns {
		open := len(u.closers)
		files, named := d.inputs(file)
		line := reportLine{File: file}
		r, err := u.once(ctx, files, named, func() (func(int, int, *onnx.Node), func()) { return nil, func() {} })
		switch {
		case errors.Is(err, context.Canceled):
			return fmt.Errorf("after %d of %d files: %w", i, len(d.turns), err)
		case err != nil:
			failed++
			line.Error = printable(err.Error() + wayOut(err))
		default:
			line.Outputs, line.Seconds = r.reportOutputs(), median(r.spent).Seconds()
			if u.f.repeat > 1 {
				line.Runs = r.seconds()
			}
		}
		if err := u.printLine(&line); err != nil {
			return err
		}
		if err := u.out.Flush(); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		if r != nil {
			for _, t := range r.outputs {
				t.Close()
			}
		}
		for _, c := range u.closers[open:] {
			c.Close()
		}
		u.closers = u.closers[:open]
		step(i+1, len(d.turns))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files failed; their lines say why", failed, len(d.turns))
	}
	return nil
}
