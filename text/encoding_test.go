package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A runeCounter gives the same places as counting from the beginning, in any order, near and far.
func TestRuneCounter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 100, 5 * markBytes} {
		var b strings.Builder
		for b.Len() < n {
			b.WriteRune(randomRune(r))
		}
		s := b.String()
		c := runeCounter{text: s, ascii: -1}
		for range 2000 {
			at := r.IntN(len(s) + 1)
			for at < len(s) && !utf8.RuneStart(s[at]) {
				at--
			}
			want := utf8.RuneCountInString(s[:at])
			if got := c.runes(at); got != want {
				t.Fatalf("byte %d of %d is character %d, want %d", at, len(s), got, want)
			}
			other := r.IntN(len(s) + 1)
			c.runes(other)
			if got := c.bytes(want); got != at {
				t.Fatalf("character %d is byte %d, want %d", want, got, at)
			}
		}
	}
}
