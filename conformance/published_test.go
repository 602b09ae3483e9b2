package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/layout"
)

// TestPublished compares package published with the answers of pycute and cutegen themselves.
func TestPublished(t *testing.T) {
	dir := filepath.FromSlash("../../shared/conformance/layout")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	total, same := map[string]int{}, map[string]int{}
	judged, wrong, stricter := 0, 0, 0
	var disagree []string
	for _, name := range []string{"composition", "complement", "inverse", "divide", "product"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Cases []struct {
				ID, Op  string
				Args    map[string]json.RawMessage
				Oracles map[string]any
			}
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			arg := func(names ...string) (l layout.Layout, ok bool) {
				for _, n := range names {
					var s string
					if json.Unmarshal(c.Args[n], &s) == nil && s != "" {
						l, err := layout.Parse(s)
						return l, err == nil
					}
				}
				return l, false
			}
			for _, rules := range []published.Rules{published.PyCute, published.CuteGen} {
				want, ok := c.Oracles[rules.Name].(string)
				if !ok {
					continue
				}
				var got layout.Layout
				var err error
				reach := 0
				a, okA := arg("a", "layout", "block")
				b, okB := arg("b", "tiler")
				switch c.Op {
				case "composition":
					ok = okA && okB
					got, err = rules.Compose(a, b)
				case "complement":
					ok = okA
					for k, v := range c.Args {
						if k != "layout" && json.Unmarshal(v, &reach) != nil {
							ok = false
						}
					}
					got, err = rules.Complement(a, reach)
				case "left_inverse":
					ok = okA
					got, err = rules.LeftInverse(a)
				case "right_inverse":
					ok = okA
					got, err = rules.RightInverse(a)
				case "logical_divide":
					ok = okA && okB
					got, err = rules.Divide(a, b)
				case "logical_product":
					ok = okA && okB
					got, err = rules.Product(a, b)
				default:
					ok = false
				}
				if !ok {
					continue
				}
				key := rules.Name + " " + c.Op
				total[key]++
				refused := strings.HasPrefix(want, "reject")
				agree := refused == (err != nil)
				if agree && !refused {
					w, werr := layout.Parse(want)
					agree = werr == nil && w.Coalesce().Equal(got.Coalesce()) && w.Size() == got.Size()
				}
				// The verdict finds those that the data calls wrong. Beyond these it finds right inverses that end early,
				// and left inverses that lead to coordinates past the end, where the data lets the last mode go on.
				flagged, _ := c.Oracles[rules.Name+"_wrong"].(bool)
				op := map[string]string{"composition": "compose"}[c.Op]
				if op == "" {
					op = c.Op
				}
				v, jerr := judge.Judge(op, a, b, reach)
				if jerr != nil {
					t.Fatal(c.ID, jerr)
				}
				for _, p := range v.Published {
					if p.Rules != rules.Name {
						continue
					}
					judged++
					if flagged {
						wrong++
					}
					if p.Silent() && !flagged && strings.HasSuffix(c.Op, "_inverse") {
						stricter++
					} else if p.Silent() != flagged {
						disagree = append(disagree, fmt.Sprintf("%s %s: the data says wrong: %v; %v", rules.Name, c.ID, flagged, v))
					}
				}
				if agree {
					same[key]++
				} else if testing.Verbose() {
					t.Logf("%s %s %s: %v %v, theirs %s", key, c.ID, c.Args, got, err, want)
				}
			}
		}
	}
	t.Logf("%d answers judged, %d of them wrong by the data, %d inverses more by the verdict", judged, wrong, stricter)
	for _, d := range disagree {
		t.Error(d)
	}
	for key, n := range total {
		t.Logf("%-28s %d of %d as theirs", key, same[key], n)
		if same[key] != n || n == 0 {
			t.Errorf("%s: %d of %d", key, same[key], n)
		}
	}
}
