package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// modelCase is an entry of a case.json.
type modelCase struct {
	Name, Model string
	Inputs      map[string]string // graph input → file, or "*": "arange/n"
	Outputs     map[string]string // graph output → file, or "*"
	ArgMax, Max map[string]string // graph output → file: index and value of each row's largest entry
	Stream      map[string]string // graph input → file fed entry by entry along axis 0
	State       map[string]struct{ Initial, From string }
	Collect     map[string]string // graph output → file of its value after each run
	Final       map[string]string // graph output → file of its value after the last run
	RTol, ATol  float64
	Long        bool
}

// runModels runs every folder that has a case.json, and prints time and memory of
// each case: the peak of the process above its memory before, and the bytes that weights
// and the planned live set account for.
func runModels(r *report) error {
	root := r.path("models")
	files, err := filepath.Glob(filepath.Join(root, "*", "case.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no */case.json in %s; -dir names another root", root)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var file struct {
			Model string
			Cases []modelCase
		}
		if err := strict(b, &file); err != nil {
			return fmt.Errorf("%s: %v", f, err)
		}
		folder := filepath.Dir(f)
		op := filepath.Base(folder)
		if !r.wants(op) {
			continue
		}
		for _, c := range file.Cases {
			if c.Model == "" {
				c.Model = file.Model
			}
			if reason, ok := r.skip(op, c.Name); ok {
				r.record(op, c.Name, skipped{reason})
				continue
			}
			if c.Long && !r.long {
				r.record(op, c.Name, skipped{"long; run with -long"})
				continue
			}
			r.record(op, c.Name, caught(func() error { return r.model(folder, op, &c) }))
		}
	}
	return nil
}

// modelRun is one case on its way.
type modelRun struct {
	*modelCase
	folder  string
	out     io.Writer
	session *onnx.Session
	model   *onnx.Model
	keep    func(inputs map[string]tensor.Any) error // of the first run
	memory  memory
	spent   time.Duration
	peak    int64 // of the runs themselves
	plan    *onnx.Plan
	ctx     context.Context
}

// model runs one case. It fails when the runs hold more than bound allows, where
// that can be measured.
func (r *report) model(folder, op string, c *modelCase) error {
	if err := c.judgeable(); err != nil {
		return err
	}
	m := &modelRun{modelCase: c, folder: folder, out: r.out, ctx: context.Background()}
	m.memory.start()
	var err error
	if m.model, err = onnx.Open(filepath.Join(folder, c.Model)); err != nil {
		return outcome(err)
	}
	defer m.model.Close()
	if m.session, err = onnx.NewSession(m.model); err != nil {
		return outcome(err)
	}
	m.keep = func(inputs map[string]tensor.Any) error {
		given := make(map[string]onnx.Value)
		for name, t := range inputs {
			given[name] = onnx.TensorValue(t)
		}
		return r.keep(op, c.Name, filepath.Join(folder, c.Model), m.session, m.model, given)
	}
	if len(c.Stream) > 0 {
		err = m.stream()
	} else {
		err = m.once()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "models   %s/%-22s %8.0f ms   peak %8.1f MiB above idle   weights %.1f + live %.1f MiB   bound %.1f\n", op, c.Name,
		float64(m.spent.Microseconds())/1000, mib(m.peak), mib(m.plan.Weights), mib(m.plan.Live), mib(bound(m.plan)))
	return overBound(m.peak, m.plan)
}

// judgeable refuses a case of which a part would not be judged.
func (c *modelCase) judgeable() error {
	switch {
	case len(c.Stream) == 0 && len(c.State)+len(c.Collect)+len(c.Final) > 0:
		return errors.New("state, collect and final go with stream")
	case len(c.Stream) > 0 && len(c.Outputs)+len(c.ArgMax)+len(c.Max) > 0:
		return errors.New("outputs, argmax and max don't go with stream")
	case len(c.Outputs)+len(c.ArgMax)+len(c.Max)+len(c.Collect)+len(c.Final) == 0:
		return errors.New("the case says nothing about the results")
	}
	return nil
}

// bound returns how much a run may hold: the bytes of its plan, a bit for the bytes that
// an allocator loses, and the program's own.
func bound(p *onnx.Plan) int64 { return (p.Weights+p.Live)/10*13 + 16<<20 }

