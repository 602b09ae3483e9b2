package meta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/internal/ended"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/receipt"
	"github.com/ashlar-go/ashlar/tensor"
)

// A Way is how a case runs. The zero Way is a run of a session with the threads that there are.
type Way struct {
	Threads int    // of Options
	Passes  string // of ASHLAR_PASSES
	File    string // how the model comes: "" as it is, decoded, mapped, external, function
	Run     string // values (""), run, call, stream, many: goroutines on one session; chunked: as a plan of package chunk
	Parts   bool   // inputs come in parts of a batch, where the graph keeps its items apart
	Memory  bool   // MaxMemory is as the plan says; then a byte less is refused or enough
	Look    int    // before each run others, whose contexts end at this look, at an eighth of it, and so on; 0 is none
	Sweep   bool   // before a run of the first set also at each of the 64 looks from Look on
	Hold    bool   // the caller changes the inputs and the results of a run after it
	Receipt string // "", outputs or nodes: a receipt is made, and verified
	Observe bool   // the results of nodes are compared while it runs
	Repeat  int    // how often the sets run, in turns, less one
}

// String is the way as text, which ParseWay reads.
func (w Way) String() string {
	return fmt.Sprintf("threads=%d passes=%s file=%s run=%s parts=%v memory=%v look=%d sweep=%v hold=%v receipt=%s observe=%v repeat=%d", w.Threads, w.Passes, w.File, w.Run, w.Parts, w.Memory, w.Look, w.Sweep, w.Hold, w.Receipt, w.Observe, w.Repeat)
}

// ParseWay reads the text of a Way. What it doesn't name is zero.
func ParseWay(text string) (w Way, err error) {
	for _, word := range strings.Fields(text) {
		name, v, _ := strings.Cut(word, "=")
		switch name {
		case "threads":
			w.Threads, err = strconv.Atoi(v)
		case "passes":
			w.Passes = v
		case "file":
			w.File = v
		case "run":
			w.Run = v
		case "parts":
			w.Parts, err = strconv.ParseBool(v)
		case "memory":
			w.Memory, err = strconv.ParseBool(v)
		case "look":
			w.Look, err = strconv.Atoi(v)
		case "sweep":
			w.Sweep, err = strconv.ParseBool(v)
		case "hold":
			w.Hold, err = strconv.ParseBool(v)
		case "receipt":
			w.Receipt = v
		case "observe":
			w.Observe, err = strconv.ParseBool(v)
		case "repeat":
			w.Repeat, err = strconv.Atoi(v)
		default:
			err = errors.New("no such word")
		}
		if err != nil {
			return w, fmt.Errorf("way %.200q: %.40q: %w", text, word, err)
		}
	}
	return w, nil
}

// NewWay draws a way.
func NewWay(r *rand.Rand) (w Way) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	w = Way{Threads: r.IntN(8), File: pick("", "", "decoded", "mapped", "external", "function"), Run: pick("", "run", "call", "stream", "stream", "many", "chunked"), Parts: r.IntN(4) == 0,
		Memory: r.IntN(4) == 0, Hold: r.IntN(3) == 0, Repeat: r.IntN(3)}
	switch r.IntN(5) {
	case 0:
		w.Passes = []string{"none", "check"}[r.IntN(2)]
	case 1:
		w.Passes = "-" + pick(passNames...)
	case 2:
		w.Passes = pick(passNames...)
	}
	if r.IntN(3) == 0 {
		w.Look = 1 + r.IntN(1<<r.IntN(9))
		w.Sweep = r.IntN(4) == 0
	}
	w.Observe = r.IntN(8) == 0
	if r.IntN(6) == 0 {
		w.Receipt = pick("outputs", "nodes")
	}
	return w
}

// A Difference is a run that gave other results than the ones that count.
type Difference struct {
	Way  Way
	Set  int
	Turn int // of the sets: 0 is the first
	What string
}

