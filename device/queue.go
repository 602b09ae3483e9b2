package device

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ashlar-go/ashlar/tensor"
)

// simQueue keeps the writes of its commands to itself until somebody waits: the log, in
// order, and in buffer.views the bytes as this queue sees them. The device's lock guards
// it.
type simQueue struct {
	dev   *Sim
	ahead []*command
	busy  bool  // a goroutine works on ahead
	err   error // of the first command that failed since the last Wait

	number  int         // of the next event
	unseen  []*simEvent // that nobody has waited for
	hosts   []*simEvent // that have something to write to the host
	late    error       // the first failure of that
	log     []write
	touched map[*buffer]bool // those with a view of this queue
}

// A write is bytes that a command wrote and not everyone sees yet.
type write struct {
	event *simEvent
	buf   *buffer
	at    int // in buf.data
	bytes []byte
}

// A command is one step of a queue. run returns its writes to buffers and, to be done
// by Wait, to the host.
type command struct {
	event *simEvent
	run   func() (writes []write, seen func() error, moved Traffic, err error)
	uses  []*buffer
}

// simEvent is a command as others see it.
type simEvent struct {
	queue   *simQueue
	number  int           // of the commands of its queue
	done    chan struct{} // closed when it is finished
	err     error
	shown   bool         // everyone sees its writes
	writes  []*buffer    // that it may write; their pending counts are given back once seen
	seen    func() error // the work of the first Wait, on the host
	waiting sync.Mutex   // guards seen and late
	late    error        // of seen
}

func (e *simEvent) Done() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (e *simEvent) Wait() error {
	if err := outside("device.Wait"); err != nil {
		return err
	}
	<-e.done
	q := e.queue
	q.dev.mu.Lock()
	if !q.dev.closed {
		q.show(e.number)
	}
	lost := !e.shown && len(e.writes) > 0
	n := 0
	for n < len(q.hosts) && q.hosts[n].number <= e.number {
		n++
	}
	hosts := slices.Clone(q.hosts[:n])
	q.dev.mu.Unlock()
	for _, h := range hosts { // in order, and when this returns they are done, whoever does them
		h.deliver()
	}
	q.dev.mu.Lock()
	for len(q.hosts) > 0 && q.hosts[0].number <= e.number {
		q.hosts[0] = nil
		q.hosts = q.hosts[1:]
	}
	q.dev.mu.Unlock()
	switch {
	case lost:
		return fail("device.Wait", tensor.ErrClosed, "%s was closed before; what the command wrote is lost", q.dev.model.Name)
	case e.late != nil:
		return e.late
	}
	return e.err
}

// deliver writes to the host, once.
func (e *simEvent) deliver() {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	if e.seen == nil {
		return
	}
	e.late = e.seen()
	e.seen = nil
	if e.late != nil {
		q := e.queue
		q.dev.mu.Lock()
		defer q.dev.mu.Unlock()
		if q.late == nil {
			q.late = e.late
		}
	}
}

// NewQueue returns a queue without commands.
func (d *Sim) NewQueue() Queue { return &simQueue{dev: d, touched: map[*buffer]bool{}} }

// add puts a command at the end. It keeps the buffers that it uses until it is done; those
// it writes are pending until somebody has waited.
func (q *simQueue) add(op string, uses, writes []*buffer, run func() ([]write, func() error, Traffic, error)) (*simEvent, error) {
	d := q.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fail(op, tensor.ErrClosed, "%s is closed", d.model.Name)
	}
	for _, b := range uses {
		if b.data == nil {
			return nil, fail(op, tensor.ErrClosed, "%s is deallocated", b.name)
		}
	}
	e := &simEvent{queue: q, number: q.number, done: make(chan struct{}), writes: writes}
	q.number++
	for _, b := range uses {
		b.refs++
	}
	for _, b := range writes {
		b.pending++
	}
	q.unseen = append(q.unseen, e)
	q.ahead = append(q.ahead, &command{e, run, uses})
	d.work++
	d.active[q] = true
	if !q.busy {
		q.busy = true
		go q.work()
	}
	return e, nil
}

