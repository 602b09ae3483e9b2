package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/internal/core/cpu"
	"github.com/ashlar-go/ashlar/internal/core/plan"
	"github.com/ashlar-go/ashlar/op/all"
)

// The page of operators has the text that the command prints on amd64. It says which operators have kernels on arm64.
func TestOperatorsPage(t *testing.T) {
	c := newCall(nil)
	if c.with("ops", "--md"); c.code != 0 {
		t.Fatal(c.code, c.err.String())
	}
	const page = "../../docs/operators.md"
	if runtime.GOARCH == "arm64" && cpu.Detect() != cpu.Generic {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words := map[string]string{"avx": "neon", "512": "neon", "amd": "go", "go": "go"}
		for _, o := range all.Operators() {
			_, line, ok := strings.Cut(string(text), fmt.Sprintf("\n| [%s](%s) | %s |", o.Name(), fileOf(o), opsets(o)))
			line, _, _ = strings.Cut(line, "\n")
			cells := strings.Split(line, "|")
			if !ok || len(cells) != len(typeGroups)+2 {
				t.Fatalf("the page has no line of %s", o.Name())
			}
			for i, g := range append(slices.Clone(typeGroups), typeGroup{"stored", storedTypes()}) {
				for _, d := range g.of {
					want := ""
					for part := range strings.SplitSeq(cells[i], ",") {
						if f := strings.Fields(part); len(f) == 1 || len(f) > 1 && slices.Contains(f[:len(f)-1], d.Short()) {
							want = words[f[len(f)-1]]
						}
					}
					if got := strings.TrimPrefix(cell(o, d), "-"); got != want {
						t.Errorf("%s of %v: %q, the page says %q", o.Name(), d, got, want)
					}
				}
			}
		}
		return
	}
	if cpu.Detect() == cpu.Generic && !strings.Contains(c.out.String(), "avx |") {
		t.Skip("this build or processor has plain Go alone; the page lists amd64's kernels")
	}
	if *update {
		if err := os.WriteFile(page, c.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if c.out.String() != string(want) {
		t.Error("docs/operators.md isn't what ashlar ops --md prints: go test ./cmd/ashlar -run TestOperatorsPage -update")
	}
}

// Every operator has one purpose, and its file is there.
func TestPurposes(t *testing.T) {
	purpose := map[string]int{}
	for _, s := range purposes {
		for _, name := range strings.Fields(s.names) {
			purpose[name]++
		}
	}
	for _, o := range all.Operators() {
		if purpose[o.Name()] != 1 {
			t.Errorf("%s has %d purposes, want 1", o.Name(), purpose[o.Name()])
		}
		if _, err := os.Stat("../../docs/" + fileOf(o)); err != nil {
			t.Error(err)
		}
	}
	for name := range purpose {
		if _, ok := all.Lookup(name); !ok {
			t.Errorf("there is no operator %s", name)
		}
	}
}

// Every operator has a line, in the grid and for each type, and every empty cell a
// reason, no filled one.
func TestOps(t *testing.T) {
	c := newCall(nil)
	c.with("ops")
	grid := c.out.String()
	if lines := strings.Count(grid, "\n"); lines != len(all.Operators())+1 {
		t.Errorf("%d lines of %d operators", lines, len(all.Operators()))
	}
	for _, d := range dtype.All() {
		if len(d.Short()) > 5 {
			t.Errorf("no column for %v", d)
		}
		for _, o := range all.Operators() {
			if o.Supports(d) != (plan.Why((*plan.Op)(o), d) == "") {
				t.Errorf("%s of %v: supported %v, reason %q", o.Name(), d, o.Supports(d), plan.Why((*plan.Op)(o), d))
			}
			if !o.Supports(d) && plan.Kernels((*plan.Op)(o), d) != nil {
				t.Errorf("%s of %v has kernels but isn't defined", o.Name(), d)
			}
		}
	}
	c = newCall(nil)
	c.with("ops", "--dtype", "int32")
	for _, want := range []string{"Add", "Exp", "of floats alone: Cast first"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("no %q in\n%s", want, c.out.String())
		}
	}
	for _, args := range [][]string{{"ops", "--dtype", "int33"}, {"ops", "Add"}, {"ops", "--md", "--dtype", "int8"}} {
		c := newCall(nil)
		if c.with(args...); c.code != 2 {
			t.Errorf("%v: exit %d, %s", args, c.code, c.err.String())
		}
	}
}
