package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A packageFile is a file of the folder packages: models of a package that a registry serves, with how to run them and
// the results of ONNX Runtime. record.mjs writes the results into it.
type packageFile struct {
	Package string // npm:NAME@VERSION or go:MODULE@VERSION
	Licence string
	Models  []packageModel
}

// packageModel is a model and how it is judged.
type packageModel struct {
	Name, File, SHA256 string
	Note               string
	Long               bool
	Runs               int                     // one after the other; 0 is one
	State              map[string]string       // graph input → the graph output that it takes from the second run on
	Inputs             map[string]packageInput // by graph input
	Left               map[string]string       // graph output → why nothing was recorded
	RTol, ATol         float64
	Recorder           string                   // the program that gave the results
	Want               map[string]packageRecord // of the last run, by graph output
}

// packageInput describes the elements of a graph input: Values, or numbers that follow from Fill.
type packageInput struct {
	Type      string
	Shape     []int
	Values    []any
	Fill      string // noise, wave; else zeros
	Low, High float64
	Seed      uint32 // of noise; each run takes the next one
	Period    int    // of a wave, in elements
}

// packageRecord has the elements of an output: all elements, or each Every-th.
type packageRecord struct {
	Type   string
	Shape  []int
	Every  int
	Values []any
}

// runPackages runs the models of the folder packages. A package that isn't in the cache is fetched by the registry's own client.
func runPackages(r *report) error {
	list := filepath.Join(r.root, "conformance", "packages")
	if r.dir != "" {
		list = filepath.Join(r.dir, "packages")
	}
	files, err := filepath.Glob(filepath.Join(list, "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no *.json in %s", list)
	}
	if err := r.findCache(); err != nil {
		return err
	}
	for _, f := range files {
		op := strings.TrimSuffix(filepath.Base(f), ".json")
		if !r.wants(op) {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var p packageFile
		if err := strict(b, &p); err != nil {
			return fmt.Errorf("%s: %v", f, err)
		}
		folder, err := fetch(r.cache, p.Package)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Package, err)
		}
		for i := range p.Models {
			m := &p.Models[i]
			if m.Long && !r.long {
				r.record(op, m.Name, skipped{"long; run with -long"})
				continue
			}
			r.judge(op, m.Name, func() error { return m.run(r, op, folder) })
		}
	}
	return nil
}

// findCache sets the folder of packages where no flag does.
func (r *report) findCache() error {
	if r.cache != "" {
		return nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("%w; -cache names a folder for packages", err)
	}
	r.cache = filepath.Join(user, "ashlar", "packages")
	return nil
}

