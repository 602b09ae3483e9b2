package judge

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What CuTe, its DSL and pycute print is read: forms of their printers and of their IR.
func TestPrinted(t *testing.T) {
	const plain, swizzled = "(8,64):(64,1)", "Sw<3,3,3> ∘ 0 ∘ (8,64):(64,1)"
	for text, want := range map[string]string{
		"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))": "Sw<3,4,3> ∘ 0 ∘ ((8,16),(64,1)):((64,512),(1,0))",
		"S<2,0,3> o 8 o (8,8):(8,1)":                      "Sw<2,0,3> ∘ 8 ∘ (8,8):(8,1)", "Sw<3,4,3> o _0 o (_8,_64):(_64,_1)": "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)",
		`!cute.layout<"((1),1,1,1):((0),0,0,0)">`: "(1,1,1,1):(0,0,0,0)", `!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">`: "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)",
		`!cute.memref<f16, gmem, align<16>, "(8,64):(64,1)">`: plain, `!cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">`: swizzled,
		`!cute.memref<f16, smem, align<1024>, "S<3,4,3> o 0 o (8,64):(64,1)">`: "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)",
		"tensor<ptr<f32, gmem, align<16>> o (8,64):(64,1)>":                    plain, "tensor<ptr<f32, generic> o (8,64):(64,1)>": plain, "tensor<ptr<f16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>": swizzled,
		"tensor(raw_ptr(0x00007ffe26625740: f32, rmem, align<32>) o (8,64):(64,1), data=\n   [[ 0.000000,": plain,
		"raw_ptr(0x0000781f44200400: f32, gmem, align<16>) o (8,64):(64,1) =\n  ( 2.2, -0.9 )":             plain,
		"raw_ptr(0x0000000000000400: f16, smem, align<1024>, S<3,4,3>) o (8,64):(64,1)":                    swizzled,
		"ptr[32b](0x7ffc7aa1f180) o (_8,_64):(_64,_1)":                                                     plain, "ptr[32b](0x7ffc7aa1f180) o (_8,_64):(_64,_1):\n    0    1": plain, "gmem_ptr[32b](0x7f42efc00000) o (8,_64):(_64,_1)": plain,
		"ptr[32b](0x7ffc7aa1f180) o _8:_1:": "8:1", "smem_ptr[16b](unset) o (_8,_64):(_64,_1)": plain, "subptr[4b](0x7ffc.0) o (_8,_64):(_64,_1)": plain,
		"Sw<3,4,3>_smem_ptr[16b](0x7f8800000400) o (_8,_64):(_64,_1)": swizzled, "Sw<3,4,3>_smem_ptr[16b](SMEM_ADDR_A) o (_8,_64):(_64,_1)": swizzled,
		"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)": swizzled, "Sw<3,4,3> o smem_ptr[8b](unset) o (8,64):(64,1)": "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)", "Sw<2,4,3> o smem_ptr[32b](unset) o (_8,_16):(_16,_1)": "Sw<2,2,3> ∘ 0 ∘ (8,16):(16,1)",
		"Sw<3,4,3> o smem_ptr[4b](unset) o (8,64):(64,1)": "Sw<3,5,3> ∘ 0 ∘ (8,64):(64,1)", "tensor<ptr<f8E4M3FN, smem, S<3,4,3>> o (8,64):(64,1)>": "Sw<3,4,3> ∘ 0 ∘ (8,64):(64,1)",
		"pycute.Layout((8,64),(64,1))": plain, "pycute.Layout((4, 5))": "(4,5):(1,4)", "Layout((2,(2,2)),(4,(2,1)))": "(2,(2,2)):(4,(2,1))", "(8, 64):(64, 1)": plain,
		"ComposedLayout(Swizzle(3,3,3),0,Layout((8,64),(64,1)))": swizzled, "pycute.ComposedLayout(pycute.Swizzle(3, 3, 3), 0, pycute.Layout((8, 64), (64, 1)))": swizzled, "SW_3_3_3 o 0 o (8, 64):(64, 1)": swizzled,
		"SW_2_0_-3 o 0 o (8, 8):(8, 1)": "Sw<2,0,-3> ∘ 0 ∘ (8,8):(8,1)", "ComposedLayout(Layout((4,4),(4,1)),2,Layout(8,1))": "(4,4):(4,1) ∘ 2 ∘ 8:1",
		"cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))": swizzled,
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := c.String()
		if l, ok := c.Plain(); ok {
			got = l.String()
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"tensor<ptr<f32, generic> o (100,?{div=8}):(?{i32 div=8},1)>": "dynamic", "ArithTuple(0,_0) o (((_64,_8),1)):(((_1@0,_1@1),_64@1))": "coordinates", `!cute.layout<(1)>`: "in quotes", `!cute.layout<">`: "in quotes",
		"Sw<3,4,3>_smem_ptr[16b](0x7f8800000080) o (_8,_64):(_64,_1)": "isn't a multiple of the 1024 bytes", "Sw<3,0,3> o smem_ptr[16b](unset) o (8,64):(64,1)": "within an element", "ptr[32b](0x7 o 4:1": "closed",
		"ptr[32b](0x7)": "a layout", "Sw<3,4,3>_smem_ptr(0x400) o (8,64):(64,1)": "bits of an element", "Sw<3,4,3> o smem_sparse<2>_ptr[16b](unset) o (8,64):(64,1)": "sparse", "ComposedLayout(Swizzle(3,3,3),Layout(4,1))": "an offset",
		"ComposedLayout(Swizzle(3,3,3),0,ComposedLayout(Swizzle(3,3,3),0,Layout(4,1)))": "without a swizzle", `!cute.memref<f16, smem, S<3,4,3>, "S<3,4,3> o 0 o (8,64):(64,1)">`: "another",
	} {
		if c, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want %q", text, c, err, want)
		}
	}
}

