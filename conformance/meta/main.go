// Meta runs random graphs, each in random ways, and compares all results bit by bit.
//
//	go run ./conformance/meta [-seeds N] [-from SEED] [-nodes N] [-ways N] [-levels LIST] [-cover] [-table]
//	go run ./conformance/meta -check N | -update | -trace SEED
//	go run ./conformance/meta -one SEED -way TEXT [-dir DIR]
//
// A graph is drawn from its seed, and each node computed by itself: these results count. Then a session runs it in -ways
// ways: other threads, passes, files, limits, contexts. The graphs are also drawn, computed and run by processes with each level
// of ASHLAR_CPU in -levels. The last line has the numbers of graphs and runs, and a digest of all results, which every
// machine has for the same seeds. The exit status is 1 where a run differs. Lines before it say which operators, types,
// passes, routes of convolutions and kernels no graph has. With -cover, graphs are drawn for these, and it is a failure where none gets one,
// but for things that package meta excuses. -table prints how many graphs have each.
//
// With -check the digests of the first graphs of digests.txt, a thousand, are compared with this machine's, and -update
// writes the file. So another machine needs no second one. -trace prints the nodes of a graph with the digests of their
// results: the first line that two machines don't share names the node.
//
// With -one a case that differs is made as small as it can be. It is printed, and written into -dir as model.onnx and the
// tensors of its inputs.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
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
const version = "meta 4"

type options struct {
	seeds, nodes, ways int
	from               uint64
	levels, dir        string // dir is where files are written
	cover, table       bool
}

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 1000, "how many graphs")
	flag.Uint64Var(&o.from, "from", 0, "the first seed")
	flag.IntVar(&o.nodes, "nodes", 20, "how many nodes a graph has, without those that make operands")
	flag.IntVar(&o.ways, "ways", 8, "in how many ways a graph runs")
	flag.StringVar(&o.levels, "levels", "", "levels of ASHLAR_CPU between commas, each in a process")
	flag.BoolVar(&o.cover, "cover", false, "draw graphs for each operator, type, pass, route of convolutions and kernel that no graph has, and fail where none gets it")
	flag.BoolVar(&o.table, "table", false, "print how many graphs have each of these")
	plain := flag.Bool("digests", false, "print the seed and the digest of each graph, and the first of -ways in which it differs")
	check := flag.Int("check", 0, "how many graphs of digests.txt to compare")
	update := flag.Bool("update", false, "write digests.txt, in conformance/meta")
	trace := flag.Int64("trace", -1, "the seed of a graph whose nodes to print, with the digests of their results")
	one := flag.Uint64("one", 0, "the seed of a case to make small, with -way")
	way := flag.String("way", "", "the way in which it differs")
	dir := flag.String("dir", "", "where to write it")
	flag.Parse()
	var err error
	switch {
	case cpu.Err() != nil:
		err = cpu.Err()
	case *way != "":
		err = within(&o, func() error { return small(*one, o, *way, *dir) })
	case *update:
		text := version + "\n" + strings.Join(slices.Collect(lines(options{seeds: 1000, nodes: 20})), "\n") + "\n"
		err = os.WriteFile("conformance/meta/digests.txt", []byte(text), 0o644)
	case *check > 0:
		err = compare(digests, *check)
	case *trace >= 0:
		fmt.Print(meta.NewCase(uint64(*trace), o.nodes).Trace())
	case *plain:
		err = within(&o, func() error {
			for line := range lines(o) {
				fmt.Println(line)
			}
			return nil
		})
	default:
		err = within(&o, func() error { return run(o) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "meta:", err)
		os.Exit(1)
	}
}

// within calls f while o has a folder for files.
func within(o *options, f func() error) (err error) {
	if o.dir, err = os.MkdirTemp("", "meta"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	return f()
}

// lines are the seeds and digests of graphs.
func lines(o options) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range o.seeds {
			seed := o.from + uint64(i)
			c := meta.NewCase(seed, o.nodes)
			line := fmt.Sprintf("%d %x", seed, c.Digest())
			if err := ways(c, o); err != nil {
				line += fmt.Sprintf(" differs: %.1000q", err)
			}
			if !yield(line) {
				return
			}
		}
	}
}

// ways runs a graph in ways, and returns the first *Difference.
func ways(c *meta.Case, o options) error {
	r := rand.New(rand.NewPCG(c.Seed, 64))
	for range o.ways {
		if err := c.Run(meta.NewWay(r), o.dir); err != nil {
			return err
		}
	}
	return nil
}

