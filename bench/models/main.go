// Command models measures whole models and single layers: ONNX Runtime and Ashlar in turns, with the same inputs, on 1 and 2 threads.
// Without a file, it measures the 29 models of the scoreboard. npm installs ONNX Runtime and the packages of models in FOLDER. MODEL is
// a folder that has other models of the scoreboard, or a file, which is measured in their place. A model that isn't there is named.
//
//	go run ./models FOLDER [MODEL...]
//	go run ./models -only 'yolox|mlsd' -threads 1 -rounds 2 FOLDER MODELS
//	go run ./models -ops -json results/models.json -rounds 5 FOLDER resnet18.onnx
//	go run ./models -cases FOLDER
//
// A line has for each side the least time of a run, the time to make a session, and the peak of resident memory.
// For the last two, a separate process loads and runs the model. The peak is that of the first runs minus the memory before the load.
// Then follow the quotient of ONNX Runtime's time and Ashlar's, which is above 1 if Ashlar is faster, the largest difference of two outputs, and
// the largest output. Ashlar runs by Session.Stream. ONNX Runtime runs from JavaScript. The line "overhead" is a model of one Identity. It shows
// the cost of a call beside the model. The last column is the share of the FLOPs of convolutions with 8 output channels and more that
// run channels last. -ops adds the time of the operators of both. Inputs are random numbers in [-1, 1) from a seed; integers
// are 0 or 1. An extent that the model leaves open is 1, unless the scoreboard has another, or -dim names it, or its input and axis: -dim x.1=64.
//
// -cases measures single layers and chains of a few, which the program makes: convolutions, products of few rows, Resize of small
// pictures. The time "in nodes" is of ONNX Runtime's profile: the mean of the lowest quarter, in whole microseconds. The nodes that change
// the layout aren't in it; their time is "reorders". The quotient of "in nodes" and Ashlar's time of a whole run should reach the goal.
//
// A machine that other programs use disturbs least with -group, on Linux: the program has a scheduling group of its own then.
// With ASHLAR_CPU below the level of the processor Ashlar runs alone: ONNX Runtime doesn't follow it, so a quotient would mean nothing.
//
// -exact adds each side's largest error of an output of float32. The exact answer is Ashlar's run of a copy of the model. There, weights,
// constants, inputs and Casts of float32, float16 and bfloat16 are float64. The scales of Resize and Upsample stay float32, as defined.
// Some operators have no exact answer, and the line names them:
//   - operators of quantized numbers, as QuantizeLinear and QLinearConv, of random numbers, and BitCast;
//   - operators that take no float64, as NonMaxSuppression and MatMulNBits;
//   - operators that give narrower floats all the same, as TfIdfVectorizer.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

// A side has the measurements of one of the two.
type side struct {
	Milliseconds float64            `json:"ms,omitempty"`
	Nodes        float64            `json:"nodes_ms,omitempty"` // ONNX Runtime's nodes without Reorder
	Reorders     float64            `json:"reorders_ms,omitempty"`
	Load         float64            `json:"load_ms,omitempty"`
	Peak         int64              `json:"peak_kib,omitempty"` // of resident memory, minus the memory before the load; 0 if the system doesn't tell
	Ops          map[string]float64 `json:"ops_ms,omitempty"`
	Error        *distance          `json:"distance,omitempty"` // from the exact outputs
}

// A row is a model on a number of threads.
type row struct {
	Model      string  `json:"model"`
	Nodes      int     `json:"nodes,omitempty"`
	Threads    int     `json:"threads"`
	Peer       side    `json:"onnxruntime"`
	Ours       side    `json:"ashlar"`
	Ratio      float64 `json:"ratio,omitempty"`
	Difference float64 `json:"difference"`        // the largest one of two outputs
	Largest    float64 `json:"largest"`           // output
	Inexact    string  `json:"inexact,omitempty"` // why there is no exact answer
	Error      string  `json:"error,omitempty"`

	Last  *float64 `json:"channels_last,omitempty"` // of models with convolutions: see lastShare
	Goal  float64  `json:"goal,omitempty"`
	FLOPs int64    `json:"flops,omitempty"` // of cases
}

