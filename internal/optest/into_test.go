package optest

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// The functions of operators, whose results go where Into says.

type unaryFunc[T, R num.Elem] func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[R]
type binaryFunc[T, R num.Elem] func(a, b tensor.Tensor[T], opts ...op.Option) tensor.Tensor[R]

func TestInto(t *testing.T) {
	floats[float32](t, "float32")
	floats[float64](t, "float64")
	floats[num.F16](t, "float16")
	floats[num.BF16](t, "bfloat16")
	floats[num.F8E4M3](t, "float8_e4m3")
	numbers[int8](t, "int8")
	numbers[int32](t, "int32")
	numbers[int64](t, "int64")
	numbers[uint8](t, "uint8")
	inPlace2(t, "And of bool", op.And)
	into2(t, "Xor of bool", op.Xor)
	overlaps(t, "Not of bool", op.Not)
	wheres[bool](t, "bool")
	wheres[complex128](t, "complex128")
	cond := operand[bool](source("condition"), 25)
	from, to := cond.Slice(tensor.R(0, 24)), cond.Slice(tensor.R(1, 25))
	yes, no := operand[bool](source("yes"), 24), operand[bool](source("no"), 24)
	want := content(op.Where(from, yes, no).Any())
	if got := op.Where(from, yes, no, op.Into(to)); !bytes.Equal(content(got.Any()), want) {
		t.Errorf("Where into its condition, shifted: another result")
	}
}

func floats[T num.Floating](t *testing.T, name string) {
	for what, f := range map[string]unaryFunc[T, T]{"Exp": op.Exp[T], "Tanh": op.Tanh[T], "Sqrt": op.Sqrt[T], "Neg": op.Neg[T], "Relu": op.Relu[T],
		"LeakyRelu": func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return op.LeakyRelu(a, 0.3, opts...) }} {
		into1(t, what+" of "+name, f)
		overlaps(t, what+" of "+name, f)
	}
	into2(t, "Div of "+name, op.Div[T])
	into1(t, "IsNaN of "+name, op.IsNaN[T])
	into1(t, "Cast to int16 of "+name, op.Cast[int16, T])
	into1(t, "Cast to bfloat16 of "+name, op.Cast[num.BF16, T])
	numbers[T](t, name)
}

func numbers[T num.Native | num.Narrow](t *testing.T, name string) {
	for what, f := range map[string]binaryFunc[T, T]{"Add": op.Add[T], "Sub": op.Sub[T], "Mul": op.Mul[T], "Max": op.Max[T], "Pow": op.Pow[T]} {
		into2(t, what+" of "+name, f)
		inPlace2(t, what+" of "+name, f)
	}
	into2(t, "Less of "+name, op.Less[T])
	into1(t, "Abs of "+name, op.Abs[T])
	overlaps(t, "Abs of "+name, op.Abs[T])
	into1(t, "Identity of "+name, func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return op.Identity(a, opts...) })
	into1(t, "Cast to float64 of "+name, op.Cast[float64, T])
	wheres[T](t, name)
}

func wheres[T num.Elem](t *testing.T, name string) {
	rng := source(name)
	cond := tensor.New[bool](24)
	fill(rng, cond.Any(), wild, false)
	f := func(a, b tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] {
		return op.Where(cond.Slice(tensor.R(0, a.Len())).Reshape(a.Shape()...), a, b, opts...)
	}
	into2(t, "Where of "+name, f)
	inPlace2(t, "Where of "+name, f)
}

func source(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(2, h.Sum64()))
}

// operand makes a contiguous tensor of 24 random elements.
func operand[T num.Elem](rng *rand.Rand, shape ...int) tensor.Tensor[T] {
	a := tensor.New[T](shape...)
	fill(rng, a.Any(), wild, true)
	return a
}

