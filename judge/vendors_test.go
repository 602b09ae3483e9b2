package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func init() {
	documents["sm70.mma."] = voltaFragments
	documents["sm90.wgmma."] = wgmmaFragments
	documents["sm100.tcgen05.mma."] = tensorMemory
	documents["sm100.tcgen05.ld."] = tensorMemoryMoves
	documents["sm100.tcgen05.st."] = tensorMemoryMoves
	for _, gen := range []string{"1", "2", "3", "4"} {
		documents["cdna"+gen+".mfma."] = mfmaFragments
	}
	documents["rdna3."] = rdna3Fragments
	documents["rdna4."] = rdna4Fragments
	documents["amx."] = amxTiles
	documents["xe.dpas."] = dpasFragments
	documents["sme."] = outerProducts
	documents["neon."] = armProducts
	documents["sve."] = armProducts
	documents["apple."] = simdgroupMatrices
	documents["tensix.tile."] = facedTile
	documents["tensix.mvmul."] = func(testing.TB, string) map[string]formula { // row and column of the register files
		plain := func(t, i int) []int { return []int{t, i} }
		return map[string]formula{"A": plain, "B": plain, "C": plain}
	}
}

// numbersIn reads the numbers of a name by a pattern.
func numbersIn(t testing.TB, name, pattern string) []int {
	parts := regexp.MustCompile(pattern).FindStringSubmatch(name)
	if parts == nil {
		t.Fatalf("%s isn't as %s", name, pattern)
	}
	var list []int
	for _, p := range parts[1:] {
		n, _ := strconv.Atoi(p)
		list = append(list, n)
	}
	return list
}

// voltaFragments are the formulas of PTX ISA 9.2, "mma.m8n8k4 with .f16 floating point type". MMA computation x has four
// lanes from 4x on, and four from 16+4x on.
func voltaFragments(t testing.TB, name string) map[string]formula {
	computation := func(l int) int { return l % 16 / 4 }
	straight := func(l int) int { return l%4 + either(l < 16, 0, 4) } // %laneid % 4, and 4 more for the high group
	across := func(l, i int) int { return i%4 + either(l < 16, 0, 4) }
	a := func(l, i int) []int { return []int{computation(l), straight(l), i} }
	if strings.Contains(name, "k4.col") {
		a = func(l, i int) []int { return []int{computation(l), across(l, i), l % 4} }
	}
	b := func(l, i int) []int { return []int{computation(l), l % 4, across(l, i)} }
	if regexp.MustCompile(`k4\.\w+\.col`).MatchString(name) {
		b = func(l, i int) []int { return []int{computation(l), i, straight(l)} }
	}
	c := func(l, i int) []int {
		return []int{computation(l), l&1 + i&2 + either(l < 16, 0, 4), i&4 + l&2 + i&1}
	}
	if strings.HasSuffix(name, "f16.f16") {
		c = func(l, i int) []int { return []int{computation(l), straight(l), i} }
	}
	return map[string]formula{"A": a, "B": b, "C": c}
}

// wgmmaFragments are the formulas of PTX ISA 9.2, "Register Fragments and Shared Memory Matrix Layouts", by shape: warp w has rows 16w on.
func wgmmaFragments(t testing.TB, name string) map[string]formula {
	k := numbersIn(t, name, `k(\d+)`)[0]
	row := func(l int) int { return l/32*16 + l%32/4 }
	var a formula
	switch k {
	case 8:
		a = func(l, i int) []int { return []int{row(l) + either(i%2 == 0, 0, 8), l%4 + either(i < 2, 0, 4)} }
	case 16:
		a = func(l, i int) []int {
			return []int{row(l) + either(i%4 < 2, 0, 8), l%4*2 + i%2 + either(i < 4, 0, 8)}
		}
	case 32:
		a = func(l, i int) []int {
			return []int{row(l) + either(i%8 < 4, 0, 8), l%4*4 + i%4 + either(i < 8, 0, 16)}
		}
	case 256:
		a = func(l, i int) []int {
			return []int{row(l) + either(i%64 < 32, 0, 8), l%4*32 + i%32 + either(i < 64, 0, 128)}
		}
	}
	c := func(l, i int) []int { return []int{row(l) + i%4/2*8, l%4*2 + i/4*8 + i%2} }
	return map[string]formula{"A": a, "C": c}
}