func (d *Difference) Error() string {
	return fmt.Sprintf("%s; set %d, turn %d: %s", d.Way, d.Set, d.Turn, d.What)
}

// Run runs a case in a way. It returns nil where all results have the bits that count, else a *Difference. Files are
// written into dir.
func (c *Case) Run(w Way, dir string) error {
	err := calmly(func() error { return c.run(w, dir) })
	if d := (*Difference)(nil); err == nil || errors.As(err, &d) {
		return err
	}
	return &Difference{w, -1, 0, err.Error()}
}

// calmly returns the error of f. A panic is one.
func calmly(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			buf := make([]byte, 4096)
			err = fmt.Errorf("panic: %v\n%s", r, buf[:runtime.Stack(buf, false)])
		}
	}()
	return f()
}

// run is Run without its care: its errors may be others, and it may panic.
func (c *Case) run(w Way, dir string) error {
	diff := func(set, turn int, format string, args ...any) error {
		return &Difference{w, set, turn, fmt.Sprintf(format, args...)}
	}
	if w.Parts {
		if c = c.parts(); c == nil {
			return nil
		}
	}
	if w.Run == "chunked" {
		for i, s := range c.Sets {
			if _, err := c.chunked(s.In, max(1, w.Threads)); err != nil {
				return diff(i, 0, "%v", err)
			}
		}
		return nil
	}
	m, err := c.model(w, dir)
	if err != nil {
		return diff(-1, 0, "%v", err)
	}
	defer m.Close()
	defer passes(w.Passes)()
	s, err := onnx.NewSession(m)
	if err != nil {
		return diff(-1, 0, "%v", err)
	}
	r := &running{c: c, w: w, m: m, s: s, opts: onnx.Options{Threads: w.Threads, MaxIterations: 1000}}
	if w.Run == "stream" && c.tensors() {
		st, err := s.Stream(&onnx.StreamOptions{Options: r.opts})
		if err != nil {
			return diff(-1, 0, "stream: %v", err)
		}
		defer st.Close()
		r.st = st
	}
	for turn := range 1 + w.Repeat {
		if w.Run == "many" {
			var wg sync.WaitGroup
			errs := make([]error, len(c.Sets))
			for i := range c.Sets {
				wg.Go(func() { errs[i] = calmly(func() error { return r.set(i) }) })
			}
			wg.Wait()
			for i, err := range errs {
				if err != nil {
					return diff(i, turn, "%v", err)
				}
			}
			continue
		}
		for i := range c.Sets {
			if err := r.set(i); err != nil {
				return diff(i, turn, "%v", err)
			}
		}
	}
	return nil
}

// tensors reports whether all inputs and outputs are tensors of numbers, as Session.Run and streams need them.
func (c *Case) tensors() bool {
	for _, s := range []scope{c.Sets[0].In, c.Sets[0].Want} {
		for _, v := range s {
			if v.Kind() != onnx.KindTensor || v.Strings() != nil {
				return false
			}
		}
	}
	return true
}

// model returns the model as a way has it.
func (c *Case) model(w Way, dir string) (*onnx.Model, error) {
	m := *c.Model
	switch w.File {
	case "":
		return &m, nil
	case "function":
		return called(&m), nil
	}
	file := filepath.Join(dir, "model.onnx")
	b, err := onnx.Encode(&m)
	if err != nil {
		return nil, err
	}
	var back *onnx.Model
	switch w.File {
	case "decoded":
		back, err = onnx.Decode(b)
	case "mapped":
		if err = os.WriteFile(file, b, 0o600); err == nil {
			back, err = onnx.Open(file)
		}
	case "external":
		if err = m.WriteExternal(file, 1); err == nil {
			back, err = onnx.Open(file)
		}
	default:
		err = fmt.Errorf("no file %q", w.File)
	}
	if err == nil {
		back.Operators = m.Operators
	}
	return back, err
}