type settings struct {
	rounds   int
	seconds  float64
	ops      bool
	json     string
	cpu      bool
	threads  string
	integers bool
	dims     map[string]int
	exact    bool
	alone    int
	folder   string
	scratch  string
	cases    bool
	only     *regexp.Regexp
	group    bool
	both     bool // ONNX Runtime runs, too
}

func main() {
	log.SetFlags(0)
	s := settings{dims: map[string]int{}, only: regexp.MustCompile(""), both: cpu.Current() == cpu.Detect()}
	flag.IntVar(&s.rounds, "rounds", 5, "rounds in turns")
	flag.Float64Var(&s.seconds, "seconds", 0.3, "how long a turn runs a model at least")
	flag.BoolVar(&s.ops, "ops", false, "print the time of the operators, too")
	flag.StringVar(&s.json, "json", "", "write all figures to this `file`")
	flag.BoolVar(&s.cpu, "cpu", false, "measure the time of the processor, of all threads together, which a busy machine changes less")
	flag.BoolVar(&s.exact, "exact", false, "print how far the outputs are from those of the model in float64")
	flag.IntVar(&s.alone, "alone", 0, "only load and run MODEL on this number of `threads`, and print Ashlar's time of loading and peak as JSON")
	flag.BoolVar(&s.integers, "integers", false, "run Ashlar's side by onnx.NewIntegerSession")
	flag.StringVar(&s.threads, "threads", "1,2", "numbers of threads")
	flag.Func("dim", "the extent that a name, or an axis of an input, stands for: `name=64`", func(v string) error {
		name, text, _ := strings.Cut(v, "=")
		n, err := strconv.Atoi(text)
		s.dims[name] = n
		return err
	})
	flag.BoolVar(&s.cases, "cases", false, "measure single layers instead of models")
	flag.BoolVar(&s.group, "group", false, "run in a scheduling group of its own")
	flag.Func("only", "measure the models or cases whose names match this `expression`", func(v string) (err error) {
		s.only, err = regexp.Compile(v)
		return err
	})
	profile := flag.String("profile", "", "write a profile of the processor on Ashlar's side to this `file`")
	flag.Parse()
	if flag.NArg() == 0 || s.rounds < 1 {
		log.Fatal("usage: go run ./models [flags] FOLDER [MODEL...], of one round or more")
	}
	err := cpu.Err()
	if err == nil {
		err = profiled(*profile, func() error { return s.run(flag.Arg(0), flag.Args()[1:]) })
	}
	if err != nil {
		log.Fatal("models: ", err)
	}
}

// profiled runs f, and writes a profile of it to a file, if there is a name.
func profiled(name string, f func() error) error {
	if name == "" {
		return f()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return errors.Join(err, file.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

func (s *settings) run(folder string, names []string) (err error) {
	if s.folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "models"); err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	if s.alone > 0 && len(names) == 1 {
		return s.loaded(names[0])
	}
	if s.group {
		if err := ownGroup(); err != nil {
			return fmt.Errorf("-group: %w", err)
		}
	}
	list, roots, err := s.subjects(names)
	if err != nil {
		return err
	}
	if err := s.install(list); err != nil {
		return err
	}
	rows, err := s.rows(list, roots)
	if err != nil {
		return err
	}
	s.printMeans(rows)
	if s.json == "" {
		return nil
	}
	commit, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git names no commit for -json: %w", err)
	}
	b, err := json.MarshalIndent(map[string]any{"machine": s.machine(), "processor": cpu.Name(), "level": cpu.Current().String(), "commit": strings.TrimSpace(string(commit)), "date": time.Now().UTC().Format(time.DateOnly),
		"command": strings.Join(append([]string{"go run ./models"}, os.Args[1:]...), " "), "go": runtime.Version(), "peer": peerPackage, "rounds": s.rounds, "rows": rows}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.json, append(b, '\n'), 0o666)
}

// subjects returns the models or cases to measure, and the folders where their files may be.
func (s *settings) subjects(names []string) (list []subject, roots []string, err error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, nil, err
		}
		if info.IsDir() {
			roots = append(roots, name)
		} else {
			files = append(files, name)
		}
	}
	list = board
	if s.cases {
		list = cases()
	}
	list, err = chosen(list, s.only, files)
	return list, append(roots, s.folder), err
}

