package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

const digestFile = "conformance/verify/digests.txt"

// readDigests returns the lines of a digest file by function name.
func readDigests(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if name, _, ok := strings.Cut(s.Text(), " "); ok && name != "#" {
			lines[name] = s.Text()
		}
	}
	return lines, nil
}

// updateDigest puts a function's line into the file in place of its old one.
func updateDigest(path, line string) error {
	lines, err := readDigests(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if lines == nil {
		lines = map[string]string{}
	}
	name, _, _ := strings.Cut(line, " ")
	lines[name] = line
	var b bytes.Buffer
	b.WriteString("# Results of go run ./conformance/verify -update: so many inputs, 2^32 being all of 32 bits, against the correctly rounded value; functions of float64 and of two arguments by their largest error.\n")
	sorted := make([]string, 0, len(lines))
	for _, l := range lines {
		sorted = append(sorted, l)
	}
	slices.Sort(sorted)
	for _, l := range sorted {
		fmt.Fprintln(&b, l)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
