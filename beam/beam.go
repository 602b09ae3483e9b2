// Package beam runs plans of package chunk on many machines: as pipelines of Apache
// Beam, on Dataflow, Flink, Spark or any other runner that takes a portable pipeline. It is a module of its
// own, since Beam brings some hundred packages.
//
// Numbers travel through the pipeline, and no elements of arrays: a worker makes the plan again, from
// a name and arguments, and runs the tasks whose numbers it gets. The arrays go from
// the stores to the tasks and back, so every worker must reach the stores that the plan names.
//
// # The pipeline
//
// Each stage of the plan is five steps. One element, how many tasks the stage before has run, comes
// in; a ParDo compares it with the plan and lists the ranges of tasks, at most 10,000; Reshuffle spreads them over the
// workers; a ParDo runs the tasks; and a global Combine adds up how many have run. The sum is the
// next stage's one element. It exists when all tasks of the stage are done and not earlier,
// on every runner, since a Combine over a bounded collection ends with its input. A side input would wait
// likewise, but runners differ in how they hold it; a pipeline per stage would start the workers of a
// cluster anew for each. The comparison turns a runner that lets a stage begin too early into an error.
//
// Runners may run a task again or on two workers at once. Tasks write the same
// bytes each time, so the result is that of chunk.Plan.Run, bit for bit.
package beam

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/ashlar-go/ashlar/chunk"
)

// A Maker makes a plan from arguments. It runs where the pipeline is submitted and on each
// worker, and must make the same plan: it takes everything from its arguments, and names of stores that mean the
// same on all machines.
type Maker func(ctx context.Context, args []byte) (*chunk.Plan, error)

// registry holds makers by name and the plan that this process made last.
var registry struct {
	sync.Mutex
	makers map[string]Maker
	last   struct {
		name, args string
		plan       *chunk.Plan
	}
}

// Register gives a maker a name. A program calls it before beam.Init of Beam's SDK, so that its workers know
// the name, too. A name that is taken panics.
func Register(name string, m Maker) {
	registry.Lock()
	defer registry.Unlock()
	if registry.makers == nil {
		registry.makers = map[string]Maker{}
	}
	if _, taken := registry.makers[name]; taken {
		panic(fmt.Sprintf("beam: Register of %q, which is registered", name))
	}
	registry.makers[name] = m
}

// made returns the plan of a maker: with an identity, the plan that this process made last, if it is that.
func made(ctx context.Context, name string, args []byte, id string) (*chunk.Plan, error) {
	registry.Lock()
	defer registry.Unlock()
	last := &registry.last
	if last.plan != nil && last.name == name && last.args == string(args) && last.plan.ID() == id {
		return last.plan, nil
	}
	m, ok := registry.makers[name]
	if !ok {
		return nil, fmt.Errorf("beam: no maker %q in this program: Register it before beam.Init", name)
	}
	p, err := m(ctx, args)
	if err != nil {
		return nil, fmt.Errorf("beam: the maker %q: %w", name, err)
	}
	if id != "" && p.ID() != id {
		return nil, fmt.Errorf("beam: the maker %q makes plan %s on this worker, and %s was submitted: the program or the metadata of an input differs here", name, p.ID(), id)
	}
	last.name, last.args, last.plan = name, string(args), p
	return p, nil
}

// Options is how Run runs a plan. A nil *Options means the zero value.
type Options struct {
	Runner   string // Beam's name of the runner, whose package the program imports; "": prism
	Resume   bool   // go on with what an earlier run of the plan has left, here or by chunk.Plan.Run
	Keep     bool   // the intermediate arrays stay
	Attempts int    // how often a worker tries a task before the bundle fails, which most runners then try again; 0: 3
}

// Run runs the plan that a maker makes from args as one pipeline, and waits for its end. The calling
// program holds the locks of the plan, makes the arrays, finishes the targets and removes the intermediate arrays; the tasks run on the workers. The
// program has called beam.Init of Beam's SDK, after flag.Parse: Beam's flags say where the runner is. A task that fails
// Attempts times makes its bundle fail. The runner decides whether the bundle is tried again: Dataflow
// runs it four times, Prism once. The error names stage, task and part. Finished chunks stay, and
// a run with Resume goes on there.
func Run(ctx context.Context, name string, args []byte, opts *Options) error {
	if *jobopts.Async {
		return errors.New("beam: the flag async can't be set: Run removes the intermediate arrays when the pipeline is done")
	}
	p, err := made(ctx, name, args, "")
	if err != nil {
		return err
	}
	unlock, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	if opts == nil {
		opts = new(Options)
	}
	return errors.Join(run(ctx, p, name, args, *opts), unlock())
}

