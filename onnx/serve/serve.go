package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// Options bounds the resources that clients may take. The zero value is the default.
type Options struct {
	// MaxBody is the most bytes of a request's body; 0 means 64 MiB.
	MaxBody int64

	// MaxHeld is the most bytes of bodies, inputs and answers that the server holds at one time, over all requests, besides
	// the memory of runs; 0 means 1 GiB. A request that doesn't fit gets the status 503, or 413 if it never would.
	MaxHeld int64

	// MaxMemory bounds each run, as onnx.Options.MaxMemory does. Between runs a model keeps memory for up to MaxRuns runs,
	// at most 16 MiB each.
	MaxMemory int64

	// MaxIterations bounds the loops of each run, as onnx.Options.MaxIterations does.
	MaxIterations int64

	// MaxRuns is the most runs at one time; 0 means the number of processors that Go uses.
	MaxRuns int

	// MaxQueue is the most requests that wait for a run; 0 means 1024, a negative number none. A further request gets the
	// status 503 with Retry-After.
	MaxQueue int

	// Timeout is the most time that a request waits and runs; 0 means a minute. After it, the request gets the status 504.
	Timeout time.Duration

	// BodyTimeout is the most time for a client to send a body, and to receive an answer; 0 means half a minute.
	BodyTimeout time.Duration

	// NullNaN takes null among the floats of a request in JSON as NaN. Without it null is an error.
	NullNaN bool

	// BatchDelay is the time for which a request waits for others to run with; 0 means that each request runs alone.
	// Requests share a run if they name the same model and their shapes agree beyond the first axis. In such a model, the
	// first axis of every input isn't fixed, and has one name if it has names. Every output has the same first axis, as
	// declared or by inference of shapes. Results have the same bits as without batches: New runs such a model twice, and if
	// its rows depend on each other, its requests run alone. Log names each model whose requests run alone, and the reason.
	BatchDelay time.Duration

	// MaxBatch is the most rows of a shared run; 0 means 32.
	MaxBatch int

	// Picture makes values for the inputs of a model from the body of a request whose Content-Type is image/png or image/jpeg.
	// Several requests may call it at the same time. Before it takes memory it calls take with the number of bytes, which
	// MaxHeld bounds, and returns its error. Another error gives the request the status 400. Nil gives it 415.
	Picture func(inputs []onnx.ValueInfo, body []byte, take func(bytes int64) error) (map[string]tensor.Any, error)

	// Services answer requests to paths of their own by runs of the models.
	Services []Service

	// Grace is the time that running requests get to finish when Serve stops; 0 means half a minute.
	Grace time.Duration

	// Hosts are the host names, besides localhost, that clients may use for a server that Serve runs on a loopback address,
	// behind a proxy that passes the names on.
	Hosts []string

	// Log gets the server's own errors, and each request at level debug; nil means nothing is logged.
	Log *slog.Logger
}

// A Service answers POST requests to a path by runs of the server's models. Its requests have the bounds of all others: on
// bodies, memory, runs at one time, waiting and time.
type Service struct {
	Path string // as /v1/embeddings

	// Answer returns the JSON that answers a body. Several requests may call it at the same time. It calls take with the number
	// of bytes before it takes memory besides the body, and returns the errors of take and run. Another error gives the
	// request the status 400 if it wraps tensor.ErrValue, 404 if it wraps ErrNotFound, and else 500.
	Answer func(ctx context.Context, body []byte, run Run, take func(bytes int64) error) (answer []byte, err error)

	// Refusal returns the JSON that answers a request that failed; nil is {"error": text}.
	Refusal func(status int, text string) []byte
}

// A Run runs the server's model with a name. It waits for other runs as requests of the protocol do, and shares runs with them where
// Options.BatchDelay says so. Options.MaxQueue refuses the first run of a request alone: later ones wait in turn.
type Run func(ctx context.Context, model string, in map[string]tensor.Any) (map[string]tensor.Any, error)

// ErrNotFound is wrapped by an error of a Service about a thing that the server doesn't have.
var ErrNotFound = errors.New("not found")

