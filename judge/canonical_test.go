package judge

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// canonicalText writes the canonical layouts of CUTLASS's comments in elements of 16 bits, for mn rows of k columns: T = 8.
func canonicalText(major string, swizzle, mn, k, leading, stride int) (inner string, bits int) {
	w := map[int]int{0: 1, 32: 2, 64: 4, 128: 8}[swizzle]
	bits = map[int]int{0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
	leading, stride = leading/2, stride/2 // elements
	switch {
	case major == "k" && swizzle == 0:
		return fmt.Sprintf("((8,%d),(8,2)):((8,%d),(1,%d))", mn/8, stride, leading), bits
	case major == "k":
		return fmt.Sprintf("((8,%d),(8,2)):((%d,%d),(1,8))", mn/8, 8*w, stride), bits
	case swizzle == 0:
		return fmt.Sprintf("((8,%d),(8,2)):((1,%d),(8,%d))", mn/8, stride, leading), bits
	}
	return fmt.Sprintf("((8,%d,%d),(8,%d)):((1,8,%d),(%d,%d))", w, mn/8/w, k/8, leading, 8*w, stride), bits
}

// TestSolveCanonical finds each canonical layout as CUTLASS writes it, with its numbers, for A, and for B with its axes exchanged.
func TestSolveCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		major := rapid.SampledFrom([]string{"k", "mn"}).Draw(t, "major")
		swizzle := rapid.SampledFrom([]int{0, 32, 64, 128}).Draw(t, "swizzle")
		n := 64 * rapid.IntRange(1, 4).Draw(t, "n")
		m, err := Instruction(fmt.Sprintf("sm90.wgmma.m64n%dk16.f16", n))
		if err != nil {
			t.Fatal(err)
		}
		operand, mn := "A", 64
		if rapid.Bool().Draw(t, "B") {
			operand, mn = "B", n
		}
		// The numbers leave room for all elements, and count whole atoms of 8 rows.
		atom := 8 * max(16, swizzle)
		leading, stride := atom*rapid.IntRange(64, 66).Draw(t, "leading"), atom*rapid.IntRange(1, 2).Draw(t, "stride")
		if major == "mn" && swizzle > 0 {
			leading, stride = stride, leading
		}
		if major == "k" && swizzle > 0 {
			leading = 0
		}
		inner, bits := canonicalText(major, swizzle, mn, 16, leading, stride)
		l := layout.MustParse(inner)
		if operand == "B" {
			if l, err = l.Permute(1, 0); err != nil {
				t.Fatal(err)
			}
		}
		w, err := layout.NewSwizzle(bits, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		c, err := layout.NewComposed(w, 0, l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := SolveCanonical(c, m, operand)
		if err != nil {
			t.Fatal(err)
		}
		if mn == 64 && major == "mn" && swizzle == 128 {
			leading = 0 // one atom along m or n: the number isn't used
		}
		if !got.Found || got.Major != major || got.Swizzle != swizzle || got.Stride != stride || got.Leading != leading || got.Tiles != 1 {
			t.Fatalf("%s of %v, %s-major, swizzle %d, leading %d, stride %d: %+v", operand, c, major, swizzle, leading, stride, got)
		}
		if swizzle == 128 && (!got.Report.Clean()) {
			t.Fatalf("%v has conflicts: %+v", c, got.Report)
		}
	})
}

// TestSolveCanonicalStage has stages of several operands, and layouts that are none.
func TestSolveCanonicalStage(t *testing.T) {
	for _, tc := range []struct {
		layout, instruction, operand string
		want                         string // major, swizzle, leading, stride, tiles, conflicts; or the cure
	}{
		{"Sw<3,3,3> o (128,64):(64,1)", "sm90.wgmma.m64n128k16.f16", "A", "k 128 0 1024 8 0"},
		{"Sw<3,3,3> o (64,128):(1,64)", "sm90.wgmma.m64n128k16.f16", "B", "k 128 0 1024 4 0"},
		{"Sw<2,3,3> o (128,32):(32,1)", "sm90.wgmma.m64n128k16.f16", "A", "k 64 0 512 4 0"},
		{"Sw<1,3,3> o (128,16):(16,1)", "sm90.wgmma.m64n128k16.bf16", "A", "k 32 0 256 2 0"},
		{"(128,(8,8)):(8,(1,1024))", "sm90.wgmma.m64n128k16.f16", "A", "k 0 2048 128 8 0"},
		{"Sw<3,3,3> o (64,64):(1,64)", "sm90.wgmma.m64n128k16.f16", "A", "mn 128 0 1024 4 0"},
		{"Sw<3,4,3> o (128,128):(128,1)", "sm90.wgmma.m64n128k32.e4m3", "A", "k 128 0 1024 8 0"},
		{"Sw<3,2,3> o (128,32):(32,1)", "sm90.wgmma.m64n128k8.tf32", "A", "k 128 0 1024 8 0"},
		{"(128,64):(64,1)", "sm90.wgmma.m64n128k16.f16", "A", "mends Sw<3,3,3>"},
		{"(128,32):(32,1)", "sm90.wgmma.m64n128k16.f16", "A", "mends Sw<2,3,3>"},
		{"Sw<3,3,3> o (128,32):(32,1)", "sm90.wgmma.m64n128k16.f16", "A", "mends Sw<2,3,3>"},
		{"(128,64):(72,1)", "sm90.wgmma.m64n128k16.f16", "A", "none"},
		{"(128,128):(1,128)", "sm90.wgmma.m64n128k32.s8", "A", "none"},
	} {
		m, err := Instruction(tc.instruction)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(tc.layout)
		if err != nil {
			t.Fatal(err)
		}
		r, err := SolveCanonical(c, m, tc.operand)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		switch {
		case r.Found:
			got = fmt.Sprint(r.Major, " ", r.Swizzle, " ", r.Leading, " ", r.Stride, " ", r.Tiles, " ", r.Report.Conflicts())
		case r.Mends:
			got = "mends " + r.Mend.String()
		}
		if got != tc.want || r.Found == (len(r.Refused) > 0) {
			t.Errorf("%s of %s: %s, want %s: %v", tc.operand, tc.layout, got, tc.want, r.Refused)
		}
	}
}

func TestSolveCanonicalErrors(t *testing.T) {
	for _, tc := range []struct {
		layout, instruction, operand string
		is                           error
		says                         string
	}{
		{"(64,64):(64,1)", "sm80.mma.m16n8k16.f16", "A", ErrNone, "only wgmma"},
		{"(64,64):(64,1)", "sm90.wgmma.m64n64k16.f16", "C", ErrNone, "only wgmma"},
		{"(48,64):(64,1)", "sm90.wgmma.m64n64k16.f16", "A", layout.ErrDivide, "multiple of 64"},
		{"(64,64):(64,1)", "sm90.wgmma.m64n128k16.f16", "B", layout.ErrDivide, "multiple of 128"},
		{"64:1", "sm90.wgmma.m64n64k16.f16", "A", layout.ErrShape, "1 modes"},
		{"(64,64):(-64,1)", "sm90.wgmma.m64n64k16.f16", "A", layout.ErrRange, "memory begins"},
		{"(8192,8192):(1,8192)", "sm90.wgmma.m64n64k16.f16", "A", layout.ErrLimit, "elements"},
	} {
		m, err := Instruction(tc.instruction)
		if err != nil {
			t.Fatal(err)
		}
		_, err = SolveCanonical(Plain(layout.MustParse(tc.layout)), m, tc.operand)
		if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s of %s: %v", tc.operand, tc.layout, err)
		}
	}
}
