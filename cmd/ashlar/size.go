package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A memoryLimit is the flag --max-memory: bytes, -1 for none, or 0 while it isn't given.
type memoryLimit int64

var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// Set reads 2GiB, 500MB, 1048576B or none.
func (l *memoryLimit) Set(text string) error {
	if text == "none" {
		*l = -1
		return nil
	}
	digits, factor := "", 0.0 // a number without a unit is none: nobody means 128 bytes
	for _, u := range units {
		if d, ok := strings.CutSuffix(text, u.name); ok {
			digits, factor = strings.TrimSpace(d), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	if n := v * factor; err == nil && n >= 1 && n < math.MaxInt64 {
		*l = memoryLimit(n)
		return nil
	}
	return fmt.Errorf("want a size with its unit, such as 2GiB, 500MB or 4096B, or none")
}

func (l *memoryLimit) String() string {
	switch {
	case *l < 0:
		return "none"
	case *l == 0:
		return ""
	}
	for _, u := range slices.Backward(units[:4]) {
		if n := float64(*l) / u.bytes; n == math.Trunc(n) {
			return fmt.Sprintf("%.0f%s", n, u.name)
		}
	}
	return amount(int64(*l))
}

// Type is the word that stands for the value in the help text.
func (l *memoryLimit) Type() string { return "size" }

// amount writes a number of bytes for people. The largest int64 stands for any that is as large or larger.
func amount(n int64) string {
	switch {
	case n == math.MaxInt64:
		return "at least 8 EiB"
	case n >= 1<<40:
		return fmt.Sprintf("%.1f TiB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
