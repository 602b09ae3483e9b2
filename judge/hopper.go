package judge

import "fmt"

const (
	ptxWgmma = "NVIDIA, PTX ISA 9.2, register fragments for wgmma.mma_async"
	ptxTmem  = "NVIDIA, PTX ISA 9.2, tcgen05 data movement shapes, with the numbers of CUTLASS 4, copy_traits_sm100.hpp"
	ptxTgen  = "NVIDIA, PTX ISA 9.2, tcgen05 data path layouts D and F, with the numbers of CUTLASS 4, mma_traits_sm100_frag.hpp"
)

// nvidiaVolta has the four forms of m8n8k4 with 16-bit floats, by the orders of A and of B. Four
// lanes and the four that are 16 further are a group, which multiplies a pair of matrices.
// Source: PTX ISA, matrix fragments for mma.m8n8k4 with .f16.
func nvidiaVolta() (list []MatrixInstruction) {
	for _, a := range []string{"row", "col"} {
		for _, b := range []string{"row", "col"} {
			for _, acc := range []int{32, 16} {
				fa := fragment("A", 16, "block4 m8 k4", "4:m 4:block 2:4m", "4:k")
				if a == "col" {
					fa = fragment("A", 16, "block4 m8 k4", "4:k 4:block 2:4m", "4:m")
				}
				fb := fragment("B", 16, "block4 k4 n8", "4:n 4:block 2:4n", "4:k")
				if b == "row" {
					fb = fragment("B", 16, "block4 k4 n8", "4:k 4:block 2:4n", "4:n")
				}
				fc := fragment("C", 32, "block4 m8 n8", "2:m 2:2n 4:block 2:4m", "2:n 2:2m 2:4n")
				name := fmt.Sprintf("sm70.mma.m8n8k4.%s.%s.f16", a, b)
				if acc == 16 {
					fc = fragment("C", 16, "block4 m8 n8", "4:m 4:block 2:4m", "8:n")
					name += ".f16"
				}
				list = append(list, MatrixInstruction{Name: name, Thread: "lane", Source: ptxMMA, Fragments: []Fragment{fa, fb, fc}})
			}
		}
	}
	return list
}

// nvidiaWgmma has wgmma with A in registers. Each of the four warps has 16 rows, as mma has them.
// B is in shared memory, and A may be there too.
func nvidiaWgmma() (list []MatrixInstruction) {
	for _, g := range []struct {
		bits, acc int
		types     []string
	}{
		{16, 32, []string{"f16", "bf16"}},
		{16, 16, []string{"f16.f16"}},
		{32, 32, []string{"tf32"}},
		{8, 32, []string{"e4m3", "e5m2", "s8", "u8"}},
		{8, 16, []string{"e4m3.f16", "e5m2.f16"}},
		{1, 32, []string{"b1"}},
	} {
		k, w := 256/g.bits, max(1, 32/g.bits)
		for _, t := range g.types {
			for n := 8; n <= 256; n += 8 {
				if (t == "s8" || t == "u8" || t == "b1") && n > 24 && n%16 != 0 {
					continue // the integer forms have multiples of 16 from there on
				}
				list = append(list, MatrixInstruction{
					Name: fmt.Sprintf("sm90.wgmma.m64n%dk%d.%s", n, k, t), Thread: "thread", Source: ptxWgmma,
					Note: "B is in shared memory; Canonical describes it",
					Fragments: []Fragment{
						fragment("A", g.bits, fmt.Sprintf("m64 k%d", k), fmt.Sprintf("4:%dk 8:m 4:16m", w), fmt.Sprintf("%d:k 2:8m 2:%dk", w, 4*w)),
						fragment("C", g.acc, fmt.Sprintf("m64 n%d", n), "4:2n 8:m 4:16m", fmt.Sprintf("2:n 2:8m %d:8n", n/8)),
					},
				})
			}
		}
	}
	return list
}

// nvidiaTmem has the tensor memory of sm100: 128 lanes of 512 columns of 32 bits. An accumulator
// of 128 rows has a row in each lane. One of 64 rows uses the first 16 of every 32 lanes. A load
// or a store moves the columns of 32 or 16 lanes to the registers of a warp. The form .16x32bx2 is
// left out, since the place of its second half is an operand.
func nvidiaTmem() (list []MatrixInstruction) {
	for _, m := range []int{128, 64} {
		for n := m / 8; n <= 256; n += m / 8 {
			threads, note := "128:m", "a thread is a lane of tensor memory, a value a column; A and B are in shared memory"
			if m == 64 {
				threads, note = "16:m 4:16m", "thread t is lane t mod 16 + 32·(t/16) of tensor memory, a value a column; A and B are in shared memory"
			}
			list = append(list, MatrixInstruction{
				Name: fmt.Sprintf("sm100.tcgen05.mma.m%dn%d.f32", m, n), Thread: "lane", Source: ptxTgen, Note: note,
				Fragments: []Fragment{fragment("C", 32, fmt.Sprintf("m%d n%d", m, n), threads, fmt.Sprintf("%d:n", n))},
			})
		}
	}
	for _, g := range []struct {
		shape           string
		lanes, columns  int // of x1
		most            int
		threads, values string
	}{
		{"32x32b", 32, 1, 128, "32:lane", ""},
		{"16x64b", 16, 2, 128, "2:8lane 2:column 8:lane", ""},
		{"16x128b", 16, 4, 64, "4:column 8:lane", "2:8lane"},
		{"16x256b", 16, 8, 32, "4:2column 8:lane", "2:column 2:8lane"},
	} {
		for num := 1; num <= g.most; num *= 2 {
			f := []Fragment{fragment("D", 32, fmt.Sprintf("lane%d column%d", g.lanes, g.columns*num), g.threads, fmt.Sprintf("%s %d:%dcolumn", g.values, num, g.columns))}
			for _, op := range []string{"ld", "st"} {
				list = append(list, MatrixInstruction{Name: fmt.Sprintf("sm100.tcgen05.%s.%s.x%d", op, g.shape, num), Thread: "lane", Source: ptxTmem, Fragments: f})
			}
		}
	}
	return list
}
