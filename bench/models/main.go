// Command models measures whole models: ONNX Runtime and Ashlar in turns, with the same inputs, on 1 and 2 threads. FOLDER has ONNX
// Runtime and the packages of models that the conformance runner's suite "packages" names. npm installs missing packages. MODEL is
// a file, or a folder that is searched. Without MODEL, FOLDER is searched.
//
//	go run ./models FOLDER [MODEL...]
//	go run ./models -ops -json results/models.json -rounds 5 FOLDER resnet18.onnx
//
// A line has for each side the median of the rounds' least times of a run, the time to make a session, and the peak of resident memory.
// For the last two, a separate process loads and runs the model. The peak is that of the first runs minus the memory before the load.
// Then follow the quotient of ONNX Runtime's time and Ashlar's, which is above 1 if Ashlar is faster, the largest difference of two outputs, and
// the largest output. Ashlar runs by Session.Stream. ONNX Runtime runs from JavaScript. The line "overhead" is a model of one Identity. It shows
// the cost of a call beside the model. -ops adds the time of the operators of both. Inputs are random numbers in [-1, 1) from a seed; integers
// are 0 or 1. An extent that the model leaves open is 1, unless -dim names it, or its input and axis: -dim x.1=64.
//
// -exact adds each side's largest error of an output of float32. The exact answer is Ashlar's run of a copy of the model. There, weights,
// constants, inputs and Casts of float32, float16 and bfloat16 are float64. The scales of Resize and Upsample stay float32, as defined.
// Some operators have no exact answer, and the line names them:
//   - operators of quantized numbers, as QuantizeLinear and QLinearConv, of random numbers, and BitCast;
//   - operators that take no float64, as NonMaxSuppression and MatMulNBits;
//   - operators that give narrower floats all the same, as TfIdfVectorizer.
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

const peerPackage = "onnxruntime-node@1.30.0"

//go:embed peer.mjs
var script string

// A peer is a process of node that runs models.
type peer struct {
	in      io.WriteCloser
	out     *bufio.Reader
	process *exec.Cmd
}

func (p *peer) end() {
	p.in.Close()
	p.process.Wait()
}

// A datum is a tensor whose elements are in a file, in native order.
type datum struct {
	Name, Type string
	Shape      []int
	File       string
	value      tensor.Any
}

type question struct {
	Model   string
	Threads int
	Inputs  []datum
	Seconds float64
	Profile bool
	Outputs string // the folder for outputs; "": none

	Processor bool // measure processor times
}

type answer struct {
	Times   []float64
	Load    float64
	Peak    int64
	Results []datum
	Ops     map[string]float64
	Error   string
}

func (p *peer) ask(q question) (a answer, err error) {
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	if _, err = fmt.Fprintf(p.in, "%s\n", b); err != nil {
		return a, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("node ended: %w", err)
	}
	if err = json.Unmarshal(line, &a); err == nil && a.Error != "" {
		err = fmt.Errorf("ONNX Runtime: %.200s", a.Error)
	}
	return a, err
}

// A side has the measurements of one of the two.
type side struct {
	Milliseconds float64            `json:"ms"`
	Load         float64            `json:"load_ms"`
	Peak         int64              `json:"peak_kib,omitempty"` // of resident memory, minus the memory before the load; 0 if the system doesn't tell
	Ops          map[string]float64 `json:"ops_ms,omitempty"`
	Error        *distance          `json:"distance,omitempty"` // from the exact outputs
}

// A row is a model on a number of threads.
type row struct {
	Model      string  `json:"model"`
	Nodes      int     `json:"nodes"`
	Threads    int     `json:"threads"`
	Peer       side    `json:"onnxruntime"`
	Ours       side    `json:"ashlar"`
	Ratio      float64 `json:"ratio"`
	Difference float64 `json:"difference"`        // the largest one of two outputs
	Largest    float64 `json:"largest"`           // output
	Inexact    string  `json:"inexact,omitempty"` // why there is no exact answer
	Error      string  `json:"error,omitempty"`
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
}

