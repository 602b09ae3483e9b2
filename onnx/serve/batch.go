package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// batches are the shared runs of a model that wait for more requests.
type batches struct {
	m    *model
	mu   sync.Mutex
	open map[string]*batch // by key
}

// A batch is several requests that run at once.
type batch struct {
	of      *batches
	key     string
	members []*member
	rows    int
	left    int // members that still want their result
	timer   *time.Timer
	ctx     context.Context // ends when no member is left
	cancel  context.CancelFunc
}

// A member is a request in a batch.
type member struct {
	ctx  context.Context
	in   map[string]onnx.Value
	rows int
	done chan struct{} // closed once out and err are there
	out  map[string]array
	err  error
}

// batch lets requests share runs if the model allows it.
func (m *model) batch(from *onnx.Model) {
	alone := func(why string, args ...any) {
		m.s.o.Log.Warn("requests for this model run alone: "+why, append([]any{"model", m.name}, args...)...)
	}
	if p := m.unequal(from); p != "" {
		alone("not all inputs and outputs have the same first axis, or it isn't known", "port", p)
		return
	}
	same, err := m.independent()
	m.runs, m.rows = histogram{bounds: seconds}, histogram{bounds: powers} // the trial is no client's
	switch declared := m.inputs[0].first; {
	case err != nil && slices.ContainsFunc(slices.Concat(m.inputs, m.outputs), func(p port) bool { return p.first == "" || p.first != declared }):
		alone("whether its rows depend on each other couldn't be tried", "error", err)
		return
	case err != nil:
		m.s.o.Log.Warn("whether rows depend on each other couldn't be tried", "model", m.name, "error", err)
	case !same:
		alone("its rows depend on each other")
		return
	}
	m.batches = &batches{m: m, open: make(map[string]*batch)}
}

// unequal returns the name of an input or output that isn't known to have as many rows as the others, "" if there is none.
// If an output doesn't name its first axis as the inputs do, unequal infers its shape for two numbers of rows.
func (m *model) unequal(from *onnx.Model) string {
	axis := ""
	for _, p := range m.inputs {
		if !p.rows || p.first != "" && axis != "" && p.first != axis {
			return p.name
		}
		axis = cmp.Or(axis, p.first)
	}
	if len(m.inputs) == 0 {
		return m.outputs[0].name
	}
	for _, p := range m.outputs {
		if p.first != "" && p.first == axis {
			continue
		}
		for _, rows := range []int{5, 7} { // no other axis that isn't fixed gets these
			if m.inferred(from, p.name, rows) != int64(rows) {
				return p.name
			}
		}
	}
	return ""
}

// trial returns a shape of an input with the given rows. Axes beyond the first that aren't fixed get an extent of 3.
func (p *port) trial(rows int) []int {
	shape := []int{rows}
	for _, n := range p.shape[1:] {
		if n < 0 {
			n = 3
		}
		shape = append(shape, int(n))
	}
	return shape
}

// inferred returns the number of rows of an output for inputs with the given rows, -1 if it isn't known.
func (m *model) inferred(from *onnx.Model, output string, rows int) int64 {
	in := make(map[string]tensor.Any)
	for i := range m.inputs {
		if p := &m.inputs[i]; !p.t.isText() {
			spec, err := tensor.NewSpec(p.t.d, p.trial(rows)...)
			if err != nil {
				return -1
			}
			in[p.name] = spec.Any()
		}
	}
	cost, err := from.Cost(in)
	if err != nil {
		return -1
	}
	for i := range cost.Nodes {
		n := &cost.Nodes[i]
		if j := slices.Index(n.Node.Outputs, output); j >= 0 && n.Depth == 0 && j < len(n.Types) && len(n.Types[j].Shape) > 0 {
			return n.Types[j].Shape[0].Value
		}
	}
	return -1
}

// independent runs two rows of random numbers together and alone, and reports whether the results have the same bits.
func (m *model) independent() (bool, error) {
	ctx, cancel := context.WithTimeout(m.s.base, m.s.o.Timeout)
	defer cancel()
	parts := [2]map[string]onnx.Value{{}, {}}
	for k := range parts {
		for i := range m.inputs {
			p := &m.inputs[i]
			shape := p.trial(1)
			n, ok := count(shape)
			if !ok || n > 1<<26 {
				return false, fmt.Errorf("input %q is too large to be tried", p.name)
			}
			draw := tensor.RandomNormal[float32](uint64(2*i+k), 0, 1, n).Elems()
			if p.t.isText() {
				list := make([]string, n)
				for j, v := range draw {
					list[j] = strconv.FormatFloat(float64(v), 'g', 3, 32)
				}
				parts[k][p.name] = onnx.StringsValue(shape, list...)
				continue
			}
			a, err := tensor.Make(p.t.d, shape...)
			if err != nil {
				return false, err
			}
			b, _ := tensor.Bytes(a)
			size := p.t.d.Size()
			for j, v := range draw[:len(b)/size] {
				to := b[j*size : (j+1)*size]
				if p.t.d.IsFloat() {
					putFloat(p.t.d, to, float64(v))
				} else if v > 0 {
					putBits(to, 1)
				}
			}
			parts[k][p.name] = onnx.TensorValue(a)
		}
	}
	members := []*member{{in: parts[0], rows: 1}, {in: parts[1], rows: 1}}
	together, err := m.together(members, 2)
	if err != nil {
		return false, err
	}
	got, err := m.run(ctx, together, 2)
	if err != nil {
		return false, err
	}
	if !m.deal(got, members, 2) {
		return false, nil
	}
	for _, one := range members {
		want, err := m.run(ctx, one.in, 1)
		if err != nil {
			return false, err
		}
		for name, w := range want {
			if g := one.out[name]; !slices.Equal(g.shape, w.shape) || !bytes.Equal(g.data, w.data) || !slices.Equal(g.texts, w.texts) {
				return false, nil
			}
		}
	}
	runtime.KeepAlive(got)
	return true, nil
}

