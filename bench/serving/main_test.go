package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Clients count the answers of a server, and an answer that is no seven is an error.
func TestMeasure(t *testing.T) {
	answer := `{"outputs":[{"data":[0,0,0,0,0,0,0,1,0,0]}]}`
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(b), `"shape":[1,1,8,8]`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		io.WriteString(w, answer)
	}))
	defer web.Close()
	r, err := measure(way{ask: requests(web.URL, false)}, 2, 50*time.Millisecond)
	if err != nil || r.rate <= 0 || r.late <= 0 {
		t.Errorf("%+v %v", r, err)
	}
	answer = `{"outputs":[{"data":[1,0,0,0,0,0,0,0,0,0]}]}`
	if _, err := measure(way{ask: requests(web.URL, true)}, 1, time.Millisecond); err == nil || !strings.Contains(err.Error(), "no seven") {
		t.Error(err)
	}
}
