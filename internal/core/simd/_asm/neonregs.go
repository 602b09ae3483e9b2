package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// The instructions of neon, and the allocation of their registers.

// vector and integer return new registers.
func (n *neon) vector() virtual {
	n.vectors++
	return virtual(n.vectors - 1)
}

func (n *neon) integer() virtual {
	n.ints++
	return virtual(-n.ints)
}

// pin keeps a register for all of the function.
func (n *neon) pin(v virtual) virtual {
	n.pinned[v] = true
	return v
}

// line adds an instruction of Go's assembler. The last register is the result, except in comparisons, branches and stores.
func (n *neon) line(format string, regs ...virtual) {
	outs := 0
	if len(regs) > 0 && !strings.Contains(format, "CMP") && !strings.HasPrefix(format, "T") && !strings.HasPrefix(format, "CB") && !strings.HasPrefix(format, "MOVD R%d, (") {
		outs = 1
		regs = append([]virtual{regs[len(regs)-1]}, regs[:len(regs)-1]...)
	}
	n.code = append(n.code, armInst{regs: regs, outs: outs, text: func(r []int) string {
		if outs == 1 {
			r = append(slices.Clone(r[1:]), r[0])
		}
		args := make([]any, len(r))
		for i := range r {
			args[i] = r[i]
		}
		return fmt.Sprintf(format, args...)
	}})
}

// modify adds an instruction that changes its first register. The format has indexed verbs.
func (n *neon) modify(format string, regs ...virtual) {
	n.code = append(n.code, armInst{regs: regs, outs: 1, keeps: true, text: func(r []int) string {
		args := make([]any, len(r))
		for i := range r {
			args[i] = r[i]
		}
		return fmt.Sprintf(format, args...)
	}})
}

// op adds an instruction of the encoder.
func (n *neon) op(name, of string, imm int, regs ...virtual) {
	i := instructions[name]
	outs := 1
	if strings.HasPrefix(name, "str") {
		outs = 0
	}
	n.code = append(n.code, armInst{regs: regs, outs: outs, keeps: i.keeps, text: func(r []int) string { return written(name, of, imm, r...) }})
}

// written returns an instruction in the syntax of Go's assembler.
func written(name, of string, imm int, r ...int) string {
	word, text := encode(name, of, imm, r...)
	return fmt.Sprintf("WORD $0x%08x // %s", word, text)
}

// allocated assigns the real registers and returns the text. It reports false if there are too few.
func (n *neon) allocated() ([]byte, bool) {
	last := make(map[virtual]int)
	for i, in := range n.code {
		for _, r := range in.regs {
			last[r] = i
		}
	}
	var vectors, ints []int
	for i := 31; i >= 0; i-- {
		vectors = append(vectors, i)
	}
	for _, r := range slices.Backward(intRegisters) {
		ints = append(ints, r)
	}
	place := make(map[virtual]int)
	take := func(v virtual) bool {
		if _, ok := place[v]; ok {
			return true
		}
		free := &vectors
		if v < 0 {
			free = &ints
		}
		if len(*free) == 0 {
			return false
		}
		place[v] = (*free)[len(*free)-1]
		*free = (*free)[:len(*free)-1]
		return true
	}
	release := func(v virtual) {
		if v < 0 {
			ints = append(ints, place[v])
		} else {
			vectors = append(vectors, place[v])
		}
	}
	var out bytes.Buffer
	for i, in := range n.code {
		if in.moves && last[in.regs[1]] == i && !n.pinned[in.regs[1]] && !n.pinned[in.regs[0]] { // the register gets another name
			place[in.regs[0]] = place[in.regs[1]]
			continue
		}
		reads := in.regs[in.outs:]
		for _, r := range reads {
			if _, ok := place[r]; !ok {
				panic(fmt.Sprintf("%s%s: %s reads what nothing wrote", n.k.table, n.k.field, in.text(make([]int, len(in.regs)))))
			}
		}
		dying := func() {
			for j, r := range reads {
				if last[r] == i && !n.pinned[r] && !slices.Contains(reads[:j], r) && !slices.Contains(in.regs[:in.outs], r) {
					release(r)
				}
			}
		}
		if !in.keeps { // the result may go to a register that is free after this instruction
			dying()
		}
		for _, r := range in.regs[:in.outs] {
			if !take(r) {
				return nil, false
			}
		}
		if in.keeps {
			dying()
		}
		real := make([]int, len(in.regs))
		for j, r := range in.regs {
			real[j] = place[r]
		}
		text := in.text(real)
		if !(in.moves && real[0] == real[1]) {
			if !strings.HasSuffix(text, ":") {
				out.WriteByte('\t')
			}
			out.WriteString(text + "\n")
		}
		for _, r := range in.regs[:in.outs] {
			if last[r] == i && !n.pinned[r] { // nobody reads it
				release(r)
			}
		}
	}
	return out.Bytes(), true
}
