package device

import (
	"runtime"
	"slices"

	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/layout"
	"github.com/ashlar-go/ashlar/mem"
	"github.com/ashlar-go/ashlar/pack"
	"github.com/ashlar-go/ashlar/tensor"
)

// ToDevice returns a copy of x on a device, placed by the config: a tensor as rows, a
// pack.Tensor as it is stored. If x is on the device already, with the same config, ToDevice
// returns another handle instead of a copy. It fails as Empty does, and if x is closed.
func ToDevice(x tensor.Any, dev Device, c MemoryConfig) (Tensor, error) {
	const op = "device.ToDevice"
	var s pack.Spec
	var err error
	if x.IsZero() {
		return Tensor{}, fail(op, tensor.ErrDType, "there is no tensor: it is the zero value")
	}
	_, there := x.Foreign().(Tensor)
	switch t := x.Foreign().(type) {
	case Tensor:
		if err := t.ready(op); err != nil {
			return Tensor{}, err
		}
		if s = t.p.spec; t.view {
			s, err = pack.NewSpec(t.DType(), t.lay.Shape(), nil)
		} else if exec.Same(t.Device(), dev) && t.p.config.Equal(c) {
			return t.Share()
		}
	case pack.Tensor:
		s = t.Spec
	default:
		s, err = pack.NewSpec(x.DType(), x.Shape(), nil)
	}
	if err != nil {
		return Tensor{}, tensor.Wrap(op, err)
	}
	t, err := allocate(op, s, dev, c)
	if err != nil {
		return Tensor{}, err
	}
	if !there && !s.Identical(t.p.spec) {
		var wide pack.Tensor
		if wide, err = widened(x, t.p.spec); err == nil {
			defer wide.Close()
			x = wide.Any()
		}
	}
	if err == nil {
		err = copyNow(op, t.Any(), x)
	}
	if err != nil {
		t.Deallocate()
		return Tensor{}, tensor.Wrap(op, err)
	}
	return t, nil
}

// widened returns a copy of rows with the padding that shards want, of zeros.
func widened(x tensor.Any, s pack.Spec) (pack.Tensor, error) {
	return pack.Pack(x, &pack.Options{Format: s.Format(), Padded: s.Padded().Shape()})
}

// FromDevice returns a copy of t on the host with the storage of its Spec. There, pages are
// in their order, for any banks. A View becomes rows. A bool that was never written is true.
// FromDevice fails if t is deallocated, and with ErrPending while a queue writes it.
func FromDevice(t Tensor) (pack.Tensor, error) {
	const op = "device.FromDevice"
	if err := t.ready(op); err != nil {
		return pack.Tensor{}, err
	}
	s, err := t.p.spec, error(nil)
	if t.view {
		s, err = pack.NewSpec(t.DType(), t.lay.Shape(), nil)
	}
	if err != nil {
		return pack.Tensor{}, tensor.Wrap(op, err)
	}
	buf, err := mem.Alloc(s.Bytes())
	if err != nil {
		return pack.Tensor{}, fail(op, tensor.ErrMemory, "%v: %v", s, err)
	}
	out, err := pack.FromBytes(s, buf, 0)
	if err != nil {
		return pack.Tensor{}, tensor.Wrap(op, err)
	}
	if err := copyNow(op, out.Any(), t.Any()); err != nil {
		return pack.Tensor{}, err
	}
	return out, nil
}

// CopyToDevice copies a tensor of the host to one on a device with the same shape, type,
// tile and format. It fails with ErrSpec if these differ, with ErrPending while a queue
// writes dst, and if one of the tensors is deallocated or closed. After an error dst is
// unchanged.
func CopyToDevice(dst Tensor, src tensor.Any) error {
	return copyNow("device.CopyToDevice", dst.Any(), src)
}

// CopyToHost copies a tensor on a device to one of the host: see CopyToDevice. It also fails
// if dst is read-only.
func CopyToHost(dst tensor.Any, src Tensor) error {
	return copyNow("device.CopyToHost", dst, src.Any())
}

