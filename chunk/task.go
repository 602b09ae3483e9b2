package chunk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/ram"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// Stage describes a stage of a plan.
type Stage struct {
	Name   string
	Path   string // of the array it makes, in its store
	Target bool   // the array is a target; else it goes when the plan is done
	DType  dtype.DType
	Shape  []int
	Chunks []int
	Region []int // the part that one task makes, of whole chunks
	Tasks  int
	Peak   int64 // bytes that a task holds at most
	Read   int64 // bytes of all chunks that the tasks read, as elements
	Write  int64 // bytes of the array's elements
	After  []int // the stages that must be done before
}

// Stages returns the stages in an order in which they can be done.
func (p *Plan) Stages() []Stage {
	out := make([]Stage, len(p.stages))
	for i, s := range p.stages {
		n := s.node
		out[i] = Stage{s.name, s.path, s.target, n.dtype, slices.Clone(n.shape), slices.Clone(n.chunks), slices.Clone(s.region),
			s.tasks, s.peak, s.read, bytesOf(n.dtype, n.shape), slices.Clone(s.after)}
	}
	return out
}

// ID identifies the plan: equal plans have equal ones, on every machine.
func (p *Plan) ID() string { return p.id }

// Peak returns the most bytes that a task holds.
func (p *Plan) Peak() int64 {
	var peak int64
	for _, s := range p.stages {
		peak = max(peak, s.peak)
	}
	return peak
}

// Tasks returns how many tasks there are.
func (p *Plan) Tasks() int {
	n := 0
	for _, s := range p.stages {
		n += s.tasks
	}
	return n
}

// ErrEarlier says that an earlier run of the same plan has begun to write a target, which can be resumed. It wraps fs.ErrExist.
var ErrEarlier = fmt.Errorf("an earlier run: %w", fs.ErrExist)

// place says where in its store an array is, "" at the root of it.
func (s *stage) place() string {
	if s.path == "" {
		return ""
	}
	return fmt.Sprintf(" at %q", s.path)
}

// Begin makes the arrays that the stages write, and marks them as unfinished: zarr.Open refuses them from now on, until Finish or
// End. If an earlier run of the same plan has left targets and opts has Resume, Begin continues with them, and with the arrays that the
// run left between the stages. Without Resume it uses nothing of an earlier run: targets of one are an error that wraps ErrEarlier.
// Other arrays there are an error that wraps fs.ErrExist. Other runs must be kept out: see Lock.
func (p *Plan) Begin(ctx context.Context, opts *RunOptions) error {
	resume := opts != nil && opts.Resume
	there := make([]bool, len(p.stages))
	for i, s := range p.stages {
		a, err := zarr.Open(ctx, s.store, s.path, &zarr.Options{Unfinished: true})
		if err != nil {
			continue // Create says why, or makes the first one
		}
		there[i] = a.Attributes()[planKey] == p.id
		switch {
		case !s.target:
		case !there[i]:
			return fail("Begin", fs.ErrExist, "there is an array%s that another plan or program has made: another expression or memory, or inputs that are others or have changed; delete it, or take another path", s.place())
		case !resume:
			return fail("Begin", ErrEarlier, "there is an array%s of an earlier run of this plan; resume, delete it, or take another path", s.place())
		}
	}
	for i, s := range p.stages {
		if s.target && !there[i] {
			if _, err := zarr.Create(ctx, s.store, s.path, s.meta, nil); err != nil {
				return err
			}
		}
	}
	for i, s := range p.stages {
		if s.target || resume && there[i] {
			continue
		}
		if err := zarr.Remove(ctx, p.work, p.within()+"/"+s.path); err != nil {
			return err
		}
		if _, err := zarr.Create(ctx, s.store, s.path, s.meta, nil); err != nil {
			return err
		}
	}
	return nil
}

// within is the path in the work store of all that stands between the stages.
func (p *Plan) within() string { return "ashlar-" + p.id }

// between reports whether something stands between the stages.
func (p *Plan) between() bool {
	return slices.ContainsFunc(p.stages, func(s *stage) bool { return !s.target })
}

