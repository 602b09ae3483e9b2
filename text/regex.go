package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A regex is a regular expression of Oniguruma in Ruby's syntax, as the reference has them: the part of it that needs no
// captures. Anything else is refused by name. It runs by backtracking within a number of steps.
type regex struct {
	source string
	code   []instr
	slots  int       // of places where a loop began
	runs   sync.Pool // of searches that have ended
}

// An instr is a step of a regex.
type instr struct {
	op   opcode
	set  *runeSet
	x, y int // places in the code; for opBehind, x is the number of characters to step back
	not  bool
}

type opcode uint8

const (
	opMatch  opcode = iota
	opSet           // one character of the set
	opSplit         // first x, then y
	opJump          // to x
	opBegin         // remember the place in slot x
	opEmpty         // go to y if nothing has been matched since opBegin x
	opAhead         // the code up to x matches here, or doesn't
	opBehind        // the code up to y matches a text that ends here
	opAtomic        // the code up to x matches here, once
	opText          // at the beginning of the text
	opEnd           // at the end
	opLine          // at the beginning of a line
	opEOL           // at the end of a line
	opWord          // between a word character and another
)

const (
	maxCode   = 1 << 14 // instructions of a regex, and its parts
	maxVisits = 1 << 18 // parts that are visited while the code is written
	maxRanges = 1 << 18 // ranges of the properties together
	maxLevel  = 200     // groups in groups
)

// compile reads a regular expression.
func compile(source string) (*regex, error) {
	p := &regexParser{s: source, re: &regex{source: source}}
	n, err := p.alternatives(0)
	if err == nil && p.i < len(p.s) {
		err = p.errorf("has a ) without its (")
	}
	if err == nil {
		err = p.emit(n)
	}
	if err != nil {
		return nil, err
	}
	p.add(instr{op: opMatch})
	return p.re, nil
}

// A regexNode is a part of an expression.
type regexNode struct {
	op       opcode
	set      *runeSet
	parts    []*regexNode // of nodeSeq and nodeAny; the body of others
	kind     nodeKind
	min, max int // of nodeLoop; max −1 is without end
	lazy     bool
	not      bool
}

type nodeKind uint8

const (
	nodeOne  nodeKind = iota // one instruction
	nodeSeq                  // parts, one after the other
	nodeAny                  // one of the parts
	nodeLoop                 // the part, again and again
	nodeBody                 // opAhead, opBehind, opAtomic
)

type regexParser struct {
	s    string
	i    int
	fold bool // (?i)
	re   *regex

	parts, visits, ranges int // so far
}

func (p *regexParser) errorf(format string, args ...any) error {
	return fmt.Errorf("the regular expression %.100q %s, at its byte %d", p.s, fmt.Sprintf(format, args...), p.i)
}

// count counts a part of the expression.
func (p *regexParser) count() error {
	if p.parts++; p.parts > maxCode {
		return p.errorf("has more than %d parts", maxCode)
	}
	return nil
}

func (p *regexParser) eat(s string) bool {
	if strings.HasPrefix(p.s[p.i:], s) {
		p.i += len(s)
		return true
	}
	return false
}

// countRanges counts the ranges of a property.
func (p *regexParser) countRanges(set *runeSet) error {
	if p.ranges += len(set.ranges); p.ranges > maxRanges {
		return p.errorf("has properties of more than %d ranges together", maxRanges)
	}
	return nil
}

// alternatives reads up to a closing parenthesis or the end.
func (p *regexParser) alternatives(level int) (*regexNode, error) {
	if level > maxLevel {
		return nil, p.errorf("has groups in groups more than %d deep", maxLevel)
	}
	any := &regexNode{kind: nodeAny}
	defer func(fold bool) { p.fold = fold }(p.fold)
	for {
		if err := p.count(); err != nil {
			return nil, err
		}
		seq := &regexNode{kind: nodeSeq}
		for p.i < len(p.s) && p.s[p.i] != '|' && p.s[p.i] != ')' {
			n, err := p.term(level)
			if err != nil {
				return nil, err
			}
			if n != nil {
				seq.parts = append(seq.parts, n)
			}
		}
		if err := p.checkFolds(seq); err != nil {
			return nil, err
		}
		any.parts = append(any.parts, seq)
		if !p.eat("|") {
			return any, nil
		}
	}
}