// into checks that a result written to a target, however that is laid out, is the
// one returned in new memory, and that nothing around the target is written.
func into[R num.Elem](t *testing.T, what string, want tensor.Tensor[R], f func(o op.Option) tensor.Tensor[R]) {
	t.Helper()
	for _, w := range append(arrangements, arrangement{"contiguous", rowMajor, 0}) {
		target, buf := place(want.DType(), want.Shape(), w)
		other, untouched := place(want.DType(), want.Shape(), w)
		dst := asOf[R](target)
		got := f(op.Into(dst))
		if !bytes.Equal(content(dst.Any()), content(want.Any())) {
			t.Errorf("%s into a target %s: another result", what, w.name)
		}
		if !got.Any().SameData(dst.Any()) {
			t.Errorf("%s into a target %s: it returns another tensor", what, w.name)
		}
		if dst.CopyFrom(asOf[R](other)); !bytes.Equal(buf, untouched) {
			t.Errorf("%s into a target %s: memory around it was written", what, w.name)
		}
	}
}

// asOf returns a as what it is.
func asOf[T num.Elem](a tensor.Any) tensor.Tensor[T] {
	t, ok := tensor.As[T](a)
	if !ok {
		panic(tensor.Describe(a) + " is of another type")
	}
	return t
}

func into1[T, R num.Elem](t *testing.T, what string, f unaryFunc[T, R]) {
	t.Helper()
	a := operand[T](source(what), 4, 6)
	want := f(a)
	into(t, what, want, func(o op.Option) tensor.Tensor[R] { return f(a, o) })
	turned := asOf[T](arrange(a.Any(), arrangements[1]).Any)
	into(t, what+", column-major operand", want, func(o op.Option) tensor.Tensor[R] { return f(turned, o) })
}

func into2[T, R num.Elem](t *testing.T, what string, f binaryFunc[T, R]) {
	t.Helper()
	rng := source(what)
	a, b := operand[T](rng, 4, 6), operand[T](rng, 4, 6)
	want := f(a, b)
	into(t, what, want, func(o op.Option) tensor.Tensor[R] { return f(a, b, o) })
	turned := asOf[T](arrange(b.Any(), arrangements[3]).Any)
	into(t, what+", operand with gaps", want, func(o op.Option) tensor.Tensor[R] { return f(a, turned, o) })
}

// overlaps calls f with an operand and a target in the same memory: exactly the
// same elements, in every arrangement; the target further on, or before; turned.
func overlaps[T num.Elem](t *testing.T, what string, f func(in tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T]) {
	t.Helper()
	a := operand[T](source(what), 4, 6)
	want := content(f(a).Any())
	for _, w := range append(arrangements, arrangement{"contiguous", rowMajor, 0}) {
		in := asOf[T](arrange(a.Any(), w).Any)
		if f(in, op.Into(in)); !bytes.Equal(content(in.Any()), want) {
			t.Errorf("%s in place, %s: another result", what, w.name)
		}
	}
	for _, shift := range []int{1, 2} {
		for _, up := range []bool{true, false} {
			whole := tensor.New[T](4+shift, 6)
			in, dst := whole.Slice(tensor.R(shift, 4+shift)), whole.Slice(tensor.R(0, 4))
			if up {
				in, dst = dst, in
			}
			in.CopyFrom(a)
			if f(in, op.Into(dst)); !bytes.Equal(content(dst.Any()), want) {
				t.Errorf("%s into a target shifted by %d rows, up %v: another result", what, shift, up)
			}
		}
	}
	square := operand[T](source(what), 4, 4)
	want = content(f(square).Any())
	if f(square, op.Into(square.Transpose())); !bytes.Equal(content(square.Transpose().Any()), want) {
		t.Errorf("%s into its operand turned: another result", what)
	}
	line := operand[T](source(what), 24)
	want = content(f(line).Any())
	if f(line, op.Into(line.Flip())); !bytes.Equal(content(line.Flip().Any()), want) {
		t.Errorf("%s into its operand reversed: another result", what)
	}
}

func inPlace2[T num.Elem](t *testing.T, what string, f binaryFunc[T, T]) {
	t.Helper()
	b := operand[T](source("b of "+what), 24)
	like := func(a tensor.Tensor[T]) tensor.Tensor[T] { return b.Slice(tensor.R(0, a.Len())).Reshape(a.Shape()...) }
	overlaps(t, what+", first operand", func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return f(a, like(a), opts...) })
	overlaps(t, what+", second operand", func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return f(like(a), a, opts...) })
	overlaps(t, what+", both operands", func(a tensor.Tensor[T], opts ...op.Option) tensor.Tensor[T] { return f(a, a, opts...) })
}
