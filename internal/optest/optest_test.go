package optest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/op/all"
	"github.com/ashlar-go/ashlar/tensor"
)

var whole = flag.Bool("long", false, "run every operator with all pairs of types, layouts, threads and instruction sets, not with some of them in turn")

// turn reports whether the i-th of several runs has its turn: every n-th has, and all have with -long.
func turn(i, n int) bool { return *whole || i%n == 0 }

// Every operator has cases, or a reason for having none.
func TestEveryOperatorHasCases(t *testing.T) {
	for _, o := range all.Operators() {
		switch has, why := len(casesOf(o)) > 0, reasons[o.Name()]; {
		case !has && why == "":
			t.Errorf("%s isn't called with one to three operands of one shape: add cases to cases or moves in cases.go or moves.go, or a reason to reasons", o.Name())
		case has && why != "":
			t.Errorf("%s has cases, and a reason for having none", o.Name())
		}
	}
	for name := range reasons {
		if _, ok := all.Lookup(name); !ok {
			t.Errorf("there is a reason for %s, which isn't an operator", name)
		}
	}
}

// runs calls f with every case of every operator for every element type; in the short form with half of the pairs.
func runs(t *testing.T, f func(t *testing.T, r *run)) {
	for _, o := range all.Operators() {
		t.Run(o.Name(), func(t *testing.T) {
			t.Parallel()
			cs := casesOf(o)
			for i, c := range cs {
				for _, d := range dtype.All() {
					if o.Supports(d) && (c.only == nil || c.only(d)) && (len(cs) == 1 || turn(i+int(d), 2)) {
						f(t, newRun(o, i, c, d))
					}
				}
			}
		})
	}
}

// same compares outputs with those of contiguous operands.
func same(t *testing.T, what string, got, want []tensor.Any, gotBits, wantBits [][]byte) {
	t.Helper()
	if err := differ(got, want, gotBits, wantBits); err != nil {
		t.Fatalf("%s: %v", what, err)
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
				if step > 0 && len(r.moved) < 2 || !turn(r.turn+k+step, 4) {
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
			if r.in[i].Len() == 0 || !turn(r.turn+i+axis, 3) {
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
	if r.unfit {
		return
	}
	specs := slices.Clone(r.in)
	for _, i := range r.moved {
		s, err := tensor.NewSpec(r.in[i].DType(), r.in[i].Shape()...)
		if err != nil {
			t.Fatal(err)
		}
		specs[i] = s.Any()
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

// Rows of every short length, at every alignment of an element: each element is
// that of one long row.
func TestLengths(t *testing.T) {
	const most = 70
	for _, o := range all.Operators() {
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
			if r.unfit {
				continue // the error names the first element, which a shorter row may not have
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
	for i, o := range all.Operators() {
		c, ok := largest(o)
		for k, d := range []dtype.DType{dtype.Float32, dtype.BFloat16, dtype.Int64, dtype.Uint8, dtype.Bool} {
			if !ok || !turn(i+k, 3) || !o.Supports(d) || c.only != nil && !c.only(d) {
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

// repeated returns a with all of an axis like its first position: as a view that
// repeats it, and as a tensor that doesn't.
func repeated(a tensor.Any, axis int) (view, full tensor.Any, err error) {
	shape := a.Shape()
	idx := make([]tensor.Index, len(shape))
	for i := range idx {
		idx[i] = tensor.Colon
	}
	idx[axis] = tensor.R(0, 1)
	first, err := tensor.Slice(a, idx...)
	if err != nil {
		return tensor.Any{}, tensor.Any{}, err
	}
	if view, err = tensor.BroadcastTo(first, shape...); err != nil {
		return tensor.Any{}, tensor.Any{}, err
	}
	full, err = tensor.Contiguous(view)
	return view, full, err
}
