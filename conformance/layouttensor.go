package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// tensorCase is one case of LayoutTensor: steps on a tensor, and the expected outcome.
type tensorCase struct {
	ID, Op, Source, Verdict, Note string
	Input, Other                  tensorInput
	Steps                         []tensorStep
	Args                          elementArgs
	Expect                        tensorExpect
	ULP                           float64 `json:"tolerance_ulp"`
	Rel                           float64 `json:"tolerance_rel"`
}

type tensorInput struct {
	Layout, DType string
	Fill          json.RawMessage // "arange", "storage_iota", "zeros" or a start and a step
	Storage       string          // "iota", of Size elements, for iterators
	Size, Dim     int
	Elem          string `json:"element_layout"`
	Dynamic       bool   // the reference knows the extents at run time only; here that is always so
}

type tensorStep struct {
	Op, Layout, Threads, RHS string
	Axis                     *int
	Axes, Coord, Coords      []int
	Fixed, Shape, Sizes      []int
	Start                    []int
	Ranges                   [][2]*int
	By, Thread               int
	Count, Index, Alignment  int
	Bound, Stride, Offset    int
	Circular                 bool
	Scalar, Value            float32
	DstLayout                string `json:"dst_layout"`
	DstVectorize             []int  `json:"dst_vectorize"`
}

type elementArgs struct {
	Storage, Tensor string
	Element, Valid  []int
	Value           float32
}

type tensorExpect struct {
	Layout             string
	Rows               [][]json.RawMessage // of numbers, or of the lists of vectors' lanes
	Colex              []json.RawMessage   `json:"values_colex"`
	Values, Storage    []float64
	At                 [][2]json.RawMessage
	Dims               []int `json:"runtime_dims"`
	Clipped            *bool
	ElemLayout         string `json:"element_layout"`
	LaneOrder          string `json:"lane_order"`
	MojoSizes          []int  `json:"mojo_sizes"`
	MojoOffsets        []int  `json:"mojo_offsets"`
	MojoPartition      int    `json:"mojo_partition"` // follows from the others
	ElementsLostInMojo int    `json:"elements_lost_in_mojo"`
}

// runTensors runs the cases of LayoutTensor.
func runTensors(r *report, file string, cases []json.RawMessage) error {
	for _, raw := range cases {
		c := new(tensorCase)
		if err := strict(raw, c); err != nil {
			return fmt.Errorf("%s: %v: %.200s", file, err, raw)
		}
		if r.wants(c.Op) {
			r.judge(c.Op, c.ID, c.run)
		}
	}
	return nil
}

// run judges a case by its verdict. A *tensor.Error is a refusal.
func (c *tensorCase) run() error {
	var judged error
	refused := tensor.Try(func() { judged = c.judge() })
	switch {
	case refused != nil && c.Verdict == "may":
		return nil
	case refused != nil:
		return refused
	case c.Verdict != "must" && c.Verdict != "may":
		return fmt.Errorf("the runner knows no verdict %q", c.Verdict)
	}
	return judged
}

func (c *tensorCase) judge() error {
	switch c.Op {
	case "split_aligned":
		return c.splitAligned()
	case "masked_element_load", "masked_element_store":
		return c.maskedElement()
	}
	if c.Input.DType != "float32" {
		return unsupported{"element type " + c.Input.DType}
	}
	s := new(worked)
	if err := s.make(&c.Input); err != nil {
		return err
	}
	for i := range c.Steps {
		if err := s.step(c, &c.Steps[i]); err != nil {
			return err
		}
	}
	return s.compare(c)
}

// worked is the object of the steps: a tensor, vectors, or an iterator.
type worked struct {
	data    []float32
	t       tensor.Tensor[float32]
	v       *tensor.Vectors[float32]
	it      *tensor.TileIterator[float32]
	reshape *layout.Layout // of the tiles of it
	tile    []int          // the sizes of the last tile
}

func (s *worked) make(in *tensorInput) error {
	if in.Storage != "" {
		s.data = make([]float32, in.Size)
		for i := range s.data {
			s.data[i] = float32(i)
		}
		s.t = tensor.FromSlice(s.data)
		return nil
	}
	lay, err := layout.Parse(in.Layout)
	if err != nil {
		return err
	}
	lo, hi := lay.Span()
	var elem layout.Layout
	if in.Elem != "" {
		if elem, err = layout.Parse(in.Elem); err != nil {
			return err
		}
		_, last := elem.Span()
		hi += last
	}
	s.data = make([]float32, hi-lo+1)
	s.t = tensor.FromLayout(s.data, lay)
	if err := s.fill(in.Fill); err != nil {
		return err
	}
	if in.Elem != "" {
		v := tensor.FromVectors(s.data, lay, elem)
		s.v = &v
	}
	return nil
}

