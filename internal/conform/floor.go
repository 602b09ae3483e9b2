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

// readFloors reads lines of SUITE OPERATION PASSED, by "SUITE OPERATION". No file
// is no floors.
func readFloors(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	floors := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %q is not SUITE OPERATION PASSED", path, strings.TrimSpace(line))
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %v", path, strings.TrimSpace(line), err)
		}
		floors[fields[0]+" "+fields[1]] = n
	}
	return floors, nil
}

func writeFloors(path string, floors map[string]int) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(floors)) {
		fmt.Fprintf(&b, "%s %d\n", key, floors[key])
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
