package main

import (
	"bytes"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/internal/core/contract"
	"github.com/ashlar-go/ashlar/tensor"
)

// Each measured number has a line, whose call has the same bits either way, and for each size.
func TestThresholds(t *testing.T) {
	var names []string
	for i := range thresholds {
		c := &thresholds[i]
		names = append(names, c.name)
		n := contract.Measured()[c.name]
		if n == nil {
			t.Fatalf("package contract has no %s", c.name)
		}
		was, v, set := *n, min(*n/2, 64), []int{math.MaxInt32, 0}
		if c.ways == ([2]string{}) {
			v, set = was, []int{was / 2, was, 2 * was}
		}
		var want []byte
		for _, s := range set {
			*n = s
			got := c.call(v)()
			bits, _ := tensor.Bytes(got)
			if want == nil {
				want = bytes.Clone(bits)
			}
			if len(bits) == 0 || !bytes.Equal(bits, want) {
				t.Errorf("%s = %d gives other bits than %d", c.name, s, set[0])
			}
			runtime.KeepAlive(got)
		}
		*n = was
	}
	slices.Sort(names)
	if all := slices.Sorted(maps.Keys(contract.Measured())); !slices.Equal(names, all) {
		t.Errorf("lines of %v; package contract measured %v", names, all)
	}
}

// A line says the value, the times and the ways.
func TestCalibrate(t *testing.T) {
	all := thresholds
	defer func() { thresholds = all }()
	thresholds = []threshold{
		{"shortLine", [2]string{"deep", "windows"}, func(v int) func() tensor.Any { return convolution(2, 2, 2, v, v, 3) }},
		{"deepTile", [2]string{}, func(int) func() tensor.Any { return convolution(2, 2, 2, 4, 4, 3) }},
	}
	was := make(map[string]int)
	for name, n := range contract.Measured() {
		was[name] = *n
	}
	var out strings.Builder
	calibrate(&out, 0)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[1], "shortLine               16 ") || !strings.Contains(lines[0], "µs windows") || strings.Count(lines[5], "µs") != 1 {
		t.Errorf("%s", out.String())
	}
	for name, n := range contract.Measured() {
		if *n != was[name] {
			t.Errorf("%s is %d after a calibration, want %d", name, *n, was[name])
		}
	}
}
