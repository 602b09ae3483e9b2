package text

import (
	"fmt"
	"unicode/utf8"
)

// A regexRun is a search that runs.
type regexRun struct {
	re    *regex
	b     []byte
	stack []regexState
	steps int64 // left
	most  int   // states on the stack
	slots []int32
}

// Ways not yet tried: most for a text, and for each of its bytes. They bound the memory.
const (
	baseStates = 1 << 16
	byteStates = 1 << 4
)

// A regexState is a way not yet tried, or the old value of a slot.
type regexState struct{ pc, pos int32 }

// stepsError says that a regular expression took too many steps.
type stepsError struct{ source string }

func (e stepsError) Error() string {
	return fmt.Sprintf("the regular expression %.100q takes too many steps over this text: cut it into shorter ones, or write the expression with fewer ways to match", e.source)
}

// find appends the places where the expression matches, and the parts between them, as the reference's binding does: an
// empty match right behind a match is skipped.
func (re *regex) find(dst []match, b []byte, left *budget) ([]match, error) {
	if len(b) == 0 {
		return append(dst, match{}), nil
	}
	r, _ := re.runs.Get().(*regexRun)
	if r == nil {
		r = &regexRun{re: re, slots: make([]int32, re.slots)}
	}
	r.b, r.steps, r.most = b, left.steps, baseStates+byteStates*len(b)
	defer func() {
		r.b, left.steps = nil, r.steps
		re.runs.Put(r)
	}()
	prev, last := 0, -1 // the ends of the covered text and of the last match
	for at := 0; at <= len(b); {
		start, end := r.search(at)
		if r.steps < 0 {
			return dst, stepsError{re.source}
		}
		if start < 0 {
			break
		}
		if start == end && end == last {
			n := 1
			if at < len(b) {
				_, n = decodeRune(b, at)
			}
			at += n
			continue
		}
		if prev != start {
			dst = append(dst, match{prev, start, false})
		}
		dst = append(dst, match{start, end, true})
		prev, at, last = end, end, end
	}
	if prev != len(b) {
		dst = append(dst, match{prev, len(b), false})
	}
	return dst, nil
}

// search returns the first match from a place on, -1 if there is none.
func (r *regexRun) search(at int) (start, end int) {
	for ; at <= len(r.b) && r.steps >= 0; at++ {
		if at < len(r.b) && !utf8.RuneStart(r.b[at]) {
			continue
		}
		if end = r.run(0, at); end >= 0 {
			return at, end
		}
	}
	return -1, -1
}

// run returns the end of the match of the code at pc that begins at pos, -1 if there is none.
func (r *regexRun) run(pc, pos int) int {
	base := len(r.stack)
	defer func() { r.stack = r.stack[:base] }()
	push := func(pc, pos int) {
		if len(r.stack) >= r.most {
			r.steps = -1
			return
		}
		r.stack = append(r.stack, regexState{int32(pc), int32(pos)})
	}
	for {
		if r.steps--; r.steps < 0 {
			return -1
		}
		in := &r.re.code[pc]
		ok := true
		switch in.op {
		case opMatch:
			return pos
		case opSet:
			if ok = pos < len(r.b); ok {
				c, n := rune(r.b[pos]), 1
				if c >= utf8.RuneSelf {
					c, n = decodeRune(r.b, pos)
				}
				ok = in.set.has(c)
				pos, pc = pos+n, pc+1
			}
		case opSplit:
			push(in.y, pos)
			pc = in.x
		case opJump:
			pc = in.x
		case opBegin:
			push(-1-in.x, int(r.slots[in.x]))
			r.slots[in.x] = int32(pos)
			pc++
		case opEmpty:
			if pc++; int(r.slots[in.x]) == pos {
				pc = in.y
			}
		case opAhead:
			ok = r.run(pc+1, pos) >= 0 != in.not
			pc = in.x
		case opBehind:
			r.steps -= int64(in.x)
			from := pos
			for n := in.x; n > 0 && from >= 0; n-- {
				if from--; from >= 0 {
					for !utf8.RuneStart(r.b[from]) {
						from--
					}
				}
			}
			ok = (from >= 0 && r.run(pc+1, from) >= 0) != in.not
			pc = in.y
		case opAtomic:
			end := r.run(pc+1, pos)
			ok, pos, pc = end >= 0, end, in.x
		default:
			ok = r.assert(in, pos) != in.not
			pc++
		}
		if ok {
			continue
		}
		for {
			if len(r.stack) == base {
				return -1
			}
			s := r.stack[len(r.stack)-1]
			r.stack = r.stack[:len(r.stack)-1]
			if s.pc >= 0 {
				pc, pos = int(s.pc), int(s.pos)
				break
			}
			r.slots[-1-s.pc] = s.pos
		}
	}
}

func (r *regexRun) assert(in *instr, pos int) bool {
	switch in.op {
	case opText:
		return pos == 0
	case opEnd:
		return pos == len(r.b)
	case opLine:
		return pos == 0 || r.b[pos-1] == '\n' && pos < len(r.b)
	case opEOL:
		return pos == len(r.b) || r.b[pos] == '\n'
	}
	before, after := false, false
	if pos > 0 {
		c, _ := utf8.DecodeLastRune(r.b[:pos])
		before = wordSet().has(c)
	}
	if pos < len(r.b) {
		c, _ := decodeRune(r.b, pos)
		after = wordSet().has(c)
	}
	return before != after
}
