package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestFits refuses elements wider than the screen, and shifts while the page loads.
func TestFits(t *testing.T) {
	names := []string{"first", "run"}
	if *long {
		names = names[:0]
		for name := range views {
			names = append(names, name)
		}
	}
	for _, width := range []int{360, 390, 1920} {
		b := open(t, width, 900)
		for _, name := range names {
			b.visit(views[name])
			if got := eval[int](b, "document.documentElement.scrollWidth"); got > width {
				t.Errorf("%s: %d pixels wide at %d", name, got, width)
			}
			if name == "run" {
				b.ranOn("seven.png")
				if got := eval[int](b, "document.documentElement.scrollWidth"); got > width {
					t.Errorf("%s: %d pixels wide at %d, after a run", name, got, width)
				}
			}
			shift := eval[float64](b, `new Promise(done => {
				let sum = 0;
				const o = new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) sum += e.value; });
				o.observe({type: "layout-shift", buffered: true});
				setTimeout(() => done(sum), 100);
			})`)
			if shift > 0.02 && (name == "first" || name == "banks") {
				t.Errorf("%s at %d: what was drawn shifts by %.3f", name, width, shift)
			}
		}
	}
	b := open(t, 1280, 900)
	b.visit("")
	t.Logf("first drawing after %.0f ms, with the program loaded from this machine", eval[float64](b, `performance.getEntriesByName("drawn")[0].startTime`))
}

// contrast computes the least contrast of all text on the page to what is behind it, by WCAG 2's formula.
const contrast = `(() => {
	const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgb = c => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
	const light = ([r, g, b]) => [r, g, b].map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4).reduce((s, x, i) => s + x * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
	let least = 99, where = "";
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.textContent.trim() || !e.checkVisibility() || e.closest("svg, select, :disabled, noscript")) continue;
		const style = getComputedStyle(e), back = behind(e), fore = rgb(style.color);
		let opacity = 1;
		for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
		if (opacity === 0) continue;
		const mixed = fore.slice(0, 3).map((x, i) => x * opacity + back[i] * (1 - opacity));
		const [a, b] = [light(mixed), light(back)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < least) { least = ratio; where = e.tagName + "." + e.className + ": " + walk.currentNode.textContent.slice(0, 30); }
	}
	return [least.toFixed(2), where];
})()`

// TestContrast holds all text to WCAG's level AA, 4.5 to 1, in both themes.
func TestContrast(t *testing.T) {
	b := open(t, 1280, 900)
	names := []string{"first", "values", "compare", "verdict", "banks", "convert", "tensors"}
	if !*long {
		names = names[:1]
	}
	for _, name := range names {
		b.visit(views[name])
		for _, theme := range []string{"light", "dark"} {
			got := eval[[]string](b, fmt.Sprintf("document.documentElement.dataset.theme = %q, %s", theme, contrast))
			if strings.Compare(fmt.Sprintf("%6s", got[0]), "  4.50") < 0 {
				t.Errorf("%s, %s: %s to 1 at %s", theme, name, got[0], got[1])
			}
		}
	}
}

// TestPictures compares the page with pictures that a person looked at. They are a quarter as wide, as fonts differ between
// machines; -update writes them.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name, view, theme string
		width             int
	}{
		{"first", "first", "light", 1280}, {"first-dark", "first", "dark", 1280}, {"first-narrow", "first", "light", 360},
		{"banks", "banks", "light", 1280}, {"verdict", "verdict", "dark", 1280}, {"convert", "convert", "light", 1280},
	} {
		if !*long && !*update && c.name != "first" {
			continue
		}
		b := open(t, c.width, 900)
		b.visit(views[c.view])
		b.do(chromedp.Evaluate(fmt.Sprintf("document.documentElement.dataset.theme = %q; document.activeElement.blur()", c.theme), nil))
		var shot []byte
		b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			shot, err = page.CaptureScreenshot().WithClip(&page.Viewport{Width: float64(c.width), Height: 900, Scale: 0.25}).Do(ctx)
			return err
		}))
		file := filepath.Join("testdata", c.name+".png")
		if *update {
			if err := os.WriteFile(file, shot, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := distance(shot, want)
		if err != nil || d > 0.04 {
			t.Errorf("%s: %.4f of full scale from the picture, more than 0.04, %v; look at it, and write it with -update", c.name, d, err)
		}
	}
}

// distance is the mean difference of two pictures, from 0 to 1. Letters of other fonts change little of it.
func distance(a, b []byte) (float64, error) {
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return 1, err
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return 1, err
	}
	if x.Bounds() != y.Bounds() {
		return 1, fmt.Errorf("%v and %v", x.Bounds(), y.Bounds())
	}
	sum, n := 0.0, 0
	const block = 5 // the mean of a block hides where letters are
	for top := 0; top+block <= x.Bounds().Dy(); top += block {
		for left := 0; left+block <= x.Bounds().Dx(); left += block {
			p, q := mean(x, left, top, block), mean(y, left, top, block)
			for k := range p {
				sum += max(p[k]-q[k], q[k]-p[k])
				n++
			}
		}
	}
	return sum / float64(n), nil
}

func mean(m image.Image, left, top, block int) (c [3]float64) {
	for y := range block {
		for x := range block {
			r, g, b, _ := m.At(m.Bounds().Min.X+left+x, m.Bounds().Min.Y+top+y).RGBA()
			for k, v := range []uint32{r, g, b} {
				c[k] += float64(v) / 0xffff / float64(block*block)
			}
		}
	}
	return c
}
