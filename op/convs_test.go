package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// drawn draws small geometries of convolutions: of one to three spatial axes.
type drawn struct {
	n, group, cg, mg               int
	in, kernel, strides, dilations []int
	pads, more                     []int
}

func drawConv(t *rapid.T, least int) (d drawn) {
	d.n, d.group = rapid.IntRange(0, 2).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "group")
	d.cg, d.mg = rapid.IntRange(0, 3).Draw(t, "channels"), rapid.IntRange(1, 3).Draw(t, "outputs")
	rank := rapid.IntRange(1, 3).Draw(t, "axes")
	list := func(name string, n, lo, hi int) []int {
		return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
	}
	d.in, d.kernel = list("in", rank, least, 4), list("kernel", rank, 1, 3)
	d.strides, d.dilations, d.pads = list("strides", rank, 1, 3), list("dilations", rank, 1, 3), list("pads", 2*rank, 0, 3)
	d.more = list("output_padding", rank, 0, 2)
	return d
}

func (d *drawn) tensors(r *rand.Rand, transposed bool) (x, w, bias tensor.Tensor[float32]) {
	lead := []int{d.mg * d.group, d.cg}
	if transposed {
		lead = []int{d.cg * d.group, d.mg}
	}
	return random[float32](r, append([]int{d.n, d.cg * d.group}, d.in...)...), random[float32](r, append(lead, d.kernel...)...), random[float32](r, d.mg*d.group)
}

// ConvTranspose is Col2Im of a matrix product, group by group.
func TestConvTransposeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawConv(t, 0)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x, w, bias := d.tensors(r, true)
		rank, volume, places := len(d.in), 1, 1
		shape := []int{d.n, d.mg * d.group}
		for i := range rank {
			if d.more[i] >= max(d.strides[i], d.dilations[i]) {
				d.more[i] = 0
			}
			volume, places = volume*d.kernel[i], places*d.in[i]
			shape = append(shape, d.strides[i]*(d.in[i]-1)+d.more[i]+(d.kernel[i]-1)*d.dilations[i]+1-d.pads[i]-d.pads[rank+i])
		}
		var got tensor.Tensor[float32]
		win := ConvTransposeWindow{Window: Window{Kernel: d.kernel, Strides: d.strides, Dilations: d.dilations, Pads: d.pads}, OutputPadding: d.more}
		err := tensor.Try(func() { got = ConvTranspose(x, w, bias, win, d.group) })
		for _, e := range shape {
			if e < 0 {
				if err == nil {
					t.Fatalf("no error for a result of shape %v", shape)
				}
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Shape()) != fmt.Sprint(shape) {
			t.Fatalf("shape %v, want %v", got.Shape(), shape)
		}
		for at, v := range got.All() {
			n, m := at[0], at[1]
			g, first := m/d.mg, m%d.mg
			// The products of every kernel position with every place of the input.
			sum := 0.0
			for k := range volume {
				kc := plan.Unravel(k, d.kernel)
				for l := range places {
					lc := plan.Unravel(l, d.in)
					here := true
					for i := range rank {
						here = here && lc[i]*d.strides[i]+kc[i]*d.dilations[i]-d.pads[i] == at[2+i]
					}
					if !here {
						continue
					}
					var us, vs []float32
					for c := range d.cg {
						us = append(us, w.At(append([]int{g*d.cg + c, first}, kc...)...))
						vs = append(vs, x.At(append([]int{n, g*d.cg + c}, lc...)...))
					}
					sum += float64(definedChain(us, vs))
				}
			}
			want := float32(sum) + bias.At(m)
			if want != want {
				want = num.NaN32()
			}
			if rawBits(v) != rawBits(want) {
				t.Fatalf("at %v: %v, want %v", at, v, want)
			}
		}
	})
}

