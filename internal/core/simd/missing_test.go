package simd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// notAVX2 gives the reason where AVX-512 has a kernel and AVX2 has none, by a pattern of the names without the level.
var notAVX2 = map[string]string{
	`^(abs|relu)I64|^(max|min)[IU]64`:            "AVX2 has no such instruction of 64-bit integers; the plain loop compares and moves",
	`^mul[IU]64`:                                 "AVX2 has no product of 64-bit integers, and a plain loop has one in an instruction",
	`^(exp|log|tanh|sigmoid)MulAddF32`:           "the function of a sum leaves AVX2 too few registers, and gained nothing over two steps",
	`^(tileQuads|quadBytes|mendQuads|sumQuads)`:  "they need AVX-512 VNNI",
	`^(turnPacked|dotsQ|dotsNibbles)`:            "a block of codes fills a register of 64 bytes; AVX2 has dotQ4 and dotQ8 for one column",
	`^(keys|elements|reverse|partition|network)`: "a quicksort compresses vectors by masks, which takes AVX2 a table and a permutation for each",
	`^(places|replace|filter)`:                   "they compress or expand vectors by masks",
	`^within`:                                    "a plain loop has two comparisons for an index, and AVX2 four indices in a vector",
}

// A kernel of AVX-512 has one of AVX2, or the reason stands in notAVX2.
func TestEveryKernelHasAVX2(t *testing.T) {
	files, err := filepath.Glob("*_amd64.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	name := regexp.MustCompile(`(?m)^func (\w+?)_?(AVX2|AVX512)\(`)
	kernels := make(map[string][]string) // by level
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			kernels[m[2]] = append(kernels[m[2]], m[1])
		}
	}
	if len(kernels["AVX512"]) < 300 {
		t.Fatalf("%d kernels of AVX-512 found, want hundreds", len(kernels["AVX512"]))
	}
	used := make(map[string]bool)
	for _, k := range kernels["AVX512"] {
		if slices.Contains(kernels["AVX2"], k) {
			continue
		}
		stated := false
		for pattern := range notAVX2 {
			if regexp.MustCompile(pattern).MatchString(k) {
				stated, used[pattern] = true, true
			}
		}
		if !stated {
			t.Errorf("AVX-512 has %s, AVX2 has not: write it, or state the reason in notAVX2", k)
		}
	}
	for pattern, reason := range notAVX2 {
		if !used[pattern] {
			t.Errorf("AVX2 has all kernels of %s: %q is no reason any longer", pattern, reason)
		}
	}
}
