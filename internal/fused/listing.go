package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A platform is a target on which the compiler fuses.
type platform struct {
	name string
	env  []string
}

var platforms = []platform{
	{"arm64", []string{"GOARCH=arm64", "GOARM64=v8.0"}},
	{"riscv64", []string{"GOARCH=riscv64", "GORISCV64=rva20u64"}},
	{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"}},
}

// A finding is one fused instruction, and the function whose text has its source line. After inlining that needn't be the
// function it was compiled into.
type finding struct {
	pos string // file:line, the file relative to the module
	op  string
	fn  string // "internal/core/float.FMA64", "internal/core/walk.Nest.At"
}

type module struct {
	path, dir string
	files     map[string][]declaration
}

type declaration struct {
	name        string
	first, last int
}

func findModule(dir string) (*module, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m in %s: %v\n%s", dir, err, stderr.Bytes())
	}
	path, root, ok := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if !ok {
		return nil, fmt.Errorf("go list -m in %s: no module there, got %q", dir, out)
	}
	return &module{path: path, dir: root, files: make(map[string][]declaration)}, nil
}

// compile compiles packages for p and returns the findings in the listing. `go list -export` compiles without linking, and the
// build cache replays the listings of earlier compilations. A listing with -trimpath, which GOFLAGS may hold, names no files of
// the module.
func (m *module) compile(p platform, packages []string) ([]finding, error) {
	args := append([]string{"list", "-export", "-f", "{{.ImportPath}}", "-trimpath=false", "-gcflags=" + m.path + "/...=-S"}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "CGO_ENABLED=0")
	cmd.Env = append(cmd.Env, p.env...)
	// The go command prints a package's listing on standard error when its compiler is done; a file holds it all.
	listing, err := os.CreateTemp("", "fused")
	if err != nil {
		return nil, err
	}
	defer os.Remove(listing.Name())
	defer listing.Close()
	cmd.Stderr = listing
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: go %s: %v\n%s", p.name, strings.Join(args, " "), err, complaints(listing))
	}
	if _, err := listing.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return m.read(listing)
}

// complaints returns the first lines of the output that belong to no listing: the messages of the go command.
func complaints(f *os.File) []byte {
	var out []byte
	f.Seek(0, io.SeekStart)
	for s := newScanner(f); s.Scan() && len(out) < 4096; {
		line := s.Text()
		// Not a package's heading, a symbol's content or a symbol's head.
		if !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "\t") && !strings.Contains(line, " size=") {
			out = append(append(out, line...), '\n')
		}
	}
	return out
}

func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<24) // a symbol's name can be very long
	return s
}

// An instruction's line: offset, program counter, (file:line), mnemonic, operands.
var instruction = regexp.MustCompile(`^\t0x[0-9a-f]+ \d+ \((.*):(\d+)\)\t(\S+)`)

// fusedOp matches FMADDS, FNMSUBD, VFMADD231SD, VFNMSUB213SS and their like.
var fusedOp = regexp.MustCompile(`^V?FN?M(ADD|SUB)`)

// read returns the fused instructions of a listing, each source line once per mnemonic, sorted by place.
func (m *module) read(r io.Reader) ([]finding, error) {
	var found []finding
	compiledFrom := "" // the file of the function being listed
	s := newScanner(r)
	for s.Scan() {
		line := s.Text()
		if !strings.HasPrefix(line, "\t0x") {
			continue
		}
		if !strings.Contains(line, "\tTEXT\t") && !strings.Contains(line, "MADD") && !strings.Contains(line, "MSUB") {
			continue // the expression below is slow, and listings are long
		}
		in := instruction.FindStringSubmatch(line)
		if in == nil {
			continue // a line of hex dump
		}
		if in[3] == "TEXT" {
			compiledFrom = in[1]
			continue
		}
		if !fusedOp.MatchString(in[3]) || !m.own(in[1]) && !m.own(compiledFrom) {
			continue
		}
		n, err := strconv.Atoi(in[2])
		if err != nil {
			return nil, fmt.Errorf("line number in %q: %v", line, err)
		}
		fn, err := m.function(in[1], n)
		if err != nil {
			return nil, err
		}
		found = append(found, finding{pos: m.rel(in[1]) + ":" + in[2], op: in[3], fn: fn})
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b finding) int {
		return strings.Compare(a.pos+a.op, b.pos+b.op)
	})
	return slices.Compact(found), nil
}

func (m *module) own(file string) bool {
	return strings.HasPrefix(file, m.dir+string(filepath.Separator))
}

func (m *module) rel(file string) string {
	if !m.own(file) {
		return file
	}
	return filepath.ToSlash(file[len(m.dir)+1:])
}

// function returns the name of the top-level declaration that holds a line, as folder.name or folder.type.method.
func (m *module) function(file string, line int) (string, error) {
	decls, ok := m.files[file]
	if !ok {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for _, d := range f.Decls {
			decls = append(decls, declaration{declName(d), fset.Position(d.Pos()).Line, fset.Position(d.End()).Line})
		}
		m.files[file] = decls
	}
	folder := filepath.ToSlash(filepath.Dir(m.rel(file)))
	for _, d := range decls {
		if d.first <= line && line <= d.last {
			return folder + "." + d.name, nil
		}
	}
	return folder + ".?", nil
}

func declName(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return d.Name.Name
		}
		t := d.Recv.List[0].Type
		for {
			switch x := t.(type) {
			case *ast.StarExpr:
				t = x.X
			case *ast.IndexExpr:
				t = x.X
			case *ast.IndexListExpr:
				t = x.X
			case *ast.Ident:
				return x.Name + "." + d.Name.Name
			default:
				return "?." + d.Name.Name
			}
		}
	case *ast.GenDecl:
		if len(d.Specs) > 0 {
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "?"
}

// parseAllowed reads lines "function reason"; # begins a comment.
func parseAllowed(text string) (map[string]bool, error) {
	allow := make(map[string]bool)
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fn, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("internal/fused/allowed.txt:%d: %q gives no reason: write one after the function's name", i+1, line)
		}
		allow[fn] = true
	}
	return allow, nil
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
