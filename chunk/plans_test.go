package chunk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A plan that is accepted can be run: each function of expressions, of each element type, in one chunk and in several.
func TestAcceptedRuns(t *testing.T) {
	plans, refused := 0, 0
	for i, d := range dtype.All() {
		if d.Size() == 0 {
			continue
		}
		x, err := run(named("CastLike"), nil, tensor.FromSlice([]int8{1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1}, 4, 4).Any(), tensor.EmptyOf(d))
		if err != nil {
			x, err = tensor.Make(d, 4, 4)
		}
		if err != nil {
			t.Fatal(d, err)
		}
		for j, chunks := range [][]int{{4, 4}, {2, 3}} {
			cut := FromTensor("x", x, chunks...)
			vars := map[string]Array{"x": cut, "b": Value(tensor.FromSlice([]bool{true, false, true, true}, 4).Any())}
			for k, f := range Functions() {
				if !*whole && (i+j+k)%2 > 0 {
					continue
				}
				for _, text := range calls(f) {
					a, err := Parse(text, vars)
					var p *Plan
					if err == nil {
						p, err = NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
					}
					if err != nil {
						refused++
						continue
					}
					plans++
					if err := p.Run(background, &RunOptions{Workers: 1}); err != nil && !strings.Contains(err.Error(), "division by zero") {
						t.Errorf("%s of %v in %v was planned: %v", text, d, chunks, err)
					}
				}
			}
		}
	}
	t.Logf("%d plans ran, %d were refused", plans, refused)
}

// calls spells calls of a function of x, with the arguments that it needs, and with others where it has an axis.
func calls(f Function) []string {
	given := map[string]string{"x": "x", "y": "x", "q": "0.5", "dtype": "'float32'", "chunks": "(1, 1)", "bins": "4", "range": "(0, 9)", "condition": "b", "arrays": "[x, x]"}
	var args []string
	more := []string{""}
	for _, a := range strings.Split(f.Args, ", ") {
		key, _, optional := strings.Cut(a, "=")
		switch {
		case key == "axes" && f.Op == "TensorDot":
			more = []string{", 1", ", 2", ", ([0], [1])"}
		case key == "axis":
			more = []string{"", ", axis=0", ", axis=1", ", axis=(0, 1)"}
		case key == "low":
			args = append(args, "0")
		case !optional:
			args = append(args, given[key])
		}
	}
	var out []string
	for _, name := range f.Names {
		for _, m := range more {
			out = append(out, name+"("+strings.Join(args, ", ")+m+")")
		}
	}
	return out
}

