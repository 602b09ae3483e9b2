package main

import (
	"flag"
	"fmt"
	"html"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var updatePlot = flag.Bool("update", false, "draw docs/fixed-point/errors.svg anew")

// docs/fixed-point.md shows its table of errors as a picture.
func TestFixedPlot(t *testing.T) {
	const page, picture = "../../docs/fixed-point.md", "../../docs/fixed-point/errors.svg"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	names, errs, err := errorTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := errorPlot(names, errs)
	if *updatePlot {
		if err := os.WriteFile(picture, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s isn't the table of %s: go test ./conformance/verify -run Plot -update", picture, page)
	}
	if !strings.Contains(string(text), "](fixed-point/errors.svg)") {
		t.Errorf("%s doesn't show the picture", page)
	}
}

// errorTable returns the functions and the errors of FP16x16 and FP8x23 of the table that starts with Orion.
func errorTable(page string) (names []string, errs [2][]float64, err error) {
	_, table, ok := strings.Cut(page, "\n| Orion |")
	if !ok {
		return nil, errs, fmt.Errorf("there is no table of Orion's errors")
	}
	lines := strings.SplitN(table, "\n", 5)
	if len(lines) < 4 {
		return nil, errs, fmt.Errorf("the table of Orion's errors has %d lines", len(lines))
	}
	cells := func(line string) []string {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		return row
	}
	names = cells(lines[0])
	for i := range errs {
		row := cells(lines[2+i])
		if len(row) != len(names)+1 {
			return nil, errs, fmt.Errorf("%d functions, and in %q %d errors", len(names), row[0], len(row)-1)
		}
		for _, c := range row[1:] {
			e, err := strconv.ParseFloat(strings.ReplaceAll(c, ",", ""), 64)
			if err != nil || e < 0.5 || e > 1e8 {
				return nil, errs, fmt.Errorf("%q: the error %q: it wants a number from 0.5 to 10^8", row[0], c)
			}
			errs[i] = append(errs[i], e)
		}
	}
	return names, errs, nil
}

// errorPlot draws the errors on a logarithmic scale, and a half as a line.
func errorPlot(names []string, errs [2][]float64) string {
	const left, top, row, decade, low = 92, 64, 22, 62, -1
	width, height := left+9*decade+24, top+row*len(names)+40
	x := func(e float64) float64 { return left + decade*(math.Log10(e)-low) }
	bottom := top + row*len(names)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>Largest errors of functions in fixed point</title>
<rect x=".5" y=".5" width="%[3]d" height="%[4]d" rx="8" fill="#ffffff" stroke="#d0d7de"/>
<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="11" fill="#424a53">
<text x="16" y="29" font-size="13" font-weight="600" fill="#1f2328">Largest error, in units of the format</text>
<rect x="16" y="39" width="12" height="8" fill="#e07b39"/><text x="34" y="47">Orion FP16x16</text>
<rect x="146" y="39" width="12" height="8" fill="#fcd39d"/><text x="164" y="47">Orion FP8x23</text>
<rect x="270" y="37" width="2" height="12" fill="#1f6feb"/><text x="280" y="47">Ashlar: a half, in every format</text>
`, width, height, width-1, height-1)
	for e := low; e <= low+9; e++ {
		at := left + decade*(e-low)
		fmt.Fprintf(&b, "<path d=\"M%d %dV%d\" stroke=\"#eaeef2\"/>", at, top-6, bottom+4)
		label := "1"
		switch {
		case e == -1:
			label = "0.1"
		case e == 1:
			label = "10"
		case e > 1:
			label = fmt.Sprintf(`10<tspan dy="-4" font-size="8">%d</tspan>`, e)
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at, bottom+20, label)
	}
	for i, name := range names {
		y := top + row*i
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", left-8, y+13, html.EscapeString(name))
		for k, color := range []string{"#e07b39", "#fcd39d"} {
			fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"8\" fill=\"%s\"><title>%s</title></rect>", left, y+1+9*k, x(errs[k][i])-left, color,
				strconv.FormatFloat(errs[k][i], 'f', -1, 64))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "<path d=\"M%.1f %dV%d\" stroke=\"#1f6feb\" stroke-width=\"2\"/>\n</g>\n</svg>\n", x(0.5), top-6, bottom+4)
	return b.String()
}

// A table that has a cell too few, or one that isn't a number, is found out.
func TestFixedPlotTable(t *testing.T) {
	for _, page := range []string{"", "\n| Orion | exp |", "\n| Orion | exp |\n|-|-|\n| a | 1 |\n| b |\n", "\n| Orion | exp |\n|-|-|\n| a | 1 |\n| b | x |\n"} {
		if _, _, err := errorTable(page); err == nil {
			t.Errorf("no error for %q", page)
		}
	}
	if names, errs, err := errorTable("\n| Orion | exp | log |\n|-|-|-|\n| a | 1 | 1,000 |\n| b | 2 | 3.5 |\nmore"); err != nil || len(names) != 2 || errs[0][1] != 1000 || errs[1][1] != 3.5 {
		t.Error(names, errs, err)
	}
}
