package judge

import "fmt"

const amdMatrix = "AMD, matrix instruction calculator (ROCm/amd_matrix_instruction_calculator) and the CDNA and RDNA ISA guides"

// amdMFMA has the dense MFMA of CDNA 1 to 4, by the first generation that has it. A lane of the 64
// has one row of A and one column of B, with neighbours along k. Groups of lanes have the pairs of
// matrices, and then the later k. Four neighbouring rows of C are in four registers. Four rows of
// 64-bit floats are in four groups of lanes.
//
// The calculator has the instructions of CDNA 1 to 3. Those of CDNA 4 follow its formulas, and no
// table of theirs was compared. Of the forms f8f6f4 of CDNA 4 there is FP4, and 32x32x64 with FP8.
// Their places are those of AMD's article on the matrix cores of CDNA 3 and 4, and of Modular's kernel.
// Of the others no description was found.
func amdMFMA() (list []MatrixInstruction) {
	for _, g := range []struct {
		gen, bits int
		types     []string
		shapes    [][3]int // m = n, k, matrices
	}{
		{1, 32, []string{"f32"}, [][3]int{{32, 1, 2}, {16, 1, 4}, {4, 1, 16}, {32, 2, 1}, {16, 4, 1}}},
		{1, 16, []string{"f16"}, [][3]int{{32, 4, 2}, {16, 4, 4}, {4, 4, 16}, {32, 8, 1}, {16, 16, 1}}},
		{1, 8, []string{"i8"}, [][3]int{{32, 4, 2}, {16, 4, 4}, {4, 4, 16}, {32, 8, 1}, {16, 16, 1}}},
		{1, 16, []string{"bf16"}, [][3]int{{32, 2, 2}, {16, 2, 4}, {4, 2, 16}, {32, 4, 1}, {16, 8, 1}}},
		{2, 16, []string{"bf16"}, [][3]int{{32, 4, 2}, {16, 4, 4}, {4, 4, 16}, {32, 8, 1}, {16, 16, 1}}},
		{2, 64, []string{"f64"}, [][3]int{{16, 4, 1}, {4, 4, 4}}},
		{3, 32, []string{"xf32"}, [][3]int{{16, 8, 1}, {32, 4, 1}}},
		{3, 8, []string{"i8"}, [][3]int{{32, 16, 1}, {16, 32, 1}}},
		{4, 16, []string{"f16", "bf16"}, [][3]int{{32, 16, 1}, {16, 32, 1}}},
		{4, 8, []string{"i8"}, [][3]int{{32, 32, 1}, {16, 64, 1}}},
		{4, 4, []string{"fp4.fp4"}, [][3]int{{32, 64, 1}, {16, 128, 1}}},
		{4, 8, []string{"fp8.fp8"}, [][3]int{{32, 64, 1}}},
		{3, 8, []string{"fp8.fp8", "fp8.bf8", "bf8.fp8", "bf8.bf8"}, [][3]int{{32, 16, 1}, {16, 32, 1}}},
	} {
		for _, s := range g.shapes {
			m, k, blocks := s[0], s[1], s[2]
			pre, size := "", fmt.Sprintf("%dx%dx%d", m, m, k)
			if blocks > 1 {
				pre, size = fmt.Sprintf("block%d ", blocks), size+fmt.Sprintf(".%db", blocks)
			}
			run := m * k * blocks / 64 // neighbours along k
			threads, values := fmt.Sprintf("%d:block %d:%dk", blocks, 64/m/blocks, run), fmt.Sprintf("%d:k", run)
			if g.bits == 8 && k == 64 && m == 32 {
				threads, values = "2:16k", "16:k 2:32k"
			}
			in := func(name, axes, row string) Fragment {
				return fragment(name, g.bits, pre+axes, fmt.Sprintf("%d:%s %s", m, row, threads), values)
			}
			var c Fragment
			switch axes := fmt.Sprintf("%sm%d n%d", pre, m, m); {
			case g.bits == 64 && m == 16:
				c = fragment("C", 64, axes, "16:n 4:m", "4:4m")
			case g.bits == 64:
				c = fragment("C", 64, axes, "4:n 4:block 4:m", "")
			case m == 4:
				c = fragment("C", 32, axes, "4:n 16:block", "4:m")
			default:
				c = fragment("C", 32, axes, fmt.Sprintf("%d:n %d:4m", m, 64/m), fmt.Sprintf("4:m %d:%dm %d:block", m*m/256, 256/m, blocks))
			}
			source := amdMatrix
			if m*k == 2048 { // a form f8f6f4
				source = "AMD, Matrix Core Programming on AMD CDNA 3 and CDNA 4; Modular, mxfp4_matmul_amd"
			}
			for _, t := range g.types {
				list = append(list, MatrixInstruction{
					Name: fmt.Sprintf("cdna%d.mfma.%s.%s", g.gen, size, t), Thread: "lane", Source: source,
					Fragments: []Fragment{in("A", fmt.Sprintf("m%d k%d", m, k), "m"), in("B", fmt.Sprintf("k%d n%d", k, m), "n"), c},
				})
			}
		}
	}
	return list
}

