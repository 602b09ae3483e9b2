// Verify checks the functions of package num against oracles.
//
//	go run ./internal/verify [-update] [-n N] [NAME...]
//
// A float32 function of one argument (exp32, log32, ...) is called on all 2^32 inputs, on two goroutines, and every result compared with
// the correctly rounded value; a line per function gives the number of inputs, of wrong results, and a digest of the bits of all
// results. With -update the line goes to digests.txt, which the tests read. The others (exp64, pow32, pow64, ...) are called on N random inputs and
// the line gives the largest error in units in the last place. No name means all of them, which takes an hour or two on two idle cores. The exit status is 1
// if anything is wrong, or an error is above its limit.
//
// Where the right value comes from: approx.go evaluates the function in float64 with a relative error below 2^-42. If everything within
// that distance rounds to the same float32, that is the right one. Otherwise package exact decides with 140 bits; no result of these
// functions is closer to a halfway point without being one.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	update := flag.Bool("update", false, "write the digests of correct functions to "+digestFile)
	n := flag.Int("n", 1_000_000, "random inputs for functions that can't be checked on all")
	flag.Parse()
	names := flag.Args()
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
		start := time.Now()
		if i := slices.IndexFunc(functions32, func(f function32) bool { return f.name == name }); i >= 0 {
			r := functions32[i].all(1)
			ok = ok && r.wrong == 0
			fmt.Printf("%s (%.0f s, %d decided exactly)\n", r, time.Since(start).Seconds(), r.close)
			for _, w := range r.examples {
				fmt.Println("  ", w)
			}
			if *update && r.wrong == 0 {
				if err := updateDigest(digestFile, r); err != nil {
					fmt.Fprintln(os.Stderr, "verify:", err)
					os.Exit(1)
				}
			}
		} else if i := slices.IndexFunc(measured, func(f function64) bool { return f.name == name }); i >= 0 {
			m := measured[i].measure(*n, 1)
			ok = ok && m.worst <= measured[i].limit
			fmt.Printf("%s (%.0f s)\n", m, time.Since(start).Seconds())
		} else {
			fmt.Fprintf(os.Stderr, "verify: no function %q\n", name)
			os.Exit(2)
		}
	}
	if !ok {
		os.Exit(1)
	}
}
