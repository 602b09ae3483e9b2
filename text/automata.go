package text

import (
	"unicode/utf8"
)

// The patterns of known models, done by hand: they read a text once, from left to right. Their tables are Oniguruma's.
const (
	gpt2Source   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	llama3Source = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Source  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	gpt4oSource  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// knownPattern returns the automaton of a regular expression, nil if there is none.
func knownPattern(source string) pattern {
	switch source {
	case gpt2Source:
		return gpt2Pattern{}
	case llama3Source:
		return llamaPattern{digits: 3}
	case qwen2Source:
		return llamaPattern{digits: 1}
	case gpt4oSource:
		return gpt4oPattern{}
	}
	return nil
}

// A reader looks at the characters of a text.
type reader struct {
	d *database
	b []byte
}

// at returns the properties and the length of the character at i; 0, 0 at the end.
func (r reader) at(i int) (props uint64, n int) {
	if i >= len(r.b) {
		return 0, 0
	}
	if c := r.b[i]; c < utf8.RuneSelf {
		return r.d.props(rune(c)), 1
	}
	c, n := decodeRune(r.b, i)
	return r.d.props(c), n
}

// while returns the end of the characters from i on that have one of the bits.
func (r reader) while(i int, bits uint64) int {
	for {
		p, n := r.at(i)
		if n == 0 || p&bits == 0 {
			return i
		}
		i += n
	}
}

// others returns the end of the characters from i on that are neither spaces nor letters nor numbers.
func (r reader) others(i int) int {
	for {
		p, n := r.at(i)
		if n == 0 || p&(onigS|onigL|onigN) != 0 {
			return i
		}
		i += n
	}
}

func (r reader) lineEnds(i int, slash bool) int {
	for i < len(r.b) && (r.b[i] == '\r' || r.b[i] == '\n' || slash && r.b[i] == '/') {
		i++
	}
	return i
}

// spaces returns the end of \s+(?!\S)|\s+ at i: the last of several spaces before a word stays.
func (r reader) spaces(i int) int {
	start, last := i, i
	for {
		p, n := r.at(i)
		switch {
		case n == 0:
			return i
		case p&onigS != 0:
			last = i
			i += n
		case last > start:
			return last
		default:
			return i
		}
	}
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, i if there is none.
func (r reader) contraction(i int, anyCase bool) int {
	b := r.b[i:]
	if len(b) < 2 || b[0] != '\'' {
		return i
	}
	lower := func(c byte) byte {
		if anyCase && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	switch lower(b[1]) {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if len(b) > 2 && lower(b[2]) == 'e' {
			return i + 3
		}
	case 'l':
		if len(b) > 2 && lower(b[2]) == 'l' {
			return i + 3
		}
	case 0xc5: // the long s
		if anyCase && len(b) > 2 && b[2] == 0xbf {
			return i + 3
		}
	}
	return i
}

// findAll appends the matches that next finds, up to the end of the text.
func findAll(dst []match, b []byte, next func(r reader, i int) int) ([]match, error) {
	if len(b) == 0 {
		return append(dst, match{}), nil
	}
	r := reader{unicodeData(), b}
	for i := 0; i < len(b); {
		end := next(r, i)
		dst = append(dst, match{i, end, true})
		i = end
	}
	return dst, nil
}

// gpt2Pattern is gpt2Source, which covers every text.
type gpt2Pattern struct{}

func (gpt2Pattern) find(dst []match, b []byte, _ *budget) ([]match, error) {
	return findAll(dst, b, func(r reader, i int) int {
		if end := r.contraction(i, false); end > i {
			return end
		}
		start := i
		if r.b[i] == ' ' {
			start++
		}
		p, n := r.at(start)
		switch {
		case n > 0 && p&onigL != 0:
			return r.while(start, onigL)
		case n > 0 && p&onigN != 0:
			return r.while(start, onigN)
		case n > 0 && p&onigS == 0:
			return r.others(start)
		}
		return r.spaces(i)
	})
}

// llamaPattern is llama3Source, or qwen2Source with one digit.
type llamaPattern struct{ digits int }

func (l llamaPattern) find(dst []match, b []byte, _ *budget) ([]match, error) {
	return findAll(dst, b, func(r reader, i int) int {
		if end := r.contraction(i, true); end > i {
			return end
		}
		p, n := r.at(i)
		if p&onigL != 0 {
			return r.while(i, onigL)
		}
		if p&onigN == 0 && r.b[i] != '\r' && r.b[i] != '\n' {
			if q, _ := r.at(i + n); q&onigL != 0 {
				return r.while(i+n, onigL)
			}
		}
		if p&onigN != 0 {
			return r.numbers(i, l.digits)
		}
		return r.rest(i, false)
	})
}

// numbers returns the end of 1 to most numbers.
func (r reader) numbers(i, most int) int {
	for range most {
		p, n := r.at(i)
		if p&onigN == 0 {
			break
		}
		i += n
	}
	return i
}

// rest returns the end of " ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+" at i, where no letter or number is.
func (r reader) rest(i int, slash bool) int {
	start := i
	if r.b[i] == ' ' {
		start++
	}
	if end := r.others(start); end > start {
		return r.lineEnds(end, slash)
	}
	last := -1 // behind the last line end of the spaces
	for k := i; ; {
		p, n := r.at(k)
		if n == 0 || p&onigS == 0 {
			break
		}
		if c := r.b[k]; c == '\r' || c == '\n' {
			last = k + 1
		}
		k += n
	}
	if last >= 0 {
		return last
	}
	return r.spaces(i)
}

// gpt4oPattern is gpt4oSource.
type gpt4oPattern struct{}

func (gpt4oPattern) find(dst []match, b []byte, _ *budget) ([]match, error) {
	return findAll(dst, b, func(r reader, i int) int {
		p, n := r.at(i)
		start := i
		if c := r.b[i]; p&(onigL|onigN) == 0 && c != '\r' && c != '\n' {
			start += n
		}
		for _, letters := range []func(int) int{r.small, r.capital} {
			if end := letters(start); end > start {
				return r.contraction(end, true)
			}
			if end := letters(i); start > i && end > i { // without the character before the letters
				return r.contraction(end, true)
			}
		}
		if p&onigN != 0 {
			return r.numbers(i, 3)
		}
		return r.rest(i, true)
	})
}

// small returns the end of "high*low+" at i, i if there is none: capitals, then small letters; other letters and marks are
// both.
func (r reader) small(i int) int {
	high := r.while(i, onigHigh)
	if low := r.while(high, onigLow); low > high {
		return low
	}
	// The capitals give back, up to the last character that is both.
	for k := high; k > i; {
		c, n := utf8.DecodeLastRune(r.b[i:k])
		if r.d.has(c, onigLow) {
			return k
		}
		k -= n
	}
	return i
}

// capital returns the end of "high+low*" at i, i if there is none.
func (r reader) capital(i int) int {
	if high := r.while(i, onigHigh); high > i {
		return r.while(high, onigLow)
	}
	return i
}
