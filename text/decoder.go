package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A decoder turns tokens into parts of a text.
type decoder interface {
	decode(tokens []string, left *budget) ([]string, error)
}

type decoderFunc func(tokens []string, left *budget) ([]string, error)

func (f decoderFunc) decode(tokens []string, left *budget) ([]string, error) { return f(tokens, left) }

// length returns the bytes of tokens.
func length(tokens []string) (n int) {
	for _, t := range tokens {
		n += len(t)
	}
	return n
}

// each decodes token by token.
func each(f func(i int, token string) string) decoder {
	return decoderFunc(func(tokens []string, _ *budget) ([]string, error) {
		for i, t := range tokens {
			tokens[i] = f(i, t)
		}
		return tokens, nil
	})
}

func readDecoder(v value) (decoder, error) {
	o, err := v.object()
	if err != nil {
		return nil, err
	}
	kind, err := required(o, "type", value.str)
	if err != nil {
		return nil, err
	}
	// str and flag read a member, until one fails.
	str := func(name string) (s string) {
		if err == nil {
			s, err = required(o, name, value.str)
		}
		return s
	}
	flag := func(name string) (b bool) {
		if err == nil {
			b, err = required(o, name, value.bool)
		}
		return b
	}
	var d decoder
	var fields []string
	switch kind {
	case "ByteLevel":
		fields = []string{"add_prefix_space", "trim_offsets", "use_regex"}
		err = (&byteLevel{}).read(o)
		d = decoderFunc(decodeBytes)
	case "Fuse":
		d = decoderFunc(func(tokens []string, _ *budget) ([]string, error) { return []string{strings.Join(tokens, "")}, nil })
	case "ByteFallback":
		d = decoderFunc(decodeFallback)
	case "WordPiece":
		fields = []string{"prefix", "cleanup"}
		prefix, clean := str("prefix"), flag("cleanup")
		d = each(func(i int, token string) string {
			if i > 0 {
				if rest, ok := strings.CutPrefix(token, prefix); ok {
					token = rest
				} else {
					token = " " + token
				}
			}
			if clean {
				token = cleanup.Replace(token)
			}
			return token
		})
	case "Metaspace":
		fields = []string{"replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"}
		m := &metaspace{}
		err = m.read(o)
		d = each(func(i int, token string) string {
			by := " "
			if i == 0 && m.prepend != "never" {
				by = ""
			}
			return strings.ReplaceAll(token, string(m.replacement), by)
		})
	case "BPEDecoder":
		fields = []string{"suffix"}
		suffix := str("suffix")
		d = decoderFunc(func(tokens []string, _ *budget) ([]string, error) {
			for i, t := range tokens {
				by := " "
				if i == len(tokens)-1 {
					by = ""
				}
				tokens[i] = strings.ReplaceAll(t, suffix, by)
			}
			return tokens, nil
		})
	case "CTC":
		fields = []string{"pad_token", "word_delimiter_token", "cleanup"}
		pad, word, clean := str("pad_token"), str("word_delimiter_token"), flag("cleanup")
		d = decoderFunc(func(tokens []string, _ *budget) ([]string, error) {
			out := []string{}
			for i, t := range tokens {
				if i > 0 && t == tokens[i-1] {
					continue
				}
				t = strings.ReplaceAll(t, pad, "")
				if clean {
					t = strings.ReplaceAll(cleanup.Replace(t), word, " ")
				}
				if t != "" {
					out = append(out, t)
				}
			}
			return out, nil
		})
	case "Strip":
		fields = []string{"content", "start", "stop"}
		var r rune
		var start, stop int
		if r, err = required(o, "content", value.char); err == nil {
			if start, err = required(o, "start", value.length); err == nil {
				stop, err = required(o, "stop", value.length)
			}
		}
		d = each(func(_ int, token string) string {
			for range start {
				rest, ok := strings.CutPrefix(token, string(r))
				if !ok {
					break
				}
				token = rest
			}
			for range stop {
				rest, ok := strings.CutSuffix(token, string(r))
				if !ok {
					break
				}
				token = rest
			}
			return token
		})
	case "Replace":
		fields = []string{"pattern", "content"}
		var n replace
		err = n.read(o)
		d = decoderFunc(func(tokens []string, left *budget) ([]string, error) {
			total := int64(0)
			for i, t := range tokens {
				matches, err := n.pattern.find(nil, []byte(t), left)
				if err != nil {
					return nil, err
				}
				var b strings.Builder
				for _, m := range matches {
					if m.found {
						if total += int64(len(n.content)); total > int64(left.bytes) {
							return nil, left.fits(total)
						}
						b.WriteString(n.content)
					} else {
						b.WriteString(t[m.start:m.end])
					}
				}
				tokens[i] = b.String()
			}
			return tokens, nil
		})
	case "Sequence":
		fields = []string{"decoders"}
		var all []decoder
		all, err = list(o, "decoders", readDecoder)
		d = decoderFunc(func(tokens []string, left *budget) (_ []string, err error) {
			for _, part := range all {
				if tokens, err = part.decode(tokens, left); err != nil {
					return nil, err
				}
				n := length(tokens)
				if err := left.fits(int64(n)); err != nil {
					return nil, err
				}
				if err := left.take(n + len(tokens)); err != nil {
					return nil, err
				}
			}
			return tokens, nil
		})
	default:
		return nil, v.errorf("is a decoder %q, which this package doesn't know", kind)
	}
	if err == nil {
		err = o.knows(fields...)
	}
	return d, err
}