// run is Run without the locks.
func run(ctx context.Context, p *chunk.Plan, name string, args []byte, o Options) error {
	if err := p.Begin(ctx, &chunk.RunOptions{Resume: o.Resume}); err != nil {
		return err
	}
	if o.Runner == "" {
		o.Runner = "prism"
	}
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if _, err := beam.Run(ctx, o.Runner, pipeline(p, name, args, o.Attempts)); err != nil {
		return fmt.Errorf("beam: the pipeline on %s: %w", o.Runner, err)
	}
	if o.Keep {
		return p.Finish(ctx)
	}
	return p.End(ctx)
}

// pipeline returns the pipeline of a plan.
func pipeline(p *chunk.Plan, name string, args []byte, attempts int) *beam.Pipeline {
	b, s := beam.NewPipelineWithRoot()
	done, want := beam.Create(s, int64(0)), int64(0)
	for i, stage := range p.Stages() {
		if stage.Tasks == 0 {
			continue // a sum of nothing doesn't come
		}
		s := s.Scope(fmt.Sprintf("stage %d, %s", i, stage.Name))
		t := &tasks{Maker: name, Args: args, ID: p.ID(), Stage: i, Tasks: stage.Tasks, Each: ceil(stage.Tasks, mostRanges), Attempts: attempts}
		ranges := beam.ParDo(s, &list{After: want, Ranges: ceil(t.Tasks, t.Each)}, done)
		done, want = beam.Combine(s, sum, beam.ParDo(s, t, beam.Reshuffle(s, ranges))), int64(stage.Tasks)
	}
	beam.ParDo(s, &list{After: want}, done)
	return b
}

// mostRanges is the most ranges that a stage's tasks are divided into. That is enough for some thousand
// processors, and a runner keeps little for each.
const mostRanges = 10000

func ceil(n, by int) int { return (n + by - 1) / by }

func init() {
	register.DoFn2x1[int64, func(int64), error](&list{})
	register.DoFn2x2[context.Context, int64, int64, error](&tasks{})
	register.Emitter1[int64]()
	register.Function2x1(sum)
}

func sum(a, b int64) int64 { return a + b }

// list lists the ranges of a stage, by their numbers, once the stage before is done.
type list struct {
	After  int64 // tasks that the stage before has
	Ranges int
}

// ProcessElement takes how many tasks have run.
func (l *list) ProcessElement(done int64, emit func(int64)) error {
	if done != l.After {
		return fmt.Errorf("beam: the runner went on after %d of %d tasks of a stage", done, l.After)
	}
	for i := range l.Ranges {
		emit(int64(i))
	}
	return nil
}

// tasks runs ranges of tasks of a stage.
type tasks struct {
	Maker    string
	Args     []byte
	ID       string // of the plan
	Stage    int
	Tasks    int // of the stage
	Each     int // tasks of a range, of the last one maybe fewer
	Attempts int

	plan *chunk.Plan
}

// Setup makes the plan, or takes the one that this process has made.
func (t *tasks) Setup(ctx context.Context) (err error) {
	t.plan, err = made(ctx, t.Maker, t.Args, t.ID)
	return err
}

// ProcessElement runs the tasks of a range and returns how many there are.
func (t *tasks) ProcessElement(ctx context.Context, number int64) (int64, error) {
	from := int(number) * t.Each
	to := min(from+t.Each, t.Tasks)
	for i := from; i < to; i++ {
		err := t.plan.RunTask(ctx, t.Stage, i)
		for n := 1; err != nil && n < t.Attempts && ctx.Err() == nil; n++ {
			err = t.plan.RunTask(ctx, t.Stage, i)
		}
		if err != nil {
			return 0, err
		}
	}
	return int64(to - from), nil
}
