package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
)

// Options say how a call treats its texts. The zero value is the default.
type Options struct {
	Prompt         string // the name of a prompt in config_sentence_transformers.json; empty is the folder's default, if it has one
	Cut            bool   // cut texts with more tokens than the model takes, as tokenizer.json's truncation does
	ReplaceInvalid bool   // put U+FFFD for each byte that isn't UTF-8, which is an error otherwise
	Dimensions     int    // of Embed: keep the first numbers of each vector, where config.json allows it, and divide them by their length where the folder ends with that; 0 keeps all
	Raw            bool   // of Classify and Rerank: give logits as they are

	// Counted is called once, before the model runs, with the number of tokens of each text, special ones included. Its error
	// ends the call.
	Counted func(tokens []int) error

	// Run runs the model in place of a session of its own: it gets the inputs of Model.ONNX. It may be called several times.
	Run Run
}

// A Run runs an encoder on its inputs, and returns its output by its name.
type Run func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error)

// A LengthError is a text with more tokens than the model takes.
type LengthError struct {
	Text   int // its number in the call, from 0
	Tokens int // that it has
	Length int // that the model takes
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("text %d has %d tokens, the model takes %d: shorten it, or have it cut", e.Text, e.Tokens, e.Length)
}

// Unwrap returns tensor.ErrValue.
func (e *LengthError) Unwrap() error { return tensor.ErrValue }

func optionsOf(opts []Options) (Options, error) {
	switch len(opts) {
	case 0:
		return Options{}, nil
	case 1:
		return opts[0], nil
	}
	return Options{}, fmt.Errorf("vectors: %w: %d Options are given, one is taken", tensor.ErrValue, len(opts))
}

// An item is a text as tokens.
type item struct {
	ids, types []int64
	skip       int            // tokens that pooling leaves out
	e          *text.Encoding // for Entities alone
}

// items turns texts, and the pairs of each, into tokens. It ends between two texts when the context does.
func (m *Model) items(ctx context.Context, texts []string, pairs []string, o *Options) ([]item, error) {
	prompt := ""
	if name := o.Prompt; m.kind >= logitsOfTokens && name != "" {
		return nil, errorf("%w: Options.Prompt is for Embed", tensor.ErrValue)
	} else if m.kind < logitsOfTokens && (name != "" || m.prompt != "") {
		if name == "" {
			name = m.prompt
		}
		p, ok := m.prompts[name]
		if !ok {
			return nil, errorf("%w: config_sentence_transformers.json has no prompt %.100q", tensor.ErrValue, name)
		}
		prompt = p
	}
	all := text.Options{ReplaceInvalid: o.ReplaceInvalid, Truncation: &text.Truncation{}, Padding: &text.Padding{}}
	skip := 0
	if m.pooling != nil && m.pooling.skipPrompt && prompt != "" {
		e, err := m.tokens.Encode(m.lowered(prompt), all)
		if err != nil {
			return nil, errorf("prompt %.100q: %w", prompt, err)
		}
		for skip = len(e.IDs); skip > 0 && e.Special[skip-1]; {
			skip-- // the end of a text isn't the prompt's
		}
	}
	list := make([]item, len(texts))
	counts := make([]int, len(texts))
	for i, t := range texts {
		if ctx.Err() != nil {
			return nil, errorf("%w", context.Cause(ctx))
		}
		how, given := all, t
		if pairs != nil {
			given = pairs[i]
			p := m.lowered(given)
			how.Pair = &p
		}
		if err := o.valid(given, "text %d", i); err != nil {
			return nil, err
		}
		e, err := m.tokens.Encode(m.lowered(prompt+t), how)
		if err != nil {
			return nil, errorf("%w: text %d: %w", tensor.ErrValue, i, err)
		}
		if m.length > 0 && len(e.IDs) > m.length {
			if !m.cut && !o.Cut {
				return nil, errorf("%w", &LengthError{i, len(e.IDs), m.length})
			}
			how.Truncation = &text.Truncation{MaxTokens: m.length, Left: m.left, Strategy: m.strategy}
			if e, err = m.tokens.Encode(m.lowered(prompt+t), how); err != nil {
				return nil, errorf("%w: text %d: %w", tensor.ErrValue, i, err)
			}
			e.Overflow = nil
		}
		list[i] = item{ids: e.IDs, types: e.Types, skip: min(skip, len(e.IDs))}
		if m.kind == logitsOfTokens {
			list[i].e = &e
		}
		counts[i] = len(e.IDs)
	}
	return list, m.counted(counts, o)
}

