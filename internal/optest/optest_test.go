package optest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Every operator has cases, or a reason for having none.
func TestEveryOperatorHasCases(t *testing.T) {
	for _, o := range op.All() {
		switch has, why := len(casesOf(o)) > 0, reasons[o.Name()]; {
		case !has && why == "":
			t.Errorf("%s isn't called with one to three operands of one shape: add cases to cases or moves in cases_test.go, or a reason to reasons", o.Name())
		case has && why != "":
			t.Errorf("%s has cases, and a reason for having none", o.Name())
		}
	}
	for name := range reasons {
		if _, ok := op.Lookup(name); !ok {
			t.Errorf("there is a reason for %s, which isn't an operator", name)
		}
	}
}

// casesOf returns the cases of an operator; one that isn't known by name gets those
// of operators of one, two or three operands, as many as it takes.
func casesOf(o op.Op) []testCase {
	if cs := cases(o.Name()); cs != nil || reasons[o.Name()] != "" {
		return cs
	}
	for _, d := range dtype.All() {
		if !o.Supports(d) {
			continue
		}
		for _, cs := range [][]testCase{unary(nil), binary(nil), ternary(false)} {
			r := newRun(o, 0, cs[1], d)
			if _, err := r.op.Run(r.call(r.in)); err == nil {
				return cs
			}
		}
	}
	return nil
}

// A run is one case for one element type, with its operands in contiguous memory.
type run struct {
	op    op.Op
	name  string
	c     testCase
	in    []tensor.Any
	moved []int // the operands that may be laid out in other ways
}

// runs calls f with every case of every operator for every element type.
func runs(t *testing.T, f func(t *testing.T, r *run)) {
	for _, o := range op.All() {
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			for i, c := range casesOf(o) {
				for _, d := range dtype.All() {
					if o.Supports(d) && (c.only == nil || c.only(d)) {
						f(t, newRun(o, i, c, d))
					}
				}
			}
		})
	}
}

func newRun(o op.Op, i int, c testCase, d dtype.DType) *run {
	r := &run{op: o, name: fmt.Sprintf("case %d of %v", i, d), c: c}
	h := fnv.New64a()
	fmt.Fprint(h, o.Name(), r.name)
	rng := rand.New(rand.NewPCG(1, h.Sum64()))
	for k, in := range c.in {
		if in.absent {
			r.in = append(r.in, nil)
			continue
		}
		if in.values != nil {
			r.in = append(r.in, tensor.FromSlice(slices.Clone(in.values), slices.Concat([]int{}, in.shape)...))
			continue
		}
		special := wild
		if c.calm {
			special = calm
		}
		of := d
		if in.dtype != dtype.Invalid {
			of = in.dtype
		}
		r.in = append(r.in, random(rng, of, in.shape, special, in.nonzero))
		r.moved = append(r.moved, k)
	}
	return r
}

// random makes a contiguous tensor of random elements.
func random(rng *rand.Rand, d dtype.DType, shape []int, special int, nonzero bool) tensor.Any {
	a, err := tensor.Make(d, shape...)
	if err != nil {
		panic(err)
	}
	switch a := a.(type) {
	case tensor.Tensor[bool]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[int8]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[int16]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[int32]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[int64]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[uint8]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[uint16]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[uint32]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[uint64]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[num.F8E4M3]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[num.F8E5M2]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[num.F16]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[num.BF16]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[float32]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[float64]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[complex64]:
		fill(rng, a.Elems(), special, nonzero)
	case tensor.Tensor[complex128]:
		fill(rng, a.Elems(), special, nonzero)
	}
	return a
}

func (r *run) call(in []tensor.Any) *op.Call {
	c := &op.Call{Inputs: in, Attrs: r.c.attrs, Opset: r.c.opset, Outputs: r.c.outputs}
	if v := r.op.Versions(); c.Opset == 0 && len(v) > 0 {
		c.Opset = slices.Max(v)
	}
	return c
}

// result is the types, shapes and bits of the outputs.
func (r *run) result(in []tensor.Any) (out []tensor.Any, bits [][]byte, err error) {
	out, err = r.op.Run(r.call(in))
	for _, a := range out {
		bits = append(bits, content(a))
	}
	return out, bits, err
}