// overBound judges a peak; 0 is one that couldn't be measured.
func overBound(peak int64, p *onnx.Plan) error {
	if peak > bound(p) {
		return fmt.Errorf("the runs held %.1f MiB above what the process held before; weights of %.1f and a live set of %.1f MiB allow %.1f",
			mib(peak), mib(p.Weights), mib(p.Live), mib(bound(p)))
	}
	return nil
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// run runs the model once.
func (m *modelRun) run(inputs map[string]tensor.Any) (map[string]tensor.Any, error) {
	plan, err := m.session.Plan(inputs)
	if err != nil {
		return nil, outcome(err)
	}
	if m.plan == nil {
		if err := m.keep(inputs); err != nil {
			return nil, err
		}
	}
	if m.plan == nil || plan.Live > m.plan.Live {
		m.plan = plan
	}
	from := time.Now()
	out, err := m.session.Run(m.ctx, inputs, &onnx.Options{MaxMemory: -1})
	m.spent += time.Since(from)
	m.peak = m.memory.peak()
	if err != nil {
		return nil, outcome(err)
	}
	return out, nil
}

func (m *modelRun) once() error {
	inputs, err := m.fixed()
	if err != nil {
		return err
	}
	got, err := m.run(inputs)
	if err != nil {
		return err
	}
	tol := tolerance{m.RTol, m.ATol}
	for name, file := range m.Outputs {
		if err := m.check(got, name, file, tol); err != nil {
			return err
		}
	}
	for name, file := range m.ArgMax {
		if err := m.checkLargest(got, name, file, true); err != nil {
			return err
		}
	}
	for name, file := range m.Max {
		if err := m.checkLargest(got, name, file, false); err != nil {
			return err
		}
	}
	return nil
}

// fixed returns the inputs that stay the same from run to run.
func (m *modelRun) fixed() (map[string]tensor.Any, error) {
	inputs := map[string]tensor.Any{}
	for name, file := range m.Inputs {
		if name == "*" {
			v := m.model.Inputs()
			if len(v) != 1 || file != "arange/n" {
				return nil, fmt.Errorf(`input "*" wants "arange/n" and one graph input without a default; there are %d`, len(v))
			}
			shape, n := []int{}, 1
			for _, d := range v[0].Type.Shape {
				if d.Value < 0 {
					return nil, fmt.Errorf("input %q has no fixed shape", v[0].Name)
				}
				shape = append(shape, int(d.Value))
				n *= int(d.Value)
			}
			t := tensor.New[float32](shape...)
			for i, e := 0, t.Elems(); i < n; i++ {
				e[i] = float32(float64(i) / float64(n))
			}
			inputs[v[0].Name] = t.Any()
			continue
		}
		t, err := m.read(file)
		if err != nil {
			return nil, err
		}
		inputs[name] = t
	}
	return inputs, nil
}

// check compares an output with a file.
func (m *modelRun) check(got map[string]tensor.Any, name, file string, tol tolerance) error {
	out, err := pick(got, name)
	if err != nil {
		return err
	}
	want, err := m.read(file)
	if err != nil {
		return err
	}
	if err := compare(out, want, tol); err != nil {
		return fmt.Errorf("output %q: %w", name, err)
	}
	return nil
}

func pick(got map[string]tensor.Any, name string) (tensor.Any, error) {
	if name == "*" {
		if len(got) != 1 {
			return tensor.Any{}, fmt.Errorf(`output "*" of %d`, len(got))
		}
		for _, t := range got {
			return t, nil
		}
	}
	if got[name].IsZero() {
		return tensor.Any{}, fmt.Errorf("the graph has no output %q", name)
	}
	return got[name], nil
}

// checkLargest compares the largest entry of each row with a file of places or of
// values. Values outside the tolerance are judged by the float64 evaluation.
func (m *modelRun) checkLargest(got map[string]tensor.Any, name, file string, place bool) error {
	g, at, err := largest(got, name)
	if err != nil {
		return err
	}
	want, err := m.read(file)
	if err != nil {
		return err
	}
	w, err := values(want)
	if err != nil {
		return err
	}
	if len(g) != len(w) {
		return fmt.Errorf("output %q has %d rows, want %d", name, len(g), len(w))
	}
	var exact []float64
	nearer, worst := 0, 0.0
	for i := range w {
		if place {
			if fmt.Sprint(at[i]) != fmt.Sprint(w[i]) {
				return fmt.Errorf("output %q: the largest of row %d is %d, want %v", name, i, at[i], w[i])
			}
			continue
		}
		v := w[i].(float64)
		if near(g[i], v, tolerance{m.RTol, m.ATol}, true) {
			continue
		}
		if exact == nil {
			out, err := m.exact()
			if err != nil {
				return err
			}
			if exact, _, err = largest(out, name); err != nil {
				return err
			}
		}
		ours, theirs := math.Abs(g[i]-exact[i]), math.Abs(v-exact[i])
		if !(ours <= theirs) || !near(exact[i], v, tolerance{recordedError * m.RTol, recordedError * m.ATol}, true) {
			return fmt.Errorf("output %q: the largest of row %d is %v, want %v (in float64 %v)", name, i, g[i], v, exact[i])
		}
		nearer, worst = nearer+1, max(worst, ours/theirs)
	}
	if nearer > len(w)/4 {
		return fmt.Errorf("output %q: %d of %d recorded values are outside the tolerance; that many are no rounding errors of theirs", name, nearer, len(w))
	}
	if nearer > 0 {
		fmt.Fprintf(m.out, "models   %s: %d of %d recorded values of %q are farther than the tolerance; ours are nearer to the graph in float64, by a factor of %.0f or more\n",
			m.Name, nearer, len(w), name, 1/worst)
	}
	return nil
}

// largest returns the value and the place of the largest entry of each row of an
// output.
func largest(got map[string]tensor.Any, name string) (v []float64, at []int, err error) {
	out, err := pick(got, name)
	if err != nil {
		return nil, nil, err
	}
	all, err := values(out)
	if err != nil {
		return nil, nil, err
	}
	if out.Rank() == 0 || out.Dim(out.Rank()-1) == 0 || !out.DType().IsFloat() {
		return nil, nil, fmt.Errorf("output %q is %s; rows of floats have a largest entry", name, tensor.Describe(out))
	}
	n := out.Dim(out.Rank() - 1)
	for row := range slices.Chunk(all, n) {
		best := 0
		for k := range row {
			if row[k].(float64) > row[best].(float64) {
				best = k
			}
		}
		v, at = append(v, row[best].(float64)), append(at, best)
	}
	return v, at, nil
}

// stream feeds the entries of files one after the other, with state from run to
// run.
func (m *modelRun) stream() error {
	inputs, err := m.fixed()
	if err != nil {
		return err
	}
	steps := -1
	files := map[string]tensor.Any{}
	for name, file := range m.Stream {
		t, err := m.read(file)
		if err != nil {
			return err
		}
		if t.Rank() == 0 || steps >= 0 && t.Dim(0) != steps {
			return fmt.Errorf("stream %q: %s has another number of entries than the others", name, tensor.Describe(t))
		}
		files[name], steps = t, t.Dim(0)
	}
	for name, s := range m.State {
		if inputs[name], err = m.read(s.Initial); err != nil {
			return err
		}
	}
	collected := map[string]tensor.Any{}
	for name, file := range m.Collect {
		if collected[name], err = m.read(file); err != nil {
			return err
		}
		if c := collected[name]; c.Rank() == 0 || c.Dim(0) != steps {
			return fmt.Errorf("collect %q: %s doesn't have an entry for each of the %d runs", name, tensor.Describe(c), steps)
		}
	}
	if steps == 0 {
		return errors.New("the streams have no entries")
	}
	tol := tolerance{m.RTol, m.ATol}
	var got map[string]tensor.Any
	for i := range steps {
		for name, t := range files {
			if inputs[name], err = tensor.Slice(t, tensor.I(i)); err != nil {
				return err
			}
		}
		if got, err = m.run(inputs); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		for name, all := range collected {
			want, err := tensor.Slice(all, tensor.I(i))
			if err != nil {
				return err
			}
			out, err := pick(got, name)
			if err != nil {
				return err
			}
			a, err := tensor.Reshape(out, long(out)...)
			if err != nil {
				return err
			}
			b, err := tensor.Reshape(want, long(want)...)
			if err != nil {
				return err
			}
			if err := compare(a, b, tol); err != nil {
				return fmt.Errorf("run %d: output %q: %w", i, name, err)
			}
		}
		for name, s := range m.State {
			if inputs[name], err = pick(got, s.From); err != nil {
				return err
			}
		}
	}
	for name, file := range m.Final {
		if err := m.check(got, name, file, tol); err != nil {
			return err
		}
	}
	return nil
}

// long returns the shape without extents of 1.
func long(a tensor.Any) []int {
	shape := []int{}
	for _, e := range a.Shape() {
		if e != 1 {
			shape = append(shape, e)
		}
	}
	return shape
}

// read reads a .pb, a .npy or an entry of a .npz.
func (m *modelRun) read(file string) (tensor.Any, error) {
	path, key, _ := strings.Cut(file, "#")
	full := filepath.Join(m.folder, path)
	switch filepath.Ext(path) {
	case ".pb":
		return readTensor(os.DirFS(m.folder), path)
	case ".npy":
		return npy.Open(full, nil)
	case ".npz":
		z, err := npy.OpenZip(full, nil)
		if err != nil {
			return tensor.Any{}, err
		}
		defer z.Close()
		t, err := z.Tensor(key)
		if err != nil {
			return tensor.Any{}, err
		}
		return tensor.Clone(t)
	}
	return tensor.Any{}, fmt.Errorf("%s: want .pb, .npy or .npz#key", file)
}