// amdWMMA has the dense WMMA of RDNA 3 and 4. On RDNA 3 each half of a wave of 32 has all of
// A and of B, as each quarter of a wave of 64 has. On RDNA 4 each lane has a part of k. With floats
// of 16 bits, the halves of a wave take turns at four neighbours of k. Left out is its product of
// 4-bit integers with k of 16 for waves of 64: half of the lanes have no element. Source: the
// calculator. Kernels of AMD GPUOpen give the lower k to the lower half of a wave. Their product is the same,
// since A and B are exchanged alike.
func amdWMMA() (list []MatrixInstruction) {
	type form struct {
		name      string
		bits, acc int
	}
	forms := []form{{"f16", 16, 32}, {"bf16", 16, 32}, {"f16.f16", 16, 16}, {"bf16.bf16", 16, 16}, {"iu8", 8, 32}, {"iu4", 4, 32}}
	for _, f := range forms {
		for _, wave := range []int{32, 64} {
			name, note := "rdna3.wmma.16x16x16."+f.name, ""
			if wave == 64 {
				name += ".w64"
			}
			if f.acc == 16 {
				note = "an element of C is one half of a register of 32 bits, which OPSEL chooses"
			}
			in := func(of, axes, row string) Fragment {
				return fragment(of, f.bits, axes, fmt.Sprintf("16:%s %d:", row, wave/16), "16:k")
			}
			list = append(list, MatrixInstruction{Name: name, Thread: "lane", Source: amdMatrix, Note: note, Fragments: []Fragment{
				in("A", "m16 k16", "m"), in("B", "k16 n16", "n"),
				fragment("C", f.acc, "m16 n16", fmt.Sprintf("16:n %d:m", wave/16), fmt.Sprintf("%d:%dm", 256/wave, wave/16)),
			}})
		}
	}
	for _, f := range append(forms, form{"fp8.fp8", 8, 32}, form{"fp8.bf8", 8, 32}, form{"bf8.fp8", 8, 32}, form{"bf8.bf8", 8, 32}) {
		for _, k := range []int{16, 32} {
			for _, wave := range []int{32, 64} {
				if k == 32 && f.bits != 4 || k == 16 && f.bits == 4 && wave == 64 {
					continue
				}
				name, rows, half := fmt.Sprintf("rdna4.wmma.16x16x%d.%s", k, f.name), "16:n 2:8m", "8:m"
				run := k / 2 // neighbours along k
				threads, values := fmt.Sprintf("2:%dk", run), fmt.Sprintf("%d:k", run)
				switch {
				case f.bits == 16 && wave == 32:
					threads, values = "2:4k", "4:k 2:8k"
				case f.bits == 16:
					threads, values = "2:4k 2:8k", "4:k"
				case wave == 64:
					threads, values = fmt.Sprintf("2:%dk 2:%dk", run, run/2), fmt.Sprintf("%d:k", run/2)
				}
				if wave == 64 {
					name, rows, half = name+".w64", "16:n 2:8m 2:4m", "4:m"
				}
				list = append(list, MatrixInstruction{Name: name, Thread: "lane", Source: amdMatrix, Fragments: []Fragment{
					fragment("A", f.bits, fmt.Sprintf("m16 k%d", k), "16:m "+threads, values),
					fragment("B", f.bits, fmt.Sprintf("k%d n16", k), "16:n "+threads, values),
					fragment("C", f.acc, "m16 n16", rows, half),
				}})
			}
		}
	}
	return list
}
