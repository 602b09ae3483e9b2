package op

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

func TestCastFloatToInt(t *testing.T) {
	a := tensor.FromSlice([]float64{nan, inf, -inf, 1.9, -1.9, 127.99, 128, -128.99, -129, 255.5, 256, -0.5, 1e30, 1 << 63, 1 << 62})
	for _, c := range []struct{ got, want any }{
		{Cast[int8](a).Elems(), []int8{0, 127, -128, 1, -1, 127, 127, -128, -128, 127, 127, 0, 127, 127, 127}},
		{Cast[uint8](a).Elems(), []uint8{0, 255, 0, 1, 0, 127, 128, 0, 0, 255, 255, 0, 255, 255, 255}},
		{Cast[int64](a).Elems(), []int64{0, math.MaxInt64, math.MinInt64, 1, -1, 127, 128, -128, -129, 255, 256, 0, math.MaxInt64, math.MaxInt64, 1 << 62}},
		{Cast[uint64](a).Elems(), []uint64{0, math.MaxUint64, 0, 1, 0, 127, 128, 0, 0, 255, 256, 0, math.MaxUint64, 1 << 63, 1 << 62}},
		{Cast[bool](a).Elems(), []bool{true, true, true, true, true, true, true, true, true, true, true, true, true, true, true}},
		{Cast[int32](Cast[num.F16](a)).Elems(), []int32{0, math.MaxInt32, math.MinInt32, 1, -1, 128, 128, -129, -129, 255, 256, 0, math.MaxInt32, math.MaxInt32, math.MaxInt32}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got  %v\nwant %v", c.got, c.want)
		}
	}
}

func TestCastIntegers(t *testing.T) {
	a := tensor.FromSlice([]int64{-1, 256, math.MinInt64, 1<<32 + 5, 0})
	for _, c := range []struct{ got, want any }{
		{Cast[int8](a).Elems(), []int8{-1, 0, 0, 5, 0}},
		{Cast[uint32](a).Elems(), []uint32{math.MaxUint32, 256, 0, 5, 0}},
		{Cast[uint64](a).Elems(), []uint64{math.MaxUint64, 256, 1 << 63, 1<<32 + 5, 0}},
		{Cast[bool](a).Elems(), []bool{true, true, true, true, false}},
		{Cast[int16](tensor.FromSlice([]bool{true, false})).Elems(), []int16{1, 0}},
		{Cast[complex64](a).Elems(), []complex64{-1, 256, -1 << 63, 1 << 32, 0}},
		{Cast[int32](tensor.FromSlice([]complex128{3.7 + 2i, complex(nan, 1), 1i})).Elems(), []int32{3, 0, 0}},
		{Cast[bool](tensor.FromSlice([]complex128{1i, 0})).Elems(), []bool{true, false}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got  %v\nwant %v", c.got, c.want)
		}
	}
}

// Integers become floats with one rounding: compared with the exact value, at the
// integers next to halfway points.
func TestCastIntToFloat(t *testing.T) {
	var a []int64
	for _, bits := range []int{8, 11, 24, 53} { // of the significand
		for _, shift := range []int{0, 1, 3, 8} {
			for shift+bits < 62 {
				half := int64(1)<<(shift+bits) | int64(1)<<shift // 1.0…01 of one bit too many
				for d := int64(-2); d <= 2; d++ {
					a = append(a, half+d, half|1<<(shift+1)+d, -(half + d))
				}
				shift += 13
			}
		}
	}
	x := tensor.FromSlice(a)
	f32, f64, f16, bf16 := Cast[float32](x), Cast[float64](x), Cast[num.F16](x), Cast[num.BF16](x)
	e4, e5 := Cast[num.F8E4M3](x), Cast[num.F8E5M2](x)
	u32 := Cast[float32](Cast[uint64](x))
	for i, v := range a {
		exact := new(big.Float).SetPrec(80).SetInt64(v)
		if w, _ := exact.Float32(); f32.At(i) != w {
			t.Errorf("float32 of %d: %v, want %v", v, f32.At(i), w)
		}
		if w, _ := exact.Float64(); f64.At(i) != w {
			t.Errorf("float64 of %d: %v, want %v", v, f64.At(i), w)
		}
		if w, _ := new(big.Float).SetPrec(80).SetUint64(uint64(v)).Float32(); u32.At(i) != w {
			t.Errorf("float32 of %d: %v, want %v", uint64(v), u32.At(i), w)
		}
		for name, g := range map[string]struct {
			got  float64
			prec uint
			most float64
		}{
			"float16": {f16.At(i).Float64(), 11, 65519}, "bfloat16": {bf16.At(i).Float64(), 8, inf},
			"float8_e4m3": {e4.At(i).Float64(), 4, 464}, "float8_e5m2": {e5.At(i).Float64(), 3, 61439},
		} {
			want, _ := new(big.Float).SetPrec(g.prec).SetMode(big.ToNearestEven).Set(exact).Float64()
			if math.Abs(float64(v)) > g.most {
				want = math.Copysign(inf, want)
				if name == "float8_e4m3" {
					want = nan
				}
			}
			if g.got != want && !(g.got != g.got && want != want) {
				t.Errorf("%s of %d: %v, want %v", name, v, g.got, want)
			}
		}
	}
}

