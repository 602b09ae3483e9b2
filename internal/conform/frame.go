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

// framed reads a suite that has no runner: every case of its files counts as
// unsupported under the file's name.
func framed(r *report) error {
	files, err := r.files("*.json")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := r.unsupportedFile(f, strings.TrimSuffix(filepath.Base(f), ".json"), b); err != nil {
			return err
		}
	}
	return nil
}

// unsupportedFile counts every case of a file as unsupported.
func (r *report) unsupportedFile(file, op string, text []byte) error {
	var data struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("%s: %v", file, err)
	}
	if r.wants(op) {
		for i := range data.Cases {
			r.record(op, fmt.Sprint(i), unsupported{"there is no runner for it"})
		}
	}
	return nil
}
