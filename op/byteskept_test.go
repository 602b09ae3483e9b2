package op

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
	"pgregory.net/rapid"
)

// randomBytes returns int8s or uint8s of any value.
func randomBytes(r *rand.Rand, signed bool, shape ...int) tensor.Any {
	d := dtype.Uint8
	if signed {
		d = dtype.Int8
	}
	a, err := tensor.Make(d, shape...)
	if err != nil {
		panic(err)
	}
	mem, _ := tensor.Bytes(a)
	for i := range mem {
		mem[i] = byte(r.Uint32())
	}
	return a
}

// randomScales returns numbers between 1/64 and 1/32.
func randomScales(r *rand.Rand, shape ...int) tensor.Any {
	t := tensor.New[float32](shape...)
	for i := range t.Elems() {
		t.Elems()[i] = (1 + r.Float32()) / 64
	}
	return t.Any()
}

// bytesCase is a call of an operator whose input weights stays as it is, with input 0 to change.
func bytesCase(t *rapid.T, r *rand.Rand, name string) (c *Call, weights int) {
	of := func(what string) bool { return rapid.Bool().Draw(t, what) }
	m, n := rapid.IntRange(1, 7).Draw(t, "m"), rapid.SampledFrom([]int{1, 7, 16, 33, 130}).Draw(t, "n")
	k := rapid.SampledFrom([]int{1, 3, 30, 64, 600}).Draw(t, "k")
	signedA, signedB := of("a is signed"), of("b is signed")
	parts := func(what string, n int) []int {
		if of(what) {
			return []int{n}
		}
		return []int{}
	}
	scale := randomScales(r)
	zeroA, zeroY := randomBytes(r, signedA), randomBytes(r, of("y is signed"))
	c = &Call{Opset: 21, Attrs: AttrMap{}}
	if name == "ConvInteger" || name == "QLinearConv" {
		group, side := rapid.IntRange(1, 2).Draw(t, "group"), rapid.IntRange(3, 5).Draw(t, "side")
		k = min(k, 64)
		x, w := randomBytes(r, signedA, m%2+1, group*k, side, side), randomBytes(r, signedB, group*min(n, 17), k, 3, 3)
		zeroW := randomBytes(r, signedB, parts("zero points of channels", w.Dim(0))...)
		c.Attrs = AttrMap{"group": int64(group), "pads": []int64{1, 0, 1, 2}}
		if name == "ConvInteger" {
			c.Inputs = []tensor.Any{x, w, zeroA, zeroW}
			return c, 1
		}
		c.Inputs = []tensor.Any{x, scale, zeroA, w, randomScales(r, zeroW.Shape()...), zeroW, randomScales(r), zeroY}
		if of("bias") {
			c.Inputs = append(c.Inputs, random[int32](r, w.Dim(0)).Any())
		}
		return c, 3
	}
	lead := []int{m, k}
	if name != "QGemm" && of("batch") {
		lead = []int{2, m, k}
	}
	a, b := randomBytes(r, signedA, lead...), randomBytes(r, signedB, k, n)
	zeroB := randomBytes(r, signedB, parts("zero points of columns", n)...)
	scaleB := randomScales(r, zeroB.Shape()...)
	bias := random[float32](r, n).Any()
	switch name {
	case "MatMulInteger":
		c.Inputs = []tensor.Any{a, b, zeroA, zeroB}
		return c, 1
	case "QLinearMatMul":
		c.Inputs = []tensor.Any{a, scale, zeroA, b, scaleB, zeroB, randomScales(r), zeroY}
		return c, 3
	case "MatMulIntegerToFloat":
		c.Inputs = []tensor.Any{a, b, scale, scaleB, zeroA, zeroB, bias}
		return c, 1
	case "DynamicQuantizeMatMul":
		c.Inputs = []tensor.Any{random[float32](r, lead...).Any(), b, scaleB, zeroB, bias}
		return c, 1
	}
	c.Attrs = AttrMap{"alpha": float32(0.5)}
	if of("transB") {
		c.Attrs.(AttrMap)["transB"], b = int64(1), randomBytes(r, signedB, n, k)
	}
	c.Inputs = []tensor.Any{a, scale, zeroA, b, scaleB, zeroB, {}}
	if of("c") {
		c.Inputs[6] = random[int32](r, [][]int{{n}, {1, n}, {m, 1}, {m, n}}[r.IntN(4)]...).Any()
	}
	if of("y") {
		c.Inputs = append(c.Inputs, randomScales(r), zeroY)
	}
	return c, 3
}

// TestBytesKept compares plans of products and convolutions of bytes that keep their weights, and the values that follow from scales, with Run: for new
// inputs, zero points and scales of every kind, signs, groups, batches, transposed weights, more than a block of k, and other weights.
func TestBytesKept(t *testing.T) {
	for _, name := range []string{"ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"} {
		t.Run(name, func(t *testing.T) {
			o, ok := Lookup(name)
			if !ok {
				t.Fatal("no such operator")
			}
			rapid.Check(t, func(t *rapid.T) {
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				c, weights := bytesCase(t, r, name)
				form, _ := withWeights(o, c)
				kept := *c
				kept.Fixed = make([]bool, len(c.Inputs))
				all := rapid.Bool().Draw(t, "all else is fixed")
				for i := range kept.Fixed {
					kept.Fixed[i] = i > 0 && (all || i == weights)
				}
				p, err := form.Plan(&kept)
				if err != nil {
					t.Fatal(err)
				}
				w := c.Inputs[weights]
				few := w.Rank() == 4 && w.Dim(0) < 4 && w.Dim(1) > 1 // output channels, which have no packed form
				if (p.Keeps() > 0) == few || !p.Steady() {
					t.Fatalf("it keeps %d bytes, steady: %t", p.Keeps(), p.Steady())
				}
				like, err := p.Results()
				if err != nil {
					t.Fatal(err)
				}
				into, err := tensor.Make(like[0].DType(), like[0].Shape()...)
				if err != nil {
					t.Fatal(err)
				}
				p.Into(into)
				for i := range 3 {
					out, err := p.Run()
					if err != nil {
						t.Fatal(err)
					}
					want, err := o.Run(c)
					if err != nil {
						t.Fatal(err)
					}
					if a, b := bytesIn(out[0]), bytesIn(want[0]); !bytes.Equal(a, b) {
						t.Fatalf("run %d, %d bytes kept: got %v, want %v", i, p.Keeps(), out[0], want[0])
					}
					for j := range c.Inputs {
						if in := c.Inputs[j]; !kept.Fixed[j] && !in.IsZero() && in.DType().Size() == 1 {
							in.CopyFrom(randomBytes(r, in.DType().IsSigned(), in.Shape()...))
						} else if j == 0 {
							in.CopyFrom(random[float32](r, in.Shape()...).Any())
						}
					}
				}
				other := kept
				other.Inputs = append([]tensor.Any{}, c.Inputs...)
				other.Inputs[weights] = other.Inputs[weights].Clone()
				if q, err := form.Plan(&other); err != nil || q.Keeps() != 0 {
					t.Fatal(fmt.Sprint("other weights are kept: ", err))
				}
			})
		})
	}
}

func bytesIn(a tensor.Any) []byte {
	b, _ := tensor.Bytes(a)
	return b
}
