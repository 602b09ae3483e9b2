package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/onnx/imagedecoder"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// debianONNX is where Debian's libonnx-testdata puts its folders.
const debianONNX = "/usr/share/libonnx-testdata/data"

// runONNX runs the node tests: folders of a model and data sets, in zip files and
// in Debian's package. The random ones are judged by type and shape, and the
// elements that no generator drops.
func runONNX(r *report) error {
	zips, err := filepath.Glob(filepath.Join(r.path("conformance/onnx"), "*.zip"))
	if err != nil {
		return err
	}
	if len(zips) == 0 {
		return fmt.Errorf("no *.zip in %s; -dir names another root", r.path("conformance/onnx"))
	}
	for _, z := range zips {
		zr, err := zip.OpenReader(z)
		if err != nil {
			return fmt.Errorf("%s: %v", z, err)
		}
		err = r.nodeTests(zr)
		zr.Close()
		if err != nil {
			return fmt.Errorf("%s: %v", z, err)
		}
	}
	if r.dir != "" {
		return nil
	}
	if _, err := os.Stat(debianONNX); err != nil {
		return fmt.Errorf("%v; install Debian's libonnx-testdata, or name another root with -dir", err)
	}
	return r.nodeTests(os.DirFS(debianONNX))
}

// nodeTests runs every folder below root that holds a model.onnx.
func (r *report) nodeTests(root fs.FS) error {
	return fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "model.onnx" {
			return err
		}
		folder, err := fs.Sub(root, filepath.ToSlash(filepath.Dir(path)))
		if err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		model, err := onnx.OpenFS(folder, "model.onnx")
		if err != nil {
			if r.wants("decode") {
				r.record("decode", name, outcome(err))
			}
			return nil
		}
		defer model.Close()
		under := "composite"
		if model.Graph != nil && len(model.Graph.Nodes) == 1 {
			under = model.Graph.Nodes[0].Op
		}
		if !r.wants(under) {
			return nil
		}
		sets, err := fs.Glob(folder, "test_data_set_*")
		if err != nil {
			return err
		}
		slices.Sort(sets)
		if r.verbose && isRandom(name) {
			fmt.Fprintf(r.out, "random %s/%s/%s: another generator has other numbers; types, shapes and the elements that neither drops are compared\n", r.suite, under, name)
		}
		r.judge(under, name, func() error { return nodeTest(folder, name, model, sets) })
		return nil
	})
}

// nodeTest runs a model on its data sets.
func nodeTest(folder fs.FS, name string, model *onnx.Model, sets []string) error {
	if len(sets) == 0 {
		return errors.New("no test_data_set_* beside the model")
	}
	model.Operators = []*op.Op{imagedecoder.Operator}
	s, err := onnx.NewSession(model)
	if err != nil {
		return outcome(err)
	}
	random := isRandom(name)
	for _, set := range sets {
		inputs := map[string]onnx.Value{}
		for i, v := range model.Graph.Inputs {
			file := fmt.Sprintf("%s/input_%d.pb", set, i)
			if _, err := fs.Stat(folder, file); err != nil {
				continue // has a default
			}
			if v.Name == "" {
				continue
			}
			if inputs[v.Name], err = readValue(folder, file, v); err != nil {
				return err
			}
		}
		got, err := s.RunValues(context.Background(), inputs, nil)
		if err != nil {
			return outcome(err)
		}
		for i, v := range model.Graph.Outputs {
			want, err := readValue(folder, fmt.Sprintf("%s/output_%d.pb", set, i), v)
			if err != nil {
				return err
			}
			if err := compareValues(got[v.Name], want, random, isSpectrum(name)); err != nil {
				return fmt.Errorf("output %q: %w", v.Name, err)
			}
		}
	}
	return nil
}

// isRandom reports whether the results of a node test are random numbers of another generator.
func isRandom(name string) bool {
	return strings.HasPrefix(name, "test_bernoulli") ||
		slices.Contains([]string{"test_training_dropout", "test_training_dropout_default", "test_training_dropout_mask", "test_training_dropout_default_mask"}, name)
}

// isSpectrum reports whether the results of a node test are sums over whole signals, in which the data, computed in float32,
// are as exact as the largest element is.
func isSpectrum(name string) bool {
	return strings.HasPrefix(name, "test_dft") || strings.HasPrefix(name, "test_stft")
}

