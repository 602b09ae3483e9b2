package main

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/exact"
)

// some is the step at which the tests look at chunks of inputs: 128 of them, all over the range and one of NaNs.
const some = 511

// Every 4099th result is the one that was verified, and one input of 512 is verified again.
func TestDigests(t *testing.T) {
	lines, err := readDigests("digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions32 {
		t.Run(f.name, func(t *testing.T) {
			line, ok := lines[f.name]
			if !ok {
				t.Skipf("digests.txt has no line for %s: nobody has run go run ./conformance/verify -update %s yet, which takes some minutes", f.name, f.name)
			}
			if !strings.HasPrefix(line, f.name+" inputs 4294967296 wrong 0 ") {
				t.Fatalf("not verified on all inputs: %q", line)
			}
			if want := fmt.Sprintf(" sample %016x", f.sample()); !strings.HasSuffix(line, want) {
				t.Errorf("results have changed since they were verified: now%s, then %s", want, line)
			}
			if r := f.all(some); r.wrong != 0 || r.count != 1<<23 {
				t.Errorf("%v %q", r, r.examples)
			}
		})
	}
}

// One input of 512 goes through the rows of package simd; a wrong row must be found out.
func TestRows(t *testing.T) {
	for level := cpu.AVX2; level <= cpu.Detect(); level++ {
		for _, f := range functions32 {
			for i, row := range rowsOf(rows32[f.name], level) {
				if r := f.allRows(row, some, true); r.wrong != 0 || r.count != 1<<23 {
					t.Errorf("%v%s: %v %q", level, ofSum[i], r, r.examples)
				}
				bad := func(dst, a []float32) {
					row(dst, a)
					dst[len(dst)/3] = math.Nextafter32(dst[len(dst)/3], 7)
				}
				if r := f.allRows(bad, some, true); r.wrong == 0 {
					t.Errorf("%v: %s%s with a wrong result per row isn't found out", level, f.name, ofSum[i])
				}
			}
		}
	}
}

// The rows of op.Fast are off by 2 units at most; one that is off by 3 is found out.
func TestRough(t *testing.T) {
	for level := cpu.AVX2; level <= cpu.Detect(); level++ {
		for _, f := range functions32 {
			for i, row := range rowsOf(quick32[f.name], level) {
				if worst, at := f.roughest(row, 997); worst > 2 || worst < 0.5 {
					t.Errorf("%s%s %v: %g units at %g", f.name, ofSum[i], level, worst, at)
				}
				off := func(dst, a []float32) {
					row(dst, a)
					for i, y := range dst {
						if y > 1 {
							dst[i] = math.Float32frombits(math.Float32bits(y) + 3)
						}
					}
				}
				if worst, _ := f.roughest(off, 997); f.name != "tanh32" && f.name != "sigmoid32" && worst < 2.5 {
					t.Errorf("%s%s %v: a row that is 3 units off passes", f.name, ofSum[i], level)
				}
			}
		}
	}
}

// A wrong function must be found out, both by the quick way and where the exact evaluation decides.
func TestFindsWrong(t *testing.T) {
	good := functions32[0]
	for _, c := range []struct {
		name string
		f    func(float32) float32
	}{
		{"the next float32", func(x float32) float32 { return math.Nextafter32(good.f(x), 0) }},
		{"a NaN that isn't canonical", func(x float32) float32 {
			if x != x {
				return math.Float32frombits(math.Float32bits(x) | 1<<22 | 1)
			}
			return good.f(x)
		}},
	} {
		bad := good
		bad.f = c.f
		if r := bad.all(some); r.wrong == 0 {
			t.Errorf("%s: no result is wrong", c.name)
		}
	}
	// The plain float64 formula of the logarithm is known to go wrong here.
	l := functions32[1]
	if bits, close := l.want(math.Float32frombits(0x3c413d3a)); bits != 0xc08e158f || !close {
		t.Errorf("log32(3c413d3a) is %#x, exactly evaluated %v", bits, close)
	}
}

// The approximations keep well within the slack that want allows them.
func TestApprox(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range functions32 {
		worst := 0.0
		for range 4000 {
			x := math.Float32frombits(r.Uint32())
			if r.IntN(2) == 0 {
				x = float32(r.NormFloat64() * 20)
			}
			if _, fixed := f.fixed(x); fixed || x != x || f.name == "erf32" && math.Abs(float64(x)) > 4.1 {
				continue
			}
			want := f.exact(float64(x))
			d := new(big.Float).SetPrec(exact.Prec).Sub(exact.New(f.approx(float64(x))), want)
			e, _ := d.Quo(d, want).Float64()
			worst = max(worst, math.Abs(e))
		}
		if worst > slack/16 || worst == 0 && f.name != "sqrt32" {
			t.Errorf("%s: relative error %g, slack %g", f.name, worst, slack)
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, f := range measured {
		if m := f.measure(20_000, 7); m.worst > f.limit {
			t.Error(m)
		}
	}
	f := measured[0]
	f.f = func(x, _ float64) float64 { return math.Nextafter(measured[0].f(x, 0), 0) }
	if m := f.measure(1000, 7); m.worst < 1 {
		t.Errorf("a function that is off by one unit measures %v", m)
	}
}

// Functions of narrow floats are correctly rounded, all of them on all inputs.
func TestNarrow(t *testing.T) {
	for _, n := range narrowFormats {
		for _, f := range functions32 {
			r, err := f.narrow(&n)
			if err != nil || r.wrong > 0 {
				t.Error(r, err, r.examples)
			}
		}
	}
	n := narrowFormats["float16"]
	bad := functions32[0]
	bad.exact, bad.approx = functions32[1].exact, functions32[1].approx
	if r, err := bad.narrow(&n); err != nil || r.wrong == 0 {
		t.Error("a logarithm passes for an exponential", err)
	}
}

// A polynomial says of each number what the exact value says.
func TestNear(t *testing.T) {
	for _, f := range measured {
		r := rand.New(rand.NewPCG(3, 4))
		worst := 0.0
		f.walk(r, 60_000, func(x, y, u float64) {
			if r.IntN(300) == 0 {
				worst = max(worst, math.Abs(u-exact.ULP(f.f(x, y), f.exact(x, y), f.bits, f.least)))
			}
		})
		if worst > 1e-4 {
			t.Errorf("%s: an error is off by %g units", f.name, worst)
		}
	}
}

func TestUpdateDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "digests.txt")
	for _, r := range []result32{{name: "b", count: 3}, {name: "a", count: 1}, {name: "b", count: 2, digest: 0xff}} {
		if err := updateDigest(path, r.String()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "# ") || !strings.HasPrefix(lines[1], "a inputs 1 ") || !strings.HasPrefix(lines[2], "b inputs 2 wrong 0 digest 00000000000000ff ") {
		t.Errorf("%q", lines)
	}
}
