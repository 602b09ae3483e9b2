package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzWords(f *testing.F) {
	for _, s := range []string{`-0.5e+10`, `01`, `1.`, `-`, `1e`, `\n`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\ud800\u0041`, `\x`, `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := Number(s)
		if n != Number([]byte(s)) {
			t.Errorf("%q: a string's number isn't that of its bytes", s)
		}
		var number json.Number
		whole := s != "" && strings.Trim(s, " \t\r\n") == s && s[0] != '"' && s != "null" && json.Unmarshal([]byte(s), &number) == nil
		if whole != (n > 0 && n == len(s)) {
			t.Errorf("%q: number of %d bytes, encoding/json says %t", s, n, whole)
		}
		if s == "" || s[0] != '\\' {
			return
		}
		r, n := Escape([]byte(s))
		var text string
		if n > 0 && (json.Unmarshal([]byte(`"`+s[:n]+`"`), &text) != nil || text != string(r)) {
			t.Errorf("%q: escape %q, encoding/json says %q", s[:n], r, text)
		}
		if n == 0 && len(s) <= 12 && json.Unmarshal([]byte(`"`+s+`"`), &text) == nil && len([]rune(text)) == 1 && text != "\ufffd" {
			t.Errorf("%q: no escape, encoding/json says %q", s, text)
		}
	})
}
