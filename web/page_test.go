package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-go/ashlar/judge"
	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTypeHoverReopen types an expression, points at a cell, and opens the link of the view anew.
func TestTypeHoverReopen(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("")
	b.typed("a", "(4,6):(6,1)")
	if got := b.text("#facts"); !strings.Contains(got, "(4,6):(6,1)") || !strings.Contains(got, "row-major") {
		t.Errorf("facts: %q", got)
	}
	b.do(chromedp.Evaluate(`document.querySelector('#map td[data-i="8"]').dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, nil))
	if got := b.text("#readout"); !strings.Contains(got, "(1,2)") || !strings.Contains(got, "8") {
		t.Errorf("readout: %q", got)
	}
	if got := eval[string](b, `document.querySelector("#memory td.on").innerText`); !strings.Contains(got, "1,2") {
		t.Errorf("the memory shows %q", got)
	}
	link := eval[string](b, "location.hash")
	before := b.text("#map")
	b.visit(link)
	if got := b.text("#map"); got != before {
		t.Errorf("reopened: %q\nwas: %q", got, before)
	}
}

// expressions has one for each function, operator and spelling that the page reads.
var expressions = []string{
	"make_layout(make_shape(Int<4>{}, Int<8>{}), LayoutRight{})", "Layout.row_major(4, 5)", "shape=(4, 5), strides=(20, 4), itemsize=4",
	"{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}", "Sw<2,0,3> o (8,8):(8,1)", "(2,3,4):(12,4,1)",
	"(8,8):(8,1) / <2:1,4:1>", "(4,2):(2,1) * (2,3):(1,2)", "(6,2):(8,2) o (4,3):(3,1)", "(8,8):(8,1)[1:3, ::2]", "row_major (4,(2,3))", "col_major (4,6)",
	"ordered (4,6) (1,0)", "coalesce (2,(1,6)):(1,(6,2))", "flatten ((2,2),4):((1,8),2)", "filter (2,4,3):(1,0,2)", "nullspace (2,4,3):(1,0,2)", "complement 4:2 24",
	"left_inverse 4:2", "right_inverse (8,4):(4,1)", "max_common_layout (8,4):(1,8) (8,4):(1,16)", "zipped_divide (8,8):(8,1) <2,4>", "tiled_divide (8,8):(8,1) <2,4>",
	"flat_divide (8,8):(8,1) <2,4>", "logical_product (2,2):(4,1) 6:1", "zipped_product (2,2):(4,1) 6:1", "tiled_product (2,2):(4,1) 6:1", "flat_product (2,2):(4,1) 6:1",
	"blocked_product (2,5):(5,1) (3,4):(1,3)", "raked_product (2,5):(5,1) (3,4):(1,3)", "tile_to_shape (2,5):(5,1) (6,20) (1,0)", "slice ((2,2),3):((1,4),8) (_,1)",
	"mode (4,6):(6,1) 1", "join 4:1 3:8", "permute (4,6):(6,1) (1,0)", "view (4,6):(6,1) (2,12)", "broadcast_to (1,4):(0,1) (3,4)", "upcast (4,3):(2,4) 2", "downcast (4,2):(2,1) 4",
	"recast (4,8):(8,1) 8 16", "Sw<2,0,3> o 8 o (8,8):(8,1)",
}

// TestExpressions types each, compares what is drawn with the library, points at the last cell, and reopens the link.
func TestExpressions(t *testing.T) {
	b := open(t, 1280, 900)
	list := expressions
	if !*long {
		list = list[:3]
	}
	b.visit("")
	for _, x := range list {
		b.typed("a", x)
		c, err := judge.Parse(x)
		if err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		cells := eval[[]string](b, `[...document.querySelectorAll("#map td[data-i]")].map(e => e.firstChild.textContent)`)
		if len(cells) != c.Size() {
			t.Fatalf("%s: %d cells are drawn, there are %d: %s", x, len(cells), c.Size(), b.text("#ask"))
		}
		last, err := c.Offset(c.Size() - 1)
		if err != nil || cells[len(cells)-1] != fmt.Sprint(last) {
			t.Errorf("%s: the last cell is %s, want %d, %v", x, cells[len(cells)-1], last, err)
		}
		b.do(chromedp.Evaluate(`[...document.querySelectorAll("#map td[data-i]")].at(-1).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, nil))
		if got := b.text("#readout"); !strings.Contains(got, fmt.Sprint(last)) {
			t.Errorf("%s: pointing says %q", x, got)
		}
		before := b.text("#map")
		b.visit(eval[string](b, "location.hash"))
		if got := b.text("#map"); got != before {
			t.Errorf("%s: reopened it shows %q, was %q", x, got, before)
		}
	}
}

