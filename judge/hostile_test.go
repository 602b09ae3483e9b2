package judge

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

// Wrong and huge arguments get an error, without work that grows with them: that would take years.
func TestHostile(t *testing.T) {
	ctx := context.Background()
	var lays []layout.Composed
	for _, s := range []string{"():()", "0:0", "(0,4):(4,1)", "1:0", "8:-1", "(1152921504606846976,4):(1,0)", "(3,5):(5,1)", "2:1152921504606846976", "Sw<2,0,3> o 8 o (8,8):(8,1)", "((2,2),(2,2)):((1,8),(2,4))"} {
		c, err := layout.Eval(s)
		if err != nil {
			t.Fatal(err)
		}
		lays = append(lays, c)
	}
	outer, err := layout.NewComposed(layout.MustParse("(4,4):(4,1)"), 0, layout.MustParse("8:1"))
	if err != nil {
		t.Fatal(err)
	}
	lays = append(lays, outer, layout.Composed{})
	accesses := []Access{{}, Rows(32, 1), Rows(0, 1), Rows(-1, -1), Rows(MaxThreads, 1<<12), Rows(math.MaxInt, math.MaxInt), Columns(32, 1), Matrices(),
		ThreadValues(layout.Layout{}, 1), ThreadValues(layout.MustParse("(4,2):(1,4)"), 2), ThreadValues(layout.MustParse("(1152921504606846976,1):(0,0)"), 1),
		ThreadValues(layout.MustParse("(4,1152921504606846976):(0,0)"), 1), ThreadValues(layout.MustParse("(0,4):(1,1)"), 1), ThreadValues(layout.MustParse("(4,0):(1,1)"), 1)}
	for _, l := range lays {
		for _, b := range []Banks{{}, {-1, 4, false}, {1 << 30, 1 << 30, true}, NVIDIA, Tensix, {1, 1, false}, {3, 5, true}} {
			for _, bits := range []int{-1, 0, 1, 3, 16, 32, 4096, math.MaxInt} {
				for _, a := range accesses {
					_, _ = Conflicts(l, b, bits, a)
					_, _ = SolveSwizzle(ctx, l, b, bits, a)
					_, _ = SolveXOR(ctx, l, b, bits, a, Rows(8, 1))
				}
			}
			_, _ = SolveSwizzle(ctx, l, b, 32)
		}
		for _, item := range []int{-1, 0, 1, 4096, math.MaxInt} {
			if s, err := StridedOf(l, item); err == nil {
				_, _ = s.Layout()
			}
			for _, s := range append(Spellings, "", "x") {
				_, _ = Print(l, s, item)
			}
		}
		if f, err := LinearOf(l); err == nil {
			_, _ = f.Layout()
			_, _ = f.Inverse()
			_ = f.String() + f.Matrix()
		}
		for _, m := range lays {
			for _, most := range []int{-1, 0, 1, 3, math.MaxInt/2 + 1} {
				_, _ = Relay(l, m, most)
			}
			_, _ = Infer(l.Inner(), m.Inner())
		}
		_, _ = TiledOf(l.Inner())
		_, _, _ = Fit(l.Inner().Extents(), func(i int) int { return i * i })
	}
	for _, s := range []Strided{{}, {Shape: []int{1}}, {Shape: []int{-1}, Strides: []int{4}, Item: 4}, {Shape: []int{2}, Strides: []int{3}, Item: 4}, {Shape: []int{2}, Strides: []int{4}, Item: 4, Offset: 3},
		{Shape: []int{2}, Strides: []int{4}, Item: 4, Offset: math.MinInt}} {
		_, _ = s.Layout()
		_ = s.String()
	}
	for _, x := range []Tiled{{}, {Height: -1}, {Height: math.MaxInt / 2, Width: math.MaxInt / 2, ShardHeight: 1, ShardWidth: 1}, {Height: 32, Width: 32, TileHeight: 3, TileWidth: -5, ShardHeight: 32, ShardWidth: 32}} {
		_, _ = x.Layout()
		_ = x.String()
	}
	_, _, err = Fit(layout.Hole(), func(int) int { return 0 })
	if err == nil {
		t.Error("a hole fits")
	}
	var zero Linear
	_, _ = zero.Layout()
	_, _ = zero.Inverse()
	_ = zero.String()
	for _, cols := range [][]uint64{nil, {1}, {math.MaxUint64}, make([]uint64, 100)} {
		_, _ = NewLinear([]Dim{{"a", 1}}, []Dim{{"b", 1}}, cols)
		_, _ = NewLinear([]Dim{{"a", math.MaxInt}, {"c", math.MaxInt}}, []Dim{{"b", -1}}, cols)
	}
	for _, text := range []string{strings.Repeat("{", 1<<20), "{" + strings.Repeat("a = [", 1<<12), "{a = [" + strings.Repeat("1,", 1<<12), "{a = [[1, 9223372036854775807], [1, 9223372036854775807]]}"} {
		_, _ = ParseLinear(text)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	tile := Plain(layout.MustParse("(32,32):(32,1)"))
	if _, err := SolveSwizzle(stopped, tile, NVIDIA, 32, Columns(32, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := SolveXOR(stopped, tile, NVIDIA, 32, Columns(32, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := FindFaults(stopped, 1, 5); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzParse wants an error or a layout that prints and reads back as the same function.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"(4,5):(5,1)", "make_layout((4,5),(5,1))", "Layout.row_major(4,5)", "shape=(4,5), strides=(20,4), itemsize=4", "{a = [[1], [2]]}", "Swizzle<2,0,3> o (8,8):(8,1)",
		"composition(Swizzle<1,1,1>{}, Int<3>{}, make_layout(Int<4>{}, _1{}))", "Layout<Shape<_2,_2>,Stride<_2,_1>>{}", "layout.MustParse(\"4:1\")", "Sw<1,0,1> o 4 o 4:1",
		"S<1,0,1> o 4 o 4:1", `!cute.memref<f16, smem, S<1,4,1>, "(8,8):(8,1)">`, "Sw<1,4,1>_smem_ptr[16b](0x400) o _8:_1:", "tensor<ptr<f32, generic> o 4:1>", "ComposedLayout(Swizzle(1,0,1),0,Layout((4,2),(2,1)))", "SW_1_0_1 o 0 o (4, 2):(2, 1)",
		"!ttg.memdesc<8x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0], CTASplitNum = [2, 1]}>>", "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>",
		"#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 1], warpsPerCTA = [1, 1], order = [1, 0]}>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range Spellings {
			out, err := Print(c, s, 4)
			if err != nil || s == "matrix" || s == "ttnn" {
				continue
			}
			back, err := Parse(out)
			if err != nil {
				t.Fatalf("%q as %s is %q: %v", text, s, out, err)
			}
			for i := range min(c.Size(), 100) {
				a, errA := c.Offset(i)
				b, errB := back.Offset(i)
				if a != b || errA != nil || errB != nil {
					t.Fatalf("%q as %s is %q: %d and %d at %d", text, s, out, a, b, i)
				}
			}
		}
	})
}
