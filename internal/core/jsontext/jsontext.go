// Package jsontext holds the words of JSON (RFC 8259) that need a grammar: numbers, and escapes in strings. A reader of a text
// of its own calls it: tensor, format/safetensors and onnx/serve, each of which says in its own words what is wrong and where.
package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Number returns the length of the number with which s begins, 0 if it begins with none.
func Number[T string | []byte](s T) int {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	at := func(c byte) bool { return i < len(s) && s[i] == c }
	if at('-') {
		i++
	}
	if at('0') {
		i++
	} else if !digits() {
		return 0
	}
	if at('.') {
		if i++; !digits() {
			return 0
		}
	}
	if at('e') || at('E') {
		if i++; at('+') || at('-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// Escape returns the character that the escape at the beginning of b stands for, and its length: 0 if it is none. Half of
// a surrogate pair is no character.
func Escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	first, ok := unit(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if second, ok := unit(b[6:]); ok {
		if r = utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12
		}
	}
	return 0, 0
}

// unit reads \uXXXX.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
