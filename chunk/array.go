package chunk

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

// Array describes an array of chunks: a value that holds no elements. The zero Array is none; using it is a mistake.
type Array struct {
	n   *node
	err error
}

// node is an array by how it is made.
type node struct {
	kind   kind
	dtype  dtype.DType
	shape  []int
	chunks []int
	in     []*node
	id     [sha256.Size]byte // of everything that decides its elements and chunks

	scratch *sync.Map // of a pass, from the shapes of parts to bytes
}

// A kind is a way to make an array.
type kind interface {
	// text names it, with all that decides the elements besides the inputs.
	text() string
	// eval returns a part of n.
	eval(e *evaluator, n *node, b box) (tensor.Any, error)
	// cost counts the bytes that eval holds and reads.
	cost(n *node, b box) cost
}

// cost is the price of a part in bytes: its size; the most that is held while it is made, the part included; and the
// decompressed size of the chunks that are read.
type cost struct{ size, peak, read int64 }

// newNode completes a node: its identity, and chunks within the shape.
func newNode(k kind, d dtype.DType, shape, chunks []int, in ...*node) *node {
	n := &node{kind: k, dtype: d, shape: shape, chunks: slices.Clone(chunks), in: in, scratch: new(sync.Map)}
	for i := range n.chunks {
		n.chunks[i] = max(1, min(n.chunks[i], shape[i]))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %v %v %v\n", k.text(), d, n.shape, n.chunks)
	for _, i := range in {
		h.Write(i.id[:])
	}
	h.Sum(n.id[:0])
	return n
}

// needContext returns the error of a nil context.
func needContext(name string, ctx context.Context) error {
	if ctx == nil {
		return fail(name, tensor.ErrValue, "the context is nil; context.Background() is one without an end")
	}
	return nil
}

func fail(name string, err error, format string, args ...any) error {
	return &tensor.Error{Op: "chunk." + name, Text: fmt.Sprintf(format, args...), Err: err}
}

// given returns the nodes of operands, or the first error among them.
func given(name string, in ...Array) ([]*node, error) {
	ns := make([]*node, len(in))
	for i, a := range in {
		switch {
		case a.err != nil:
			return nil, a.err
		case a.n == nil:
			return nil, fail(name, tensor.ErrValue, "operand %d is the zero Array; From, Value and the functions of this package make arrays", i)
		}
		ns[i] = a.n
	}
	return ns, nil
}

// Err returns the mistake that was made on the way to the array, or nil.
func (a Array) Err() error {
	_, err := given("Err", a)
	return err
}

// DType returns the element type, dtype.Invalid of an array that holds an error.
func (a Array) DType() dtype.DType {
	if a.Err() != nil {
		return dtype.Invalid
	}
	return a.n.dtype
}

// Shape returns the extents, nil of an array that holds an error.
func (a Array) Shape() []int {
	if a.Err() != nil {
		return nil
	}
	return slices.Clone(a.n.shape)
}

// Chunks returns the shape of a chunk, nil of an array that holds an error.
func (a Array) Chunks() []int {
	if a.Err() != nil {
		return nil
	}
	return slices.Clone(a.n.chunks)
}

// String describes the array: element type, shape and chunks.
func (a Array) String() string {
	if err := a.Err(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v%v in chunks of %v", a.n.dtype, a.n.shape, a.n.chunks)
}

// From returns the array of a Zarr array. The name stands for it in the identity of a
// plan. So it should be the same in each run and on each machine, as an address is, and another one once the array has
// changed: an address and the result of the array's State, as package job does it. Chunks are the units that are read at
// once; of shards, the inner ones.
func From(name string, a *zarr.Array) Array {
	if a == nil {
		return Array{err: fail("From", tensor.ErrValue, "the Zarr array %q is nil", name)}
	}
	return Array{n: newNode(&source{label: name, array: a}, a.DType(), a.Shape(), a.Inner())}
}

// FromTensor returns the array of a tensor that is in memory, or in a file that is mapped, in chunks of a shape. The name is
// as for From. The tensor must not change; its memory isn't part of the memory that a task holds.
func FromTensor(name string, t tensor.Any, chunks ...int) Array {
	switch {
	case t.IsZero() || t.IsSpec() || t.Foreign() != nil:
		return Array{err: fail("FromTensor", tensor.ErrValue, "the tensor %q has no elements in memory", name)}
	case len(chunks) != t.Rank() || slices.ContainsFunc(chunks, func(c int) bool { return c < 1 }):
		return Array{err: fail("FromTensor", tensor.ErrShape, "chunks of %v for a tensor of shape %v", chunks, t.Shape())}
	}
	return Array{n: newNode(&source{label: name, tensor: t}, t.DType(), t.Shape(), chunks)}
}

// source is a Zarr array or a tensor, known by a name.
type source struct {
	label  string
	array  *zarr.Array // nil: tensor
	tensor tensor.Any
}

func (s *source) text() string { return fmt.Sprintf("From %q", s.label) }

func (s *source) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	if s.array == nil && s.tensor.Closed() {
		return s.tensor, fail("FromTensor", tensor.ErrClosed, "the tensor %q is closed; it must stay open until the run has ended", s.label)
	}
	if s.array == nil {
		return b.of(s.tensor)
	}
	t, err := s.array.Slice(e.ctx, b.from, b.to)
	return e.own(t), err
}

func (s *source) cost(n *node, b box) cost {
	c := readCost(n, b)
	if s.array == nil {
		c.size, c.peak = 0, 0
	} else {
		c.peak = plus(c.peak, s.array.Ahead())
	}
	return c
}

// readCost is the cost of a part that is read from a Zarr array with n's chunks: the part, and one
// chunk as it is stored, decompressed and moved.
func readCost(n *node, b box) cost {
	size := bytesOf(n.dtype, b.shape())
	one := bytesOf(n.dtype, n.chunks)
	touched := int64(n.dtype.Size())
	for i := range b.from {
		touched = times(touched, int64(b.touched(i, n.chunks[i])))
	}
	return cost{size: size, peak: plus(size, times(3, one)), read: touched}
}

// Value returns the array of a tensor, which is one chunk and must not change. It is a part of each plan that uses it.
func Value(t tensor.Any) Array {
	if t.IsZero() || t.IsSpec() || t.Foreign() != nil {
		return Array{err: fail("Value", tensor.ErrValue, "the tensor has no elements in memory")}
	}
	c, err := tensor.Contiguous(t)
	if err != nil {
		return Array{err: err}
	}
	b, ok := tensor.Bytes(c)
	if !ok {
		return Array{err: fail("Value", tensor.ErrValue, "the tensor's elements can't be read as bytes")}
	}
	v := &value{c, sha256.Sum256(b)}
	return Array{n: newNode(v, t.DType(), t.Shape(), t.Shape())}
}

// value is a tensor in memory.
type value struct {
	t    tensor.Any
	hash [sha256.Size]byte
}

func (v *value) text() string { return fmt.Sprintf("Value %x", v.hash) }

func (v *value) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	if v.t.Closed() {
		return v.t, fail("Value", tensor.ErrClosed, "the tensor is closed; it must stay open until the run has ended")
	}
	return b.of(v.t)
}

