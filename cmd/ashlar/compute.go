package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-go/ashlar/chunk"
	"github.com/ashlar-go/ashlar/chunk/job"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/internal/core/formats"
	"github.com/ashlar-go/ashlar/tensor"
	"github.com/spf13/cobra"
)

// A computation is a run of compute, rechunk or plan.
type computation struct {
	p       *program
	job     job.Job
	inputs  []string
	chunks  string
	memory  memoryLimit
	workers int
	resume  bool
	json    bool
	receipt string // file
	nodes   bool   // of the receipt
	svg     string
}

const oneExpression = "one expression, in quotes, and behind -- if it begins with -"

const chunkedFiles = `Files are Zarr folders, zip files of them, kerchunk's references, and npy files.
URLs of Zarr folders are files, too, and s3://bucket/folder with AWS's variables for
the keys: ashlar info --help lists them. FILE#group/array is an array of a group. A
file may be larger than memory: a task reads the chunks that it needs. With --cf
numbers and times are as the attributes of the CF conventions say.`

func (p *program) computeCommand() *cobra.Command {
	v := &computation{p: p}
	c := &cobra.Command{
		Use:   "compute EXPRESSION -i NAME=FILE [-o FOLDER]",
		Short: "Compute with arrays that are larger than memory",
		Long: `Compute evaluates an expression over arrays on disk, chunk by chunk. It writes the
result to a Zarr folder. Without -o it prints the result, if that is small.

` + chunkedFiles + `

--memory bounds the memory of a task, and --workers the tasks that run at once. The
process takes their product, and some 25 MiB. Compute refuses an expression whose
tasks don't fit, and names the way out. ashlar plan shows the tasks.
The bits of the result don't depend on the number of workers, nor on
interruptions.

When compute ends early, the finished chunks stay, and the result is marked. Info
shows the mark, and other commands refuse to read the result. The same command with
--resume checks the chunks and goes on. An input with other chunks, sizes or times
makes another plan, which is refused: delete the result and begin again.

--receipt writes the digests of the inputs and of each chunk of the result, which
are read once more for it. Another run, with any number of workers, has the same
receipt; ashlar diff compares two and names the first chunk that differs.
--receipt-nodes adds the chunks of the arrays between stages.

The expression is in NumPy's spelling, with Python's precedence:
  x, 2, 0.5, pi, e, inf, nan, True, False
  + - * / // % ** @ == != < <= > >= & | ^ ~ << >>
  x[1:10, ::2]  x[..., None]  x.T  mean(x, axis=0)  x.mean(axis=0)
Two arrays need one element type: cast(x, 'float32') converts. A constant takes
the type of the array beside it, and is an error where it doesn't fit, as in NumPy
2. Comparisons with integers of any size are exact, and clip takes any bounds. An
integer to a negative power is an error. The / of integers, and their mean, var and
std, are float64, and their sum and prod int64 or uint64, as in NumPy. An expression
that begins with - goes behind --: ashlar compute -i x=FILE -- "-x". Functions,
which ashlar ops and the package op describe:
` + functionList(),
		Example: `  ashlar compute "mean(x, axis=0)" -i x=testdata/digits-test.npy
  ashlar compute "mean(x, axis=0)" -i x=big.zarr -o mean.zarr --memory 512MiB
  ashlar compute "mean(x, axis=0)" -i x=big.zarr -o mean.zarr --receipt r.json
  ashlar compute "(x - mean(x)) / std(x)" -i x=big.zarr -o scaled.zarr --workers 8 --resume`,
		Args: arguments(1, 1, oneExpression),
	}
	v.flags(c)
	f := c.Flags()
	f.StringVarP(&v.job.Out, "output", "o", "", "the Zarr `folder` of the result, which must not be there; FOLDER#NAME is an array in a folder of several")
	f.BoolVar(&v.json, "json", false, "print one JSON object about the result and the run")
	v.runFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		v.job.Expr = args[0]
		if err := v.read(c); err != nil {
			return err
		}
		return v.run(c.Context())
	}
	return c
}

