package device

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/tensor"
)

// Device has the methods of an accelerator that tensors need. The accelerator in software is
// a Sim; GPUs implement Device, too.
type Device interface {
	// Model returns the numbers of the device.
	Model() Model
	// Strict reports whether the device refuses tensors whose width isn't a multiple of
	// MinWidth.
	Strict() bool
	// Alloc allocates bytes at the same address in each of the banks. The name is for the
	// errors of later calls that find no room.
	Alloc(k Memory, banks []int, bytes int, name string) (Buffer, error)
	// NewQueue returns a queue without commands.
	NewQueue() Queue
	// Close releases everything. It fails while commands are queued or at work.
	Close() error
}

// Buffer is the same number of bytes at the same address in each of some banks.
type Buffer interface {
	// Device returns the device of the memory.
	Device() Device
	// Address returns the first byte in each bank.
	Address() int
	// Allocated reports whether the memory can be used: it isn't freed, and the device isn't
	// closed.
	Allocated() bool
	// Pending reports whether a command that nobody has waited for may write the memory.
	Pending() bool
	// Free releases the memory when the commands that use it are done. A second call does
	// nothing.
	Free()
}

// Queue runs commands one after the other, in parallel to other queues. A command sees the
// writes of the earlier commands of its queue. The host and other queues see its writes when
// Wait of its Event, or of a later one, has returned; another queue also by After. A command
// that fails writes nothing. Later commands aren't run: they fail too, until the queue's Wait
// reports the failure.
type Queue interface {
	// Copy moves bytes; all moves read before any writes. Bytes of the host that are read
	// must not change until the event is finished. Bytes of the host that are written change
	// in the first Wait for the event. It then calls seen, unless that is nil, and returns
	// its error, too. seen must not wait for commands.
	Copy(moves []Move, seen func() error) (Event, error)
	// Launch runs a kernel on the cores that have a shard of an argument in their L1, or on
	// all cores if none has. Sim takes a func(*Core) error; a device that compiles kernels
	// takes its own type. A kernel counts as writing its arguments. It must not wait.
	Launch(kernel any, args ...Tensor) (Event, error)
	// After makes later commands wait for an event, of any queue of the device, and see the
	// writes before it.
	After(e Event) error
	// Wait waits for all commands, and returns the first failure since the last Wait.
	Wait() error
}

// Event is a command of a queue.
type Event interface {
	// Done reports whether the command is finished.
	Done() bool
	// Wait waits until the command is finished and returns its error. It makes the writes of
	// the command, and of the commands before it, visible to all.
	Wait() error
}

// Move copies N bytes. If a Place has no Buffer, its bytes are the host's: Host[Offset:]. A
// source without either is zeros.
type Move struct {
	To, From Place
	N        int
}

// Place is a byte in a buffer, in bank number Bank of the buffer, or a byte on the host.
type Place struct {
	Buffer Buffer
	Host   []byte
	Bank   int
	Offset int
}

// Options control a device. A nil *Options means the zero value.
type Options struct {
	Strict bool // refuse tensors whose width isn't a multiple of MinWidth
}

// Open returns an accelerator in software: sim:wormhole and sim:blackhole have the numbers
// of Wormhole and Blackhole. sim:4x2 has the numbers of Wormhole, but 4 columns and 2 rows of
// cores. New takes any other numbers.
func Open(name string, opts *Options) (*Sim, error) {
	const op = "device.Open"
	text, ok := strings.CutPrefix(name, "sim:")
	m, known := modelNamed(text)
	if !ok || !known {
		return nil, fail(op, tensor.ErrSyntax, "no device is called %q; there are sim:wormhole, sim:blackhole, and sim:4x2 with any grid", name)
	}
	if err := m.check(op); err != nil {
		return nil, err
	}
	return New(m, opts)
}

// New returns an accelerator in software with the numbers of a model. It fails if there are
// no cores or banks, or too many, or if an alignment isn't a power of two.
func New(m Model, opts *Options) (*Sim, error) {
	if err := m.check("device.New"); err != nil {
		return nil, err
	}
	d := &Sim{model: m, active: map[*simQueue]bool{}, strict: opts != nil && opts.Strict}
	for k := range d.pools {
		d.pools[k] = newPool(&m, Memory(k))
	}
	return d, nil
}

// Sim is the accelerator in software. It holds the bytes of each bank, moves them on
// queues, runs Go functions on its cores, and counts the bytes that move. All methods may be called
// from several goroutines at once.
type Sim struct {
	model  Model
	strict bool

	mu      sync.Mutex // guards all that follows, and the buffers
	pools   [2]*pool
	active  map[*simQueue]bool // with commands, or with writes that nobody has waited for
	work    int                // commands queued or at work
	traffic Traffic
	closed  bool
}

// Traffic is bytes that moved: between the host and a device, between its DRAM and the L1
// of its cores, and from the L1 of one core to another's. A copy from DRAM to DRAM goes
// through a core, and counts both ways.
type Traffic struct{ ToDevice, ToHost, DRAMToL1, L1ToDRAM, CoreToCore int64 }

