package op

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cast"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/internal/core/move"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// someFixed returns words of a format: small, of any size, and at the ends.
func someFixed[T num.Fixed](rng *rand.Rand, shape ...int) tensor.Tensor[T] {
	t := tensor.New[T](shape...)
	for i, e := 0, t.Elems(); i < len(e); i++ {
		shift := uint(rng.IntN(128))
		w := fixed.Int128{Hi: int64(rng.Uint64()), Lo: rng.Uint64()}
		b := w.Big()
		b.Rsh(b, shift)
		switch rng.IntN(12) {
		case 0:
			b.SetInt64(0)
		case 1:
			b.SetInt64(int64(rng.IntN(9)-4) << 23)
		}
		w, _ = fixed.Int128FromBig(b)
		e[i], _ = fixed.FromBits[T](w, fixed.Saturate)
	}
	return t
}

func eachFormat(t *testing.T, f8, f16, f32, f64 func(t *testing.T)) {
	t.Run("FP8x23", f8)
	t.Run("FP16x16", f16)
	t.Run("FP32x32", f32)
	t.Run("FP64x64", f64)
}

var fixedModes = [][]Option{nil, {Saturate()}, {Wrap()}}

// Operators on elements give the results of their functions, of any layout and in every mode,
// or the error of the first element that has none, and write nothing then.
func TestFixedElements(t *testing.T) {
	eachFormat(t, fixedElements[fixed.FP8x23], fixedElements[fixed.FP16x16], fixedElements[fixed.FP32x32], fixedElements[fixed.FP64x64])
}

func fixedElements[T num.Fixed](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, uint64(dtype.Of[T]())))
	ones, twos := 0, 0
	for _, o := range append(tables(), &pow, &pRelu, &mod, &fMod, &roundAway) {
		for m, opts := range fixedModes {
			for _, n := range []int{1, 3, 40} {
				s := plan.Read("Ratio", opts)
				state := cast.StateOf(&s, dtype.Of[T]())
				a, b := someFixed[T](rng, 2, n).Permute(1, 0), someFixed[T](rng, n, 2)
				o, ok := o.(*pointwise.Operator)
				if !ok || o.Fixed == nil {
					continue
				}
				switch r := o.Fixed.Row(dtype.Of[T](), exec.Word{}, exec.Word{}, state).(type) {
				case *pointwise.FixedRow1[T]:
					ones++
					checkFixed(t, o.Name, m, opts, func(opts ...Option) tensor.Tensor[T] { return apply(o, opts, &a) },
						a.Shape(), func(idx ...int) (T, error) { return r.Fn(a.At(idx...), state.Modes...) })
				case *pointwise.FixedRow2[T]:
					twos++
					row := b.S("0")
					checkFixed(t, o.Name, m, opts, func(opts ...Option) tensor.Tensor[T] { return apply(o, opts, &a, &b) },
						a.Shape(), func(idx ...int) (T, error) { return r.Fn(a.At(idx...), b.At(idx...), state.Modes...) })
					checkFixed(t, o.Name+" stretched", m, opts, func(opts ...Option) tensor.Tensor[T] { return apply(o, opts, &a, &row) },
						a.Shape(), func(idx ...int) (T, error) { return r.Fn(a.At(idx...), row.At(idx[1]), state.Modes...) })
				}
			}
		}
	}
	if ones < 9*33 || twos < 9*12 {
		t.Errorf("%d calls of operators of one operand and %d of two", ones, twos)
	}
}

// checkFixed compares a call with the function of each element.
func checkFixed[T num.Fixed](t *testing.T, name string, mode int, opts []Option, call func(opts ...Option) tensor.Tensor[T], shape []int, fn func(idx ...int) (T, error)) {
	t.Helper()
	want := tensor.New[T](shape...)
	var first error
	var at []int
	for i := range want.Len() {
		idx := plan.Unravel(i, shape)
		v, err := fn(idx...)
		if err != nil {
			first, at = err, idx
			break
		}
		want.Set(v, idx...)
	}
	mark := tensor.Full(one1[T](), shape...)
	into := mark.Clone()
	err := tensor.Try(func() { call(append(opts[:len(opts):len(opts)], Into(into))...) })
	if first != nil {
		if err == nil || !strings.Contains(err.Error(), first.Error()) || !strings.Contains(err.Error(), "at index "+plan.ShapeText(at)) {
			t.Fatalf("%s, mode %d: %v, want %v at %v", name, mode, err, first, at)
		}
		if !errors.Is(err, fixed.ErrOverflow) && !errors.Is(err, fixed.ErrDomain) {
			t.Fatalf("%s: %v wraps nothing", name, err)
		}
		want = mark
	} else if err != nil {
		t.Fatalf("%s, mode %d: %v", name, mode, err)
	} else {
		sameFixed(t, name, call(opts...), want)
	}
	sameFixed(t, name+" into", into, want)
}

