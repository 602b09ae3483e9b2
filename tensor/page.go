package tensor

import (
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/internal/core/walk"
)

// page writes the brackets and lines around the elements. texts is called once
// with the storage offsets of the elements shown, in the order of printing.
func (e *printer) page(o *PrintOptions, texts func(offs []int) func(i int) string) string {
	lay := &e.a.lay
	n := walk.Ref(lay).Size()
	if n == 0 {
		return "[]"
	}
	p := page{o: o, shape: lay.Shape(), elide: n > o.Threshold}
	p.text = texts(p.offsets(shown(p.shape, p.elide, o.EdgeItems), &e.a.where))
	p.axis(0, 1+o.Indent, o.LineWidth)
	runtime.KeepAlive(e.a.st)
	return string(p.out)
}

// shown lists the positions of each axis that are printed.
func shown(shape []int, elide bool, edge int) [][]int {
	lists := make([][]int, len(shape))
	for k, n := range shape {
		for i := 0; i < n; i++ {
			if elide && 2*edge < n && i == edge {
				i = n - edge
			}
			lists[k] = append(lists[k], i)
		}
	}
	return lists
}

// page is a text in the making.
type page struct {
	o     *PrintOptions
	shape []int
	elide bool
	text  func(i int) string // element i of those shown
	next  int
	out   []byte
}

// offsets returns where the elements shown are, in row-major order.
func (p *page) offsets(lists [][]int, w *where) []int {
	idx, pos := make([]int, len(lists)), make([]int, len(lists))
	n := 1
	for k, l := range lists {
		idx[k] = l[0]
		n *= len(l)
	}
	offs := make([]int, 0, n)
	for range n {
		off, _ := w.lay.At(idx)
		offs = append(offs, w.origin()+off)
		for k := len(lists) - 1; k >= 0; k-- {
			if pos[k]++; pos[k] == len(lists[k]) {
				pos[k] = 0
			}
			idx[k] = lists[k][pos[k]]
			if pos[k] > 0 {
				break
			}
		}
	}
	return offs
}

// axis writes one bracket. Lines after the first start at column indent, and
// end before width; each bracket inside takes one column from either side.
func (p *page) axis(k, indent, width int) {
	if k == len(p.shape) {
		p.out = append(p.out, p.text(p.next)...)
		p.next++
		return
	}
	n, cut := p.shape[k], -1
	if p.elide && 2*p.o.EdgeItems < n {
		n, cut = 2*p.o.EdgeItems, p.o.EdgeItems
	}
	p.out = append(p.out, '[')
	sep := p.o.Separator
	bare := strings.TrimRight(sep, " ")
	if k < len(p.shape)-1 {
		between := bare + strings.Repeat("\n", len(p.shape)-1-k) + strings.Repeat(" ", indent)
		for i := range n {
			if i > 0 {
				p.out = append(p.out, between...)
			}
			if i == cut {
				p.out = append(append(p.out, "..."...), between...)
			}
			p.axis(k+1, indent+1, width-1)
		}
		p.out = append(p.out, ']')
		return
	}
	at, limit := indent, width-max(utf8.RuneCountInString(bare), 1)
	put := func(text string) {
		w := utf8.RuneCountInString(text)
		if at+w > limit && at > indent { // at the start of a line wrapping wouldn't help
			p.out = append(trimRight(p.out), '\n')
			p.out = append(p.out, strings.Repeat(" ", indent)...)
			at = indent
		}
		p.out = append(p.out, text...)
		at += w
	}
	for i := range n {
		if i > 0 {
			p.out = append(p.out, sep...)
			at += utf8.RuneCountInString(sep)
		}
		if i == cut {
			put("...")
			p.out = append(p.out, sep...)
			at += utf8.RuneCountInString(sep)
		}
		put(p.text(p.next))
		p.next++
	}
	p.out = append(p.out, ']')
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