// TestTabs types into the fields of each tab, and reopens the link of the answer.
func TestTabs(t *testing.T) {
	type field struct{ name, text string }
	tabs := map[string]bool{}
	for _, c := range []struct {
		tab, answer string
		fields      []field
		want        []string
	}{
		{"layout", "#map", []field{{"a", "(8,8):(1,8)"}, {"colour", "values"}, {"by", "((4,8),2):((16,1),8)"}}, []string{"t0 v0", "t31 v1"}},
		{"layout", "#map", []field{{"a", "(4,4):(4,1)"}, {"colour", "threads"}, {"by", "(2,2):(2,1)"}}, []string{"t3"}},
		{"layout", "#found", []field{{"a", "(32,8):(1,32)"}, {"find", "17,5"}}, []string{"offset 177"}},
		{"layout", "#found", []field{{"a", "(32,8):(1,32)"}, {"find", "177"}}, []string{"(17,5)"}},
		{"layout", "#slice", []field{{"a", "(4,1024,4096):(4194304,4096,1)"}}, []string{"1024 of 16777216", "mode 0"}},
		{"layout", "#steps", []field{{"a", "(6,2):(1,7) o (3,2):(2,3)"}}, []string{"add up to 7", "pycute goes wrong here", "none"}},
		{"compare", "#difference", []field{{"a", "(4,8):(8,1)"}, {"b", "(4,8):(1,4)"}}, []string{"different", "2 of 32"}},
		{"verdict", "#verdict", []field{{"a", "(6,2):(1,7)"}, {"b", "(3,2):(2,3)"}}, []string{"none", "it gives 7, right is 8"}},
		{"verdict", "#verdict", []field{{"a", "(3,12):(1,3)"}, {"op", "logical_divide"}, {"b", "4:1"}}, []string{"(4,9):(1,4)", "cutegen", "wrong"}},
		{"banks", "#reports", []field{{"a", "(32,32):(32,1)"}}, []string{"no conflicts", "992 conflicts"}},
		{"banks", "#reports", []field{{"a", "(32,32):(32,1)"}, {"align", "16"}}, []string{"160 of 32 bytes in 64 lines", "128 at the best place", "line of 128 bytes"}},
		{"banks", "#reports", []field{{"a", "Sw<5,0,5> o (32,32):(32,1)"}, {"banks", "amd"}, {"elem", "2"}, {"access1", "ldmatrix"}}, []string{"ldmatrix"}},
		{"fragments", "#load", []field{{"a", "(64,64):(64,1)"}, {"instruction", "sm80.mma.m16n8k16.bf16"}}, []string{"ldmatrix.x4", "448", "Sw<3,3,3>"}},
		{"fragments", "#owners", []field{{"a", "(64,64):(64,1)"}, {"instruction", "apple.simdgroup.8x8x8.f32"}}, []string{"t31 v1"}},
		{"fragments", "#part", []field{{"a", "(64,64):(64,1)"}, {"instruction", "sm90.wgmma.m64n64k16.f16"}, {"operand", "C"}}, []string{"1024 of 4096 coordinates are drawn", "to 31 of 64"}},
		{"convert", "#spellings", []field{{"a", "make_layout(make_shape(_4{}, Int<8>{}), LayoutRight{})"}}, []string{"Layout.row_major(4, 8)", "strides=(32,4)"}},
		{"devices", "#held", []field{{"tensor", "(129,64)"}, {"mesh", "row=2,col=2"}, {"place", "S(0) S(1)"}, {"element", "65,32"}}, []string{"65:129", "don't divide 129", "2080", "owners of (65,32)\t3"}},
		{"devices", "#places", []field{{"tensor", "(16,8)"}, {"names", "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]"}, {"element", "3,4"}}, []string{"laneid 0 to 31", "laneid 14", "triton"}},
		{"devices", "#moved", []field{{"mesh", "x=4 on ring4"}, {"place", "P(sum)"}, {"to", "S(0)"}}, []string{"reduce-scatter", "no plan of these stages has fewer", "0 to 1"}},
		{"infer", "#inferred", []field{{"a", "(2,2):(24,2)"}, {"b", "(6,2):(8,2)"}}, []string{"(2,2):(3,6)"}},
		{"infer", "#moves", []field{{"a", "(8,64):(64,1)"}, {"b", "(8,64):(80,1)"}, {"elem", "2"}}, []string{"64 of 8 elements"}},
	} {
		if !*long && tabs[c.tab] {
			continue // the short form has one of each tab
		}
		tabs[c.tab] = true
		t.Run(c.tab+" "+c.fields[len(c.fields)-1].text, func(t *testing.T) {
			b := open(t, 1280, 900)
			b.visit("#tab=" + c.tab)
			for _, f := range c.fields {
				b.typed(f.name, f.text)
			}
			got := b.text(c.answer)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("want %q in %q; %s", w, got, b.text("#ask"))
				}
			}
			b.visit(eval[string](b, "location.hash"))
			if again := b.text(c.answer); again != got {
				t.Errorf("reopened: %q, was %q", again, got)
			}
		})
	}
}