// Encodings of shared memory are the offsets that Triton's lowering computes, element by element.
func TestSharedEncodings(t *testing.T) {
	shapes := func(r *rand.Rand) (vec, per, phases, cols, rows int) {
		vec, per, phases = 1<<r.IntN(4), 1<<r.IntN(3), 1<<r.IntN(4)
		return vec, per, phases, vec * phases << r.IntN(2), per * phases << r.IntN(3)
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 13))
		vec, per, phases, cols, rows := shapes(r)
		order, tails := "[1, 0]", []string{"", ", CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0]", ", CGALayout = [[0, 0]]"}
		swap := r.IntN(2) == 0
		if swap {
			order = "[0, 1]"
		}
		name := []string{"#ttg.swizzled_shared", "#triton_gpu.shared", "#shared1 = #ttg.swizzled_shared"}[r.IntN(3)]
		text := fmt.Sprintf("%s<{vec = %d, perPhase = %d, maxPhase = %d, order = %s%s}>", name, vec, per, phases, order, tails[r.IntN(3)])
		if r.IntN(2) == 0 {
			at := fmt.Sprintf("%dx%d", rows, cols)
			if swap {
				at = fmt.Sprintf("%dx%d", cols, rows)
			}
			text = fmt.Sprintf("!ttg.memdesc<%sxf16, %s, #ttg.shared_memory, mutable>", at, text[strings.LastIndexByte(text, '#'):])
		} else {
			cols, rows = vec*phases, per*phases
		}
		c, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if c.Size() != rows*cols {
			t.Fatalf("%s is %v, want %d by %d", text, c, rows, cols)
		}
		for i := range c.Size() {
			row, col := i%rows, i/rows
			if swap {
				row, col = i/cols, i%cols
			}
			want := row*cols + (col/vec^row/per%phases)*vec + col%vec
			if got, err := c.Offset(i); err != nil || got != want {
				t.Fatalf("%s is %v: row %d, column %d is at %d, want %d", text, c, row, col, got, want)
			}
		}
	}
	for _, width := range []int{32, 64, 128} {
		for _, bits := range []int{8, 16, 32} {
			for _, shape := range [][2]int{{0, 0}, {8, 1}, {64, 1}, {512, 2}} {
				attr := fmt.Sprintf("#ttg.nvmma_shared<{swizzlingByteWidth = %d, transposed = false, elementBitWidth = %d}>", width, bits)
				cols, rows := 8*width/bits, 8
				tile := cols
				if shape[0] > 0 {
					rows, cols = shape[0], cols*shape[1]
					attr = fmt.Sprintf("!ttg.memdesc<%dx%dxf%d, %s, #smem>", rows, cols, bits, attr)
				}
				c, err := Parse(attr)
				if err != nil || c.Size() != rows*cols {
					t.Fatalf("%s: %v, %v", attr, c, err)
				}
				for i := range c.Size() {
					row, col := i%rows, i/rows
					vec, per := 128/bits, 128/width
					want := row*tile + col/tile*rows*tile + (col%tile/vec^row/per%(width/16))*vec + col%vec
					if got, err := c.Offset(i); err != nil || got != want {
						t.Fatalf("%s is %v: row %d, column %d is at %d, want %d", attr, c, row, col, got, want)
					}
				}
			}
		}
	}
}

func TestEncodings(t *testing.T) {
	for text, want := range map[string]string{
		"#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>": "{dim0 = []}", "!ttg.memdesc<64xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem>": "{dim0 = [[1], [2], [4], [8], [16], [32]]}",
		"!ttg.memdesc<2x4x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>, #smem>":                                                             "{dim0 = [[16]], dim1 = [[5], [10]], dim2 = [[1], [2]]}",
		"!ttg.memdesc<8x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0], CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>, #smem>": "{dim0 = [[5], [10]], dim1 = [[1], [2]]}",
		"!ttg.memdesc<8x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0], CGALayout = [[1, 0]]}>, #smem>":                                         "{dim0 = [[5], [10]], dim1 = [[1], [2]]}",
		"#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [1, 0]}>":                                                                   "{register = [[0, 1], [1, 0]], lane = [[0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], warp = [[0, 8]]}",
		"#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [1], CTASplitNum = [1], CTAOrder = [0]}>":              "{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}",
		"#ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = []}, alignment = 16>":                                                                                             "{offset = [[0, 1], [1, 0]], block = []}",
	} {
		l, err := parseEncoding(text)
		if err != nil || l.String() != want {
			t.Errorf("%s is %v, %v; want %s", text, l, err, want)
		}
	}
	for text, want := range map[string]string{
		"#ttg.nvidia_mma<{versionMajor = 3}>": "isn't read", "#ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 1, order = [0]}>": "no power of two", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1}>": "order",
		"#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 0]}>": "axes", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], x = 1}>": "attribute x", "#ttg.swizzled_shared<{vec": "closed",
		"#ttg.swizzled_shared<{vec = 1, vec = 1}>": "KEY", "!ttg.memdesc<64x64xf16, #shared, #smem>": "alias", "!ttg.memdesc<3x4xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>>": "powers of two",
		"!ttg.memdesc<4x4xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>>": "core matrix", "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32, 1], warpsPerCTA = [4], order = [0]}>": "threadsPerWarp",
		"#ttg.blocked<{sizePerThread = [1073741824, 1073741824], threadsPerWarp = [32, 1], warpsPerCTA = [4, 4], order = [0, 1]}>": "62 bits",
	} {
		if c, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, c, err, want)
		}
	}
}
