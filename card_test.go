package ashlar_test

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The card of CONTRIBUTING.md: how sentences are written. A page keeps it. A page or a package with a row in testdata/card.txt may have as many
// offences as the row says, and a row may only fall: go test -run Card -update . lowers it.
const (
	mostWords = 35 // of a sentence
	nounRate  = 15 // "what" and "those" as nouns, in 10,000 words
	mostFigs  = 3  // numbers in a sentence outside tables
)

var (
	noun     = regexp.MustCompile(`(?i)\b(what|those (?:of|that|which|who)|so (?:few|many|much) (?:as|of)|that which|as then)\b`)
	question = regexp.MustCompile(`(?i)^\W*(what|how)\b.*\?$`)
	figure   = regexp.MustCompile(`(?:^|[^\w.-])(\d[\d,]*(?:\.\d+)?)\b`)
	codeText = regexp.MustCompile("`[^`]*`")
	link     = regexp.MustCompile(`\]\([^)]*\)`)
	item     = regexp.MustCompile(`^([-*]|\d+\.) `)
	stop     = regexp.MustCompile(`[.!?:;][*_)"”]*\s+`)
	retired  = regexp.MustCompile(`(?i)\b(usual program|full program|strands?|fetch(es|ed)? ahead|so many elements)\b`) // the glossary has other words
)

// offences are counted in sentences.
type offences struct{ words, long, nouns, figures, retired, longest int }

func (o *offences) read(paragraph string) {
	paragraph = codeText.ReplaceAllString(link.ReplaceAllString(paragraph, "]"), "CODE")
	from := 0
	for _, end := range append(stop.FindAllStringIndex(paragraph, -1), []int{0, len(paragraph)}) {
		s := strings.TrimSpace(paragraph[from:end[1]])
		from = end[1]
		n := len(strings.Fields(s))
		o.words += n
		o.longest = max(o.longest, n)
		if n > mostWords {
			o.long++
		}
		if !question.MatchString(s) {
			o.nouns += len(noun.FindAllString(s, -1))
		}
		if len(figure.FindAllString(s, -1)) > mostFigs {
			o.figures++
		}
		o.retired += len(retired.FindAllString(s, -1))
	}
}

// prose reads the paragraphs of a page, or of a comment, without code, tables, headings and blocks that a command makes.
func (o *offences) prose(text string, page bool) {
	var part []string
	end := func() {
		if len(part) > 0 {
			o.read(strings.Join(part, " "))
		}
		part = nil
	}
	code, made := false, false
	for line := range strings.Lines(text + "\n") {
		s := strings.TrimSpace(line)
		made = made && s != "<!-- end -->" || strings.HasPrefix(s, "<!-- table ")
		fence := page && strings.HasPrefix(s, "```")
		if fence {
			code = !code
		}
		if fence || code || made || s == "" || strings.HasPrefix(s, "|") || strings.HasPrefix(s, "<") || page && (strings.HasPrefix(s, "#") || strings.HasPrefix(s, "![")) ||
			!page && (strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")) {
			end()
			continue
		}
		if item.MatchString(s) {
			end()
			s = item.ReplaceAllString(s, "")
		}
		part = append(part, s)
	}
	end()
}

// allowed says the most offences of a text without a row.
func (o *offences) allowed() [4]int { return [4]int{0, (o.words*nounRate + 9999) / 10000, 0, 0} }

func (o *offences) counts() [4]int { return [4]int{o.long, o.nouns, o.figures, o.retired} }

func TestCard(t *testing.T) {
	const table = "testdata/card.txt"
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][4]int{}
	for line := range strings.Lines(string(text)) {
		var name string
		var r [4]int
		if _, err := fmt.Sscan(line, &name, &r[0], &r[1], &r[2], &r[3]); err != nil {
			t.Fatalf("%s: %q: %v", table, line, err)
		}
		rows[name] = r
	}
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*offences{}
	of := func(name string) *offences {
		if all[name] == nil {
			all[name] = new(offences)
		}
		return all[name]
	}
	for p, text := range tr.texts {
		if path.Ext(p) == ".md" && p != "CHANGELOG.md" && !inTestdata(p) {
			of(p).prose(text, true)
		}
	}
	for _, f := range tr.files {
		if !f.test && !ast.IsGenerated(f.ast) {
			for _, c := range f.ast.Comments {
				of(f.dir).prose(c.Text(), false)
			}
		}
	}
	var lowered strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		got, most := o.counts(), o.allowed()
		for i, row := range rows[name] {
			most[i] = max(most[i], row)
		}
		delete(rows, name)
		for i, what := range []string{"sentences of more than 35 words", `"what" and "those" as nouns`, "sentences of four and more numbers", "words that docs/glossary.md replaces"} {
			if got[i] > most[i] {
				t.Errorf("%s has %d %s, may have %d: see the card in CONTRIBUTING.md", name, got[i], what, most[i])
			}
			got[i] = min(got[i], most[i])
		}
		t.Logf("%-32s %6d words, the longest sentence has %d; %v of %v", name, o.words, o.longest, o.counts(), most)
		if free := o.allowed(); got[0] > free[0] || got[1] > free[1] || got[2] > free[2] || got[3] > free[3] {
			fmt.Fprintf(&lowered, "%-32s %4d %4d %4d %4d\n", name, got[0], got[1], got[2], got[3])
		}
	}
	for name := range rows {
		t.Errorf("%s has a row for %s, which has no text: go test -run Card -update . deletes it", table, name)
	}
	if *update {
		if err := os.WriteFile(table, []byte(lowered.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSubjects bounds the subjects of commits, where git has them.
func TestSubjects(t *testing.T) {
	out, err := exec.Command("git", "log", "-100", "--no-merges", "--format=%s").Output()
	if err != nil {
		t.Skip("no history: ", err)
	}
	for line := range strings.Lines(string(out)) {
		if n := len([]rune(strings.TrimSpace(line))); n > 72 {
			t.Errorf("a subject of %d characters, want at most 72: %s", n, line)
		}
	}
}

func TestOffences(t *testing.T) {
	for text, want := range map[string][4]int{
		"A noun and a verb.":                       {0, 0, 0, 0},
		"It does what is asked of those that ask.": {0, 2, 0, 0},
		"What does it do?":                         {0, 0, 0, 0},
		"From 1 to 2 and 3 to 4.":                  {0, 0, 1, 0},
		"The strands of `what` stay.":              {0, 0, 0, 1},
		strings.Repeat("word ", 36) + ".":          {1, 0, 0, 0},
		strings.Repeat("word ", 20) + "end.\n\n- " + strings.Repeat("word ", 20) + "end.": {0, 0, 0, 0},
		"<!-- table x -->\nwhat\n<!-- end -->\nwhat":                                      {0, 1, 0, 0},
		"| what | what |": {0, 0, 0, 0},
	} {
		var o offences
		o.prose(text, true)
		if got := o.counts(); got != want {
			t.Errorf("%.60s: %v, want %v", text, got, want)
		}
	}
}
