package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ashlar-go/ashlar/judge/ask"
	"github.com/spf13/cobra"
)

func (p *program) meshCommand() *cobra.Command {
	var q ask.Question
	c := &cobra.Command{
		Use:   "mesh SHAPE",
		Short: "Show the part of each device of a mesh, and the bytes of a move",
		Long: `Mesh shows a tensor on several devices: the part of each, and the devices of each box.

  --mesh     the names of the axes with their numbers of devices, and, after on, the
             wires: "row=2,col=4 on 2xring4" has rings of four along its rows. Without
             on, each axis is a row
  --place    for each axis S(0), which cuts axis 0 of the tensor, R, which copies it,
             P(sum) or P(max), whose devices have addends; P(sum,2) has two on each.
             In the order of the mesh, or with names: col:R row:S(0)
  --to       another placement. Then the stages that lead there are printed, and the
             bytes on each link, beside the fewest with which that can be done

A cut of n over d devices has parts of n/d, rounded up: 129 over 2 is 65 and 64, as
in PyTorch's DTensor. With --even the parts have one shape, as in TT-NN, or it is an
error. Addends are added one by one, in the order of the devices along the axis.
The wires don't change a bit of the sum.`,
		Example: `  ashlar layout mesh "(129,64)" --mesh row=2,col=4 --place "S(0) S(1)"
  ashlar layout mesh "(64,64)" --mesh "x=8 on ring8" --place "P(sum)" --to "S(0)" --elem 2`,
		Args: arguments(1, 1, "one shape, as 64x64"),
	}
	flags := c.Flags()
	flags.StringVar(&q.Mesh, "mesh", "", "`axes` with their devices, as in row=2,col=4")
	flags.StringVar(&q.Place, "place", "", "the `placement`, one for each axis, as in \"S(0) R\"")
	flags.StringVar(&q.To, "to", "", "another `placement`, to plan the way there")
	flags.StringVar(&q.Find, "at", "", "the `coordinate` of an element, to name the devices that have it")
	flags.StringVar(&q.Elem, "elem", "4", "`bytes` of an element")
	flags.BoolVar(&q.Even, "even", false, "refuse parts of different shapes")
	return asks(p, c, &q, jsonFlag(c), ask.Mesh, printMesh, func(*ask.Devices) bool { return true })
}

func printMesh(w io.Writer, d *ask.Devices) {
	fmt.Fprintf(w, "mesh\t%s\nplace\t%s\n", d.Mesh, d.Place)
	if d.Reason != "" {
		fmt.Fprintf(w, "axes\tnone: %s\n", d.Reason)
	} else {
		fmt.Fprintf(w, "axes\t%s\n", d.Axes)
	}
	if d.Owners != nil {
		fmt.Fprintf(w, "owners\t%s\n", spacedOut(d.Owners))
	}
	fmt.Fprintln(w, "\ndevice\tat\telements\tpart")
	for _, h := range d.Devices {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\n", h.Number, strings.Join(strings.Fields(spacedOut(h.At)), ","), h.Elements, h.Text)
	}
	if d.Rows != nil {
		fmt.Fprintf(w, "\nboxes\t%s\n", strings.Join(d.Columns, "\t"))
		for _, r := range d.Rows {
			fmt.Fprint(w, r.Name)
			for _, cell := range r.Cells {
				fmt.Fprintf(w, "\t%s", spacedOut(cell))
			}
			fmt.Fprintln(w)
		}
	}
	e := d.Exchange
	if e == nil {
		return
	}
	fmt.Fprintf(w, "\nto\t%s, %s\nbytes\t%d on all links, and no plan of these stages has fewer than %d; %d on the busiest link\n", e.Place, e.Name, e.Bytes, e.Bound, e.Busiest)
	for _, s := range e.Stages {
		fmt.Fprintf(w, "stage\t%s to %s: %s, %d bytes of at least %d\n", s.Name, s.Place, counted(s.Steps, "step"), s.Bytes, s.Bound)
	}
	for _, l := range e.Links {
		fmt.Fprintf(w, "link\t%d to %d: %d bytes\n", l.From, l.To, l.Bytes)
	}
}
