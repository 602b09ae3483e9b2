package draw

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"
)

// WriteSVG writes the picture as SVG, a pixel to a unit.
func (m *Map) WriteSVG(w io.Writer) error {
	if err := writable("Map.WriteSVG", w); err != nil {
		return err
	}
	_, err := io.WriteString(w, m.scene().svg())
	return err
}

// svg joins the rectangles of a paint to one path, and the texts of a style to one group. That keeps the picture the same:
// only the lines of blocks overlap cells of another paint, and only texts overlap both.
func (s *scene) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", s.w, s.h, s.w, s.h)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(s.title))
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", s.w-1, s.h-1, hex(paint(panel)), hex(paint(border)))
	if len(s.curves) > 0 {
		fmt.Fprintf(&b, `<path fill="none" stroke="%s" d="%s"/>`+"\n", hex(paint(faint)), strings.Join(s.curves, "\n"))
		fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", hex(paint(faint)), strings.Join(s.heads, ""))
	}
	var order []int
	paths := make(map[int]*strings.Builder)
	for _, r := range s.rects {
		if paths[r.paint] == nil {
			paths[r.paint] = new(strings.Builder)
			order = append(order, r.paint)
		}
		fmt.Fprintf(paths[r.paint], "M%d %dh%dv%dh-%dz", r.x, r.y, r.w, r.h, r.w)
	}
	slices.Sort(order)
	for _, p := range order {
		fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", hex(paint(p)), paths[p])
	}
	b.WriteString(`<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace">` + "\n")
	type style struct {
		anchor anchor
		bold   bool
		paint  int
	}
	var styles []style
	groups := make(map[style]*strings.Builder)
	for _, t := range s.texts {
		if t.s == "" {
			continue
		}
		k := style{t.anchor, t.bold, t.paint}
		if groups[k] == nil {
			groups[k] = new(strings.Builder)
			styles = append(styles, k)
		}
		fmt.Fprintf(groups[k], `<text x="%d" y="%d">%s</text>`+"\n", t.x, t.y, escape(t.s))
	}
	for _, k := range styles {
		size := `font-size="11"`
		if k.bold {
			size = `font-size="13" font-weight="600"`
		}
		fmt.Fprintf(&b, `<g %s text-anchor="%s" fill="%s">`+"\n%s</g>\n", size, []string{"middle", "start", "end"}[k.anchor], hex(paint(k.paint)), groups[k])
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // can't happen: a Builder doesn't fail
	}
	return b.String()
}