// tensorMemory: layout D has row r in lane r. Layout F has 16 rows in the first lanes of each 32, and these lanes are counted.
func tensorMemory(_ testing.TB, _ string) map[string]formula {
	return map[string]formula{"C": func(lane, column int) []int { return []int{lane, column} }}
}

// tensorMemoryMoves are the numbers of CUTLASS's copy traits: the place in bits, in rows of the length that is moved.
func tensorMemoryMoves(t testing.TB, name string) map[string]formula {
	n := numbersIn(t, name, `\.(\d+)x(\d+)b\.x(\d+)`)
	row := n[1] * n[2] // bits of a lane of tensor memory
	var bits func(l, r int) int
	switch n[1] {
	case 32:
		bits = func(l, r int) int { return l*row + 32*r }
	case 64:
		bits = func(l, r int) int { return l%2*8*row + l/2%2*32 + l/4*row + 64*r }
	case 128:
		bits = func(l, r int) int { return l%4*32 + l/4*row + r%2*8*row + r/2*128 }
	case 256:
		bits = func(l, r int) int { return l%4*64 + l/4*row + r%2*32 + r/2%2*8*row + r/4*256 }
	}
	return map[string]formula{"D": func(l, r int) []int { return []int{bits(l, r) / row, bits(l, r) % row / 32} }}
}

// mfmaFragments are the calculator's: element (i, k) of block b of A is in lane i + M·(b + B·(k / run)), as its element k mod run.
func mfmaFragments(t testing.TB, name string) map[string]formula {
	n := numbersIn(t, name, `(\d+)x\d+x(\d+)`)
	m, k, blocks := n[0], n[1], 1
	if strings.Contains(name, "b.") {
		blocks = numbersIn(t, name, `(\d+)b\.`)[0]
	}
	run := m * k * blocks / 64
	at := func(b, i, j int) []int {
		if blocks == 1 {
			return []int{i, j}
		}
		return []int{b, i, j}
	}
	along := func(l, i int) int { return l/(m*blocks)*run + i }
	if strings.Contains(name, "32x32x64.fp8") { // AMD's article: two runs of 16, 32 apart
		along = func(l, i int) int { return l/32*16 + i/16*32 + i%16 }
	}
	a := func(l, i int) []int { return at(l/m%blocks, l%m, along(l, i)) }
	b := func(l, i int) []int { return at(l/m%blocks, along(l, i), l%m) }
	var c formula
	switch {
	case strings.HasSuffix(name, "f64") && m == 16:
		c = func(l, i int) []int { return []int{4*i + l/16, l % 16} }
	case strings.HasSuffix(name, "f64"):
		c = func(l, i int) []int { return []int{l % 16 / 4, l / 16, l % 4} }
	case m == 32: // 16 registers of a block: 4 neighbours, every 8 rows
		c = func(l, i int) []int { return at(i/16, i%16/4*8+l/32*4+i%4, l%32) }
	case m == 16:
		c = func(l, i int) []int { return at(i/4, l/16*4+i%4, l%16) }
	case m == 4:
		c = func(l, i int) []int { return at(l/4, i, l%4) }
	}
	return map[string]formula{"A": a, "B": b, "C": c}
}

func rdna3Fragments(_ testing.TB, name string) map[string]formula {
	halves := 2
	if strings.HasSuffix(name, ".w64") {
		halves = 4
	}
	return map[string]formula{
		"A": func(l, i int) []int { return []int{l % 16, i} },
		"B": func(l, i int) []int { return []int{i, l % 16} },
		"C": func(l, i int) []int { return []int{halves*i + l/16, l % 16} },
	}
}