func (p *program) rechunkCommand() *cobra.Command {
	v := &computation{p: p}
	v.job.Expr = "x"
	c := &cobra.Command{
		Use:   "rechunk IN OUT --chunks N,N",
		Short: "Copy an array that may be larger than memory into other chunks",
		Long: `Rechunk copies the array IN to the Zarr folder OUT, in chunks of another shape. It
reads and writes regions as large as --memory allows, in two passes where one
would read the same chunks too often.

` + chunkedFiles + `

When rechunk ends early, the finished chunks stay, and OUT is marked. Info shows the
mark, and other commands refuse to read OUT. The same command with --resume checks
the chunks and goes on, unless IN has changed.`,
		Example: `  ashlar rechunk big.zarr columns.zarr --chunks 100000,10 --memory 512MiB
  ashlar rechunk big.npy big.zarr --chunks 1000,1000 --codec zstd:9`,
		Args: arguments(2, 2, "an array and a folder"),
	}
	v.memoryFlags(c)
	v.runFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if v.chunks == "" {
			return usagef(c, "--chunks says into what")
		}
		v.inputs, v.job.Out = []string{"x=" + args[0]}, args[1]
		if err := v.read(c); err != nil {
			return err
		}
		return v.run(c.Context())
	}
	return c
}

func (v *computation) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&v.inputs, "input", "i", nil, "`NAME=FILE`: an array of the expression")
	v.memoryFlags(c)
}

func (v *computation) memoryFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&v.chunks, "chunks", "", "the `shape` of the result's chunks, as 100,100 (default: by the expression)")
	f.Var(&v.memory, "memory", "memory that one task may take: 512MiB, 2GB (default 1GiB)")
	v.p.unfinishedFlag(c)
	v.p.cfFlag(c)
}

func (v *computation) runFlags(c *cobra.Command) {
	f := c.Flags()
	v.p.quietFlag(c, "line about the result")
	f.IntVar(&v.workers, "workers", 0, "how many tasks run at once (default: as many as there are processors)")
	f.BoolVar(&v.resume, "resume", false, "go on with the unfinished result of the same command")
	f.StringVar(&v.receipt, "receipt", "", "write a receipt to `file.json`")
	f.BoolVar(&v.nodes, "receipt-nodes", false, "add the chunks of the arrays between stages to the receipt")
	f.StringVar(&v.job.Codec, "codec", "", "how chunks are stored: zstd, gzip, with a level as in zstd:9, or none (default zstd:3)")
	f.StringVar(&v.job.Work, "work", "", "the `folder` for the arrays between stages (default: within the result's); one run of a plan at a time has it")
}

// functionList has the functions of expressions for the help text.
func functionList() string {
	var b strings.Builder
	width := 0
	for _, f := range chunk.Functions() {
		word := f.String()
		if width > 0 && width+len(word)+2 > 78 {
			b.WriteString("\n")
			width = 0
		}
		b.WriteString("  " + word)
		width += len(word) + 2
	}
	return b.String()
}

