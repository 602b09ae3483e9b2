package judge

import "fmt"

// intelAMX has the tile instructions of AMX. A tile has 16 rows of 64 bytes. B is in VNNI order: the
// elements of 4 bytes are neighbours along k. An element of a complex form is a complex number, with
// its real and imaginary part in 16 bits each. Source: Intel, the pseudocode of TDPBSUD and its like.
func intelAMX() (list []MatrixInstruction) {
	for _, g := range []struct {
		bits  int
		names []string
	}{
		{8, []string{"tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf8ps", "tdpbhf8ps", "tdphbf8ps", "tdphf8ps"}},
		{16, []string{"tdpbf16ps", "tdpfp16ps"}},
		{32, []string{"tmmultf32ps", "tcmmimfp16ps", "tcmmrlfp16ps"}},
	} {
		w := 32 / g.bits
		for _, name := range g.names {
			list = append(list, MatrixInstruction{
				Name: "amx." + name, Thread: "row", Source: "Intel, Architecture Instruction Set Extensions Programming Reference: AMX",
				Note: "a thread is a row of a tile register",
				Fragments: []Fragment{
					fragment("A", g.bits, fmt.Sprintf("m16 k%d", 16*w), "16:m", fmt.Sprintf("%d:k", 16*w)),
					fragment("B", g.bits, fmt.Sprintf("k%d n16", 16*w), fmt.Sprintf("16:%dk", w), fmt.Sprintf("%d:k 16:n", w)),
					fragment("C", 32, "m16 n16", "16:m", "16:n"),
				},
			})
		}
	}
	return list
}

// intelDPAS has DPAS with up to eight rows, for subgroups of 8 lanes (Xe-HPG) and of 16 (Xe-HPC).
// A lane has a column of B and of C. A is a run of rows over the lanes. A row of tf32 is in half
// of the lanes, so that one of a single row is left out: the other half has no element. Sources: Khronos,
// cl_intel_subgroup_matrix_multiply_accumulate and its form for tf32; Intel, sycl-tla, mma_traits_xe.hpp,
// which has the same registers for 16 lanes. For 8 lanes no table was compared.
func intelDPAS() (list []MatrixInstruction) {
	const source = "Khronos, OpenCL extension cl_intel_subgroup_matrix_multiply_accumulate; Intel, sycl-tla, mma_traits_xe.hpp"
	for _, lanes := range []int{8, 16} {
		for _, m := range []int{1, 2, 4, 8} {
			for _, t := range []struct {
				name string
				bits int
			}{{"f16", 16}, {"bf16", 16}, {"s8", 8}, {"u8", 8}, {"s4", 4}, {"u4", 4}, {"tf32", 32}} {
				w := 32 / t.bits
				run := 8 * w / lanes // of A's row in a lane
				threads, values := fmt.Sprintf("%d:%dk", lanes, run), fmt.Sprintf("%d:k %d:m", run, m)
				if t.bits == 32 {
					if lanes == 8 || m == 1 {
						continue
					}
					threads, values = "8:k 2:m", fmt.Sprintf("%d:2m", m/2)
				}
				list = append(list, MatrixInstruction{
					Name: fmt.Sprintf("xe.dpas.m%dn%dk%d.%s", m, lanes, 8*w, t.name), Thread: "lane", Source: source,
					Fragments: []Fragment{
						fragment("A", t.bits, fmt.Sprintf("m%d k%d", m, 8*w), threads, values),
						fragment("B", t.bits, fmt.Sprintf("k%d n%d", 8*w, lanes), fmt.Sprintf("%d:n", lanes), fmt.Sprintf("%d:k", 8*w)),
						fragment("C", 32, fmt.Sprintf("m%d n%d", m, lanes), fmt.Sprintf("%d:n", lanes), fmt.Sprintf("%d:m", m)),
					},
				})
			}
		}
	}
	return list
}

