// Asm writes the assembly of internal/core/simd: go run . in this folder. Its test compares the files of the repository with its output.
//
// program.go is the language in which a row kernel is described. The descriptions of functions are functions.go for float32,
// double.go for float64, trig.go, normal.go and pow.go for functions that mark elements, and quick.go for op.Fast. rows.go has all
// others. x86.go, turns.go, nontemporal.go and x86ops.go lower them to AVX2 and AVX-512. tables.go writes the Go side. Kernels that
// aren't rows have a file each and use avo directly.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// outputs are the pairs of files NAME_amd64.s and NAME_amd64.go, assembly and declarations, and the same pairs of arm64. rows lists rows,
// and write writes other kernels. neon writes other kernels for arm64. notNEON gives the reason where functions have no form for arm64,
// by the beginning of their names without the level.
var outputs = []struct {
	name    string
	rows    func() list
	write   func(c *build.Context)
	neon    func(f *armFile)
	notNEON map[string]string
}{
	{name: "arithmetic", rows: arithmetic},
	{name: "signs", rows: signs},
	{name: "comparisons", rows: comparisons},
	{name: "conversions", rows: conversions},
	{name: "sums", rows: sums},
	{name: "lines", rows: lines},
	{name: "gemm", write: writeGEMM, neon: (*armFile).gemmNEON,
		notNEON: map[string]string{"pairs": "rows are laid side by side instead, and go by chains"}},
	{name: "functions", rows: functions},
	{name: "double", rows: doubles},
	{name: "normal", rows: normals},
	{name: "trig", rows: trigonometric},
	{name: "pow", rows: powers},
	{name: "quick", rows: quick},
	{name: "transpose", write: writeTranspose, neon: (*armFile).transposeNEON,
		notNEON: map[string]string{"transposeStream": unstored}},
	{name: "bytes", write: writeBytes, neon: (*armFile).bytesNEON,
		notNEON: map[string]string{"tileBytes": "its tiles have the shapes that 32 registers of 16 bytes hold, neonByteRows", "deepBytes": "a plain loop serves"}},
	{name: "quads", write: writeQuads, notNEON: map[string]string{"": "they need AVX-512 VNNI; NEON's dot products are an extension that not all arm64 have"}},
	{name: "quantized", rows: quantized},
	{name: "packed", write: writePacked, neon: (*armFile).packedNEON},
	{name: "packedwide", write: writePackedWide, notNEON: map[string]string{"": "it is the form of packed for AVX-512"}},
	{name: "copies", write: writeCopies, notNEON: map[string]string{"copyLines": unstored}},
	{name: "select", write: writeSelect, neon: (*armFile).selectNEON,
		notNEON: map[string]string{"partition": compressed, "places": compressed, "replace": compressed, "filter": compressed, "network": "without partition there is no sort that needs it",
			"within": "a plain loop has two comparisons for an index, and a vector but two indices"}},
}

const compressed = "it compresses vectors by masks, which takes NEON a table and a permutation for each; AVX2 has none either"

const unstored = "arm64 has but a hint for non-temporal stores, of pairs: the usual stores serve"

func main() {
	files, err := generate()
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join("..", name), text, 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

// generate returns the text of every file.
func generate() (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, o := range outputs {
		c := build.NewContext()
		c.ConstraintExpr("!purego")
		var arm armFile
		if o.write == nil {
			writeRows(c, o.rows())
			arm.writeNEON(o.rows())
		} else {
			o.write(c)
			if o.neon != nil {
				o.neon(&arm)
			}
		}
		if arm.asm.Len() > 0 {
			for suffix, text := range map[string][]byte{"_arm64.s": arm.assembly(), "_arm64.go": arm.declarations()} {
				files[o.name+suffix] = text
			}
		}
		f, err := c.Result()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		if err := pass.Compile.Execute(f); err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		if err := checked(f); err != nil {
			return nil, err
		}
		prune(f)
		cfg := printer.Config{Name: "internal/core/simd/_asm", Pkg: "simd"}
		for _, p := range []struct {
			suffix string
			printer.Printer
		}{{"_amd64.s", printer.NewGoAsm(cfg)}, {"_amd64.go", printer.NewStubs(cfg)}} {
			text, err := p.Print(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.name, err)
			}
			files[o.name+p.suffix] = named(text)
			f.Sections = slices.DeleteFunc(f.Sections, func(s ir.Section) bool { // which Go doesn't see
				fn, ok := s.(*ir.Function)
				return ok && strings.HasSuffix(fn.Name, "<>")
			})
		}
	}
	return files, tables(files)
}

// named gives types the names of package simd. avo doesn't know these.
func named(text []byte) []byte {
	return []byte(strings.NewReplacer("[]struct{}", "Run", "*[4]uintptr", "*Prefetch").Replace(string(text)))
}

// prune removes moves of a vector register to itself. An instruction that overwrites its operand needs a copy of it; where the operand
// isn't used again, such a move remains of the copy.
func prune(f *ir.File) {
	for _, fn := range f.Functions() {
		fn.Nodes = slices.DeleteFunc(fn.Nodes, func(n ir.Node) bool {
			i, ok := n.(*ir.Instruction)
			return ok && (i.Opcode == "VMOVDQU64" || i.Opcode == "VMOVUPS") && len(i.Operands) == 2 && i.Operands[0].Asm() == i.Operands[1].Asm()
		})
	}
}

// checked refuses frames, and in functions for AVX2 the registers that AVX2 lacks. The allocator knows no levels.
func checked(f *ir.File) error {
	high := regexp.MustCompile(`\b[XYZ](1[6-9]|[23]\d)\b|\b(Z|K)\d`)
	for _, fn := range f.Functions() {
		if fn.FrameBytes() > 0 {
			return fmt.Errorf("%s: a frame of %d bytes; kernels have none", fn.Name, fn.FrameBytes())
		}
		for _, i := range fn.Instructions() {
			for _, o := range i.Operands {
				if strings.HasSuffix(strings.TrimSuffix(fn.Name, "<>"), "AVX2") && high.MatchString(o.Asm()) {
					return fmt.Errorf("%s: %s uses %s", fn.Name, i.Opcode, o.Asm())
				}
			}
		}
	}
	return nil
}