var arrayName = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*$`)

// read checks the flags, and completes the job.
func (v *computation) read(c *cobra.Command) error {
	v.job.Inputs, v.job.Unfinished, v.job.CF, v.job.Hosts = make(map[string]string), v.p.partly, v.p.cf, v.p.hosts
	for _, arg := range v.inputs {
		name, file, ok := strings.Cut(arg, "=")
		switch _, twice := v.job.Inputs[name]; {
		case !ok || file == "" || !arrayName.MatchString(name):
			return usagef(c, "-i %s: want NAME=FILE, with a name of letters, digits and _", arg)
		case twice:
			return usagef(c, "-i %s: the name %s is given twice", arg, name)
		}
		v.job.Inputs[name] = file
	}
	var err error
	if v.receipt != "" {
		if err := v.p.endsIn(".json", "receipt", v.receipt); err != nil {
			return err
		}
		if err := folderOf(v.receipt); err != nil {
			return err
		}
	}
	if v.nodes && v.receipt == "" {
		return usagef(c, "--receipt-nodes is about a receipt: give --receipt")
	}
	if v.job.Chunks, err = extentsOf(v.chunks); err != nil {
		return usagef(c, "--chunks %s: want an extent for each axis, as 100,100", v.chunks)
	}
	switch {
	case v.workers < 0:
		return usagef(c, "--workers %d: want 1 or more", v.workers)
	case v.memory < 0:
		v.job.Memory = math.MaxInt64
	default:
		v.job.Memory = int64(v.memory)
	}
	if v.workers == 0 {
		v.workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

// extentsOf reads the value of --chunks; "" is nil.
func extentsOf(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	list, err := extents(text)
	if err == nil && (len(list) == 0 || slices.Min(list) < 1) {
		err = errors.New("not positive")
	}
	return list, err
}

// markedExpr is an error of chunk.Parse with the expression and a caret under the fault above it.
func markedExpr(err error) error {
	var e *chunk.ExprError
	if !errors.As(err, &e) {
		return err
	}
	text := strings.ReplaceAll(e.Mark()+"\n"+e.Err.Error(), "\n", "\n        ") // as wide as the name of the program
	if errors.Is(err, chunk.ErrSyntax) {
		return &usageError{text}
	}
	return errors.New(text)
}

// mostPrinted is how many bytes of a result are read to be printed.
const mostPrinted = 64 << 20

func (v *computation) run(ctx context.Context) error {
	// An interrupt ends the run once the tasks at work are done, and a second one the program.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	var p *chunk.Plan
	var err error
	fresh := false // there is no folder yet
	store := zarr.Memory()
	if v.job.Out == "" {
		if v.p.quiet {
			return v.p.usagef("--quiet leaves nothing of the result: give -o, the folder that it is written to")
		}
		if v.resume || v.job.Work != "" {
			return &usageError{"compute: --resume and --work are about a result that -o writes; see ashlar compute --help"}
		}
		if v.job.Work, err = os.MkdirTemp("", "ashlar-"); err != nil {
			return err
		}
		defer os.RemoveAll(v.job.Work)
		if p, err = v.job.To(ctx, store, ""); err == nil {
			if last := resultStage(p); last.Write > mostPrinted {
				return fmt.Errorf("the result is %s, %s: give -o, the folder that it is written to", formats.Typed(last.DType.String(), last.Shape), amount(last.Write))
			}
		}
	} else {
		_, absent := os.Lstat(v.job.Out)
		fresh = absent != nil
		p, err = v.job.Plan(ctx)
	}
	if err != nil {
		return markedExpr(v.memoryAdvice(err))
	}
	start := time.Now()
	if err := v.tasks(ctx, p); err != nil {
		if fresh {
			os.Remove(v.job.Out) // if it is empty
		}
		return err
	}
	spent := time.Since(start)
	if v.receipt != "" {
		r, err := p.Receipt(ctx)
		if err == nil {
			err = v.p.writeReceipt(v.receipt, r)
		}
		if v.nodes && err == nil {
			err = end(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return v.report(ctx, p, store, spent)
}

// end removes the arrays that a run with Keep has left between the stages.
func end(ctx context.Context, p *chunk.Plan) error {
	unlock, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(p.End(ctx), unlock())
}

// memoryAdvice names the flags that follow the advice in an error of chunk.NewPlan.
func (v *computation) memoryAdvice(err error) error {
	if errors.Is(err, chunk.ErrMemory) {
		return fmt.Errorf("%w; on the command line that is --memory, --chunks, or rechunk(x, (100, 100)) in the expression", err)
	}
	return err
}

// resultStage is the stage of a plan whose array is the result.
func resultStage(p *chunk.Plan) chunk.Stage {
	stages := p.Stages()
	return stages[slices.IndexFunc(stages, func(s chunk.Stage) bool { return s.Target })]
}

// tasks runs the plan. The collector keeps the process within the memory that its tasks may hold, and some for the lists and buffers
// of small ones.
func (v *computation) tasks(ctx context.Context, p *chunk.Plan) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if most := float64(m.Sys) + float64(float64(v.workers)*float64(max(p.Peak(), 4<<20))); most < math.MaxInt64/2 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(most)))
		defer debug.SetGCPercent(debug.SetGCPercent(25)) // few buffers and large ones: a collection costs little
	}
	step, end := v.p.taskBar(p)
	done := 0
	err := p.Run(ctx, &chunk.RunOptions{Workers: v.workers, Resume: v.resume, Keep: v.nodes, Progress: func(at chunk.Progress) {
		done = at.Done
		step(at)
	}})
	end()
	if err == nil {
		return nil
	}
	again := ""
	if v.job.Out != "" && done > 0 {
		again = "; to go on: " + v.p.again()
	}
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return interruption{fmt.Sprintf("interrupted after %d of %d tasks%s", done, p.Tasks(), again)}
	case errors.Is(err, chunk.ErrEarlier):
		return fmt.Errorf("%s: %w; on the command line that is --resume", v.job.Out, err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", v.job.Out, err)
	case done == 0:
		return err
	}
	return fmt.Errorf("after %d of %d tasks: %w%s", done, p.Tasks(), err, again)
}

// An interruption is an error after a signal. It is context.Canceled, and doesn't say so.
type interruption struct{ text string }

func (e interruption) Error() string { return e.text }
func (interruption) Unwrap() error   { return context.Canceled }

// again is the command line with --resume, for a shell.
func (p *program) again() string {
	line := "ashlar"
	for _, a := range p.args {
		if regexp.MustCompile(`^[-\w./=:,@%+#]+$`).MatchString(a) {
			line += " " + a
		} else {
			line += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	if !slices.Contains(p.args, "--resume") {
		line += " --resume"
	}
	return line
}

