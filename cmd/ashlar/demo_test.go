package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// The steps of demo work. On a terminal each but the last waits for a line, and the end of the input ends them.
func TestDemo(t *testing.T) {
	inRoot(t)
	for _, c := range []struct {
		terminal bool
		input    string
		steps    int
	}{{false, "", len(demo)}, {true, "", 1}, {true, "\n\n", 3}, {true, strings.Repeat("\n", len(demo)), len(demo)}} {
		var out, wrong bytes.Buffer
		p := program{stdin: strings.NewReader(c.input), stdout: &out, stderr: &wrong, getenv: func(string) string { return "" },
			terminal: func(s any) bool { return c.terminal && s != io.Writer(&wrong) }, cpuErr: func() error { return nil }, patience: time.Hour}
		if code := p.run(context.Background(), []string{"demo"}); code != 0 || wrong.Len() > 0 {
			t.Fatalf("status %d: %s", code, &wrong)
		}
		for i := range demo {
			begins := strings.Contains(out.String(), fmt.Sprintf("%d of %d. %s", i+1, len(demo), demo[i].says))
			if begins != (i < c.steps) {
				t.Errorf("terminal %v, input %q: step %d begins: %v", c.terminal, c.input, i+1, begins)
			}
		}
		for _, want := range []string{"seven (100.00 %)", "conflicts  992", "Sw<5,0,5>"} {
			if !c.terminal && !strings.Contains(out.String(), want) {
				t.Errorf("the output lacks %q:\n%s", want, &out)
			}
		}
		if got := strings.Count(out.String(), "Enter goes on."); c.terminal && got != min(c.steps, len(demo)-1) || !c.terminal && got != 0 {
			t.Errorf("terminal %v, input %q: it waits %d times", c.terminal, c.input, got)
		}
	}
	var wrong bytes.Buffer
	p := program{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &wrong, getenv: func(string) string { return "" },
		terminal: func(any) bool { return false }, cpuErr: func() error { return nil }, patience: time.Hour}
	if code := p.run(context.Background(), []string{"demo", "nowhere"}); code != 1 || !strings.Contains(wrong.String(), "name the folder testdata of the repository") {
		t.Errorf("status %d: %s", code, &wrong)
	}
}
