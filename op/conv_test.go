package op

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// definedConv computes each output from its elements, padding included, in the
// weights' row-major order. pads has the begins, then the ends.
func definedConv[T num.Float](x, w, bias tensor.Tensor[T], strides, dilations, pads []int, group int) tensor.Tensor[T] {
	rank := x.Rank() - 2
	shape := []int{x.Dim(0), w.Dim(0)}
	for i := range rank {
		reach := (w.Dim(i+2)-1)*dilations[i] + 1
		shape = append(shape, (x.Dim(i+2)+pads[i]+pads[rank+i]-reach)/strides[i]+1)
	}
	out := tensor.New[T](shape...)
	inner := w.Shape()[1:]
	k := 1
	for _, e := range inner {
		k *= e
	}
	for at := range out.All() {
		u, v := make([]T, k), make([]T, k)
		m := at[1]
		first := m / (w.Dim(0) / group) * w.Dim(1) // channel of the group
		for l := range k {
			kc := plan.Unravel(l, inner)
			src := []int{at[0], first + kc[0]}
			inside := true
			for i := range rank {
				p := at[2+i]*strides[i] + kc[1+i]*dilations[i] - pads[i]
				inside = inside && p >= 0 && p < x.Dim(2+i)
				src = append(src, p)
			}
			u[l] = w.At(append([]int{m}, kc...)...)
			if inside {
				v[l] = x.At(src...)
			}
		}
		s := definedChain(u, v)
		if !bias.IsZero() {
			if s += bias.At(m); s != s {
				s = T(math.NaN())
				one := []T{s}
				canonicalAll(one)
				s = one[0]
			}
		}
		out.Set(s, at...)
	}
	return out
}

// convCase is one geometry; nil lists are the defaults.
type convCase struct {
	x, w          []int
	strides, dils []int
	pads          []int
	group         int
	auto          string
	effective     []int // the pads that auto_pad stands for
	bias          bool
}

func (c *convCase) full() (strides, dils, pads []int) {
	rank := len(c.x) - 2
	strides, dils, pads = c.strides, c.dils, c.pads
	for range rank {
		if c.strides == nil {
			strides = append(strides, 1)
		}
		if c.dils == nil {
			dils = append(dils, 1)
		}
		if c.pads == nil {
			pads = append(pads, 0, 0)
		}
	}
	if c.effective != nil {
		pads = c.effective
	}
	return strides, dils, pads
}

