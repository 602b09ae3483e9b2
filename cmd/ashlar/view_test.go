package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestViewServesWhatIsNamed(t *testing.T) {
	site, other := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{filepath.Join(site, "index.html"): "the page", filepath.Join(other, "a.npy"): "0123456789", filepath.Join(other, "secret"): "no"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(viewHandler(site, []string{filepath.Join(other, "a.npy")}))
	defer server.Close()
	for _, c := range []struct {
		path, part string
		status     int
		body       string
	}{
		{"/", "", 200, "the page"},
		{"/files/0/a.npy", "", 200, "0123456789"},
		{"/files/0/a.npy", "bytes=2-4", 206, "234"},
		{"/files/1/a.npy", "", 404, ""},
		{"/files/0/../../secret", "", 404, ""},
		{"/secret", "", 404, ""},
	} {
		r, err := http.NewRequest("GET", server.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.part != "" {
			r.Header.Set("Range", c.part)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || c.status < 300 && string(body) != c.body {
			t.Errorf("%s %s: %d %q, %v", c.path, c.part, resp.StatusCode, body, err)
		}
	}
}

// A page on the web whose name was given the address of this machine gets nothing.
func TestViewAnswersThisMachine(t *testing.T) {
	handler := onlyLocal(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") }))
	for host, status := range map[string]int{"127.0.0.1:80": 200, "localhost:8000": 200, "localhost": 200, "[::1]:80": 200, "evil.example": 403, "127.0.0.1.evil.example:80": 403, "": 403} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Host = host
		if handler.ServeHTTP(w, r); w.Code != status || (status != 200) == (w.Body.String() == "the page") {
			t.Errorf("host %q: %d %q", host, w.Code, w.Body.String())
		}
	}
}

// Without --site the page is the folder beside the program.
func TestViewPageBeside(t *testing.T) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		t.Fatal(err)
	}
	site := filepath.Join(filepath.Dir(program), "page")
	if got := pageBeside(); got != "" {
		t.Fatalf("%s, and there is none", got)
	}
	defer os.RemoveAll(site)
	if err = os.Mkdir(site, 0o755); err == nil {
		err = os.WriteFile(filepath.Join(site, "index.html"), nil, 0o644)
	}
	if got := pageBeside(); err != nil || got != site {
		t.Errorf("%q, %v; want %s", got, err, site)
	}
	if c := newCall(nil).with("view"); c.code != 1 || !strings.Contains(c.err.String(), "has no layouts.wasm.gz") {
		t.Errorf("exit %d: %s", c.code, c.err.String())
	}
}

func TestViewRefuses(t *testing.T) {
	empty := t.TempDir()
	page := t.TempDir()
	for _, name := range []string{"index.html", "layouts.wasm.gz", "wasm_exec.js"} {
		if err := os.WriteFile(filepath.Join(page, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"view"}, 2, "go run ./build DIR"},
		{[]string{"view", "--site", empty}, 1, "has no index.html"},
		{[]string{"view", "--site", page, "gone.npy"}, 1, "gone.npy"},
		{[]string{"view", "--site", page, empty}, 1, "zip a Zarr folder"},
		{[]string{"view", "--site", page, "(8,8):"}, 2, "^"},
		{[]string{"view", "--site", page, "--listen", "256.0.0.1:1"}, 1, "can't listen"},
	} {
		got := newCall(nil).with(c.args...)
		if got.code != c.code || !strings.Contains(got.err.String(), c.want) {
			t.Errorf("%v: exit %d, %s", c.args, got.code, got.err.String())
		}
	}
}
