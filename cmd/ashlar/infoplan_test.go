package main

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/ashlar-go/ashlar/dtype"
	"github.com/ashlar-go/ashlar/onnx"
	"github.com/ashlar-go/ashlar/tensor"
)

// info --plan says by regions which results lie channels last, what that costs, and why convolutions stay in planes.
func TestInfoLayouts(t *testing.T) {
	value := func(r *onnx.Region, channels int) []onnx.StepValue {
		s, err := tensor.NewSpec(dtype.Float32, 1, channels, 8, 8)
		if err != nil {
			t.Fatal(err)
		}
		return []onnx.StepValue{{Value: s.Any(), Region: r}}
	}
	stem := &onnx.Region{Values: 2, Last: 2, Planes: 120_000, All: 20_000, Cost: 20_000}
	mixed := &onnx.Region{Values: 3, Last: 1, Planes: 5000, All: 9000, Cost: 4000}
	steps := []onnx.Step{
		{Results: value(stem, 16), FLOPs: 600, Last: true},
		{Results: value(stem, 16)},
		{Results: value(mixed, 16), FLOPs: 100, Why: "its region costs less in planes"},
		{Results: value(mixed, 16), FLOPs: 100, Why: "its region costs less in planes"},
		{Results: value(mixed, 16), FLOPs: 100, Last: true},
		{Results: value(nil, 4), FLOPs: 100, Why: "each run plans it anew"},
	}
	const want = `
region  steps   results  decision                 cost    in planes  channels last
0       0 to 1  2        channels last            20,000  120,000    20,000
1       2 to 4  3        channels last but for 2  4,000   5,000      9,000

convolutions  2 of 5 run channels last, 70.0 % of the FLOPs, 77.8 % of those with 8 output channels or more
  in planes   its region costs less in planes: step 2, 3
  in planes   each run plans it anew: step 5
`
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	(&program{out: w}).describeLayouts(steps)
	w.Flush()
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if list := infoSteps(steps); *list[3].Results[0].Region != 1 || list[5].Results[0].Region != nil || !list[4].Last || list[2].Why == "" {
		t.Errorf("as JSON: %+v", list)
	}
}
