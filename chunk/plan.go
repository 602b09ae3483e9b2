package chunk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/exec"
	"github.com/ashlar-go/ashlar/tensor"
)

// Target is where an array is written: a new Zarr array of version 3 at a path of a store.
type Target struct {
	Array      Array
	Store      zarr.Store
	Path       string
	Codecs     []zarr.Codec   // of a chunk; nil: zstd at level 3, with a checksum
	Attributes map[string]any // besides the plan's identity, which stands in ashlar_plan
}

// Options bounds a plan.
type Options struct {
	Memory int64      // the most bytes that a task may hold; 0: 1 GiB
	Work   zarr.Store // holds the arrays between stages, in a folder of the plan's identity; nil: the first target's store
}

// A Plan is stages of tasks. It is a value that doesn't change; making it reads and writes nothing.
type Plan struct {
	stages []*stage
	memory int64
	id     string
	work   zarr.Store
}

// stage makes one array, by a task for each region of it.
type stage struct {
	name   string
	node   *node
	region []int // of a task: whole chunks of the node's
	grid   []int // of regions
	tasks  int
	peak   int64
	read   int64
	store  zarr.Store
	path   string
	meta   zarr.Metadata
	target bool
	after  []int // the stages whose arrays it reads

	mu   sync.Mutex
	open *zarr.Array // once it is there
}

// array opens the array that the stage makes.
func (s *stage) array(ctx context.Context) (*zarr.Array, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		a, err := zarr.Open(ctx, s.store, s.path, &zarr.Options{Workers: 1, Unfinished: true, Whole: true})
		if err != nil {
			return nil, err
		}
		s.open = a
	}
	return s.open, nil
}

// stored is an array that an earlier stage makes.
type stored struct{ stage *stage }

func (s *stored) text() string { return "stored" }

func (s *stored) eval(e *evaluator, n *node, b box) (tensor.Any, error) {
	a, err := s.stage.array(e.ctx)
	if err != nil {
		return tensor.Any{}, err
	}
	t, err := a.Slice(e.ctx, b.from, b.to)
	if errors.Is(err, zarr.ErrAbsent) {
		err = fmt.Errorf("%w; a run with Resume makes it again", err)
	}
	return e.own(t), err
}

func (s *stored) cost(n *node, b box) cost { return readCost(n, b) }

// planner makes the stages of a plan.
type planner struct {
	p    *Plan
	made map[[sha256.Size]byte]*node // the node in place of an array: itself over stored arrays, or a stored array
	uses map[[sha256.Size]byte]uses
	kept map[[sha256.Size]byte]*stage // that make whole arrays
}

// uses is who reads an array: how many others, and whether one of them reads it at other places than it has itself, as a slice.
type uses struct {
	count int
	moved bool
}

// NewPlan plans how targets are made. It refuses a task that would hold more than Options.Memory, with an
// error that wraps ErrMemory and names chunks that would do.
func NewPlan(opts *Options, targets ...Target) (*Plan, error) {
	p := &Plan{}
	if opts != nil {
		p.memory, p.work = opts.Memory, opts.Work
	}
	if p.memory == 0 {
		p.memory = 1 << 30
	}
	if len(targets) == 0 {
		return nil, fail("NewPlan", tensor.ErrValue, "there is no target")
	}
	h := sha256.New()
	fmt.Fprintln(h, "2") // goes up when the tree of reductions, or the results of tasks, change
	for i, t := range targets {
		if err := t.Array.Err(); err != nil {
			return nil, err
		}
		if t.Store == nil {
			return nil, fail("NewPlan", tensor.ErrValue, "target %d has no store", i)
		}
		if p.work == nil {
			p.work = t.Store
		}
		fmt.Fprintf(h, "%x %q\n", t.Array.n.id, t.Path)
	}
	fmt.Fprintf(h, "%d\n", p.memory)
	p.id = hex.EncodeToString(h.Sum(nil)[:16])
	pl := planner{p, map[[sha256.Size]byte]*node{}, map[[sha256.Size]byte]uses{}, map[[sha256.Size]byte]*stage{}}
	if err := pl.look(targets); err != nil {
		return nil, err
	}
	for i, t := range targets {
		for _, u := range targets[:i] {
			switch {
			case clean(u.Path) != clean(t.Path):
			case exec.Same(u.Store, t.Store):
				return nil, fail("NewPlan", tensor.ErrValue, "two targets at the path %q of one store", t.Path)
			case !exec.Same(u.Store, u.Store) && !exec.Same(t.Store, t.Store):
				return nil, fail("NewPlan", tensor.ErrValue, "two targets at the path %q, and %T can't be compared: use two paths, or pointers as stores", t.Path, t.Store)
			}
		}
		s, err := pl.target(t.Array.n)
		if err != nil {
			return nil, err
		}
		s.store, s.path, s.target, s.name = t.Store, clean(t.Path), true, cmp.Or(clean(t.Path), "result")
		if s.meta.Codecs = t.Codecs; t.Codecs == nil {
			s.meta.Codecs = []zarr.Codec{zarr.Bytes(binary.LittleEndian), {Name: "zstd", Configuration: map[string]any{"level": 3, "checksum": true}}}
		}
		s.meta.Type = unit(t.Array.n)
		for k, v := range t.Attributes {
			s.meta.Attributes[k] = v
		}
	}
	for _, s := range p.stages {
		if s.peak > p.memory {
			return nil, p.tooLarge(s)
		}
		if _, err := zarr.Create(context.Background(), zarr.Memory(), "", s.meta, nil); err != nil { // Begin would say so
			return nil, fail("NewPlan", err, "stage %s: %v", s.name, err)
		}
	}
	return p, nil
}