func sameFixed[T num.Fixed](t *testing.T, name string, got, want tensor.Tensor[T]) {
	t.Helper()
	for i := range want.Len() {
		idx := plan.Unravel(i, want.Shape())
		if g, w := got.At(idx...), want.At(idx...); g != w {
			t.Fatalf("%s: %v at %v, want %v", name, g, idx, w)
		}
	}
}

func one1[T num.Fixed]() T {
	v, _ := fixed.FromInt64[T](1)
	return v
}

// Comparisons order numbers, and Max, Min, Where and Clip choose between them.
func TestFixedOrder(t *testing.T) {
	eachFormat(t, fixedOrder[fixed.FP8x23], fixedOrder[fixed.FP16x16], fixedOrder[fixed.FP32x32], fixedOrder[fixed.FP64x64])
}

func fixedOrder[T num.Fixed](t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	a, b := someFixed[T](rng, 3, 50), someFixed[T](rng, 50, 3).Permute(1, 0)
	a.Set(b.At(1, 1), 1, 1)
	less, eq, ge := Less(a, b), Equal(a, b), GreaterOrEqual(a, b)
	top, low, clip := Max(a, b), Min(a, b), Clip(a, b.At(0, 0), one1[T]())
	for i := range a.Len() {
		idx := plan.Unravel(i, a.Shape())
		x, y := a.At(idx...), b.At(idx...)
		c := fixed.Compare(x, y)
		if less.At(idx...) != (c < 0) || eq.At(idx...) != (c == 0) || ge.At(idx...) != (c >= 0) {
			t.Fatalf("%v and %v: %v %v %v", x, y, less.At(idx...), eq.At(idx...), ge.At(idx...))
		}
		if c < 0 {
			x, y = y, x
		}
		if top.At(idx...) != x || low.At(idx...) != y {
			t.Fatalf("%v and %v: %v %v", x, y, top.At(idx...), low.At(idx...))
		}
		v, _ := maxFixed(a.At(idx...), b.At(0, 0))
		if v, _ = minFixed(v, one1[T]()); clip.At(idx...) != v {
			t.Fatalf("Clip: %v, want %v", clip.At(idx...), v)
		}
	}
	sameFixed(t, "Where", Where(less, b, a), top)
	at := ArgMax(a, 1, ArgOptions{})
	for i := range 3 {
		if got, want := a.At(i, int(at.At(i))), ReduceMax(a, []int{1}).At(i); got != want {
			t.Errorf("ArgMax of row %d: %v, want %v", i, got, want)
		}
	}
}

func exactRat(w fixed.Int128, frac uint) *big.Rat {
	return new(big.Rat).SetFrac(w.Big(), new(big.Int).Lsh(big.NewInt(1), frac))
}

// Sums, products and means are exact and rounded once.
func TestFixedSums(t *testing.T) {
	eachFormat(t, fixedSums[fixed.FP8x23], fixedSums[fixed.FP16x16], fixedSums[fixed.FP32x32], fixedSums[fixed.FP64x64])
}

