package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/num"
	"github.com/ashlar-go/ashlar/tensor"
)

// arrayView is a chain of steps from a base that counts 0, 1, ….
type arrayView struct {
	ID, Op, Tol string
	Base        struct {
		DType, Order, Fill string
		Shape              []int
	}
	Steps []arrayStep
	Out   *struct {
		Shape       []int
		Data        []json.RawMessage
		Shares      *bool   `json:"shares_memory"`
		StepShares  []*bool `json:"step_shares"`
		Strides     []int
		Offset      *int
		CContiguous bool `json:"c_contiguous"`
		FContiguous bool `json:"f_contiguous"`
		Writeable   bool
	}
	Error json.RawMessage
}

type arrayStep struct {
	Op, Order           string
	Shape, Axes, Window []int
	Axis                []int
	Src, Dst, Offset    int
	Spec                []struct {
		Int               *int
		Slice             []*int
		NewAxis, Ellipsis bool
	}
}

func arrayViews(raw json.RawMessage, _ string) (string, func() error, error) {
	c := new(arrayView)
	if err := strict(raw, c); err != nil {
		return "", nil, err
	}
	return c.ID, c.run, nil
}

func (c *arrayView) run() error {
	d, err := dtype.Parse(c.Base.DType)
	if err != nil {
		return err
	}
	switch d {
	case dtype.Uint8:
		return runChain[uint8](c)
	case dtype.Int32:
		return runChain[int32](c)
	case dtype.Int64:
		return runChain[int64](c)
	case dtype.Float32:
		return runChain[float32](c)
	}
	return unsupported{"a base of " + c.Base.DType}
}

// runChain does the steps, then compares the result and writes through it.
func runChain[T num.Integer | num.Float](c *arrayView) error {
	base, err := counting[T](c)
	if err != nil {
		return err
	}
	t := base
	var shares []bool
	failed := tensor.Try(func() {
		for i := range c.Steps {
			var next tensor.Tensor[T]
			if next, err = chainStep(t, &c.Steps[i]); err != nil {
				return
			}
			shares = append(shares, next.Any().SameData(t.Any()))
			t = next
		}
	})
	switch {
	case err != nil:
		return err
	case c.Out == nil && failed == nil:
		return fmt.Errorf("got %s, want an error", tensor.Describe(t.Any()))
	case c.Out == nil:
		if len(shares) != len(c.Steps)-1 {
			return fmt.Errorf("step %d is refused, want the last: %w", len(shares), failed)
		}
		return nil
	case failed != nil:
		return failed
	}
	want, err := (&array{c.Base.DType, c.Out.Shape, c.Out.Data}).tensor()
	if err != nil {
		return err
	}
	if err := compare(t.Any(), want, exactly); err != nil {
		return err
	}
	if len(c.Out.StepShares) != len(shares) {
		return errors.New("the case doesn't say which steps share")
	}
	for i, w := range c.Out.StepShares {
		if w != nil && *w != shares[i] {
			return fmt.Errorf("step %d (%s): shares memory: %t, want %t", i, c.Steps[i].Op, shares[i], *w)
		}
	}
	if g, w := t.IsContiguous(), c.Out.CContiguous; g != w {
		return fmt.Errorf("contiguous: %t, want %t", g, w)
	}
	if g, w := t.Transpose().IsContiguous(), c.Out.FContiguous; g != w {
		return fmt.Errorf("contiguous when transposed: %t, want %t", g, w)
	}
	if g, w := !t.IsReadOnly(), c.Out.Writeable; g != w {
		return fmt.Errorf("writeable: %t, want %t", g, w)
	}
	if c.Out.Shares == nil {
		return nil
	}
	if g, w := t.Any().SameData(base.Any()), *c.Out.Shares; g != w {
		return fmt.Errorf("shares memory with the base: %t, want %t", g, w)
	}
	if *c.Out.Shares {
		if err := placed(c, t, base); err != nil {
			return err
		}
	}
	return writeThrough(t, base, *c.Out.Shares)
}

// counting returns the base: row-major or column-major, with values in row-major
// order.
func counting[T num.Integer | num.Float](c *arrayView) (tensor.Tensor[T], error) {
	shape := c.Base.Shape
	if len(shape) == 0 && c.Base.Order == "F" {
		shape = []int{1} // numpy.asfortranarray, which made these, gives an axis to an array without any
	}
	lay, err := layout.RowMajor(shape...)
	if c.Base.Order == "F" {
		lay, err = layout.ColMajor(shape...)
	}
	if err != nil {
		return tensor.Tensor[T]{}, err
	}
	if c.Base.Fill != "arange in C index order" {
		return tensor.Tensor[T]{}, unsupported{"a base of " + c.Base.Fill}
	}
	t := tensor.FromLayout(make([]T, lay.Size()), lay)
	n := T(0)
	for i := range t.All() {
		t.Set(n, i...)
		n++
	}
	return t, nil
}

