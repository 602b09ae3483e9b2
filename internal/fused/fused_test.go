package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The fixture holds each form that the compiler fuses somewhere, and the forms that keep it from doing so.
const fixture = `package p

import "math"

func Plain(a, b, c float64) float64 { return a*b + c }

func Apart(a, b, c float32) float32 {
	p := a * b
	return p + c
}

func mul(a, b float64) float64 { return a * b }

func Inlined(a, b, c float64) float64 { return mul(a, b) + c }

func Complex(a, b complex128) complex128 { return a * b }

type T[E float32 | float64] struct{ x E }

func (t *T[E]) Method(a, b, c E) E { return a*b + c }

func Use(t *T[float32]) float32 { return t.Method(t.x, 2, 3) }

func Meant(a, b, c float64) float64 { return math.FMA(a, b, c) }

func Caller(a, b, c float64) float64 { return Meant(a, b, c) / 2 }

func Kept32(a, b, c float32) float32 { return float32(a*b) + c }

func Kept64(a, b, c float64) float64 { return float64(a*b) + c }
`

const fixtureTest = `package p

import "testing"

func TestP(t *testing.T) {
	x := float64(len(t.Name()))
	t.Log(x*x + x)
}
`

func writeFixture(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/fixture\n\ngo 1.26\n", "p/p.go": source, "p/p_test.go": fixtureTest} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func check(t *testing.T, dir, allowed string) (string, bool) {
	t.Helper()
	var out strings.Builder
	ok, err := run(&out, dir, platforms, nil, allowed, false)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), ok
}

func TestFindsEveryFusedForm(t *testing.T) {
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -trimpath") // which trims the listing's files
	out, ok := check(t, writeFixture(t, fixture), "p.Meant it is meant")
	if ok {
		t.Error("a module with fused products passed")
	}
	for _, fn := range []string{"p.Plain", "p.Apart", "p.Inlined", "p.Complex", "p.T.Method"} {
		for _, p := range platforms {
			want := ": " + p.name + ": "
			found := false
			for line := range strings.Lines(out) {
				found = found || strings.Contains(line, want) && strings.HasSuffix(line, " in "+fn+"\n")
			}
			if !found {
				t.Errorf("%s: the fused instruction of %s isn't reported", p.name, fn)
			}
		}
	}
	for _, fn := range []string{"p.Meant", "p.Caller", "p.Kept32", "p.Kept64", "_test"} {
		if strings.Contains(out, fn) {
			t.Errorf("%s is reported", fn)
		}
	}
	if t.Failed() {
		t.Log("\n" + out)
	}
}

func TestPassesWithoutFusedProducts(t *testing.T) {
	const kept = "package p\n\nfunc Kept(a, b, c float64) float64 { return float64(a*b) + c }\n"
	if out, ok := check(t, writeFixture(t, kept), ""); !ok || out != "" {
		t.Errorf("reported:\n%s", out)
	}
}

func TestStaleAllowance(t *testing.T) {
	const kept = "package p\n\nfunc Kept(a, b, c float64) float64 { return float64(a*b) + c }\n"
	out, ok := check(t, writeFixture(t, kept), "p.Kept once it did")
	if want := "internal/fused/allowed.txt: p.Kept holds no fused instruction: delete its line\n"; ok || out != want {
		t.Errorf("got %t %q, want false %q", ok, out, want)
	}
}

func TestAllowanceNeedsReason(t *testing.T) {
	_, err := parseAllowed("# a comment\n\nnum.FMA64\n")
	if err == nil || !strings.Contains(err.Error(), "allowed.txt:3") {
		t.Errorf("got %v, want an error that names line 3", err)
	}
	if allow, err := parseAllowed(allowedText); err != nil || len(allow) == 0 {
		t.Errorf("allowed.txt: %v, %d functions", err, len(allow))
	}
}

func TestBrokenPackageIsAnError(t *testing.T) {
	dir := writeFixture(t, "package p\n\nvar x int = \"\"\n")
	var out strings.Builder
	_, err := run(&out, dir, platforms, nil, "", false)
	if err == nil || !strings.Contains(err.Error(), "p.go:3") {
		t.Errorf("got %v, want the compiler's complaint about p.go:3", err)
	}
}
