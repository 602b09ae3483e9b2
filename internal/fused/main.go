// Command fused lists the places where the compiler joined a product and a sum into one fused multiply-add.
//
//	go run ./internal/fused [-all] [-v] [packages]
//
// On arm64, riscv64 and amd64 v3 the compiler may turn a*b + c into one instruction that rounds once, across statements
// and inlined calls. Then a result depends on the platform. A conversion keeps the rounding: float32(a*b) + c.
//
// The command compiles the packages (./... unless told), without their tests, for arm64, with -all for those three
// platforms. It reads the assembly listing and reports each fused instruction whose source line isn't in a function named
// in allowed.txt. It ends with exit code 1 when it found one. It also does so when allowed.txt names a function that holds none, as that
// would only hide later ones.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
)

//go:embed allowed.txt
var allowedText string

func main() {
	all := flag.Bool("all", false, "compile for riscv64 and amd64 v3 too; so far they fused what arm64 did, or less")
	verbose := flag.Bool("v", false, "also print the fused instructions that are allowed")
	flag.Parse()
	on := platforms
	if !*all {
		on = on[:1]
	}
	ok, err := run(os.Stdout, ".", on, flag.Args(), allowedText, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fused:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run checks the packages of the module of dir, writes its findings to w, and reports whether there are none.
func run(w io.Writer, dir string, on []platform, packages []string, allowed string, verbose bool) (bool, error) {
	allow, err := parseAllowed(allowed)
	if err != nil {
		return false, err
	}
	mod, err := findModule(dir)
	if err != nil {
		return false, err
	}
	whole := len(packages) == 0
	if whole {
		packages = []string{"./..."}
	}
	used := make(map[string]bool)
	bad := 0
	for _, p := range on {
		found, err := mod.compile(p, packages)
		if err != nil {
			return false, err
		}
		for _, f := range found {
			if allow[f.fn] {
				used[f.fn] = true
				if verbose {
					fmt.Fprintf(w, "%s: %s: %s in %s: allowed\n", f.pos, p.name, f.op, f.fn)
				}
				continue
			}
			bad++
			fmt.Fprintf(w, "%s: %s: %s in %s\n", f.pos, p.name, f.op, f.fn)
		}
	}
	if bad > 0 {
		fmt.Fprintln(w, "The compiler fuses a product and a sum at these places. Write float32(a*b) + c or float64(a*b) + c, complex products\n"+
			"in real parts; where one rounding is meant, call float.FMA32 or float.FMA64.")
	}
	if whole {
		for _, fn := range sortedKeys(allow) {
			if !used[fn] {
				bad++
				fmt.Fprintf(w, "internal/fused/allowed.txt: %s holds no fused instruction: delete its line\n", fn)
			}
		}
	}
	return bad == 0, nil
}
