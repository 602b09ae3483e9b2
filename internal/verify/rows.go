package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/ashlar-go/ashlar/internal/cpu"
	"github.com/ashlar-go/ashlar/internal/simd"
)

// rows32 are the functions that have a row with an instruction set. They are checked against package num's, which are
// checked against the correctly rounded values.
var rows32 = map[string]*simd.Levels[*simd.Rows1]{"exp32": &simd.Exp, "log32": &simd.Log, "tanh32": &simd.Tanh, "sigmoid32": &simd.Sigmoid,
	"sqrt32": &simd.Sqrt}

// rowOf returns the row of a function at a level, or nil.
func rowOf(name string, level cpu.Level) func(dst, a []float32) {
	if t := rows32[name]; t != nil && t[level] != nil {
		return t[level].F32
	}
	return nil
}

// allRows compares a row with the function of package num on every step-th chunk of inputs. Its digest is that of all,
// so that for step 1 it is the one in digests.txt.
func (f *function32) allRows(row func(dst, a []float32), step int) result32 {
	chunks := 1 << 32 / chunk / step
	r := result32{name: f.name, count: uint64(chunks) * chunk}
	var mu sync.Mutex
	r.digest = digestOf(chunks, func() func(int) uint64 {
		in, out := make([]float32, chunk), make([]float32, chunk)
		return func(c int) uint64 {
			for i := range in {
				in[i] = math.Float32frombits(uint32(c*step)*chunk + uint32(i))
			}
			row(out, in)
			h := uint64(fnvStart)
			for i, y := range out {
				got, want := math.Float32bits(y), math.Float32bits(f.f(in[i]))
				h = fnv(h, uint64(got))
				if got == want {
					continue
				}
				mu.Lock()
				if r.wrong++; len(r.examples) < 10 {
					r.examples = append(r.examples, fmt.Sprintf("%08x %g: got %08x %g, want %08x", math.Float32bits(in[i]), in[i], got, y, want))
				}
				mu.Unlock()
			}
			return h
		}
	})
	return r
}
