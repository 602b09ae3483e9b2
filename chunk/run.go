package chunk

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ashlar-go/ashlar/format/zarr"
)

// RunOptions is how Run runs a plan.
type RunOptions struct {
	Workers  int            // how many tasks run at once; 0: as many as the machine has processors
	Resume   bool           // go on with the chunks that an earlier run of the plan has left
	Keep     bool           // arrays between stages stay
	Progress func(Progress) // is told of each task that is done, one after the other; its panic, and its runtime.Goexit, end the run with an error
}

// Progress is how far a run is.
type Progress struct {
	Stage, Task int   // the task that is done
	Done, Tasks int   // of all stages
	Bytes       int64 // of the elements that are written, and
	Total       int64 // of all
}

// Run runs the plan in this process, stage by stage. Several tasks of a stage run at once, each on one goroutine.
// Besides the program's own memory it holds that of Workers tasks, and garbage until Go's collector takes it:
// debug.SetGCPercent(25) keeps that small.
//
// When a task fails, those at work end and no other begins. When ctx is done, those at work stop. Finished chunks stay: a
// run with Resume goes on there. The error of a task is a *TaskError.
//
// Until all tasks are done the targets are marked as unfinished: zarr.Open refuses them.
//
// Run holds the locks of Lock. An array that another run writes is an error that wraps zarr.ErrLocked.
func (p *Plan) Run(ctx context.Context, opts *RunOptions) error {
	if opts == nil {
		opts = &RunOptions{}
	}
	if err := needContext("Run", ctx); err != nil {
		return err
	}
	unlock, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	err = p.run(ctx, opts)
	return errors.Join(err, unlock())
}

// Lock takes the locks of the targets, and of the arrays between the stages, by zarr.Lock, for an executor that runs tasks
// elsewhere; Run does it itself.
func (p *Plan) Lock(ctx context.Context) (unlock func() error, err error) {
	var releases []func() error
	unlock = func() (err error) {
		for _, r := range releases {
			err = errors.Join(err, r())
		}
		return err
	}
	take := func(s zarr.Store, path string) error {
		r, err := zarr.Lock(ctx, s, path, "plan "+p.id)
		if err == nil {
			releases = append(releases, r)
		}
		return err
	}
	for _, s := range p.stages {
		if s.target && err == nil {
			err = take(s.store, s.path)
		}
	}
	if err == nil && p.between() {
		if err = take(p.work, p.within()); err == nil {
			releases = append(releases, func() error {
				p.work.Delete(context.WithoutCancel(ctx), p.within()) // in a folder it goes if it is empty
				return nil
			})
		}
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// run is Run without locks.
func (p *Plan) run(ctx context.Context, o *RunOptions) error {
	if err := p.Begin(ctx, o); err != nil {
		return err
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	at := Progress{Tasks: p.Tasks()}
	for _, s := range p.stages {
		at.Total = plus(at.Total, bytesOf(s.node.dtype, s.node.shape))
	}
	for i, s := range p.stages {
		if err := p.runStage(ctx, i, workers, func(task int) error {
			at.Stage, at.Task = i, task
			at.Done++
			at.Bytes = plus(at.Bytes, bytesOf(s.node.dtype, s.box(task).shape()))
			if o.Progress == nil {
				return nil
			}
			if err := apart(func() error { o.Progress(at); return nil }); err != nil {
				return fail("Run", err, "RunOptions.Progress: %v", err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if o.Keep {
		return p.Finish(ctx)
	}
	return p.End(ctx)
}

// runStage runs all tasks of a stage. It calls done for each, one call at a time.
func (p *Plan) runStage(ctx context.Context, i, workers int, done func(task int) error) error {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	var first error
	for range min(workers, p.stages[i].tasks) {
		wg.Go(func() {
			for stop.Err() == nil {
				task := int(next.Add(1)) - 1
				if task >= p.stages[i].tasks {
					return
				}
				err := p.RunTask(ctx, i, task) // at work it goes on when another fails
				mu.Lock()
				if err == nil {
					err = done(task)
				}
				if err != nil && first == nil {
					first = err
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}
