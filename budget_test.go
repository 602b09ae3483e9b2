package ashlar_test

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// budgets are the most lines that a package may have without its tests: of Go written by hand, and of generated Go and
// assembly together. Whoever raises one says why in the note of the change; go test -run Budget -update . writes the rows
// that don't fit.
const budgets = `
.                           150       0
beam                        230       0
beam/cmd/ashlar-beam        130       0
bench                        10       0
bench/models               1860       0
bench/onnxruntime           250       0
bench/process               250       0
bench/quantize              140       0
bench/scale                 290       0
bench/serving               370       0
bench/session               200       0
bench/tables                510       0
bench/zarr                  240       0
chunk                      4920       0
chunk/internal/expr         570       0
chunk/job                   510       0
cmd/ashlar                11920       0
conformance                8750       0
conformance/meta            310       0
conformance/verify         2400       0
device                     3030       0
device/grid                 980       0
device/mesh                 560       0
draw                       2500       0
dtype                       450       0
examples/crop                60       0
examples/digits-http        110       0
examples/embeddings          50       0
examples/layouts            110       0
examples/names               50       0
examples/neighbours         100       0
examples/ocr                360       0
examples/scale               80       0
examples/sharding           210       0
examples/train              200       0
examples/voice               60       0
examples/wake                60       0
format                      430       0
format/csv                  840       0
format/gguf                1550       0
format/image               1360       0
format/npy                 1560       0
format/pytorch             1680       0
format/raw                  260       0
format/safetensors         2010       0
format/wav                  500       0
format/zarr                9280       0
format/zarr/blobstore       170       0
format/zarr/internal/request    170       0
format/zarr/s3              620       0
format/zarr/s3/servertest      0       0
internal/argfuzz             30       0
internal/bench             1030       0
internal/classes            120       0
internal/confined           150       0
internal/core/cast         1440       0
internal/core/contract     4370       0
internal/core/conv         1110       0
internal/core/cpu           210      20
internal/core/disk          380       0
internal/core/exec         2040       0
internal/core/float        3200       0
internal/core/formats       160       0
internal/core/handed         20       0
internal/core/jsontext       80       0
internal/core/modes         390       0
internal/core/move         1310       0
internal/core/order         600       0
internal/core/packed        170       0
internal/core/plan         2200     130
internal/core/pointwise    1620       0
internal/core/ram           230       0
internal/core/reach          70       0
internal/core/reduce       1860       0
internal/core/simd         1520  202010
internal/core/simd/_asm   11200       0
internal/core/walk          270       0
internal/digits             130       0
internal/encoders           470       0
internal/ended               50       0
internal/exact              570       0
internal/fused              340       0
internal/meta              3630       0
internal/optest            1420       0
internal/published          460       0
internal/same               160       0
internal/seeded              20       0
internal/steps               20       0
judge                      8100       0
judge/ask                  1260       0
layout                     4330       0
linalg                      150       0
mem                         850       0
num                         880       0
num/fixed                  3960       0
onnx                      17500       0
onnx/imagedecoder           360       0
onnx/internal/text          220       0
onnx/internal/wire          720       0
onnx/picture                350       0
onnx/quantize              1920       0
onnx/serve                 3080       0
onnx/weights                140       0
op                        23430       0
op/all                       40       0
op/ml                      2000       0
op/option                    20       0
op/train                    300       0
pack                       3120       0
receipt                     920       0
sound                      1070       0
tensor                     7720       0
tensortest                  540       0
text                       6640       0
text/endpoints              520       0
text/vectors               1630       0
web                          20       0
web/build                   110       0
web/layouts                  20       0
web/models                  100       0
web/show                    960       0
`

// slack is the number of lines by which a package may lie below its budget, beside 3 % of it.
const slack = 100

type lines struct{ written, generated int }

// fits reports whether n lines are within a budget, and not so far below it that the budget bounds nothing.
func (budget lines) fits(n lines) bool {
	fit := func(n, budget int) bool { return n <= budget && budget <= n+slack+n*3/100 }
	return fit(n.written, budget.written) && fit(n.generated, budget.generated)
}

// budgetOf returns a budget for n lines: 1 % more, and then the next multiple of 10.
func budgetOf(n lines) lines {
	round := func(n int) int { return (n + n/100 + 9) / 10 * 10 }
	return lines{round(n.written), round(n.generated)}
}

// count returns the lines of each package.
func (tr *tree) count() map[string]lines {
	counts := make(map[string]lines)
	for _, f := range tr.files {
		c, n := counts[f.dir], strings.Count(tr.texts[f.path], "\n")
		switch {
		case f.test:
			continue
		case ast.IsGenerated(f.ast):
			c.generated += n
		default:
			c.written += n
		}
		counts[f.dir] = c
	}
	for p, text := range tr.texts {
		if strings.HasSuffix(p, ".s") {
			c := counts[path.Dir(p)]
			c.generated += strings.Count(text, "\n")
			counts[path.Dir(p)] = c
		}
	}
	return counts
}

func TestBudget(t *testing.T) {
	tr, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]lines)
	for row := range strings.Lines(strings.TrimSpace(budgets)) {
		var dir string
		var b lines
		if _, err := fmt.Sscan(row, &dir, &b.written, &b.generated); err != nil {
			t.Fatalf("budget %q: %v", row, err)
		}
		known[dir] = b
	}
	counts := tr.count()
	var rows strings.Builder
	var sum lines
	for _, dir := range sortedDirs(tr.dirs()) {
		n, b := counts[dir], known[dir]
		delete(known, dir)
		sum.written, sum.generated = sum.written+n.written, sum.generated+n.generated
		if !b.fits(n) {
			if !*update {
				t.Errorf("%s has %d lines and %d generated ones, its budget is %d and %d: write fewer, or set the budget by go test -run Budget -update . and say why in the change's note",
					dir, n.written, n.generated, b.written, b.generated)
			}
			b = budgetOf(n)
		}
		fmt.Fprintf(&rows, "%-24s %6d %7d\n", dir, b.written, b.generated)
	}
	t.Logf("all packages: %d lines and %d generated ones", sum.written, sum.generated)
	for dir := range known {
		if !*update {
			t.Errorf("%s has a budget and no Go file: go test -run Budget -update . deletes the row", dir)
		}
	}
	if *update {
		const self = "budget_test.go"
		text := regexp.MustCompile("(?s)const budgets = `\n.*?`").ReplaceAllLiteralString(tr.texts[self], "const budgets = `\n"+rows.String()+"`")
		if err := os.WriteFile(self, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBudgetFits(t *testing.T) {
	for _, c := range []struct {
		n, budget lines
		want      bool
	}{
		{lines{1000, 0}, lines{1000, 0}, true},
		{lines{1001, 0}, lines{1000, 0}, false},
		{lines{880, 0}, lines{1000, 0}, true},
		{lines{870, 0}, lines{1000, 0}, false},
		{lines{10, 11}, lines{20, 10}, false},
		{lines{}, lines{}, true},
	} {
		if got := c.budget.fits(c.n); got != c.want {
			t.Errorf("%d within %d: got %t", c.n, c.budget, got)
		}
	}
	for _, n := range []lines{{}, {1, 9}, {99, 101}, {30000, 115000}} {
		if !budgetOf(n).fits(n) {
			t.Errorf("the budget of %d doesn't fit it", n)
		}
	}
}
