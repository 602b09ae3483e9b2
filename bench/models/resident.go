package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-go/ashlar/op"
)

// apart has another process of this program load and run a model, and returns the time and memory that this took.
func (s *settings) apart(file string, n int, dims map[string]int) (r side, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	flags := slices.Clone(os.Args[1 : len(os.Args)-flag.NArg()])
	for name, extent := range dims {
		flags = append(flags, "-dim", fmt.Sprint(name, "=", extent))
	}
	c := exec.Command(self, slices.Concat([]string{"-alone", strconv.Itoa(n)}, flags, []string{s.folder, file})...)
	c.Stderr = os.Stderr
	b, err := c.Output()
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// loaded is that other process.
func (s *settings) loaded(file string) error {
	before := resident("VmRSS:")
	r, err := s.begin(op.WithThreads(context.Background(), s.alone), file, s.dims)
	if err != nil {
		return err
	}
	defer r.close()
	return json.NewEncoder(os.Stdout).Encode(side{Load: ms(r.load), Peak: resident("VmHWM:") - before})
}

// resident is a number of KiB that Linux says of this process, 0 elsewhere: VmRSS, its resident memory, or VmHWM, the peak of that.
func resident(name string) int64 {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), name)
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n
}
