package op

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// wideOf and backOf return the conversions of a narrow float to and from float32, nil for other types.
func wideOf[T num.Elem]() func(dst []float32, a []T) {
	return exec.Recall[func(dst []float32, a []T)](cast.WidenOf(dtype.Of[T]()))
}

func backOf[T num.Elem]() func(dst []T, a []float32) {
	return exec.Recall[func(dst []T, a []float32)](cast.NarrowOf(dtype.Of[T]()))
}

// definedChain is the rule of contractions word by word: blocks of 256 from k = 0,
// in each one chain of fused steps from +0, the blocks' results added in order.
// Narrow floats contract in float32 and are rounded once; NaNs are canonical.
func definedChain[T num.Elem](x, y []T) T {
	switch x := any(x).(type) {
	case []float32:
		return any(chainOf(x, any(y).([]float32), float.FMA32, num.NaN32())).(T)
	case []float64:
		return any(chainOf(x, any(y).([]float64), float.FMA64, num.NaN64())).(T)
	}
	if widen := wideOf[T](); widen != nil {
		u, v := make([]float32, len(x)), make([]float32, len(y))
		widen(u, x)
		widen(v, y)
		out := make([]T, 1)
		backOf[T]()(out, []float32{chainOf(u, v, float.FMA32, num.NaN32())})
		return out[0]
	}
	switch x := any(x).(type) {
	case []int8:
		return any(wraps(x, any(y).([]int8))).(T)
	case []uint16:
		return any(wraps(x, any(y).([]uint16))).(T)
	case []int64:
		return any(wraps(x, any(y).([]int64))).(T)
	}
	panic("no definition")
}

func chainOf[T num.Float](x, y []T, fma func(a, b, c T) T, nan T) T {
	var c T
	for k0 := 0; k0 < len(x); k0 += 256 {
		var acc T
		for k := k0; k < min(k0+256, len(x)); k++ {
			acc = fma(x[k], y[k], acc)
		}
		if k0 == 0 {
			c = acc
		} else {
			c = c + acc
		}
	}
	if c != c {
		return nan
	}
	return c
}

func wraps[T num.Integer](x, y []T) (s T) {
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// definedMatMul computes each element of a product of matrices with batch axes
// from its row and column.
func definedMatMul[T num.Elem](a, b tensor.Tensor[T], shape []int) tensor.Tensor[T] {
	out := tensor.New[T](shape...)
	res := out.Elems()
	k := a.Dim(-1)
	for o := range res {
		at := plan.Unravel(o, shape)
		i, j := 0, 0
		if b.Rank() > 1 {
			at, j = at[:len(at)-1], at[len(at)-1]
		}
		if a.Rank() > 1 {
			at, i = at[:len(at)-1], at[len(at)-1]
		}
		pick := func(t tensor.Tensor[T]) []int { // the batch coordinate of an operand
			own := make([]int, max(0, t.Rank()-2), t.Rank())
			for d := range own {
				own[d] = at[len(at)-len(own)+d]
				if t.Dim(d) == 1 {
					own[d] = 0
				}
			}
			return own
		}
		x, y := make([]T, k), make([]T, k)
		for l := range k {
			if a.Rank() > 1 {
				x[l] = a.At(append(pick(a), i, l)...)
			} else {
				x[l] = a.At(l)
			}
			if b.Rank() > 1 {
				y[l] = b.At(append(pick(b), l, j)...)
			} else {
				y[l] = b.At(l)
			}
		}
		res[o] = definedChain(x, y)
	}
	return out
}

func testMatMul[T num.Native | num.Narrow](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ a, b, want []int }{
		{[]int{1, 0}, []int{0, 1}, []int{1, 1}},
		{[]int{2, 0}, []int{0, 3}, []int{2, 3}},
		{[]int{0, 2}, []int{2, 3}, []int{0, 3}},
		{[]int{4}, []int{4}, []int{}},
		{[]int{600}, []int{600}, []int{}},
		{[]int{4}, []int{4, 3}, []int{3}},
		{[]int{3, 4}, []int{4}, []int{3}},
		{[]int{257}, []int{2, 257, 3}, []int{2, 3}},
		{[]int{2, 3, 257}, []int{257}, []int{2, 3}},
		{[]int{1, 1}, []int{1, 1}, []int{1, 1}},
		{[]int{5, 1}, []int{1, 7}, []int{5, 7}},
		{[]int{1, 255}, []int{255, 9}, []int{1, 9}},
		{[]int{9, 256}, []int{256, 1}, []int{9, 1}},
		{[]int{6, 257}, []int{257, 4}, []int{6, 4}},
		{[]int{21, 600}, []int{600, 6}, []int{21, 6}},
		{[]int{6, 600}, []int{600, 21}, []int{6, 21}},
		{[]int{66, 6}, []int{6, 18}, []int{66, 18}},
		{[]int{3, 4}, []int{4, 515}, []int{3, 515}},
		{[]int{1, 270}, []int{270, 130}, []int{1, 130}},
		{[]int{7, 270}, []int{270, 130}, []int{7, 130}},
		{[]int{130, 270}, []int{270, 1}, []int{130, 1}},
		{[]int{5, 3}, []int{3, 9000}, []int{5, 9000}},
		{[]int{2, 3, 4}, []int{2, 4, 6}, []int{2, 3, 6}},
		{[]int{2, 1, 3, 4}, []int{5, 4, 6}, []int{2, 5, 3, 6}},
		{[]int{3, 4}, []int{2, 2, 4, 6}, []int{2, 2, 3, 6}},
		{[]int{0, 3, 4}, []int{4, 6}, []int{0, 3, 6}},
	} {
		a, b := random[T](r, c.a...), random[T](r, c.b...)
		want := definedMatMul(a, b, c.want)
		what := fmt.Sprintf("%v·%v", c.a, c.b)
		vb := variants(b)
		for i, v := range variants(a) {
			w := vb[(i*2+1)%len(vb)]
			same(t, what+" "+v.name+" with "+w.name, MatMul(v.t, w.t), want)
		}
		for i, v := range variants(want) {
			v.t.Fill(of[T](1))
			MatMul(a, vb[i%len(vb)].t, Into(v.t))
			same(t, what+" into "+v.name, v.t, want)
		}
	}
}