// valid refuses a text that isn't UTF-8, unless the options replace its bytes. Name says which text it is.
func (o *Options) valid(s, name string, args ...any) error {
	if o.ReplaceInvalid || utf8.ValidString(s) {
		return nil
	}
	at := 0
	for r, n := utf8.DecodeRuneInString(s); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRuneInString(s[at:]) {
		at += n
	}
	return errorf("%w: %s isn't UTF-8 from byte %d on: set Options.ReplaceInvalid, or --replace-invalid, or convert it", tensor.ErrValue, fmt.Sprintf(name, args...), at)
}

// counted refuses texts without tokens, and tells the program the numbers of the others.
func (m *Model) counted(counts []int, o *Options) error {
	if i := slices.Index(counts, 0); i >= 0 {
		return errorf("%w: text %d has no tokens", tensor.ErrValue, i)
	}
	if o.Counted != nil {
		return o.Counted(counts)
	}
	return nil
}

// lowered is the text in small letters where do_lower_case says so. As in Python, a Σ at the end of a word is ς, and İ two characters.
func (m *Model) lowered(s string) string {
	if !m.lower || m.kind >= logitsOfTokens {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && cased(s[:i], utf8.DecodeLastRuneInString) && !cased(s[i+len("Σ"):], utf8.DecodeRuneInString):
			b.WriteRune('ς')
		case r == utf8.RuneError: // perhaps a byte that isn't UTF-8
			_, n := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+n])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// cased reports whether the next character of s, by next, is a letter with case, but for characters without a place of their own.
func cased(s string, next func(string) (rune, int)) bool {
	for len(s) > 0 {
		r, n := next(s)
		if unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) {
			return true
		}
		if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) && !strings.ContainsRune("'.:·’", r) {
			return false
		}
		if _, last := utf8.DecodeRuneInString(s); last == n {
			s = strings.TrimPrefix(s, string(r))
			continue
		}
		s = strings.TrimSuffix(s, string(r))
	}
	return false
}

// mostTokens bounds the tokens of one run, so that the memory of a call doesn't grow with its texts.
const mostTokens = 4096

// run runs the model on all items, and calls use for each with its part of the output: size rows of numbers, one for a
// text.
func (m *Model) run(ctx context.Context, list []item, o *Options, use func(i int, rows []float32, size int) error) error {
	run := o.Run
	if run == nil {
		session, err := m.session()
		if err != nil {
			return err
		}
		run = func(ctx context.Context, in map[string]tensor.Any) (map[string]tensor.Any, error) {
			return session.Run(ctx, in, nil)
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return len(list[order[a]].ids) < len(list[order[b]].ids) })
	for len(order) > 0 {
		n := len(list[order[0]].ids)
		rows := 1
		for rows < len(order) && len(list[order[rows]].ids) == n && (rows+1)*n <= mostTokens {
			rows++
		}
		if rows > 1 {
			free, err := m.independent(ctx, run, list, order[:rows])
			if err != nil {
				return err
			}
			if !free {
				rows = 1
			}
		}
		out, err := m.batch(ctx, run, list, order[:rows])
		if err != nil {
			return err
		}
		size := len(out) / rows
		for r, i := range order[:rows] {
			if err := use(i, out[r*size:(r+1)*size], m.rows(n)); err != nil {
				return err
			}
		}
		order = order[rows:]
	}
	return nil
}

// rows is the number of rows of the output for a text of n tokens.
func (m *Model) rows(n int) int {
	switch {
	case m.kind == ofTexts || m.kind == logitsOfTexts:
		return 1
	case m.fixed > 0:
		return m.fixed
	}
	return n
}

// mixes are operators whose results depend on all rows of a batch.
var mixes = []string{"DynamicQuantizeLinear", "DynamicQuantizeMatMul"}

