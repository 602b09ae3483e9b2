package judge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/layout"
)

func judged(t *testing.T, op, a, b string, n int) *Verdict {
	t.Helper()
	v, err := Judge(op, layout.MustParse(a), layout.MustParse(b), n)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Faults that their users reported.
func TestJudgeKnownFaults(t *testing.T) {
	for _, tc := range []struct {
		op, a, b string
		n        int
		want     string
	}{
		{"compose", "(6,2):(1,7)", "(3,2):(2,3)", 0, `compose (6,2):(1,7) (3,2):(2,3)
exact    none: at coordinate (2,1): no layout of shape (3,2) agrees up to here: its parts add up to 7
pycute   (3,2):(2,3), wrong at coordinate (2,1): it gives 7, right is 8
cutegen  (3,2):(2,3), wrong at coordinate (2,1): it gives 7, right is 8
`},
		{"compose", "(4,6,8):(2,3,5)", "6:3", 0, `compose (4,6,8):(2,3,5) 6:3
exact    none: at coordinate 3: no layout of shape 6 agrees up to here: its parts add up to 13
pycute   refuses
cutegen  (2,3):(6,3), wrong at coordinate 2: it gives 3, right is 7
`},
		{"logical_divide", "(3,12):(1,3)", "4:1", 0, `logical_divide (3,12):(1,3) 4:1
exact    (4,9):(1,4)
pycute   (4,9):(1,4), right
cutegen  (4,6):(1,4), wrong at coordinate (0,6): it has 24 coordinates instead of 36, and this one is missing
`},
		{"left_inverse", "(4,2):(1,5)", "1:0", 0, `left_inverse (4,2):(1,5)
exact    (5,2):(1,4)
pycute   4:1, wrong at coordinate (0,1): offset 5 goes back to 5 instead of 4
cutegen  (5,2):(1,4), right
`},
		{"right_inverse", "(2,4):(0,1)", "1:0", 0, `right_inverse (2,4):(0,1)
exact    4:2
pycute   1:0, wrong at coordinate 1: it ends at 1; the longest goes on to 4
cutegen  4:2, right
`},
		{"product_by", "3:1", "1:0", 4, `product_by 3:1 4
exact    (3,4):(1,3)
pycute   (4,1):(1,0), wrong at coordinate (1,1): it has 4 coordinates instead of 12, and this one is missing
cutegen  (3,4):(1,3), right
`},
		{"complement", "4:2", "1:0", 24, `complement 4:2 24
exact    (2,3):(1,8)
pycute   (2,3):(1,8), right
cutegen  (2,3):(1,8), right
`},
	} {
		v := judged(t, tc.op, tc.a, tc.b, tc.n)
		if got := v.String(); got != tc.want {
			t.Errorf("got\n%s\nwant\n%s", got, tc.want)
		}
	}
}

// Each kind of silent error has inputs of its own; an answer that differs from the exact one does so at the coordinate named.
func TestFindFaults(t *testing.T) {
	list, err := FindFaults(context.Background(), 1, 5000)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, f := range list {
		kinds[f.Rules+" "+f.Op+" "+f.Kind] = true
		t.Logf("%s %s %s: %v", f.Rules, f.Op, f.Kind, f.Verdict)
		for _, p := range f.Verdict.Published {
			if p.Rules != f.Rules || f.Verdict.Exact == nil || strings.HasSuffix(f.Op, "_inverse") || f.Op == "complement" {
				continue // an inverse or a complement may differ from the exact one, and be right
			}
			l := layout.MustParse(p.Layout)
			for i := range min(p.Wrong.Index+1, l.Size(), f.Verdict.Exact.Size()) {
				got, _ := l.Offset(i)
				if want, _ := f.Verdict.Exact.Offset(i); (got == want) != (i < p.Wrong.Index) {
					t.Errorf("%s at coordinate %d: %d and %d", f.Verdict, i, got, want)
				}
			}
		}
	}
	for _, k := range []string{"pycute compose smaller", "pycute compose other", "cutegen compose other", "pycute left_inverse other", "cutegen logical_divide smaller", "pycute logical_product smaller"} {
		if !kinds[k] {
			t.Errorf("no input for %s", k)
		}
	}
}

func TestJudgeLarge(t *testing.T) {
	v := judged(t, "compose", "(1073741824,1073741824):(1,1073741824)", "(4,1024):(1073741824,1)", 0)
	if v.Exact == nil {
		t.Errorf("%v", v)
	}
	v = judged(t, "compose", "(1073741824,1073741824):(1,1073741824)", "1073741824:3", 0)
	if v.Exact == nil && v.Refused == "" || !strings.Contains(v.String(), "not checked") {
		t.Errorf("%v", v)
	}
	v = judged(t, "complement", "8388608:1", "1:0", 1<<24)
	if v.Exact == nil || v.Published[0].Kind != "unchecked" || v.Published[1].Kind != "unchecked" {
		t.Errorf("%v", v)
	}
	if _, err := Judge("divide", layout.Layout{}, layout.Layout{}, 0); !errors.Is(err, layout.ErrSyntax) {
		t.Error(err)
	}
	for _, op := range Ops {
		for _, a := range []string{"():()", "0:0", "(0,3):(1,1)", "4:-1", "(1152921504606846976,4):(1,0)", "1:0", "(2,2):(1,1)"} {
			for _, b := range []string{"():()", "0:0", "4:-1", "1:0", "3:7", "1152921504606846976:1"} {
				for _, n := range []int{0, 1, 5} {
					if v, err := Judge(op, layout.MustParse(a), layout.MustParse(b), n); err == nil {
						_ = v.String()
					}
				}
			}
		}
	}
}
