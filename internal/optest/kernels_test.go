package optest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op"
)

var (
	runKernels    = flag.Bool("kernels", false, "TestKernels notes which kernels run: it builds the library anew")
	updateKernels = flag.Bool("update", false, "with -kernels: TestKernels writes the list of package plan anew")
)

// noted returns the kernels that ran since the last time, in the build of TestKernels.
var noted func() []string

// The list of package plan, which the page of operators and the plans of models read, has the kernels that run. The test builds package simd
// so that kernels note their names, and runs all cases at each level.
func TestKernels(t *testing.T) {
	if noted != nil {
		noteKernels(t)
		return
	}
	const file = "../core/plan/kernellist.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "`\n")
	listed, tail, ok := strings.Cut(rest, "`")
	if !ok || strings.Count(listed, "\n") < 100 {
		t.Fatalf("%s has no list", file)
	}
	for line := range strings.Lines(listed) {
		name, types, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.ContainsFunc(op.Operators(), func(o *op.Op) bool {
			return o.Domain()+":"+o.Name() == name && !slices.ContainsFunc(dtype.All(), func(d dtype.DType) bool {
				return slices.Contains(strings.Fields(types), d.String()) && !o.Supports(d)
			})
		}) {
			t.Errorf("%s lists %s, no operator, or types that it doesn't take", file, name)
		}
	}
	if !*runKernels {
		t.Skip("only with -kernels")
	}
	if cpu.Detect() != cpu.AVX512 || runtime.GOARCH != "amd64" {
		t.Skip("only with AVX-512, whose build has all kernels of amd64")
	}
	exe := recording(t)
	levels := map[string]map[string][]string{} // types by operator and level
	for _, level := range []string{"avx512", "avx2"} {
		cmd := exec.Command(exe, "-test.run=^TestKernels$")
		cmd.Env = append(os.Environ(), "ASHLAR_CPU="+level)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[0] != "kernels" {
				continue
			}
			if levels[f[1]] == nil {
				levels[f[1]] = map[string][]string{}
			}
			at := levels[f[1]]
			at["avx512"] = slices.DeleteFunc(at["avx512"], func(d string) bool { return d == f[2] }) // the lower level says both
			at[level] = append(at[level], f[2])
		}
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		list.WriteString(name)
		for _, level := range []string{"avx2", "avx512"} {
			if types := levels[name][level]; len(types) > 0 {
				fmt.Fprintf(&list, " %s %s", level, strings.Join(slices.Compact(types), " "))
			}
		}
		list.WriteString("\n")
	}
	if ran := list.String(); *updateKernels {
		if err := os.WriteFile(file, []byte(head+"`\n"+ran+"`"+tail), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if ran != listed {
		t.Errorf("%s has other kernels than those that ran: go test ./internal/optest -run TestKernels -args -kernels -update\n%s", file, ran)
	}
}

// moving are the kernels that compute nothing: they copy, transpose and gather elements, and make NaNs canonical. Others convert.
var (
	moving     = regexp.MustCompile(`^(Canon|Copy|Reverse|Transposition|NarrowTransposition)|\.(gather|join|pack|probe|turn|widen)$`)
	converting = regexp.MustCompile(`^(Widen|NarrowB?F|Halves|Odd|Float)`)
)

// noteKernels prints a line for each operator and type with kernels.
func noteKernels(t *testing.T) {
	runtime.GOMAXPROCS(2)
	for _, o := range op.Operators() {
		for _, d := range dtype.All() {
			if !o.Supports(d) {
				continue
			}
			var names []string
			all := casesOf(o)
			if c, ok := largest(o); ok {
				all = append(slices.Clone(all), c)
			}
			for i, c := range all {
				if c.only == nil || c.only(d) {
					r := newRun(o, i, c, d)
					noted()
					r.result(r.in) // an error is that of a case on a type that the others don't have
					names = append(names, noted()...)
				}
			}
			names = slices.DeleteFunc(names, func(name string) bool {
				return moving.MatchString(name) || converting.MatchString(name) && !plan.AboutOf((*plan.Op)(o)).Converts
			})
			if slices.Sort(names); len(names) > 0 {
				fmt.Println("kernels", o.Domain()+":"+o.Name(), d, slices.Compact(names))
			}
		}
	}
}

// recording builds this package's tests with kernels that note their names, and returns the program.
func recording(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), "../.."
	replace := map[string]string{}
	put := func(path, text string) {
		abs, err := filepath.Abs(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		replace[abs] = filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(replace[abs], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	change := func(path, old, other string) {
		text := read(path)
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s hasn't %q once", path, old)
		}
		put(path, strings.Replace(text, old, other, 1))
	}
	const simd = "internal/core/simd/"
	try := regexp.MustCompile(`(?ms)^func Try(\w+).*?^}\n`)
	put(simd+"tables_amd64.go", try.ReplaceAllStringFunc(read(simd+"tables_amd64.go"), func(f string) string {
		at := strings.LastIndex(f, "\treturn true")
		return f[:at] + fmt.Sprintf("\tNote(%q)\n", try.FindStringSubmatch(f)[1]) + f[at:]
	}))
	change(simd+"simd.go", "Best() F { return l.At(cpu.Current()) }", "Best() F { return Noting(l.At(cpu.Current())) }")
	change(simd+"gemm_levels_amd64.go", "var ByteQuads = quadsOf()", "var ByteQuads = Noting(quadsOf())")
	change("internal/core/exec/table.go", "	return (*levels)(r.fast).Best()\n", `	switch r.form {
	case one:
		return unsafe.Pointer((*simd.Levels[*simd.Rows1])(r.fast).Best())
	case two:
		return unsafe.Pointer((*simd.Levels[*simd.Rows2])(r.fast).Best())
	case numbers:
		return unsafe.Pointer((*simd.Levels[*simd.RowsP])(r.fast).Best())
	case compare:
		return unsafe.Pointer((*simd.Levels[*simd.RowsCmp])(r.fast).Best())
	case choose:
		return unsafe.Pointer((*simd.Levels[*simd.RowsWhere])(r.fast).Best())
	}
	panic(r.form)
`)
	put(simd+"recorder.go", read("internal/optest/testdata/recorder.go"))
	put("internal/optest/recorder_test.go", `package optest

import "github.com/ashlar-go/ashlar/internal/core/simd"

func init() { noted = simd.Noted }
`)
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "optest.test")
	if err := os.WriteFile(file, list, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-o", exe, "-overlay="+file, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}
