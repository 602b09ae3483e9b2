// Command conformance runs the conformance suites and counts the cases that pass.
//
//	go run ./conformance [-dir DIR] [-long] [-v] SUITE[/OP]...
//
// Suites: views, layout, ttnn, orion, numpy, onnx, models, packages, proofs, quantized. It prints a line per
// operation and last the totals. It exits with 1 if any case failed or is
// unsupported; with -allow-unsupported only if any failed; with -floor if an
// operation passes fewer cases than the checked-in floor, or any of an operation
// that has no unsupported ones fails. -update rewrites the floor of the suites
// that were run. Cases in skip.txt are skipped, each with its reason.
// The suite quantized compares its rows with docs/quantize.md, and prints with -v
// the rows that the page lacks.
// The suite proofs compares digests with the stated ones; -row also writes them
// into docs/arm.md.
// docs/conformance.md says more.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A suite reads its data and records the outcome of each case.
type suite struct {
	name string
	run  func(r *report) error
}

// suites in the order in which they are listed.
var suites = []suite{
	{"views", runViews}, {"layout", runLayout}, {"ttnn", runTTNN}, {"orion", runOrion}, {"numpy", runNumPy},
	{"onnx", runONNX}, {"models", runModels}, {"packages", runPackages}, {"proofs", runProofs}, {"quantized", runQuantized},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// command is one call of the program.
type command struct {
	dir, cache, receipts, row             string
	long, verbose, allow, floor, updating bool
	stdout, stderr                        io.Writer

	root   string // of the checkout
	floors map[string]floor
	skips  map[string]string
	total  counts
	bad    bool // something is below its floor, or failed where nothing may fail
}

// run is the program: it returns the exit status, 0 when all is well, 1 when a
// case says otherwise or the data can't be read, 2 for a call it doesn't
// understand.
func run(args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.dir, "dir", "", "root of the conformance data, instead of ../shared/conformance, ../shared/models and Debian's package")
	flags.StringVar(&c.cache, "cache", "", "folder for the packages that are fetched, instead of one in the user's cache")
	flags.StringVar(&c.receipts, "receipts", "", "folder for receipts of the models of models and packages whose runs take at most 50 MFLOP, and for the models of proofs with their certificates")
	flags.StringVar(&c.row, "row", "", "write this machine's digests of proofs into docs/arm.md, as a row of this `machine: real hardware`, or of a machine: emulation")
	flags.BoolVar(&c.long, "long", false, "also run cases marked long")
	flags.BoolVar(&c.verbose, "v", false, "print each case that doesn't pass")
	flags.BoolVar(&c.allow, "allow-unsupported", false, "unsupported cases are no failure")
	flags.BoolVar(&c.floor, "floor", false, "compare with the checked-in floor")
	flags.BoolVar(&c.updating, "update", false, "rewrite the checked-in floor")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: conformance [flags] SUITE[/OP]...   suites: views layout ttnn orion numpy onnx models packages proofs quantized")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() == 0:
		flags.Usage()
		return 2
	case c.row != "" && !slices.Equal(flags.Args(), []string{"proofs"}):
		fmt.Fprintln(stderr, "conformance: -row goes with the suite proofs alone")
		return 2
	case c.updating && c.long:
		fmt.Fprintln(stderr, "conformance: a floor counts what passes without -long; -update doesn't go with it")
		return 2
	}
	for _, arg := range flags.Args() {
		if name, _, _ := strings.Cut(arg, "/"); find(name) == nil {
			fmt.Fprintf(stderr, "conformance: no suite is called %q\n", name)
			flags.Usage()
			return 2
		}
	}
	if err := c.all(flags.Args()); err != nil {
		fmt.Fprintln(stderr, "conformance:", err)
		return 1
	}
	fmt.Fprintln(stdout, &c.total)
	if !c.floor && (c.total.failed > 0 || c.total.unsupported > 0 && !c.allow) || c.bad {
		return 1
	}
	return 0
}

// find returns the suite of a name, nil if there is none.
func find(name string) *suite {
	if i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name }); i >= 0 {
		return &suites[i]
	}
	return nil
}

// all runs the suites that the arguments name.
func (c *command) all(args []string) error {
	var err error
	if c.root, err = checkoutRoot(); err != nil {
		return err
	}
	folder := filepath.Join(c.root, "conformance")
	if c.floors, err = readFloors(filepath.Join(folder, "floor.txt")); err != nil {
		return err
	}
	if c.skips, err = readSkips(filepath.Join(folder, "skip.txt")); err != nil {
		return err
	}
	for _, arg := range args {
		name, only, _ := strings.Cut(arg, "/")
		if err := c.suite(find(name), only); err != nil {
			return err
		}
	}
	if c.updating {
		return writeFloors(filepath.Join(folder, "floor.txt"), c.floors)
	}
	return nil
}

// suite runs one suite, or one operation of it.
func (c *command) suite(s *suite, only string) error {
	r := &report{suite: s.name, only: only, dir: c.dir, cache: c.cache, receipts: c.receipts, row: c.row, root: c.root, long: c.long, verbose: c.verbose,
		skips: c.skips, ops: map[string]*counts{}, out: c.stdout}
	if err := s.run(r); err != nil {
		return err
	}
	switch {
	case len(r.ops) > 0:
	case only != "":
		return fmt.Errorf("suite %s has no operation %q", s.name, only)
	default:
		return fmt.Errorf("suite %s has no cases", s.name)
	}
	for _, op := range slices.Sorted(maps.Keys(r.ops)) {
		n := r.ops[op]
		fmt.Fprintf(c.stdout, "%-8s %-32s %s\n", s.name, op, n)
		c.total.add(n)
		if !c.floor {
			continue
		}
		want := c.floors[s.name+" "+op]
		if n.passed < want.passed {
			fmt.Fprintf(c.stdout, "below the floor: %s/%s passed %d, the floor is %d\n", s.name, op, n.passed, want.passed)
			c.bad = true
		}
		if now := n.floor(s); s.name == "onnx" && c.dir == "" && now != want {
			fmt.Fprintf(c.stdout, "docs/onnx.md says %d of %d of %s/%s: -update, then go test ./onnx -run TestPage -update\n", want.passed, want.of, s.name, op)
			c.bad = true
		}
		if n.failed > 0 && n.unsupported == 0 {
			fmt.Fprintf(c.stdout, "all of %s/%s is supported, but %d failed\n", s.name, op, n.failed)
			c.bad = true
		}
	}
	if c.floor && only == "" {
		for _, key := range slices.Sorted(maps.Keys(c.floors)) {
			if name, op, _ := strings.Cut(key, " "); name == s.name && r.ops[op] == nil && c.floors[key].passed > 0 {
				fmt.Fprintf(c.stdout, "below the floor: %s/%s has no cases any more, the floor is %d\n", name, op, c.floors[key].passed)
				c.bad = true
			}
		}
	}
	if c.updating {
		maps.DeleteFunc(c.floors, func(key string, _ floor) bool {
			name, op, _ := strings.Cut(key, " ")
			return name == s.name && (only == "" || op == only)
		})
		for op, n := range r.ops {
			if f := n.floor(s); f != (floor{}) {
				c.floors[s.name+" "+op] = f
			}
		}
	}
	return nil
}

// checkoutRoot returns the folder of the nearest go.work.
func checkoutRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.work above the working directory; run it inside the checkout")
		}
		dir = up
	}
}
