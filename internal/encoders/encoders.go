// Package encoders makes small encoders of texts with made-up weights, for tests and examples: folders with an ONNX file, a
// tokenizer.json and the files of sentence-transformers. Their graphs have the shape of BERT, RoBERTa and ModernBERT as
// exporters write them, so that the same operators and masks run as in a trained model.
package encoders

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// Families are the shapes of encoders.
var Families = []string{"bert", "roberta", "modernbert"}

// A Kind says which encoder Folder makes.
type Kind struct {
	Family  string // one of Families
	Labels  []string
	Tokens  bool // labels of each token, not of the text
	Hidden  int  // numbers of a token; 0 is 32
	Layers  int  // 0 is 2
	Length  int  // tokens that it has positions for; 0 is 64
	Batch   int  // rows of the input; 0 is any number
	Fixed   bool // the input has Length tokens, not any number
	Dynamic bool // one product of bytes, quantized by the range of the whole batch
	Pooling any  // the pooling of sentence-transformers; nil is "mean"
	Config  map[string]any
	Table   map[string]int // words and the labels of their tokens: in place of a family, a model that knows words alone
}

func (k *Kind) fill() {
	set := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	set(&k.Hidden, 32)
	set(&k.Layers, 2)
	set(&k.Length, 64)
	if k.Pooling == nil {
		k.Pooling = "mean"
	}
}

