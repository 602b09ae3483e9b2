package op

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/internal/core/pointwise"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/num/fixed"
	"github.com/ashlar-go/ashlar/tensor"
)

// A rational is an element as Cast sees it: a number, an infinity or NaN.
type rational struct {
	x       *big.Float // exact
	nan     bool
	integer bool // of an integer type
	minus   bool // also of -0
}

func realOf(v any) (r rational) {
	r.x = new(big.Float).SetPrec(4000)
	var f float64
	switch v := v.(type) {
	case bool:
		if r.integer = true; v {
			r.x.SetInt64(1)
		}
		return r
	case int8:
		r.x.SetInt64(int64(v))
		r.integer = true
	case int16:
		r.x.SetInt64(int64(v))
		r.integer = true
	case int32:
		r.x.SetInt64(int64(v))
		r.integer = true
	case int64:
		r.x.SetInt64(v)
		r.integer = true
	case uint8:
		r.x.SetInt64(int64(v))
		r.integer = true
	case uint16:
		r.x.SetInt64(int64(v))
		r.integer = true
	case uint32:
		r.x.SetInt64(int64(v))
		r.integer = true
	case uint64:
		r.x.SetUint64(v)
		r.integer = true
	case interface{ Int64() int64 }:
		r.x.SetInt64(v.Int64())
		r.integer = true
	case float32:
		f = float64(v)
	case float64:
		f = v
	case complex64:
		f = real(complex128(v))
	case complex128:
		f = real(v)
	case fixed.FP8x23:
		r.fixed(fixed.Bits(v), 23)
	case fixed.FP16x16:
		r.fixed(fixed.Bits(v), 16)
	case fixed.FP32x32:
		r.fixed(fixed.Bits(v), 32)
	case fixed.FP64x64:
		r.fixed(fixed.Bits(v), 64)
	case interface{ Float64() float64 }:
		f = v.Float64()
	}
	if r.x.Sign() != 0 || r.integer {
		r.minus = r.x.Sign() < 0
		return r
	}
	if r.nan = f != f; !r.nan {
		r.x.SetFloat64(f)
		r.minus = math.Signbit(f)
	}
	return r
}

func (r *rational) fixed(units fixed.Int128, frac int) {
	r.x.SetInt(units.Big())
	r.x.SetMantExp(r.x, -frac)
}

// whole is the low bits of the integer nearest to r, on a tie the even one.
func (r *rational) whole(bits int) uint64 {
	if r.nan || r.x.IsInf() {
		return 0
	}
	lo, _ := r.x.Int(nil) // toward zero
	rest := new(big.Float).SetPrec(4000).Sub(r.x, new(big.Float).SetPrec(4000).SetInt(lo))
	away := big.NewInt(int64(r.x.Sign()))
	if c := rest.Abs(rest).Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && lo.Bit(0) == 1 {
		lo.Add(lo, away)
	}
	return new(big.Int).And(lo, big.NewInt(1<<bits-1)).Uint64()
}

// storedWant is the bits of r in a type that is only stored.
func storedWant(to dtype.DType, r rational, saturate bool, rounding num.Rounding) uint64 {
	f := to.Format()
	switch {
	case to.IsInteger():
		return r.whole(to.Bits())
	case to == dtype.Float8E8M0:
		return scaleWant(r, saturate, rounding)
	case r.nan && f == num.FormatF4E2M1:
		return 8
	case r.nan:
		return 0x80
	}
	// The codes without sign are in the order of their numbers; one more is where rounding stops.
	most := uint16(1)<<(to.Bits()-1) - 1
	value := func(c uint16) *big.Float {
		if c > most {
			v := f.Value(most)
			return big.NewFloat(v + (v - f.Value(most-1)))
		}
		return big.NewFloat(f.Value(c))
	}
	abs := new(big.Float).Abs(r.x)
	best := most + 1
	if !abs.IsInf() {
		for c := range most + 1 {
			below, above := new(big.Float).SetPrec(4000).Sub(abs, value(c)), new(big.Float).SetPrec(4000).Sub(value(c+1), abs)
			if below.Sign() < 0 || above.Sign() < 0 {
				continue
			}
			if cmp := below.Cmp(above); cmp < 0 || cmp == 0 && c%2 == 0 {
				best = c
			} else {
				best = c + 1
			}
			break
		}
	}
	if best > most {
		if !saturate && f != num.FormatF4E2M1 {
			return 0x80
		}
		best = most
	}
	if r.minus && (best != 0 || f == num.FormatF4E2M1) {
		best |= most + 1
	}
	return uint64(best)
}

func scaleWant(r rational, saturate bool, rounding num.Rounding) uint64 {
	zero := !r.nan && r.x.Sign() == 0
	switch {
	case r.nan || r.x.Sign() < 0 || !saturate && (zero || r.x.IsInf()):
		return 0xff
	case zero:
		return 0
	case r.x.IsInf():
		return 0xfe
	}
	m := new(big.Float)
	e := r.x.MantExp(m) - 1 // m in [1/2, 1)
	if rounding == num.Up && m.Cmp(big.NewFloat(0.5)) > 0 || rounding == num.Nearest && m.Cmp(big.NewFloat(0.75)) >= 0 {
		e++
	}
	switch {
	case e >= -127 && e <= 127:
		return uint64(e + 127)
	case !saturate:
		return 0xff
	}
	return uint64(max(0, min(e+127, 0xfe)))
}

