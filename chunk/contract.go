package chunk

import (
	"context"
	"fmt"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// MatMul returns the product of matrices, as op.MatMul: of the last two axes, with the ones before broadcast; a vector is
// a row on the left and a column on the right. The result has the chunks of the left operand's rows and of the
// right operand's columns. A task multiplies along the inner axis chunk by chunk of the left operand. It adds the products from the first
// to the last, and rounds each sum to the element type.
func MatMul(a, b Array) Array {
	ns, err := given("MatMul", a, b)
	if err != nil {
		return Array{err: err}
	}
	ra, rb := len(ns[0].shape), len(ns[1].shape)
	switch {
	case ra == 0 || rb == 0:
		return Array{err: fail("MatMul", tensor.ErrShape, "shapes %v and %v; a product takes matrices and vectors", ns[0].shape, ns[1].shape)}
	case ra == 1 && rb == 1:
		return TensorDot(a, b, []int{0}, []int{0})
	case ra == 1:
		return without(MatMul(Stack(0, a), b), -2)
	case rb == 1:
		return without(MatMul(a, Stack(1, b)), -1)
	}
	x, y := ns[0], ns[1]
	shape, err := shapeOf(named("MatMul"), op.AttrMap(nil), x, y)
	if err != nil {
		return Array{err: err}
	}
	batch := shape[:len(shape)-2]
	c := &contracted{batch: len(batch), left: 1, inner: 1}
	chunks := make([]int, len(batch))
	for i := range batch {
		chunks[i] = 1
		for _, n := range []*node{x, y} {
			if k := i - len(batch) + len(n.shape) - 2; k >= 0 && n.shape[k] == batch[i] {
				chunks[i] = max(chunks[i], n.chunks[k])
			}
		}
	}
	return c.of("MatMul", x, y, batch, chunks)
}

// without returns x without an axis of extent 1, counted from the end.
func without(x Array, axis int) Array {
	if x.Err() != nil {
		return x
	}
	idx := slices.Repeat([]tensor.Index{tensor.R(0, maxInt)}, len(x.n.shape))
	idx[len(idx)+axis] = tensor.I(0)
	return Slice(x, idx...)
}

// TensorDot contracts pairs of axes, axesA[i] of a with axesB[i] of b, as op.TensorDot does. The result has the other axes
// of a and then the other axes of b. It is computed as MatMul is, with the chunks of a's axes in row-major order.
func TensorDot(a, b Array, axesA, axesB []int) Array {
	ns, err := given("TensorDot", a, b)
	if err != nil {
		return Array{err: err}
	}
	if len(axesA) != len(axesB) {
		return Array{err: fail("TensorDot", tensor.ErrAxis, "%d axes of the one and %d of the other operand", len(axesA), len(axesB))}
	}
	var orders [2][]int
	for k, axes := range [][]int{axesA, axesB} {
		rank := len(ns[k].shape)
		var inner, free []int
		for _, x := range axes {
			if x < 0 {
				x += rank
			}
			if x < 0 || x >= rank || slices.Contains(inner, x) {
				return Array{err: fail("TensorDot", tensor.ErrAxis, "axes %v of an array of rank %d; each is to be one of its axes, and named once", axes, rank)}
			}
			inner = append(inner, x)
		}
		for i := range rank {
			if !slices.Contains(inner, i) {
				free = append(free, i)
			}
		}
		if k == 0 {
			orders[k] = append(free, inner...)
		} else {
			orders[k] = append(inner, free...)
		}
	}
	x, y := a, b
	if len(orders[0]) > 0 {
		x = Transpose(a, orders[0]...)
	}
	if len(orders[1]) > 0 {
		y = Transpose(b, orders[1]...)
	}
	if ns, err = given("TensorDot", x, y); err != nil {
		return Array{err: err}
	}
	c := &contracted{left: len(ns[0].shape) - len(axesA), inner: len(axesA)}
	return c.of("TensorDot", ns[0], ns[1], nil, nil)
}

// contracted is the product of an operand with the axes batch, left, inner, and one with batch, inner, right; the axes of
// batch are broadcast.
type contracted struct{ batch, left, inner int }

func (c *contracted) text() string { return fmt.Sprintf("Product %+v", *c) }

func (c *contracted) rereads() bool { return true }

func (c *contracted) barrier() bool { return true }

// of returns the product as an array.
func (c *contracted) of(name string, x, y *node, batch, chunks []int) Array {
	free := len(x.shape) - c.inner // of x, with its batch
	bx, by := free-c.left, len(batch)
	if c.batch > 0 {
		by = len(y.shape) - 2
	}
	for i := range c.inner {
		if x.shape[free+i] != y.shape[by+i] {
			return Array{err: fail(name, tensor.ErrShape, "shapes %v and %v: the inner extents are %d and %d", x.shape, y.shape, x.shape[free+i], y.shape[by+i])}
		}
	}
	if x.dtype != y.dtype || !named("MatMul").Supports(x.dtype) {
		return Array{err: fail(name, op.ErrUnsupported, "elements of %v and %v; both must be of one type that has products", x.dtype, y.dtype)}
	}
	shape := slices.Concat(batch, x.shape[bx:free], y.shape[by+c.inner:])
	return Array{n: newNode(c, x.dtype, shape, slices.Concat(chunks, x.chunks[bx:free], y.chunks[by+c.inner:]), x, y)}
}

// steps returns how many products of chunks a part of n is the sum of, at most mostTasks + 1.
func (c *contracted) steps(n *node) int {
	x, steps := n.in[0], int64(1)
	for i := len(x.shape) - c.inner; i < len(x.shape); i++ {
		steps = min(times(steps, int64(max(1, ceil(x.shape[i], x.chunks[i])))), mostTasks+1)
	}
	return int(steps)
}

// parts calls f for each step of a part: with the parts of the operands.
func (c *contracted) parts(n *node, b box, f func(x, y box) error) error {
	x, y := n.in[0], n.in[1]
	free := len(x.shape) - c.inner
	right := len(b.from) - c.batch - c.left
	first := len(y.shape) - right - c.inner // the inner axes of y
	grid, steps := make([]int, c.inner), c.steps(n)
	for i := range grid {
		grid[i] = max(1, ceil(x.shape[free+i], x.chunks[free+i]))
	}
	batch := box{b.from[:c.batch], b.to[:c.batch]}
	for k := range steps {
		p := part(&node{shape: x.shape[:free-c.left]}, batch)
		q := part(&node{shape: y.shape[:first]}, batch)
		inner := newBox(c.inner)
		for i := c.inner - 1; i >= 0; i-- {
			step := x.chunks[free+i]
			inner.from[i] = k % grid[i] * step
			inner.to[i] = min(inner.from[i]+step, x.shape[free+i])
			k /= grid[i]
		}
		left, r := c.batch+c.left, len(b.from)
		err := f(box{slices.Concat(p.from, b.from[c.batch:left], inner.from), slices.Concat(p.to, b.to[c.batch:left], inner.to)},
			box{slices.Concat(q.from, inner.from, b.from[left:r]), slices.Concat(q.to, inner.to, b.to[left:r])})
		if err != nil {
			return err
		}
	}
	return nil
}

// flat returns a shape with one axis in the place of each of some runs of axes.
func flat(shape []int, runs ...int) []int {
	out := make([]int, len(runs))
	for i, n := range runs {
		out[i] = 1
		for _, e := range shape[:n] {
			out[i] *= e
		}
		shape = shape[n:]
	}
	return out
}

func (c *contracted) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	mark := len(e.held)
	var sum tensor.Any
	right := len(b.from) - c.batch - c.left
	err := c.parts(n, b, func(x, y box) error {
		p, err := e.eval(n.in[0], x)
		if err != nil {
			return err
		}
		q, err := e.eval(n.in[1], y)
		if err != nil {
			return err
		}
		if c.left != 1 || c.inner != 1 || right != 1 {
			if p, err = tensor.Reshape(p, flat(p.Shape(), c.left, c.inner)...); err != nil {
				return err
			}
			if q, err = tensor.Reshape(q, flat(q.Shape(), c.inner, right)...); err != nil {
				return err
			}
		}
		r, err := e.call("MatMul", nil, p, q)
		if err == nil && !sum.IsZero() {
			add := "Add"
			if n.dtype == dtype.Bool { // a product of truth values is true where any of its terms is
				add = "Or"
			}
			r, err = e.call(add, nil, sum, r)
		}
		if err != nil {
			return err
		}
		sum = r
		e.release(mark, sum)
		return nil
	})
	if err != nil {
		return sum, err
	}
	return tensor.Reshape(sum, b.shape()...)
}

