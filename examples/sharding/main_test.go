package main

import (
	"strings"
	"testing"
)

// The counts are those of the formula, and they are drawn.
func TestSharding(t *testing.T) {
	list, err := compare()
	if err != nil || len(list) != 2 {
		t.Fatal(len(list), err)
	}
	for _, r := range list {
		if r.moved.CoreToCore != r.formula || r.moved.DRAMToL1 != 8*n*n {
			t.Errorf("%v: %+v, the formula says %d", r.Sharding, r.moved, r.formula)
		}
	}
	var b strings.Builder
	if err := run(&b, "-"); err != nil || !strings.Contains(b.String(), "264,241,152") {
		t.Errorf("%v: %s", err, b.String())
	}
}