// work does the commands until there are none.
func (q *simQueue) work() {
	d := q.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(q.ahead) > 0 {
		c := q.ahead[0]
		e := c.event
		var writes []write
		var seen func() error
		var moved Traffic
		if q.err != nil {
			e.err = fmt.Errorf("not done, as an earlier command of the queue failed: %w", q.err)
		} else {
			d.mu.Unlock()
			writes, seen, moved, e.err = c.run()
			d.mu.Lock()
		}
		if e.err != nil {
			if q.err == nil {
				q.err = e.err
			}
		} else {
			for _, w := range writes {
				w.event = e
				copy(q.own(w.buf)[w.at:], w.bytes)
				q.log = append(q.log, w)
			}
			d.traffic.add(moved)
		}
		if e.seen = seen; seen != nil {
			q.hosts = append(q.hosts, e)
		}
		for _, b := range c.uses {
			b.release()
		}
		q.ahead[0] = nil
		q.ahead = q.ahead[1:]
		d.work--
		close(e.done)
	}
	q.busy = false
}

// bytes returns a buffer as the queue sees it.
func (q *simQueue) bytes(b *buffer) []byte {
	if v := b.views[q]; v != nil {
		return v
	}
	return b.data
}

// own returns the queue's view of a buffer for writing.
func (q *simQueue) own(b *buffer) []byte {
	v := b.views[q]
	if v == nil {
		v = bytes.Clone(b.data)
		if b.views == nil {
			b.views = map[*simQueue][]byte{}
		}
		b.views[q] = v
		q.touched[b] = true
	}
	return v
}

// show lets everyone see the writes of the commands up to a number.
func (q *simQueue) show(number int) {
	n := 0
	for ; n < len(q.log) && q.log[n].event.number <= number; n++ {
		w := &q.log[n]
		if w.buf.data == nil {
			continue // deallocated since
		}
		copy(w.buf.data[w.at:], w.bytes)
		for other, v := range w.buf.views {
			if other != q {
				copy(v[w.at:], w.bytes)
			}
		}
	}
	clear(q.log[:n])
	if q.log = q.log[n:]; len(q.log) == 0 {
		for b := range q.touched {
			delete(b.views, q)
		}
		clear(q.touched)
	}
	n = 0
	for ; n < len(q.unseen) && q.unseen[n].number <= number; n++ {
		q.unseen[n].shown = true
		for _, b := range q.unseen[n].writes {
			b.pending--
		}
	}
	clear(q.unseen[:n])
	if q.unseen = q.unseen[n:]; len(q.unseen) == 0 {
		delete(q.dev.active, q)
	}
}

func (q *simQueue) Wait() error {
	if err := outside("device.Wait"); err != nil {
		return err
	}
	q.dev.mu.Lock()
	list := append(slices.Clone(q.unseen), q.hosts...)
	q.dev.mu.Unlock()
	var first error
	for _, e := range list {
		if err := e.Wait(); first == nil {
			first = err
		}
	}
	q.dev.mu.Lock()
	defer q.dev.mu.Unlock()
	switch { // of commands that were waited for already
	case q.err != nil:
		first = q.err
	case first == nil:
		first = q.late
	}
	q.err, q.late = nil, nil
	return first
}

func (q *simQueue) After(e Event) error {
	const op = "device.After"
	if e == nil {
		return fail(op, ErrSpace, "there is no event; Copy and Launch return one")
	}
	other, ok := e.(*simEvent)
	if !ok || other.queue.dev != q.dev {
		return fail(op, ErrSpace, "the event is of another device; Wait waits for it on the host")
	}
	_, err := q.add(op, nil, nil, func() ([]write, func() error, Traffic, error) {
		<-other.done
		if other.err != nil {
			return nil, nil, Traffic{}, other.err
		}
		q.dev.mu.Lock()
		defer q.dev.mu.Unlock()
		other.queue.show(other.number)
		return nil, nil, Traffic{}, nil
	})
	return err
}

// found is a place that has been checked.
type found struct {
	buf  *buffer // nil: the host, or zeros
	at   int     // in buf.data
	bank int
	host []byte
}

