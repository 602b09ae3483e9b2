package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// viewCase is a sequence of steps and the facts that hold after each.
type viewCase struct {
	ID, Category string
	Steps        []viewStep
	Expect       []viewFact
}

type viewStep struct {
	Op, In, Out string
	Args        struct {
		Shape, Axes, Index []int
		Axis               int
		V, Value           float64
		Vals               []float64
		DType, Src         string
		Spec               []struct {
			I *int
			S []*int
		}
	}
}

type viewFact struct {
	At         int
	Tensor     string
	Shape      []int
	Contiguous *bool
	Elements   []float64
	Strides    []*int
	Pair       []string
	SameData   bool `json:"same_data"`
	Overlap    *bool
	Storage    string
	Order      []float64
	Item       bool
	Value      *float64
	Error      string
	Unchanged  bool
}

// viewErrors names the library's error of each kind.
var viewErrors = map[string]error{
	"bad_shape": tensor.ErrShape, "ambiguous_shape": tensor.ErrShape, "shape_mismatch": tensor.ErrShape,
	"not_size_one": tensor.ErrShape, "not_one_element": tensor.ErrShape, "cannot_broadcast": tensor.ErrShape,
	"bad_permutation": tensor.ErrAxis, "needs_copy": tensor.ErrView, "read_only": tensor.ErrReadOnly,
	"index_out_of_range": tensor.ErrIndex, "wrong_index_count": tensor.ErrIndex, "too_many_indices": tensor.ErrAxis,
	"zero_step": tensor.ErrIndex,
}

// runViews runs the sequences, each under its category.
func runViews(r *report) error {
	files, err := r.files("cases.json")
	if err != nil {
		return err
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	var file struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		return fmt.Errorf("%s: %v", files[0], err)
	}
	for _, raw := range file.Cases {
		c := new(viewCase)
		if err := c.decode(raw); err != nil {
			return fmt.Errorf("%s: %v: %.200s", files[0], err, raw)
		}
		if r.wants(c.Category) {
			r.judge(c.Category, c.ID, c.run)
		}
	}
	return nil
}