var convCases = []convCase{
	{x: []int{1, 1, 5}, w: []int{1, 1, 3}, group: 1},
	{x: []int{2, 3, 9}, w: []int{4, 3, 2}, group: 1, strides: []int{3}, dils: []int{2}, pads: []int{1, 2}, bias: true},
	{x: []int{1, 2, 5, 6}, w: []int{3, 2, 3, 2}, group: 1},
	{x: []int{2, 4, 5, 6}, w: []int{6, 2, 3, 2}, group: 2, pads: []int{1, 0, 2, 1}, strides: []int{2, 1}, bias: true},
	{x: []int{1, 6, 7, 7}, w: []int{6, 1, 3, 3}, group: 6, pads: []int{1, 1, 1, 1}, bias: true},
	{x: []int{2, 5, 4, 3}, w: []int{7, 5, 1, 1}, group: 1, bias: true},                          // one element per patch
	{x: []int{2, 4, 4, 3}, w: []int{4, 2, 1, 1}, group: 2},                                      // the same in groups
	{x: []int{1, 3, 4, 3}, w: []int{2, 3, 1, 1}, group: 1, strides: []int{2, 2}},                // and with strides
	{x: []int{1, 3, 4, 3}, w: []int{2, 3, 1, 1}, group: 1, pads: []int{1, 0, 0, 2}, bias: true}, // and with padding
	{x: []int{1, 2, 9, 8}, w: []int{2, 2, 3, 3}, group: 1, dils: []int{2, 3}, pads: []int{2, 3, 2, 3}},
	{x: []int{1, 2, 3, 3}, w: []int{1, 2, 2, 2}, group: 1, pads: []int{4, 4, 4, 4}, bias: true},   // patches of padding alone
	{x: []int{2, 3, 70, 66}, w: []int{3, 1, 3, 3}, group: 3, pads: []int{1, 1, 1, 1}, bias: true}, // one channel in a group
	{x: []int{1, 3, 70, 66}, w: []int{6, 1, 5, 3}, group: 3, pads: []int{0, 1, 2, 3}, strides: []int{2, 1}, dils: []int{1, 2}},
	{x: []int{1, 2, 70, 66}, w: []int{2, 1, 3, 4}, group: 2, pads: []int{1, 1, 1, 1}, strides: []int{1, 2}},
	{x: []int{1, 2, 9000}, w: []int{2, 1, 3}, group: 2, pads: []int{1, 1}, bias: true},            // a line longer than a kernel takes
	{x: []int{1, 60, 9, 40}, w: []int{2, 60, 3, 3}, group: 1, bias: true},                         // three blocks of k
	{x: []int{1, 3, 7, 45}, w: []int{16, 3, 3, 3}, group: 1, pads: []int{1, 1, 1, 1}, bias: true}, // tiles in two lines
	{x: []int{2, 10, 9, 71}, w: []int{12, 5, 3, 4}, group: 2, pads: []int{1, 2, 0, 1}, strides: []int{2, 2}, dils: []int{1, 2}, bias: true},
	{x: []int{1, 30, 5, 35}, w: []int{7, 30, 3, 3}, group: 1, pads: []int{0, 1, 2, 1}}, // in two blocks of k
	{x: []int{1, 4, 6, 18}, w: []int{10, 2, 2, 2}, group: 2, strides: []int{1, 1}},     // in three lines
	{x: []int{1, 40, 4, 4}, w: []int{3, 40, 3, 3}, group: 1, pads: []int{1, 1, 1, 1}, bias: true},
	{x: []int{1, 2, 6000}, w: []int{8, 2, 3}, group: 1, pads: []int{2, 1}, bias: true}, // parts of a line
	{x: []int{2, 2, 9000}, w: []int{8, 2, 4}, group: 1, strides: []int{2}, dils: []int{3}, pads: []int{5, 3}},
	{x: []int{1, 1, 3, 5000}, w: []int{8, 1, 2, 3}, group: 1, pads: []int{1, 1, 0, 2}, dils: []int{2, 1}},
	{x: []int{1, 1, 24, 24}, w: []int{1, 1, 2, 2}, group: 1},
	{x: []int{1, 2, 3, 4, 5}, w: []int{2, 2, 2, 3, 2}, group: 1, pads: []int{1, 0, 1, 0, 1, 1}, strides: []int{1, 2, 2}, bias: true},
	{x: []int{1, 1, 2, 3, 2, 3}, w: []int{1, 1, 2, 2, 1, 2}, group: 1},
	{x: []int{1, 1, 2, 2, 2, 2, 3}, w: []int{1, 1, 1, 2, 1, 2, 2}, group: 1},
	{x: []int{0, 2, 5, 5}, w: []int{3, 2, 3, 3}, group: 1},
	{x: []int{1, 0, 5, 5}, w: []int{3, 0, 3, 3}, group: 1, bias: true}, // nothing to contract
	{x: []int{1, 2, 5, 5}, w: []int{0, 2, 3, 3}, group: 1},
	{x: []int{1, 1, 0, 2}, w: []int{1, 1, 2, 1}, group: 1, pads: []int{1, 0, 1, 0}, bias: true},
	{x: []int{1, 1, 2, 0}, w: []int{1, 1, 1, 2}, group: 1, pads: []int{0, 1, 0, 2}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 3, 2}, group: 1, auto: "VALID", pads: []int{1, 1, 1, 1}, effective: []int{0, 0, 0, 0}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 3, 2}, group: 1, auto: "SAME_UPPER", effective: []int{1, 0, 1, 1}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 3, 2}, group: 1, auto: "SAME_LOWER", effective: []int{1, 1, 1, 0}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 4, 3}, group: 1, auto: "SAME_UPPER", strides: []int{2, 3}, effective: []int{1, 0, 2, 0}},
	{x: []int{1, 1, 5, 7}, w: []int{1, 1, 4, 2}, group: 1, auto: "SAME_LOWER", strides: []int{2, 1}, dils: []int{1, 3}, effective: []int{2, 2, 1, 1}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 1, 1}, group: 1, auto: "SAME_UPPER", strides: []int{2, 4}, effective: []int{0, 0, 0, 0}},
	{x: []int{1, 1, 5, 6}, w: []int{1, 1, 3, 2}, group: 1, auto: "NOTSET", pads: []int{1, 1, 1, 1}},
}