func main() {
	log.SetFlags(0)
	s := settings{dims: map[string]int{}}
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
	profile := flag.String("profile", "", "write a profile of the processor on Ashlar's side to this `file`")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("usage: go run ./models [flags] FOLDER [MODEL...]")
	}
	err := profiled(*profile, func() error { return s.run(flag.Arg(0), flag.Args()[1:]) })
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
		return s.only(names[0])
	}
	if err := install(s.folder); err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{s.folder}
	}
	files, err := modelsIn(names)
	if err != nil {
		return err
	}
	overhead := filepath.Join(s.scratch, "overhead.onnx")
	if err := empty(overhead); err != nil {
		return err
	}
	var rows []row
	s.printHeader()
	for _, file := range append([]string{overhead}, files...) {
		for _, text := range strings.Split(s.threads, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			r, err := s.measure(file, n)
			if r.Model = short(file); err != nil {
				r.Error = strings.ReplaceAll(err.Error(), file+": ", "")
			}
			r.print()
			if s.ops && err == nil {
				fmt.Printf("    ONNX Runtime: %s\n    Ashlar: %s\n", ranked(r.Peer.Ops), ranked(r.Ours.Ops))
			}
			if file != overhead {
				rows = append(rows, r)
			}
		}
	}
	for _, text := range strings.Split(s.threads, ",") {
		sum, n := 0.0, 0
		for _, r := range rows {
			if strconv.Itoa(r.Threads) == text && r.Error == "" {
				sum, n = sum+math.Log(r.Ratio), n+1
			}
		}
		if n > 0 {
			fmt.Printf("geometric mean of %d models on %s threads: %.2f\n", n, text, math.Exp(sum/float64(n)))
		}
	}
	if s.json == "" {
		return nil
	}
	commit, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git names no commit for -json: %w", err)
	}
	b, err := json.MarshalIndent(map[string]any{"machine": processor(), "commit": strings.TrimSpace(string(commit)), "date": time.Now().UTC().Format(time.DateOnly),
		"command": strings.Join(append([]string{"go run ./models"}, os.Args[1:]...), " "), "go": runtime.Version(), "peer": peerPackage, "rounds": s.rounds, "rows": rows}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.json, append(b, '\n'), 0o666)
}

