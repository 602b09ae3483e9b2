package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A floor is how many cases of an operation pass, and of how many. The second
// number is 0 for the suites but onnx, whose counts docs/onnx.md shows.
type floor struct{ passed, of int }

// readFloors reads lines of SUITE OPERATION PASSED, and OF in the suite onnx, by
// "SUITE OPERATION". No file is no floors.
func readFloors(path string) (map[string]floor, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	floors := map[string]floor{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 && (len(fields) != 4 || fields[0] != "onnx") {
			return nil, fmt.Errorf("%s: %q is not SUITE OPERATION PASSED", path, strings.TrimSpace(line))
		}
		var n [2]int
		for i, f := range fields[2:] {
			if n[i], err = strconv.Atoi(f); err != nil {
				return nil, fmt.Errorf("%s: %q: %v", path, strings.TrimSpace(line), err)
			}
		}
		floors[fields[0]+" "+fields[1]] = floor{n[0], n[1]}
	}
	return floors, nil
}

func writeFloors(path string, floors map[string]floor) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(floors)) {
		f := floors[key]
		fmt.Fprintf(&b, "%s %d", key, f.passed)
		if f.of > 0 {
			fmt.Fprintf(&b, " %d", f.of)
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// readSkips reads lines of SUITE/OPERATION/CASE and a reason. No file is no skips.
func readSkips(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	skips := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, reason, _ := strings.Cut(line, " ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %q has no reason", path, line)
		}
		skips[key] = reason
	}
	return skips, nil
}