// armMatrix has the outer products of SME, for vectors of 128 to 2048 bits. It has the products of
// two rows and two columns in a vector too. Each element of the accumulator takes the neighbours of its size
// from the vectors. Source: Arm, Architecture Reference Manual for A-profile, in words. The places
// are those of QEMU's smmla, bfmmla and bfmopa, and of the sums of an smopa in its issue 2083. Of SVE's fmmla
// no table was compared.
func armMatrix() (list []MatrixInstruction) {
	const source = "Arm, Architecture Reference Manual for A-profile architecture: "
	for svl := 128; svl <= 2048; svl *= 2 {
		for _, op := range []struct {
			name      string
			bits, acc int
		}{
			{"fmopa.f32", 32, 32}, {"fmopa.f64", 64, 64}, {"fmopa.f16", 16, 32}, {"bfmopa.bf16", 16, 32}, {"fmopa.f16.f16", 16, 16}, {"bfmopa.bf16.bf16", 16, 16},
			{"smopa.s8", 8, 32}, {"umopa.u8", 8, 32}, {"sumopa.s8", 8, 32}, {"usmopa.u8", 8, 32}, {"smopa.s16", 16, 32}, {"umopa.u16", 16, 32}, {"smopa.s16.s64", 16, 64}, {"umopa.u16.u64", 16, 64},
		} {
			n, k := svl/op.acc, op.acc/op.bits
			list = append(list, MatrixInstruction{
				Name: fmt.Sprintf("sme.svl%d.%s", svl, op.name), Thread: "row", Source: source + "SME", Note: "A and B are vectors, C is a tile of ZA, whose rows are the threads",
				Fragments: []Fragment{
					fragment("A", op.bits, fmt.Sprintf("m%d k%d", n, k), "", fmt.Sprintf("%d:k %d:m", k, n)),
					fragment("B", op.bits, fmt.Sprintf("k%d n%d", k, n), "", fmt.Sprintf("%d:k %d:n", k, n)),
					fragment("C", op.acc, fmt.Sprintf("m%d n%d", n, n), fmt.Sprintf("%d:m", n), fmt.Sprintf("%d:n", n)),
				},
			})
		}
	}
	for _, op := range []struct {
		name           string
		bits, k, width int
	}{{"neon.smmla.s8", 8, 8, 32}, {"neon.ummla.u8", 8, 8, 32}, {"neon.usmmla.u8", 8, 8, 32}, {"neon.bfmmla.bf16", 16, 4, 32}, {"sve.fmmla.f32", 32, 2, 32}, {"sve.fmmla.f64", 64, 2, 64}} {
		list = append(list, MatrixInstruction{
			Name: op.name, Thread: "register", Source: source + "FEAT_I8MM, FEAT_BF16, FEAT_F32MM and FEAT_F64MM", Note: "each segment of an SVE vector multiplies its own matrices",
			Fragments: []Fragment{
				fragment("A", op.bits, fmt.Sprintf("m2 k%d", op.k), "", fmt.Sprintf("%d:k 2:m", op.k)),
				fragment("B", op.bits, fmt.Sprintf("k%d n2", op.k), "", fmt.Sprintf("%d:k 2:n", op.k)),
				fragment("C", op.width, "m2 n2", "", "2:n 2:m"),
			},
		})
	}
	return list
}

// appleMatrix has the 8×8 matrices of a SIMD group. Apple doesn't publish the places; MLX, which is
// Apple's, uses these in its kernels. Source: ml-explore/mlx, steel/gemm/mma.h.
func appleMatrix() (list []MatrixInstruction) {
	for _, t := range []struct {
		name string
		bits int
	}{{"f16", 16}, {"bf16", 16}, {"f32", 32}} {
		in := func(name, row, col string) Fragment {
			return fragment(name, t.bits, row+"8 "+col+"8", fmt.Sprintf("2:2%s 4:%s 2:4%s 2:4%s", col, row, col, row), "2:"+col)
		}
		list = append(list, MatrixInstruction{
			Name: "apple.simdgroup.8x8x8." + t.name, Thread: "lane", Source: "Apple, ml-explore/mlx, steel/gemm/mma.h",
			Fragments: []Fragment{in("A", "m", "k"), in("B", "k", "n"), in("C", "m", "n")},
		})
	}
	return list
}

// tenstorrentTiles has the tile of four faces, row after row, and the product of the matrix unit. Source: tenstorrent/tt-metal, tech_reports/tensor_layouts and tilize_utils.cpp, and
// tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/MVMUL.md.
func tenstorrentTiles() []MatrixInstruction {
	face := func(name, row, col string) Fragment {
		return fragment(name, 16, row+"32 "+col+"32", fmt.Sprintf("2:16%s 2:16%s", col, row), fmt.Sprintf("16:%s 16:%s", col, row))
	}
	return []MatrixInstruction{
		{
			Name: "tensix.tile.32x32x32.bf16", Thread: "face", Source: "Tenstorrent, tt-metal, tech_reports/tensor_layouts", Note: "a thread is a face",
			Fragments: []Fragment{face("A", "m", "k"), face("B", "k", "n"), face("C", "m", "n")},
		},
		{
			Name: "tensix.mvmul.8x16x16.bf16", Thread: "row", Source: "Tenstorrent, tt-isa-documentation, MVMUL", Note: "A is SrcB, B is SrcA and C is Dst; a thread is a row of a register file",
			Fragments: []Fragment{fragment("A", 16, "m8 k16", "8:m", "16:k"), fragment("B", 16, "k16 n16", "16:k", "16:n"), fragment("C", 16, "m8 n16", "8:m", "16:n")},
		},
	}
}