// install has npm install packages that FOLDER lacks. The conformance runner names the packages of models.
func install(folder string) error {
	want := []string{peerPackage}
	lists, err := filepath.Glob(filepath.Join("..", "conformance", "packages", "*.json"))
	if err != nil {
		return err
	}
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			return err
		}
		var p struct{ Package string }
		if err := json.Unmarshal(b, &p); err != nil {
			return fmt.Errorf("%s: %w", list, err)
		}
		if name, ok := strings.CutPrefix(p.Package, "npm:"); ok {
			want = append(want, name)
		}
	}
	var missing []string
	for _, name := range want {
		at := strings.LastIndexByte(name, '@')
		if _, err := os.Stat(filepath.Join(folder, "node_modules", filepath.FromSlash(name[:at]))); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	c := exec.Command("npm", append([]string{"install", "--silent", "--ignore-scripts", "--prefix", folder}, missing...)...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

func start(folder string) (*peer, error) {
	c := exec.Command("node", "--input-type=module", "-e", script, "--", folder)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Stderr = os.Stderr
	return &peer{in, bufio.NewReader(out), c}, c.Start()
}

// modelsIn returns the files of models that arguments name.
func modelsIn(names []string) (files []string, err error) {
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (filepath.Ext(path) == ".onnx" || path == name) {
				path, err = filepath.Abs(path)
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// short is the name of a model in the table.
func short(file string) string {
	if _, after, ok := strings.Cut(file, "node_modules/"); ok {
		return after
	}
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}

// empty writes a model that does nothing.
func empty(file string) error {
	b := onnx.NewBuilder("overhead")
	b.Output(b.Rename(b.Node("Identity", []string{b.Input("x", dtype.Float32, 1)}), "y"), dtype.Float32, 1)
	m, err := b.Model(13)
	if err != nil {
		return err
	}
	data, err := onnx.Encode(m)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
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
func (s *settings) begin(ctx context.Context, file string) (r run, err error) {
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
	if r.files, r.feeds, err = s.inputs(r.session); err != nil {
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
func (s *settings) measure(file string, n int) (r row, err error) {
	r.Threads = n
	ctx := op.WithThreads(context.Background(), n)
	model, err := s.begin(ctx, file)
	if err != nil {
		return r, err
	}
	defer model.close()
	r.Nodes = len(model.model.Graph.Nodes)
	if r.Ours, err = s.apart(file, n); err != nil {
		return r, err
	}
	p, err := start(s.folder)
	if err != nil {
		return r, err
	}
	defer p.end()
	q := question{Model: file, Threads: n, Inputs: model.files, Seconds: s.seconds, Outputs: s.scratch, Processor: s.cpu}
	first, err := p.ask(q)
	if err != nil {
		return r, err
	}
	r.Peer.Load, r.Peer.Peak = first.Load, first.Peak
	outputs, err := outputsOf(model.outputs, first.Results)
	if err != nil {
		return r, err
	}
	r.Difference, r.Largest = compare(outputs)
	q.Outputs = ""
	var theirs, ours []float64
	for range s.rounds {
		a, err := p.ask(q)
		if err != nil {
			return r, err
		}
		theirs = append(theirs, slices.Min(a.Times))
		best := math.Inf(1)
		began := time.Now()
		now := func() float64 { return ms(time.Since(began)) }
		if s.cpu {
			now = used
		}
		for end := time.Now().Add(time.Duration(s.seconds * 1e9)); math.IsInf(best, 1) || time.Now().Before(end); {
			from := now()
			if _, err := model.stream.Run(ctx, model.feeds); err != nil {
				return r, err
			}
			best = min(best, now()-from)
		}
		ours = append(ours, best)
	}
	r.Peer.Milliseconds, r.Ours.Milliseconds = median(theirs), median(ours)
	r.Ratio = r.Peer.Milliseconds / r.Ours.Milliseconds
	if s.exact {
		if err := r.judge(ctx, file, model.feeds, outputs); err != nil {
			r.Inexact = err.Error()
		}
	}
	if s.ops {
		q.Profile = true
		a, err := p.ask(q)
		if err != nil {
			return r, err
		}
		r.Peer.Ops = a.Ops
		r.Ours.Ops, err = operators(ctx, model.session, model.feeds, s.seconds)
		return r, err
	}
	return r, nil
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

// inputs makes the inputs of a run, and files of them.
func (s *settings) inputs(session *onnx.Session) (list []datum, feeds map[string]tensor.Any, err error) {
	feeds = map[string]tensor.Any{}
	for i, v := range session.Inputs() {
		d, ok := v.Type.Elem.DType()
		if !ok || v.Type.Kind != onnx.KindTensor {
			return nil, nil, fmt.Errorf("input %v is no tensor of numbers", v)
		}
		in := datum{Name: v.Name, Type: v.Type.Elem.String(), Shape: []int{}, File: filepath.Join(s.scratch, fmt.Sprint("in", i))}
		for axis, e := range v.Type.Shape {
			n := int(e.Value)
			if n < 0 {
				n = 1
				for _, name := range []string{e.Param, fmt.Sprint(v.Name, ".", axis)} {
					if given, ok := s.dims[name]; ok {
						n = given
					}
				}
			}
			in.Shape = append(in.Shape, n)
		}
		if in.value, err = filled(d, uint64(i)+1, in.Shape); err != nil {
			return nil, nil, fmt.Errorf("input %v: %w", v, err)
		}
		b, ok := tensor.Bytes(in.value)
		if !ok {
			return nil, nil, fmt.Errorf("input %v: its elements are no bytes", v)
		}
		if err := os.WriteFile(in.File, b, 0o666); err != nil {
			return nil, nil, err
		}
		feeds[v.Name], list = in.value, append(list, in)
	}
	return list, feeds, nil
}

// filled returns a tensor of a type with random elements from a seed.
func filled(d dtype.DType, seed uint64, shape []int) (tensor.Any, error) {
	noise := tensor.RandomUniform[float32](seed, -1, 1, shape...)
	bits := op.Greater(noise, tensor.Scalar[float32](0)).Any()
	switch d {
	case dtype.Float32:
		return noise.Any(), nil
	case dtype.Float64:
		return op.Cast[float64](noise).Any(), nil
	case dtype.Bool:
		return bits, nil
	case dtype.Int64:
		return op.CastAs[int64](bits).Any(), nil
	case dtype.Int32:
		return op.CastAs[int32](bits).Any(), nil
	case dtype.Uint8:
		return op.CastAs[uint8](bits).Any(), nil
	case dtype.Int8:
		return op.CastAs[int8](bits).Any(), nil
	}
	return tensor.Any{}, fmt.Errorf("inputs of %v aren't made; want float32, float64, bool, int64, int32, uint8 or int8", d)
}

// ranked lists times, the largest first.
func ranked(times map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	var list []string
	for _, name := range names[:min(10, len(names))] {
		list = append(list, fmt.Sprintf("%s %.3f", name, times[name]))
	}
	return strings.Join(list, ", ")
}

// processor is its name, as Linux says it.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo") // elsewhere the architecture says enough
	for line := range strings.Lines(string(b)) {
		if _, name, ok := strings.Cut(line, "model name\t: "); ok {
			return fmt.Sprintf("%s, %d processors", strings.TrimSpace(name), runtime.NumCPU())
		}
	}
	return fmt.Sprintf("%s, %d processors", runtime.GOARCH, runtime.NumCPU())
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