func (v *value) cost(n *node, b box) cost { return cost{} }

// A box is a part of an array: from from to below to along each axis.
type box struct{ from, to []int }

func newBox(rank int) box {
	both := make([]int, 2*rank)
	return box{both[:rank:rank], both[rank:]}
}

// all is the box of a whole array.
func all(shape []int) box { return box{make([]int, len(shape)), shape} }

func (b box) shape() []int {
	s := make([]int, len(b.from))
	for i := range s {
		s[i] = b.to[i] - b.from[i]
	}
	return s
}

func (b box) empty() bool {
	for i := range b.from {
		if b.from[i] >= b.to[i] {
			return true
		}
	}
	return false
}

// touched returns how many elements along an axis the chunks have that the box meets.
func (b box) touched(axis, chunk int) int {
	if b.from[axis] >= b.to[axis] {
		return 0
	}
	return ((b.to[axis]-1)/chunk + 1 - b.from[axis]/chunk) * chunk
}

// of returns the part of a tensor, a view, which has all of the axes that the box doesn't have.
func (b box) of(t tensor.Any) (tensor.Any, error) {
	idx := make([]tensor.Index, len(b.from))
	for i := range idx {
		idx[i] = tensor.R(b.from[i], b.to[i])
	}
	return tensor.Slice(t, idx...)
}

func (b box) String() string { return fmt.Sprintf("%v to %v", b.from, b.to) }

// key identifies the box in a map.
func (b box) key() string {
	k := make([]byte, 0, 16*len(b.from))
	for i := range b.from {
		k = binary.AppendVarint(binary.AppendVarint(k, int64(b.from[i])), int64(b.to[i]))
	}
	return string(k)
}

// Sums and products of sizes stay at the largest int64 where they would go beyond.

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

func bytesOf(d dtype.DType, shape []int) int64 {
	n := int64(d.Size())
	for _, e := range shape {
		n = times(n, int64(e))
	}
	return n
}

func ceil(n, by int) int {
	if n <= 0 {
		return 0
	}
	return (n-1)/by + 1
}
