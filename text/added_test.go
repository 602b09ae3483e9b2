package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The automaton finds at each byte the longest token, as the comparison with each token does.
func TestFinderBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "aab"[r.IntN(3)]
		}
		return string(b)
	}
	for range 2000 {
		var tokens []addedToken
		var contents []string
		for range 1 + r.IntN(8) {
			s := word(r.IntN(7))
			tokens = append(tokens, addedToken{content: s, length: uint32(len(s))})
			contents = append(contents, s)
		}
		f := newFinder(tokens, contents)
		text := word(r.IntN(30))
		var want []string
		for i := range text {
			longest := ""
			for _, a := range tokens {
				if strings.HasPrefix(text[i:], a.content) && len(a.content) > len(longest) {
					longest = a.content
				}
			}
			if longest != "" {
				want = append(want, fmt.Sprint(i, longest))
			}
		}
		var got []string
		for _, p := range slices.Backward(f.places(nil, []byte(text))) {
			a := f.tokens[p.number].content
			if text[p.start:p.end] != a {
				t.Fatalf("%q in %q is at %v", a, text, p)
			}
			got = append(got, fmt.Sprint(p.start, a))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q has %q, want %q", text, got, want)
		}
	}
}
