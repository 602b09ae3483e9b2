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

// nvidiaMoves has ldmatrix, and stmatrix, which has the same places. A matrix has 8 rows of 16
// bytes. Thread 8i+j has the address of row j of matrix i.
func nvidiaMoves() (list []MatrixInstruction) {
	for _, num := range []int{1, 2, 4} {
		for _, trans := range []string{"", ".trans"} {
			threads, values := "4:2col 8:row", "2:col"
			if trans != "" {
				threads, values = "4:2row 8:col", "2:row"
			}
			f := []Fragment{
				fragment("address", 128, fmt.Sprintf("matrix%d row8", num), fmt.Sprintf("8:row %d:matrix", num), ""),
				fragment("D", 16, fmt.Sprintf("matrix%d row8 col8", num), threads, fmt.Sprintf("%s %d:matrix", values, num)),
			}
			for _, op := range []string{"sm75.ldmatrix", "sm90.stmatrix"} {
				list = append(list, MatrixInstruction{Name: fmt.Sprintf("%s.m8n8.x%d%s.b16", op, num, trans), Thread: "lane", Source: ptxMove, Fragments: f})
			}
		}
	}
	return list
}