func TestMatMul(t *testing.T) {
	t.Run("float32", testMatMul[float32])
	t.Run("float64", testMatMul[float64])
	t.Run("float16", testMatMul[num.F16])
	t.Run("bfloat16", testMatMul[num.BF16])
	t.Run("float8_e4m3", testMatMul[num.F8E4M3])
	t.Run("float8_e5m2", testMatMul[num.F8E5M2])
	t.Run("int8", testMatMul[int8])
	t.Run("uint16", testMatMul[uint16])
	t.Run("int64", testMatMul[int64])
}

// A row, a column or a batch entry alone has the bits that it has among others.
func TestMatMulAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	a, b := random[float32](r, 3, 20, 301), random[float32](r, 3, 301, 35)
	all := MatMul(a, b)
	for i := range 3 {
		x, y := a.Slice(tensor.I(i)), b.Slice(tensor.I(i))
		same(t, "a batch entry", MatMul(x, y), all.Slice(tensor.I(i)))
		same(t, "a row", MatMul(x.S("7"), y), all.Slice(tensor.I(i), tensor.I(7)))
		same(t, "a column", MatMul(x, y.S(":,30")), all.Slice(tensor.I(i), tensor.Colon, tensor.I(30)))
		same(t, "three columns", MatMul(x, y.S(":,30:33")), all.Slice(tensor.I(i), tensor.Colon, tensor.R(30, 33)))
		same(t, "an element", MatMul(x.S("7"), y.S(":,30")), all.Slice(tensor.I(i), tensor.I(7), tensor.I(30)))
	}
	same(t, "one matrix for all", MatMul(a.S("1"), b).S("1"), all.S("1"))
}

// testMatMulAgain multiplies by a matrix whose rows are one row in memory, and by one whose columns are one column.
func testMatMulAgain[T num.Native](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 5, 40, 300} {
		for _, m := range []int{1, 3, 40} {
			a := random[T](r, m, 7)
			for _, b := range []tensor.Tensor[T]{random[T](r, 1, n).BroadcastTo(7, n), random[T](r, 7, 1).BroadcastTo(7, n)} {
				same(t, fmt.Sprint(m, " rows, ", n, " columns"), MatMul(a, b), MatMul(a, b.Clone()))
			}
		}
	}
}

