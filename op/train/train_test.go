package train_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/train"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/tensortest"
)

// runs runs an operator, and compares the types and shapes of its results with the ones that Infer says.
func runs(t *testing.T, name string, c *op.Call) []tensor.Any {
	t.Helper()
	o, _ := train.Lookup(name)
	c.Opset = 1
	out, err := o.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := o.Infer(c)
	if err != nil || len(specs) != len(out) {
		t.Fatalf("%s: %v, %d results and %d specs", name, err, len(out), len(specs))
	}
	for i := range out {
		if g, w := tensor.Describe(specs[i]), tensor.Describe(out[i]); g != w {
			t.Errorf("%s: result %d is inferred as %s; it is %s", name, i, g, w)
		}
	}
	return out
}

func refuses(t *testing.T, c *op.Call) {
	t.Helper()
	o, _ := train.Lookup("Momentum")
	if out, err := o.Run(c); err == nil {
		t.Errorf("Momentum of %v: %v, want an error", c.Inputs, out)
	}
}

// Steps of the optimizers by plain loops in float64.
func TestOptimizers(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	of := func(shape ...int) tensor.Tensor[float32] {
		p := tensor.New[float32](shape...)
		for i := range p.Elems() {
			p.Elems()[i] = r.Float32() + 0.125
		}
		return p
	}
	x, g, v, h := of(3, 4), of(3, 4), of(3, 4), of(3, 4)
	y, w := of(2), of(2) // a second parameter
	f32 := func(v float64) float64 { return float64(float32(v)) }
	decay := f32(0.01)
	rate := tensor.Scalar(float32(0.1)).Any()
	at := func(p tensor.Tensor[float32], i int) float64 { return float64(p.Elems()[i]) }
	for _, step := range []int64{0, 1, 7} {
		s := tensor.Scalar(step).Any()
		by := train.Options{Rate: f32(0.1), Step: step, Decay: decay}
		for _, nesterov := range []bool{false, true} {
			newX, newV := train.Momentum(x, g, v, by, train.MomentumOptions{Alpha: 0.9, Beta: 0.5, Nesterov: nesterov})
			for i := range x.Elems() {
				beta := 0.5
				if step == 0 {
					beta = 1
				}
				gg := decay*at(x, i) + at(g, i)
				vv := 0.9*at(v, i) + beta*gg
				step := vv
				if nesterov {
					step = gg + 0.9*vv
				}
				closeTo(t, "momentum", newV.Elems()[i], vv)
				closeTo(t, "moved", newX.Elems()[i], at(x, i)-f32(0.1)*step)
			}
			mode := map[bool]string{false: "standard", true: "nesterov"}[nesterov]
			out := runs(t, "Momentum", &op.Call{Inputs: []tensor.Any{rate, s, x.Any(), y.Any(), g.Any(), w.Any(), v.Any(), w.Any()}, Outputs: 4,
				Attrs: op.AttrMap{"alpha": float32(0.875), "beta": float32(0.5), "norm_coefficient": float32(0.01), "mode": mode}})
			m := train.MomentumOptions{Alpha: 0.875, Beta: 0.5, Nesterov: nesterov}
			newX, newV = train.Momentum(x, g, v, by, m)
			newY, newW := train.Momentum(y, w, w, by, m)
			for i, want := range []tensor.Tensor[float32]{newX, newY, newV, newW} {
				tensortest.Equal(t, out[i], want.Any())
			}
		}
		newX, newH := train.Adagrad(x, g, h, by, train.AdagradOptions{RateDecay: 0.25, Epsilon: 1e-3})
		for i := range x.Elems() {
			gg := decay*at(x, i) + at(g, i)
			hh := at(h, i) + gg*gg
			closeTo(t, "squares", newH.Elems()[i], hh)
			closeTo(t, "Adagrad", newX.Elems()[i], at(x, i)-f32(0.1)/(1+float64(step)*0.25)*gg/(math.Sqrt(hh)+1e-3))
		}
		out := runs(t, "Adagrad", &op.Call{Inputs: []tensor.Any{rate, s, x.Any(), g.Any(), h.Any()}, Attrs: op.AttrMap{"decay_factor": float32(0.25), "norm_coefficient": float32(0.01), "epsilon": float32(1e-3)}})
		newX, newH = train.Adagrad(x, g, h, by, train.AdagradOptions{RateDecay: 0.25, Epsilon: f32(1e-3)})
		tensortest.Equal(t, out[0], newX.Any())
		tensortest.Equal(t, out[1], newH.Any())

		m := train.AdamOptions{Alpha: 0.75, Beta: 0.5, Epsilon: f32(1e-6), After: 0.125}
		newX, newV, newH := train.Adam(x, g, v, h, by, m)
		for i := range x.Elems() {
			gg := decay*at(x, i) + at(g, i)
			vv, hh := 0.75*at(v, i)+0.25*gg, 0.5*at(h, i)+0.5*gg*gg
			rate := f32(0.1)
			if step > 0 {
				rate *= math.Sqrt(1-math.Pow(0.5, float64(step))) / (1 - math.Pow(0.75, float64(step)))
			}
			closeTo(t, "average", newV.Elems()[i], vv)
			closeTo(t, "squares", newH.Elems()[i], hh)
			closeTo(t, "Adam", newX.Elems()[i], 0.875*(at(x, i)-rate*vv/(math.Sqrt(hh)+m.Epsilon)))
		}
		out = runs(t, "Adam", &op.Call{Inputs: []tensor.Any{rate, s, x.Any(), g.Any(), v.Any(), h.Any()},
			Attrs: op.AttrMap{"alpha": float32(0.75), "beta": float32(0.5), "norm_coefficient": float32(0.01), "norm_coefficient_post": float32(0.125)}})
		for i, want := range []tensor.Tensor[float32]{newX, newV, newH} {
			tensortest.Equal(t, out[i], want.Any())
		}
		for _, y := range []tensor.Tensor[float32]{x.Clone(), x.Transpose().Clone().Transpose(), x.Flip(1).Clone().Flip(1)} {
			z, _, _ := train.Adam(y, g, v, h, by, m, op.Into(y))
			tensortest.Equal(t, z.Any(), newX.Any())
		}
	}
	s := tensor.Scalar(int64(1)).Any()
	for _, bad := range [][]tensor.Any{{rate, s, x.Any(), g.Any()}, {rate, s, x.Any(), g.Any(), v.Any(), h.Any()}, {rate, s, x.Any(), y.Any(), v.Any()}, {s, s, x.Any(), g.Any(), v.Any()}, {rate, rate, x.Any(), g.Any(), v.Any()},
		{x.Any(), s, x.Any(), g.Any(), v.Any()}, {rate, tensor.FromSlice([]int64{1, 2}).Any(), x.Any(), g.Any(), v.Any()}, {rate, s, x.Any(), {}, v.Any()}, {rate, s, s, s, s}, {rate, s, x.Any(), g.Any(), op.Cast[float64](v).Any()}} {
		refuses(t, &op.Call{Inputs: bad})
	}
	refuses(t, &op.Call{Inputs: []tensor.Any{rate, s, x.Any(), g.Any(), v.Any()}, Attrs: op.AttrMap{"mode": "other"}})
}

func closeTo(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 6.1e-8*math.Abs(want) { // half a unit in the last place, and a little
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
