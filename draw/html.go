//go:build !layoutonly

package draw

import (
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/tensor"
)

// HTML returns a tensor as a table for notebooks and pages. It needs no scripts and no
// style sheet. A line has type and shape. The elements are written as tensor.Sprint
// writes them; beyond 1000 elements, only three at each end of an axis are read and
// shown. Rows and columns are numbered. For a rank over 2, each matrix of the last two
// axes is a separate table.
//
// For a tensor that is closed or has no elements of its own, HTML returns its printed text.
func HTML(t tensor.Any) string {
	text := tensor.Sprint(t, &tensor.PrintOptions{Separator: "\t", LineWidth: math.MaxInt32})
	p := &htmlPage{shape: t.Shape()}
	p.out.WriteString(`<div style="font-family:monospace">` + "\n")
	switch {
	case len(p.shape) > 0 && text[0] != '[': // no elements to show
		p.out.WriteString("<p>" + html.EscapeString(text) + "</p>\n")
	case t.Len() == 0:
		p.out.WriteString("<p>" + html.EscapeString(tensor.Describe(t)) + " []</p>\n")
	default:
		p.out.WriteString("<p>" + html.EscapeString(tensor.Describe(t)) + "</p>\n")
		p.rest = text
		p.at = make([]int, len(p.shape))
		p.axis(0)
	}
	p.out.WriteString("</div>\n")
	return p.out.String()
}

// htmlPage turns the text of Sprint, cells separated by tabs, into tables.
type htmlPage struct {
	rest  string
	shape []int
	at    []int // the index of the next part
	out   strings.Builder
}

const (
	dots     = "..."
	cellHTML = ` style="text-align:right;white-space:pre;padding:0 .5em"`
	headHTML = ` style="text-align:right;padding:0 .5em;opacity:.5;font-weight:normal"`
)

// axis reads the text of axis k: a bracket with its parts, or a number.
func (p *htmlPage) axis(k int) {
	rank := len(p.shape)
	if k == max(rank-2, 0) {
		p.table(k)
		return
	}
	p.skip('[')
	for p.at[k] = 0; p.rest[0] != ']'; p.at[k]++ {
		if p.dots() {
			p.out.WriteString("<p>…</p>\n")
			p.jump(k)
			continue
		}
		p.axis(k + 1)
		p.space()
	}
	p.skip(']')
	p.space()
}

// table reads the last two axes, or fewer if there are fewer.
func (p *htmlPage) table(k int) {
	if k > 0 {
		p.out.WriteString("<p>[")
		for _, i := range p.at[:k] {
			p.out.WriteString(strconv.Itoa(i) + ", ")
		}
		p.out.WriteString(":, :]</p>\n")
	}
	p.out.WriteString(`<table style="border-collapse:collapse">` + "\n")
	switch len(p.shape) - k {
	case 0:
		p.out.WriteString("<tr><td" + cellHTML + ">" + html.EscapeString(p.rest) + "</td></tr>\n")
		p.rest = ""
	case 1:
		p.row(k, "")
	default:
		p.skip('[')
		for p.at[k] = 0; p.rest[0] != ']'; p.at[k]++ {
			if p.dots() {
				p.out.WriteString("<tr><th" + headHTML + ">⋮</th></tr>\n")
				p.jump(k)
				continue
			}
			p.row(k+1, strconv.Itoa(p.at[k]))
			p.space()
		}
		p.skip(']')
	}
	p.out.WriteString("</table>\n")
	p.space()
}

// row reads the last axis. The first row of a table has the columns' numbers above it.
func (p *htmlPage) row(k int, head string) {
	p.skip('[')
	inside, rest, _ := strings.Cut(p.rest, "]")
	p.rest = rest
	numbers, cells := "", ""
	if head != "" {
		numbers, cells = "<th></th>", "<th"+headHTML+">"+head+"</th>"
	}
	p.at[k] = 0
	for _, word := range strings.Split(inside, "\t") {
		if strings.TrimSpace(word) == dots {
			numbers += "<th></th>"
			cells += "<td" + cellHTML + ">…</td>"
			p.jump(k)
		} else {
			numbers += "<th" + headHTML + ">" + strconv.Itoa(p.at[k]) + "</th>"
			cells += "<td" + cellHTML + ">" + html.EscapeString(word) + "</td>"
		}
		p.at[k]++
	}
	if head == "" || p.at[k-1] == 0 {
		p.out.WriteString("<tr>" + numbers + "</tr>\n")
	}
	p.out.WriteString("<tr>" + cells + "</tr>\n")
}

// jump moves along axis k to just before the three elements at its end.
func (p *htmlPage) jump(k int) {
	const edge = 3 // as in Sprint
	p.at[k] = p.shape[k] - edge - 1
}

func (p *htmlPage) skip(c byte) {
	p.rest = strings.TrimPrefix(p.rest, string(c))
}

func (p *htmlPage) space() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

// dots skips the dots that stand for elements left out, if they come next.
func (p *htmlPage) dots() bool {
	rest, ok := strings.CutPrefix(p.rest, dots)
	if ok {
		p.rest = rest
		p.space()
	}
	return ok
}
