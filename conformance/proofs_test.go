package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/float"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// proofOf returns a proof by its name.
func proofOf(t *testing.T, name string) *proof {
	t.Helper()
	i := slices.IndexFunc(proofs, func(p proof) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("there is no proof %s", name)
	}
	return &proofs[i]
}

// inputs draws the inputs of a run, which are int64 from 0, as receipt.Rule says. They are those of the certificate.
func (p *proof) inputsOf(t *testing.T, c *receipt.Certificate, run int) map[string]tensor.Any {
	t.Helper()
	inputs := make(map[string]tensor.Any)
	for j, x := range p.inputs {
		var n int
		var to uint64
		if _, err := fmt.Sscanf(x.Type+" "+x.To, "int64[1,%d] %d", &n, &to); err != nil || x.From != "0" {
			t.Fatal(x, err)
		}
		list := make([]int64, n)
		for k := range list {
			w := float.Philox4x32([4]uint32{uint32(k), 0, uint32(j), uint32(run)}, [2]uint32{})
			hi, _ := bits.Mul64(uint64(w[1])<<32|uint64(w[0]), to)
			list[k] = int64(hi)
		}
		a := tensor.FromSlice(list, 1, n).Any()
		if d, err := tensor.Digest(a); err != nil || d != c.Runs[run].Inputs[j].Digest {
			t.Fatalf("run %d: input %s isn't that of the certificate: %v", run, x.Name, err)
		}
		inputs[x.Name] = a
	}
	return inputs
}