// report prints the result, or a line about the array that was made.
func (v *computation) report(ctx context.Context, p *chunk.Plan, store zarr.Store, spent time.Duration) error {
	last := resultStage(p)
	title := formats.Typed(last.DType.String(), last.Shape)
	var t tensor.Any
	if v.job.Out == "" {
		a, err := zarr.Open(ctx, store, "", nil)
		if err == nil {
			t, err = a.Read(ctx)
		}
		if err != nil {
			return err
		}
	}
	if v.json {
		r := computeReport{Out: v.job.Out, DType: last.DType.String(), Shape: list(last.Shape), Chunks: list(last.Chunks), Plan: p.ID(), Tasks: p.Tasks(), Workers: v.workers,
			Peak: p.Peak(), Seconds: spent.Seconds(), Memory: peakMemory()}
		for _, s := range p.Stages() {
			r.Read, r.Write = r.Read+s.Read, r.Write+s.Write
		}
		if !t.IsZero() {
			r.Data = fmt.Sprint(t)
		}
		return json.NewEncoder(v.p.out).Encode(&r)
	}
	if v.p.quiet {
		return nil
	}
	if t.IsZero() {
		fmt.Fprintf(v.p.out, "%s: %s, chunks %s, %s\n", v.job.Out, title, formats.Typed("", last.Chunks), counted(p.Tasks(), "task"))
	} else {
		fmt.Fprintf(v.p.out, "%s\n%v\n", title, t)
	}
	return nil
}

// computeReport is the output of --json.
type computeReport struct {
	Out     string  `json:"out,omitempty"`
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Chunks  []int   `json:"chunks"`
	Plan    string  `json:"plan"`
	Tasks   int     `json:"tasks"`
	Workers int     `json:"workers"`
	Peak    int64   `json:"peak_bytes"` // that a task holds, as planned
	Read    int64   `json:"read_bytes"`
	Write   int64   `json:"written_bytes"`
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"process_bytes,omitempty"` // the most that the process had, where the system says it
	Data    string  `json:"data,omitempty"`          // the elements as text, without -o
}