// checkFolds refuses letters side by side that are the folding of one character, as ss is that of ß.
func (p *regexParser) checkFolds(seq *regexNode) error {
	for i := 1; p.fold && i < len(seq.parts); i++ {
		a, b := seq.parts[i-1], seq.parts[i]
		if a.set == nil || b.set == nil {
			continue
		}
		for _, pair := range []string{"ss", "st", "ff", "fi", "fl"} {
			if a.set.has(rune(pair[0])) && b.set.has(rune(pair[1])) {
				return p.errorf("has %q where the case doesn't matter, which is one character, too", pair)
			}
		}
	}
	return nil
}

// term reads an atom and its quantifiers.
func (p *regexParser) term(level int) (*regexNode, error) {
	n, err := p.atom(level)
	if err != nil {
		return nil, err
	}
	for p.i < len(p.s) {
		if err := p.count(); err != nil {
			return nil, err
		}
		start := p.i
		lo, hi, interval := 0, -1, false
		switch c := p.s[p.i]; {
		case c == '*':
			p.i++
		case c == '+':
			lo, p.i = 1, p.i+1
		case c == '?':
			hi, p.i = 1, p.i+1
		case c == '{':
			if lo, hi, interval = p.interval(); !interval {
				return n, nil // an ordinary brace, the next atom
			}
		default:
			return n, nil
		}
		if n == nil || n.kind == nodeLoop && !interval || n.kind == nodeOne && n.set == nil || n.kind == nodeBody && n.op != opAtomic {
			p.i = start
			return nil, p.errorf("has a quantifier of a quantifier, of nothing or of an assertion")
		}
		if hi >= 0 && lo > hi || lo > 1000 || hi > 1000 {
			p.i = start
			return nil, p.errorf("has a quantifier that isn't between 0 and 1000")
		}
		n = &regexNode{kind: nodeLoop, parts: []*regexNode{n}, min: lo, max: hi}
		if interval && p.i < len(p.s) && (p.s[p.i] == '?' || p.s[p.i] == '+') {
			return nil, p.errorf("has %q behind an interval, which this package doesn't know", p.s[p.i])
		}
		if p.eat("?") {
			n.lazy = true
		} else if p.eat("+") {
			n = &regexNode{kind: nodeBody, op: opAtomic, parts: []*regexNode{n}}
		}
	}
	return n, nil
}

// interval reads {n}, {n,}, {,m} or {n,m}.
func (p *regexParser) interval() (lo, hi int, ok bool) {
	body, _, found := strings.Cut(p.s[p.i+1:], "}")
	first, second, comma := strings.Cut(body, ",")
	lo, err1 := strconv.Atoi(first)
	hi, err2 := strconv.Atoi(second)
	if !found || first == "" && second == "" || first != "" && (err1 != nil || first[0] < '0') || second != "" && (err2 != nil || second[0] < '0') {
		return 0, 0, false
	}
	if !comma {
		hi = lo
	} else if second == "" {
		hi = -1
	}
	p.i += len(body) + 2
	return lo, hi, true
}

func (p *regexParser) group(level int, n *regexNode) (*regexNode, error) {
	body, err := p.alternatives(level + 1)
	if err != nil {
		return nil, err
	}
	if !p.eat(")") {
		return nil, p.errorf("has a ( without its )")
	}
	if n == nil {
		return body, nil
	}
	n.kind, n.parts = nodeBody, []*regexNode{body}
	return n, nil
}