// filled returns the options with defaults.
func filled(opts *Options) Options {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), 64<<20)
	o.MaxHeld = cmp.Or(max(o.MaxHeld, 0), 1<<30)
	o.MaxRuns = cmp.Or(max(o.MaxRuns, 0), runtime.GOMAXPROCS(0))
	o.MaxQueue = max(cmp.Or(o.MaxQueue, 1024), 0)
	o.Timeout = cmp.Or(max(o.Timeout, 0), time.Minute)
	o.BodyTimeout = cmp.Or(max(o.BodyTimeout, 0), 30*time.Second)
	o.MaxBatch = cmp.Or(max(o.MaxBatch, 0), 32)
	o.Grace = cmp.Or(max(o.Grace, 0), 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Model is a model and the name under which clients request it.
type Model struct {
	Name    string
	Version string // empty: the version that the file has, or 1
	Model   *onnx.Model

	Integers bool // run it by onnx.NewIntegerSession

	// Certificate, unless it is nil, has to hold on this machine: New checks it by onnx.Session.CheckCertificate.
	Certificate *receipt.Certificate
}

// A Server runs models for HTTP clients. It is an http.Handler: mount it in a mux at /v2/ and /metrics, or at a prefix
// with http.StripPrefix, or call Serve. Its methods may be called from several goroutines at once.
type Server struct {
	o      Options
	models map[string]*model
	names  []string
	slots  chan struct{} // one for each run that goes on
	held   atomic.Int64  // bytes, see Options.MaxHeld
	queue  atomic.Int64  // requests that wait for a slot

	base   context.Context // ends when running requests must
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	active  int           // requests and shared runs
	closing bool          // Shutdown was called
	idle    chan struct{} // closed when closing and nothing is active
	counts  map[counted]uint64
}

// A model is a Model that is served.
type model struct {
	s             *Server
	name, version string
	session       *onnx.Session
	inputs        []port
	outputs       []port
	batches       *batches       // nil: requests run alone
	streamed      atomic.Bool    // requests run in a Stream
	streams       []*onnx.Stream // that no run uses; Server.mu guards them
	requests      histogram
	runs          histogram
	rows          histogram
}

// A port is an input or output of a model.
type port struct {
	name     string
	t        *datatype
	shape    []int64 // -1 where the size isn't fixed
	rows     bool    // the first axis is known to be there, and its size isn't fixed
	first    string  // its name then
	optional bool    // an input with a default
}

// New makes a server of models, which must stay open until it is shut down. It returns the errors of onnx.NewSession. It also
// returns errors for models with inputs or outputs that the protocol can't describe: sequences, maps, complex numbers, 8-bit
// floats. If a ZipMap makes maps of a tensor, as behind classifiers, the model has that tensor as an output instead.
//
// A model with an error doesn't stop the others: New then returns a server of the other models beside errors.Join of the
// errors, and no server if no model is left.
func New(opts *Options, models ...Model) (*Server, error) {
	s := &Server{o: filled(opts), models: make(map[string]*model), idle: make(chan struct{}), counts: make(map[counted]uint64)}
	s.slots = make(chan struct{}, s.o.MaxRuns)
	s.base, s.cancel = context.WithCancelCause(context.Background())
	var errs []error
	for _, m := range models {
		served, err := s.model(m)
		if err != nil {
			errs = append(errs, fmt.Errorf("serve: model %.100q: %w", m.Name, err))
			continue
		}
		s.models[m.Name] = served
		s.names = append(s.names, m.Name)
	}
	if err := s.checkServices(); err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	if len(errs) > 0 && len(s.models) == 0 {
		return nil, errors.Join(errs...)
	}
	if len(s.models) == 0 {
		return nil, fmt.Errorf("serve: %w: there is no model to serve", tensor.ErrValue)
	}
	return s, errors.Join(errs...)
}

// Names returns the names of the models that are served.
func (s *Server) Names() []string { return slices.Clone(s.names) }

// unzipped returns a model with the operand of each ZipMap as an output in place of its maps.
func (s *Server) unzipped(name string, m *onnx.Model) (*onnx.Model, error) {
	if m == nil || m.Graph == nil {
		return m, nil // NewSession says so
	}
	var outputs []string
	changed := false
	for _, v := range m.Graph.Outputs {
		out := v.Name
		for i := range m.Graph.Nodes {
			if n := &m.Graph.Nodes[i]; n.Op == "ZipMap" && n.Domain == "ai.onnx.ml" && len(n.Inputs) == 1 && slices.Contains(n.Outputs, v.Name) {
				out, changed = n.Inputs[0], true
				s.o.Log.Warn("an output is maps, which the protocol doesn't have: the server gives the tensor that they are made of", "model", name, "output", v.Name, "tensor", out)
			}
		}
		if !slices.Contains(outputs, out) {
			outputs = append(outputs, out)
		}
	}
	if !changed {
		return m, nil
	}
	return onnx.Extract(m, nil, outputs)
}

// wordsOf returns an error for names that can't stand in a path.
func wordsOf(what, name string) error {
	if name == "" || name == "." || name == ".." || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%w: the %s %.100q can't stand in a path: want letters, and neither / nor control characters", tensor.ErrValue, what, name)
	}
	return nil
}

