package judge

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/layout"
)

// printed reads layouts and tensors as CuTe and its Python DSL print them; a tensor is a pointer and a layout. It passes any other
// text to layout.Eval.
func printed(s string) (c layout.Composed, err error) {
	const op = "Parse"
	if first, _, more := strings.Cut(s, "\n"); more || strings.HasSuffix(s, ":") { // print_tensor has the elements behind it
		if first = strings.TrimRight(first, " :="); strings.Contains(first, "ptr") {
			s = first
		}
	}
	pointer := ""
	switch inner, found := strings.CutPrefix(s, "!cute."); {
	case found:
		open, quote := strings.IndexByte(inner, '<'), strings.IndexByte(inner, '"')
		body, whole := strings.CutSuffix(inner, `">`)
		if open < 0 || quote < open || !whole || len(body) <= quote {
			return c, fail(op, layout.ErrSyntax, "want a layout in quotes, as in !cute.layout<\"(4,5):(5,1)\">")
		}
		pointer, s = body[open+1:quote], body[quote+1:]
	case strings.HasPrefix(s, "tensor<"):
		s = strings.TrimSuffix(s[len("tensor<"):], ">")
	case strings.HasPrefix(s, "tensor("):
		s, _, _ = strings.Cut(s[len("tensor("):], ", data")
		if strings.Count(s, ")") > strings.Count(s, "(") {
			s = strings.TrimSuffix(s, ")")
		}
	}
	if i := strings.Index(s, "ptr"); pointer == "" && i >= 0 {
		end := i + len("ptr")
		for end < len(s) && strings.IndexByte("[(<", s[end]) >= 0 {
			n := closing(s[end:])
			if n < 0 {
				return c, fail(op, layout.ErrSyntax, "want the bracket closed in %q", clip(s[end:]))
			}
			end += n + 1
		}
		rest, before := strings.CutPrefix(s[end:], " o ")
		if !before {
			return c, fail(op, layout.ErrSyntax, "want \" o \" and a layout behind the pointer, before %q", clip(s[end:]))
		}
		pointer, s = s[:end], rest
	}
	if strings.Contains(s, "?") {
		return c, fail(op, layout.ErrSyntax, "%s has dynamic numbers, ?, which aren't known", clip(s))
	}
	if strings.Contains(s, "@") {
		return c, fail(op, layout.ErrSyntax, "%s gives coordinates, and no offsets; ParseAxes reads it, and ashlar layout axes", clip(s))
	}
	for _, prefix := range []string{"S<", "SW_"} { // CuTe DSL's swizzle, and pycute's
		rest, found := strings.CutPrefix(s, prefix)
		if first, behind, many := strings.Cut(rest, " "); found && many {
			s = "Sw<" + strings.ReplaceAll(strings.TrimSuffix(first, ">"), "_", ",") + "> " + behind
		}
	}
	if c, err = layout.Eval(static.Replace(s)); err == nil && pointer != "" {
		c, err = behind(pointer, c)
	}
	return c, err
}

// closing returns the index of the bracket that closes the one at the beginning of s, or -1.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '<':
			depth++
		case ')', ']', '>':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// behind returns the layout of a tensor at a pointer. A swizzle of the pointer permutes byte addresses. behind makes it one of
// elements, like CuTe's as_position_independent_swizzle_layout. The address must be a multiple of the bytes that it permutes.
func behind(pointer string, c layout.Composed) (layout.Composed, error) {
	const op = "Parse"
	none := layout.Composed{}
	if strings.Contains(pointer, "sparse") {
		return none, fail(op, layout.ErrSyntax, "a pointer to sparse elements, %q, isn't read", clip(pointer))
	}
	_, text, found := strings.Cut(pointer, "S<")
	if !found {
		_, text, found = strings.Cut(pointer, "Sw<")
	}
	if !found {
		return c, nil
	}
	p := &scanner{text: text}
	w, err := p.swizzle()
	if err != nil {
		return none, err
	}
	size := elementBits(pointer)
	if !isPower(size) {
		return none, fail(op, layout.ErrSyntax, "%q: the swizzle of the pointer is one of bytes, and the bits of an element, a power of two, aren't given", clip(pointer))
	}
	reach := w.Bits() + w.Base() + max(w.Shift(), -w.Shift())
	if _, hex, found := strings.Cut(pointer, "0x"); found {
		if n := strings.IndexFunc(hex, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }); n >= 0 {
			hex = hex[:n]
		}
		if at, err := strconv.ParseUint(hex, 16, 64); err == nil && bits.TrailingZeros64(at) < reach && at != 0 {
			return none, fail(op, ErrNone, "the address 0x%x isn't a multiple of the %d bytes that the swizzle permutes; offsets from it depend on it", at, 1<<reach)
		}
	}
	in, plain := c.Plain()
	base := w.Base() + 3 - log2(size)
	if !plain || base < 0 {
		return none, fail(op, ErrNone, "the swizzle of the pointer moves bytes within an element of %d bits, or stands over another", size)
	}
	if w, err = layout.NewSwizzle(w.Bits(), base, w.Shift()); err != nil {
		return none, err
	}
	return layout.NewComposed(w, 0, in)
}

// elementBits returns the bits of a pointer's elements: smem_ptr[16b](unset), ptr<f16, smem>, raw_ptr(0x0: f16, smem), f16, smem.
func elementBits(pointer string) int {
	t := pointer
	for _, before := range []string{"ptr[", "ptr<", ": "} {
		if _, rest, ok := strings.Cut(pointer, before); ok {
			t = rest
			break
		}
	}
	t = strings.TrimLeft(strings.TrimSpace(t), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, _ := (&scanner{text: t}).number()
	return n
}
