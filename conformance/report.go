package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
)

// counts is how many cases ended how.
type counts struct{ passed, failed, unsupported, skipped int }

func (c *counts) add(d *counts) {
	c.passed += d.passed
	c.failed += d.failed
	c.unsupported += d.unsupported
	c.skipped += d.skipped
}

func (c *counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d unsupported, %d skipped", c.passed, c.failed, c.unsupported, c.skipped)
}

// floor is the floor file's entry for the counts.
func (c *counts) floor(s *suite) floor {
	f := floor{passed: c.passed}
	if s.name == "onnx" {
		f.of = c.passed + c.failed + c.unsupported + c.skipped
	}
	return f
}

// report collects the outcomes of one suite.
type report struct {
	suite, only string
	dir, root   string
	cache       string // of packages
	receipts    string // folder; "" for none
	row         string // of docs/arm.md, to be written; "" for none
	long        bool
	verbose     bool
	skips       map[string]string
	ops         map[string]*counts
	out         io.Writer
}

// path returns a folder of the suite's data: below -dir when that is given, else
// below ../shared.
func (r *report) path(shared string) string {
	if r.dir != "" {
		return filepath.Join(r.dir, r.suite)
	}
	return filepath.Join(r.root, "..", "shared", shared)
}

// wants reports whether cases of an operation are to be run.
func (r *report) wants(op string) bool { return r.only == "" || r.only == op }

// unsupported is the outcome of a case that needs something this library doesn't
// have.
type unsupported struct{ reason string }

func (u unsupported) Error() string { return u.reason }

// skipped is the outcome of a case that is not to be run.
type skipped struct{ reason string }

func (s skipped) Error() string { return s.reason }

// skip returns the reason why a case is skipped, if it is.
func (r *report) skip(op, name string) (string, bool) {
	reason, ok := r.skips[r.suite+"/"+op+"/"+name]
	return reason, ok
}

// record counts the outcome of a case: nil passed.
func (r *report) record(op, name string, err error) {
	c := r.ops[op]
	if c == nil {
		c = new(counts)
		r.ops[op] = c
	}
	word := "FAILED"
	switch {
	case err == nil:
		c.passed++
		return
	case errors.As(err, new(unsupported)):
		c.unsupported++
		word = "unsupported"
	case errors.As(err, new(skipped)):
		c.skipped++
		word = "skipped"
	default:
		c.failed++
	}
	if r.verbose {
		fmt.Fprintf(r.out, "%s %s/%s/%s: %v\n", word, r.suite, op, name, err)
	}
}

// judge records the outcome of a case unless it is skipped. A panic of the code
// of a case is a failure, also where an error is right.
func (r *report) judge(op, name string, f func() error) {
	if reason, ok := r.skip(op, name); ok {
		r.record(op, name, skipped{reason})
		return
	}
	r.record(op, name, caught(f))
}

func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