// independent reports whether rows of a batch have the bits that they have alone. The first two texts of equal length are tried; so are
// the operators of the graph.
func (m *Model) independent(ctx context.Context, run Run, list []item, order []int) (bool, error) {
	if v := m.together.Load(); v != 0 {
		return v == 1, nil
	}
	m.tried.Lock()
	defer m.tried.Unlock()
	if v := m.together.Load(); v != 0 {
		return v == 1, nil
	}
	if slices.ContainsFunc(m.part.Graph.Nodes, func(n onnx.Node) bool { return slices.Contains(mixes, n.Op) }) {
		m.together.Store(2)
		return false, nil
	}
	other := slices.IndexFunc(order, func(i int) bool { return !slices.Equal(list[i].ids, list[order[0]].ids) })
	if other < 0 {
		return false, nil // equal texts show nothing
	}
	two := []int{order[0], order[other]}
	both, err := m.batch(ctx, run, list, two)
	if err != nil {
		return false, err
	}
	size := len(both) / 2
	for r := range two {
		alone, err := m.batch(ctx, run, list, two[r:r+1])
		if err != nil {
			return false, err
		}
		if !sameBits(alone, both[r*size:(r+1)*size]) {
			m.together.Store(2)
			return false, nil
		}
	}
	m.together.Store(1)
	return true, nil
}

func sameBits(a, b []float32) bool {
	x, _ := tensor.FromSlice(a, len(a)).Any().MarshalBinary()
	y, _ := tensor.FromSlice(b, len(b)).Any().MarshalBinary()
	return bytes.Equal(x, y)
}

// batch runs texts with equally many tokens, and returns the output in row-major order.
func (m *Model) batch(ctx context.Context, run Run, list []item, order []int) ([]float32, error) {
	n := len(list[order[0]].ids)
	width := n
	if m.fixed > 0 {
		width = m.fixed
	}
	before := 0 // the padding on the left
	if m.padLeft {
		before = width - n
	}
	in := make(map[string]tensor.Any, len(m.inputs))
	for _, v := range m.inputs {
		data := make([]int64, len(order)*width)
		for r, i := range order {
			row := data[r*width : (r+1)*width]
			for p := range row {
				at := p - before
				used := at >= 0 && at < n
				switch v.Name {
				case "input_ids":
					if row[p] = m.pad[0]; used {
						row[p] = list[i].ids[at]
					}
				case "attention_mask":
					if used {
						row[p] = 1
					}
				case "token_type_ids":
					if row[p] = m.pad[1]; used {
						row[p] = list[i].types[at]
					}
				case "position_ids":
					row[p] = int64(max(0, min(at, n-1)))
				}
			}
		}
		t := tensor.FromSlice(data, len(order), width)
		in[v.Name] = t.Any()
		if v.Type.Elem == onnx.ElemInt32 {
			in[v.Name] = op.Cast[int32](t).Any()
		}
	}
	out, err := run(ctx, in)
	if err != nil {
		return nil, err
	}
	a := out[m.output]
	if a.IsZero() {
		return nil, errorf("%s: the run gave no output %q", m.file, m.output)
	}
	shape, want := a.Shape(), []int{len(order)}
	if rank := 2; m.kind == ofTokens || m.kind == logitsOfTokens {
		want = append(want, width)
		if rank = 3; len(shape) != rank || !slices.Equal(shape[:2], want) {
			return nil, errorf("%s: output %q has the shape %v, want %v and an axis of numbers", m.file, m.output, shape, want)
		}
	} else if len(shape) != rank || shape[0] != want[0] {
		return nil, errorf("%s: output %q has the shape %v, want %d rows of numbers", m.file, m.output, shape, want[0])
	}
	if last := shape[len(shape)-1]; m.kind >= logitsOfTokens && m.labels != nil && last != len(m.labels) || last == 0 {
		return nil, errorf("%s: output %q has rows of %d numbers, config.json has %d labels", m.file, m.output, last, len(m.labels))
	}
	list32, err := floats(a)
	runtime.KeepAlive(a)
	if err != nil {
		return nil, errorf("%s: output %q: %w", m.file, m.output, err)
	}
	return list32, nil
}

// floats copies the elements as float32.
func floats(a tensor.Any) ([]float32, error) {
	a, err := tensor.Contiguous(a)
	if err != nil {
		return nil, err
	}
	if t, ok := tensor.As[float32](a); ok {
		return slices.Clone(t.Elems()), nil
	}
	if t, ok := tensor.As[num.F16](a); ok {
		return op.Cast[float32](t).Elems(), nil
	}
	if t, ok := tensor.As[num.BF16](a); ok {
		return op.Cast[float32](t).Elems(), nil
	}
	if t, ok := tensor.As[float64](a); ok {
		return op.Cast[float32](t).Elems(), nil
	}
	return nil, errors.New("it holds " + a.DType().String() + ", want floats")
}