func TestCastFloats(t *testing.T) {
	a := tensor.FromSlice([]float64{1 + 1.0/2048 + 1e-9, 1e300, nan, negZero, 449, 470, -inf})
	f16 := Cast[num.F16](a)
	if got := f16.At(0).Float64(); got != 1+1.0/1024 { // through float32 it would be a tie, and 1
		t.Errorf("float64 to float16 rounds twice: %v", got)
	}
	if f16.At(2).Bits() != num.CanonF16 || f16.At(3).Bits() != 0x8000 || f16.At(1).Bits() != 0x7c00 {
		t.Errorf("float16: %v", f16)
	}
	odd := tensor.FromSlice([]float32{math.Float32frombits(0xffc12345)})
	if got := Cast[float64](odd).Item(); word(got) != num.Canon64 {
		t.Errorf("NaN to float64: %x", word(got))
	}
	if got := Cast[float32](odd).Item(); word(got) != 0xffc12345 {
		t.Errorf("float32 to itself: %x", word(got))
	}
	if got := Cast[float32](tensor.Scalar(num.FromBits[num.F16](0xfe01))).Item(); word(got) != num.Canon32 {
		t.Errorf("float16's NaN to float32: %x", word(got))
	}
	plain, saturated := Cast[num.F8E4M3](a), Cast[num.F8E4M3](a, Saturate())
	for i, want := range []float64{1, 448, nan, 0, 448, 448, -448} {
		if got := saturated.At(i).Float64(); got != want && want == want {
			t.Errorf("saturated float8_e4m3 of %v: %v, want %v", a.At(i), got, want)
		}
	}
	if !plain.At(1).IsNaN() || !plain.At(6).IsNaN() || plain.At(4).Float64() != 448 || !saturated.At(2).IsNaN() {
		t.Errorf("float8_e4m3: %v, saturated %v", plain, saturated)
	}
}

// Cast keeps a dense layout, permuted or nested, and the order of the axes of
// another flat one, as Clone does.
func TestCastLayout(t *testing.T) {
	x := tensor.Arange[float64](0, 24, 1).View(2, 3, 4)
	nested := tensor.FromLayout(x.Elems()[:16], layout.MustParse("((2,2),4):((1,8),2)"))
	for _, a := range []tensor.Tensor[float64]{x, x.Permute(2, 0, 1), x.Transpose(), x.Flip(), x.S("::2, :, 1:3").Transpose(),
		x.S(":, :1").BroadcastTo(2, 3, 4).Transpose(), x.S("1:1").Transpose(), nested} {
		got, want := Cast[int32](a), a.Clone()
		gl, wl := got.Layout(), want.Layout()
		if a.Len() > 0 && !gl.Equal(wl) { // of no elements any layout is contiguous
			t.Errorf("%v: layout %v, Clone's is %v", a.Layout(), gl, wl)
		}
		for i, v := range want.All() {
			if got.At(i...) != int32(v) {
				t.Errorf("%v: %v at %v, want %v", a.Layout(), got.At(i...), i, v)
			}
		}
		run := asOf[int32](must1(as(plan.OpOf(&castOp)).Run(&Call{Inputs: []tensor.Any{a.Any()}, Attrs: attrMap{"to": int64(6)}, Opset: 19})))
		if rl := run.Layout(); !rl.Equal(wl) || !slices.Equal(slices.Collect(run.Values()), slices.Collect(got.Values())) {
			t.Errorf("%v: the run-time form has layout %v, Clone %v; elements %v, not %v", a.Layout(), rl, wl, run, got)
		}
		into := tensor.New[int32](a.Shape()...)
		if Cast[int32](a, Into(into)); !slices.Equal(into.Elems(), tensor.Flatten(got).Elems()) {
			t.Errorf("%v: Into a row-major tensor gives %v, want %v", a.Layout(), into, got)
		}
	}
}