// largestOf returns the largest magnitude of a tensor of floats.
func largestOf(a tensor.Any) (most float64) {
	v, _ := values(a)
	for _, x := range v {
		if f, ok := x.(float64); ok {
			most = max(most, math.Abs(f))
		}
	}
	return most
}

// compareRandom returns an error unless got has want's type and shape, and each element is 0, or near want's where that isn't.
// So an element that both generators leave, or both draw, must be right.
func compareRandom(got, want tensor.Any, tol tolerance) error {
	g, w, err := bothValues(got, want)
	if err != nil || want.DType() == dtype.Bool {
		return err
	}
	for i := range w {
		if g[i] != 0.0 && w[i] != 0.0 && !near(g[i], w[i], tol, true) {
			return fmt.Errorf("element %d is %v, want 0 or %v", i, g[i], w[i])
		}
	}
	return nil
}

// compareValues compares tensors, strings, and sequences of both item by item.
func compareValues(got, want onnx.Value, random, spectrum bool) error {
	if got.Kind() != want.Kind() {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	if g, w := got.Strings(), want.Strings(); g != nil || w != nil {
		if got.String() != want.String() || !slices.Equal(g, w) {
			return fmt.Errorf("got %v %.20q, want %v %.20q", got, g, want, w)
		}
		return nil
	}
	if g, w := got.Items(), want.Items(); len(w) > 0 && w[0].Strings() != nil {
		if len(g) != len(w) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		for i := range w {
			if err := compareValues(g[i], w[i], random, spectrum); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	g, w := got.List(), want.List()
	if got.Kind() == onnx.KindTensor {
		g, w = []tensor.Any{got.Tensor()}, []tensor.Any{want.Tensor()}
	}
	if len(g) != len(w) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	for i := range w {
		var err error
		tol := tolerance{rtol: 1e-3, atol: 1e-7}
		if d := w[i].DType(); d == dtype.Float16 || d == dtype.BFloat16 {
			tol.rtol = 1e-2
		}
		if spectrum {
			tol.atol *= max(1, largestOf(w[i]))
		}
		if random {
			err = compareRandom(g[i], w[i], tol)
		} else {
			err = compare(g[i], w[i], tol)
		}
		if err != nil && got.Kind() == onnx.KindSequence {
			err = fmt.Errorf("element %d: %w", i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readValue reads a value of the type that the graph declares.
func readValue(folder fs.FS, file string, v onnx.ValueInfo) (onnx.Value, error) {
	if v.Type.Kind != onnx.KindSequence && v.Type.Kind != onnx.KindOptional && v.Type.Elem != onnx.ElemString {
		t, err := readTensor(folder, file)
		if err != nil {
			return onnx.Value{}, err
		}
		return onnx.TensorValue(declared(t, v)), nil
	}
	b, err := fs.ReadFile(folder, file)
	if err != nil {
		return onnx.Value{}, err
	}
	val, err := onnx.DecodeValue(b, v.Type)
	if errors.Is(err, onnx.ErrUnsupported) {
		return val, unsupported{file + ": " + err.Error()}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return val, err
}

// declared returns t as the graph declares it: older data stores bfloat16 as
// uint16 words.
func declared(t tensor.Any, v onnx.ValueInfo) tensor.Any {
	words, ok := tensor.As[uint16](t)
	if !ok || v.Type.Elem != onnx.ElemBFloat16 {
		return t
	}
	out := tensor.New[num.BF16](words.Shape()...)
	for i, w := range words.Contiguous().Elems() {
		out.Elems()[i] = num.FromBits[num.BF16](w)
	}
	return out.Any()
}

// outcome turns the error of something that doesn't exist into unsupported.
func outcome(err error) error {
	if errors.Is(err, onnx.ErrUnsupported) || errors.Is(err, op.ErrUnsupported) {
		return unsupported{err.Error()}
	}
	return err
}

func readTensor(folder fs.FS, file string) (tensor.Any, error) {
	b, err := fs.ReadFile(folder, file)
	if err != nil {
		return tensor.Any{}, err
	}
	t, err := onnx.DecodeTensor(b)
	if err != nil {
		if errors.Is(err, onnx.ErrUnsupported) {
			return tensor.Any{}, unsupported{file + ": " + err.Error()}
		}
		return tensor.Any{}, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}