// called is a model whose nodes are the body of a function, which its one node calls.
func called(m *onnx.Model) *onnx.Model {
	g := m.Graph
	n := onnx.Node{Op: "Whole", Domain: functions, Name: "whole", Outputs: names(g.Outputs)}
	fn := onnx.Function{Domain: functions, Name: "Whole", Nodes: g.Nodes, Opsets: m.Opsets}
	for _, v := range g.Inputs {
		n.Inputs, fn.Inputs = append(n.Inputs, v.Name), append(fn.Inputs, v.Name)
	}
	for _, t := range g.Initializers {
		if !slices.Contains(fn.Inputs, t.Name) { // an input with a default
			n.Inputs, fn.Inputs = append(n.Inputs, t.Name), append(fn.Inputs, t.Name)
		}
	}
	fn.Outputs = names(g.Outputs)
	whole := *g
	whole.Nodes = []onnx.Node{n}
	m.Graph, m.Functions = &whole, append(slices.Clone(m.Functions), fn)
	return m
}

// running is a case that runs in a way.
type running struct {
	c    *Case
	w    Way
	m    *onnx.Model
	s    *onnx.Session
	st   *onnx.Stream
	opts onnx.Options
	last scope // of a Stream: the outputs of the last run, which are as in
	want scope
}

// set runs one set of inputs, and compares.
func (r *running) set(i int) error {
	set, opts := r.c.Sets[i], r.opts
	in := set.In
	if r.w.Hold {
		in = make(scope)
		for name, v := range set.In {
			in[name] = copied(v)
		}
	}
	for look := r.w.Look; look > 0; look /= 8 {
		if _, err := r.ends(look, in, &opts); err != nil {
			return err
		}
	}
	for look, on := r.w.Look, r.w.Sweep && i == 0; on && look < r.w.Look+64; look++ {
		var err error
		if on, err = r.ends(look, in, &opts); err != nil {
			return err
		}
	}
	if r.w.Memory && r.st == nil && r.w.Receipt != "nodes" && r.w.Passes != "check" && !r.w.Observe { // whose nodes are steps of their own, with weights of their own
		p, err := r.s.PlanValues(in)
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if p.Exact {
			opts.MaxMemory = max(1, p.Weights+p.Live-1)
			memory := (*onnx.MemoryError)(nil)
			if _, err := r.once(context.Background(), in, &opts); err != nil && !errors.As(err, &memory) {
				return fmt.Errorf("with a byte less: %w", err)
			}
			opts.MaxMemory = max(1, p.Weights+p.Live)
		}
	}
	var rec receipt.Receipt
	if r.w.Receipt != "" && r.st == nil {
		opts.Receipt, opts.ReceiptNodes = &rec, r.w.Receipt == "nodes"
	}
	var seen error
	if r.w.Observe && r.st == nil {
		all := maps.Clone(set.In)
		f := frame{m: r.c.Model}
		if err := f.graph(r.c.Model.Graph, all); err != nil {
			return err
		}
		opts.Observe = func(n *onnx.NodeRun) {
			for k, name := range n.Names {
				if want, ok := all[name]; ok && seen == nil {
					if err := compare(scope{name: want}, scope{name: n.Values[k]}); err != nil {
						seen = fmt.Errorf("node %s: %w", n.Node.Name, err)
					}
				}
			}
		}
	}
	out, err := r.once(context.Background(), in, &opts)
	if err = cmp.Or(seen, err); err != nil {
		return err
	}
	opts.Observe = nil
	if r.w.Hold && r.st == nil {
		for _, v := range in {
			spoil(v)
		}
	}
	if err := compare(set.Want, out); err != nil {
		return err
	}
	if r.st != nil {
		if r.last, r.want = out, set.Want; r.w.Hold {
			return r.feed(set)
		}
	}
	if r.w.Hold && r.st == nil {
		for _, v := range out {
			spoil(v)
		}
	}
	if opts.Receipt != nil {
		opts.Receipt = nil
		opts.MaxMemory = 0
		miss, err := onnx.Verify(context.Background(), r.m, &rec, set.In, &opts)
		if err != nil || miss != nil {
			return fmt.Errorf("verify: %v %w", miss, err)
		}
	}
	return nil
}

