package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
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