// The run-time form, which has its own way through memory, against the typed one,
// for all pairs of types.
func TestCastAllPairs(t *testing.T) {
	const rows, cols = 3, 1700 // more than one chunk
	base := tensor.New[float64](cols, rows)
	d, _ := base.Data()
	for i := range d {
		d[i] = []float64{0, 1, -1, 2.5, 1e10, -1e10, nan, 300, inf, 0.1}[i%10] * float64(1+i/10%7)
	}
	for _, from := range dtype.All() {
		if from.IsFixed() { // see TestFixedCast
			continue
		}
		a := must1(as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{base.Any(), must1x(tensor.Make(from))}}))
		view := must1x(tensor.Permute(a, 1, 0))
		for _, to := range dtype.All() {
			if to.IsFixed() {
				continue
			}
			code := 0
			for k, d := range pointwise.CastTypes {
				if d == to {
					code = k
				}
			}
			c := &Call{Inputs: []tensor.Any{view}, Attrs: attrMap{"to": int64(code)}, Opset: 19}
			got := must1(as(plan.OpOf(&castOp)).Run(c))
			if info := must1(as(plan.OpOf(&castOp)).Infer(c)); info.DType() != got.DType() || !reflect.DeepEqual(info.Shape(), got.Shape()) {
				t.Errorf("%v to %v: inferred %v, got %v", from, to, info, tensor.Describe(got))
			}
			flat := must1(as(plan.OpOf(&castOp)).Run(&Call{Inputs: []tensor.Any{must1x(tensor.Contiguous(view))}, Attrs: c.Attrs, Opset: 19}))
			gb, _ := tensor.Bytes(must1x(tensor.Contiguous(got))) // it has the view's layout
			fb, _ := tensor.Bytes(flat)
			if !reflect.DeepEqual(gb, fb) && from != to {
				t.Errorf("%v to %v depends on the layout", from, to)
			}
			typed := castTyped(t, view, to)
			tb, _ := tensor.Bytes(must1x(tensor.Contiguous(typed))) // the function keeps the layout
			if !reflect.DeepEqual(fb, tb) && from != to {
				t.Errorf("%v to %v: run-time form and function differ", from, to)
			}
		}
	}
}

// castTyped calls the typed form for a few types, and else returns the
// result of the run-time form.
func castTyped(t *testing.T, a tensor.Any, to dtype.DType) tensor.Any {
	switch a.DType() {
	case dtype.Float32:
		return castFrom(asOf[float32](a), to)
	case dtype.BFloat16:
		return castFrom(asOf[num.BF16](a), to)
	case dtype.Int64:
		return castFrom(asOf[int64](a), to)
	case dtype.Bool:
		return castFrom(asOf[bool](a), to)
	}
	like := must1x(tensor.Make(to))
	return must1(as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{a, like}}))
}

func castFrom[From num.Elem](a tensor.Tensor[From], to dtype.DType) tensor.Any {
	switch to {
	case dtype.Bool:
		return Cast[bool](a).Any()
	case dtype.Int32:
		return Cast[int32](a).Any()
	case dtype.Uint64:
		return Cast[uint64](a).Any()
	case dtype.Float16:
		return Cast[num.F16](a).Any()
	case dtype.Float8E4M3:
		return Cast[num.F8E4M3](a, Saturate()).Any()
	case dtype.Float32:
		return Cast[float32](a).Any()
	case dtype.Complex64:
		return Cast[complex64](a).Any()
	}
	return must1(as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{a.Any(), must1x(tensor.Make(to))}}))
}

func TestCastUnknownCode(t *testing.T) {
	for _, code := range []int64{-1, 0, 8, 27, 99} {
		_, err := as(plan.OpOf(&castOp)).Run(&Call{Inputs: []tensor.Any{tensor.Scalar(float32(1)).Any()}, Attrs: attrMap{"to": code}})
		if !errors.Is(err, tensor.ErrDType) {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

func must1(out []tensor.Any, err error) tensor.Any {
	if err != nil {
		panic(err)
	}
	return out[0]
}

func must1x[T any](a T, err error) T {
	if err != nil {
		panic(err)
	}
	return a
}

// attrMap is attributes by name.
type attrMap map[string]any

func (m attrMap) Has(name string) bool { _, ok := m[name]; return ok }

func (m attrMap) Int(name string, def int64) int64 {
	if v, ok := m[name].(int64); ok {
		return v
	}
	return def
}

func (m attrMap) Ints(name string) ([]int64, bool) { v, ok := m[name].([]int64); return v, ok }

func (m attrMap) Float(name string, def float32) float32 {
	if v, ok := m[name].(float32); ok {
		return v
	}
	return def
}

func (m attrMap) Floats(name string) ([]float32, bool) { v, ok := m[name].([]float32); return v, ok }

func (m attrMap) Str(name, def string) string {
	if v, ok := m[name].(string); ok {
		return v
	}
	return def
}

func (m attrMap) Tensor(name string) (tensor.Any, bool) { v, ok := m[name].(tensor.Any); return v, ok }