func (c *contracted) cost(n *node, b box) cost {
	out := cost{size: bytesOf(n.dtype, b.shape())}
	right := len(b.from) - c.batch - c.left
	alone := op.WithThreads(context.Background(), 1)
	var step int64
	c.parts(n, b, func(x, y box) error {
		p, q := n.in[0].kind.cost(n.in[0], x), n.in[1].kind.cost(n.in[1], y)
		out.read = plus(out.read, plus(p.read, q.read))
		xs, ys := x.shape(), y.shape()
		var copies int64
		if c.left != 1 || c.inner != 1 || right != 1 {
			xs, ys = flat(xs, c.left, c.inner), flat(ys, c.inner, right)
			copies = plus(p.size, q.size)
		}
		in := make([]tensor.Any, 2)
		for i, s := range [][]int{xs, ys} {
			if spec, err := tensor.NewSpec(n.dtype, s...); err == nil {
				in[i] = spec.Any()
			}
		}
		var work int64
		if product, err := named("MatMul").Plan(&op.Call{Inputs: in, Attrs: op.AttrMap(nil), Opset: opset, Outputs: 1, Context: alone}); err == nil { // as in a task
			work = product.Scratch()
		}
		step = max(step, plus(plus(max(p.peak, plus(p.size, q.peak)), copies), work))
		return nil
	})
	out.peak = plus(step, times(3, out.size))
	return out
}
