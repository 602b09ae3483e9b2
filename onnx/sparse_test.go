package onnx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/tensor"
)

// sparseOf lists values at indices of the given shape.
func sparseOf(t testing.TB, name string, dims []int64, values []float32, indices tensor.Tensor[int64]) SparseTensor {
	v, err := NewTensorProto(name, tensor.FromSlice(values).Any())
	if err != nil {
		t.Fatal(err)
	}
	i, err := NewTensorProto("", indices.Any())
	if err != nil {
		t.Fatal(err)
	}
	return SparseTensor{Values: v, Indices: i, Dims: dims}
}

// sparseModel adds a sparse weight, or the value of a Constant, to x.
func sparseModel(t testing.TB, s SparseTensor, constant bool) *Model {
	b := NewBuilder("g")
	b.InputOf("x", Type{Kind: KindTensor, Elem: ElemFloat32})
	if constant {
		b.g.Nodes = []Node{{Op: "Constant", Outputs: []string{"w"}, Attributes: []Attribute{{Name: "sparse_value", Type: AttrSparseTensor, Value: &s}}}}
	} else {
		b.g.Sparse = []SparseTensor{s}
	}
	b.OutputOf(b.Rename(b.Node("Add", []string{"x", "w"}), "y"), Type{})
	m, err := b.Model(16)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSparse(t *testing.T) {
	for _, constant := range []bool{false, true} {
		for _, c := range []struct {
			name    string
			dims    []int64
			values  []float32
			indices tensor.Tensor[int64]
			want    string // the dense form, or a part of the error
		}{
			{"by position", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{1, 5}), "[[0. 5. 0.]\n [0. 0. 7.]]"},
			{"by axes", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{0, 1, 1, 2}, 2, 2), "[[0. 5. 0.]\n [0. 0. 7.]]"},
			{"nothing", []int64{2, 1}, []float32{}, tensor.New[int64](0), "[[0.]\n [0.]]"},
			{"no axes", []int64{}, []float32{5}, tensor.FromSlice([]int64{0}, 1), "5"},
			{"no axes, by axes", []int64{}, []float32{5}, tensor.New[int64](1, 0), "5"},
			{"beyond", []int64{2, 3}, []float32{5}, tensor.FromSlice([]int64{6}), "indices: shape: index 6 of value 0 is outside of [0,6)"},
			{"beyond an axis", []int64{2, 3}, []float32{5}, tensor.FromSlice([]int64{0, 3}, 1, 2), "index 3 of value 0 is outside of [0,3)"},
			{"negative", []int64{2, 3}, []float32{5}, tensor.FromSlice([]int64{-1}), "index -1 of value 0"},
			{"twice", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{4, 4}), "that of value 1 isn't greater than the one before"},
			{"unsorted", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{1, 0, 0, 1}, 2, 2), "that of value 1 isn't greater"},
			{"too few", []int64{2, 3}, []float32{5, 7}, tensor.FromSlice([]int64{4}), "indices: shape: their shape is [1]; for 2 values of rank 2 it is [2] or [2,2]"},
			{"two for one", []int64{}, []float32{5, 7}, tensor.New[int64](2, 0), "values: shape: 2 for one element"},
			{"negative extents", []int64{-2}, []float32{}, tensor.New[int64](0), "dimension 0 of [-2] is negative"},
			{"overflow", []int64{1 << 40, 1 << 40}, []float32{}, tensor.New[int64](0), "more elements than fit an int"},
			{"huge", []int64{1 << 40}, []float32{5}, tensor.FromSlice([]int64{9}), "the run needs"},
		} {
			m := sparseModel(t, sparseOf(t, "w", c.dims, c.values, c.indices), constant)
			file, err := Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			if m, err = Decode(file); err != nil {
				t.Fatal(err)
			}
			s, err := NewSession(m)
			got := ""
			if err == nil {
				var out map[string]tensor.Any
				if out, err = s.Run(context.Background(), map[string]tensor.Any{"x": tensor.Scalar[float32](0).Any()}, &Options{MaxMemory: 1 << 20}); err == nil {
					got = fmt.Sprint(out["y"])
				}
			}
			if err != nil {
				got = err.Error()
			}
			got = strings.ReplaceAll(got, ".0", "")
			if strings.ContainsAny(c.want[:1], "[5") && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// The dense form counts as memory of the run, and goes after its last use.
func TestSparseMemory(t *testing.T) {
	s, err := NewSession(sparseModel(t, sparseOf(t, "w", []int64{1 << 12}, []float32{1}, tensor.FromSlice([]int64{9})), false))
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]tensor.Any{"x": tensor.New[float32](1 << 12).Any()}
	p, err := s.Plan(in)
	if err != nil || p.Weights != 0 || p.Live != 2<<14 || !p.Exact {
		t.Errorf("plan %+v, %v", p, err)
	}
	if _, err := s.Run(context.Background(), in, &Options{MaxMemory: 2<<14 - 1}); !errors.Is(err, tensor.ErrMemory) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Run(context.Background(), in, &Options{MaxMemory: 2 << 14}); err != nil {
		t.Error(err)
	}
	m := sparseModel(t, sparseOf(t, "w", []int64{2}, []float32{1.5}, tensor.FromSlice([]int64{1})), false)
	if s, err = NewFixedSession(m, dtype.FP16x16); err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), map[string]tensor.Any{"x": tensor.Scalar[float32](1).Any()}, nil)
	if err != nil || fmt.Sprint(out["y"]) != "[1.  2.5]" {
		t.Errorf("fixed: %v, %v", out["y"], err)
	}
}

