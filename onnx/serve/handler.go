package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/onnx"
)

// A request with the header wantDigest, of any value, gets the digests of the outputs, in their order, in digestHeader.
const (
	wantDigest   = "Ashlar-Want-Digest"
	digestHeader = "Ashlar-Digest"
)

// statusGone is the status in the metrics of requests whose client went away before the answer.
const statusGone = 499

// ServeHTTP answers a request; see the package comment for the paths. An error is a JSON object with a text,
// {"error": "…"}. Its status tells whether the client or the server is at fault.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, about := time.Now(), (*model)(nil)
	answered := &answered{ResponseWriter: w, s: s}
	if r.Body != nil && r.Body != http.NoBody {
		// The HTTP server reads the rest that a handler leaves of a body, and takes the deadline away at the end of it. Servers
		// without deadlines are somebody else's.
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.o.BodyTimeout))
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				answered.status = statusGone
			} else {
				stack := make([]byte, 16<<10)
				s.o.Log.Error("a request panicked", "path", r.URL.Path, "panic", p, "stack", string(stack[:runtime.Stack(stack, false)]))
				s.fail(answered, refuse(http.StatusInternalServerError, "the request failed inside the server"))
			}
		}
		s.count(about, answered.status, time.Since(start))
		if !s.o.Log.Enabled(r.Context(), slog.LevelDebug) {
			return
		}
		s.o.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", answered.status, "seconds", time.Since(start).Seconds(), "client", r.RemoteAddr)
	}()
	path := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for i, part := range path {
		if plain, err := url.PathUnescape(part); err == nil {
			path[i] = plain
		}
	}
	method, answer := http.MethodGet, func(w http.ResponseWriter, r *http.Request) error { return nil }
	var err error
	service := s.service(r.URL.Path)
	switch {
	case service != nil:
		answered.service, method, answer = service, http.MethodPost, s.serves(service)
	case len(path) == 1 && path[0] == "v2":
		answer = s.unlessStopping(s.about)
	case len(path) == 2 && path[0] == "v2" && path[1] == "models":
		answer = s.unlessStopping(s.list)
	case len(path) == 1 && path[0] == "metrics":
		answer = s.metrics
	case len(path) == 3 && path[0] == "v2" && path[1] == "health" && path[2] == "live":
		answer = func(w http.ResponseWriter, r *http.Request) error {
			return reply(w, http.StatusOK, struct {
				Live bool `json:"live"`
			}{true})
		}
	case len(path) == 3 && path[0] == "v2" && path[1] == "health" && path[2] == "ready":
		answer = func(w http.ResponseWriter, r *http.Request) error {
			status, ready := s.ready()
			return reply(w, status, struct {
				Live  bool `json:"live"` // the specification's text says live, its schema ready
				Ready bool `json:"ready"`
			}{true, ready})
		}
	case len(path) >= 3 && path[0] == "v2" && path[1] == "models":
		about, method, answer, err = s.route(path[2:])
	default:
		services := ""
		for i := range s.o.Services {
			services += ", POST " + s.o.Services[i].Path
		}
		err = refuse(http.StatusNotFound, "there is no path %.100q; GET /v2 is the server, GET /v2/models lists the models, GET /v2/models/NAME is one%.1000s", r.URL.Path, services)
	}
	if err == nil && r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
		w.Header().Set("Allow", method)
		err = refuse(http.StatusMethodNotAllowed, "%.20s isn't for this path, %s is", r.Method, method)
	}
	if err == nil {
		err = answer(answered, r)
	}
	if err != nil {
		s.fail(answered, err)
	}
}

// unlessStopping refuses requests while the server stops, as Server.begin does for runs.
func (s *Server) unlessStopping(answer func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if s.stopping() {
			return errStopping
		}
		return answer(w, r)
	}
}

// route finds the answer to a path below /v2/models/.
func (s *Server) route(path []string) (m *model, method string, answer func(http.ResponseWriter, *http.Request) error, err error) {
	if m = s.models[path[0]]; m == nil {
		return nil, "", nil, refuse(http.StatusNotFound, "there is no model %.100q; the models are %.1000s", path[0], strings.Join(s.names, ", "))
	}
	if path = path[1:]; len(path) >= 2 && path[0] == "versions" {
		if path[1] != m.version {
			return nil, "", nil, refuse(http.StatusNotFound, "model %q has no version %.100q, but %s", m.name, path[1], m.version)
		}
		path = path[2:]
	}
	switch {
	case len(path) == 0:
		return m, http.MethodGet, s.unlessStopping(m.about), nil
	case len(path) == 1 && path[0] == "ready":
		return m, http.MethodGet, func(w http.ResponseWriter, r *http.Request) error {
			status, ready := s.ready()
			return reply(w, status, struct {
				Name  string `json:"name"`
				Ready bool   `json:"ready"`
			}{m.name, ready})
		}, nil
	case len(path) == 1 && path[0] == "infer":
		return m, http.MethodPost, m.infer, nil
	}
	return nil, "", nil, refuse(http.StatusNotFound, "there is no such path of model %q; infer and ready are", m.name)
}