// unit is the type of an array of times, as datetime64[s], whose elements these are; else "".
func unit(n *node) string {
	switch k := n.kind.(type) {
	case *source:
		if k.array != nil && n.dtype == dtype.Int64 {
			return k.array.Metadata().Type
		}
	case *rechunked, *sliced, *transposed:
		return unit(n.in[0])
	}
	return ""
}

// look counts who reads each array, and refuses two arrays of one name.
func (pl *planner) look(targets []Target) error {
	sources, seen := map[string]*source{}, map[*node]bool{}
	done := map[[sha256.Size]byte]bool{}
	var visit func(n *node) error
	visit = func(n *node) error {
		if seen[n] {
			return nil
		}
		seen[n] = true
		if s, ok := n.kind.(*source); ok {
			if t, ok := sources[s.label]; ok && (s.array != t.array || s.array == nil && !s.tensor.SameData(t.tensor)) {
				return fail("NewPlan", tensor.ErrValue, "two arrays are named %q; a plan tells arrays apart by their names", s.label)
			}
			sources[s.label] = s
		}
		moved := false
		switch n.kind.(type) {
		case *sliced, *transposed:
			moved = true
		}
		for _, i := range n.in {
			if !done[n.id] {
				u := pl.uses[i.id]
				pl.uses[i.id] = uses{u.count + 1, u.moved || moved}
			}
			if err := visit(i); err != nil {
				return err
			}
		}
		done[n.id] = true
		return nil
	}
	for _, t := range targets {
		if err := visit(t.Array.n); err != nil {
			return err
		}
	}
	return nil
}

func clean(p string) string { return strings.Trim(path.Clean("/"+p), "/") }

// ErrMemory says that a task would hold more memory than is allowed.
var ErrMemory = errors.New("more memory than is allowed")

// tooLarge is the error of a stage whose tasks hold too much: with the largest chunks, halved along the longest axis, that fit.
func (p *Plan) tooLarge(s *stage) error {
	chunks := slices.Clone(s.node.chunks)
	for {
		k := longest(chunks)
		if k < 0 || chunks[k] == 1 {
			return fail("NewPlan", ErrMemory, "a task of stage %s holds %d bytes, %d are allowed, and smaller chunks of the result %v don't help: Rechunk the arrays it reads", s.name, s.peak, p.memory, s.node.shape)
		}
		chunks[k] = (chunks[k] + 1) / 2
		n := *s.node
		n.chunks = chunks
		if taskPeak(&n, corner(n.shape, chunks)) <= p.memory {
			return fail("NewPlan", ErrMemory, "a task of stage %s holds %d bytes, %d are allowed; chunks of %v in place of %v would do", s.name, s.peak, p.memory, chunks, s.node.chunks)
		}
	}
}

// over returns n with operands that are read from stages where these must come first.
func (pl *planner) over(n *node) (*node, error) {
	if len(n.in) == 0 {
		return n, nil
	}
	in := make([]*node, len(n.in))
	for i, from := range n.in {
		var err error
		if in[i], err = pl.operand(from); err != nil {
			return nil, err
		}
		if k, ok := n.kind.(rereader); ok && k.rereads() && !light(in[i]) {
			if in[i], err = pl.keep(in[i]); err != nil {
				return nil, err
			}
		}
	}
	m := *n
	m.in, m.scratch = in, new(sync.Map)
	return &m, nil
}

// A rereader is a kind whose parts read the same elements of an operand again and again.
type rereader interface{ rereads() bool }

// A barrier is a kind whose array is stored before others read it.
type barrier interface{ barrier() bool }

func (f *folded) barrier() bool { return true }

// light reports whether a part of n costs no more than reading it: n is read, or a view of such.
func light(n *node) bool {
	switch n.kind.(type) {
	case *source, *stored, *value:
		return true
	case *sliced, *transposed, *joined:
		return !slices.ContainsFunc(n.in, func(i *node) bool { return !light(i) })
	}
	return false
}

// operand returns the node that stands for n where another array reads it.
func (pl *planner) operand(n *node) (*node, error) {
	if m, ok := pl.made[n.id]; ok {
		return m, nil
	}
	m, err := pl.over(n)
	if err != nil {
		return nil, err
	}
	// A part that is read at several places would be computed for each; through a few steps of that, very often.
	u := pl.uses[n.id]
	if k, ok := n.kind.(barrier); ok && k.barrier() || u.count > 1 && u.moved && !light(m) {
		m, err = pl.keep(m)
	}
	pl.made[n.id] = m
	return m, err
}

