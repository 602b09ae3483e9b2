package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// counted names a counter of requests.
type counted struct {
	model string // empty: none
	code  int
}

// A histogram counts values by size. Server.mu guards it.
type histogram struct {
	bounds []float64
	counts [16]uint64 // of values up to each bound, and of those beyond the last
	sum    float64
	n      uint64
}

var (
	seconds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	powers  = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

func (h *histogram) add(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.counts[i]++
	h.sum += v
	h.n++
}

// count adds a request to the metrics; m is nil if it named no model.
func (s *Server) count(m *model, code int, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m == nil {
		s.counts[counted{"", code}]++
		return
	}
	s.counts[counted{m.name, code}]++
	m.requests.add(d.Seconds())
}

// quoteLabel escapes the value of a label.
var quoteLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (h *histogram) write(b *strings.Builder, name, model string) {
	total := uint64(0)
	for i, bound := range h.bounds {
		total += h.counts[i]
		fmt.Fprintf(b, "%s_bucket{model=\"%s\",le=\"%s\"} %d\n", name, quoteLabel.Replace(model), strconv.FormatFloat(bound, 'g', -1, 64), total)
	}
	fmt.Fprintf(b, "%s_bucket{model=\"%[2]s\",le=\"+Inf\"} %[3]d\n%[1]s_sum{model=\"%[2]s\"} %[4]v\n%[1]s_count{model=\"%[2]s\"} %[3]d\n",
		name, quoteLabel.Replace(model), h.n, strconv.FormatFloat(h.sum, 'g', -1, 64))
}

// metrics answers with counts and times, in version 0.0.4 of Prometheus' text form.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	var b strings.Builder
	title := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	s.mu.Lock()
	title("ashlar_requests_total", "counter", "Requests answered, by model and HTTP status; 499 is a client that went away.")
	for _, c := range slices.SortedFunc(maps.Keys(s.counts), func(a, b counted) int {
		if a.model != b.model {
			return strings.Compare(a.model, b.model)
		}
		return a.code - b.code
	}) {
		fmt.Fprintf(&b, "ashlar_requests_total{model=\"%s\",code=\"%d\"} %d\n", quoteLabel.Replace(c.model), c.code, s.counts[c])
	}
	for _, h := range []struct {
		name, help string
		of         func(*model) *histogram
	}{
		{"ashlar_request_duration_seconds", "Time from the head of a request to its answer.", func(m *model) *histogram { return &m.requests }},
		{"ashlar_run_duration_seconds", "Time of the runs of a model.", func(m *model) *histogram { return &m.runs }},
		{"ashlar_run_requests", "Requests in each run of a model.", func(m *model) *histogram { return &m.rows }},
	} {
		title(h.name, "histogram", h.help)
		for _, name := range s.names {
			h.of(s.models[name]).write(&b, h.name, name)
		}
	}
	active := s.active
	s.mu.Unlock()
	title("ashlar_requests_active", "gauge", "Requests and shared runs that aren't finished.")
	fmt.Fprintf(&b, "ashlar_requests_active %d\n", active)
	title("ashlar_requests_waiting", "gauge", "Requests that wait for a run.")
	fmt.Fprintf(&b, "ashlar_requests_waiting %d\n", max(s.queue.Load(), 0))
	title("ashlar_held_bytes", "gauge", "Bytes of bodies, inputs and answers.")
	fmt.Fprintf(&b, "ashlar_held_bytes %d\n", s.held.Load())
	h := w.Header()
	h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, b.String()) // who reads it may be gone
	return nil
}