func fixedSums[T num.Fixed](t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	frac := cast.FracOf(dtype.Of[T]())
	small := func(shape ...int) tensor.Tensor[T] {
		x := tensor.New[T](shape...)
		for i, e := 0, x.Elems(); i < len(e); i++ {
			e[i], _ = fixed.FromFloat64[T](rng.Float64()*2 - 1)
		}
		return x
	}
	round := func(r *big.Rat) T {
		v, err := fixed.FromBig[T](new(big.Int).Quo(new(big.Int).Lsh(r.Num(), 400), r.Denom()), 400)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x := small(4, 3, 5)
	sum, mean, sq := ReduceSum(x, []int{0, 2}), ReduceMean(x, []int{0, 2}), ReduceSumSquare(x.Permute(2, 1, 0), []int{0, 2})
	for j := range 3 {
		s, q := new(big.Rat), new(big.Rat)
		for i := range 4 {
			for k := range 5 {
				v := exactRat(fixed.Bits(x.At(i, j, k)), frac)
				s.Add(s, v)
				q.Add(q, new(big.Rat).Mul(v, v))
			}
		}
		if got, want := sum.At(j), round(s); got != want {
			t.Errorf("sum %v, want %v", got, want)
		}
		if got, want := mean.At(j), round(s.Quo(s, big.NewRat(20, 1))); got != want {
			t.Errorf("mean %v, want %v", got, want)
		}
		if got, want := sq.At(j), round(q); got != want {
			t.Errorf("squares %v, want %v", got, want)
		}
	}
	a, b := small(2, 1, 3, 7), small(4, 6, 7).Permute(0, 2, 1)
	p := MatMul(a, b)
	for i := range p.Len() {
		at := plan.Unravel(i, p.Shape())
		s := new(big.Rat)
		for k := range 7 {
			s.Add(s, new(big.Rat).Mul(exactRat(fixed.Bits(a.At(at[0], 0, at[2], k)), frac), exactRat(fixed.Bits(b.At(at[1], k, at[3])), frac)))
		}
		if got, want := p.At(at...), round(s); got != want {
			t.Fatalf("product at %v: %v, want %v", at, got, want)
		}
	}
	// Out of range, and the first one named.
	top := move.Highest[T]()
	y := tensor.FromSlice([]T{one1[T](), top, top, top}, 2, 2)
	err := tensor.Try(func() { ReduceSum(y, []int{0}) })
	if !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "at index (0)") {
		t.Errorf("a sum beyond the format: %v", err)
	}
	if got := ReduceSum(y, []int{0}, Saturate()); got.At(0) != top || got.At(1) != top {
		t.Errorf("saturated: %v", got)
	}
	if err := tensor.Try(func() { MatMul(y, y) }); !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "at index (0,0)") {
		t.Errorf("a product beyond the format: %v", err)
	}
}

// Cast rounds once, whatever the types.
func TestFixedCast(t *testing.T) {
	eachFormat(t, fixedCasts[fixed.FP8x23], fixedCasts[fixed.FP16x16], fixedCasts[fixed.FP32x32], fixedCasts[fixed.FP64x64])
}

func fixedCasts[T num.Fixed](t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	x := someFixed[T](rng, 40, 30).Permute(1, 0)
	frac := cast.FracOf(dtype.Of[T]())
	f64, f32, f16, i8, u16, i64, yes := Cast[float64](x), Cast[float32](x), Cast[num.F16](x), Cast[int8](x), Cast[uint16](x), Cast[int64](x), Cast[bool](x)
	half, wide := Cast[fixed.FP16x16](x, Saturate()), Cast[fixed.FP64x64](x)
	for i := range x.Len() {
		at := plan.Unravel(i, x.Shape())
		v := exactRat(fixed.Bits(x.At(at...)), frac)
		d, _ := v.Float64()
		f, _ := v.Float32()
		if f64.At(at...) != d || f32.At(at...) != f {
			t.Fatalf("%v is %v and %v, want %v and %v", x.At(at...), f64.At(at...), f32.At(at...), d, f)
		}
		if got, want := f16.At(at...), nearestF16(v); got.Float64() != want {
			t.Fatalf("%v in float16 is %v, want %v", x.At(at...), got, want)
		}
		n := new(big.Int).Quo(v.Num(), v.Denom())
		whole := float64(math.MaxInt64)
		if n.IsInt64() {
			whole = float64(n.Int64())
		} else if n.Sign() < 0 {
			whole = math.MinInt64
		}
		if i8.At(at...) != int8(max(-128, min(127, whole))) || u16.At(at...) != uint16(max(0, min(65535, whole))) || n.IsInt64() && i64.At(at...) != n.Int64() {
			t.Fatalf("%v in integers is %v, %v and %v", x.At(at...), i8.At(at...), u16.At(at...), i64.At(at...))
		}
		if yes.At(at...) != (v.Sign() != 0) {
			t.Fatalf("%v in bool is %v", x.At(at...), yes.At(at...))
		}
		if want, _ := fixed.Convert[fixed.FP16x16](x.At(at...), fixed.Saturate); half.At(at...) != want {
			t.Fatalf("%v in FP16x16 is %v, want %v", x.At(at...), half.At(at...), want)
		}
	}
	sameFixed(t, "there and back", Cast[T](wide), x)
	in := tensor.FromSlice([]float64{0.1, -2.5, 1e300, math.NaN()}, 4)
	if err := tensor.Try(func() { Cast[T](in) }); !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "at index (2)") {
		t.Errorf("1e300: %v", err)
	}
	if err := tensor.Try(func() { Cast[T](in.S("::-1"), Saturate()) }); !errors.Is(err, fixed.ErrDomain) || !strings.Contains(err.Error(), "at index (0)") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{in.Any(), x.Any()}}); !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "at index (2)") {
		t.Errorf("1e300 at run time: %v", err)
	}
	got, want := Cast[T](in.S(":2")), tensor.New[T](2)
	for i, v := range []float64{0.1, -2.5} {
		w, _ := fixed.FromFloat64[T](v)
		want.Set(w, i)
	}
	sameFixed(t, "from float64", got, want)
	sameFixed(t, "from int16", Cast[T](tensor.FromSlice([]int16{3, -7}, 2)), Cast[T](tensor.FromSlice([]float64{3, -7}, 2)))
	sameFixed(t, "from bool", Cast[T](tensor.FromSlice([]bool{true, false}, 2)), Cast[T](tensor.FromSlice([]complex64{1 + 2i, 0}, 2)))
	if err := tensor.Try(func() { Cast[T](tensor.FromSlice([]uint64{math.MaxUint64}, 1)) }); !errors.Is(err, fixed.ErrOverflow) {
		t.Errorf("2^64 - 1: %v", err)
	}
}

