// Command onnxruntime measures models beside ONNX Runtime, both on one thread: LSTM and GRU of 32 steps that have as many
// features as units, and the models named by arguments. FOLDER is where npm put it:
//
//	npm install --prefix FOLDER --ignore-scripts onnxruntime-node@1.30.0 @ricky0123/vad-web@0.0.31
//	go run ./onnxruntime FOLDER FOLDER/node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx
//
// A line has the least time of a run of each in microseconds, and the quotient, which is above 1 where Ashlar is faster. A model
// whose input "state" becomes its output "stateN", as that of silero v5, has a second line: of Session.Stream beside the same times of
// ONNX Runtime. Five rounds go in turns. Where the model leaves an extent of an input open it is 1, and 512 on the last axis: the samples of 32 ms, at
// the rate that integers get.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	rounds = 5
	turn   = 150 * time.Millisecond
)

//go:embed peer.mjs
var script string

// A peer is a process of node that runs models.
type peer struct {
	in  io.Writer
	out *bufio.Scanner
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
	return &peer{in, bufio.NewScanner(out)}, c.Start()
}

type input struct {
	Name, Type string
	Shape      []int
	Elems      []float64
}

// least returns the time of the fastest run of one turn, in microseconds.
func (p *peer) least(path string, inputs []input) (us float64, err error) {
	line, err := json.Marshal(map[string]any{"Path": path, "Inputs": inputs, "Seconds": turn.Seconds()})
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(p.in, "%s\n", line); err != nil {
		return 0, err
	}
	if !p.out.Scan() {
		return 0, fmt.Errorf("node ended: %v", p.out.Err())
	}
	_, err = fmt.Sscan(p.out.Text(), &us)
	return us, err
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: go run ./onnxruntime FOLDER [MODEL...]")
	}
	folder, err := filepath.Abs(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	p, err := start(folder)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "recurrent")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, kind := range []string{"LSTM", "GRU"} {
		for _, units := range []int{64, 128, 256, 512} {
			for _, batch := range []int{1, 16} {
				path, err := recurrent(dir, kind, units, batch)
				if err == nil {
					err = p.compare(fmt.Sprintf("%s/%d/%d", kind, units, batch), path)
				}
				if err != nil {
					log.Fatal(err)
				}
			}
		}
	}
	for _, path := range os.Args[2:] {
		if path, err = filepath.Abs(path); err == nil {
			err = p.compare(filepath.Base(path), path)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// recurrent writes a model of one layer.
func recurrent(dir, kind string, units, batch int) (path string, err error) {
	const steps = 32
	gates := map[string]int{"LSTM": 4, "GRU": 3}[kind]
	b := onnx.NewBuilder(kind)
	weight := func(name string, seed uint64, shape ...int) string {
		return b.Weight(name, tensor.RandomUniform[float32](seed, -0.1, 0.1, shape...).Any())
	}
	x := b.Input("x", dtype.Float32, steps, batch, units)
	in := []string{x, weight("w", 1, 1, gates*units, units), weight("r", 2, 1, gates*units, units), weight("b", 3, 1, 2*gates*units)}
	attrs := []onnx.Attribute{onnx.IntAttr("hidden_size", int64(units))}
	if kind == "GRU" {
		attrs = append(attrs, onnx.IntAttr("linear_before_reset", 1)) // as PyTorch exports it
	}
	b.Output(b.Nodes(kind, 2, in, attrs...)[0], dtype.Float32, steps, 1, batch, units)
	m, err := b.Model(14)
	if err != nil {
		return "", err
	}
	data, err := onnx.Encode(m)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-%d-%d.onnx", kind, units, batch))
	return path, os.WriteFile(path, data, 0o666)
}

// compare measures a model in turns, and prints the least times.
func (p *peer) compare(name, path string) error {
	m, err := onnx.Open(path)
	if err != nil {
		return err
	}
	s, err := onnx.NewSession(m)
	if err != nil {
		return err
	}
	feeds, list := map[string]tensor.Any{}, []input{}
	for _, v := range s.Inputs() {
		a, in, err := feed(v)
		if err != nil {
			return err
		}
		feeds[v.Name] = a
		list = append(list, in)
	}
	ctx := op.WithThreads(context.Background(), 1)
	ours, streamed, theirs := 1e12, 1e12, 1e12
	run := func() error {
		_, err := s.Run(ctx, feeds, nil)
		return err
	}
	var stream func() error
	if _, ok := feeds["state"]; ok {
		st, err := s.Stream(&onnx.StreamOptions{State: map[string]string{"stateN": "state"}})
		if err != nil {
			return err
		}
		defer st.Close()
		if _, err := st.Run(ctx, feeds); err != nil { // it gives the state its shape
			return err
		}
		rest := maps.Clone(feeds)
		delete(rest, "state")
		stream = func() error {
			_, err := st.Run(ctx, rest)
			return err
		}
	}
	for range rounds {
		us, err := p.least(path, list)
		if err != nil {
			return err
		}
		theirs = min(theirs, us)
		for f, best := range map[*func() error]*float64{&run: &ours, &stream: &streamed} {
			for end := time.Now().Add(turn); *f != nil && time.Now().Before(end); {
				from := time.Now()
				if err := (*f)(); err != nil {
					return err
				}
				*best = min(*best, float64(time.Since(from).Nanoseconds())/1e3)
			}
		}
	}
	const line = "%-24s %9.1f µs, ONNX Runtime %9.1f µs: %.2f\n"
	fmt.Printf(line, name, ours, theirs, theirs/ours)
	if stream != nil {
		fmt.Printf(line, "  by Session.Stream", streamed, theirs, theirs/streamed)
	}
	return nil
}

// feed makes an input, of numbers that repeat.
func feed(v onnx.ValueInfo) (a tensor.Any, in input, err error) {
	in = input{Name: v.Name, Type: v.Type.Elem.String(), Shape: []int{}}
	n := 1
	for i, d := range v.Type.Shape {
		e := int(d.Value)
		if e < 0 {
			e = 1
			if i > 0 && i == len(v.Type.Shape)-1 {
				e = 512
			}
		}
		n *= e
		in.Shape = append(in.Shape, e)
	}
	for i := range n {
		in.Elems = append(in.Elems, float64(i%17-8)/32)
	}
	all := tensor.FromSlice(in.Elems, in.Shape...)
	switch in.Type {
	case "float32":
		return op.Cast[float32](all).Any(), in, nil
	case "int64":
		for i := range in.Elems {
			in.Elems[i] = 16000
		}
		return op.Cast[int64](all).Any(), in, nil
	}
	return a, in, fmt.Errorf("input %v: want float32 or int64", v)
}
