package main

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "labels", "Zoë knows Anna Marie Smith, at the bank in Berlin – near 東京."); err != nil {
		t.Fatal(err)
	}
	const want = `PER  0.93  bytes 11 to 27  Anna Marie Smith
LOC  0.93  bytes 44 to 50  Berlin
Zoë knows [PER], at the bank in [LOC] – near 東京.
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	if err := run(&out, "nowhere", ""); err == nil || !strings.Contains(err.Error(), "nowhere: tokenizer.json") {
		t.Error(err)
	}
}