// answered keeps the status of an answer, and gives the client a time to take it.
type answered struct {
	http.ResponseWriter
	s       *Server
	status  int
	service *Service // that the request is for
}

func (a *answered) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	if a.s.stopping() {
		a.Header().Set("Connection", "close") // else a client would send one more request to a server that is gone
	}
	http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(a.s.o.BodyTimeout))
	a.ResponseWriter.WriteHeader(status)
}

func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// fail answers with an error, if nothing is answered already.
func (s *Server) fail(w *answered, err error) {
	if w.status != 0 {
		return
	}
	r := &refusal{status: http.StatusInternalServerError, text: err.Error(), err: err}
	var known *refusal
	switch {
	case errors.As(err, &known):
		r = known
	case errors.Is(err, errTime), errors.Is(err, context.DeadlineExceeded):
		r = &refusal{status: http.StatusGatewayTimeout, text: fmt.Sprintf("the request took longer than %v", s.o.Timeout)}
	case errors.Is(err, context.Canceled):
		r = &refusal{status: statusGone, text: "the client went away"}
	}
	if r.status == http.StatusInternalServerError {
		s.o.Log.Error("a request failed", "error", r.text)
	}
	if r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	text := strings.ToValidUTF8(r.text, "\ufffd")
	if w.service != nil && w.service.Refusal != nil {
		write(w, r.status, "application/json", w.service.Refusal(r.status, text))
		return
	}
	reply(w, r.status, struct {
		Error string `json:"error"`
	}{text})
}

// reply answers with an object.
func reply(w http.ResponseWriter, status int, v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	write(w, status, "application/json", []byte(strings.TrimSuffix(b.String(), "\n")))
	return nil
}

// ready reports whether the server accepts requests.
func (s *Server) ready() (status int, ready bool) {
	if s.stopping() {
		return http.StatusServiceUnavailable, false
	}
	return http.StatusOK, true
}

// about answers with the server's metadata.
func (s *Server) about(w http.ResponseWriter, r *http.Request) error {
	return reply(w, http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{"ashlar", version(), []string{"binary_tensor_data"}})
}

// list answers with the names and versions of the models.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	type entry struct {
		Name     string   `json:"name"`
		Versions []string `json:"versions"`
	}
	list := []entry{}
	for _, name := range s.names {
		list = append(list, entry{name, []string{s.models[name].version}})
	}
	return reply(w, http.StatusOK, struct {
		Models []entry `json:"models"`
	}{list})
}

// version is that of the module as the program was built with it.
func version() string {
	const path = "github.com/ashlar-go/ashlar"
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(b.Deps, &b.Main) {
			if m.Path == path && m.Version != "" {
				return m.Version
			}
		}
	}
	return "unknown"
}

// about answers with the model's metadata.
func (m *model) about(w http.ResponseWriter, r *http.Request) error {
	type meta struct {
		Name     string  `json:"name"`
		Datatype string  `json:"datatype"`
		Shape    []int64 `json:"shape"`
	}
	list := func(ports []port) []meta {
		all := []meta{}
		for i := range ports {
			if p := &ports[i]; !p.optional {
				all = append(all, meta{p.name, p.t.name, p.shape})
			}
		}
		return all
	}
	return reply(w, http.StatusOK, struct {
		Name     string   `json:"name"`
		Versions []string `json:"versions"`
		Platform string   `json:"platform"`
		Inputs   []meta   `json:"inputs"`
		Outputs  []meta   `json:"outputs"`
	}{m.name, []string{m.version}, "onnx_onnxv1", list(m.inputs), list(m.outputs)})
}

// infer answers an inference request.
func (m *model) infer(w http.ResponseWriter, r *http.Request) error {
	header, err := headerOf(r)
	if err != nil {
		return err
	}
	picture, err := m.s.pictured(r)
	if err != nil {
		return err
	}
	return m.s.admitted(w, r, func(ctx context.Context, body []byte, held *int64) error {
		want := r.Header.Get(wantDigest) != ""
		answer, header, digests, err := m.answer(ctx, body, header, picture, want, held)
		if err != nil {
			return err
		}
		h := w.Header()
		if want {
			h.Set(digestHeader, digests)
		}
		kind := "application/json"
		if header >= 0 {
			kind = "application/octet-stream"
			h.Set(headerLength, strconv.FormatInt(header, 10))
		}
		write(w, http.StatusOK, kind, answer)
		return nil
	})
}