// fill sets the elements. An arange counts rows of a tensor of rank 2, the memory of
// others.
func (s *worked) fill(how json.RawMessage) error {
	var word string
	by := struct{ Start, Step float32 }{0, 1}
	if json.Unmarshal(how, &word) != nil {
		word = "arange"
		if err := strict(how, &by); err != nil {
			return err
		}
	}
	switch {
	case word == "zeros":
	case word == "arange" && s.t.Rank() == 2:
		i := 0
		for idx := range s.t.All() {
			s.t.Set(by.Start+float32(float32(i)*by.Step), idx...)
			i++
		}
	case word == "arange" || word == "storage_iota":
		for i := range s.data {
			s.data[i] = by.Start + float32(float32(i)*by.Step)
		}
	default:
		return fmt.Errorf("the runner knows no fill %s", how)
	}
	return nil
}

func (s *worked) step(c *tensorCase, st *tensorStep) error {
	axis := 0
	if st.Axis != nil {
		axis = *st.Axis
	}
	lay := func(text string) layout.Layout {
		l, err := layout.Parse(text)
		if err != nil {
			panic(err) // of the data, not of the code under test
		}
		return l
	}
	switch st.Op {
	case "tile":
		s.t, s.tile = tensor.Tile(s.t, st.Sizes, st.Coords...), st.Sizes
	case "transpose":
		s.t = s.t.Transpose()
	case "vectorize":
		v := tensor.Vectorize(s.t, st.Shape...)
		s.v = &v
	case "unvectorize_original":
		s.v = nil
	case "distribute":
		var o *tensor.DistributeOptions
		if st.Axis != nil {
			o = &tensor.DistributeOptions{Axes: []int{axis}}
		}
		if s.v != nil {
			*s.v = s.v.Distribute(lay(st.Threads), st.Thread, o)
		} else {
			s.t = tensor.Distribute(s.t, lay(st.Threads), st.Thread, o)
		}
	case "split":
		if s.v != nil {
			*s.v = s.v.Split(axis, st.Count)[st.Index]
		} else {
			s.t = tensor.Split(s.t, axis, st.Count)[st.Index]
		}
	case "slice":
		idx := ranges(st)
		s.t = tensor.Slice2D(s.t, 0, 1, idx[0], idx[1])
	case "slice_axes":
		idx := ranges(st)
		if len(st.Axes) == 2 {
			s.t = tensor.Slice2D(s.t, st.Axes[0], st.Axes[1], idx[0], idx[1], st.Fixed...)
		} else {
			s.t = tensor.Slice1D(s.t, st.Axes[0], idx[0], st.Fixed...)
		}
	case "set":
		s.v.Store(slices.Repeat([]float32{st.Value}, s.v.ElemLen()), st.Coord...)
	case "copy_into_new":
		to := new(worked)
		if err := to.make(&tensorInput{Layout: st.DstLayout, Fill: json.RawMessage(`"zeros"`)}); err != nil {
			return err
		}
		if s.v != nil {
			v := tensor.Vectorize(to.t, st.DstVectorize...)
			v.CopyFrom(*s.v)
			to.v = &v
		} else {
			tensor.CopyColex(to.t, s.t)
		}
		*s = *to
	case "iterator":
		if st.Bound != s.t.Len() {
			return fmt.Errorf("a bound of %d in %d elements", st.Bound, s.t.Len())
		}
		iterate := tensor.LayoutIterator[float32]
		if st.Circular {
			iterate = tensor.CircularLayoutIterator[float32]
		}
		s.it = iterate(s.t, lay(st.Layout), st.Stride, st.Offset)
	case "tiled_iterator":
		s.it = tensor.TiledIterator(s.t, st.Sizes, axis, st.Start...)
	case "advance":
		s.it.Next(st.By)
	case "reshape":
		l := lay(st.Layout)
		s.reshape = &l
	case "get":
		s.t = s.it.Tile()
		if s.reshape != nil {
			s.t = tensor.ReshapeLayout(s.t, *s.reshape)
		}
	default:
		return s.compute(c, st, axis)
	}
	return nil
}