// same compares outputs with those of contiguous operands.
func same(t *testing.T, what string, got, want []tensor.Any, gotBits, wantBits [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d outputs, want %d", what, len(got), len(want))
	}
	for i := range want {
		if tensor.Describe(got[i]) != tensor.Describe(want[i]) {
			t.Fatalf("%s: output %d is %s, want %s", what, i, tensor.Describe(got[i]), tensor.Describe(want[i]))
		}
		if bytes.Equal(gotBits[i], wantBits[i]) {
			continue
		}
		size := want[i].DType().Size()
		for k := 0; k < len(wantBits[i]); k += size {
			if g, w := gotBits[i][k:k+size], wantBits[i][k:k+size]; !bytes.Equal(g, w) {
				t.Fatalf("%s: output %d, element %d has the bits %x, want %x", what, i, k/size, g, w)
			}
		}
	}
}

// The result of an operator doesn't depend on where its operands are, and it
// touches nothing else.
func TestLayouts(t *testing.T) {
	runs(t, func(t *testing.T, r *run) {
		want, wantBits, err := r.result(r.in)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		for i := range wantBits {
			wantBits[i] = bytes.Clone(wantBits[i])
		}
		r.checkInfer(t, want)
		for k := range arrangements {
			for _, step := range []int{0, 1, 3} { // all operands alike, and each in another way
				if step > 0 && len(r.moved) < 2 {
					continue
				}
				in := slices.Clone(r.in)
				var placed []arranged
				what := r.name
				for n, i := range r.moved {
					w := arrangements[(k+n*step)%len(arrangements)]
					what += ", " + w.name
					p := arrange(in[i], w)
					placed = append(placed, p)
					in[i] = p.Any
				}
				got, bits, err := r.result(in)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				same(t, what, got, want, bits, wantBits)
				for _, p := range placed {
					if !p.intact() {
						t.Fatalf("%s: the memory of an operand was written", what)
					}
				}
			}
		}
		r.checkRepeated(t)
	})
}

// checkRepeated compares operands that repeat along an axis with copies of them.
func (r *run) checkRepeated(t *testing.T) {
	for _, i := range r.moved {
		for axis := range r.in[i].Rank() {
			if tensor.Len(r.in[i]) == 0 {
				continue
			}
			view, full, err := repeated(r.in[i], axis)
			if err != nil {
				t.Fatal(err)
			}
			in := slices.Clone(r.in)
			in[i] = full
			want, wantBits, err := r.result(in)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			in[i] = view
			got, bits, err := r.result(in)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			same(t, fmt.Sprintf("%s, operand %d repeated along axis %d", r.name, i, axis), got, want, bits, wantBits)
		}
	}
}

// checkInfer compares what is known before a run with its outputs.
func (r *run) checkInfer(t *testing.T, want []tensor.Any) {
	t.Helper()
	specs := slices.Clone(r.in)
	for _, i := range r.moved {
		s, err := tensor.NewSpec(r.in[i].DType(), tensor.Shape(r.in[i])...)
		if err != nil {
			t.Fatal(err)
		}
		specs[i] = s
	}
	got, err := r.op.Infer(r.call(specs))
	if errors.Is(err, op.ErrUnknown) {
		return
	}
	if err != nil {
		t.Fatalf("%s: Infer: %v", r.name, err)
	}
	if len(got) != len(want) {
		t.Fatalf("%s: Infer returns %d outputs, Run %d", r.name, len(got), len(want))
	}
	for i := range got {
		if tensor.Describe(got[i]) != tensor.Describe(want[i]) {
			t.Fatalf("%s: Infer says output %d is %s, it is %s", r.name, i, tensor.Describe(got[i]), tensor.Describe(want[i]))
		}
	}
}