// key returns the key of a request: requests with equal keys may share a run. It also returns the number of rows of the
// inputs, 0 if they don't agree.
func (b *batches) key(in map[string]onnx.Value) (string, int) {
	rows := 0
	var key strings.Builder
	for i := range b.m.inputs {
		shape := in[b.m.inputs[i].name].Shape()
		if len(shape) == 0 || rows > 0 && shape[0] != rows {
			return "", 0
		}
		rows = shape[0]
		for _, n := range shape[1:] {
			key.Write(binary.AppendUvarint(nil, uint64(n)))
		}
		key.WriteByte(0xff) // no number begins so and ends here
		key.WriteByte(0)
	}
	return key.String(), rows
}

// run adds a request to a batch and waits for its result. Later is as in Server.enter.
func (b *batches) run(ctx context.Context, key string, rows int, in map[string]onnx.Value, later bool) (map[string]array, error) {
	s := b.m.s
	if s.queue.Add(1) > int64(s.o.MaxQueue+s.o.MaxRuns) && !later { // requests that find a free slot count for a while, too
		s.queue.Add(-1)
		return nil, errQueue
	}
	me := &member{ctx: ctx, in: in, rows: rows, done: make(chan struct{})}
	b.mu.Lock()
	t := b.open[key]
	if t != nil && t.rows+rows > s.o.MaxBatch {
		t.start()
		t = nil
	}
	if t == nil {
		t = &batch{of: b, key: key}
		t.ctx, t.cancel = context.WithCancel(context.Background())
		t.timer = time.AfterFunc(s.o.BatchDelay, func() {
			b.mu.Lock()
			t.start()
			b.mu.Unlock()
		})
		b.open[key] = t
		s.more()
	}
	t.members = append(t.members, me)
	t.rows += rows
	t.left++
	if t.rows == s.o.MaxBatch {
		t.start()
	}
	b.mu.Unlock()
	select {
	case <-me.done:
		return me.out, me.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	if t.left--; t.left == 0 {
		t.cancel()
		t.start()
	}
	b.mu.Unlock()
	return nil, context.Cause(ctx)
}

// start runs the batch, once. The caller holds the lock.
func (t *batch) start() {
	if t.of.open[t.key] != t {
		return
	}
	delete(t.of.open, t.key)
	t.timer.Stop()
	go t.run()
}

// run runs the members together. If that fails it runs each alone, so that no member gets the error of another.
func (t *batch) run() {
	m := t.of.m
	s := m.s
	defer s.end()
	defer t.cancel()
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("a shared run panicked", "model", m.name, "panic", p)
		}
		for _, me := range t.members {
			if me.out == nil && me.err == nil {
				me.err = refuse(http.StatusInternalServerError, "the shared run failed inside the server")
			}
			close(me.done)
		}
	}()
	select {
	case s.slots <- struct{}{}:
		defer s.leave()
	case <-t.ctx.Done():
	}
	s.queue.Add(-int64(len(t.members)))
	var live []*member
	rows := 0
	for _, me := range t.members {
		if me.ctx.Err() != nil {
			me.err = context.Cause(me.ctx)
			continue
		}
		live = append(live, me)
		rows += me.rows
	}
	if len(live) > 1 && t.ctx.Err() == nil {
		in, err := m.together(live, rows)
		var all map[string]array
		if err == nil {
			all, err = m.run(t.ctx, in, len(live))
		}
		if err == nil && m.deal(all, live, rows) {
			return
		}
	}
	for _, me := range live {
		if me.err = context.Cause(me.ctx); me.err == nil {
			me.out, me.err = m.run(me.ctx, me.in, 1)
		}
	}
}

// together puts the inputs of the members one after the other.
func (m *model) together(members []*member, rows int) (map[string]onnx.Value, error) {
	in := make(map[string]onnx.Value, len(m.inputs))
	for i := range m.inputs {
		name := m.inputs[i].name
		shape := slices.Clone(members[0].in[name].Shape())
		shape[0] = rows
		if m.inputs[i].t.isText() {
			var list []string
			for _, me := range members {
				list = append(list, me.in[name].Strings()...)
			}
			in[name] = onnx.StringsValue(shape, list...)
			continue
		}
		a, err := tensor.Make(m.inputs[i].t.d, shape...)
		if err != nil {
			return nil, err
		}
		to, ok := tensor.Bytes(a)
		for _, me := range members {
			from, own := tensor.Bytes(me.in[name].Tensor())
			if !ok || !own {
				return nil, fmt.Errorf("input %q isn't contiguous", name)
			}
			to = to[copy(to, from):]
			runtime.KeepAlive(me)
		}
		in[name] = onnx.TensorValue(a)
	}
	return in, nil
}

// deal gives each member its rows of the outputs. It returns false if an output doesn't have a row for each row of the inputs.
func (m *model) deal(out map[string]array, members []*member, rows int) bool {
	for _, a := range out {
		if len(a.shape) == 0 || a.shape[0] != rows {
			return false
		}
	}
	first := 0
	for _, me := range members {
		mine := make(map[string]array, len(out))
		for name, a := range out {
			shape := slices.Clone(a.shape)
			shape[0] = me.rows
			mine[name] = array{a.t, shape, cut(a.data, rows, first, me.rows), cut(a.texts, rows, first, me.rows), a.own}
		}
		me.out = mine
		first += me.rows
	}
	return true
}

// cut returns n rows, from first on, of a list with the elements of rows rows.
func cut[T any](list []T, rows, first, n int) []T {
	size := len(list) / rows
	return list[first*size : (first+n)*size]
}
