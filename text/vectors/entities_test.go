package vectors

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/encoders"
	"github.com/ashlar-go/ashlar/text"
	"testing/fstest"
)

// made opens an encoder that package encoders makes.
func made(t testing.TB, k encoders.Kind) *Model {
	t.Helper()
	files, err := encoders.Files(k)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, b := range files {
		fsys[name] = &fstest.MapFile{Data: b}
	}
	m, err := OpenFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

var tags = []string{"O", "B-PER", "I-PER", "B-LOC", "LOC-OLD"}

// Each join has the labels and the spans that the pipeline of Hugging Face has for these probabilities, worked out by hand.
func TestJoins(t *testing.T) {
	word := made(t, encoders.Kind{Family: "bert", Labels: tags, Tokens: true})
	pair := made(t, encoders.Kind{Family: "roberta", Labels: tags, Tokens: true})
	// the pieces are: red house s | anna | peter s | ☃ (unknown) | ed
	const s = "redhouse Anna Peters ☃ ed"
	e, err := word.tokens.Encode(s, text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Tokens, " "); got != "[CLS] red ##house anna peter ##s [UNK] ed [SEP]" {
		t.Fatal(got)
	}
	none := []float32{1, 0, 0, 0, 0}
	scores := [][]float32{none,
		{0.1, 0.5, 0.4, 0, 0},   // red: B-PER
		{0.2, 0, 0.8, 0, 0},     // ##house: I-PER, surer
		{0, 0, 0.9, 0.1, 0},     // anna: I-PER
		{0, 0.6, 0.3, 0.1, 0},   // peter: B-PER
		{0, 0.05, 0.25, 0.7, 0}, // ##s: B-LOC, surer
		{0.25, 0.25, 0.5, 0, 0}, // [UNK]: I-PER, a word of its own
		{0, 0, 0, 0.125, 0.875}, // ed: LOC-OLD, neither B nor I
		none}
	var flat []float32
	for _, row := range scores {
		flat = append(flat, row...)
	}
	for join, want := range map[Join]string{
		JoinNone:   `B-PER 0.5000 "red"; I-PER 0.8000 "house"; I-PER 0.9000 "Anna"; B-PER 0.6000 "Peter"; B-LOC 0.7000 "s"; I-PER 0.5000 "☃"; LOC-OLD 0.8750 "ed"`,
		JoinSimple: `PER 0.7333 "redhouse Anna"; PER 0.6000 "Peter"; LOC 0.7000 "s"; PER 0.5000 "☃"; OLD 0.8750 "ed"`,
		JoinFirst:  `PER 0.7000 "redhouse Anna"; PER 0.5500 "Peters ☃"; OLD 0.8750 "ed"`,
		// redhouse: means 0.15 0.25 0.6, so I-PER; peters: 0 0.325 0.275 0.4, so B-LOC
		JoinAverage: `PER 0.7500 "redhouse Anna"; LOC 0.4000 "Peters"; PER 0.5000 "☃"; OLD 0.8750 "ed"`,
		JoinMax:     `PER 0.8500 "redhouse Anna"; LOC 0.7000 "Peters"; PER 0.5000 "☃"; OLD 0.8750 "ed"`,
	} {
		if got := written(s, word.entities(s, &e, flat, len(tags), join)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", join, got, want)
		}
	}
	// Tokens of RoBERTa's kind continue a word unless a space is at their beginning or before it.
	const s2 = "red houses, Anna"
	if e, err = pair.tokens.Encode(s2, text.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Tokens, " "); got != "<s> red Ġhouse s , Ġ A n n a </s>" {
		t.Fatal(got)
	}
	flat = flat[:0]
	for i := range e.Tokens {
		row := []float32{0, 0, 1, 0, 0}
		if i == 4 {
			row = []float32{0, 0, 0, 1, 0} // the comma is surest of a place, and is a part of the word before it
		}
		flat = append(flat, row...)
	}
	if got := written(s2, pair.entities(s2, &e, flat, len(tags), JoinFirst)); got != `PER 1.0000 "red houses, Anna"` {
		t.Error(got)
	}
	if got := written(s2, pair.entities(s2, &e, flat, len(tags), JoinSimple)); got != `PER 1.0000 "red houses"; LOC 1.0000 ","; PER 1.0000 " Anna"` && got != `PER 1.0000 "red houses"; LOC 1.0000 ","; PER 1.0000 "Anna"` {
		t.Error(got)
	}
}

func written(s string, list []Entity) string {
	var all []string
	for _, e := range list {
		runes := []rune(s)
		if string(runes[e.Span.RuneStart:e.Span.RuneEnd]) != s[e.Span.Start:e.Span.End] {
			all = append(all, "the spans differ:")
		}
		all = append(all, fmt.Sprintf("%s %.4f %q", e.Label, e.Score, s[e.Span.Start:e.Span.End]))
	}
	return strings.Join(all, "; ")
}

// do_lower_case is Python's lower.
func TestLowered(t *testing.T) {
	m := &Model{lower: true}
	for s, want := range map[string]string{"ABC": "abc", "İX": "i\u0307x", "ΑΣ": "ας", "ΑΣΑ": "ασα", "Σ": "σ", "ΑΣ, Β": "ας, β", "Α'Σ'Β": "α'σ'β", "ß\xffÄ": "ß\xffä", "Ǆ": "ǆ"} {
		if got := m.lowered(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if m.lower = false; m.lowered("A") != "A" {
		t.Error("a text is lowered that no file wants lowered")
	}
}

// A batch on the left has its padding there.
func TestPaddingLeft(t *testing.T) {
	k := encoders.Kind{Family: "bert", Fixed: true, Length: 12}
	right, left := made(t, k), made(t, k)
	left.padLeft = true
	list := []item{{ids: []int64{2, 7, 3}, types: make([]int64, 3)}}
	out := map[string][]float32{}
	for name, m := range map[string]*Model{"right": right, "left": left} {
		err := m.run(t.Context(), list, &Options{}, func(i int, rows []float32, size int) error {
			out[name] = rows
			if size != 12 {
				t.Errorf("%d rows", size)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(out["left"]) == fmt.Sprint(out["right"]) {
		t.Error("padding on the left is as on the right")
	}
}
