package vectors

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/tensor"
	"github.com/ashlar-go/ashlar/text"
)

// An Entity is a part of a text with a label.
type Entity struct {
	Label string
	Score float32   // the probability of the label, a mean over the parts that are joined
	Span  text.Span // text[Span.Start:Span.End] in bytes
}

// A Join says how labels of tokens become entities, as aggregation_strategy of Hugging Face does.
type Join string

const (
	JoinNone    Join = "none"    // an entity for each token
	JoinSimple  Join = "simple"  // tokens in a row with one label, beginning anew at B-
	JoinFirst   Join = "first"   // as simple for words, each with the label of its first token
	JoinAverage Join = "average" // with the label of the mean of its tokens' probabilities
	JoinMax     Join = "max"     // with the label of its token that is surest
)

// A part is a token or a word on its way to an entity.
type part struct {
	label string
	score float32
	span  text.Span
}

// Entities returns the entities of each text, in their order. The label O is left out. Labels B-x and I-x belong to the entity x:
// JoinNone keeps them as they are, the others join them.
//
// The words of JoinFirst, JoinAverage and JoinMax are as in Hugging Face's pipeline. A WordPiece token continues a word
// where it hasn't as many characters as its span. A token of other models does where no space is at its beginning or before it.
func (m *Model) Entities(ctx context.Context, texts []string, join Join, opts ...Options) ([][]Entity, error) {
	o, err := optionsOf(opts)
	switch {
	case err != nil:
		return nil, err
	case m.kind != logitsOfTokens:
		return nil, m.wrong("Entities", logitsOfTokens)
	case join != JoinNone && join != JoinSimple && join != JoinFirst && join != JoinAverage && join != JoinMax:
		return nil, errorf("%w: there is no join %.40q", tensor.ErrValue, string(join))
	case o.Dimensions != 0 || o.Raw:
		return nil, errorf("%w: Options.Dimensions and Options.Raw aren't for Entities", tensor.ErrValue)
	}
	list, err := m.items(ctx, texts, nil, &o)
	if err != nil {
		return nil, err
	}
	all := make([][]Entity, len(list))
	err = m.run(ctx, list, &o, func(i int, logits []float32, size int) error {
		n, width := len(list[i].ids), len(logits)/size
		if m.padLeft {
			logits = logits[(size-n)*width:]
		}
		s := texts[i]
		if o.ReplaceInvalid {
			s = string([]rune(s)) // U+FFFD for each byte that isn't UTF-8
		}
		all[i] = m.entities(s, list[i].e, softmax(logits[:n*width], width), width, join)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// entities joins the probabilities of the tokens of a text.
func (m *Model) entities(s string, e *text.Encoding, scores []float32, width int, join Join) (list []Entity) {
	var parts []part
	var word []int // the tokens of a word
	end := func() {
		if len(word) > 0 {
			parts = append(parts, m.word(e, scores, width, word, join))
			word = word[:0]
		}
	}
	for t := range e.IDs {
		if e.Special[t] {
			continue
		}
		if join == JoinNone || join == JoinSimple || !m.continues(s, e, t) {
			end()
		}
		word = append(word, t)
	}
	end()
	if join != JoinNone {
		parts = grouped(parts)
	}
	for _, p := range parts {
		if p.label != "O" {
			list = append(list, Entity{p.label, p.score, p.span})
		}
	}
	return list
}

// continues reports whether a token continues the word of the one before it.
func (m *Model) continues(s string, e *text.Encoding, t int) bool {
	span := e.Spans[t]
	switch {
	case e.IDs[t] == m.unknown:
		return false
	case m.prefix:
		return utf8.RuneCountInString(e.Tokens[t]) != span.RuneEnd-span.RuneStart
	case span.Start == 0:
		return false
	}
	return s[span.Start-1] != ' ' && !strings.HasPrefix(s[span.Start:], " ")
}

// word makes one part of the tokens of a word.
func (m *Model) word(e *text.Encoding, scores []float32, width int, tokens []int, join Join) part {
	row := func(t int) []float32 { return scores[t*width : (t+1)*width] }
	best := row(tokens[0])
	switch join {
	case JoinMax:
		for _, t := range tokens[1:] {
			if r := row(t); r[first(r)] > best[first(best)] {
				best = r
			}
		}
	case JoinAverage:
		mean := make([]float32, width)
		for c := range mean {
			sum := 0.0
			for _, t := range tokens {
				sum += float64(row(t)[c])
			}
			mean[c] = float32(sum / float64(len(tokens)))
		}
		best = mean
	}
	c := first(best)
	span := e.Spans[tokens[0]]
	last := e.Spans[tokens[len(tokens)-1]]
	span.End, span.RuneEnd = last.End, last.RuneEnd
	return part{m.label(c), best[c], span}
}

// first is the place of the largest number, the first of equal ones.
func first(row []float32) (at int) {
	for i, x := range row {
		if x > row[at] {
			at = i
		}
	}
	return at
}

// grouped joins parts in a row whose labels are of one entity. One that begins with B- begins anew.
func grouped(parts []part) (list []part) {
	tag := func(label string) (begins bool, tag string) {
		if rest, ok := strings.CutPrefix(label, "B-"); ok {
			return true, rest
		}
		return false, strings.TrimPrefix(label, "I-")
	}
	for i := 0; i < len(parts); {
		sum, j := float64(parts[i].score), i+1
		_, of := tag(parts[i].label)
		for ; j < len(parts); j++ {
			if begins, next := tag(parts[j].label); begins || next != of {
				break
			}
			sum += float64(parts[j].score)
		}
		p := parts[i]
		if _, rest, ok := strings.Cut(p.label, "-"); ok {
			p.label = rest
		}
		p.score = float32(sum / float64(j-i))
		p.span.End, p.span.RuneEnd = parts[j-1].span.End, parts[j-1].span.RuneEnd
		list = append(list, p)
		i = j
	}
	return list
}