// rdna4Fragments are the calculator's, from a lane and an element to k. Waves of 64 have half of the neighbours in a lane.
func rdna4Fragments(t testing.TB, name string) map[string]formula {
	k := numbersIn(t, name, `16x16x(\d+)`)[0]
	wide, short := strings.HasSuffix(name, ".w64"), strings.Contains(name, "f16")
	at := func(l, i int) int {
		switch {
		case short && wide:
			return l/16*4 + i
		case short:
			return i/4*8 + l/16*4 + i%4
		case wide:
			return l/16%2*k/2 + l/32*k/4 + i
		}
		return l/16*k/2 + i
	}
	row := func(l, i int) int {
		if wide {
			return l/16%2*8 + l/32*4 + i
		}
		return l/16*8 + i
	}
	return map[string]formula{
		"A": func(l, i int) []int { return []int{l % 16, at(l, i)} },
		"B": func(l, i int) []int { return []int{at(l, i), l % 16} },
		"C": func(l, i int) []int { return []int{row(l, i), l % 16} },
	}
}

// amxTiles follows the pseudocode: C[m][n] += Σ A.row[m][w·k+j] · B.row[k][w·n+j] over k and j.
func amxTiles(_ testing.TB, name string) map[string]formula {
	w := 4
	if strings.Contains(name, "tdp") && strings.Contains(name, "16ps") {
		w = 2
	} else if strings.Contains(name, "tf32") || strings.Contains(name, "tcmm") {
		w = 1
	}
	return map[string]formula{
		"A": func(row, i int) []int { return []int{row, i} },
		"B": func(row, i int) []int { return []int{w*row + i%w, i / w} },
		"C": func(row, i int) []int { return []int{row, i} },
	}
}

// dpasFragments: component r of A is row r, in runs over the lanes; component d of B has the rows w·d on of a column.
func dpasFragments(t testing.TB, name string) map[string]formula {
	n := numbersIn(t, name, `m(\d+)n(\d+)k(\d+)`)
	lanes, run := n[1], n[2]/n[1]
	if run == 0 { // element x of A's rows is in lane x mod 16
		return map[string]formula{
			"A": func(l, i int) []int { return []int{(l + 16*i) / 8, (l + 16*i) % 8} },
			"B": func(l, i int) []int { return []int{i, l} },
			"C": func(l, i int) []int { return []int{i, l} },
		}
	}
	return map[string]formula{
		"A": func(l, i int) []int { return []int{i / run, run*l + i%run} },
		"B": func(l, i int) []int { return []int{i, l} },
		"C": func(l, i int) []int { return []int{i, l % lanes} },
	}
}

func outerProducts(t testing.TB, name string) map[string]formula {
	in := numbersIn(t, name, `[a-z](\d+)(?:\.[a-z]+\d+)?$`)[0]
	out := max(32, in)
	if strings.Count(name, ".") == 4 {
		out = numbersIn(t, name, `(\d+)$`)[0]
	}
	k := out / in
	return map[string]formula{
		"A": func(_, i int) []int { return []int{i / k, i % k} },
		"B": func(_, i int) []int { return []int{i % k, i / k} },
		"C": func(row, i int) []int { return []int{row, i} },
	}
}

// armProducts: row r of A and column r of B are the half r of a vector; the result is row after row.
func armProducts(t testing.TB, name string) map[string]formula {
	k := map[string]int{"8": 8, "16": 4, "32": 2, "64": 2}[fmt.Sprint(numbersIn(t, name, `(\d+)$`)[0])]
	return map[string]formula{
		"A": func(_, i int) []int { return []int{i / k, i % k} },
		"B": func(_, i int) []int { return []int{i % k, i / k} },
		"C": func(_, i int) []int { return []int{i / 2, i % 2} },
	}
}

// simdgroupMatrices follows MLX, which computes a row and a column from lane/4, its qid.
func simdgroupMatrices(_ testing.TB, _ string) map[string]formula {
	f := func(l, i int) []int {
		qid := l / 4
		return []int{qid&4 + l/2%4, qid&2*2 + l%2*2 + i}
	}
	return map[string]formula{"A": f, "B": f, "C": f}
}

// facedTile has the faces from left to right, then the lower ones.
func facedTile(_ testing.TB, _ string) map[string]formula {
	f := func(face, i int) []int { return []int{face/2*16 + i/16, face%2*16 + i%16} }
	return map[string]formula{"A": f, "B": f, "C": f}
}