// copyNow copies on a queue of its own, and waits.
func copyNow(op string, dst, src tensor.Any) error {
	if err := outside(op); err != nil {
		return err
	}
	var q Queue
	for _, a := range []tensor.Any{dst, src} {
		if t, ok := a.Foreign().(Tensor); ok {
			if err := t.ready(op); err != nil {
				return err
			}
			q = t.Device().NewQueue()
		}
	}
	if q == nil {
		return fail(op, ErrSpace, "both tensors are on the host; tensor.Copy copies there")
	}
	e, err := copyBy(op, q, dst, src)
	if err != nil {
		return err
	}
	if err := e.Wait(); err != nil {
		return tensor.Wrap(op, err)
	}
	return nil
}

// Copy queues a copy between tensors of the same shape, type, tile and format. One of them
// is on a device, the other there or on the host. A dst on the host changes in the event's
// Wait. A dst on a device is pending until then, and to read it without the queue is an
// error. Copy fails as CopyToDevice does, but takes tensors that a queue writes.
func Copy(q Queue, dst, src tensor.Any) (Event, error) {
	const op = "device.Copy"
	if q == nil {
		return nil, fail(op, ErrSpace, "there is no queue; NewQueue of a device makes one")
	}
	return copyBy(op, q, dst, src)
}

func copyBy(op string, q Queue, dst, src tensor.Any) (Event, error) {
	defer runtime.KeepAlive([2]tensor.Any{dst, src}) // the handles, until the command holds the memory
	d, s, err := sides(op, dst, src, "tensor.Copy")
	if err != nil {
		return nil, err
	}
	if s.t == nil && !s.whole { // in order, it moves page by page
		rows, err := pack.Pack(src, nil)
		if err != nil {
			return nil, tensor.Wrap(op, err)
		}
		defer rows.Close()
		if s, err = newSide(op, rows.Any(), false); err != nil {
			return nil, err
		}
	}
	if err := sameSpec(op, d, s); err != nil {
		return nil, err
	}
	var moves []Move
	if d.whole && s.whole && d.spec.Identical(s.spec) && (d.t == nil || s.t == nil || d.t.p.page == s.t.p.page) {
		p := s.t
		if p == nil {
			p = d.t
		}
		n := p.p.PageBytes()
		for i := range p.p.Pages() {
			moves = join(moves, Move{d.page(i, n), s.page(i, n), n})
		}
		return d.queue(q, moves)
	}
	if f := d.spec.Format(); f != nil {
		return nil, fail(op, ErrSpec, "%v to %v: pages of %s must be the same", s.spec, d.spec, f.Name())
	}
	size := d.spec.DType().Size()
	to, from := d.offsets(), s.offsets()
	for i := range to {
		moves = join(moves, Move{d.element(to[i]), s.element(from[i]), size})
	}
	return d.queue(q, moves)
}

// CopyFromAsync queues the copy of tensor.CopyFromAsync, bound, base offset, fill and
// swizzle included, between tensors one of which is on a device: see Copy. Offsets are those
// in the storage: of a View its layout's, of a whole tensor, which must not be padded or
// encoded, the offsets of pack.Spec.Storage. It fails where that panics, and as Copy does.
func CopyFromAsync(q Queue, dst, src tensor.Any, o tensor.AsyncCopy) (Event, error) {
	const op = "device.CopyFromAsync"
	if q == nil {
		return nil, fail(op, ErrSpace, "there is no queue; NewQueue of a device makes one")
	}
	d, s, err := sides(op, dst, src, "tensor.CopyFromAsync")
	if err != nil {
		return nil, err
	}
	if d.spec.DType() != s.spec.DType() {
		return nil, fail(op, ErrSpec, "%s to %s: the types differ", tensor.Describe(src), tensor.Describe(dst))
	}
	for _, x := range []*side{d, s} {
		if x.spec.Format() != nil || x.lay.Size() != product(x.shape) {
			return nil, fail(op, tensor.ErrView, "%v is padded or encoded; View gives its storage a layout", x.spec)
		}
	}
	defer runtime.KeepAlive([2]tensor.Any{dst, src})
	size := d.spec.DType().Size()
	var moves []Move
	err = o.Moves(d.lay, s.lay, func(to, from int, copied bool) {
		m := Move{To: d.element(to), N: size}
		if copied {
			m.From = s.element(from)
		}
		moves = join(moves, m)
	})
	if err != nil {
		return nil, tensor.Wrap(op, err)
	}
	return d.queue(q, moves)
}

