package web_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	long        = flag.Bool("long", false, "run everything, not the short form")
	siteAt      = flag.String("site", "", "a `folder` that build made, instead of one made for the test")
	conformance = flag.String("conformance", "", "a `folder` of recorded layout cases for verdicts, instead of random ones")
	update      = flag.Bool("update", false, "write the pictures that tests compare with")
)

// site is the folder that build makes, made once.
var site = sync.OnceValues(func() (string, error) {
	if *siteAt != "" {
		return *siteAt, nil
	}
	dir, err := os.MkdirTemp("", "ashlar-site")
	if err != nil {
		return "", err
	}
	made = dir
	out, err := exec.Command("go", "run", "./build", dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go run ./build: %w\n%s", err, out)
	}
	return dir, err
})

var made string // the folder that was made for the tests

func TestMain(m *testing.M) {
	code := m.Run()
	if one != nil {
		one.stop()
	}
	for _, dir := range []string{made, samplesMade} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// chromium finds the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("skipped: there is no chromium; apt-get install chromium")
	return ""
}

// A browser is a tab at the page, which fails the test when the console has an error.
type browser struct {
	t   *testing.T
	ctx context.Context
	url string
	mu  sync.Mutex
	bad []string

	stop func()
}

// open gives the test the page in the browser, which all tests share, at a size.
func open(t *testing.T, width, height int) *browser {
	t.Helper()
	path := chromium(t)
	if one == nil {
		one = start(t, path)
	}
	b := one
	b.t = t
	b.bad = nil
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, text := range b.bad {
			t.Errorf("console: %s", text)
		}
	})
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
	return b
}

var one *browser

func start(t *testing.T, path string) *browser {
	t.Helper()
	dir, err := site()
	if err != nil {
		t.Fatal(err)
	}
	files, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(files))))
	server := httptest.NewServer(mux)
	list := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"))
	if os.Geteuid() == 0 {
		list = append(list, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), list...)
	ctx, _ := chromedp.NewContext(alloc)
	b := &browser{t: t, ctx: ctx, url: server.URL + "/", stop: func() { stop(); server.Close() }}
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning {
				text, _ := json.Marshal(ev.Args)
				b.bad = append(b.bad, string(text))
			}
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, ev.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError || ev.Entry.Level == log.LevelWarning {
				b.bad = append(b.bad, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	})
	b.do(log.Enable(), runtime.Enable())
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval computes an expression in the page.
func eval[T any](b *browser, js string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(js, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v
}

// visit opens the page at a state, anew.
func (b *browser) visit(hash string) {
	b.t.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+hash))
	b.settle()
}

// settle waits until the page has drawn what its fields say.
func (b *browser) settle() {
	b.t.Helper()
	b.until(`document.body.getAttribute("aria-busy") === "false"`)
}

// until waits for an expression to be true.
func (b *browser) until(js string) {
	b.t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Boolean("+js+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("not within five minutes: %s\nthe page says: %s", js, eval[string](b, "document.body.innerText.slice(0, 2000)"))
		}
	}
}

// typed puts text into a field, as a person who selects everything and types.
func (b *browser) typed(field, text string) {
	b.t.Helper()
	found := eval[bool](b, fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll('[data-field=%q]')].find(e => e.offsetParent);
		if (!e) return false;
		e.focus();
		if (e.tagName === "SELECT") { e.value = %s; e.dispatchEvent(new Event("input")); return true; }
		e.select();
		return document.execCommand("insertText", false, %s) || document.execCommand("delete");
	})()`, field, quoted(text), quoted(text)))
	if !found {
		b.t.Fatalf("no field %s", field)
	}
	time.Sleep(200 * time.Millisecond) // the page waits for the end of typing
	b.settle()
}

func quoted(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(q)
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%s).innerText`, quoted(selector)))
}

// ranOn gives the open model a picture, and waits for the answer.
func (b *browser) ranOn(picture string) {
	b.t.Helper()
	b.until(`document.querySelector("#labels")?.innerText.includes("names the classes")`)
	b.drop(picture)
	b.until(`document.querySelector("#ran")?.innerText.includes("Run on")`)
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(selector, chromedp.ByQuery))
	b.settle()
}

// TestShots writes pictures of every view, in both themes and three widths, to the folder that ASHLAR_SHOTS names.
func TestShots(t *testing.T) {
	dir := os.Getenv("ASHLAR_SHOTS")
	if dir == "" {
		t.Skip("skipped: ASHLAR_SHOTS names no folder")
	}
	only := regexp.MustCompile(os.Getenv("ASHLAR_SHOT")) // names of views
	for _, width := range []int{1280, 360, 1920} {
		b := open(t, width, 900)
		for name, hash := range views {
			if !only.MatchString(name) {
				continue
			}
			b.visit(hash)
			if name == "run" {
				b.ranOn("seven.png")
			}
			for _, theme := range []string{"light", "dark"} {
				b.do(chromedp.Evaluate(fmt.Sprintf("document.documentElement.dataset.theme = %q", theme), nil))
				var shot []byte
				b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
					high := min(max(eval[float64](b, "document.documentElement.scrollHeight"), 900), 2400)
					shot, err = page.CaptureScreenshot().WithCaptureBeyondViewport(true).WithClip(&page.Viewport{Width: float64(width), Height: high, Scale: 1}).Do(ctx)
					return err
				}))
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, theme)), shot, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// views are states of the page that show every tab.
var views = map[string]string{
	"first":     "",
	"swizzle":   "#a=Sw<3,0,3> o (8,8):(8,1)",
	"values":    "#a=(8,8):(1,8)&colour=values&by=((4,8),2):((16,1),8)",
	"large":     "#a=(4,1024,4096):(4194304,4096,1)",
	"error":     "#a=(8,8):(8,1) / <2:1,4:",
	"compare":   "#tab=compare&a=(4,8):(8,1)&b=(4,8):(1,4)",
	"verdict":   "#tab=verdict&a=(6,2):(1,7)&b=(3,2):(2,3)",
	"banks":     "#tab=banks&a=(32,32):(32,1)",
	"blocks":    "#a=(128,64):(64,1)",
	"fragments": "#tab=fragments&a=(64,64):(64,1)&instruction=sm90.wgmma.m64n64k16.f16&operand=C",
	"devices":   "#tab=devices&tensor=(129,64)&element=65,16&mesh=row=2,col=4 on 2xring4&place=S(0) S(1)&to=R R",
	"convert":   "#tab=convert&a=Sw<2,0,3> o (8,8):(8,1)",
	"infer":     "#tab=infer&a=(4,8):(8,1)&b=(4,8):(1,4)",
	"solve":     "#tab=banks&a=(64,64):(64,1)&elem=2&access0=row:8&access1=ldmatrix&solve=swizzle",
	"empty":     "#tab=tensors",
	"tensors":   "#tab=tensors&file=files/several.npz",
	"weights":   "#tab=tensors&file=files/weights.safetensors",
	"zarr":      "#tab=tensors&file=files/hierarchy.zarr.zip",
	"lies":      "#tab=tensors&file=files/lies.npy",
	"model":     "#tab=tensors&file=files/digits.onnx",
	"run":       "#tab=tensors&file=files/digits.onnx&labels=files/digits.txt",
}