func TestMatMulAgain(t *testing.T) {
	t.Run("float32", testMatMulAgain[float32])
	t.Run("float64", testMatMulAgain[float64])
	t.Run("int8", testMatMulAgain[int8])
	t.Run("int64", testMatMulAgain[int64])
}

func TestMatMulOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	a, b := random[float32](r, 5, 5), random[float32](r, 5, 5)
	want := MatMul(a, b)
	x := a.Clone()
	same(t, "into the left", MatMul(x, b, Into(x)), want)
	y := b.Clone()
	same(t, "into the right", MatMul(a, y, Into(y.Transpose())), want)
	z := a.Clone()
	same(t, "squared in place", MatMul(z, z, Into(z)), MatMul(a, a))
	h := tensor.New[num.F16](4, 4)
	for i := range 16 {
		h.Set(num.FromFloat64[num.F16](float64(i)), i/4, i%4)
	}
	hh := MatMul(h, h)
	same(t, "float16 in place", MatMul(h, h, Into(h)), hh)
	same(t, "beta·c in place", Gemm(a, b, x, 1, 2, GemmOptions{}, Into(x)), Gemm(a, b, want, 1, 2, GemmOptions{}))
}

func TestMatMulSpecial(t *testing.T) {
	inf, nan, nz := float32(math.Inf(1)), math.Float32frombits(0xffc12345), float32(math.Copysign(0, -1))
	for _, c := range []struct{ x, y []float32 }{
		{[]float32{inf}, []float32{0}}, {[]float32{nan, 1}, []float32{1, 1}}, {[]float32{1}, []float32{nan}}, {[]float32{inf, inf}, []float32{1, -1}},
		{[]float32{nz}, []float32{1}}, {[]float32{nz, nz}, []float32{1, 1}}, {[]float32{1e-30}, []float32{-1e-30}}, {[]float32{3e38, -3e38}, []float32{2, 2}},
	} {
		k := len(c.x)
		for _, n := range []int{1, 3, 5, 20} {
			a := tensor.FromSlice(c.x, 1, k).BroadcastTo(n, k)
			b := tensor.FromSlice(c.y, k, 1)
			same(t, fmt.Sprintf("%v·%v, %d rows", c.x, c.y, n), MatMul(a, b), tensor.Full(definedChain(c.x, c.y), n, 1))
			same(t, fmt.Sprintf("%v·%v, %d columns", c.x, c.y, n), MatMul(b.Transpose(), a.Transpose()), tensor.Full(definedChain(c.y, c.x), 1, n))
		}
	}
}

func TestMatMulMistakes(t *testing.T) {
	f := func(shape ...int) tensor.Tensor[float32] { return tensor.New[float32](shape...) }
	fails(t, func() { MatMul(f(2, 3), f(4, 2)) }, "op.MatMul", "(2,3)", "(4,2)", "3 columns", "4 rows")
	fails(t, func() { MatMul(f(), f(4)) }, "op.MatMul", "at least one axis")
	fails(t, func() { MatMul(f(2, 3, 4), f(3, 4, 5)) }, "op.MatMul", "broadcast")
	fails(t, func() { MatMul(f(2, 3), f(3, 4), Into(f(4, 2))) }, "op.MatMul", "(4,2)", "(2,4)")
	fails(t, func() { Gemm(f(2, 3), f(2, 3), f(1), 1, 1, GemmOptions{}) }, "op.Gemm", "3 columns", "2 rows")
	fails(t, func() { Gemm(f(2, 3), f(3, 4), f(2), 1, 1, GemmOptions{}) }, "op.Gemm", "(2)", "(2,4)")
	fails(t, func() { Gemm(f(2), f(2, 3), f(1), 1, 1, GemmOptions{}) }, "op.Gemm", "matrices")
}

// definedGemm: the contraction, then alpha, then beta·c, then the sum, each rounded.
func definedGemm[T num.Float](a, b, c tensor.Tensor[T], alpha, beta float64, shape []int) tensor.Tensor[T] {
	out := definedMatMul(a, b, shape)
	for at, v := range out.Clone().All() {
		if alpha != 1 {
			v *= T(alpha)
		}
		if !c.IsZero() && beta != 0 {
			w := c.BroadcastTo(shape...).At(at...)
			if beta != 1 {
				w *= T(beta)
			}
			v += w
		}
		out.Set(v, at...)
	}
	return out
}