// compare compares the first graphs of the text of digests.txt.
func compare(text string, most int) error {
	have, rest, _ := strings.Cut(text, "\n")
	if have != version {
		return fmt.Errorf("digests.txt is of %.40q, this program draws %q; take both from one commit, or write it anew with -update", have, version)
	}
	want := strings.Fields(rest)
	want = want[:min(len(want), 2*most)]
	if len(want)%2 != 0 || len(want) == 0 {
		return errors.New("digests.txt has no list of seeds and digests; -update writes it")
	}
	i, bad := 0, 0
	for got := range lines(options{seeds: len(want) / 2, nodes: 20}) {
		if line := want[i] + " " + want[i+1]; got != line {
			fmt.Printf("graph %s: here its digest is %s\n", line, strings.Fields(got)[1])
			bad++
		}
		i += 2
	}
	fmt.Printf("%s: %d graphs, %d differ, on %s/%s, %v\n", version, len(want)/2, bad, runtime.GOOS, runtime.GOARCH, cpu.Current())
	if bad > 0 {
		return fmt.Errorf("%d graphs differ; -trace SEED prints the nodes of one with the digests of their results, here and on another machine", bad)
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
	sum, nodes, runs, bad := sha256.New(), 0, 0, 0
	cover := meta.NewCoverage()
	for i := range o.seeds {
		seed := o.from + uint64(i)
		c := meta.NewCase(seed, o.nodes)
		line := fmt.Sprintf("%d %x", seed, c.Digest())
		fmt.Fprintln(sum, line)
		nodes += len(c.Model.Graph.Nodes)
		if err := cover.Add(c); err != nil {
			fmt.Printf("seed %d: %.1000v\n", seed, err)
			bad++
		}
		for level, child := range children {
			if got := child.next(); strings.HasPrefix(got, line+" differs") {
				fmt.Printf("level %s: graph %s\n", level, got)
				bad++
			} else if got != line {
				fmt.Printf("level %s: graph %s: there its digest is %s; %s\n", level, line, got, apart(level, c, o))
				bad++
			}
			runs += 1 + o.ways
		}
		runs += o.ways
		if err := ways(c, o); err != nil {
			fmt.Printf("seed %d: %.1000v\n  go run ./conformance/meta -one %d -way %q\n", seed, err, seed, err.(*meta.Difference).Way)
			bad++
		}
	}
	missing, wrong := cover.Missing()
	if o.cover {
		r, searched := rand.New(rand.NewPCG(o.from, 67)), 0
		for _, t := range missing {
			if err := cover.Search(t, func(c *meta.Case) error { searched++; return c.Run(meta.NewWay(r), o.dir) }); err != nil {
				fmt.Printf("a graph drawn for %v: %.1000v\n", t, err)
				bad++
			}
		}
		fmt.Printf("%d graphs more were drawn for %d things\n", searched, len(missing))
		missing, wrong = cover.Missing()
	}
	fmt.Print(cover)
	if o.table {
		fmt.Print(cover.Table())
	}
	fmt.Printf("%s: %d graphs of %d nodes, %d runs, %d differ, digest %x, on %s/%s, %v\n", version, o.seeds, nodes, runs, bad, sum.Sum(nil)[:8], runtime.GOOS, runtime.GOARCH, cpu.Current())
	if bad > 0 {
		return fmt.Errorf("%d graphs differ", bad)
	}
	switch {
	case len(wrong) > 0:
		return fmt.Errorf("a graph has %s, which package meta excuses", wrong)
	case o.cover && len(missing) > 0:
		return fmt.Errorf("no graph has %s", missing)
	}
	return nil
}

// A child is a process at another level.
type child struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	errors bytes.Buffer
}

// at is this program at a level.
func at(level string, args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	cmd := exec.Command(exe, args...)
	cmd.Env = append(slices.Clone(os.Environ()), "ASHLAR_CPU="+level)
	return cmd, err
}

// apart says at which node a graph's results at a level begin to differ from those of this process.
func apart(level string, c *meta.Case, o options) string {
	cmd, err := at(level, fmt.Sprint("-trace=", c.Seed), fmt.Sprint("-nodes=", o.nodes))
	if err != nil {
		return err.Error()
	}
	out, err := cmd.Output()
	if err != nil {
		return err.Error()
	}
	here, there := strings.Split(c.Trace(), "\n"), strings.Split(string(out), "\n")
	for i := range min(len(here), len(there)) {
		if here[i] != there[i] {
			return fmt.Sprintf("the first node is %s, there %s", here[i], there[i])
		}
	}
	return "no node differs in a second run"
}

func start(level string, o options) (*child, error) {
	cmd, err := at(level, "-digests", fmt.Sprint("-ways=", o.ways), fmt.Sprint("-seeds=", o.seeds), fmt.Sprint("-from=", o.from), fmt.Sprint("-nodes=", o.nodes))
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd}
	cmd.Stderr = &c.errors
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
func small(seed uint64, o options, text, into string) error {
	w, err := meta.ParseWay(text)
	if err != nil {
		return err
	}
	c := meta.NewCase(seed, o.nodes)
	if err := c.Run(w, o.dir); err == nil {
		return fmt.Errorf("seed %d gives what it should in this way", seed)
	}
	c, w = meta.Cut(c, w, func(c *meta.Case, w meta.Way) bool { return c.Run(w, o.dir) != nil })
	fmt.Println(c.Text())
	fmt.Println(c.Run(w, o.dir))
	if into == "" {
		return nil
	}
	return c.Write(into)
}