func (s *Server) model(from Model) (*model, error) {
	if err := wordsOf("name", from.Name); err != nil {
		return nil, err
	}
	if s.models[from.Name] != nil {
		return nil, fmt.Errorf("%w: there are two models of this name", tensor.ErrValue)
	}
	var err error
	if from.Model, err = s.unzipped(from.Name, from.Model); err != nil {
		return nil, err
	}
	load := onnx.NewSession
	if from.Integers {
		load = onnx.NewIntegerSession
	}
	session, err := load(from.Model)
	if err != nil {
		return nil, err
	}
	if from.Integers {
		if n, why := session.Integers(); n == 0 {
			s.o.Log.Warn("no step runs on integers", "model", from.Name, "why", why)
		}
	}
	if from.Certificate != nil {
		if err := session.CheckCertificate(context.Background(), from.Certificate); err != nil {
			return nil, err
		}
	}
	m := &model{s: s, name: from.Name, version: from.Version, session: session}
	if m.version == "" {
		m.version = strconv.FormatInt(max(from.Model.Version, 1), 10)
	}
	if err := wordsOf("version", m.version); err != nil {
		return nil, err
	}
	required := make(map[string]bool)
	for _, v := range from.Model.Inputs() {
		required[v.Name] = true
	}
	for i := range from.Model.Graph.Inputs {
		v := &from.Model.Graph.Inputs[i]
		p, err := portOf(v)
		if err != nil {
			return nil, fmt.Errorf("input %.100q: %w", v.Name, err)
		}
		p.optional = !required[v.Name]
		m.inputs = append(m.inputs, p)
	}
	for i := range from.Model.Graph.Outputs {
		v := &from.Model.Graph.Outputs[i]
		p, err := portOf(v)
		if err != nil {
			return nil, fmt.Errorf("output %.100q: %w", v.Name, err)
		}
		m.outputs = append(m.outputs, p)
	}
	m.streamed.Store(!slices.ContainsFunc(slices.Concat(m.inputs, m.outputs), func(p port) bool { return p.t.isText() }))
	m.requests.bounds, m.runs.bounds, m.rows.bounds = seconds, seconds, powers
	if s.o.BatchDelay > 0 && s.o.MaxBatch > 1 {
		m.batch(from.Model)
	}
	return m, nil
}

func portOf(v *onnx.ValueInfo) (p port, err error) {
	p.name = v.Name
	if len(p.name) > mostName || !utf8.ValidString(p.name) {
		return p, fmt.Errorf("%w: its name has %d bytes, and requests name what is UTF-8 of at most %d", onnx.ErrUnsupported, len(p.name), mostName)
	}
	if v.Type.Kind != onnx.KindTensor {
		return p, fmt.Errorf("%w: it is %v; the protocol has tensors alone", onnx.ErrUnsupported, v.Type)
	}
	p.t = typeOf(func(t *datatype) bool { return t.elem == v.Type.Elem })
	switch {
	case p.t == nil:
		return p, fmt.Errorf("%w: it holds %v, for which the protocol has no datatype", onnx.ErrUnsupported, v.Type.Elem)
	case !v.Type.HasShape:
		p.shape = []int64{-1} // the protocol can't say that the rank is unknown
		return p, nil
	}
	p.shape = []int64{}
	for i, d := range v.Type.Shape {
		if i == 0 && d.Value < 0 {
			p.rows, p.first = true, d.Param
		}
		p.shape = append(p.shape, max(d.Value, -1))
	}
	return p, nil
}

// A refusal is an answer with an error.
type refusal struct {
	status int
	text   string
	err    error // beneath, may be nil
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, format string, args ...any) error {
	r := &refusal{status: status, text: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			r.err = err
		}
	}
	return r
}

var (
	errStopping = &refusal{status: http.StatusServiceUnavailable, text: "the server is stopping"}
	errQueue    = &refusal{status: http.StatusServiceUnavailable, text: "too many requests wait; come back later"}
)

// begin counts a request, or refuses it if the server stops.
func (s *Server) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return errStopping
	}
	s.active++
	return nil
}

// more counts a shared run, which a request that is counted starts.
func (s *Server) more() {
	s.mu.Lock()
	s.active++
	s.mu.Unlock()
}

func (s *Server) end() {
	s.mu.Lock()
	if s.active--; s.active == 0 && s.closing {
		close(s.idle)
	}
	s.mu.Unlock()
}

func (s *Server) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// Shutdown refuses new requests and waits for running requests. If ctx ends before they do, Shutdown stops their runs, and
// they get an error. When they are gone, Shutdown returns ctx's error. Call it before the models are closed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.closing {
		s.closing = true
		if s.active == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
	}
	s.cancel(errStopping)
	<-s.idle
	return ctx.Err()
}

