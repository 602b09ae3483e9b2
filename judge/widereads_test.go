package judge

import (
	"context"
	"errors"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
	"pgregory.net/rapid"
)

// TestWideReads counts by hand the conflicts of ds_read_b128: AMD's groups of lanes are a list here.
func TestWideReads(t *testing.T) {
	groups := [][2]int{{0, 20}, {4, 16}, {8, 28}, {12, 24}, {32, 52}, {36, 48}, {40, 60}, {44, 56}}
	differ := 0
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"cdna4.mfma.32x32x16.f16", "cdna4.mfma.16x16x32.f16"}).Draw(t, "instruction")
		m, err := Instruction(name)
		if err != nil {
			t.Fatal(err)
		}
		pad := 8 * rapid.IntRange(0, 3).Draw(t, "padding")
		in, err := layout.New([]int{64, 64}, []int{64 + pad, 1})
		if err != nil {
			t.Fatal(err)
		}
		b := rapid.IntRange(0, 3).Draw(t, "bits")
		w, err := layout.NewSwizzle(b, rapid.IntRange(3, 4).Draw(t, "base"), 3)
		if err != nil {
			t.Fatal(err)
		}
		c, err := layout.NewComposed(w, 0, in)
		if err != nil {
			t.Fatal(err)
		}
		l, err := SolveLoad(context.Background(), c, Banks{32, 4, false}, m, "A")
		if err != nil {
			t.Fatal(err)
		}
		if l.With != "ds_read_b128" {
			return // a swizzle of the bits in a vector
		}
		rows, run := 16, 8
		if name == "cdna4.mfma.32x32x16.f16" {
			rows = 32
		}
		cycles, inOrder := 0, 0
		for k0 := 0; k0 < 64; k0 += run * 64 / rows {
			for m0 := 0; m0 < 64; m0 += rows {
				count := func(lanes []int) int { // the words of the fullest bank
					banks, most := map[int]map[int]bool{}, 0
					for _, lane := range lanes {
						for v := range run {
							off, err := c.Offset(m0 + lane%rows + 64*(k0+lane/rows*run+v))
							if err != nil {
								t.Fatal(err)
							}
							word := off * 2 / 4
							if banks[word%32] == nil {
								banks[word%32] = map[int]bool{}
							}
							banks[word%32][word] = true
							most = max(most, len(banks[word%32]))
						}
					}
					return most
				}
				for g, pair := range groups {
					var lanes, next []int
					for i := range 4 {
						lanes = append(lanes, pair[0]+i, pair[1]+i)
						next = append(next, 8*g+i, 8*g+4+i)
					}
					cycles += count(lanes)
					inOrder += count(next)
				}
			}
		}
		if l.Report.Cycles != cycles {
			t.Fatalf("%s from %v: %d cycles, by hand %d", name, c, l.Report.Cycles, cycles)
		}
		if cycles != inOrder {
			differ++
		}
		again, err := ParseAccess(l.Access.String())
		if err != nil || again.String() != l.Access.String() || !again.lds {
			t.Fatalf("%v reads as %v: %v", l.Access, again, err)
		}
	})
	if differ == 0 {
		t.Error("the order of the lanes never matters, so the test shows nothing")
	}
}

func TestWideReadsErrors(t *testing.T) {
	tile := Plain(layout.MustParse("(64,64):(64,1)"))
	for _, tc := range []struct {
		access string
		bits   int
	}{{"lds:4:((32,2),8):((1,512),64)", 16}, {"lds:8:(16,8):(1,64)", 16}} {
		a, err := ParseAccess(tc.access)
		if err == nil {
			_, err = Conflicts(tile, NVIDIA, tc.bits, a)
		}
		if !errors.Is(err, layout.ErrShape) {
			t.Errorf("%s: %v", tc.access, err)
		}
	}
}