// run runs the model and compares the results of its last run.
func (m *packageModel) run(r *report, op, folder string) error {
	file := filepath.Join(folder, filepath.FromSlash(m.File))
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(b)); sum != m.SHA256 {
		return fmt.Errorf("%s has the SHA-256 %s, not %s", m.File, sum, m.SHA256)
	}
	if len(m.Want) == 0 {
		return errors.New("nothing is recorded: run record.mjs")
	}
	model, err := onnx.Decode(b)
	if err != nil {
		return outcome(err)
	}
	s, err := onnx.NewSession(model)
	if err != nil {
		return outcome(err)
	}
	var got map[string]onnx.Value
	var spent time.Duration
	for run := range max(m.Runs, 1) {
		inputs := make(map[string]onnx.Value)
		for name, in := range m.Inputs {
			if from, ok := m.State[name]; ok && run > 0 {
				inputs[name] = got[from]
				continue
			}
			if inputs[name], err = in.value(uint32(run)); err != nil {
				return fmt.Errorf("input %q: %w", name, err)
			}
		}
		if run == 0 {
			if err := r.keep(op, m.Name, file, s, model, inputs); err != nil {
				return err
			}
		}
		start := time.Now()
		if got, err = s.RunValues(context.Background(), inputs, &onnx.Options{MaxMemory: -1}); err != nil {
			return outcome(fmt.Errorf("run %d: %w", run, err))
		}
		spent = time.Since(start)
	}
	worst := 0.0
	for name := range got {
		if _, ok := m.Want[name]; !ok && m.Left[name] == "" {
			return fmt.Errorf("nothing is recorded of output %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Want)) {
		d, err := m.Want[name].compare(got[name], tolerance{m.RTol, m.ATol})
		if err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
		worst = max(worst, d)
	}
	fmt.Fprintf(r.out, "packages %-38s last of %d runs %8.2f ms   farthest from %s: %.2g\n", op+"/"+m.Name, max(m.Runs, 1),
		float64(spent.Microseconds())/1000, m.Recorder, worst)
	return nil
}

// value makes the input of one run.
func (in packageInput) value(run uint32) (onnx.Value, error) {
	n := 1
	for _, d := range in.Shape {
		n *= d
	}
	vals := make([]float64, n)
	switch {
	case in.Values != nil:
		if len(in.Values) != n {
			return onnx.Value{}, fmt.Errorf("%d values for shape %v", len(in.Values), in.Shape)
		}
		for i, v := range in.Values {
			f, ok := v.(float64)
			if !ok {
				return onnx.Value{}, fmt.Errorf("element %d is %v, no number", i, v)
			}
			vals[i] = f
		}
	case in.Fill == "noise":
		// The generator of Knuth and Lewis, Numerical Recipes' "quick and dirty" one: record.mjs has the same.
		x := in.Seed + run
		for i := range vals {
			x = x*1664525 + 1013904223
			u := float64(x) / (1 << 32)
			vals[i] = in.Low + float64((in.High-in.Low)*u)
		}
	case in.Fill == "wave": // a triangle
		for i := range vals {
			at := float64((i+int(run)*n)%in.Period) / float64(in.Period)
			vals[i] = in.Low + float64((in.High-in.Low)*math.Abs(1-float64(2*at)))
		}
	case in.Fill != "":
		return onnx.Value{}, fmt.Errorf("nobody knows the fill %q", in.Fill)
	}
	t, err := tensor.Reshape(tensor.FromSlice(vals, n).Any(), in.Shape...)
	if err != nil {
		return onnx.Value{}, err
	}
	switch in.Type {
	case "float32":
		t = op.CastAs[float32](t).Any()
	case "int32":
		t = op.CastAs[int32](t).Any()
	case "int64":
		t = op.CastAs[int64](t).Any()
	case "uint8":
		t = op.CastAs[uint8](t).Any()
	case "float64":
	default:
		return onnx.Value{}, fmt.Errorf("nobody knows the type %q", in.Type)
	}
	return onnx.TensorValue(t), nil
}

// compare returns how far a float of got is from the record at most, or says where it is too far.
func (w packageRecord) compare(got onnx.Value, tol tolerance) (worst float64, err error) {
	a := got.Tensor()
	if a.IsZero() {
		return 0, fmt.Errorf("got %v, want %s%v", got, w.Type, w.Shape)
	}
	if a.DType().String() != w.Type || !slices.Equal(a.Shape(), w.Shape) {
		return 0, fmt.Errorf("got %s, want %s%v", tensor.Describe(a), w.Type, w.Shape)
	}
	all, err := values(a)
	if err != nil {
		return 0, err
	}
	every := max(w.Every, 1)
	if n := (len(all) + every - 1) / every; n != len(w.Values) {
		return 0, fmt.Errorf("%d elements are recorded, not %d", len(w.Values), n)
	}
	for k, want := range w.Values {
		g := all[k*every]
		f, float := g.(float64)
		v, number := want.(float64)
		switch {
		case float && number:
			if !near(f, v, tol, true) {
				return 0, fmt.Errorf("element %d is %v, want %v", k*every, f, v)
			}
			worst = max(worst, math.Abs(f-v))
		case fmt.Sprint(g) != fmt.Sprint(want):
			return 0, fmt.Errorf("element %d is %v, want %v", k*every, g, want)
		}
	}
	return worst, nil
}

// fetch returns the folder of a package, got by its registry's client unless the cache has it.
func fetch(cache, name string) (string, error) {
	kind, name, _ := strings.Cut(name, ":")
	switch kind {
	case "go":
		return fetchGo(name)
	case "npm":
		return fetchNPM(cache, name)
	}
	return "", fmt.Errorf("nobody knows the registry %q", kind)
}

// client runs a program and returns its output.
func client(folder, program string, args ...string) ([]byte, error) {
	c := exec.Command(program, args...)
	c.Dir = folder
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return out, nil
}

func fetchGo(name string) (string, error) {
	scratch, err := os.MkdirTemp("", "packages")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	out, err := client(scratch, "go", "mod", "download", "-json", name)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	err = json.Unmarshal(out, &m)
	return m.Dir, err
}

func fetchNPM(cache, name string) (string, error) {
	final := filepath.Join(cache, strings.NewReplacer("/", "_", "@", "_").Replace(name))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(cache, "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	if _, err := client(scratch, "npm", "pack", "--silent", name); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(files) != 1 {
		return "", cmp.Or(err, fmt.Errorf("npm pack left %d archives", len(files)))
	}
	out := filepath.Join(scratch, "out")
	if err := unpack(files[0], out); err != nil {
		return "", err
	}
	if err := os.Rename(out, final); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return final, nil
}

// unpack writes the models of an archive to a folder, which it makes.
func unpack(archive, folder string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimPrefix(h.Name, "package/"))
		if h.Typeflag != tar.TypeReg || filepath.Ext(name) != ".onnx" {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		w, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, t)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
}