// TestBlocks draws a tile of 128 by 64 as blocks, and goes from a block to its coordinates by pointer and by keys.
func TestBlocks(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#a=(128,64):(64,1)")
	if got := b.text("#blocks"); !strings.Contains(got, "Blocks of 8 × 4") || !strings.Contains(got, "7740") {
		t.Errorf("the blocks are %q", got) // 7740 is 120*64 + 60
	}
	frames := func() string {
		return eval[string](b, `[...document.querySelectorAll("#blocks td.differs")].map(e => e.textContent).filter((e, i, all) => i === 0 || i === all.length - 1).join(" ")`)
	}
	if got := frames(); got != "0 1564" {
		t.Errorf("frames from %q, want those of rows 0 to 31 and columns 0 to 31", got)
	}
	b.click(`#blocks td[data-i="135"]`) // row 8 of blocks, column 7
	if got := b.text("#slice"); !strings.Contains(got, "to 95 of 128") || !strings.Contains(got, "to 59 of 64") {
		t.Errorf("after a click: %q", got)
	}
	if got := frames(); got != "4124 5688" {
		t.Errorf("frames from %q after a click", got)
	}
	b.do(chromedp.Evaluate(`document.querySelector('#blocks td[data-i="0"]').focus()`, nil), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.settle()
	if got := b.text("#slice"); !strings.Contains(got, "to 39 of 128") || !strings.Contains(got, "to 31 of 64") {
		t.Errorf("after Enter: %q", got)
	}
	if got := eval[string](b, `document.activeElement.textContent`); got != "512" {
		t.Errorf("the focus is on %q", got)
	}
	b.visit("#a=(32,32):(32,1)")
	if got := b.text("#blocks"); got != "" {
		t.Errorf("a small layout has the blocks %q", got)
	}
}

// TestFragmentKeys moves over a fragment by keys, and lights up all elements of the thread.
func TestFragmentKeys(t *testing.T) {
	b := open(t, 390, 900)
	b.visit("#tab=fragments&a=(64,64):(64,1)")
	b.do(chromedp.Evaluate(`document.querySelector('#owners td[data-i="0"]').focus()`, nil), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	if got := eval[string](b, `[document.activeElement, ...document.querySelectorAll("#owners td.on")].map(e => e.innerText.replace(/\s+/g, " ")).join(", ")`); got != "t4 v1, t4 v0, t4 v1, t4 v4, t4 v5, t4 v2, t4 v3, t4 v6, t4 v7" {
		t.Errorf("the focus is on, and lit are: %s", got)
	}
	b.visit("#tab=fragments&a=(64,64):(64,1)&instruction=sm90.wgmma.m64n64k16.f16&operand=C")
	if got := eval[string](b, `[...document.querySelectorAll("#load th")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText).join(", ")`); got != "" {
		t.Errorf("cut off, or over the next column: %s", got)
	}
	for _, view := range []string{"devices", "fragments"} {
		b.visit(views[view])
		if got := eval[string](b, `[...document.querySelectorAll("input")].filter(e => e.offsetParent && !e.matches(".expression") && e.scrollWidth > e.clientWidth + 1).map(e => e.value).join(", ")`); got != "" {
			t.Errorf("%s: fields cut off %s", view, got)
		}
	}
}

// TestBroken breaks the page: it says so, and waits no more. Another tab works, and an answer that is no JSON is an error.
func TestBroken(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("")
	b.do(chromedp.Evaluate(`document.querySelector("#reports").remove()`, nil))
	b.click(`nav [data-tab="banks"]`)
	if got := b.text("#fault-a"); !strings.Contains(got, "The page failed: ") {
		t.Errorf("the page says %q", got)
	}
	b.mu.Lock()
	if len(b.bad) != 1 {
		t.Errorf("the console has %q", b.bad)
	}
	b.bad = nil
	b.mu.Unlock()
	b.click(`nav [data-tab="layout"]`)
	if got := b.text("#fault-a") + b.text("#map"); strings.Contains(got, "failed") || !strings.Contains(got, "Offsets") {
		t.Errorf("the layout shows %q", got)
	}
	if got := eval[string](b, `(async () => {
		const { Answers } = await import("./answers.js");
		const a = new Answers("", () => {});
		a.start = () => { a.worker = { postMessage: m => setTimeout(() => a.hear({ id: m.id })), terminate() {} }; a.ready = true; };
		return Promise.race([a.ask({ op: "x" }).then(() => "an answer", () => "an error"), new Promise(done => setTimeout(done, 20000, "it waits"))]);
	})()`); got != "an error" {
		t.Errorf("an answer without text: %s", got)
	}
}

func TestSolver(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=banks&a=(64,64):(64,1)&elem=2&access0=row:8&access1=ldmatrix")
	b.click(`[data-solve="swizzle"]`)
	if got := b.text("#solution"); !strings.Contains(got, "Sw<3,3,3>") || !strings.Contains(got, "239th of 323") {
		t.Errorf("solver: %q", got)
	}
	b.click("#solution button")
	if got := b.text("#reports"); strings.Count(got, "no conflicts") != 2 {
		t.Errorf("with the swizzle: %q", got)
	}
	b.visit("#tab=banks&a=(8,8):(8,1)&banks=8x4&access0=row:1/8&access1=column:1/8&access2=tv:(8,1):(9,0)&solve=xor")
	if got := b.text("#solution"); !strings.Contains(got, "y0 = x0 ^ x3 ^ x5") {
		t.Errorf("XOR matrix: %q", got)
	}
}

// TestCopies makes each form of the picture that the page copies.
func TestCopies(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#a=(4,4):(4,1)")
	for form, want := range map[string]string{"text": "0:", "svg": "<svg", "go": `layout.MustParse("(4,4):(4,1)")`} {
		got := eval[string](b, fmt.Sprintf(`Promise.all([import("./asking.js"), import("./state.js")]).then(([a, s]) => a.ask(s.question("copy", {what: %q}))).then(r => r.text)`, form))
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q", form, got)
		}
	}
	size := eval[[]int](b, `(async () => {
		const { ask } = await import("./asking.js"), { question } = await import("./state.js"), { raster } = await import("./panels.js");
		const r = await createImageBitmap(await raster((await ask(question("copy", {what: "svg"}))).text));
		return [r.width, r.height];
	})()`)
	if len(size) != 2 || size[0] < 200 || size[1] < 200 {
		t.Errorf("the PNG has %v pixels", size)
	}
}

// TestUndo goes back over changes of several fields, and keeps the address in step.
func TestUndo(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("")
	b.typed("a", "(4,4):(4,1)")
	time.Sleep(1300 * time.Millisecond) // a new burst of typing
	b.typed("a", "(4,4):(1,4)")
	b.click("#undo")
	if got := eval[string](b, `document.querySelector("#a").value`); got != "(4,4):(4,1)" {
		t.Errorf("undone once: %q", got)
	}
	b.click("#undo")
	if got := eval[string](b, `document.querySelector("#a").value + location.hash`); got != "(8,8):(8,1) / <2:1,4:1>" {
		t.Errorf("undone twice: %q", got)
	}
}

func TestKeyboard(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#a=(4,6):(6,1)")
	b.do(chromedp.Focus(`#map td[data-i="0"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	if got := eval[string](b, "document.activeElement.dataset.i"); got != "7" {
		t.Errorf("the keys lead to cell %q", got)
	}
	b.do(chromedp.Focus(`nav [data-tab="layout"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	b.settle()
	if got := eval[string](b, "new URLSearchParams(location.hash.slice(1)).get('tab')"); got != "compare" {
		t.Errorf("the arrow key leads to %q", got)
	}
}

// TestVerdictsEqual asks the page for verdicts and compares each with the library's, byte for byte.
func TestVerdictsEqual(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=verdict")
	var list []ask.Question
	if *conformance != "" {
		list = recorded(t, *conformance, 500)
	} else {
		r := rand.New(rand.NewPCG(3, 4))
		for len(list) < 60 {
			list = append(list, ask.Question{Op: "verdict", What: judge.Ops[len(list)%len(judge.Ops)], A: randomLayout(r), B: randomLayout(r)})
			if q := &list[len(list)-1]; q.What == "complement" || q.What == "product_by" {
				q.B = fmt.Sprint(1 + r.IntN(30))
			}
		}
	}
	questions, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	got := eval[[]json.RawMessage](b, `(async () => {
		const { layouts } = await import("./asking.js");
		const out = [];
		for (const q of `+string(questions)+`) out.push(await layouts.ask(q, "test"));
		return out;
	})()`)
	silent := 0
	for i := range list {
		q, err := json.Marshal(list[i])
		if err != nil {
			t.Fatal(err)
		}
		want := ask.Answer(context.Background(), q)
		if !same(got[i], want) {
			t.Errorf("%s:\npage    %s\nlibrary %s", q, got[i], want)
		}
		if bytes.Contains(want, []byte(`"wrong"`)) {
			silent++
		}
	}
	t.Logf("%d verdicts, %d of them with a wrong answer of the published rules", len(list), silent)
}

// same compares JSON but for the order of keys.
func same(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

func randomLayout(r *rand.Rand) string {
	n := 1 + r.IntN(3)
	var ext, str []string
	next := 1
	for range n {
		e := 1 + r.IntN(6)
		s := r.IntN(8)
		if r.IntN(2) == 0 {
			s = next
		}
		ext, str = append(ext, fmt.Sprint(e)), append(str, fmt.Sprint(s))
		next = max(1, e*s)
	}
	return "(" + strings.Join(ext, ",") + "):(" + strings.Join(str, ",") + ")"
}

// recorded takes every k-th case of the recorded layout cases whose operation has verdicts.
func recorded(t *testing.T, dir string, most int) (list []ask.Question) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("skipped: no cases in %s", dir)
	}
	var all []ask.Question
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases(text)...)
	}
	if len(all) < most {
		t.Fatalf("%d cases in %s, want %d", len(all), dir, most)
	}
	for i := range most {
		list = append(list, all[i*len(all)/most])
	}
	return list
}

// cases reads recorded cases of the operations that have verdicts.
func cases(text []byte) (list []ask.Question) {
	var file struct {
		Cases []struct {
			Op   string
			Args map[string]json.RawMessage
		}
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	for _, c := range file.Cases {
		arg := func(names ...string) string {
			for _, name := range names {
				if raw, ok := c.Args[name]; ok {
					var s string
					if json.Unmarshal(raw, &s) == nil {
						return s
					}
					return string(raw)
				}
			}
			return ""
		}
		if c.Op == "composition" {
			c.Op = "compose"
		}
		q := ask.Question{Op: "verdict", What: c.Op, A: arg("a", "layout", "block"), B: arg("b", "tiler", "cosize")}
		if slices.Contains(judge.Ops, q.What) {
			list = append(list, q)
		}
	}
	return list
}

// TestHostile gives the page what it can't draw; it says so beside the field, and goes on.
func TestHostile(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#a=(4,4):(4,1)")
	long := strings.Repeat("(8,8):(8,1) o ", 1<<20/14)
	for _, c := range []struct{ field, text, fault, want string }{
		{"a", long, "#fault-a", "bytes"},
		{"a", "(1152921504606846976,1152921504606846976):(1,1)", "#fault-a", "overflow"},
		{"a", "(1152921504606846976):(4)", "#fault-a", ""},
		{"a", "((((((((", "#fault-a", "want"},
		{"a", "<script>alert(1)</script>", "#fault-a", "no function"},
		{"a", "(8,8):(8,1) / <3:1", "#fault-a", "want"},
		{"a", "", "#fault-a", "layout is wanted"},
	} {
		b.typed("a", c.text)
		got := b.text(c.fault)
		if c.want == "overflow" {
			if got == "" {
				t.Errorf("%.40s: no fault", c.text)
			}
		} else if !strings.Contains(got, c.want) {
			t.Errorf("%.40s: %q", c.text, got)
		}
		if n := eval[int](b, `document.querySelectorAll("#map td[data-i]").length`); n == 0 {
			t.Errorf("%.40s: the drawing is gone", c.text)
		}
	}
	b.typed("a", "(1152921504606846976):(1)") // 2^60
	if got := b.text("#slice"); !strings.Contains(got, "1024 of 1152921504606846976") {
		t.Errorf("2^60 coordinates: %q", got)
	}
	b.visit("#tab=banks&a=(4096,4096):(4096,1)")
	if got := b.text(`[data-panel="banks"]`); !strings.Contains(got, "more than 4194304") {
		t.Errorf("too many elements: %q", got)
	}
	b.visit("#tab=nothing&a=%00%ff&at=-1,x&colour=7&by=((&banks=0x0&elem=1e9")
	if got := b.text("#fault-a"); got == "" {
		t.Error("a link of nonsense has no fault")
	}
	b.typed("a", "(2,2):(2,1)")
	if n := eval[int](b, `document.querySelectorAll("#map td[data-i]").length`); n != 4 {
		t.Errorf("after all that, %d cells of (2,2):(2,1)", n)
	}
}

// TestFaultsStay shows a fault of one tab on that tab alone.
func TestFaultsStay(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=verdict&a=(6,2):(1,7)&b=(3,")
	if got := b.text("#fault-b"); !strings.Contains(got, "want") {
		t.Errorf("the second layout: %q", got)
	}
	b.click(`nav [data-tab="layout"]`)
	if got := b.text("#ask"); strings.Contains(got, "want") || !strings.Contains(got, "size 12") {
		t.Errorf("on another tab: %q", got)
	}
}

// TestStop ends a search that takes long, and asks something else.
func TestStop(t *testing.T) {
	b := open(t, 1280, 900)
	b.visit("#tab=verdict&a=(6,2):(1,7)&b=(3,2):(2,3)")
	b.do(chromedp.Evaluate(`import("./asking.js").then(m => { window.long = m.layouts.ask({op: "faults", n: 65536}, "long").then(() => "done", e => e.message); }) && null`, nil))
	b.until(`!document.querySelector("#busy").hidden`)
	b.do(chromedp.Click("#stop", chromedp.ByQuery))
	if got := eval[string](b, "window.long"); got != "stopped" {
		t.Errorf("the search ended by %q", got)
	}
	b.until(`document.querySelector("#busy").hidden`)
	b.typed("b", "3:2")
	if got := b.text("#verdict"); !strings.Contains(got, "3:2") {
		t.Errorf("after the stop: %q", got)
	}
}

// TestSizes bounds what a visitor loads.
func TestSizes(t *testing.T) {
	dir, err := site()
	if err != nil {
		t.Fatal(err)
	}
	// The layouts' bound has room for transactions, explanations, named axes, matrix instructions and meshes.
	for name, most := range map[string]int64{"layouts.wasm.gz": 1_670_000, "models.wasm.gz": 6_950_000} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
		}
		t.Logf("%s: %d bytes", name, info.Size())
	}
}