// compute runs the steps that make new values.
func (s *worked) compute(c *tensorCase, st *tensorStep, axis int) error {
	rhs := tensor.Scalar(st.Scalar)
	if st.RHS == "other" {
		other := new(worked)
		if err := other.make(&c.Other); err != nil {
			return err
		}
		if rhs = other.t; rhs.Rank() == 1 && s.t.Rank() == 2 {
			rhs = rhs.Unsqueeze(1) // along axis 0
		}
	}
	switch st.Op {
	case "add":
		s.t = op.Add(s.t, rhs)
	case "sub":
		s.t = op.Sub(s.t, rhs)
	case "div":
		s.t = op.Div(s.t, rhs)
	case "exp":
		s.t = op.Exp(s.t)
	case "sum":
		s.t = op.ReduceSum(s.t, []int{axis})
	case "max":
		s.t = op.ReduceMax(s.t, []int{axis})
	default:
		return fmt.Errorf("the runner knows no step %q", st.Op)
	}
	s.data, _ = s.t.Data()
	return nil
}

func ranges(st *tensorStep) []tensor.Index {
	var idx []tensor.Index
	for _, r := range st.Ranges {
		bound := [2]int{tensor.None, tensor.None}
		for i, p := range r {
			if p != nil {
				bound[i] = *p
			}
		}
		idx = append(idx, tensor.R(bound[0], bound[1]))
	}
	return idx
}

// shape, layout and at belong to the vectors, or to the tensor.
func (s *worked) shape() []int {
	if s.v != nil {
		return s.v.Shape()
	}
	return s.t.Shape()
}

func (s *worked) layout() layout.Layout {
	if s.v != nil {
		return s.v.Layout()
	}
	return s.t.Layout()
}

func (s *worked) at(idx ...int) []float32 {
	if s.v != nil {
		return s.v.At(idx...)
	}
	return []float32{s.t.At(idx...)}
}

const laneOrder = "contiguous element dimension fastest (reference quirk; column-first when neither is contiguous)"

// compare returns an error unless the outcome is as expected.
func (s *worked) compare(c *tensorCase) error {
	want := &c.Expect
	if want.LaneOrder != "" && want.LaneOrder != laneOrder {
		return fmt.Errorf("the runner knows no order of lanes %q", want.LaneOrder)
	}
	if want.Rows == nil && want.Colex == nil && want.Values == nil && want.At == nil {
		return errors.New("the case expects no elements")
	}
	lay := s.layout()
	if err := sameLayout(&lay, want.Layout); err != nil {
		return err
	}
	if s.v != nil && want.ElemLayout != "" {
		elem := s.v.ElemLayout()
		if err := sameLayout(&elem, want.ElemLayout); err != nil {
			return fmt.Errorf("elements: %w", err)
		}
	}
	if want.Dims != nil && !slices.Equal(s.shape(), want.Dims) {
		return fmt.Errorf("the shape is %v, want %v", s.shape(), want.Dims)
	}
	if want.Clipped != nil && s.t.Any().Clipped(s.tile...) != *want.Clipped {
		return fmt.Errorf("clipped is %v", !*want.Clipped)
	}
	if want.Rows != nil {
		if err := s.compareRows(c); err != nil {
			return err
		}
	}
	colex := want.Colex
	if c.Op != "copy_from" { // its values repeat the storage's
		for _, v := range want.Values {
			colex = append(colex, json.RawMessage(fmt.Sprint(v)))
		}
	}
	if len(colex) > 0 && len(colex) != lay.Size() {
		return fmt.Errorf("%d elements, want %d", lay.Size(), len(colex))
	}
	for i, e := range colex {
		idx, err := lay.Coord(i)
		if err != nil {
			return err
		}
		if err := c.near(s.at(idx...), e); err != nil {
			return fmt.Errorf("at %v: %w", idx, err)
		}
	}
	for _, at := range want.At {
		var idx []int
		if err := json.Unmarshal(at[0], &idx); err != nil {
			return err
		}
		if err := c.near(s.at(idx...), at[1]); err != nil {
			return fmt.Errorf("at %v: %w", idx, err)
		}
	}
	if want.Storage != nil && (len(want.Storage) != len(s.data) || !slices.Equal(want.Storage, want.Values)) {
		return fmt.Errorf("the storage has %d elements, want %d", len(s.data), len(want.Storage))
	}
	for i, x := range want.Storage {
		if float64(s.data[i]) != x {
			return fmt.Errorf("element %d of the storage is %v, want %v", i, s.data[i], x)
		}
	}
	return nil
}

// compareRows compares the elements as the reference prints them: a nested layout that
// coalesces to two modes has their rows.
func (s *worked) compareRows(c *tensorCase) error {
	lay := s.layout()
	grid := lay
	if !lay.Flat() {
		grid = lay.Coalesce()
	}
	rows := c.Expect.Rows
	if grid.Rank() != 2 || grid.Dim(0) != len(rows) {
		return fmt.Errorf("the layout is %v, want %d rows", lay, len(rows))
	}
	for i, row := range rows {
		if len(row) != grid.Dim(1) {
			return fmt.Errorf("the layout is %v, want %d in row %d", lay, len(row), i)
		}
		for j, e := range row {
			idx, err := lay.Coord(i + j*len(rows))
			if err == nil {
				err = c.near(s.at(idx...), e)
			}
			if err != nil {
				return fmt.Errorf("row %d, column %d: %w", i, j, err)
			}
		}
	}
	return nil
}

