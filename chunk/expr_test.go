package chunk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func exprVars(t testing.TB) map[string]Array {
	f := make([]float32, 12)
	i := make([]int32, 12)
	for k := range f {
		f[k], i[k] = float32(k)-4, int32(k)-4
	}
	return map[string]Array{
		"x": From("x", zarrOf(t, tensor.FromSlice(f, 3, 4).Any(), 2, 3)),
		"i": From("i", zarrOf(t, tensor.FromSlice(i, 3, 4).Any(), 2, 3)),
		"u": Value(tensor.FromSlice([]uint8{1, 2, 200, 255}, 4).Any()),
		"d": Value(tensor.FromSlice([]float64{1, 2, 3, 4}, 4).Any()),
		"b": Value(tensor.FromSlice([]bool{true, false, true, false}, 4).Any()),
	}
}

func must(t *testing.T, text string) []tensor.Index {
	idx, err := layout.ParseSlice(text)
	if err != nil {
		t.Fatal(err)
	}
	return idx
}

// Each expression is the array that functions of the package make of it: the identities are equal.
func TestParse(t *testing.T) {
	vars := exprVars(t)
	x, i, u, d, b := vars["x"], vars["i"], vars["u"], vars["d"], vars["b"]
	f := func(v float32) Array { return Value(tensor.Scalar(v).Any()) }
	f64 := func(v float64) Array { return Value(tensor.Scalar(v).Any()) }
	e := f64(0)
	n := func(v int32) Array { return Value(tensor.Scalar(v).Any()) }
	m := func(name string, in ...Array) Array { return Map(name, nil, in...) }
	axis := func(a ...int) Reducing { return Reducing{Axes: a} }
	for text, want := range map[string]Array{
		"x": x, "((x))": x, " x\n": x, "+x": x, "-x": m("Neg", x), "--x": m("Neg", m("Neg", x)),
		"x + 2": m("Add", x, f(2)), "2.5 - x": m("Sub", f(2.5), x), "x * x / 2": m("Div", m("Mul", x, x), f(2)),
		"x + x * x": m("Add", x, m("Mul", x, x)), "(x + x) * x": m("Mul", m("Add", x, x), x), "x - x - x": m("Sub", m("Sub", x, x), x),
		"-x ** 2": m("Neg", m("Pow", x, f(2))), "x ** -1": m("Pow", x, f(-1)), "2 ** x ** 2": m("Pow", f(2), m("Pow", x, f(2))),
		"x + 2 ** 3": m("Add", x, f(8)), "x * (1 / 4)": m("Mul", x, f(.25)), "i + (7 // 2 - -7 // 2)": m("Add", i, n(7)), "i + -7 % 3": m("Add", i, n(2)),
		"i // 3": m("FloorDiv", i, n(3)), "i % 0x10": m("Mod", i, n(16)), "x + 1_000e-3": m("Add", x, f(1)), "x * -inf": m("Mul", x, f(float32(math.Inf(-1)))),
		"x > 1": m("Greater", x, f(1)), "1 <= i": m("LessOrEqual", n(1), i), "x == x": m("Equal", x, x), "x != 0": m("NotEqual", x, f(0)),
		"(x > 1) & (x < 3)": m("And", m("Greater", x, f(1)), m("Less", x, f(3))), "b | ~b ^ True": m("Or", b, m("Xor", m("Not", b), Value(tensor.Scalar(true).Any()))),
		"i & 6 | ~i": m("BitwiseOr", m("BitwiseAnd", i, n(6)), m("BitwiseNot", i)), "u >> 1": Map("BitShift", op.AttrMap{"direction": "RIGHT"}, u, Value(tensor.Scalar(uint8(1)).Any())),
		"u + 55": m("Add", u, Value(tensor.Scalar(uint8(55)).Any())), "d * pi": m("Mul", d, Value(tensor.Scalar(3.141592653589793).Any())),
		"sqrt(x)": m("Sqrt", x), "arctan2(x, 1)": m("Atan2", x, f(1)), "isnan(x)": m("IsNaN", x), "maximum(x, 0)": m("Max", x, f(0)), "fmod(x, 3)": Map("Mod", op.AttrMap{"fmod": int64(1)}, x, f(3)),
		"clip(x, -1, 1)": m("Min", m("Max", x, f(-1)), f(1)), "clip(x, high=2)": m("Min", x, f(2)), "where(x > 0, x, 0)": m("Where", m("Greater", x, f(0)), x, f(0)),
		"cast(i, 'float32')": m("CastLike", i, f(0)), "i.astype(\"float32\") + x": m("Add", m("CastLike", i, f(0)), x),
		"sum(x)": Reduce("ReduceSum", x, Reducing{}), "mean(x, axis=0)": Reduce("ReduceMean", x, axis(0)), "x.mean(0)": Reduce("ReduceMean", x, axis(0)), "x.mean((0, -1), keepdims=True)": Reduce("ReduceMean", x, Reducing{Axes: []int{0, 1}, KeepDims: true}),
		"var(x, axis=1, ddof=1)": Reduce("Var", x, Reducing{Axes: []int{1}, DDoF: 1}), "argmax(x, axis=1)": Reduce("ArgMax", x, axis(1)), "argmin(x[0])": Reduce("ArgMin", Slice(x, tensor.I(0)), axis(0)),
		"all(b)": Reduce("All", b, Reducing{}), "nansum(x)": Reduce("NanSum", x, Reducing{}), "count_nonzero(x > 0, axis=0)": Reduce("CountNonZero", m("Greater", x, f(0)), axis(0)),
		"max(x) - min(x)": m("Sub", Reduce("ReduceMax", x, Reducing{}), Reduce("ReduceMin", x, Reducing{})), "quantile(d, 0.5)": Reduce("Quantile", d, Reducing{Q: .5}),
		"x @ x.T": MatMul(x, Transpose(x)), "matmul(x, transpose(x, (1, 0)))": MatMul(x, Transpose(x, 1, 0)), "tensordot(x, x, ([1], [1]))": TensorDot(x, x, []int{1}, []int{1}), "tensordot(x, x.T, 1)": TensorDot(x, Transpose(x), []int{1}, []int{0}),
		"x[1:3, ::2]": Slice(x, tensor.R(1, 3), must(t, "::2")[0]), "x[0].T[..., None]": Slice(Transpose(Slice(x, tensor.I(0))), must(t, "...")[0], must(t, "None")[0]),
		"concatenate([x, x], axis=1)": Concat(1, x, x), "stack((x, -x))": Stack(0, x, m("Neg", x)), "rechunk(x, (3, 1))": Rechunk(x, 3, 1), "x.rechunk([1, 4])": Rechunk(x, 1, 4),
		"histogram(x, 4, (-4, 8))": Histogram(x, 4, -4, 8), "percentile(x, [25, 50], bins=8, range=(0, 1))": Percentile(Histogram(x, 8, 0, 1), 0, 1, 25, 50),
		"i / 2": m("Div", m("CastLike", i, e), f64(2)), "1 / u": m("Div", f64(1), m("CastLike", u, e)), "divide(i, i)": m("Div", m("CastLike", i, e), m("CastLike", i, e)),
		"i / u": m("Div", m("CastLike", i, e), m("CastLike", u, e)), "mean(i)": Reduce("ReduceMean", m("CastLike", i, e), Reducing{}), "mean(x > 0)": Reduce("ReduceMean", m("CastLike", m("Greater", x, f(0)), e), Reducing{}),
		"std(u)": Reduce("Std", m("CastLike", u, e), Reducing{}), "sum(cast(i, 'int64'))": Reduce("ReduceSum", m("CastLike", i, Value(tensor.Scalar(int64(0)).Any())), Reducing{}), "sum(b)": Reduce("CountNonZero", b, Reducing{}),
	} {
		got, err := Parse(text, vars)
		switch {
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case want.Err() != nil:
			t.Errorf("%s: the test is wrong: %v", text, want.Err())
		case got.n.id != want.n.id:
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	if got, err := Parse("where(u > 1, 300 - 200, u)", vars); err != nil {
		t.Error(got, err)
	}
}

func TestParseErrors(t *testing.T) {
	vars := exprVars(t)
	for text, want := range map[string]string{
		"": "1 end", "x +": "4 end", "x x": "3 'x'", "(x": "3 end", "x[1": "2 bracket", "y + 1": "1 no array \"y\"; there are b, d, i, u, x", "x + 'a'": "5 text", "2 + 3": "3 integer",
		"x < 1 < 2": "7 chain", "meen(x)": "1 did you mean mean?", "sum()": "1 argument x isn't given", "sum(x, 0, True, 1)": "17 too many", "sum(x, along=0)": "8 no argument \"along\"", "sum(x, x=x)": "10 twice",
		"sum(axis=0, x)": "13 after one with a name", "x + i": "3 cast them", "i + 0.5": "5 0.5 doesn't fit elements of int32", "u + 256": "5 256 doesn't fit", "u - -1": "5 -1 doesn't fit", "x * 1e39": "5 1e+39 doesn't fit",
		"b + 1": "5 fit", "~x": "1 ", "x * 010": "5 0o10", "x + 1__0": "5 number", "x + 0x1p3": "5 number", "x * 0 ** -1": "7 division", "x * (-8) ** 0.5": "10 complex", "x + 5.0 % 0": "9 division", "x * 2.0 ** 5000": "9 beyond", "(x > 0) + (x > 1)": "9 ", "x[5]": "2 5", "x[a]": "3 ", "x.shape": "3 shape", "x.": "3 end", "sum(x, axis=2)": "1 axes [2]",
		"cast(x, 'float33')": "9 float33", "cast(x, float32)": "9 no array", "where(x, x, x)": "7 condition", "where(b, 1, 0)": "1 constants", "clip(1, 2, 3)": "6 array", "stack(x)": "7 list", "concatenate([])": "1 no arrays",
		"rechunk(x, (0, 1))": "1 ", "histogram(x, 4, 5)": "17 range", "1 / 0 * x": "3 division", "2 ** 16384 + x": "3 too large", "10 ** 400 + x": "4 doesn't fit elements of float32", "x[01]": "3 it is 1", "x[1:08]": "5 it is 8", "i ** -1": "6 -1 is no integer", "u ** -1": "6 -1 doesn't fit", "clip(u, 256)": "9 256 doesn't fit", "clip(u, 0, -1)": "12 -1 doesn't fit",
		"u + 256 * 1": "9 'int16'", "i + 2 ** 40": "7 'int64'", "cast(i, 'int64') + 2 ** 63": "22 'float64'", "cast(u, 'uint64') - -1": "21 from 0 to 18446744073709551615", "cast(x, 'complex64') * 1e39": "24 doesn't fit", "x + 1e999": "5 too large", "x + 0x": "5 number", "x + 1.2.3": "5 number",
		"x = 1": "3 '='", "x; x": "2 ';'", "é + x": "1 no array", "é + é x": "7 'x'", "x + \x00": "5 ", "x @ 2": "3 arrays", strings.Repeat("(", 200) + "x": "101 deeper", strings.Repeat("-", 200) + "x": "101 deeper",
		strings.Repeat("x+", 1<<14) + "x": "1 at most", "tensordot(x, x, 5)": "17 pair", "quantile(d, 'a')": "13 text", "mean(x, axis='a')": "14 text", "None": "1 None", "x + None": "5 None", "1 << 2": "3 alone", "sin(1)": "1 alone", "'abc": "1 closed", "x.T(": "4 '('",
	} {
		a, err := Parse(text, vars)
		var e *ExprError
		if !errors.As(err, &e) {
			t.Errorf("%.60q: %v, %v", text, a, err)
			continue
		}
		column, word, _ := strings.Cut(want, " ")
		if e.At < 0 || e.At > len(text) || !strings.HasPrefix(err.Error(), "chunk.Parse: column "+column+": ") || !strings.Contains(err.Error(), word) {
			t.Errorf("%.60q: %.300v; want column %s and %q", text, err, column, word)
		}
		if mark := e.Mark(); strings.Count(mark, "\n") != 1 || !strings.HasSuffix(mark, "^") {
			t.Errorf("%.60q: %q", text, mark)
		}
	}
	if _, err := Parse("x", map[string]Array{"x": {}}); err == nil {
		t.Error("no error for the zero Array")
	}
}

// Expressions of integers and truth values that are other operators than their names say, or others than package op's.
func TestIntegers(t *testing.T) {
	vars := exprVars(t)
	vars["w"] = Value(tensor.FromSlice([]uint64{0, 1, 5, math.MaxUint64}, 4).Any())
	vars["p"] = Value(tensor.FromSlice([]int32{3, 0, -2}, 3).Any())
	vars["c"] = Value(tensor.FromSlice([]complex128{1 << 53, 1i}, 2).Any())
	vars["h"] = Value(tensor.FromSlice([]num.F8E4M3{num.FromFloat64[num.F8E4M3](448), num.FromFloat64[num.F8E4M3](-448), num.FromFloat64[num.F8E4M3](math.NaN())}, 3).Any())
	for text, want := range map[string]string{
		"w > -1": "[ True  True  True  True]", "w == -1": "[False False False False]", "-1 != w": "[ True  True  True  True]", "w >= 2 ** 64 - 1": "[False False False  True]", "w < 2 ** 64": "[ True  True  True  True]",
		"clip(w, -5, 3)": "[0 1 3 3]", "clip(u, 0, 4550)": "[  1   2 200 255]", "clip(x[0], -1e39, 1e39)": "[-4. -3. -2. -1.]", "w - 9223372036854775808 > w": "[ True  True  True False]", "maximum(w, 18446744073709551614)": "[18446744073709551614 18446744073709551614 18446744073709551614\n 18446744073709551615]",
		"b == 1": "[ True False  True False]", "b < 300": "[ True  True  True  True]", "2 ** 70 > b": "[ True  True  True  True]", "x[0] < 10 ** 400": "[ True  True  True  True]", "x[0] == 2 ** 70": "[False False False False]",
		"c == 2 ** 53": "[ True False]", "c == 2 ** 53 + 1": "[False False]", "c != 2 ** 53 + 1": "[ True  True]", "h < 449": "[ True  True False]", "h >= 449": "[False False False]", "h > -449": "[ True  True False]", "h != 449": "[ True  True  True]", "clip(h, -1000, 1000)": "[ 448. -448.   nan]",
		"nansum(i)": "18", "nanmax(u)": "255", "nanmin(u)": "1", "nansum(b)": "2", "nanmax(b)": "True", "nanmin(b)": "False", "nanmean(b)": "0.5", "nanmean(u)": "114.5", "nanargmax(u)": "3", "nanargmin(i, axis=0)": "[0 0 0 0]", "argmax(b)": "0", "argmin(b)": "1", "nanargmin(b)": "1",
		"argmax(x > 0, axis=1)": "[0 1 0]", "fmax(u, 3)": "[  3   3 200 255]", "fmin(i[0], -3)": "[-4 -3 -3 -3]", "isnan(i[0])": "[False False False False]", "isinf(b)": "[False False False False]", "isfinite(u)": "[ True  True  True  True]", "2 ** u[:2]": "[2 4]", "p[:2] ** p[:2]": "[27  1]",
	} {
		a, err := Parse(text, vars)
		var got tensor.Any
		if err == nil {
			got, err = elementsOf(a)
		}
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s is %v, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2 ** p": "the exponent at index [2] is -2", "power(p, p)": "index [2] is -2", "(p * 0 + 1) ** p": "index [2] is -2", "p ** (p - 1)": "index [1] is -1", "rechunk(3 ** (i - 1), (2, 2))": "index [0 0] is -5", "2 ** rechunk(p, 2)": "index [2] is -2",
	} {
		a, err := Parse(text, vars)
		if err == nil {
			var p *Plan
			if p, err = NewPlan(nil, Target{Array: a, Store: zarr.Memory()}); err == nil {
				err = p.Run(background, &RunOptions{Workers: 1})
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	if a := Map("Pow", nil, vars["p"], vars["p"]); fmt.Sprint(elementsOf(a)) != "[27  1  0] <nil>" { // ONNX's
		t.Error(elementsOf(a))
	}
}

// Every function is called with an array of some type and works, and every name is one function's.
func TestFunctions(t *testing.T) {
	vars := exprVars(t)
	more := map[string]string{"q": "0.5", "dtype": "'float32'", "chunks": "(1, 1)", "bins": "4", "range": "(0, 9)", "axis=None": "axis=0", "condition": "b"}
	seen := map[string]string{}
	for _, f := range Functions() {
		for _, name := range f.Names {
			if seen[name] != "" {
				t.Errorf("%s is %s and %s", name, seen[name], f.Op)
			}
			seen[name] = f.Op
			var last error
			ok := false
			for _, x := range []string{"x", "i", "u", "b", "d"} {
				args := []string{}
				for k, a := range strings.Split(f.Args, ", ") {
					switch {
					case more[a] != "":
						args = append(args, more[a])
					case a == "arrays":
						args = append(args, "["+x+", "+x+"]")
					case k == 0 || a == "x":
						args = append(args, x)
					case a == "y" && name == "matmul":
						args = append(args, x+".T")
					case a == "y":
						args = append(args, x)
					}
				}
				if strings.HasPrefix(name, "tensordot") {
					args = append(args, "axes=([0], [0])")
				}
				if name == "quantile" || name == "median" {
					args[0] = "rechunk(x, (3, 4))"
				}
				if _, err := Parse(name+"("+strings.Join(args, ", ")+")", vars); err == nil {
					ok = true
				} else {
					last = err
				}
			}
			if !ok {
				t.Errorf("%v takes no arguments: %v", f, last)
			}
		}
	}
	for _, o := range op.Operators() { // no elementwise operator is left out but those named here
		left := []string{"CastLike", "Clip", "Dropout", "Identity", "Mean", "PRelu", "Split", "Sum", "ThresholdedRelu", "Where"}
		if o.Domain() != "" || slices.Contains(left, o.Name()) {
			continue
		}
		x := map[int][]Array{1: {vars["x"]}, 2: {vars["x"], vars["x"]}}
		for n, in := range x {
			if Map(o.Name(), nil, in...).Err() == nil && !slices.ContainsFunc(Functions(), func(f Function) bool { return strings.Contains(f.Op, o.Name()) }) {
				t.Errorf("%s of %d operands has no function", o.Name(), n)
			}
		}
	}
}

// Whatever the text: an array that can be planned, or an *ExprError.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"mean(x, axis=0)", "x[1:2, ::-1].T @ x", "where(b, u, 3)", "clip(-x ** 2, 0, high=1e3)", "stack([x, x], -1)", "percentile(x, (1, 2), 9, (0, 1))", "tensordot(x, x, ([1], [1]))",
		"x + 'é", "((((", "cast(i, 'float16') // 1", "0x_1f + u", "x.sum((0,1), keepdims=True)", "2 ** 70 > u", "x[0x1, 01]", "i ** i != -10 ** 400", "clip(u, -1, 2 ** 64)"} {
		f.Add(s)
	}
	vars := exprVars(f)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text, vars)
		var e *ExprError
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%q: %T %v", text, err, err)
		}
		if err == nil {
			if a.Err() != nil {
				t.Fatal(a.Err())
			}
			b, err := Parse(text, vars)
			if err != nil || a.n.id != b.n.id {
				t.Fatalf("%q: twice the same gives %v and %v, %v", text, a, b, err)
			}
		} else {
			_ = e.Mark()
		}
	})
}

func ExampleParse() {
	x := FromTensor("x", tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2).Any(), 1, 2)
	mean, err := Parse("mean(x, axis=0)", map[string]Array{"x": x})
	fmt.Println(mean, err)
	_, err = Parse("mean(x, axis=0) + y", map[string]Array{"x": x})
	fmt.Println(err.(*ExprError).Mark())
	// Output:
	// float32[2] in chunks of [2] <nil>
	// mean(x, axis=0) + y
	//                   ^
}