func TestConvTransposeShapes(t *testing.T) {
	none := tensor.Tensor[float32]{}
	x, w := tensor.Full[float32](1, 1, 1, 3), tensor.Full[float32](1, 1, 1, 3)
	shape := func(win ConvTransposeWindow, want ...float32) {
		t.Helper()
		same(t, fmt.Sprint(win), ConvTranspose(x, w, none, win, 1), tensor.FromSlice(want, 1, 1, len(want)))
	}
	two := Window{Strides: []int{2}}
	shape(ConvTransposeWindow{Window: two}, 1, 1, 2, 1, 2, 1, 1)
	shape(ConvTransposeWindow{Window: two, OutputPadding: []int{1}}, 1, 1, 2, 1, 2, 1, 1, 0)
	shape(ConvTransposeWindow{Window: two, OutputShape: []int{6}}, 1, 2, 1, 2, 1, 1) // the odd one goes in front
	shape(ConvTransposeWindow{Window: two, OutputShape: []int{9}}, 1, 1, 2, 1, 2, 1, 1, 0, 0)
	two.AutoPad = "SAME_UPPER"
	shape(ConvTransposeWindow{Window: two}, 1, 1, 2, 1, 2, 1)
	two.AutoPad = "SAME_LOWER"
	shape(ConvTransposeWindow{Window: two}, 1, 2, 1, 2, 1, 1)
	fails(t, func() { ConvTranspose(x, w, none, ConvTransposeWindow{OutputPadding: []int{1}}, 1) }, "output padding of 1", "stride")
	fails(t, func() { ConvTranspose(x, w, none, ConvTransposeWindow{Window: Window{Pads: []int{5, 5}}}, 1) }, "pads of 5 and 5")
	fails(t, func() { ConvTranspose(x, w, none, ConvTransposeWindow{}, 2) }, "2 groups", "1 input channels")
	fails(t, func() { ConvTranspose(x, tensor.New[float32](2, 1, 3), none, ConvTransposeWindow{}, 1) }, "input has 1 channels, kernel wants 2")
	fails(t, func() {
		ConvTranspose(x, w, none, ConvTransposeWindow{Window: Window{Strides: []int{1<<31 - 1}, Dilations: []int{1<<31 - 1}}, OutputShape: []int{-1}}, 1)
	}, "output extents")
	f := random[num.F16](rand.New(rand.NewPCG(1, 2)), 1, 2, 5)
	k := random[num.F16](rand.New(rand.NewPCG(1, 3)), 2, 2, 3)
	want := Cast[num.F16](ConvTranspose(Cast[float32](f), Cast[float32](k), none, ConvTransposeWindow{}, 1))
	same(t, "float16", ConvTranspose(f, k, tensor.Tensor[num.F16]{}, ConvTransposeWindow{}, 1), want)
}

func TestConvInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawConv(t, 1)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rank := len(d.in)
		x := random[uint8](r, append([]int{d.n, d.cg * d.group}, d.in...)...)
		w := random[int8](r, append([]int{d.mg * d.group, d.cg}, d.kernel...)...)
		xz, wz := tensor.Scalar(uint8(r.UintN(256))), random[int8](r, d.mg*d.group)
		var got tensor.Tensor[int32]
		err := tensor.Try(func() {
			got = ConvInteger(x, w, xz, wz, Window{Strides: d.strides, Dilations: d.dilations, Pads: d.pads}, d.group)
		})
		if err != nil {
			for i := range rank {
				if d.in[i]+d.pads[i]+d.pads[rank+i] < (d.kernel[i]-1)*d.dilations[i]+1 {
					return
				}
			}
			t.Fatal(err)
		}
		for at, v := range got.All() {
			m, want := at[1], int32(0)
			for kc, q := range w.S(fmt.Sprint(m)).All() {
				src := []int{at[0], m/d.mg*d.cg + kc[0]}
				inside := true
				for i := range rank {
					p := at[2+i]*d.strides[i] + kc[1+i]*d.dilations[i] - d.pads[i]
					inside = inside && p >= 0 && p < d.in[i]
					src = append(src, p)
				}
				if inside {
					want += (int32(x.At(src...)) - int32(xz.Item())) * (int32(q) - int32(wz.At(m)))
				}
			}
			if v != want {
				t.Fatalf("at %v: %d, want %d", at, v, want)
			}
		}
	})
}

func TestMatMulInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	a, b := random[int8](r, 2, 3, 5), random[uint8](r, 5, 4)
	az, bz := random[int8](r, 3), random[uint8](r, 4)
	got := MatMulInteger(a, b, az, bz)
	for at, v := range got.All() {
		want := int32(0)
		for k := range 5 {
			want += (int32(a.At(at[0], at[1], k)) - int32(az.At(at[1]))) * (int32(b.At(k, at[2])) - int32(bz.At(at[2])))
		}
		if v != want {
			t.Errorf("at %v: %d, want %d", at, v, want)
		}
	}
	fails(t, func() { MatMulInteger(a, b, random[int8](r, 2), bz) }, "zero point", "axis 1")
	fails(t, func() { MatMulInteger(a.S("0, 0"), b, random[int8](r, 5), bz) }, "zero point", "one number")
	fails(t, func() { MatMulInteger(a, b.S("1:"), az, bz) }, "5 columns")
}