// join appends a move, to the last one where it goes on there.
func join(moves []Move, m Move) []Move {
	if k := len(moves) - 1; k >= 0 {
		if l := &moves[k]; l.To.follows(&m.To, l.N) && l.From.follows(&m.From, l.N) {
			l.N += m.N
			return moves
		}
	}
	return append(moves, m)
}

// follows reports whether o begins n bytes after p.
func (p *Place) follows(o *Place, n int) bool {
	if p.Bank != o.Bank || len(p.Host) != len(o.Host) || !exec.Same(p.Buffer, o.Buffer) {
		return false
	}
	return o.Offset == p.Offset+n || p.Buffer == nil && p.Host == nil
}

// A side of a copy is a tensor on a device or on the host.
type side struct {
	spec  pack.Spec
	shape []int
	t     *Tensor                // nil on the host
	host  []byte                 // the bytes that a queue reads or writes in place of the tensor's memory
	first int                    // the byte in host of offset 0 of lay
	lay   layout.Layout          // the offsets of the elements in the storage, padding included where whole
	whole bool                   // lay is the storage's of spec
	bytes func() ([]byte, error) // of the host, as they are
}

// sides returns the sides of a copy; onHost does it when none is on a device.
func sides(op string, dst, src tensor.Any, onHost string) (d, s *side, err error) {
	if d, err = newSide(op, dst, true); err != nil {
		return nil, nil, err
	}
	if s, err = newSide(op, src, false); err != nil {
		return nil, nil, err
	}
	if d.t == nil && s.t == nil {
		return nil, nil, fail(op, ErrSpace, "both tensors are on the host; %s copies there", onHost)
	}
	return d, s, nil
}

func newSide(op string, a tensor.Any, written bool) (*side, error) {
	if a.IsZero() {
		return nil, fail(op, tensor.ErrDType, "there is no tensor: it is the zero value")
	}
	s := &side{shape: a.Shape(), lay: a.Layout()}
	switch x := a.Foreign().(type) {
	case Tensor:
		if err := x.open(op); err != nil {
			return nil, err
		}
		s.t, s.spec, s.whole = &x, x.p.spec, !x.view
		if s.whole {
			s.lay = s.spec.Storage()
			return s, nil
		}
		s.first = x.off
	case pack.Tensor:
		if err := s.reach(op, a, written); err != nil {
			return nil, err
		}
		s.spec, s.lay, s.whole = x.Spec, x.Spec.Storage(), true
		return s, nil
	default:
		if err := s.reach(op, a, written); err != nil {
			return nil, err
		}
		s.whole = s.lay.IsRowMajor()
	}
	var err error
	if s.spec, err = pack.NewSpec(a.DType(), s.shape, nil); err != nil {
		return nil, tensor.Wrap(op, err)
	}
	return s, nil
}

