// Command tables writes the tables and charts of README.md and docs from the figures in bench/results, each with the machine, the commit,
// the date and the command that made it:
//
//	go run ./tables
//
// A page has a table between the lines <!-- table NAME --> and <!-- end -->. A test compares the pages with the figures.
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
)

var pages = []string{"README.md", "docs/performance.md", "docs/kernels.md", "docs/platforms.md"}

func main() {
	log.SetFlags(0)
	files, err := made("..")
	if err != nil {
		log.Fatal("tables: ", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join("..", name), text, 0o666); err != nil {
			log.Fatal("tables: ", err)
		}
	}
}

var place = regexp.MustCompile(`(?s)(<!-- table (\S+) -->\n).*?(<!-- end -->)`)

// made returns the pages and charts below root as the figures make them.
func made(root string) (map[string][]byte, error) {
	r, err := read(filepath.Join(root, "bench", "results"))
	if err != nil {
		return nil, err
	}
	tables := r.tables()
	files := map[string][]byte{}
	used := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, err
		}
		files[page] = place.ReplaceAllFunc(text, func(block []byte) []byte {
			m := place.FindSubmatch(block)
			name := string(m[2])
			used[name] = true
			table, ok := tables[name]
			if !ok {
				err = fmt.Errorf("%s: bench/results has no table %s", page, name)
			}
			return slices.Concat(m[1], []byte(table), m[3])
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if !used[name] {
			return nil, fmt.Errorf("no page has a place for the table %s", name)
		}
	}
	for name, bars := range r.charts() {
		var b bytes.Buffer
		if err := bars.WriteSVG(&b); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	return files, nil
}

// charts returns the charts by their files. A bar is a ratio in per cent.
func (r *results) charts() map[string]draw.Bars {
	const equal = "as fast: 100"
	models := draw.Bars{Title: "Models: ONNX Runtime's time over Ashlar's, %, one thread", Rows: []draw.Bar{{Label: equal, Value: 100}}}
	for _, m := range r.measured(r.models) {
		models.Rows = append(models.Rows, draw.Bar{Label: m.name, Value: percent(m.on[1].Ratio)})
	}
	rows := draw.Bars{Title: "Operators: the best rival's time over Ashlar's, %, one thread, Emerald Rapids", Rows: []draw.Bar{{Label: equal, Value: 100}}}
	for _, t := range r.rows.Tables {
		if t.Name != "products" && t.Name != "large" {
			continue
		}
		for _, c := range t.Rows {
			if v := c.On["Emerald Rapids"]; v != nil {
				rows.Rows = append(rows.Rows, draw.Bar{Label: strings.TrimSuffix(c.Case, "/4096x4096"), Value: percent(v.Ratio)})
			}
		}
	}
	numpy := draw.Bars{Title: "Sorting, selecting, moving: NumPy's time over Ashlar's, %, one thread", Rows: []draw.Bar{{Label: equal, Value: 100}}}
	for _, c := range r.numpy.Rows {
		numpy.Rows = append(numpy.Rows, draw.Bar{Label: c.Case, Value: percent(c.Ratio)})
	}
	all := map[string]draw.Bars{"docs/performance/models.svg": models, "docs/performance/operators.svg": rows, "docs/performance/numpy.svg": numpy}
	for _, b := range all {
		slices.SortStableFunc(b.Rows, func(a, b draw.Bar) int { return b.Value - a.Value })
	}
	memory := draw.Bars{Title: "Resident memory in KiB after rounds of load, run and close"}
	for _, o := range r.others {
		for _, cells := range o.Rows {
			if mib, err := strconv.ParseFloat(cells[1], 64); err == nil && o.Name == "rounds" {
				memory.Rows = append(memory.Rows, draw.Bar{Label: cells[0], Value: int(mib * 1024)})
			}
		}
	}
	all["docs/performance/rounds.svg"] = memory
	return all
}

func percent(ratio float64) int { return int(ratio*100 + 0.5) }