// A sparse initializer of an input's name is its default, in runs, streams, plans and parts of the model, as a dense one is.
func TestSparseDefault(t *testing.T) {
	v := Type{Kind: KindTensor, Elem: ElemFloat32, HasShape: true, Shape: []Dim{{Value: 3}}}
	sparse := sparseOf(t, "w", []int64{3}, []float32{5}, tensor.FromSlice([]int64{1}))
	dense, err := NewTensorProto("w", tensor.FromSlice([]float32{0, 5, 0}).Any())
	if err != nil {
		t.Fatal(err)
	}
	model := func(change func(g *Graph)) *Model {
		g := &Graph{Name: "g", Inputs: []ValueInfo{{Name: "x", Type: v}, {Name: "w", Type: v}}, Outputs: []ValueInfo{{Name: "y", Type: v}, {Name: "w"}},
			Nodes: []Node{{Op: "Neg", Inputs: []string{"w"}, Outputs: []string{"n"}}, {Op: "Sub", Inputs: []string{"x", "n"}, Outputs: []string{"y"}}}}
		change(g)
		return &Model{IR: 8, Opsets: []Opset{{Version: 17}}, Graph: g}
	}
	x, w := tensor.FromSlice([]float32{1, 2, 3}).Any(), tensor.FromSlice([]float32{10, 20, 30}).Any()
	inputs := []map[string]tensor.Any{{"x": x}, {"x": x, "w": w}, {"x": x}, {"x": x, "w": w}, {"x": x, "w": w}, {"x": x, "w": w}, {"x": x}}
	var want []string
	for _, change := range []func(g *Graph){
		func(g *Graph) { g.Initializers = []TensorProto{dense} }, func(g *Graph) { g.Sparse = []SparseTensor{sparse} },
	} {
		m := model(change)
		if got := m.Inputs(); len(got) != 1 || got[0].Name != "x" {
			t.Fatalf("the inputs are %v", got)
		}
		part, err := Extract(m, nil, []string{"y", "w"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range []*Model{m, part} {
			s, err := NewSession(m)
			if err != nil {
				t.Fatal(err)
			}
			st, err := s.Stream(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range inputs {
				out, err := s.Run(context.Background(), in, nil)
				streamed, failed := st.Run(context.Background(), in)
				if err != nil || failed != nil || fmt.Sprint(out["y"], out["w"]) != fmt.Sprint(streamed["y"], streamed["w"]) {
					t.Fatalf("%v, %v: %v %v", err, failed, out, streamed)
				}
				got = append(got, fmt.Sprint(out["y"], out["w"]))
			}
			for _, in := range inputs[:2] {
				if p, err := s.Plan(in); err != nil || !p.Exact {
					t.Errorf("plan %+v, %v", p, err)
				}
			}
		}
		if want == nil {
			want = got
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || got[0] != "[1. 7. 3.] [0. 5. 0.]" || got[1] != "[11. 22. 33.] [10. 20. 30.]" {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for want, change := range map[string]func(g *Graph){
		"given by input 1 and again by sparse initializer 1": func(g *Graph) { g.Sparse = []SparseTensor{sparse, sparse} },
		"given by input 1 and again by sparse initializer 0": func(g *Graph) { g.Sparse, g.Initializers = []SparseTensor{sparse}, []TensorProto{dense} },
		"given by initializer 0 and again by sparse initializer 0": func(g *Graph) {
			g.Sparse, g.Initializers, g.Inputs = []SparseTensor{sparse}, []TensorProto{dense}, g.Inputs[:1]
		},
	} {
		if err := model(change).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
