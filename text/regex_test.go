package text

import (
	"strings"
	"testing"
)

// A set that sorted itself at its first use would do so in several goroutines at once.
func TestSetsAreReady(t *testing.T) {
	for _, source := range append(regexes, `.`, `[^a]`, `\S`, `\P{L}`, `[\p{^Lu}&&[^x]]`, `\p{any}`) {
		re, err := compile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range re.code {
			if in.set != nil && !in.set.ready {
				t.Errorf("%s has a set that isn't sorted", source)
				break
			}
		}
	}
}

// The property s is Symbol, the escape \s is white space.
func TestPropertyNames(t *testing.T) {
	for source, text := range map[string]string{`\p{s}`: "+", `\p{Symbol}`: "+", `\s`: " ", `\p{ALNUM}`: "a", `\p{Old Italic}`: "\U00010300", `[[:^alpha:]]`: "1"} {
		re, err := compile(source)
		if err != nil {
			t.Fatal(err)
		}
		left := newBudget(len(text))
		ms, err := re.find(nil, []byte(text), &left)
		if err != nil || len(ms) != 1 || !ms[0].found {
			t.Errorf("%s over %q: %v, %v", source, text, ms, err)
		}
	}
	if _, err := compile(`\p{w}`); err == nil || !strings.Contains(err.Error(), `the property "w"`) {
		t.Errorf("error %v", err)
	}
}

// Expressions that would take too long, or too much memory, before any text comes.
func TestHugeExpressions(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct{ source, want string }{
		{"(?:){1000}{1000}{1000}{1000}{1000}", "steps"},
		{"a{0}{1000}{1000}{1000}{1000}{1000}", "steps"},
		{"a" + strings.Repeat("{1}", n), "parts"},
		{"a" + strings.Repeat("{0,}", n), "parts"},
		{"a" + strings.Repeat("*+", n), "parts"},
		{strings.Repeat("|", n), "parts"},
		{strings.Repeat("a", n), "parts"},
		{"[" + strings.Repeat("a", n) + "]", "parts"},
		{"[" + strings.Repeat("a&&", n) + "a]", "parts"},
		{"[" + strings.Repeat(`\p{L}`, 1<<12) + "]", "ranges"},
		{strings.Repeat(`[[:alpha:]]`, 1<<12), "ranges"},
		{strings.Repeat("(", n), "deep"},
		{strings.Repeat("(?=", n), "deep"},
		{strings.Repeat("[", n), "deep"},
	} {
		_, err := compile(c.source)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%.20s…: error %.200v, want %q", c.source, err, c.want)
		}
	}
}
