package text

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// An oracle is Hugging Face's tokenizers 0.23.2 in a node of its own.
type oracle struct {
	t    testing.TB
	root string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// newOracle skips the test where ASHLAR_TOKENIZERS doesn't name a folder with npm's tokenizers.
func newOracle(t testing.TB) *oracle {
	t.Helper()
	root := os.Getenv("ASHLAR_TOKENIZERS")
	if _, err := os.Stat(filepath.Join(root, "node_modules", "tokenizers")); root == "" || err != nil {
		t.Skip("there is no tokenizers: npm install tokenizers@0.23.2, and name the folder in ASHLAR_TOKENIZERS")
	}
	o := &oracle{t: t, root: root}
	o.start()
	t.Cleanup(o.stop)
	return o
}

func (o *oracle) start() {
	o.cmd = exec.Command("node", "testdata/oracle.js", o.root)
	o.cmd.Env = append(os.Environ(), "RAYON_NUM_THREADS=1", "TOKENIZERS_PARALLELISM=false")
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		o.t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	o.out = bufio.NewReaderSize(out, 1<<20)
	if err := o.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
}

func (o *oracle) stop() {
	o.in.Close()
	o.cmd.Wait()
}

// errAborted says that the oracle ended in the middle of a request.
var errAborted = errors.New("the oracle aborted")

// ask sends a request. An error is the oracle's own message, or errAborted; then it runs anew, without a tokenizer.
func (o *oracle) ask(answer any, command string, argument any) error {
	line, err := json.Marshal([]any{command, argument})
	if err != nil {
		o.t.Fatal(err)
	}
	go o.in.Write(append(line, '\n'))
	got, err := o.out.ReadBytes('\n')
	if err != nil {
		o.stop()
		o.start()
		return errAborted
	}
	var reply struct {
		Answer json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(got, &reply); err != nil {
		o.t.Fatal(err)
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	if err := json.Unmarshal(reply.Answer, answer); err != nil {
		o.t.Fatal(err)
	}
	return nil
}

// An oracleEncoding is an encoding as the oracle gives it.
type oracleEncoding struct {
	IDs       []int64
	Types     []int64
	Tokens    []string
	Spans     [][2]int
	Words     []*int
	Texts     []*int
	Special   []int
	Attention []int64
	Overflow  []oracleEncoding
	Error     string
}

// An input is a text, or a pair.
type input struct {
	text, pair string
	hasPair    bool
	special    bool
}

func (in input) request() []any {
	var pair any
	if in.hasPair {
		pair = in.pair
	}
	return []any{in.text, pair, in.special}
}

func (in input) encode(t *Tokenizer, e *Encoding) error {
	o := Options{WithoutSpecial: !in.special}
	if in.hasPair {
		o.Pair = &in.pair
	}
	return t.EncodeInto(e, in.text, o)
}

// loose says that the oracle doesn't know which text a token is of: without a post-processor, and where a template has a
// text twice.
var loose = new(bool)

// differs says where an encoding isn't the oracle's; nothing if it is.
func differs(in input, got *Encoding, want *oracleEncoding, depth int) string {
	switch {
	case !slices.Equal(got.IDs, want.IDs):
		return fmt.Sprintf("ids %v, want %v; tokens %q, want %q", got.IDs, want.IDs, got.Tokens, want.Tokens)
	case !slices.Equal(got.Types, want.Types):
		return fmt.Sprintf("types %v, want %v", got.Types, want.Types)
	case !slices.Equal(got.Tokens, want.Tokens):
		return fmt.Sprintf("tokens %q, want %q", got.Tokens, want.Tokens)
	case !slices.Equal(got.Attention, want.Attention):
		return fmt.Sprintf("attention %v, want %v", got.Attention, want.Attention)
	}
	number := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	texts := []string{in.text, in.pair}
	for i := range got.IDs {
		s, w := got.Spans[i], want.Spans[i]
		if got.Words[i] != number(want.Words[i]) || depth == 0 && !*loose && got.Texts[i] != number(want.Texts[i]) || got.Special[i] != (want.Special[i] == 1) {
			return fmt.Sprintf("token %d: word %d, text %d, special %v, want %d, %d, %d", i, got.Words[i], got.Texts[i], got.Special[i],
				number(want.Words[i]), number(want.Texts[i]), want.Special[i])
		}
		// Tokens of a suffix that the model adds lie behind the text. Their places are bytes in the oracle, and the end here.
		if k := got.Texts[i]; k >= 0 {
			if n := utf8.RuneCountInString(texts[k]); w[0] >= n && s.RuneStart == n && s.RuneEnd == n || w[0] == s.RuneStart && (w[1] > n || w[1] == w[0]+2) && s.RuneEnd == n {
				continue
			}
			// One that begins before the end and goes beyond it, of which trim_offsets takes a space off, does so from there.
			if n := utf8.RuneCountInString(texts[k]); strings.HasPrefix(got.Tokens[i], "##") && w[0] == s.RuneStart && w[1] == n && s.RuneEnd == n-1 {
				continue
			}
		}
		if s.RuneStart != w[0] || s.RuneEnd != w[1] {
			return fmt.Sprintf("token %d %q: span %v, want %v; all spans %v, want %v", i, got.Tokens[i], s, w, got.Spans, want.Spans)
		}
		if k := got.Texts[i]; k >= 0 {
			if text := texts[k]; utf8.RuneCountInString(text[:s.Start]) != s.RuneStart || utf8.RuneCountInString(text[:s.End]) != s.RuneEnd {
				return fmt.Sprintf("token %d %q: bytes and runes of %v differ", i, got.Tokens[i], s)
			}
		}
	}
	if depth > 0 { // an overflow of an overflow has the same tokens again
		return ""
	}
	if len(got.Overflow) != len(want.Overflow) {
		return fmt.Sprintf("%d overflows, want %d", len(got.Overflow), len(want.Overflow))
	}
	for i := range got.Overflow {
		if d := differs(in, &got.Overflow[i], &want.Overflow[i], depth+1); d != "" {
			return fmt.Sprintf("overflow %d: %s", i, d)
		}
	}
	return ""
}
