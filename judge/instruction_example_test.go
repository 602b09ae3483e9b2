package judge_test

import (
	"context"
	"fmt"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// The multiplication of Ampere: four lanes share a row of A, and each register has two neighbours along k.
func ExampleInstruction() {
	m, err := judge.Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		panic(err)
	}
	for _, f := range m.Fragments {
		fmt.Println(f)
	}
	// Output:
	// A m16 × k16 of 16 bits: ((4,8),(2,2,2)):((32,1),(16,8,128))
	// B k16 × n8 of 16 bits: ((4,8),(2,2)):((2,16),(1,8))
	// C m16 × n8 of 32 bits: ((4,8),(2,2)):((32,1),(16,8))
}

func ExampleInstructions() {
	fmt.Println(judge.Instructions("sm80.mma.m16n8k8."))
	// Output: [sm80.mma.m16n8k8.bf16 sm80.mma.m16n8k8.tf32]
}

// Register 1 of lane 5 has its first element in row 9.
func ExampleFragment_Element() {
	m, err := judge.Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		panic(err)
	}
	a, err := m.Fragment("A")
	if err != nil {
		panic(err)
	}
	at, err := a.Element(5, 2)
	fmt.Println(a.Shape(), at, err)
	// Output: [16 16] [9 2] <nil>
}

func ExampleMatrixInstruction_Fragment() {
	m, err := judge.Instruction("sm75.ldmatrix.m8n8.x1.b16")
	if err != nil {
		panic(err)
	}
	_, err = m.Fragment("B")
	fmt.Println(err)
	// Output: judge.Fragment: sm75.ldmatrix.m8n8.x1.b16 has the fragments address, D, not "B"
}

// A row of 64 halves has 128 bytes, so ldmatrix reads eight rows from the same banks.
func ExampleSolveLoad() {
	m, err := judge.Instruction("sm80.mma.m16n8k16.f16")
	if err != nil {
		panic(err)
	}
	tile := judge.Plain(layout.MustParse("(64,64):(64,1)"))
	l, err := judge.SolveLoad(context.Background(), tile, judge.NVIDIA, m, "A")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.With, l.Report.Cycles, l.Report.Phases, l.Swizzle.Swizzle)
	// Output: ldmatrix.x4 512 64 Sw<3,3,3>
}

// Rows of 64 halves fill the banks, so each lane of a group of eight wants the same four.
func ExampleWideReads() {
	m, err := judge.Instruction("cdna4.mfma.32x32x16.f16")
	if err != nil {
		panic(err)
	}
	a, err := m.Fragment("A")
	if err != nil {
		panic(err)
	}
	tile := judge.Plain(layout.MustParse("(32,16):(64,1)"))
	r, err := judge.Conflicts(tile, judge.Banks{Count: 32, Width: 4}, 16, judge.WideReads(a.TV, 8))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Cycles, r.Phases)
	// Output: 64 8
}

// The stage of a kernel for Hopper: 128 rows of 64 halves, as TMA writes them.
func ExampleSolveCanonical() {
	m, err := judge.Instruction("sm90.wgmma.m64n128k16.f16")
	if err != nil {
		panic(err)
	}
	tile, err := judge.Parse("Sw<3,3,3> o (128,64):(64,1)")
	if err != nil {
		panic(err)
	}
	c, err := judge.SolveCanonical(tile, m, "A")
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Major, c.Swizzle, c.Stride, c.Tiles, c.Report.Clean())
	// Output: k 128 1024 8 true
}

func ExampleSolveStage() {
	global := judge.Plain(layout.MustParse("(128,64):(4096,1)"))
	shared, err := judge.Parse("Sw<3,3,3> o (128,64):(64,1)")
	if err != nil {
		panic(err)
	}
	gpu, err := judge.ParseLines("nvidia")
	if err != nil {
		panic(err)
	}
	s, err := judge.SolveStage(context.Background(), global, shared, gpu, judge.NVIDIA, 256, 16, 128)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Width, s.Report.Clean(), *s.Box)
	// Output: 16 true {[128 64] [1 0] 128 1}
}
