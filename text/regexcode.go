package text

func (p *regexParser) add(in instr) int {
	if in.set != nil {
		in.set.sorted() // now, as several goroutines may run the code
	}
	p.re.code = append(p.re.code, in)
	return len(p.re.code) - 1
}

// emit writes the code of a node.
func (p *regexParser) emit(n *regexNode) error {
	code := func() int { return len(p.re.code) }
	if p.visits++; code() > maxCode || p.visits > maxVisits {
		return p.errorf("has more than %d steps", maxCode)
	}
	switch n.kind {
	case nodeOne:
		p.add(instr{op: n.op, set: n.set, not: n.not})
	case nodeSeq:
		for _, part := range n.parts {
			if err := p.emit(part); err != nil {
				return err
			}
		}
	case nodeAny:
		var ends []int
		for i, part := range n.parts {
			split := -1
			if i+1 < len(n.parts) {
				split = p.add(instr{op: opSplit, x: code() + 1})
			}
			if err := p.emit(part); err != nil {
				return err
			}
			if split >= 0 {
				ends = append(ends, p.add(instr{op: opJump}))
				p.re.code[split].y = code()
			}
		}
		for _, e := range ends {
			p.re.code[e].x = code()
		}
	case nodeLoop:
		return p.emitLoop(n)
	case nodeBody:
		at := p.add(instr{op: n.op, not: n.not})
		if n.op == opBehind {
			length, ok := width(n.parts[0])
			if !ok {
				return p.errorf("looks behind for a text whose length isn't fixed")
			}
			p.re.code[at].x = length
		}
		if err := p.emit(n.parts[0]); err != nil {
			return err
		}
		p.add(instr{op: opMatch})
		if n.op == opBehind {
			p.re.code[at].y = code()
		} else {
			p.re.code[at].x = code()
		}
	}
	return nil
}

func (p *regexParser) emitLoop(n *regexNode) error {
	body := n.parts[0]
	for range n.min {
		if err := p.emit(body); err != nil {
			return err
		}
	}
	split := func() int {
		at := p.add(instr{op: opSplit})
		if n.lazy {
			p.re.code[at].y = at + 1
		} else {
			p.re.code[at].x = at + 1
		}
		return at
	}
	leave := func(at int) {
		if n.lazy {
			p.re.code[at].x = len(p.re.code)
		} else {
			p.re.code[at].y = len(p.re.code)
		}
	}
	if n.max >= 0 {
		var splits []int
		for range n.max - n.min {
			splits = append(splits, split())
			if err := p.emit(body); err != nil {
				return err
			}
		}
		for _, at := range splits {
			leave(at)
		}
		return nil
	}
	at := split()
	one := body.kind == nodeOne // it can't match nothing
	slot := p.re.slots
	if !one {
		p.re.slots++
		p.add(instr{op: opBegin, x: slot})
	}
	if err := p.emit(body); err != nil {
		return err
	}
	empty := -1
	if !one {
		empty = p.add(instr{op: opEmpty, x: slot})
	}
	p.add(instr{op: opJump, x: at})
	leave(at)
	if empty >= 0 {
		p.re.code[empty].y = len(p.re.code)
	}
	return nil
}

// width returns the number of characters that a node matches, if it is fixed.
func width(n *regexNode) (int, bool) {
	switch n.kind {
	case nodeOne:
		if n.op == opSet {
			return 1, true
		}
		return 0, true
	case nodeBody:
		if n.op == opAtomic {
			return width(n.parts[0])
		}
		return 0, true
	case nodeLoop:
		w, ok := width(n.parts[0])
		return w * n.min, ok && n.min == n.max
	}
	total := 0
	for i, part := range n.parts {
		w, ok := width(part)
		if !ok || n.kind == nodeAny && i > 0 && w != total {
			return 0, false
		}
		if n.kind == nodeAny {
			total = w
		} else {
			total += w
		}
	}
	return total, true
}