// sameLayout returns an error unless each coordinate of a layout has the offset that
// the expected one gives it. The expected one may be larger: it isn't clipped.
func sameLayout(l *layout.Layout, text string) error {
	if text == "" {
		return nil
	}
	want, err := layout.Parse(text)
	if err != nil {
		return err
	}
	for i := range l.Size() {
		idx, err := l.Coord(i)
		if err != nil {
			return err
		}
		off, _ := l.At(idx)
		to, axis := want.At(idx)
		if want.Rank() != l.Rank() { // a single thread's, coalesced
			to, err = want.Offset(i)
			axis = -1
		}
		if err != nil || axis >= 0 || to != off {
			return fmt.Errorf("the layout is %v, want %s, clipped at the edge", l, text)
		}
	}
	return nil
}

// near compares an element or a vector with a number or a list.
func (c *tensorCase) near(got []float32, raw json.RawMessage) error {
	var want []float64
	if json.Unmarshal(raw, &want) != nil {
		want = make([]float64, 1)
		if err := json.Unmarshal(raw, &want[0]); err != nil {
			return err
		}
	}
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		w := float32(want[i])
		ulp := float64(math.Nextafter32(float32(math.Abs(float64(w))), math.MaxFloat32)) - math.Abs(float64(w))
		ok = math.Abs(float64(got[i])-want[i]) <= float64(c.ULP*ulp)+float64(c.Rel*math.Abs(want[i]))
	}
	if !ok {
		return fmt.Errorf("%v, want %v", got, want)
	}
	return nil
}

// splitAligned compares with the parts that the reference gives, clamped at nothing. Where it
// loses elements, each must be in one part instead.
func (c *tensorCase) splitAligned() error {
	if len(c.Steps) != 1 || c.Steps[0].Op != "split" {
		return errors.New("not one split")
	}
	n, st := c.Input.Dim, &c.Steps[0]
	t := tensor.Arange(0, int32(n), 1)
	var all []int32
	for i := range st.Count {
		part := tensor.SplitPart(t, 0, st.Count, i, st.Alignment)
		for v := range part.Values() {
			all = append(all, v)
		}
		if part.Len()%st.Alignment != 0 && len(all) < n {
			return fmt.Errorf("part %d of %d elements isn't the last, nor a multiple of %d", i, part.Len(), st.Alignment)
		}
		if c.Expect.ElementsLostInMojo != 0 {
			continue
		}
		if part.Len() != max(c.Expect.MojoSizes[i], 0) || part.Len() > 0 && tensor.Distance(part, t) != c.Expect.MojoOffsets[i] {
			return fmt.Errorf("part %d has %d elements from %d on, want %d from %d", i, part.Len(), tensor.Distance(part, t), c.Expect.MojoSizes[i], c.Expect.MojoOffsets[i])
		}
	}
	if !slices.Equal(all, t.Elems()) {
		return fmt.Errorf("the parts have the elements %v of %d", all, n)
	}
	return nil
}

// maskedElement loads or stores one vector of which a part is there.
func (c *tensorCase) maskedElement() error {
	t := tensor.Arange[float32](0, 16, 1).View(4, 4)
	switch c.Args.Storage + c.Args.Tensor {
	case "row-major 4x4 iota":
	case "4x4 row-major filled with -1":
		t.Fill(-1)
	default:
		return fmt.Errorf("the runner knows no tensor %q", c.Args.Storage+c.Args.Tensor)
	}
	v := tensor.Vectorize(t.Slice(tensor.R(0, c.Args.Valid[0]), tensor.R(0, c.Args.Valid[1])), c.Args.Element...)
	s := &worked{t: t, v: &v}
	if c.Op == "masked_element_load" {
		if v.Len() != 1 || len(c.Expect.Values) != v.ElemLen() {
			return fmt.Errorf("%d vectors of %d lanes", v.Len(), v.ElemLen())
		}
		text, err := json.Marshal(c.Expect.Values)
		if err != nil {
			return err
		}
		return c.near(v.At(0, 0), text)
	}
	v.Store(slices.Repeat([]float32{c.Args.Value}, v.ElemLen()), 0, 0)
	s.v = nil
	return s.compare(c)
}
