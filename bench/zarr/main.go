// Command zarr measures how fast an array of Zarr is read and written, beside npm's zarrita (version 3) and Debian's
// zarr-python (version 2). The array has 2 GiB of uint16: a slope and four bits of noise, in chunks of 1 MiB that zstd
// compresses at level 3. In version 3 they lie in shards of 64 MiB, for zarrita's writing and in version 2 each in a file.
//
//	apt-get install python3-zarr
//	npm install --prefix FOLDER --ignore-scripts zarrita@0.7.5
//	go run ./zarr -node FOLDER [-dir FOLDER] [-rounds N] [-f FILTER]
//
// All read eight slabs of 256 MiB and write two, from and to files that the system has in memory, and take turns. A line
// has the best of the rounds in MiB of elements a second. Sums of the elements are compared. It takes 2 GiB of disk, which it
// gives back. FILTER is a regular expression on the lines.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/format/zarr"
	"github.com/ashlar-go/ashlar/tensor"
)

const (
	slabs, step   = 8, 256
	writeSlabs    = 2
	rows, columns = 1024, 512
	slabBytes     = step * rows * columns * 2
)

//go:embed peer.mjs
var mjs []byte

//go:embed peer.py
var py []byte

func slab() tensor.Tensor[uint16] {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]uint16, step*rows*columns)
	for k := range data {
		data[k] = uint16(1000 + (k>>12)%3000 + r.IntN(16))
	}
	return tensor.FromSlice(data, step, rows, columns)
}

func create(folder string, version, workers int) (*zarr.Array, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	s, err := zarr.Dir(folder)
	if err != nil {
		return nil, err
	}
	m := zarr.Metadata{Version: version, DType: dtype.Uint16, Shape: []int{step * slabs, rows, columns}, Chunks: []int{32, 32, 512}}
	if version == 3 {
		m.Chunks, m.Inner = []int{256, 256, 512}, m.Chunks
	}
	return zarr.Create(context.Background(), s, "", m, &zarr.Options{Workers: workers})
}

func write(a *zarr.Array, data tensor.Tensor[uint16], slabs int) (time.Duration, error) {
	start := time.Now()
	for i := range slabs {
		if err := a.Write(context.Background(), []int{i * step, 0, 0}, data.Any()); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func read(folder string, workers int) (time.Duration, uint32, error) {
	s, err := zarr.Dir(folder)
	if err != nil {
		return 0, 0, err
	}
	ctx := context.Background()
	a, err := zarr.Open(ctx, s, "", &zarr.Options{Workers: workers})
	if err != nil {
		return 0, 0, err
	}
	start, sum := time.Now(), uint32(0)
	for i := range slabs {
		t, err := a.Slice(ctx, []int{i * step, 0, 0}, []int{(i + 1) * step, rows, columns})
		if err != nil {
			return 0, 0, err
		}
		elements, ok := tensor.As[uint16](t)
		if !ok {
			return 0, 0, fmt.Errorf("%v where uint16 was written", t.DType())
		}
		data, _ := elements.Data()
		for k := 0; k < len(data); k += 9973 {
			sum += uint32(data[k])
		}
		t.Close()
	}
	return time.Since(start), sum, nil
}

// A peer is another program that reads or writes.
type peer []string

func (p peer) run(args ...string) (time.Duration, uint32, error) {
	c := exec.Command(p[0], slices.Concat(p[1:], args)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	var seconds float64
	var sum uint32
	if err == nil {
		_, err = fmt.Sscan(string(out), &seconds, &sum)
	}
	return time.Duration(seconds * float64(time.Second)), sum, err
}

func main() {
	node := flag.String("node", "", "folder where npm installed zarrita; without it zarrita is left out")
	python := flag.String("python", "/usr/bin/python3", "the Python that has zarr; empty: it is left out")
	dir := flag.String("dir", "", "folder for the data")
	rounds := flag.Int("rounds", 3, "rounds")
	filter := flag.String("f", "", "regular expression on the lines")
	flag.Parse()
	if err := run(*node, *python, *dir, *rounds, *filter); err != nil {
		log.Fatal(err)
	}
}

func run(node, python, dir string, rounds int, filter string) error {
	match, err := regexp.Compile(filter)
	if err != nil {
		return err
	}
	dir, err = os.MkdirTemp(dir, "ashlar-zarr-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	data := slab()
	type subject struct {
		name string
		run  func() (time.Duration, uint32, error)
	}
	all := runtime.GOMAXPROCS(0)
	var list []subject
	add := func(name string, f func() (time.Duration, uint32, error)) { list = append(list, subject{name, f}) }
	for _, workers := range slices.Compact([]int{1, all}) {
		for _, v := range []string{"v3", "v2"} {
			add(fmt.Sprintf("read %s, Ashlar, workers: %d", v, workers), func() (time.Duration, uint32, error) { return read(at(v), workers) })
		}
	}
	wrote := func(version int) func() (time.Duration, uint32, error) {
		return func() (time.Duration, uint32, error) {
			defer os.RemoveAll(at("w"))
			a, err := create(at("w"), version, all)
			if err != nil {
				return 0, 0, err
			}
			d, err := write(a, data, writeSlabs)
			return d, 0, err
		}
	}
	script := func(name string, text []byte) (string, error) { return at(name), os.WriteFile(at(name), text, 0o666) }
	add(fmt.Sprintf("write v3, Ashlar, workers: %d", all), wrote(3))
	add(fmt.Sprintf("write v2, Ashlar, workers: %d", all), wrote(2))
	writer := func(p peer) func() (time.Duration, uint32, error) {
		return func() (time.Duration, uint32, error) {
			defer os.RemoveAll(at("w"))
			return p.run("write", at("w"), fmt.Sprint(writeSlabs))
		}
	}
	if node != "" {
		path, err := script("peer.mjs", mjs)
		if err != nil {
			return err
		}
		p := peer{"node", path, node}
		add("read v3, zarrita", func() (time.Duration, uint32, error) { return p.run("read", at("v3"), fmt.Sprint(slabs)) })
		add("write v3 without shards, zarrita", writer(p))
	}
	if python != "" {
		path, err := script("peer.py", py)
		if err != nil {
			return err
		}
		p := peer{python, path}
		add("read v2, zarr-python", func() (time.Duration, uint32, error) { return p.run("read", at("v2"), fmt.Sprint(slabs)) })
		add("write v2, zarr-python", writer(p))
	}
	list = slices.DeleteFunc(list, func(s subject) bool { return !match.MatchString(s.name) })
	if slices.ContainsFunc(list, func(s subject) bool { return strings.HasPrefix(s.name, "read") }) {
		for version, name := range map[int]string{2: "v2", 3: "v3"} {
			a, err := create(at(name), version, runtime.GOMAXPROCS(0))
			if err == nil {
				_, err = write(a, data, slabs)
			}
			if err != nil {
				return err
			}
		}
	}
	times := make([][]time.Duration, len(list))
	var want uint32
	for range rounds {
		for i, s := range list {
			d, sum, err := s.run()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if want == 0 {
				want = sum
			}
			if sum != want && sum != 0 {
				return fmt.Errorf("%s: the sum is %d, not %d", s.name, sum, want)
			}
			times[i] = append(times[i], d)
		}
	}
	for i, s := range list {
		slices.Sort(times[i])
		n := slabs
		if strings.HasPrefix(s.name, "write") {
			n = writeSlabs
		}
		fmt.Printf("%-34s %6.0f MiB/s\n", s.name, float64(n*slabBytes>>20)/times[i][0].Seconds())
	}
	return nil
}