// take reserves memory, see Options.MaxHeld. The request gives back the bytes that it took.
func (s *Server) take(held *int64, n int64) error {
	switch {
	case *held+n > s.o.MaxHeld:
		return refuse(http.StatusRequestEntityTooLarge, "the request needs %d bytes for body, inputs and outputs, the limit is %d", *held+n, s.o.MaxHeld)
	case s.held.Add(n) > s.o.MaxHeld:
		s.held.Add(-n)
		return refuse(http.StatusServiceUnavailable, "other requests hold the memory that this one needs; come back later")
	}
	*held += n
	return nil
}

// enter waits for the right to run. MaxQueue doesn't refuse a later run of a request: it waits in the place that its first run had.
func (s *Server) enter(ctx context.Context, later bool) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
	}
	if s.queue.Add(1) > int64(s.o.MaxQueue) && !later {
		s.queue.Add(-1)
		return errQueue
	}
	defer s.queue.Add(-1)
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) leave() { <-s.slots }

// run runs the model once and reads its outputs. The caller has a slot.
func (m *model) run(ctx context.Context, in map[string]onnx.Value, requests int) (list map[string]array, err error) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 16<<10)
			m.s.o.Log.Error("a run panicked", "model", m.name, "panic", p, "stack", string(stack[:runtime.Stack(stack, false)]))
			list, err = nil, refuse(http.StatusInternalServerError, "the run failed inside the server")
		}
		m.s.mu.Lock()
		m.runs.add(time.Since(start).Seconds())
		m.rows.add(float64(requests))
		m.s.mu.Unlock()
	}()
	if requests == 1 && m.streamed.Load() {
		list, err = m.stream(ctx, in)
	} else {
		var out map[string]onnx.Value
		limits := m.s.limits()
		if out, err = m.session.RunValues(ctx, in, &limits); err == nil {
			list, err = m.arrays(out)
		}
	}
	return list, m.explain(ctx, in, err)
}

func (s *Server) limits() onnx.Options {
	return onnx.Options{MaxMemory: s.o.MaxMemory, MaxIterations: s.o.MaxIterations}
}

// mostKept is the most bytes that a stream of a model keeps between runs.
const mostKept = 16 << 20

// stream runs the model in a Stream that no other run uses. Its runs over equal shapes are prepared once.
func (m *model) stream(ctx context.Context, in map[string]onnx.Value) (map[string]array, error) {
	var st *onnx.Stream
	m.s.mu.Lock()
	if last := len(m.streams) - 1; last >= 0 {
		st, m.streams = m.streams[last], m.streams[:last]
	}
	m.s.mu.Unlock()
	if st == nil {
		var err error
		if st, err = m.session.Stream(&onnx.StreamOptions{Options: m.s.limits()}); err != nil {
			return nil, err
		}
	}
	tensors := make(map[string]tensor.Any, len(in))
	for name, v := range in {
		tensors[name] = v.Tensor()
	}
	out, err := st.Run(ctx, tensors)
	var list map[string]array
	if err == nil {
		list = make(map[string]array, len(out))
	}
	for name, a := range out {
		if a, err = tensor.Clone(a); err == nil { // the next run writes to it
			list[name], err = arrayOf(name, a)
		}
		if err != nil {
			break
		}
	}
	if st.Kept() > mostKept {
		m.streamed.Store(false) // so large a run gains little by being prepared
		return list, errors.Join(err, st.Close())
	}
	m.s.mu.Lock()
	m.streams = append(m.streams, st)
	m.s.mu.Unlock()
	return list, err
}

// explain finds the status for the error of a run.
func (m *model) explain(ctx context.Context, in map[string]onnx.Value, err error) error {
	var refused *refusal
	var need *onnx.MemoryError
	switch {
	case err == nil || errors.As(err, &refused):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &need):
		return refuse(http.StatusRequestEntityTooLarge, "the run needs %d bytes for weights and results, the limit is %d", need.Need, need.Limit)
	}
	text := strings.TrimPrefix(err.Error(), "onnx: ")
	var placed *onnx.Error
	if errors.As(err, &placed) {
		text = strings.TrimPrefix((&onnx.Error{Place: placed.Place, Err: placed.Err}).Error(), "onnx: ") // clients needn't know the file
	}
	broken := errors.Is(err, tensor.ErrClosed) || errors.Is(err, mem.ErrShrunk)
	if _, planned := m.session.PlanValues(in); planned != nil && !broken {
		return refuse(http.StatusBadRequest, "%s", text) // the inputs don't fit the model
	}
	return &refusal{status: http.StatusInternalServerError, text: text, err: err}
}