// placed compares where the result lies in its base. Strides of axes of one
// element are free.
func placed[T num.Elem](c *arrayView, t, base tensor.Tensor[T]) error {
	l := t.Layout()
	if len(c.Out.Strides) != l.Rank() || c.Out.Offset == nil {
		return errors.New("the case doesn't say where the result lies")
	}
	for i, want := range c.Out.Strides {
		if s, single := l.Stride(i); l.Dim(i) > 1 && (!single || s != want) {
			return fmt.Errorf("the layout is %v, want strides %v", l, c.Out.Strides)
		}
	}
	_, first := t.Data()
	_, zero := base.Data()
	if first-zero != *c.Out.Offset {
		return fmt.Errorf("the first element is at %d, want %d", first-zero, *c.Out.Offset)
	}
	return nil
}

// writeThrough writes to an element of the result and looks for it in the base.
func writeThrough[T num.Integer | num.Float](t, base tensor.Tensor[T], shares bool) error {
	if t.IsReadOnly() || t.Len() == 0 {
		return nil
	}
	last := t.Shape()
	for i := range last {
		last[i]--
	}
	old := t.At(last...)
	t.Set(old+1, last...)
	n := T(0)
	for _, v := range base.All() {
		want := n
		if shares && n == old {
			want++
		}
		if v != want {
			return fmt.Errorf("after a write to the result the base has %v where %v was, want %v", v, n, want)
		}
		n++
	}
	return nil
}

// chainStep does one step, as NumPy means it.
func chainStep[T num.Elem](t tensor.Tensor[T], s *arrayStep) (tensor.Tensor[T], error) {
	// The first axis is fastest: the same on the transposed tensor.
	fortran := func(shape []int) tensor.Tensor[T] {
		shape = slices.Clone(shape)
		slices.Reverse(shape)
		return t.Transpose().Reshape(shape...).Transpose()
	}
	switch s.Op {
	case "index":
		var idx []tensor.Index
		for _, x := range s.Spec {
			switch {
			case x.Int != nil:
				idx = append(idx, tensor.I(*x.Int))
			case len(x.Slice) == 3:
				idx = append(idx, rangeOf(x.Slice))
			case x.NewAxis:
				idx = append(idx, tensor.NewAxis)
			case x.Ellipsis:
				idx = append(idx, tensor.Ellipsis)
			default:
				return t, errors.New("the runner doesn't know this index")
			}
		}
		return t.Slice(idx...), nil
	case "transpose":
		if s.Axes == nil {
			return t.Transpose(), nil
		}
		return t.Permute(s.Axes...), nil
	case "swapaxes":
		return tensor.SwapAxes(t, s.Axes[0], s.Axes[1]), nil
	case "moveaxis":
		return tensor.MoveAxis(t, s.Src, s.Dst), nil
	case "reshape":
		shape := slices.Clone(s.Shape)
		for i, e := range shape {
			if e < -1 { // NumPy 1.24 takes it for -1; it is refused here, and -1 must give NumPy's result
				if err := tensor.Try(func() { t.Reshape(shape...) }); !errors.Is(err, tensor.ErrShape) {
					return t, fmt.Errorf("an extent of %d isn't refused: %v", e, err)
				}
				shape[i] = -1
			}
		}
		if s.Order == "F" {
			return fortran(shape), nil
		}
		return t.Reshape(shape...), nil
	case "ravel": // contiguous, so a copy also where a view would do
		if s.Order == "F" {
			t = t.Transpose()
		}
		return t.Contiguous().View(-1), nil
	case "squeeze":
		return t.Squeeze(s.Axis...), nil
	case "expand_dims":
		return t.Unsqueeze(s.Axis...), nil
	case "broadcast_to":
		return t.BroadcastTo(s.Shape...), nil
	case "flip":
		return t.Flip(s.Axis...), nil
	case "diagonal":
		return tensor.Diagonal(t, s.Offset, s.Axes[0], s.Axes[1]), nil
	case "sliding_window":
		if len(s.Axis) != len(s.Window) {
			return t, errors.New("not a window for each axis")
		}
		for i, a := range s.Axis {
			t = tensor.SlidingWindow(t, a, s.Window[i])
		}
		return t, nil
	}
	return t, unsupported{"no step " + s.Op}
}
