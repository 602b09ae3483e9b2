package main

import (
	"context"
	"strings"
	"testing"

	"github.com/ashlar-go/ashlar/format/npy"
	"github.com/ashlar-go/ashlar/op"
	"github.com/ashlar-go/ashlar/tensor"

	"github.com/ashlar-go/ashlar/draw"
)

// The picture is the one of the whole array in memory.
func TestScale(t *testing.T) {
	const file = "../../testdata/digits-test.npy"
	var out strings.Builder
	if err := run(context.Background(), &out, file); err != nil {
		t.Fatal(err)
	}
	x, err := npy.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	pixels, ok := tensor.As[uint8](x)
	if !ok {
		t.Fatalf("%v is no uint8", x.DType())
	}
	spread := op.Cast[float32](op.Std(op.Cast[float64](pixels), []int{0}, 0))
	want, err := draw.Heatmap(spread.Any(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if !strings.Contains(out.String(), "std(x, axis=0): stage 0, Std of 8 chunks, 4 tasks") {
		t.Error(out.String())
	}
	if err := run(context.Background(), &out, "nothing.npy"); err == nil {
		t.Error("no error for a file that isn't there")
	}
}
