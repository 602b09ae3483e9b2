package vectors_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/text"
	"github.com/ashlar-go/ashlar/text/vectors"
)

var modules = flag.String("modules", "", "a folder where npm installed onnxruntime-node")

// TestReference compares encoders of each family with ONNX Runtime, which runs all texts in one batch, padded and masked. So it also
// shows that texts without padding have the vectors that they have in a padded batch, up to rounding.
func TestReference(t *testing.T) {
	if _, err := os.Stat(filepath.Join(*modules, "node_modules", "onnxruntime-node")); *modules == "" || err != nil {
		t.Skip("there is no ONNX Runtime: npm install onnxruntime-node@1.30.0, and go test ./text/vectors -args -modules FOLDER")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node: ", err)
	}
	type question struct {
		File   string               `json:"file"`
		Output string               `json:"output"`
		Inputs map[string][][]int64 `json:"inputs"`
	}
	type made struct {
		k      encoders.Kind
		m      *vectors.Model
		counts []int
	}
	var all []made
	var questions bytes.Buffer
	e := json.NewEncoder(&questions)
	const modules3 = `[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]`
	for _, k := range []encoders.Kind{{Family: "bert"}, {Family: "bert", Layers: 6, Hidden: 64}, {Family: "roberta"}, {Family: "modernbert", Layers: 4}, {Family: "bert", Labels: []string{"a", "b", "c"}}} {
		dir := t.TempDir()
		if err := encoders.Write(dir, k); err != nil {
			t.Fatal(err)
		}
		output := "last_hidden_state"
		if k.Labels != nil {
			output = "logits"
		} else if err := os.WriteFile(filepath.Join(dir, "modules.json"), []byte(modules3), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := vectors.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		q := question{filepath.Join(dir, "onnx/model.onnx"), output, map[string][][]int64{}}
		one := made{k: k, m: m}
		pad := text.Padding{Longest: true, Length: 64, ID: 0}
		if k.Family != "bert" {
			pad.ID = 1
		}
		for _, s := range texts {
			e, err := m.Tokenizer().Encode(s, text.Options{Padding: &pad})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, a := range e.Attention {
				n += int(a)
			}
			one.counts = append(one.counts, n)
			for name, row := range map[string][]int64{"input_ids": e.IDs, "attention_mask": e.Attention, "token_type_ids": e.Types} {
				if name != "token_type_ids" || k.Family == "bert" {
					q.Inputs[name] = append(q.Inputs[name], row)
				}
			}
		}
		all = append(all, one)
		if err := e.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "testdata/reference.cjs", *modules)
	cmd.Stdin, cmd.Stderr = &questions, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for _, one := range all {
		var a struct {
			Shape []int
			Data  []float64
		}
		if !lines.Scan() {
			t.Fatal("an answer is missing")
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		want := make([][]float64, len(texts))
		var got [][]float32
		if one.k.Labels == nil {
			if got, err = one.m.Embed(t.Context(), texts); err != nil {
				t.Fatal(err)
			}
			for i, n := range one.counts { // the mean
				width := a.Shape[2]
				want[i] = make([]float64, width)
				for p := range n {
					for c := range width {
						want[i][c] += a.Data[(i*a.Shape[1]+p)*width+c] / float64(n)
					}
				}
			}
		} else {
			classes, err := one.m.Classify(t.Context(), texts, vectors.Options{Raw: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, list := range classes {
				want[i] = a.Data[i*a.Shape[1] : (i+1)*a.Shape[1]]
				v := make([]float32, len(list))
				for _, l := range list {
					v[l.Name[0]-'a'] = l.Score
				}
				got = append(got, v)
			}
		}
		most := 0.0
		for i := range texts {
			for c, x := range got[i] {
				most = max(most, math.Abs(float64(x)-want[i][c]))
			}
		}
		t.Logf("%s, %d layers, %d texts: largest difference %.2g", one.k.Family, max(one.k.Layers, 2), len(texts), most)
		if !(most < 2e-5) {
			t.Errorf("%s: the largest difference from ONNX Runtime is %v", one.k.Family, most)
		}
	}
}
