package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChangeCase is strings.ToLower or ToUpper that leaves bytes which are no UTF-8 as they are.
func ChangeCase(s string, change func(string) string) string {
	if utf8.ValidString(s) {
		return change(s)
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(s[0])
		} else {
			b.WriteString(change(s[:n]))
		}
		s = s[n:]
	}
	return b.String()
}

// Split cuts s as Python's str.split does, at most times if that isn't negative.
func Split(s, delimiter string, most int64) []string {
	if delimiter != "" {
		n := -1
		if most >= 0 && most < math.MaxInt32 {
			n = int(most) + 1
		}
		return strings.SplitN(s, delimiter, n)
	}
	var list []string
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || most >= 0 && int64(len(list)) >= most {
			end = len(s)
		}
		list = append(list, s[:end])
		s = s[end:]
	}
	return list
}
