package ashlar_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/op/all"
)

const maxAddOnly = 3 << 20 // bytes of the stripped program that only adds

// build compiles a main package of this module and returns the program's path.
func build(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	compiles(t)
	exe := filepath.Join(t.TempDir(), "program.exe")
	cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return exe
}

// nm returns what go tool nm prints of a program.
func nm(t *testing.T, exe string) []byte {
	t.Helper()
	out, err := exec.Command("go", "tool", "nm", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// linkedOperators returns the operators of which a program holds a table, a function or a row.
func linkedOperators(t *testing.T, exe string) []string {
	t.Helper()
	out := nm(t, exe)
	symbols := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m) `+regexp.QuoteMeta(modulePath)+`/op\.(\w+)`).FindAllSubmatch(out, -1) {
		if string(m[1]) != "split" { // over threads; the operator's own are Split and splitOp
			symbols[strings.ToLower(string(m[1]))] = true
		}
	}
	var linked []string
	for _, o := range all.Operators() {
		name := strings.ToLower(o.Name())
		if symbols[name] || symbols[name+"row"] || symbols[name+"fast"] || symbols[name+"op"] {
			linked = append(linked, o.Name())
		}
	}
	return linked
}

// A program that only adds links no other operator: nothing refers to all tables, and no table is filled at start.
func TestAddOnlyProgram(t *testing.T) {
	stripped := build(t, "./testdata/addonly", "-ldflags=-s -w")
	info, err := os.Stat(stripped)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxAddOnly {
		t.Errorf("the program has %d bytes, more than %d: see with `go tool nm -size -sort size` what it links", info.Size(), maxAddOnly)
	}
	if err := exec.Command(stripped).Run(); err != nil {
		t.Errorf("the program doesn't run: %v", err)
	}
	exe := build(t, "./testdata/addonly")
	linked := linkedOperators(t, exe)
	if !slices.Equal(linked, []string{"Add"}) {
		t.Errorf("the program holds the operators %v, want Add alone: something it calls refers to their tables", linked)
	}
	if k := regexp.MustCompile(`internal/core/simd\.(tanh|erf|sin)\w+`).Find(nm(t, exe)); k != nil {
		t.Errorf("the program holds the kernel %s: a table of package simd is filled at start", k)
	}
	if x := regexp.MustCompile(` ` + regexp.QuoteMeta(modulePath) + `/text\.\w+`).Find(nm(t, exe)); x != nil {
		t.Errorf("the program holds%s: a package that it needs imports package text", x)
	}
	t.Logf("%d bytes stripped", info.Size())
}

// A program that runs models, or serves them, compiles nothing of the packages for texts. The command does.
func TestTextsApart(t *testing.T) {
	texts := func(pkg string) (list []string) {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(pkg, err)
		}
		for _, p := range strings.Fields(string(out)) {
			if dir, ok := own(p); ok && under(dir, "text") {
				list = append(list, dir)
			}
		}
		return list
	}
	for _, pkg := range []string{"./testdata/addonly", "./op/all", "./onnx", "./onnx/serve", "./sound", "./examples/digits-http"} {
		if list := texts(pkg); list != nil {
			t.Errorf("%s compiles %v", pkg, list)
		}
	}
	if list := texts("./text/endpoints"); len(list) != 3 {
		t.Errorf("./text/endpoints compiles %v: the search doesn't see the packages for texts", list)
	}
}

// The search must see another operator where there is one.
func TestAddOnlyProgramCanFail(t *testing.T) {
	const main = "testdata/addonly/main.go"
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("op.Add(a, b)"), []byte("op.Add(a, op.Relu(b))"), 1)
	linked := linkedOperators(t, build(t, "./testdata/addonly", overlay(t, map[string]string{main: string(changed)})))
	if !slices.Equal(linked, []string{"Add", "Relu"}) {
		t.Errorf("found the operators %v, want Add and Relu", linked)
	}
}

// The options of another operator don't compile.
func TestForeignOptions(t *testing.T) {
	compiles(t)
	const main = "testdata/addonly/main.go"
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call string
		fits bool
	}{
		{"op.ArgMax(op.Add(a, b), 0, op.ArgOptions{LastIndex: true})", true},
		{"op.ArgMax(op.Add(a, b), 0, op.TopKOptions{Smallest: true})", false},
		{"op.ArgMax(op.Add(a, b), 0, op.ArgOptions{Smallest: true})", false},
		{"op.Add(a, b, op.ArgOptions{})", false},
	} {
		changed := bytes.Replace(text, []byte("op.Add(a, b)"), []byte(c.call), 1)
		cmd := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "program.exe"), overlay(t, map[string]string{main: string(changed)}), "./testdata/addonly")
		out, err := cmd.CombinedOutput()
		if fits := err == nil; fits != c.fits || !fits && !bytes.Contains(out, []byte("cannot use")) && !bytes.Contains(out, []byte("unknown field")) {
			t.Errorf("%s: %v\n%s", c.call, err, out)
		}
	}
}

// TestNoSharedLibrary wants a program without cgo to ask for no library and no loader. So it runs in Alpine, and in an image FROM scratch.
func TestNoSharedLibrary(t *testing.T) {
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "amd64")
	for _, pkg := range []string{"./testdata/addonly", "./cmd/ashlar"} {
		if wants := libraries(t, build(t, pkg)); len(wants) > 0 {
			t.Errorf("%s asks for %s", pkg, wants)
		}
	}
	loaded := elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}, Type: uint16(elf.ET_EXEC),
		Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1}
	var b bytes.Buffer
	exe := filepath.Join(t.TempDir(), "loaded")
	err := errors.Join(binary.Write(&b, binary.LittleEndian, loaded), binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_INTERP)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if wants := libraries(t, exe); len(wants) == 0 {
		t.Error("a program that asks for a loader isn't seen as one")
	}
}

// libraries returns the loader and the shared libraries that a program asks for.
func libraries(t *testing.T, exe string) (wants []string) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			wants = append(wants, "a loader")
		}
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return append(wants, names...)
}

// overlay returns the flag that makes the go command see other contents at paths of this module, without writing there.
func overlay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	replace := make(map[string]string)
	for name, text := range files {
		abs, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		replace[abs] = filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(replace[abs], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o666); err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + file
}

// maxOfType is how many functions a main package may compile for one element type that it names: the methods of
// tensor.Tensor[T], and the operators that it calls.
const maxOfType = 220

// compiled returns how many functions the compiler makes of a main package of this module.
func compiled(t *testing.T, pkg string, flags ...string) int {
	t.Helper()
	compiles(t)
	cmd := exec.Command("go", append(append([]string{"build", "-gcflags=-S", "-o", os.DevNull}, flags...), pkg)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", strings.Join(cmd.Args, " "), err, out)
	}
	return bytes.Count(out, []byte(" STEXT "))
}

// A program compiles little of the library: what its calls are façades of is compiled once, in package op.
func TestUserFunctions(t *testing.T) {
	const main = "testdata/addonly/main.go"
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"op.Add(a, b)", "op.MatMul(a, b)", "op.Cast[float32](op.Less(a, b))", "op.Exp(op.Mul(a, b))",
		"op.Cast[float32](op.ArgMax(op.Softmax(op.ReduceSum(op.Concat([]tensor.Tensor[float32]{a, b}, 0), []int{0}, op.KeepDims()), 0), 0, op.ArgOptions{}))", "op.Conv(a, b, a, op.Window{}, 1)", "op.Einsum(\"ij,jk\", []tensor.Tensor[float32]{a, b})"} {
		changed := bytes.Replace(text, []byte("op.Add(a, b)"), []byte(call), 1)
		n := compiled(t, "./testdata/addonly", overlay(t, map[string]string{main: string(changed)}))
		t.Logf("%s: %d functions", call, n)
		most := maxOfType
		if strings.Contains(call, "Cast") {
			most *= 2 // it names tensors of another type, too
		}
		if n < 40 || n > most {
			t.Errorf("a program that calls %s compiles %d functions, want at most %d: see them with go build -gcflags=-S", call, n, most)
		}
	}
}

// runsModels names tensors of two types, calls eight operators and runs a model.
const runsModels = `package main

import (
	"context"
	"fmt"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

func main() {
	a := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	b := op.Softmax(op.MatMul(op.Add(op.Mul(a, a), op.Exp(a)), a), 1)
	b = op.Concat([]tensor.Tensor[float32]{b, op.Relu(a)}, 0)
	fmt.Println(op.Cast[int64](op.ReduceSum(b, []int{0})))
	m, err := onnx.Open("model.onnx")
	if err != nil {
		panic(err)
	}
	defer m.Close()
	s, err := onnx.NewSession(m)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Run(context.Background(), map[string]tensor.Any{"x": b.Any()}, &onnx.Options{}))
}
`

// A program that runs models compiles the methods of its tensors and what its calls are façades of: nothing of a session, though it sees
// the types of its fields.
func TestUserFunctionsOfModels(t *testing.T) {
	const main, most = "testdata/addonly/main.go", 420
	if n := compiled(t, "./testdata/addonly", overlay(t, map[string]string{main: runsModels})); n < 40 || n > most {
		t.Errorf("the program compiles %d functions, want at most %d: see them with go build -gcflags=-S", n, most)
	}
}