func testGemm[T num.Float](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	a, b := random[T](r, 6, 270), random[T](r, 270, 9)
	for _, cs := range [][]int{nil, {}, {1}, {9}, {6, 1}, {1, 9}, {6, 9}} {
		var c tensor.Tensor[T]
		if cs != nil {
			c = random[T](r, cs...)
		}
		for _, f := range [][2]float64{{1, 1}, {0.3, 1}, {1, -0.7}, {0.3, 0.7}, {2, 0}, {0, 1}} {
			want := definedGemm(a, b, c, f[0], f[1], []int{6, 9})
			what := fmt.Sprintf("c %v, alpha and beta %v", cs, f)
			same(t, what, Gemm(a, b, c, f[0], f[1], GemmOptions{}), want)
			same(t, what+", transposed", Gemm(a.Transpose().Contiguous(), b.Transpose().Contiguous(), c, f[0], f[1], GemmOptions{TransA: true, TransB: true}), want)
			for _, v := range variants(want) {
				v.t.Fill(0)
				same(t, what+" into "+v.name, Gemm(a, b, c, f[0], f[1], GemmOptions{}, Into(v.t)), want)
			}
		}
	}
	same(t, "no rows", Gemm(a.S(":0"), b, tensor.Tensor[T]{}, 1, 1, GemmOptions{}), tensor.New[T](0, 9))
	n := T(math.NaN())
	same(t, "c of NaN and beta 0", Gemm(a, b, tensor.Full(n, 6, 9), 1, 0, GemmOptions{}), MatMul(a, b))
}

func TestGemm(t *testing.T) {
	t.Run("float32", testGemm[float32])
	t.Run("float64", testGemm[float64])
	// Narrow floats: in float32 all along, rounded once at the end.
	r := rand.New(rand.NewPCG(5, 5))
	a, b, c := random[num.BF16](r, 3, 40), random[num.BF16](r, 40, 4), random[num.BF16](r, 4)
	want := Cast[num.BF16](definedGemm(Cast[float32](a), Cast[float32](b), Cast[float32](c), 0.3, 0.7, []int{3, 4}))
	same(t, "bfloat16", Gemm(a, b, c, 0.3, 0.7, GemmOptions{}), want)
	for _, d := range [][3]int{{1, 270, 130}, {7, 270, 130}, {130, 270, 2}, {130, 270, 1}} {
		a, b := random[num.F16](r, d[0], d[1]), random[num.F16](r, d[1], d[2])
		for _, c := range []tensor.Tensor[num.F16]{{}, random[num.F16](r, d[2]), random[num.F16](r, d[0], 1)} {
			var plus tensor.Tensor[float32]
			if !c.IsZero() {
				plus = Cast[float32](c)
			}
			want := Cast[num.F16](definedGemm(Cast[float32](a), Cast[float32](b), plus, 1, 1, []int{d[0], d[2]}))
			same(t, fmt.Sprint("float16 ", d), Gemm(a, b, c, 1, 1, GemmOptions{}), want)
			same(t, fmt.Sprint("float16 transposed ", d), Gemm(a.Transpose().Contiguous(), b.Transpose().Contiguous(), c, 1, 1, GemmOptions{TransA: true, TransB: true}), want)
		}
	}
	out := runs(t, "Gemm", &Call{Inputs: []tensor.Any{a.Transpose().Any(), b.Any(), c.Any()}, Attrs: given{"alpha": float32(0.3), "beta": float32(0.7), "transA": int64(1)}})
	same(t, "run-time form", asOf[num.BF16](out[0]), want)
}

// Products of integers have pure tiles, of which these are several below each other.
func TestTallProductOfIntegers(t *testing.T) {
	const m, n = 200, 5
	for _, k := range []int{0, 3, 300} {
		a, b := tensor.Empty[int32](m, k), tensor.Empty[int32](k, n)
		for i := range m {
			for l := range k {
				a.Set(int32(i*l-7), i, l)
			}
		}
		for l := range k {
			for j := range n {
				b.Set(int32(l+3*j), l, j)
			}
		}
		c := MatMul(a, b)
		for i := range m {
			for j := range n {
				want := int32(0)
				for l := range k {
					want += int32(i*l-7) * int32(l+3*j)
				}
				if got := c.At(i, j); got != want {
					t.Fatalf("k %d: element (%d,%d) is %d, want %d", k, i, j, got, want)
				}
			}
		}
	}
}