// Finish takes the mark of Begin off the arrays that the stages have made, targets and others. All tasks must be done.
func (p *Plan) Finish(ctx context.Context) error {
	for _, s := range p.stages {
		if err := s.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// End finishes the targets, as Finish does, and removes the arrays between the stages. All tasks must be done.
func (p *Plan) End(ctx context.Context) error {
	for _, s := range p.stages {
		if s.target {
			if err := s.finish(ctx); err != nil {
				return err
			}
		}
	}
	if !p.between() {
		return nil
	}
	for _, s := range p.stages {
		if !s.target {
			if err := zarr.Remove(ctx, p.work, p.within()+"/"+s.path); err != nil {
				return err
			}
		}
	}
	return p.work.Delete(ctx, p.within()+"/zarr.json") // the group around them; the lock stays
}

func (s *stage) finish(ctx context.Context) error {
	a, err := s.array(ctx)
	if err != nil {
		return err
	}
	return a.Finish(ctx)
}

// RunTask runs task i of a stage; all tasks of the stages it comes after must be done. It is
// for executors: a task may run anywhere, more than once, also at the same time, and writes the same bytes.
// Where all that it writes is there, and can be read, it does nothing. A panic of the task, and runtime.Goexit in a function of MapBlocks,
// are errors.
func (p *Plan) RunTask(ctx context.Context, stageIndex, i int) error {
	if err := needContext("RunTask", ctx); err != nil {
		return err
	}
	return p.runTask(ctx, stageIndex, i, false)
}

// runTask is RunTask. With again it does a task that is done, too.
func (p *Plan) runTask(ctx context.Context, stageIndex, i int, again bool) error {
	if stageIndex < 0 || stageIndex >= len(p.stages) || i < 0 || i >= p.stages[stageIndex].tasks {
		return fail("RunTask", tensor.ErrIndex, "task %d of stage %d; see Stages", i, stageIndex)
	}
	s := p.stages[stageIndex]
	if err := apart(func() error { return s.run(ctx, i, again) }); err != nil {
		return &TaskError{Stage: s.name, Index: stageIndex, Task: i, Part: s.box(i).String(), Err: err}
	}
	return nil
}

// A TaskError says which task of a plan failed.
type TaskError struct {
	Stage string
	Index int // of the stage
	Task  int
	Part  string // of the stage's array that the task makes
	Err   error
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("chunk: stage %d, %s, task %d, which makes %s: %v", e.Index, e.Stage, e.Task, e.Part, e.Err)
}

// Unwrap returns the reason.
func (e *TaskError) Unwrap() error { return e.Err }

// apart calls a function of the program, or a task that calls one, on a goroutine of its own. A panic there, and the end of the goroutine, are errors.
func apart(f func() error) error {
	done := make(chan error, 1)
	go func() {
		debug.SetPanicOnFault(true) // of a mapped file that became shorter
		err := errors.New("it ended its goroutine, as runtime.Goexit and the FailNow of a test do; return an error instead")
		defer func() {
			r := recover()
			cause, _ := r.(error)
			switch fault := ram.Fault(r); {
			case fault != nil:
				err = fault
			case cause != nil: // of an operator that a context stopped, maybe
				err = fmt.Errorf("panic: %w", cause)
			case r != nil:
				err = fmt.Errorf("panic: %v", r)
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}

// run runs one task.
func (s *stage) run(ctx context.Context, i int, again bool) error {
	a, err := s.array(ctx)
	if err != nil {
		return err
	}
	b := s.box(i)
	e := &evaluator{ctx: op.WithThreads(ctx, 1)}
	defer func() { e.release(0, tensor.Any{}) }()
	if !again {
		done, err := s.done(e, a, b)
		if done || err != nil {
			return err
		}
	}
	t, err := e.eval(s.node, b)
	if err != nil {
		return err
	}
	if t.DType() != s.node.dtype || !slices.Equal(t.Shape(), b.shape()) {
		return fmt.Errorf("the part is %s; %v%v was planned", tensor.Describe(t), s.node.dtype, b.shape())
	}
	return a.Write(ctx, b.from, t)
}

// done reports whether all chunks of a part are there and can be read. It reads them, as one may be damaged.
func (s *stage) done(e *evaluator, a *zarr.Array, b box) (bool, error) {
	done := true
	err := s.chunks(b, func(index []int) error {
		if !done {
			return nil
		}
		var err error
		_, done, err = a.ChunkSize(e.ctx, index...)
		return err
	})
	if !done || err != nil {
		return false, err
	}
	t, err := a.Slice(e.ctx, b.from, b.to)
	e.own(t)
	e.release(0, tensor.Any{})
	return err == nil, e.ctx.Err()
}

// chunks calls f for each chunk of a part.
func (s *stage) chunks(b box, f func(index []int) error) error {
	if b.empty() && len(b.from) > 0 {
		return nil
	}
	index := make([]int, len(b.from))
	for i := range index {
		index[i] = b.from[i] / s.node.chunks[i]
	}
	for {
		if err := f(index); err != nil {
			return err
		}
		k := len(index) - 1
		for ; k >= 0; k-- {
			if index[k]++; index[k]*s.node.chunks[k] < b.to[k] {
				break
			}
			index[k] = b.from[k] / s.node.chunks[k]
		}
		if k < 0 {
			return nil
		}
	}
}
