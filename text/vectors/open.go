package vectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
)

// Settings say how a folder is read. The zero value does as the folder says.
type Settings struct {
	File      string // the ONNX file, from the folder; empty is onnx/model.onnx, or model.onnx
	Pooling   string // as in 1_Pooling/config.json, for a folder without modules.json: cls, max, mean and so on
	Normalize bool   // divide vectors by their length, for a folder without modules.json
}

// A Model is a folder that was opened. Its methods may be called from several goroutines at once.
type Model struct {
	tokens  *text.Tokenizer
	whole   *onnx.Model
	part    *onnx.Model // computes one output
	session func() (*onnx.Session, error)

	inputs []onnx.ValueInfo
	output string
	file   string // the ONNX file
	kind   kind
	fixed  int // tokens of the input, 0 for any number

	length   int // tokens of a text, 0 for any number
	cut      bool
	left     bool
	strategy string
	pad      [2]int64 // its id and its type
	padLeft  bool
	lower    bool
	prefix   bool // tokens that continue a word are marked
	unknown  int64
	pooling  *pooling
	steps    []step
	unit     bool // the last step divides by the length
	prompts  map[string]string
	prompt   string // the name of the default one
	config   config
	labels   []string
	tried    sync.Mutex
	together atomic.Int32 // 0 not tried, 1 rows don't depend on each other, 2 they do
}

// A kind says which numbers the output of a model holds.
type kind int

const (
	ofTokens kind = iota
	ofTexts
	logitsOfTokens
	logitsOfTexts
)

func (k kind) String() string {
	return [...]string{"embeddings of tokens", "embeddings of texts", "logits of tokens", "logits of texts"}[k]
}

// Open reads a folder. It maps the ONNX file, which must keep its contents until Close. Errors name the file and the part.
func Open(folder string, settings ...Settings) (*Model, error) {
	m, err := open(os.DirFS(folder), settings, func(name string) (*onnx.Model, error) {
		return onnx.Open(filepath.Join(folder, filepath.FromSlash(name)))
	})
	if err != nil {
		return nil, fmt.Errorf("vectors: %s: %w", folder, err)
	}
	return m, nil
}

// OpenFS is Open for a folder in a file system, as embed.FS. It reads the ONNX file into memory.
func OpenFS(fsys fs.FS, settings ...Settings) (*Model, error) {
	m, err := open(fsys, settings, func(name string) (*onnx.Model, error) { return onnx.OpenFS(fsys, name) })
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	return m, nil
}

// Close gives the ONNX file back. Calls that follow fail.
func (m *Model) Close() error { return errors.Join(m.part.Close(), m.whole.Close()) }

// ONNX returns the model that Options.Run runs: the folder's, with the one output that is read.
func (m *Model) ONNX() *onnx.Model { return m.part }

// Tokenizer returns the folder's tokenizer.
func (m *Model) Tokenizer() *text.Tokenizer { return m.tokens }

// Embeds reports whether the model is for Embed.
func (m *Model) Embeds() bool { return m.kind == ofTokens || m.kind == ofTexts }

// Scores reports whether the model is for Classify and Rerank.
func (m *Model) Scores() bool { return m.kind == logitsOfTexts }

// Length returns the number of tokens that a text may have, special ones included; 0 is any number.
func (m *Model) Length() int { return m.length }

func open(fsys fs.FS, settings []Settings, load func(string) (*onnx.Model, error)) (_ *Model, err error) {
	var s Settings
	switch len(settings) {
	case 0:
	case 1:
		s = settings[0]
	default:
		return nil, fmt.Errorf("%d Settings are given, one is taken", len(settings))
	}
	m := &Model{pad: [2]int64{0, 0}, unknown: -1}
	if err := m.tokenizer(fsys); err != nil {
		return nil, err
	}
	if _, err := read(fsys, "config.json", &m.config); err != nil {
		return nil, err
	}
	if m.labels, err = m.config.labels(); err != nil {
		return nil, err
	}
	if err := m.modules(fsys); err != nil {
		return nil, err
	}
	if err := m.given(s); err != nil {
		return nil, err
	}
	if err := m.lengths(fsys); err != nil {
		return nil, err
	}
	var c struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if _, err := read(fsys, "config_sentence_transformers.json", &c); err != nil {
		return nil, err
	}
	m.prompts, m.prompt = c.Prompts, c.Default
	if _, ok := m.prompts[m.prompt]; m.prompt != "" && !ok {
		return nil, fmt.Errorf("config_sentence_transformers.json: default_prompt_name: prompts has no %.100q", m.prompt)
	}
	return m, m.graph(fsys, s.File, load)
}

