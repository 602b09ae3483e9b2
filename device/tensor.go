package device

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/internal/core/reach"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// Tensor is a tensor on a device. b := a is the same handle. Share and View make other
// handles on the same memory, which is released when all handles are deallocated or
// unreachable. The zero value has no memory. Any makes a run-time tensor of it. No operator
// takes that; FromDevice copies it to the host.
type Tensor struct {
	h    *handle
	p    *Placement
	view bool // elements at off and lay of the storage, instead of all
	off  int
	lay  layout.Layout
}

// Any returns t as a tensor whose elements are no []T of a Go type: see reach.Foreign.
func (t Tensor) Any() tensor.Any { return reach.Foreign(t, t.DType(), t.Layout()) }

// handle is the part of a tensor that Deallocate ends.
type handle struct {
	root *root
	done *atomic.Bool // apart, so that the cleanup doesn't keep the handle
}

// root is a buffer and how many handles are on it.
type root struct {
	buf     Buffer
	handles atomic.Int64
}

// newHandle returns another handle on r.
func newHandle(r *root) *handle {
	r.handles.Add(1)
	h := &handle{r, new(atomic.Bool)}
	runtime.AddCleanup(h, func(done *atomic.Bool) { r.drop(done) }, h.done)
	return h
}

// drop ends a handle, once.
func (r *root) drop(done *atomic.Bool) {
	if done.CompareAndSwap(false, true) && r.handles.Add(-1) == 0 {
		r.buf.Free()
	}
}

// Empty returns a tensor on a device without writing to it. It fails as Place does. If there
// is no memory, the error wraps tensor.ErrMemory and names the resident buffers. On a Strict
// device Empty fails if the width isn't a multiple of MinWidth.
func Empty(s pack.Spec, dev Device, c MemoryConfig) (Tensor, error) {
	return allocate("device.Empty", s, dev, c)
}

func allocate(op string, s pack.Spec, dev Device, c MemoryConfig) (Tensor, error) {
	if dev == nil {
		return Tensor{}, fail(op, ErrSpace, "there is no device; Open gives one")
	}
	p, err := c.Place(s, dev.Model())
	if err != nil {
		return Tensor{}, tensor.Wrap(op, err)
	}
	if _, width := p.spec.PhysicalShape(); dev.Strict() {
		if least := MinWidth(s.DType(), s.Format()); width%least != 0 {
			return Tensor{}, fail(op, tensor.ErrAlign, "%v is %d wide; on a strict device the width of %s is a multiple of %d", p.spec, width, s.TypeName(), least)
		}
	}
	name := fmt.Sprintf("%v, %v", p.spec, p.config)
	buf, err := dev.Alloc(c.Memory, p.banks, p.BankBytes(), name)
	if errors.Is(err, tensor.ErrMemory) {
		ram.Sweep() // tensors that nobody can reach any more may be there still
		buf, err = dev.Alloc(c.Memory, p.banks, p.BankBytes(), name)
	}
	if err != nil {
		return Tensor{}, tensor.Wrap(op, err)
	}
	return Tensor{h: newHandle(&root{buf: buf}), p: &p}, nil
}

// open reports a tensor that has no memory.
func (t *Tensor) open(op string) error {
	switch {
	case t.h == nil:
		return fail(op, tensor.ErrClosed, "the tensor is the zero value; ToDevice makes one")
	case t.h.done.Load():
		return fail(op, tensor.ErrClosed, "the tensor is deallocated; Share before Deallocate keeps another handle")
	case !t.h.root.buf.Allocated():
		return fail(op, tensor.ErrClosed, "%s is closed", t.h.root.buf.Device().Model().Name)
	}
	return nil
}

// ready is open for a use of t outside the queue that writes it.
func (t *Tensor) ready(op string) error {
	if err := t.open(op); err != nil {
		return err
	}
	if t.h.root.buf.Pending() {
		return fail(op, ErrPending, "%v is being written by a queue; Wait for the event first", t.p.spec)
	}
	return nil
}

// Share returns another handle on the same memory, which stays until this handle is
// deallocated, too. It fails if t is deallocated.
func (t Tensor) Share() (Tensor, error) {
	if err := t.open("device.Share"); err != nil {
		return Tensor{}, err
	}
	defer runtime.KeepAlive(t.h) // the last handle, until there is another
	t.h = newHandle(t.h.root)
	return t, nil
}

// View returns a tensor over a part of t's memory, with its own handle: the elements at the
// offsets of a layout, counted from off. Offsets are in the order of the storage of a
// pack.Tensor, rows or tiles with their padding, for any banks. View fails if an offset is
// outside, if a format encodes the elements, and if t is deallocated.
func (t Tensor) View(off int, lay layout.Layout) (Tensor, error) {
	const op = "device.View"
	if err := t.open(op); err != nil {
		return Tensor{}, err
	}
	if f := t.p.spec.Format(); f != nil {
		return Tensor{}, fail(op, tensor.ErrView, "%s are no elements that a tensor holds", f.Name())
	}
	n := t.p.spec.StorageLen()
	lo, hi := lay.Span()
	if off < 0 || off > n || lo < -off || hi >= n-off {
		return Tensor{}, fail(op, tensor.ErrShape, "%v from element %d reaches outside the %d elements of the buffer", lay, off, n)
	}
	defer runtime.KeepAlive(t.h)
	t.h = newHandle(t.h.root)
	t.view, t.off, t.lay = true, off, lay
	return t, nil
}