// atom reads a character, a class, a group or an assertion; nil is a switch such as (?i).
func (p *regexParser) atom(level int) (*regexNode, error) {
	switch {
	case p.eat("(?:"):
		return p.group(level, nil)
	case p.eat("(?="):
		return p.group(level, &regexNode{op: opAhead})
	case p.eat("(?!"):
		return p.group(level, &regexNode{op: opAhead, not: true})
	case p.eat("(?<="):
		return p.group(level, &regexNode{op: opBehind})
	case p.eat("(?<!"):
		return p.group(level, &regexNode{op: opBehind, not: true})
	case p.eat("(?>"):
		return p.group(level, &regexNode{op: opAtomic})
	case p.eat("(?i:"):
		defer func(fold bool) { p.fold = fold }(p.fold)
		p.fold = true
		return p.group(level, nil)
	case p.eat("(?-i:"):
		defer func(fold bool) { p.fold = fold }(p.fold)
		p.fold = false
		return p.group(level, nil)
	case p.eat("(?"):
		return nil, p.errorf("has a group (?, which this package doesn't know: it knows (?: (?= (?! (?<= (?<! (?> (?i: and (?-i:")
	case p.eat("("):
		return p.group(level, nil)
	case p.eat("^"):
		return &regexNode{op: opLine}, nil
	case p.eat("$"):
		return &regexNode{op: opEOL}, nil
	case p.eat("."):
		return &regexNode{op: opSet, set: newSet().add('\n', '\n').negate()}, nil
	case p.eat("["):
		set, err := p.class(level)
		return &regexNode{op: opSet, set: set}, err
	}
	if strings.IndexByte("*+?", p.s[p.i]) >= 0 {
		return nil, p.errorf("has a quantifier of nothing")
	}
	if p.s[p.i] == '\\' && p.i+1 < len(p.s) {
		for _, a := range []struct {
			letter byte
			n      regexNode
		}{{'A', regexNode{op: opText}}, {'z', regexNode{op: opEnd}}, {'b', regexNode{op: opWord}}, {'B', regexNode{op: opWord, not: true}}} {
			if p.s[p.i+1] == a.letter {
				p.i += 2
				return &a.n, nil
			}
		}
	}
	set, r, err := p.element(false)
	if err != nil {
		return nil, err
	}
	if set == nil {
		set = p.letters(newSet().add(r, r))
		if p.fold && r >= utf8.RuneSelf {
			return nil, p.errorf("has %q where the case doesn't matter, which this package knows for ASCII alone", r)
		}
	} else if p.fold && set.cased {
		return nil, p.errorf("has a property where the case doesn't matter, which this package doesn't know")
	}
	return &regexNode{op: opSet, set: set}, nil
}

// letters adds the other cases of ASCII's letters, where the case doesn't matter.
func (p *regexParser) letters(set *runeSet) *runeSet {
	if !p.fold {
		return set
	}
	for c := 'a'; c <= 'z'; c++ {
		all := []rune{c, c - 'a' + 'A'}
		switch c {
		case 'k':
			all = append(all, 0x212a) // the Kelvin sign
		case 's':
			all = append(all, 0x17f) // the long s
		}
		if slices.ContainsFunc(all, set.has) {
			for _, r := range all {
				set.add(r, r)
			}
		}
	}
	return set
}

// wordInClass is the set of \w in brackets. Without them \w has ², ³, ¹, ¼, ½ and ¾, too, as Oniguruma has it.
const wordInClass = "[word]"