// pictured reports whether the body is a picture.
func (s *Server) pictured(r *http.Request) (bool, error) {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case !strings.HasPrefix(kind, "image/"):
		return false, nil
	case s.o.Picture == nil:
		return false, refuse(http.StatusUnsupportedMediaType, "this server takes tensors, no pictures")
	case kind != "image/png" && kind != "image/jpeg":
		return false, refuse(http.StatusUnsupportedMediaType, "the content type is %.40q; of pictures, image/png and image/jpeg are read", kind)
	case r.Header.Get(headerLength) != "":
		return false, refuse(http.StatusBadRequest, "the header %s is for tensors, the body is a picture", headerLength)
	}
	return true, nil
}

// answer parses a request, runs it, and writes its answer.
func (m *model) answer(ctx context.Context, body []byte, header int64, picture, digest bool, held *int64) (answer []byte, of int64, digests string, err error) {
	take := func(n int64) error { return m.s.take(held, n) }
	r := &request{}
	if !picture {
		r, err = parse(body, header, take)
	}
	if err == nil {
		err = m.choose(r)
	}
	var in map[string]onnx.Value
	switch {
	case err != nil:
	case picture:
		in, err = m.see(body, take)
	default:
		in, err = m.bind(r, take)
	}
	if err != nil {
		return nil, 0, "", err
	}
	out, err := m.compute(ctx, in, false)
	if err != nil {
		return nil, 0, "", err
	}
	if answer, of, err = m.encode(r, out, take); err == nil && digest {
		digests, err = r.digests(out, take)
	}
	return answer, of, digests, err
}

// bind makes tensors of the inputs.
func (m *model) bind(r *request, take func(int64) error) (map[string]onnx.Value, error) {
	in := make(map[string]onnx.Value, len(r.inputs))
	for i := range r.inputs {
		given := &r.inputs[i]
		p := portNamed(m.inputs, given.name)
		t := typeOf(func(t *datatype) bool { return t.name == given.datatype })
		switch {
		case p == nil:
			return nil, refuse(http.StatusBadRequest, "model %q has no input %.100q; its inputs are %.1000s", m.name, given.name, portNames(m.inputs))
		case in[given.name].Kind() != onnx.KindNone:
			return nil, refuse(http.StatusBadRequest, "input %.100q stands there twice", given.name)
		case t == nil:
			return nil, refuse(http.StatusBadRequest, "input %.100q: there is no datatype %.40q", given.name, given.datatype)
		case t != p.t:
			return nil, refuse(http.StatusBadRequest, "input %.100q: the model takes %s, not %s", given.name, p.t.name, t.name)
		}
		v, err := given.value(t, m.s.o.NullNaN, take)
		if err != nil {
			return nil, err
		}
		in[given.name] = v
	}
	for i := range m.inputs {
		if p := &m.inputs[i]; !p.optional && in[p.name].Kind() == onnx.KindNone {
			return nil, refuse(http.StatusBadRequest, "input %q is missing; model %q takes %s", p.name, m.name, portNames(m.inputs))
		}
	}
	return in, nil
}

// see makes tensors of a picture.
func (m *model) see(body []byte, take func(int64) error) (map[string]onnx.Value, error) {
	given, err := m.s.o.Picture(m.session.Inputs(), body, take)
	if known := new(refusal); errors.As(err, &known) {
		return nil, known
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "model %q: %v", m.name, err)
	}
	in := make(map[string]onnx.Value, len(given))
	for name, t := range given {
		in[name] = onnx.TensorValue(t)
	}
	return in, nil
}

// choose checks the outputs that are asked for, and names all if there are none.
func (m *model) choose(r *request) error {
	for i, o := range r.outputs {
		if portNamed(m.outputs, o.name) == nil {
			return refuse(http.StatusBadRequest, "model %q has no output %.100q; its outputs are %.1000s", m.name, o.name, portNames(m.outputs))
		}
		for _, before := range r.outputs[:i] {
			if before.name == o.name {
				return refuse(http.StatusBadRequest, "output %.100q is asked for twice", o.name)
			}
		}
	}
	if len(r.outputs) == 0 {
		for i := range m.outputs {
			r.outputs = append(r.outputs, output{name: m.outputs[i].name})
		}
	}
	return nil
}

func portNamed(list []port, name string) *port {
	for i := range list {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}

func portNames(list []port) string {
	var names []string
	for i := range list {
		names = append(names, list[i].name)
	}
	return strings.Join(names, ", ")
}
