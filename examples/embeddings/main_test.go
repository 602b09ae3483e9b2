package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/tensor"
)

func post(h http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/embed", strings.NewReader(body)))
	return w
}

// The service gives the recorded vectors, bit for bit.
func TestRecorded(t *testing.T) {
	a, err := npy.Open("lines.npy", nil)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := tensor.As[float32](a)
	lines, err := os.ReadFile("lines.txt")
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	h := handler()
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		w := post(h, line)
		var got []float32
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatal(w.Code, err)
		}
		if !slices.Equal(got, want.Slice(tensor.I(i)).Elems()) {
			t.Errorf("%q has another vector", line)
		}
	}
}

func TestTooLong(t *testing.T) {
	h := handler()
	for body, want := range map[string]string{strings.Repeat("red ", 100): "text 0 has 102 tokens, the model takes 32", "\xff": "isn't UTF-8", strings.Repeat("x", 1<<17): "too large"} {
		if w := post(h, body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %s, want %s", w.Code, w.Body, want)
		}
	}
}
