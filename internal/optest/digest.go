package optest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Digest is a hash of the results of an operator for all of its cases: types, shapes and bits. Each case runs on
// contiguous operands and on some in another layout. One case with enough work to split also runs on 1 to 3 threads and
// on 7. If the results of a case differ, there is an error and no digest. results counts the runs. cell gets the name of
// each case and a hash of its results; it may be nil.
func Digest(o *op.Op, cell func(name string, sum [sha256.Size]byte)) (digest string, results int, err error) {
	h := sha256.New()
	add := func(r *run, threads ...int) error {
		out, bits, err := r.result(r.in)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", o.Name(), r.name, err)
		}
		one := sha256.New()
		for i := range bits {
			w := io.MultiWriter(h, one)
			fmt.Fprintln(w, tensor.Describe(out[i]))
			w.Write(bits[i])
			bits[i] = bytes.Clone(bits[i])
		}
		if cell != nil {
			name := r.name
			if len(threads) > 1 {
				name = "large " + name
			}
			cell(name, [sha256.Size]byte(one.Sum(nil)))
		}
		results++
		way := arrangements[results%len(arrangements)]
		in := slices.Clone(r.in)
		for _, i := range r.moved {
			in[i] = arrange(in[i], way).Any
		}
		for _, n := range threads {
			runtime.GOMAXPROCS(n)
			got, gotBits, err := r.result(in)
			if err != nil {
				return fmt.Errorf("%s, %s, operands %s: %w", o.Name(), r.name, way.name, err)
			}
			if err := differ(got, out, gotBits, bits); err != nil {
				return fmt.Errorf("%s, %s, operands %s, %d threads: %w", o.Name(), r.name, way.name, n, err)
			}
			results++
		}
		return nil
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for i, c := range casesOf(o) {
		for _, d := range dtype.All() {
			if o.Supports(d) && (c.only == nil || c.only(d)) {
				if err := add(newRun(o, i, c, d), before); err != nil {
					return "", results, err
				}
			}
		}
	}
	if c, ok := largest(o); ok {
		for _, d := range []dtype.DType{dtype.Float32, dtype.Int32} {
			if o.Supports(d) && (c.only == nil || c.only(d)) {
				if err := add(newRun(o, 0, c, d), 1, 2, 3, 7); err != nil {
					return "", results, err
				}
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), results, nil
}

// largest is a case with enough work to split.
func largest(o *op.Op) (testCase, bool) {
	if c, ok := large(o.Name()); ok {
		return c, true
	}
	c, ok := pointwise(o)
	return shaped(c, 331, 340), ok // 112540 elements: more than one thread's worth
}

// differ returns an error for outputs that differ from the outputs of contiguous operands.
func differ(got, want []tensor.Any, gotBits, wantBits [][]byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for i := range want {
		if tensor.Describe(got[i]) != tensor.Describe(want[i]) {
			return fmt.Errorf("output %d is %s, want %s", i, tensor.Describe(got[i]), tensor.Describe(want[i]))
		}
		if bytes.Equal(gotBits[i], wantBits[i]) {
			continue
		}
		size := want[i].DType().Size()
		for k := 0; k < len(wantBits[i]); k += size {
			if g, w := gotBits[i][k:k+size], wantBits[i][k:k+size]; !bytes.Equal(g, w) {
				return fmt.Errorf("output %d, element %d has the bits %x, want %x", i, k/size, g, w)
			}
		}
	}
	return nil
}