// element reads a character or an escape; set is nil for a single character.
func (p *regexParser) element(inClass bool) (set *runeSet, r rune, err error) {
	if p.s[p.i] != '\\' {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += n
		return nil, r, nil
	}
	if p.i+1 == len(p.s) {
		return nil, 0, p.errorf("ends in a backslash")
	}
	c, n := utf8.DecodeRuneInString(p.s[p.i+1:])
	start := p.i
	p.i += 1 + n
	switch c {
	case 'n':
		return nil, '\n', nil
	case 'r':
		return nil, '\r', nil
	case 't':
		return nil, '\t', nil
	case 'f':
		return nil, '\f', nil
	case 'v':
		return nil, '\v', nil
	case 'a':
		return nil, '\a', nil
	case 'e':
		return nil, 0x1b, nil
	case 's', 'w', 'd', 'h', 'S', 'W', 'D', 'H':
		name := `\` + strings.ToLower(string(c))
		if inClass && name == `\w` {
			name = wordInClass
		}
		set = onigSet(name)
		set.cased = false
		if c < 'a' {
			set.negate()
		}
		return set, 0, p.countRanges(set)
	case 'p', 'P':
		name, rest, ok := strings.Cut(p.s[p.i:], "}")
		if !ok || name == "" || name[0] != '{' {
			p.i = start
			return nil, 0, p.errorf("has no property in braces")
		}
		p.i = len(p.s) - len(rest)
		name, not := strings.CutPrefix(name[1:], "^")
		plain := plainName(name)
		if inClass && plain == "word" {
			plain = wordInClass
		}
		if set = onigSet(plain); set == nil {
			p.i = start
			return nil, 0, p.errorf("has the property %q, which this package doesn't know", name)
		}
		if not != (c == 'P') {
			set.negate()
		}
		return set, 0, p.countRanges(set)
	case 'x', 'u':
		digits := p.s[p.i:]
		if c == 'x' && strings.HasPrefix(digits, "{") {
			body, _, ok := strings.Cut(digits[1:], "}")
			v, err := strconv.ParseUint(body, 16, 32)
			if !ok || err != nil || v > utf8.MaxRune {
				return nil, 0, p.errorf("has no character %q", body)
			}
			p.i += len(body) + 2
			return nil, rune(v), nil
		}
		want := 4
		if c == 'x' {
			want = 2
		}
		v, err := strconv.ParseUint(digits[:min(want, len(digits))], 16, 32)
		if err != nil || len(digits) < want || c == 'x' && v >= utf8.RuneSelf {
			return nil, 0, p.errorf("has no character behind \\%c", c)
		}
		p.i += want
		return nil, rune(v), nil
	}
	if c < utf8.RuneSelf && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
		p.i = start
		return nil, 0, p.errorf("has the escape \\%c, which this package doesn't know", c)
	}
	return nil, c, nil
}

// class reads a bracket expression behind its [.
func (p *regexParser) class(level int) (*runeSet, error) {
	if level > maxLevel {
		return nil, p.errorf("has classes in classes more than %d deep", maxLevel)
	}
	not := p.eat("^")
	set := newSet()
	var left *runeSet // of &&
	for first := true; ; first = false {
		if err := p.count(); err != nil {
			return nil, err
		}
		switch {
		case p.i >= len(p.s):
			return nil, p.errorf("has a [ without its ]")
		case p.s[p.i] == ']' && !first:
			p.i++
			if left != nil {
				set = left.and(set)
			}
			if set = p.letters(set); not {
				set.negate()
			}
			return set, nil
		case p.s[p.i] == ']':
			return nil, p.errorf("has an empty class")
		case p.eat("&&"):
			if left != nil {
				set = left.and(set)
			}
			left, set = set, newSet()
			continue
		case p.eat("[:"):
			name, rest, ok := strings.Cut(p.s[p.i:], ":]")
			inverse := strings.HasPrefix(name, "^")
			posix := onigSet("[" + strings.TrimPrefix(name, "^") + "]")
			if !ok || posix == nil {
				return nil, p.errorf("has no POSIX class here that this package knows")
			}
			p.i = len(p.s) - len(rest)
			if inverse {
				posix.negate()
			}
			if err := p.countRanges(posix); err != nil {
				return nil, err
			}
			set.union(posix)
			continue
		case p.eat("["):
			inner, err := p.class(level + 1)
			if err != nil {
				return nil, err
			}
			set.union(inner)
			continue
		}
		other, lo, err := p.element(true)
		if err != nil {
			return nil, err
		}
		if other != nil {
			if p.fold && other.cased {
				return nil, p.errorf("has a property where the case doesn't matter, which this package doesn't know")
			}
			set.union(other)
			continue
		}
		hi := lo
		if p.i+1 < len(p.s) && p.s[p.i] == '-' && p.s[p.i+1] != ']' {
			p.i++
			if p.s[p.i] == '[' {
				return nil, p.errorf("has a range that ends in a class")
			}
			if other, hi, err = p.element(true); err != nil {
				return nil, err
			}
			if other != nil || hi < lo {
				return nil, p.errorf("has a range that doesn't rise")
			}
		}
		if p.fold && hi >= utf8.RuneSelf {
			return nil, p.errorf("has %q where the case doesn't matter, which this package knows for ASCII alone", hi)
		}
		set.add(lo, hi)
	}
}