// A replacers replaces one text after the other.
type replacers [][2]string

func (r replacers) Replace(s string) string {
	for _, p := range r {
		s = strings.ReplaceAll(s, p[0], p[1])
	}
	return s
}

// cleanup takes spaces back that tokens brought into English.
var cleanup = replacers{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
	{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}}

// decodeBytes reads letters as bytes, but for tokens with a letter that stands for none. Bytes that aren't UTF-8 become
// U+FFFD, one for each longest beginning of a character.
func decodeBytes(tokens []string, _ *budget) ([]string, error) {
	var b []byte
	for _, t := range tokens {
		from := len(b)
		for _, r := range t {
			c, ok := letterByte(r)
			if !ok {
				b = append(b[:from], t...)
				break
			}
			b = append(b, c)
		}
	}
	return []string{lossy(b)}, nil
}

// lossy returns the text of bytes. The beginning of a character without its end becomes one U+FFFD, as in Rust's
// from_utf8_lossy; so do other bytes that aren't UTF-8, one by one.
func lossy(b []byte) string {
	var s strings.Builder
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			n = beginning(b[i:])
		}
		s.WriteRune(r)
		i += n
	}
	return s.String()
}

// beginning returns the length of the longest beginning of a character that b begins with, at least 1.
func beginning(b []byte) int {
	for n := min(len(b), 3); n > 1; n-- {
		// It is one if some bytes behind it make a character.
		for _, c := range []byte{0x80, 0x90, 0xa0, 0xbf} {
			full := append([]byte{}, b[:n]...)
			for len(full) < utf8.UTFMax {
				full = append(full, c)
				if r, size := utf8.DecodeRune(full); size == len(full) && r != utf8.RuneError {
					return n
				}
			}
		}
	}
	return 1
}

// decodeFallback reads tokens as <0x61> as bytes. Bytes side by side that aren't UTF-8 become U+FFFD each.
func decodeFallback(tokens []string, _ *budget) ([]string, error) {
	out := []string{}
	var bytes []byte
	flush := func() {
		if utf8.Valid(bytes) && len(bytes) > 0 {
			out = append(out, string(bytes))
		} else {
			for range bytes {
				out = append(out, "\ufffd")
			}
		}
		bytes = bytes[:0]
	}
	for _, t := range tokens {
		if len(t) == 6 && strings.HasPrefix(t, "<0x") && t[5] == '>' {
			digits := t[3:5]
			if digits[0] == '+' { // Rust reads a sign, too
				digits = "0" + digits[1:]
			}
			if c, err := strconv.ParseUint(digits, 16, 8); err == nil {
				bytes = append(bytes, byte(c))
				continue
			}
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out, nil
}
