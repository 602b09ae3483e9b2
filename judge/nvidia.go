package judge

import "fmt"

const (
	ptxMMA  = "NVIDIA, PTX ISA 9.2, matrix fragments for mma"
	ptxMove = "NVIDIA, PTX ISA 9.2, ldmatrix and stmatrix"
)

// nvidiaMMA has the dense forms of mma. Source: PTX ISA, warp-level matrix instructions. Four
// lanes share a row of A and of C, and a column of B. A register of 32 bits has neighbours along
// k. Then come the rows 8 further, then the later k.
func nvidiaMMA() (list []MatrixInstruction) {
	for _, g := range []struct {
		sm, m int
		k     []int
		bits  int // of an element of A and B
		acc   int // of an accumulator
		types []string
	}{
		{75, 16, []int{8}, 16, 32, []string{"f16"}},
		{75, 16, []int{8}, 16, 16, []string{"f16.f16"}},
		{80, 16, []int{16}, 16, 32, []string{"f16"}},
		{80, 16, []int{16}, 16, 16, []string{"f16.f16"}},
		{80, 16, []int{8, 16}, 16, 32, []string{"bf16"}},
		{80, 16, []int{4, 8}, 32, 32, []string{"tf32"}},
		{80, 8, []int{4}, 64, 64, []string{"f64"}},
		{90, 16, []int{4, 8, 16}, 64, 64, []string{"f64"}},
		{75, 8, []int{16}, 8, 32, []string{"s8", "u8"}},
		{80, 16, []int{16, 32}, 8, 32, []string{"s8", "u8"}},
		{89, 16, []int{16, 32}, 8, 32, []string{"e4m3", "e5m2"}},
		{89, 16, []int{16, 32}, 8, 16, []string{"e4m3.f16", "e5m2.f16"}},
		{120, 16, []int{32}, 8, 32, []string{"e3m2", "e2m3", "e2m1"}},
		{120, 16, []int{64}, 4, 32, []string{"e2m1"}},
		{75, 8, []int{32}, 4, 32, []string{"s4", "u4"}},
		{80, 16, []int{32, 64}, 4, 32, []string{"s4", "u4"}},
		{75, 8, []int{128}, 1, 32, []string{"b1"}},
		{80, 16, []int{128, 256}, 1, 32, []string{"b1"}},
	} {
		for _, k := range g.k {
			for _, t := range g.types {
				w := max(1, 32/g.bits) // elements of a register
				list = append(list, MatrixInstruction{
					Name: fmt.Sprintf("sm%d.mma.m%dn8k%d.%s", g.sm, g.m, k, t), Thread: "lane", Source: ptxMMA,
					Fragments: []Fragment{
						fragment("A", g.bits, fmt.Sprintf("m%d k%d", g.m, k), fmt.Sprintf("4:%dk 8:m", w), fmt.Sprintf("%d:k %d:8m %d:%dk", w, g.m/8, k/4/w, 4*w)),
						fragment("B", g.bits, fmt.Sprintf("k%d n8", k), fmt.Sprintf("4:%dk 8:n", w), fmt.Sprintf("%d:k %d:%dk", w, k/4/w, 4*w)),
						fragment("C", g.acc, fmt.Sprintf("m%d n8", g.m), "4:2n 8:m", fmt.Sprintf("2:n %d:8m", g.m/8)),
					},
				})
			}
		}
	}
	return list
}

// nvidiaMoves has ldmatrix, and stmatrix, which has the same places. A matrix has rows of 16
// bytes: 8 of them, or 16 with m16n16. Thread r·i+j has the address of row j of matrix i. A row
// of elements of 6 or 4 bits ends in a gap. In a register each of them has 8 bits.
// PTX ISA shows the places of 8 bits as pictures. Their numbers are those of CuTe's copy traits.
func nvidiaMoves() (list []MatrixInstruction) {
	add := func(names []string, source string, bits, num, rows, cols int, threads, values string) {
		f := []Fragment{
			fragment("address", 128, fmt.Sprintf("matrix%d row%d", num, rows), fmt.Sprintf("%d:row %d:matrix", rows, num), ""),
			fragment("D", bits, fmt.Sprintf("matrix%d row%d col%d", num, rows, cols), threads, fmt.Sprintf("%s %d:matrix", values, num)),
		}
		for _, name := range names {
			list = append(list, MatrixInstruction{Name: name, Thread: "lane", Source: source, Fragments: f})
		}
	}
	const copies = "NVIDIA, PTX ISA 9.2, with the numbers of CUTLASS 4, copy_traits_sm100.hpp"
	for _, num := range []int{1, 2, 4} {
		both := func(of string) []string {
			return []string{fmt.Sprintf("sm75.ldmatrix.m8n8.x%d%s", num, of), fmt.Sprintf("sm90.stmatrix.m8n8.x%d%s", num, of)}
		}
		add(both(".b16"), ptxMove, 16, num, 8, 8, "4:2col 8:row", "2:col")
		add(both(".trans.b16"), ptxMove, 16, num, 8, 8, "4:2row 8:col", "2:row")
		narrow := []string{".b8x16.b6x16_p32", ".b8x16.b4x16_p64"}
		var straight, across []string
		for _, of := range narrow {
			straight = append(straight, fmt.Sprintf("sm100.ldmatrix.m8n16.x%d%s", num, of))
		}
		add(straight, copies, 8, num, 8, 16, "4:4col 8:row", "4:col")
		add([]string{fmt.Sprintf("sm100.stmatrix.m16n8.x%d.trans.b8", num)}, copies, 8, num, 8, 16, "4:2row 8:col", "2:row 2:8col")
		if num < 4 {
			for _, of := range append(narrow, ".b8") {
				across = append(across, fmt.Sprintf("sm100.ldmatrix.m16n16.x%d.trans%s", num, of))
			}
			add(across, copies, 8, num, 16, 16, "4:4row 8:col", "4:row 2:8col")
		}
	}
	return list
}