// sameSpec reports the difference between the tensors of a copy.
func sameSpec(op string, d, s *side) error {
	a, b := d.spec, s.spec
	if d.t != nil && !d.whole {
		a, _ = pack.NewSpec(a.DType(), d.shape, nil)
	}
	if s.t != nil && !s.whole {
		b, _ = pack.NewSpec(b.DType(), s.shape, nil)
	}
	what := ""
	switch {
	case !slices.Equal(d.shape, s.shape):
		what = "the shapes differ"
	case a.TypeName() != b.TypeName():
		what = "the types differ; op.Cast and pack.Pack convert on the host"
	case a.Tile() != b.Tile():
		what = "the tiles differ; pack.Pack makes others on the host"
	case a.Format() != nil && !a.Identical(b):
		what = "the formats or the padding differ; pack.Pack makes others on the host"
	default:
		d.spec, s.spec = a, b
		return nil
	}
	return fail(op, ErrSpec, "%v to %v: %s", b, a, what)
}

// page is where a page begins.
func (s *side) page(i, n int) Place {
	if s.t == nil {
		return Place{Host: s.host, Offset: i * n}
	}
	at, offset := s.t.p.at(i)
	return Place{Buffer: s.t.h.root.buf, Bank: at, Offset: offset}
}

// element is where the element at an offset of the layout is.
func (s *side) element(off int) Place {
	if s.t == nil {
		return Place{Host: s.host, Offset: s.first + off*s.spec.DType().Size()}
	}
	at, offset := s.t.p.element(s.first + off)
	return Place{Buffer: s.t.h.root.buf, Bank: at, Offset: offset}
}

// offsets returns the offsets of all elements, in row-major order.
func (s *side) offsets() []int {
	list := make([]int, 0, product(s.shape))
	at := make([]int, s.lay.Rank())
	lead := s.lay.Rank() - len(s.shape)
	for range cap(list) {
		off, _ := s.lay.At(at)
		list = append(list, off)
		for k := len(s.shape) - 1; k >= 0; k-- {
			if at[lead+k]++; at[lead+k] < s.shape[k] {
				break
			}
			at[lead+k] = 0
		}
	}
	return list
}

// reach finds the bytes of a tensor on the host, which queues don't touch: they get a copy
// of the bytes to read, and bytes for the elements to be written.
func (s *side) reach(op string, a tensor.Any, written bool) error {
	s.bytes = func() ([]byte, error) {
		b, first, err := hostBytes(op, a, written)
		s.first = first
		return b, err
	}
	b, err := s.bytes()
	switch {
	case err != nil:
		return err
	case written:
		s.host = make([]byte, len(b))
	default:
		s.host = append([]byte{}, b...)
	}
	runtime.KeepAlive(a)
	return nil
}

// hostBytes returns the memory of a tensor on the host, from its lowest element to the highest, and the byte where offset 0 is.
func hostBytes(op string, a tensor.Any, written bool) (b []byte, first int, err error) {
	readOnly := a.IsReadOnly()
	if p, ok := a.Foreign().(pack.Tensor); ok {
		if a, err = p.Data(); err != nil {
			return nil, 0, tensor.Wrap(op, err)
		}
		readOnly = p.Memory().ReadOnly
	}
	if tensor.Try(func() { b, first = a.Memory() }) != nil {
		return nil, 0, fail(op, tensor.ErrClosed, "%s is closed, or has no elements of its own", tensor.Describe(a))
	}
	if written && readOnly {
		return nil, 0, fail(op, tensor.ErrReadOnly, "%s is read-only; copy to another", tensor.Describe(a))
	}
	lo, hi := a.LayoutRef().Span()
	size := a.DType().Size()
	return b[(first+lo)*size : (first+hi+1)*size], -lo * size, nil
}

// queue queues the moves to d.
func (s *side) queue(q Queue, moves []Move) (Event, error) {
	if s.t != nil {
		return q.Copy(moves, nil)
	}
	return q.Copy(moves, func() error {
		b, err := s.bytes() // it may have been closed since
		if err != nil {
			return err
		}
		for i := range moves {
			to := &moves[i].To
			part := b[to.Offset : to.Offset+moves[i].N]
			if copy(part, to.Host[to.Offset:]); s.spec.DType().IsPartial() {
				s.spec.DType().Mend(part) // no Go program can hold another bool
			}
		}
		runtime.KeepAlive(s)
		return nil
	})
}