// ends does a run whose context ends at a look, and reports whether it had as many.
func (r *running) ends(look int, in scope, opts *onnx.Options) (bool, error) {
	switch _, err := r.once(ended.After(look), in, opts); {
	case err == nil:
		if r.st != nil {
			r.last = nil
		}
		return false, nil
	case !errors.Is(err, context.Canceled):
		return true, fmt.Errorf("with a context that ends at look %d: %w", look, err)
	case r.last != nil:
		if err := compare(r.want, r.last); err != nil {
			return true, fmt.Errorf("of the run before, after a run whose context ended: %w", err)
		}
	}
	return true, nil
}

// feed runs a Stream again, with outputs of its last run as inputs where they fit.
func (r *running) feed(set Set) error {
	in, fed := maps.Clone(set.In), false
	copies := maps.Clone(set.In)
	names := slices.Sorted(maps.Keys(r.last))
	for _, to := range slices.Sorted(maps.Keys(in)) {
		for i, name := range names {
			if a, b := r.last[name].Tensor(), in[to].Tensor(); a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) && a.Rank() > 0 {
				in[to], copies[to], fed = r.last[name], copied(r.last[name]), true
				names = append(slices.Delete(names, i, i+1), name) // another input takes another output
				break
			}
		}
	}
	if !fed {
		return nil
	}
	want, err := Reference(r.c.Model, copies)
	if err != nil {
		return nil // the numbers don't fit, as places beyond a list
	}
	out, err := r.once(context.Background(), in, &r.opts)
	if err == nil {
		err = compare(want, out)
	}
	if err != nil {
		return fmt.Errorf("with outputs as inputs: %w", err)
	}
	r.last, r.want = out, want
	return nil
}

// once runs the model.
func (r *running) once(ctx context.Context, in scope, opts *onnx.Options) (scope, error) {
	if !r.c.tensors() || r.st == nil && (r.w.Run == "" || r.w.Run == "many") || r.w.Run == "call" && (len(in) != len(r.s.Inputs()) || opts.Receipt != nil || opts.Observe != nil || opts.MaxMemory != 0 || opts.Threads > 0) {
		return r.s.RunValues(ctx, in, opts)
	}
	ins, outs := make(map[string]tensor.Any), make(map[string]tensor.Any)
	for name, v := range in {
		ins[name] = v.Tensor()
	}
	var err error
	switch {
	case r.st != nil:
		outs, err = r.st.Run(ctx, ins)
	case r.w.Run == "call":
		var list, got []tensor.Any
		for _, v := range r.s.Inputs() {
			list = append(list, ins[v.Name])
		}
		got, err = r.s.Call(ctx, list...)
		for i, a := range got {
			outs[r.s.Outputs()[i].Name] = a
		}
	default:
		outs, err = r.s.Run(ctx, ins, opts)
	}
	if err != nil {
		return nil, err
	}
	out := make(scope)
	for name, a := range outs {
		out[name] = onnx.TensorValue(a)
	}
	return out, nil
}

// copied is a value with memory of its own.
func copied(v onnx.Value) onnx.Value {
	if v.Kind() != onnx.KindTensor || v.Strings() != nil {
		return v
	}
	return onnx.TensorValue(v.Tensor().Clone())
}

// spoil sets all elements of a tensor to zeros.
func spoil(v onnx.Value) {
	if v.Kind() == onnx.KindTensor && v.Strings() == nil && !v.Tensor().IsZero() {
		a := v.Tensor()
		zero, err := tensor.Make(a.DType(), a.Shape()...)
		if err == nil {
			_ = tensor.Copy(a, zero)
		}
	}
}
