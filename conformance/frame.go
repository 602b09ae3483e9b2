package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// files returns the files of the suite's data, below conformance/ by default.
func (r *report) files(pattern string) ([]string, error) {
	root := r.path("conformance/" + r.suite)
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no %s of suite %s in %s; -dir names another root", pattern, r.suite, root)
	}
	return files, err
}

// cases calls f for each file of the suite: with its path, its name without the end, its text and its cases.
func (r *report) cases(f func(path, name string, text []byte, cases []json.RawMessage) error) error {
	files, err := r.files("*.json")
	if err != nil {
		return err
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(b, &file); err != nil {
			return fmt.Errorf("%s: %v", path, err)
		}
		if err := f(path, strings.TrimSuffix(filepath.Base(path), ".json"), b, file.Cases); err != nil {
			return err
		}
	}
	return nil
}

// unsupportedFile counts the cases of a file as unsupported.
func (r *report) unsupportedFile(op string, cases int) {
	if r.wants(op) {
		for i := range cases {
			r.record(op, fmt.Sprint(i), unsupported{"there is no runner for it"})
		}
	}
}