// rows measures and prints, after the cost of a call.
func (s *settings) rows(list []subject, roots []string) (rows []row, err error) {
	fmt.Println(s.machine())
	s.printHeader()
	overhead := subject{name: "overhead", opset: 13, build: func(b *onnx.Builder) {
		b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", dtype.Float32, 1)}), "y"), dtype.Float32, 1)
	}}
	for i, m := range append([]subject{overhead}, list...) {
		file, missing := m.at(s.folder, s.scratch, roots)
		for text := range strings.SplitSeq(s.threads, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			r := row{Threads: n}
			if err = missing; err == nil {
				r, err = s.measure(&m, file, n)
			}
			if r.Model, r.Goal = m.name, m.goal; err != nil {
				r.Error = err.Error()
				if file != "" {
					r.Error = strings.ReplaceAll(r.Error, file+": ", "")
				}
			}
			s.print(&r)
			if s.ops && err == nil {
				fmt.Printf("    ONNX Runtime: %s\n    Ashlar: %s\n", ranked(r.Peer.Ops), ranked(r.Ours.Ops))
			}
			if i > 0 {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}

// machine describes how figures are made.
func (s *settings) machine() string {
	text := fmt.Sprintf("%s, %d processors, %v", cpu.Name(), runtime.NumCPU(), cpu.Current())
	if s.both {
		text += ", beside ONNX Runtime " + version(s.folder)
	}
	if s.group {
		return text + ", in a scheduling group of its own, " + group()
	}
	return text + ", in the scheduling group of its session, " + group()
}

// A run is a model that is ready to run, and its last outputs.
type run struct {
	model   *onnx.Model
	session *onnx.Session
	stream  *onnx.Stream
	load    time.Duration
	files   []datum
	feeds   map[string]tensor.Any
	outputs map[string]tensor.Any
}

func (r *run) close() {
	r.stream.Close()
	r.model.Close()
}

// begin loads a model and runs it twice: these runs prepare.
func (s *settings) begin(ctx context.Context, file string, dims map[string]int) (r run, err error) {
	began := time.Now()
	if r.model, err = onnx.Open(file); err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			r.model.Close()
		}
	}()
	session := onnx.NewSession
	if s.integers {
		session = onnx.NewIntegerSession
	}
	if r.session, err = session(r.model); err != nil {
		return r, err
	}
	r.load = time.Since(began)
	if r.files, r.feeds, err = s.inputs(r.session, dims); err != nil {
		return r, err
	}
	if r.stream, err = r.session.Stream(nil); err != nil {
		return r, err
	}
	for range 2 {
		if r.outputs, err = r.stream.Run(ctx, r.feeds); err != nil {
			return r, err
		}
	}
	return r, nil
}

// measure measures a model on n threads.
func (s *settings) measure(m *subject, file string, n int) (r row, err error) {
	r.Threads = n
	ctx := op.WithThreads(context.Background(), n)
	dims := map[string]int{}
	maps.Copy(dims, m.dims)
	maps.Copy(dims, s.dims)
	model, err := s.begin(ctx, file, dims)
	if err != nil {
		return r, err
	}
	defer model.close()
	r.Nodes = len(model.model.Graph.Nodes)
	if s.cases {
		cost, err := model.model.Cost(model.feeds)
		if err != nil {
			return r, err
		}
		r.FLOPs = cost.FLOPs
	} else {
		if r.Last, err = lastShare(model.session, model.feeds); err != nil {
			return r, err
		}
		if r.Ours, err = s.apart(file, n, dims); err != nil {
			return r, err
		}
	}
	var p *peer
	var outputs []output
	q := question{Model: file, Threads: n, Inputs: model.files, Seconds: s.seconds, Outputs: s.scratch, Processor: s.cpu}
	if s.both {
		if p, err = start(s.folder); err != nil {
			return r, err
		}
		defer p.end()
		first, err := p.ask(q)
		if err != nil {
			return r, err
		}
		if !s.cases {
			r.Peer.Load, r.Peer.Peak = first.Load, first.Peak
		}
		if outputs, err = outputsOf(model.outputs, first.Results); err != nil {
			return r, err
		}
		r.Difference, r.Largest = compare(outputs)
	}
	q.Outputs = ""
	least := func(to *float64, v float64) {
		if *to == 0 || v < *to {
			*to = v
		}
	}
	for range s.rounds {
		if s.both {
			a, err := p.ask(q)
			if err != nil {
				return r, err
			}
			least(&r.Peer.Milliseconds, slices.Min(a.Times))
		}
		if s.both && s.cases {
			profiling := q
			profiling.Profile = true
			a, err := p.ask(profiling)
			if err != nil {
				return r, err
			}
			if least(&r.Peer.Nodes, a.Nodes); r.Peer.Nodes == a.Nodes {
				r.Peer.Reorders = a.Reorders
			}
		}
		best, err := s.best(ctx, &model)
		if err != nil {
			return r, err
		}
		least(&r.Ours.Milliseconds, best)
	}
	if s.both {
		r.Ratio = r.Peer.Milliseconds / r.Ours.Milliseconds
	}
	if s.exact && s.both {
		if err := r.judge(ctx, file, model.feeds, outputs); err != nil {
			r.Inexact = err.Error()
		}
	}
	if s.ops {
		if s.both {
			q.Profile = true
			a, err := p.ask(q)
			if err != nil {
				return r, err
			}
			r.Peer.Ops = a.Ops
		}
		r.Ours.Ops, err = operators(ctx, model.session, model.feeds, s.seconds)
		return r, err
	}
	return r, nil
}

// lastShare returns the share that runs channels last of the FLOPs of convolutions with 8 output channels and more, nil without any.
func lastShare(s *onnx.Session, feeds map[string]tensor.Any) (*float64, error) {
	steps, err := s.Steps(feeds)
	last, all := int64(0), int64(0)
	for _, step := range steps {
		if len(step.Results) == 0 || step.Results[0].Value.Rank() < 2 || step.Results[0].Value.Dim(1) < 8 {
			continue
		}
		if all += step.FLOPs; step.Last {
			last += step.FLOPs
		}
	}
	if all == 0 {
		return nil, err
	}
	share := float64(last) / float64(all)
	return &share, err
}

// best returns the least time of the runs of a turn, in milliseconds.
func (s *settings) best(ctx context.Context, model *run) (float64, error) {
	best := math.Inf(1)
	began := time.Now()
	now := func() float64 { return ms(time.Since(began)) }
	if s.cpu {
		now = used
	}
	for end := time.Now().Add(time.Duration(s.seconds * 1e9)); math.IsInf(best, 1) || time.Now().Before(end); {
		from := now()
		if _, err := model.stream.Run(ctx, model.feeds); err != nil {
			return 0, err
		}
		best = min(best, now()-from)
	}
	return best, nil
}

// operators returns the time of each operator of a run.
func operators(ctx context.Context, s *onnx.Session, feeds map[string]tensor.Any, seconds float64) (map[string]float64, error) {
	times, n := map[string]float64{}, 0.0
	o := onnx.Options{Observe: func(r *onnx.NodeRun) {
		if r.Depth == 0 {
			times[name(r)] += ms(r.Time)
		}
	}}
	for end := time.Now().Add(time.Duration(seconds * 1e9)); n == 0 || time.Now().Before(end); n++ {
		out, err := s.Run(ctx, feeds, &o)
		if err != nil {
			return nil, err
		}
		for _, a := range out {
			a.Close()
		}
	}
	for name := range times {
		times[name] /= n
	}
	return times, nil
}

func name(r *onnx.NodeRun) string { return r.Node.Op }

// ranked lists times, the largest first.
func ranked(times map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	var list []string
	for _, name := range names[:min(10, len(names))] {
		list = append(list, fmt.Sprintf("%s %.3f", name, times[name]))
	}
	return strings.Join(list, ", ")
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
