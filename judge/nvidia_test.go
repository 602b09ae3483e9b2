package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func init() {
	for _, sm := range []string{"sm75", "sm80", "sm89", "sm90", "sm100", "sm120"} {
		documents[sm+".mma."] = ptxFragments
		documents[sm+".ldmatrix."] = ptxMatrices
		documents[sm+".stmatrix."] = ptxMatrices
	}
}

// either is a number of an if.
func either(condition bool, yes, no int) int {
	if condition {
		return yes
	}
	return no
}

// fragmentShape reads m, n, k and the type of A.
func fragmentShape(t testing.TB, name string) (m, n, k int, of string) {
	parts := regexp.MustCompile(`m(\d+)n(\d+)k(\d+)\.(\w+)`).FindStringSubmatch(name)
	if parts == nil {
		t.Fatalf("%s has no shape", name)
	}
	n3 := [3]int{}
	for i := range n3 {
		n3[i], _ = strconv.Atoi(parts[1+i])
	}
	return n3[0], n3[1], n3[2], parts[4]
}

// ptxFragments are the formulas of PTX ISA 9.2, "Matrix Fragments for mma", shape by shape.
func ptxFragments(t testing.TB, name string) map[string]formula {
	m, _, k, of := fragmentShape(t, name)
	group := func(lane int) int { return lane >> 2 }
	in := func(lane int) int { return lane % 4 } // threadID_in_group
	var a, b formula
	c := func(l, i int) []int { // of all shapes: row groupID, 8 further for c2 and c3
		return []int{group(l) + either(i < 2, 0, 8), in(l)*2 + i&1}
	}
	kind := map[string]string{"f16": "16", "bf16": "16", "tf32": "32", "f64": "64", "s8": "8", "u8": "8", "e4m3": "8", "e5m2": "8", "e3m2": "8", "e2m3": "8", "s4": "4", "u4": "4", "b1": "1"}[of]
	if of == "e2m1" {
		kind = map[int]string{32: "8", 64: "4"}[k]
	}
	switch shape := fmt.Sprintf("m%dk%d.%s", m, k, kind); shape {
	case "m8k4.64":
		a = func(l, i int) []int { return []int{group(l), in(l)} }
		b = func(l, i int) []int { return []int{in(l), group(l)} }
	case "m16k4.64", "m16k4.32":
		a = func(l, i int) []int { return []int{group(l) + either(i == 0, 0, 8), in(l)} }
		b = func(l, i int) []int { return []int{in(l), group(l)} }
	case "m16k8.64", "m16k8.32":
		a = func(l, i int) []int {
			return []int{group(l) + either(i == 0 || i == 2, 0, 8), in(l) + either(i < 2, 0, 4)}
		}
		b = func(l, i int) []int { return []int{in(l) + either(i == 0, 0, 4), group(l)} }
	case "m16k16.64":
		a = func(l, i int) []int {
			if i%2 == 0 {
				return []int{group(l), i*2 + in(l)}
			}
			return []int{group(l) + 8, i*2 - 2 + in(l)}
		}
		b = func(l, i int) []int { return []int{in(l) + i*4, group(l)} }
	case "m16k8.16":
		a = func(l, i int) []int { return []int{group(l) + either(i < 2, 0, 8), in(l)*2 + i&1} }
		b = func(l, i int) []int { return []int{in(l)*2 + i, group(l)} }
	case "m16k16.16":
		a = func(l, i int) []int {
			return []int{group(l) + either(i < 2 || 4 <= i && i < 6, 0, 8), in(l)*2 + i&1 + either(i < 4, 0, 8)}
		}
		b = func(l, i int) []int { return []int{in(l)*2 + i&1 + either(i < 2, 0, 8), group(l)} }
	case "m8k16.8":
		a = func(l, i int) []int { return []int{group(l), in(l)*4 + i} }
		b = func(l, i int) []int { return []int{in(l)*4 + i, group(l)} }
	case "m16k16.8":
		a = func(l, i int) []int { return []int{group(l) + either(i < 4, 0, 8), in(l)*4 + i&3} }
		b = func(l, i int) []int { return []int{in(l)*4 + i, group(l)} }
	case "m16k32.8":
		a = func(l, i int) []int {
			return []int{group(l) + either(i < 4 || 8 <= i && i < 12, 0, 8), in(l)*4 + i&3 + either(i < 8, 0, 16)}
		}
		b = func(l, i int) []int { return []int{in(l)*4 + i&3 + either(i < 4, 0, 16), group(l)} }
	case "m8k32.4":
		a = func(l, i int) []int { return []int{group(l), in(l)*8 + i} }
		b = func(l, i int) []int { return []int{in(l)*8 + i, group(l)} }
	case "m16k32.4":
		a = func(l, i int) []int { return []int{group(l) + either(i < 8, 0, 8), in(l)*8 + i&7} }
		b = func(l, i int) []int { return []int{in(l)*8 + i, group(l)} }
	case "m16k64.4":
		a = func(l, i int) []int {
			return []int{group(l) + either(i < 8 || 16 <= i && i < 24, 0, 8), in(l)*8 + i&7 + either(i < 16, 0, 32)}
		}
		b = func(l, i int) []int { return []int{in(l)*8 + i&7 + either(i < 8, 0, 32), group(l)} }
	case "m8k128.1":
		a = func(l, i int) []int { return []int{group(l), in(l)*32 + i} }
		b = func(l, i int) []int { return []int{in(l)*32 + i, group(l)} }
	case "m16k128.1":
		a = func(l, i int) []int { return []int{group(l) + either(i < 32, 0, 8), in(l)*32 + i&31} }
		b = func(l, i int) []int { return []int{in(l)*32 + i, group(l)} }
	case "m16k256.1":
		a = func(l, i int) []int {
			return []int{group(l) + either(i < 32 || 64 <= i && i < 96, 0, 8), in(l)*32 + i&31 + either(i < 64, 0, 128)}
		}
		b = func(l, i int) []int { return []int{in(l)*32 + i&31 + either(i < 32, 0, 128), group(l)} }
	default:
		t.Fatalf("%s: no formula of %s", name, shape)
	}
	return map[string]formula{"A": a, "B": b, "C": c}
}

// ptxMatrices are the places of ldmatrix and stmatrix by PTX ISA 9.2: register r of a lane has two elements of a row of matrix
// r, or of a column with trans. Lanes 8r to 8r+7 have the addresses of its rows. With 8 bits, a lane has four neighbours of a row.
// With m16n16, two registers have four neighbours of a column each, and with m16n8 one has two neighbours of two columns.
func ptxMatrices(_ testing.TB, name string) map[string]formula {
	rows := 8
	d := func(l, i int) []int { return []int{i / 2, l / 4, l%4*2 + i%2} }
	switch {
	case strings.Contains(name, "m8n16"):
		d = func(l, i int) []int { return []int{i / 4, l / 4, l%4*4 + i%4} }
	case strings.Contains(name, "m16n16"):
		rows = 16
		d = func(l, i int) []int { return []int{i / 8, l%4*4 + i%4, l/4 + i/4%2*8} }
	case strings.Contains(name, "m16n8"):
		d = func(l, i int) []int { return []int{i / 4, l%4*2 + i%2, l/4 + i/2%2*8} }
	case strings.Contains(name, ".trans"):
		d = func(l, i int) []int { return []int{i / 2, l%4*2 + i%2, l / 4} }
	}
	return map[string]formula{"address": func(l, _ int) []int { return []int{l / rows, l % rows} }, "D": d}
}
