//go:build linux

package main

import (
	"flag"
	"slices"
	"testing"
)

var library = flag.String("library", "", "the file of ONNX Runtime's library; without it TestTurns is skipped")

const digits = "../../testdata/digits.onnx"

// grown reports whether the second half of the readings lies more than 5 % above the first, by medians.
func grown(list []float64) bool {
	median := func(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }
	return median(list[readings/2:]) > 1.05*median(list[:readings/2])
}

func TestRounds(t *testing.T) {
	if resident() == 0 {
		t.Skip("skipped: /proc/self/statm doesn't say the resident memory here")
	}
	list, err := rounds(1000, func() error {
		_, err := load(digits)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if grown(list) {
		t.Errorf("resident memory grew, in MiB: %.1f", list)
	}
	t.Logf("%.1f", list)
	var kept [][]byte
	list, err = rounds(1000, func() error { // a round that keeps 8 KiB is seen
		b := make([]byte, 8<<10)
		for i := range b {
			b[i] = byte(len(kept))
		}
		kept = append(kept, b)
		return nil
	})
	if err != nil || !grown(list) {
		t.Errorf("8 KiB that each of %d rounds keeps aren't seen, in MiB: %.1f, %v", len(kept), list, err)
	}
}

// TestTurns has ONNX Runtime's library in this process.
func TestTurns(t *testing.T) {
	if *library == "" {
		t.Skip("skipped: give -args -library libonnxruntime.so.1, as npm's package onnxruntime-node holds it")
	}
	list, err := turns(100, *library, digits)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f", list)
}

func TestFar(t *testing.T) {
	nan := [][]float32{{1, float32nan()}}
	for _, b := range [][][]float32{{{1}}, {{1, 2.5}}, nan} {
		if far([][]float32{{1, 2}}, b, 0.25) == nil {
			t.Errorf("%v is near 1 and 2", b)
		}
	}
	if err := far([][]float32{{1, 2}}, [][]float32{{1, 2.25}}, 0.25); err != nil {
		t.Error(err)
	}
}

func float32nan() (v float32) { return v / v }
