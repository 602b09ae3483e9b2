// Meta runs random graphs, each in random ways, and compares all results bit by bit.
//
//	go run ./conformance/meta [-seeds N] [-from SEED] [-nodes N] [-ways N] [-levels LIST]
//	go run ./conformance/meta -check | -update
//	go run ./conformance/meta -one SEED -way TEXT [-dir DIR]
//
// A graph is drawn from its seed, and each node computed by itself: these results count. Then a session runs it in -ways
// ways: other threads, passes, files, limits, contexts. The graphs are also drawn and computed by processes with each level
// of ASHLAR_CPU in -levels. The last line has the numbers of graphs and runs, and a digest of all results, which every
// machine has for the same seeds. The exit status is 1 where a run differs.
//
// With -check the digests of a thousand graphs are compared with digests.txt, and -update writes it. So another machine
// needs no second one.
//
// With -one a case that differs is made as small as it can be. It is printed, and written into -dir as model.onnx and the
// tensors of its inputs.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/meta"
)

//go:embed digests.txt
var digests string

// version is of the way to draw graphs: another one has other digests.
const version = "meta 1"

type options struct {
	seeds, nodes, ways int
	from               uint64
	levels             string
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 1000, "how many graphs")
	flag.Uint64Var(&o.from, "from", 0, "the first seed")
	flag.IntVar(&o.nodes, "nodes", 20, "how many nodes a graph has, without those that make operands")
	flag.IntVar(&o.ways, "ways", 8, "in how many ways a graph runs")
	flag.StringVar(&o.levels, "levels", "", "levels of ASHLAR_CPU between commas, each in a process")
	plain := flag.Bool("digests", false, "print the seed and the digest of each graph, and run it in no way")
	check := flag.Bool("check", false, "compare with digests.txt")
	update := flag.Bool("update", false, "write digests.txt, in conformance/meta")
	one := flag.Uint64("one", 0, "the seed of a case to make small, with -way")
	way := flag.String("way", "", "the way in which it differs")
	dir := flag.String("dir", "", "where to write it")
	flag.Parse()
	var err error
	switch {
	case cpu.Err() != nil:
		err = cpu.Err()
	case *way != "":
		err = small(*one, o.nodes, *way, *dir)
	case *update:
		text := version + "\n" + strings.Join(slices.Collect(lines(options{seeds: 1000, nodes: 20})), "\n") + "\n"
		err = os.WriteFile("conformance/meta/digests.txt", []byte(text), 0o644)
	case *check:
		err = compare()
	case *plain:
		for line := range lines(o) {
			fmt.Println(line)
		}
	default:
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "meta:", err)
		os.Exit(1)
	}
}

// lines are the seeds and digests of graphs.
func lines(o options) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range o.seeds {
			seed := o.from + uint64(i)
			if !yield(fmt.Sprintf("%d %x", seed, meta.NewCase(seed, o.nodes).Digest())) {
				return
			}
		}
	}
}

// compare compares the graphs of digests.txt.
func compare() error {
	have, rest, _ := strings.Cut(digests, "\n")
	if have != version {
		return fmt.Errorf("digests.txt is of %q, this program draws %q; take both from one commit", have, version)
	}
	want := strings.Split(strings.TrimSpace(rest), "\n")
	got := slices.Collect(lines(options{seeds: len(want), nodes: 20}))
	bad := 0
	for i := range want {
		if got[i] != want[i] {
			fmt.Printf("graph %s: its digest is %s\n", want[i], got[i])
			bad++
		}
	}
	fmt.Printf("%d graphs, %d differ, on %s/%s, %v\n", len(want), bad, runtime.GOOS, runtime.GOARCH, cpu.Current())
	if bad > 0 {
		return fmt.Errorf("%d graphs differ; -seeds 1 -from SEED runs one", bad)
	}
	return nil
}

// run runs graphs in ways, and at levels.
func run(o options) error {
	children := make(map[string]*child)
	for _, level := range strings.FieldsFunc(o.levels, func(r rune) bool { return r == ',' }) {
		c, err := start(level, o)
		if err != nil {
			return err
		}
		children[level] = c
	}
	dir, err := os.MkdirTemp("", "meta")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sum, nodes, runs, bad := sha256.New(), 0, 0, 0
	for i := range o.seeds {
		seed := o.from + uint64(i)
		c := meta.NewCase(seed, o.nodes)
		line := fmt.Sprintf("%d %x", seed, c.Digest())
		fmt.Fprintln(sum, line)
		nodes += len(c.Model.Graph.Nodes)
		for level, child := range children {
			if got := child.next(); got != line {
				fmt.Printf("level %s: graph %s: its digest is %s\n", level, line, got)
				bad++
			}
			runs++
		}
		r := rand.New(rand.NewPCG(seed, 64))
		for range o.ways {
			runs++
			if err := c.Run(meta.NewWay(r), dir); err != nil {
				fmt.Printf("seed %d: %.1000v\n  go run ./conformance/meta -one %d -way %q\n", seed, err, seed, err.(*meta.Difference).Way)
				bad++
				break
			}
		}
	}
	fmt.Printf("%d graphs of %d nodes, %d runs, %d differ, digest %x, on %s/%s, %v\n", o.seeds, nodes, runs, bad, sum.Sum(nil)[:8], runtime.GOOS, runtime.GOARCH, cpu.Current())
	if bad > 0 {
		return fmt.Errorf("%d graphs differ", bad)
	}
	return nil
}

// A child is a process at another level.
type child struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	errors bytes.Buffer
}

func start(level string, o options) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(exe, "-digests", fmt.Sprint("-seeds=", o.seeds), fmt.Sprint("-from=", o.from), fmt.Sprint("-nodes=", o.nodes))}
	c.cmd.Env, c.cmd.Stderr = append(slices.Clone(os.Environ()), "ASHLAR_CPU="+level), &c.errors
	pipe, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(pipe)
	return c, c.cmd.Start()
}

// next is the next line, or the reason why there is none.
func (c *child) next() string {
	if c.out.Scan() {
		return c.out.Text()
	}
	_ = c.cmd.Wait()
	return "missing: " + c.errors.String()
}

// small makes a case small, and prints it.
func small(seed uint64, nodes int, text, into string) error {
	w, err := meta.ParseWay(text)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "meta")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := meta.NewCase(seed, nodes)
	if err := c.Run(w, dir); err == nil {
		return fmt.Errorf("seed %d gives what it should in this way", seed)
	}
	c, w = meta.Cut(c, w, func(c *meta.Case, w meta.Way) bool { return c.Run(w, dir) != nil })
	fmt.Println(c.Text())
	fmt.Println(c.Run(w, dir))
	if into == "" {
		return nil
	}
	return c.Write(into)
}
