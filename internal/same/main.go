// Command same prints one digest over every operator, for every element type of the operator. It
// runs on edge, large, strided, nested and permuted operands, on 1 to 3 threads and on 7. The digest
// must be equal on all processors and operating systems, at every ASHLAR_CPU level and with every
// build tag. digests.txt has the expected digest of each operator. With -check the command fails
// where this machine differs.
//
// cells.txt has a short hash of each case, and the version of the rules (receipt.Rules) when it was
// taken. A case that changes needs another version; new cases don't.
//
//	go run ./internal/same [-check | -update] [-v]
package main

import (
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/optest"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/receipt"
)

// digests has a line for each operator: its name and its digest.
//
//go:embed digests.txt
var digests string

// cells has the version of the rules, and a line for each operator and type: the number of each case
// with four digits of the hash of its results.
//
//go:embed cells.txt
var cells string

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
	lines, taken, results, err := run()
	if err != nil {
		fatal(err)
	}
	if *verbose {
		fmt.Print(lines)
	}
	fmt.Printf("%s/%s, %v: %d results of %d operators, digest %x\n", runtime.GOOS, runtime.GOARCH, cpu.Current(), results, len(all.Operators()), sha256.Sum256([]byte(lines)))
	if *update {
		if was := changed(cells, taken); was != nil && version(cells) == version(taken) {
			fatal(fmt.Errorf("these cases give other results than at version %d of the rules: raise receipt.Rules\n%s", version(cells), strings.Join(was, "\n")))
		}
		if err := os.WriteFile(filepath.Join("internal", "same", "cells.txt"), []byte(taken), 0o644); err != nil {
			fatal(err)
		}
		if err := os.WriteFile(filepath.Join("internal", "same", "digests.txt"), []byte(lines), 0o644); err != nil {
			fatal(err)
		}
	}
	if *check && !compare(os.Stdout, lines, digests) {
		os.Exit(1)
	}
}

// run returns the lines of all operators, the lines of all cases, and the number of runs of
// operators.
func run() (lines, cells string, results int, err error) {
	var b, c strings.Builder
	fmt.Fprintln(&c, "rules", receipt.Rules)
	for _, o := range all.Operators() {
		of := make(map[string]string) // by type
		d, n, err := optest.Digest(o, func(name string, sum [sha256.Size]byte) {
			before, after, _ := strings.Cut(name, " of ")
			of[after] += fmt.Sprintf(" %s:%x", strings.NewReplacer("large case ", "L", "case ", "").Replace(before), sum[:2])
		})
		if err != nil {
			return "", "", results, err
		}
		fmt.Fprintln(&b, o.Name(), d)
		for _, t := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintln(&c, strings.TrimPrefix(o.Domain()+"."+o.Name(), "."), t+of[t])
		}
		results += n
	}
	return b.String(), c.String(), results, nil
}

// version returns the version of the rules at the beginning of a list of cells.
func version(cells string) (n int) {
	fmt.Sscanf(cells, "rules %d\n", &n)
	return n
}

// changed lists the cases of old that have another hash in new. Cases of one list alone don't count.
func changed(old, new string) (list []string) {
	known := make(map[string]string)
	each(new, func(cell, hash string) { known[cell] = hash })
	each(old, func(cell, hash string) {
		if h, ok := known[cell]; ok && h != hash {
			list = append(list, fmt.Sprintf("%s: %s, was %s", cell, h, hash))
		}
	})
	return list
}

// each calls f for the cases of a list of cells.
func each(cells string, f func(cell, hash string)) {
	for line := range strings.Lines(cells) {
		words := strings.Fields(line)
		for i := 2; i < len(words); i++ {
			number, hash, _ := strings.Cut(words[i], ":")
			f(words[0]+" "+words[1]+" case "+number, hash)
		}
	}
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
