// Verify checks the functions of packages float and fixed against oracles.
//
//	go run ./conformance/verify [-update] [-n N] [-cpu LEVEL] [NAME...]
//
// A float32 function of one argument (exp32, log32, ...) is called on all 2^32 inputs, on two goroutines. Every result is compared with the
// correctly rounded value. A line per function gives the number of inputs, of wrong results, and a digest of the bits of all results. The other
// functions (exp64, pow32, pow64, ...) are called on N random inputs, in groups of neighbours. Their line gives the largest error in units in the
// last place. With -update the line goes to digests.txt, which the tests read. No name means all functions, which takes an hour or two on two
// idle cores. The exit status is 1 if anything is wrong, or an error is above its limit.
//
// With -cpu avx2 or avx512 the rows of package simd are checked instead, on all 2^32 inputs: the row of a function, and the row of the same
// function of a product and a sum. No name means all functions with rows. The digest must be the function's digest in digests.txt, or the
// results are compared with package float's. With -fast besides it prints the largest error of the rows for the option op.Fast, which may be 2
// units in the last place.
//
// With a fixed-point format the function is that of package fixed in the format: exp, log and so on, or all:
//
//	go run ./conformance/verify [-update] [-sample] [-state FILE] [-n N] NAME FP8x23|FP16x16|FP32x32|FP64x64
//
// Formats of 32 bits are checked on all inputs, in 64 parts. With -state FILE a later run goes on where an earlier one was stopped. With -sample
// they are checked on one input in 255 and the inputs near powers of two. With -digest as well, only the digest of these is printed, to compare
// platforms. The wider formats, and pow, are checked on N random inputs and the inputs next to powers of two, against package exact alone. The
// line gives the largest error in units. In all formats a result is wrong that isn't the nearest number, and so is a missing or undue error.
//
// For the wider formats,
//
//	go run ./conformance/verify -hard [-update] [-n N] NAME FP32x32|FP64x64
//
// looks for the inputs that are hardest to round, to nearest and toward zero, and checks them. It looks among the neighbours of N/10 random
// inputs, some thousands or a million each. With -update it writes them to hard.txt, which the tests read.
//
// With float16, bfloat16, float8_e4m3fn or float8_e5m2 after the name, the operator of package op is checked on all numbers of that type.
//
// The right value comes from two sources. approx.go evaluates the function in float64 with a relative error below 2^-42. If everything within
// that distance rounds to the same float32, that is the right one. Otherwise package exact decides with 140 bits. No result of these functions is
// closer to a halfway point without being one.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
)

func main() {
	update := flag.Bool("update", false, "write the digests of correct functions to "+digestFile)
	n := flag.Int("n", 1_000_000, "random inputs for functions that can't be checked on all")
	level := flag.String("cpu", "", "check the rows of this instruction set, avx2 or avx512")
	rough := flag.Bool("fast", false, "with -cpu: the largest error of the rows of op.Fast")
	sampled := flag.Bool("sample", false, "fixed point of 32 bits: every 255th input, and all near powers of two, instead of all")
	trust := flag.Bool("digest", false, "with -sample: the digest of the results alone, without a look at what they should be")
	hard := flag.Bool("hard", false, "fixed point of 64 and 128 bits: look for the inputs that are hardest to round")
	state := flag.String("state", os.DevNull, "fixed point of 32 bits: a file that remembers the parts that are done")
	flag.Parse()
	names := flag.Args()
	if len(names) == 2 && fixedNames[names[1]] != 0 {
		debug.SetGCPercent(2000) // each input without a result makes an error
		if *hard {
			os.Exit(checkHard(names[0], names[1], *n/10, *update))
		}
		os.Exit(checkFixed(names[0], names[1], *sampled, *trust, *state, *n, *update && !*trust))
	}
	if len(names) == 2 && narrowFormats[names[1]].size != 0 {
		os.Exit(checkNarrow(names[0], names[1], *update))
	}
	if *level != "" {
		os.Exit(checkRows(*level, names, *rough))
	}
	if len(names) == 0 {
		for _, f := range functions32 {
			names = append(names, f.name)
		}
		for _, f := range measured {
			names = append(names, f.name)
		}
	}
	ok := true
	for _, name := range names {
		start, line, good := time.Now(), "", false
		if i := slices.IndexFunc(functions32, func(f function32) bool { return f.name == name }); i >= 0 {
			r := functions32[i].all(1)
			fmt.Printf("%s (%.0f s, %d decided exactly)\n", r, time.Since(start).Seconds(), r.close)
			for _, w := range r.examples {
				fmt.Println("  ", w)
			}
			line = r.String()
			good = r.wrong == 0
		} else if i := slices.IndexFunc(measured, func(f function64) bool { return f.name == name }); i >= 0 {
			m := measured[i].measure(*n, 1)
			line = m.String()
			good = m.worst <= measured[i].limit
			fmt.Printf("%s (%.0f s)\n", m, time.Since(start).Seconds())
		} else {
			fmt.Fprintf(os.Stderr, "verify: no function %q\n", name)
			os.Exit(2)
		}
		ok = ok && good
		if *update && good {
			if err := updateDigest(digestFile, line); err != nil {
				fmt.Fprintln(os.Stderr, "verify:", err)
				os.Exit(1)
			}
		}
	}
	if !ok {
		os.Exit(1)
	}
}