func (p *Place) find(op string, d *Sim, n int) (found, error) {
	if p.Buffer == nil {
		if p.Host == nil {
			return found{}, nil
		}
		if n < 0 || p.Offset < 0 || p.Offset > len(p.Host) || n > len(p.Host)-p.Offset {
			return found{}, fail(op, tensor.ErrIndex, "%d bytes from %d are outside the %d of the host", n, p.Offset, len(p.Host))
		}
		return found{host: p.Host[p.Offset:][:n]}, nil
	}
	s, ok := p.Buffer.(*simBuffer)
	if !ok || s.b.dev != d {
		return found{}, fail(op, ErrSpace, "a buffer of another device; copy to the host first")
	}
	b := s.b
	if !s.Allocated() { // commands at work may still hold b
		return found{}, fail(op, tensor.ErrClosed, "%s is deallocated", b.name)
	}
	if n < 0 || p.Bank < 0 || p.Bank >= len(b.banks) || p.Offset < 0 || p.Offset > b.bytes || n > b.bytes-p.Offset {
		return found{}, fail(op, tensor.ErrIndex, "%d bytes from %d of bank %d: %s has %d banks of %d bytes", n, p.Offset, p.Bank, b.name, len(b.banks), b.bytes)
	}
	return found{buf: b, at: p.Bank*b.bytes + p.Offset, bank: b.banks[p.Bank]}, nil
}

// moved counts a move of n bytes.
func moved(to, from *found, n int) (t Traffic) {
	bytes := int64(n)
	switch {
	case to.buf == nil:
		if from.buf != nil {
			t.ToHost = bytes
		}
	case from.buf == nil:
		if from.host != nil {
			t.ToDevice = bytes
		}
	default:
		a, b := from.buf.pool.kind, to.buf.pool.kind
		if a == DRAM {
			t.DRAMToL1 = bytes
		}
		if b == DRAM {
			t.L1ToDRAM = bytes
		}
		if a == L1 && b == L1 && from.bank != to.bank {
			t.CoreToCore = bytes
		}
	}
	return t
}

func (q *simQueue) Copy(moves []Move, seen func() error) (Event, error) {
	const op = "device.Copy"
	type step struct {
		to, from found
		n        int
	}
	steps := make([]step, len(moves))
	uses, writes := map[*buffer]bool{}, map[*buffer]bool{}
	total := 0
	for i := range moves {
		m := &moves[i]
		to, err := m.To.find(op, q.dev, m.N)
		if err != nil {
			return nil, err
		}
		from, err := m.From.find(op, q.dev, m.N)
		switch {
		case err != nil:
			return nil, err
		case to.buf == nil && to.host == nil && m.N > 0:
			return nil, fail(op, tensor.ErrIndex, "%d bytes go nowhere; give a buffer or bytes of the host", m.N)
		case m.N < 0 || m.N > maxInt-total:
			return nil, fail(op, tensor.ErrOverflow, "%d bytes, in all more than an int holds", m.N)
		}
		total += m.N
		for _, b := range []*buffer{to.buf, from.buf} {
			if b != nil {
				uses[b] = true
			}
		}
		if to.buf != nil {
			writes[to.buf] = true
		}
		steps[i] = step{to, from, m.N}
	}
	e, err := q.add(op, slices.Collect(maps.Keys(uses)), slices.Collect(maps.Keys(writes)), func() ([]write, func() error, Traffic, error) {
		all := make([]byte, total)
		var sum Traffic
		var out []write
		q.dev.mu.Lock()
		at := 0
		for i := range steps {
			s := &steps[i]
			part := all[at : at+s.n]
			at += s.n
			if s.from.buf != nil {
				copy(part, q.bytes(s.from.buf)[s.from.at:])
			} else {
				copy(part, s.from.host)
			}
			if s.to.buf != nil {
				out = append(out, write{buf: s.to.buf, at: s.to.at, bytes: part})
			}
			sum.add(moved(&s.to, &s.from, s.n))
		}
		q.dev.mu.Unlock()
		return out, func() error {
			at := 0
			for i := range steps {
				s := &steps[i]
				copy(s.to.host, all[at:at+s.n])
				at += s.n
			}
			if seen != nil {
				return seen()
			}
			return nil
		}, sum, nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}