// Files returns the files of a folder by their paths.
func Files(k Kind) (map[string][]byte, error) {
	k.fill()
	vocab, tokenizer := wordPieces()
	if k.Family != "bert" && k.Table == nil {
		vocab, tokenizer = bytePairs()
	}
	var m *onnx.Model
	var err error
	if k.Table != nil {
		k.Family, k.Tokens = "bert", true
		m, err = table(k, vocab)
	} else {
		m, err = graph(k, vocab)
	}
	if err != nil {
		return nil, err
	}
	file, err := onnx.Encode(m)
	if err != nil {
		return nil, err
	}
	config := map[string]any{"model_type": k.Family, "hidden_size": k.Hidden, "max_position_embeddings": k.Length}
	if k.Family == "roberta" {
		config["max_position_embeddings"] = k.Length + 2
		config["pad_token_id"] = 1
	}
	if k.Labels != nil {
		labels := map[string]string{}
		for i, l := range k.Labels {
			labels[fmt.Sprint(i)] = l
		}
		config["id2label"] = labels
	}
	maps.Copy(config, k.Config)
	files := map[string][]byte{"onnx/model.onnx": file, "tokenizer.json": tokenizer}
	write := func(name string, v any) {
		var b []byte
		if b, err = json.MarshalIndent(v, "", "  "); err == nil {
			files[name] = append(b, '\n')
		}
	}
	write("config.json", config)
	if k.Labels == nil {
		write("modules.json", []map[string]any{
			{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
			{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			{"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
		})
		write("1_Pooling/config.json", map[string]any{"embedding_dimension": k.Hidden, "pooling_mode": k.Pooling, "include_prompt": true})
		write("sentence_bert_config.json", map[string]any{"max_seq_length": k.Length, "do_lower_case": false})
		write("config_sentence_transformers.json", map[string]any{"prompts": map[string]string{"query": "query: ", "document": ""}, "similarity_fn_name": "cosine"})
	}
	return files, err
}

// Write writes the files of a folder.
func Write(folder string, k Kind) error {
	files, err := Files(k)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A net puts an encoder together.
type net struct {
	*onnx.Builder
	k    Kind
	seed uint64
	n    int // names of weights
}

func (b *net) weight(sigma float32, shape ...int) string {
	b.seed++
	return b.named(tensor.RandomNormal(b.seed, 0, sigma, shape...).Any())
}

func (b *net) named(a tensor.Any) string {
	b.n++
	return b.Weight(fmt.Sprintf("w%d", b.n), a)
}

func constant[T num.Elem](b *net, v ...T) string {
	shape := []int{len(v)}
	if len(v) == 1 {
		shape = []int{}
	}
	return b.named(tensor.FromSlice(v, shape...).Any())
}

func (b *net) list(v ...int64) string { return b.named(tensor.FromSlice(v, len(v)).Any()) }

func (b *net) linear(x string, in, out int, bias bool) string {
	y := b.Node("MatMul", []string{x, b.weight(0.2, in, out)})
	if bias {
		y = b.Node("Add", []string{b.weight(0.02, out), y})
	}
	return y
}

func (b *net) norm(x string, bias bool) string {
	ones := tensor.New[float32](b.k.Hidden)
	ones.Fill(1)
	in := []string{x, b.named(ones.Any())}
	if bias {
		in = append(in, b.weight(0.02, b.k.Hidden))
	}
	return b.Node("LayerNormalization", in, onnx.IntAttr("axis", -1), onnx.FloatAttr("epsilon", 1e-12))
}

// gelu is the activation as exporters of opset 17 write it.
func (b *net) gelu(x string) string {
	y := b.Node("Div", []string{x, constant(b, float32(1.4142135))})
	y = b.Node("Add", []string{b.Node("Erf", []string{y}), constant(b, float32(1))})
	return b.Node("Mul", []string{b.Node("Mul", []string{x, y}), constant(b, float32(0.5))})
}

const heads = 4

// attention is self-attention over x; mask is added to the scores. Rotary makes the cosines and sines of positions.
func (b *net) attention(x, mask string, bias bool, rotary func(string) string) string {
	h, d := b.k.Hidden, b.k.Hidden/heads
	split := func(x string, perm ...int64) string {
		return b.Node("Transpose", []string{b.Node("Reshape", []string{x, b.list(0, 0, heads, int64(d))})}, onnx.IntsAttr("perm", perm...))
	}
	q, k := split(b.linear(x, h, h, bias), 0, 2, 1, 3), b.linear(x, h, h, bias)
	v := split(b.linear(x, h, h, bias), 0, 2, 1, 3)
	if rotary == nil {
		k = split(k, 0, 2, 3, 1)
	} else {
		q = rotary(q)
		k = b.Node("Transpose", []string{rotary(split(k, 0, 2, 1, 3))}, onnx.IntsAttr("perm", 0, 1, 3, 2))
	}
	s := b.Node("Div", []string{b.Node("MatMul", []string{q, k}), constant(b, float32(2.828427))})
	s = b.Node("Softmax", []string{b.Node("Add", []string{s, mask})}, onnx.IntAttr("axis", -1))
	c := b.Node("Transpose", []string{b.Node("MatMul", []string{s, v})}, onnx.IntsAttr("perm", 0, 2, 1, 3))
	return b.linear(b.Node("Reshape", []string{c, b.list(0, 0, int64(h))}), h, h, bias)
}

// padding is the mask of exporters: 0 for tokens, the lowest number for padding.
func (b *net) padding(mask string) string {
	m := b.Node("Cast", []string{b.Node("Unsqueeze", []string{mask, b.list(1, 2)})}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
	return b.Node("Mul", []string{b.Node("Sub", []string{constant(b, float32(1)), m}), constant(b, float32(-3.4028235e+38))})
}

// quantized multiplies by a matrix of bytes; the range of the bytes of x is that of all x.
func (b *net) quantized(x string) string {
	b.seed++
	w := tensor.RandomIntegers[int8](b.seed, -90, 90, b.k.Hidden, b.k.Hidden)
	q := b.Nodes("DynamicQuantizeLinear", 3, []string{x})
	y := b.Node("MatMulInteger", []string{q[0], b.named(w.Any()), q[2]})
	y = b.Node("Cast", []string{y}, onnx.IntAttr("to", int64(onnx.ElemFloat32)))
	return b.Node("Mul", []string{y, b.Node("Mul", []string{q[1], constant(b, float32(0.002))})})
}

func graph(k Kind, vocab int) (*onnx.Model, error) {
	b := &net{Builder: onnx.NewBuilder(k.Family), k: k, seed: 100}
	dims := []any{"batch_size", "sequence_length"}
	if k.Batch > 0 {
		dims[0] = k.Batch
	}
	if k.Fixed {
		dims[1] = k.Length
	}
	ids := b.Input("input_ids", dtype.Int64, dims...)
	mask := b.Input("attention_mask", dtype.Int64, dims...)
	x := b.Node("Gather", []string{b.weight(0.5, vocab, k.Hidden), ids})
	position := func(at string, rows int) {
		x = b.Node("Add", []string{x, b.Node("Gather", []string{b.weight(0.3, rows, k.Hidden), at})})
	}
	switch k.Family {
	case "bert":
		one := constant(b, int64(1))
		types := b.Input("token_type_ids", dtype.Int64, dims...)
		x = b.Node("Add", []string{x, b.Node("Gather", []string{b.weight(0.3, 2, k.Hidden), types})})
		n := b.Node("Gather", []string{b.Node("Shape", []string{ids}), constant(b, int64(1))})
		position(b.Node("Range", []string{constant(b, int64(0)), n, one}), k.Length)
		x = b.norm(x, true)
	case "roberta": // positions count the tokens that are no padding, from 2 on
		one := constant(b, int64(1))
		used := b.Node("Cast", []string{b.Node("Not", []string{b.Node("Equal", []string{ids, one})})}, onnx.IntAttr("to", int64(onnx.ElemInt64)))
		at := b.Node("Mul", []string{b.Node("CumSum", []string{used, one}), used})
		position(b.Node("Add", []string{at, one}), k.Length+2)
		x = b.norm(x, true)
	case "modernbert":
		x = b.norm(x, false)
	default:
		return nil, fmt.Errorf("encoders: there is no family %q", k.Family)
	}
	full := b.padding(mask)
	if k.Family == "modernbert" {
		b.modern(&x, ids, full)
	} else {
		for range k.Layers {
			x = b.norm(b.Node("Add", []string{b.attention(x, full, true, nil), x}), true)
			y := b.gelu(b.linear(x, k.Hidden, 2*k.Hidden, true))
			x = b.norm(b.Node("Add", []string{b.linear(y, 2*k.Hidden, k.Hidden, true), x}), true)
		}
	}
	if k.Dynamic {
		x = b.Node("Add", []string{x, b.quantized(x)})
	}
	switch {
	case k.Labels == nil:
		b.Output(b.Rename(x, "last_hidden_state"), dtype.Float32, dims[0], dims[1], k.Hidden)
	case k.Tokens:
		b.Output(b.Rename(b.linear(x, k.Hidden, len(k.Labels), true), "logits"), dtype.Float32, dims[0], dims[1], len(k.Labels))
	default:
		cls := b.Node("Tanh", []string{b.linear(b.Node("Gather", []string{x, constant(b, int64(0))}, onnx.IntAttr("axis", 1)), k.Hidden, k.Hidden, true)})
		b.Output(b.Rename(b.linear(cls, k.Hidden, len(k.Labels), true), "logits"), dtype.Float32, dims[0], len(k.Labels))
	}
	return b.Model(17)
}

// table is a model that looks the label of a token up.
func table(k Kind, vocab int) (*onnx.Model, error) {
	b := &net{Builder: onnx.NewBuilder("table"), k: k}
	logits := tensor.New[float32](vocab, len(k.Labels))
	known, _ := wordIDs()
	for id := range vocab {
		logits.Set(4, id, 0)
	}
	for word, label := range k.Table {
		id, ok := known[word]
		if !ok {
			return nil, fmt.Errorf("encoders: the vocabulary has no word %q", word)
		}
		logits.Set(0, id, 0)
		logits.Set(4, id, label)
	}
	x := b.Node("Gather", []string{b.named(logits.Any()), b.Input("input_ids", dtype.Int64, "batch_size", "sequence_length")})
	b.Output(b.Rename(x, "logits"), dtype.Float32, "batch_size", "sequence_length", len(k.Labels))
	return b.Model(17)
}

// modern adds ModernBERT's layers: norms first, rotary positions, gated units, and a window of tokens in all layers but the first of
// each three.
func (b *net) modern(x *string, ids, full string) {
	h, d := b.k.Hidden, b.k.Hidden/heads
	n := b.Node("Gather", []string{b.Node("Shape", []string{ids}), constant(b, int64(1))})
	at := b.Node("Range", []string{constant(b, int64(0)), n, constant(b, int64(1))})
	far := b.Node("Abs", []string{b.Node("Sub", []string{b.Node("Unsqueeze", []string{at, b.list(0)}), b.Node("Unsqueeze", []string{at, b.list(1)})})})
	near := b.Node("LessOrEqual", []string{far, constant(b, int64(4))})
	window := b.Node("Where", []string{near, full, constant(b, float32(-3.4028235e+38))})
	for layer := range b.k.Layers {
		base, mask := 10000.0, window
		if layer%3 == 0 {
			base, mask = 160000.0, full
		}
		inverse := make([]float32, d/2)
		f := 1.0
		for i := range inverse {
			inverse[i] = float32(f)
			f /= base / 1000 // made up, as the weights are
		}
		angle := b.Node("Mul", []string{b.Node("Unsqueeze", []string{b.Node("Cast", []string{at}, onnx.IntAttr("to", int64(onnx.ElemFloat32))), b.list(1)}),
			b.named(tensor.FromSlice(inverse, 1, d/2).Any())})
		angle = b.Node("Concat", []string{angle, angle}, onnx.IntAttr("axis", -1))
		cos, sin := b.Node("Cos", []string{angle}), b.Node("Sin", []string{angle})
		rotary := func(q string) string {
			half := b.Nodes("Split", 2, []string{q, b.list(int64(d/2), int64(d/2))}, onnx.IntAttr("axis", -1))
			turned := b.Node("Concat", []string{b.Node("Neg", []string{half[1]}), half[0]}, onnx.IntAttr("axis", -1))
			return b.Node("Add", []string{b.Node("Mul", []string{q, cos}), b.Node("Mul", []string{turned, sin})})
		}
		y := *x
		if layer > 0 {
			y = b.norm(y, false)
		}
		*x = b.Node("Add", []string{*x, b.attention(y, mask, false, rotary)})
		parts := b.Nodes("Split", 2, []string{b.linear(b.norm(*x, false), h, 4*h, false), b.list(int64(2*h), int64(2*h))}, onnx.IntAttr("axis", -1))
		*x = b.Node("Add", []string{*x, b.linear(b.Node("Mul", []string{b.gelu(parts[0]), parts[1]}), 2*h, h, false)})
	}
	*x = b.norm(*x, false)
}