// String names the counts.
func (t Traffic) String() string {
	return fmt.Sprintf("%d bytes to the device, %d to the host, %d from DRAM to L1, %d from L1 to DRAM, %d between cores", t.ToDevice, t.ToHost, t.DRAMToL1, t.L1ToDRAM, t.CoreToCore)
}

func (t *Traffic) add(o Traffic) {
	t.ToDevice += o.ToDevice
	t.ToHost += o.ToHost
	t.DRAMToL1 += o.DRAMToL1
	t.L1ToDRAM += o.L1ToDRAM
	t.CoreToCore += o.CoreToCore
}

// Model returns the numbers of the device.
func (d *Sim) Model() Model { return d.model }

// Strict reports whether the device was opened with Options.Strict.
func (d *Sim) Strict() bool { return d.strict }

// Traffic returns the bytes moved since ResetTraffic. A command counts when it is done.
func (d *Sim) Traffic() Traffic {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.traffic
}

// ResetTraffic sets the counts to 0.
func (d *Sim) ResetTraffic() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.traffic = Traffic{}
}

// Bank returns the raw memory of a bank of DRAM. It panics unless there is such a bank.
func (d *Sim) Bank(i int) *Bank {
	if i < 0 || i >= d.model.DRAMBanks {
		panic(fail("device.Bank", tensor.ErrIndex, "there is no bank %d of %d", i, d.model.DRAMBanks))
	}
	return &Bank{d, d.pools[DRAM], i}
}

// Core returns a core. It panics unless it is in the grid.
func (d *Sim) Core(x, y int) *Core {
	if x < 0 || y < 0 || x >= d.model.Grid.X || y >= d.model.Grid.Y {
		panic(fail("device.Core", tensor.ErrIndex, "there is no core (%d,%d) in a grid of %dx%d", x, y, d.model.Grid.X, d.model.Grid.Y))
	}
	return &Core{Coord: Coord{x, y}, dev: d}
}

// Used returns the bytes in use in a bank.
func (d *Sim) Used(k Memory, bank int) int {
	if k > L1 || bank < 0 || bank >= d.model.Banks(k) {
		panic(fail("device.Used", tensor.ErrIndex, "there is no bank %d of %v", bank, k))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, s := range d.pools[k].banks[bank] {
		n += s.end - s.addr
	}
	return n
}

// Alloc allocates memory: see Device. If no address is free in all of the banks, the error
// wraps tensor.ErrMemory and names the resident buffers.
func (d *Sim) Alloc(k Memory, banks []int, bytes int, name string) (Buffer, error) {
	const op = "device.Alloc"
	if k > L1 || bytes < 0 {
		return nil, fail(op, tensor.ErrShape, "%d bytes of %v; want 0 or more of DRAM or L1", bytes, k)
	}
	seen := make([]bool, d.model.Banks(k))
	for _, b := range banks {
		if b < 0 || b >= len(seen) || seen[b] {
			return nil, fail(op, tensor.ErrIndex, "bank %d isn't one of the %d, or named twice", b, len(seen))
		}
		seen[b] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fail(op, tensor.ErrClosed, "%s is closed", d.model.Name)
	}
	b, err := d.pools[k].alloc(op, d, slices.Clone(banks), bytes, name)
	if err != nil {
		return nil, err
	}
	return &simBuffer{b: b}, nil
}

// simBuffer is a reference to a buffer, which Free gives back.
type simBuffer struct {
	b     *buffer
	freed bool
}

func (s *simBuffer) Device() Device { return s.b.dev }
func (s *simBuffer) Address() int   { return s.b.addr }

func (s *simBuffer) Allocated() bool {
	s.b.dev.mu.Lock()
	defer s.b.dev.mu.Unlock()
	return !s.freed && s.b.data != nil
}

func (s *simBuffer) Pending() bool {
	s.b.dev.mu.Lock()
	defer s.b.dev.mu.Unlock()
	return s.b.pending > 0
}

func (s *simBuffer) Free() {
	s.b.dev.mu.Lock()
	defer s.b.dev.mu.Unlock()
	if !s.freed {
		s.freed = true
		s.b.release()
	}
}

// Sync waits for all commands of all queues, and returns the first failure.
func (d *Sim) Sync() error {
	if err := outside("device.Sync"); err != nil {
		return err
	}
	d.mu.Lock()
	var list []*simQueue
	for q := range d.active {
		list = append(list, q)
	}
	d.mu.Unlock()
	var first error
	for _, q := range list {
		if err := q.Wait(); first == nil {
			first = err
		}
	}
	return first
}

// Close releases all memory; tensors on the device are deallocated. Bytes that were written
// and never waited for are lost. While commands are queued or at work, Close does nothing and
// fails with ErrBusy: Sync waits for them. A second call does nothing.
func (d *Sim) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if d.work > 0 {
		return fail("device.Close", ErrBusy, "%d commands of %s are queued or at work; Sync waits for them", d.work, d.model.Name)
	}
	d.closed = true
	for _, p := range d.pools {
		for _, list := range p.banks {
			for _, s := range list {
				if b := s.buf; b.data != nil {
					b.data, b.views = nil, nil
					b.memory.Close()
				}
			}
		}
		clear(p.banks)
	}
	clear(d.active)
	return nil
}
