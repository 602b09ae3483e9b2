package vectors_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/safetensors"
	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text/vectors"
)

// small is a model with these inputs and outputs, that computes nothing to speak of.
func small(t *testing.T, inputs map[string][]any, output string, dims ...any) string {
	t.Helper()
	b := onnx.NewBuilder("small")
	x := ""
	for name, dims := range inputs {
		v := b.Input(name, dtype.Int64, dims...)
		if x == "" || name == "input_ids" {
			x = v
		}
	}
	b.Output(b.Rename(b.Node("Cast", []string{x}, onnx.IntAttr("to", 1)), output), dtype.Float32, dims...)
	m, err := b.Model(17)
	if err != nil {
		t.Fatal(err)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// Errors of Open name the file and the part.
func TestOpenErrors(t *testing.T) {
	k := encoders.Kind{Family: "bert"}
	any2, out := []any{"b", "s"}, "last_hidden_state"
	ids := map[string][]any{"input_ids": any2}
	for _, c := range []struct {
		changed map[string]any
		s       vectors.Settings
		want    string
	}{
		{map[string]any{"tokenizer.json": nil}, vectors.Settings{}, "tokenizer.json: it isn't there"},
		{map[string]any{"tokenizer.json": "{}"}, vectors.Settings{}, "tokenizer.json: text: "},
		{map[string]any{"onnx/model.onnx": nil}, vectors.Settings{}, "neither onnx/model.onnx nor model.onnx"},
		{nil, vectors.Settings{File: "../model.onnx"}, "leaves the folder"},
		{nil, vectors.Settings{File: "onnx/other.onnx"}, "onnx/other.onnx"},
		{map[string]any{"onnx/model.onnx": "no model"}, vectors.Settings{}, "onnx/model.onnx"},
		{map[string]any{"config.json": "{"}, vectors.Settings{}, "config.json: "},
		{map[string]any{"config.json": `{"max_position_embeddings": "many"}`}, vectors.Settings{}, "config.json: max_position_embeddings is a string, at byte"},
		{map[string]any{"config.json": `{"id2label": {"1": "x"}}`}, vectors.Settings{}, `config.json: id2label: "1" is none of the 1 numbers`},
		{map[string]any{"modules.json": `{}`}, vectors.Settings{}, "modules.json: "},
		{map[string]any{"modules.json": `[{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.WordWeights"}]`}, vectors.Settings{},
			`modules.json: module 1 is "sentence_transformers.models.WordWeights"`},
		{map[string]any{"modules.json": `[{"type": "a.Transformer"}, {"type": "a.Pooling", "path": "../x"}]`}, vectors.Settings{}, "leaves the folder"},
		{map[string]any{"modules.json": `[{"type": "a.Pooling", "path": "x"}]`}, vectors.Settings{}, "module 0 is"},
		{map[string]any{"1_Pooling/config.json": nil}, vectors.Settings{}, "1_Pooling/config.json: it isn't there"},
		{map[string]any{"1_Pooling/config.json": `{"pooling_mode": "median"}`}, vectors.Settings{}, `1_Pooling/config.json: pooling_mode: there is no pooling "median"`},
		{map[string]any{"1_Pooling/config.json": `{"pooling_mode": []}`}, vectors.Settings{}, "it has 0 words"},
		{map[string]any{"1_Pooling/config.json": `{"pooling_mode": 3}`}, vectors.Settings{}, "neither a word nor a list of words"},
		{map[string]any{"sentence_bert_config.json": `{"max_seq_length": -1}`}, vectors.Settings{}, "sentence_bert_config.json: max_seq_length is -1"},
		{map[string]any{"config_sentence_transformers.json": `{"default_prompt_name": "x"}`}, vectors.Settings{}, `default_prompt_name: prompts has no "x"`},
		{nil, vectors.Settings{Pooling: "mean"}, "Settings.Pooling: modules.json says the pooling"},
		{map[string]any{"modules.json": nil}, vectors.Settings{}, "there is no modules.json with a Pooling"},
		{map[string]any{"modules.json": nil}, vectors.Settings{Pooling: "middle"}, `Settings.Pooling: there is no pooling "middle"`},
		{map[string]any{"onnx/model.onnx": small(t, map[string][]any{"input_ids": any2, "pixels": any2}, out, "b", "s")}, vectors.Settings{}, `input "pixels": an encoder of texts takes`},
		{map[string]any{"onnx/model.onnx": small(t, map[string][]any{"attention_mask": any2}, out, "b", "s")}, vectors.Settings{}, "no input input_ids"},
		{map[string]any{"onnx/model.onnx": small(t, map[string][]any{"input_ids": {"b", "s", 3}}, out, "b", "s", 3)}, vectors.Settings{}, "want two axes"},
		{map[string]any{"onnx/model.onnx": small(t, map[string][]any{"input_ids": {4, "s"}}, out, 4, "s")}, vectors.Settings{}, "its first axis is 4"},
		{map[string]any{"onnx/model.onnx": small(t, ids, "scores", "b", "s")}, vectors.Settings{}, "it gives scores; want last_hidden_state"},
	} {
		m, err := vectors.OpenFS(folder(t, k, c.changed), c.s)
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.200v: %v\nwant %s", c.changed, err, c.want)
		}
	}
	if _, err := vectors.Open(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "none: tokenizer.json") {
		t.Error(err)
	}
	m := open(t, k, map[string]any{"onnx/model.onnx": small(t, ids, out, "b", "s")})
	if _, err := m.Embed(t.Context(), texts); err == nil || !strings.Contains(err.Error(), `onnx/model.onnx: output "last_hidden_state" has the shape`) {
		t.Error(err)
	}
}

// A folder on the disk gives the vectors of the same files in memory, and its ONNX file may have another name.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	k := encoders.Kind{Family: "modernbert"}
	if err := encoders.Write(dir, k); err != nil {
		t.Fatal(err)
	}
	want, err := open(t, k, nil).Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"onnx/model.onnx", "model.onnx", "small.onnx"} {
		if name != "onnx/model.onnx" {
			if err := os.Rename(filepath.Join(dir, "onnx/model.onnx"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			defer os.Rename(filepath.Join(dir, name), filepath.Join(dir, "onnx/model.onnx"))
		}
		s := vectors.Settings{}
		if name == "small.onnx" {
			s.File = name
		}
		m, err := vectors.Open(dir, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: %q has another vector", name, texts[i])
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if name == "model.onnx" {
			os.Rename(filepath.Join(dir, name), filepath.Join(dir, "onnx/model.onnx"))
		}
	}
}

// A Dense module is a product with its matrix.
func TestDense(t *testing.T) {
	k := encoders.Kind{Family: "bert", Hidden: 16}
	w, bias := tensor.RandomNormal[float32](5, 0, 1, 4, 16), tensor.RandomNormal[float32](6, 0, 1, 4)
	var file bytes.Buffer
	if err := safetensors.Write(&file, []string{"linear.weight", "linear.bias"}, []tensor.Any{w.Any(), bias.Any()}, nil); err != nil {
		t.Fatal(err)
	}
	const modules = `[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}, {"path": "2_Dense", "type": "a.Dense"}]`
	plain, err := open(t, k, map[string]any{"modules.json": modules[:strings.LastIndex(modules, ", {")] + "]"}).Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(function string) map[string]any {
		return map[string]any{"modules.json": modules, "2_Dense/model.safetensors": file.String(),
			"2_Dense/config.json": `{"in_features": 16, "out_features": 4, "bias": true, "activation_function": "torch.nn.modules.` + function + `"}`}
	}
	// Vectors without a Normalize at their end are cut as they are.
	files := changed("linear.Identity")
	files["config.json"] = `{"is_matryoshka": true}`
	m := open(t, k, files)
	whole, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	cut, err := m.Embed(t.Context(), texts, vectors.Options{Dimensions: 2})
	if err != nil || !slices.Equal(cut[0], whole[0][:2]) {
		t.Errorf("%v of %v: %v", cut, whole, err)
	}
	for function, f := range map[string]func(float64) float64{"linear.Identity": func(x float64) float64 { return x }, "activation.Tanh": math.Tanh} {
		got, err := open(t, k, changed(function)).Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			for r, x := range got[i] {
				sum := float64(bias.At(r))
				for c, v := range plain[i] {
					sum += float64(w.At(r, c)) * float64(v)
				}
				if math.Abs(float64(x)-f(sum)) > 1e-5 {
					t.Fatalf("%s: %v, want %v", function, x, f(sum))
				}
			}
		}
	}
	for want, change := range map[string]func(fstest.MapFS){
		"activation_function is":                  func(f fstest.MapFS) { f["2_Dense/config.json"].Data = []byte(`{"activation_function": "torch.GELU"}`) },
		"2_Dense/config.json: it isn't there":     func(f fstest.MapFS) { delete(f, "2_Dense/config.json") },
		"2_Dense/model.safetensors: it isn't the": func(f fstest.MapFS) { delete(f, "2_Dense/model.safetensors") },
		"linear.weight has the shape [4 16], the ": func(f fstest.MapFS) {
			f["2_Dense/config.json"].Data = bytes.Replace(f["2_Dense/config.json"].Data, []byte("16"), []byte("17"), 1)
		},
	} {
		fsys := folder(t, k, changed("linear.Identity"))
		change(fsys)
		if _, err := vectors.OpenFS(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzOpen wants an error or a model, whatever the settings of a folder are.
func FuzzOpen(f *testing.F) {
	files, err := encoders.Files(encoders.Kind{Family: "bert", Hidden: 8, Layers: 1, Length: 8})
	if err != nil {
		f.Fatal(err)
	}
	names := []string{"config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer_config.json"}
	for i, name := range names {
		f.Add(uint8(i), files[name])
	}
	f.Add(uint8(2), []byte(`{"pooling_mode": ["cls", "max"], "include_prompt": false}`))
	f.Add(uint8(4), []byte(`{"prompts": {"a": "red "}, "default_prompt_name": "a"}`))
	f.Add(uint8(0), []byte(`{"matryoshka_dimensions": [4], "id2label": {"0": "x"}}`))
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		fsys := fstest.MapFS{}
		for name, data := range files {
			fsys[name] = &fstest.MapFile{Data: data}
		}
		fsys[names[int(which)%len(names)]] = &fstest.MapFile{Data: b}
		m, err := vectors.OpenFS(fsys)
		if err != nil {
			return
		}
		defer m.Close()
		rows, err := m.Embed(t.Context(), []string{"red house", "blue bird"})
		if err == nil && (len(rows) != 2 || len(rows[0]) == 0) {
			t.Errorf("%d vectors", len(rows))
		}
	})
}