func testConv[T num.Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range convCases {
		x, w := random[T](r, c.x...), random[T](r, c.w...)
		var bias tensor.Tensor[T]
		if c.bias {
			bias = random[T](r, c.w[0])
		}
		strides, dils, pads := c.full()
		want := definedConv(x, w, bias, strides, dils, pads, c.group)
		what := fmt.Sprintf("%+v", c)
		win := Window{Strides: c.strides, Dilations: c.dils, Pads: c.pads, AutoPad: c.auto}
		vw := variants(w)
		for i, v := range variants(x) {
			same(t, what+" "+v.name, Conv(v.t, vw[(i+1)%len(vw)].t, bias, win, c.group), want)
		}
		for _, v := range variants(want) {
			v.t.Fill(1)
			Conv(x, w, bias, win, c.group, Into(v.t))
			same(t, what+" into "+v.name, v.t, want)
		}
		attrs := given{"group": int64(c.group), "auto_pad": c.auto}
		for name, v := range map[string][]int{"strides": c.strides, "dilations": c.dils, "pads": c.pads, "kernel_shape": c.w[2:]} {
			if v != nil {
				attrs[name] = wide(v)
			}
		}
		in := []tensor.Any{x.Any(), w.Any()}
		if c.bias {
			in = append(in, bias.Any())
		}
		if out := runs(t, "Conv", &Call{Inputs: in, Attrs: attrs}); out != nil {
			same(t, what+" run-time form", asOf[T](out[0]), want)
		} else {
			t.Errorf("%s: the run-time form fails", what)
		}
		if c.x[0] > 1 { // each image alone
			same(t, what+" alone", Conv(x.S("1:"), w, bias, win, c.group), want.S("1:"))
		}
	}
}

// Windows that don't reach along the last axes, or whose last axes have one element, equal windows of a longer axis before.
func TestConvJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for range 300 {
		rank := 1 + r.IntN(4)
		group := 1 + r.IntN(2)
		c := convCase{x: []int{1 + r.IntN(2), group * (1 + r.IntN(3))}, group: group}
		c.w = []int{group * (1 + r.IntN(9)), c.x[1] / group}
		ends := []int{}
		for i := range rank {
			k, in := 1, 1+r.IntN(7)
			if i == 0 || r.IntN(3) == 0 {
				k = 1 + r.IntN(3)
			}
			if r.IntN(4) == 0 {
				in = 1
			}
			dil, begin, end := 1+r.IntN(3), 0, 0
			if k > 1 || r.IntN(4) == 0 {
				begin, end = r.IntN(3), r.IntN(3)
			}
			in = max(in, (k-1)*dil+1-begin-end)
			c.x, c.w = append(c.x, in), append(c.w, k)
			c.strides, c.dils = append(c.strides, 1+r.IntN(4)/3), append(c.dils, dil)
			c.pads, ends = append(c.pads, begin), append(ends, end)
		}
		c.pads = append(c.pads, ends...)
		x, w := random[float32](r, c.x...), random[float32](r, c.w...)
		got := Conv(x, w, tensor.Tensor[float32]{}, Window{Strides: c.strides, Dilations: c.dils, Pads: c.pads}, group)
		same(t, fmt.Sprintf("%+v", c), got, definedConv(x, w, tensor.Tensor[float32]{}, c.strides, c.dils, c.pads, group))
	}
}