// pointwise are the operators whose outputs' elements depend each on one element
// of each operand, in one place; and a case with operands of one shape and rank 1
// or 2.
func pointwise(o op.Op) (c testCase, ok bool) {
	cs := casesOf(o)
	switch name := o.Name(); {
	case name == "Shape" || name == "Size" || name == "Softmax" || name == "LogSoftmax" || name == "Hardmax":
		return c, false
	case len(cs) >= len(shapes) && slices.Equal(cs[3].in[0].shape, shapes[3]):
		return cs[3], true
	case len(cs) >= len(pairs) && slices.Equal(cs[1].in[0].shape, pairs[1][0]):
		return cs[1], true
	case name == "Cast":
		return cs[2], true
	}
	return c, false
}

// shaped returns c with operands of one shape.
func shaped(c testCase, shape ...int) testCase {
	c.in = slices.Clone(c.in)
	for i := range c.in {
		c.in[i].shape = shape
	}
	return c
}

// Rows of every short length, at every alignment of an element: each element is
// that of one long row.
func TestLengths(t *testing.T) {
	const most = 70
	for _, o := range op.All() {
		c, ok := pointwise(o)
		for _, d := range dtype.All() {
			if !ok || !o.Supports(d) || c.only != nil && !c.only(d) {
				continue
			}
			r := newRun(o, 0, shaped(c, most), d)
			want, wantBits, err := r.result(r.in)
			if err != nil {
				t.Fatalf("%s of %v: %v", o.Name(), d, err)
			}
			for n := range most + 1 {
				in := make([]tensor.Any, len(r.in))
				for i, a := range r.in {
					part, err := tensor.Slice(a, tensor.R(0, n))
					if err != nil {
						t.Fatal(err)
					}
					in[i] = arrange(part, arrangement{layout: rowMajor, offset: (n + i) % 16}).Any
				}
				_, bits, err := r.result(in)
				if err != nil {
					t.Fatalf("%s of %v, length %d: %v", o.Name(), d, n, err)
				}
				for k := range want {
					if size := want[k].DType().Size(); !bytes.Equal(bits[k], wantBits[k][:n*size]) {
						t.Errorf("%s of %v, length %d: its elements aren't the first of a longer row", o.Name(), d, n)
					}
				}
			}
		}
	}
}

// The result doesn't depend on the number of threads.
func TestThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, o := range op.All() {
		c, ok := large(o.Name())
		types := []dtype.DType{dtype.Float32, dtype.Int32}
		if !ok {
			if c, ok = pointwise(o); !ok {
				continue
			}
			c = shaped(c, 331, 340) // 112540 elements: more than one thread's worth
			types = []dtype.DType{dtype.Float32, dtype.BFloat16, dtype.Int64, dtype.Uint8, dtype.Bool}
		}
		for _, d := range types {
			if !o.Supports(d) || c.only != nil && !c.only(d) {
				continue
			}
			r := newRun(o, 0, c, d)
			runtime.GOMAXPROCS(1)
			want, wantBits, err := r.result(r.in)
			if err != nil {
				t.Fatalf("%s of %v: %v", o.Name(), d, err)
			}
			turned := slices.Clone(r.in)
			for n, i := range r.moved {
				turned[i] = arrange(r.in[i], arrangements[1+n%2]).Any
			}
			for _, threads := range []int{1, 2, 3} {
				if threads == 2 && d != dtype.Float32 {
					continue
				}
				runtime.GOMAXPROCS(threads)
				for what, in := range map[string][]tensor.Any{"contiguous": r.in, "turned": turned} {
					got, bits, err := r.result(in)
					if err != nil {
						t.Fatalf("%s of %v: %v", o.Name(), d, err)
					}
					same(t, fmt.Sprintf("%s of %v, %s, on %d threads", o.Name(), d, what, threads), got, want, bits, wantBits)
				}
			}
		}
	}
}

// digest is a hash of the outputs of every run of an operator.
func digest(t *testing.T, o op.Op) string {
	h := sha256.New()
	for i, c := range casesOf(o) {
		for _, d := range dtype.All() {
			if !o.Supports(d) || c.only != nil && !c.only(d) {
				continue
			}
			r := newRun(o, i, c, d)
			out, bits, err := r.result(r.in)
			if err != nil {
				t.Fatalf("%s, %s: %v", o.Name(), r.name, err)
			}
			for k := range out {
				fmt.Fprintln(h, tensor.Describe(out[k]))
				h.Write(bits[k])
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