// certified builds a proof's model, and makes its certificate.
func (p *proof) certified(t *testing.T) (*onnx.Model, *receipt.Certificate) {
	t.Helper()
	m, err := p.build()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.certify(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// nodesOf runs a model, and returns the values that Observe sees by their names.
func nodesOf(t *testing.T, m *onnx.Model, inputs map[string]tensor.Any) map[string]tensor.Any {
	t.Helper()
	s, err := onnx.NewSession(m)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]tensor.Any)
	outs, err := s.Run(context.Background(), inputs, &onnx.Options{Observe: func(r *onnx.NodeRun) {
		for i, name := range r.Names {
			if v := r.Values[i].Tensor(); name != "" && !v.IsZero() {
				seen[name] = v.Clone()
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(seen, outs)
	return seen
}

func halves(t *testing.T, a tensor.Any) tensor.Tensor[num.F16] {
	t.Helper()
	h, ok := tensor.As[num.F16](a)
	if !ok {
		t.Fatalf("%s; want float16", tensor.Describe(a))
	}
	return h.Contiguous()
}

// The model's sums pass float16's largest number: those of products on their way, and those of the last addition with their result. A product
// is that of the plain loop in float32, rounded once.
func TestSums(t *testing.T) {
	p := proofOf(t, "float16-sums")
	m, c := p.certified(t)
	weights := make(map[string]tensor.Tensor[num.F16]) // of the second products
	for i := range m.Graph.Initializers {
		p := &m.Graph.Initializers[i]
		if shape, err := p.Shape(); err != nil || !slices.Equal(shape, []int{sumInner, sumWidth}) {
			continue
		}
		w := tensor.New[num.F16](sumInner, sumWidth)
		for k := range w.Elems() {
			w.Elems()[k] = num.FromBits[num.F16](binary.LittleEndian.Uint16(p.Raw[2*k:]))
		}
		weights[p.Name] = w
	}
	for run := range proofRuns {
		seen := nodesOf(t, m, p.inputsOf(t, c, run))
		for layer := range sumTop {
			h := halves(t, seen["hidden"+string(rune('0'+layer))])
			largest, infinite := 0., 0
			for _, v := range h.Elems() {
				if f := math.Abs(v.Float64()); math.IsInf(f, 0) {
					infinite++
				} else {
					largest = max(largest, f)
				}
			}
			if last := layer == sumTop-1; (infinite > 0) != last || layer == sumTop-2 && largest < 40000 {
				t.Errorf("run %d, hidden%d: %d infinite, and %v is the largest other", run, layer, infinite, largest)
			}
		}
		for _, v := range halves(t, seen["embedding"]).Elems() {
			if !v.IsNaN() {
				t.Errorf("run %d: the embedding has %v", run, v)
			}
		}
		products, passed, lost := 0, 0, 0
		for i := range m.Graph.Nodes {
			n := &m.Graph.Nodes[i]
			w, ok := weights[lastOf(n.Inputs)]
			if n.Op != "MatMul" || !ok {
				continue
			}
			x, y := halves(t, seen[n.Inputs[0]]), halves(t, seen[n.Outputs[0]])
			for _, v := range y.Elems() {
				if !(math.Abs(v.Float64()) <= 65504) {
					t.Errorf("run %d, node %s: a product is %v", run, n.Name, v)
				}
			}
			for at, got := range y.Slice(tensor.Colon, tensor.R(run, run+1)).All() { // of one token
				at[1] = run
				var sum, block, most float32
				var narrow num.F16
				for k := range sumInner {
					a, b := x.At(0, at[1], k), w.At(k, at[2])
					if k%256 == 0 {
						sum, block = sum+block, 0
					}
					block = float.FMA32(a.Float32(), b.Float32(), block)
					most = max(most, abs32(sum+block))
					narrow = num.FromFloat64[num.F16](narrow.Float64() + num.FromFloat64[num.F16](a.Float64()*b.Float64()).Float64())
				}
				want := num.FromFloat64[num.F16](float64(sum + block))
				if got.Bits() != want.Bits() {
					t.Fatalf("run %d, node %s: element %v is %v, the loop has %v", run, n.Name, at, got, want)
				}
				products++
				if f := math.Abs(got.Float64()); most > 65504 && f <= 65504 {
					passed++
					if v := narrow.Float64(); math.IsInf(v, 0) || math.IsNaN(v) {
						lost++
					}
				}
			}
		}
		if products != sumTop*sumWidth || passed < 10 || lost < passed*9/10 {
			t.Errorf("run %d: of %d products %d pass 65,504 on their way, and %d of them are lost in float16", run, products, passed, lost)
		}
	}
}

func abs32(x float32) float32 { return float32(math.Abs(float64(x))) }

func lastOf(list []string) string { return list[len(list)-1] }

// The nodes of the model round otherwise where groups of them are rounded once: in five of six elements.
func TestStepsModel(t *testing.T) {
	p := proofOf(t, "float16-steps")
	plain, c := p.certified(t)
	joined, err := stepsModel(true)
	if err != nil {
		t.Fatal(err)
	}
	differ, all := 0, 0
	for run := range proofRuns {
		in := p.inputsOf(t, c, run)
		a, b := halves(t, nodesOf(t, plain, in)["hidden"]), halves(t, nodesOf(t, joined, in)["hidden"])
		for i, v := range a.Elems() {
			if v.Bits() != b.Elems()[i].Bits() {
				differ++
			}
			if far := math.Abs(v.Float64() - b.Elems()[i].Float64()); !(far < 0.01) {
				t.Fatalf("run %d: element %d is %v beside %v: not the same model", run, i, v, b.Elems()[i])
			}
			all++
		}
	}
	if part := float64(differ) / float64(all); part < 0.8 || part > 0.87 {
		t.Errorf("%d of %d elements differ; docs/arm.md says five of six", differ, all)
	}
	t.Logf("%d of %d elements differ", differ, all)
}

// The proofs without packages hold at every level of this processor. The level is chosen when a program begins, so the test runs itself.
func TestProofs(t *testing.T) {
	const only = "ASHLAR_PROOFS_RUN"
	if os.Getenv(only) != "" {
		for _, suite := range []string{"proofs/made", "proofs/attention"} {
			var out, errs bytes.Buffer
			if status := run([]string{suite}, &out, &errs); status != 0 || strings.Count(out.String(), " equal\n") == 0 {
				t.Errorf("%s: status %d\n%s%s", suite, status, out.String(), errs.String())
			}
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for level := cpu.Generic; level <= cpu.Detect(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(exe, "-test.run=^TestProofs$")
			cmd.Env = append(os.Environ(), only+"=1", "ASHLAR_CPU="+level.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// No pass of a session changes a digest.
func TestProofsOfPasses(t *testing.T) {
	for _, passes := range []string{"none", "-last,-join", "check"} {
		t.Setenv("ASHLAR_PASSES", passes)
		for i := range proofs {
			p := &proofs[i]
			if p.build == nil {
				continue
			}
			if got, err := p.here(&report{}); err != nil || got != p.digest {
				t.Errorf("ASHLAR_PASSES=%s: %s is %s: %v", passes, p.name, got, err)
			}
		}
	}
}

// A stated digest that is wrong is a failure, and so are a word that no row has and a row of some proofs alone.
func TestWrongProofs(t *testing.T) {
	p := proofOf(t, "float16-sums")
	defer func(was string) { p.digest = was }(p.digest)
	right := p.digest
	p.digest = strings.Repeat("0", 64)
	var out, errs bytes.Buffer
	if status := run([]string{"-v", "proofs/made"}, &out, &errs); status != 1 || !strings.Contains(out.String(), right+" differs from 0000") || last(out.String()) != "1 passed, 1 failed, 0 unsupported, 0 skipped" {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
	p.digest = right[:63] + string('0'+'1'-right[63]%2) // another last digit
	if status := run([]string{"proofs/made"}, &out, &errs); status != 1 {
		t.Errorf("another last digit: status %d", status)
	}
	if status, _, errs := conform(t, "", "-row", "x: emulation", "proofs/made"); status != 2 || !strings.Contains(errs, "proofs alone") {
		t.Errorf("-row of some proofs: status %d, %s", status, errs)
	}
	for _, text := range []string{"", "Pi", "Pi: guess", ": emulation", "a|b: emulation"} {
		if err := writeRow("nowhere", text, nil); err == nil || !strings.Contains(err.Error(), "want MACHINE: real hardware") {
			t.Errorf("-row %q: %v", text, err)
		}
	}
}

// A model with one other weight has another digest.
func TestProofOfAnotherWeight(t *testing.T) {
	p := proofOf(t, "float16-steps")
	m, c := p.certified(t)
	m.Graph.Initializers[3].Raw[0] ^= 1
	other, err := p.certify(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	a, err1 := c.Encode()
	b, err2 := other.Encode()
	if err1 != nil || err2 != nil || bytes.Equal(a, b) {
		t.Errorf("the certificates are equal: %v, %v", err1, err2)
	}
}

// The random nodes have each part often, and large ones.
func TestAttentions(t *testing.T) {
	lines := make(map[string]bool)
	sum, err := attentions(context.Background(), func(line string) { lines[line] = true })
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{sum.windows, sum.masks, sum.softcaps, sum.pasts, sum.lengths, sum.causal, sum.flat, sum.rows} {
		if n < attentionCases/4 {
			t.Errorf("too few: %v", sum)
		}
	}
	if len(lines) != attentionCases {
		t.Errorf("%d lines", len(lines))
	}
	t.Log(sum)
}

// docs/arm.md has the tables that the command writes, of today's digests and rules. All machines have these digests.
func TestARMPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../docs/arm.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := machineRows(page)
	made, err := withRows(page, rows)
	if err != nil || !bytes.Equal(made, page) {
		t.Errorf("docs/arm.md isn't as the command writes it: go run ./conformance -row \"MACHINE: real hardware\" proofs (%v)", err)
	}
	levels := make(map[string]bool)
	for _, row := range rows {
		levels[row[2]] = true
		if !slices.Equal(row[3:], statedRow()[3:]) {
			t.Errorf("docs/arm.md: %v has other digests than %v", row, statedRow())
		}
	}
	for _, want := range []string{"linux/amd64, generic", "linux/amd64, avx2", "linux/amd64, avx512", "linux/arm64, neon", "linux/arm64, dot", "linux/arm64, i8mm"} {
		if !levels[want] {
			t.Errorf("docs/arm.md has no row of %s", want)
		}
	}
	if want := fmt.Sprintf("Version %d of the rules", receipt.Rules); !strings.Contains(string(page), want) {
		t.Errorf("docs/arm.md doesn't say %q", want)
	}
}

// A row takes the place of the same machine's and level's. Rows beside other stated digests are dropped.
func TestRows(t *testing.T) {
	page := filepath.Join(t.TempDir(), "arm.md")
	write(t, page, "# Page\n\n<!-- table proofs -->\n<!-- end -->\nmore\n")
	digests := func(c string) (list []string) {
		for range proofs {
			list = append(list, strings.Repeat(c, 64))
		}
		return list
	}
	for _, row := range [][2]string{{"Pi: real hardware", "a"}, {"Xeon: emulation", "b"}, {"Pi: real hardware", "c"}} {
		if err := writeRow(page, row[0], digests(row[1])); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	rows := machineRows(text)
	if err != nil || len(rows) != 2 || rows[0][0] != "Xeon" || rows[1][0] != "Pi" || rows[1][1] != "real hardware" || rows[1][3] != "`cccccccc`" || !strings.HasSuffix(string(text), "<!-- end -->\nmore\n") {
		t.Errorf("%v, %v\n%s", rows, err, text)
	}
	old := proofs[0].digest
	defer func() { proofs[0].digest = old }()
	proofs[0].digest = strings.Repeat("0", 64)
	if rows := machineRows(text); rows != nil {
		t.Errorf("rows beside other stated digests stay: %v", rows)
	}
	write(t, page, "no block")
	if err := writeRow(page, "Pi: emulation", digests("a")); err == nil || !strings.Contains(err.Error(), "no block") {
		t.Error(err)
	}
}