// DType returns the type of the values: float32 if a format encodes them.
func (t Tensor) DType() dtype.DType {
	if t.p == nil {
		return dtype.Invalid
	}
	return t.p.spec.DType()
}

// Layout returns the layout of a View, and else the row-major one of the shape.
func (t Tensor) Layout() layout.Layout {
	if t.view || t.p == nil {
		return t.lay
	}
	return t.p.spec.Layout()
}

// Rank returns the number of axes.
func (t Tensor) Rank() int {
	lay := t.Layout()
	return lay.Rank()
}

// Dim returns the extent of an axis; negative numbers count from the end. It panics if there
// is no such axis.
func (t Tensor) Dim(axis int) int {
	lay := t.Layout()
	if axis < -lay.Rank() || axis >= lay.Rank() {
		panic(fail("device.Dim", tensor.ErrAxis, "there is no axis %d of rank %d", axis, lay.Rank()))
	}
	if axis < 0 {
		axis += lay.Rank()
	}
	return lay.Dim(axis)
}

// Placement returns the places of the memory's pages, nil for the zero value.
func (t Tensor) Placement() *Placement { return t.p }

// Spec returns the description of the tensor in the memory. For a View, it is the
// description of the viewed tensor.
func (t Tensor) Spec() pack.Spec {
	if t.p == nil {
		return pack.Spec{}
	}
	return t.p.spec
}

// MemoryConfig returns the config; for the zero value, the config of DRAM.
func (t Tensor) MemoryConfig() MemoryConfig {
	if t.p == nil {
		return MemoryConfig{}
	}
	return t.p.config
}

// Device returns the device of the tensor, nil for the zero value.
func (t Tensor) Device() Device {
	if t.h == nil {
		return nil
	}
	return t.h.root.buf.Device()
}

// Address returns the first byte of the tensor's memory in each of its banks. It fails if the
// tensor is deallocated.
func (t Tensor) Address() (int, error) {
	if err := t.open("device.Address"); err != nil {
		return 0, err
	}
	return t.h.root.buf.Address(), nil
}

// Buffer returns the memory, and the element of its storage from which the Layout's offsets
// count, which is 0 except for a View. Devices need both for the arguments of kernels. The
// caller must not free the memory. Buffer fails if the tensor is deallocated.
func (t Tensor) Buffer() (b Buffer, first int, err error) {
	if err := t.open("device.Buffer"); err != nil {
		return nil, 0, err
	}
	return t.h.root.buf, t.off, nil
}

// IsAllocated reports whether the tensor can be used: this handle isn't deallocated, and the
// device isn't closed.
func (t Tensor) IsAllocated() bool { return t.open("") == nil }

// Deallocate ends this handle: every later use is an error. The memory is released with the
// last handle, when the commands that use it are done. A second call does nothing.
func (t Tensor) Deallocate() {
	if t.h != nil {
		t.h.root.drop(t.h.done)
	}
}

// Close is Deallocate, for the Close of Any.
func (t Tensor) Close() error {
	t.Deallocate()
	return nil
}

// Storage describes the memory like the storage of a tensor on the host. Its Kind is
// mem.Device, and Bytes counts the bytes of all banks. It panics if the tensor is deallocated.
func (t Tensor) Storage() tensor.Storage {
	if err := t.open("device.Storage"); err != nil {
		panic(err)
	}
	_, align := t.p.model.bytes(t.p.config.Memory)
	return tensor.Storage{Kind: mem.Device, Bytes: len(t.p.banks) * t.p.BankBytes(), Align: align}
}

// Space is the place of a tensor's elements: the host, or a memory of a device.
type Space struct {
	Memory Memory
	Device Device  // nil on the host
	Banks  []Coord // the banks with pages of the tensor: in L1, cores; nil on the host
}

// String writes host, DRAM of wormhole, or L1 of wormhole, 4 cores from (0,0).
func (s Space) String() string {
	if s.Device == nil {
		return s.Memory.String()
	}
	text := s.Memory.String() + " of " + s.Device.Model().Name
	if s.Memory == L1 && len(s.Banks) > 0 {
		text += fmt.Sprintf(", %d cores from %v", len(s.Banks), s.Banks[0])
	}
	return text
}

// SpaceOf returns the place of a tensor's elements.
func SpaceOf(a tensor.Any) Space {
	if t, ok := a.Foreign().(Tensor); ok {
		return t.Space()
	}
	return Space{Memory: Host}
}

// Space returns the place of the elements. For the zero value, which has none, it returns the host.
func (t Tensor) Space() Space {
	if t.h == nil {
		return Space{Memory: Host}
	}
	s := Space{Memory: t.p.config.Memory, Device: t.Device()}
	for _, bank := range t.p.banks[:min(t.p.count, len(t.p.banks))] {
		s.Banks = append(s.Banks, t.p.model.Coord(s.Memory, bank))
	}
	return s
}

// String describes the tensor for people:
//
//	bfloat16[64,64] in tiles of 32×32 in L1 of wormhole, 4 cores from (0,0)
func (t Tensor) String() string {
	switch {
	case t.h == nil:
		return "device.Tensor{}"
	case t.h.done.Load():
		return t.p.spec.String() + ", deallocated"
	case t.view:
		return fmt.Sprintf("%v of %v in %v", t.lay, t.p.spec, t.Space())
	}
	return t.p.spec.String() + " in " + t.Space().String()
}
