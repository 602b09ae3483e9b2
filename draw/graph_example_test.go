package draw_test

import (
	"fmt"
	"strings"

	"github.com/ashlar-go/ashlar/draw"
)

// Two nodes and the arrow between them.
func ExampleGraph() {
	g := draw.Graph{
		Title: "a small graph",
		Nodes: []draw.Node{{Label: "Conv", Detail: "3×3"}, {Label: "Relu", Group: 1}},
		Edges: []draw.Edge{{From: 0, To: 1, Label: "x"}},
	}
	var b strings.Builder
	if err := g.WriteSVG(&b); err != nil {
		panic(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "stroke=") && strings.HasPrefix(line, "<path") {
			fmt.Print(line)
		}
	}
	// Output:
	// <path fill="none" stroke="#424a53" d="M42 108V142"/>
}
