package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/op"
)

// TestBoard finds each model of the scoreboard once, by its name and by its file.
func TestBoard(t *testing.T) {
	if len(board) != 29 {
		t.Errorf("the scoreboard has %d models, want 29", len(board))
	}
	folder := t.TempDir()
	names, files := map[string]bool{}, map[string]bool{}
	for _, m := range board {
		if names[m.name] {
			t.Errorf("two models are named %s", m.name)
		}
		if names[m.name] = true; m.build != nil {
			continue
		}
		if file, err := m.at(folder, folder, []string{folder}); err == nil || !strings.Contains(err.Error(), m.from) {
			t.Errorf("%s isn't there: %q, %v; want an error that names %s", m.name, file, err, m.from)
		}
		want := filepath.Join(folder, "models", filepath.FromSlash(m.tail))
		if m.isPackage() {
			want = filepath.Join(packageFolder(folder, m.from), filepath.FromSlash(m.tail))
		}
		if files[want] {
			t.Errorf("two models have the file %s", want)
		}
		files[want] = true
		if err := os.MkdirAll(filepath.Dir(want), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(want, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := m.at(folder, folder, []string{folder}); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", m.name, got, err, want)
		}
	}
}

func TestChosen(t *testing.T) {
	name := func(list []subject) (names []string) {
		for _, m := range list {
			names = append(names, m.name)
		}
		return names
	}
	some, err := chosen(board, regexp.MustCompile("mlsd|dtln"), nil)
	if got, want := name(some), []string{"dtln/model_1", "dtln/model_2", "mlsd 320 tiny"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	some, err = chosen(board, regexp.MustCompile(""), []string{"x/a.onnx", "y/node_modules/p/b.onnx"})
	if got, want := name(some), []string{filepath.Join("x", "a.onnx"), "p/b.onnx"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err = chosen(board, regexp.MustCompile("no such model"), nil); err == nil {
		t.Error("no model is chosen without an error")
	}
}

// TestMade makes every case and model that has no file, and runs it.
func TestMade(t *testing.T) {
	s := settings{scratch: t.TempDir(), cases: true}
	names := map[string]bool{}
	for _, m := range append(cases(), board...) {
		if m.build == nil {
			continue
		}
		if names[m.name] {
			t.Errorf("two cases are named %s", m.name)
		}
		names[m.name] = true
		file, err := m.at("", s.scratch, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := s.begin(op.WithThreads(context.Background(), 1), file, nil)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		cost, err := r.model.Cost(r.feeds)
		if err != nil || cost.FLOPs <= 0 && !strings.HasPrefix(m.name, "Resize") {
			t.Errorf("%s: %v operations, %v", m.name, cost, err)
		}
		for name, a := range r.outputs {
			if a.Len() == 0 || len(r.outputs) != 1 {
				t.Errorf("%s: output %q is %v, of %d", m.name, name, a.Shape(), len(r.outputs))
			}
		}
		r.close()
	}
}