// modules reads modules.json: the pooling, and the steps behind it.
func (m *Model) modules(fsys fs.FS) error {
	var list []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	ok, err := read(fsys, "modules.json", &list)
	if err != nil || !ok {
		return err
	}
	for i, module := range list {
		words := strings.Split(module.Type, ".")
		kind := words[len(words)-1]
		folder := module.Path
		if !fs.ValidPath(path.Join(folder, "x")) {
			return fmt.Errorf("modules.json: module %d: the path %.100q leaves the folder", i, folder)
		}
		switch {
		case kind == "Transformer" && i == 0:
		case kind == "Pooling" && m.pooling == nil && len(m.steps) == 0 && i > 0:
			if m.pooling, err = readPooling(fsys, path.Join(folder, "config.json")); err != nil {
				return err
			}
		case kind == "Normalize" && i > 0:
			m.steps, m.unit = append(m.steps, normalize), true
		case kind == "Dense" && m.pooling != nil:
			step, err := readDense(fsys, folder)
			if err != nil {
				return err
			}
			m.steps, m.unit = append(m.steps, step), false
		default:
			return fmt.Errorf("modules.json: module %d is %.100q, which isn't known there: a Transformer is followed by a Pooling, and by Dense and Normalize", i, module.Type)
		}
	}
	return nil
}

// given applies the settings of the program.
func (m *Model) given(s Settings) error {
	if s.Pooling != "" {
		if m.pooling != nil {
			return errors.New("Settings.Pooling: modules.json says the pooling")
		}
		if err := known([]string{s.Pooling}); err != nil {
			return fmt.Errorf("Settings.Pooling: %w", err)
		}
		m.pooling = &pooling{modes: []string{s.Pooling}}
	}
	if s.Normalize && len(m.steps) == 0 {
		m.steps, m.unit = append(m.steps, normalize), true
	}
	return nil
}

// tokenizer reads tokenizer.json.
func (m *Model) tokenizer(fsys fs.FS) error {
	const name = "tokenizer.json"
	b, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: it isn't there; a folder with a vocabulary alone is converted by the model's own library", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	if m.tokens, err = text.Parse(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var parts tokenizerParts
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t := parts.Truncation; t != nil {
		m.cut, m.left = true, t.Direction == "Left"
		m.strategy = map[string]string{"OnlyFirst": "OnlyFirst", "OnlySecond": "OnlySecond"}[t.Strategy]
	}
	if p := parts.Padding; p != nil {
		m.pad, m.padLeft = [2]int64{p.ID, p.Type}, p.Left == "Left"
	} else {
		for _, token := range []string{"[PAD]", "<pad>"} {
			if id, ok := m.tokens.TokenID(token); ok {
				m.pad[0] = id
				break
			}
		}
	}
	// A prefix that the file leaves out is that of WordPiece, and none of BPE.
	m.prefix = parts.Model.Prefix != nil && *parts.Model.Prefix != "" || parts.Model.Prefix == nil && parts.Model.Type == "WordPiece"
	var unknown string
	if parts.Model.Words != nil {
		json.Unmarshal(parts.Model.Words, &unknown)
	} else if parts.Model.Type == "WordPiece" {
		unknown = "[UNK]"
	}
	if id, ok := m.tokens.TokenID(unknown); ok && unknown != "" {
		m.unknown = id
	}
	if parts.Model.Number != nil {
		m.unknown = *parts.Model.Number
	}
	return nil
}

// lengths finds the number of tokens that a text may have.
func (m *Model) lengths(fsys fs.FS) error {
	var s struct {
		Length int  `json:"max_seq_length"`
		Lower  bool `json:"do_lower_case"`
	}
	if _, err := read(fsys, "sentence_bert_config.json", &s); err != nil {
		return err
	}
	if s.Length < 0 {
		return fmt.Errorf("sentence_bert_config.json: max_seq_length is %d", s.Length)
	}
	m.lower, m.length = s.Lower, s.Length
	if m.length > 0 {
		return nil
	}
	var t struct {
		Length float64 `json:"model_max_length"` // 1e30 where there is none
	}
	if _, err := read(fsys, "tokenizer_config.json", &t); err != nil {
		return err
	}
	m.length = m.config.positions()
	if n := t.Length; n >= 1 && n < 1<<30 && (m.length == 0 || int(n) < m.length) {
		m.length = int(n)
	}
	return nil
}

// files are the places of the ONNX file.
var files = []string{"onnx/model.onnx", "model.onnx"}