// decode reads a case; of steps and facts it knows every field.
func (c *viewCase) decode(raw json.RawMessage) error {
	var parts struct {
		ID, Category  string
		Steps, Expect json.RawMessage
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	c.ID, c.Category = parts.ID, parts.Category
	if err := strict(parts.Steps, &c.Steps); err != nil {
		return err
	}
	return strict(parts.Expect, &c.Expect)
}

// strict reads JSON in which every field is known: a field that isn't read isn't checked.
func strict(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// A subject is a tensor by name; two names may have the same one.
type subject interface {
	step(s *viewStep, src subject) (subject, error)
	any() tensor.Any
	show() (shape []int, contiguous bool, elements []float64)
	strides() []int
	storage() []float64
	overlaps(other subject) bool
}

// shown is the state that a tensor must show until a fact says otherwise.
type shown struct {
	shape      []int
	contiguous bool
	elements   []float64
	strides    []*int
}

// run does the steps. After each, every tensor is compared: with the facts of the
// step, or with the latest facts before it.
func (c *viewCase) run() error {
	tensors, want := map[string]subject{}, map[string]*shown{}
	for at := range c.Steps {
		s := &c.Steps[at]
		where := func(err error) error { return fmt.Errorf("step %d (%s): %w", at, s.Op, err) }
		facts := slices.DeleteFunc(slices.Clone(c.Expect), func(f viewFact) bool { return f.At != at })
		var failing *viewFact
		for i := range facts {
			if facts[i].Error != "" {
				failing = &facts[i]
			}
		}
		out, item, err := take(tensors, s)
		switch {
		case failing != nil:
			if err := failing.judge(err); err != nil {
				return where(err)
			}
		case err != nil:
			return where(err)
		case s.Out != "":
			tensors[s.Out] = out
			if out == tensors[s.In] {
				want[s.Out] = want[s.In]
			} else {
				want[s.Out] = new(shown)
			}
		}
		for i := range facts {
			if err := facts[i].check(tensors, want, item); err != nil {
				return where(err)
			}
		}
		for name, t := range tensors {
			if err := want[name].check(t); err != nil {
				return where(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	for _, f := range c.Expect {
		if f.At < 0 || f.At >= len(c.Steps) {
			return fmt.Errorf("a fact about step %d of %d", f.At, len(c.Steps))
		}
	}
	return nil
}

// take does a step. A mistake that the library reports is an error.
func take(tensors map[string]subject, s *viewStep) (out subject, item float64, err error) {
	a := &s.Args
	failed := tensor.Try(func() {
		switch s.Op {
		case "arange":
			t := tensor.New[float64](a.Shape...)
			for i := range t.Elems() {
				t.Elems()[i] = float64(i)
			}
			out = &view[float64]{t}
			return
		case "full":
			out = &view[float64]{tensor.Full(a.V, a.Shape...)}
			return
		case "values":
			out = &view[float64]{tensor.FromSlice(slices.Clone(a.Vals), a.Shape...)}
			return
		}
		in := tensors[s.In]
		if in == nil || a.Src != "" && tensors[a.Src] == nil {
			err = fmt.Errorf("the case has no tensor %q or %q", s.In, a.Src)
			return
		}
		switch s.Op {
		case "alias":
			out = in
		case "item":
			item = typed[float64](in.any()).Item()
		default:
			out, err = in.step(s, tensors[a.Src])
		}
	})
	return out, item, errors.Join(failed, err)
}

// judge compares how a step failed; that it changed nothing is checked with every
// step.
func (f *viewFact) judge(err error) error {
	kind, known := viewErrors[f.Error]
	if bad := new(tensor.Error); !known || !f.Unchanged || !errors.As(err, &bad) || !errors.Is(err, kind) {
		return fmt.Errorf("got the error %v, want %s", err, f.Error)
	}
	return nil
}

// check compares a fact, and remembers it of the tensor.
func (f *viewFact) check(tensors map[string]subject, want map[string]*shown, item float64) error {
	for _, name := range append(slices.Clone(f.Pair), f.Tensor, f.Storage) {
		if name != "" && tensors[name] == nil {
			return fmt.Errorf("there is no tensor %q", name)
		}
	}
	switch {
	case f.Error != "":
	case f.Tensor != "":
		w := want[f.Tensor]
		if f.Shape != nil {
			w.shape = f.Shape
		}
		if f.Contiguous != nil {
			w.contiguous = *f.Contiguous
		}
		if f.Elements != nil {
			w.elements = f.Elements
		}
		if f.Strides != nil {
			w.strides = f.Strides
		}
	case len(f.Pair) == 2:
		a, b := tensors[f.Pair[0]], tensors[f.Pair[1]]
		overlap := f.SameData
		if f.Overlap != nil {
			overlap = *f.Overlap
		}
		if same, over := a.any().SameData(b.any()), a.overlaps(b); same != f.SameData || over != overlap {
			return fmt.Errorf("%s and %s: the same storage %t, common elements %t; want %t, %t", f.Pair[0], f.Pair[1], same, over, f.SameData, overlap)
		}
	case f.Storage != "":
		if got := tensors[f.Storage].storage(); !slices.Equal(got, f.Order) {
			return fmt.Errorf("the storage of %s is %v, want %v", f.Storage, got, f.Order)
		}
	case f.Value != nil:
		if item != *f.Value {
			return fmt.Errorf("got %v, want %v", item, *f.Value)
		}
	default:
		return fmt.Errorf("the runner doesn't know this fact: %+v", *f)
	}
	return nil
}

func (w *shown) check(t subject) error {
	if w.shape == nil || w.elements == nil || w.strides == nil {
		return errors.New("the case doesn't say what it shows")
	}
	shape, contiguous, elements := t.show()
	if !slices.Equal(shape, w.shape) || contiguous != w.contiguous || !slices.EqualFunc(elements, w.elements, sameElement) {
		return fmt.Errorf("shape %v, contiguous %t, elements %v; want %v, %t, %v", shape, contiguous, elements, w.shape, w.contiguous, w.elements)
	}
	for i, s := range t.strides() {
		if w.strides[i] != nil && s != *w.strides[i] {
			return fmt.Errorf("stride %d of axis %d, want %d", s, i, *w.strides[i])
		}
	}
	return nil
}

// sameElement compares elements: the data has their sums without the last digits.
func sameElement(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-12*math.Abs(want)
}

// view is a subject of one element type.
type view[T float32 | float64] struct{ t tensor.Tensor[T] }

func (v *view[T]) any() tensor.Any { return v.t.Any() }

func (v *view[T]) show() (shape []int, contiguous bool, elements []float64) {
	elements = []float64{}
	for e := range v.t.Values() {
		elements = append(elements, float64(e))
	}
	return v.t.Shape(), v.t.IsContiguous(), elements
}

func (v *view[T]) strides() []int {
	l := v.t.Layout()
	s := make([]int, l.Rank())
	for i := range s {
		var single bool
		if s[i], single = l.Stride(i); !single {
			s[i] = math.MinInt
		}
	}
	return s
}

func (v *view[T]) storage() []float64 {
	data, _ := v.t.Data()
	out := make([]float64, len(data))
	for i, e := range data {
		out[i] = float64(e)
	}
	return out
}

func (v *view[T]) overlaps(other subject) bool {
	o, ok := other.(*view[T])
	return ok && v.t.Any().Overlaps(o.t.Any())
}

// step does the steps that aren't the same for all element types.
func (v *view[T]) step(s *viewStep, src subject) (subject, error) {
	a, t := &s.Args, v.t
	from := func() tensor.Tensor[T] { return typed[T](src.any()) }
	scalar := func() tensor.Tensor[T] { return tensor.Scalar(T(a.Value)) }
	made := func(t tensor.Tensor[T]) (subject, error) { return &view[T]{t}, nil }
	switch s.Op {
	case "permute":
		return made(t.Permute(a.Axes...))
	case "reshape":
		return made(t.Reshape(a.Shape...))
	case "reshape_nocopy":
		return made(t.View(a.Shape...))
	case "contiguous":
		c := t.Contiguous()
		was, is := t.Layout(), c.Layout()
		if _, from := t.Data(); t.IsContiguous() && c.Any().SameData(t.Any()) && is.Equal(was) {
			if _, to := c.Data(); to == from {
				return v, nil // the receiver itself: the value that a name without a handle of its own stands for
			}
		}
		return made(c)
	case "clone":
		return made(t.Clone())
	case "flatten":
		return made(tensor.Flatten(t))
	case "broadcast_to":
		return made(t.BroadcastTo(a.Shape...))
	case "squeeze":
		return made(t.Squeeze(a.Axis))
	case "unsqueeze":
		return made(t.Unsqueeze(a.Axis))
	case "slice":
		idx, err := s.indices()
		if err != nil {
			return nil, err
		}
		return made(t.Slice(idx...))
	case "astype":
		if a.DType != "float32" {
			return nil, unsupported{"astype " + a.DType}
		}
		return &view[float32]{op.Cast[float32](t)}, nil
	case "set":
		t.Set(T(a.Value), a.Index...)
	case "fill":
		t.Fill(T(a.Value))
	case "set_slice":
		idx, err := s.indices()
		if err != nil {
			return nil, err
		}
		if src == nil {
			t.Slice(idx...).Fill(T(a.Value))
		} else {
			t.Slice(idx...).CopyFrom(from())
		}
	case "copy_":
		t.CopyFrom(from())
	case "add_":
		op.Add(t, from(), op.Into(t))
	case "add_scalar_":
		op.Add(t, scalar(), op.Into(t))
	case "mul_scalar_":
		op.Mul(t, scalar(), op.Into(t))
	case "permute_":
		tensor.PermuteInPlace(&v.t, a.Axes...)
	case "reshape_":
		tensor.ReshapeInPlace(&v.t, a.Shape...)
	case "contiguous_":
		tensor.MakeContiguous(&v.t)
	default:
		return nil, unsupported{"no step " + s.Op}
	}
	return nil, nil
}

// indices returns the indices of a step's spec.
func (s *viewStep) indices() ([]tensor.Index, error) {
	var idx []tensor.Index
	for _, x := range s.Args.Spec {
		switch {
		case x.I != nil && x.S == nil:
			idx = append(idx, tensor.I(*x.I))
		case x.I == nil && len(x.S) == 3:
			idx = append(idx, rangeOf(x.S))
		default:
			return nil, errors.New("a spec is a number or start, stop and step")
		}
	}
	return idx, nil
}

// rangeOf returns the range of start, stop and step, of which any may be absent.
func rangeOf(s []*int) tensor.Index {
	b := [3]int{layout.None, layout.None, layout.None}
	for i, v := range s {
		if v != nil {
			b[i] = *v
		}
	}
	return layout.Range(b[0], b[1], b[2])
}
