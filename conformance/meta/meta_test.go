package main

import (
	"strings"
	"testing"
)

// digests.txt has the graphs that this program draws: the first of them, which another one of its seeds tells apart.
func TestDigests(t *testing.T) {
	have, rest, _ := strings.Cut(digests, "\n")
	if have != version {
		t.Fatalf("digests.txt is of %q, want %q", have, version)
	}
	want := strings.Split(strings.TrimSpace(rest), "\n")
	i := 0
	for got := range lines(options{seeds: 30, nodes: 20}) {
		if got != want[i] {
			t.Errorf("graph %s: its digest is %s; go run ./conformance/meta -update writes digests.txt", want[i], got)
		}
		i++
	}
	if want[0] == want[1] || len(want) != 1000 {
		t.Errorf("%d digests", len(want))
	}
}

// A list of another version, one that is cut off, and a digest that differs are errors that say what to do.
func TestCompare(t *testing.T) {
	for text, want := range map[string]string{
		"meta 0\n0 00":             "take both from one commit",
		"":                         "take both from one commit",
		version + "\n":             "-update writes it",
		version + "\n0":            "-update writes it",
		version + "\n0 0123456789": "-trace SEED",
	} {
		if err := compare(text, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := compare(digests, 1); err != nil {
		t.Error(err)
	}
}