// The result types of sums are NumPy's in an expression, and the operand's in Reduce.
func TestSumTypes(t *testing.T) {
	u := FromTensor("u", tensor.Full[uint8](200, 20, 20).Any(), 7, 7)
	i := FromTensor("i", tensor.FromSlice([]int8{-128, 127, -128}, 3).Any(), 2)
	b := FromTensor("b", tensor.FromSlice([]bool{true, false, true}, 3).Any(), 2)
	vars := map[string]Array{"u": u, "i": i, "b": b}
	for text, want := range map[string]string{
		"sum(u)": "uint64 80000", "prod(u[:2, 0])": "uint64 40000", "sumsquare(u)": "uint64 16000000", "norm1(i)": "int64 383", "sum(i)": "int64 -129",
		"norm(u)": "float64 4000.0", "sum(b)": "int64 2", "prod(b)": "int64 0", "sumsquare(b)": "int64 2", "norm1(b)": "int64 2", "max(b)": "bool True", "min(b)": "bool False", "b @ b": "bool True",
		"tensordot(b, ~b, 1)": "bool False", "ptp(b)": "elements of bool",
	} {
		a, err := Parse(text, vars)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		r := computed(t, a, Options{}, RunOptions{})
		if got := fmt.Sprint(r.DType(), " ", r); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if r := computed(t, Reduce("ReduceSum", u, Reducing{}), Options{}, RunOptions{}); fmt.Sprint(r.DType(), r) != "uint8 128" {
		t.Errorf("ReduceSum is %v %v", r.DType(), r)
	}
}

// An index in an error is counted in the array, whatever part of it a task divides by.
func TestDivisorIndex(t *testing.T) {
	d := tensor.Full[int32](3, 6, 5)
	d.Set(0, 4, 3)
	y := FromTensor("y", d.Any(), 2, 2)
	vars := map[string]Array{"x": FromTensor("x", tensor.Full[int32](7, 6, 5).Any(), 2, 2), "y": y, "z": FromTensor("z", tensor.FromSlice([]int32{1, 2, 3, 0, 5}, 5).Any(), 1)}
	for text, want := range map[string]string{
		"x // y": "index [4 3]", "x % y + x": "index [4 3]", "x // z": "index [3]", "x[1:] // y[1:]": "index [3 3]", "x.T // y.T": "index [3 4]", "sum(x % (y * 2))": "index [4 3]", "x // (x // y)": "index [4 3]",
		"rechunk(x, (6, 5)) // (y // 4)": "index [0 0]", "x[0, 0] // y": "index [4 3]",
	} {
		a, err := Parse(text, vars)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
		if err == nil {
			err = p.Run(background, &RunOptions{Workers: 1})
		}
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "divisor at "+want+" is 0") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A percentile of elements outside of the range is refused, one of NaN NaN, and one of a number a scalar.
func TestPercentileRange(t *testing.T) {
	for _, c := range []struct {
		x    []float32
		want string
	}{
		{[]float32{5, 6, .5}, "2 of 3 elements lie outside of the range from 0 to 1"}, {[]float32{5, float32(math.NaN()), .5}, "NaN"}, {[]float32{0, .5, 1}, "0.5"},
		{[]float32{float32(math.Inf(1)), 1}, "1 of 2"}, {nil, "NaN"},
	} {
		a, err := Parse("percentile(x, 50, 100, (0, 1))", map[string]Array{"x": FromTensor("x", tensor.FromSlice(c.x, len(c.x)).Any(), 1)})
		if err != nil || len(a.Shape()) != 0 {
			t.Fatal(a, err)
		}
		p, err := NewPlan(nil, Target{Array: a, Store: zarr.Memory()})
		if err == nil {
			err = p.Run(background, nil)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v", c.x, err)
			}
			continue
		}
		r := computed(t, a, Options{}, RunOptions{})
		if x := tensor.Float64s(r)(); !(math.Abs(x-.5) <= .01) && c.want == "0.5" || fmt.Sprint(x) != "NaN" && c.want == "NaN" || len(c.want) > 4 {
			t.Errorf("%v is %v, want %s", c.x, x, c.want)
		}
	}
}

// The remainder of floats is op.Mod's, bit for bit, of arrays and of constants; the quantiles of 16-bit floats are op's.
func TestFloatFunctions(t *testing.T) {
	inf := math.Inf(1)
	special := []float64{0, math.Copysign(0, -1), 1, -1, 3, -3, 0.5, -0.1, 7.25, inf, -inf, math.NaN(), 65504, -65504, 1e-7, 6e-8}
	var a, b []float64
	for _, x := range special {
		for _, y := range special {
			a, b = append(a, x), append(b, y)
		}
	}
	n := len(a)
	as := func(d dtype.DType, v []float64) tensor.Any {
		x, err := run(named("CastLike"), nil, tensor.FromSlice(v, len(v)).Any(), tensor.EmptyOf(d))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	mod := map[dtype.DType]func(x, y tensor.Any) tensor.Any{
		dtype.Float16: modOf[num.F16], dtype.BFloat16: modOf[num.BF16], dtype.Float32: modOf[float32], dtype.Float64: modOf[float64],
	}
	for d, of := range mod {
		x, y := as(d, a), as(d, b)
		vars := map[string]Array{"x": FromTensor("x", x, 7), "y": FromTensor("y", y, 10)}
		for text, want := range map[string]tensor.Any{"x % y": of(x, y), "remainder(x, y)": of(x, y), "mod(x, y)": of(x, y), "x % -3": of(x, as(d, slices.Repeat([]float64{-3}, n))), "mod(0.5, y)": of(as(d, slices.Repeat([]float64{.5}, n)), y)} {
			r, err := Parse(text, vars)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprint(text, " of ", d), computed(t, r, Options{}, RunOptions{}), want)
		}
		q, err := Parse("stack([median(z), quantile(z, 0.25)])", map[string]Array{"z": FromTensor("z", as(d, []float64{4, 1, 9, 0.5}), 4)})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(computed(t, q, Options{}, RunOptions{})), fmt.Sprint(as(d, []float64{2.5, .875})); got != want {
			t.Errorf("median and quantile of %v are %s, want %s", d, got, want)
		}
	}
}

func modOf[T num.Native | num.Narrow](x, y tensor.Any) tensor.Any {
	a, _ := tensor.As[T](x)
	b, _ := tensor.As[T](y)
	return op.Mod(a, b).Any()
}