// graph opens the ONNX file, and checks its inputs and outputs.
func (m *Model) graph(fsys fs.FS, file string, load func(string) (*onnx.Model, error)) (err error) {
	if file == "" {
		for _, name := range files {
			if _, err := fs.Stat(fsys, name); err == nil {
				file = name
				break
			}
		}
	}
	if file == "" {
		return fmt.Errorf("there is neither %s; Settings.File names another", strings.Join(files, " nor "))
	}
	if !fs.ValidPath(file) {
		return fmt.Errorf("Settings.File: the path %.100q leaves the folder", file)
	}
	m.file = file
	if m.whole, err = load(file); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			m.part.Close() // a part that isn't there has nothing to close
			m.whole.Close()
		}
	}()
	m.inputs = m.whole.Inputs()
	for _, v := range m.inputs {
		if err := m.input(&v); err != nil {
			return fmt.Errorf("%s: input %.100q: %w", file, v.Name, err)
		}
	}
	if !slices.ContainsFunc(m.inputs, func(v onnx.ValueInfo) bool { return v.Name == "input_ids" }) {
		return fmt.Errorf("%s: it has no input input_ids", file)
	}
	if m.fixed > 0 && (m.length == 0 || m.fixed < m.length) {
		m.length = m.fixed
	}
	if err := m.choose(file); err != nil {
		return err
	}
	if m.part, err = onnx.Extract(m.whole, nil, []string{m.output}); err != nil {
		return err
	}
	if err := m.part.Check(); err != nil {
		return err
	}
	m.inputs = m.part.Inputs()
	m.session = sync.OnceValues(func() (*onnx.Session, error) { return onnx.NewSession(m.part) })
	return nil
}

// input checks an input, and notes a number of tokens that it fixes.
func (m *Model) input(v *onnx.ValueInfo) error {
	if !slices.Contains([]string{"input_ids", "attention_mask", "token_type_ids", "position_ids"}, v.Name) {
		return errors.New("an encoder of texts takes input_ids, attention_mask, token_type_ids and position_ids alone")
	}
	if v.Type.Kind != onnx.KindTensor || v.Type.Elem != onnx.ElemInt64 && v.Type.Elem != onnx.ElemInt32 {
		return fmt.Errorf("it is %v, want int64 or int32 with two axes", v.Type)
	}
	if !v.Type.HasShape {
		return nil
	}
	if len(v.Type.Shape) != 2 {
		return fmt.Errorf("it is %v, want two axes", v.Type)
	}
	if n := v.Type.Shape[0].Value; n >= 0 && n != 1 {
		return fmt.Errorf("its first axis is %d; want 1, or a size that isn't fixed", n)
	} else if n == 1 {
		m.together.Store(2)
	}
	if n := v.Type.Shape[1].Value; n >= 0 {
		if n < 1 || n > 1<<20 || m.fixed > 0 && m.fixed != int(n) {
			return fmt.Errorf("it has %d tokens, another input %d", n, m.fixed)
		}
		m.fixed = int(n)
	}
	return nil
}

// choose finds the output to read.
func (m *Model) choose(file string) error {
	var names []string
	outputs := map[string]*onnx.ValueInfo{}
	for i := range m.whole.Graph.Outputs {
		v := &m.whole.Graph.Outputs[i]
		names = append(names, v.Name)
		outputs[v.Name] = v
	}
	ranked := func(v *onnx.ValueInfo, rank int) bool { return v.Type.HasShape && len(v.Type.Shape) == rank }
	pick := func(kind kind, list ...string) bool {
		for _, name := range list {
			if outputs[name] != nil {
				m.output, m.kind = name, kind
				return true
			}
		}
		return false
	}
	switch {
	case m.pooling != nil && pick(ofTokens, "token_embeddings", "last_hidden_state"):
	case m.pooling == nil && pick(ofTexts, "sentence_embedding", "embeddings"):
	case m.pooling == nil && outputs["logits"] != nil:
		m.output, m.kind = "logits", logitsOfTexts
		if v := outputs["logits"]; ranked(v, 3) {
			m.kind = logitsOfTokens
		} else if !v.Type.HasShape {
			return fmt.Errorf("%s: output %q has no shape: with two axes it would be of texts, with three of tokens", file, v.Name)
		}
	case m.pooling != nil && len(names) == 1 && ranked(outputs[names[0]], 3):
		m.output, m.kind = names[0], ofTokens
	case m.pooling == nil && pick(ofTokens, "token_embeddings", "last_hidden_state"):
		return fmt.Errorf("%s: output %q is a vector for each token, and there is no modules.json with a Pooling: Settings.Pooling, or --pooling, says how they become one", file, m.output)
	default:
		return fmt.Errorf("%s: it gives %.1000s; want last_hidden_state, token_embeddings, sentence_embedding or logits", file, strings.Join(names, ", "))
	}
	return nil
}

// wrong is an error about a call that the model isn't for.
func (m *Model) wrong(call string, want kind) error {
	return errorf("%w: %s wants %v; the output %q of %s is %v", tensor.ErrValue, call, want, m.output, m.file, m.kind)
}

func errorf(format string, args ...any) error { return fmt.Errorf("vectors: "+format, args...) }