// nearestF16 rounds a fraction to float16 by comparing it with the neighbours.
func nearestF16(v *big.Rat) float64 {
	f, _ := new(big.Float).SetPrec(400).SetRat(v).Float64()
	best := num.FromFloat64[num.F16](f)
	for _, b := range []uint16{best.Bits() - 1, best.Bits() + 1} {
		c := num.FromBits[num.F16](b)
		if c.Float64() != c.Float64() || math.IsInf(c.Float64(), 0) || math.IsInf(best.Float64(), 0) {
			continue
		}
		far := func(x float64) *big.Rat {
			r := new(big.Rat).SetFloat64(x)
			r.Sub(r, v)
			return r.Abs(r)
		}
		if far(c.Float64()).Cmp(far(best.Float64())) < 0 {
			best = c
		}
	}
	return best.Float64()
}

// Parameters are rounded to the format.
func TestFixedParameters(t *testing.T) {
	p := func(s string) fixed.FP16x16 { x, _ := fixed.Parse[fixed.FP16x16](s); return x }
	x := tensor.FromSlice([]fixed.FP16x16{p("-2"), p("-0.5"), p("0"), p("0.25"), p("3")}, 5)
	for _, c := range []struct {
		name string
		got  tensor.Tensor[fixed.FP16x16]
		want string
	}{
		{"LeakyRelu", LeakyRelu(x, 0.5), "[-1.   -0.25  0.    0.25  3.  ]"},
		{"ThresholdedRelu", ThresholdedRelu(x, 1), "[0. 0. 0. 0. 3.]"},
		{"HardSigmoid", HardSigmoid(x, 0.25, 0.5), "[0.     0.375  0.5    0.5625 1.    ]"},
		{"Elu", Elu(x, 2), "[-1.72934 -0.78693  0.       0.25     3.     ]"},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if err := tensor.Try(func() { LeakyRelu(x, 1e9) }); !errors.Is(err, fixed.ErrOverflow) {
		t.Errorf("alpha beyond the format: %v", err)
	}
}

// Sum rounds once, in every form: a partial sum may be beyond the format.
func TestFixedSumOfMany(t *testing.T) {
	ts := []tensor.Tensor[fixed.FP16x16]{fp16s(32767, 1), fp16s(1), fp16s(-2, 3)}
	want := fp16s(32766, 5)
	check := func(form string, got tensor.Tensor[fixed.FP16x16]) {
		t.Helper()
		if !slices.Equal(got.Contiguous().Elems(), want.Elems()) {
			t.Errorf("%s: %v, want %v", form, got, want)
		}
	}
	check("eager", Sum(ts))
	check("saturated", Sum(ts, Saturate()))
	check("fused", Fuse(Sum([]tensor.Tensor[fixed.FP16x16]{Lazy(ts[0]), ts[1], ts[2]})))
	out, err := as(plan.OpOf(&sum)).Run(&Call{Inputs: []tensor.Any{ts[0].Any(), ts[1].Any(), ts[2].Any()}, Attrs: plan.NoAttrs{}, Opset: 13, Outputs: 1})
	if err != nil {
		t.Fatal(err)
	}
	check("run", asOf[fixed.FP16x16](out[0]))
	check("into an operand", Sum(ts, Into(ts[0])))
	ts[0], want = fp16s(32767, 1), fp16s(32767.99998, 3)
	ts[2] = fp16s(2, 1)
	check("beyond, saturated", Sum(ts, Saturate()))
	check("beyond, saturated, fused", Fuse(Sum([]tensor.Tensor[fixed.FP16x16]{ts[0], Lazy(ts[1]), ts[2]}, Saturate())))
	want = fp16s(-32766, 3)
	check("beyond, wrapped", Sum(ts, Wrap()))
	failsAt(t, "beyond", "(0)", func() { Sum(ts) })
}

// An error of CumProd names the product that isn't there.
func TestFixedCumProdIndex(t *testing.T) {
	a := fp16s(1, 2, 300, 300, 1, 1, 2, 3).Reshape(2, 4)
	for _, c := range []struct {
		exclusive, reverse bool
		at                 string
	}{{false, false, "(0,3)"}, {true, false, ""}, {false, true, "(0,2)"}, {true, true, "(0,1)"}} {
		if c.at == "" {
			if got := CumProd(a, 1, CumOptions{Exclusive: true}).At(0, 3); got != fp16s(600).Elems()[0] {
				t.Errorf("exclusive: %v", got)
			}
			continue
		}
		failsAt(t, "CumProd", c.at, func() { CumProd(a, 1, CumOptions{Exclusive: c.exclusive, Reverse: c.reverse}) })
	}
	failsAt(t, "CumProd", "(2,1)", func() { CumProd(fp16s(1, 300, 1, 300, 1, 1).Reshape(3, 2), 0, CumOptions{Exclusive: true}) })
	failsAt(t, "CumSum", "(1)", func() { CumSum(fp16s(1, 32767, 2), 0, CumOptions{Reverse: true}) })
}

// A Cast to fixed point fails as a whole in a chain, too, and keeps its options there.
func TestFixedCastInChain(t *testing.T) {
	x := tensor.New[float64](20000)
	x.Elems()[19999] = 65537
	to := tensor.Full(fp16s(7).Elems()[0], 20000)
	failsAt(t, "Cast", "(19999)", func() { Fuse(Cast[fixed.FP16x16](Lazy(x)), Into(to)) })
	if to.At(0) != fp16s(7).Elems()[0] {
		t.Error("a failed chain wrote")
	}
	if got := Fuse(Cast[fixed.FP16x16](Lazy(x), Wrap())).At(19999); got != fp16s(1).Elems()[0] {
		t.Errorf("wrapped: %v", got)
	}
}

func fp16s(vs ...float64) tensor.Tensor[fixed.FP16x16] {
	t := tensor.New[fixed.FP16x16](len(vs))
	for i, v := range vs {
		t.Elems()[i], _ = fixed.FromFloat64[fixed.FP16x16](v)
	}
	return t
}

// failsAt wants an error of f that names an index.
func failsAt(t *testing.T, name, at string, f func()) {
	t.Helper()
	err := tensor.Try(f)
	if !errors.Is(err, fixed.ErrOverflow) || !strings.Contains(err.Error(), "at index "+at+":") {
		t.Errorf("%s: error %v, want an overflow at %s", name, err, at)
	}
}

// A Gemm of any factors rounds its exact value once; c isn't looked at for beta 0.
func TestFixedGemm(t *testing.T) {
	a, b, c := fp16s(32767, 1).Reshape(1, 2), fp16s(2, 3).Reshape(2, 1), fp16s(5)
	for _, x := range []struct {
		alpha, beta float64
		c           tensor.Tensor[fixed.FP16x16]
		want        string
	}{
		{0.25, 1, c, "[[16389.25]]"}, // the product alone, 65537, is beyond the format
		{1, -7000, c, "[[30537.]]"},
		{float64(float32(0.1)), 0, fp16s(7), "[[6553.7001]]"}, // 0.100000001490116…
		{0.1, 0, fp16s(7), "[[6553.7]]"},
		{1.0 / (1 << 20), 2.0 / (1 << 20), c, "[[0.06252]]"}, // 4096.7 units,
	} {
		got := tensor.Tensor[fixed.FP16x16]{}
		if err := tensor.Try(func() { got = Gemm(a, b, x.c, x.alpha, x.beta, GemmOptions{}) }); err != nil || got.String() != x.want {
			t.Errorf("%g·a·b + %g·%v: %v, %v, want %s", x.alpha, x.beta, x.c, got, err, x.want)
		}
	}
	err := tensor.Try(func() { Gemm(a, b, c, math.Inf(1), 1, GemmOptions{}) })
	if !errors.Is(err, fixed.ErrDomain) || !strings.Contains(err.Error(), "op.Gemm") || !strings.Contains(err.Error(), "finite") {
		t.Error(err)
	}
}

// apply is the call of an operator by code that has typed tensors.
func apply[T num.Elem](o *pointwise.Operator, opts []Option, ins ...*tensor.Tensor[T]) (r tensor.Tensor[T]) {
	of := make([]*tensor.Any, len(ins))
	for i, a := range ins {
		of[i] = exec.Ref(a)
	}
	o.Call(exec.Ref(&r), opts, of...)
	return r
}
