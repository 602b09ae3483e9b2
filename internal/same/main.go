// Command same prints one digest over every operator, for every element type it
// has, on edge, large, strided, nested and permuted operands and on 1, 2, 3 and 7
// threads. It must be equal on all processors and operating systems, at every
// ASHLAR_CPU level and with every build tag: digests.txt has what it is, operator
// by operator, and with -check the command fails where this machine differs.
//
//	go run ./internal/same [-check | -update] [-v]
package main

import (
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/op"
)

// digests has a line for each operator: its name and its digest.
//
//go:embed digests.txt
var digests string

func main() {
	check := flag.Bool("check", false, "compare with digests.txt; exit 1 where they differ")
	update := flag.Bool("update", false, "write internal/same/digests.txt; only from a build with -tags purego, which is the definition")
	verbose := flag.Bool("v", false, "print the digest of every operator")
	flag.Parse()
	if err := cpu.Err(); err != nil {
		fatal(err)
	}
	if *update && cpu.Detect() != cpu.Generic {
		fatal(fmt.Errorf("-update needs -tags purego: this build has %v", cpu.Detect()))
	}
	lines, results, err := run()
	if err != nil {
		fatal(err)
	}
	if *verbose {
		fmt.Print(lines)
	}
	fmt.Printf("%s/%s, %v: %d results of %d operators, digest %x\n", runtime.GOOS, runtime.GOARCH, cpu.Current(), results, len(op.All()), sha256.Sum256([]byte(lines)))
	if *update {
		if err := os.WriteFile(filepath.Join("internal", "same", "digests.txt"), []byte(lines), 0o644); err != nil {
			fatal(err)
		}
	}
	if *check && !compare(os.Stdout, lines, digests) {
		os.Exit(1)
	}
}

// run returns the lines of all operators and how often one was run.
func run() (lines string, results int, err error) {
	var b strings.Builder
	for _, o := range op.All() {
		d, n, err := optest.Digest(o)
		if err != nil {
			return "", results, err
		}
		fmt.Fprintln(&b, o.Name(), d)
		results += n
	}
	return b.String(), results, nil
}

// compare prints the lines that differ.
func compare(w io.Writer, got, want string) bool {
	if got == want {
		return true
	}
	theirs := make(map[string]string)
	for line := range strings.Lines(want) {
		name, d, _ := strings.Cut(strings.TrimSpace(line), " ")
		theirs[name] = d
	}
	for line := range strings.Lines(got) {
		name, d, _ := strings.Cut(strings.TrimSpace(line), " ")
		if theirs[name] != d {
			fmt.Fprintf(w, "%s: digest %s, want %q\n", name, d, theirs[name])
		}
		delete(theirs, name)
	}
	for name := range theirs {
		fmt.Fprintf(w, "%s: in digests.txt, but no operator\n", name)
	}
	return false
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "same:", err)
	os.Exit(2)
}