// boundaries are the numbers at which some conversion changes, and their neighbours.
func castBoundaries() (v []float64) {
	add := func(x float64) {
		for _, x := range []float64{x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)), float64(math.Nextafter32(float32(x), 1e30)), float64(math.Nextafter32(float32(x), -1e30))} {
			v = append(v, x, -x)
		}
	}
	for _, d := range dtype.All() {
		f := d.Format()
		if f == 0 || !d.IsStored() || d == dtype.Float8E8M0 {
			continue
		}
		most := uint16(1)<<(d.Bits()-1) - 1
		for c := range most {
			add(f.Value(c))
			add((f.Value(c) + f.Value(c+1)) / 2)
		}
		add(f.Value(most))
		add(f.Value(most) + (f.Value(most)-f.Value(most-1))/2)
	}
	for e := -130; e <= 130; e += 3 {
		add(math.Ldexp(1, e))
		add(math.Ldexp(1.5, e))
	}
	for i := range 40 {
		add(float64(i) / 2)
	}
	for _, x := range []float64{1 << 31, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1 << 64, 1e300, 5e-324, math.Inf(1), math.NaN()} {
		add(x)
	}
	return v
}

func setRounding(r num.Rounding) string { return [...]string{"up", "down", "nearest"}[r] }

// Cast from every type to the types that are only stored, against exact arithmetic.
func TestCastToStored(t *testing.T) {
	wide := castBoundaries()
	for _, from := range dtype.All() {
		var a tensor.Any
		switch {
		case from.Size() == 1:
			a = must1x(tensor.Make(from, 256))
			b, _ := tensor.Bytes(a)
			for i := range b {
				b[i] = byte(i)
			}
			from.Mend(b)
		case from == dtype.Int64:
			ints := []int64{math.MinInt64, math.MaxInt64, 1<<53 + 1, 1<<57 + 1, 1<<57 - 1}
			for i := range int64(600) {
				ints = append(ints, i-300, i<<40, i<<40+1, i<<40-1)
			}
			a = tensor.FromSlice(ints, len(ints)).Any()
		case from == dtype.Uint64:
			ints := []uint64{math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 + 1, 3 << 62, 3<<62 - 1, 3<<62 + 1}
			a = tensor.FromSlice(ints, len(ints)).Any()
		case from == dtype.Float64:
			a = tensor.FromSlice(wide, len(wide)).Any()
		default:
			err := tensor.Try(func() {
				pointwise.Convert(&a, "Cast", from, ptr(tensor.FromSlice(wide, len(wide)).Any()), []Option{Saturate()})
			})
			if err != nil { // fixed point has no NaN
				var finite []float64
				for _, x := range wide {
					if x == x && !math.IsInf(x, 0) {
						finite = append(finite, x)
					}
				}
				pointwise.Convert(&a, "Cast", from, ptr(tensor.FromSlice(finite, len(finite)).Any()), []Option{Saturate()})
			}
		}
		for _, to := range dtype.All() {
			if !to.IsStored() || from == to {
				continue
			}
			a := a
			if !*Long { // a fourth of the values, which others are for another pair of types
				a = must1x(tensor.Slice(a, tensor.R(int(from+to)%4, a.Len(), 4)))
				a = must1x(tensor.Contiguous(a))
			}
			for mode := range 6 {
				rounding, saturate := num.Rounding(mode/2), int64(mode%2)
				if mode > 1 && to != dtype.Float8E8M0 {
					break
				}
				got := must1(as(plan.OpOf(&castLike)).Run(&Call{Inputs: []tensor.Any{a, must1x(tensor.Make(to))}, Attrs: attrMap{"saturate": saturate, "round_mode": setRounding(rounding)}}))
				b, _ := tensor.Bytes(got)
				if at := to.Misfit(b); at >= 0 {
					t.Fatalf("%v to %v: the byte %#x is no element", from, to, b[at])
				}
				i := 0
				for v := range a.Values() {
					want := storedWant(to, realOf(v), saturate == 1, rounding)
					if uint64(b[i])&(1<<to.Bits()-1) != want {
						t.Fatalf("%v %v to %v, saturate %d, rounding %d: got %#x, want %#x", from, v, to, saturate, rounding, b[i], want)
					}
					i++
				}
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

// Cast from the types that are only stored to all others: through float64 or int64,
// which hold their numbers exactly.
func TestCastFromStored(t *testing.T) {
	for _, from := range dtype.All() {
		if !from.IsStored() {
			continue
		}
		a := must1x(tensor.Make(from, 256))
		b, _ := tensor.Bytes(a)
		for i := range b {
			b[i] = byte(i)
		}
		from.Mend(b)
		if from == dtype.Float8E8M0 {
			a = must1x(tensor.Slice(a, tensor.R(100, 150)))
		}
		wide := tensor.New[float64](a.Len())
		i := 0
		for v := range a.Values() {
			r := realOf(v)
			if wide.Elems()[i], _ = r.x.Float64(); r.nan {
				wide.Elems()[i] = num.NaN64()
			} else if r.minus && r.x.Sign() == 0 {
				wide.Elems()[i] = math.Copysign(0, -1)
			}
			i++
		}
		exact := wide.Any()
		if from.IsInteger() {
			exact = Cast[int64](wide).Any()
		}
		for _, to := range dtype.All() {
			var got, want tensor.Any
			run := func(r *tensor.Any, x tensor.Any) error {
				return tensor.Try(func() { pointwise.Convert(r, "Cast", to, &x, []Option{Saturate()}) })
			}
			err, wantErr := run(&got, a), run(&want, exact)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%v to %v: %v, want %v", from, to, err, wantErr)
			}
			if err != nil {
				continue
			}
			g, _ := tensor.Bytes(got)
			w, _ := tensor.Bytes(want)
			if string(g) != string(w) && from != to {
				t.Errorf("%v to %v: got %v, want %v", from, to, got, want)
			}
		}
	}
}

// Quantisation to 4 and 2 bits saturates, and its inverse gives the numbers back.
func TestQuantizeStored(t *testing.T) {
	x := tensor.FromSlice([]float32{-100, -4, -1, 0.25, 0.75, 1, 3.5, 8, 100, float32(math.NaN())}, 10)
	scale := tensor.Scalar[float32](0.5)
	q := QuantizeLinear(x, Quantization[float32, num.Int4]{Scale: scale, Zero: tensor.Scalar(num.FromBits[num.Int4](1))})
	if got := fmt.Sprint(q.Any()); got != "[-8 -7 -1  1  3  3  7  7  7  0]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(DequantizeLinear(q, Quantization[float32, num.Int4]{Scale: scale, Zero: tensor.Scalar(num.FromBits[num.Int4](1))}).Any()); got != "[-4.5 -4.  -1.   0.   1.   1.   3.   3.   3.  -0.5]" {
		t.Errorf("got %s", got)
	}
	u := QuantizeLinear(x, Quantization[float32, num.Uint2]{Scale: scale})
	if got := fmt.Sprint(u.Any()); got != "[0 0 0 0 2 2 3 3 3 0]" {
		t.Errorf("got %s", got)
	}
	f := QuantizeLinear(x, Quantization[float32, num.F4E2M1]{Scale: scale})
	if got := fmt.Sprint(f.Any()); got != "[-6.  -6.  -2.   0.5  1.5  2.   6.   6.   6.  -0. ]" {
		t.Errorf("got %s", got)
	}
	// a scale of a power of two, in blocks, at run time
	codes := must1x(tensor.Make(dtype.Float8E8M0, 2))
	b, _ := tensor.Bytes(codes)
	b[0], b[1] = 128, 126
	four := vector(num.FromBits[num.Int4](2), num.FromBits[num.Int4](0xd), num.FromBits[num.Int4](7), num.FromBits[num.Int4](0x8))
	d, _ := Lookup("DequantizeLinear")
	y := must1(d.Run(&Call{Inputs: []tensor.Any{four, codes}, Attrs: attrMap{"axis": int64(0), "block_size": int64(2), "output_dtype": int64(1)}, Opset: 25}))
	if got := fmt.Sprint(y); got != "[ 4.  -6.   3.5 -4. ]" {
		t.Errorf("got %s", got)
	}
	if _, err := d.Run(&Call{Inputs: []tensor.Any{four, codes}, Attrs: attrMap{"axis": int64(0), "block_size": int64(2)}, Opset: 25}); err == nil {
		t.Error("a result in powers of two should fail")
	}
}

// vector returns a tensor of rank 1.
func vector[T num.Elem](v ...T) tensor.Any { return tensor.FromSlice(v, len(v)).Any() }

// The bits of types of 4 bits are exchanged whatever their bytes in memory.
func TestBitCastStored(t *testing.T) {
	a := vector(num.FromBits[num.Int4](0xf), num.FromBits[num.Int4](3))
	bitCast, _ := Lookup("BitCast")
	u := must1(bitCast.Run(&Call{Inputs: []tensor.Any{a}, Attrs: attrMap{"to": int64(21)}}))
	if got := fmt.Sprint(u); got != "[15  3]" {
		t.Errorf("got %s", got)
	}
	back := must1(bitCast.Run(&Call{Inputs: []tensor.Any{u}, Attrs: attrMap{"to": int64(22)}}))
	if got := fmt.Sprint(back); got != "[-1  3]" {
		t.Errorf("got %s", got)
	}
	if _, err := bitCast.Run(&Call{Inputs: []tensor.Any{a}, Attrs: attrMap{"to": int64(2)}}); err == nil {
		t.Error("4 bits as uint8 should fail")
	}
	if err := tensor.Try(func() { tensor.BitCast[num.Int4](tensor.New[int8](2)) }); err == nil {
		t.Error("a view of bytes as 4 bits should fail")
	}
}