// Small planes of a depthwise convolution go side by side: whatever the kernel, with padding that is multiplied, and for any number of channels.
func TestConvDepthwise(t *testing.T) {
	t.Run("float32", testConvDepthwise[float32])
	t.Run("float64", testConvDepthwise[float64])
}

func testConvDepthwise[T num.Float](t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 120 {
		rank, channels := 1+r.IntN(3), 60+r.IntN(300)
		c := convCase{x: []int{1 + r.IntN(2), channels}, w: []int{channels, 1}, group: channels, bias: r.IntN(2) == 0}
		ends := []int{}
		for range rank {
			k, dil := 1+r.IntN(4), 1+r.IntN(2)
			begin, end := r.IntN(3), r.IntN(3)
			c.x, c.w = append(c.x, max(1, (k-1)*dil+1-begin-end)+r.IntN(12/rank)), append(c.w, k)
			c.strides, c.dils = append(c.strides, 1+r.IntN(3)), append(c.dils, dil)
			c.pads, ends = append(c.pads, begin), append(ends, end)
		}
		c.pads = append(c.pads, ends...)
		x, w := random[T](r, c.x...), random[T](r, c.w...)
		for range r.IntN(3) {
			w.Elems()[r.IntN(w.Len())] = T(math.Inf(1))
			x.Elems()[r.IntN(x.Len())] = T(math.NaN())
		}
		var bias tensor.Tensor[T]
		if c.bias {
			bias = random[T](r, channels)
		}
		ctx := WithThreads(context.Background(), 1+r.IntN(3))
		got := Conv(x, w, bias, Window{Strides: c.strides, Dilations: c.dils, Pads: c.pads}, channels, Context(ctx))
		same(t, fmt.Sprintf("%+v", c), got, definedConv(x, w, bias, c.strides, c.dils, c.pads, channels))
	}
}

func wide(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func TestConv(t *testing.T) {
	t.Run("float32", testConv[float32])
	t.Run("float64", testConv[float64])
}

// Lines that are cut, kernels that reach so far that patches are copied, and volumes.
func TestConvFar(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		x, w                  []int
		stride, dilation, pad int
		group                 int
	}{
		{[]int{1, 16, 9000}, []int{24, 16, 3}, 1, 1, 1, 1},
		{[]int{1, 8, 1, 9001}, []int{48, 4, 1, 5}, 2, 3, 0, 2},
		{[]int{1, 8, 9001, 1}, []int{48, 8, 4, 1}, 3, 2, 0, 1},
		{[]int{1, 16, 4, 5}, []int{9, 16, 3, 3}, 1000, 1000, 2000, 1},
		{[]int{1, 18, 4, 5}, []int{18, 1, 3, 3}, 1000, 1000, 2000, 18},
		{[]int{1, 16, 7}, []int{16, 8, 3}, 1 << 20, 1 << 20, 1 << 21, 2},
		{[]int{2, 6, 4, 7, 9}, []int{12, 3, 3, 2, 3}, 2, 1, 1, 2},
	} {
		x, w, b := random[float32](r, c.x...), random[float32](r, c.w...), random[float32](r, c.w[0])
		strides, dilations, pads := make([]int, len(c.x)-2), make([]int, len(c.x)-2), make([]int, 2*len(c.x)-4)
		for i := range strides {
			strides[i], dilations[i], pads[i], pads[i+len(strides)] = c.stride, c.dilation, c.pad, c.pad
			if c.x[i+2] == 1 {
				strides[i], dilations[i] = 1, 1
			}
		}
		want := definedConv(x, w, b, strides, dilations, pads, c.group)
		for _, threads := range []int{1, 3} {
			got := Conv(x, w, b, Window{Strides: strides, Dilations: dilations, Pads: pads}, c.group, Context(WithThreads(context.Background(), threads)))
			same(t, fmt.Sprint(c, threads), got, want)
		}
	}
}

func TestConvNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	x, w, b := random[num.F16](r, 1, 3, 6, 6), random[num.F16](r, 4, 3, 3, 3), random[num.F16](r, 4)
	pads := []int{1, 1, 1, 1}
	want := Cast[num.F16](definedConv(Cast[float32](x), Cast[float32](w), Cast[float32](b), []int{1, 1}, []int{1, 1}, pads, 1))
	same(t, "float16", Conv(x, w, b, Window{Pads: pads}, 1), want)
}

// Padding is +0, multiplied like any other element.
func TestConvSpecial(t *testing.T) {
	inf, nz := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	none := tensor.Tensor[float32]{}
	x := tensor.FromSlice([]float32{1, 2}, 1, 1, 2)
	w := tensor.FromSlice([]float32{inf, 1}, 1, 1, 2)
	same(t, "∞ times padding", Conv(x, w, none, Window{Pads: []int{1, 0}}, 1), tensor.FromSlice([]float32{num.NaN32(), inf}, 1, 1, 2))
	m := tensor.FromSlice([]float32{nz}, 1, 1, 1)
	same(t, "−0 from +0", Conv(m, tensor.FromSlice([]float32{1}, 1, 1, 1), none, Window{}, 1), tensor.New[float32](1, 1, 1))
	same(t, "bias NaN", Conv(m, m, tensor.FromSlice([]float32{math.Float32frombits(0xffc00001)}), Window{}, 1), tensor.Full(num.NaN32(), 1, 1, 1))
}

func TestConvOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x, w := random[float32](r, 1, 4, 5, 5), random[float32](r, 4, 4, 3, 3)
	win := Window{Pads: []int{1, 1, 1, 1}}
	want := Conv(x, w, tensor.Tensor[float32]{}, win, 1)
	y := x.Clone()
	same(t, "in place", Conv(y, w, tensor.Tensor[float32]{}, win, 1, Into(y)), want)
	b := tensor.New[float32](1, 4, 5, 5)
	bias := b.S("0,:,2,2")
	for i := range 4 {
		bias.Set(float32(i), i)
	}
	want = Conv(x, w, bias.Clone(), win, 1)
	same(t, "over the bias", Conv(x, w, bias, win, 1, Into(b)), want)
}

func TestConvMistakes(t *testing.T) {
	f := func(shape ...int) tensor.Tensor[float32] { return tensor.New[float32](shape...) }
	none := tensor.Tensor[float32]{}
	fails(t, func() { Conv(f(1, 2), f(1, 2), none, Window{}, 1) }, "op.Conv", "(1,2)")
	fails(t, func() { Conv(f(1, 3, 5), f(1, 4, 3), none, Window{}, 1) }, "op.Conv", "3 channels", "wants 4")
	fails(t, func() { Conv(f(1, 4, 5), f(4, 4, 3), none, Window{}, 2) }, "op.Conv", "2 groups", "wants 4")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{}, 2) }, "op.Conv", "2 groups")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{}, 0) }, "op.Conv", "0 groups")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), f(3), Window{}, 1) }, "op.Conv", "bias", "4")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3, 3), none, Window{}, 1) }, "op.Conv", "rank")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 6), none, Window{}, 1) }, "op.Conv", "reaches")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{Kernel: []int{4}}, 1) }, "op.Conv", "[4]", "[3]")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{Pads: []int{1}}, 1) }, "op.Conv", "pads")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{Pads: []int{1, -1}}, 1) }, "op.Conv", "pads")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{Strides: []int{0}}, 1) }, "op.Conv", "strides")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 0), none, Window{}, 1) }, "op.Conv", "kernel")
	fails(t, func() { Conv(f(1, 3, 5), f(4, 3, 3), none, Window{AutoPad: "SAME"}, 1) }, "op.Conv", "SAME_UPPER")
	runs(t, "Conv", &Call{Inputs: []tensor.Any{f(1, 3, 5).Any(), f(4, 2, 3).Any()}})
	runs(t, "Conv", &Call{Inputs: []tensor.Any{f(1, 3, 5).Any(), tensor.New[float64](4, 3, 3).Any()}})
}