// checkNarrow checks functions of a narrow float for main. It returns the exit status.
func checkNarrow(name, format string, update bool) int {
	n := narrowFormats[format]
	for _, f := range functions32 {
		if f.name != name+"32" && f.name != name+"x32" {
			continue
		}
		r, err := f.narrow(&n)
		if err == nil && update && r.wrong == 0 {
			err = updateDigest(digestFile, r.String())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "verify:", err)
			return 2
		}
		fmt.Printf("%s (%d decided exactly)\n", r, r.close)
		for _, w := range r.examples {
			fmt.Println("  ", w)
		}
		return min(1, int(r.wrong))
	}
	fmt.Fprintf(os.Stderr, "verify: no function %q\n", name)
	return 2
}

// checkRows checks rows for main, with the option -cpu. It returns the exit status.
func checkRows(name string, functions []string, rough bool) int {
	level := cpu.AVX2
	for ; level.String() != name; level++ {
		if level == cpu.Detect() {
			fmt.Fprintf(os.Stderr, "verify: -cpu %s: this processor and build have rows for levels above %v up to %v\n", name, cpu.Generic, cpu.Detect())
			return 2
		}
	}
	lines, err := readDigests(digestFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		return 2
	}
	status, checked := 0, 0
	for _, f := range functions32 {
		if len(functions) > 0 && !slices.Contains(functions, f.name) {
			continue
		}
		if rough {
			for i, row := range rowsOf(quick32[f.name], level) {
				checked++
				worst, at := f.roughest(row, 1)
				if worst > 2 {
					status = 1
				}
				fmt.Printf("%s%s %v fast: inputs 4294967296 worst %.3f ulp at %x\n", f.name, ofSum[i], level, worst, at)
			}
			continue
		}
		for i, row := range rowsOf(rows32[f.name], level) {
			checked++
			start := time.Now()
			r := f.allRows(row, 1, false)
			verdict := "the digest of digests.txt"
			if !strings.Contains(lines[f.name], fmt.Sprintf(" wrong 0 digest %016x ", r.digest)) {
				verdict = "not the digest of digests.txt"
				r = f.allRows(row, 1, true)
			}
			if r.wrong > 0 || !strings.HasPrefix(verdict, "the") {
				status = 1
			}
			fmt.Printf("%s%s %v inputs %d different %d digest %016x: %s (%.0f s)\n", f.name, ofSum[i], level, r.count, r.wrong, r.digest, verdict, time.Since(start).Seconds())
			for _, w := range r.examples {
				fmt.Println("  ", w)
			}
		}
	}
	if checked == 0 {
		fmt.Fprintf(os.Stderr, "verify: no rows of %q at level %v\n", functions, level)
		return 2
	}
	return status
}
