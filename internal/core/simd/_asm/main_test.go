package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNEON wants each kernel of amd64 to have a form for NEON, or a reason why it has none. No reason is left over.
func TestNEON(t *testing.T) {
	of := func(file, suffixes string) (names []string) {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^func (\w+?)(?:`+suffixes+`)\(`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, f[1])
		}
		return names
	}
	for _, o := range outputs {
		has := of(o.name+"_arm64.go", neonLevel)
		if o.rows != nil {
			for _, k := range o.rows() {
				name := strings.TrimSuffix(k.function(k.field, neonLevel), neonLevel)
				if is := slices.Contains(has, name); is != (k.notNEON == "") && k.table != "FastTanh" {
					t.Errorf("%s of %s: a kernel with NEON: %t; the reason for none: %q", k.table, k.field, is, k.notNEON)
				}
			}
			continue
		}
		used := make(map[string]bool)
		for _, name := range of(o.name+"_amd64.go", "AVX2|AVX512") {
			if slices.Contains(has, name) {
				continue
			}
			without := true
			for beginning := range o.notNEON {
				if strings.HasPrefix(name, beginning) {
					used[beginning], without = true, false
				}
			}
			if without {
				t.Errorf("%s: %s has neither a form for NEON nor a reason why not", o.name, name)
			}
		}
		for beginning, why := range o.notNEON {
			if !used[beginning] || why == "" {
				t.Errorf("%s: the reason for %q, %q, is for nothing, or none", o.name, beginning, why)
			}
		}
	}
}

// TestAVX2 wants each kernel of amd64 to have a form for AVX2, or a line in the table of docs/kernels.md that says why not.
func TestAVX2(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| kernels | why AVX2 has none |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	used := make(map[string]bool)
	for line := range strings.Lines(table) {
		for _, beginning := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			used[beginning[1]] = false
		}
	}
	has := make(map[string]string) // the levels of a kernel
	files, err := filepath.Glob("../*_amd64.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^func (\w+?)_?(?:Stream)?(AVX2|AVX512)\(`).FindAllStringSubmatch(string(text), -1) {
			has[f[1]] += f[2]
		}
	}
	for name, levels := range has {
		lacks := !strings.Contains(levels, "AVX2")
		for beginning := range used {
			if strings.HasPrefix(name, beginning) && lacks {
				used[beginning], lacks = true, false
			}
		}
		if lacks {
			t.Errorf("%s has neither a form for AVX2 nor a line in docs/kernels.md that says why not", name)
		}
	}
	for beginning, is := range used {
		if !is {
			t.Errorf("docs/kernels.md says why AVX2 has no %s; no kernel needs that", beginning)
		}
	}
}

// TestCheckedIn wants the files of internal/core/simd to be what go run . writes.
func TestCheckedIn(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s isn't what the generator writes (%v): run go run . in internal/core/simd/_asm", name, err)
		}
	}
}

// TestLevelsOfInstructions wants kernels to have the instructions of their level alone, by the names of both.
func TestLevelsOfInstructions(t *testing.T) {
	files, err := filepath.Glob("../*_arm64.s")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	found := make(map[string]int)
	for _, file := range files {
		assembly, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for line := range strings.Lines(string(assembly)) {
			if of, ok := strings.CutPrefix(line, "TEXT ·"); ok {
				name, _, _ = strings.Cut(of, "(")
			}
			_, instruction, _ := strings.Cut(line, " // ")
			instruction, _, _ = strings.Cut(instruction, " ")
			want := map[string]string{"sdot": dotLevel, "smmla": i8mmLevel}[instruction]
			if want == "" {
				continue
			}
			if found[instruction]++; !strings.HasSuffix(name, want) {
				t.Errorf("%s: %s has %s", file, name, instruction)
			}
		}
	}
	if found["sdot"] == 0 || found["smmla"] == 0 {
		t.Errorf("the instructions of levels are %v", found)
	}
}

// TestVEX wants every instruction on vector registers to be one of AVX. One of SSE keeps the upper parts of its target. Some processors, Ice Lake and later
// ones of Intel, take hundreds of cycles for that while the parts are in use.
func TestVEX(t *testing.T) {
	files, err := filepath.Glob("../*_amd64.s")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	vector := regexp.MustCompile(`^\t([A-Z]\w*)\b.*\b[XYZ]\d+\b`)
	found := 0
	for _, file := range files {
		assembly, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(assembly)) {
			if m := vector.FindStringSubmatch(line); m != nil {
				if found++; !strings.HasPrefix(m[1], "V") && !strings.HasPrefix(m[1], "K") {
					t.Errorf("%s: %s", filepath.Base(file), strings.TrimSpace(line))
				}
			}
		}
	}
	if found < 10_000 {
		t.Errorf("%d instructions on vector registers", found)
	}
}