// keep makes the stage that stores n and returns its array.
func (pl *planner) keep(n *node) (*node, error) {
	s, err := pl.make(n)
	if err != nil {
		return nil, err
	}
	pl.kept[n.id], pl.made[n.id] = s, s.result()
	return pl.made[n.id], nil
}

// target returns the stage that makes a target: the one that others read from, or a new one.
func (pl *planner) target(n *node) (*stage, error) {
	s := pl.kept[n.id]
	switch {
	case s != nil && !s.target:
		return s, nil
	case s != nil: // it is another target's
		return pl.make(s.result())
	}
	m, err := pl.over(n)
	if err == nil {
		_, err = pl.keep(m)
	}
	return pl.kept[n.id], err
}

// make adds the stage that makes n, and one before it where that needs it.
func (pl *planner) make(n *node) (*stage, error) {
	region := n.chunks
	if _, ok := n.kind.(*rechunked); ok {
		var err error
		if n, region, err = pl.copies(n); err != nil {
			return nil, err
		}
	}
	return pl.stage(n, region)
}

// result returns the array that the stage has stored.
func (s *stage) result() *node {
	n := s.node
	return &node{kind: &stored{s}, dtype: n.dtype, shape: n.shape, chunks: n.chunks, id: n.id}
}

// stage adds a stage that makes n.
func (pl *planner) stage(n *node, region []int) (*stage, error) {
	id := hex.EncodeToString(n.id[:16])
	s := &stage{name: name(n), node: n, region: region, tasks: 1, store: sub(pl.p.work, pl.p.within()), path: id}
	s.meta = zarr.Metadata{DType: n.dtype, Shape: n.shape, Chunks: n.chunks, Codecs: []zarr.Codec{zarr.Bytes(binary.LittleEndian), zarr.CRC32C()}, Attributes: map[string]any{planKey: pl.p.id},
		Unfinished: "plan " + pl.p.id}
	for i, e := range n.shape {
		g := ceil(e, region[i])
		hi, lo := bits.Mul(uint(s.tasks), uint(g))
		if hi != 0 || lo > mostTasks {
			return nil, fail("NewPlan", ErrTasks, "stage %s has more than %d tasks: chunks of %v in an array of %v; larger chunks make fewer", s.name, mostTasks, n.chunks, n.shape)
		}
		s.tasks = int(lo)
		s.grid = append(s.grid, g)
	}
	if c, ok := n.kind.(*contracted); ok && times(int64(s.tasks), int64(c.steps(n))) > mostTasks {
		return nil, fail("NewPlan", ErrTasks, "stage %s, a product of arrays in chunks of %v and %v, has more than %d steps; larger chunks make fewer", s.name, n.in[0].chunks, n.in[1].chunks, mostTasks)
	}
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if k, ok := n.kind.(*stored); ok {
			s.after = append(s.after, slices.Index(pl.p.stages, k.stage))
		}
		for _, i := range n.in {
			visit(i)
		}
	}
	visit(n)
	slices.Sort(s.after)
	s.after = slices.Compact(s.after)
	for i := range s.tasks {
		b := s.box(i)
		c := n.kind.cost(n, b)
		s.peak = max(s.peak, taskPeakOf(n, b, c))
		s.read = plus(s.read, c.read)
	}
	pl.p.stages = append(pl.p.stages, s)
	return s, nil
}

const planKey = "ashlar_plan"

// ErrTasks says that a stage of a plan has too many tasks. A plan looks at each once.
var ErrTasks = errors.New("too many tasks")

// mostTasks is the most tasks of a stage, and the most products of chunks that its tasks add.
const mostTasks = 1 << 24

// name describes a node in a word or two.
func name(n *node) string {
	switch k := n.kind.(type) {
	case *folded:
		if k.partial {
			return fmt.Sprintf("%s of %d chunks", k.name, k.per*k.fan)
		}
		return k.name
	case *contracted:
		return "Product"
	}
	return strings.SplitN(n.kind.text(), " ", 2)[0]
}

// box returns the part of the array that a task makes.
func (s *stage) box(task int) box {
	b := newBox(len(s.grid))
	for i := len(s.grid) - 1; i >= 0; i-- {
		b.from[i] = task % s.grid[i] * s.region[i]
		b.to[i] = min(b.from[i]+s.region[i], s.node.shape[i])
		task /= s.grid[i]
	}
	return b
}

func taskPeak(n *node, b box) int64 { return taskPeakOf(n, b, n.kind.cost(n, b)) }

// taskPeakOf is the most bytes that a task holds: the bytes of the part while it is computed, and a chunk of it, completed, as it is
// stored, and compressed. Buffers of chunks that were read stay for the next task, so both count.
func taskPeakOf(n *node, b box, c cost) int64 {
	return plus(max(c.peak, bytesOf(n.dtype, b.shape())), times(3, bytesOf(n.dtype, n.chunks)))
}
