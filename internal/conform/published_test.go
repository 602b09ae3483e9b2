package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/published"
	"github.com/ashlar-go/ashlar/layout"
)

// TestPublished compares package published with the answers of pycute and cutegen themselves.
func TestPublished(t *testing.T) {
	dir := filepath.FromSlash("../../../shared/conformance/layout")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	total, same := map[string]int{}, map[string]int{}
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
				a, okA := arg("a", "layout", "block")
				b, okB := arg("b", "tiler")
				switch c.Op {
				case "composition":
					ok = okA && okB
					got, err = rules.Compose(a, b)
				case "complement":
					n := 0
					ok = okA
					for k, v := range c.Args {
						if k != "layout" && json.Unmarshal(v, &n) != nil {
							ok = false
						}
					}
					got, err = rules.Complement(a, n)
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
				if agree {
					same[key]++
				} else if testing.Verbose() {
					t.Logf("%s %s %s: %v %v, theirs %s", key, c.ID, c.Args, got, err, want)
				}
			}
		}
	}
	for key, n := range total {
		t.Logf("%-28s %d of %d as theirs", key, same[key], n)
		if same[key] != n || n == 0 {
			t.Errorf("%s: %d of %d", key, same[key], n)
		}
	}
}