// With whole offsets DeformConv reads the elements that Conv reads elsewhere, and with offsets of 0 Conv's own elements.
func TestDeformConv(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	value := func(shape ...int) tensor.Tensor[float32] {
		x := tensor.New[float32](shape...)
		for i := range x.Elems() {
			x.Elems()[i] = 1 + r.Float32()
		}
		return x
	}
	none := tensor.Tensor[float32]{}
	x, w, b := value(2, 4, 6, 5), value(6, 2, 3, 2), value(6)
	win := Window{Strides: []int{2, 1}, Dilations: []int{1, 2}, Pads: []int{1, 0, 1, 2}}
	want := Conv(x, w, b, win, 2)
	out := want.Shape()[2:]
	offset := tensor.New[float32](2, 2*6*2, out[0], out[1])
	same(t, "no offsets", DeformConv(x, w, offset, b, none, win, 2, 2), want)
	same(t, "mask of 1", DeformConv(x, w, offset, b, tensor.Full[float32](1, 2, 2*6, out[0], out[1]), win, 2, 2), want)
	for k := range 2 * 6 {
		offset.S(fmt.Sprintf(":, %d", 2*k)).Fill(-1)
		offset.S(fmt.Sprintf(":, %d", 2*k+1)).Fill(1)
	}
	up := Window{Strides: win.Strides, Dilations: win.Dilations, Pads: []int{2, -1, 0, 3}}
	moved := tensor.New[float32](2, 4, 8, 9)
	moved.S(":, :, 2:, :5").CopyFrom(x)
	up.Pads = nil
	same(t, "whole offsets", DeformConv(x, w, offset, b, none, win, 2, 2), Conv(moved.S(":, :, :8, 1:8"), w, b, up, 2).S(fmt.Sprintf(":, :, :%d, :%d", out[0], out[1])))
	offset.Fill(num.NaN32())
	same(t, "NaN", DeformConv(x, w, offset, none, none, win, 2, 2), tensor.New[float32](want.Shape()...))
	one := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	half := tensor.FromSlice([]float32{0.25, 0.5}, 1, 2, 1, 1)
	unit := tensor.Full[float32](1, 1, 1, 1, 1)
	same(t, "between", DeformConv(one, unit, half, none, none, Window{Strides: []int{2, 2}}, 1, 1), tensor.Full[float32](2, 1, 1, 1, 1))
	fails(t, func() { DeformConv(x, w, offset.S("1:"), b, none, win, 2, 2) }, "the offset is")
	fails(t, func() { DeformConv(x, w, offset, b, none, win, 2, 3) }, "offset_group 3")
}

// A convolution of an empty input is its bias wherever the padding leaves places for the filter.
func TestConvOfPadding(t *testing.T) {
	convOfPadding[float32](t)
	convOfPadding[float64](t)
	convOfPadding[num.F16](t)
}

func convOfPadding[T num.Fractional](t *testing.T) {
	for _, c := range []struct {
		x, w, pads []int
		group      int
	}{
		{[]int{2, 32, 0, 1}, []int{16, 32, 1, 1}, []int{1, 1, 1, 1}, 1},
		{[]int{2, 32, 0, 1}, []int{16, 32, 1, 1}, []int{1, 0, 1, 0}, 1},
		{[]int{2, 32, 1, 0}, []int{16, 32, 1, 1}, []int{0, 1, 0, 1}, 1},
		{[]int{2, 32, 0, 5}, []int{16, 32, 3, 3}, []int{3, 3, 3, 3}, 1},
		{[]int{2, 32, 5, 0}, []int{16, 32, 3, 3}, []int{3, 3, 3, 3}, 1},
		{[]int{2, 32, 0}, []int{16, 32, 1}, []int{1, 1}, 1},
		{[]int{2, 32, 0, 7}, []int{32, 1, 3, 3}, []int{3, 3, 3, 3}, 32},
		{[]int{2, 32, 7, 0}, []int{32, 1, 3, 3}, []int{3, 3, 3, 3}, 32},
		{[]int{2, 32, 0, 7}, []int{32, 4, 3, 3}, []int{3, 3, 3, 3}, 8},
		{[]int{2, 3, 4, 0, 7}, []int{32, 3, 3, 3, 3}, []int{3, 3, 3, 3, 3, 3}, 1},
		{[]int{2, 32, 1, 0, 1}, []int{32, 32, 1, 1, 1}, []int{3, 3, 3, 3, 3, 3}, 1},
	} {
		for _, last := range []bool{false, true} {
			x := tensor.New[T](c.x...)
			if last && len(c.x) == 4 {
				x = tensor.New[T](c.x[0], c.x[2], c.x[3], c.x[1]).Permute(0, 3, 1, 2)
			}
			w, bias := Cast[T](tensor.Full[float32](1, c.w...)), Cast[T](tensor.Arange[float32](0, float32(c.w[0]), 1))
			r := Conv(x, w, bias, Window{Kernel: c.w[2:], Pads: c.pads}, c.group)
			if r.Len() == 0 {
				t.Errorf("%v: no results", c)
			}
			for at, v := range r.All() {
				if v != bias.At(at[1]) {
					t.Fatalf("%v: %v at %v", c, v, at)
				}
			}
		}
	}
}
